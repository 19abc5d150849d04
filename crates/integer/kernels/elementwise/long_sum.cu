// Computes a + b, or a − b = a + NOT b + 1, mod 2^(32·limbs), and the carry or borrow out of the
// highest limb. Neither a nor b has more limbs than the result. `out` may be a or b.
#include "groups.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    long_sum(const u32* a, u64 a_stride, u32 a_limbs, const u32* b, u64 b_stride, u32 b_limbs,
             u32 subtract, unsigned char* carries, u32* out, u32 limbs, u32 count) {
    Batch x = part_of(a, a_stride, a_limbs), y = part_of(b, b_stride, b_limbs);
    Places places(count);
    if (places.none()) return;
    Group group;
    u32 change = subtract ? 0xffffffffu : 0, carry = subtract;
    for (u32 from = 0; from < limbs; from += SEGMENT) {
        Chunk chunks[ROWS], others[ROWS];
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) {
            chunks[r] = places.load(x, r, from);
            others[r] = places.load(y, r, from);
        }
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) {
            if (!LONG) carry = subtract;
            // Beyond the highest limb all bits are 1, so that a carry out of that limb leaves the
            // row.
            bool above = places.limb(r, from) >= limbs;
            u32 given = 0, all = 0xffffffffu;
            for (u32 v = 0; v < VECTOR; v++) {
                u64 sum = (u64)chunks[r].limbs[v] + (others[r].limbs[v] ^ change) + given;
                chunks[r].limbs[v] = (u32)sum, given = (u32)(sum >> 32);
                all &= (u32)sum;
            }
            bool gives = !above && given != 0;
            u32 add = group.carry_into(gives, above || all == 0xffffffffu, carry);
            for (u32 v = 0; v < VECTOR; v++) {
                u32 limb = chunks[r].limbs[v] + add;
                add = add && limb == 0;
                chunks[r].limbs[v] = limb;
            }
            places.store(out, limbs, r, from, chunks[r]);
            u32 i = places.number(r);
            bool last = !LONG || (r == ROWS - 1 && limbs - from <= SEGMENT);
            if (carries != nullptr && last && threadIdx.x % LANES == 0 && i < places.count) {
                carries[blockIdx.x * NUMBERS + i] = (carry ^ subtract) & 1;
            }
        }
    }
}
