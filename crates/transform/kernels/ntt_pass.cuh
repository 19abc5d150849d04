// A pass of transforms of vectors over a field. A vector has N points, and N is a power of two or a small
// multiple of one. `goldilocks_pass.cu` and `f50_pass.cu` define the field, and include this file.
//
// The pass transforms lines of LENGTH = Q·A·B points. The points of a line are `inner` apart, and `inner`
// is a power of two. Hence line r of a vector is r = i + inner·g with i < inner, and its point j is at
// i + inner·(j + LENGTH·g).
//
//   OUTER_RADIX, RADIX_A, RADIX_B   Q, A, B
//   LINES     lines of a tile. In column passes LINES divides `inner`
//   PLACE     COLUMNS: inner > 1. ROWS: inner = 1. SCATTER: inner = 1, the last pass of a transform
//             whose result is in natural order: frequency k of line r is written to r + k·(number of lines)
//   JOIN      0 for decimation in frequency: frequencies at places of points; a column pass multiplies
//             frequency k by ω^(ik), where ω has order inner·LENGTH. 1 for decimation in time: points at
//             places of frequencies; a column pass first multiplies frequency k by ω^(ik)
//   REVERSED  1: within a line, frequency k is at the place with the digits of k in reverse order (see
//             `place`), 0: at k
//   INVERSE   1: roots and tables are inverse
//   SCALED    1: results are multiplied by `scale`
//   CANONICAL 1: results are reduced to 0 ≤ x < p, for the modulus p of the field
//   THREADS, BLOCKS   threads of a block, blocks of a multiprocessor
//
// The including file defines, before it includes this one,
//
//   Element        a word of memory
//   Inner, Outer   the factors of the tables
//   RENUMBERED     whether `transform` ignores INVERSE, so that its output k is frequency −k
//   Arithmetic     the arithmetic of a thread, with the members
//     inner, outer          the tables: ω^(b·ka), ω of order M, and ω^(m·kq), ω of order LENGTH
//     load(x)               an element as `transform` takes it
//     once(x)               an element of the tile as `transform` takes it
//     twiddled(x, w)        an element of the tile times a factor of a table, as `transform` takes it
//     powered(x, t)         x times a power, as `transform` takes it
//     product(x, y)         the product of two powers
//     scaled(t)             the power t times the scale of the pass
//     moved(v, t)           output v of `transform` times the power t, as it is stored
//     finished(v)           output v of `transform` times the scale if SCALED, as it is stored
//     placed(v)             output v of `transform`, as it is stored
//     transform<n, FROM, TO>(load, store)   n points: store(Index<k>{}, X_k), x_j = load(Index<j>{})
//     FROM_MEMORY, FROM_INNER, FROM_OUTER, FROM_POWER   values of FROM: where inputs come from
//     TO_TILE, TO_POWER     values of TO: outputs stay in the tile or are stored, or `moved` next
//   Chain<n, LOADS>(arithmetic, first, step)   first·step^j, by next(arithmetic, Index<j>{}) in the
//                  order in which `transform` calls `load` (LOADS) or `store`
#pragma once
#include "index.cuh"
#include "slots.cuh"

constexpr u32 COLUMNS = 0, ROWS = 1, SCATTER = 2;
constexpr int Q = OUTER_RADIX, A = RADIX_A, B = RADIX_B;
constexpr u32 M = A * B, LENGTH = Q * M, U = LINES * Q;

// Lines and kq in `u`: threads run through the lines first, or through kq first.
constexpr bool LINES_FIRST = PLACE != ROWS;
DEVICE u32 line_of(u32 u) { return LINES_FIRST ? u % LINES : u / Q; }
DEVICE u32 kq_of(u32 u) { return LINES_FIRST ? u / LINES : u % Q; }
DEVICE u32 u_of(u32 line, u32 kq) { return LINES_FIRST ? line + LINES * kq : line * Q + kq; }
constexpr u32 STRIDE_KQ = LINES_FIRST ? LINES : 1;

// Threads run through u, then a or b. In rows they also run through b, then a, and through ka if Q = 1.
constexpr u32 PAD_A = PLACE == ROWS && U % 16 == 0 && Q < 16 ? Q : 0;
constexpr u32 PAD_B = PLACE == COLUMNS ? (LINES < 16 ? LINES : 0) : ((U + PAD_A) * A + 1) % 2;
typedef Slots<U, A, B, PAD_A, PAD_B> Tile;

