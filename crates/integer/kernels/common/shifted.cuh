// Numbers shifted up by any number of bits, four limbs at a time.
//
//   THREADS   threads per block; a block processes one number
#pragma once
#include "quad.cuh"

// Calls put(at, limbs at … at + 3) for 2^up·a, with `limbs` limbs, a multiple of 4. limb(i) is limb
// i of a, and 0 outside a, above and below.
template <class Limb, class Put>
DEVICE void shift_up(Limb limb, u32 up, u32 limbs, Put put) {
    for (u32 at = threadIdx.x * 4; at < limbs; at += THREADS * 4) {
        i32 from = (i32)at - (i32)(up / 32);
        u32 lower = limb(from - 1);
        Quad quad;
#pragma unroll
        for (i32 t = 0; t < 4; t++) {
            u32 upper = limb(from + t);
            quad.limbs[t] = __funnelshift_l(lower, upper, up % 32);
            lower = upper;
        }
        put(at, quad);
    }
}
