// Z/pZ for an odd prime p < 2^(32·LIMBS − 1), by Montgomery multiplication: elements are integers below
// p of LIMBS limbs of 32 bits, and products are a·b/R mod p, R = 2^(32·LIMBS).
//
//   LIMBS             even
//   MODULUS           the limbs of p, {…}
//   NEGATED_INVERSE   −1/p mod 2^32
//   IN_REGISTERS      whether all limbs are in registers: loops are unrolled
#pragma once
#include "chain.cuh"

constexpr u32 PRIME[LIMBS] = MODULUS;

// In memory, so that the compiler does not know the value: for −1, if p is 1 mod 2^32, it would split
// each product by the modulus into two instructions.
__constant__ u32 NEGATED = NEGATED_INVERSE;

struct Element {
    u32 x[LIMBS];
};

#if IN_REGISTERS

// r mod p for r < 2p.
DEVICE Element reduced(Element r) {
    Element d;
    d.x[0] = sub_first(r.x[0], PRIME[0]);
#pragma unroll
    for (int i = 1; i < LIMBS; i++) d.x[i] = sub_carried(r.x[i], PRIME[i]);
    bool less = sub_last(0, 0) != 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) d.x[i] = less ? r.x[i] : d.x[i];
    return d;
}

// a + b mod p.
DEVICE Element add(Element a, Element b) {
    a.x[0] = add_first(a.x[0], b.x[0]);
#pragma unroll
    for (int i = 1; i < LIMBS - 1; i++) a.x[i] = add_carried(a.x[i], b.x[i]);
    a.x[LIMBS - 1] = add_last(a.x[LIMBS - 1], b.x[LIMBS - 1]);
    return reduced(a);
}

// a − b mod p.
DEVICE Element sub(Element a, Element b) {
    a.x[0] = sub_first(a.x[0], b.x[0]);
#pragma unroll
    for (int i = 1; i < LIMBS; i++) a.x[i] = sub_carried(a.x[i], b.x[i]);
    u32 all = sub_last(0, 0);
    a.x[0] = add_first(a.x[0], PRIME[0] & all);
#pragma unroll
    for (int i = 1; i < LIMBS - 1; i++) a.x[i] = add_carried(a.x[i], PRIME[i] & all);
    a.x[LIMBS - 1] = add_last(a.x[LIMBS - 1], PRIME[LIMBS - 1] & all);
    return a;
}

// a·b/R mod p. The sum t = even + odd·2^32 collects products of even limbs in `even` and of odd limbs
// in `odd`, so that each product of limbs is added to an aligned pair of registers. Before each step
// t < 2p. The step increases t to t + a·b_i + m·p < 2^33·p ≤ 2^(32·(LIMBS + 1)), so `odd` has no carry
// out. Then even_0 = 0, and t/2^32 has `odd` + even_1 as the new `even`, and the rest of `even`, two
// limbs down, as the new `odd`.
DEVICE Element product(Element a, Element b) {
    u32 even[LIMBS + 2], odd[LIMBS];
#pragma unroll
    for (int i = 0; i < LIMBS; i++) even[i] = odd[i] = 0;
    even[LIMBS] = even[LIMBS + 1] = 0;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        if (i == 0) {
            multiply_add_first(odd[0], odd[1], a.x[1], b.x[0]);
        } else {
            u32 next[LIMBS];
#pragma unroll
            for (int j = 0; j < LIMBS; j++) next[j] = even[j + 2];
            u32 one = even[1];
#pragma unroll
            for (int j = 0; j < LIMBS; j++) even[j] = odd[j], odd[j] = next[j];
            // The carry has the weight of odd_0.
            even[0] = add_first(even[0], one);
            multiply_add_carried(odd[0], odd[1], a.x[1], b.x[i]);
        }
#pragma unroll
        for (int j = 2; j < LIMBS; j += 2) multiply_add_carried(odd[j], odd[j + 1], a.x[j + 1], b.x[i]);
        multiply_add_first(even[0], even[1], a.x[0], b.x[i]);
#pragma unroll
        for (int j = 2; j < LIMBS; j += 2) multiply_add_carried(even[j], even[j + 1], a.x[j], b.x[i]);
        odd[LIMBS - 1] = add_last(odd[LIMBS - 1], 0);

        u32 m = even[0] * NEGATED;
        multiply_add_first(odd[0], odd[1], PRIME[1], m);
#pragma unroll
        for (int j = 2; j < LIMBS; j += 2) multiply_add_carried(odd[j], odd[j + 1], PRIME[j + 1], m);
        multiply_add_first(even[0], even[1], PRIME[0], m);
#pragma unroll
        for (int j = 2; j < LIMBS; j += 2) multiply_add_carried(even[j], even[j + 1], PRIME[j], m);
        odd[LIMBS - 1] = add_last(odd[LIMBS - 1], 0);
    }
    Element r;
    r.x[0] = add_first(odd[0], even[1]);
