// Long numbers distributed over groups of lanes.
//
//   VECTOR    limbs of a chunk, which moves at once: 1, 2 or 4, a factor of the limbs of each number
//   LANES     lanes of a group, which have a number: a power of two up to 32, or THREADS
//   ROWS      chunks that a thread has in registers
//   LONG      0: a number is one row, and a group has ROWS numbers; 1: it has one, of any length
//   THREADS   threads per block
//
// A row is LANES chunks, one per lane, contiguous in memory. Lanes whose limbs lie beyond the
// number hold zeros.
#pragma once
#include "simt.cuh"

constexpr u32 GROUPS = THREADS / LANES;
// Numbers per group, and per block.
constexpr u32 KEPT = LONG ? 1 : ROWS, NUMBERS = GROUPS * KEPT;
// Limbs of a number that a group holds at a time.
constexpr u32 ROW = LANES * VECTOR, SEGMENT = LONG ? ROWS * ROW : ROW;
// Warps per group, and lanes of a group within one warp.
constexpr u32 WARPS = LANES > 32 ? LANES / 32 : 1, WIDTH = LANES < 32 ? LANES : 32;

struct __align__(4 * VECTOR) Chunk {
    u32 limbs[VECTOR];
};

// Numbers of a block in memory, `stride` limbs apart.
struct Batch {
    const u32* data;
    u64 stride;
    u32 limbs;
};

// Returns the part of a batch that belongs to this block.
DEVICE Batch part_of(const u32* data, u64 stride, u32 limbs) {
    return {data + (u64)blockIdx.x * NUMBERS * stride, stride, limbs};
}

// The numbers and limbs of a thread, counted from the first number of its block.
struct Places {
    // Numbers of the block.
    u32 count;

    DEVICE explicit Places(u32 all) : count(min(all - blockIdx.x * NUMBERS, NUMBERS)) {}

    DEVICE u32 number(u32 row) const { return threadIdx.x / LANES + (LONG ? 0 : row * GROUPS); }
    // Returns the first limb of its chunk in a row of the segment that begins at `from`.
    DEVICE u32 limb(u32 row, u32 from) const {
        return from + (LONG ? row * ROW : 0) + threadIdx.x % LANES * VECTOR;
    }
    // Returns whether a whole group has no number and may exit; never if groups share a warp.
    DEVICE bool none() const { return LONG && number(0) >= count; }

    DEVICE Chunk load(const Batch& a, u32 row, u32 from) const {
        u32 i = number(row), j = limb(row, from);
        if (i >= count || j >= a.limbs) return {};
        return *(const Chunk*)(a.data + i * a.stride + j);
    }
    // Returns limb j of a number, or 0 beyond its end.
    DEVICE u32 limb_at(const Batch& a, u32 row, u32 j) const {
        u32 i = number(row);
        return i < count && j < a.limbs ? a.data[i * a.stride + j] : 0;
    }
    // Stores results of `limbs` limbs.
    DEVICE void store(u32* out, u32 limbs, u32 row, u32 from, const Chunk& x) const {
        u32 i = number(row), j = limb(row, from);
        if (i >= count || j >= limbs) return;
        *(Chunk*)(out + ((u64)blockIdx.x * NUMBERS + i) * limbs + j) = x;
    }
};

// Returns the votes of this thread's group, lane 0 first.
DEVICE u32 votes(bool mine) {
    u32 all = __ballot_sync(0xffffffffu, mine);
    return WIDTH == 32 ? all : all >> (threadIdx.x % 32 & (32 - WIDTH)) & ((1u << WIDTH % 32) - 1);
}

// Bit i is the carry into lane i, up to the carry out of the last, given the lanes that generate a
// carry and those that pass one on; no lane does both. With T = 2·gives + carry, bit i of T is the
// carry of lane i − 1. Adding T to `pass` flips the bits of `pass` from each 1 of T up to the first
// lane that passes no carry on, inclusive: exactly the lanes that a carry reaches.
DEVICE u64 carries_of(u32 gives, u32 pass, u32 carry) {
    return (((u64)gives << 1 | carry) + pass) ^ pass;
}

// Communication among the lanes of a group. All lanes of a warp make each call, and all lanes of a
// group that is a block.
struct Group {
    // Warps write to one half of shared memory while slower ones read the other. A barrier is
    // needed before a block uses another group.
    u32 turn = 0;

    // Returns the carry into this lane's chunk, which generates one or, if not, passes one on.
    // `carry` is the carry into the row, and on return the carry out of it.
    DEVICE u32 carry_into(bool gives, bool passes_on, u32& carry) {
        u32 lane = threadIdx.x % WIDTH;
        u32 g = votes(gives), p = votes(passes_on && !gives);
        if constexpr (LANES > 32) {
            // The carry that each warp passes on if none comes in, and whether it propagates one.
            u32 handed = (u32)(carries_of(g, p, 0) >> 32) | (u32)(p == 0xffffffffu) << 1;
            u32 other = of_warps(handed);
            u32 warps_give = votes(other & 1), warps_pass = votes(other >> 1);
            u64 into_warps = carries_of(warps_give, warps_pass, carry);
            carry = (u32)(into_warps >> WARPS) & 1;
            u32 into_this = (u32)(into_warps >> threadIdx.x / 32) & 1;
            return (u32)(carries_of(g, p, into_this) >> lane) & 1;
        }
        u64 into = carries_of(g, p, carry);
        carry = (u32)(into >> WIDTH) & 1;
        return (u32)(into >> lane) & 1;
    }

    // Returns the value of the highest lane whose value is not 0; 0 if none is.
    DEVICE u32 topmost(u32 value) {
        u32 top = topmost_of_warp(value);
        if constexpr (LANES > 32) top = topmost_of_warp(of_warps(top));
        return top;
    }

    // Returns the value of warp i in lane i of each warp; 0 in further lanes.
    DEVICE u32 of_warps(u32 value) {
        __shared__ u32 told[2][WARPS];
        u32 lane = threadIdx.x % 32;
        turn ^= 1;
        if (lane == 0) told[turn][threadIdx.x / 32] = value;
        __syncthreads();
        return lane < WARPS ? told[turn][lane] : 0;
    }

    DEVICE u32 topmost_of_warp(u32 value) {
        u32 some = votes(value != 0);
        u32 found = __shfl_sync(0xffffffffu, value, some == 0 ? 0 : 31 - __clz(some), WIDTH);
        return some == 0 ? 0 : found;
    }
};

// Returns, for each number of a group, the value of its highest chunk whose value is not 0, or 0.
// Evaluates value(row, from) for its chunks from the top as far as needed.
template <class F>
DEVICE void topmost_chunks(u32 limbs, u32 (&found)[KEPT], F value) {
    Group group;
    // Slower warps may still read the values of a previous call.
    if constexpr (LANES > 32) __syncthreads();
    for (u32 k = 0; k < KEPT; k++) found[k] = 0;
    for (u32 from = (limbs - 1) / SEGMENT * SEGMENT;; from -= SEGMENT) {
        u32 values[ROWS];
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) values[r] = value(r, from);
#pragma unroll
        for (u32 r = ROWS; r-- > 0;) {
            u32& top = found[LONG ? 0 : r];
            if (top == 0) top = group.topmost(values[r]);
        }
        if (!LONG || found[0] != 0 || from == 0) return;
    }
}
