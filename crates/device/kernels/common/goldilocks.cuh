// The field modulo q = 2^64 − 2^32 + 1, in lazy forms.
//
// With B = 2^32: B^2 ≡ B − 1 and B^3 ≡ −1, so 2^96 ≡ −1 and 2 has order 192.
// Write ε = B − 1 ≡ 2^64.
//
//   lazy   a u64, any value, standing for itself mod q
//   wide   a Wide, standing for itself mod q; sums of wides need no reduction
//   narrow a wide in (−2^32, 2^65 − 2^32]: what products return
//
// From wide to lazy: `reduce` for 0 ≤ v < 2^78, `settle` for narrow.
// (Hérault 2025, section 2; Solinas 1999 for the reduction.)
#pragma once
#include "ptx.cuh"

#define EPSILON 0xffffffffu
#define FIELD_Q 0xffffffff00000001ull

// v for 0 ≤ v < 2^78.
DEVICE u64 reduce(Wide v) {
    // {w1, w0} + w2·ε < 2^64 + 2^46. After a carry t is below 2^46, and ε more does not wrap.
    Wide t = multiply_add(v.w2, EPSILON, v.w0, v.w1);
    return sub_add_high(t.w0, t.w1, t.w2, t.w2);
}

// v for narrow v, whose w2 is −1, 0 or 1.
DEVICE u64 settle(Wide v) {
#ifdef WARPINT_SIM
    return join(v.w0, v.w1) + (u64)(i64)(i32)v.w2 * EPSILON;
#else
    // w2·ε = w2·B − w2. As unsigned words, − w2 = 1 − B·(borrow) for w2 = −1.
    return sub_add_high(v.w0, v.w1, v.w2, max((i32)v.w2, 0));
#endif
}

// v for 0 ≤ v < 2^65 − 2^32, as `mul_digit` returns it.
DEVICE u64 settle_positive(Wide v) { return sub_add_high(v.w0, v.w1, v.w2, v.w2); }

// a·b, narrow; a and b lazy. Two ways to reduce x0 + x1·B + x2·(B − 1) − x3, for two pipes:
// kernels wait for the multiplier or for the adder, whichever has more to do.
//
// By sums:
DEVICE Wide mul(u64 a, u64 b) {
    u32 x[4];
    multiply(a, b, x);
    return sub(add_high(x[0], x[1], x[2]), sum(x[2], x[3]));
}
// By a product with ε:
DEVICE Wide mul_by_products(u64 a, u64 b) {
    u32 x[4];
    multiply(a, b, x);
    return sub(multiply_add(x[2], EPSILON, x[0], x[1]), {x[3], 0, 0});
}

// d·w, from 0 to 2^64 + 2^63; |d| ≤ 2^31, w canonical and not 0.
DEVICE Wide mul_digit(i32 d, u64 w) {
    u32 m = d < 0 ? 0u - (u32)d : (u32)d;
    u64 v = d < 0 ? FIELD_Q - w : w;
    u64 p = (u64)m * low(v);
    u64 t = (u64)m * high(v) + high(p);
    return multiply_add(high(t), EPSILON, low(p), low(t));
}

// x·ε, exactly.
DEVICE u64 times_epsilon(u32 x) { return join(0, x) - x; }

// v·2^r as a 96-bit integer.
template <int r>
DEVICE Wide shift_left(Wide v) {
    if constexpr (r == 0) {
        return v;
    } else {
        return {v.w0 << r, __funnelshift_l(v.w0, v.w1, r), __funnelshift_l(v.w1, v.w2, r)};
    }
}

// {w1, w0} + w2·(B − 1): the same number mod q, narrow but for |w2| < 2^31 more or less.
DEVICE Wide fold(Wide v) {
    u32 sign = (u32)((i32)v.w2 >> 31);
    Wide t = sub({v.w0, v.w1, 0}, {v.w2, sign, sign});
    return add(t, {0, v.w2, sign});
}

// a·ε + h·B. A kernel that waits for the multiplier defines EPSILON_BY_SUMS.
DEVICE Wide epsilon_multiple(u32 a, u32 h) {
#ifdef EPSILON_BY_SUMS
    Wide s = sum(a, h);
    return sub({0, s.w0, s.w1}, {a, 0, 0});
#else
    return multiply_add(a, EPSILON, 0, h);
#endif
}

// v·2^s mod q for 0 ≤ s < 96, s mod 32 < 31, and |v| < 2^69; the result is within ±2^65.
template <int s>
DEVICE Wide times_power(Wide v) {
    constexpr int words = s / 32, r = s % 32;
    // w2 must not lose bits.
    if constexpr (r > 26) v = fold(v);
    Wide y = shift_left<r>(v);
    u32 sign = (u32)((i32)y.w2 >> 31);
    if constexpr (s == 0) {
        return v;
    } else if constexpr (words == 0) {
        return fold(y);
    } else if constexpr (words == 1) {
        // y0·B + y1·B^2 + y2·B^3 ≡ y0·B + y1·(B − 1) − y2.
        return sub(epsilon_multiple(y.w1, y.w0), {y.w2, sign, sign});
    } else {
        // y0·B^2 + y1·B^3 + y2·B^4 ≡ y0·(B − 1) − y1 − y2·B.
        return sub(widen(times_epsilon(y.w0)), {y.w1, y.w2, sign});
    }
}

// The same for 0 ≤ v < 2^70, in fewer instructions; the result is within ±2^65.
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
        return sub(epsilon_multiple(y.w1, y.w0), {y.w2, 0, 0});
    } else {
        return sub(widen(times_epsilon(y.w0)), {y.w1, y.w2, 0});
    }
}

// v + k·q: makes a sum of few wides positive without changing it mod q.
template <u32 k>
DEVICE Wide biased(Wide v) {
    return add(v, {k, 0u - k, k - 1});
}
