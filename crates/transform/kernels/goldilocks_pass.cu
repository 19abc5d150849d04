// A pass of transforms of vectors modulo 2^64 − 2^32 + 1. A vector has N points, and N is a power of two
// or a small multiple of one.
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
//   CANONICAL 1: results are less than q
//   THREADS, BLOCKS   threads of a block, blocks of a multiprocessor
//
// Inputs are any words; a word stands for its residue modulo q.
#include "goldilocks_tile.cuh"

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

// The start of each table in `tables`.
constexpr u32 TWIDDLES = 0;  // [b][ka] with JOIN 0, or [ka][b]: ω^(b·ka), ω of order M
constexpr u32 OUTER = M;     // [m][kq] with JOIN 0, or [kq][m]: ω^(m·kq), ω of order LENGTH

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
constexpr u32 directed(u32 k, u32 n) { return INVERSE ? minus(k, n) : k; }

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

DEVICE u64 canonical(u64 v) { return v >= FIELD_Q ? v - FIELD_Q : v; }
DEVICE u64 finished(u64 v, u64 scale) {
    if (SCALED) v = correct(mul(v, scale));
    return CANONICAL ? canonical(v) : v;
}

// The powers ω^e for e < N from two tables.
struct Powers {
    const u64* __restrict__ low;
    const u64* __restrict__ high;
    u32 log_low, spread;
    DEVICE u64 at(u32 e) const {
        e *= spread;
        return correct(mul(low[e & ((1u << log_low) - 1)], high[e >> log_low]));
    }
};

// a^(2^n)
template <u32 n>
DEVICE u64 squared(u64 a) {
    if constexpr (n == 0) {
        return a;
    } else {
        return squared<n - 1>(correct(mul(a, a)));
    }
}

// The factors first·step^j for j in the order in which `dft` loads (LOADS) or stores its points.
template <int n, bool LOADS>
struct Chain {
    // `dft` stores k = ka + RUNS·kb, ka in the outer loop, and loads j = 4a + b, b in the outer loop.
    static constexpr u32 RUNS = n < 4 ? n : LOADS ? 4 : n / 4;
    u64 begin, at, step, leap;
    DEVICE Chain(u64 first, u64 step) : begin(first), at(first), step(step) {
        leap = RUNS == 1 ? step : RUNS == 2 ? squared<1>(step) : RUNS == 4 ? squared<2>(step) : squared<3>(step);
    }
    template <class K>
    DEVICE u64 next(K) {
        constexpr u32 k = K::value;
        if constexpr (k > 0 && k < RUNS) {
            begin = correct(mul(begin, step));
            at = begin;
        } else if constexpr (k > 0) {
            at = correct(mul(at, leap));
        }
        return at;
    }
};

// The factors of the frequencies kq + Q·(ka + A·kb), for all kb.
template <bool LOADS>
DEVICE Chain<B, LOADS> factors(const Powers& powers, const Line& line, u32 kq, u32 ka, u64 scale) {
    u64 first = powers.at((kq + Q * ka) * line.i);
    if (SCALED) first = correct(mul(first, scale));
    return Chain<B, LOADS>(first, powers.at(Q * A * line.i));
}

