// The exact transforms along the columns of a tile. Points of the field of q² elements, q = 2^31 − 1,
// have the order in memory and the steps of the complex points (column_steps.cuh). Their factors
// e(j/n) are the roots ω_n^j.
//
// The inverse transforms include the factors ω_n^(j2·k1) between columns and rows, k1 = kq + Q·(ka +
// A·kb), in their first step.
#pragma once
#include "column_steps.cuh"
#include "exact_line.cuh"

typedef Slots<U, A, B, WIDTH, 16> ExactTile;

// The start of each table, in points after the tables of complex numbers. Factors are doubled.
constexpr u32 EXACT_FORWARD_A = 0;                                   // [a − 1][kq] ω_QA^(−a·kq)
constexpr u32 EXACT_FORWARD_B = EXACT_FORWARD_A + (A - 1) * Q;       // [b − 1][kq][ka] ω_ROWS^(−b·(kq + Q·ka))
constexpr u32 EXACT_INVERSE_A = EXACT_FORWARD_B + (B - 1) * Q * A;   // [ka − 1][b] ω_AB^(ka·b)
constexpr u32 EXACT_INVERSE_Q = EXACT_INVERSE_A + (A - 1) * B;       // [kq − 1][m] ω_ROWS^(kq·m)
constexpr u32 EXACT_RECORDS = EXACT_INVERSE_Q + (Q - 1) * M;         // [j2][EXACT_RECORD], of which
constexpr u32 EXACT_RECORD_B = 0;                                    // [kb − 1] ω_(B·COLUMNS)^(kb·j2)
constexpr u32 EXACT_RECORD_A = EXACT_RECORD_B + B - 1;               // [ka] ω_(AB·COLUMNS)^(ka·j2)
constexpr u32 EXACT_RECORD_Q = EXACT_RECORD_A + A;                   // [kq] ω_n^(kq·j2)
constexpr u32 EXACT_RECORD = EXACT_RECORD_Q + Q;

// From the spectrum by the inverse transform over kb to slots (u, ka, b).
DEVICE void exact_inverse_b(const Gauss* data, const Gauss* __restrict__ tables, Gauss* tile, u32 columns) {
    auto powers = [&](u32 g) {
        const Item<A> item(g);
        const Gauss* record = tables + EXACT_RECORDS + (columns * WIDTH + item.c) * EXACT_RECORD;
        Gauss start = times_factor(record[EXACT_RECORD_A + item.other], record[EXACT_RECORD_Q + item.q]);
        return Twists<B>(start, record + EXACT_RECORD_B);
    };
    step<B, U * A, TEAM>(last_launch, powers, [&](u32 g, const auto& w) {
        const Item<A> item(g);
        Gauss x[B];
        unrolled<0, B>([&](auto k) { x[VALUE(k)] = load(data + position(columns, g) + VALUE(k) * APART); });
        w.apply(x);
        transform31<B, INVERSE>(x);
        put(x, tile + ExactTile::at(item.u(), item.other, 0), ExactTile::STRIDE_B);
    });
}

// From slots (u, ka, b) by the transform over b to the spectrum.
DEVICE void exact_forward_b(Gauss* data, const Gauss* __restrict__ tables, const Gauss* tile, u32 columns) {
    auto powers = [&](u32 g) { return Factors<B, Q * A>(tables + EXACT_FORWARD_B + g / WIDTH); };
    step<B, U * A, TEAM>(inner_barrier, powers, [&](u32 g, const auto& w) {
        const Item<A> item(g);
        Gauss x[B];
        take(x, tile + ExactTile::at(item.u(), item.other, 0), ExactTile::STRIDE_B);
        w.apply(x);
        transform31<B, FORWARD>(x);
        unrolled<0, B>([&](auto k) {
            store(data + position(columns, g) + VALUE(k) * APART, x[place_of31(B, VALUE(k))]);
        });
    });
}

// The transform over a in slots (u, a or ka, b), or its inverse.
template <int SIGN>
DEVICE void exact_transform_a(const Gauss* __restrict__ tables, Gauss* tile) {
    auto powers = [&](u32 h) {
        if constexpr (SIGN == INVERSE) {
            return Factors<A, B>(tables + EXACT_INVERSE_A + Item<B>(h).other);
        } else {
            return Factors<A, Q>(tables + EXACT_FORWARD_A + Item<B>(h).q);
        }
    };
    step<A, U * B, TEAM>(inner_barrier, powers, [&](u32 h, const auto& w) {
        const Item<B> item(h);
        Gauss* slots = tile + ExactTile::at(item.u(), 0, item.other);
        Gauss x[A];
        take(x, slots, ExactTile::STRIDE_A);
        w.apply(x);
        transform31<A, SIGN>(x);
        put(x, slots, ExactTile::STRIDE_A);
    });
}

// Returns the slot of a thread's point q = 0; its other points are at distances of WIDTH.
DEVICE Gauss* own_exact_slots(Gauss* tile) {
    u32 m = threadIdx.x / WIDTH;
    return tile + ExactTile::at(threadIdx.x % WIDTH, m / B, m % B);
}

// The inverse transform over kq in a thread's own slots.
DEVICE void exact_inverse_q(const Gauss* __restrict__ tables, Gauss* tile) {
    const Factors<Q, M> powers(tables + EXACT_INVERSE_Q + threadIdx.x / WIDTH);
    Gauss x[Q];
    take(x, own_exact_slots(tile), WIDTH);
    powers.apply(x);
    transform31<Q, INVERSE>(x);
    put(x, own_exact_slots(tile), WIDTH);
}

// The transform over q in a thread's own slots.
DEVICE void exact_forward_q(Gauss* tile) {
    Gauss x[Q];
    take(x, own_exact_slots(tile), WIDTH);
    transform31<Q, FORWARD>(x);
    put(x, own_exact_slots(tile), WIDTH);
}
