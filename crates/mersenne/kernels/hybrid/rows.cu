// Rows of the hybrid engine: transforms over j2, products of real signals, inverse transforms.
//
// The complex points are treated as in fp64/rows.cu, and the exact points as exact_rows.cuh
// describes. `data` has the complex points, then the exact points. A block has PAIRS pairs of rows
// of either kind; the last block has only the exact row ROWS/2.
//
// KIND 0 `square_rows`: x ← x²; 1 `forward_rows`: the transform alone, with points in an order of
// its own, exact points after the two spectra; 2 `multiply_rows`: x ← x·y, where y is a result of
// `forward_rows`.
#include "exact_rows.cuh"
#include "advance.cuh"

constexpr u32 POINTS = ROWS * COLUMNS;

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
#if KIND == 0
square_rows(Complex* data, const Complex* __restrict__ tables, u64* addend, u32 p) {
#elif KIND == 1
forward_rows(Complex* data, const Complex* __restrict__ tables) {
#else
multiply_rows(Complex* data, const Complex* __restrict__ factor, const Complex* __restrict__ tables) {
#endif
    DYNAMIC_SHARED(Complex, tile);
    Gauss* const exact_tile = (Gauss*)(tile + Tile::COUNT);
    Gauss* const exact_data = (Gauss*)(data + POINTS);
    const Gauss* exact_tables = (const Gauss*)(tables + RECORDS + ROWS * RECORD);
    const u32 first = blockIdx.x * PAIRS;
    const bool both = first < ROWS / 2;

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
    auto inner_barrier = [&] {
        if (first > 0 && both) {
            barrier_of<TEAM>();
        } else {
            __syncthreads();
        }
    };
    if (both) {
        forward_q(data, tables, tile, first);
    } else {
        last_launch();
    }
#if KIND == 0
    if (blockIdx.x == 0 && threadIdx.x == 0 && p != 0) advance(addend, p);
#endif
    exact_forward_q(exact_data, exact_tables, exact_tile, first);
    if (both) {
        transform_a<FORWARD>(tables, tile, first, barrier);
    } else {
        barrier();
    }
    exact_transform_a<FORWARD>(exact_tables, exact_tile);
    if (both) {
        middle(data, factor, tables, tile, first, inner_barrier);
    } else {
        inner_barrier();
    }
    exact_middle(exact_result, exact_factor, exact_tables, exact_tile, first);
#if KIND != 1
    if (both) {
        transform_a<INVERSE>(tables, tile, first, inner_barrier);
    } else {
        inner_barrier();
    }
    exact_transform_a<INVERSE>(exact_tables, exact_tile);
    if (both) {
        inverse_q(data, tables, tile, first);
    } else {
        barrier();
    }
    exact_inverse_q(exact_data, exact_tables, exact_tile, first);
#endif
}
