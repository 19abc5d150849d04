// Computes 2^(2t)·a with t such that the result has exactly `limbs` limbs and its highest two bits
// are not both 0; for a = 0, 2^(32·limbs − 2).
//
//   THREADS   threads per block; a block processes one number
//
// `limbs`, which is also the stride of results, is a multiple of 8.
#include "shifted.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    root_align(const u32* a, u64 a_stride, u32 a_limbs, const u32* lengths, u32* out, u32 limbs, u32 count) {
    u64 number = blockIdx.x;
    a += number * a_stride, out += number * limbs;
    u32 length = lengths[number], up = 32 * limbs - (length + 1) / 2 * 2;
    auto limb = [&](i32 i) { return i >= 0 && i < (i32)a_limbs ? a[i] : 0; };
    shift_up(limb, up, limbs, [&](u32 at, Quad quad) {
        if (length == 0 && at + 4 == limbs) quad.limbs[3] = 0x40000000u;
        *(Quad*)(out + at) = quad;
    });
}
