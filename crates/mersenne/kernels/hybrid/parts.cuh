// Words of a product as they come from both kinds of points: z = f·2^31 + v with v = r − f, for a residue r
// modulo q = 2^31 − 1 (columns.cu).
#pragma once
#include "m31.cuh"
#include "words.cuh"

struct Parts {
    double f, v;
};

// Splits v = digit + carry·base, |v| < 2^52, with |digit| ≤ base/2 or a unit more; returns the digit.
DEVICE double split_by(double v, double base, double inverse, double& carry) {
    carry = fma(v, inverse, MAGIC) - MAGIC;
    return fma(-carry, base, v);
}

// d mod q for |d| < q.
DEVICE u32 residue31(i32 d) { return min((u32)d, (u32)d + Q31); }
