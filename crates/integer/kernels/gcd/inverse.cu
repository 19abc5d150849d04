// Inverses modulo odd numbers, and cofactors of greatest common divisors, by division steps
// (Bernstein and Yang 2019), with the numbers in the registers of groups of lanes, or of a block.
//
//   A_LIMBS, B_LIMBS   limbs of the operands; the results have as many as the wider ones
//   COFACTORS          0: inverses of a mod b, A_LIMBS ≤ B_LIMBS; 1: common divisors and cofactors
//   LANES, LIMBS, THREADS   see division_steps.cuh; BLOCKS blocks per multiprocessor
//
// F is b/2^z, or a/2^z if b/2^z is even, with z as in division_steps.cuh, and H is the other one. f
// and g start as F and H. In addition there are d and e with
//
//     2^30·f ≡ d·H and 2^30·g ≡ e·H mod F:      d, e ← 0, 2^30
//     d, e ← (u·d + v·e − s·F)/2^30, (q·d + r·e − t·F)/2^30
//
// for a matrix of 30 steps, with s and t in [0, 2^30) such that the divisions are exact; s depends
// only on the lowest limbs and F^(−1) mod 2^30. At the end f = ±G, where G is the divisor divided
// by 2^z. One more such division, x = (d + s·F)/2^30 with s in [−2^29, 2^29), gives x·H ≡ ±G mod F.
//
// Bounds. If |d| and |e| are at most D, then |u·d + v·e| ≤ 2^30·D, and the new values are in (−D −
// F, D]. So after k matrices |d| and |e| are below 2^30 + k·F, and |x| < 1 + F·(1/2 + k/2^30) < 1 +
// 0.51·F: −F < x < F for F ≥ 3, and |x| ≤ 1 = F otherwise. For numbers below 2^n, n = 32·WIDE,
// fewer than ROUNDS matrices lead to g = 0. Further matrices occur while some limb of g is nonzero
// or other numbers of the warp are unfinished; they leave d unchanged, since g = 0 implies v = s =
// 0.
//
// Limbs. Let B = 2^30. A lane's part of d or e is in [−2, B^LIMBS], as its lowest limb is in [−2,
// B], and its part of F in [0, B^LIMBS). A sum u·d + v·e − s·F of such parts is at least
// −2^30·B^LIMBS − (2^30 − 1)·(B^LIMBS − 1) and at most 2^30·B^LIMBS, so it carries c with −2^31 < c
// ≤ 2^30, and c plus the lowest limb from above is less than 2^31; divided by 2^30 that is −2, −1,
// 0 or 1, which the lane above adds to its lowest limb. The absolute value of the highest limb of
// all is less than 2^30 + 2.
#include "division_steps.cuh"

constexpr u32 ROUNDS = 32 * WIDE / 10 + 2, ROOM = BITS * WHOLE - 32 * WIDE - 1;
static_assert(ROOM >= 30 || ROUNDS < 1u << ROOM, "2^30 + ROUNDS·F must be less than 2^(30·WHOLE)");
static_assert(COFACTORS || A_LIMBS <= B_LIMBS);

// Returns F^(−1) mod 2^30 for an odd F: each step doubles the number of correct bits, 3 at first.
DEVICE u32 inverse_of(u32 f) {
    u32 x = f;
#pragma unroll
    for (u32 i = 0; i < 4; i++) x *= 2 - f * x;
    return x;
}

// Computes x mod m in canonical limbs, −m ≤ x ≤ m; m is a number divided by 2^shift.
DEVICE void reduce(i32* x, const Number& m, u32 shift) {
    i32 carry = 0, borrow = 0;
    for (u32 i = 0; i < WHOLE; i++) {
        i32 limb = x[i] + carry;
        x[i] = limb & (i32)MASK, carry = limb >> BITS;
        borrow = (x[i] - m.limb(i, shift) + borrow) >> BITS;
    }
    i32 times = carry < 0 ? 1 : borrow < 0 ? 0 : -1;
    if (times == 0) return;
    carry = 0;
    for (u32 i = 0; i < WHOLE; i++) {
        i32 limb = x[i] + times * m.limb(i, shift) + carry;
        x[i] = limb & (i32)MASK, carry = limb >> BITS;
    }
}

