// Reduction of products modulo N = k·b^n + c, c = ±1, in words to the base β = b^s, and sums of residues.
//
// A residue X is stored as y = X/k mod N in `words` words, |y| < 0.6·β^words. The words of y that follow are zero,
// so the transform computes the words z_i of the integer z = y². With β^words = b^(n+t) and k·b^n ≡ −c,
//
//     k·z = Σ_(i<words) k·z_i·β^i + k·β^words·Σ_(i≥words) z_i·β^(i−words)
//         ≡ Σ_(i<words) k·z_i·β^i − c·b^t·Σ_(i≥words) z_i·β^(i−words).
//
// The digits of k are `FACTORS` numbers k_a to the base β, and b^t = h·β^lift with h < β. So word i of the sum is
//
//     u_i = Σ_a k_a·z_(i−a) − c·h·z_(words+i−lift),
//
// a short sum of products of digits, which a double holds exactly. A carry enters two words: the first one makes
// u_i a digit and a number of about β/2 for the next word, the second one is a few units, and ends. So digits are
// a few units outside of the range from −β/2 to β/2.
//
// Overflow. The digits V_a at words + a, a < `over`, are what exceeds β^words. The host has divided β^(words+a)
// by N in this form: b^t·β^a = q_a·k + r_a, so
//
//     V_a·β^(words+a) = V_a·(q_a·k + r_a)·b^n ≡ −c·V_a·q_a + V_a·r_a·b^n.
//
// The digits of q_a are added to the lowest words, and those of r_a·b^n, which begin at word `start`, to the
// highest ones. Carries pass through these words again. They end in the last word, because
// |Σ V_a·r_a·b^n| < 5·β^(words−2).
//
// The first block has the lowest LOW words and those from `start` on. It computes the overflow by itself, so no
// block waits for another. The other blocks have THREADS words each.
//
// The source of the module `layout/padded.rs` has the bounds of all numbers.
#include "simt.cuh"

// 1.5·2^52: adding and subtracting it rounds to an integer.
#define MAGIC 6755399441055744.0

// Conversions by sums, of which a multiprocessor makes more at a time than of conversions.
// 2^52 + 2^31 + v has v + 2^31 in its lower word.
DEVICE double to_double(i32 v) { return __hiloint2double(0x43300000, v ^ (i32)0x80000000) - 4503601774854144.0; }
DEVICE i32 to_integer(double v) { return __double2loint(v + MAGIC); }

constexpr u32 THREADS = 256;
// The words at either end that the first block has: LOW lowest words, and at most HALF − 2 words from `start` on
// with the overflow.
constexpr u32 LOW = 64, HALF = THREADS / 2;

// The constants of a layout, in the order of the host's arguments.
struct Constants {
    u32 words, start, end, lift, over, quotient, rest;
    // β, 1/β, −c, −c·h.
    double base, unit, minus_c, upper;

    // Returns v/β, rounded to an integer.
    DEVICE double carry(double v) const { return fma(v, unit, MAGIC) - MAGIC; }

    // Returns the digit of word x0, which follows the words x2 and x1. A word whose flag is false passes on no
    // carry.
    DEVICE double settled(double x2, double x1, double x0, bool p2, bool p1, bool p0) const {
        const double c2 = p2 ? carry(x2) : 0.0, c1 = p1 ? carry(x1) : 0.0, c0 = p0 ? carry(x0) : 0.0;
        const double r1 = fma(-c1, base, x1) + c2, r0 = fma(-c0, base, x0) + c1;
        return fma(p0 ? -carry(r0) : 0.0, base, r0) + (p1 ? carry(r1) : 0.0);
    }
};
#define CONSTANTS_PARAMETERS                                                                                  \
    const double *__restrict__ table, u32 words, u32 start, u32 end, u32 lift, u32 over, u32 quotient, u32 rest, \
        double base, double unit, double minus_c, double upper
