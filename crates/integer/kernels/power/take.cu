// Copies rows of a table with `limbs` limbs: out_i is row d·step + first, with d the `window` bits
// of the exponent of number i from `bit` on; bits beyond the exponent are 0. A thread copies a
// limb.
//
//   THREADS   threads per block
#include "simt.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    take(u32* out, const u32* table, const u32* exponents, u64 e_stride, u32 e_limbs, u32 limbs, u32 bit,
         u32 window, u32 step, u32 first, u32 count) {
    u64 place = (u64)blockIdx.x * THREADS + threadIdx.x, i = place / limbs;
    if (i >= count) return;
    const u32* e = exponents + i * e_stride;
    u32 at = bit / 32;
    u32 lower = at < e_limbs ? e[at] : 0, upper = at + 1 < e_limbs ? e[at + 1] : 0;
    u32 digit = __funnelshift_r(lower, upper, bit % 32) & ((1u << window) - 1);
    out[place] = table[((u64)digit * step + first) * limbs + place % limbs];
}
