// Elements of Z/pZ, p = r^k + 1, r = 2^W ± 2^U, as k digits in radix r.
//
//   DIGITS   k, a power of two from 2 to 128
//   W, U     56 ≤ W ≤ 64
//   SUM      1 for r = 2^W + 2^U, 0 for 2^W − 2^U
//   RECIPROCAL  ⌊2^(W + 28)/r⌋
//
// In memory an element has digits below r, or it is r^k: the top digit is r, the others 0. During a
// computation digits are lazy: integers of 96 bits, |z| < 2^(W + 27), whose sums are not carried. A
// product by r^e is a rotation: digit d becomes digit (d + e) mod k, with a change of sign each time it
// passes the top.
#pragma once
#include "chain.cuh"
#include "index.cuh"
#include "ptx.cuh"

constexpr u32 log2_of(u32 x) { return x == 1 ? 0 : 1 + log2_of(x / 2); }
constexpr u32 LOG_DIGITS = log2_of(DIGITS);
// For 2^64 − 2^U the compiler sees only the low 64 bits, which suffice.
constexpr u64 HIGH = W == 64 ? 0 : 1ull << W % 64, LOW = 1ull << U;
constexpr u64 RADIX = SUM ? HIGH + LOW : HIGH - LOW;

// x·2^BY mod 2^96.
template <u32 BY>
DEVICE Wide shift_left(Wide x) {
    constexpr u32 WORDS = BY / 32, BITS = BY % 32;
    u32 a[3] = {x.w0, x.w1, x.w2}, b[3];
#pragma unroll
    for (u32 i = 0; i < 3; i++) {
        u32 upper = i >= WORDS ? a[i - WORDS] : 0, lower = i > WORDS ? a[i - WORDS - 1] : 0;
        b[i] = BITS == 0 ? upper : __funnelshift_l(lower, upper, BITS);
    }
    return {b[0], b[1], b[2]};
}

// ⌊x/2^BY⌋ for BY < 96.
template <u32 BY>
DEVICE Wide shift_right(Wide x) {
    constexpr u32 WORDS = BY / 32, BITS = BY % 32;
    u32 sign = (u32)((i32)x.w2 >> 31);
    u32 a[4] = {x.w0, x.w1, x.w2, sign}, b[3];
#pragma unroll
    for (u32 i = 0; i < 3; i++) {
        u32 lower = i + WORDS < 3 ? a[i + WORDS] : sign;
        u32 upper = i + WORDS < 2 ? a[i + WORDS + 1] : sign;
        b[i] = BITS == 0 ? lower : __funnelshift_r(lower, upper, BITS);
    }
    return {b[0], b[1], b[2]};
}

// −x if `yes`, otherwise x.
DEVICE Wide negate_if(Wide x, bool yes) {
    u32 mask = yes ? ~0u : 0;
    return sub(Wide{x.w0 ^ mask, x.w1 ^ mask, x.w2 ^ mask}, Wide{mask, mask, mask});
}

// A sum of products of digits: even + odd·2^32, two's complement.
struct Column {
    u32 even[5], odd[3];
};

DEVICE void fill(Column& c, u32 word) {
#pragma unroll
    for (u32 i = 0; i < 5; i++) c.even[i] = word;
#pragma unroll
    for (u32 i = 0; i < 3; i++) c.odd[i] = word;
}

// If `even` and `odd` are s − 1 for sums s, each becomes −s.
DEVICE void complement(Column& c) {
#pragma unroll
    for (u32 i = 0; i < 5; i++) c.even[i] = ~c.even[i];
#pragma unroll
    for (u32 i = 0; i < 3; i++) c.odd[i] = ~c.odd[i];
}

DEVICE void add_product(Column& c, u64 x, u64 y) {
    multiply_add_first(c.even[0], c.even[1], low(x), low(y));
    multiply_add_carried(c.even[2], c.even[3], high(x), high(y));
    c.even[4] = add_last(c.even[4], 0);
    multiply_add_first(c.odd[0], c.odd[1], low(x), high(y));
    c.odd[2] = add_last(c.odd[2], 0);
    multiply_add_first(c.odd[0], c.odd[1], high(x), low(y));
    c.odd[2] = add_last(c.odd[2], 0);
}

