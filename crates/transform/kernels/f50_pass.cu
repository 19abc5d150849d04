// A pass of transforms of vectors modulo primes below 2^50; `ntt_pass.cuh` says which, and states the macros.
// blockIdx.y is the prime; the vectors of a prime follow those of the prime before.
//
// Inputs are within p. A transform in registers factors x^n − 1 as `f50_stages.cuh` describes. The bound of
// every element is known at compile time; the points that must be reduced are chosen such that they are as
// few as possible.
constexpr unsigned BITS = 50;
#include "f50_stages.cuh"
#include "index.cuh"

typedef double Element;
typedef Factor Inner;
typedef double Outer;
constexpr bool RENUMBERED = false;

// The numbers of factors of a prime before the inner ones in `tables`: the roots of blocks, and the constants
// of transforms of 3 or 5 points.
constexpr u32 ROOTS = 16, ODD = 4;

// Sums are exact within this bound, which is 2^53 for p near 2^50.
constexpr u32 SUM_LIMIT = 2 * LIMIT;
// Factors of tables are within p/2. Powers are within 38/64·p: (1/2 + (38/64)²/4)·p is less than that.
constexpr u32 HALF = 32, POWER = 38;
static_assert(times(POWER, POWER) <= POWER && times(HALF, HALF) <= POWER && times_factor(POWER) <= POWER,
              "products of powers are powers");
// A product of elements within bounds a and b is within 2·p² if a·b is within this one.
constexpr u32 PRODUCT_LIMIT = 128 * 64;

// The bound of a ± w·b for a, b within `bound`, reduced before or not; 0 if it is too large. w is 1 if
// `by_one`.
__host__ __device__ constexpr u32 sum_bound(bool by_one, bool first, bool second, u32 bound) {
    const u32 a = first ? REDUCED : bound, b = second ? REDUCED : bound;
    if (!by_one && b > LIMIT) return 0;
    const u32 sum = a + (by_one ? b : times_factor(b));
    return sum > SUM_LIMIT ? 0 : sum;
}
// The least number of reductions in a block of `size` points within `bound`, if outputs must be within `to`.
__host__ __device__ constexpr u32 reductions(bool by_one, u32 size, u32 bound, u32 to) {
    if (size == 1) return bound > to;
    u32 least = 1000;
    for (u32 choice = 0; choice < 4; choice++) {
        const bool first = choice % 2, second = choice / 2;
        // A product is small whether its factor was reduced or not.
        if (second && !by_one && bound <= LIMIT) continue;
        const u32 sum = sum_bound(by_one, first, second, bound);
        if (sum == 0) continue;
        const u32 count = (first + second) * (size / 2) + reductions(by_one, size / 2, sum, to) +
                          reductions(false, size / 2, sum, to);
        if (count == 0) return 0;
        if (count < least) least = count;
    }
    return least;
}
// Whether the lower half (bit 0) and the upper half (bit 1) of a block are reduced first.
__host__ __device__ constexpr u32 choice_of(bool by_one, u32 size, u32 bound, u32 to) {
    const u32 least = reductions(by_one, size, bound, to);
    for (u32 choice = 0; choice < 4; choice++) {
        const bool first = choice % 2, second = choice / 2;
        const u32 sum = sum_bound(by_one, first, second, bound);
        if (sum == 0) continue;
        if ((first + second) * (size / 2) + reductions(by_one, size / 2, sum, to) +
                reductions(false, size / 2, sum, to) ==
            least)
            return choice;
    }
    return 3;
}

