// Measures memory and launches.
#include "simt.cuh"

// to[i] = from[i] + 1 for i < n; `to` may equal `from`. Each thread has several accesses of 16 bytes in
// flight.
extern "C" __global__ void increment(const ulonglong2* from, ulonglong2* to, u32 n) {
    u32 first = blockIdx.x * THREADS * IN_FLIGHT + threadIdx.x;
    ulonglong2 v[IN_FLIGHT];
#pragma unroll
    for (u32 k = 0; k < IN_FLIGHT; k++) {
        u32 i = first + k * THREADS;
        if (i < n) v[k] = from[i];
    }
#pragma unroll
    for (u32 k = 0; k < IN_FLIGHT; k++) {
        u32 i = first + k * THREADS;
        if (i < n) to[i] = {v[k].x + 1, v[k].y + 1};
    }
}

// The smallest useful kernel: counts its launches.
extern "C" __global__ void count(u64* launches) {
    if (blockIdx.x == 0 && threadIdx.x == 0) launches[0] += 1;
}
