// Products of elements of Z/pZ, p = r^k + 1: out[j] = a[f(j)]·b[g(j)].
//
//   TABLE   0: f(j) = g(j) = j
//           1: twiddles ω^e for e = (j mod 2^log_points)·⌊j/2^log_points⌋·2^log_apart, from powers of ω:
//              f(j) = ⌊e/2^log_low⌋ mod 2^log_high in a, g(j) = e mod 2^log_low in b
//
// and the macros of gfn_tile.cuh, with one point. Digit d of element j is word d·stride + j.
#include "gfn_tile.cuh"

extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS)
    product(const u64* a, const u64* b, u64* out, u64 a_stride, u64 b_stride, u64 stride, u32 log_points,
            u32 log_apart, u32 log_low, u32 log_high, u64 count) {
    DYNAMIC_SHARED(u32, shared);
    Tile tile = {shared};
    u64 first = (u64)blockIdx.x * ELEMENTS;
    auto exponent = [&](u64 j) -> u64 {
        return ((j & ((1u << log_points) - 1)) * (j >> log_points)) << log_apart;
    };
    auto in_a = [&](u64 j) -> u64 {
        return TABLE ? exponent(j) >> log_low & ((1u << log_high) - 1) : j;
    };
    auto in_b = [&](u64 j) -> u64 { return TABLE ? exponent(j) & ((1u << log_low) - 1) : j; };
    // Beyond the last element, the last element is computed again, and not written.
    auto place_in_batch = [&](u32 e) { return min(first + e, count - 1); };
    if constexpr (BLOCK == DIGITS) {
#pragma unroll 1
        for (u32 e = threadIdx.x; e < ELEMENTS; e += THREADS) {
            u64 j = place_in_batch(e), from_a = in_a(j), from_b = in_b(j);
            u64 x[DIGITS], y[DIGITS];
#pragma unroll
            for (u32 d = 0; d < DIGITS; d++) {
                x[d] = a[d * a_stride + from_a];
                y[d] = b[d * b_stride + from_b];
            }
            multiply_element(tile, e, x, y);
        }
    } else {
#pragma unroll 8
        for (u32 t = threadIdx.x; t < ELEMENTS * DIGITS; t += THREADS) {
            u32 e = t % ELEMENTS, d = t / ELEMENTS;
            tile.put_digit(d, e, a[d * a_stride + in_a(place_in_batch(e))]);
        }
    }
    if constexpr (BLOCK < DIGITS) {
        __syncthreads();
        auto same = [](u32 e) { return e; };
        multiply_blocks(tile, same, [&](u32 e) {
            const u64* y = b + in_b(place_in_batch(e));
            return [=](u32 d) { return y[d * b_stride]; };
        });
    }
    __syncthreads();
    for (u32 e = threadIdx.x; e < ELEMENTS && first + e < count; e += THREADS) {
        put_element(out + first + e, stride, [&](u32 d) { return tile.take(d, e); });
    }
}
