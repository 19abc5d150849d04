// Greatest common divisors by division steps (Bernstein and Yang 2019, Fast constant-time gcd computation
// and modular inversion), with the numbers in the registers of groups of lanes, or of a block.
//
//   A_LIMBS, B_LIMBS   limbs of the operands; the results have as many as the wider ones
//   LANES, LIMBS, THREADS   see lanes.cuh, but limbs here have 30 bits; BLOCKS blocks of a multiprocessor
//
// 30·WHOLE is more than 32·max(A_LIMBS, B_LIMBS): there is room for a sign.
//
// gcd(a, b) = 2^z·gcd(f, g), z the zeros at the end of a | b; of a/2^z and b/2^z one is odd, f. A division
// step with δ = 1 at first,
//
//     δ > 0 and g odd:  δ, f, g ← 1 − δ, g, (g − f)/2
//     otherwise:        δ, f, g ← 1 + δ, f, (g + (g mod 2)·f)/2
//
// neither changes gcd(f, g) nor makes the larger of |f| and |g| larger, and in the end g is 0 and f the
// divisor or less it (theorem 11.2: after (49n + 57)/17 steps for numbers of n ≥ 46 bits). 30 steps
// depend on the 30 lowest bits, and are a matrix: 2^30·(f', g') = (u·f + v·g, q·f + r·g), |u| + |v| and
// |q| + |r| at most 2^30. All lanes compute it, and each its limbs of f' and g'.
//
// Limbs are in [0, 2^30) but for a lane's lowest one, which may be 2 off, and the highest of all, which has
// the sign. A lane's sum of products of limbs carries c, |c| ≤ 2^30, to the lane above. Dividing by
// 2^30 moves all down by a limb: the lane's highest one is c and what the lane above has for its lowest,
// less than 2^31, of which what is too much is added up there.
#include "lanes.cuh"

constexpr u32 WIDE = A_LIMBS > B_LIMBS ? A_LIMBS : B_LIMBS;
constexpr u32 BITS = 30, MASK = (1u << BITS) - 1;
static_assert(LIMBS >= 2 && BITS * WHOLE > 32 * WIDE);

// A number's shared memory: a and b, with two zeros behind each; then f, and the result behind it. A block
// with one number leaves operands and result in global memory.
constexpr bool APART = LANES > 32;
constexpr u32 OF_B = WIDE + 2, OF_RESULT = WHOLE + 2;
constexpr u32 PLACES = APART ? OF_RESULT : (OF_RESULT + WIDE > 2 * OF_B ? OF_RESULT + WIDE : 2 * OF_B) | 1;

// An operand; 0 above its limbs.
struct Number {
    const u32* limbs;
    u32 count;

    DEVICE u32 operator[](u32 i) const { return APART && i >= count ? 0 : limbs[i]; }
};

template <u32 COUNT>
DEVICE void load(u32* places, const u32* from, u64 stride, u32 numbers) {
    for (u32 t = threadIdx.x; t < NUMBERS * OF_B; t += THREADS) {
        u32 number = t / OF_B, limb = t % OF_B;
        bool is_there = number < numbers && limb < COUNT;
        places[number * PLACES + limb] = is_there ? from[number * stride + limb] : 0;
    }
}

struct Matrix {
    i32 u, v, q, r;
};

// 30 steps from the lowest bits of f and g.
DEVICE Matrix steps(i32& delta, u32 f, u32 g) {
    u32 u = 1, v = 0, q = 0, r = 1;
#pragma unroll 6
    for (u32 i = 0; i < BITS; i++) {
        bool is_odd = g & 1, swaps = is_odd && delta > 0;
        u32 sum_g = swaps ? g - f : g + f, sum_q = swaps ? q - u : q + u, sum_r = swaps ? r - v : r + v;
        if (swaps) f = g, u = q, v = r;
        if (is_odd) g = sum_g, q = sum_q, r = sum_r;
        delta = 1 + (swaps ? -delta : delta);
        g >>= 1, u <<= 1, v <<= 1;
    }
    return {(i32)u, (i32)v, (i32)q, (i32)r};
}