// Transforms a block of SIZE points within BOUND; outputs are in bit-reversed order, within TO.
template <u32 SIZE, u32 BLOCK, u32 BOUND, u32 TO>
DEVICE void transform_block(F50 f, const Factor* roots, double* x) {
    if constexpr (SIZE == 1) {
        if constexpr (BOUND > TO) x[0] = reduce(f, x[0]);
    } else {
        constexpr bool BY_ONE = BLOCK == 0;
        constexpr u32 CHOICE = choice_of(BY_ONE, SIZE, BOUND, TO);
        constexpr u32 SUM = sum_bound(BY_ONE, CHOICE % 2, CHOICE / 2, BOUND);
        static_assert(SUM > 0, "sums are exact");
        Factor w = {1.0, 0.0};
        if constexpr (!BY_ONE) w = load_factor(&roots[BLOCK]);
        unrolled<0, SIZE / 2>([&](auto i) {
            double a = x[VALUE(i)], b = x[VALUE(i) + SIZE / 2];
            if constexpr (CHOICE % 2 == 1) a = reduce(f, a);
            if constexpr (CHOICE / 2 == 1) b = reduce(f, b);
            if constexpr (!BY_ONE) b = mul_by(f, b, w);
            x[VALUE(i)] = a + b;
            x[VALUE(i) + SIZE / 2] = a - b;
        });
        transform_block<SIZE / 2, 2 * BLOCK, SUM, TO>(f, roots, x);
        transform_block<SIZE / 2, 2 * BLOCK + 1, SUM, TO>(f, roots, x + SIZE / 2);
    }
}

// Transforms of 3 and 5 points of the same bound; ω has order 3 or 5. `odd` has (ω + ω^2)/2, (ω − ω^2)/2, or
// (ω + ω^4)/2, (ω^2 + ω^3)/2, (ω − ω^4)/2, (ω^2 − ω^3)/2.
DEVICE void dft_3(F50 f, const Factor* odd, double* x) {
    double s = x[1] + x[2], c = mul_by(f, s, load_factor(&odd[0])), d = mul_by(f, x[1] - x[2], load_factor(&odd[1]));
    double t = x[0] + c;
    x[0] += s;
    x[1] = t + d;
    x[2] = t - d;
}
DEVICE void dft_5(F50 f, const Factor* odd, double* x) {
    const Factor w[] = {load_factor(&odd[0]), load_factor(&odd[1]), load_factor(&odd[2]), load_factor(&odd[3])};
    double s = x[1] + x[4], t = x[2] + x[3], d = x[1] - x[4], e = x[2] - x[3];
    double p = x[0] + mul_by(f, s, w[0]) + mul_by(f, t, w[1]), q = x[0] + mul_by(f, s, w[1]) + mul_by(f, t, w[0]);
    double v = mul_by(f, d, w[2]) + mul_by(f, e, w[3]), u = mul_by(f, d, w[3]) - mul_by(f, e, w[2]);
    x[0] = reduce(f, x[0] + s + t);
    x[1] = p + v;
    x[4] = p - v;
    x[2] = q + u;
    x[3] = q - u;
}

// The residue 0 ≤ r < p of an element within p.
DEVICE double nonnegative(F50 f, double x) { return x < 0.0 ? x + f.p : x; }

struct Arithmetic {
    // The bounds of elements: a multiplied element is reduced up to the error of the quotient.
    static constexpr u32 TO_TILE = LIMIT, TO_POWER = PRODUCT_LIMIT / POWER;
    static constexpr u32 FROM_MEMORY = 64, FROM_INNER = times_factor(TO_TILE);
    static constexpr u32 FROM_OUTER = times(TO_TILE, HALF), FROM_POWER = times(FROM_MEMORY, POWER);
    static_assert(TO_TILE * HALF <= PRODUCT_LIMIT, "products with outer factors are exact");
    static_assert(times(TO_POWER, POWER) <= FROM_MEMORY && times_factor(TO_TILE) <= 64, "stored within p");

    const Inner* inner;
    const Outer* outer;
    const Factor* roots;
    F50 f;
    Factor scale;

    DEVICE double load(double x) const { return x; }
    DEVICE double once(double x) const { return reduce(f, x); }
    DEVICE double twiddled(double x, Factor w) const { return mul_by(f, x, w); }
    DEVICE double twiddled(double x, double w) const { return mul(f, x, w); }
    DEVICE double powered(double x, double t) const { return mul(f, x, t); }
    DEVICE double product(double x, double y) const { return mul(f, x, y); }
    DEVICE double scaled(double t) const { return mul_by(f, t, scale); }
    DEVICE double moved(double v, double t) const { return mul(f, v, t); }
    DEVICE double finished(double v) const {
        double r = SCALED ? mul_by(f, v, scale) : reduce(f, v);
        return CANONICAL ? nonnegative(f, r) : r;
    }
    DEVICE double placed(double v) const { return CANONICAL ? nonnegative(f, reduce(f, v)) : reduce(f, v); }

