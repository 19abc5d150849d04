// Copies numbers to and from a table of powers of a batch. Entry k of number i has `limbs` limbs
// and begins at index (k·count + i)·limbs. A block copies a number.
//
//   KEEP      1: numbers become entry `entry`; 0: numbers are taken, each from the entry that is the
//             number of `window` bits of its exponent from `bit` on
//   THREADS   threads per block
#include "simt.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    powers(u32* numbers, u32* table, const u32* exponents, u64 e_stride, u32 e_limbs, u32 limbs, u32 entry,
           u32 bit, u32 window, u32 count) {
    u64 i = blockIdx.x;
    if (!KEEP) {
        const u32* e = exponents + i * e_stride;
        u32 at = bit / 32, upper = at + 1 < e_limbs ? e[at + 1] : 0;
        entry = __funnelshift_r(e[at], upper, bit % 32) & ((1u << window) - 1);
    }
    u32 *number = numbers + i * limbs, *kept = table + (entry * (u64)count + i) * limbs;
    for (u32 j = threadIdx.x; j < limbs; j += THREADS) {
        if (KEEP) {
            kept[j] = number[j];
        } else {
            number[j] = kept[j];
        }
    }
}