// k with its log2(n) bits in reverse order if n is a power of two, else k.
template <u32 n>
DEVICE u32 digit(u32 k) {
    if constexpr (REVERSED && n > 1 && (n & (n - 1)) == 0) {
        constexpr u32 bits = n == 2 ? 1 : n == 4 ? 2 : n == 8 ? 3 : n == 16 ? 4 : 5;
        return __brev(k) >> (32 - bits);
    } else {
        return k;
    }
}
// The place of frequency kq + Q·(ka + A·kb).
DEVICE u32 place(u32 kq, u32 ka, u32 kb) {
    return REVERSED ? digit<B>(kb) + B * (digit<A>(ka) + A * digit<Q>(kq)) : kq + Q * (ka + A * kb);
}
// The slot of the frequency at a place.
DEVICE u32 slot_of_place(u32 line, u32 p) {
    if (REVERSED) return Tile::at(u_of(line, digit<Q>(p / M)), digit<A>(p / B % A), digit<B>(p % B));
    return Tile::at(u_of(line, p % Q), p / Q % A, p / (Q * A));
}

// The index of output k of a transform of n points in the direction of the pass.
constexpr u32 directed(u32 k, u32 n) { return RENUMBERED && INVERSE ? minus(k, n) : k; }

// Where lines are in memory.
struct Geometry {
    u64 from_stride, to_stride;  // distance of two vectors
    u32 first, all;              // first line of the tile; lines of the batch
    u32 of_vector;               // lines of a vector
    u32 log_inner, log_rows;     // log_rows: for SCATTER, see below
};

struct Line {
    u64 from, to;  // of point 0
    u32 i;
    bool exists;
};

DEVICE Line find(const Geometry& g, u32 line) {
    // A line beyond the last one stands for the first line of the tile, and is not written.
    const bool exists = g.first + line < g.all;
    const u32 l = exists ? g.first + line : g.first;
    // The division is slow, and often there is one vector.
    const u32 vector = g.all == g.of_vector ? 0 : l / g.of_vector, r = l - vector * g.of_vector;
    const u32 i = PLACE == COLUMNS ? r & ((1u << g.log_inner) - 1) : 0;
    // For SCATTER, r = k1 + n1·k2, where n1 is the length of the first pass and 2^log_rows = of_vector / n1
    // that of the middle one, or 1: the line is at k2 + 2^log_rows·k1.
    u32 at = PLACE == COLUMNS ? r >> g.log_inner : r;
    if (PLACE == SCATTER) {
        const u32 middle = 1u << g.log_rows, n1 = g.of_vector >> g.log_rows, k2 = r / n1;
        at = k2 + middle * (r - k2 * n1);
    }
    const u64 offset = PLACE == COLUMNS ? i + ((u64)at * LENGTH << g.log_inner) : (u64)at * LENGTH;
    return {vector * g.from_stride + offset, vector * g.to_stride + (PLACE == SCATTER ? r : offset), i, exists};
}

// The powers ω^e for e < N from two tables.
struct Powers {
    const Element* __restrict__ low;
    const Element* __restrict__ high;
    u32 log_low, spread;
    DEVICE Element at(const Arithmetic& field, u32 e) const {
        e *= spread;
        return field.product(low[e & ((1u << log_low) - 1)], high[e >> log_low]);
    }
};

// The factors of the frequencies kq + Q·(ka + A·kb), for all kb.
template <bool LOADS>
DEVICE Chain<B, LOADS> factors(const Arithmetic& field, const Powers& powers, const Line& line, u32 kq, u32 ka) {
    Element first = powers.at(field, (kq + Q * ka) * line.i);
    if (SCALED) first = field.scaled(first);
    return Chain<B, LOADS>(field, first, powers.at(field, Q * A * line.i));
}

// points[i·apart]·twiddles[i·stride]. The twiddle for i = 0 is 1.
template <u32 apart, u32 stride, class I, class Table>
DEVICE auto twiddled_by(const Arithmetic& field, const Element* points, const Table* twiddles, I) {
    constexpr u32 i = I::value;
    if constexpr (i == 0) {
        return field.once(points[0]);
    } else {
        return field.twiddled(points[i * apart], twiddles[i * stride]);
    }
}

template <class Work>
DEVICE void items(u32 count, Work f) {
#pragma unroll 1
    for (u32 h = threadIdx.x; h < count; h += THREADS) f(h);
}

