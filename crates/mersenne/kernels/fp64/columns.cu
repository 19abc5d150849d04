// Columns: inverse transforms, unweighting, rounding, carries, weighting, transforms.
//
// The number Σ d_w·2^⌈pw/N⌉, w < N, is held as n = N/2 = ROWS·COLUMNS complex points z_j =
// a_(2j)·d_(2j) + i·a_(2j+1)·d_(2j+1), with weights a_w = 2^(⌈pw/N⌉ − pw/N) and j = j1·COLUMNS +
// j2. The points are transformed over j1 (here), then over j2 with factors e(−j2·k1/n) (rows.cu).
// On the way back rows.cu omits these factors, and the inverse transforms over k1 include them:
// they compute sums with e(+k1·(j1·COLUMNS + j2)/n).
//
// A block has WIDTH columns j2, all of them in shared memory. In global memory the spectrum is
// stored as [j2 / CHUNK][kb][kq][ka][j2 % CHUNK], k1 = kq + Q·(ka + A·kb), where WIDTH divides
// CHUNK.
//
// KIND 0 `digits_to_spectrum`: digits → spectrum; 1 `columns`: spectrum → spectrum of the carried
// product; 2 `spectrum_to_digits`: spectrum → digits. CHECKED: round-off is measured. STEP 0:
// squares; 1: squares minus 2, at the shift of the number; 2: squares times a small number. SUMS, if
// defined as 1: sums over digits and carries are made, by which the host verifies squarings
// (sums.cuh). KIND 3 `sum_digits`: the sum over digits, only with SUMS. KIND 4
// `product_to_spectrum`: digits of a product → spectrum of the reduced product, only with PADDED.
//
// Words. A word of b bits is stored divided by 2^b, as a digit s with |s| ≤ 1/2 or a little more
// (as much as carries add, see `least_bits`). Since 2^b·a_w = 2^(p/N)·a_(w+1), the factor from s to
// the transform's point is V_(w+1) = 2^(p/N)·a_(w+1), which does not depend on the length of the
// word.
//
// Carries. A thread has points j of one column. The two words of a point take in the carries of the
// preceding point, and pass on the carries that they had without these: a carry enters two words
// and ends there. The preceding point belongs to the preceding thread or, for the first column of
// the tile, to the preceding block. That block passes on its carries as 64-bit words with the tag
// of the launch in the upper 12 bits. The block of the first columns needs the carries of the last
// block, so its work is done twice: by the first block of the launch only to pass on carries, and
// by the last block in full, which passes on the same carries again and writes after the first
// block has read.
//
// FORM, if defined as 1: residues modulo N = k·2^n + c, c = ±1, in N words of ρ bits on average, where
// ρ·N = n + log2 k. A register holds x = X/k, whose stored square is k·x² (source of the module
// `engine/fp64/form`, which has the proofs). The weights are a_w = 2^⌈wρ⌉/K^w with K = (k·2^n)^(1/N), and 2^(p/N)
// above is K. For c = 1 NEGACYCLIC is 1, and the transform has the frequencies k1 + ½.
//
// The words of k·x² are k times as large, so that carries enter four words. A thread first passes on the carry
// of its own words, as above; then the second carry that arises when the first carry of the preceding
// point is added to the words; what is left ends in the next point. For the last column of a tile both
// carries are known within the tile, and their sum is passed to the next block. The carry C out of the last word
// of all ends κ bits after bit n: with C·2^κ = q·k + r, −c·q goes to word 0, and r·2^n into the last two words.
//
// DIGITS, if defined as 1 together with FORM: residues modulo k·b^n + c in words of s or s + 1 digits to the base
// b. The formulas are those of FORM with b in place of 2, and "long" means one more digit. Fractions of the base
// are inexact then, so words and carries are integers, and quotients by the base are rounded.
//
// PADDED, if defined as 1: products of integers in words to a base β, without weights (reduce.cuh). Words and
// carries are integers, and carries enter two words as for 2^p − 1. A residue fills at most half of the words, so
// nothing is carried out of the last word.
//
// Blocks take their columns in the order in which they start, by a ticket. So a waiting block
// always waits for a block that is already running.
//
// GANG, if defined as 1 for `columns`: a launch squares several numbers, whose engines have the same kernels. A
// block works for the number blockIdx.y, and `members` holds the arguments of every number.
#include "handover.cuh"
#include "last_word.cuh"
#include "weights.cuh"
#if SUMS
#include "sums.cuh"
#endif
#if KIND == 4
#include "reduce.cuh"
#endif

