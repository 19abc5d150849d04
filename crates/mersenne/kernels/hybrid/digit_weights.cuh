// Words of s or s + 1 digits to a base b, and the weights of the words of a thread's points, for both kinds of points
// (columns.cu): residues modulo k·b^n + c, c = ±1. fp64/columns.cu (FORM and DIGITS) has the layout of words.
//
// A word w has the weight a_w = b^(D_w)/K^w in FP64, K^N = k·b^n, where D_w = ⌈w·ρ⌉ is its first digit. In the field of
// q² elements, q = 2^31 − 1, both words of point j = P·v + t have the weights A_w = b^(D_w)·h^v, for exact transforms of P
// parts (exact_rows.cuh), with h in the field of q elements and h^(ROWS·COLUMNS/P) = −c·σ/(k·b^n). Products are cyclic for
// σ = 1 and negacyclic for σ = −1 (EXACT_NEGACYCLIC).
//
// With EXACT_NEGACYCLIC the points have the factor ω_(2n)^(−j) before the transform over j, and lack it afterwards. Its
// part that depends on the column is a factor of the rows (exact_rows.cuh); after the transforms, both parts are here.
#pragma once
#include "exact_columns.cuh"
#include "parts.cuh"

// Properties of a thread's point j: whether the weight of word 2j wraps around, and whether its words 2j and 2j + 1 are
// long.
struct Point {
    bool wrapped, long0, long1;
};

// The base B = b^s of a word of s digits, its inverse, and 2^31/B.
struct Base {
    double power, inverse, quotient;
    // Splits v = digit + carry·B, |v| < 2^51, with |digit| ≤ B/2 or a unit more; returns the digit.
    DEVICE double split(double v, double& carry) const { return split_by(v, power, inverse, carry); }
    // Does the same with f·2^31 + v, if the carry is below 2^51. The first quotient errs by less than 3/4, so the rest
    // is an exact integer.
    DEVICE double split(Parts z, double& carry) const {
        const double first = fma(z.f, quotient, MAGIC) - MAGIC;
        double second;
        const double digit = split(fma(-first, power, z.f * 2147483648.0) + z.v, second);
        carry = first + second;
        return digit;
    }
};

// The constants of a layout of words. A long word has one more digit.
struct Words {
    // b^s/K for a short word of s digits, and the inverse.
    double ratio, inverse_ratio;
    // 2^32·(ρ − s). Word w is long exactly if 2^32·u_w is below it, u_w = D_w − w·ρ.
    u32 long_below;
    // b and 1/b, and the bases of short and of long words.
    double radix, inverse_radix;
    Base of_short, of_long;
    // 1 over the unit of norms, which is (K·b)²/2^16. Weighted digits are below 3·K·b, unless
    // words are too short for carries.
    double own_inverse_unit;
    // Modulo q, doubled: b^s and b^(s+1), their inverses, 1/b, and b.
    u32 step_short, step_long, back_short, back_long, lower, raise;
    DEVICE Base base(bool is_long) const {
        return {is_long ? of_long.power : of_short.power, is_long ? of_long.inverse : of_short.inverse,
                is_long ? of_long.quotient : of_short.quotient};
    }
    DEVICE double inverse_unit() const { return own_inverse_unit; }
};

// a·w mod q for a doubled w.
DEVICE u32 times31(u32 a, u32 w) { return halved31((u64)a * w); }

// The weights of the points of a thread: rows i·M + m for i < Q.
struct Weights {
    double forward, inverse;
    u32 fraction, exact_forward, exact_inverse;
    const Words& words;
    // For each i the weight of word 2·i·M·COLUMNS and its inverse, of both kinds, and the fractions of these words.
    const Complex* __restrict__ of_points;
    const Gauss* __restrict__ exact_of_points;
    const u32* __restrict__ fractions_of_points;
#if EXACT_NEGACYCLIC
    // ω_(2·ROWS)^(−m) and ω_(2n)^(m·COLUMNS + column), doubled.
    Gauss turn, turn_back;
#endif

    // The start of the tables of exact weights in `fractions`, in points: for each m, i and column the doubled weight
    // and its inverse; then, for EXACT_NEGACYCLIC, the doubled roots ω_(2·ROWS)^(−m), ω_(2·ROWS)^m and
    // ω_(2n)^column.
    static constexpr u32 EXACT = (M + Q + COLUMNS + 1) / 2;

