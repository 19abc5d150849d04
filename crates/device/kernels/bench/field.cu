// Measures field operations per clock of a multiprocessor: one block on each, all data in registers,
// clocks counted by thread 0.
#include "dft.cuh"

// A multiple of q, in units of q, that makes all outputs of a transform positive.
constexpr u32 BIAS = 4096;

// Runs the work of every thread between two readings of the clock.
template <class F>
DEVICE void timed(u64* cycles, F work) {
    __syncthreads();
    i64 start = clock64();
    work();
    __syncthreads();
    if (threadIdx.x == 0) cycles[blockIdx.x] = (u64)(clock64() - start);
}

#if defined(CHAINS)

// out[i] = (i + 1)·factor^(TURN·turns): chains of products, each of which depends on the one before it.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
products(u64* out, u64* cycles, u64 factor, u32 turns) {
    const u32 first = (blockIdx.x * THREADS + threadIdx.x) * CHAINS;
    u64 x[CHAINS];
    unrolled<0, CHAINS>([&](auto c) { x[VALUE(c)] = first + VALUE(c) + 1; });
    timed(cycles, [&] {
#pragma unroll 1
        for (u32 n = 0; n < turns; n++) {
            unrolled<0, TURN>([&](auto) {
                unrolled<0, CHAINS>([&](auto c) { x[VALUE(c)] = correct(mul(x[VALUE(c)], factor)); });
            });
        }
    });
    unrolled<0, CHAINS>([&](auto c) { out[first + VALUE(c)] = x[VALUE(c)]; });
}

#else

// out[RADIX·thread ..] = the transform of RADIX points, applied `turns` times, of the numbers from
// RADIX·thread + 1 on.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
transforms(u64* out, u64* cycles, u32 turns) {
    const u32 first = (blockIdx.x * THREADS + threadIdx.x) * RADIX;
    Wide x[RADIX];
    unrolled<0, RADIX>([&](auto j) { x[VALUE(j)] = widen(first + VALUE(j) + 1); });
    timed(cycles, [&] {
#pragma unroll 1
        for (u32 n = 0; n < turns; n++) {
            x[0] = biased<BIAS>(x[0]);
            dft<RADIX>(x);
            unrolled<0, RADIX>([&](auto k) { x[VALUE(k)] = widen(reduce(x[VALUE(k)])); });
        }
    });
    unrolled<0, RADIX>([&](auto k) { out[first + VALUE(k)] = join(x[VALUE(k)].w0, x[VALUE(k)].w1); });
}

#endif
