// The lengths and weights of the words of a thread's points (columns.cu has the layout of words, and FORM).
#pragma once
#include "column_steps.cuh"

// Properties of a thread's point j: whether its weights wrap around, and whether its words 2j and
// 2j + 1 are long.
struct Point {
    bool wrapped, long0, long1;
};

// Whether registers hold digits as integers, not as fractions of words.
#define INTEGERS (DIGITS || PADDED)

#if PADDED
// The constants of words that have the same base and the weight 1: 1/n for the factor n of the transforms, the
// base, and its inverse.
struct Words {
    double inverse, own_base, own_unit;
    // A number that is not 0.
    u32 bits;
    DEVICE double base(bool) const { return own_base; }
    DEVICE double unit(bool) const { return own_unit; }
};
#elif DIGITS
// The constants of a layout of words to the base b. A long word has one more digit.
struct Words {
    // b^s/K for a short word of s digits, and the inverse.
    double ratio, inverse_ratio;
    // s.
    u32 bits;
    // As below, for u_w = ⌈wρ⌉ − wρ.
    u32 long_above, long_below;
    // b and 1/b, the bases of short and of long words, and their inverses.
    double radix, inverse_radix, short_base, long_base, short_unit, long_unit;
    DEVICE double unit(bool is_long) const { return is_long ? long_unit : short_unit; }
    DEVICE double base(bool is_long) const { return is_long ? long_base : short_base; }
    // Returns v·b or v/b if `so`, else v.
    DEVICE double raised_if(double v, bool so) const { return so ? v * radix : v; }
    DEVICE double lowered_if(double v, bool so) const { return so ? v * inverse_radix : v; }
};
#else
// Returns v·2^e if `so`, else v.
template <int e>
DEVICE double scaled_if(double v, bool so) {
    return __hiloint2double(__double2hiint(v) + (so ? e * (1 << 20) : 0), __double2loint(v));
}

// The constants of a layout of words. A long word has one more bit.
struct Words {
    // 2^(−(p mod N)/N) and its inverse.
    double ratio, inverse_ratio;
    // ⌊p/N⌋.
    u32 bits;
    // Bounds on fractions u_w = (−pw mod N)/N, times 2^32. Word w is long exactly if u_(w+1) is
    // above the first bound or, equivalently, u_w is below the second.
    u32 long_above, long_below;
    // 2^−b for a word of b bits.
    DEVICE double unit(bool is_long) const { return high_word(1023 - bits, is_long, 0); }
    // 1.5·2^(52−b): adding and subtracting it rounds to multiples of 2^−b.
    DEVICE double magic(bool is_long) const { return high_word(1075 - bits, is_long, 1u << 19); }
    // 2^b.
    DEVICE double base(bool is_long) const { return __hiloint2double((i32)((1023 + bits + is_long) << 20), 0); }
    // Returns v·2 or v/2 if `so`, else v.
    DEVICE double raised_if(double v, bool so) const { return scaled_if<1>(v, so); }
    DEVICE double lowered_if(double v, bool so) const { return scaled_if<-1>(v, so); }

private:
    static DEVICE double high_word(u32 exponent, bool is_long, u32 mantissa) {
        u32 high = exponent << 20 | mantissa;
        return __hiloint2double((i32)(is_long ? high - (1u << 20) : high), 0);
    }
};
#endif

#if PADDED

// All words have the weight 1.
struct Weights {
    const Words& words;
    template <int i>
    DEVICE Point point() const {
        return {false, false, false};
    }
    template <int i>
    DEVICE double inverse0(Point) const {
        return words.inverse;
    }
    DEVICE double inverse1(Point, double inverse0) const { return inverse0; }
};

// `used` is the number of words of a residue; the words after them count as zero.
#define WORDS_FIELDS(F) F(double, inverse) F(double, base) F(double, unit) F(u32, used)
#define WORDS {inverse, base, unit, (u32)__double2hiint(base)}
#define WEIGHTS {words}

#else

