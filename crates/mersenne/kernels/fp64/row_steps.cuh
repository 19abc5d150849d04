// The transforms along the rows of a tile, in steps of radices Q, A and B, and the products of points
// between them. See rows.cu for the layout of the points and for KIND.
//
// If NEGACYCLIC is defined as 1, frequencies are k + ½, k1 stands for k1 + ½ in the factors below, and the
// partner of k is n − 1 − k: rows k1 and ROWS − 1 − k1 are partners, and no row is its own partner.
#pragma once
#include "line.cuh"

#ifndef NEGACYCLIC
#define NEGACYCLIC 0
#endif

constexpr int Q = OUTER_RADIX, A = RADIX_A, B = RADIX_B;
constexpr u32 M = A * B;
constexpr u32 COLUMNS = Q * M;
constexpr u32 LINES = 2 * PAIRS;
constexpr u32 U = LINES * Q;
// Units: the groups of points that the last step transforms. Unit v = kq + Q·ka has the frequencies
// k2 = v + UNITS·kb.
constexpr u32 UNITS = Q * A;
typedef Slots<U, A, B, 1> Tile;
// Returns the threads of the smallest team of warps that has its own units and their partners in
// the steps over a and b. In the first of all pairs, partners may belong to another team.
constexpr u32 team_threads() {
    for (u32 warps = 1; warps < THREADS / 32; warps++) {
        u32 teams = THREADS / 32 / warps;
        if (THREADS / 32 % warps == 0 && 32 * warps % A == 0 && (warps == 1 || teams <= 15)) return 32 * warps;
    }
    return THREADS;
}
constexpr u32 TEAM = THREADS == PAIRS * UNITS ? team_threads() : THREADS;

// The start of each table, in points of `tables`; the host fills the tables in this order. [e] runs
// through the powers that a transform uses.
constexpr u32 POWERS_Q = powers_of(Q), POWERS_A = powers_of(A), POWERS_B = powers_of(B);
constexpr u32 FORWARD_A = 0;                             // [e][kq] e(−e·kq/QA)
constexpr u32 FORWARD_B = FORWARD_A + POWERS_A * Q;      // [e][kq][ka] e(−e·v/COLUMNS)
constexpr u32 INVERSE_A = FORWARD_B + POWERS_B * UNITS;  // [e][b] e(e·b/AB)
constexpr u32 INVERSE_Q = INVERSE_A + POWERS_A * B;      // [e][m] e(e·m/COLUMNS)
constexpr u32 RECORDS = INVERSE_Q + POWERS_Q * M;        // [k1][RECORD], of which
constexpr u32 RECORD_Q = 0;                              // [e] e(−e·k1/(Q·ROWS))
constexpr u32 RECORD_A = RECORD_Q + POWERS_Q;            // [e] e(−e·k1/(QA·ROWS)) − 1
constexpr u32 RECORD_B = RECORD_A + POWERS_A;            // [e] e(−e·k1/n) − 1
constexpr u32 RECORD = RECORD_B + POWERS_B;

// Returns the row of a line of the block whose first pair is `first`.
DEVICE u32 row_of(u32 first, u32 line) {
    u32 pair = first + line % PAIRS;
#if NEGACYCLIC
    return line < PAIRS ? pair : ROWS - 1 - pair;
#endif
    return line < PAIRS ? pair : pair == 0 ? ROWS / 2 : ROWS - pair;
}
// Returns the index in memory of point j2 of row k1 = `row`.
DEVICE u32 position(u32 row, u32 j2) {
    constexpr u32 CQ = COLUMN_OUTER_RADIX, CA = COLUMN_RADIX_A;
    u32 place = row / CQ % CA + CA * (row % CQ + CQ * (row / (CQ * CA)));
    return (j2 / CHUNK * ROWS + place) * CHUNK + j2 % CHUNK;
}
// The distance of points of a row whose q differ by 1.
constexpr u32 APART = M * ROWS;

// The line, and m = a·B + b, of an item of the steps over q.
struct Item {
    u32 line, m;
    DEVICE Item(u32 g) : line(g / M), m(g % M) {}
    DEVICE Complex* slots(Complex* tile) const { return tile + Tile::at(Q * line, m / B, m % B); }
};

// Runs before the first step.
DEVICE void last_launch() {
    wait_for_last_launch();
    let_next_launch_begin();
}
DEVICE void barrier() { __syncthreads(); }

// From points in memory to slots, by the transform over q.
DEVICE void forward_q(const Complex* data, const Complex* __restrict__ tables, Complex* tile, u32 first) {
    auto powers = [&](u32 g) {
        return Listed<Q, 1>(tables + RECORDS + row_of(first, Item(g).line) * RECORD + RECORD_Q);
    };
    step<Q, LINES * M, THREADS>(last_launch, powers, [&](u32 g, const auto& w) {
        const Item item(g);
        Complex x[Q];
        load(x, data + position(row_of(first, item.line), item.m), APART);
        transform<Q, FORWARD>(x, w);
        put(x, item.slots(tile), 1);
    });
}

