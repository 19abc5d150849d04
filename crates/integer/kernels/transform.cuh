// Transforms of the digits of numbers modulo a prime, for ntt.cu, whose constants these are specialised
// by: points and passes, how large elements can be before each stage, stages, roots, and what threads
// exchange in memory.
//
// A forward stage takes x^(2h) − w² apart into (x^h − w)(x^h + w): in block β of 2h points, all
// differences and sums a ± w·b are with the same w, a root of unity whose exponent is β with its
// bits reversed. The result is in reversed order, products are made there, and the inverse stages go
// back. (This form is that of FLINT's fft_small.) A pass has a table of roots of its own, in which
// those of blocks that threads have at a time stand side by side.
//
// After the first pass one warp has all points of a block: the whole team meets before and after that pass
// only.
#pragma once
#include "f50.cuh"

constexpr u32 PIECES = (DIGIT_BITS + 63) / 64;
constexpr u32 HEAD = 1 << LOG_HEAD, TAIL = HEAD >> SHARE, POINTS = SHARE == 0 ? HEAD : HEAD + TAIL;
// The head is one tree of blocks, the tail another.
constexpr u32 TREES = SHARE == 0 ? 1 : 2;
constexpr u32 HOLDS = 16, TEAM = POINTS / HOLDS, HEAD_TEAM = HEAD / HOLDS, TAIL_TEAM = TAIL / HOLDS;
constexpr u32 PASS_STAGES[] = {RADICES};
constexpr u32 PASSES = sizeof(PASS_STAGES) / sizeof(PASS_STAGES[0]), FIRST_STAGES = PASS_STAGES[0];
static_assert(HEAD >> FIRST_STAGES <= 32 * HOLDS, "a warp has all points of a block then");
static_assert(PASS_STAGES[PASSES - 1] == 4, "a thread has all points of a block in the last pass");
static_assert(SHARE < FIRST_STAGES, "the tail has a first pass");

// Digits of a factor.
__host__ __device__ constexpr u32 digits(u32 limbs) {
    return (32 * limbs + DIGIT_BITS - 1) / DIGIT_BITS;
}
constexpr u32 MOST_DIGITS = digits(A_LIMBS > B_LIMBS ? A_LIMBS : B_LIMBS);
// The first stage of the head finds nothing in its upper half.
constexpr bool HALF_EMPTY = MOST_DIGITS <= HEAD / 2;

// A pass is R stages after S others, which is how it is told from the rest. That of the tail in place
// of the first pass begins after SHARE stages.
__host__ __device__ constexpr bool is_tail(u32 stage) {
    return 0 < stage && stage < FIRST_STAGES;
}

// Bounds of elements as multiples of p/64; p is below 2^BITS. A word is within p/2 + 2^12, which is less
// than 33/64·p.
constexpr u32 LIMIT = 64 << (52 - BITS);
// A product of an element within `bound` by a factor, for bounds up to the limit.
__host__ __device__ constexpr u32 times_factor(u32 bound) { return 33 + (bound >> (54 - BITS)); }
// A product of elements within two bounds, whose product is up to 64·LIMIT/2.
__host__ __device__ constexpr u32 times(u32 a, u32 b) { return 33 + (a * b / 64 >> (52 - BITS)); }
constexpr u32 PRODUCT_LIMIT = 64 * (LIMIT / 2) / 33 - 1;
// The words of a digit, all but the first of them times a factor: as any word below 2^50.
constexpr u32 DIGIT_BOUND = 33 + times_factor(64 << (50 - BITS)) * (PIECES - 1);
// A digit, and w times a sum of digits.
__host__ __device__ constexpr u32 tail_bound() {
    u32 bound = DIGIT_BOUND;
    for (u32 i = 1; i < 1 << SHARE; i++) bound = DIGIT_BOUND + times_factor(bound);
    return bound;
}
static_assert(tail_bound() <= LIMIT, "factors of a product by a root are within the limit");
// a ± w·b for a, b within `bound`, which is up to the limit.
__host__ __device__ constexpr u32 after_forward(u32 bound) { return bound + times_factor(bound); }
// The bound before a forward stage, before it is reduced if need be, from `begin` on, where it is
// `bound`.
__host__ __device__ constexpr u32 bound_after(u32 begin, u32 bound, u32 stage) {
    for (u32 s = begin; s < stage; s++) {
        if (bound > LIMIT) bound = 33;
        bound = s > 0 ? after_forward(bound) : HALF_EMPTY ? bound : 2 * bound;
    }
    return bound;
}
// The same in the pass after S stages.
__host__ __device__ constexpr u32 forward_bound(u32 S, u32 stage) {
    if (is_tail(S)) return bound_after(S, tail_bound(), stage);
    u32 head = bound_after(0, DIGIT_BOUND, stage);
    if (SHARE == 0 || S == 0) return head;
    // All that both do is one code.
    u32 tail = bound_after(SHARE, tail_bound(), FIRST_STAGES);
    u32 first = bound_after(0, DIGIT_BOUND, FIRST_STAGES);
    return bound_after(FIRST_STAGES, tail > first ? tail : first, stage);
}
// Of products one factor is within p/2 + 2, the other one within this.
constexpr u32 LAST_BOUND = forward_bound(FIRST_STAGES, LOG_HEAD);
constexpr bool BOTH_REDUCED = SQUARE || LAST_BOUND > PRODUCT_LIMIT;
static_assert(2 * DIGIT_BOUND <= 2 * LIMIT && LAST_BOUND <= 2 * LIMIT, "what is reduced is within 2^53");
// The bound before the inverse of a stage. Sums above half of the limit are reduced.
__host__ __device__ constexpr u32 inverse_bound(u32 stage) {
    u32 bound = times(33, BOTH_REDUCED ? 33 : LAST_BOUND);
    for (u32 s = LOG_HEAD; s-- > stage + 1;) {
        u32 difference = times_factor(2 * bound), sum = 2 * bound > LIMIT / 2 ? 33 : 2 * bound;
        bound = sum > difference ? sum : difference;
    }
    return bound;
}