// The number of launches that `errors` holds, with two words each: the largest distance to an
// integer, and the largest carry, as the upper words of doubles. `sums` holds as many launches.
constexpr u32 MEASURED = 16384;

// The number of points after which a run of instructions ends in the loops over a thread's points. For 12
// and 16 points, these numbers were among the fastest of those that were timed on an H200.
constexpr u32 RUN = Q > 12 ? 8 : 4;

#if FORM
static_assert(WIDTH > 1, "second carries pass within a tile");
#endif

// The parameters of kernels that make sums. `factors` holds R_m for every m, then C for every column.
#if SUMS
#define SUMS_FIELDS(F) F(const Element* __restrict__, factors) F(const PointFactors* __restrict__, point_factors) F(u64*, sums)
#else
#define SUMS_FIELDS(F)
#endif

#if SUMS
// Adds the sums of a warp to one of the PARTS sums of a launch, which begin at `sums`.
DEVICE void finish_sums(const Sums& made, const Element* __restrict__ factors, u64* sums, u32 columns, u32 m, u32 column,
                        const Weights& weights) {
    made.finish(sums + columns % PARTS * WORDS_OF_SUM, factors[m], factors[M + column], weights.wrapped);
}

#if KIND == 0 || KIND == 3
// Adds the sum over the digits of a tile to `sums`.
DEVICE void sum_of_digits(const Digits* __restrict__ digits, const Element* __restrict__ factors,
                          const PointFactors* __restrict__ point_factors, u64* sums, u32 columns, u32 m, u32 column,
                          const Weights& weights) {
    Sums made;
    unrolled<0, Q>([&](auto i) {
        Point p = weights.point<VALUE(i)>();
        const Digits d = digits[(VALUE(i) * M + m) * COLUMNS + column];
        made.add_digits(p.long0 ? d.first : 2 * d.first, d.second, point_factors[3 * VALUE(i) + 1 + p.wrapped]);
    });
    finish_sums(made, factors, sums, columns, m, column, weights);
}
#endif
#endif

#if KIND == 0

// From digits as [word], |d| < 2^30, to the spectrum.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
digits_to_spectrum(Complex* data, const Digits* __restrict__ digits, const Complex* __restrict__ tables
                   WORDS_FIELDS(AS_PARAMETER) SUMS_FIELDS(AS_PARAMETER)) {
    DYNAMIC_SHARED(Complex, tile);
    const Words words = WORDS;
    const u32 columns = blockIdx.x, column = columns * WIDTH + threadIdx.x % WIDTH, m = threadIdx.x / WIDTH;
    const Weights weights WEIGHTS;
    Complex x[Q];
    unrolled<0, Q>([&](auto i) {
        const u32 point = (VALUE(i) * M + m) * COLUMNS + column;
        const Digits d = digits[point];
#if PADDED
        x[VALUE(i)] = {2 * point < used ? to_double(d.first) : 0.0, 2 * point + 1 < used ? to_double(d.second) : 0.0};
#else
        Point p = weights.point<VALUE(i)>();
        double v = weights.forward0<VALUE(i)>(p);
        x[VALUE(i)] = {d.first * words.unit(p.long0) * v, d.second * words.unit(p.long1) * weights.forward1(p, v)};
#endif
    });
#if SUMS
    // If digits change between this and the reading above, the next squaring fails its check.
    sum_of_digits(digits, factors, point_factors, sums, columns, m, column, weights);
#endif
    to_spectrum(x, data, tables, tile, columns);
}

