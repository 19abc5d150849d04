// Writes the results of a division of aligned numbers: the digits of the quotient extended by
// zeros, and the remainder divided by 2^s (see align.cu). Where v is 0 both are 0 already, since u
// was replaced by 0.
//
//   THREADS   threads per block; a block processes one number
//
// Results are contiguous; each is optional. EXACT quotients with a remainder are flagged and 0,
// like quotients by 0.
#include "quad.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    unalign(const u32* digits, u64 digits_stride, u32 digits_limbs, const u32* rests, u64 rests_stride,
            u32 whole, const u32* v_lengths, u32 v_stride, u32* quotient, u32 quotient_limbs,
            u32* remainder, u32 remainder_limbs, unsigned char* flags, u32 exact, u32 count) {
    u64 number = blockIdx.x;
    digits += number * digits_stride, rests += number * rests_stride;
    u32 length = v_lengths[number * v_stride], down = 32 * whole - length;
    bool is_flagged = length == 0;
    if (exact) {
        u32 any = 0;
        for (u32 at = threadIdx.x * 4; at < whole; at += THREADS * 4) {
            Quad quad = *(const Quad*)(rests + at);
            any |= quad.limbs[0] | quad.limbs[1] | quad.limbs[2] | quad.limbs[3];
        }
        is_flagged = __syncthreads_or(any != 0) || is_flagged;
    }
    if (flags && threadIdx.x == 0) flags[number] = is_flagged;
    if (quotient) {
        quotient += number * quotient_limbs;
        for (u32 at = threadIdx.x; at < quotient_limbs; at += THREADS) {
            quotient[at] = at < digits_limbs && !is_flagged ? digits[at] : 0;
        }
    }
    if (remainder) {
        remainder += number * remainder_limbs;
        auto limb = [&](u32 i) { return i < whole && !is_flagged ? rests[i] : 0; };
        for (u32 at = threadIdx.x; at < remainder_limbs; at += THREADS) {
            u32 from = at + down / 32;
            remainder[at] = __funnelshift_r(limb(from), limb(from + 1), down % 32);
        }
    }
}
