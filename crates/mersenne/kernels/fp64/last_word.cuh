// The last word of a residue modulo k·b^n + c, out of which carries enter word 0 (FORM of columns.cu).
#pragma once
#include "fields.cuh"

// k, 1/k, b^κ, b^−κ and −c, for the κ digits of the last word above digit n. `less`·b^n and `less_0` are subtracted.
// With DIGITS, r·b^n is r·`down` words of the last word's unit; if `down` < 1, what is above a multiple of `lift` =
// 1/`down` is `low` units of the word before.
struct LastWord {
    double k, inverse_k, up, down, sign, less, less_0;
#if DIGITS
    double lift, low;
#endif
};
#if DIGITS
#define LAST_WORD_FIELDS(F) \
    F(double, k) F(double, inverse_k) F(double, up) F(double, down) F(double, sign) F(double, less) F(double, less_0) F(double, lift) F(double, low)
#define LAST_WORD {k, inverse_k, up, down, sign, less, less_0, lift, low}
#elif FORM
#define LAST_WORD_FIELDS(F) \
    F(double, k) F(double, inverse_k) F(double, up) F(double, down) F(double, sign) F(double, less) F(double, less_0)
#define LAST_WORD {k, inverse_k, up, down, sign, less, less_0}
#else
#define LAST_WORD_FIELDS(F)
#endif
