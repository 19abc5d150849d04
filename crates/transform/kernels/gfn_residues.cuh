// Products of elements of Z/pZ, p = r^k + 1 with k ≥ 32, by transforms of their digits: the polynomials
// with these coefficients are multiplied mod T^k + 1 modulo three primes q_0, q_1, q_2 of 47 bits,
// whose product is more than twice k·2^128.
//
//   FIELDS     q and RN(1/q) of each
//   MIXED      1/q_0 mod q_1; 1/(q_0·q_1) and −1/q_1 mod q_2, as Factors
//   OFFSET     2^43·q_0·q_1, as five words
//
// and the macros of gfn_digits.cuh. A stage factors T^(2h) − w² as (T^h − w)(T^h + w). The w of T^k + 1
// is node 1 of a tree, those of its factors are nodes 2 and 3, and so on: roots[2·k·i + n] is the w of
// node n modulo q_i, roots[2·k·i + k + n] its inverse. A team of lanes holds the points of an element.
// In the first stages, lane g holds the points in places g + TEAM·j, until TEAM points are left in a
// block; then it holds SHARE runs of TEAM points.
//
// Without reductions of sums, elements stay below 5q in the forward transform; up to 32q may be
// multiplied. In the inverse transform they double with each stage, and are reduced once.
#pragma once
#include "f50.cuh"
#include "gfn_digits.cuh"

constexpr u32 HELD = DIGITS == 128 ? 16 : 8, TEAM = DIGITS / HELD, SHARE = HELD / TEAM;
constexpr u32 LOG_HELD = log2_of(HELD), LOG_TEAM = log2_of(TEAM);

__device__ const F50 FIELD[3] = FIELDS;
__device__ const Factor MIX[3] = MIXED;

// Exchanges between points g + TEAM·i of lane g and its runs SHARE·g, …, SHARE·(g + 1) − 1, in either
// direction: point i = SHARE·q + t of lane g becomes point TEAM·t + g of lane q.
DEVICE void exchange(double (&x)[HELD], u32 lane, bool to_runs) {
    double y[HELD];
#pragma unroll
    for (u32 i = 0; i < HELD; i++) {
        u32 t = i / TEAM, q = i % TEAM;
        y[i] = to_runs ? x[SHARE * q + t] : x[i];
    }
#pragma unroll
    for (u32 bit = 1; bit < TEAM; bit *= 2) {
        bool upper = (lane & bit) != 0;
#pragma unroll
        for (u32 i = 0; i < HELD; i++) {
            if ((i & bit) != 0) continue;
            double sent = upper ? y[i] : y[i | bit];
            double other = __shfl_xor_sync(0xffffffffu, sent, bit);
            y[i] = upper ? other : y[i], y[i | bit] = upper ? y[i | bit] : other;
        }
    }
#pragma unroll
    for (u32 i = 0; i < HELD; i++) {
        u32 t = i / TEAM, q = i % TEAM;
        x[to_runs ? i : SHARE * q + t] = y[i];
    }
}

// Transforms digits, as field elements in places g + TEAM·i, to values in runs; `roots` are those of
// the prime.
DEVICE void forward(double (&x)[HELD], F50 f, const Factor* __restrict__ roots, u32 lane) {
#pragma unroll
    for (u32 s = 0; s < LOG_HELD; s++) {
        u32 half = HELD >> (s + 1);
#pragma unroll
        for (u32 i = 0; i < HELD; i++) {
            if ((i & half) != 0) continue;
            double t = mul_by(f, x[i + half], roots[(1 << s) + (i >> (LOG_HELD - s))]);
            x[i + half] = x[i] - t, x[i] += t;
        }
    }
    exchange(x, lane, true);
#pragma unroll
    for (u32 s = 0; s < LOG_TEAM; s++) {
        u32 half = TEAM >> (s + 1), first = (1u << (LOG_HELD + s)) + ((lane % TEAM * SHARE) << s);
#pragma unroll
        for (u32 i = 0; i < HELD; i++) {
            if ((i & half) != 0) continue;
            double t = mul_by(f, x[i + half], roots[first + (i >> (LOG_TEAM - s))]);
            x[i + half] = x[i] - t, x[i] += t;
        }
    }
}

// The inverse of `forward` times k, for elements below q.
DEVICE void inverse(double (&x)[HELD], F50 f, const Factor* __restrict__ roots, u32 lane) {
    roots += DIGITS;
#pragma unroll
    for (u32 s = LOG_TEAM; s-- > 0;) {
        u32 half = TEAM >> (s + 1), first = (1u << (LOG_HELD + s)) + ((lane % TEAM * SHARE) << s);
#pragma unroll
        for (u32 i = 0; i < HELD; i++) {
            if ((i & half) != 0) continue;
            double d = x[i] - x[i + half];
            x[i] += x[i + half];
            x[i + half] = mul_by(f, d, roots[first + (i >> (LOG_TEAM - s))]);
        }
    }
    exchange(x, lane, false);
#pragma unroll
    for (u32 i = 0; i < HELD; i++) x[i] = reduce(f, x[i]);
#pragma unroll
    for (u32 s = LOG_HELD; s-- > 0;) {
        u32 half = HELD >> (s + 1);
#pragma unroll
        for (u32 i = 0; i < HELD; i++) {
            if ((i & half) != 0) continue;
            double d = x[i] - x[i + half];
            x[i] += x[i + half];
            x[i + half] = mul_by(f, d, roots[(1 << s) + (i >> (LOG_HELD - s))]);
        }
    }
}

