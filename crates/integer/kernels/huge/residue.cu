// The residues of numbers modulo 2^61 − 1.
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

// Writes `parts` sums for each of `rows` rows of `length` words, `stride` words apart. A sum is of words
// w_i·2^(64·i), reduced modulo 2^61 − 1 to less than 2^62. Since 2^64 ≡ 2^3, the factor of word i is 2^(3·i mod
// 61). A sum is computed by `group` threads of a block, a power of two up to THREADS.
extern "C" __global__ void __launch_bounds__(THREADS)
huge_residue(u64* sums, const u64* __restrict__ words, u64 length, u64 stride, u32 rows, u32 parts, u32 group) {
    __shared__ u64 of_thread[THREADS];
    const u32 lane = threadIdx.x % group;
    const u64 place = (u64)blockIdx.x * (THREADS / group) + threadIdx.x / group;
    const u64 row = place / parts;
    const u64 apart = (u64)parts * group, begin = place % parts * group + lane;
    const u32 step = (u32)(3 * (apart % 61) % 61);
    u32 e = (u32)(3 * (begin % 61) % 61);
    u64 sum = 0;
    if (row < rows) {
        for (u64 i = begin; i < length; i += apart) {
            sum = folded(sum + shifted(folded(words[row * stride + i]), e));
            e += step;
            if (e >= 61) e -= 61;
        }
    }
    of_thread[threadIdx.x] = sum;
    for (u32 half = group / 2; half > 0; half /= 2) {
        __syncthreads();
        if (lane < half) of_thread[threadIdx.x] = folded(of_thread[threadIdx.x] + of_thread[threadIdx.x + half]);
    }
    if (lane == 0 && row < rows) sums[place] = of_thread[threadIdx.x];
}
