// The sums by which the host verifies squarings: L(v) = Σ v_w·A_w over the words w, with the factors
// A_w = 2^⌈pw/N⌉·s^w in GF(q²), q = 2^31 − 1. The host draws s, which is secret, and fills the tables.
// The page docs/checks/squarings.md describes the method.
//
// A thread has the points in rows i·M + m of one column, i < Q. For the word w = 2j of such a point,
//
//     A_(w+1) = R_m·C_column·G_i·2^(−wraps),   A_(w+2) = A_(w+1)·2^b·s,
//
// where R_m, C and G_i are the factors A of the words that make up w + 1, b is the number of bits of
// word w + 1, and `wraps` counts the sums of fractions u_w that exceeded 1. A digit of word w is held
// as a fraction of 2^b, so Σ d_w·A_w·s is a sum of these fractions times A_(w+1). The host divides the
// sums by s and by a power of 2.
#pragma once
#include "ptx.cuh"

constexpr u32 PRIME = 0x7fffffff;

// An element of the field; both parts are at most PRIME.
struct Element {
    u32 re, im;
};

// The numbers 2^(1 − e)·G_i and 2^(1 − e)·2^(b + 1)·s·G_i for the number b of bits of a short word,
// with parts between −2^30 and 2^30. They are in `point_factors[3·i + e]`, e < 3.
struct __align__(16) PointFactors {
    i32 g_re, g_im, h_re, h_im;
};

// The number of sums of a launch, each over some of its blocks, and of words of a sum.
constexpr u32 PARTS = 8, WORDS_OF_SUM = 4;

// Returns a number below 2^31 + 4 that is v mod PRIME.
DEVICE u32 reduced(u64 v) {
    u64 t = (v & PRIME) + (v >> 31);
    return (u32)(t & PRIME) + (u32)(t >> 31);
}

// Returns v mod PRIME for v < 2·PRIME.
DEVICE u32 canonical(u32 v) {
    u32 less = v - PRIME;
    return v < less ? v : less;
}

// Returns a·b with parts below 2^31 + 4, if all parts are at most PRIME + 4, or those of a at most
// PRIME and those of b below 2·PRIME.
DEVICE Element product(Element a, Element b) {
    return {reduced((u64)a.re * b.re + (u64)a.im * (2 * PRIME - b.im)), reduced((u64)a.re * b.im + (u64)a.im * b.re)};
}

// Adds a·b to a sum, in one instruction (see `accumulate_product`). The compiler keeps the order of the
// program.
DEVICE void add_product(u64& sum, i32 a, i32 b) {
#ifdef WARPINT_SIM
    sum += (u64)((i64)a * b);
#else
    u32 lo = low(sum), hi = high(sum);
    // The first instruction writes `lo` before the second reads the factors.
    asm volatile("mad.lo.cc.s32 %0, %2, %3, %0;\n\tmadc.hi.s32 %1, %2, %3, %1;" : "+&r"(lo), "+r"(hi) : "r"(a), "r"(b));
    sum = join(lo, hi);
#endif
}

// Factors in shared memory. On a GPU they are addressed in 32 bits, by registers that the compiler
// does not replace by sums of constants.
struct NearFactors {
#ifdef WARPINT_SIM
    const PointFactors* at[2];
    DEVICE NearFactors(const PointFactors* list) : at{list, list + 1} {}
    // Returns the factors of point i for e, and for e + 1.
    DEVICE PointFactors get(u32 i, bool e) const { return at[e][3 * i]; }
    DEVICE PointFactors next(u32 i, bool e, bool more) const { return at[e][3 * i + more]; }
#else
    u32 at[2];
    DEVICE NearFactors(const PointFactors* list) {
        at[0] = anew((u32)__cvta_generic_to_shared(list));
        at[1] = anew(at[0] + 16);
    }
    DEVICE static PointFactors load(u32 address) {
        PointFactors f;
        asm volatile("ld.shared.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(f.g_re), "=r"(f.g_im), "=r"(f.h_re), "=r"(f.h_im) : "r"(address) : "memory");
        return f;
    }
    DEVICE PointFactors get(u32 i, bool e) const { return load((e ? at[1] : at[0]) + 48 * i); }
    DEVICE PointFactors next(u32 i, bool e, bool more) const {
        PointFactors f;
        u32 address = e ? at[1] : at[0];
        if (more) address += 16;
        asm volatile("ld.shared.v2.s32 {%0, %1}, [%2];" : "=r"(f.g_re), "=r"(f.g_im) : "r"(address + 48 * i) : "memory");
        return f;
    }
#endif
};

// The two sums of a thread: of the digits, and of the carries into words.
struct Sums {
    // A multiple of PRIME near 2^63, so that sums stay positive.
    static constexpr u64 START = (u64)PRIME << 32;
    u64 digits_re = START, digits_im = START, carries_re = START, carries_im = START;

    // Adds the digits of a point: v0 is 2^(1 + b) times the fraction of word 2j for the number b of
    // bits of a short word, and v1 is the digit of word 2j + 1.
    DEVICE void add_digits(i32 v0, i32 v1, const PointFactors& f) {
        add_product(digits_re, v0, f.g_re);
        add_product(digits_im, v0, f.g_im);
        add_product(digits_re, v1, f.h_re);
        add_product(digits_im, v1, f.h_im);
    }
    // Adds the carries c0 into word 2j and c1 into word 2j + 1.
    DEVICE void add_carries(i32 c0, i32 c1, const PointFactors& f0, const PointFactors& f1) {
        add_product(carries_re, c0, f0.g_re);
        add_product(carries_im, c0, f0.g_im);
        add_product(carries_re, c1, f1.h_re);
        add_product(carries_im, c1, f1.h_im);
    }

    // Multiplies by the factor of the thread, and adds the sums of the warp to `sums`: the real and
    // imaginary part of the sum of digits, and of the sum of carries. All threads of the warp take
    // part. `wrapped`: whether the sum of the fractions of row and column wrapped around.
    DEVICE void finish(u64* sums, Element of_row, Element of_column, bool wrapped) const {
        // The factor 2^(−wrapped), times 2.
        const Element row = {wrapped ? of_row.re : 2 * of_row.re, wrapped ? of_row.im : 2 * of_row.im};
        const Element factor = product(of_column, row);
        const Element digits = product({reduced(digits_re), reduced(digits_im)}, factor);
        const Element carries = product({reduced(carries_re), reduced(carries_im)}, factor);
        const u32 y0 = canonical(digits.re), y1 = canonical(digits.im);
        const u32 c0 = canonical(carries.re), c1 = canonical(carries.im);
        // Adds the number that the lane at distance `mask` sends.
        auto add = [](u32 kept, u32 sent, u32 mask) {
            return canonical(kept + __shfl_xor_sync(0xffffffffu, sent, mask));
        };
        // Half of the lanes go on with the sum of carries, then half of these with imaginary parts.
        const u32 lane = threadIdx.x % 32;
        const bool upper = lane & 16, imaginary = lane & 8;
        const u32 re = add(upper ? c0 : y0, upper ? y0 : c0, 16), im = add(upper ? c1 : y1, upper ? y1 : c1, 16);
        u32 v = add(imaginary ? im : re, imaginary ? re : im, 8);
        v = add(v, v, 4);
        v = add(v, v, 2);
        v = add(v, v, 1);
        if (lane % 8 == 0) atomicAdd(&sums[lane / 8], (u64)v);
    }
};
