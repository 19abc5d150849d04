// A pass of transforms of vectors modulo q = 2^64 − 2^32 + 1; `ntt_pass.cuh` says which, and states the macros.
//
// Inputs are any words; a word stands for its residue modulo q. Within a step, products by roots are shifts.
#include "goldilocks_tile.cuh"

typedef u64 Element;
typedef u64 Inner;
typedef u64 Outer;
constexpr bool RENUMBERED = true;

struct Arithmetic {
    // Bounds of elements are the same everywhere.
    static constexpr u32 FROM_MEMORY = 0, FROM_INNER = 0, FROM_OUTER = 0, FROM_POWER = 0, TO_TILE = 0, TO_POWER = 0;

    const Inner* inner;
    const Outer* outer;
    u64 scale;

    DEVICE Wide load(u64 x) const { return widen(x); }
    DEVICE Wide once(u64 x) const { return widen(x); }
    DEVICE Wide twiddled(u64 x, u64 w) const { return mul(x, w); }
    DEVICE Wide powered(u64 x, u64 t) const { return mul(x, t); }
    DEVICE u64 product(u64 x, u64 y) const { return correct(mul(x, y)); }
    DEVICE u64 scaled(u64 t) const { return product(t, scale); }
    DEVICE u64 moved(u64 v, u64 t) const { return placed(product(v, t)); }
    DEVICE u64 finished(u64 v) const { return placed(SCALED ? product(v, scale) : v); }
    DEVICE u64 placed(u64 v) const { return CANONICAL && v >= FIELD_Q ? v - FIELD_Q : v; }

    template <int n, u32, u32, class Load, class Store>
    DEVICE void transform(Load load, Store store) const {
        ::transform<n>(load, store);
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
    DEVICE Chain(const Arithmetic&, u64 first, u64 step) : begin(first), at(first), step(step) {
        leap = RUNS == 1 ? step : RUNS == 2 ? squared<1>(step) : RUNS == 4 ? squared<2>(step) : squared<3>(step);
    }
    template <class K>
    DEVICE u64 next(const Arithmetic&, K) {
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

#include "ntt_pass.cuh"

// `tables` has M inner factors, then the outer ones. `low` and `high` are powers of ω of order N, with
// exponents e < 2^log_low and e·2^log_low.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
goldilocks_pass(u64* to, const u64* from, const u64* __restrict__ tables, const u64* __restrict__ low,
                const u64* __restrict__ high, u64 scale, u64 to_stride, u64 from_stride, u32 lines, u32 of_vector,
                u32 log_inner, u32 log_rows, u32 log_low, u32 spread) {
    DYNAMIC_SHARED(u64, tile);
    const Geometry geometry{from_stride, to_stride, blockIdx.x * LINES, lines, of_vector, log_inner, log_rows};
    pass(to, from, Arithmetic{tables, tables + M, scale}, Powers{low, high, log_low, spread}, tile, geometry);
}
