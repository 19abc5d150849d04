// Queries of the host after a launch of table_walk.cu: see src/gpu/table/challenge.rs.
//
//   THREADS   threads per block, a multiple of 32
#include "ptx.cuh"

// Searches a list for residues, packed as in table_grow.cu. found[2i] becomes the index of the
// residue of keys[i], found[2i + 1] the number of matches. All must be 0 before.
extern "C" __global__ void __launch_bounds__(THREADS)
    table_find(const u64* residues, u32 residues_count, const u64* keys, u32 count, u32* found) {
    for (u32 i = blockIdx.x * THREADS + threadIdx.x; i < residues_count; i += gridDim.x * THREADS) {
        u64 key = residues[2 * (u64)i];
        u32 from = 0, to = count;
        while (from < to) {
            u32 middle = (from + to) / 2;
            if (keys[middle] < key) from = middle + 1;
            else to = middle;
        }
        if (from == count || keys[from] != key) continue;
        found[2 * from] = i;
        atomicAdd(&found[2 * from + 1], 1);
    }
}

// Adds `count` tallies to a sum.
extern "C" __global__ void __launch_bounds__(THREADS)
    table_sum(const u32* tallies, u32 count, u64* sum) {
    u64 part = 0;
    for (u32 i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS) part += tallies[i];
#pragma unroll
    for (u32 apart = 16; apart; apart /= 2) part += __shfl_down_sync(0xffffffffu, part, apart);
    if (threadIdx.x % 32 == 0 && part) atomicAdd(sum, part);
}
