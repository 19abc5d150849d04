// Digits of reduced products and of sums of residues, in words of k·b^n ± 1 (reduce.cuh).
#include "fields.cuh"
#include "reduce.cuh"

constexpr u32 THREADS = 256;

// Writes the digits of Σ word(i)·β^i + addend·β^start, i < words + over, modulo N. The first block has both ends of
// the residue, and each other block has THREADS words.
template <typename Word>
DEVICE void reduce(i32* digits, const double* __restrict__ table, u32 factors, const Constants& c, double addend,
                   Word word) {
    __shared__ double x[THREADS + 2];
    static_assert(THREADS >= SLOTS, "the slots of both ends");
    const u32 t = threadIdx.x;
    if (blockIdx.x > 0) {
        const u32 i = HALF + (blockIdx.x - 1) * THREADS + t;
        x[t + 2] = word(i);
        if (t < 2) x[t] = word(i - 2);
        __syncthreads();
        if (i < c.start) digits[i] = to_integer(c.settled(x[t], x[t + 1], x[t + 2], true, true, true));
        return;
    }
    reduce_ends<THREADS>(x, table, factors, c, addend, word);
    if (t >= SLOTS) return;
    const u32 i = word_of(t, c);
    if (t < HALF || i >= c.start && i < c.words) digits[i] = to_integer(x[t + 2]);
}

#if SUM

// Sets `out` to the digits of a + sign·b. `out` differs from a and b.
extern "C" __global__ void __launch_bounds__(THREADS)
combine_padded(i32* __restrict__ out, const i32* __restrict__ a, const i32* __restrict__ b, i32 sign,
               u32 factors CONSTANTS_FIELDS(AS_PARAMETER), u32) {
    const Constants constants = CONSTANTS;
    auto word = [&](u32 i) { return i < words ? to_double(a[i] + sign * b[i]) : 0.0; };
    reduce(out, table, factors, constants, 0.0, word);
}

#else

// Sets `digits` to the digits of `multiplier`·k·z + `addend`·β^start, where z has the digits `product`. Words of the
// product from `end` on are zero and are not read.
extern "C" __global__ void __launch_bounds__(THREADS)
reduce_product(i32* __restrict__ digits, const i32* __restrict__ product CONSTANTS_FIELDS(AS_PARAMETER),
               double multiplier, double addend) {
    const Constants constants = CONSTANTS;
    auto word = [&](u32 i) { return multiplier * word_of_product<FACTORS>(product, table, constants, i); };
    reduce(digits, table, FACTORS, constants, addend, word);
}

#endif