// v_0 + q_0·(v_1 + q_1·v_2) as a column, for |v_2| < 2^43.
DEVICE Column column_of(double v0, double v1, double v2) {
    constexpr u32 LESS[5] = OFFSET;
    u64 q0 = (u64)FIELD[0].p, q1 = (u64)FIELD[1].p;
    // Adding 2^43 to v_2 makes everything positive.
    u32 a[4], b[5];
    multiply((u64)(to_integer(v2) + (1ll << 43)), q1, a);
    i64 d1 = to_integer(v1), d0 = to_integer(v0);
    u32 sign1 = (u32)(d1 >> 63), sign0 = (u32)(d0 >> 63);
    a[0] = add_first(a[0], low((u64)d1)), a[1] = add_carried(a[1], high((u64)d1));
    a[2] = add_last(a[2], sign1);
    u32 c[4];
    multiply(join(a[0], a[1]), q0, c);
#pragma unroll
    for (u32 i = 0; i < 4; i++) b[i] = c[i];
    multiply_add_first(b[2], b[3], low(q0), a[2]);
    b[4] = add_last(0, 0);
    multiply_add_first(b[3], b[4], high(q0), a[2]);
    b[0] = add_first(b[0], low((u64)d0)), b[1] = add_carried(b[1], high((u64)d0));
    b[2] = add_carried(b[2], sign0), b[3] = add_carried(b[3], sign0), b[4] = add_last(b[4], sign0);
    b[0] = sub_first(b[0], LESS[0]), b[1] = sub_carried(b[1], LESS[1]);
    b[2] = sub_carried(b[2], LESS[2]), b[3] = sub_carried(b[3], LESS[3]), b[4] = sub_last(b[4], LESS[4]);
    Column column;
    fill(column, 0);
#pragma unroll
    for (u32 i = 0; i < 5; i++) column.even[i] = b[i];
    return column;
}

// The place of value i of a lane among those of an element, in the order of `forward`.
DEVICE u32 place_in_runs(u32 i, u32 lane) { return lane % TEAM * HELD + i; }

// Computes the lazy digits g + TEAM·i, in x[i], of a product. One factor has the digits
// digit(g + TEAM·i); the transform of the other, divided by k, is value(prime, place).
template <class Digit, class Value>
DEVICE void multiply_residues(Wide (&z)[HELD], const Factor* __restrict__ roots, u32 lane, Digit digit,
                              Value value) {
    double v[3][HELD];
    u32 g = lane % TEAM;
#pragma unroll
    for (u32 prime = 0; prime < 3; prime++) {
        F50 f = FIELD[prime];
        double(&x)[HELD] = v[prime];
#pragma unroll
        for (u32 i = 0; i < HELD; i++) x[i] = from_word(f, digit(g + TEAM * i));
        forward(x, f, roots + 2 * DIGITS * prime, lane);
#pragma unroll
        for (u32 i = 0; i < HELD; i++) x[i] = mul(f, x[i], value(prime, place_in_runs(i, lane)));
        inverse(x, f, roots + 2 * DIGITS * prime, lane);
#pragma unroll
        for (u32 i = 0; i < HELD; i++) {
            if (prime == 0) {
                x[i] = reduce(f, x[i]);
            } else if (prime == 1) {
                x[i] = mul_by(f, x[i] - v[0][i], MIX[0]);
            } else {
                x[i] = reduce(f, mul_by(f, x[i] - v[0][i], MIX[1]) + mul_by(f, v[1][i], MIX[2]));
            }
        }
    }
    // The carry of lane g − 1, and for the last lane the carry one digit earlier.
    Wide first, before;
#pragma unroll
    for (u32 i = 0; i < HELD; i++) {
        Wide hi, carried, lo;
        split(column_of(v[0][i], v[1][i], v[2][i]), lo, hi);
        u32 from = (lane & ~(TEAM - 1)) | ((lane - 1) & (TEAM - 1));
        carried.w0 = __shfl_sync(0xffffffffu, hi.w0, from);
        carried.w1 = __shfl_sync(0xffffffffu, hi.w1, from);
        carried.w2 = __shfl_sync(0xffffffffu, hi.w2, from);
        if (i == 0) {
            first = carried;
            z[0] = lo;
        } else {
            z[i] = add(lo, g == 0 ? before : carried);
        }
        before = carried;
    }
    // r^k = −1.
    z[0] = g == 0 ? sub(z[0], before) : add(z[0], first);
}
