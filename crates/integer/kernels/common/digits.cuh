// Digits of a quotient, of 32 bits, and the remainder in the registers of a group of lanes.
//
// With B = 2^32 and N = WHOLE, a step brings the next limb into the remainder R and subtracts a digit q
// of what divides:
//
//     R ← R·B + next − q·V.
//
// Carries. −q·V is q·(B^N − 1 − V) + q − q·B^N: a sum of natural numbers but for the top. A lane adds
// q times the complement of its limbs of V to its limbs of R, one place further up, and what
// is too much for LIMBS limbs is a limb that waits: the lane above adds it in the next step, at its
// second place. With q ≤ B − 2 this limb is below B: a lane's sum is at most
// B^L − 1 + (B − 2)·(B^L − 1) + (B − 1)·B < B^(L + 1), L = LIMBS ≥ 2. R is known exactly where nothing waits,
// which `gather` sees to.
#pragma once
#include "lanes.cuh"

static_assert(LANES == 1 || LIMBS > 2);

// ρ < 2^127/(w + 1) to 50 bits, for w ≥ 2^63.
DEVICE u64 reciprocal_of(u64 w) {
    // RN(2^127/RN(w)), made smaller by 2^−51 of it: three roundings are less than that.
    double quotient = 0x1p127 / (double)w;
    return (u64)(quotient * (1.0 - 0x1p-51));
}

// The digit q = ⌊r·ρ/2^95⌋ for r ≤ w, in which products of limbs below 2^64 are left out, which is at
// most 3 of 2^31; limited to B − 2. So q ≤ r·B/(w + 1), and q > r·B/(w + 1) − 1 − 2^−17 but for the limit.
DEVICE u32 digit_of(u32 r1, u32 r0, u64 reciprocal) {
    u32 p1 = high(reciprocal), p0 = low(reciprocal);
    u64 product = (u64)r1 * p1 + __umulhi(r1, p0) + __umulhi(r0, p1);
    return min((u32)(product >> 31), 0xfffffffeu);
}

// R, and what waits: for the lane above, or of the top the limb of B^N, which may be −1.
struct Remainder {
    u32 limbs[LIMBS];
    u32 waiting;

    // R·B + next − q·V, from the limbs of B^N − 1 − V.
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
        // What waits has the second place, q the first one of all.
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

    // Adds what waits, which is nothing then; the limb of B^N.
    DEVICE u32 gather() {
        u32 carry = add_word(limbs, from_below(waiting, 0));
        u32 beyond = ripple(limbs, carry) + of_top(waiting);
        waiting = 0;
        return beyond;
    }

    // R − Z where that is not negative, for the limbs of B^N − 1 − Z and a carry of 1 into the bottom lane, or
    // R − Z − 1 for a carry of 0; whether it was done. R has `beyond`·B^N more, and nothing waits.
    DEVICE bool take(const u32 (&complement)[LIMBS], u32& beyond, u32 carry) {
        u32 less[LIMBS];
        add_first(is_bottom() ? carry : 0, 0xffffffffu);
#pragma unroll
        for (u32 t = 0; t < LIMBS; t++) less[t] = add_carried(limbs[t], complement[t]);
        carry = ripple(less, add_last(0, 0));
        // B^N of what was added is what is subtracted.
        bool is_no_less = beyond + carry != 0;
        if (is_no_less) {
            beyond += carry - 1;
#pragma unroll
            for (u32 t = 0; t < LIMBS; t++) limbs[t] = less[t];
        }
        return is_no_less;
    }
};
