// Lines of Q·A·B points modulo 2^64 − 2^32 + 1 in shared memory, several side by side.
//
// `slots.cuh` says where the points of a line are.
#pragma once
#include "dft.cuh"
#include "slots.cuh"

// The constants of dft_5, defined by the including file: (ω+ω^4)/2, (ω^2+ω^3)/2, (ω−ω^4)/2,
// (ω^2−ω^3)/2.
#ifndef FIFTH_0
#define FIFTH_0 0ull
#define FIFTH_1 0ull
#define FIFTH_2 0ull
#define FIFTH_3 0ull
#endif

// BIAS·q exceeds the absolute value of any negative sum of these transforms.
constexpr u32 BIAS = 4096;

// Transform of five points; ω is a fifth root of unity, which is not a power of two.
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

// Transform of three points; ω = 2^64, so ω^2 = −2^32.
DEVICE void dft_3(Wide x[3]) {
    Wide s = sub(times_power<64>(x[1]), times_power<32>(x[2])), t = sub(times_power<64>(x[2]), times_power<32>(x[1]));
    Wide sum = add(x[0], add(x[1], x[2]));
    x[1] = add(x[0], s);
    x[2] = add(x[0], t);
    x[0] = sum;
}

// Computes X_k from narrow x_j = load(Index<j>{}) and calls store(Index<k>{}, X_k) with X_k reduced to
// 0 ≤ X_k < 2^64. The calls are in the order of `dft`.
template <int n, class Load, class Store>
DEVICE void transform(Load load, Store store) {
    auto positive = [&](auto j) {
        Wide v = load(j);
        return VALUE(j) == 0 ? biased<BIAS>(v) : v;
    };
    auto reduced = [&](auto k, Wide v) { store(k, reduce(v)); };
    if constexpr (n == 3 || n == 5) {
        Wide x[n];
        unrolled<0, n>([&](auto j) { x[VALUE(j)] = positive(j); });
        if constexpr (n == 3) {
            dft_3(x);
        } else {
            dft_5(x);
        }
        unrolled<0, n>([&](auto k) { reduced(k, x[VALUE(k)]); });
    } else {
        dft<n>(positive, reduced);
    }
}

// points[i·apart]·twiddles[i·stride]. The twiddle for i = 0 is 1.
template <u32 apart, u32 stride, class I>
DEVICE Wide twiddled(const u64* points, const u64* __restrict__ twiddles, I) {
    constexpr u32 i = I::value;
    return i == 0 ? widen(points[0]) : mul(points[i * apart], twiddles[i * stride]);
}
