// Products of H limbs by H limbs in the registers of one thread.
//
// A row is the product of a by one limb of b. Its products of two limbs overlap, so they are added
// in two chains: one for those that begin at even positions of the result, one for those at odd
// positions (the two chains of NVIDIA's CGBN). The result is the sum of both. After a row its
// lowest position is final; the two words there are added, and the chain of the next row begins
// with their carry. So a product of two limbs with all its carries is one instruction.
//
// Rows 0 … i sum to less than 2^(32·(i + H + 1)). A chain in row i whose last product is at
// position i + H − 2 may carry into i + H; a chain whose last product is at i + H − 1 does not
// carry.
#pragma once
#include "chain.cuh"

// 0 in memory, so that the compiler does not know it.
__constant__ u32 NO_BITS = 0;

// Returns x, but not before y is known. Without this the compiler interleaves too many rows, and it
// keeps at most seven carries.
DEVICE u32 when_known(u32 x, u32 y) { return x | (y & NO_BITS); }

// Two sums of 2·H limbs, by the parity of the position at which products begin.
template <u32 H>
struct Sums {
    u32 words[2][2 * H + 1];

    DEVICE void clear() {
#pragma unroll
        for (u32 t = 0; t <= 2 * H; t++) words[0][t] = words[1][t] = 0;
    }

    // Adds a_j·b at position i + j for j = first, first + 2, … below `end`, and if `carried` the
    // carry of the preceding chain. All arguments except `a` and `b` must be compile-time
    // constants.
    DEVICE void add_chain(const u32 (&a)[H], u32 b, u32 i, u32 first, u32 end, bool carried) {
        u32(&w)[2 * H + 1] = words[(i + first) % 2];
        u32 j = first;
#pragma unroll
        for (; j < end; j += 2) {
            if (j > first || carried) {
                multiply_add_carried(w[i + j], w[i + j + 1], a[j], b);
            } else {
                multiply_add_first(w[i + j], w[i + j + 1], a[j], b);
            }
        }
        if ((j > first || carried) && j <= H) w[i + j] = add_last(w[i + j], 0);
    }

    // Returns the sum at position t, as the first or a later link of a chain.
    DEVICE u32 first_sum(u32 t) { return add_first(words[0][t], words[1][t]); }
    DEVICE u32 next_sum(u32 t) { return add_carried(words[0][t], words[1][t]); }
};

// Computes a·b. b(i) reads limb i of b; put(t, x) receives limb t of the product, t = 0, 1, … 2·H −
// 1. Limb i of b is read before limb i of the product is put.
template <u32 H, class Read, class Put>
DEVICE void multiply(const u32 (&a)[H], Read b, Put put) {
    Sums<H> sums;
    sums.clear();
#pragma unroll
    for (u32 i = 0; i < H; i++) {
        u32 limb = b(i);
        if (i > 0) {
            if (H > 16) limb = when_known(limb, sums.words[(i + 1) % 2][i + H - 1]);
            put(i - 1, sums.first_sum(i - 1));
        }
        sums.add_chain(a, limb, i, 0, H, i > 0);
        sums.add_chain(a, limb, i, 1, H, false);
    }
    put(H - 1, sums.first_sum(H - 1));
#pragma unroll
    for (u32 t = H; t < 2 * H; t++) put(t, sums.next_sum(t));
}

// Computes a·b mod 2^(32·H), with only the products that it needs.
template <u32 H, class Read, class Put>
DEVICE void multiply_low(const u32 (&a)[H], Read b, Put put) {
    Sums<H> sums;
    sums.clear();
#pragma unroll
    for (u32 i = 0; i < H; i++) {
        u32 limb = b(i);
        if (i > 0) {
            if (H > 16) limb = when_known(limb, sums.words[(i + 1) % 2][H - 1]);
            put(i - 1, sums.first_sum(i - 1));
        }
        sums.add_chain(a, limb, i, 0, H - i, i > 0);
        sums.add_chain(a, limb, i, 1, H - i, false);
    }
    put(H - 1, sums.first_sum(H - 1));
}

// Computes the limbs of a·b from FROM on, FROM ≤ H, in nearly all cases with only the products that
// they need: products below position FROM − 2 are left out, which would add less than FROM to limb
// FROM − 1. If that might carry, all products are computed, and put(t, x) receives all limbs. All
// limbs of b are read before the first limb is put, or put again.
template <u32 FROM, u32 H, class Read, class Put>
DEVICE void multiply_high(const u32 (&a)[H], Read b, Put put) {
    static_assert(2 <= FROM && FROM <= H);
    constexpr u32 BEGIN = FROM - 2;
    Sums<H> sums;
    sums.clear();
#pragma unroll
    for (u32 i = 0; i < H; i++) {
        u32 limb = b(i), first = i < BEGIN ? BEGIN - i : 0;
        if (H > 16 && i > 0) limb = when_known(limb, sums.words[(i + 1) % 2][i + H - 1]);
        sums.add_chain(a, limb, i, first, H, false);
        sums.add_chain(a, limb, i, first + 1, H, false);
    }
    sums.first_sum(BEGIN);
    if (sums.next_sum(BEGIN + 1) >= 0xffffffffu - FROM) {
        multiply(a, b, put);
        return;
    }
    sums.first_sum(BEGIN);
    sums.next_sum(BEGIN + 1);
#pragma unroll
    for (u32 t = FROM; t < 2 * H; t++) put(t, sums.next_sum(t));
}

// Computes a²: products of two different limbs once, doubled; then the squares of limbs.
template <u32 H, class Put>
DEVICE void square(const u32 (&a)[H], Put put) {
    Sums<H> sums;
    sums.clear();
    // The sum S of a_i·a_j for i < j is final below position 2i after row i − 1. Limbs 2i and 2i +
    // 1 of 2·S + Σ a_i²·2^(64·i) follow, from the preceding limb of S and a carry.
    u32 before = 0, carry = 0;
    auto put_pair = [&](u32 i, u32 s0, u32 s1) {
        u32 d0 = __funnelshift_l(before, s0, 1), d1 = __funnelshift_l(s0, s1, 1);
        before = s1;
        add_first(carry, 0xffffffffu);
        multiply_add_carried(d0, d1, a[i], a[i]);
        carry = add_last(0, 0);
        put(2 * i, d0);
        put(2 * i + 1, d1);
    };
    u32 even = 0;
#pragma unroll
    for (u32 i = 0; i < H; i++) {
        // Limbs 2i − 1 and 2i of S.
        u32 odd = 0, next = 0;
        if (i > 0) {
            odd = sums.first_sum(2 * i - 1);
            next = sums.next_sum(2 * i);
        }
        sums.add_chain(a, a[i], i, i + 1, H, i > 0);
        sums.add_chain(a, a[i], i, i + 2, H, false);
        if (i > 0) put_pair(i - 1, even, odd);
        even = next;
    }
    put_pair(H - 1, even, sums.words[0][2 * H - 1] + sums.words[1][2 * H - 1]);
}
