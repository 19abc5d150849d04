// The carries between blocks of words (carry.cu).
//
//   THREADS   threads of the block
#include "huge.cuh"

// Replaces what each of `count` blocks does with a carry by the carry into the block. With `around`, the carry out
// of the last block is the carry into the first. One block of threads.
extern "C" __global__ void __launch_bounds__(THREADS)
huge_carries(u32* blocks, u32 count, u32 around) {
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
        u32 carry = 0;
        if (around) {
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