// Whether each warp has threads of one product, all of the head or all of the tail.
constexpr bool OWN_WARPS = HEAD_TEAM % 32 == 0 && (SHARE == 0 || TAIL_TEAM % 32 == 0);

static_assert(2 * inverse_bound(0) <= LIMIT, "a difference is within the limit");

// Where the threads of a product meet.
DEVICE void meet() {
    if constexpr (SHARE == 0 && 32 % TEAM == 0) {
        __syncwarp();
    } else if constexpr (OWN_WARPS && PRODUCTS > 1) {
        static_assert(PRODUCTS <= 15, "a block has 15 barriers for teams");
        team_barrier<TEAM>();
    } else {
        __syncthreads();
    }
}

// Where a point is: 16 neighbours, or 16 points that are 8 or 16 apart, are in different banks.
__host__ __device__ constexpr u32 place(u32 point) { return point + point / 16; }
constexpr u32 PLACES = place(POINTS);

// Units of 2^R points, 2^LOG_STRIDE apart, that a thread has in a pass. Those of a block are spread
// over its threads.
template <u32 S, u32 R>
struct Pass {
    static constexpr u32 SIZE = 1 << R, UNITS = HOLDS / SIZE, LOG_STRIDE = LOG_HEAD - S - R;
    static constexpr u32 LOG_BLOCK = LOG_HEAD - S, LOG_TEAM = LOG_BLOCK - 4;

    DEVICE static u32 block(u32 thread) { return thread >> LOG_TEAM; }
    // The first point of unit v. What it and i·2^LOG_STRIDE are beyond multiples of 16 is below 16
    // together, so the places of a unit's points are place(i·2^LOG_STRIDE) apart.
    DEVICE static u32 first_point(u32 thread, u32 v) {
        return (block(thread) << LOG_BLOCK) + thread % (1 << LOG_TEAM) + (v << LOG_TEAM);
    }
};

template <u32 S, u32 R>
DEVICE void put(double* buffer, const double (&x)[HOLDS], u32 thread) {
    using P = Pass<S, R>;
#pragma unroll
    for (u32 v = 0; v < P::UNITS; v++) {
        double* to = buffer + place(P::first_point(thread, v));
#pragma unroll
        for (u32 i = 0; i < P::SIZE; i++) to[place(i << P::LOG_STRIDE)] = x[v * P::SIZE + i];
    }
}
template <u32 S, u32 R>
DEVICE void take(const double* buffer, double (&x)[HOLDS], u32 thread) {
    using P = Pass<S, R>;
#pragma unroll
    for (u32 v = 0; v < P::UNITS; v++) {
        const double* from = buffer + place(P::first_point(thread, v));
#pragma unroll
        for (u32 i = 0; i < P::SIZE; i++) x[v * P::SIZE + i] = from[place(i << P::LOG_STRIDE)];
    }
}

DEVICE void reduce_all(F50 f, double (&x)[HOLDS]) {
#pragma unroll
    for (u32 t = 0; t < HOLDS; t++) x[t] = reduce(f, x[t]);
}

// The root of block c of those into which stage r of a pass takes a thread's block apart.
template <u32 S, u32 R>
DEVICE Factor root(const Factor* roots, u32 r, u32 c, u32 thread) {
    using P = Pass<S, R>;
    u32 entry = (1 << r) - 1 + c;
    if constexpr (is_tail(S)) {
        entry += (1 << FIRST_STAGES) - 1;
    } else if constexpr (S > 0) {
        // The tables of the passes before have a root less than there are blocks, for each tree.
        constexpr u32 NUMBER = POINTS >> P::LOG_BLOCK;
        entry = NUMBER - TREES + entry * NUMBER + P::block(thread);
    }
    double2 factor = __ldg((const double2*)&roots[entry]);
    return {factor.x, factor.y};
}

// The roots of stage r of a pass, the same for all units of a thread.
template <u32 S, u32 R, u32 r>
struct StageRoots {
    Factor of[1 << r];

    DEVICE StageRoots(const Factor* roots, u32 thread) {
#pragma unroll
        for (u32 c = S == 0 ? 1 : 0; c < 1 << r; c++) of[c] = root<S, R>(roots, r, c, thread);
    }
};

