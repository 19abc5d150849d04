// Combines a and b: ((a AND b) AND `both`) XOR ((a XOR b) AND `one`) XOR `all`. Masks of zeros or
// ones select AND, OR, XOR or NOT. `out` may be a or b.
#include "groups.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    bitwise(const u32* a, u64 a_stride, u32 a_limbs, const u32* b, u64 b_stride, u32 b_limbs, u32 both,
            u32 one, u32 all, u32* out, u32 limbs, u32 count) {
    Batch x = part_of(a, a_stride, a_limbs), y = part_of(b, b_stride, b_limbs);
    Places places(count);
    if (places.none()) return;
    for (u32 from = 0; from < limbs; from += SEGMENT) {
        Chunk c[ROWS], d[ROWS];
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) {
            c[r] = places.load(x, r, from);
            d[r] = places.load(y, r, from);
        }
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) {
            for (u32 v = 0; v < VECTOR; v++) {
                u32 p = c[r].limbs[v], q = d[r].limbs[v];
                c[r].limbs[v] = (p & q & both) ^ ((p ^ q) & one) ^ all;
            }
            places.store(out, limbs, r, from, c[r]);
        }
    }
}
