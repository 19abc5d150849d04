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

// Points of memory → slots, by the transform over q and the twiddles after it.
DEVICE void outer_forward(const u64* data, const u64* __restrict__ tables, u64* tile, u32 first) {
#pragma unroll (Q > 4 ? 1 : 2)
    for (u32 g = threadIdx.x; g < LINES * M; g += THREADS) {
        u32 line = g / WIDTH % LINES, m = g % WIDTH + g / (WIDTH * LINES) * WIDTH;
        u64* slots = tile + Tile::at(line, m / B, m % B);
        Wide x[Q];
        unrolled<0, Q>([&](auto q) {
            x[VALUE(q)] = widen(data[position(first + line, VALUE(q) * M + m)]);
        });
        transform<Q>(x);
        slots[0] = reduced(x[0]);
        unrolled<1, Q>([&](auto k) {
            slots[VALUE(k) * LINES] = settle(mul(reduced(x[VALUE(k)]), tables[OUTER + VALUE(k) * M + m]));
        });
    }
}

// Slots → points of memory, by the twiddles and the inverse transform over kq.
DEVICE void outer_inverse(u64* data, const u64* __restrict__ tables, const u64* tile, u32 first) {
#pragma unroll (Q > 4 ? 1 : 2)
    for (u32 g = threadIdx.x; g < LINES * M; g += THREADS) {
        u32 line = g / WIDTH % LINES, m = g % WIDTH + g / (WIDTH * LINES) * WIDTH;
        Wide x[Q];
        gather<Q, LINES, M>(tile + Tile::at(line, m / B, m % B), tables + OUTER_INVERSE + m, x);
        transform<Q>(x);
        unrolled<0, Q>([&](auto k) {
            data[position(first + line, minus(VALUE(k), Q) * M + m)] = reduced(x[VALUE(k)]);
        });
    }
}

// The transform over a, or its inverse after the twiddles. Where there is no
// outer step, it comes from memory, and its inverse goes there.
DEVICE void transform_a(u64* data, const u64* __restrict__ tables, u64* tile, u32 first, u32 inverse) {
#pragma unroll 1
    for (u32 h = threadIdx.x; h < U * B; h += THREADS) {
        u32 u = h % U, b = h / U;
        if constexpr (Q == 1) {
            // Threads go through WIDTH words of LINES rows: adjacent in memory.
            u = h / WIDTH % LINES;
            b = h % WIDTH + h / (WIDTH * LINES) * WIDTH;
        }
        u64* slots = tile + Tile::at(u, 0, b);
        // Points B apart are B / WIDTH tiles apart.
        constexpr u32 APART = Q == 1 ? B * ROWS : Tile::STRIDE_A;
        u64* points = Q == 1 ? data + position(first + u, b) : slots;
        Wide x[A];
        if (inverse) {
            gather<A, Tile::STRIDE_A, B>(slots, tables + TWIDDLES_INVERSE + b, x);
        } else {
            unrolled<0, A>([&](auto a) { x[VALUE(a)] = widen(points[VALUE(a) * APART]); });
        }
        transform<A>(x);
        if (inverse) {
            unrolled<0, A>([&](auto k) { points[minus(VALUE(k), A) * APART] = reduced(x[VALUE(k)]); });
        } else {
            unrolled<0, A>([&](auto k) { slots[VALUE(k) * Tile::STRIDE_A] = reduced(x[VALUE(k)]); });
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
        Wide x[B];
        gather<B, Tile::STRIDE_B, A>(slots, tables + TWIDDLES + ka, x);
#if KIND == 1
        transform<B>(x);
        unrolled<0, B>([&](auto k) {
            data[nth_position(first, VALUE(k) * U * A + h)] = reduced(x[VALUE(k)]);
        });
#else
#pragma unroll 1
        for (u32 step = opaque(0); step < 2; step++) {
            transform<B>(x);
            if (step == 1) continue;
            unrolled<0, B>([&](auto k) {
                u64 v = reduced(x[VALUE(k)]);
#if KIND == 0
                x[VALUE(k)] = mul(v, v);
#else
                x[VALUE(k)] = mul(v, factor[nth_position(first, VALUE(k) * U * A + h)]);
#endif
            });
        }
        scatter<B, Tile::STRIDE_B>(slots, 1, x);
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
#pragma unroll 1
    for (u32 step = opaque(0); step < (KIND == 1 ? 2 : 3); step++) {
        if (step == 1) {
            middle(data, factor, tables, tile, first);
        } else {
            transform_a(data, tables, tile, first, step == 2);
        }
        __syncthreads();
    }
    if constexpr (Q > 1 && KIND != 1) outer_inverse(data, tables, tile, first);
}
