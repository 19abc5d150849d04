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
// Carries and tickets are those of fp64/columns.cu. Carries, and the parts f and r − f of a word z =
// f·2^31 + (r − f), are integers below 2^51 in doubles. So FP64 units compute carries exactly, while the
// units for integers are busy with exact points. All kernels measure the norm Σ (a_w·d_w)² of the digits
// that they transform, on which the bound of the error depends.
#include "exact_columns.cuh"
#include "handover.cuh"

constexpr u32 POINTS = ROWS * COLUMNS;

// The number of launches of columns that `measured` holds: their norms, then their largest distances
// as the upper words of doubles. After these, it has norms of launches of `digits_to_spectrum`.
constexpr u32 MEASURED = 16384;

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

// r·2^k mod q for 0 ≤ k < 32.
DEVICE u32 turned31(u32 r, u32 k) { return __funnelshift_l(r << 1, r, k) & Q31; }
// d·2^k mod q for |d| < q and k < 31.
DEVICE u32 weighted31(i32 d, u32 k) { return turned31(min((u32)d, (u32)d + Q31), k); }
// r·2^(−k) mod q for k < 31.
DEVICE u32 unweighted31(u32 r, u32 k) { return turned31(r, 31 - k); }

// 2^e.
DEVICE double power_of_2(i32 e) { return __hiloint2double((1023 + e) * (1 << 20), 0); }

// The base 2^b of a word of b bits, its inverse, and 2^(31 − b).
struct Base {
    double power, inverse, rest;
    DEVICE explicit Base(i32 b) : power(power_of_2(b)), inverse(power_of_2(-b)), rest(power_of_2(31 - b)) {}
};

// Weights the digits in x: x ← complex points, own exact slots ← exact points. Returns the sum of the
// squares of the complex points' components.
DEVICE double weight(Complex (&x)[Q], Gauss* exact, const Weights& weights) {
    double norm = 0.0;
    unrolled<0, Q>([&](auto i) {
        constexpr int I = VALUE(i);
        const Point p = weights.point<I>();
        double v = weights.forward0<I>(p);
        const i32 first = to_integer(x[I].re), second = to_integer(x[I].im);
        exact[WIDTH * I] = {weighted31(first, p.exponent0), weighted31(second, p.exponent1)};
        x[I] = {x[I].re * v, x[I].im * weights.forward1(p, v)};
        norm = fma(x[I].re, x[I].re, fma(x[I].im, x[I].im, norm));
    });
    return norm;
}

