// Transforms of the digits of elements, by which gfn_residues.cuh multiplies: value n modulo q_i, times
// 1/k, of element j is at (i·k + n)·count + j.
//
//   SCALE     1/k modulo each prime, as Factors
//   THREADS   threads of a block
//
// and the macros of gfn_residues.cuh. Digit d of element j is word d·count + j.
#include "gfn_residues.cuh"

__device__ const Factor BY[3] = SCALE;

extern "C" __global__ void __launch_bounds__(THREADS)
    spectra(const u64* __restrict__ elements, double* __restrict__ out, const Factor* __restrict__ roots,
            u64 count) {
    u32 lane = threadIdx.x % 32, g = lane % TEAM;
    u64 thread = (u64)blockIdx.x * THREADS + threadIdx.x, j = thread / TEAM;
    bool is_needed = j < count;
#pragma unroll 1
    for (u32 prime = 0; prime < 3; prime++) {
        F50 f = FIELD[prime];
        double x[HELD];
#pragma unroll
        for (u32 i = 0; i < HELD; i++) {
            x[i] = is_needed ? from_word(f, elements[(g + TEAM * i) * count + j]) : 0.0;
        }
        forward(x, f, roots + 2 * DIGITS * prime, lane);
#pragma unroll
        for (u32 i = 0; i < HELD; i++) {
            u64 place = prime * DIGITS + place_in_runs(i, lane);
            if (is_needed) out[place * count + j] = mul_by(f, x[i], BY[prime]);
        }
    }
}
