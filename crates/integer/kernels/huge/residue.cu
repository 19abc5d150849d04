// The residue of a number modulo 2^61 − 1.
//
//   THREADS   threads of a block, a power of two
#include "simt.cuh"

constexpr u64 PRIME = (1ull << 61) - 1;

// Returns a number congruent to a, at most 2^61 + 6.
DEVICE u64 folded(u64 a) { return (a & PRIME) + (a >> 61); }

// Returns a·2^e modulo PRIME for a ≤ 2^61 + 6 and e < 61.
DEVICE u64 shifted(u64 a, u32 e) {
    a = folded(a);
    if (a >= PRIME) a -= PRIME;
    return e == 0 ? a : folded((a << e & PRIME) + (a >> (61 - e)));
}

// Writes for each block the sum of its words w_i·2^(64·i), reduced modulo 2^61 − 1 to less than 2^62. Since
// 2^64 ≡ 2^3, the factor of word i is 2^(3·i mod 61).
extern "C" __global__ void __launch_bounds__(THREADS)
huge_residue(u64* sums, const u64* __restrict__ words, u64 length) {
    __shared__ u64 of_thread[THREADS];
    const u64 apart = (u64)gridDim.x * THREADS, begin = (u64)blockIdx.x * THREADS + threadIdx.x;
    const u32 step = (u32)(3 * (apart % 61) % 61);
    u32 e = (u32)(3 * (begin % 61) % 61);
    u64 sum = 0;
    for (u64 i = begin; i < length; i += apart) {
        sum = folded(sum + shifted(folded(words[i]), e));
        e += step;
        if (e >= 61) e -= 61;
    }
    of_thread[threadIdx.x] = sum;
    for (u32 half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) of_thread[threadIdx.x] = folded(of_thread[threadIdx.x] + of_thread[threadIdx.x + half]);
    }
    if (threadIdx.x == 0) sums[blockIdx.x] = of_thread[0];
}
