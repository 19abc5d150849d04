// The exact transforms along the rows of a tile, and the products of points between them. Points of
// the field of q² elements, q = 2^31 − 1, have the order in memory and the steps of the complex
// points (row_steps.cuh).
//
// Pairs of rows. Let k = k1 + ROWS·k2 and n = ROWS·COLUMNS = 2^a·m with odd m. The conjugate of
// ω_n^k is ω_n^(ck), where c ≡ −1 mod 2^a and c ≡ 1 mod m. So Z_k and Z_(ck) belong to the same words,
// and if k is in row k1, ck is in row ROWS − k1, because ROWS is a power of 2. For points y of this
// row, conj Z_(ck) = Σ conj(y_j2)·ω_n^(−j2·k): the conjugates of row ROWS − k1 are transformed with
// the factors of row k1, and then Z_k and conj Z_(ck) have the same index. The rows 0 and ROWS/2 are
// pairs by themselves: the second line of such a pair has the conjugates of the first.
//
// The inverse transform of the second line is the sum over conj Z_(ck)·ω_COLUMNS^(j2·k2). Its
// conjugate differs from the sum that the inverse transforms of columns expect in row ROWS − k1 by
// the factor ω_n^((c + 1)·j2·k1)·ω_COLUMNS^(−j2), whose first factor depends on k1 mod m only.
//
// If EXACT_NEGACYCLIC is defined as 1, frequencies are k + ½, and k1 stands for k1 + ½ in the factors. The conjugate of
// ω_2n^(2k + 1) is ω_2n^(2k' + 1) with k' ≡ −k − 1 mod ROWS, so rows k1 and ROWS − 1 − k1 are pairs, and no row is a
// pair by itself. The factor of the second line is (conj(ω_2n)·ω_2n)^((2·k1 + 1)·j2)·ω_COLUMNS^(−j2).
#pragma once
#include "exact_line.cuh"
#include "row_steps.cuh"

#ifndef EXACT_NEGACYCLIC
#define EXACT_NEGACYCLIC 0
#endif

constexpr u32 ODD = odd_part(COLUMNS);
constexpr u32 EXACT_LINES = 2 * EXACT_PAIRS;
typedef Slots<EXACT_LINES * Q, A, B, 1, 16> ExactTile;

// The start of each table, in points after the tables of complex numbers. Factors are doubled.
constexpr u32 EXACT_FORWARD_A = 0;                                   // [a − 1][kq] ω_QA^(−a·kq)
constexpr u32 EXACT_FORWARD_B = EXACT_FORWARD_A + (A - 1) * Q;       // [b − 1][kq][ka] ω_COLUMNS^(−b·v)
constexpr u32 EXACT_QUARTER = EXACT_FORWARD_B + (B - 1) * UNITS;     // [kq][ka] ω_COLUMNS^(−v)/4
constexpr u32 EXACT_INVERSE_A = EXACT_QUARTER + UNITS;               // [ka][b] ω_AB^(ka·b)/n
constexpr u32 EXACT_INVERSE_Q = EXACT_INVERSE_A + A * B;             // [kq − 1][m] ω_COLUMNS^(kq·m)
constexpr u32 EXACT_PARTNER = EXACT_INVERSE_Q + (Q - 1) * M;         // [k1 mod ODD][j2] the conjugate of the
                                                                     // factor of the second line
constexpr u32 EXACT_RECORDS = EXACT_PARTNER + ODD * COLUMNS;         // [k1 ≤ ROWS/2][EXACT_RECORD], of which
constexpr u32 EXACT_RECORD_Q = 0;                                    // [q − 1] ω_(Q·ROWS)^(−q·k1)
constexpr u32 EXACT_RECORD_A = EXACT_RECORD_Q + Q - 1;               // [a] ω_(QA·ROWS)^(−a·k1)
constexpr u32 EXACT_RECORD_B = EXACT_RECORD_A + A;                   // [b] ω_n^(−b·k1)
constexpr u32 EXACT_RECORD = EXACT_RECORD_B + B;

DEVICE u32 exact_row_of(u32 first, u32 line) {
    u32 pair = first + line % EXACT_PAIRS;
#if EXACT_NEGACYCLIC
    return line < EXACT_PAIRS ? pair : ROWS - 1 - pair;
#endif
    return line < EXACT_PAIRS || pair == 0 ? pair : ROWS - pair;
}
// Whether the block has the pair: the last block has only the pair of row ROWS/2 with itself, and with
// EXACT_NEGACYCLIC none.
DEVICE bool is_pair(u32 first, u32 pair) { return first + pair < ROWS / 2 + (EXACT_NEGACYCLIC ? 0 : 1); }
DEVICE bool is_single(u32 first, u32 pair) {
    return !EXACT_NEGACYCLIC && (first + pair == 0 || first + pair == ROWS / 2);
}
DEVICE const Gauss* exact_record(const Gauss* __restrict__ tables, u32 k1) {
    return tables + EXACT_RECORDS + k1 * EXACT_RECORD;
}

