// Columns: inverse transforms, unweighting, carries, weighting, transforms.
//
// The number Σ d_j·2^⌈pj/N⌉, N = ROWS·COLUMNS, j = j1·COLUMNS + j2, is transformed over j1 (here),
// multiplied by ω_N^(j2·k1) (here) and transformed over j2 (rows.cu). A block has WIDTH columns j2,
// all of them in shared memory. In global memory the spectrum is stored as [j2 / CHUNK][k1][j2 %
// CHUNK], where WIDTH divides CHUNK.
//
// KIND 0 `digits_to_spectrum`: digits → spectrum; 1 `columns`: spectrum → spectrum of the carried
// product; 2 `spectrum_to_digits`: spectrum → digits.
//
// Carries. The WIDTH adjacent words in row j1 of the tile are consecutive words of the number.
// Carries run through them, starting from 0. The carry out of the last word is passed to the block
// of the next columns as one 64-bit word, carry·8 + tag of the launch. That block adds it to its
// first word and propagates it. The last word of a tile keeps the carry that then arrives in it: it
// may lie outside the balanced range by a few units, and no further propagation is needed. The
// block of the first columns needs the carries of the last block, so its work is done twice: by the
// first block of the launch only to pass on carries, and by the last block in full, which writes
// after the first block has read.
//
// DIGITS, if defined as 1: residues modulo b^n + 1 in words of equally many digits to the base b. The number
// is Σ d_j·B^j with B^N ≡ −1. The weights are ψ^j with a root ψ of −1 of order N, and the carry out of the
// last word is subtracted from word 0. (Source of the module `engine/goldilocks_gpu/digits`.)
//
// Blocks take their columns in the order in which they start, by a ticket. So a waiting block
// always waits for a block that is already running.
#include "goldilocks_tile.cuh"
#include "wait.cuh"

constexpr int Q = OUTER_RADIX, A = RADIX_A, B = RADIX_B;
constexpr u32 M = A * B;
constexpr u32 ROWS = Q * M;
constexpr u32 LENGTH = ROWS * COLUMNS;
constexpr u32 TILES = COLUMNS / WIDTH;
constexpr u32 U = WIDTH * Q;
// The distance of points of the spectrum whose kb differ by 1.
constexpr u32 APART = Q * A * CHUNK;
typedef Slots<U, A, B> Tile;

// The start of each table, in words of `tables`; the host fills the tables in this order.
constexpr u32 TWIDDLES = 0;                     // [b][ka] ω_M^(b·ka)
constexpr u32 TWIDDLES_INVERSE = TWIDDLES + M;  // [ka][b] ω_M^(−b·ka)
constexpr u32 OUTER = TWIDDLES_INVERSE + M;     // [m][kq] ω_ROWS^(kq·m)
constexpr u32 OUTER_INVERSE = OUTER + ROWS;     // [kq][m] ω_ROWS^(−kq·m)
constexpr u32 WEIGHTS = OUTER_INVERSE + ROWS;   // [j1][2] 2^(u(j1) − 1), and −2^31 times it
constexpr u32 UNWEIGHTS = WEIGHTS + 2 * ROWS;   // [j1][2] 2^(−u(j1)), and twice it
constexpr u32 TWISTS = UNWEIGHTS + 2 * ROWS;    // [j2] 2^u(j2), forward, and 2^(−u(j2))/N, inverse, with
                                                // the powers of ω = ω_N^(±j2) that `Twist` needs

// The part of TWISTS for one column and direction: ω^i for i < FINE; const·ω^(FINE·i) for i <
// COARSE; ω^(Q·A) and its power of B/4 (forward) or of 4 (inverse).
constexpr u32 FINE = 8, COARSE = (Q * A + FINE - 1) / FINE;
constexpr u32 TWIST = FINE + COARSE + 2;

// Indices of `addend`.
constexpr u32 ADDEND_ROW = 1, ADDEND_COLUMN = 2, ADDEND_BIT = 3;

// Indices of `tickets`: the next ticket (see wait.cuh); the ticket of the launch's last block, once the
// first block has read. Word 0 is not used: with these indices kernels spill the fewest registers.
constexpr u32 NEXT = 2, READ = 1;

