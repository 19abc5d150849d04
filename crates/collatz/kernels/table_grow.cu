// Computes the mandatory residues modulo 2^(k+1) from those modulo 2^k. The children of r are r and
// r + 2^k. The next step is odd for one child, whose coefficient stays above 1. The coefficient of
// the other child stays above 1 if r has at least `least` odd steps.
//
//   THREADS  threads per block
#include "ptx.cuh"

// The layout of a residue: a word with r in the low bits and the number f of odd steps above; then
// a word with T^k(r).
#define LOW_BITS 40

// counts[0] is the number of residues in `in`, but may exceed the length of the list. counts[1], 0
// before, becomes the number of residues computed, including those that do not fit in `out`.
extern "C" __global__ void __launch_bounds__(THREADS)
    table_grow(u64* counts, const u64* in, u64* out, u32 capacity, const u64* powers, u32 k, u32 least) {
    u32 count = (u32)min(counts[0], (u64)capacity), lane = threadIdx.x % 32;
    u32 warps = gridDim.x * (THREADS / 32);
    for (u64 at = 32 * (u64)(blockIdx.x * (THREADS / 32) + threadIdx.x / 32); at < count; at += 32 * warps) {
        bool has = at + lane < count, both = false;
        u64 packed = 0, value = 0, other = 0, even_bit = 0;
        if (has) {
            packed = in[2 * (at + lane)], value = in[2 * (at + lane) + 1];
            u32 odd = (u32)(packed >> LOW_BITS);
            other = value + powers[odd];
            both = odd >= least;
            if (value % 2 == 0) {
                u64 swapped = value;
                value = other, other = swapped;
            } else {
                even_bit = 1;
            }
        }
        // Now `value` is the odd one, and `other` the even one. The new bit of the residue belongs
        // to the even one if even_bit is 1, otherwise to the odd one.
        u32 all = __ballot_sync(0xffffffffu, has), evens = __ballot_sync(0xffffffffu, both);
        u64 place = 0;
        if (lane == 0) place = atomicAdd(&counts[1], (u64)(__popc(all) + __popc(evens)));
        place = __shfl_sync(0xffffffffu, place, 0);
        u32 before = (1u << lane) - 1;
        u64 odd_place = place + __popc(all & before);
        u64 even_place = place + __popc(all) + __popc(evens & before);
        if (has && odd_place < capacity) {
            out[2 * odd_place] = packed + ((1 - even_bit) << k) + (1ull << LOW_BITS);
            out[2 * odd_place + 1] = value + value / 2 + 1;
        }
        if (both && even_place < capacity) {
            out[2 * even_place] = packed + (even_bit << k);
            out[2 * even_place + 1] = other / 2;
        }
    }
}