// Runs before the first step.
DEVICE void begin_exact_rows() {
#if BESIDE
    let_next_launch_begin();
#else
    last_launch();
#endif
}

// The number of lines of an item in a step that has `pairs` items if an item has both lines of a pair.
constexpr u32 lines_of_item(u32 pairs) { return 2 * pairs <= THREADS ? 1 : 2; }

// From points in memory to slots, by the transforms of both lines of a pair over q.
DEVICE void exact_forward_q(const Gauss* data, const Gauss* __restrict__ tables, Gauss* tile, u32 first) {
    constexpr u32 TOGETHER = lines_of_item(EXACT_PAIRS * M);
    auto powers = [&](u32 g) {
        const u32 pair = g / M % EXACT_PAIRS, m = g % M;
        const Gauss* record = exact_record(tables, min(first + pair, (u32)ROWS / 2));
        Gauss start = times_factor(record[EXACT_RECORD_A + m / B], record[EXACT_RECORD_B + m % B]);
        return Twists<Q>(start, record + EXACT_RECORD_Q);
    };
    step<Q, EXACT_LINES / TOGETHER * M, THREADS>(begin_exact_rows, powers, [&](u32 g, const auto& w) {
        const u32 pair = g / M % EXACT_PAIRS, m = g % M, from = g / M / EXACT_PAIRS;
        if (!is_pair(first, pair)) return;
        // A loop, because code for both lines would not fit the instruction cache.
#pragma unroll 1
        for (u32 line = from; line < from + TOGETHER; line++) {
            const Gauss* points = data + position(exact_row_of(first, line * EXACT_PAIRS + pair), m);
            const u32 sign = line == 0 ? 0 : Q31;
            Gauss x[Q];
            unrolled<0, Q>([&](auto i) {
                x[VALUE(i)] = load(points + VALUE(i) * APART);
                x[VALUE(i)].im ^= sign;
            });
            w.apply(x);
            transform31<Q, FORWARD>(x);
            put(x, tile + ExactTile::at(Q * (line * EXACT_PAIRS + pair), m / B, m % B), 1);
        }
    });
}

// After a barrier, from slots to points in memory, by the inverse transform over kq.
DEVICE void exact_inverse_q(Gauss* data, const Gauss* __restrict__ tables, Gauss* tile, u32 first) {
    auto powers = [&](u32 g) { return Factors<Q, M>(tables + EXACT_INVERSE_Q + Item(g).m); };
    step<Q, EXACT_LINES * M, THREADS>(barrier, powers, [&](u32 g, const auto& w) {
        const Item item(g);
        const u32 pair = item.line % EXACT_PAIRS;
        const bool second = item.line >= EXACT_PAIRS;
        if (!is_pair(first, pair) || (second && is_single(first, pair))) return;
        Gauss x[Q];
        take(x, tile + ExactTile::at(Q * item.line, item.m / B, item.m % B), 1);
        w.apply(x);
        transform31<Q, INVERSE>(x);
        Gauss* points = data + position(exact_row_of(first, item.line), item.m);
        const Gauss* partner = tables + EXACT_PARTNER + (first + pair) % ODD * COLUMNS + item.m;
        unrolled<0, Q>([&](auto i) {
            Gauss v = x[place_of31(Q, VALUE(i))];
            if (second) v = conjugate(mul(v, partner[VALUE(i) * M]));
            store(points + VALUE(i) * APART, v);
        });
    });
}

// After a barrier, the transforms of both lines of a pair over a, or their inverses. Teams have both
// lines of a pair, in this step and the next.
template <int SIGN, class Barrier>
DEVICE void exact_transform_a(const Gauss* __restrict__ tables, Gauss* tile, const Barrier& before) {
    constexpr int FROM = SIGN == FORWARD ? 1 : 0;
    constexpr u32 PAIR_ITEMS = EXACT_PAIRS * Q * B, TOGETHER = lines_of_item(PAIR_ITEMS);
    // Teams have both lines of their items of pairs.
    constexpr u32 SHARE = PAIR_ITEMS * TEAM / THREADS;
    auto pair_item = [&](u32 h) { return TOGETHER == 2 ? h : h / (2 * SHARE) * SHARE + h % SHARE; };
    auto powers = [&](u32 h) {
        const u32 of = pair_item(h);
        if constexpr (SIGN == FORWARD) {
            return Factors<A, Q, FROM>(tables + EXACT_FORWARD_A + of / B % Q);
        } else {
            return Factors<A, B, FROM>(tables + EXACT_INVERSE_A + of % B);
        }
    };
    step<A, 2 / TOGETHER * PAIR_ITEMS, TEAM>(before, powers, [&](u32 h, const auto& w) {
        const u32 from = TOGETHER == 2 ? 0 : h / SHARE % 2;
        const u32 of = pair_item(h);
        const u32 b = of % B, kq = of / B % Q, pair = of / (B * Q);
        // A loop, because code for both lines would not fit the instruction cache.
#pragma unroll 1
        for (u32 line = from; line < from + TOGETHER; line++) {
            Gauss* slots = tile + ExactTile::at(Q * (line * EXACT_PAIRS + pair) + kq, 0, b);
            Gauss x[A];
            take(x, slots, ExactTile::STRIDE_A);
            w.apply(x);
            transform31<A, SIGN>(x);
            put(x, slots, ExactTile::STRIDE_A);
        }
    });
}

