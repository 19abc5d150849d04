// Computes the smaller number or, if `maximum` is 1, the larger one. `out` may be a or b: a lane
// writes only limbs that it has read itself.
#include "compare.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    extreme(const u32* a, u64 a_stride, u32 a_limbs, const u32* b, u64 b_stride, u32 b_limbs,
            u32 maximum, u32* out, u32 limbs, u32 count) {
    Batch x = part_of(a, a_stride, a_limbs), y = part_of(b, b_stride, b_limbs);
    Places places(count);
    if (places.none()) return;
    u32 found[KEPT];
    comparisons(places, x, y, limbs, found);
    u32 b_if = maximum ? LESS : GREATER;
    for (u32 from = 0; from < limbs; from += SEGMENT) {
        Chunk chunks[ROWS];
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) {
            bool b_is_it = found[LONG ? 0 : r] == b_if;
            // Member by member: a choice of whole structures would go through the stack.
            Batch it = {b_is_it ? y.data : x.data, b_is_it ? y.stride : x.stride, b_is_it ? y.limbs : x.limbs};
            chunks[r] = places.load(it, r, from);
        }
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) places.store(out, limbs, r, from, chunks[r]);
    }
}
