// Reduction of products modulo N = k·b^n + c, c = ±1, in words to the base β = b^s.
//
// A residue X is stored as y = X/k mod N in `words` words, |y| < 0.63·β^words. The words of y that follow are zero,
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
// The lowest HALF words and those from `start` on are the ends of a residue. A block that has some of them computes
// all of them, with the overflow, so no block waits for another. Other words need only the four to nine words of
// the product below them.
//
// The source of the module `layout/padded.rs` has the bounds of all numbers.
#pragma once
#include "complex.cuh"
#include "index.cuh"
#include "words.cuh"

// The words at either end: the HALF lowest words, of which the digits of q_a are fewer, and at most HALF − 2 words
// from `start` on with the overflow. Both ends are computed in SLOTS slots.
constexpr u32 HALF = 32, SLOTS = 2 * HALF;

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
#define CONSTANTS_FIELDS(F)                                                                                        \
    F(const double* __restrict__, table) F(u32, words) F(u32, start) F(u32, end) F(u32, lift) F(u32, over)         \
        F(u32, quotient) F(u32, rest) F(double, base) F(double, unit) F(double, minus_c) F(double, upper)
#define CONSTANTS {words, start, end, lift, over, quotient, rest, base, unit, minus_c, upper}

// Returns the word u_i above, for the digits of a product z and the COUNT digits of k in `table`. Words of the
// product from `end` on are zero and are not read.
template <int COUNT>
DEVICE double word_of_product(const i32* product, const double* __restrict__ table, const Constants& c, u32 i) {
    // Differences below zero are large numbers.
    const u32 high = i - c.lift;
    double u = high < c.end - c.words ? c.upper * to_double(product[c.words + high]) : 0.0;
    unrolled<0, COUNT>([&](auto a) {
        if (i - VALUE(a) < c.words) u = fma(table[VALUE(a)], to_double(product[i - VALUE(a)]), u);
    });
    return u;
}

// Returns the word of slot t: words 0, 1, …, then words from start − 2 on.
DEVICE u32 word_of(u32 t, const Constants& c) { return t < HALF ? t : c.start - 2 + (t - HALF); }
// Returns the slot of a word at one of the ends.
DEVICE u32 slot_of_word(u32 i, const Constants& c) { return i < HALF ? i : i - c.start + 2 + HALF; }
// Returns whether a word is at one of the ends.
DEVICE bool is_at_end(u32 i, const Constants& c) { return i < HALF || i >= c.start; }

// Computes the digits at both ends of Σ word(i)·β^i + addend·β^start, i < words + over, modulo N. Slot t is left in
// ends[t + 2]. `table` has the digits of k, of which there are `factors`, then `quotient` digits of each q_a, then
// `rest` digits of each r_a·b^n. All threads of the block take part, at most SLOTS of them.
template <u32 BLOCK, typename Word>
DEVICE void reduce_ends(double* ends, const double* __restrict__ table, u32 factors, const Constants& c, double addend,
                        Word word) {
    constexpr int EACH = (SLOTS + BLOCK - 1) / BLOCK;
    double w[EACH];
    // Runs f for the slots of a thread.
    auto each = [&](auto f) {
        unrolled<0, EACH>([&](auto i) {
            const u32 t = VALUE(i) * BLOCK + threadIdx.x;
            if (t < SLOTS) f(t, w[VALUE(i)]);
        });
        __syncthreads();
    };
    auto put = [&] { each([&](u32 t, double v) { ends[t + 2] = v; }); };
    // Slots 0 and 1 are the words before word 0.
    for (u32 t = threadIdx.x; t < 2; t += BLOCK) ends[t] = 0.0;
    each([&](u32 t, double& v) { ends[t + 2] = v = word(word_of(t, c)); });
    each([&](u32 t, double& v) { v = c.settled(ends[t], ends[t + 1], ends[t + 2], true, true, true); });
    put();
    // The overflow begins at word `words`.
    const double* overflow = ends + 2 + HALF + 2 + (c.words - c.start);
    each([&](u32 t, double& v) {
        const bool is_low = t < HALF;
        const u32 j = is_low ? t : word_of(t, c) - c.start;
        const u32 count = is_low ? c.quotient : c.rest;
        if (j < count) {
            const double* column = table + factors + (is_low ? 0 : c.over * c.quotient) + j;
            double sum = 0.0;
            for (u32 a = 0; a < c.over; a++) sum = fma(overflow[a], column[a * count], sum);
            v = fma(is_low ? c.minus_c : 1.0, sum, v);
        }
        if (!is_low && j == 0) v += addend;
    });
    put();
    each([&](u32 t, double& v) {
        const bool is_low = t < HALF;
        const u32 j = is_low ? t : word_of(t, c) - c.start;
        const u32 count = is_low ? c.quotient : c.rest;
        // Words of the sums, and two more, pass on carries. For j < 2, words before the first one do not.
        auto passes = [&](u32 back) { return j >= back && j - back < count + 2; };
        v = c.settled(ends[t], ends[t + 1], ends[t + 2], passes(2), passes(1), passes(0));
    });
    put();
}

// Returns whether a tile of rows has words at the ends: the `width` words of each row from `first` on, where a row has
// `row` words.
DEVICE bool tile_has_ends(u32 first, u32 width, u32 row, const Constants& c) {
    const u32 last = first + width - 1, from = c.start % row, to = (c.words - 1) % row;
    const bool has_high = from <= to ? first <= to && last >= from : first <= to || last >= from;
    return first < HALF || has_high;
}

// Returns the digits of the words 2·point and 2·point + 1 modulo N times `multiplier`, if word 2·point is not at an end.
// `table` has the COUNT digits of k.
template <int COUNT>
DEVICE Complex reduced_point(const Digits* product, const double* __restrict__ table, const Constants& c, u32 point,
                      double multiplier) {
    // Words 2·point − 2 to 2·point + 1 of the sum, and the words of the product that they need.
    constexpr int BELOW = COUNT + 1, PAIRS = (BELOW + 1) / 2 + 1;
    double low[2 * PAIRS], u[4];
    unrolled<0, PAIRS>([&](auto i) {
        const Digits d = product[point + 1 - PAIRS + VALUE(i)];
        low[2 * VALUE(i)] = to_double(d.first);
        low[2 * VALUE(i) + 1] = to_double(d.second);
    });
    const i32* high = (const i32*)product + c.words + 2 * point - 2 - c.lift;
    unrolled<0, 4>([&](auto i) {
        u[VALUE(i)] = c.upper * to_double(high[VALUE(i)]);
        unrolled<0, COUNT>([&](auto a) {
            u[VALUE(i)] = fma(table[VALUE(a)], low[2 * PAIRS - 4 + VALUE(i) - VALUE(a)], u[VALUE(i)]);
        });
        u[VALUE(i)] *= multiplier;
    });
    return {c.settled(u[0], u[1], u[2], true, true, true), c.settled(u[1], u[2], u[3], true, true, true)};
}
