// Truncated transforms modulo primes below 2^BITS by teams of threads, for kernels that transform,
// multiply and transform back within a block: a head of H = 2^LOG_HEAD points, modulo x^H − 1, and
// unless SHARE is 0 a tail of T = H/2^SHARE points, modulo x^T − w, w^(H/T) = −1.
//
//   LOG_HEAD, SHARE   numbers of points as above; 16 points per thread
//   RADICES           stages of the passes over shared memory: at most 4 each, LOG_HEAD in all; the
//                     tail omits the first SHARE, fewer than those of the first pass
//   FILLED            points of the head that may be nonzero
//   HEAD_BEGIN        input points of the head are within HEAD_BEGIN/64·p
//   TAIL_BEGIN        input points of the tail are within TAIL_BEGIN/64·p
//   TEAMS             teams of a block, each with a transform of its own
//   SQUARE            whether products are squares
//
// and the macros of f50_stages.cuh. Each pass has a table of roots of its own, in which the roots of
// the blocks that threads process at the same time are adjacent. Bounds of elements before each stage
// are computed at compile time.
//
// After the first pass, all points of a block belong to one warp, so a team needs a barrier only before
// and after the first pass.
#pragma once
#include "f50_stages.cuh"

constexpr u32 HEAD = 1 << LOG_HEAD, TAIL = HEAD >> SHARE, POINTS = SHARE == 0 ? HEAD : HEAD + TAIL;
// The blocks of the head form one tree, those of the tail another.
constexpr u32 TREES = SHARE == 0 ? 1 : 2;
constexpr u32 TEAM = POINTS / HOLDS, HEAD_TEAM = HEAD / HOLDS, TAIL_TEAM = TAIL / HOLDS;
constexpr u32 PASS_STAGES[] = {RADICES};
constexpr u32 PASSES = sizeof(PASS_STAGES) / sizeof(PASS_STAGES[0]), FIRST_STAGES = PASS_STAGES[0];
static_assert(HEAD >> FIRST_STAGES <= 32 * HOLDS, "a warp has all points of a block then");
static_assert(PASS_STAGES[PASSES - 1] == 4, "a thread has all points of a block in the last pass");
static_assert(SHARE < FIRST_STAGES, "the tail has a first pass");

// The upper half of the head is zero before the first stage.
constexpr bool HALF_EMPTY = FILLED <= HEAD / 2;

// A pass has R stages after S earlier ones; S and R identify it. The tail's replacement of the first
// pass begins after SHARE stages.
__host__ __device__ constexpr bool is_tail(u32 stage) {
    return 0 < stage && stage < FIRST_STAGES;
}

// The bound of an element that may be multiplied by a reduced one.
constexpr u32 PRODUCT_LIMIT = 64 * (LIMIT / 2) / REDUCED - 1;
// The bound before a forward stage, before a possible reduction, for elements within `bound` before
// stage `begin`.
__host__ __device__ constexpr u32 bound_after(u32 begin, u32 bound, u32 stage) {
    for (u32 s = begin; s < stage; s++) {
        if (bound > LIMIT) bound = REDUCED;
        bound = s > 0 ? after_forward(bound) : HALF_EMPTY ? bound : 2 * bound;
    }
    return bound;
}
// The same in the pass after S stages.
__host__ __device__ constexpr u32 forward_bound(u32 S, u32 stage) {
    if (is_tail(S)) return bound_after(S, TAIL_BEGIN, stage);
    u32 head = bound_after(0, HEAD_BEGIN, stage);
    if (SHARE == 0 || S == 0) return head;
    // Stages common to head and tail use the same code, hence the same bounds.
    u32 tail = bound_after(SHARE, TAIL_BEGIN, FIRST_STAGES);
    u32 first = bound_after(0, HEAD_BEGIN, FIRST_STAGES);
    return bound_after(FIRST_STAGES, tail > first ? tail : first, stage);
}
// In a product, one factor is within p/2 + 2, and the other is within this bound.
constexpr u32 LAST_BOUND = forward_bound(FIRST_STAGES, LOG_HEAD);
constexpr bool BOTH_REDUCED = SQUARE || LAST_BOUND > PRODUCT_LIMIT;
static_assert(2 * HEAD_BEGIN <= 2 * LIMIT && LAST_BOUND <= 2 * LIMIT, "what is reduced is within 2^53");
// The bound before the inverse of a stage.
__host__ __device__ constexpr u32 inverse_bound(u32 stage) {
    return after_inverse(times(REDUCED, BOTH_REDUCED ? REDUCED : LAST_BOUND), LOG_HEAD - stage - 1);
}