#define CONSTANTS {words, start, end, lift, over, quotient, rest, base, unit, minus_c, upper}

// Writes the digits of Σ word(i)·β^i + addend·β^start, i < words + over, modulo N. `table` has the digits of k,
// then `quotient` digits of each q_a, then `rest` digits of each r_a·b^n.
template <typename Word>
DEVICE void reduce(i32* digits, const double* __restrict__ table, u32 factors, const Constants& c, double addend,
                   Word word) {
    __shared__ double x[THREADS + 2];
    const u32 t = threadIdx.x;
    if (blockIdx.x > 0) {
        const u32 i = LOW + (blockIdx.x - 1) * THREADS + t;
        x[t + 2] = word(i);
        if (t < 2) x[t] = word(i - 2);
        __syncthreads();
        if (i < c.start) digits[i] = to_integer(c.settled(x[t], x[t + 1], x[t + 2], true, true, true));
        return;
    }
    // Words 0, 1, …, then words from start − 2 on. Slots 0 and 1 are the words before word 0.
    const bool is_low = t < HALF;
    const u32 i = is_low ? t : c.start - 2 + (t - HALF);
    if (t < 2) x[t] = 0.0;
    x[t + 2] = word(i);
    __syncthreads();
    double w = c.settled(x[t], x[t + 1], x[t + 2], true, true, true);
    __syncthreads();
    x[t + 2] = w;
    __syncthreads();
    // The overflow begins at word `words`.
    const double* overflow = x + 2 + HALF + 2 + (c.words - c.start);
    const u32 j = is_low ? t : i - c.start;
    const u32 count = is_low ? c.quotient : c.rest;
    if (j < count) {
        const double* column = table + factors + (is_low ? 0 : c.over * c.quotient) + j;
        double sum = 0.0;
        for (u32 a = 0; a < c.over; a++) sum = fma(overflow[a], column[a * count], sum);
        w = fma(is_low ? c.minus_c : 1.0, sum, w);
    }
    if (i == c.start && !is_low) w += addend;
    __syncthreads();
    x[t + 2] = w;
    __syncthreads();
    // Words of the sums, and two more, pass on carries. For j < 2, words before the first one do not.
    auto passes = [&](u32 back) { return j >= back && j - back < count + 2; };
    w = c.settled(x[t], x[t + 1], x[t + 2], passes(2), passes(1), passes(0));
    if (is_low ? t < LOW : i >= c.start && i < c.words) digits[i] = to_integer(w);
}

#if SUM

// Sets `out` to the digits of a + sign·b. `out` differs from a and b.
extern "C" __global__ void __launch_bounds__(THREADS)
combine_padded(i32* __restrict__ out, const i32* __restrict__ a, const i32* __restrict__ b, i32 sign, u32 factors,
               CONSTANTS_PARAMETERS, u32) {
    const Constants constants = CONSTANTS;
    auto word = [&](u32 i) { return i < words ? to_double(a[i] + sign * b[i]) : 0.0; };
    reduce(out, table, factors, constants, 0.0, word);
}

#else

// Sets `digits` to the digits of `multiplier`·k·z + `addend`·β^start, where z has the digits `product`. Words of the
// product from `end` on are zero and are not read.
extern "C" __global__ void __launch_bounds__(THREADS)
reduce_product(i32* __restrict__ digits, const i32* product, CONSTANTS_PARAMETERS, double multiplier,
               double addend) {
    wait_for_last_launch();
    let_next_launch_begin();
    const Constants constants = CONSTANTS;
    auto word = [&](u32 i) {
        // Differences below zero are large numbers.
        const u32 high = i - lift;
        double u = high < end - words ? upper * to_double(product[words + high]) : 0.0;
#pragma unroll
        for (u32 a = 0; a < FACTORS; a++) {
            if (i - a < words) u = fma(table[a], to_double(product[i - a]), u);
        }
        return multiplier * u;
    };
    reduce(digits, table, FACTORS, constants, addend, word);
}

#endif
