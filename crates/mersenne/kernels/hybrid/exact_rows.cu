// Exact rows of the hybrid engine: exact transforms over j2, products of real signals, inverse
// transforms. Complex rows are those of the engine fp64 (fp64/rows.cu), in a launch of its own.
//
// `data` has the complex points, then the exact points. A block has EXACT_PAIRS pairs of rows. The last
// block has the row ROWS/2 only.
//
// KIND 0 `square_exact_rows`: x ← x²; 1 `forward_exact_rows`: the transform alone, with points in an
// order of its own, after the two spectra; 2 `multiply_exact_rows`: x ← x·y, where y is a result of
// `forward_exact_rows`.
//
// The order of launches is: columns, complex rows, exact rows, columns. Exact rows do not depend on
// complex rows. With BESIDE, these kernels run beside the complex rows, and wait for their end at their
// own end; complex rows let them begin after the end of the columns. This is faster only if the blocks of
// both launches fit on the device at the same time. Without BESIDE, they wait for the end of the complex
// rows first.
#include "exact_rows.cuh"

constexpr u32 POINTS = ROWS * COLUMNS;

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
#if KIND == 0
square_exact_rows(Complex* data, const Complex* __restrict__ tables) {
#elif KIND == 1
forward_exact_rows(Complex* data, const Complex* __restrict__ tables) {
#else
multiply_exact_rows(Complex* data, const Complex* __restrict__ factor, const Complex* __restrict__ tables) {
#endif
    DYNAMIC_SHARED(Gauss, tile);
    const u32 first = blockIdx.x * EXACT_PAIRS;
    Gauss* const exact_data = (Gauss*)(data + POINTS);
    const Gauss* exact_tables = (const Gauss*)(tables + RECORDS + ROWS * RECORD);
#if KIND == 2
    const Gauss* exact_factor = (const Gauss*)(factor + POINTS) + POINTS;
#else
    const Gauss* exact_factor = nullptr;
#endif
    exact_forward_q(exact_data, exact_tables, tile, first);
    exact_transform_a<FORWARD>(exact_tables, tile, barrier);
    exact_middle(exact_data + POINTS, exact_factor, exact_tables, tile, first);
#if KIND != 1
    exact_transform_a<INVERSE>(exact_tables, tile, team_barrier_of_block);
    exact_inverse_q(exact_data, exact_tables, tile, first);
#endif
#if BESIDE
    wait_for_last_launch();
#endif
}
