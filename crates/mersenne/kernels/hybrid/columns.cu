// Columns of the hybrid engine: inverse transforms, exact products, carries, transforms.
//
// The number Σ d_w·2^⌈pw/N⌉, w < N, is held as n = N/2 = ROWS·COLUMNS points z_j = a_(2j)·d_(2j) +
// i·a_(2j+1)·d_(2j+1), with weights a_w = 2^u_w, u_w = ⌈pw/N⌉ − pw/N. The points exist twice: as
// complex numbers, and as elements of the field of q² elements, q = 2^31 − 1. There 2^(1/N) is the
// power of 2 whose exponent is the inverse of N mod 31, so weights are powers of 2. `data` has the
// complex points, then the exact points; their layout is that of the engine fp64
// (fp64/columns.cu, column_steps.cuh).
//
// A word z of the product is known modulo q, as r, and approximately, with an error below 2^30. So z =
// f·q + r, where f is the integer nearest to the approximation of (z − r)/q.
//
// KIND 0 `digits_to_spectrum`: digits → spectrum; 1 `columns`: spectrum → spectrum of the carried
// product; 2 `spectrum_to_digits`: spectrum → digits. CHECKED: the distance from that integer is
// measured. STEP 0: squares; 1: squares minus 2, at the shift of the number; 2: squares times a small
// number.
//
// Carries and tickets are those of fp64/columns.cu; carries are 64-bit integers. All kernels measure
// the norm Σ (a_w·d_w)² of the digits that they transform, on which the bound of the error depends.
#include "exact_columns.cuh"

constexpr u32 POINTS = ROWS * COLUMNS;

// Indices of `addend`.
constexpr u32 ADDEND_ROW = 1, ADDEND_COLUMN = 2, ADDEND_HALF = 3, ADDEND_BIT = 4;

// Indices of `tickets`: the next ticket; the ticket of the launch's last block, once the first
// block has read.
constexpr u32 NEXT = 0, READ = 1;

// The number of launches of columns that `measured` holds: their norms, then their largest distances
// as the upper words of doubles. After these, it has norms of launches of `digits_to_spectrum`.
constexpr u32 MEASURED = 16384;

// 1.5·2^52: adding it rounds to an integer, which is then in the lower bits.
#define MAGIC 6755399441055744.0
#define MAGIC_BITS 0x4338000000000000ll

// 1/q and 2^52/q.
#define INVERSE_Q31 4.656612875245797e-10
#define SHIFTED_Q31 2097152.0009765625

// Properties of a thread's point j: lengths of its words 2j and 2j + 1, the exponents of their
// weights modulo q, and whether the weight of word 2j wraps around.
struct Point {
    bool wrapped, long0, long1;
    u32 exponent0, exponent1;
};

// The constants of a layout of words. A long word has one more bit.
struct Words {
    // 2^(−(p mod N)/N) and its inverse.
    double ratio, inverse_ratio;
    // ⌊p/N⌋.
    u32 bits;
    // 2^32·(p mod N)/N, rounded down. Word w is long exactly if 2^32·u_w is below it.
    u32 long_below;
    // The exponent of a_(w+1)/a_w modulo q for a short word w.
    u32 exponent;
};

// Returns v·2^e if `so`, else v.
template <int e>
DEVICE double scaled_if(double v, bool so) {
    return __hiloint2double(__double2hiint(v) + (so ? e * (1 << 20) : 0), __double2loint(v));
}

// e mod 31 for e < 62.
DEVICE u32 mod31(u32 e) { return min(e, e - 31); }
constexpr u32 inverse_mod31(u32 n) {
    for (u32 i = 1; i < 31; i++) {
        if (n * i % 31 == 1) return i;
    }
    return 0;
}

// The weights of the points of a thread: rows i·M + m for i < Q.
struct Weights {
    double forward, inverse;
    u32 fraction, exponent;
    const Words& words;