// The word passed between blocks: carry·2^TAG_BITS + tag, |carry| < 2^60.
constexpr u32 TAG_BITS = 3, TAGS = 1 << TAG_BITS;

struct alignas(16) Pair {
    u64 first, second;
};

// The factors between the transforms of columns and of rows: ω_N^(±j2·k1)·(the column's constant)
// for k1 = g / WIDTH + k·Q·A, all k < B in the order of the points or results of `dft`, in groups
// of GROUP. Each factor is `step` times the preceding one.
template <u32 GROUP, bool inverse>
struct Twist {
    u64 head, next, root, step;
    DEVICE Twist(const u64* __restrict__ tables, u32 g, u32 j2) {
        const u64* twist = tables + TWISTS + (2 * j2 + inverse) * TWIST;
        const u32 e = g / WIDTH;
        head = correct(mul(twist[e % FINE], twist[FINE + e / FINE]));
        next = head;
        root = twist[FINE + COARSE];
        step = twist[FINE + COARSE + 1];
    }
    // Multiplies v by the factor of k = group + (B / GROUP)·(place in the group).
    template <u32 group, u32 place>
    DEVICE Wide apply(u64 v) {
        if constexpr (place > 0) {
            next = correct(mul(next, step));
        } else if constexpr (group > 0) {
            head = correct(mul(head, root));
            next = head;
        }
        return mul(v, next);
    }
};

// Returns the index in memory of the point (u, ka, 0) of a tile, for g = u + U·ka.
DEVICE u32 position(u32 columns, u32 g) {
    u32 j2 = columns * WIDTH + g % WIDTH;
    return (j2 / CHUNK * ROWS + g / WIDTH) * CHUNK + j2 % CHUNK;
}

// From the twisted spectrum, by the inverse transform over kb, to slots (u, ka, b).
DEVICE void inverse_b(const u64* data, const u64* __restrict__ tables, u64* tile, u32 columns) {
#pragma unroll 1
    for (u32 g = threadIdx.x; g < U * A; g += THREADS) {
        u32 u = g % U, ka = g / U;
        const u64* spectrum = data + position(columns, g);
        u64* slots = tile + Tile::at(u, ka, 0);
        Twist<B / 4, true> twist(tables, g, columns * WIDTH + u % WIDTH);
        transform<B>([&](auto k) { return twist.template apply<VALUE(k) % 4, VALUE(k) / 4>(spectrum[VALUE(k) * APART]); },
                     [&](auto b, u64 v) { slots[minus(VALUE(b), B) * Tile::STRIDE_B] = v; });
    }
}

// From slots (u, ka, b), with the twiddles between a and b, by the transform over b, to the twisted
// spectrum.
DEVICE void forward_b(u64* data, const u64* __restrict__ tables, const u64* tile, u32 columns) {
#pragma unroll 1
    for (u32 g = threadIdx.x; g < U * A; g += THREADS) {
        u32 u = g % U, ka = g / U;
        u64* spectrum = data + position(columns, g);
        const u64* slots = tile + Tile::at(u, ka, 0);
        const u64* twiddles = tables + TWIDDLES + ka;
        Twist<4, false> twist(tables, g, columns * WIDTH + u % WIDTH);
        transform<B>([&](auto b) { return twiddled<Tile::STRIDE_B, A>(slots, twiddles, b); },
                     [&](auto k, u64 v) {
                         constexpr u32 P = B / 4;
                         spectrum[VALUE(k) * APART] = correct(twist.template apply<VALUE(k) % P, VALUE(k) / P>(v));
                     });
    }
}

