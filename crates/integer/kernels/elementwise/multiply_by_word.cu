// a·w mod 2^(32·limbs) for a word w < 2^64.
//
// With B = 2^32, let C_j = ⌊(a mod B^j)·w / B^j⌋ < B² be the carry of the limbs below j, and H_j =
// ⌊Y·w / B²⌋, where Y < B² consists of a's two limbs below j. H_j leaves out less than B^(j−2)·w <
// B^j, so C_j is H_j or H_j + 1, and only that 1 must come from other lanes. A lane computes its
// chunk's product + H_j, and from it the word D that it passes on if no 1 comes in. It generates a
// carry if D is H + 1 for the next lane's H, and it propagates one if its limbs are all ones. It
// never passes on H + 2.
#include "groups.cuh"
#include "ptx.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    multiply_by_word(const u32* a, u64 a_stride, u32 a_limbs, u64 w, u32* out, u32 limbs, u32 count) {
    Batch x = part_of(a, a_stride, a_limbs);
    Places places(count);
    if (places.none()) return;
    Group group;
    u32 carry = 0;
    for (u32 from = 0; from < limbs; from += SEGMENT) {
        Chunk chunks[ROWS];
        u64 below[ROWS];
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) {
            u32 j = places.limb(r, from);
            chunks[r] = places.load(x, r, from);
            // Limbs −1 and −2 wrap around to an index beyond the number.
            below[r] = join(places.limb_at(x, r, j - 2), places.limb_at(x, r, j - 1));
        }
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) {
            if (!LONG) carry = 0;
            u64 handed = __umul64hi(below[r], w), last = below[r];
            u32 ones = 0xffffffffu;
            Chunk chunk;
            for (u32 v = 0; v < VECTOR; v++) {
                u32 limb = chunks[r].limbs[v];
                u64 t = multiply_add_short(limb, low(w), low(handed));
                handed = multiply_add_short(limb, high(w), high(handed)) + high(t);
                chunk.limbs[v] = low(t);
                ones &= low(t);
                last = join(high(last), limb);
            }
            bool gives = handed != __umul64hi(last, w);
            u32 add = group.carry_into(gives, ones == 0xffffffffu, carry);
            for (u32 v = 0; v < VECTOR; v++) {
                chunk.limbs[v] += add;
                add = add && chunk.limbs[v] == 0;
            }
            places.store(out, limbs, r, from, chunk);
        }
    }
}