    template <int n, u32 FROM, u32 TO, class Load, class Store>
    DEVICE void transform(Load load, Store store) const {
        double x[n];
        unrolled<0, n>([&](auto j) { x[VALUE(j)] = load(j); });
        if constexpr (n == 3 || n == 5) {
            static_assert(3 * FROM <= TO && FROM + 4 * times_factor(2 * FROM) <= TO && 5 * FROM <= SUM_LIMIT,
                          "outputs of 3 and 5 points need no more reductions");
            if constexpr (n == 3) dft_3(f, roots + ROOTS, x);
            else dft_5(f, roots + ROOTS, x);
            unrolled<0, n>([&](auto k) { store(k, x[VALUE(k)]); });
        } else {
            transform_block<n, 0, FROM, TO>(f, roots, x);
            unrolled<0, n>([&](auto k) { store(k, x[reversed<n>(VALUE(k))]); });
        }
    }

    // k with its log2(n) bits in reverse order.
    template <u32 n>
    static __host__ __device__ constexpr u32 reversed(u32 k) {
        u32 r = 0;
        for (u32 bit = 1; bit < n; bit *= 2) r = 2 * r + (k & bit ? 1 : 0);
        return r;
    }
};

// The factors first·step^j, in the order of j. Four products are independent of each other.
template <int n, bool>
struct Chain {
    static constexpr u32 RUNS = n < 4 ? n : 4;
    double at[RUNS], leap;
    DEVICE Chain(const Arithmetic& field, double first, double step) {
        double square = field.product(step, step);
        at[0] = first;
        if constexpr (RUNS > 1) at[1] = field.product(first, step);
        if constexpr (RUNS > 2) {
            at[2] = field.product(first, square);
            at[3] = field.product(at[1], square);
        }
        leap = field.product(square, square);
    }
    template <class K>
    DEVICE double next(const Arithmetic& field, K) {
        constexpr u32 k = K::value;
        if constexpr (k >= RUNS) at[k % RUNS] = field.product(at[k % RUNS], leap);
        return at[k % RUNS];
    }
};

#include "ntt_pass.cuh"

// What a pass multiplies by modulo a prime: p, RN(1/p), and the factor of SCALED.
struct Constants {
    F50 f;
    Factor scale;
};

// The doubles of the tables of a prime, in pairs.
constexpr u32 TABLES = (2 * (ROOTS + ODD + M) + LENGTH + 1) / 2 * 2;

// For each prime, `tables` has ROOTS + ODD + M factors, then the outer ones. `low` and `high` are powers of ω
// of order N, with exponents e < 2^log_low and e·2^log_low.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
f50_pass(double* to, const double* from, const double* __restrict__ tables, const double* __restrict__ low,
         const double* __restrict__ high, const Constants* __restrict__ constants, u64 to_stride, u64 from_stride,
         u32 lines, u32 of_vector, u32 log_inner, u32 log_rows, u32 log_low, u32 spread) {
    DYNAMIC_SHARED(double, tile);
    const u32 prime = blockIdx.y;
    if (prime > 0) {
        const u64 vectors = (u64)prime * (lines / of_vector);
        to += vectors * to_stride;
        from += vectors * from_stride;
        tables += (u64)prime * TABLES;
        low += (u64)prime << log_low;
        high += (u64)prime * ((of_vector * LENGTH - 1 >> log_low) + 1);
    }
    const Factor* factors = (const Factor*)tables;
    const Geometry geometry{from_stride, to_stride, blockIdx.x * LINES, lines, of_vector, log_inner, log_rows};
    const Arithmetic field{factors + ROOTS + ODD, tables + 2 * (ROOTS + ODD + M), factors, constants[prime].f,
                           constants[prime].scale};
    pass(to, from, field, Powers{low, high, log_low, spread}, tile, geometry);
}
