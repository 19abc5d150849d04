// Reorders the spectra of f50_rows.cu to natural order.
//
//   LOG_POINTS   a transform has N = 2^LOG_POINTS points
//   LOG_TILE     a tile of rows has 2^LOG_TILE points
//   THREADS      threads of a block
#include "simt.cuh"

// Writes X_i of vector b to b·N + i, `count` elements for each prime, blockIdx.y; `stride` elements per
// prime in both arrays.
extern "C" __global__ void __launch_bounds__(THREADS)
    order(double* to, const double* from, u64 stride, u64 count) {
    u64 i = (u64)blockIdx.x * THREADS + threadIdx.x, prime = blockIdx.y;
    if (i >= count) return;
    u64 point = i >> LOG_POINTS << LOG_POINTS | __brev((u32)(i % (1 << LOG_POINTS))) >> (32 - LOG_POINTS);
    u64 tile = point >> LOG_TILE << LOG_TILE, within = point % (1 << LOG_TILE);
    u64 place = tile + (within % 16 << (LOG_TILE - 4)) + within / 16;
    to[prime * stride + i] = from[prime * stride + place];
}