#elif KIND == 3

// The sum over digits, without a transform.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
sum_digits(const Digits* __restrict__ digits WORDS_FIELDS(AS_PARAMETER) SUMS_FIELDS(AS_PARAMETER)) {
    const Words words = WORDS;
    const u32 columns = blockIdx.x, column = columns * WIDTH + threadIdx.x % WIDTH, m = threadIdx.x / WIDTH;
    const Weights weights WEIGHTS;
    sum_of_digits(digits, factors, point_factors, sums, columns, m, column, weights);
}

#elif KIND == 4

// From the digits of a product z to the spectrum of the digits of `multiplier`·k·z + `addend`·β^start (reduce.cuh).
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
product_to_spectrum(Complex* data, const Digits* product, const Complex* __restrict__ tables
                    CONSTANTS_FIELDS(AS_PARAMETER), double multiplier, double addend) {
    DYNAMIC_SHARED(Complex, tile);
    const u32 columns = blockIdx.x, column = columns * WIDTH + threadIdx.x % WIDTH, m = threadIdx.x / WIDTH;
    const Constants constants = CONSTANTS;
    double* const ends = (double*)tile;
    static_assert(Tile::COUNT >= SLOTS / 2 + 1, "the slots of both ends");
    const bool has_ends = tile_has_ends(2 * columns * WIDTH, 2 * WIDTH, 2 * COLUMNS, constants);
    last_launch();
    if (has_ends) {
        auto word = [&](u32 i) { return multiplier * word_of_product<FACTORS>((const i32*)product, table, constants, i); };
        reduce_ends<THREADS>(ends, table, FACTORS, constants, addend, word);
    }
    Complex x[Q];
    unrolled<0, Q>([&](auto i) {
        constexpr u32 I = VALUE(i);
        x[I] = {0.0, 0.0};
        const u32 point = (I * M + m) * COLUMNS + column;
        if constexpr (2 * I >= Q) return;
        if (2 * point >= words) return;
        auto at_end = [&](u32 w) { return w < words ? ends[2 + slot_of_word(w, constants)] : 0.0; };
        if (is_at_end(2 * point, constants)) {
            x[I] = {at_end(2 * point), at_end(2 * point + 1)};
            return;
        }
        x[I] = reduced_point<FACTORS>(product, table, constants, point, multiplier);
        if (is_at_end(2 * point + 1, constants)) x[I].im = at_end(2 * point + 1);
    });
    if (has_ends) __syncthreads();
    to_spectrum(x, data, tables, tile, columns);
}

#else

// Splits off the carry of a point. Returns the carry + MAGIC.
DEVICE double split_off(Complex& s, const Words& words, Point p) {
#if INTEGERS
    double carry = fma(fma(s.re, words.unit(p.long0), s.im), words.unit(p.long1), MAGIC);
    s.im = fma(MAGIC - carry, words.base(p.long1), s.im);
#else
    double carry = fma(s.re, words.unit(p.long1), s.im) + MAGIC;
    s.im -= carry - MAGIC;
#endif
    return carry;
}