// For each point of rows, reads v = load(line, p) and calls store(line, p, v), where p counts the points of
// the tile. A thread issues several loads before it uses the first.
template <class Load, class Store>
DEVICE void each_point(const Geometry& geometry, Load load, Store store) {
    constexpr u32 COUNT = LINES * LENGTH, AT_ONCE = COUNT % (8 * THREADS) == 0 ? 8 : 1;
#pragma unroll 1
    for (u32 g = threadIdx.x; g < COUNT; g += AT_ONCE * THREADS) {
        Element v[AT_ONCE];
        Line line[AT_ONCE];
        unrolled<0, AT_ONCE>([&](auto k) {
            const u32 p = g + VALUE(k) * THREADS;
            line[VALUE(k)] = find(geometry, p / LENGTH);
            v[VALUE(k)] = load(line[VALUE(k)], p);
        });
        unrolled<0, AT_ONCE>([&](auto k) { store(line[VALUE(k)], g + VALUE(k) * THREADS, v[VALUE(k)]); });
    }
}

// For step Q, calls f(line, m): in columns through the lines first.
template <class Work>
DEVICE void items_q(Work f) {
    items(LINES * M, [&](u32 g) {
        if (PLACE == COLUMNS) f(g % LINES, g / LINES);
        else f(g / M, g % M);
    });
}
// For a step A that reads or writes memory, where Q = 1.
template <class Work>
DEVICE void items_a(Work f) {
    items(LINES * B, [&](u32 g) {
        if (PLACE == COLUMNS) f(g % LINES, g / LINES);
        else f(g / B, g % B);
    });
}

using F = Arithmetic;

// Decimation in frequency.
DEVICE void split(Element* to, const Element* from, const Arithmetic& field, const Powers& powers, Element* tile,
                  const Geometry& geometry) {
    const u32 log_inner = PLACE == COLUMNS ? geometry.log_inner : 0;
    if constexpr (Q > 1) {
        items_q([&](u32 l, u32 m) {
            const Element* points = from + find(geometry, l).from + ((u64)m << log_inner);
            Element* slots = tile + Tile::at(u_of(l, 0), m / B, m % B);
            field.transform<Q, F::FROM_MEMORY, F::TO_TILE>(
                [&](auto q) { return field.load(points[(u64)(VALUE(q) * M) << log_inner]); },
                [&](auto k, Element v) { slots[directed(VALUE(k), Q) * STRIDE_KQ] = v; });
        });
        __syncthreads();
        items(U * B, [&](u32 h) {
            const u32 u = h % U, b = h / U;
            Element* slots = tile + Tile::at(u, 0, b);
            const auto* __restrict__ twiddles = field.outer + Q * b + kq_of(u);
            field.transform<A, F::FROM_OUTER, F::TO_TILE>(
                [&](auto a) { return field.twiddled(slots[VALUE(a) * Tile::STRIDE_A], twiddles[VALUE(a) * B * Q]); },
                [&](auto k, Element v) { slots[directed(VALUE(k), A) * Tile::STRIDE_A] = v; });
        });
    } else {
        items_a([&](u32 l, u32 b) {
            const Element* points = from + find(geometry, l).from + ((u64)b << log_inner);
            Element* slots = tile + Tile::at(l, 0, b);
            field.transform<A, F::FROM_MEMORY, F::TO_TILE>(
                [&](auto a) { return field.load(points[(u64)(VALUE(a) * B) << log_inner]); },
                [&](auto k, Element v) { slots[directed(VALUE(k), A) * Tile::STRIDE_A] = v; });
        });
    }
    __syncthreads();
    items(U * A, [&](u32 h) {
        const u32 u = h % U, ka = h / U, kq = kq_of(u);
        Element* slots = tile + Tile::at(u, ka, 0);
        const auto* __restrict__ twiddles = field.inner + ka;
        // Here the direction is that of the inputs, so that outputs are in the order of the chain.
        auto load = [&](auto b) {
            return twiddled_by<Tile::STRIDE_B, A>(field, slots, twiddles, Index<directed(VALUE(b), B)>{});
        };
        if constexpr (PLACE == ROWS) {
            field.transform<B, F::FROM_INNER, F::TO_TILE>(
                load, [&](auto k, Element v) { slots[VALUE(k) * Tile::STRIDE_B] = field.finished(v); });
        } else {
            const Line line = find(geometry, line_of(u));
            if constexpr (PLACE == COLUMNS) {
                auto chain = factors<false>(field, powers, line, kq, ka);
                Element* points = to + line.to;
                field.transform<B, F::FROM_INNER, F::TO_POWER>(load, [&](auto k, Element v) {
                    v = field.moved(v, chain.next(field, k));
                    if (line.exists) points[(u64)place(kq, ka, VALUE(k)) << log_inner] = v;
                });
            } else {
                Element* points = to + line.to + (u64)(kq + Q * ka) * geometry.of_vector;
                field.transform<B, F::FROM_INNER, F::TO_TILE>(load, [&](auto k, Element v) {
                    if (line.exists) points[(u64)(VALUE(k) * Q * A) * geometry.of_vector] = field.finished(v);
                });
            }
        }
    });
    if constexpr (PLACE == ROWS) {
        __syncthreads();
        each_point(geometry, [&](const Line&, u32 p) { return tile[slot_of_place(p / LENGTH, p % LENGTH)]; },
                   [&](const Line& line, u32 p, Element v) {
                       if (line.exists) to[line.to + p % LENGTH] = v;
                   });
    }
}