template <class F>
DEVICE void items(u32 count, F f) {
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
        u64 v[AT_ONCE];
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
template <class F>
DEVICE void items_q(F f) {
    items(LINES * M, [&](u32 g) {
        if (PLACE == COLUMNS) f(g % LINES, g / LINES);
        else f(g / M, g % M);
    });
}
// For a step A that reads or writes memory, where Q = 1.
template <class F>
DEVICE void items_a(F f) {
    items(LINES * B, [&](u32 g) {
        if (PLACE == COLUMNS) f(g % LINES, g / LINES);
        else f(g / B, g % B);
    });
}

// Decimation in frequency.
DEVICE void split(u64* to, const u64* from, const u64* __restrict__ tables, const Powers& powers, u64* tile,
                  const Geometry& geometry, u64 scale) {
    const u32 log_inner = PLACE == COLUMNS ? geometry.log_inner : 0;
    if constexpr (Q > 1) {
        items_q([&](u32 l, u32 m) {
            const u64* points = from + find(geometry, l).from + ((u64)m << log_inner);
            u64* slots = tile + Tile::at(u_of(l, 0), m / B, m % B);
            transform<Q>([&](auto q) { return widen(points[(u64)(VALUE(q) * M) << log_inner]); },
                         [&](auto k, u64 v) { slots[directed(VALUE(k), Q) * STRIDE_KQ] = v; });
        });
        __syncthreads();
        items(U * B, [&](u32 h) {
            const u32 u = h % U, b = h / U;
            u64* slots = tile + Tile::at(u, 0, b);
            const u64* twiddles = tables + OUTER + Q * b + kq_of(u);
            transform<A>([&](auto a) { return mul(slots[VALUE(a) * Tile::STRIDE_A], twiddles[VALUE(a) * B * Q]); },
                         [&](auto k, u64 v) { slots[directed(VALUE(k), A) * Tile::STRIDE_A] = v; });
        });
    } else {
        items_a([&](u32 l, u32 b) {
            const u64* points = from + find(geometry, l).from + ((u64)b << log_inner);
            u64* slots = tile + Tile::at(l, 0, b);
            transform<A>([&](auto a) { return widen(points[(u64)(VALUE(a) * B) << log_inner]); },
                         [&](auto k, u64 v) { slots[directed(VALUE(k), A) * Tile::STRIDE_A] = v; });
        });
    }
    __syncthreads();
    items(U * A, [&](u32 h) {
        const u32 u = h % U, ka = h / U, kq = kq_of(u);
        u64* slots = tile + Tile::at(u, ka, 0);
        const u64* twiddles = tables + TWIDDLES + ka;
        // Here the direction is that of the inputs, so that outputs are in the order of the chain.
        auto load = [&](auto b) {
            return twiddled<Tile::STRIDE_B, A>(slots, twiddles, Index<directed(VALUE(b), B)>{});
        };
        if constexpr (PLACE == ROWS) {
            transform<B>(load, [&](auto k, u64 v) { slots[VALUE(k) * Tile::STRIDE_B] = finished(v, scale); });
        } else {
            const Line line = find(geometry, line_of(u));
            if constexpr (PLACE == COLUMNS) {
                auto chain = factors<false>(powers, line, kq, ka, scale);
                u64* points = to + line.to;
                transform<B>(load, [&](auto k, u64 v) {
                    v = correct(mul(v, chain.next(k)));
                    if (CANONICAL) v = canonical(v);
                    if (line.exists) points[(u64)place(kq, ka, VALUE(k)) << log_inner] = v;
                });
            } else {
                u64* points = to + line.to + (u64)(kq + Q * ka) * geometry.of_vector;
                transform<B>(load, [&](auto k, u64 v) {
                    if (line.exists) points[(u64)(VALUE(k) * Q * A) * geometry.of_vector] = finished(v, scale);
                });
            }
        }
    });
    if constexpr (PLACE == ROWS) {
        __syncthreads();
        each_point(geometry, [&](const Line&, u32 p) { return tile[slot_of_place(p / LENGTH, p % LENGTH)]; },
                   [&](const Line& line, u32 p, u64 v) {
                       if (line.exists) to[line.to + p % LENGTH] = v;
                   });
    }
}

// Decimation in time.
DEVICE void join_lines(u64* to, const u64* from, const u64* __restrict__ tables, const Powers& powers, u64* tile,
                       const Geometry& geometry, u64 scale) {
    const u32 log_inner = PLACE == COLUMNS ? geometry.log_inner : 0;
    if constexpr (PLACE == ROWS) {
        each_point(geometry, [&](const Line& line, u32 p) { return from[line.from + p % LENGTH]; },
                   [&](const Line&, u32 p, u64 v) { tile[slot_of_place(p / LENGTH, p % LENGTH)] = v; });
        __syncthreads();
    }
    items(U * A, [&](u32 h) {
        const u32 u = h % U, ka = h / U, kq = kq_of(u);
        u64* slots = tile + Tile::at(u, ka, 0);
        auto store = [&](auto b, u64 v) { slots[directed(VALUE(b), B) * Tile::STRIDE_B] = v; };
        if constexpr (PLACE == ROWS) {
            transform<B>([&](auto k) { return widen(slots[VALUE(k) * Tile::STRIDE_B]); }, store);
        } else {
            const Line line = find(geometry, line_of(u));
            auto chain = factors<true>(powers, line, kq, ka, scale);
            const u64* points = from + line.from;
            transform<B>([&](auto k) { return mul(points[(u64)place(kq, ka, VALUE(k)) << log_inner], chain.next(k)); }, store);
        }
    });
    __syncthreads();
    auto end = [&](const Line& line, u64 j, u64 v) {
        if (line.exists) to[line.to + (j << log_inner)] = PLACE == COLUMNS ? (CANONICAL ? canonical(v) : v) : finished(v, scale);
    };
    if constexpr (Q > 1) {
        items(U * B, [&](u32 h) {
            const u32 u = h % U, b = h / U;
            u64* slots = tile + Tile::at(u, 0, b);
            const u64* twiddles = tables + TWIDDLES + b;
            transform<A>([&](auto k) { return twiddled<Tile::STRIDE_A, B>(slots, twiddles, k); },
                         [&](auto a, u64 v) { slots[directed(VALUE(a), A) * Tile::STRIDE_A] = v; });
        });
        __syncthreads();
        items_q([&](u32 l, u32 m) {
            const Line line = find(geometry, l);
            const u64* slots = tile + Tile::at(u_of(l, 0), m / B, m % B);
            const u64* twiddles = tables + OUTER + m;
            transform<Q>([&](auto k) { return twiddled<STRIDE_KQ, M>(slots, twiddles, k); },
                         [&](auto q, u64 v) { end(line, directed(VALUE(q), Q) * M + m, v); });
        });
    } else {
        items_a([&](u32 l, u32 b) {
            const Line line = find(geometry, l);
            const u64* slots = tile + Tile::at(l, 0, b);
            const u64* twiddles = tables + TWIDDLES + b;
            transform<A>([&](auto k) { return twiddled<Tile::STRIDE_A, B>(slots, twiddles, k); },
                         [&](auto a, u64 v) { end(line, directed(VALUE(a), A) * B + b, v); });
        });
    }
}

// `to` and `from` may be the same array unless PLACE is SCATTER. `low` and `high` are powers of ω of order
// N, with exponents e < 2^log_low and e·2^log_low; ω^spread has order inner·LENGTH.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
goldilocks_pass(u64* to, const u64* from, const u64* __restrict__ tables, const u64* __restrict__ low,
                const u64* __restrict__ high, u64 scale, u64 to_stride, u64 from_stride, u32 lines, u32 of_vector,
                u32 log_inner, u32 log_rows, u32 log_low, u32 spread) {
    DYNAMIC_SHARED(u64, tile);
    const Powers powers{low, high, log_low, spread};
    const Geometry geometry{from_stride, to_stride, blockIdx.x * LINES, lines, of_vector, log_inner, log_rows};
    if constexpr (JOIN) {
        join_lines(to, from, tables, powers, tile, geometry, scale);
    } else {
        split(to, from, tables, powers, tile, geometry, scale);
    }
}