// The transform over a in slots (u, a or ka, b) after the outer twiddles, or its inverse after the
// inner twiddles.
template <bool inverse>
DEVICE void transform_a(const u64* __restrict__ tables, u64* tile) {
#pragma unroll 1
    for (u32 h = threadIdx.x; h < U * B; h += THREADS) {
        u32 b = h / U;
        u64* slots = tile + Tile::at(h % U, 0, b);
        if constexpr (inverse) {
            const u64* twiddles = tables + TWIDDLES_INVERSE + b;
            transform<A>([&](auto k) { return twiddled<Tile::STRIDE_A, B>(slots, twiddles, k); },
                         [&](auto a, u64 v) { slots[minus(VALUE(a), A) * Tile::STRIDE_A] = v; });
        } else {
            const u64* twiddles = tables + OUTER + Q * b + h % U / WIDTH;
            transform<A>([&](auto a) {
                             u64 v = slots[VALUE(a) * Tile::STRIDE_A];
                             return Q == 1 ? widen(v) : mul(v, twiddles[VALUE(a) * B * Q]);
                         },
                         [&](auto k, u64 v) { slots[VALUE(k) * Tile::STRIDE_A] = v; });
        }
    }
}

// The transform over q for all m, or its inverse after the outer twiddles.
template <bool inverse>
DEVICE void transform_outer(const u64* __restrict__ tables, u64* tile) {
#pragma unroll 1
    for (u32 g = threadIdx.x; g < WIDTH * M; g += THREADS) {
        // Threads run through c first, then b, then a.
        u32 c = g % WIDTH, m = g / WIDTH;
        u64* slots = tile + Tile::at(c, m / B, m % B);
        if constexpr (inverse) {
            const u64* twiddles = tables + OUTER_INVERSE + m;
            transform<Q>([&](auto k) { return twiddled<WIDTH, M>(slots, twiddles, k); },
                         [&](auto q, u64 v) { slots[minus(VALUE(q), Q) * WIDTH] = v; });
        } else {
            transform<Q>([&](auto q) { return widen(slots[VALUE(q) * WIDTH]); },
                         [&](auto k, u64 v) { slots[VALUE(k) * WIDTH] = v; });
        }
    }
}

// From slots that other threads have filled to the spectrum, and back.
DEVICE void to_spectrum(u64* data, const u64* __restrict__ tables, u64* tile, u32 columns) {
    __syncthreads();
    if constexpr (Q > 1) {
        transform_outer<false>(tables, tile);
        __syncthreads();
    }
    transform_a<false>(tables, tile);
    __syncthreads();
    forward_b(data, tables, tile, columns);
}
DEVICE void from_spectrum(const u64* data, const u64* __restrict__ tables, u64* tile, u32 columns) {
    inverse_b(data, tables, tile, columns);
    __syncthreads();
    transform_a<true>(tables, tile);
    __syncthreads();
    if constexpr (Q > 1) {
        transform_outer<true>(tables, tile);
        __syncthreads();
    }
}

#if DIGITS
// The base B of all words, with the constants of a division by B: for 0 ≤ v < 2^63, ⌊v/B⌋ is
// ⌊v·reciprocal/2^64⌋ >> shift. `offset` is a multiple of B, 2^62 − B at most, plus ⌊B/2⌋.
struct Layout {
    u32 base;
    u64 offset, reciprocal, multiples;
    u32 shift;
};
#define LAYOUT_PARAMETERS u32 base, u64 offset, u64 reciprocal, u64 multiples, u32 shift
#define LAYOUT {base, offset, reciprocal, multiples, shift}
typedef const Layout& Length;

// The words of a row of the tile.
struct Words {
    Length layout;
    DEVICE Words(const Layout& layout, u32, u32) : layout(layout) {}
    DEVICE bool wrapped() const { return false; }
    DEVICE Length length() const { return layout; }
    DEVICE void next() {}
};

// Splits a + b = digit + carry·B with −B/2 ≤ digit < B/2, for |a + b| < 2^62 − 2B; returns the digit.
template <typename Carry>
DEVICE i32 split(i64 a, i64 b, Length length, Carry& carry) {
    const u64 v = (u64)(a + b) + length.offset, q = __umul64hi(v, length.reciprocal) >> length.shift;
    carry = (Carry)(i64)(q - length.multiples);
    return (i32)(low(v) - low(q) * length.base - length.base / 2);
}
#else
// ⌊p/N⌋ and p mod N, and the exponents of weights.
struct Layout {
    const u32* __restrict__ fractions;
    u32 base_bits, long_below;
};
#define LAYOUT {fractions, base_bits, long_below}

