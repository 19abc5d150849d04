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
//
// DIGITS, if defined as 1 together with FORM: residues modulo N = k·b^n + c, c = ±1, in words of digits to the base b
// (digit_weights.cuh). A register holds X/k, whose stored square is k·x². Carries enter four words, as in
// fp64/columns.cu: a thread passes on the carry of its words, then the second carry, which arises when the first carry
// of the preceding point is added. NEGACYCLIC is 1 for c = 1. A carry of 15·2^47 units or more, and a digit of 7·2^28 or
// more, count as a distance of 1.
//
// COARSE: the unit of first carries is 2^COARSE. The digits that they leave are 2^COARSE times too large, until the first
// carry of the preceding point is added. A first carry is a double. In words between blocks, the sum of both carries is an
// integer of 56 bits.
#include "handover.cuh"
#include "last_word.cuh"
#if DIGITS
#include "digit_weights.cuh"
#else
#include "bit_weights.cuh"
#endif

constexpr u32 POINTS = ROWS * COLUMNS;

// The number of launches of columns that `measured` holds: their norms, then their largest distances
// as the upper words of doubles. After these, it has norms of launches of `digits_to_spectrum`.
constexpr u32 MEASURED = 16384;

// 1/q and 2^52/q.
#define INVERSE_Q31 4.656612875245797e-10
#define SHIFTED_Q31 2097152.0009765625

// Weights the digits in x: x ← complex points, own exact slots ← exact points. Returns the sum of the
// squares of the complex points' components.
DEVICE double weight(Complex (&x)[Q], Gauss* exact, const Weights& weights) {
    double norm = 0.0;
    unrolled<0, Q>([&](auto i) {
        constexpr int I = VALUE(i);
        const Point p = weights.point<I>();
        double v = weights.forward0<I>(p);
        const i32 first = to_integer(x[I].re), second = to_integer(x[I].im);
        exact[WIDTH * I] = weights.exact<I>(p, first, second);
        x[I] = {x[I].re * v, x[I].im * weights.forward1(p, v)};
        norm = fma(x[I].re, x[I].re, fma(x[I].im, x[I].im, norm));
    });
    return norm;
}