// The number of leading bits of a quotient by r that must be correct. A column |u| < k·2^128 is
// lo + hi·r with |hi| < k·2^(129 − W). An error of hi, up to hi·2^−PRECISION, appears r-fold in lo.
// Sums of 2k of these stay below 2^(W + 26), and other rounding errors are far smaller.
constexpr u32 PRECISION = 104 + 2 * LOG_DIGITS - W;

// hi·(1 + 2^−BY)(1 + 2^−2·BY)…, to PRECISION bits.
template <u32 BY>
DEVICE void raise(Wide& hi) {
    if constexpr (BY < PRECISION) {
        hi = add(hi, shift_right<BY>(hi));
        raise<2 * BY>(hi);
    }
}

// Splits the column into lo + hi·r, by 1/r = 2^−W·(1 ∓ ε)(1 + ε²)(1 + ε⁴)…, ε = 2^(U − W).
DEVICE void split(const Column& c, Wide& lo, Wide& hi) {
    u32 w1 = add_first(c.even[1], c.odd[0]), w2 = add_carried(c.even[2], c.odd[1]);
    u32 w3 = add_carried(c.even[3], c.odd[2]);
    u32 w4 = add_last(c.even[4], (u32)((i32)c.odd[2] >> 31));
    hi = shift_left<64 - W>(Wide{w2, w3, w4});
    Wide less = shift_right<W - U>(hi);
    hi = SUM ? sub(hi, less) : add(hi, less);
    raise<2 * (W - U)>(hi);
    lo = sub(Wide{c.even[0], w1, w2}, shift_left<W>(hi));
    lo = SUM ? sub(lo, shift_left<U>(hi)) : add(lo, shift_left<U>(hi));
}

// Returns the digit t mod r, and ⌊t/r⌋ in `quotient`, for |t| < 2^(W + 27).
DEVICE u64 reduce(Wide t, i32& quotient) {
    // With 27 bits of 1/r, rounded so that the quotient is never too large, it is at most one too
    // small.
    constexpr u32 CUT = W - 4;
    i32 top = (i32)__funnelshift_r(t.w1, t.w2, CUT - 32);
    i32 q = __mulhi(top, RECIPROCAL - (top >> 31));
    Wide times = {(u32)q, (u32)(q >> 31), (u32)(q >> 31)};
    Wide rest = sub(t, shift_left<W>(times));
    rest = SUM ? sub(rest, shift_left<U>(times)) : add(rest, shift_left<U>(times));
    u64 digit = join(rest.w0, rest.w1);
    bool once_more = rest.w2 != 0 || digit >= RADIX;
    quotient = q + once_more;
    return once_more ? digit - RADIX : digit;
}

// Subtracts `by`, 1 or −1, from an element in memory. This occurs about once in 2^30 elements.
DEVICE void ripple(u64* digits, u64 stride, i32 by) {
    u64 nothing = by > 0 ? 0 : RADIX - 1, instead = RADIX - 1 - nothing;
    for (u32 d = 0; d < DIGITS; d++) {
        u64 digit = digits[d * stride];
        if (digit != nothing) {
            digits[d * stride] = by > 0 ? digit - 1 : digit + 1;
            return;
        }
        digits[d * stride] = instead;
    }
    // 0 − 1 is r^k; r^k − 1 and +1 also needs these digits.
    for (u32 d = 0; d < DIGITS; d++) digits[d * stride] = d == DIGITS - 1 ? RADIX : 0;
}

// Writes the element with the lazy digits take(d).
template <class Take>
DEVICE void put_element(u64* digits, u64 stride, Take take) {
    // Carries from the top digit enter at the bottom with changed sign; the following carries are
    // small.
    i32 around, carry;
    u64 top = reduce(take(DIGITS - 1), around);
    carry = -around;
#pragma unroll(DIGITS > 16 ? 4 : DIGITS)
    for (u32 d = 0; d < DIGITS; d++) {
        Wide z = d == DIGITS - 1 ? widen(top) : take(d);
        u32 sign = (u32)(carry >> 31);
        digits[d * stride] = reduce(add(z, Wide{(u32)carry, sign, sign}), carry);
    }
    if (carry != 0) ripple(digits, stride, carry);
}