// The length of a word: its number of bits, and half of its base.
struct Length {
    u32 bits, half;
    // Returns the digit of v + half.
    DEVICE i32 digit(u32 v_and_half) const { return (i32)((v_and_half & (2 * half - 1)) - half); }
};

// The words of a row of the tile, one after the other: their lengths, and which of the row's two
// weights applies.
struct Words {
    // N·u(j1), N·u(j), and N·u(j) − (p mod N), whose sign distinguishes long words from short ones.
    i32 start, fraction, over;
    u32 base_bits, long_below;
    DEVICE Words(const Layout& layout, u32 row, u32 columns) {
        start = (i32)layout.fractions[row];
        fraction = start + (i32)layout.fractions[ROWS + columns];
        if (fraction >= (i32)LENGTH) fraction -= (i32)LENGTH;
        base_bits = layout.base_bits;
        long_below = layout.long_below;
        over = fraction - (i32)long_below;
    }
    // Whether u(j1) + u(j2) has passed 1.
    DEVICE bool wrapped() const { return fraction < start; }
    DEVICE Length length() const {
        u32 is_long = (u32)over >> 31;
        return {base_bits + is_long, 1u << (base_bits - 1) << is_long};
    }
    DEVICE void next() {
        fraction = over + (i32)(((u32)over >> 31) * LENGTH);
        over = fraction - (i32)long_below;
    }
};

// Splits a + b = digit + carry·2^bits with −2^(bits−1) ≤ digit < 2^(bits−1); returns the digit.
DEVICE i32 split(i64 a, i64 b, Length length, i64& carry) {
    i64 v = a + b + length.half;
    carry = v >> length.bits;
    return length.digit(low((u64)v));
}
// Splits a + b like the function above, for |a + b| < 2^31 − 2^bits.
DEVICE i32 split(i32 a, i32 b, Length length, i32& carry) {
    i32 v = a + b + (i32)length.half;
    carry = v >> length.bits;
    return length.digit((u32)v);
}
#endif

// Returns d·2^u with the row's `weight` (see WEIGHTS); |d| < 2^30.
DEVICE u64 weighted(i32 d, bool wrapped, Pair weight) {
    u32 m = (u32)d + (wrapped ? 0 : (u32)d) + (1u << 31);
    return correct_positive(mul_word(m, weight.first, weight.second));
}

// Returns the slots of the words of a row in the tile.
DEVICE u64* slots_of(u64* tile, u32 row) {
    u32 q = row / M, m = row % M;
    return tile + Tile::at(q * WIDTH, m / B, m % B);
}

DEVICE u64 pack(i32 a, i32 b) { return join((u32)a, (u32)b); }

#if KIND == 0

