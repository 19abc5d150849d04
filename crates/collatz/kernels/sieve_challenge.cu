// What the host asks after the walks of a list of nodes: see src/gpu/sieve/challenge.rs.
//
//   THREADS   of a block, a multiple of 32
#include "sieve.cuh"

const u64 NOBODY = ~0ull;

// The place of a key in ascending keys of 96 bits, or `count`.
DEVICE u32 place_of(uint4 key, const uint4* keys, u32 count) {
    u64 upper = join(key.y, key.z);
    u32 from = 0, to = count;
    while (from < to) {
        u32 middle = (from + to) / 2;
        uint4 other = keys[middle];
        u64 of_other = join(other.y, other.z);
        if (of_other == upper && other.x == key.x) return middle;
        if (of_other < upper || (of_other == upper && other.x < key.x)) from = middle + 1;
        else to = middle;
    }
    return count;
}

// Where nodes with given low bits stand among those from `from` on: found[2i] of keys[i], found[2i + 1] times. All were 0.
extern "C" __global__ void __launch_bounds__(THREADS)
    sieve_find(const uint4* nodes, u32 from, u32 until, const uint4* keys, u32 count, u32* found) {
    for (u32 i = from + blockIdx.x * THREADS + threadIdx.x; i < until; i += gridDim.x * THREADS) {
        u32 place = place_of(nodes[2 * (u64)i], keys, count);
        if (place == count) continue;
        found[2 * place] = i;
        atomicAdd(&found[2 * place + 1], 1);
    }
}

// Adds the tallies of sieve_last.cu: sums is {numbers walked, odd steps of those killed, numbers listed, tallies with this
// mark}, and was 0.
extern "C" __global__ void __launch_bounds__(THREADS)
    sieve_sum(const uint4* tallies, u32 count, u32 mark, u64* sums) {
    u64 parts[4] = {0, 0, 0, 0};
    for (u32 i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS) {
        uint4 tally = tallies[i];
        parts[0] += tally.x;
        parts[1] += tally.y;
        parts[2] += tally.z;
        parts[3] += tally.w == mark;
    }
#pragma unroll
    for (u32 part = 0; part < 4; part++) {
#pragma unroll
        for (u32 apart = 16; apart; apart /= 2) parts[part] += __shfl_down_sync(0xffffffffu, parts[part], apart);
        if (threadIdx.x % 32 == 0 && parts[part]) atomicAdd(&sums[part], parts[part]);
    }
}

// The ends of the long numbers of some nodes, 32 from `first` on: found[0] says how many, found[2i + 1] is a place of
// the list, found[2i + 2] its end. found[0] was 0; there is room for `length`.
extern "C" __global__ void __launch_bounds__(THREADS)
    sieve_ends(const u64* listed, const unsigned short* ends, u32 places, u32 first, u64* found, u32 length) {
    for (u32 i = blockIdx.x * THREADS + threadIdx.x; i < places; i += gridDim.x * THREADS) {
        u64 entry = listed[i];
        if (entry == NOBODY || (entry >> 10) - first >= 32) continue;
        u64 place = atomicAdd(&found[0], 1ull);
        if (place >= length) continue;
        found[2 * place + 1] = entry;
        found[2 * place + 2] = ends[i];
    }
}