    // `row_weights[m]` and `column_weights[j2]` contain a and 1/a, 1/a divided by n·q in one of them.
    // `fractions` and `exponents` have M entries for the rows and COLUMNS entries for the columns;
    // exponents of columns are from 1 to 31.
    DEVICE Weights(const Complex* __restrict__ row_weights, const Complex* __restrict__ column_weights,
                   const u32* __restrict__ fractions, u32 m, u32 column, const Words& words)
        : words(words) {
        Complex of_row = row_weights[m], of_column = column_weights[column];
        const u32* exponents = fractions + M + COLUMNS;
        u32 start = fractions[m];
        fraction = start + fractions[M + column];
        bool wrapped = fraction < start;
        forward = scaled_if<-1>(of_row.re * of_column.re, wrapped);
        inverse = scaled_if<1>(of_row.im * of_column.im, wrapped);
        exponent = mod31(exponents[m] + exponents[M + column] - (wrapped ? 1 : 0));
    }
    // Returns the properties of the point in row i·M + m, whose u is greater by (−p·i mod Q)/Q.
    template <int i>
    DEVICE Point point() const {
        constexpr u32 numerator = (Q - P_MOD_Q * i % Q) % Q;
        constexpr u32 more = (numerator * inverse_mod31(Q) + 30) % 31 + 1;
        u32 f = fraction + (u32)(((u64)numerator << 32) / Q);
        Point p;
        p.wrapped = numerator > 0 && f < fraction;
        p.long0 = f < words.long_below;
        p.long1 = f - words.long_below < words.long_below;
        p.exponent0 = mod31(exponent + more - (p.wrapped ? 1 : 0));
        p.exponent1 = mod31(p.exponent0 + words.exponent + (p.long0 ? 1 : 0));
        return p;
    }
    template <int i>
    DEVICE double forward0(const Point& p) const {
        constexpr int numerator = (Q - P_MOD_Q * i % Q) % Q;
        return scaled_if<-1>(numerator > 0 ? forward * POWER_OF_2<numerator, Q>() : forward, p.wrapped);
    }
    template <int i>
    DEVICE double inverse0(const Point& p) const {
        constexpr int numerator = (Q - P_MOD_Q * i % Q) % Q;
        return scaled_if<1>(numerator > 0 ? inverse * POWER_OF_2<-numerator, Q>() : inverse, p.wrapped);
    }
    DEVICE double forward1(const Point& p, double forward0) const {
        return scaled_if<1>(forward0 * words.ratio, p.long0);
    }
    DEVICE double inverse1(const Point& p, double inverse0) const {
        return scaled_if<-1>(inverse0 * words.inverse_ratio, p.long0);
    }
};

// d·2^k mod q for |d| < q.
DEVICE u32 weighted31(i32 d, u32 k) { return rotate31(min((u32)d, (u32)d + Q31), k); }
// r·2^(−k) mod q for k < 31.
DEVICE u32 unweighted31(u32 r, u32 k) { return rotate31(r, mod31(31 - k)); }

// d as a double: 2^52 + 2^31 + d, whose lower word is d + 2^31, minus 2^52 + 2^31. A sum is faster than
// a conversion instruction.
DEVICE double to_double(i32 d) { return __hiloint2double(0x43300000, d ^ (i32)0x80000000) - 4503601774854144.0; }

// A thread's digits.
struct Digits {
    i32 first, second;
};

// Weights the digits: x ← complex points, own exact slots ← exact points. Returns the sum of the
// squares of the complex points' components.
DEVICE double weight(Complex (&x)[Q], Gauss* exact, const Digits (&d)[Q], const Weights& weights) {
    double norm = 0.0;
    unrolled<0, Q>([&](auto i) {
        constexpr int I = VALUE(i);
        const Point p = weights.point<I>();
        double v = weights.forward0<I>(p);
        x[I] = {to_double(d[I].first) * v, to_double(d[I].second) * weights.forward1(p, v)};
        norm = fma(x[I].re, x[I].re, fma(x[I].im, x[I].im, norm));
        exact[WIDTH * I] = {weighted31(d[I].first, p.exponent0), weighted31(d[I].second, p.exponent1)};
    });
    return norm;
}

