// Computes a look-ahead vector, for nodes of the last level K with `odd` odd steps. Bit i says
// whether numbers with T^K(n) ≡ 3^odd·i mod 2^LOOK survive the rules in the next LOOK steps, whose
// limits are in `limits`. A thread computes one word.
//
//   THREADS   threads per block, at least LOOK
//   LOOK      5 to 32
#include "sieve.cuh"

extern "C" __global__ void __launch_bounds__(THREADS)
    sieve_look(u32* vector, const uint4* limits, const uint4* powers, u32 odd) {
    __shared__ u32 descent[LOOK], run[LOOK], preimage[LOOK];
    if (threadIdx.x < LOOK) {
        uint4 l = limits[threadIdx.x];
        descent[threadIdx.x] = l.x;
        run[threadIdx.x] = l.y;
        preimage[threadIdx.x] = l.z;
    }
    __syncthreads();
    u32 word = blockIdx.x * THREADS + threadIdx.x;
    if (word >= 1u << (LOOK - 5)) return;
    u32 power = powers[odd].x, residue = power * (32 * word), left = 0;
    for (u32 bit = 0; bit < 32; bit++, residue += power) {
        u32 x = residue, o = odd;
        Pattern pattern = {0, NO_ODD};
        bool dead = false;
        for (u32 j = 0; j < LOOK && !dead; j++) {
            Limits l = {descent[j], run[j], preimage[j]};
            if (x & 1) {
                pattern.odd(o, l);
                o++;
                // Mod 2^32; only the lowest LOOK − j bits count.
                x += (x >> 1) + 1;
            } else {
                dead = pattern.even(o, l);
                x >>= 1;
            }
        }
        left |= (u32)!dead << bit;
    }
    vector[word] = left;
}
