// Transforms of lines modulo primes below 2^50, for f50_rows.cu and f50_columns.cu. The tile of a block
// has 2^LOG_OUTER lines of n = 2^STAGES points, with 2^LOG_INNER adjacent elements at each point.
//
//   LOG_OUTER, STAGES, LOG_INNER   point i of line l, element w is at ((l·n + i) << LOG_INNER) + w
//   RADICES                        stages of each round; a thread holds 16 points of the tile in a
//   round
//
// and the macros of f50_stages.cuh; BITS is 50 here.
//
// Roots are in a table of n factors per prime. In stage r of the round after S stages, the root of
// block (β << r) + c, β < 2^S, c < 2^r, is at 2^S − 1 + ((2^r − 1 + c) << S) + β, so that adjacent
// threads read adjacent factors.
#pragma once
constexpr unsigned BITS = 50;
#include "f50_stages.cuh"

constexpr u32 ROUND_STAGES[] = {RADICES};
constexpr u32 ROUNDS = sizeof(ROUND_STAGES) / sizeof(ROUND_STAGES[0]);
constexpr u32 LAST_STAGES = ROUND_STAGES[ROUNDS - 1];
constexpr u32 LOG_TILE = LOG_OUTER + STAGES + LOG_INNER, TILE = 1 << LOG_TILE;
constexpr u32 THREADS = TILE / HOLDS;
// The least number of blocks per multiprocessor that gives `threads` threads.
__host__ __device__ constexpr u32 blocks(u32 threads) { return THREADS < threads ? threads / THREADS : 1; }

// The bound of elements before a forward stage and before their possible reduction, for input
// within `begin`.
__host__ __device__ constexpr u32 forward_bound(u32 begin, u32 stage) {
    u32 bound = begin;
    for (u32 s = 0; s < stage; s++) bound = after_forward(bound > LIMIT ? REDUCED : bound);
    return bound;
}
// The bound of elements after the inverse stages STAGES − 1, …, `stage`, for input within `begin`.
__host__ __device__ constexpr u32 inverse_bound(u32 begin, u32 stage) { return after_inverse(begin, STAGES - stage); }

constexpr u32 PLACES = place(TILE);

// A round of R stages, after S earlier stages. A thread holds units of 2^R points, 2^LOG_STRIDE
// apart.
template <u32 S, u32 R>
struct Round {
    static constexpr u32 SIZE = 1 << R, UNITS = HOLDS / SIZE, LOG_BLOCK = LOG_INNER + STAGES - S;
    static constexpr u32 LOG_STRIDE = LOG_BLOCK - R;
    // Short lines are transformed in one round, several of them by one thread.
    static constexpr bool SHORT = LOG_BLOCK < 4;
    static_assert(!SHORT || S == 0, "a block of a later round has the points of a thread");

    DEVICE static u32 first_point(u32 thread, u32 v) {
        if constexpr (SHORT) {
            u32 unit = thread * UNITS + v;
            return (unit >> LOG_STRIDE << LOG_BLOCK) + unit % (1 << LOG_STRIDE);
        } else {
            constexpr u32 LOG_TEAM = LOG_BLOCK - 4;
            return (thread >> LOG_TEAM << LOG_BLOCK) + thread % (1 << LOG_TEAM) + (v << LOG_TEAM);
        }
    }
    // The index β of a thread's block in its line.
    DEVICE static u32 block(u32 thread) {
        if constexpr (S == 0) {
            return 0;
        } else {
            return (thread >> (LOG_BLOCK - 4)) % (1 << S);
        }
    }
    // Barrier for threads that exchange the points of a block of this round.
    DEVICE static void meet() {
        if constexpr (LOG_BLOCK <= 9 && THREADS % 32 == 0) {
            __syncwarp();
        } else {
            __syncthreads();
        }
    }
};

// Calls f(t, point) for every register t of a thread and the point of the tile that it holds.
template <u32 S, u32 R, class F>
DEVICE void each_point(u32 thread, F f) {
    using Q = Round<S, R>;
#pragma unroll
    for (u32 v = 0; v < Q::UNITS; v++) {
        u32 first = Q::first_point(thread, v);
#pragma unroll
        for (u32 i = 0; i < Q::SIZE; i++) f(v * Q::SIZE + i, first + (i << Q::LOG_STRIDE));
    }
}

// The root of block c among those into which stage r of a round splits a thread's block.
template <u32 S>
DEVICE Factor root(const Factor* roots, u32 r, u32 c, u32 block) {
    return load_factor(&roots[(1 << S) - 1 + (((1 << r) - 1 + c) << S) + block]);
}