// Adds the norm of a thread's points, in units of the layout, rounded up, to `sum`. The 32 words of a thread have less
// than 2^27 units, and a warp has less than 2^32. With FORM, more units, and what is no number, make the sum 2^63 or
// more.
DEVICE void add_norm(double norm, const Words& words, u64* sum) {
    const double units = norm * words.inverse_unit();
    u32 part = (u32)min(units, 134217726.0) + 1;
#if FORM
    if (!(units < 134217726.0)) atomicMax(sum, 1ull << 63);
#endif
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

#if KIND == 0

// From digits as [word], |d| < q, to the spectra. `slot` is the place of the norm in `measured`.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
digits_to_spectrum(Complex* data, const i32* __restrict__ digits, const Complex* __restrict__ tables
                   WORDS_FIELDS(AS_PARAMETER), u32 slot) {
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

#if FORM
// The unit of first carries.
constexpr double UNIT = 1u << COARSE;
static_assert(WIDTH > 1, "second carries pass within a tile");
// The upper word of the magnitude of v, and that of 15·2^47. With a remainder, smaller carries are below 2^51.
DEVICE u32 magnitude(double v) { return (u32)__double2hiint(v) & 0x7fffffffu; }
constexpr u32 TOO_LARGE = (1023 + 50) << 20 | 0xe0000;
// The upper word of 7·2^28: smaller digits are integers of 32 bits below q in magnitude.
constexpr u32 LARGE_DIGIT = (1023 + 30) << 20 | 0xc0000;
// Reports a distance of 1, with which no product is trusted.
DEVICE void refuse_if(bool so, u64* worst_distance) {
    if (so) atomicMax((u32*)worst_distance, 1023u << 20);
}
#endif

// The base by which a first carry is split off: UNIT times that of the word.
DEVICE auto first_base(const Words& words, bool is_long) {
    auto base = words.base(is_long);
#if COARSE
    base.power *= UNIT, base.inverse *= 1.0 / UNIT, base.quotient *= 1.0 / UNIT;
#endif
    return base;
}
#if COARSE
// Adds a carry of up to 2^55 whose lower bits are 0.
DEVICE void add_coarse(Parts& z, double carry) {
    const double high = fma(carry, 1.0 / 2147483648.0, MAGIC) - MAGIC;
    z.f += high;
    z.v += fma(-high, 2147483648.0, carry);
}
#endif

// Unweights both transforms, finds the exact words of the product, and splits off the carry of each
// point: own exact slots ← digits, as integers.
DEVICE void carry_out(const Complex (&x)[Q], Gauss* exact, const Handover& handover, const Weights& weights,
                      const u64* addend, u64* carries, u64* worst_distance, u32 columns, u32 tag, u32 multiplier) {
    const Words& words = weights.words;
    const u32 c = threadIdx.x % WIDTH, m = threadIdx.x / WIDTH;
#if CHECKED
    u32 worst = 0;
#endif
#if FORM
    u32 largest = 0;
#endif
    unrolled<0, Q>([&](auto i) {
        constexpr int I = VALUE(i);
        const Point p = weights.point<I>();
        const Gauss r = weights.exact_words<I>(p, exact[WIDTH * I]);
        const double u0 = weights.inverse0<I>(p), u1 = weights.inverse1(p, u0);
        double distance0, distance1;
        Parts z0 = parts_of(x[I].re, u0, r.re, distance0), z1 = parts_of(x[I].im, u1, r.im, distance1);
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
        double carry;
        const i32 first = to_integer(first_base(words, p.long0).split(z0, carry));
#if FORM
        largest = max(largest, magnitude(carry));
#endif
#if COARSE
        add_coarse(z1, carry * UNIT);
#else
        z1.v += carry;
#endif
        const i32 second = to_integer(first_base(words, p.long1).split(z1, carry));
        exact[WIDTH * I] = {(u32)first, (u32)second};
#if FORM
        largest = max(largest, magnitude(carry));
#endif
#if COARSE
        carry *= UNIT;
#else
        carry += MAGIC;
#endif
#if !FORM
        if (c == WIDTH - 1) store_relaxed(&carries[columns * ROWS + I * M + m], tagged(carry, tag));
#endif
        handover.give(I, carry);
    });
#if CHECKED
    worst = largest_of_warp(worst);
    if (threadIdx.x % 32 == 0) atomicMax((u32*)worst_distance, worst);
#endif
#if FORM
    refuse_if(largest >= TOO_LARGE, worst_distance);
#endif
}

#if FORM
// Adds a carry to the first digit of a point, and `more` to the second one. Returns the carry that arises, + MAGIC.
DEVICE double pass_on(Gauss& digits, double incoming, double more, const Words& words, const Point& p) {
    double carry;
    const i32 first = to_integer(words.base(p.long0).split(to_double(digits.re) + incoming, carry));
#if COARSE
    carry += more;
#endif
    const i32 second = to_integer(words.base(p.long1).split(to_double(digits.im) + carry, carry));
    digits = {(u32)first, (u32)second};
    return carry + MAGIC;
}
// Adds the first carry of the preceding thread in this way.
DEVICE double pass_on_first(Gauss& digits, double first, const Words& words, const Point& p) {
#if COARSE
    double more;
    const double rest = words.base(p.long0).split(first, more);
    return pass_on(digits, rest, more, words, p);
#else
    return pass_on(digits, first - MAGIC, 0.0, words, p);
#endif
}
// Adds in this way what the preceding block passed on: the sum of its carries.
DEVICE double pass_on_received(Gauss& digits, double received, const Words& words, const Point& p) {
#if COARSE
    const i64 both = __double_as_longlong(received), low = both & ((1 << COARSE) - 1);
    double more;
    const double rest = words.base(p.long0).split((double)(both - low), more);
    return pass_on(digits, rest + (double)low, more, words, p);
#else
    return pass_on(digits, received - MAGIC, 0.0, words, p);
#endif
}

// Returns the carry into word 0 as a word between blocks, for the sum first + second of the carries out of the last word,
// and adds the rest to the digits of the last two words. The carry times b^κ has up to 2^(71 + COARSE), so it takes two
// doubles; the rest is below k.
DEVICE u64 wrap(Gauss& digits, double first, double second, const LastWord& last, u64* worst_distance, u32 tag) {
#if COARSE
    // Second carries are far below 2^52/b^κ. If special digits make a larger one, sums may be rounded.
    refuse_if(magnitude(second * last.up) >= (1023u + 52) << 20, worst_distance);
    const double high = first * last.up, low = fma(first, last.up, -high) + second * last.up - last.less;
    // Quotients in units, then in ones.
    const double upper_q = fma(high, last.inverse_k / UNIT, MAGIC) - MAGIC;
    refuse_if(magnitude(upper_q) >= TOO_LARGE, worst_distance);
    const double rest_of_units = fma(-upper_q * UNIT, last.k, high) + low;
    const double q = fma(rest_of_units, last.inverse_k, MAGIC) - MAGIC;
    const double rest = fma(-q, last.k, rest_of_units);
#else
    const double carry = first + second;
    const double high = carry * last.up, low = fma(carry, last.up, -high);
    const double q = fma(high, last.inverse_k, MAGIC) - MAGIC;
    refuse_if(magnitude(q) >= TOO_LARGE, worst_distance);
    const double rest = fma(-q, last.k, high) + low - last.less;
#endif
    const double upper = fma(rest, last.down, MAGIC) - MAGIC;
    const i32 before = to_integer(fma(fma(-upper, last.lift, rest), last.low, to_double(digits.re)));
    digits = {(u32)before, (u32)to_integer(to_double(digits.im) + upper)};
#if COARSE
    return tagged((i64)(last.sign * (upper_q * UNIT)) + (i64)fma(last.sign, q, -last.less_0), tag);
#else
    return tagged(fma(last.sign, q, -last.less_0) + MAGIC, tag);
#endif
}

// Adds the first carries of preceding points, except to the first column, and passes on the second carries.
// The last column passes both to the next block.
DEVICE void carry_on(Gauss* exact, const Handover& handover, const Weights& weights, u64* carries, u64* worst_distance,
                     u32 columns, u32 tag, const LastWord& last) {
    const u32 c = threadIdx.x % WIDTH, m = threadIdx.x / WIDTH;
    __syncwarp();
    unrolled<0, Q>([&](auto i) {
        constexpr int I = VALUE(i);
        if (c == 0) return;
        Gauss& digits = exact[WIDTH * I];
        const double second = pass_on_first(digits, handover.take(I), weights.words, weights.point<I>());
        handover.give_second(I, second);
        if (c < WIDTH - 1) return;
#if COARSE
        u64 word = tagged((i64)handover.own(I) + (i64)(second - MAGIC), tag);
#else
        u64 word = tagged(handover.own(I) + (second - MAGIC), tag);
#endif
        if constexpr (I == Q - 1) {
            if (m == M - 1 && columns == TILES - 1) {
                const double first = COARSE ? handover.own(I) : handover.own(I) - MAGIC;
                word = wrap(digits, first, second - MAGIC, last, worst_distance, tag);
            }
        }
        store_relaxed(&carries[columns * ROWS + I * M + m], word);
    });
}
#endif

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
        const Complex* __restrict__ tables WORDS_FIELDS(AS_PARAMETER), u64* carries, u64* tickets,
        const u64* addend, u32 multiplier LAST_WORD_FIELDS(AS_PARAMETER)) {
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
    const u32 turn = (u32)(ticket % (TILES + 1)), tag = (u32)(launch % TAGS) + 1;
    const u32 columns_ = turn == TILES ? 0 : turn;
    const u32 column = columns_ * WIDTH + threadIdx.x % WIDTH, m = threadIdx.x / WIDTH;
    both_inverse_b(data, (const Gauss*)(data + POINTS), of, columns_);
    both_transform_a<INVERSE>(of, columns_);
    Complex x[Q];
    both_inverse_q(x, of, columns_);
#if NEGACYCLIC
    // e(½·j/n), which inverse transforms omit, for j = (i·M + m)·COLUMNS + column.
    const Complex half_turn = mul(row_weights[M + Q + m], column_weights[COLUMNS + column]);
    unrolled<0, Q>([&](auto i) {
        Complex turned = mul(x[VALUE(i)], half_turn);
        x[VALUE(i)] = times_root<VALUE(i), 2 * Q>(turned);
    });
#endif
    Gauss* const own = own_exact_slots(of.exact_tile);
    const Words words = WORDS;
    const Weights weights(row_weights, column_weights, fractions, m, column, words);
    const Handover handover(tile);
    u64* const worst_distance = measured + MEASURED + launch % MEASURED;
    carry_out(x, own, handover, weights, addend, carries, worst_distance, columns_, tag, multiplier);
#if FORM
    const LastWord last = LAST_WORD;
    carry_on(own, handover, weights, carries, worst_distance, columns_, tag, last);
#endif
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
#if FORM
    if (threadIdx.x % WIDTH == 0) {
        unrolled<0, Q>([&](auto i) {
            Gauss& digits = own[WIDTH * VALUE(i)];
            const Point p = weights.point<VALUE(i)>();
            handover.give_second(VALUE(i), pass_on_received(digits, handover.take(VALUE(i)), words, p));
        });
    }
    __syncwarp();
#endif
#if FORM
    u32 largest = 0;
#endif
    unrolled<0, Q>([&](auto i) {
        const Point p = weights.point<VALUE(i)>();
        const Gauss digits_before = own[WIDTH * VALUE(i)];
#if FORM
        const double incoming = threadIdx.x % WIDTH == 0 ? 0.0 : handover.take_second(VALUE(i)) - MAGIC;
#else
        const double incoming = handover.take(VALUE(i)) - MAGIC;
#endif
        double carry;
        x[VALUE(i)].re = words.base(p.long0).split(to_double(digits_before.re) + incoming, carry);
        x[VALUE(i)].im = to_double(digits_before.im) + carry;
#if FORM
        largest = max(largest, magnitude(x[VALUE(i)].im));
#endif
#if KIND == 2
        i32* two = digits + 2 * ((VALUE(i) * M + m) * COLUMNS + column);
        two[0] = to_integer(x[VALUE(i)].re);
        two[1] = to_integer(x[VALUE(i)].im);
#endif
    });
#if FORM
    refuse_if(largest >= LARGE_DIGIT, worst_distance);
#endif
#if KIND == 1
    double norm = weight(x, own, weights);
    add_norm(norm, words, measured + launch % MEASURED);
    // Other threads of the warp may still read this thread's slots.
    __syncwarp();
    to_spectra(x, data, of, columns_);
#endif
}

#endif
