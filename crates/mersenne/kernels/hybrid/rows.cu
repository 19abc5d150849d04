// Rows of the hybrid engine: transforms over j2, products of real signals, inverse transforms.
//
// `data` has the complex points, then the exact points. Complex points are treated as in
// fp64/rows.cu, exact points as exact_rows.cuh describes. A block has PAIRS pairs of complex rows or
// EXACT_PAIRS pairs of exact rows: of three blocks, two have complex rows, so that the different
// arithmetic units of a multiprocessor work at the same time. The last block has the exact row ROWS/2
// only.
//
// KIND 0 `square_rows`: x ← x²; 1 `forward_rows`: the transform alone, with points in an order of
// its own, exact points after the two spectra; 2 `multiply_rows`: x ← x·y, where y is a result of
// `forward_rows`.
#include "exact_rows.cuh"
#include "advance.cuh"

constexpr u32 POINTS = ROWS * COLUMNS;

// The complex rows of a block whose first pair is `first`.
DEVICE void complex_rows(Complex* data, const Complex* __restrict__ factor, const Complex* __restrict__ tables,
                         Complex* tile, u32 first) {
    auto inner_barrier = [&] {
        if (first > 0) {
            barrier_of<TEAM>();
        } else {
            __syncthreads();
        }
    };
    forward_q(data, tables, tile, first);
    transform_a<FORWARD>(tables, tile, first, barrier);
    middle(data, factor, tables, tile, first, inner_barrier);
#if KIND != 1
    transform_a<INVERSE>(tables, tile, first, inner_barrier);
    inverse_q(data, tables, tile, first);
#endif
}

// The exact rows of a block whose first pair is `first`. `other` has the transformed rows of the second
// factor, or receives those of `data`.
DEVICE void exact_rows(Gauss* data, Gauss* result, const Gauss* __restrict__ factor, const Gauss* __restrict__ tables,
                       Gauss* tile, u32 first) {
    exact_forward_q(data, tables, tile, first);
    exact_transform_a<FORWARD>(tables, tile, barrier);
    exact_middle(result, factor, tables, tile, first);
#if KIND != 1
    exact_transform_a<INVERSE>(tables, tile, team_barrier_of_block);
    exact_inverse_q(data, tables, tile, first);
#endif
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
#if KIND == 0
square_rows(Complex* data, const Complex* __restrict__ tables, u64* addend, u32 p) {
#elif KIND == 1
forward_rows(Complex* data, const Complex* __restrict__ tables) {
#else
multiply_rows(Complex* data, const Complex* __restrict__ factor, const Complex* __restrict__ tables) {
#endif
    DYNAMIC_SHARED(Complex, tile);
    Gauss* const exact_data = (Gauss*)(data + POINTS);
    const Gauss* exact_tables = (const Gauss*)(tables + RECORDS + ROWS * RECORD);
#if KIND != 2
    const Complex* factor = nullptr;
#endif
#if KIND == 2
    const Gauss* exact_factor = (const Gauss*)(factor + POINTS) + POINTS;
    Gauss* const exact_result = nullptr;
#else
    const Gauss* exact_factor = nullptr;
    Gauss* const exact_result = exact_data + POINTS;
#endif
    const u32 group = blockIdx.x / 3, member = blockIdx.x % 3;
    if (member < 2 && blockIdx.x < gridDim.x - 1) {
        complex_rows(data, factor, tables, tile, (2 * group + member) * PAIRS);
    } else {
        const u32 last = blockIdx.x == gridDim.x - 1 ? 1 : 0;
        exact_rows(exact_data, exact_result, exact_factor, exact_tables, (Gauss*)tile,
                   last ? ROWS / 2 : group * EXACT_PAIRS);
    }
#if KIND == 0
    // The next kernel waits for the end of this one.
    if (blockIdx.x == 0 && threadIdx.x == 0 && p != 0) advance(addend, p);
#endif
}
