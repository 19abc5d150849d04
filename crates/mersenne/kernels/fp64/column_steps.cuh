// The transforms along the columns of a tile, in steps of radices Q, A and B: `inverse_b`,
// `transform_a`, `inverse_q`, and back `to_spectrum`. See columns.cu for the layout of the points.
//
// If NEGACYCLIC is defined as 1, the transform has the frequencies k + ½ instead of k: its points are values
// of a polynomial at the roots of z^n = −1. In the formulas below, kq is then kq + ½ in forward transforms.
// Inverse transforms have integral k, so their results lack the factor e(½·j/n), see columns.cu.
#pragma once
#include "line.cuh"

constexpr int Q = OUTER_RADIX, A = RADIX_A, B = RADIX_B;
constexpr u32 M = A * B;
constexpr u32 ROWS = Q * M;
constexpr u32 TILES = COLUMNS / WIDTH;
constexpr u32 U = WIDTH * Q;
static_assert(THREADS == WIDTH * M && THREADS % 32 == 0, "a thread has one point of every q");
static_assert(32 % WIDTH == 0, "a warp has whole rows");
// The distance of points of the spectrum whose kb differ by 1, and of rows whose q differ by 1.
constexpr u32 APART = Q * A * CHUNK;
typedef Slots<U, A, B, WIDTH> Tile;
// Returns the number of threads of the smallest team of warps that has kq, or q, of its own in the
// steps over a and b, so that it need not wait for other teams.
constexpr u32 team_threads() {
    for (u32 warps = 1; warps < THREADS / 32; warps++) {
        u32 teams = THREADS / 32 / warps;
        if (THREADS / 32 % warps == 0 && Q % teams == 0 && (warps == 1 || teams <= 15)) return 32 * warps;
    }
    return THREADS;
}
constexpr u32 TEAM = team_threads();

// The start of each table, in points of `tables`; the host fills the tables in this order. [e] runs
// through the powers that a transform uses.
constexpr u32 POWERS_Q = powers_of(Q), POWERS_A = powers_of(A), POWERS_B = powers_of(B);
constexpr u32 FORWARD_A = 0;                               // [e][kq] e(−e·kq/QA)
constexpr u32 FORWARD_B = FORWARD_A + POWERS_A * Q;        // [e][kq][ka] e(−e·(kq + Q·ka)/ROWS)
constexpr u32 INVERSE_A = FORWARD_B + POWERS_B * Q * A;    // [e][b] e(e·b/AB)
constexpr u32 INVERSE_Q = INVERSE_A + POWERS_A * B;        // [e][m] e(e·m/ROWS)
constexpr u32 RECORDS = INVERSE_Q + POWERS_Q * M;          // [j2][RECORD], of which
constexpr u32 RECORD_B = 0;                                // [e] e(e·j2/(B·COLUMNS))
constexpr u32 RECORD_A = RECORD_B + POWERS_B;              // [e] e(e·j2/(AB·COLUMNS)) − 1
constexpr u32 RECORD_Q = RECORD_A + POWERS_A;              // [e] e(e·j2/n) − 1
constexpr u32 RECORD = RECORD_Q + POWERS_Q;

// An item of the steps over a and b: column c of the tile, b or ka, and q or kq. Threads run
// through the columns first.
template <u32 COUNT>
struct Item {
    u32 c, other, q;
    DEVICE Item(u32 g) : c(g % WIDTH), other(g / WIDTH % COUNT), q(g / (WIDTH * COUNT)) {}
    DEVICE u32 u() const { return c + WIDTH * q; }
};

// Returns the index in memory of the g-th point (c, ka, kq) of a tile for kb = 0.
DEVICE u32 position(u32 columns, u32 g) {
    u32 j2 = columns * WIDTH + g % WIDTH;
    return (j2 / CHUNK * ROWS + g / WIDTH) * CHUNK + j2 % CHUNK;
}

// Returns the record of a thread's column, from an entry on.
DEVICE const Complex* own_record(const Complex* __restrict__ tables, u32 columns, u32 entry) {
    return tables + RECORDS + (columns * WIDTH + threadIdx.x % WIDTH) * RECORD + entry;
}