#pragma unroll
    for (int j = 1; j < LIMBS - 1; j++) r.x[j] = add_carried(odd[j], even[j + 1]);
    r.x[LIMBS - 1] = add_last(odd[LIMBS - 1], 0);
    return reduced(r);
}

#else

// Computes r ← r − p; returns whether the result is negative.
DEVICE bool less_prime(Element& r) {
    u64 borrow = 0;
#pragma unroll 1
    for (int i = 0; i < LIMBS; i++) {
        u64 d = (u64)r.x[i] - PRIME[i] - borrow;
        r.x[i] = low(d), borrow = d >> 63;
    }
    return borrow != 0;
}

// Computes r ← r + p mod R.
DEVICE void more_prime(Element& r) {
    u64 carry = 0;
#pragma unroll 1
    for (int i = 0; i < LIMBS; i++) {
        carry += (u64)r.x[i] + PRIME[i];
        r.x[i] = low(carry), carry >>= 32;
    }
}

// r mod p for r < 2p.
DEVICE Element reduced(Element r) {
    if (less_prime(r)) more_prime(r);
    return r;
}

// a + b mod p.
DEVICE Element add(const Element& a, const Element& b) {
    Element r;
    u64 carry = 0;
#pragma unroll 1
    for (int i = 0; i < LIMBS; i++) {
        carry += (u64)a.x[i] + b.x[i];
        r.x[i] = low(carry), carry >>= 32;
    }
    return reduced(r);
}

// a − b mod p.
DEVICE Element sub(const Element& a, const Element& b) {
    Element r;
    u64 borrow = 0;
#pragma unroll 1
    for (int i = 0; i < LIMBS; i++) {
        u64 d = (u64)a.x[i] - b.x[i] - borrow;
        r.x[i] = low(d), borrow = d >> 63;
    }
    if (borrow) more_prime(r);
    return r;
}

// a·b/R mod p: t < 2p before each step.
DEVICE Element product(const Element& a, const Element& b) {
    Element t;
#pragma unroll 1
    for (int i = 0; i < LIMBS; i++) t.x[i] = 0;
#pragma unroll 1
    for (int i = 0; i < LIMBS; i++) {
        u64 s = 0;
        u32 factor = b.x[i];
#pragma unroll 1
        for (int j = 0; j < LIMBS; j++) {
            s = multiply_add_short(a.x[j], factor, (u64)t.x[j] + high(s));
            t.x[j] = low(s);
        }
        u32 top = high(s), m = t.x[0] * NEGATED;
        s = multiply_add_short(PRIME[0], m, t.x[0]);
#pragma unroll 1
        for (int j = 1; j < LIMBS; j++) {
            s = multiply_add_short(PRIME[j], m, (u64)t.x[j] + high(s));
            t.x[j - 1] = low(s);
        }
        t.x[LIMBS - 1] = top + high(s);
    }
    return reduced(t);
}

#endif
