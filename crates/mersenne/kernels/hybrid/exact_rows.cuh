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
//
// Parts. If PARTS = P > 1, point j = P·v + t belongs to part t, and the transforms are those over v, of n/P points each.
// Above, and in the tables below, n, COLUMNS and j2 then stand for n/P, COLUMNS/P and ⌊j2/P⌋. Points of the same
// frequency k are the coefficients of a polynomial in y, where y is a step from one point to the next and y^P is ξ_k =
// h·ω^(−k) for weights h^v. Products are those of polynomials. P divides Q but not M, so the points q·M + m of a thread
// with the same q mod P have the same t = (q·M + m) mod P, and v2 = ⌊q/P⌋·M + ⌊((q mod P)·M + m)/P⌋.
#pragma once
#include "exact_line.cuh"
#include "exact_polynomials.cuh"
#include "row_steps.cuh"

#ifndef EXACT_NEGACYCLIC
#define EXACT_NEGACYCLIC 0
#endif

static_assert(Q % PARTS == 0 && (PARTS == 1 || M % PARTS != 0), "points of a thread belong to whole parts");
// The first radix, the units and the points of a part of a line.
constexpr int QP = Q / PARTS;
constexpr u32 UNITS_P = QP * A, COLUMNS_P = COLUMNS / PARTS;
constexpr u32 ODD = odd_part(COLUMNS_P);
// Steps over b of parts have other teams than the products.
constexpr u32 EXACT_TEAM = PARTS == 1 ? TEAM : THREADS;
constexpr u32 EXACT_LINES = 2 * EXACT_PAIRS;
typedef Slots<EXACT_LINES * Q, A, B, 1, 16> ExactTile;

// The start of each table, in points after the tables of complex numbers. Factors are doubled.
constexpr u32 EXACT_FORWARD_A = 0;                                   // [a − 1][kq] ω_QA^(−a·kq)
constexpr u32 EXACT_FORWARD_B = EXACT_FORWARD_A + (A - 1) * QP;      // [b − 1][kq][ka] ω_COLUMNS^(−b·v)
constexpr u32 EXACT_POINT = EXACT_FORWARD_B + (B - 1) * UNITS_P;     // [kq][ka] h·ω_COLUMNS^(−v)/4; with parts
                                                                     // [kb][kq][ka] h·ω_COLUMNS^(−k2)
constexpr u32 EXACT_INVERSE_A = EXACT_POINT + (PARTS == 1 ? UNITS_P : COLUMNS_P); // [ka][b] ω_AB^(ka·b)/n
constexpr u32 EXACT_INVERSE_Q = EXACT_INVERSE_A + A * B;             // [kq − 1][m] ω_COLUMNS^(kq·m)
constexpr u32 EXACT_PARTNER = EXACT_INVERSE_Q + (QP - 1) * M;        // [k1 mod ODD][j2] the conjugate of the
                                                                     // factor of the second line
constexpr u32 EXACT_RECORDS = EXACT_PARTNER + ODD * COLUMNS_P;       // [k1 ≤ ROWS/2][EXACT_RECORD], of which
constexpr u32 EXACT_RECORD_Q = 0;                                    // [q − 1] ω_(Q·ROWS)^(−q·k1)
constexpr u32 EXACT_RECORD_A = EXACT_RECORD_Q + QP - 1;              // [a] ω_(QA·ROWS)^(−a·k1)
constexpr u32 EXACT_RECORD_B = EXACT_RECORD_A + A;                   // [b] ω_n^(−b·k1)
constexpr u32 EXACT_RECORD = EXACT_RECORD_B + B;

// The part t and the m of the points q·M + m of a thread for q mod P = `first`.
struct PartOf {
    u32 t, m;
    DEVICE PartOf(u32 first, u32 m0) : t((first * M + m0) % PARTS), m((first * M + m0) / PARTS) {}
};
// The factors of the groups of a thread, one for each part.
template <class F>
struct OfParts {
    F of[PARTS];
};

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
        const u32 pair = g / M % EXACT_PAIRS;
        const Gauss* record = exact_record(tables, min(first + pair, (u32)ROWS / 2));
        OfParts<Twists<QP>> w;
        unrolled<0, PARTS>([&](auto i) {
            const u32 m = PartOf(VALUE(i), g % M).m;
            Gauss start = times_factor(record[EXACT_RECORD_A + m / B], record[EXACT_RECORD_B + m % B]);
            w.of[VALUE(i)] = Twists<QP>(start, record + EXACT_RECORD_Q);
        });
        return w;
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
            unrolled<0, PARTS>([&](auto i) {
                const PartOf part(VALUE(i), m);
                Gauss y[QP];
                unrolled<0, QP>([&](auto u) { y[VALUE(u)] = x[VALUE(i) + PARTS * VALUE(u)]; });
                w.of[VALUE(i)].apply(y);
                transform31<QP, FORWARD>(y);
                put(y, tile + ExactTile::at(Q * (line * EXACT_PAIRS + pair) + part.t, part.m / B, part.m % B), PARTS);
            });
        }
    });
}

