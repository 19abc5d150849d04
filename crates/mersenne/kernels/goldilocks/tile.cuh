// Lines of Q·A·B points in shared memory, several side by side.
//
// A line's time index is q·A·B + a·B + b, its frequency index is
// kq + Q·(ka + A·kb). Between its steps it lies in slots (u, a or ka, b),
// where u < U numbers what stands side by side: the lines, and kq.
#pragma once
#include "dft.cuh"

// Where slots lie. Threads with consecutive u, then a, meet no bank conflict,
// and by the padding none with consecutive u, then b.
template <u32 U, u32 A, u32 B>
struct Slots {
    static constexpr u32 PADDING = U < 16 ? U : 4;
    static constexpr u32 STRIDE_A = U, STRIDE_B = U * A + PADDING;
    static constexpr u32 COUNT = STRIDE_B * B;
    static DEVICE u32 at(u32 u, u32 a, u32 b) { return u + STRIDE_A * a + STRIDE_B * b; }
};

// The constants of dft_5, by its caller: (ω+ω^4)/2, (ω^2+ω^3)/2, (ω−ω^4)/2, (ω^2−ω^3)/2.
#ifndef FIFTH_0
#define FIFTH_0 0ull
#define FIFTH_1 0ull
#define FIFTH_2 0ull
#define FIFTH_3 0ull
#endif

// 2^12: more than any sum of the transforms here is negative, in units of q.
constexpr u32 BIAS = 4096;

// Five points; ω a fifth root of unity, which is no power of two.
DEVICE void dft_5(Wide x[5]) {
    Wide s = add(x[1], x[4]), t = add(x[2], x[3]);
    u64 s_ = reduce(biased<BIAS>(s)), t_ = reduce(biased<BIAS>(t));
    u64 d_ = reduce(biased<BIAS>(sub(x[1], x[4]))), e_ = reduce(biased<BIAS>(sub(x[2], x[3])));
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

// A value that the compiler does not know: loops that begin with it stay loops.
// The transforms are long stretches of code without branches; each is there once,
// in a loop over its uses, because the instruction cache does not hold four.
DEVICE u32 opaque(u32 v) {
#ifndef WARPINT_SIM
    asm volatile("mov.u32 %0, %0;" : "+r"(v));
#endif
    return v;
}

// x ← its transform, in natural order, reduced to 0 ≤ x_k < 2^64.
template <int n>
DEVICE void transform(Wide x[n]) {
    x[0] = biased<BIAS>(x[0]);
    if constexpr (n == 5) {
        dft_5(x);
    } else {
        dft<n>(x);
    }
    unrolled<0, n>([&](auto i) { x[VALUE(i)] = widen(reduce(x[VALUE(i)])); });
}

// −k mod n.
constexpr u32 minus(u32 k, u32 n) { return (n - k) % n; }

// The lazy value of a wide that `transform` has reduced.
DEVICE u64 reduced(Wide v) { return join(v.w0, v.w1); }

// x_i = from[i·apart]·f_i, where `twiddles[i·stride]` = f_i and f_0 = 1.
template <int n, u32 apart, u32 stride>
DEVICE void gather(const u64* from, const u64* __restrict__ twiddles, Wide x[n]) {
    x[0] = widen(from[0]);
    unrolled<1, n>([&](auto i) {
        x[VALUE(i)] = mul(from[VALUE(i) * apart], twiddles[VALUE(i) * stride]);
    });
}

// to[±k·apart mod n] = x_k: the inverse transform is the transform backwards.
template <int n, u32 apart>
DEVICE void scatter(u64* to, u32 inverse, const Wide x[n]) {
    to[0] = reduced(x[0]);
    if (inverse) to += n * apart;
    const i32 step = inverse ? -(i32)apart : (i32)apart;
    unrolled<1, n>([&](auto k) { to[VALUE(k) * step] = reduced(x[VALUE(k)]); });
}