// Unweights, rounds, and splits off the carry of each point, as a double that holds the carry +
// MAGIC. With SUBTRACT, a thread of the warp may have the word that `addend` names.
template <bool SUBTRACT>
DEVICE void carry_out(Complex (&x)[Q], const Handover& handover, const Weights& weights, const u64* addend,
                      u64* carries, u32* errors, u32 columns, u32 tag, u32 multiplier) {
    const Words& words = weights.words;
    const u32 c = threadIdx.x % WIDTH, m = threadIdx.x / WIDTH;
#if CHECKED
    u32 worst = 0, largest = 0;
#endif
    unrolled<0, Q>([&](auto i) {
        constexpr int I = VALUE(i);
        Point p = weights.point<I>();
        double u0 = weights.inverse0<I>(p), u1 = weights.inverse1(p, u0);
#if DIGITS
        u0 *= words.base(p.long0);
        u1 *= words.base(p.long1);
#endif
#if INTEGERS
        const double r0 = MAGIC, r1 = MAGIC;
#else
        double r0 = words.magic(p.long0), r1 = words.magic(p.long1);
#endif
        double s0 = fma(x[I].re, u0, r0) - r0, s1 = fma(x[I].im, u1, r1) - r1;
#if CHECKED
        // Distances are |x·u − s| in units of the word's base.
        auto distance = [&](double v, double u, double s, bool is_long) {
            const u32 high = (u32)__double2hiint(fma(v, u, -s)) & 0x7fffffffu;
#if INTEGERS
            return high;
#else
            return high + ((words.bits + is_long) << 20);
#endif
        };
        worst = max(worst, max(distance(x[I].re, u0, s0, p.long0), distance(x[I].im, u1, s1, p.long1)));
#endif
#if STEP == 1
        if (SUBTRACT && addend[ADDEND_ROW] == I * M + m && addend[ADDEND_COLUMN] == columns * WIDTH + c) {
            bool second = addend[ADDEND_HALF] != 0;
            u32 exponent = 1024 + (u32)addend[ADDEND_BIT] - words.bits - (second ? p.long1 : p.long0);
            double two = __hiloint2double((i32)(exponent << 20), 0);
            s0 -= second ? 0.0 : two;
            s1 -= second ? two : 0.0;
        }
#elif STEP == 2
        s0 *= multiplier;
        s1 *= multiplier;
#endif
        x[I] = {s0, s1};
        double carry = split_off(x[I], words, p);
#if CHECKED
        largest = max(largest, (u32)__double2hiint(carry - MAGIC) & 0x7fffffffu);
#endif
#if !FORM
        if (c == WIDTH - 1) store_relaxed(&carries[columns * ROWS + I * M + m], tagged(carry, tag));
#endif
        handover.give(I, carry);
        if constexpr (I % RUN == RUN - 1) end_run(words.bits);
    });
#if CHECKED
    worst = largest_of_warp(worst);
    largest = largest_of_warp(largest);
    if (threadIdx.x % 32 == 0) {
        atomicMax(&errors[0], worst);
        atomicMax(&errors[1], largest);
    }
#endif
}

#if FORM
// Adds the carry of the preceding point to a point. Returns the carry that arises, + MAGIC.
DEVICE double pass_on(Complex& s, double incoming, const Words& words, Point p) {
#if DIGITS
    s.re += incoming - MAGIC;
#else
    s.re = fma(incoming - MAGIC, words.unit(p.long0), s.re);
#endif
    return split_off(s, words, p);
}

// Returns the carry into word 0, + MAGIC, for the carry out of the last word, + MAGIC, and adds the rest to
// the last two words `s`.
DEVICE double wrap(Complex& s, double carry, const LastWord& last, const Words& words, Point p) {
    const double v = (carry - MAGIC) * last.up;
    const double q = fma(v, last.inverse_k, MAGIC) - MAGIC;
#if DIGITS
    const double rest = fma(-q, last.k, v) - last.less, upper = fma(rest, last.down, MAGIC) - MAGIC;
    s.re = fma(fma(-upper, last.lift, rest), last.low, s.re);
#else
    const double rest = (fma(-q, last.k, v) - last.less) * last.down;
    const double magic = words.magic(p.long1), upper = (rest + magic) - magic;
    s.re = fma(rest - upper, words.base(p.long1), s.re);
#endif
    s.im += upper;
    return fma(last.sign, q, -last.less_0) + MAGIC;
}

