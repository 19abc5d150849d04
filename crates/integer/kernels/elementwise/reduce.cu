// Computes (u − p) mod m by up to three subtractions of m: the remainder of u after a product p =
// q·m is subtracted, where q is a guess of ⌊u/m⌋ that is at most 3 too small. Since 0 ≤ u − p < 4m,
// `limbs` + VECTOR limbs determine it, for m of `limbs` limbs.
//
// A first pass determines the number of subtractions from the borrows of u − p − m, u − p − 2m and
// u − p − 3m. A second pass subtracts; by then, numbers of one row are in a cache. `out` must not
// alias an operand.
#include "groups.cuh"

// Computes x − y from the carry into this row, 0 for a borrow, and returns the carry out of it in
// `carry`. Beyond the highest limb all bits are 1, so that a carry out of that limb leaves the row.
DEVICE Chunk minus(Chunk x, const Chunk& y, bool above, Group& group, u32& carry) {
    u32 given = 0, all = 0xffffffffu;
    for (u32 v = 0; v < VECTOR; v++) {
        u64 sum = (u64)x.limbs[v] + ~y.limbs[v] + given;
        x.limbs[v] = (u32)sum, given = (u32)(sum >> 32);
        all &= (u32)sum;
    }
    bool gives = !above && given != 0;
    u32 add = group.carry_into(gives, above || all == 0xffffffffu, carry);
    for (u32 v = 0; v < VECTOR; v++) {
        u32 limb = x.limbs[v] + add;
        add = add && limb == 0;
        x.limbs[v] = limb;
    }
    return x;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    reduce(const u32* u, u64 u_stride, u32 u_limbs, const u32* p, u64 p_stride, u32 p_limbs, const u32* m,
           u64 m_stride, u32 m_limbs, u32* out, u32 limbs, u32 count) {
    u32 whole = limbs + VECTOR;
    Batch x = part_of(u, u_stride, min(u_limbs, whole)), y = part_of(p, p_stride, min(p_limbs, whole));
    Batch z = part_of(m, m_stride, m_limbs);
    Places places(count);
    if (places.none()) return;
    Group group;
    u32 times[KEPT] = {};
    for (u32 pass = 0; pass < 2; pass++) {
        // The carries of u − p, and of it minus m, 2m, 3m.
        u32 carries[4] = {1, 1, 1, 1};
        for (u32 from = 0; from < whole; from += SEGMENT) {
#pragma unroll
            for (u32 r = 0; r < ROWS; r++) {
                u32& known = times[LONG ? 0 : r];
                bool above = places.limb(r, from) >= whole;
                Chunk rest = places.load(x, r, from), product = places.load(y, r, from);
                Chunk modulus = places.load(z, r, from);
                if (!LONG) {
                    for (u32 k = 0; k < 4; k++) carries[k] = 1;
                }
                rest = minus(rest, product, above, group, carries[0]);
                for (u32 k = 1; k < 4; k++) {
                    Chunk less = pass == 0 || k <= known ? modulus : Chunk{};
                    rest = minus(rest, less, above, group, carries[k]);
                }
                if (pass == 1) places.store(out, limbs, r, from, rest);
                bool last = !LONG || (r == ROWS - 1 && whole - from <= SEGMENT);
                if (pass == 0 && last) {
                    // After the first borrow all others are borrows too.
                    for (known = 0; known < 3 && carries[known + 1]; known++) {
                    }
                }
            }
        }
    }
}
