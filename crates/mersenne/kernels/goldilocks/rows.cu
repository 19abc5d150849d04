// Rows: transforms over j2, products, inverse transforms.
//
// A block has LINES adjacent rows k1 of the spectrum [j2 / WIDTH][k1][j2 % WIDTH]
// (see columns.cu), each of COLUMNS = Q·A·B points.
//
// KIND 0 `square_rows`: x ← x²; 1 `forward_rows`: the transform alone, its points in an
// order of its own; 2 `multiply_rows`: x ← x·y, y as `forward_rows` left it.
#include "tile.cuh"

constexpr int Q = OUTER_RADIX, A = RADIX_A, B = RADIX_B;
constexpr u32 M = A * B;
constexpr u32 COLUMNS = Q * M;
constexpr u32 U = LINES * Q;
typedef Slots<U, A, B> Tile;

// Where the tables begin, in words of `tables`; the host fills them in this order.
constexpr u32 TWIDDLES = 0;                     // [b][ka] ω_M^(b·ka)
constexpr u32 TWIDDLES_INVERSE = TWIDDLES + M;  // [ka][b] ω_M^(−b·ka)
constexpr u32 OUTER = TWIDDLES_INVERSE + M;     // [kq][m] ω_COLUMNS^(kq·m)
constexpr u32 OUTER_INVERSE = OUTER + COLUMNS;  // [kq][m] ω_COLUMNS^(−kq·m)

// Words of `addend`.
constexpr u32 SHIFT = 0, ADDEND_ROW = 1, ADDEND_COLUMN = 2, ADDEND_BIT = 3;

// Where point j2 of row k1 lies.
DEVICE u32 position(u32 row, u32 j2) { return (j2 / WIDTH * ROWS + row) * WIDTH + j2 % WIDTH; }

// Where the i-th of the points of LINES rows lies, as memory goes.
DEVICE u32 nth_position(u32 first, u32 i) {
    return position(first + i / WIDTH % LINES, i % WIDTH + i / (WIDTH * LINES) * WIDTH);
}

