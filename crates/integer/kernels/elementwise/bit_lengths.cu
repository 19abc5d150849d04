// Computes the bit length of a: ⌊log2 a⌋ + 1, and 0 for 0.
#include "groups.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    bit_lengths(const u32* a, u64 a_stride, u32 a_limbs, u32* out, u32 count) {
    Batch x = part_of(a, a_stride, a_limbs);
    Places places(count);
    if (places.none()) return;
    u32 found[KEPT];
    topmost_chunks(a_limbs, found, [&](u32 r, u32 from) {
        Chunk chunk = places.load(x, r, from);
        u32 length = 0;
        for (u32 v = 0; v < VECTOR; v++) {
            u32 limb = chunk.limbs[v];
            if (limb != 0) length = 32 * (places.limb(r, from) + v + 1) - __clz(limb);
        }
        return length;
    });
    if (threadIdx.x % LANES != 0) return;
#pragma unroll
    for (u32 k = 0; k < KEPT; k++) {
        if (places.number(k) < places.count) out[blockIdx.x * NUMBERS + places.number(k)] = found[k];
    }
}
