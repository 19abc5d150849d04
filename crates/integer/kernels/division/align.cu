// Computes 2^s·a, for the divisor or the dividend, with s such that 2^s·v has exactly N limbs and
// its highest bit set. For v = 0 the divisor is 2^(32·N − 1), and the dividend 0.
//
//   THREADS   threads per block; a block processes one number
//
// The bit length of ⌊u/v⌋ is that of u minus that of v, or one more; the larger of these two
// numbers is at most 32·k for quotients of k limbs. So the highest bit of a dividend of N + k limbs
// is 0.
//
// Results have `limbs` limbs, a multiple of 4, like their stride; the divisor has N limbs.
#include "shifted.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    align(const u32* a, u64 a_stride, u32 a_limbs, const u32* v_lengths, u32 v_stride, u32 whole,
          u32 is_divisor, u32* out, u64 out_stride, u32 limbs, u32 count) {
    u64 number = blockIdx.x;
    a += number * a_stride, out += number * out_stride;
    u32 length = v_lengths[number * v_stride], up = 32 * whole - length;
    bool is_zero = length == 0;
    auto limb = [&](i32 i) { return i >= 0 && i < (i32)a_limbs && !is_zero ? a[i] : 0; };
    shift_up(limb, up, limbs, [&](u32 at, Quad quad) {
        if (is_zero && is_divisor && at + 4 == limbs) quad.limbs[3] = 0x80000000u;
        *(Quad*)(out + at) = quad;
    });
}