// The bit at which the number stands after one more squaring, and the word it lies in.
DEVICE void advance(u64* addend, u32 p) {
    constexpr u64 length = (u64)ROWS * COLUMNS;
    u64 shift = 2 * addend[SHIFT] % p;
    u64 j = shift * length / p;
    addend[SHIFT] = shift;
    addend[ADDEND_ROW] = j / COLUMNS;
    addend[ADDEND_COLUMN] = j % COLUMNS;
    addend[ADDEND_BIT] = shift - (p * j + length - 1) / length;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
#if KIND == 0
square_rows(u64* data, const u64* __restrict__ tables, u64* addend, u32 p) {
    if (blockIdx.x == 0 && threadIdx.x == 0 && p != 0) advance(addend, p);
#elif KIND == 1
forward_rows(u64* data, const u64* __restrict__ tables) {
#else
multiply_rows(u64* data, const u64* __restrict__ factor, const u64* __restrict__ tables) {
#endif
    DYNAMIC_SHARED(u64, tile);
    const u32 first = blockIdx.x * LINES;

    if constexpr (Q == 1) {
        // Threads go through WIDTH words of LINES rows: adjacent in memory.
        for (u32 g = threadIdx.x; g < LINES * B; g += THREADS) {
            u32 line = g / WIDTH % LINES, b = g % WIDTH + g / (WIDTH * LINES) * WIDTH;
            u64 v[A];
            unrolled<0, A>([&](auto a) { v[VALUE(a)] = data[position(first + line, VALUE(a) * B + b)]; });
            Wide x[A];
            unrolled<0, A>([&](auto a) { x[VALUE(a)] = widen(v[VALUE(a)]); });
            x[0] = biased(x[0]);
            dft<A>(x);
            unrolled<0, A>([&](auto k) { tile[Tile::at(line, VALUE(k), b)] = reduce(x[VALUE(k)]); });
        }
        __syncthreads();
    } else {
#pragma unroll 4
        for (u32 g = threadIdx.x; g < LINES * M; g += THREADS) {
            u32 line = g / WIDTH % LINES, m = g % WIDTH + g / (WIDTH * LINES) * WIDTH;
            Wide x[Q];
            unrolled<0, Q>([&](auto q) { x[VALUE(q)] = widen(data[position(first + line, VALUE(q) * M + m)]); });
            x[0] = biased(x[0]);
            dft<Q>(x);
            unrolled<0, Q>([&](auto k) {
                u64 v = reduce(x[VALUE(k)]);
                if constexpr (VALUE(k) > 0) v = settle(mul(v, tables[OUTER + VALUE(k) * M + m]));
                tile[Tile::at(line + LINES * VALUE(k), m / B, m % B)] = v;
            });
        }
        __syncthreads();
        for (u32 h = threadIdx.x; h < U * B; h += THREADS) forward_a<Tile, A, B>(tile, h % U, h / U);
        __syncthreads();
    }

    for (u32 h = threadIdx.x; h < U * A; h += THREADS) {
        u32 u = h % U, ka = h / U;
        Wide x[B];
        gather_b<Tile, A, B>(tile, tables + TWIDDLES, u, ka, x);
        dft<B>(x);
#if KIND == 1
        unrolled<0, B>([&](auto k) {
            data[nth_position(first, VALUE(k) * U * A + h)] = reduce(x[VALUE(k)]);
        });
    }
#else
        unrolled<0, B>([&](auto k) {
            u64 v = reduce(x[VALUE(k)]);
#if KIND == 0
            x[VALUE(k)] = mul(v, v);
#else
            x[VALUE(k)] = mul(v, factor[nth_position(first, VALUE(k) * U * A + h)]);
#endif
        });
        x[0] = biased(x[0]);
        inverse_b<Tile, A, B>(tile, u, ka, x);
    }
    __syncthreads();

    if constexpr (Q == 1) {
        for (u32 g = threadIdx.x; g < LINES * B; g += THREADS) {
            u32 line = g / WIDTH % LINES, b = g % WIDTH + g / (WIDTH * LINES) * WIDTH;
            Wide x[A];
            gather_a<Tile, A, B>(tile, tables + TWIDDLES_INVERSE, line, b, x);
            dft<A>(x);
            unrolled<0, A>([&](auto k) {
                data[position(first + line, minus(VALUE(k), A) * B + b)] = reduce(x[VALUE(k)]);
            });
        }
    } else {
        for (u32 h = threadIdx.x; h < U * B; h += THREADS) {
            u32 u = h % U, b = h / U;
            Wide x[A];
            gather_a<Tile, A, B>(tile, tables + TWIDDLES_INVERSE, u, b, x);
            dft<A>(x);
            unrolled<0, A>([&](auto k) { tile[Tile::at(u, minus(VALUE(k), A), b)] = reduce(x[VALUE(k)]); });
        }
        __syncthreads();
#pragma unroll 4
        for (u32 g = threadIdx.x; g < LINES * M; g += THREADS) {
            u32 line = g / WIDTH % LINES, m = g % WIDTH + g / (WIDTH * LINES) * WIDTH;
            Wide x[Q];
            x[0] = biased(widen(tile[Tile::at(line, m / B, m % B)]));
            unrolled<1, Q>([&](auto k) {
                u64 v = tile[Tile::at(line + LINES * VALUE(k), m / B, m % B)];
                x[VALUE(k)] = mul(v, tables[OUTER_INVERSE + VALUE(k) * M + m]);
            });
            dft<Q>(x);
            unrolled<0, Q>([&](auto k) {
                data[position(first + line, minus(VALUE(k), Q) * M + m)] = reduce(x[VALUE(k)]);
            });
        }
    }
#endif
}