// COFACTORS: gcds = 2^z·G, kinds = whether F comes from a, out = y in [0, F) with −y·H ≡ G mod F;
// for a = b = 0 all are 0 except the kind.
//
// Otherwise out = a^(−1) mod b for an odd b; flags = whether no inverse exists, and then out is 0.
// For an even b with an inverse, kinds = 1 and out = y in [0, a) with −y·b ≡ 1 mod a; `evens` is
// set to 1.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    inverse(const u32* a, const u32* b, u32* out, u32* gcds, unsigned char* flags, unsigned char* kinds,
            u32* evens, u64 a_stride, u64 b_stride, u32 count) {
    DYNAMIC_SHARED(u32, places);
    u32 at = blockIdx.x * NUMBERS + threadIdx.x / LANES, lane = lane_of_group();
    // Groups without a number of their own process the last one.
    bool is_there = at < count;
    u64 number = is_there ? at : count - 1;
    Number of_a = {a + number * a_stride, A_LIMBS}, of_b = {b + number * b_stride, B_LIMBS};
    out += number * WIDE;
    Start start(of_a, of_b);
    i32 f[LIMBS], g[LIMBS], d[LIMBS], e[LIMBS];
    start.take(f, g);
    u32* modulus = places + threadIdx.x;
#pragma unroll
    for (u32 i = 0; i < LIMBS; i++) {
        modulus[i * THREADS] = (u32)f[i];
        d[i] = 0, e[i] = i == 1 && lane == 0;
    }
    u32 inverse = inverse_of((u32)start.first.limb(0, start.zeros));

    i32 delta = 1;
    while (true) {
        i32 any = 0;
#pragma unroll
        for (u32 i = 0; i < LIMBS; i++) any |= g[i];
        if (!any_says(any != 0)) break;
        u64 lowest = of_lane(join((u32)f[0], (u32)g[0]), 0);
        Matrix m = steps(delta, low(lowest), high(lowest));
        transform(f, g, m);
        lowest = of_lane(join((u32)d[0], (u32)e[0]), 0);
        u32 s = ((u32)m.u * low(lowest) + (u32)m.v * high(lowest)) * inverse & MASK;
        u32 t = ((u32)m.q * low(lowest) + (u32)m.r * high(lowest)) * inverse & MASK;
        transform<true>(d, e, m, {-(i32)s, -(i32)t, modulus});
    }
    u32 s = (u32)of_lane(join((u32)d[0], 0u), 0) * inverse;
    transform<true>(d, e, {1, 0, 0, 0}, {(i32)((0 - s) << 2) >> 2, 0, modulus});

    // All lanes are done with F.
    __syncthreads();
    u32* own = places + threadIdx.x / LANES * (WHOLE + 2);
#pragma unroll
    for (u32 i = 0; i < LIMBS; i++) own[lane * LIMBS + i] = (u32)f[i];
    if (lane == 0) own[WHOLE] = own[WHOLE + 1] = 0;
    meet();
    u32 is_negative = lane == 0 && make_canonical((i32*)own);
    is_negative = of_lane(is_negative, 0);
    meet();
    bool is_none = false;
    if constexpr (COFACTORS) {
        for (u32 i = lane; i < WIDE && is_there; i += LANES) {
            gcds[number * WIDE + i] = word_of(own, i, start.zeros);
        }
    } else {
        // A common divisor, or b = 0.
        u32 differs = start.zeros != 0, any = 0;
        for (u32 i = lane; i < WHOLE; i += LANES) differs |= own[i] != (i == 0);
        for (u32 i = lane; i < B_LIMBS; i += LANES) any |= of_b[i];
        is_none = largest(differs << 1 | (any != 0)) != 1;
    }
    meet();
    bool changes = is_negative != (COFACTORS || start.first_is_a);
#pragma unroll
    for (u32 i = 0; i < LIMBS; i++) own[lane * LIMBS + i] = (u32)(changes ? -d[i] : d[i]);
    meet();
    if (lane == 0) reduce((i32*)own, start.first, start.zeros);
    meet();
    if (!is_there) return;
    for (u32 i = lane; i < WIDE; i += LANES) out[i] = is_none ? 0 : word_of(own, i, 0);
    if (lane != 0) return;
    kinds[number] = start.first_is_a && !is_none;
    if constexpr (!COFACTORS) {
        flags[number] = is_none;
        if (start.first_is_a && !is_none) atomicOr(evens, 1u);
    }
}
