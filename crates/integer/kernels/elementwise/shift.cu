// Computes ⌊a·2^−(32·skip + bits)⌋ mod 2^(32·limbs) for 0 ≤ bits < 32; a left shift has skip < 0.
// VECTOR is 1, since each limb combines two limbs of a.
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
            // Negative indices wrap around to an index beyond the number.
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
