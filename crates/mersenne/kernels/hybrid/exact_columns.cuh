// The transforms of both kinds of points along the columns of a tile. Points of the field of q²
// elements, q = 2^31 − 1, have the order in memory and the steps of the complex points
// (column_steps.cuh). Their factors e(j/n) are the roots ω_n^j. In each step, a thread transforms a group
// of complex points and the group of exact points with the same indices. The two are independent, so
// the instructions of one are executed while those of the other wait.
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

// The tile of a block, and the tables of factors, for both kinds of points.
struct Both {
    Complex* tile;
    Gauss* exact_tile;
    const Complex* tables;
    const Gauss* exact_tables;
};

// The factors of a group of points of both kinds.
template <class C, class E>
struct BothFactors {
    C complex;
    E exact;
};
template <class C, class E>
DEVICE BothFactors<C, E> both(const C& complex, const E& exact) {
    return {complex, exact};
}

// From the spectra by the inverse transforms over kb to slots (u, ka, b).
DEVICE void both_inverse_b(const Complex* data, const Gauss* exact_data, const Both& of, u32 columns) {
    auto powers = [&](u32 g) {
        const Item<A> item(g);
        const Gauss* record = of.exact_tables + EXACT_RECORDS + (columns * WIDTH + item.c) * EXACT_RECORD;
        const Gauss start = times_factor(record[EXACT_RECORD_A + item.other], record[EXACT_RECORD_Q + item.q]);
        return both(Listed<B, 1>(own_record(of.tables, columns, RECORD_B)), Twists<B>(start, record + EXACT_RECORD_B));
    };
    step<B, U * A, TEAM>(last_launch, powers, [&](u32 g, const auto& w) {
        const Item<A> item(g);
        Complex x[B];
        Gauss y[B];
        load(x, data + position(columns, g), APART);
        load(y, exact_data + position(columns, g), APART);
        transform<B, INVERSE>(x, w.complex);
        w.exact.apply(y);
        transform31<B, INVERSE>(y);
        put(x, of.tile + Tile::at(item.u(), item.other, 0), Tile::STRIDE_B);
        put(y, of.exact_tile + ExactTile::at(item.u(), item.other, 0), ExactTile::STRIDE_B);
    });
}

// After a barrier, from slots (u, ka, b) by the transforms over b to the spectra.
DEVICE void both_forward_b(Complex* data, Gauss* exact_data, const Both& of, u32 columns) {
    auto powers = [&](u32 g) {
        return both(Listed<B, Q * A>(of.tables + FORWARD_B + g / WIDTH),
                    Factors<B, Q * A>(of.exact_tables + EXACT_FORWARD_B + g / WIDTH));
    };
    step<B, U * A, TEAM>(inner_barrier, powers, [&](u32 g, const auto& w) {
        const Item<A> item(g);
        Complex x[B];
        Gauss y[B];
        take(x, of.tile + Tile::at(item.u(), item.other, 0), Tile::STRIDE_B);
        take(y, of.exact_tile + ExactTile::at(item.u(), item.other, 0), ExactTile::STRIDE_B);
        transform<B, FORWARD>(x, w.complex);
        w.exact.apply(y);
        transform31<B, FORWARD>(y);
        store(x, data + position(columns, g), APART);
        store(y, exact_data + position(columns, g), APART);
    });
}

// After a barrier, the transforms over a in slots (u, a or ka, b), or their inverses.
template <int SIGN>
DEVICE void both_transform_a(const Both& of, u32 columns) {
    auto powers = [&](u32 h) {
        const Item<B> item(h);
        if constexpr (SIGN == INVERSE) {
            return both(Turned<A, B>(of.tables + INVERSE_A + item.other, own_record(of.tables, columns, RECORD_A)),
                        Factors<A, B>(of.exact_tables + EXACT_INVERSE_A + item.other));
        } else {
            return both(Listed<A, Q>(of.tables + FORWARD_A + item.q),
                        Factors<A, Q>(of.exact_tables + EXACT_FORWARD_A + item.q));
        }
    };
    step<A, U * B, TEAM>(SIGN == INVERSE ? inner_barrier : barrier, powers, [&](u32 h, const auto& w) {
        const Item<B> item(h);
        Complex* slots = of.tile + Tile::at(item.u(), 0, item.other);
        Gauss* exact_slots = of.exact_tile + ExactTile::at(item.u(), 0, item.other);
        Complex x[A];
        Gauss y[A];
        take(x, slots, Tile::STRIDE_A);
        take(y, exact_slots, ExactTile::STRIDE_A);
        transform<A, SIGN>(x, w.complex);
        w.exact.apply(y);
        transform31<A, SIGN>(y);
        put(x, slots, Tile::STRIDE_A);
        put(y, exact_slots, ExactTile::STRIDE_A);
    });
}

// Returns the slot of a thread's exact point q = 0; its other points are at distances of WIDTH.
DEVICE Gauss* own_exact_slots(Gauss* tile) {
    u32 m = threadIdx.x / WIDTH;
    return tile + ExactTile::at(threadIdx.x % WIDTH, m / B, m % B);
}

// After a barrier, by the inverse transforms over kq from slots to a thread's points: complex points to
// `x`, exact points to the same slots.
DEVICE void both_inverse_q(Complex (&x)[Q], const Both& of, u32 columns) {
    const u32 m = threadIdx.x / WIDTH;
    const Turned<Q, M> powers(of.tables + INVERSE_Q + m, own_record(of.tables, columns, RECORD_Q));
    const Factors<Q, M> factors(of.exact_tables + EXACT_INVERSE_Q + m);
    __syncthreads();
    Complex z[Q];
    Gauss y[Q];
    take(z, own_slots(of.tile), WIDTH);
    take(y, own_exact_slots(of.exact_tile), WIDTH);
    transform<Q, INVERSE>(z, powers);
    factors.apply(y);
    transform31<Q, INVERSE>(y);
    unrolled<0, Q>([&](auto i) { x[VALUE(i)] = z[place_of(Q, VALUE(i))]; });
    put(y, own_exact_slots(of.exact_tile), WIDTH);
}

// The transforms over q of a thread's points: complex points from `x` to slots, exact points in their
// slots.
DEVICE void both_forward_q(Complex (&x)[Q], const Both& of) {
    Gauss y[Q];
#if NEGACYCLIC
    transform<Q, FORWARD>(x, HalfTurns<Q, FORWARD>{});
#else
    transform<Q, FORWARD>(x);
#endif
    put(x, own_slots(of.tile), WIDTH);
    take(y, own_exact_slots(of.exact_tile), WIDTH);
    transform31<Q, FORWARD>(y);
    put(y, own_exact_slots(of.exact_tile), WIDTH);
}