// Whether each warp has threads of one team only, all of the head or all of the tail.
constexpr bool OWN_WARPS = HEAD_TEAM % 32 == 0 && (SHARE == 0 || TAIL_TEAM % 32 == 0);

// Barrier for the threads of a team.
DEVICE void meet() {
    if constexpr (SHARE == 0 && 32 % TEAM == 0) {
        __syncwarp();
    } else if constexpr (OWN_WARPS && TEAMS > 1) {
        static_assert(TEAMS <= 15, "a block has 15 barriers for teams");
        team_barrier<TEAM>();
    } else {
        __syncthreads();
    }
}

constexpr u32 PLACES = place(POINTS);

// A unit is a set of 2^R points, 2^LOG_STRIDE apart, that a thread processes in a pass. The units of a
// block are distributed over its threads.
template <u32 S, u32 R>
struct Pass {
    static constexpr u32 SIZE = 1 << R, UNITS = HOLDS / SIZE, LOG_STRIDE = LOG_HEAD - S - R;
    static constexpr u32 LOG_BLOCK = LOG_HEAD - S, LOG_TEAM = LOG_BLOCK - 4;

    DEVICE static u32 block(u32 thread) { return thread >> LOG_TEAM; }
    DEVICE static u32 first_point(u32 thread, u32 v) {
        return (block(thread) << LOG_BLOCK) + thread % (1 << LOG_TEAM) + (v << LOG_TEAM);
    }
};

// The root of block c among those into which stage r of a pass splits a thread's block.
template <u32 S, u32 R>
DEVICE Factor root(const Factor* roots, u32 r, u32 c, u32 thread) {
    using P = Pass<S, R>;
    u32 entry = (1 << r) - 1 + c;
    if constexpr (is_tail(S)) {
        entry += (1 << FIRST_STAGES) - 1;
    } else if constexpr (S > 0) {
        // For each tree, the tables of the earlier passes have one root less than there are blocks.
        constexpr u32 NUMBER = POINTS >> P::LOG_BLOCK;
        entry = NUMBER - TREES + entry * NUMBER + P::block(thread);
    }
    return load_factor(&roots[entry]);
}

// The roots of stage r of a pass, which are the same for all units of a thread.
template <u32 S, u32 R, u32 r>
struct StageRoots {
    Factor of[1 << r];

    DEVICE StageRoots(const Factor* roots, u32 thread) {
#pragma unroll
        for (u32 c = S == 0 ? 1 : 0; c < 1 << r; c++) of[c] = root<S, R>(roots, r, c, thread);
    }
};

// Calls f(a, b, i, by_one, w) for the pairs of points of a thread in stage r of a pass. The pair is in
// block i and w is the block's root, which is unspecified if by_one.
template <u32 S, u32 R, u32 r, class F>
DEVICE void each_pair(double (&x)[HOLDS], const StageRoots<S, R, r>& w, F f) {
    using P = Pass<S, R>;
    constexpr u32 HALF = P::SIZE >> (r + 1), BLOCKS_HERE = 1 << r;
#pragma unroll
    for (u32 v = 0; v < P::UNITS; v++) {
#pragma unroll
        for (u32 c = 0; c < BLOCKS_HERE; c++) {
#pragma unroll
            for (u32 i = 0; i < HALF; i++) {
                u32 at = v * P::SIZE + c * 2 * HALF + i;
                f(x[at], x[at + HALF], i, S == 0 && c == 0, w.of[c]);
            }
        }
    }
}

