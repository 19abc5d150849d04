// Digits of a quotient, of 32 bits each, with the remainder in the registers of a group of lanes.
//
// With B = 2^32 and N = WHOLE, a step appends the next limb to the remainder R and subtracts a
// multiple of the divisor by the digit q:
//
//     R ← R·B + next − q·V.
//
// Carries. −q·V is q·(B^N − 1 − V) + q − q·B^N: a sum of natural numbers except for the top. A lane
// adds q times the complement of its limbs of V to its limbs of R, one place further up. What
// exceeds LIMBS limbs is one waiting limb: the lane above adds it in the next step, at its second
// place. With q ≤ B − 2 this limb is below B: a lane's sum is at most B^L − 1 + (B − 2)·(B^L − 1) +
// (B − 1)·B < B^(L + 1), L = LIMBS ≥ 2. R is known exactly when no limb is waiting; `gather`
// ensures that.
#pragma once
#include "lanes.cuh"

static_assert(LANES == 1 || LIMBS > 2);

// Returns ρ < 2^127/(w + 1), accurate to 50 bits, for w ≥ 2^63.
DEVICE u64 reciprocal_of(u64 w) {
    // RN(2^127/RN(w)), reduced by 2^−51 of it, which exceeds the error of three roundings.
    double quotient = 0x1p127 / (double)w;
    return (u64)(quotient * (1.0 - 0x1p-51));
}

// Returns the digit q = ⌊r·ρ/2^95⌋ for r ≤ w, limited to B − 2. Products of limbs below 2^64 are
// left out, which lowers the quotient before rounding by at most 3/2^31. So q ≤ r·B/(w + 1), and q
// > r·B/(w + 1) − 1 − 2^−17 unless it was limited.
DEVICE u32 digit_of(u32 r1, u32 r0, u64 reciprocal) {
    u32 p1 = high(reciprocal), p0 = low(reciprocal);
    u64 product = (u64)r1 * p1 + __umulhi(r1, p0) + __umulhi(r0, p1);
    return min((u32)(product >> 31), 0xfffffffeu);
}

// R and the waiting limb: for the lane above, or in the top lane the limb of B^N, which may be −1.
struct Remainder {
    u32 limbs[LIMBS];
    u32 waiting;

    // Computes R·B + next − q·V, from the limbs of B^N − 1 − V.
    DEVICE void step(const u32 (&complement)[LIMBS], u32 q, u32 next) {
        u32 above = limbs[LIMBS - 1], in = from_below(above, next), late = from_below(waiting, 0);
        u32 even[LIMBS], odd[LIMBS + 1];
        even[0] = in;
#pragma unroll
        for (u32 i = 1; i < LIMBS; i++) even[i] = limbs[i - 1];
#pragma unroll
        for (u32 i = 0; i < LIMBS; i += 2) {
            if (i == 0) {
                multiply_add_first(even[0], even[1], complement[0], q);
            } else {
                multiply_add_carried(even[i], even[i + 1], complement[i], q);
            }
        }
        u32 carry = add_last(0, 0);
        // The waiting limb has the second place, q the very first.
        odd[0] = is_bottom() ? q : 0;
#pragma unroll
        for (u32 i = 1; i < LIMBS; i += 2) {
            u64 product = (u64)complement[i] * q + (i == 1 ? late : 0);
            odd[i] = low(product), odd[i + 1] = high(product);
        }
        limbs[0] = add_first(even[0], odd[0]);
#pragma unroll
        for (u32 i = 1; i < LIMBS; i++) limbs[i] = add_carried(even[i], odd[i]);
        waiting = add_last(carry, odd[LIMBS]);
        if (is_top()) waiting += above - q;
    }

    // Adds the waiting limbs, after which none is left; returns the limb of B^N.
    DEVICE u32 gather() {
        u32 carry = add_word(limbs, from_below(waiting, 0));
        u32 beyond = ripple(limbs, carry) + of_top(waiting);
        waiting = 0;
        return beyond;
    }

    // Subtracts Z from R if the result is not negative, given the limbs of B^N − 1 − Z and a carry
    // of 1 into the bottom lane; with a carry of 0, subtracts Z + 1. Returns whether it did. R is
    // taken to include `beyond`·B^N, and no limb is waiting.
    DEVICE bool take(const u32 (&complement)[LIMBS], u32& beyond, u32 carry) {
        u32 less[LIMBS];
        add_first(is_bottom() ? carry : 0, 0xffffffffu);
#pragma unroll
        for (u32 t = 0; t < LIMBS; t++) less[t] = add_carried(limbs[t], complement[t]);
        carry = ripple(less, add_last(0, 0));
        // The carry into B^N cancels what was added to complement Z.
        bool is_no_less = beyond + carry != 0;
        if (is_no_less) {
            beyond += carry - 1;
#pragma unroll
            for (u32 t = 0; t < LIMBS; t++) limbs[t] = less[t];
        }
        return is_no_less;
    }
};