// Stage r of a pass, and those after it, on the points that a thread holds. The roots of a stage are
// loaded before the stage before.
template <u32 S, u32 R, u32 r>
DEVICE void forward_stage(double (&x)[HOLDS], F50 f, const Factor* roots, u32 thread,
                          const StageRoots<S, R, r>& w) {
    using P = Pass<S, R>;
    constexpr u32 HALF = P::SIZE >> (r + 1), BLOCKS_HERE = 1 << r, BOUND = forward_bound(S, S + r);
    constexpr u32 NEXT = r + 1 < R ? r + 1 : r;
    StageRoots<S, R, NEXT> next(roots, thread);
    if constexpr (BOUND > LIMIT) reduce_all(f, x);
#pragma unroll
    for (u32 v = 0; v < P::UNITS; v++) {
#pragma unroll
        for (u32 c = 0; c < BLOCKS_HERE; c++) {
            bool by_one = S == 0 && c == 0;
#pragma unroll
            for (u32 i = 0; i < HALF; i++) {
                u32 at = v * P::SIZE + c * 2 * HALF + i;
                double a = x[at], b = x[at + HALF];
                if (!by_one) {
                    b = mul_by(f, b, w.of[c]);
                } else if (r > 0 && 2 * BOUND > after_forward(BOUND)) {
                    // Not multiplied, it may be too large for the bound.
                    b = reduce(f, b);
                }
                bool none = S == 0 && r == 0 && (i + HALF) << P::LOG_STRIDE >= MOST_DIGITS;
                x[at] = none ? a : a + b;
                x[at + HALF] = none ? a : a - b;
            }
        }
    }
    if constexpr (r + 1 < R) forward_stage<S, R, r + 1>(x, f, roots, thread, next);
}
template <u32 S, u32 R>
DEVICE void forward_stages(double (&x)[HOLDS], F50 f, const Factor* roots, u32 thread) {
    forward_stage<S, R, 0>(x, f, roots, thread, StageRoots<S, R, 0>(roots, thread));
}

template <u32 S, u32 R, u32 r>
DEVICE void inverse_stage(double (&x)[HOLDS], F50 f, const Factor* roots, u32 thread,
                          const StageRoots<S, R, r>& w) {
    using P = Pass<S, R>;
    constexpr u32 HALF = P::SIZE >> (r + 1), BLOCKS_HERE = 1 << r;
    constexpr bool REDUCES = 2 * inverse_bound(S + r) > LIMIT / 2;
    constexpr u32 NEXT = r > 0 ? r - 1 : 0;
    StageRoots<S, R, NEXT> next(roots, thread);
#pragma unroll
    for (u32 v = 0; v < P::UNITS; v++) {
#pragma unroll
        for (u32 c = 0; c < BLOCKS_HERE; c++) {
            bool by_one = S == 0 && c == 0;
#pragma unroll
            for (u32 i = 0; i < HALF; i++) {
                u32 at = v * P::SIZE + c * 2 * HALF + i;
                double sum = x[at] + x[at + HALF], difference = x[at] - x[at + HALF];
                x[at] = REDUCES ? reduce(f, sum) : sum;
                x[at + HALF] = !by_one   ? mul_by(f, difference, w.of[c])
                               : REDUCES ? reduce(f, difference)
                                         : difference;
            }
        }
    }
    if constexpr (r > 0) inverse_stage<S, R, r - 1>(x, f, roots, thread, next);
}
template <u32 S, u32 R>
DEVICE void inverse_stages(double (&x)[HOLDS], F50 f, const Factor* roots, u32 thread) {
    inverse_stage<S, R, R - 1>(x, f, roots, thread, StageRoots<S, R, R - 1>(roots, thread));
}

// The passes after the first, which has put its points.
template <u32 PASS = 1, u32 S = FIRST_STAGES>
DEVICE void forward(double (&x)[HOLDS], double* buffer, F50 f, const Factor* roots, u32 thread) {
    constexpr u32 R = PASS_STAGES[PASS];
    take<S, R>(buffer, x, thread);
    forward_stages<S, R>(x, f, roots, thread);
    if constexpr (PASS + 1 < PASSES) {
        // Each thread puts points where it took points from.
        put<S, R>(buffer, x, thread);
        __syncwarp();
        forward<PASS + 1, S + R>(x, buffer, f, roots, thread);
    }
}

// Back to where `forward` begins.
template <u32 PASS = PASSES - 1, u32 S = LOG_HEAD - PASS_STAGES[PASSES - 1]>
DEVICE void inverse(double (&x)[HOLDS], double* buffer, F50 f, const Factor* roots, u32 thread) {
    constexpr u32 R = PASS_STAGES[PASS];
    inverse_stages<S, R>(x, f, roots, thread);
    put<S, R>(buffer, x, thread);
    if constexpr (PASS > 1) {
        constexpr u32 R_BEFORE = PASS_STAGES[PASS - 1];
        __syncwarp();
        take<S - R_BEFORE, R_BEFORE>(buffer, x, thread);
        inverse<PASS - 1, S - R_BEFORE>(x, buffer, f, roots, thread);
    }
}