// Adds the first carries of preceding points, except to the first column, and passes on the second carries.
// The last column passes both to the next block.
DEVICE void carry_on(Complex (&x)[Q], const Handover& handover, const Weights& weights, u64* carries, u32 columns,
                     u32 tag, const LastWord& last) {
    const u32 c = threadIdx.x % WIDTH, m = threadIdx.x / WIDTH;
    __syncwarp();
    unrolled<0, Q>([&](auto i) {
        constexpr int I = VALUE(i);
        if (c > 0) {
            Point p = weights.point<I>();
            double second = pass_on(x[I], handover.take(I), weights.words, p);
            handover.give_second(I, second);
            if (c == WIDTH - 1) {
                double both = handover.own(I) + (second - MAGIC);
                if constexpr (I == Q - 1) {
                    if (m == M - 1 && columns == TILES - 1) both = wrap(x[I], both, last, weights.words, p);
                }
                store_relaxed(&carries[columns * ROWS + I * M + m], tagged(both, tag));
            }
        }
        if constexpr (I % RUN == RUN - 1) end_run(weights.words.bits);
    });
}
#endif

// Returns a point's digits after adding the carry of the preceding point. `between` receives the
// carry from the first word to the second, + MAGIC.
DEVICE Complex carry_in(Complex s, double incoming, const Words& words, Point p, double& between) {
#if INTEGERS
    double s0 = s.re + (incoming - MAGIC);
    between = fma(s0, words.unit(p.long0), MAGIC);
    double carry = between - MAGIC;
    return {fma(-carry, words.base(p.long0), s0), s.im + carry};
#else
    double s0 = fma(incoming - MAGIC, words.unit(p.long0), s.re);
    between = s0 + MAGIC;
    double carry = between - MAGIC;
    return {s0 - carry, fma(carry, words.unit(p.long1), s.im)};
#endif
}

// From the spectrum to the carried words of the product, and then to a spectrum again or to
// `digits`.
//
// `carries[columns][j1]` and `tickets` are scratch, zero before the first launch. With STEP 2 every
// word is multiplied by `multiplier`; with STEP 1, 2·2^bit is subtracted from the word that
// `addend` names. `errors` has MEASURED pairs, zero before they are used.
//
// `addend` is not __restrict__: the kernel of rows writes it when blocks of this kernel are already
// waiting, and loads of constant data might not see that.
#define CARRY_FIELDS(F)                                                                                       \
    F(const Complex* __restrict__, tables) WORDS_FIELDS(F) F(u64*, carries) F(u64*, tickets)                  \
        F(const u64*, addend) F(u32*, errors) F(u32, multiplier) LAST_WORD_FIELDS(F) SUMS_FIELDS(F)