    // `row_weights` and `column_weights` contain a and 1/a, 1/a divided by n·q/k in the latter. The former has the
    // entries of points after those of rows, and `fractions` those of points after those of columns.
    DEVICE Weights(const Complex* __restrict__ row_weights, const Complex* __restrict__ column_weights,
                   const u32* __restrict__ fractions, u32 m, u32 column, const Words& words)
        : words(words), of_points(row_weights + M), fractions_of_points(fractions + M + COLUMNS) {
        const Gauss* exact = (const Gauss*)fractions + EXACT;
        exact_of_points = exact + M;
        const Complex of_row = row_weights[m], of_column = column_weights[column];
        const Gauss exact_of_row = exact[m], exact_of_column = exact[M + Q + column];
        const u32 start = fractions[m];
        fraction = start + fractions[M + column];
        const bool wrapped = fraction < start;
        forward = of_row.re * of_column.re;
        inverse = of_row.im * of_column.im;
        exact_forward = times31(exact_of_row.re >> 1, exact_of_column.re);
        exact_inverse = times31(exact_of_row.im >> 1, exact_of_column.im);
        if (wrapped) {
            forward *= words.inverse_radix;
            inverse *= words.radix;
            exact_forward = times31(exact_forward, words.lower);
            exact_inverse = times31(exact_inverse, words.raise);
        }
#if EXACT_NEGACYCLIC
        const Gauss* turns = exact + M + Q + COLUMNS;
        turn = turns[m];
        turn_back = times_factor(turns[M + m], turns[2 * M + column]);
#endif
    }
    // Returns the properties of the point in row i·M + m.
    template <int i>
    DEVICE Point point() const {
        u32 f = fraction;
        if constexpr (i > 0) f += fractions_of_points[i];
        return {f < fraction, f < words.long_below, f - words.long_below < words.long_below};
    }
    template <int i>
    DEVICE double forward0(const Point& p) const {
        if constexpr (i == 0) return forward;
        const double v = forward * of_points[i].re;
        return p.wrapped ? v * words.inverse_radix : v;
    }
    template <int i>
    DEVICE double inverse0(const Point& p) const {
        if constexpr (i == 0) return inverse;
        const double v = inverse * of_points[i].im;
        return p.wrapped ? v * words.radix : v;
    }
    DEVICE double forward1(const Point& p, double forward0) const {
        const double v = forward0 * words.ratio;
        return p.long0 ? v * words.radix : v;
    }
    DEVICE double inverse1(const Point& p, double inverse0) const {
        const double v = inverse0 * words.inverse_ratio;
        return p.long0 ? v * words.inverse_radix : v;
    }
    // Returns the exact point of two digits.
    template <int i>
    DEVICE Gauss exact(const Point& p, i32 first, i32 second) const {
        u32 weight = exact_forward;
        if constexpr (i > 0) weight = times31(weight, exact_of_points[i].re);
        if (p.wrapped) weight = times31(weight, words.lower);
        const u32 next = times31(weight, p.long0 ? words.step_long : words.step_short);
        Gauss y = {times31(residue31(first), 2 * weight), times31(residue31(second), 2 * next)};
#if EXACT_NEGACYCLIC
        y = times_root<-i, 2 * Q>(mul(y, turn));
#endif
        return y;
    }
    // Returns the two words of an exact point.
    template <int i>
    DEVICE Gauss exact_words(const Point& p, Gauss r) const {
#if EXACT_NEGACYCLIC
        r = times_root<i, 2 * Q>(mul(r, turn_back));
#endif
        u32 weight = exact_inverse;
        if constexpr (i > 0) weight = times31(weight, exact_of_points[i].im);
        if (p.wrapped) weight = times31(weight, words.raise);
        const u32 next = times31(weight, p.long0 ? words.back_long : words.back_short);
        return {times31(r.re, 2 * weight), times31(r.im, 2 * next)};
    }
};

// The constants of a plan's words that the host passes, in the order of its arguments.
#define WORDS_FIELDS(F)                                                                                    \
    F(const Complex* __restrict__, row_weights) F(const Complex* __restrict__, column_weights)              \
        F(const u32* __restrict__, fractions) F(double, ratio) F(double, inverse_ratio) F(u32, long_below)  \
        F(double, radix) F(double, inverse_radix) F(double, short_base) F(double, short_inverse)            \
        F(double, short_quotient) F(double, long_base) F(double, long_inverse) F(double, long_quotient)     \
        F(double, inverse_unit) F(u32, step_short) F(u32, step_long) F(u32, back_short) F(u32, back_long)      \
        F(u32, lower) F(u32, raise) F(u64*, measured)
#define WORDS                                                                                                \
    {ratio, inverse_ratio, long_below, radix, inverse_radix, {short_base, short_inverse, short_quotient},     \
     {long_base, long_inverse, long_quotient}, inverse_unit, step_short, step_long, back_short, back_long, lower, raise}
