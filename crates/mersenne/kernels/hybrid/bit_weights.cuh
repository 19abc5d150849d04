// Words of bits, and the weights of the words of a thread's points, for both kinds of points (columns.cu): residues
// modulo 2^p − 1.
#pragma once
#include "exact_columns.cuh"
#include "parts.cuh"

// Properties of a thread's point j: lengths of its words 2j and 2j + 1, the exponents of their
// weights modulo q, and whether the weight of word 2j wraps around.
struct Point {
    bool wrapped, long0, long1;
    u32 exponent0, exponent1;
};

// 2^e.
DEVICE double power_of_2(i32 e) { return __hiloint2double((1023 + e) * (1 << 20), 0); }

// The base 2^b of a word of b bits, its inverse, and 2^(31 − b).
struct Base {
    double power, inverse, rest;
    DEVICE explicit Base(i32 b) : power(power_of_2(b)), inverse(power_of_2(-b)), rest(power_of_2(31 - b)) {}
    // Splits v = digit + carry·2^b, |v| < 2^52, with |digit| ≤ 2^(b−1); returns the digit.
    DEVICE double split(double v, double& carry) const { return split_by(v, power, inverse, carry); }
    // Does the same with f·2^31 + v.
    DEVICE double split(Parts z, double& carry) const {
        const double digit = split(z.v, carry);
        carry = fma(z.f, rest, carry);
        return digit;
    }
};

// The constants of a layout of words. A long word has one more bit.
struct Words {
    // 2^(−(p mod N)/N) and its inverse.
    double ratio, inverse_ratio;
    // ⌊p/N⌋.
    u32 bits;
    // 2^32·(p mod N)/N, rounded down. Word w is long exactly if 2^32·u_w is below it.
    u32 long_below;
    // The exponent of a_(w+1)/a_w modulo q for a short word w.
    u32 exponent;
    DEVICE Base base(bool is_long) const { return Base(bits + is_long); }
    // The unit of norms is 4^bits/2^16. Weighted digits are below 6·2^bits.
    DEVICE double inverse_unit() const { return __hiloint2double((i32)((1023 + 16 - 2 * bits) << 20), 0); }
};

// Returns v·2^e if `so`, else v.
template <int e>
DEVICE double scaled_if(double v, bool so) {
    return __hiloint2double(__double2hiint(v) + (so ? e * (1 << 20) : 0), __double2loint(v));
}

// e mod 31 for e < 62.
DEVICE u32 mod31(u32 e) { return min(e, e - 31); }
constexpr u32 inverse_mod31(u32 n) {
    for (u32 i = 1; i < 31; i++) {
        if (n * i % 31 == 1) return i;
    }
    return 0;
}

// r·2^k mod q for 0 ≤ k < 32.
DEVICE u32 turned31(u32 r, u32 k) { return __funnelshift_l(r << 1, r, k) & Q31; }
// d·2^k mod q for |d| < q and k < 31.
DEVICE u32 weighted31(i32 d, u32 k) { return turned31(residue31(d), k); }
// r·2^(−k) mod q for k < 31.
DEVICE u32 unweighted31(u32 r, u32 k) { return turned31(r, 31 - k); }

// The weights of the points of a thread: rows i·M + m for i < Q.
struct Weights {
    double forward, inverse;
    u32 fraction, exponent;
    const Words& words;

    // `row_weights[m]` and `column_weights[j2]` contain a and 1/a, 1/a divided by n·q in one of them.
    // `fractions` and `exponents` have M entries for the rows and COLUMNS entries for the columns;
    // exponents of columns are from 1 to 31.
    DEVICE Weights(const Complex* __restrict__ row_weights, const Complex* __restrict__ column_weights,
                   const u32* __restrict__ fractions, u32 m, u32 column, const Words& words)
        : words(words) {
        Complex of_row = row_weights[m], of_column = column_weights[column];
        const u32* exponents = fractions + M + COLUMNS;
        u32 start = fractions[m];
        fraction = start + fractions[M + column];
        bool wrapped = fraction < start;
        forward = scaled_if<-1>(of_row.re * of_column.re, wrapped);
        inverse = scaled_if<1>(of_row.im * of_column.im, wrapped);
        exponent = mod31(exponents[m] + exponents[M + column] - (wrapped ? 1 : 0));
    }
    // Returns the properties of the point in row i·M + m, whose u is greater by (−p·i mod Q)/Q.
    template <int i>
    DEVICE Point point() const {
        constexpr u32 numerator = (Q - P_MOD_Q * i % Q) % Q;
        constexpr u32 more = (numerator * inverse_mod31(Q) + 30) % 31 + 1;
        u32 f = fraction + (u32)(((u64)numerator << 32) / Q);
        Point p;
        p.wrapped = numerator > 0 && f < fraction;
        p.long0 = f < words.long_below;
        p.long1 = f - words.long_below < words.long_below;
        p.exponent0 = mod31(exponent + more - (p.wrapped ? 1 : 0));
        p.exponent1 = mod31(p.exponent0 + words.exponent + (p.long0 ? 1 : 0));
        return p;
    }
    template <int i>
    DEVICE double forward0(const Point& p) const {
        constexpr int numerator = (Q - P_MOD_Q * i % Q) % Q;
        return scaled_if<-1>(numerator > 0 ? forward * POWER_OF_2<numerator, Q>() : forward, p.wrapped);
    }
    template <int i>
    DEVICE double inverse0(const Point& p) const {
        constexpr int numerator = (Q - P_MOD_Q * i % Q) % Q;
        return scaled_if<1>(numerator > 0 ? inverse * POWER_OF_2<-numerator, Q>() : inverse, p.wrapped);
    }
    DEVICE double forward1(const Point& p, double forward0) const {
        return scaled_if<1>(forward0 * words.ratio, p.long0);
    }
    DEVICE double inverse1(const Point& p, double inverse0) const {
        return scaled_if<-1>(inverse0 * words.inverse_ratio, p.long0);
    }
    // Returns the exact point of two digits.
    template <int i>
    DEVICE Gauss exact(const Point& p, i32 first, i32 second) const {
        return {weighted31(first, p.exponent0), weighted31(second, p.exponent1)};
    }
    // Returns the two words of an exact point.
    template <int i>
    DEVICE Gauss exact_words(const Point& p, Gauss r) const {
        return {unweighted31(r.re, p.exponent0), unweighted31(r.im, p.exponent1)};
    }
};

// The constants of a plan's words that the host passes, in the order of its arguments.
#define WORDS_FIELDS(F)                                                                         \
    F(const Complex* __restrict__, row_weights) F(const Complex* __restrict__, column_weights)   \
        F(const u32* __restrict__, fractions) F(double, ratio) F(double, inverse_ratio)          \
        F(u32, bits) F(u32, long_below) F(u32, exponent) F(u64*, measured)
#define WORDS {ratio, inverse_ratio, bits, long_below, exponent}