#if GANG
// The arguments of `columns` for one number of a gang.
struct Member {
    Complex* data;
    CARRY_FIELDS(AS_MEMBER)
};
#endif
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
#if KIND == 1 && GANG
columns(const Member* __restrict__ members) {
    const Member& member = members[blockIdx.y];
    Complex* data = member.data;
    CARRY_FIELDS(AS_LOCAL)
#elif KIND == 1
columns(Complex* data CARRY_FIELDS(AS_PARAMETER)) {
#else
spectrum_to_digits(Complex* data, Digits* __restrict__ digits CARRY_FIELDS(AS_PARAMETER)) {
#endif
    DYNAMIC_SHARED(Complex, tile);
    // Tickets depend not on the preceding launch, but on the preceding launch of a kernel of
    // columns, which had ended before that one.
    u64* const shared_ticket = (u64*)(tile + Tile::COUNT);
    if (threadIdx.x == 0) *shared_ticket = atomicAdd(&tickets[NEXT], 1ull);
#if SUMS
    // A copy of `point_factors`, which threads read at different places.
    PointFactors* const near_factors = (PointFactors*)(tile + Tile::COUNT) + 1;
    for (u32 k = threadIdx.x; k < 3 * Q; k += THREADS) near_factors[k] = point_factors[k];
#endif
    __syncthreads();
    const u64 ticket = *shared_ticket, launch = ticket / (TILES + 1);
    if ((ticket & GIVEN_UP) != 0) {
        last_launch();
        return;
    }
    const u32 turn = (u32)(ticket % (TILES + 1)), tag = (u32)(launch % 4095) + 1;
    const u32 columns_ = turn == TILES ? 0 : turn;
    const u32 column = columns_ * WIDTH + threadIdx.x % WIDTH, m = threadIdx.x / WIDTH;
    inverse_b(data, tables, tile, columns_);
    if constexpr (A > 1) transform_a<INVERSE>(tables, tile, columns_);
    Complex x[Q];
    inverse_q(x, tables, tile, columns_);
#if NEGACYCLIC
    // e(½·j/n), which inverse transforms omit, for j = (i·M + m)·COLUMNS + column.
    const Complex half_turn = mul(row_weights[M + Q + m], column_weights[COLUMNS + column]);
    unrolled<0, Q>([&](auto i) {
        Complex turned = mul(x[VALUE(i)], half_turn);
        x[VALUE(i)] = times_root<VALUE(i), 2 * Q>(turned);
    });
#endif
    const Words words = WORDS;
    const Weights weights WEIGHTS;
    const Handover handover(tile);
    auto out = [&](auto subtract) {
        carry_out<VALUE(subtract)>(x, handover, weights, addend, carries, errors + 2 * (launch % MEASURED), columns_,
                                   tag, multiplier);
    };
#if STEP == 1
    // One warp of a tile has the word. Two blocks have the first tile.
    constexpr u32 WARP_ROWS = 32 / WIDTH;
    if (addend[ADDEND_COLUMN] / WIDTH == columns_ && addend[ADDEND_ROW] % M / WARP_ROWS == threadIdx.x / 32) {
        out(Index<true>());
    } else {
        out(Index<false>());
    }
#else
    out(Index<false>());
#endif
#if FORM
    const LastWord last = LAST_WORD;
    carry_on(x, handover, weights, carries, columns_, tag, last);
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
            Point p = weights.point<VALUE(i)>();
            handover.give_second(VALUE(i), pass_on(x[VALUE(i)], handover.take(VALUE(i)), words, p));
        });
    }
    __syncwarp();
#endif
#if SUMS
    Sums made;
    const NearFactors first_factors(near_factors), factors_of_points(near_factors + 1);
#endif
    unrolled<0, Q>([&](auto i) {
        Point p = weights.point<VALUE(i)>();
#if FORM
        double incoming = threadIdx.x % WIDTH == 0 ? MAGIC : handover.take_second(VALUE(i)), between;
#else
        double incoming = handover.take(VALUE(i)), between;
#endif
        Complex s = carry_in(x[VALUE(i)], incoming, words, p, between);
#if SUMS
        // Adding 1.5·2^(52−b) moves a multiple of 2^−b to the lower word; carries are there already.
        // The factors of e = wrapped + 1 and of e = wrapped + long0.
        const PointFactors own = factors_of_points.get(VALUE(i), p.wrapped);
        const i32 v0 = __double2loint(s.re + words.magic(true));
        const i32 v1 = __double2loint(fma(words.unit(p.long1), MAGIC, s.im));
        made.add_digits(v0, v1, own);
        made.add_carries(__double2loint(incoming), __double2loint(between), first_factors.next(VALUE(i), p.wrapped, p.long0), own);
#endif
        if constexpr (VALUE(i) % RUN == RUN - 1) end_run(words.bits);
#if KIND == 1
        double v = weights.forward0<VALUE(i)>(p);
#if DIGITS
        s = {s.re * words.unit(p.long0), s.im * words.unit(p.long1)};
#endif
        x[VALUE(i)] = {s.re * v, s.im * weights.forward1(p, v)};
#else
#if !INTEGERS
        s = {s.re * words.base(p.long0), s.im * words.base(p.long1)};
#endif
        digits[(VALUE(i) * M + m) * COLUMNS + column] = {to_integer(s.re), to_integer(s.im)};
#endif
    });
#if SUMS
    finish_sums(made, factors, sums + launch % MEASURED * (PARTS * WORDS_OF_SUM), columns_, m, column, weights);
#endif
#if KIND == 1
    // Other threads of the warp may still read this thread's slots.
    __syncwarp();
    to_spectrum(x, data, tables, tile, columns_);
#endif
}

#endif
