// Sums and shifts of numbers of many words.
//
//   THREADS   threads of a block, a multiple of 32. A block makes as many words.
#include "carry.cuh"

// Returns word i of a number of `length` words, `at` words up; with flip = ~0, of its complement, which has infinitely
// many ones. The number consists of the `period` words of x again and again, or of x_word if x is null.
DEVICE u64 word_of(const u64* x, u64 x_word, u32 length, u32 period, u32 at, u64 flip, u32 i) {
    const u32 k = i - at;
    const u64 word = k >= length ? 0 : x ? x[k < period ? k : k % period] : x_word;
    return word ^ flip;
}

// Writes the lowest `total` words of a + b, without carries from block to block; `blocks` receives what each block
// does with carries. The sum may be in the place of an addend that is not moved up.
extern "C" __global__ void __launch_bounds__(THREADS)
huge_add(u64* out, u32* blocks, u32 total, const u64* a, u64 a_word, u32 a_length, u32 a_period, u32 a_at, u64 a_flip,
         const u64* b, u64 b_word, u32 b_length, u32 b_period, u32 b_at, u64 b_flip) {
    const u32 i = blockIdx.x * THREADS + threadIdx.x;
    const bool is_word = i < total;
    const u64 own = is_word ? word_of(a, a_word, a_length, a_period, a_at, a_flip, i) : 0;
    u64 v = own + (is_word ? word_of(b, b_word, b_length, b_period, b_at, b_flip, i) : 0);
    // The words that the last block lacks pass carries on.
    v += carry_within_block(v < own, !is_word || v == ~0ull, blocks + blockIdx.x);
    if (is_word) out[i] = v;
}

// Writes `total` words of ⌊x/2^bits⌋ from word `skip` of x on, for bits < 64: word i is x_(skip + i)/2^bits and the
// lowest bits of the next one. x has `length` words; others are zero, also those before the first one.
extern "C" __global__ void __launch_bounds__(THREADS)
huge_shift(u64* out, u32 total, const u64* __restrict__ x, u32 length, i64 skip, u32 bits) {
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < total; i += (u64)gridDim.x * THREADS) {
        const u64 at = i + (u64)skip;
        u64 v = at < length ? x[at] >> bits : 0;
        if (bits > 0 && at + 1 < length) v |= x[at + 1] << (64 - bits);
        out[i] = v;
    }
}
