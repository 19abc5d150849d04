// Computes the lower limbs of a root from a quotient (Zimmermann 1999, Karatsuba square root).
//
//   LAST      0: these limbs alone; 1: the whole root of the aligned number, shifted down as far as that was up
//             (root_align.cu)
//   THREADS   threads per block; a block processes one number
//
// b = 2^(32·h). The input is the quotient by s' of r'·b + a1, minus s'·b if limb h of the row of r'
// is 1. With that added back, the quotient by s' is less than 2b + 2, and the quotient by 2s', half
// of it, at most b. If it is b, the root is s'·b + b − 1; otherwise it is s'·b plus the quotient,
// or one less (root_correct.cu).
#include "ptx.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    root_lower(const u32* quotients, const u32* rests, u64 rest_stride, const u32* roots, const u32* lengths,
               u32* out, u32 half, u32 count) {
    u64 number = blockIdx.x;
    quotients += number * 2 * half, rests += number * rest_stride, roots += number * half;
    u32 top = quotients[half] + rests[half];
    auto lower = [&](u32 i) {
        u32 above = i + 1 < half ? quotients[i + 1] : top;
        return top > 1 ? 0xffffffffu : __funnelshift_r(quotients[i], above, 1);
    };
    if constexpr (LAST) {
        u32 limbs = 2 * half, down = 32 * limbs - (lengths[number] + 1) / 2;
        auto limb = [&](u32 i) { return i < half ? lower(i) : i < limbs ? roots[i - half] : 0; };
        for (u32 at = threadIdx.x; at < limbs; at += THREADS) {
            u32 from = at + down / 32;
            out[number * limbs + at] = __funnelshift_r(limb(from), limb(from + 1), down % 32);
        }
    } else {
        for (u32 at = threadIdx.x; at < half; at += THREADS) out[number * half + at] = lower(at);
    }
}