// Given doubled w/4 for w = ω_n^(−k), replaces x = Z_k and a = conj Z_(ck) of a real signal by those
// of its square, as `self_product` does for complex points.
DEVICE void exact_self_product(Gauss& x, Gauss& a, Gauss quarter) {
    constexpr u32 fourth = 1u << 29;
    Gauss t = doubled({add31(quarter.re >> 1, fourth), quarter.im >> 1});
    Gauss q = mul(square(sub(x, a)), t);
    x = sub(square(x), q);
    a = sub(square(a), q);
}
DEVICE void exact_product(Gauss& x, Gauss& a, Gauss u, Gauss b, Gauss quarter) {
    constexpr u32 fourth = 1u << 29;
    Gauss t = doubled({add31(quarter.re >> 1, fourth), quarter.im >> 1});
    Gauss q = mul(mul(sub(x, a), doubled(sub(u, b))), t);
    x = sub(mul(x, doubled(u)), q);
    a = sub(mul(a, doubled(b)), q);
}

// The factors of a unit in the transform over b, and doubled ω_n^(−k)/4 for its first frequency.
struct UnitFactors {
    Factors<B, UNITS> inner;
    Gauss quarter;
};

DEVICE void team_barrier_of_block() { barrier_of<TEAM>(); }

// After a barrier, the transforms over b, the products, and the inverse transforms.
DEVICE void exact_middle(Gauss* data, const Gauss* __restrict__ factor, const Gauss* __restrict__ tables, Gauss* tile,
                         u32 first) {
    constexpr u32 ITEMS = EXACT_PAIRS * UNITS;
    // Threads run through ka first, then kq.
    auto powers = [&](u32 g) {
        UnitFactors w;
        w.inner = Factors<B, UNITS>(tables + EXACT_FORWARD_B + g % UNITS);
        const Gauss* record = exact_record(tables, min(first + g / UNITS, (u32)ROWS / 2));
        w.quarter = times_factor(tables[EXACT_QUARTER + g % UNITS], record[EXACT_RECORD_B + 1]);
        return w;
    };
    step<2 * B, ITEMS, TEAM>(team_barrier_of_block, powers, [&](u32 g, const UnitFactors& w) {
        const u32 pair = g / UNITS, kq = g / A % Q, ka = g % A;
        if (!is_pair(first, pair)) return;
        Gauss* x_slots = tile + ExactTile::at(Q * pair + kq, ka, 0);
        Gauss* a_slots = tile + ExactTile::at(Q * (EXACT_PAIRS + pair) + kq, ka, 0);
        Gauss x[B], a[B];
        take(x, x_slots, ExactTile::STRIDE_B);
        take(a, a_slots, ExactTile::STRIDE_B);
        w.inner.apply(x);
        w.inner.apply(a);
        transform31<B, FORWARD>(x);
        transform31<B, FORWARD>(a);
#if KIND != 0
        // An order that suits memory; the two lines of every pair have memory of their own.
        auto nth = [&](u32 i) { return (first * 2 * COLUMNS) + i * ITEMS + g; };
#endif
#if KIND == 1
        unrolled<0, B>([&](auto i) {
            store(data + nth(VALUE(i)), x[VALUE(i)]);
            store(data + nth(B + VALUE(i)), a[VALUE(i)]);
        });
#else
        Gauss z[B];
        unrolled<0, B>([&](auto k) {
            constexpr int at = place_of31(B, VALUE(k));
            Gauss quarter = w.quarter;
            if constexpr (VALUE(k) > 0) {
                quarter = doubled(times_root<-VALUE(k), B>(Gauss{w.quarter.re >> 1, w.quarter.im >> 1}));
            }
#if KIND == 0
            exact_self_product(x[at], a[at], quarter);
#else
            exact_product(x[at], a[at], load(factor + nth(at)), load(factor + nth(B + at)), quarter);
#endif
            z[VALUE(k)] = x[at];
        });
        transform31<B, INVERSE>(z);
        put(z, x_slots, ExactTile::STRIDE_B);
        unrolled<0, B>([&](auto k) { z[VALUE(k)] = a[place_of31(B, VALUE(k))]; });
        transform31<B, INVERSE>(z);
        put(z, a_slots, ExactTile::STRIDE_B);
#endif
    });
}