// Runs before the first step.
DEVICE void last_launch() {
    wait_for_last_launch();
    let_next_launch_begin();
}
DEVICE void barrier() { __syncthreads(); }
// Runs between the steps over a and b.
DEVICE void inner_barrier() { barrier_of<TEAM>(); }

// From the spectrum by the inverse transform over kb to slots (u, ka, b).
DEVICE void inverse_b(const Complex* data, const Complex* __restrict__ tables, Complex* tile, u32 columns) {
    auto powers = [&](u32) { return Listed<B, 1>(own_record(tables, columns, RECORD_B)); };
    step<B, U * A, TEAM>(last_launch, powers, [&](u32 g, const auto& w) {
        const Item<A> item(g);
        Complex x[B];
        load(x, data + position(columns, g), APART);
        transform<B, INVERSE>(x, w);
        put(x, tile + Tile::at(item.u(), item.other, 0), Tile::STRIDE_B);
    });
}

// After a barrier, from slots (u, ka, b) by the transform over b to the spectrum.
DEVICE void forward_b(Complex* data, const Complex* __restrict__ tables, const Complex* tile, u32 columns) {
    auto powers = [&](u32 g) { return Listed<B, Q * A>(tables + FORWARD_B + g / WIDTH); };
    step<B, U * A, TEAM>(inner_barrier, powers, [&](u32 g, const auto& w) {
        const Item<A> item(g);
        Complex x[B];
        take(x, tile + Tile::at(item.u(), item.other, 0), Tile::STRIDE_B);
        transform<B, FORWARD>(x, w);
        store(x, data + position(columns, g), APART);
    });
}

// After a barrier, the transform over a in slots (u, a or ka, b), or its inverse.
template <int SIGN>
DEVICE void transform_a(const Complex* __restrict__ tables, Complex* tile, u32 columns) {
    auto powers = [&](u32 h) {
        if constexpr (SIGN == INVERSE) {
            return Turned<A, B>(tables + INVERSE_A + Item<B>(h).other, own_record(tables, columns, RECORD_A));
        } else {
            return Listed<A, Q>(tables + FORWARD_A + Item<B>(h).q);
        }
    };
    step<A, U * B, TEAM>(SIGN == INVERSE ? inner_barrier : barrier, powers, [&](u32 h, const auto& w) {
        const Item<B> item(h);
        Complex* slots = tile + Tile::at(item.u(), 0, item.other);
        Complex x[A];
        take(x, slots, Tile::STRIDE_A);
        transform<A, SIGN>(x, w);
        put(x, slots, Tile::STRIDE_A);
    });
}

// Returns the slot of a thread's point q = 0; its other points are at distances of WIDTH.
DEVICE Complex* own_slots(Complex* tile) {
    u32 m = threadIdx.x / WIDTH;
    return tile + Tile::at(threadIdx.x % WIDTH, m / B, m % B);
}

// After a barrier, from slots to a thread's points.
DEVICE void inverse_q(Complex (&x)[Q], const Complex* __restrict__ tables, Complex* tile, u32 columns) {
    const Turned<Q, M> powers(tables + INVERSE_Q + threadIdx.x / WIDTH, own_record(tables, columns, RECORD_Q));
    __syncthreads();
    Complex y[Q];
    take(y, own_slots(tile), WIDTH);
    transform<Q, INVERSE>(y, powers);
    unrolled<0, Q>([&](auto i) { x[VALUE(i)] = y[place_of(Q, VALUE(i))]; });
}

// From a thread's points to the spectrum.
DEVICE void to_spectrum(Complex (&x)[Q], Complex* data, const Complex* __restrict__ tables, Complex* tile,
                        u32 columns) {
#if NEGACYCLIC
    transform<Q, FORWARD>(x, HalfTurns<Q, FORWARD>{});
#else
    transform<Q, FORWARD>(x);
#endif
    put(x, own_slots(tile), WIDTH);
    if constexpr (A > 1) {
        transform_a<FORWARD>(tables, tile, columns);
    } else {
        __syncthreads();
    }
    forward_b(data, tables, tile, columns);
}
