// Computes a root and its remainder from a root that may be 1 too large and its square (Zimmermann
// 1999, Karatsuba square root): if a − s² is negative, 2s − 1 is added, and 1 subtracted from s.
//
//   THREADS   threads per block; a block processes one number
//
// b = 2^(32·h). The root is s = s'·b + l, and u is the remainder of the division by s'
// (root_lower.cu), so
//
//     a − s² = (u + o·s')·b + a0 − l²,
//
// where o is 1 for an odd quotient by s', plus 2 if the quotient by 2s' is b, for which l is b − 1
// instead. The remainder is at most 2s: limb 2h of its row is 0 or 1.
//
// h is a multiple of 4, as all strides are.
#include "pass.cuh"
#include "root_less.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    root_correct(const u32* remainders, const u32* a0, u64 a_stride, const u32* upper, const u32* lower,
                const u32* squares, const u32* quotients, const u32* rests, u64 rest_stride, u32* out,
                u64 out_stride, u32* roots, u32 half, u32 count) {
    u64 number = blockIdx.x;
    u32 limbs = 2 * half;
    remainders += number * half, a0 += number * a_stride, upper += number * half, lower += number * half;
    squares += number * limbs, quotients += number * limbs, rests += number * rest_stride;
    out += number * out_stride, roots += number * limbs;
    for (u32 at = threadIdx.x * 4; at < limbs; at += THREADS * 4) {
        *(Quad*)(out + at) = *(const Quad*)(at < half ? a0 + at : remainders + at - half);
        *(Quad*)(roots + at) = *(const Quad*)(at < half ? lower + at : upper + at - half);
    }
    u32 times = (quotients[0] & 1) + (quotients[half] + rests[half] > 1 ? 2 : 0);
    __syncthreads();
    i32 beyond = -1;
    if (times > 0) beyond += pass(out + half, half, {upper, times, 0, nullptr, 0, 0});
    beyond += pass(out, limbs, {nullptr, 0, 0, squares, 0, 1});
    if (beyond < 0) {
        take_one(roots);
        beyond += pass(out, limbs, {roots, 2, 0, nullptr, 0, 1});
    }
    if (threadIdx.x == 0) out[limbs] = beyond;
}
