// Selects b where a number's byte is 1, otherwise a. `out` may be a or b.
#include "groups.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    select(const u32* a, u64 a_stride, u32 a_limbs, const u32* b, u64 b_stride, u32 b_limbs,
           const unsigned char* bytes, u32* out, u32 limbs, u32 count) {
    Batch x = part_of(a, a_stride, a_limbs), y = part_of(b, b_stride, b_limbs);
    bytes += (u64)blockIdx.x * NUMBERS;
    Places places(count);
    if (places.none()) return;
    for (u32 from = 0; from < limbs; from += SEGMENT) {
        Chunk chunks[ROWS];
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) {
            u32 i = places.number(r);
            bool of_b = i < places.count && bytes[i] != 0;
            Batch it = {of_b ? y.data : x.data, of_b ? y.stride : x.stride, of_b ? y.limbs : x.limbs};
            chunks[r] = places.load(it, r, from);
        }
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) places.store(out, limbs, r, from, chunks[r]);
    }
}
