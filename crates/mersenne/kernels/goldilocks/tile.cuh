// Lines of Q·A·B points in shared memory, several side by side.
//
// A line's time index is q·A·B + a·B + b, its frequency index is
// kq + Q·(ka + A·kb). Between its steps it lies in slots (u, a or ka, b),
// where u numbers what stands side by side: the lines, and kq.
// Slots are permuted so that no access meets a bank conflict when U·16 bytes
// or more are read side by side: by threads with consecutive u, then a;
// consecutive u, then b; or 16 bytes of u by threads with consecutive b.
#pragma once
#include "dft.cuh"

// The largest power of two in n.
constexpr u32 power_of_two_in(u32 n) { return n & (0 - n); }

template <u32 U, u32 A, u32 B>
struct Slots {
    static constexpr u32 COUNT = U * A * B;
    static DEVICE u32 at(u32 u, u32 a, u32 b) {
        constexpr u32 side = power_of_two_in(U);
        constexpr u32 skip = side >= 16 ? 1 : 16 / side;
        u32 mixed = side < 2 ? u : u ^ ((b / skip) % (side / 2)) * 2;
        return ((a ^ b % A) + A * b) * U + mixed;
    }
};

// The constants of dft_5, by its caller: (ω+ω^4)/2, (ω^2+ω^3)/2, (ω−ω^4)/2, (ω^2−ω^3)/2.
#ifndef FIFTH_0
#define FIFTH_0 0ull
#define FIFTH_1 0ull
#define FIFTH_2 0ull
#define FIFTH_3 0ull
#endif

// Five points; ω a fifth root of unity, which is no power of two.
DEVICE void dft_5(Wide x[5]) {
    Wide s = add(x[1], x[4]), t = add(x[2], x[3]);
    u64 s_ = reduce(biased(s)), t_ = reduce(biased(t));
    u64 d_ = reduce(biased(sub(x[1], x[4]))), e_ = reduce(biased(sub(x[2], x[3])));
    Wide p = add(x[0], add(mul(s_, FIFTH_0), mul(t_, FIFTH_1)));
    Wide q = add(x[0], add(mul(s_, FIFTH_1), mul(t_, FIFTH_0)));
    Wide v = add(mul(d_, FIFTH_2), mul(e_, FIFTH_3));
    Wide w = sub(mul(d_, FIFTH_3), mul(e_, FIFTH_2));
    x[0] = add(x[0], add(s, t));
    x[1] = add(p, v);
    x[4] = sub(p, v);
    x[2] = add(q, w);
    x[3] = sub(q, w);
}

template <int n>
DEVICE void dft_outer(Wide x[n]) {
    if constexpr (n == 5) {
        dft_5(x);
    } else {
        dft<n>(x);
    }
}

// −k mod n.
constexpr int minus(int k, int n) { return (n - k) % n; }

// A value that the compiler does not know: loops that begin with it stay loops.
// The transforms are long stretches of code without branches; each is there once,
// in a loop over its uses, because the instruction cache does not hold four.
DEVICE u32 opaque(u32 v) {
#ifndef WARPINT_SIM
    asm volatile("mov.u32 %0, %0;" : "+r"(v));
#endif
    return v;
}

// v ← its transform, in natural order.
template <int n>
DEVICE void transform(u64 v[n]) {
    Wide x[n];
    unrolled<0, n>([&](auto i) { x[VALUE(i)] = widen(v[VALUE(i)]); });
    x[0] = biased(x[0]);
    dft<n>(x);
    unrolled<0, n>([&](auto i) { v[VALUE(i)] = reduce(x[VALUE(i)]); });
}

// v_i = slot i·f_i, where slot(i) is an address and `twiddles[i·stride]` = f_i; f_0 = 1.
template <int n, class F>
DEVICE void gather(const u64* tile, const u64* __restrict__ twiddles, u32 stride, F slot, u64 v[n]) {
    v[0] = tile[slot(0)];
    unrolled<1, n>([&](auto i) {
        v[VALUE(i)] = settle(mul(tile[slot(VALUE(i))], twiddles[VALUE(i) * stride]));
    });
}

// k → −k mod n for an inverse transform, k otherwise.
template <int n>
DEVICE u32 turned(u32 k, u32 inverse) {
    return k == 0 ? 0 : inverse ? n - k : k;
}