// Adds the norm of a thread's points, in units of 4^bits/2^16, rounded up, to `sum`. Weighted digits are
// below 6·2^bits, so the 32 words of a thread have less than 2^27 units, and a warp has less than 2^32.
DEVICE void add_norm(double norm, const Words& words, u64* sum) {
    double units = norm * __hiloint2double((i32)((1023 + 16 - 2 * words.bits) << 20), 0);
    u32 part = (u32)min(units, 134217726.0) + 1;
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

// From digits as [word], |d| < q, to the spectra. `slot` is the place of the norm in `measured`.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
digits_to_spectrum(Complex* data, const i32* __restrict__ digits, const Complex* __restrict__ tables, WORDS_PARAMETERS,
                   u32 slot) {
    DYNAMIC_SHARED(Complex, tile);
    const Both of = both_tiles(tile, tables);
    const Words words = WORDS;
    const u32 columns = blockIdx.x, column = columns * WIDTH + threadIdx.x % WIDTH, m = threadIdx.x / WIDTH;
    const Weights weights(row_weights, column_weights, fractions, m, column, words);
    Complex x[Q];
    unrolled<0, Q>([&](auto i) {
        const i32* two = digits + 2 * ((VALUE(i) * M + m) * COLUMNS + column);
        x[VALUE(i)] = {to_double(two[0]), to_double(two[1])};
    });
    double norm = weight(x, own_exact_slots(of.exact_tile), weights);
    add_norm(norm, words, measured + 2 * MEASURED + slot);
    to_spectra(x, data, of, columns);
}

#else

// A word of the product, z = f·2^31 + v with v = r − f.
struct Parts {
    double f, v;
};

// f, the integer nearest to approximate − r/q, and r − f; and the distance from that integer. Words of
// sound products give quotients below 2^46; for larger ones, and for what is no number, the distance is 1.
DEVICE Parts parts_of(double x, double unweight, u32 r, double& distance) {
    double exact = __hiloint2double(0x43300000, (i32)r);
    double v = fma(exact, -INVERSE_Q31, fma(x, unweight, SHIFTED_Q31));
    double f = v + MAGIC - MAGIC;
    bool sound = ((u32)__double2hiint(v) & 0x7fffffffu) < (1023u + 46) << 20;
    distance = sound ? v - f : 1.0;
    return {f, exact - 4503599627370496.0 - f};
}

// Splits v = digit + carry·2^b, |v| < 2^52, with |digit| ≤ 2^(b−1); returns the digit.
DEVICE double split(double v, const Base& base, double& carry) {
    carry = fma(v, base.inverse, MAGIC) - MAGIC;
    return fma(-carry, base.power, v);
}

// Unweights both transforms, finds the exact words of the product, and splits off the carry of each
// point: own exact slots ← digits, as integers.
DEVICE void carry_out(const Complex (&x)[Q], Gauss* exact, const Handover& handover, const Weights& weights,
                      const u64* addend, u64* carries, u64* worst_distance, u32 columns, u32 tag, u32 multiplier) {
    const Words& words = weights.words;
    const u32 c = threadIdx.x % WIDTH, m = threadIdx.x / WIDTH;
    u32 worst = 0;
    unrolled<0, Q>([&](auto i) {
        constexpr int I = VALUE(i);
        const Point p = weights.point<I>();
        const Gauss r = exact[WIDTH * I];
        const u32 r0 = unweighted31(r.re, p.exponent0), r1 = unweighted31(r.im, p.exponent1);
        const double u0 = weights.inverse0<I>(p), u1 = weights.inverse1(p, u0);
        double distance0, distance1;
        Parts z0 = parts_of(x[I].re, u0, r0, distance0), z1 = parts_of(x[I].im, u1, r1, distance1);
#if CHECKED
        worst = max(worst, (u32)__double2hiint(distance0) & 0x7fffffffu);
        worst = max(worst, (u32)__double2hiint(distance1) & 0x7fffffffu);
#endif
#if STEP == 1
        if (addend[ADDEND_ROW] == I * M + m && addend[ADDEND_COLUMN] == columns * WIDTH + c) {
            double two = power_of_2(1 + (i32)addend[ADDEND_BIT]);
            if (addend[ADDEND_HALF] != 0) z1.v -= two;
            else z0.v -= two;
        }
#elif STEP == 2
        z0.f *= multiplier, z0.v *= multiplier;
        z1.f *= multiplier, z1.v *= multiplier;
#endif
        const Base base0(words.bits + p.long0), base1(words.bits + p.long1);
        double carry;
        i32 first = to_integer(split(z0.v, base0, carry));
        carry = fma(z0.f, base0.rest, carry);
        i32 second = to_integer(split(z1.v + carry, base1, carry));
        exact[WIDTH * I] = {(u32)first, (u32)second};
        carry = fma(z1.f, base1.rest, carry) + MAGIC;
        if (c == WIDTH - 1) store_relaxed(&carries[columns * ROWS + I * M + m], tagged(carry, tag));
        handover.give(I, carry);
    });
#if CHECKED
    worst = largest_of_warp(worst);
    if (threadIdx.x % 32 == 0) atomicMax((u32*)worst_distance, worst);
#endif
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
    if ((ticket & GIVEN_UP) != 0) {
        last_launch();
        return;
    }
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
    carry_out(x, own, handover, weights, addend, carries, measured + MEASURED + launch % MEASURED, columns_, tag,
              multiplier);
    if (turn == 0) {
        // The last read of this block was several barriers ago.
        if (threadIdx.x == 0) store_release(&tickets[READ], ticket + TILES);
        return;
    }
#if KIND == 1
    // There are barriers between this and the first write.
    if (turn == TILES && threadIdx.x == 0) {
        auto read = [&] { return load_acquire(&tickets[READ]); };
        u64 last = read();
        wait_until([&](u64 l) { return l == ticket; }, last, read, (volatile u32&)*shared_ticket, &tickets[NEXT]);
    }
#endif
    receive(tile, carries, tickets, columns_, tag);
    unrolled<0, Q>([&](auto i) {
        const Point p = weights.point<VALUE(i)>();
        const Gauss digits_before = own[WIDTH * VALUE(i)];
        const double incoming = handover.take(VALUE(i)) - MAGIC;
        double carry;
        x[VALUE(i)].re = split(to_double(digits_before.re) + incoming, Base(words.bits + p.long0), carry);
        x[VALUE(i)].im = to_double(digits_before.im) + carry;
#if KIND == 2
        i32* two = digits + 2 * ((VALUE(i) * M + m) * COLUMNS + column);
        two[0] = to_integer(x[VALUE(i)].re);
        two[1] = to_integer(x[VALUE(i)].im);
#endif
    });
#if KIND == 1
    double norm = weight(x, own, weights);
    add_norm(norm, words, measured + launch % MEASURED);
    // Other threads of the warp may still read this thread's slots.
    __syncwarp();
    to_spectra(x, data, of, columns_);
#endif
}

#endif
