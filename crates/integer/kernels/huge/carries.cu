// The carries between blocks of words, which other kernels have added (carry.cu, sum.cu).
//
//   THREADS   threads of a block, and words of such a block
#include "carry.cuh"

// Replaces what each of `count` blocks does with a carry by the carry into the block. One block of threads.
extern "C" __global__ void __launch_bounds__(THREADS)
huge_carries(u32* blocks, u32 count, u32 first) {
    const u32 share = (count + THREADS - 1) / THREADS;
    const u32 begin = min(count, threadIdx.x * share), end = min(count, begin + share);
    u32 all = PASSES;
    for (u32 k = begin; k < end; k++) {
        const u32 next = blocks[k];
        all = (next & GIVES) | (next & PASSES ? all & GIVES : 0) | (next & all & PASSES);
    }
    bool carry = carry_within_block(all & GIVES, all & PASSES, nullptr, first);
    for (u32 k = begin; k < end; k++) {
        const u32 next = blocks[k];
        blocks[k] = carry;
        carry = (next & GIVES) || (carry && (next & PASSES));
    }
}

// Adds the carry into each of `count` blocks of words to rows of `length` words, `stride` words apart, of which
// there are `total` words. A warp adds the carry of a block, to 32 words at a time: sums that are zero but for
// their carries have long runs of words that pass them on.
extern "C" __global__ void __launch_bounds__(THREADS)
huge_add_carries(u64* words, const u32* __restrict__ blocks, u32 count, u32 length, u64 stride, u32 total) {
    const u32 k = (blockIdx.x * THREADS + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (k >= count || !blocks[k]) return;
    const u32 begin = k * THREADS, row = row_of(begin, length), j = begin - row * length;
    u64* word = words + row * stride + j;
    const u32 left = min(min(length - j, total - begin), (u32)THREADS);
    for (u32 at = lane; at - lane < left; at += 32) {
        const u64 v = at < left ? word[at] : 0;
        // The carry reaches the words up to the first that is not all ones.
        const u32 stops = __ballot_sync(ALL, v != ~0ull), reached = stops ^ (stops - 1);
        if (at < left && (reached >> lane & 1)) word[at] = v + 1;
        if (stops) return;
    }
}
