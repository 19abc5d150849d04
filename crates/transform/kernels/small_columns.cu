// Reconstructs integers from residues, as sums for each digit: with M = Π p_s and 0 ≤ y_s < p_s,
// y_s ≡ x·(M/p_s)^−1,
//
//     x = Σ_s y_s·(M/p_s) − q·M,   q = ⌊Σ_s y_s/p_s − x/M⌋ exactly an integer,
//
// With digits c_(s,j) of M/p_s and c_j of −M, in any radix, the sum for digit j of x is Σ_s
// y_s·c_(s,j) + q·c_j.
//
//   GROUP     digits of a block; there are blockIdx.y groups
//   THREADS   threads of a block
#include "ptx.cuh"

// With parts y = y_1·2^25 + y_0 and c = c_1·2^32 + c_0, the sums of products of parts over CHUNK primes
// are below 64·2^57.
constexpr u32 CHUNK = 64, AHEAD = 4;

// Computes sum += value·2^shift, 128 bits.
DEVICE void add_shifted(u64 (&sum)[2], u64 value, u32 shift) {
    u64 lo = value << shift, hi = shift == 0 ? 0 : value >> (64 - shift);
    sum[0] += lo;
    sum[1] += hi + (sum[0] < lo);
}

// y_s of integer i is at s·stride + i. Constant j of prime s is at s·GROUP + j of its group; the
// constants of −M come last. q is max(0, ⌊Σ y_s/p_s + offset⌋). The words of the sums of digit j are
// written to lows and highs at j·count + i, j < digits.
extern "C" __global__ void __launch_bounds__(THREADS)
    columns(u64* lows, u64* highs, const double* residues, const double2* fields, const u64* constants, u64 count,
            u64 stride, u32 primes, u32 digits, double offset) {
    __shared__ u64 table[CHUNK * GROUP];
    __shared__ double inverses[CHUNK];
    u64 i = (u64)blockIdx.x * THREADS + threadIdx.x, at = min(i, count - 1);
    constants += (u64)blockIdx.y * (primes + 1) * GROUP;
    u64 totals[GROUP][2] = {};
    double quotient = offset;
#pragma unroll 1
    for (u32 from = 0; from < primes; from += CHUNK) {
        u32 here = min(CHUNK, primes - from);
        __syncthreads();
        for (u32 t = threadIdx.x; t < here * GROUP; t += THREADS) table[t] = constants[from * GROUP + t];
        for (u32 t = threadIdx.x; t < here; t += THREADS) inverses[t] = fields[from + t].y;
        __syncthreads();
        u64 sums[GROUP][4] = {};
        const double* of = residues + from * stride + at;
        // Loaded several iterations before they are needed.
        double ahead[AHEAD];
#pragma unroll
        for (u32 t = 0; t < AHEAD; t++) ahead[t] = of[min(t, here - 1) * stride];
#pragma unroll 1
        for (u32 s = 0; s < here; s++) {
            double y = ahead[0];
#pragma unroll
            for (u32 t = 1; t < AHEAD; t++) ahead[t - 1] = ahead[t];
            ahead[AHEAD - 1] = of[min(s + AHEAD, here - 1) * stride];
            quotient = fma(y, inverses[s], quotient);
            u64 bits = (u64)__double_as_longlong(y + 4503599627370496.0);
            u32 y0 = (u32)bits & ((1 << 25) - 1), y1 = (u32)(bits >> 25) & ((1 << 25) - 1);
#pragma unroll
            for (u32 j = 0; j < GROUP; j++) {
                u64 c = table[s * GROUP + j];
                sums[j][0] = multiply_add_short(y0, low(c), sums[j][0]);
                sums[j][1] = multiply_add_short(y0, high(c), sums[j][1]);
                sums[j][2] = multiply_add_short(y1, low(c), sums[j][2]);
                sums[j][3] = multiply_add_short(y1, high(c), sums[j][3]);
            }
        }
#pragma unroll
        for (u32 j = 0; j < GROUP; j++) {
            add_shifted(totals[j], sums[j][0], 0);
            add_shifted(totals[j], sums[j][1], 32);
            add_shifted(totals[j], sums[j][2], 25);
            add_shifted(totals[j], sums[j][3], 57);
        }
    }
    if (i >= count) return;
    u32 q = quotient < 1.0 ? 0 : (u32)__double2int_rz(quotient);
#pragma unroll
    for (u32 j = 0; j < GROUP; j++) {
        u32 digit = blockIdx.y * GROUP + j;
        if (digit >= digits) continue;
        u64 c = constants[primes * GROUP + j];
        add_shifted(totals[j], multiply_add_short(q, low(c), 0), 0);
        add_shifted(totals[j], multiply_add_short(q, high(c), 0), 32);
        lows[digit * count + i] = totals[j][0];
        highs[digit * count + i] = totals[j][1];
    }
}
