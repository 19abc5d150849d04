// The field modulo q = 2^64 − 2^32 + 1, in lazy forms.
//
// With B = 2^32: B^2 ≡ B − 1 and B^3 ≡ −1, so 2^96 ≡ −1 and 2 has order 192.
// Write ε = B − 1 ≡ 2^64.
//
//   lazy   a u64, any value, representing its residue mod q
//   wide   a Wide, representing its residue mod q; sums of wides need no reduction
//   narrow a wide in (−2^32, 2^65 − 2^32]: the result of a product
//
// Conversion from wide to lazy: `reduce` for 0 ≤ v < 2^78, `correct` for narrow. (Hérault 2025, section
// 2; Solinas 1999 for the reduction.)
#pragma once
#include "ptx.cuh"

// ε and 0 in memory, so that the compiler does not know their values. A multiple of ε is then one
// instruction with its carry, instead of three that avoid the product. The same holds for a negation
// with its borrow.
__constant__ u32 EPSILON = 0xffffffffu, NOTHING = 0;
#define FIELD_Q 0xffffffff00000001ull

// Reduces 0 ≤ v < 2^78 to lazy.
DEVICE u64 reduce(Wide v) {
    // {w1, w0} + w2·ε < 2^64 + 2^46. After a carry t is below 2^46, so that adding ε does not wrap.
    Wide t = multiply_add(v.w2, EPSILON, v.w0, v.w1);
    return sub_add_high(t.w0, t.w1, t.w2, t.w2);
}

// Reduces narrow v, whose w2 is −1, 0 or 1, to lazy.
DEVICE u64 correct(Wide v) {
#ifdef WARPINT_SIM
    return join(v.w0, v.w1) + (u64)(i64)(i32)v.w2 * EPSILON;
#else
    // w2·ε = w2·B − w2. In unsigned words, −w2 = 1 − B·(borrow) for w2 = −1.
    return sub_add_high(v.w0, v.w1, v.w2, max((i32)v.w2, 0));
#endif
}

// The residue of narrow v of least absolute value, if it is within ±(2^63 − 2^34).
DEVICE i64 nearest(Wide v) {
    // Subtracts ⌊v/2^64 + 1/2⌋·q.
    u32 k = v.w2 + (v.w1 >> 31);
    return (i64)sub_add_high(v.w0, v.w1, k, k);
}

// Reduces 0 ≤ v < 2^65 − 2^32, as `mul_word` returns it, to lazy.
DEVICE u64 correct_positive(Wide v) { return sub_add_high(v.w0, v.w1, v.w2, v.w2); }

// a·b as narrow; a and b lazy.
DEVICE Wide mul(u64 a, u64 b) {
    u32 x[4];
    multiply(a, b, x);
    // x0 + x1·B + x2·(B − 1) − x3.
    return multiply_add_sub(x[2], EPSILON, x[0], x[1], {x[3], 0, 0});
}

// m·w + c in 0..=2^65 − 2^33; w and c lazy.
DEVICE Wide mul_word(u32 m, u64 w, u64 c) {
    u64 p = multiply_add_short(m, low(w), low(c));
    u64 t = multiply_add_short(m, high(w), high(c)) + high(p);
    return multiply_add(high(t), EPSILON, low(p), low(t));
}

// v·2^r as a 96-bit integer.
template <int r>
DEVICE Wide shift_left(Wide v) {
    if constexpr (r == 0) {
        return v;
    } else {
        return {v.w0 << r, __funnelshift_l(v.w0, v.w1, r), __funnelshift_l(v.w1, v.w2, r)};
    }
}

// {w1, w0} + w2·(B − 1): the same residue mod q, in the range of narrow extended by |w2| < 2^31 on both
// sides.
DEVICE Wide fold(Wide v) {
    u32 sign = (u32)((i32)v.w2 >> 31);
    Wide t = sub({v.w0, v.w1, 0}, {v.w2, sign, sign});
    return add(t, {0, v.w2, sign});
}

// v·2^s mod q for 0 ≤ s < 96, s mod 32 < 31, and |v| < 2^69; the result is within ±2^65.
template <int s>
DEVICE Wide times_power(Wide v) {
    constexpr int words = s / 32, r = s % 32;
    // w2 must not lose bits, and must exceed −2^31.
    if constexpr (r > 25) v = fold(v);
    Wide y = shift_left<r>(v);
    u32 sign = (u32)((i32)y.w2 >> 31);
    if constexpr (s == 0) {
        return v;
    } else if constexpr (words == 0) {
        return fold(y);
    } else if constexpr (words == 1) {
        // y0·B + y1·B^2 + y2·B^3 ≡ y0·B + y1·(B − 1) − y2.
        return multiply_add_sum(y.w1, EPSILON, 0u - y.w2, y.w0);
    } else {
        // y0·B^2 + y1·B^3 + y2·B^4 ≡ y0·(B − 1) − y1 − y2·B.
        return multiply_add_sub(y.w0, EPSILON, NOTHING, NOTHING, {y.w1, y.w2, sign});
    }
}

// v·2^s mod q as `times_power`, for 0 ≤ v < 2^70, in fewer instructions; the result is within
// ±2^65.
template <int s>
DEVICE Wide positive_times_power(Wide v) {
    constexpr int words = s / 32, r = s % 32;
    if constexpr (r > 26) v = widen(reduce(v));
    Wide y = shift_left<r>(v);
    if constexpr (s == 0) {
        return v;
    } else if constexpr (words == 0) {
        return multiply_add(y.w2, EPSILON, y.w0, y.w1);
    } else if constexpr (words == 1) {
        return multiply_add_sub(y.w1, EPSILON, NOTHING, y.w0, {y.w2, 0, 0});
    } else {
        return multiply_add_sub(y.w0, EPSILON, NOTHING, NOTHING, {y.w1, y.w2, 0});
    }
}

// v + k·q: makes a sum of a few wides positive without changing it mod q.
template <u32 k>
DEVICE Wide biased(Wide v) {
    return add(v, {k, 0u - k, k - 1});
}
