// Computes −a mod 2^(32·limbs) = NOT a + 1: the 1 propagates through chunks of a that are 0. `out`
// may be a.
#include "groups.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    negate(const u32* a, u64 a_stride, u32 a_limbs, u32* out, u32 limbs, u32 count) {
    Batch x = part_of(a, a_stride, a_limbs);
    Places places(count);
    if (places.none()) return;
    Group group;
    u32 carry = 1;
    for (u32 from = 0; from < limbs; from += SEGMENT) {
        Chunk chunks[ROWS];
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) chunks[r] = places.load(x, r, from);
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) {
            Chunk& chunk = chunks[r];
            if (!LONG) carry = 1;
            u32 any = 0;
            for (u32 v = 0; v < VECTOR; v++) any |= chunk.limbs[v];
            u32 add = group.carry_into(false, any == 0, carry);
            for (u32 v = 0; v < VECTOR; v++) {
                u32 limb = ~chunk.limbs[v] + add;
                add = add && limb == 0;
                chunk.limbs[v] = limb;
            }
            places.store(out, limbs, r, from, chunk);
        }
    }
}
