// Transforms of contiguous lines modulo many primes. A block transforms a tile of lines; blockIdx.y is
// the prime.
//
//   KIND        0: x to spectrum, 0 ≤ X < p; 1: spectrum to x; 2: x to the product of x and the vector
//   of a given spectrum
//   BEGIN       input elements are within BEGIN/64·p
//   CANONICAL   whether inverse transforms return 0 ≤ x < p
//   and the macros of f50_tile.cuh with LOG_INNER = 0
//
// A spectrum is stored in the order of the threads: point 16·thread + t of a tile, in reversed order,
// is at t·THREADS + thread. With KIND 0 or 1, elements are multiplied by a factor of the prime.
#include "f50_tile.cuh"

static_assert(LOG_INNER == 0, "rows have neighbours for points");
constexpr u32 LAST = STAGES - LAST_STAGES;

constexpr u32 SPECTRUM = 64;
// The product of an element within this bound and an element of a spectrum is within 2·p².
constexpr u32 PRODUCT_LIMIT = 128 * 64 / SPECTRUM;

// There are `stride` elements of data and `spectrum_stride` elements of spectra for each prime. The
// data are multiplied by `period` tiles of the spectrum in rotation.
extern "C" __global__ void __launch_bounds__(THREADS, blocks(KIND == 2 ? 768 : 1024))
    f50_rows(double* data, const double* spectrum, const F50* fields, const Factor* roots, const Factor* back,
             const Factor* scale, u64 stride, u64 spectrum_stride, u32 period) {
    DYNAMIC_SHARED(double, buffer);
    u32 thread = threadIdx.x, prime = blockIdx.y;
    F50 f = fields[prime];
    double* tile = data + prime * stride + (u64)blockIdx.x * TILE;
    double x[HOLDS];
    if constexpr (KIND != 1) {
        each_point<0, ROUND_STAGES[0]>(thread, [&](u32 t, u32 point) { x[t] = tile[point]; });
        forward<BEGIN>(x, buffer, f, roots + (u64)prime * (1 << STAGES), thread);
    }
    constexpr u32 END = forward_bound(BEGIN, STAGES);
    if constexpr (KIND == 0) {
        Factor w = scale[prime];
        // All threads must have loaded their points before others store theirs.
        __syncthreads();
        if constexpr (END > LIMIT) reduce_all(f, x);
#pragma unroll
        for (u32 t = 0; t < HOLDS; t++) tile[t * THREADS + thread] = canonical(f, mul_by(f, x[t], w));
    } else {
        if constexpr (KIND == 1) {
            Factor w = scale[prime];
#pragma unroll
            for (u32 t = 0; t < HOLDS; t++) x[t] = mul_by(f, tile[t * THREADS + thread], w);
            __syncthreads();
        } else {
            // Prevents loads for the inverse transform from being moved up to here.
            thread = anew(thread);
            const double* by = spectrum + prime * spectrum_stride + (u64)(blockIdx.x % period) * TILE;
            if constexpr (END > PRODUCT_LIMIT) reduce_all(f, x);
#pragma unroll
            for (u32 t = 0; t < HOLDS; t++) x[t] = mul(f, x[t], __ldg(&by[t * THREADS + thread]));
        }
        constexpr u32 BETWEEN = KIND == 1 ? times_factor(BEGIN) : times(END > PRODUCT_LIMIT ? REDUCED : END, SPECTRUM);
        inverse<BETWEEN>(x, buffer, f, back + (u64)prime * (1 << STAGES), thread);
        static_assert(inverse_bound(BETWEEN, 0) <= 128, "within the bound of columns");
        each_point<0, ROUND_STAGES[0]>(thread, [&](u32 t, u32 point) {
            tile[point] = CANONICAL ? canonical(f, x[t]) : x[t];
        });
    }
}