// After a barrier, from slots to points in memory, by the inverse transform over kq.
DEVICE void inverse_q(Complex* data, const Complex* __restrict__ tables, Complex* tile, u32 first) {
    auto powers = [&](u32 g) { return Listed<Q, M>(tables + INVERSE_Q + Item(g).m); };
    step<Q, LINES * M, THREADS>(barrier, powers, [&](u32 g, const auto& w) {
        const Item item(g);
        Complex x[Q];
        take(x, item.slots(tile), 1);
        transform<Q, INVERSE>(x, w);
        store(x, data + position(row_of(first, item.line), item.m), APART);
    });
}

// An item of the step over a: b, and the kq of a line, next to the kq of its partner.
struct InnerItem {
    u32 b, line, kq;
    DEVICE InnerItem(u32 h) : b(h % B) {
        const u32 pair = h / (2 * B) / Q;
        const bool partner = h / B % 2 == 1;
        kq = h / (2 * B) % Q;
        line = pair;
        if (partner) {
            kq = Q - 1 - kq;
            line += PAIRS;
        }
    }
};

// After a barrier, the transform over a, or its inverse.
template <int SIGN, class Barrier>
DEVICE void transform_a(const Complex* __restrict__ tables, Complex* tile, u32 first, const Barrier& before) {
    auto powers = [&](u32 h) {
        const InnerItem item(h);
        if constexpr (SIGN == FORWARD) {
            const Complex* record = tables + RECORDS + row_of(first, item.line) * RECORD;
            return Turned<A, Q>(tables + FORWARD_A + item.kq, record + RECORD_A);
        } else {
            return Listed<A, B>(tables + INVERSE_A + item.b);
        }
    };
    step<A, U * B, TEAM>(before, powers, [&](u32 h, const auto& w) {
        const InnerItem item(h);
        Complex* slots = tile + Tile::at(Q * item.line + item.kq, 0, item.b);
        Complex x[A];
        take(x, slots, Tile::STRIDE_A);
        transform<A, SIGN>(x, w);
        put(x, slots, Tile::STRIDE_A);
    });
}

// Two units whose frequencies are partners of each other: if k is in one unit, n − k is in the
// other.
struct Partners {
    u32 x_line, x_unit, y_line, y_unit;
    // Whether these are units 0 and UNITS/2 of row 0, each of which is its own partner.
    bool alone;
    DEVICE Partners(u32 first, u32 pair, u32 v)
        : x_line(pair), x_unit(v), y_line(PAIRS + pair), y_unit(UNITS - 1 - v), alone(false) {
        if (NEGACYCLIC || first + pair > 0) return;
        // Half of the items are for row ROWS/2, and half for row 0.
        if (v < UNITS / 2) {
            x_line = y_line;
        } else {
            y_line = x_line;
            x_unit = v - UNITS / 2;
            y_unit = x_unit == 0 ? UNITS / 2 : UNITS - x_unit;
            alone = x_unit == 0;
        }
    }
};
DEVICE Complex* unit_slots(Complex* tile, u32 line, u32 unit) {
    return tile + Tile::at(Q * line + unit % Q, unit / Q, 0);
}

// The powers of the factor of the unit of partners. This factor is e(−1/B)/w, where w is the unit's
// factor. If both units are their own partners, w = 1, and the second unit has the factor e(−1/2B).
template <class Power>
struct PartnersPowers {
    const Power& power;
    bool alone;
    template <class I>
    DEVICE Complex operator()(I e) const {
        Complex w = times_root<-I::value, B>(conjugate(power(e)));
        Complex v = root<-I::value, 2 * B>();
        return alone ? v : w;
    }
};

// Replaces (x, y) = (Z_k, Z_(n−k)) of a real signal by those of the product with another signal,
// given by (u, v); w = e(−k/n). Let E and O be the transforms of the even and the odd words: Z =
// E + i·O and conj Z_(n−k) = E − i·O, and products have E = E₁E₂ + w·O₁O₂, O = E₁O₂ + O₁E₂.
DEVICE void product(Complex& x, Complex& y, Complex u, Complex v, Complex w) {
    Complex t = {fma(0.25, w.re, 0.25), 0.25 * w.im};
    Complex a = conjugate(y), b = conjugate(v);
    Complex q = mul(t, mul(sub(x, a), sub(u, b)));
    x = multiply_sub(x, u, q);
    y = conjugate(multiply_sub(a, b, q));
}
DEVICE void self_product(Complex& x, Complex& y, Complex w) {
    Complex t = {fma(0.25, w.re, 0.25), 0.25 * w.im};
    Complex a = conjugate(y);
    Complex q = mul(t, square(sub(x, a)));
    x = square_sub(x, q);
    y = conjugate(square_sub(a, q));
}

