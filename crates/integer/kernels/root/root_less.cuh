// A root that was 1 too large.
#pragma once
#include "simt.cuh"

// Takes 1 from a number that is not 0, for all threads of its block.
DEVICE void take_one(u32* x) {
    if (threadIdx.x == 0) {
        while ((*x)-- == 0) x++;
    }
    __syncthreads();
}
