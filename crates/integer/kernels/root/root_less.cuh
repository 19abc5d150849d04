// Correction of a root that was 1 too large.
#pragma once
#include "simt.cuh"

// Subtracts 1 from a number that is not 0; called by all threads of its block.
DEVICE void take_one(u32* x) {
    if (threadIdx.x == 0) {
        while ((*x)-- == 0) x++;
    }
    __syncthreads();
}
