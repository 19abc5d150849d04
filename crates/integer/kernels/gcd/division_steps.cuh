// Division steps (Bernstein and Yang 2019, Fast constant-time gcd computation and modular
// inversion) on numbers in the registers of groups of lanes, or of a block.
//
//   A_LIMBS, B_LIMBS   limbs of two numbers a and b
//   LANES, LIMBS, THREADS   see lanes.cuh, but limbs here have 30 bits
//
// 30·WHOLE exceeds 32·max(A_LIMBS, B_LIMBS), which leaves room for a sign.
//
// gcd(a, b) = 2^z·gcd(f, g), where z is the number of trailing zeros of a | b; f is an odd one of
// a/2^z and b/2^z, g the other. A division step, with δ = 1 at first, is
//
//     δ > 0 and g odd:  δ, f, g ← 1 − δ, g, (g − f)/2
//     otherwise:        δ, f, g ← 1 + δ, f, (g + (g mod 2)·f)/2
//
// It does not change gcd(f, g), and does not increase the larger of |f| and |g|. In the end g is 0
// and f is plus or minus the divisor (theorem 11.2: after (49n + 57)/17 steps for numbers of n ≥ 46
// bits, (49n + 80)/17 for shorter ones). 30 steps depend on the 30 lowest bits, and form a matrix:
// 2^30·(f', g') = (u·f + v·g, q·f + r·g), with |u| + |v| and |q| + |r| at most 2^30. All lanes
// compute it, and each lane its limbs of f' and g'.
//
// Limbs are in [0, 2^30), except a lane's lowest one, which may be 2 off, and the highest of all,
// which has the sign. A lane's sum of products of limbs carries c, |c| ≤ 2^30, to the lane above.
// Dividing by 2^30 moves all limbs down by one. The lane's highest limb becomes the sum of c and
// the lowest limb of the lane above, less than 2^31; the excess over a limb is added in the lane
// above.
#pragma once
#include "lanes.cuh"

constexpr u32 WIDE = A_LIMBS > B_LIMBS ? A_LIMBS : B_LIMBS;
constexpr u32 BITS = 30, MASK = (1u << BITS) - 1;
static_assert(LIMBS >= 2 && BITS * WHOLE > 32 * WIDE);

// A number; 0 above its limbs.
struct Number {
    const u32* limbs;
    u32 count;

    DEVICE u32 operator[](u32 i) const { return i < count ? limbs[i] : 0; }
    // Returns limb i of 30 bits of the number divided by 2^shift.
    DEVICE i32 limb(u32 i, u32 shift) const {
        u32 bit = shift + BITS * i, word = min(bit / 32, WIDE);
        return (i32)(__funnelshift_r((*this)[word], (*this)[word + 1], bit % 32) & MASK);
    }
};

// f and g are `first` and `second` divided by 2^zeros, which divides both; `first` is b if
// b/2^zeros is odd.
struct Start {
    Number first, second;
    u32 zeros;
    bool first_is_a;

    DEVICE Start(const Number& a, const Number& b) {
        // The lowest limb that is not 0, and its trailing zeros.
        u32 distance = 0;
        for (u32 i = lane_of_group(); i < WIDE; i += LANES) {
            if ((a[i] | b[i]) != 0) distance = max(distance, WIDE - i);
        }
        u32 limb = WIDE - max(largest(distance), 1u);
        zeros = 32 * limb + max(__ffs(a[limb] | b[limb]), 1) - 1;
        first_is_a = (b[limb] >> zeros % 32 & 1) == 0;
        first = {first_is_a ? a.limbs : b.limbs, first_is_a ? a.count : b.count};
        second = {first_is_a ? b.limbs : a.limbs, first_is_a ? b.count : a.count};
    }

    // Loads the limbs of f and g that belong to this lane.
    DEVICE void take(i32 (&f)[LIMBS], i32 (&g)[LIMBS]) const {
#pragma unroll
        for (u32 i = 0; i < LIMBS; i++) {
            u32 at = lane_of_group() * LIMBS + i;
            f[i] = first.limb(at, zeros), g[i] = second.limb(at, zeros);
        }
    }
};

struct Matrix {
    i32 u, v, q, r;
};