// Adds the norm of a thread's points, in units of 4^bits/2^16, rounded up, to `sum`. Digits are below
// 3·2^bits, so a thread has less than 2^26 units, and a warp less than 2^31.
DEVICE void add_norm(double norm, const Words& words, u64* sum) {
    double units = norm * __hiloint2double((i32)((1023 + 16 - 2 * words.bits) << 20), 0);
    u32 part = (u32)min(units, 67108864.0) + 1;
    unrolled<0, 5>([&](auto i) { part += __shfl_xor_sync(0xffffffffu, part, 1 << VALUE(i)); });
    if (threadIdx.x % 32 == 0) atomicAdd(sum, (u64)part);
}

// From a thread's points to the spectra. The exact points are in the thread's own slots.
DEVICE void to_spectra(Complex (&x)[Q], Complex* data, const Both& of, u32 columns) {
    both_forward_q(x, of);
    both_transform_a<FORWARD>(of, columns);
    both_forward_b(data, (Gauss*)(data + POINTS), of, columns);
}

// The tiles in `tile`, and the tables of both kinds of points.
DEVICE Both both_tiles(Complex* tile, const Complex* __restrict__ tables) {
    return {tile, (Gauss*)(tile + Tile::COUNT), tables, (const Gauss*)(tables + RECORDS + COLUMNS * RECORD)};
}

// The constants of a plan's words that the host passes, in the order of its arguments.
#define WORDS_PARAMETERS                                                                                \
    const Complex *__restrict__ row_weights, const Complex *__restrict__ column_weights,                \
        const u32 *__restrict__ fractions, double ratio, double inverse_ratio, u32 bits, u32 long_below, \
        u32 exponent, u64 *measured
#define WORDS {ratio, inverse_ratio, bits, long_below, exponent}

#if KIND == 0

// From digits as [word], |d| < 2^30, to the spectra. `slot` is the place of the norm in `measured`.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
digits_to_spectrum(Complex* data, const i32* __restrict__ digits, const Complex* __restrict__ tables, WORDS_PARAMETERS,
                   u32 slot) {
    DYNAMIC_SHARED(Complex, tile);
    const Both of = both_tiles(tile, tables);
    const Words words = WORDS;
    const u32 columns = blockIdx.x, column = columns * WIDTH + threadIdx.x % WIDTH, m = threadIdx.x / WIDTH;
    const Weights weights(row_weights, column_weights, fractions, m, column, words);
    Digits d[Q];
    unrolled<0, Q>([&](auto i) {
        const i32* two = digits + 2 * ((VALUE(i) * M + m) * COLUMNS + column);
        d[VALUE(i)] = {two[0], two[1]};
    });
    Complex x[Q];
    double norm = weight(x, own_exact_slots(of.exact_tile), d, weights);
    add_norm(norm, words, measured + 2 * MEASURED + slot);
    to_spectra(x, data, of, columns);
}

#else

// A word passed between blocks: carry·2^12 + tag of the launch, |carry| < 2^51.
DEVICE u64 tagged(i64 carry, u32 tag) { return (u64)carry << 12 | tag; }
DEVICE i64 untagged(u64 word) { return (i64)word >> 12; }

// The memory in which a warp's threads pass carries to each other: the slots of their own complex
// points, as in fp64/columns.cu.
struct Handover {
    i64 *given, *taken;
    DEVICE Handover(Complex* tile) {
        const u32 lane = threadIdx.x % 32;
        Complex* own = own_slots(tile);
        given = (i64*)own + lane / 8 % 2;
        taken = threadIdx.x % WIDTH == 0 ? (i64*)own + (1 - lane / 8 % 2) : (i64*)(own - 1) + (lane - 1) / 8 % 2;
    }
    DEVICE void give(u32 i, i64 carry) const { given[2 * WIDTH * i] = carry; }
    DEVICE i64 take(u32 i) const { return taken[2 * WIDTH * i]; }
};

// Splits f·2^31 + v = digit + carry·2^bits with −2^(bits−1) ≤ digit < 2^(bits−1); returns the digit.
DEVICE i32 split(i64 f, i64 v, u32 bits, i64& carry) {
    u32 half = 1u << (bits - 1);
    v += half;
    carry = (i64)((u64)f << (31 - bits)) + (v >> bits);
    return (i32)(low((u64)v) & (2 * half - 1)) - (i32)half;
}

