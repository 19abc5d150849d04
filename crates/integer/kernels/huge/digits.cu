// Splits numbers into digits of BITS bits: digit i is ⌊x / 2^(BITS·i)⌋ mod 2^BITS.
//
//   BITS      below 64
//   THREADS   threads of a block
#include "huge.cuh"

// Writes the lowest `points` digits of each row, `total` digits in all. A row is a number of `length` words,
// `stride` words after the row before it.
extern "C" __global__ void __launch_bounds__(THREADS)
huge_digits(u64* digits, const u64* __restrict__ words, u32 length, u64 stride, u32 points, u32 total) {
    for (u64 at = (u64)blockIdx.x * THREADS + threadIdx.x; at < total; at += (u64)gridDim.x * THREADS) {
        const u32 row = row_of((u32)at, points);
        const u64 bit = (at - (u64)row * points) * BITS, w = bit / 64;
        const u64* x = words + row * stride;
        const u32 shift = (u32)(bit % 64);
        u64 v = w < length ? x[w] >> shift : 0;
        if (shift + BITS > 64 && w + 1 < length) v |= x[w + 1] << (64 - shift);
        digits[at] = v & ((1ull << BITS) - 1);
    }
}
