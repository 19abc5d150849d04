// From coefficients c_i to the words of x = Σ c_i·2^(BITS·i).
//
//   BITS      from 16 to 63
//   THREADS   threads of a block, a multiple of 32. A block makes as many words.
//
// The coefficients that begin in word w, those with 64·w ≤ BITS·i < 64·(w + 1), have the sum
// Σ c_i·2^(BITS·i − 64·w) < 2^128, as at most 64/BITS + 1 coefficients below 2^64 are shifted by different
// multiples of BITS below 64. So x is the sum of two numbers, whose words are the lower and the upper halves
// of these sums.
#include "huge.cuh"

constexpr u32 WARPS = THREADS / 32, ALL = 0xffffffff;
static_assert(BITS >= 16 && BITS < 64 && THREADS % 32 == 0 && THREADS <= 1024, "see above");

struct Sum {
    u64 low, high;
};

// Returns the sum of the coefficients that begin in word w.
DEVICE Sum sum_of_word(const u64* __restrict__ coefficients, u64 count, u64 w) {
    constexpr u32 MOST = 63 / BITS + 1;
    const u64 first = (64 * w + BITS - 1) / BITS;
    Sum sum = {0, 0};
#pragma unroll
    for (u32 k = 0; k < MOST; k++) {
        const u64 i = first + k;
        const u64 shift = i * BITS - 64 * w;
        if (shift < 64 && i < count) {
            const u64 c = coefficients[i], part = c << shift;
            sum.low += part;
            sum.high += (shift > 0 ? c >> (64 - shift) : 0) + (sum.low < part);
        }
    }
    return sum;
}

// The carries of a sum of COUNT positions: into each position, and out of the last. Position k gives a
// carry if bit k of `gives` is set, and passes one on if bit k of `passes` is set; it never does both.
struct Carries {
    u32 into;
    bool out;
};
template <u32 COUNT>
DEVICE Carries carries(u32 gives, u32 passes, bool first) {
    const u64 a = gives | passes, sum = a + gives + first;
    const u64 into = sum ^ passes;
    return {(u32)into, (bool)(into >> COUNT & 1)};
}

// Writes words of rows, `total` in all, without carries from block to block; `blocks` receives what each block
// does with carries.
//
// A row has `points` coefficients, which are those of a number modulo 2^(BITS·points) − 1, that is of W =
// BITS·points/64 words. Of a row, the `length` words from word `from` on are written, `stride` words after
// those of the row before it. Word 0 receives the upper half of the last sum if `around` is set. There is no
// carry into the lowest word of a row, and none out of its highest word unless `around` is set.
extern "C" __global__ void __launch_bounds__(THREADS)
huge_sum(u64* words, u32* blocks, const u64* __restrict__ coefficients, u32 points, u32 from, u32 length, u64 stride,
         u32 total, u32 around) {
    __shared__ u64 high[THREADS + 1];
    __shared__ u32 warp_gives[WARPS], warp_passes[WARPS];
    const u64 at = (u64)blockIdx.x * THREADS + threadIdx.x;
    const u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const bool is_word = at < total;
    const u32 row = is_word ? row_of((u32)at, length) : 0;
    const u32 j = (u32)at - row * length;
    const u64* row_coefficients = coefficients + (u64)row * points;
    Sum own = {0, 0};
    u64 below = 0;
    if (is_word) {
        own = sum_of_word(row_coefficients, points, (u64)from + j);
        if (threadIdx.x == 0 || j == 0) {
            const u32 words_of_ring = (u32)((u64)points * BITS / 64);
            const u32 w = from + j;
            if (w > 0 || around) below = sum_of_word(row_coefficients, points, w > 0 ? w - 1 : words_of_ring - 1).high;
        }
    }
    high[threadIdx.x + 1] = own.high;
    __syncthreads();
    u64 v = own.low;
    if (is_word) v += threadIdx.x == 0 || j == 0 ? below : high[threadIdx.x];
    // The last word of a row neither gives nor passes a carry on.
    const bool is_inner = j + 1 < length || around;
    const u32 gives = __ballot_sync(ALL, v < own.low && is_inner);
    // The words that the last block lacks pass carries on.
    const u32 passes = __ballot_sync(ALL, !is_word || (v == ~0ull && is_inner));
    if (lane == 0) {
        warp_gives[warp] = carries<32>(gives, passes, false).out;
        warp_passes[warp] = passes == ALL;
    }
    __syncthreads();
    u32 all_give = 0, all_pass = 0;
    for (u32 k = 0; k < WARPS; k++) {
        all_give |= warp_gives[k] << k;
        all_pass |= warp_passes[k] << k;
    }
    const Carries of_warps = carries<WARPS>(all_give, all_pass, false);
    v += carries<32>(gives, passes, of_warps.into >> warp & 1).into >> lane & 1;
    if (is_word) words[row * stride + j] = v;
    if (threadIdx.x == 0) {
        constexpr u32 EVERY = WARPS == 32 ? ALL : (1u << WARPS % 32) - 1;
        blocks[blockIdx.x] = (of_warps.out ? GIVES : 0) | (all_pass == EVERY ? PASSES : 0);
    }
}

// Adds the carry into each of `count` blocks of words of `huge_sum`.
extern "C" __global__ void __launch_bounds__(THREADS)
huge_add_carries(u64* words, const u32* __restrict__ blocks, u32 count, u32 length, u64 stride, u32 total) {
    const u32 k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= count || !blocks[k]) return;
    const u32 begin = k * THREADS, row = row_of(begin, length), j = begin - row * length;
    u64* word = words + row * stride + j;
    for (u32 left = min(min(length - j, total - begin), (u32)THREADS); left > 0 && ++*word == 0; left--) word++;
}