// The integer nearest to approximate − r/q, and the distance from it. Words of sound products give
// quotients below 2^46; for larger ones, and for what is no number, the distance is 1.
DEVICE i64 quotient(double x, double unweight, u32 r, double& distance) {
    double exact = __hiloint2double(0x43300000, (i32)r);
    double v = fma(exact, -INVERSE_Q31, fma(x, unweight, SHIFTED_Q31));
    double rounded = v + MAGIC;
    bool sound = ((u32)__double2hiint(v) & 0x7fffffffu) < (1023u + 46) << 20;
    distance = sound ? v - (rounded - MAGIC) : 1.0;
    return __double_as_longlong(rounded) - MAGIC_BITS;
}

// Returns the largest value of a warp.
DEVICE u32 largest_of_warp(u32 v) {
    unrolled<0, 5>([&](auto i) { v = max(v, __shfl_xor_sync(0xffffffffu, v, 1 << VALUE(i))); });
    return v;
}

// Unweights both transforms, finds the exact words of the product, and splits off the carry of each
// point.
DEVICE void carry_out(Digits (&d)[Q], const Complex (&x)[Q], const Gauss* exact, const Handover& handover,
                      const Weights& weights, const u64* addend, u64* carries, u64* worst_distance, u32 columns, u32 tag,
                      u32 multiplier) {
    const Words& words = weights.words;
    const u32 c = threadIdx.x % WIDTH, m = threadIdx.x / WIDTH;
    u32 worst = 0;
    unrolled<0, Q>([&](auto i) {
        constexpr int I = VALUE(i);
        const Point p = weights.point<I>();
        const Gauss z = exact[WIDTH * I];
        const u32 r0 = unweighted31(z.re, p.exponent0), r1 = unweighted31(z.im, p.exponent1);
        const double u0 = weights.inverse0<I>(p), u1 = weights.inverse1(p, u0);
        double distance0, distance1;
        i64 f0 = quotient(x[I].re, u0, r0, distance0), f1 = quotient(x[I].im, u1, r1, distance1);
        // f·q + r = f·2^31 + (r − f).
        i64 v0 = (i64)r0 - f0, v1 = (i64)r1 - f1;
#if CHECKED
        worst = max(worst, max((u32)__double2hiint(distance0) & 0x7fffffffu, (u32)__double2hiint(distance1) & 0x7fffffffu));
#endif
#if STEP == 1
        if (addend[ADDEND_ROW] == I * M + m && addend[ADDEND_COLUMN] == columns * WIDTH + c) {
            i64 two = (i64)2 << addend[ADDEND_BIT];
            if (addend[ADDEND_HALF] != 0) v1 -= two;
            else v0 -= two;
        }
#elif STEP == 2
        f0 *= multiplier, v0 *= multiplier;
        f1 *= multiplier, v1 *= multiplier;
#endif
        i64 carry;
        d[I].first = split(f0, v0, words.bits + p.long0, carry);
        d[I].second = split(f1, v1 + carry, words.bits + p.long1, carry);
        if (c == WIDTH - 1) store_relaxed(&carries[columns * ROWS + I * M + m], tagged(carry, tag));
        handover.give(I, carry);
    });
#if CHECKED
    worst = largest_of_warp(worst);
    if (threadIdx.x % 32 == 0) atomicMax((u32*)worst_distance, worst);
#endif
}

// Receives the carries of the preceding columns for the first column of the tile and the rows of a
// warp; all threads of the warp take part.
DEVICE void receive(Complex* tile, const u64* carries, u32 columns, u32 tag) {
    constexpr u32 GROUP = 32 / WIDTH, ITEMS = (Q + WIDTH - 1) / WIDTH;
    const u32 lane = threadIdx.x % 32, m = threadIdx.x / 32 * GROUP + lane % GROUP, first = lane / GROUP;
    // The first columns are preceded by the last ones, one row up.
    const u64* before = carries + (columns == 0 ? TILES - 1 : columns - 1) * ROWS;
    auto read = [&](u32 i) {
        u32 row = i * M + m;
        return load_relaxed(before + (columns > 0 ? row : row == 0 ? ROWS - 1 : row - 1));
    };
    u64 word[ITEMS];
    unrolled<0, ITEMS>([&](auto k) {
        u32 i = first + WIDTH * VALUE(k);
        if (Q % WIDTH == 0 || i < Q) word[VALUE(k)] = read(i);
    });
    const u32 owner = WIDTH * (lane % GROUP);
    // All threads have taken their points out of the slots.
    __syncwarp();
    i64* slot = (i64*)(tile + Tile::at(0, m / B, m % B)) + (1 - owner / 8 % 2);
    unrolled<0, ITEMS>([&](auto k) {
        u32 i = first + WIDTH * VALUE(k);
        if (Q % WIDTH == 0 || i < Q) {
            while ((word[VALUE(k)] & 4095) != tag) {
                spin_pause();
                word[VALUE(k)] = read(i);
            }
            slot[2 * WIDTH * i] = untagged(word[VALUE(k)]);
        }
    });
    __syncwarp();
}