// After a barrier, from slots to points in memory, by the inverse transform over kq.
DEVICE void exact_inverse_q(Gauss* data, const Gauss* __restrict__ tables, Gauss* tile, u32 first) {
    auto powers = [&](u32 g) {
        OfParts<Factors<QP, M>> w;
        unrolled<0, PARTS>([&](auto i) {
            w.of[VALUE(i)] = Factors<QP, M>(tables + EXACT_INVERSE_Q + PartOf(VALUE(i), Item(g).m).m);
        });
        return w;
    };
    step<Q, EXACT_LINES * M, THREADS>(barrier, powers, [&](u32 g, const auto& w) {
        const Item item(g);
        const u32 pair = item.line % EXACT_PAIRS;
        const bool second = item.line >= EXACT_PAIRS;
        if (!is_pair(first, pair) || (second && is_single(first, pair))) return;
        Gauss* points = data + position(exact_row_of(first, item.line), item.m);
        unrolled<0, PARTS>([&](auto i) {
            const PartOf part(VALUE(i), item.m);
            const Gauss* partner = tables + EXACT_PARTNER + (first + pair) % ODD * COLUMNS_P + part.m;
            Gauss x[QP];
            take(x, tile + ExactTile::at(Q * item.line + part.t, part.m / B, part.m % B), PARTS);
            w.of[VALUE(i)].apply(x);
            transform31<QP, INVERSE>(x);
            unrolled<0, QP>([&](auto u) {
                Gauss v = x[place_of31(QP, VALUE(u))];
                if (second) v = conjugate(mul(v, partner[VALUE(u) * M]));
                store(points + (VALUE(i) + PARTS * VALUE(u)) * APART, v);
            });
        });
    });
}

