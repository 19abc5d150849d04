// Four limbs, which move at once, from and to addresses that are multiples of 16 bytes.
#pragma once
#include "ptx.cuh"

struct __align__(16) Quad {
    u32 limbs[4];
};
