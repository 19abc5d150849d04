// Products of spectra, point by point, modulo 2^64 − 2^32 + 1.
//
//   THREADS   threads of a block
#include "goldilocks.cuh"
#include "huge.cuh"

// A row of spectra as a function of the row of the result: ((row >> shift)·times) ^ flip. `map` is shift +
// 2^8·times + 2^16·flip.
DEVICE u64 mapped(u32 row, u32 map) { return (u64)((row >> (map & 255)) * (map >> 8 & 255)) ^ (map >> 16); }

// Rows of `points` points: row i of the result is s·t, or s·t + u·v if there is a u, for the rows of s, t, u
// and v that belong to row first + i. The first row that s contains is row s_from of its operand; the same
// holds for t, u and v. `total` points are computed. The result may be in the place of an operand whose rows
// belong to the same rows of the result.
extern "C" __global__ void __launch_bounds__(THREADS)
huge_products(u64* out, u32 points, u32 total, u32 first, const u64* s, u32 s_map, u32 s_from, const u64* t,
              u32 t_map, u32 t_from, const u64* u, u32 u_map, u32 u_from, const u64* v, u32 v_map, u32 v_from) {
    for (u64 at = (u64)blockIdx.x * THREADS + threadIdx.x; at < total; at += (u64)gridDim.x * THREADS) {
        const u32 row = row_of((u32)at, points);
        const u32 k = (u32)at - row * points;
        const auto point = [&](const u64* x, u32 map, u32 from) {
            return x[(mapped(first + row, map) - from) * points + k];
        };
        u64 product = correct(mul(point(s, s_map, s_from), point(t, t_map, t_from)));
        if (u) {
            const u64 other = correct(mul(point(u, u_map, u_from), point(v, v_map, v_from)));
            product = reduce(add(widen(product), widen(other)));
        }
        out[at] = product;
    }
}
