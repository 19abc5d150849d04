// Loads and stores of four limbs, or two, at addresses that are multiples of 16 or 8 bytes.
#pragma once
#include "ptx.cuh"

struct __align__(16) Quad {
    u32 limbs[4];
};
struct __align__(8) Pair {
    u32 limbs[2];
};

// N limbs, a multiple of four.
template <u32 N>
DEVICE void read(u32 (&x)[N], const u32* from) {
#pragma unroll
    for (u32 t = 0; t < N; t += 4) {
        Quad quad = *(const Quad*)(from + t);
#pragma unroll
        for (u32 i = 0; i < 4; i++) x[t + i] = quad.limbs[i];
    }
}
template <u32 N>
DEVICE void write(u32* to, const u32 (&x)[N]) {
#pragma unroll
    for (u32 t = 0; t < N; t += 4) *(Quad*)(to + t) = {{x[t], x[t + 1], x[t + 2], x[t + 3]}};
}
