// Fields Z/pZ, 2^46 < p < 2^50, on numbers of type double: the functions of
// crates/arith/src/f50/mod.rs, which contains the proof that every step is exact.
//
// An element is represented by any congruent integer of absolute value at most 2^53. Sums and
// differences are plain + and −, exact within 2^53 (more than 8p). RN(x) is x rounded to a double.
#pragma once
#include "simt.cuh"

// A field: p and RN(1/p).
struct F50 {
    double p, inverse;
};

// A multiplier for repeated use: |w| ≤ p/2, and RN(w/p).
struct __align__(16) Factor {
    double w, ratio;
};

// 3·2^51: adding it to a number x, |x| ≤ 2^51, and subtracting it again rounds x to the nearest
// integer.
#define TO_INTEGER 6755399441055744.0

// An integer within 1/2 of a·b, for |a·b| ≤ 2^51.
DEVICE double rounded_product(double a, double b) { return fma(a, b, TO_INTEGER) - TO_INTEGER; }

// Returns x, which must satisfy |x| ≤ bound. On the simulator a violation returns NaN, so that tests
// fail even where a product is right beyond its bounds.
DEVICE double within(double x, double bound) {
#ifdef WARPINT_SIM
    return fabs(x) <= bound ? x : __longlong_as_double(0x7ff8000000000000);
#else
    return x;
#endif
}

// Reduces |x| ≤ 2^53 to r ≡ x with |r| ≤ p/2 + 2.
DEVICE double reduce(F50 f, double x) {
    x = within(x, 9007199254740992.0);
    double q = rounded_product(x, f.inverse);
    return fma(-q, f.p, x);
}

// a·b for |a·b| ≤ (2^51 − 2)·p; the absolute value is at most p/2 + |a·b|·2^−52·(1 + 2^−52).
DEVICE double mul(F50 f, double a, double b) {
    double h = within(a * b, 2251799813685246.0 * f.p);
    double q = rounded_product(h, f.inverse);
    return fma(-q, f.p, h) + fma(a, b, -h);
}

// a·w for |a| ≤ 2^52; the absolute value is at most p/2 + |a|·p·2^−54.
DEVICE double mul_by(F50 f, double a, Factor w) {
    a = within(a, 4503599627370496.0);
    double h = a * w.w;
    double q = rounded_product(a, w.ratio);
    return fma(-q, f.p, h) + fma(a, w.w, -h);
}

// x as an integer, for an integer |x| ≤ 2^51.
DEVICE i64 to_integer(double x) {
    // 3·2^51 + x is from 2^52 to 2^53: its bit pattern is that of 3·2^51 plus x.
    return __double_as_longlong(x + TO_INTEGER) - __double_as_longlong(TO_INTEGER);
}

// x mod p for any x; the absolute value is at most p/2 + 2^12. The first two of the six operations do
// not depend on the field.
DEVICE double from_word(F50 f, u64 x) {
    // x = top + bottom, top = ⌊x/2^32⌋·2^32 − 2^52 and bottom = 2^52 + (x mod 2^32): as bit patterns,
    // doubles from 2^84 and 2^52 on, with steps of 2^32 and 1.
    double top = __hiloint2double(0x45300000, (int)(u32)(x >> 32)) - 19342813118337666422669312.0;
    double bottom = __hiloint2double(0x43300000, (int)(u32)x);
    // The error of h = RN(x) is at most 2^11, and h·RN(1/p) adds at most 2^11/p: with q,
    // |r| ≤ p/2 + 2^12 for r = x − q·p. And top − q·p = r − bottom is an integer below 2^53.
    double h = top + bottom;
    double q = rounded_product(h, f.inverse);
    return fma(-q, f.p, top) + bottom;
}
