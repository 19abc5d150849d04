// Rows: transforms over j2, products, inverse transforms.
//
// A block has LINES adjacent rows k1 of the spectrum [j2 / CHUNK][k1][j2 % CHUNK] (see columns.cu),
// each of COLUMNS = Q·A·B points.
//
// KIND 0 `square_rows`: x ← x²; 1 `forward_rows`: the transform alone, with points in an order of
// its own; 2 `multiply_rows`: x ← x·y, where y is a result of `forward_rows`.
#include "goldilocks_tile.cuh"

constexpr int Q = OUTER_RADIX, A = RADIX_A, B = RADIX_B;
constexpr u32 M = A * B;
constexpr u32 COLUMNS = Q * M;
constexpr u32 U = LINES * Q;
typedef Slots<U, A, B> Tile;

// The start of each table, in words of `tables`; the host fills the tables in this order.
constexpr u32 TWIDDLES = 0;                     // [b][ka] ω_M^(b·ka)
constexpr u32 TWIDDLES_INVERSE = TWIDDLES + M;  // [ka][b] ω_M^(−b·ka)
constexpr u32 OUTER = TWIDDLES_INVERSE + M;     // [m][kq] ω_COLUMNS^(kq·m)
constexpr u32 OUTER_INVERSE = OUTER + COLUMNS;  // [kq][m] ω_COLUMNS^(−kq·m)

// Indices of `addend`.
constexpr u32 SHIFT = 0, ADDEND_ROW = 1, ADDEND_COLUMN = 2, ADDEND_BIT = 3;

// Returns the index in memory of point j2 of row k1 = `row`.
DEVICE u32 position(u32 row, u32 j2) { return (j2 / CHUNK * ROWS + row) * CHUNK + j2 % CHUNK; }
// The distance of points of a row whose q differ by 1.
constexpr u32 APART = M * ROWS;

// Returns the index in memory of the i-th of the points of LINES rows, counted in the order of
// memory.
DEVICE u32 nth_position(u32 first, u32 i) {
    return position(first + i / CHUNK % LINES, i % CHUNK + i / (CHUNK * LINES) * CHUNK);
}

// Advances the shift by one squaring, and finds the word and the bit in which it lies.
DEVICE void advance(u64* addend, u32 p) {
    constexpr u64 length = (u64)ROWS * COLUMNS;
    u64 shift = 2 * addend[SHIFT] % p;
    u64 j = shift * length / p;
    addend[SHIFT] = shift;
    addend[ADDEND_ROW] = j / COLUMNS;
    addend[ADDEND_COLUMN] = j % COLUMNS;
    addend[ADDEND_BIT] = shift - (p * j + length - 1) / length;
}

// From points in memory to slots, by the transform over q.
DEVICE void outer_forward(const u64* data, const u64* __restrict__ tables, u64* tile, u32 first) {
#pragma unroll (Q > 4 ? 1 : 2)
    for (u32 g = threadIdx.x; g < LINES * M; g += THREADS) {
        u32 line = g / CHUNK % LINES, m = g % CHUNK + g / (CHUNK * LINES) * CHUNK;
        const u64* points = data + position(first + line, m);
        u64* slots = tile + Tile::at(line, m / B, m % B);
        transform<Q>([&](auto q) { return widen(points[VALUE(q) * APART]); },
                     [&](auto k, u64 v) { slots[VALUE(k) * LINES] = v; });
    }
}

// From slots to points in memory, by the twiddles and the inverse transform over kq.
DEVICE void outer_inverse(u64* data, const u64* __restrict__ tables, const u64* tile, u32 first) {
#pragma unroll (Q > 4 ? 1 : 2)
    for (u32 g = threadIdx.x; g < LINES * M; g += THREADS) {
        u32 line = g / CHUNK % LINES, m = g % CHUNK + g / (CHUNK * LINES) * CHUNK;
        u64* points = data + position(first + line, m);
        const u64* twiddles = tables + OUTER_INVERSE + m;
        const u64* slots = tile + Tile::at(line, m / B, m % B);
        transform<Q>([&](auto k) { return twiddled<LINES, M>(slots, twiddles, k); },
                     [&](auto q, u64 v) { points[minus(VALUE(q), Q) * APART] = v; });
    }
}