// Decimation in time.
DEVICE void join_lines(Element* to, const Element* from, const Arithmetic& field, const Powers& powers, Element* tile,
                       const Geometry& geometry) {
    const u32 log_inner = PLACE == COLUMNS ? geometry.log_inner : 0;
    if constexpr (PLACE == ROWS) {
        each_point(geometry, [&](const Line& line, u32 p) { return from[line.from + p % LENGTH]; },
                   [&](const Line&, u32 p, Element v) { tile[slot_of_place(p / LENGTH, p % LENGTH)] = v; });
        __syncthreads();
    }
    items(U * A, [&](u32 h) {
        const u32 u = h % U, ka = h / U, kq = kq_of(u);
        Element* slots = tile + Tile::at(u, ka, 0);
        auto store = [&](auto b, Element v) { slots[directed(VALUE(b), B) * Tile::STRIDE_B] = v; };
        if constexpr (PLACE == ROWS) {
            field.transform<B, F::FROM_MEMORY, F::TO_TILE>(
                [&](auto k) { return field.load(slots[VALUE(k) * Tile::STRIDE_B]); }, store);
        } else {
            const Line line = find(geometry, line_of(u));
            auto chain = factors<true>(field, powers, line, kq, ka);
            const Element* points = from + line.from;
            field.transform<B, F::FROM_POWER, F::TO_TILE>(
                [&](auto k) {
                    const u64 at = (u64)place(kq, ka, VALUE(k)) << log_inner;
                    return field.powered(points[at], chain.next(field, k));
                },
                store);
        }
    });
    __syncthreads();
    auto end = [&](const Line& line, u64 j, Element v) {
        if (line.exists) to[line.to + (j << log_inner)] = PLACE == COLUMNS ? field.placed(v) : field.finished(v);
    };
    if constexpr (Q > 1) {
        items(U * B, [&](u32 h) {
            const u32 u = h % U, b = h / U;
            Element* slots = tile + Tile::at(u, 0, b);
            const auto* __restrict__ twiddles = field.inner + b;
            field.transform<A, F::FROM_INNER, F::TO_TILE>(
                [&](auto k) { return twiddled_by<Tile::STRIDE_A, B>(field, slots, twiddles, k); },
                [&](auto a, Element v) { slots[directed(VALUE(a), A) * Tile::STRIDE_A] = v; });
        });
        __syncthreads();
        items_q([&](u32 l, u32 m) {
            const Line line = find(geometry, l);
            const Element* slots = tile + Tile::at(u_of(l, 0), m / B, m % B);
            const auto* __restrict__ twiddles = field.outer + m;
            field.transform<Q, F::FROM_OUTER, F::TO_TILE>(
                [&](auto k) { return twiddled_by<STRIDE_KQ, M>(field, slots, twiddles, k); },
                [&](auto q, Element v) { end(line, directed(VALUE(q), Q) * M + m, v); });
        });
    } else {
        items_a([&](u32 l, u32 b) {
            const Line line = find(geometry, l);
            const Element* slots = tile + Tile::at(l, 0, b);
            const auto* __restrict__ twiddles = field.inner + b;
            field.transform<A, F::FROM_INNER, F::TO_TILE>(
                [&](auto k) { return twiddled_by<Tile::STRIDE_A, B>(field, slots, twiddles, k); },
                [&](auto a, Element v) { end(line, directed(VALUE(a), A) * B + b, v); });
        });
    }
}

// A pass over vectors. `to` and `from` may be the same array unless PLACE is SCATTER. The powers are of ω
// of order N, and ω^spread has order inner·LENGTH.
DEVICE void pass(Element* to, const Element* from, const Arithmetic& field, const Powers& powers, Element* tile,
                 const Geometry& geometry) {
    if constexpr (JOIN) {
        join_lines(to, from, field, powers, tile, geometry);
    } else {
        split(to, from, field, powers, tile, geometry);
    }
}
