// Stages of transforms modulo primes below 2^BITS, BITS ≤ 50, on the 16 points of a thread: bounds of
// elements, sums and differences of a stage, and the exchange of points through shared memory.
//
// A forward stage factors x^(2h) − w² as (x^h − w)(x^h + w). In block β of 2h points, all sums and
// differences a ± w·b have the same w, a root of unity whose exponent is β with its bits reversed. The
// result is in reversed order; the inverse stages undo this. (This form is that of FLINT's fft_small.)
//
// A round is a sequence of stages without an exchange between threads. A class `Q` says which points a
// thread holds in it:
//
//   SIZE, UNITS       a thread holds UNITS units of SIZE points, HOLDS points in all
//   LOG_STRIDE        points of a unit are 2^LOG_STRIDE apart
//   first_point       the first point of a thread's unit
#pragma once
#include "f50.cuh"

constexpr u32 HOLDS = 16;

// Bounds of elements as multiples of p/64. A reduced element is within p/2 + 2, a word within
// p/2 + 2^12: both are less than 33/64·p.
constexpr u32 REDUCED = 33;
// The largest bound of an element that may be multiplied by a factor.
constexpr u32 LIMIT = 64 << (52 - BITS);
// The bound of the product of an element within `bound`, up to the limit, and a factor.
__host__ __device__ constexpr u32 times_factor(u32 bound) { return REDUCED + (bound >> (54 - BITS)); }
// The bound of the product of elements within bounds a and b, for a·b up to 64·LIMIT/2.
__host__ __device__ constexpr u32 times(u32 a, u32 b) { return REDUCED + (a * b / 64 >> (52 - BITS)); }
// The bound of a ± w·b for a, b within `bound`, which is up to the limit.
__host__ __device__ constexpr u32 after_forward(u32 bound) { return bound + times_factor(bound); }
// Whether the sums of an inverse stage must be reduced. Its differences are within 2·bound, and those
// of the next stage must be within the limit.
__host__ __device__ constexpr bool reduces(u32 bound) { return 4 * bound > LIMIT; }
// The bound after `stages` inverse stages.
__host__ __device__ constexpr u32 after_inverse(u32 bound, u32 stages) {
    for (u32 s = 0; s < stages; s++) {
        u32 sum = reduces(bound) ? REDUCED : 2 * bound, product = times_factor(2 * bound);
        bound = sum > product ? sum : product;
    }
    return bound;
}

// The place of a point in shared memory: 16 consecutive points, and 16 points that are 8 or 16 apart,
// are in different banks.
__host__ __device__ constexpr u32 place(u32 point) { return point + point / 16; }

// Stores a thread's points in the buffer. The remainders mod 16 of a unit's first point and of
// i·2^LOG_STRIDE have a sum below 16, so the places of its points are place(i·2^LOG_STRIDE) apart.
template <class Q>
DEVICE void put(double* buffer, const double (&x)[HOLDS], u32 thread) {
#pragma unroll
    for (u32 v = 0; v < Q::UNITS; v++) {
        double* to = buffer + place(Q::first_point(thread, v));
#pragma unroll
        for (u32 i = 0; i < Q::SIZE; i++) to[place(i << Q::LOG_STRIDE)] = x[v * Q::SIZE + i];
    }
}
template <class Q>
DEVICE void take(const double* buffer, double (&x)[HOLDS], u32 thread) {
#pragma unroll
    for (u32 v = 0; v < Q::UNITS; v++) {
        const double* from = buffer + place(Q::first_point(thread, v));
#pragma unroll
        for (u32 i = 0; i < Q::SIZE; i++) x[v * Q::SIZE + i] = from[place(i << Q::LOG_STRIDE)];
    }
}

DEVICE void reduce_all(F50 f, double (&x)[HOLDS]) {
#pragma unroll
    for (u32 t = 0; t < HOLDS; t++) x[t] = reduce(f, x[t]);
}

DEVICE Factor load_factor(const Factor* from) {
    double2 factor = __ldg((const double2*)from);
    return {factor.x, factor.y};
}

// w·b of a forward stage, for elements within BOUND. For w = 1 it is b, reduced if the bound 2·BOUND of
// a ± b exceeds NEXT, the bound of all points after the stage.
template <u32 BOUND, u32 NEXT>
DEVICE double forward_product(F50 f, double b, bool by_one, const Factor& w) {
    if (!by_one) return mul_by(f, b, w);
    return 2 * BOUND > NEXT ? reduce(f, b) : b;
}

// Computes a, b ← a + b, (a − b)·w of an inverse stage, for elements within BOUND.
template <u32 BOUND>
DEVICE void inverse_butterfly(F50 f, double& a, double& b, bool by_one, const Factor& w) {
    constexpr bool REDUCES = reduces(BOUND);
    static_assert(2 * BOUND <= LIMIT, "a difference is within the limit");
    double sum = a + b, difference = a - b;
    a = REDUCES ? reduce(f, sum) : sum;
    b = !by_one ? mul_by(f, difference, w) : REDUCES ? reduce(f, difference) : difference;
}
