// Fields Z/pZ, 2^46 < p < 2^50, on numbers of type double: the functions of
// crates/arith/src/f50/mod.rs, where the proof stands that every step is exact.
//
// An element is any integer congruent to it, of at most 2^53 in size. Sums and differences are
// plain + and −, exact within 2^53 (more than 8p). RN(x) is x rounded to a double.
#pragma once
#include "simt.cuh"

// A field: p and RN(1/p).
struct F50 {
    double p, inverse;
};

// A number to multiply by again and again: |w| ≤ p/2, and RN(w/p).
struct __align__(16) Factor {
    double w, ratio;
};

// 3·2^51: added to a number of at most 2^51 in size and taken away again, it leaves the nearest integer.
#define TO_INTEGER 6755399441055744.0

// An integer within 1/2 of a·b, for |a·b| ≤ 2^51.
DEVICE double rounded_product(double a, double b) { return fma(a, b, TO_INTEGER) - TO_INTEGER; }

// x, which must be at most `bound` in size. On the simulator it becomes no number where it is not:
// no test passes with that, while a product may happen to be right beyond its bounds.
DEVICE double within(double x, double bound) {
#ifdef WARPINT_SIM
    return fabs(x) <= bound ? x : __longlong_as_double(0x7ff8000000000000);
#else
    return x;
#endif
}

// r ≡ x, |r| ≤ p/2 + 2, for |x| ≤ 2^53.
DEVICE double reduce(F50 f, double x) {
    x = within(x, 9007199254740992.0);
    double q = rounded_product(x, f.inverse);
    return fma(-q, f.p, x);
}

// a·b, at most p/2 + |a·b|·2^−52·(1 + 2^−52) in size, for |a·b| ≤ (2^51 − 2)·p.
DEVICE double mul(F50 f, double a, double b) {
    double h = within(a * b, 2251799813685246.0 * f.p);
    double q = rounded_product(h, f.inverse);
    return fma(-q, f.p, h) + fma(a, b, -h);
}

// a·w, at most p/2 + |a|·p·2^−54 in size, for |a| ≤ 2^52.
DEVICE double mul_by(F50 f, double a, Factor w) {
    a = within(a, 4503599627370496.0);
    double h = a * w.w;
    double q = rounded_product(a, w.ratio);
    return fma(-q, f.p, h) + fma(a, w.w, -h);
}

// x as an integer, for an integer |x| ≤ 2^51.
DEVICE i64 to_integer(double x) {
    // 3·2^51 + x is from 2^52 to 2^53: its bits are those of 3·2^51, and x more.
    return __double_as_longlong(x + TO_INTEGER) - __double_as_longlong(TO_INTEGER);
}

// x, at most p/2 + 2^12 in size, for any x. The first two of the six operations are the same for
// all fields.
DEVICE double from_word(F50 f, u64 x) {
    // x = top + bottom, top = ⌊x/2^32⌋·2^32 − 2^52 and bottom = 2^52 + (x mod 2^32): as bits,
    // doubles from 2^84 and 2^52 on, with steps of 2^32 and 1.
    double top = __hiloint2double(0x45300000, (int)(u32)(x >> 32)) - 19342813118337666422669312.0;
    double bottom = __hiloint2double(0x43300000, (int)(u32)x);
    // h = RN(x) is wrong by 2^11 at most, and h·RN(1/p) by another 2^11/p: with q,
    // |r| ≤ p/2 + 2^12 for r = x − q·p. And top − q·p = r − bottom is an integer below 2^53.
    double h = top + bottom;
    double q = rounded_product(h, f.inverse);
    return fma(-q, f.p, top) + bottom;
}