// Calls f(x, y, index of x, index of y, w) for every pair of partners in two units. For a point
// that is its own partner, y is a copy.
template <class F>
DEVICE void products(Complex (&x)[B], Complex (&y)[B], Complex w, bool alone, const F& f) {
    if (alone) {
        // x: k and B − k; y: k and B − 1 − k, where w = e(−1/2B).
        unrolled<0, B / 2 + 1>([&](auto k) {
            constexpr int i = place_of(B, VALUE(k)), j = place_of(B, (B - VALUE(k)) % B);
            Complex copy = x[j];
            f(x[i], i == j ? copy : x[j], i, j, root<-VALUE(k), B>());
        });
        unrolled<0, (B + 1) / 2>([&](auto k) {
            constexpr int i = place_of(B, VALUE(k)), j = place_of(B, B - 1 - VALUE(k));
            Complex copy = y[j];
            f(y[i], i == j ? copy : y[j], B + i, B + j, root<-2 * VALUE(k) - 1, 2 * B>());
        });
    } else {
        unrolled<0, B>([&](auto k) {
            constexpr int i = place_of(B, VALUE(k)), j = place_of(B, B - 1 - VALUE(k));
            f(x[i], y[j], i, B + j, times_root<-VALUE(k), B>(w));
        });
    }
}

// After a barrier, the transform over b, the products, and the inverse transform.
template <class Barrier>
DEVICE void middle(Complex* data, const Complex* __restrict__ factor, const Complex* __restrict__ tables,
                   Complex* tile, u32 first, const Barrier& before) {
    constexpr u32 ITEMS = PAIRS * UNITS;
    // Threads run through ka first, then kq.
    auto partners = [&](u32 g) { return Partners(first, g / UNITS, g / A % Q + Q * (g % A)); };
    auto powers = [&](u32 g) {
        const Partners of = partners(g);
        const Complex* record = tables + RECORDS + row_of(first, of.x_line) * RECORD;
        return Turned<B, UNITS>(tables + FORWARD_B + of.x_unit / Q + A * (of.x_unit % Q), record + RECORD_B);
    };
    step<2 * B, ITEMS, TEAM>(before, powers, [&](u32 g, const auto& power) {
        const Partners of = partners(g);
        Complex* x_slots = unit_slots(tile, of.x_line, of.x_unit);
        Complex* y_slots = unit_slots(tile, of.y_line, of.y_unit);
        Complex x[B], y[B];
        take(x, x_slots, Tile::STRIDE_B);
        take(y, y_slots, Tile::STRIDE_B);
        transform<B, FORWARD>(x, power);
        transform<B, FORWARD>(y, PartnersPowers<Turned<B, UNITS>>{power, of.alone});
#if KIND != 0
        // The block's own points, in an order that suits memory: points of x in the first lines of pairs,
        // those of y in the second. Lines are not found from i·ITEMS + g: ptxas 13.0 compiled that wrongly
        // for B = 16 (it computed `row_of` once more from a predicate that it had overwritten).
        auto nth = [&](u32 i) {
            const u32 point = i % B * ITEMS + g, pair = PAIRS == 1 ? 0 : point / COLUMNS, k1 = first + pair;
            const u32 row = i < B ? k1 : NEGACYCLIC ? ROWS - 1 - k1 : k1 == 0 ? ROWS / 2 : ROWS - k1;
            return position(row, point - pair * COLUMNS);
        };
#endif
#if KIND == 1
        unrolled<0, B>([&](auto i) {
            store(data + nth(VALUE(i)), x[VALUE(i)]);
            store(data + nth(B + VALUE(i)), y[VALUE(i)]);
        });
#else
#if KIND == 0
        products(x, y, power(Index<1>{}), of.alone,
                 [&](Complex& a, Complex& b, u32, u32, Complex w) { self_product(a, b, w); });
#else
        products(x, y, power(Index<1>{}), of.alone, [&](Complex& a, Complex& b, u32 i, u32 j, Complex w) {
            product(a, b, load(factor + nth(i)), load(factor + nth(j)), w);
        });
#endif
        Complex z[B];
        unrolled<0, B>([&](auto k) { z[VALUE(k)] = x[place_of(B, VALUE(k))]; });
        transform<B, INVERSE>(z);
        put(z, x_slots, Tile::STRIDE_B);
        unrolled<0, B>([&](auto k) { z[VALUE(k)] = y[place_of(B, VALUE(k))]; });
        transform<B, INVERSE>(z);
        put(z, y_slots, Tile::STRIDE_B);
#endif
    });
}
