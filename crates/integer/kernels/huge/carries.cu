// The carries between blocks of words, which other kernels have added (carry.cu, sum.cu).
//
//   THREADS   threads of a block, and words of such a block
#include "huge.cuh"

// Where the carry into the lowest word comes from: there is none, or it is 1, or it comes from the highest word.
constexpr u32 ONE = 1, AROUND = 2;

// Replaces what each of `count` blocks does with a carry by the carry into the block. One block of threads.
extern "C" __global__ void __launch_bounds__(THREADS)
huge_carries(u32* blocks, u32 count, u32 first) {
    __shared__ u32 done[THREADS];
    const u32 share = (count + THREADS - 1) / THREADS;
    const u32 begin = min(count, threadIdx.x * share), end = min(count, begin + share);
    u32 all = PASSES;
    for (u32 k = begin; k < end; k++) {
        const u32 next = blocks[k];
        all = (next & GIVES) | (next & PASSES ? all & GIVES : 0) | (next & all & PASSES);
    }
    done[threadIdx.x] = all;
    __syncthreads();
    if (threadIdx.x == 0) {
        u32 carry = first == ONE;
        if (first == AROUND) {
            for (u32 t = 0; t < THREADS; t++) carry = (done[t] & GIVES) || (carry && (done[t] & PASSES));
        }
        for (u32 t = 0; t < THREADS; t++) {
            const u32 out = (done[t] & GIVES) || (carry && (done[t] & PASSES));
            done[t] = carry;
            carry = out;
        }
    }
    __syncthreads();
    u32 carry = done[threadIdx.x];
    for (u32 k = begin; k < end; k++) {
        const u32 next = blocks[k];
        blocks[k] = carry;
        carry = (next & GIVES) || (carry && (next & PASSES));
    }
}

// Adds the carry into each of `count` blocks of words to rows of `length` words, `stride` words apart, of which
// there are `total` words.
extern "C" __global__ void __launch_bounds__(THREADS)
huge_add_carries(u64* words, const u32* __restrict__ blocks, u32 count, u32 length, u64 stride, u32 total) {
    const u32 k = blockIdx.x * THREADS + threadIdx.x;
    if (k >= count || !blocks[k]) return;
    const u32 begin = k * THREADS, row = row_of(begin, length), j = begin - row * length;
    u64* word = words + row * stride + j;
    for (u32 left = min(min(length - j, total - begin), (u32)THREADS); left > 0 && ++*word == 0; left--) word++;
}
