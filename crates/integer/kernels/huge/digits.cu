// Splits a number into digits of BITS bits: digit i is ⌊x / 2^(BITS·i)⌋ mod 2^BITS.
//
//   BITS      below 64
//   THREADS   threads of a block
#include "simt.cuh"

// Writes the lowest `count` digits of the number of `length` words.
extern "C" __global__ void __launch_bounds__(THREADS)
huge_digits(u64* digits, const u64* __restrict__ words, u64 length, u64 count) {
    for (u64 i = (u64)blockIdx.x * THREADS + threadIdx.x; i < count; i += (u64)gridDim.x * THREADS) {
        const u64 bit = i * BITS, w = bit / 64;
        const u32 shift = (u32)(bit % 64);
        u64 v = w < length ? words[w] >> shift : 0;
        if (shift + BITS > 64 && w + 1 < length) v |= words[w + 1] << (64 - shift);
        digits[i] = v & ((1ull << BITS) - 1);
    }
}