// Executes stage r of a pass, and those after it, on the points of a thread. The roots of a stage are
// loaded before the preceding stage.
template <u32 S, u32 R, u32 r>
DEVICE void forward_stage(double (&x)[HOLDS], F50 f, const Factor* roots, u32 thread,
                          const StageRoots<S, R, r>& w) {
    using P = Pass<S, R>;
    constexpr u32 HALF = P::SIZE >> (r + 1), BOUND = forward_bound(S, S + r);
    constexpr u32 BOUND_AFTER = r > 0 ? after_forward(BOUND) : 2 * BOUND;
    constexpr u32 NEXT = r + 1 < R ? r + 1 : r;
    StageRoots<S, R, NEXT> next(roots, thread);
    if constexpr (BOUND > LIMIT) reduce_all(f, x);
    each_pair(x, w, [&](double& a, double& b, u32 i, bool by_one, const Factor& root) {
        double of_a = a, product = forward_product<BOUND, BOUND_AFTER>(f, b, by_one, root);
        bool none = S == 0 && r == 0 && (i + HALF) << P::LOG_STRIDE >= FILLED;
        a = none ? of_a : of_a + product;
        b = none ? of_a : of_a - product;
    });
    if constexpr (r + 1 < R) forward_stage<S, R, r + 1>(x, f, roots, thread, next);
}
template <u32 S, u32 R>
DEVICE void forward_stages(double (&x)[HOLDS], F50 f, const Factor* roots, u32 thread) {
    forward_stage<S, R, 0>(x, f, roots, thread, StageRoots<S, R, 0>(roots, thread));
}

template <u32 S, u32 R, u32 r>
DEVICE void inverse_stage(double (&x)[HOLDS], F50 f, const Factor* roots, u32 thread,
                          const StageRoots<S, R, r>& w) {
    constexpr u32 NEXT = r > 0 ? r - 1 : 0;
    StageRoots<S, R, NEXT> next(roots, thread);
    each_pair(x, w, [&](double& a, double& b, u32, bool by_one, const Factor& root) {
        inverse_butterfly<inverse_bound(S + r)>(f, a, b, by_one, root);
    });
    if constexpr (r > 0) inverse_stage<S, R, r - 1>(x, f, roots, thread, next);
}
template <u32 S, u32 R>
DEVICE void inverse_stages(double (&x)[HOLDS], F50 f, const Factor* roots, u32 thread) {
    inverse_stage<S, R, R - 1>(x, f, roots, thread, StageRoots<S, R, R - 1>(roots, thread));
}

// The passes after the first, whose results are in shared memory.
template <u32 PASS = 1, u32 S = FIRST_STAGES>
DEVICE void forward(double (&x)[HOLDS], double* buffer, F50 f, const Factor* roots, u32 thread) {
    constexpr u32 R = PASS_STAGES[PASS];
    take<Pass<S, R>>(buffer, x, thread);
    forward_stages<S, R>(x, f, roots, thread);
    if constexpr (PASS + 1 < PASSES) {
        // Each thread stores points where it loaded points from.
        put<Pass<S, R>>(buffer, x, thread);
        __syncwarp();
        forward<PASS + 1, S + R>(x, buffer, f, roots, thread);
    }
}

// The inverse of `forward`.
template <u32 PASS = PASSES - 1, u32 S = LOG_HEAD - PASS_STAGES[PASSES - 1]>
DEVICE void inverse(double (&x)[HOLDS], double* buffer, F50 f, const Factor* roots, u32 thread) {
    constexpr u32 R = PASS_STAGES[PASS];
    inverse_stages<S, R>(x, f, roots, thread);
    put<Pass<S, R>>(buffer, x, thread);
    if constexpr (PASS > 1) {
        constexpr u32 R_BEFORE = PASS_STAGES[PASS - 1];
        __syncwarp();
        take<Pass<S - R_BEFORE, R_BEFORE>>(buffer, x, thread);
        inverse<PASS - 1, S - R_BEFORE>(x, buffer, f, roots, thread);
    }
}
