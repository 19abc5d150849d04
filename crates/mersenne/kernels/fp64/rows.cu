// Rows: transforms over j2, products of real signals, inverse transforms.
//
// The spectrum [j2 / CHUNK][place of k1][j2 % CHUNK] (see columns.cu) is transformed over j2, with
// factors e(−j2·k1/n), to Z_k, k = k1 + ROWS·k2. Since x is real, products need Z_k and Z_(n−k)
// together, that is, rows k1 and ROWS − k1. A block has PAIRS such pairs; the first of all pairs is
// rows 0 and ROWS/2, each of which is its own partner (row_steps.cuh has the other case, NEGACYCLIC). Inverse transforms omit the factors
// e(+j2·k1/n), which the inverse transforms of columns include.
//
// KIND 0 `square_rows`: x ← x²; 1 `forward_rows`: the transform alone, with points in an order of
// its own; 2 `multiply_rows`: x ← x·y, where y is a result of `forward_rows`.
#include "row_steps.cuh"
#include "advance.cuh"

#if GANG
#define SQUARE_FIELDS(F) F(Complex*, data) F(const Complex* __restrict__, tables) F(u64*, addend) F(u32, p)
// The arguments of `square_rows` for one number of a gang (see columns.cu).
struct Member {
    SQUARE_FIELDS(AS_MEMBER)
};
#endif

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
#if KIND == 0 && GANG
square_rows(const Member* __restrict__ members) {
    const Member& member = members[blockIdx.y];
    SQUARE_FIELDS(AS_LOCAL)
#elif KIND == 0
square_rows(Complex* data, const Complex* __restrict__ tables, u64* addend, u32 p) {
#elif KIND == 1
forward_rows(Complex* data, const Complex* __restrict__ tables) {
#else
multiply_rows(Complex* data, const Complex* __restrict__ factor, const Complex* __restrict__ tables) {
#endif
    DYNAMIC_SHARED(Complex, tile);
    const u32 first = blockIdx.x * PAIRS;

#if KIND != 2
    const Complex* factor = nullptr;
#endif
    auto inner_barrier = [&] {
        if (NEGACYCLIC || first > 0) {
            barrier_of<TEAM>();
        } else {
            __syncthreads();
        }
    };
    forward_q(data, tables, tile, first);
#if KIND == 0
    if (blockIdx.x == 0 && threadIdx.x == 0 && p != 0) advance(addend, p);
#endif
    if constexpr (A > 1) {
        transform_a<FORWARD>(tables, tile, first, barrier);
        middle(data, factor, tables, tile, first, inner_barrier);
    } else {
        middle(data, factor, tables, tile, first, barrier);
    }
#if KIND != 1
    if constexpr (A > 1) transform_a<INVERSE>(tables, tile, first, inner_barrier);
    inverse_q(data, tables, tile, first);
#endif
}
