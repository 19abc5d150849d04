// Addition of registers, word by word.
#include "simt.cuh"

// Returns the bits of word j, ⌈p(j+1)/N⌉ − ⌈pj/N⌉.
DEVICE u32 bits_of(u64 p, u64 n, u64 j) {
    return (u32)((p * (j + 1) + n - 1) / n - (p * j + n - 1) / n);
}

// Returns the multiple of 2^bits nearest to v, divided by 2^bits.
DEVICE i64 carry_of(i64 v, u32 bits) { return (v + (1ll << (bits - 1))) >> bits; }

// Sets `out` to the digits of a + sign·b, of n words mod 2^p − 1; `out` must differ from a and b.
// Carries are −1, 0 or 1 for balanced digits, and a few units for others. A carry is added to the
// next word and goes no further.
extern "C" __global__ void combine(i32* __restrict__ out, const i32* __restrict__ a,
                                   const i32* __restrict__ b, i32 sign, u32 p, u32 n) {
    u32 j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    u32 before = j == 0 ? n - 1 : j - 1;
    i64 v = (i64)a[j] + (i64)sign * b[j];
    i64 w = (i64)a[before] + (i64)sign * b[before];
    u32 bits = bits_of(p, n, j);
    out[j] = (i32)(v - (carry_of(v, bits) << bits) + carry_of(w, bits_of(p, n, before)));
}