// f and g after the steps of a matrix.
DEVICE void transform(i32 (&f)[LIMBS], i32 (&g)[LIMBS], const Matrix& m) {
    i64 sum_f = 0, sum_g = 0;
    u32 lowest_f = 0, lowest_g = 0;
#pragma unroll
    for (u32 i = 0; i < LIMBS; i++) {
        sum_f += (i64)m.u * f[i] + (i64)m.v * g[i];
        sum_g += (i64)m.q * f[i] + (i64)m.r * g[i];
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

// The limbs of 30 bits of x/2^shift that this lane has.
DEVICE void take(i32 (&to)[LIMBS], Number x, u32 shift) {
#pragma unroll
    for (u32 i = 0; i < LIMBS; i++) {
        u32 bit = shift + BITS * (lane_of_group() * LIMBS + i), word = min(bit / 32, WIDE);
        to[i] = (i32)(__funnelshift_r(x[word], x[word + 1], bit % 32) & MASK);
    }
}

// |f| in canonical limbs from its own.
DEVICE void make_canonical(i32* f) {
    i32 carry = 0;
    for (u32 i = 0; i < WHOLE; i++) {
        i32 limb = f[i] + carry;
        f[i] = limb & (i32)MASK, carry = limb >> BITS;
    }
    if (carry == 0) return;
    carry = 0;
    for (u32 i = 0; i < WHOLE; i++) {
        i32 limb = carry - f[i];
        f[i] = limb & (i32)MASK, carry = limb >> BITS;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    gcd(const u32* a, const u32* b, u32* out, u64 a_stride, u64 b_stride, u32 count) {
    DYNAMIC_SHARED(u32, places);
    u32 first = blockIdx.x * NUMBERS, numbers = min(count - first, NUMBERS), lane = lane_of_group();
    a += first * a_stride, b += first * b_stride, out += (u64)first * WIDE;
    u32* own = places + threadIdx.x / LANES * PLACES;
    Number of_a = {own, WIDE}, of_b = {own + OF_B, WIDE};
    if constexpr (APART) {
        of_a = {a, A_LIMBS}, of_b = {b, B_LIMBS};
    } else {
        load<A_LIMBS>(places, a, a_stride, numbers);
        load<B_LIMBS>(places + OF_B, b, b_stride, numbers);
        __syncthreads();
    }
    // The lowest limb that is not 0, and its zeros.
    u32 distance = 0;
    for (u32 i = lane; i < WIDE; i += LANES) {
        if ((of_a[i] | of_b[i]) != 0) distance = max(distance, WIDE - i);
    }
    distance = largest(distance);
    u32 limb = WIDE - max(distance, 1u), zeros = 32 * limb + max(__ffs(of_a[limb] | of_b[limb]), 1) - 1;
    bool swaps = (of_a[limb] >> zeros % 32 & 1) == 0;
    i32 f[LIMBS], g[LIMBS];
    take(f, {swaps ? of_b.limbs : of_a.limbs, swaps ? of_b.count : of_a.count}, zeros);
    take(g, {swaps ? of_a.limbs : of_b.limbs, swaps ? of_a.count : of_b.count}, zeros);
    i32 delta = 1;
    while (true) {
        i32 any = 0;
#pragma unroll
        for (u32 i = 0; i < LIMBS; i++) any |= g[i];
        if (!any_says(any != 0)) break;
        u64 lowest = of_lane(join((u32)f[0], (u32)g[0]), 0);
        transform(f, g, steps(delta, low(lowest), high(lowest)));
    }
    meet();
#pragma unroll
    for (u32 i = 0; i < LIMBS; i++) own[lane * LIMBS + i] = (u32)f[i];
    if (lane == 0) own[WHOLE] = own[WHOLE + 1] = 0;
    meet();
    if (lane == 0) make_canonical((i32*)own);
    meet();
    // 2^zeros·f.
    for (u32 i = lane; i < WIDE; i += LANES) {
        i32 bit = (i32)(32 * i) - (i32)zeros;
        u32 word = 0;
        if (bit >= 0) {
            u32 at = (u32)bit / BITS, shift = (u32)bit % BITS;
            u64 pair = own[at] | (u64)own[at + 1] << BITS;
            word = (u32)(pair >> shift) | (shift > 28 ? own[at + 2] << (2 * BITS - shift) : 0);
        } else if (bit > -32) {
            word = (u32)((own[0] | (u64)own[1] << BITS) << -bit);
        }
        (APART ? out : own + OF_RESULT)[i] = word;
    }
    if constexpr (APART) return;
    __syncthreads();
    for (u32 t = threadIdx.x; t < numbers * WIDE; t += THREADS) {
        out[t] = places[t / WIDE * PLACES + OF_RESULT + t % WIDE];
    }
}
