// Transforms of N = 2^log_n elements of Z/pZ, `count` elements in all, in passes of several levels each
// (Stockham: each pass writes in the order in which the next one reads, and the last one in natural
// order).
//
// Vectors are limb-major: word d of element i is at d·count + i. Tables of powers of ω are in
// Montgomery form, element by element, so that products by them leave elements in plain form: integers
// below p.
//
//   WORDS      words of 64 bits per element in memory; LIMBS/2 or LIMBS/2 − 1
//   LOG_TILE   log2 of the elements of a tile
//   THREADS, BLOCKS
//   and the macros of prime_field.cuh
#include "prime_field.cuh"

constexpr u32 TILE = 1u << LOG_TILE;

// Loads the element at a place of an array with one plane for each word.
DEVICE Element load(const u64* from, u64 plane, u64 place) {
    Element e;
#if IN_REGISTERS
#pragma unroll
#else
#pragma unroll 1
#endif
    for (int d = 0; d < LIMBS / 2; d++) {
        u64 word = d < WORDS ? from[d * plane + place] : 0;
        e.x[2 * d] = low(word), e.x[2 * d + 1] = high(word);
    }
    return e;
}
DEVICE void store(u64* to, u64 plane, u64 place, const Element& e) {
#if IN_REGISTERS
#pragma unroll
#else
#pragma unroll 1
#endif
    for (int d = 0; d < WORDS; d++) to[d * plane + place] = join(e.x[2 * d], e.x[2 * d + 1]);
}

// Loads an element of a table.
DEVICE Element entry(const u64* table, u64 i) { return load(table + i * (LIMBS / 2), 1, 0); }

// Reverses the low `bits` bits of i, bits ≥ 1.
DEVICE u32 reversed(u32 i, u32 bits) { return __brev(i) >> (32 - bits); }

// One pass. Let R = 2^levels, let S = 2^log_s be the product of the R of the earlier passes, and
// n = N/S. For column c = q + S·p (q < S, p < n/R),
//
//   to[q + S·(R·p + k)] = ω^(S·p·k)·Σ_r from[c + N/R·r]·ω^(N/R·rk).
//
// A block processes a tile of TILE/R columns, possibly of several transforms. The last pass (p = 0) has
// the factors `scale` instead, unless `scale` is null, and with `mirrored` it writes X_k to place −k
// mod N.
//
//   powers   ω^i for i < N/2
//   points   ω^(N/P·i) for i < P/2, P = 2^log_points ≥ R
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    prime_pass(u64* to, const u64* from, const u64* powers, const u64* points, const u64* scale, u64 count,
               u32 log_n, u32 log_s, u32 levels, u32 log_points, u32 mirrored) {
    DYNAMIC_SHARED(u64, tile);
    u32 rows = 1u << levels, log_columns = LOG_TILE - levels, columns = 1u << log_columns;
    // If neighbours in a row are written far from each other, rows begin in different banks.
    u32 stride = columns + (log_s < log_columns ? 1 : 0), plane = rows * stride;
    u32 log_all = log_n - levels;
    u64 all = count >> levels, first = (u64)blockIdx.x << log_columns;
    u64 column_bits = ((u64)1 << log_all) - 1;

    for (u32 t = threadIdx.x; t < TILE; t += THREADS) {
        u32 column = t & (columns - 1), r = t >> log_columns;
        u64 g = first + column;
        u32 place = (levels ? reversed(r, levels) : 0) * stride + column;
        u64 at = (g >> log_all << log_n) + (g & column_bits) + ((u64)r << log_all);
#pragma unroll
        for (int d = 0; d < WORDS; d++) tile[d * plane + place] = g < all ? from[d * count + at] : 0;
    }

    // Rows are in bit-reversed order; transforms of 2, 4, …, R rows (Cooley and Tukey 1965).
    for (u32 level = 0; level < levels; level++) {
        __syncthreads();
        for (u32 t = threadIdx.x; t < TILE / 2; t += THREADS) {
            u32 column = t & (columns - 1), pair = t >> log_columns, half = 1u << level;
            u32 i = pair & (half - 1), row = 2 * pair - i;
            u32 place = row * stride + column, other = place + half * stride;
            Element b = load(tile, plane, other);
            if (level > 0) b = product(b, entry(points, i << (log_points - 1 - level)));
            Element a = load(tile, plane, place);
            store(tile, plane, place, add(a, b));
            store(tile, plane, other, sub(a, b));
        }
    }
    __syncthreads();

    // Adjacent threads write adjacent elements, as far as the tile contains them.
    u32 log_run = min(log_s, log_columns);
    bool last = log_s + levels == log_n;
    for (u32 t = threadIdx.x; t < TILE; t += THREADS) {
        u32 in_run = t & ((1u << log_run) - 1), k = t >> log_run & (rows - 1);
        u32 column = in_run + (t >> (log_run + levels) << log_run);
        u64 g = first + column;
        if (g >= all) continue;
        Element x = load(tile, plane, k * stride + column);
        u64 c = g & column_bits, p = c >> log_s, q = c - (p << log_s);
        u64 at = q + (((p << levels) + k) << log_s);
        if (!last) {
            // ω^(N/2) = −1.
            u64 e = (p << log_s) * k, half = (u64)1 << (log_n - 1);
            x = product(x, entry(powers, e & (half - 1)));
            if (e & half) {
                Element zero = {};
                x = sub(zero, x);
            }
        } else {
            if (scale) x = product(x, entry(scale, 0));
            if (mirrored) at = (((u64)1 << log_n) - at) & (((u64)1 << log_n) - 1);
        }
        store(to, count, (g >> log_all << log_n) + at, x);
    }
}

// Computes table_i = low_(i mod 2^log_low)·high_⌊i/2^log_low⌋ for i < size, all in Montgomery form.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    prime_powers(u64* table, const u64* lower, const u64* upper, u64 size, u32 log_low) {
    u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (i >= size) return;
    u64 low_bits = ((u64)1 << log_low) - 1;
    Element e = product(entry(lower, i & low_bits), entry(upper, i >> log_low));
    for (int d = 0; d < LIMBS / 2; d++) table[i * (LIMBS / 2) + d] = join(e.x[2 * d], e.x[2 * d + 1]);
}

// b_i ← a_i·b_i/R.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    prime_multiply(u64* b, const u64* a, u64 count) {
    u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    store(b, count, i, product(load(a, count, i), load(b, count, i)));
}
