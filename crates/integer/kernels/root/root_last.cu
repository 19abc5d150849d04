// Computes a root and its remainder from a, a root that may be 1 too large, and its square.
//
//   THREADS   threads per block; a block processes one number
//
// B = 2^32. Roots have R limbs, and N ≥ R is the next multiple of 4: a − s² is at most 2s, and at
// least −2s + 1. The kernel computes its lowest N limbs, and from limb N of a and of s² the part
// above them, −2 ≤ z ≤ 1. If that is negative, 2s − 1 is added, and 1 subtracted from s.
#include "pass.cuh"
#include "root_less.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    root_last(const u32* a, u64 a_stride, u32 a_limbs, u32* roots, u32 root_stride, const u32* squares, u32* rests,
              u32* root, u32* remainder, u32 root_limbs, u32 count) {
    u64 number = blockIdx.x;
    u32 limbs = (root_limbs + 3) / 4 * 4;
    a += number * a_stride, roots += number * root_stride, squares += number * 2 * root_stride;
    rests += number * limbs;
    auto limb = [&](u32 i) { return i < a_limbs ? a[i] : 0; };
    for (u32 at = threadIdx.x; at < limbs; at += THREADS) rests[at] = limb(at);
    __syncthreads();
    i32 above = (i32)(limb(limbs) - squares[limbs]) - 1;
    above += pass(rests, limbs, {nullptr, 0, 0, squares, 0, 1});
    if (above < 0) {
        take_one(roots);
        above += pass(rests, limbs, {roots, 2, 0, nullptr, 0, 1});
    }
    if (root) {
        root += number * root_limbs;
        for (u32 at = threadIdx.x; at < root_limbs; at += THREADS) root[at] = roots[at];
    }
    if (remainder) {
        remainder += number * (root_limbs + 1);
        for (u32 at = threadIdx.x; at <= root_limbs; at += THREADS) {
            remainder[at] = at < limbs ? rests[at] : above;
        }
    }
}
