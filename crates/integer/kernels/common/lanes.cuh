// Numbers in the registers of groups of lanes.
//
//   LANES     lanes of a group, which have a number: a power of two up to 32, or THREADS
//   LIMBS     limbs of a number that a lane has, an even number: lane i those from i·LIMBS on
//   THREADS   threads per block
//
// All lanes of a warp call each function that communicates with other lanes, and all lanes of a
// group that is a block.
#pragma once
#include "chain.cuh"

// Limbs of a number, and numbers per block.
constexpr u32 WHOLE = LANES * LIMBS, NUMBERS = THREADS / LANES;

DEVICE u32 lane_of_group() { return threadIdx.x % LANES; }
DEVICE bool is_bottom() { return lane_of_group() == 0; }
DEVICE bool is_top() { return lane_of_group() == LANES - 1; }

// Warps per group, and lanes of a group within one warp.
[[maybe_unused]] constexpr u32 WARPS = LANES > 32 ? LANES / 32 : 1;
constexpr u32 WIDTH = LANES < 32 ? LANES : 32;

// Returns the value of the next lane below or above. The outermost lane of the group, which has no
// such neighbour, gets `outermost`. If a group is a block, its warps exchange values through shared
// memory, of which each function has its own. Between two calls of one function there must be a
// barrier, such as the one in another of these functions, so that all lanes have read.
template <class T, class Outermost>
DEVICE T from_below(T value, Outermost outermost) {
    if constexpr (LANES == 1) return outermost;
    T found = __shfl_up_sync(0xffffffffu, value, 1, WIDTH);
    if constexpr (LANES > 32) {
        __shared__ T told[WARPS];
        if (threadIdx.x % 32 == 31) told[threadIdx.x / 32] = value;
        __syncthreads();
        if (threadIdx.x % 32 == 0 && !is_bottom()) found = told[threadIdx.x / 32 - 1];
    }
    return is_bottom() ? (T)outermost : found;
}
template <class T, class Outermost>
DEVICE T from_above(T value, Outermost outermost) {
    if constexpr (LANES == 1) return outermost;
    T found = __shfl_down_sync(0xffffffffu, value, 1, WIDTH);
    if constexpr (LANES > 32) {
        __shared__ T told[WARPS];
        if (threadIdx.x % 32 == 0) told[threadIdx.x / 32] = value;
        __syncthreads();
        if (threadIdx.x % 32 == 31 && !is_top()) found = told[threadIdx.x / 32 + 1];
    }
    return is_top() ? (T)outermost : found;
}

// Returns the value of one lane to its whole group.
template <class T>
DEVICE T of_lane(T value, u32 lane) {
    if constexpr (LANES > 32) {
        __shared__ T told;
        if (threadIdx.x == lane) told = value;
        __syncthreads();
        return told;
    }
    return LANES == 1 ? value : __shfl_sync(0xffffffffu, value, lane, WIDTH);
}
DEVICE u32 of_top(u32 value) { return of_lane(value, LANES - 1); }

// Barrier for lanes that work on the same numbers: afterwards they can read what the others wrote
// before.
DEVICE void meet() {
    if constexpr (LANES > 32) {
        __syncthreads();
    } else {
        __syncwarp();
    }
}

// Returns whether `mine` is true in some lane of the group, or of another group in its warp.
DEVICE bool any_says(bool mine) {
    if constexpr (LANES > 32) return __syncthreads_or(mine);
    return __any_sync(0xffffffffu, mine);
}

// Returns the votes of a group of up to 32 lanes, lane 0 first.
DEVICE u32 votes(bool mine) {
    u32 all = __ballot_sync(0xffffffffu, mine);
    if constexpr (LANES == 32) return all;
    return all >> (threadIdx.x % 32 & (32 - LANES)) & ((1u << LANES % 32) - 1);
}

// Returns the largest value of a group.
DEVICE u32 largest(u32 value) {
#pragma unroll
    for (u32 apart = 1; apart < WIDTH; apart *= 2) {
        value = max(value, __shfl_xor_sync(0xffffffffu, value, apart));
    }
    if constexpr (LANES > 32) {
        __shared__ u32 told[WARPS];
        if (threadIdx.x % 32 == 0) told[threadIdx.x / 32] = value;
        __syncthreads();
        for (u32 i = 0; i < WARPS; i++) value = max(value, told[i]);
    }
    return value;
}

// Adds `carry` to a lane's limbs; returns the carry out.
DEVICE u32 add_word(u32 (&x)[LIMBS], u32 carry) {
    x[0] = add_first(x[0], carry);
#pragma unroll
    for (u32 i = 1; i < LIMBS; i++) x[i] = add_carried(x[i], 0);
    return add_last(0, 0);
}

// Computes x − y − borrow in a lane's limbs; returns the borrow out.
DEVICE u32 subtract(u32 (&x)[LIMBS], const u32 (&y)[LIMBS], u32 borrow) {
    sub_first(0, borrow);
#pragma unroll
    for (u32 i = 0; i < LIMBS; i++) x[i] = sub_carried(x[i], y[i]);
    return sub_last(0, 0) & 1;
}

// Adds the carry of each lane to the limbs of the lane above, and the resulting carries; returns
// the carry of the top lane. A lane that has a carry must not have limbs that are all ones when
// another carry comes in.
//
// Bit i of T = 2·gives is the carry of lane i − 1. Adding T to `passes` flips the bits of `passes`
// from each 1 of T up to the first lane that passes no carry on, inclusive: exactly the lanes that
// a carry reaches.
DEVICE u32 ripple(u32 (&x)[LIMBS], u32 carry) {
    if constexpr (LANES == 1) return carry;
    u32 all = 0xffffffffu;
#pragma unroll
    for (u32 i = 0; i < LIMBS; i++) all &= x[i];
    u32 gives = votes(carry != 0), passes = votes(all == 0xffffffffu && carry == 0);
    u64 into = (((u64)gives << 1) + passes) ^ passes;
    add_word(x, (u32)(into >> lane_of_group()) & 1);
    return (u32)(into >> LANES) & 1;
}