// Calls f(a, b, by_one, w) for the pairs of points of a thread in stage r of a round, with the root w
// of their block; w is 1 if by_one.
template <u32 S, u32 R, u32 r, class F>
DEVICE void each_pair(double (&x)[HOLDS], const Factor* roots, u32 block, F f) {
    using Q = Round<S, R>;
    constexpr u32 HALF = Q::SIZE >> (r + 1);
#pragma unroll
    for (u32 c = 0; c < 1 << r; c++) {
        bool by_one = S == 0 && c == 0;
        Factor w = {1.0, 0.0};
        if (!by_one) w = root<S>(roots, r, c, block);
#pragma unroll
        for (u32 v = 0; v < Q::UNITS; v++) {
#pragma unroll
            for (u32 i = 0; i < HALF; i++) {
                u32 at = v * Q::SIZE + c * 2 * HALF + i;
                f(x[at], x[at + HALF], by_one, w);
            }
        }
    }
}

// Executes stage r of a round, and those after it, on the points of a thread. FROM is the bound before
// the transform.
template <u32 FROM, u32 S, u32 R, u32 r = 0>
DEVICE void forward_stages(double (&x)[HOLDS], F50 f, const Factor* roots, u32 block) {
    constexpr u32 BEFORE = forward_bound(FROM, S + r), BOUND = BEFORE > LIMIT ? REDUCED : BEFORE;
    if constexpr (BEFORE > LIMIT) reduce_all(f, x);
    each_pair<S, R, r>(x, roots, block, [&](double& a, double& b, bool by_one, const Factor& w) {
        double product = forward_product<BOUND, after_forward(BOUND)>(f, b, by_one, w), sum = a + product;
        b = a - product;
        a = sum;
    });
    if constexpr (r + 1 < R) forward_stages<FROM, S, R, r + 1>(x, f, roots, block);
}

template <u32 FROM, u32 S, u32 R, u32 r = R - 1>
DEVICE void inverse_stages(double (&x)[HOLDS], F50 f, const Factor* roots, u32 block) {
    constexpr u32 BOUND = inverse_bound(FROM, S + r + 1);
    each_pair<S, R, r>(x, roots, block, [&](double& a, double& b, bool by_one, const Factor& w) {
        inverse_butterfly<BOUND>(f, a, b, by_one, w);
    });
    if constexpr (r > 0) inverse_stages<FROM, S, R, r - 1>(x, f, roots, block);
}

// Transforms a tile. Initially x contains the points that a thread holds in the first round, at the
// end those that it holds in the last round.
template <u32 FROM, u32 ROUND = 0, u32 S = 0>
DEVICE void forward(double (&x)[HOLDS], double* buffer, F50 f, const Factor* roots, u32 thread) {
    constexpr u32 R = ROUND_STAGES[ROUND];
    forward_stages<FROM, S, R>(x, f, roots, Round<S, R>::block(thread));
    if constexpr (ROUND + 1 < ROUNDS) {
        // Each thread stores points where it loaded points from.
        put<Round<S, R>>(buffer, x, thread);
        Round<S, R>::meet();
        take<Round<S + R, ROUND_STAGES[ROUND + 1]>>(buffer, x, thread);
        forward<FROM, ROUND + 1, S + R>(x, buffer, f, roots, thread);
    }
}

// The inverse transform of a tile, from the points that a thread holds in the last round to those
// in the first round.
template <u32 FROM, u32 ROUND = ROUNDS - 1, u32 S = STAGES - LAST_STAGES>
DEVICE void inverse(double (&x)[HOLDS], double* buffer, F50 f, const Factor* roots, u32 thread) {
    constexpr u32 R = ROUND_STAGES[ROUND];
    inverse_stages<FROM, S, R>(x, f, roots, Round<S, R>::block(thread));
    if constexpr (ROUND > 0) {
        constexpr u32 R_BEFORE = ROUND_STAGES[ROUND - 1];
        using Before = Round<S - R_BEFORE, R_BEFORE>;
        put<Round<S, R>>(buffer, x, thread);
        Before::meet();
        take<Before>(buffer, x, thread);
        inverse<FROM, ROUND - 1, S - R_BEFORE>(x, buffer, f, roots, thread);
    }
}

// The residue 0 ≤ r < p of an element.
DEVICE double canonical(F50 f, double x) {
    double r = reduce(f, x);
    return r < 0.0 ? r + f.p : r >= f.p ? r - f.p : r;
}
