// ⌊a·2^−(32·skip + bits)⌋ mod 2^(32·limbs) for 0 ≤ bits < 32; a shift to the left has skip < 0.
// VECTOR is 1, since limbs come from two places of a.
#include "groups.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    shift(const u32* a, u64 a_stride, u32 a_limbs, int skip, u32 bits, u32* out, u32 limbs, u32 count) {
    Batch x = part_of(a, a_stride, a_limbs);
    Places places(count);
    if (places.none()) return;
    for (u32 from = 0; from < limbs; from += SEGMENT) {
        u32 lower[ROWS], upper[ROWS];
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) {
            // Below 0 it wraps around to where there is no limb either.
            u32 j = places.limb(r, from) + (u32)skip;
            lower[r] = places.limb_at(x, r, j);
            upper[r] = places.limb_at(x, r, j + 1);
        }
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) {
            Chunk chunk = {{__funnelshift_r(lower[r], upper[r], bits)}};
            places.store(out, limbs, r, from, chunk);
        }
    }
}
