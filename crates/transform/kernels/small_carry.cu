// Computes digits from the sums of columns, one integer per thread.
//
//   WORDS     words of a sum: 2, below 2^64·r, or 3, in two's complement, within 2^64·r² in size
//   MODULAR   1: digits in radix r, mod r^k + 1, all below r or 0, …, 0, r; 0: words mod 2^(64k),
//   reduced below M
//   THREADS   threads of a block
#include "ptx.cuh"

// r, r·2^shift ≥ 2^63, and ⌊(2^128 − 1)/(r·2^shift)⌋ − 2^64.
struct Radix {
    u64 r, normal, reciprocal;
    u32 shift;
};

// ⌊(hi·2^64 + lo)/r⌋ and the remainder, for hi < r (Möller and Granlund 2011, algorithm 4).
DEVICE u64 divide(const Radix& c, u64 hi, u64 lo, u64& remainder) {
    if (c.shift > 0) hi = hi << c.shift | lo >> (64 - c.shift);
    lo <<= c.shift;
    u64 q1 = __umul64hi(c.reciprocal, hi), q0 = c.reciprocal * hi;
    q0 += lo;
    q1 += hi + (q0 < lo) + 1;
    u64 left = lo - q1 * c.normal;
    if (left > q0) q1--, left += c.normal;
    if (left >= c.normal) q1++, left -= c.normal;
    remainder = left >> c.shift;
    return q1;
}

// Divides a number of three words in two's complement by r. Returns the remainder from 0 to r − 1,
// and the quotient in q1·2^64 + q0, rounded down, in two's complement.
DEVICE u64 divide_signed(const Radix& c, u64 w0, u64 w1, u64 w2, u64& q0, u64& q1) {
    bool negative = (i64)w2 < 0;
    if (negative) {
        w0 = ~w0 + 1;
        w1 = ~w1 + (w0 == 0);
        w2 = ~w2 + (w0 == 0 && w1 == 0);
    }
    u64 left, remainder;
    q1 = divide(c, w2, w1, left);
    q0 = divide(c, left, w0, remainder);
    if (negative) {
        if (remainder != 0) {
            // −(q + 1).
            remainder = c.r - remainder;
            q0 = ~q0, q1 = ~q1;
        } else {
            q0 = ~q0 + 1;
            q1 = ~q1 + (q0 == 0);
        }
    }
    return remainder;
}

// Word w of sum j is at (w·digits + j)·count + i; digit j of integer i is written to j·count + i.
extern "C" __global__ void __launch_bounds__(THREADS)
    carry(u64* out, const u64* sums, const u64* modulus, u64 count, u32 digits, u64 r, u64 normal, u64 reciprocal,
          u32 shift) {
    u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    Radix c = {r, normal, reciprocal, shift};
    out += i, sums += i;
    u64 plane = digits * count, c0 = 0, c1 = 0;
#pragma unroll 2
    for (u32 j = 0; j < digits; j++) {
        const u64* sum = sums + j * count;
        u64 w0 = sum[0], w1 = sum[plane];
        w0 += c0;
        u64 over = w0 < c0;
        if constexpr (!MODULAR) {
            out[j * count] = w0;
            c0 = w1 + over;
        } else if constexpr (WORDS == 2) {
            u64 digit;
            c0 = divide(c, w1 + over, w0, digit);
            out[j * count] = digit;
        } else {
            u64 w2 = sum[2 * plane], wide = w1 + c1, wider = wide + over;
            w2 += (u64)((i64)c1 >> 63) + (wide < w1) + (wider < wide);
            out[j * count] = divide_signed(c, w0, wider, w2, c0, c1);
        }
    }
    if constexpr (MODULAR) {
        // r^k = −1: the carry is subtracted at the lowest digit, repeatedly.
        while ((c0 | c1) != 0) {
            if (c0 == 1 && c1 == 0) {
                u32 zeros = 0;
                while (zeros < digits && out[zeros * count] == 0) zeros++;
                if (zeros == digits) {
                    out[(digits - 1) * count] = r;
                    return;
                }
            }
            c0 = ~c0 + 1;
            c1 = ~c1 + (c0 == 0);
            for (u32 j = 0; j < digits && (c0 | c1) != 0; j++) {
                u64 w0 = out[j * count] + c0, w1 = c1 + (w0 < c0), w2 = (u64)((i64)c1 >> 63);
                // A carry of −2^64 or more that becomes 0.
                w2 += w1 < c1;
                out[j * count] = divide_signed(c, w0, w1, w2, c0, c1);
            }
        }
    } else {
        u32 top = digits;
        while (top > 0 && out[(top - 1) * count] == modulus[top - 1]) top--;
        if (top > 0 && out[(top - 1) * count] < modulus[top - 1]) return;
        u64 borrow = 0;
        for (u32 j = 0; j < digits; j++) {
            u64 word = out[j * count], less = word - modulus[j], least = less - borrow;
            borrow = (word < modulus[j]) + (less < borrow);
            out[j * count] = least;
        }
    }
}