// From the spectra to the carried words of the product, and then to spectra again or to `digits`.
//
// `carries[columns][j1]` and `tickets` are scratch, zero before the first launch. With STEP 2 every
// word is multiplied by `multiplier`; with STEP 1, 2·2^bit is subtracted from the word that
// `addend` names. `measured` is zero before it is used.
//
// `addend` is not __restrict__: the kernel of rows writes it when blocks of this kernel are already
// waiting, and loads of constant data might not see that.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
#if KIND == 1
columns(Complex* data,
#else
spectrum_to_digits(Complex* data, i32* __restrict__ digits,
#endif
        const Complex* __restrict__ tables, WORDS_PARAMETERS, u64* carries, u64* tickets, const u64* addend,
        u32 multiplier) {
    DYNAMIC_SHARED(Complex, tile);
    const Both of = both_tiles(tile, tables);
    // Tickets depend not on the preceding launch, but on the preceding launch of a kernel of
    // columns, which had ended before that one.
    u64* const shared_ticket = (u64*)(of.exact_tile + ExactTile::COUNT);
    if (threadIdx.x == 0) *shared_ticket = atomicAdd(&tickets[NEXT], 1ull);
    __syncthreads();
    const u64 ticket = *shared_ticket, launch = ticket / (TILES + 1);
    const u32 turn = (u32)(ticket % (TILES + 1)), tag = (u32)(launch % 4095) + 1;
    const u32 columns_ = turn == TILES ? 0 : turn;
    const u32 column = columns_ * WIDTH + threadIdx.x % WIDTH, m = threadIdx.x / WIDTH;
    both_inverse_b(data, (const Gauss*)(data + POINTS), of, columns_);
    both_transform_a<INVERSE>(of, columns_);
    Complex x[Q];
    both_inverse_q(x, of, columns_);
    Gauss* const own = own_exact_slots(of.exact_tile);
    const Words words = WORDS;
    const Weights weights(row_weights, column_weights, fractions, m, column, words);
    const Handover handover(tile);
    Digits d[Q];
    carry_out(d, x, own, handover, weights, addend, carries, measured + MEASURED + launch % MEASURED, columns_, tag,
              multiplier);
    if (turn == 0) {
        // The last read of this block was several barriers ago.
        if (threadIdx.x == 0) store_release(&tickets[READ], ticket + TILES);
        return;
    }
#if KIND == 1
    // There are barriers between this and the first write.
    if (turn == TILES && threadIdx.x == 0) {
        while (load_acquire(&tickets[READ]) != ticket) spin_pause();
    }
#endif
    receive(tile, carries, columns_, tag);
    unrolled<0, Q>([&](auto i) {
        const Point p = weights.point<VALUE(i)>();
        i64 carry;
        d[VALUE(i)].first = split(0, d[VALUE(i)].first + handover.take(VALUE(i)), words.bits + p.long0, carry);
        d[VALUE(i)].second += (i32)carry;
#if KIND == 2
        i32* two = digits + 2 * ((VALUE(i) * M + m) * COLUMNS + column);
        two[0] = d[VALUE(i)].first;
        two[1] = d[VALUE(i)].second;
#endif
    });
#if KIND == 1
    double norm = weight(x, own, d, weights);
    add_norm(norm, words, measured + launch % MEASURED);
    // Other threads of the warp may still read this thread's slots.
    __syncwarp();
    to_spectra(x, data, of, columns_);
#endif
}

#endif