// The transform over a after the outer twiddles, or its inverse after the inner twiddles. Without
// an outer step, it reads from memory, and its inverse writes there.
template <bool inverse>
DEVICE void transform_a(u64* data, const u64* __restrict__ tables, u64* tile, u32 first) {
#pragma unroll 1
    for (u32 h = threadIdx.x; h < U * B; h += THREADS) {
        u32 u = h % U, b = h / U;
        if constexpr (Q == 1) {
            // Threads run through CHUNK words of LINES rows, which are adjacent in memory.
            u = h / CHUNK % LINES;
            b = h % CHUNK + h / (CHUNK * LINES) * CHUNK;
        }
        u64* slots = tile + Tile::at(u, 0, b);
        // Points whose distance is B are B / CHUNK chunks apart.
        constexpr u32 APART = Q == 1 ? B * ROWS : Tile::STRIDE_A;
        u64* points = Q == 1 ? data + position(first + u, b) : slots;
        if constexpr (inverse) {
            const u64* twiddles = tables + TWIDDLES_INVERSE + b;
            transform<A>([&](auto k) { return twiddled<Tile::STRIDE_A, B>(slots, twiddles, k); },
                         [&](auto a, u64 v) { points[minus(VALUE(a), A) * APART] = v; });
        } else {
            const u64* twiddles = tables + OUTER + Q * b + u / LINES;
            transform<A>([&](auto a) {
                             u64 v = points[VALUE(a) * APART];
                             return Q == 1 ? widen(v) : mul(v, twiddles[VALUE(a) * B * Q]);
                         },
                         [&](auto k, u64 v) { slots[VALUE(k) * Tile::STRIDE_A] = v; });
        }
    }
}

// The transform over b, the products, and the inverse transform.
DEVICE void middle(u64* data, const u64* __restrict__ factor, const u64* __restrict__ tables,
                   u64* tile, u32 first) {
#pragma unroll 1
    for (u32 h = threadIdx.x; h < U * A; h += THREADS) {
        u32 u = h % U, ka = h / U;
        u64* slots = tile + Tile::at(u, ka, 0);
        const u64* twiddles = tables + TWIDDLES + ka;
        auto point = [&](auto b) { return twiddled<Tile::STRIDE_B, A>(slots, twiddles, b); };
#if KIND == 1
        transform<B>(point, [&](auto k, u64 v) { data[nth_position(first, VALUE(k) * U * A + h)] = v; });
#else
        Wide x[B];
        transform<B>(point, [&](auto k, u64 v) {
#if KIND == 0
            x[VALUE(k)] = mul(v, v);
#else
            x[VALUE(k)] = mul(v, factor[nth_position(first, VALUE(k) * U * A + h)]);
#endif
        });
        transform<B>([&](auto k) { return x[VALUE(k)]; },
                     [&](auto b, u64 v) { slots[minus(VALUE(b), B) * Tile::STRIDE_B] = v; });
#endif
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
#if KIND == 0
square_rows(u64* data, const u64* __restrict__ tables, u64* addend, u32 p) {
#elif KIND == 1
forward_rows(u64* data, const u64* __restrict__ tables) {
#else
multiply_rows(u64* data, const u64* __restrict__ factor, const u64* __restrict__ tables) {
#endif
    wait_for_last_launch();
    let_next_launch_begin();
#if KIND == 0
    if (blockIdx.x == 0 && threadIdx.x == 0 && p != 0) advance(addend, p);
#endif
    DYNAMIC_SHARED(u64, tile);
    const u32 first = blockIdx.x * LINES;

#if KIND != 2
    const u64* factor = nullptr;
#endif
    if constexpr (Q > 1) {
        outer_forward(data, tables, tile, first);
        __syncthreads();
    }
    transform_a<false>(data, tables, tile, first);
    __syncthreads();
    middle(data, factor, tables, tile, first);
#if KIND != 1
    __syncthreads();
    transform_a<true>(data, tables, tile, first);
    if constexpr (Q > 1) {
        __syncthreads();
        outer_inverse(data, tables, tile, first);
    }
#endif
}
