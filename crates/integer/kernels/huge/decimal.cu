// Groups of 19 decimal digits, from and to short numbers. A thread converts a row.
//
//   THREADS   threads of a block
//   MOST      the largest number of words of a row
#include "huge.cuh"

constexpr u64 TEN_19 = 10000000000000000000ull;
// Fractions within this distance of 0 or 1, in units of 2^−64, are too near to tell on which side they are.
constexpr u64 MARGIN = 1 << 12;

// Returns the lower half of a·TEN_19 + carry; carry ← the upper half.
DEVICE u64 times_ten_19(u64 a, u64& carry) {
    const u64 low = a * TEN_19, sum = low + carry;
    carry = __umul64hi(a, TEN_19) + (sum < low);
    return sum;
}

// Splits fractions f/2^(64·length) into groups of digits: group k of a row is ⌊f·10^(19·(k + 1))⌋ mod 10^19. Row i
// has `length` words, from word i·length on, and `count` groups, from group i·count on. Writes 1 to `unclear` if the
// fraction that is left of a row is too near to 0 or 1.
extern "C" __global__ void __launch_bounds__(THREADS)
huge_to_groups(u64* groups, u32* unclear, const u64* __restrict__ rows, u32 length, u32 count, u32 total) {
    const u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= total) return;
    u64 f[MOST];
    for (u32 w = 0; w < length; w++) f[w] = rows[(u64)i * length + w];
    for (u32 k = 0; k < count; k++) {
        u64 carry = 0;
        for (u32 w = 0; w < length; w++) f[w] = times_ten_19(f[w], carry);
        groups[(u64)i * count + k] = carry;
    }
    const u64 top = f[length - 1];
    if (top < MARGIN || top >= ~0ull - MARGIN) *unclear = 1;
}

// Writes the numbers of `count` groups of digits each to rows of `length` words, which have room for them. The
// groups are in order of decreasing significance, from the last row to the first.
extern "C" __global__ void __launch_bounds__(THREADS)
huge_from_groups(u64* rows, const u64* __restrict__ groups, u32 length, u32 count, u32 total) {
    const u32 i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= total) return;
    u64 x[MOST];
    for (u32 w = 0; w < length; w++) x[w] = 0;
    for (u32 k = 0; k < count; k++) {
        u64 carry = groups[(u64)(total - 1 - i) * count + k];
        for (u32 w = 0; w < length; w++) x[w] = times_ten_19(x[w], carry);
    }
    for (u32 w = 0; w < length; w++) rows[(u64)i * length + w] = x[w];
}

// Copies `length` words of each of `rows` rows, from word `from` on. Rows are `stride` and `out_stride` words apart.
extern "C" __global__ void __launch_bounds__(THREADS)
huge_copy_rows(u64* out, u64 out_stride, const u64* __restrict__ x, u64 stride, u32 from, u32 length, u32 total) {
    for (u64 at = (u64)blockIdx.x * THREADS + threadIdx.x; at < total; at += (u64)gridDim.x * THREADS) {
        const u32 row = row_of((u32)at, length), j = (u32)at - row * length;
        out[row * out_stride + j] = x[row * stride + from + j];
    }
}