// After a barrier, the transforms of both lines of a pair over a, or their inverses. Without parts, teams have
// both lines of a pair, in this step and the next.
template <int SIGN, class Barrier>
DEVICE void exact_transform_a(const Gauss* __restrict__ tables, Gauss* tile, const Barrier& before) {
    constexpr int FROM = SIGN == FORWARD ? 1 : 0;
    constexpr u32 PAIR_ITEMS = EXACT_PAIRS * Q * B, TOGETHER = lines_of_item(PAIR_ITEMS);
    // Teams have both lines of their items of pairs.
    constexpr u32 SHARE = PAIR_ITEMS * EXACT_TEAM / THREADS;
    auto pair_item = [&](u32 h) { return TOGETHER == 2 ? h : h / (2 * SHARE) * SHARE + h % SHARE; };
    auto powers = [&](u32 h) {
        const u32 of = pair_item(h);
        if constexpr (SIGN == FORWARD) {
            return Factors<A, QP, FROM>(tables + EXACT_FORWARD_A + of / B % Q / PARTS);
        } else {
            return Factors<A, B, FROM>(tables + EXACT_INVERSE_A + of % B);
        }
    };
    step<A, 2 / TOGETHER * PAIR_ITEMS, EXACT_TEAM>(before, powers, [&](u32 h, const auto& w) {
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

// The factors of a unit in the transform over b, and doubled h·ω_n^(−k)/4 for its first frequency.
struct UnitFactors {
    Factors<B, UNITS> inner;
    Gauss quarter;
};

DEVICE void team_barrier_of_block() { barrier_of<EXACT_TEAM>(); }

#if PARTS == 1

// After a barrier, the transforms over b, the products, and the inverse transforms.
DEVICE void exact_middle(Gauss* data, const Gauss* __restrict__ factor, const Gauss* __restrict__ tables, Gauss* tile,
                         u32 first) {
    constexpr u32 ITEMS = EXACT_PAIRS * UNITS;
    // Threads run through ka first, then kq.
    auto powers = [&](u32 g) {
        UnitFactors w;
        w.inner = Factors<B, UNITS>(tables + EXACT_FORWARD_B + g % UNITS);
        const Gauss* record = exact_record(tables, min(first + g / UNITS, (u32)ROWS / 2));
        w.quarter = times_factor(tables[EXACT_POINT + g % UNITS], record[EXACT_RECORD_B + 1]);
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

#else

// After a barrier, the transforms over b of all parts, or their inverses without factors.
template <int SIGN>
DEVICE void exact_transform_b(const Gauss* __restrict__ tables, Gauss* tile, u32 first) {
    // Threads run through ka first, then the parts, then kq.
    auto powers = [&](u32 g) {
        const u32 ka = g % A, kq = g / A % Q / PARTS;
        if constexpr (SIGN == FORWARD) return Factors<B, UNITS_P>(tables + EXACT_FORWARD_B + kq * A + ka);
        else return Factors<1, 1>();
    };
    step<B, EXACT_LINES * Q * A, THREADS>(barrier, powers, [&](u32 g, const auto& w) {
        const u32 ka = g % A, u = g / A;
        if (!is_pair(first, u / Q % EXACT_PAIRS)) return;
        Gauss* slots = tile + ExactTile::at(u, ka, 0);
        Gauss x[B];
        take(x, slots, ExactTile::STRIDE_B);
        if constexpr (SIGN == FORWARD) w.apply(x);
        transform31<B, SIGN>(x);
        put(x, slots, ExactTile::STRIDE_B);
    });
}

// After a barrier, the products of the polynomials of both lines of a pair.
DEVICE void exact_products(Gauss* data, const Gauss* __restrict__ factor, const Gauss* __restrict__ tables, Gauss* tile,
                           u32 first) {
    constexpr u32 ITEMS = EXACT_PAIRS * COLUMNS_P;
    // Threads run through ka first, then kq, then kb. Returns doubled ξ_k.
    auto point = [&](u32 g) {
        const Gauss* record = exact_record(tables, min(first + g / COLUMNS_P, (u32)ROWS / 2));
        return times_factor(tables[EXACT_POINT + g % COLUMNS_P], record[EXACT_RECORD_B + 1]);
    };
    step<2 * PARTS, ITEMS, THREADS>(barrier, point, [&](u32 g, Gauss xi) {
        const u32 pair = g / COLUMNS_P, ka = g % A, kq = g / A % QP, kb = g % COLUMNS_P / UNITS_P;
        if (!is_pair(first, pair)) return;
        Gauss* x_slots = tile + ExactTile::at(Q * pair + PARTS * kq, ka, kb);
        Gauss* a_slots = tile + ExactTile::at(Q * (EXACT_PAIRS + pair) + PARTS * kq, ka, kb);
        Polynomial x(x_slots), a(a_slots);
#if KIND != 0
        // An order that suits memory; the two lines of every pair have memory of their own.
        auto nth = [&](u32 i) { return (first * 2 * COLUMNS) + i * ITEMS + g; };
#endif
#if KIND == 1
        unrolled<0, PARTS>([&](auto t) {
            store(data + nth(VALUE(t)), x.of[VALUE(t)]);
            store(data + nth(PARTS + VALUE(t)), a.of[VALUE(t)]);
        });
#else
#if KIND == 0
        self_product(x, a, xi);
#else
        Polynomial u, b;
        unrolled<0, PARTS>([&](auto t) {
            u.of[VALUE(t)] = load(factor + nth(VALUE(t)));
            b.of[VALUE(t)] = load(factor + nth(PARTS + VALUE(t)));
        });
        product(x, a, u, b, xi);
#endif
        x.put(x_slots);
        a.put(a_slots);
#endif
    });
}

// After a barrier, the transforms over b, the products, and the inverse transforms.
DEVICE void exact_middle(Gauss* data, const Gauss* __restrict__ factor, const Gauss* __restrict__ tables, Gauss* tile,
                         u32 first) {
    exact_transform_b<FORWARD>(tables, tile, first);
    exact_products(data, factor, tables, tile, first);
#if KIND != 1
    exact_transform_b<INVERSE>(tables, tile, first);
#endif
}

#endif
