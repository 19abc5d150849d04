// Computes the dividend that gives h more limbs of a root s' of h limbs (Zimmermann 1999, Karatsuba
// square root): r'·b + a1 with b = 2^(32·h), a1 the next h limbs of a, and r' ≤ 2s' the remainder
// of the root. If r' ≥ b, as limb h of its row shows, s' is subtracted first, so that it has h
// limbs.
//
//   THREADS   threads per block; a block processes one number
//
// h is a multiple of 4, as all strides are.
#include "pass.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    root_dividend(const u32* rests, u64 rest_stride, const u32* a1, u64 a_stride, const u32* roots, u32* out,
                  u32 half, u32 count) {
    u64 number = blockIdx.x;
    rests += number * rest_stride, a1 += number * a_stride, roots += number * half;
    out += number * 2 * half;
    for (u32 at = threadIdx.x * 4; at < 2 * half; at += THREADS * 4) {
        *(Quad*)(out + at) = *(const Quad*)(at < half ? a1 + at : rests + at - half);
    }
    __syncthreads();
    if (rests[half] != 0) pass(out + half, half, {nullptr, 0, 0, roots, 0, 1});
}
