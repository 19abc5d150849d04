// Transforms of columns modulo many primes. A block transforms a tile of adjacent columns; blockIdx.y
// is the prime.
//
//   INVERSE     1: spectrum to columns, 0 ≤ x < p; 0: columns to spectrum
//   LOG_ROW     a row has 2^LOG_ROW points: a transform has N = 2^(STAGES + LOG_ROW)
//   LOG_LOW     bits of an exponent for the lower of two tables of powers of ω_N
//   BEGIN       input elements are within BEGIN/64·p
//   and the macros of f50_tile.cuh with LOG_OUTER = 0
//
// After the stages, element γ of row ρ is multiplied by ω_N^(rev(ρ)·γ), where rev(ρ) is ρ with its
// STAGES bits reversed. Rows are then transformed like any other rows. A thread holds the rows
// ρ = β·2^R + c for all c < 2^R. With S = STAGES − R, rev(ρ) = rev(β) + rev(c)·2^S, so the powers are
// t·u^rev(c), t = ω_N^(rev(β)·γ), u = ω_N^(2^S·γ).
#include "f50_tile.cuh"

static_assert(LOG_OUTER == 0 && LOG_INNER <= LOG_ROW, "a tile is of one transform");
constexpr u32 R = LAST_STAGES, S = STAGES - R, LOG_N = STAGES + LOG_ROW;

// t, u and their products are within 38/64·p, because (1/2 + (38/64)²/4)·p is less than 38/64·p.
constexpr u32 POWER = 38;
static_assert(times(POWER, POWER) <= POWER && times_factor(REDUCED) <= POWER, "a bound that lasts");
// The product of an element within this bound and a power is within 2·p².
constexpr u32 PRODUCT_LIMIT = 128 * 64 / POWER;

// ω_N^e from tables of ω_N^i, i < 2^LOG_LOW, and of ω_N^(i·2^LOG_LOW).
DEVICE double power(F50 f, const double* low, const Factor* high, u32 e) {
    return mul_by(f, __ldg(&low[e % (1 << LOG_LOW)]), load_factor(&high[e >> LOG_LOW]));
}

// Multiplies by the powers; γ is at least the first column of the tile.
DEVICE void twist(double (&x)[HOLDS], F50 f, const double* low, const Factor* high, u32 columns, u32 thread) {
    using Q = Round<S, R>;
    constexpr u32 STEP = Q::SIZE < 4 ? Q::SIZE : 4;
#pragma unroll
    for (u32 v = 0; v < Q::UNITS; v++) {
        u32 gamma = columns + Q::first_point(thread, v) % (1 << LOG_INNER);
        double u = power(f, low, high, gamma << S), u2 = mul(f, u, u), u4 = mul(f, u2, u2);
        double t[STEP];
        t[0] = 1.0;
        if constexpr (S > 0) t[0] = power(f, low, high, (__brev(Q::block(thread)) >> (32 - S)) * gamma);
        t[1] = mul(f, t[0], u);
        if constexpr (STEP == 4) {
            t[2] = mul(f, t[0], u2);
            t[3] = mul(f, t[1], u2);
        }
#pragma unroll
        for (u32 k = 0; k < Q::SIZE; k++) {
            // Bit i of the power is bit R − 1 − i of c.
            u32 c = 0;
#pragma unroll
            for (u32 i = 0; i < R; i++) c |= (k >> i & 1) << (R - 1 - i);
            if (k >= STEP) t[k % STEP] = mul(f, t[k % STEP], u4);
            x[v * Q::SIZE + c] = mul(f, x[v * Q::SIZE + c], t[k % STEP]);
        }
    }
}

// There are `stride` elements of data for each prime, and 2^(LOG_ROW − LOG_INNER) blocks for each
// transform.
extern "C" __global__ void __launch_bounds__(THREADS, blocks(STAGES <= 4 ? 512 : THREADS < 512 ? 768 : 1024))
    f50_columns(double* data, const F50* fields, const Factor* roots, const double* low, const Factor* high,
                u64 stride) {
    DYNAMIC_SHARED(double, buffer);
    u32 thread = threadIdx.x, prime = blockIdx.y;
    constexpr u32 LOG_TILES = LOG_ROW - LOG_INNER;
    u32 columns = (blockIdx.x % (1 << LOG_TILES)) << LOG_INNER;
    u64 transform = blockIdx.x >> LOG_TILES;
    F50 f = fields[prime];
    double* tile = data + prime * stride + (transform << LOG_N) + columns;
    roots += (u64)prime * (1 << STAGES);
    low += (u64)prime * (1 << LOG_LOW);
    high += (u64)prime * (1 << (LOG_N - LOG_LOW));
    auto at = [&](u32 point) -> double& {
        return tile[(point >> LOG_INNER << LOG_ROW) + point % (1 << LOG_INNER)];
    };
    double x[HOLDS];
    if constexpr (INVERSE) {
        each_point<S, R>(thread, [&](u32 t, u32 point) { x[t] = at(point); });
        static_assert(BEGIN <= PRODUCT_LIMIT, "elements that come are small enough");
        twist(x, f, low, high, columns, thread);
        inverse<times(BEGIN, POWER)>(x, buffer, f, roots, thread);
        each_point<0, ROUND_STAGES[0]>(thread, [&](u32 t, u32 point) { at(point) = canonical(f, x[t]); });
    } else {
        each_point<0, ROUND_STAGES[0]>(thread, [&](u32 t, u32 point) { x[t] = at(point); });
        forward<BEGIN>(x, buffer, f, roots, thread);
        if constexpr (forward_bound(BEGIN, STAGES) > PRODUCT_LIMIT) reduce_all(f, x);
        twist(x, f, low, high, columns, thread);
        each_point<S, R>(thread, [&](u32 t, u32 point) { at(point) = x[t]; });
    }
}
