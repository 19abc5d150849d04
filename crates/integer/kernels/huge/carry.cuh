// Carries of sums of words: within a block, and what the block does with a carry.
//
//   THREADS   threads of a block, a multiple of 32. A block makes as many words.
#pragma once
#include "huge.cuh"

constexpr u32 WARPS = THREADS / 32, ALL = 0xffffffff;
static_assert(THREADS % 32 == 0 && THREADS <= 1024, "see above");

// The carries of a sum of COUNT positions: into each position, and out of the last. Position k gives a
// carry if bit k of `gives` is set, and passes one on if bit k of `passes` is set; it never does both.
struct Carries {
    u32 into;
    bool out;
};
template <u32 COUNT>
DEVICE Carries carries(u32 gives, u32 passes, bool first) {
    const u64 a = gives | passes, sum = a + gives + first;
    const u64 into = sum ^ passes;
    return {(u32)into, (bool)(into >> COUNT & 1)};
}

// Where the carry into the lowest position comes from: there is none, or it is 1, or it is the carry out of the
// highest position.
constexpr u32 NONE = 0, ONE = 1, AROUND = 2;

// Returns the carry into the thread's word, without those of other blocks, and writes to `block`, if it is not null,
// what the block does with a carry. All threads of the block call it.
DEVICE u64 carry_within_block(bool gives_carry, bool passes_carry, u32* block, u32 first = NONE) {
    __shared__ u32 warp_gives[WARPS], warp_passes[WARPS];
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const u32 gives = __ballot_sync(ALL, gives_carry), passes = __ballot_sync(ALL, passes_carry);
    if (lane == 0) {
        warp_gives[warp] = carries<32>(gives, passes, false).out;
        warp_passes[warp] = passes == ALL;
    }
    __syncthreads();
    u32 all_give = 0, all_pass = 0;
    for (u32 k = 0; k < WARPS; k++) {
        all_give |= warp_gives[k] << k;
        all_pass |= warp_passes[k] << k;
    }
    const bool out = carries<WARPS>(all_give, all_pass, false).out;
    const Carries of_warps = carries<WARPS>(all_give, all_pass, first == ONE || (first == AROUND && out));
    if (block && threadIdx.x == 0) {
        constexpr u32 EVERY = WARPS == 32 ? ALL : (1u << WARPS % 32) - 1;
        *block = (out ? GIVES : 0) | (all_pass == EVERY ? PASSES : 0);
    }
    return carries<32>(gives, passes, of_warps.into >> warp & 1).into >> lane & 1;
}