// The weights of the points of a thread: rows i·M + m for i < Q.
struct Weights {
    double forward, inverse;
    u32 fraction;
#if SUMS
    // Whether the sum of the fractions of row and column wrapped around.
    bool wrapped;
#endif
    const Words& words;
#if FORM
    // For each i the weight of word 2·i·M·COLUMNS and its inverse, and the fractions of these words.
    const Complex* __restrict__ of_points;
    const u32* __restrict__ fractions_of_points;
#endif

    // `row_weights[m]` and `column_weights[j2]` contain factors of V and of 1/nV, for i = 0.
    DEVICE Weights(const Complex* __restrict__ row_weights, const Complex* __restrict__ column_weights,
                   const u32* __restrict__ fractions, u32 m, u32 column, const Words& words)
        : words(words)
#if FORM
        , of_points(row_weights + M), fractions_of_points(fractions + M + COLUMNS)
#endif
    {
        Complex of_row = row_weights[m], of_column = column_weights[column];
        u32 start = fractions[m];
        fraction = start + fractions[M + column];
#if SUMS
        wrapped = fraction < start;
#else
        bool wrapped = fraction < start;
#endif
        forward = words.lowered_if(of_row.re * of_column.re, wrapped);
        inverse = words.raised_if(of_row.im * of_column.im, wrapped);
    }
#if FORM
    template <int i>
    DEVICE Point point() const {
        u32 f = fraction;
        if constexpr (i > 0) f += fractions_of_points[i];
        return {f < fraction, f > words.long_above, f < words.long_below};
    }
    template <int i>
    DEVICE double forward0(Point p) const {
        if constexpr (i == 0) return forward;
        return words.lowered_if(forward * of_points[i].re, p.wrapped);
    }
    template <int i>
    DEVICE double inverse0(Point p) const {
        if constexpr (i == 0) return inverse;
        return words.raised_if(inverse * of_points[i].im, p.wrapped);
    }
#else
    // Returns the properties of the point in row i·M + m, whose u is greater by (−p·i mod Q)/Q.
    template <int i>
    DEVICE Point point() const {
        constexpr u32 numerator = (Q - P_MOD_Q * i % Q) % Q;
        u32 f = fraction + (u32)(((u64)numerator << 32) / Q);
        return {numerator > 0 && f < fraction, f > words.long_above, f < words.long_below};
    }
    template <int i>
    DEVICE double forward0(Point p) const {
        constexpr int numerator = (Q - P_MOD_Q * i % Q) % Q;
        return words.lowered_if(numerator > 0 ? forward * POWER_OF_2<numerator, Q>() : forward, p.wrapped);
    }
    template <int i>
    DEVICE double inverse0(Point p) const {
        constexpr int numerator = (Q - P_MOD_Q * i % Q) % Q;
        return words.raised_if(numerator > 0 ? inverse * POWER_OF_2<-numerator, Q>() : inverse, p.wrapped);
    }
#endif
    DEVICE double forward1(Point p, double forward0) const { return words.raised_if(forward0 * words.ratio, p.long1); }
    DEVICE double inverse1(Point p, double inverse0) const {
        return words.lowered_if(inverse0 * words.inverse_ratio, p.long1);
    }
};

// The constants of a plan's words that the host passes, in the order of its arguments.
#if DIGITS
#define DIGITS_FIELDS(F) \
    F(double, radix) F(double, inverse_radix) F(double, short_base) F(double, long_base) F(double, short_unit) F(double, long_unit)
#define DIGITS_ARGUMENTS , radix, inverse_radix, short_base, long_base, short_unit, long_unit
#else
#define DIGITS_FIELDS(F)
#define DIGITS_ARGUMENTS
#endif
#define WORDS_FIELDS(F)                                                                                     \
    F(const Complex* __restrict__, row_weights) F(const Complex* __restrict__, column_weights)               \
        F(const u32* __restrict__, fractions) F(double, ratio) F(double, inverse_ratio) F(u32, bits)         \
        F(u32, long_above) F(u32, long_below) DIGITS_FIELDS(F)
#define WORDS {ratio, inverse_ratio, bits, long_above, long_below DIGITS_ARGUMENTS}
#define WEIGHTS {row_weights, column_weights, fractions, m, column, words}
#endif
