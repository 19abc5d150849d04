// Lines of Q·A·B points of the field of q² elements, q = 2^31 − 1, in shared memory. Lines are stored
// and transformed in the same steps as those of complex points (line.cuh).
#pragma once
#include "line.cuh"
#include "m31.cuh"

constexpr u32 odd_part(u32 n) { return n % 2 == 0 ? odd_part(n / 2) : n; }

// The factors of the R points of an item, doubled, from a list: those of points 1 to R − 1, or with
// FIRST = 0 those of all points.
template <int R, u32 STRIDE, int FIRST = 1>
struct Factors {
    Gauss w[R];
    DEVICE Factors() {}
    DEVICE Factors(const Gauss* __restrict__ list) {
        unrolled<FIRST, R>([&](auto i) { w[VALUE(i)] = list[(VALUE(i) - FIRST) * STRIDE]; });
    }
    DEVICE void apply(Gauss (&x)[R]) const {
        unrolled<FIRST, R>([&](auto i) { x[VALUE(i)] = mul(x[VALUE(i)], w[VALUE(i)]); });
    }
};

// The product of two doubled factors, doubled.
DEVICE Gauss times_factor(Gauss v, Gauss w) {
    return doubled(mul(Gauss{v.re >> 1, v.im >> 1}, w));
}

// The factors start·w^i of all points i, from a list of the powers w^i, i > 0.
template <int R>
struct Twists {
    Factors<R, 1> powers;
    Gauss start;
    DEVICE Twists() {}
    DEVICE Twists(Gauss start, const Gauss* __restrict__ list) : powers(list), start(start) {}
    DEVICE void apply(Gauss (&x)[R]) const {
        x[0] = mul(x[0], start);
        unrolled<1, R>([&](auto i) { x[VALUE(i)] = mul(x[VALUE(i)], times_factor(start, powers.w[VALUE(i)])); });
    }
};

template <int R>
DEVICE void take(Gauss (&x)[R], const Gauss* points, u32 stride) {
    unrolled<0, R>([&](auto i) { x[VALUE(i)] = points[VALUE(i) * stride]; });
}
// Writes the result of a transform to `points`, at distances of `stride`, in the order of
// frequencies.
template <int R>
DEVICE void put(const Gauss (&x)[R], Gauss* points, u32 stride) {
    unrolled<0, R>([&](auto k) { points[VALUE(k) * stride] = x[place_of31(R, VALUE(k))]; });
}
// Reads a point from global memory, bypassing the first-level cache.
DEVICE Gauss load(const Gauss* point) {
    uint2 v = __ldcg((const uint2*)point);
    return {v.x, v.y};
}
// Writes a point to global memory, bypassing the first-level cache.
DEVICE void store(Gauss* point, Gauss v) {
    uint2 w = make_uint2(v.re, v.im);
#if STREAMING
    __stcs((uint2*)point, w);
#else
    __stcg((uint2*)point, w);
#endif
}
template <int R>
DEVICE void load(Gauss (&x)[R], const Gauss* points, u32 stride) {
    unrolled<0, R>([&](auto i) { x[VALUE(i)] = load(points + VALUE(i) * stride); });
}
// Writes the result of a transform to `points`, in the order of frequencies.
template <int R>
DEVICE void store(const Gauss (&x)[R], Gauss* points, u32 stride) {
    unrolled<0, R>([&](auto k) { store(points + VALUE(k) * stride, x[place_of31(R, VALUE(k))]); });
}
