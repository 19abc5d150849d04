// Computes −1, 0 or 1: the sign of a − b; `limbs` are those of the longer operand.
#include "compare.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    compare(const u32* a, u64 a_stride, u32 a_limbs, const u32* b, u64 b_stride, u32 b_limbs,
            signed char* out, u32 limbs, u32 count) {
    Places places(count);
    if (places.none()) return;
    u32 found[KEPT];
    comparisons(places, part_of(a, a_stride, a_limbs), part_of(b, b_stride, b_limbs), limbs, found);
    if (threadIdx.x % LANES != 0) return;
#pragma unroll
    for (u32 k = 0; k < KEPT; k++) {
        if (places.number(k) >= places.count) continue;
        int sign = (int)(found[k] == GREATER) - (int)(found[k] == LESS);
        out[blockIdx.x * NUMBERS + places.number(k)] = (signed char)sign;
    }
}