// Computes 30 steps from the lowest bits of f and g, several at once. While g is even, steps only
// halve it. With δ ≤ 0 the next 1 − δ steps do not change f, so up to six of them add w·f in total,
// with w = −g/f mod 2^6 or fewer bits: f·(2 − f²) is 1/f mod 2^6, since f is 1/f mod 2^3.
DEVICE Matrix steps(i32& delta, u32 f, u32 g) {
    u32 u = 1, v = 0, q = 0, r = 1;
    i32 left = BITS;
    while (true) {
        i32 zeros = __ffs((i32)(g | 1u << left)) - 1;
        g >>= zeros, u <<= zeros, v <<= zeros;
        delta += zeros, left -= zeros;
        if (left == 0) break;
        bool swaps = delta > 0;
        u32 old_f = f, old_u = u, old_v = v;
        f = swaps ? g : f, u = swaps ? q : u, v = swaps ? r : v;
        g = swaps ? 0 - old_f : g, q = swaps ? 0 - old_u : q, r = swaps ? 0 - old_v : r;
        delta = min(delta, -delta);
        u32 w = f * g * (f * f - 2) & ((1u << min(min(1 - delta, left), 6)) - 1);
        g += f * w, q += u * w, r += v * w;
    }
    return {(i32)u, (i32)v, (i32)q, (i32)r};
}

// The multiples of a modulus m that are added to sums: limb i of this thread is m[i·THREADS].
struct Multiples {
    i32 of_f, of_g;
    const u32* m;
};

// Applies a matrix of steps to f and g, dividing by 2^30; if MODULAR, with multiples of a modulus.
template <bool MODULAR = false>
DEVICE void transform(i32 (&f)[LIMBS], i32 (&g)[LIMBS], const Matrix& m, Multiples more = {}) {
    i64 sum_f = 0, sum_g = 0;
    u32 lowest_f = 0, lowest_g = 0;
#pragma unroll
    for (u32 i = 0; i < LIMBS; i++) {
        sum_f += (i64)m.u * f[i] + (i64)m.v * g[i];
        sum_g += (i64)m.q * f[i] + (i64)m.r * g[i];
        if constexpr (MODULAR) {
            i32 limb = (i32)more.m[i * THREADS];
            sum_f += (i64)more.of_f * limb, sum_g += (i64)more.of_g * limb;
        }
        u32 limb_f = (u32)sum_f & MASK, limb_g = (u32)sum_g & MASK;
        sum_f >>= BITS, sum_g >>= BITS;
        if (i == 0) {
            lowest_f = limb_f, lowest_g = limb_g;
        } else {
            f[i - 1] = (i32)limb_f, g[i - 1] = (i32)limb_g;
        }
    }
    u64 above = from_above(join(lowest_f, lowest_g), 0);
    i32 highest_f = (i32)sum_f + (i32)low(above), highest_g = (i32)sum_g + (i32)high(above);
    u64 below = from_below(join((u32)(highest_f >> BITS), (u32)(highest_g >> BITS)), 0);
    f[LIMBS - 1] = is_top() ? highest_f : highest_f & (i32)MASK;
    g[LIMBS - 1] = is_top() ? highest_g : highest_g & (i32)MASK;
    f[0] += (i32)low(below), g[0] += (i32)high(below);
}

// Computes |f| in canonical limbs from f; returns whether f < 0.
DEVICE bool make_canonical(i32* f) {
    i32 carry = 0;
    for (u32 i = 0; i < WHOLE; i++) {
        i32 limb = f[i] + carry;
        f[i] = limb & (i32)MASK, carry = limb >> BITS;
    }
    if (carry == 0) return false;
    carry = 0;
    for (u32 i = 0; i < WHOLE; i++) {
        i32 limb = carry - f[i];
        f[i] = limb & (i32)MASK, carry = limb >> BITS;
    }
    return true;
}

// Returns limb i of 32 bits of 2^zeros·f, from canonical limbs of f followed by two zeros; i <
// WIDE, and the product has no more limbs.
DEVICE u32 word_of(const u32* f, u32 i, u32 zeros) {
    i32 bit = (i32)(32 * i) - (i32)zeros;
    if (bit >= 0) {
        u32 at = (u32)bit / BITS, shift = (u32)bit % BITS;
        u64 pair = f[at] | (u64)f[at + 1] << BITS;
        return (u32)(pair >> shift) | (shift > 28 ? f[at + 2] << (2 * BITS - shift) : 0);
    }
    return bit > -32 ? (u32)((f[0] | (u64)f[1] << BITS) << -bit) : 0;
}
