// Computes the children of the nodes of level k, one node per thread. A node has 32 bytes: the
// lowest 96 bits of `low`; the number of odd steps and the pattern, odd | run << 8 | evens << 10,
// in 32 bits; and T^k(low) in 128 bits. The number of odd steps is taken modulo 128, so that
// corrupted memory causes no access outside the 128 powers of 3.
//
//   THREADS   threads per block, a multiple of 32
#include "sieve.cuh"

DEVICE bool grow(uint4 low_part, Long path, u32 k, u32 bit, Long power, Limits limits, uint4& low_out, Long& path_out) {
    u32 odd = low_part.w & 127;
    Pattern pattern = {low_part.w >> 8 & 3, low_part.w >> 10};
    if (bit) path = add(path, power);
    u32 mask = bit << (k & 31);
    low_out = low_part;
    if (k < 32) low_out.x |= mask;
    else if (k < 64) low_out.y |= mask;
    else low_out.z |= mask;
    Long half = {{__funnelshift_r(path.w[0], path.w[1], 1), __funnelshift_r(path.w[1], path.w[2], 1),
                  __funnelshift_r(path.w[2], path.w[3], 1), path.w[3] >> 1}};
    bool is_odd = path.w[0] & 1, dead = false;
    if (is_odd) {
        pattern.odd(odd, limits);
        path_out = add(add(path, half), {{1, 0, 0, 0}});
    } else {
        dead = pattern.even(odd, limits);
        path_out = half;
    }
    low_out.w = (odd + is_odd) | pattern.run << 8 | pattern.evens << 10;
    return !dead;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    sieve_grow(const uint4* nodes, const u32* count, uint4* grown, u32* grown_count, const uint4* powers, u32 k,
               u32 descent, u32 run, u32 preimage) {
    u32 total = *count, lane = threadIdx.x % 32;
    Limits limits = {descent, run, preimage};
    // All lanes of a warp run the same number of iterations.
    for (u32 first = blockIdx.x * THREADS + threadIdx.x - lane; first < total; first += gridDim.x * THREADS) {
        u32 i = first + lane;
        bool lives[2] = {false, false};
        uint4 lows[2];
        Long paths[2];
        if (i < total) {
            uint4 low_part = nodes[2 * (u64)i];
            Long path = join(nodes[2 * (u64)i + 1]), power = join(powers[low_part.w & 127]);
            lives[0] = grow(low_part, path, k, 0, power, limits, lows[0], paths[0]);
            lives[1] = grow(low_part, path, k, 1, power, limits, lows[1], paths[1]);
        }
        u32 votes[2] = {__ballot_sync(0xffffffffu, lives[0]), __ballot_sync(0xffffffffu, lives[1])};
        u32 at = 0;
        if (lane == 0) at = atomicAdd(grown_count, __popc(votes[0]) + __popc(votes[1]));
        at = __shfl_sync(0xffffffffu, at, 0);
#pragma unroll
        for (u32 bit = 0; bit < 2; bit++) {
            if (lives[bit]) {
                u64 place = 2 * (u64)(at + __popc(votes[bit] & ((1u << lane) - 1)));
                grown[place] = lows[bit];
                grown[place + 1] = make_uint4(paths[bit].w[0], paths[bit].w[1], paths[bit].w[2], paths[bit].w[3]);
            }
            at += __popc(votes[bit]);
        }
    }
}