// From `digits[j]`, |d_j| < 2^30, to the spectrum.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
#if DIGITS
digits_to_spectrum(u64* data, const i32* __restrict__ digits, const u64* __restrict__ tables) {
    const Layout layout = {};
#else
digits_to_spectrum(u64* data, const i32* __restrict__ digits, const u64* __restrict__ tables,
      const u32* __restrict__ fractions, u32 long_below) {
    const Layout layout = {fractions, 1, long_below};
#endif
    DYNAMIC_SHARED(u64, tile);
    u32 columns = blockIdx.x;
#pragma unroll 1
    for (u32 row = threadIdx.x; row < ROWS; row += THREADS) {
        Words words(layout, row, columns);
        u64* slots = slots_of(tile, row);
        const Pair weight = *(const Pair*)(tables + WEIGHTS + 2 * row);
        unrolled<0, WIDTH>([&](auto c) {
            i32 d = digits[row * COLUMNS + columns * WIDTH + VALUE(c)];
            slots[VALUE(c)] = weighted(d, words.wrapped(), weight);
            words.next();
        });
    }
    to_spectrum(data, tables, tile, columns);
}

#else

// Converts the words of a tile to digits with the carries within the tile, and passes on the
// carries out of it.
DEVICE void carry_within(u64* tile, const u64* __restrict__ tables, const Layout& layout, u64* carries,
                         const u64* addend, u32 columns, u32 tag, u32 subtrahend, u32 multiplier, bool hands_on) {
#pragma unroll 1
    for (u32 row = threadIdx.x; row < ROWS; row += THREADS) {
        Words words(layout, row, columns);
        u64* slots = slots_of(tile, row);
        const Pair unweight = *(const Pair*)(tables + UNWEIGHTS + 2 * row);
        i64 z[WIDTH];
#if !DIGITS
        Length length[WIDTH];
#endif
        unrolled<0, WIDTH / 2>([&](auto i) {
            Pair pair = *(const Pair*)(slots + 2 * VALUE(i));
            unrolled<0, 2>([&](auto h) {
                constexpr int c = 2 * VALUE(i) + VALUE(h);
                u64 w = words.wrapped() ? unweight.second : unweight.first;
                z[c] = nearest(mul(VALUE(h) == 0 ? pair.first : pair.second, w));
#if !DIGITS
                length[c] = words.length();
#endif
                words.next();
            });
        });
        if (subtrahend != 0 && row == addend[ADDEND_ROW]) {
            unrolled<0, WIDTH>([&](auto c) {
                if (columns * WIDTH + VALUE(c) == addend[ADDEND_COLUMN]) {
                    z[VALUE(c)] -= (i64)subtrahend << addend[ADDEND_BIT];
                }
            });
        }
#if DIGITS
        auto length_of = [&](u32) -> Length { return layout; };
#else
        auto length_of = [&](u32 c) { return length[c]; };
#endif
        i64 carry = 0;
        i32 digit[WIDTH];
        if (multiplier == 1) {
            unrolled<0, WIDTH>([&](auto c) {
                digit[VALUE(c)] = split(z[VALUE(c)], carry, length_of(VALUE(c)), carry);
            });
        } else {
            unrolled<0, WIDTH>([&](auto c) {
                i64 up, more;
                i32 d = split(z[VALUE(c)], 0, length_of(VALUE(c)), up);
                digit[VALUE(c)] = split((i64)d * multiplier, carry, length_of(VALUE(c)), more);
                carry = up * multiplier + more;
            });
        }
        if (hands_on) store_relaxed(&carries[columns * ROWS + row], (u64)carry << TAG_BITS | tag);
        unrolled<0, WIDTH / 2>([&](auto i) {
            slots[2 * VALUE(i)] = pack(digit[2 * VALUE(i)], digit[2 * VALUE(i) + 1]);
        });
    }
}

// Adds the carries of the preceding columns to the words; then weights them again or writes digits.
DEVICE void carry_between(u64* tile, const u64* __restrict__ tables, const Layout& layout, const u64* carries,
                          u64* tickets, i32* __restrict__ digits, u32 columns, u32 tag) {
    // The first columns are preceded by the last ones, one row up.
    const u64* incoming = carries + (columns == 0 ? TILES - 1 : columns - 1) * ROWS;
    const u32 up = columns == 0 ? 1 : 0;
    auto load = [&](u32 row) { return load_relaxed(&incoming[min(row - up, ROWS - 1)]); };
    // A thread issues the loads of all its rows at once.
    constexpr u32 ITEMS = (ROWS + THREADS - 1) / THREADS;
    u64 word[ITEMS];
    unrolled<0, ITEMS>([&](auto i) {
        u32 row = threadIdx.x + VALUE(i) * THREADS;
        if (ROWS % THREADS == 0 || row < ROWS) word[VALUE(i)] = load(row);
    });
    unrolled<0, ITEMS>([&](auto i) {
        u32 row = threadIdx.x + VALUE(i) * THREADS;
        if (ROWS % THREADS == 0 || row < ROWS) {
            u64* slot = slots_of(tile, row) + 1;
            wait_until([&](u64 w) { return w % TAGS == tag; }, word[VALUE(i)], [&] { return load(row); },
                       (volatile u32&)*slot, &tickets[NEXT]);
            *slot = word[VALUE(i)];
        }
    });

#pragma unroll 1
    for (u32 row = threadIdx.x; row < ROWS; row += THREADS) {
        Words words(layout, row, columns);
        u64* slots = slots_of(tile, row);
        i32 digit[WIDTH];
        i64 word = 0;
        unrolled<0, WIDTH / 2>([&](auto i) {
            Pair pair = *(const Pair*)(slots + 2 * VALUE(i));
            digit[2 * VALUE(i)] = (i32)low(pair.first);
            digit[2 * VALUE(i) + 1] = (i32)high(pair.first);
            if (VALUE(i) == 0) word = (i64)pair.second >> TAG_BITS;
        });
#if DIGITS
        if (columns == 0 && row == 0) word = -word;
#endif
#if KIND == 1
        const Pair weight = *(const Pair*)(tables + WEIGHTS + 2 * row);
        u64 x[WIDTH];
#endif
        // The carry out of the first word has at most 31 bits.
        i32 carry = 0;
        unrolled<0, WIDTH>([&](auto c) {
            i32 d = digit[VALUE(c)] + carry;
            if constexpr (VALUE(c) == 0) {
                i64 more;
                d = split(digit[0], word, words.length(), more);
                carry = (i32)more;
            } else if constexpr (VALUE(c) + 1 < WIDTH) {
                d = split(digit[VALUE(c)], carry, words.length(), carry);
            }
#if KIND == 1
            x[VALUE(c)] = weighted(d, words.wrapped(), weight);
#else
            digits[row * COLUMNS + columns * WIDTH + VALUE(c)] = d;
#endif
            words.next();
        });
#if KIND == 1
        unrolled<0, WIDTH / 2>([&](auto i) {
            *(Pair*)(slots + 2 * VALUE(i)) = {x[2 * VALUE(i)], x[2 * VALUE(i) + 1]};
        });
#endif
    }
}

// From the spectrum to the carried words of the product, and then to a spectrum again or to
// `digits`.
//
// `carries[columns][j1]` and `tickets` are scratch, zero before the first launch. Every word is
// multiplied by `multiplier`, and `subtrahend`·2^bit is subtracted from the word that `addend`
// names. Words have `base_bits` bits, and one more where (−p·j mod N) < `long_below` = p mod N. With DIGITS,
// they have the base of `Layout`.
//
// `addend` is not __restrict__: the kernel of rows writes it when blocks of this kernel are already
// waiting, and loads of constant data might not see that.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
#if KIND == 1
columns(u64* data,
#else
spectrum_to_digits(u64* data, i32* __restrict__ digits,
#endif
        const u64* __restrict__ tables,
#if DIGITS
        u64* carries, u64* tickets, const u64* addend, LAYOUT_PARAMETERS,
#else
        const u32* __restrict__ fractions, u64* carries, u64* tickets, const u64* addend, u32 base_bits,
        u32 long_below,
#endif
        u32 subtrahend, u32 multiplier) {
    const Layout layout = LAYOUT;
    wait_for_last_launch();
    let_next_launch_begin();
    DYNAMIC_SHARED(u64, tile);
    if (threadIdx.x == 0) tile[Tile::COUNT] = atomicAdd(&tickets[NEXT], 1ull);
    __syncthreads();
    const u64 ticket = tile[Tile::COUNT];
    if ((ticket & GIVEN_UP) != 0) return;
    const u32 turn = (u32)(ticket % (TILES + 1)), tag = (u32)(ticket / (TILES + 1) + 1) % TAGS;
    const u32 columns_ = turn == TILES ? 0 : turn;

#if KIND == 2
    i32* const digits_ = digits;
#else
    i32* const digits_ = nullptr;
#endif
    from_spectrum(data, tables, tile, columns_);
    carry_within(tile, tables, layout, carries, addend, columns_, tag, subtrahend, multiplier, turn != TILES);
    if (turn == 0) {
        // The last read of this block was before the preceding barrier.
        if (threadIdx.x == 0) store_release(&tickets[READ], ticket + TILES);
        return;
    }
    if (KIND == 1 && turn == TILES && threadIdx.x == 0) {
        auto read = [&] { return load_acquire(&tickets[READ]); };
        u64 last = read();
        wait_until([&](u64 l) { return l == ticket; }, last, read, (volatile u32&)tile[Tile::COUNT], &tickets[NEXT]);
    }
    carry_between(tile, tables, layout, carries, tickets, digits_, columns_, tag);
#if KIND == 1
    to_spectrum(data, tables, tile, columns_);
#endif
}

#endif
