// x^e mod m for odd m, a group of lanes a number, by Montgomery's products (Montgomery 1985) and windows of
// WINDOW bits. What is even is left to others: `evens` becomes 1.
//
//   X_LIMBS, E_LIMBS, M_LIMBS   limbs of the operands; X_LIMBS ≤ WHOLE, M_LIMBS ≤ WHOLE
//   WINDOW    bits of the exponent for each product
//   LANES     at least 2; LIMBS a multiple of 4; THREADS: see lanes.cuh; BLOCKS blocks of a multiprocessor
//
// With B = 2^32, N = WHOLE and R = B^N, numbers y are held as y·R modulo m, by any number below R, a
// block of LIMBS limbs in each lane. A block of threads has many numbers, one after the other.
//
// Squares. With blocks X_s, β = B^LIMBS, the sum of X_s²·β^2s has no carries between its terms. To it
// 2·X_s·X_t·β^(s + t) is added for s < t. T/2 − 1 times, T = LANES, each lane has the pair of its own block and
// that d further on, cyclically. Then the s + t are of one parity, and different but for those of lanes
// i and i + T/2 where the latter goes round; these have places of their own, and add them afterwards. So
// no two lanes add to one block at once. The pairs that are T/2 apart have two lanes each: half the limbs
// of X_t for each, one after the other. Doubling: Σ_{t > s} 2·X_t·β^t is the number whose limbs are those of
// 2·X, but for the lowest bit of block s + 1, which is of X_s, and for the bit beyond the top block: there
// X without its top block is added once to the upper half. Carries out of a block are counted beside the
// next one.
//
// Reduction. With t the lower half of a square, N/2 times t ← (t + q·m)/B², q = −t/m mod B². The two lowest
// limbs of a lane's sum go to the lane below, and what is beyond its highest one is at its top then, with a
// carry that waits for the lane above, or in the top lane for what is beyond that. In the end the
// upper half is added, and m subtracted where there is a carry. Products are added two limbs at a time in
// the same way, t ← (t + x·y_i + q·m)/B²; t < R + m throughout, and what waits is 2 at most.
//
// `raised` has 2^(64·WHOLE) mod m for each number.
#include "exponent.cuh"
#include "lanes.cuh"
#include "limbs.cuh"
#include "quad.cuh"

static_assert(LANES >= 2 && LIMBS % 4 == 0);

constexpr u32 HALF = LIMBS / 2;
// Blocks are an odd number of quads apart: those of eight lanes are in different banks.
constexpr u32 APART = LIMBS % 8 == 4 ? LIMBS : LIMBS + 4;
// A number's shared memory: a factor, a square of twice as many blocks, what lanes that go round have, and
// the carries of blocks.
constexpr u32 OF_SQUARE = LANES * APART, OF_ROUND = 3 * LANES * APART;
constexpr u32 OF_CARRIES = OF_ROUND + (LANES > 2 ? LANES / 2 * APART : 0);
constexpr u32 PLACES = OF_CARRIES + 2 * LANES + 4;

typedef u32 Block[LIMBS];

// Adds x and a carry to a block; what that carries.
DEVICE u32 add_to(u32* block, const Block& x, u32 carry) {
    Block sum;
    read(sum, block);
    add_first(carry, 0xffffffffu);
#pragma unroll
    for (u32 t = 0; t < LIMBS; t++) sum[t] = add_carried(sum[t], x[t]);
    carry = add_last(0, 0);
    write(block, sum);
    return carry;
}

// This lane's limbs of a number of COUNT limbs, with zeros on top.
template <u32 COUNT>
DEVICE void load(Block& x, const u32* from) {
#pragma unroll
    for (u32 t = 0; t < LIMBS; t++) {
        u32 at = lane_of_group() * LIMBS + t;
        x[t] = at < COUNT ? from[at] : 0;
    }
}

// Rows of a product: a by the limbs of b from `first` on, b(i) for i < ROWS; put(i, x) takes its lowest limbs.
template <u32 ROWS, class Read, class Put>
DEVICE void add_rows(Sums<LIMBS>& sums, const Block& a, Read b, Put put) {
#pragma unroll
    for (u32 i = 0; i < ROWS; i++) {
        u32 limb = b(i);
        if (i > 0) {
            limb = when_known(limb, sums.words[(i + 1) % 2][i + LIMBS - 1]);
            put(i - 1, sums.first_sum(i - 1));
        }
        sums.add_chain(a, limb, i, 0, LIMBS, i > 0);
        sums.add_chain(a, limb, i, 1, LIMBS, false);
    }
    put(ROWS - 1, sums.first_sum(ROWS - 1));
}

// A lane's sum in two parts, by the parity of the positions where products begin, and three limbs beyond its
// own ones.
struct Pair {
    u32 words[2][LIMBS + 3];

    // x, and what waits below: for this lane, and in the top one for what is beyond it.
    DEVICE void begin(const Block& x, u32 waiting) {
#pragma unroll
        for (u32 t = 0; t < LIMBS + 3; t++) words[0][t] = t < LIMBS ? x[t] : 0, words[1][t] = 0;
        words[0][LIMBS] = is_top() ? waiting : 0;
        words[1][0] = from_below(waiting, 0);
    }

    // Adds a·b at a position: 0, or 1 when the sum has no product there yet in its second part.
    template <u32 AT, bool FRESH>
    DEVICE void add(const Block& a, u32 b) {
        constexpr u32 P = AT % 2;
#pragma unroll
        for (u32 j = 0; j < LIMBS; j += 2) {
            u32 &lo = words[P][AT + j], &hi = words[P][AT + j + 1];
            if (j == 0) {
                multiply_add_first(lo, hi, a[0], b);
            } else {
                multiply_add_carried(lo, hi, a[j], b);
            }
        }
        words[P][AT + LIMBS] = add_last(words[P][AT + LIMBS], 0);
        if constexpr (FRESH) {
#pragma unroll
            for (u32 j = 1; j < LIMBS; j += 2) {
                u64 product = (u64)a[j] * b;
                words[1 - P][AT + j] = low(product), words[1 - P][AT + j + 1] = high(product);
            }
        } else {
#pragma unroll
            for (u32 j = 1; j < LIMBS; j += 2) {
                u32 &lo = words[1 - P][AT + j], &hi = words[1 - P][AT + j + 1];
                if (j == 1) {
                    multiply_add_first(lo, hi, a[1], b);
                } else {
                    multiply_add_carried(lo, hi, a[j], b);
                }
            }
            words[1 - P][AT + LIMBS + 1] = add_last(words[1 - P][AT + LIMBS + 1], 0);
        }
    }

    DEVICE u32 first() const { return words[0][0] + words[1][0]; }
    DEVICE u32 second() const {
        add_first(words[0][0], words[1][0]);
        return add_last(words[0][1], words[1][1]);
    }

    // Divided by B²: x, and what waits then. The two lowest limbs are the highest ones of the lane below.
    DEVICE void end(Block& x, u32& waiting) const {
        u32 lowest[2], beyond[3];
        lowest[0] = add_first(words[0][0], words[1][0]);
        lowest[1] = add_carried(words[0][1], words[1][1]);
#pragma unroll
        for (u32 t = 2; t < LIMBS; t++) x[t - 2] = add_carried(words[0][t], words[1][t]);
#pragma unroll
        for (u32 t = 0; t < 3; t++) beyond[t] = add_carried(words[0][LIMBS + t], words[1][LIMBS + t]);
        u32 above = from_above(lowest[0], 0), next = from_above(lowest[1], 0);
        x[LIMBS - 2] = add_first(above, beyond[0]);
        x[LIMBS - 1] = add_carried(next, beyond[1]);
        waiting = add_last(beyond[2], 0);
    }
};

// What a lane works in.
struct Work {
    u32 *factor, *square, *round, *carries;
    Block m;
    // −1/m mod B.
    u32 inverse;

    // Limb i of twice block t, with the bit from below if it is not that of block s.
    DEVICE u32 doubled(u32 s, u32 t, u32 i) const {
        const u32* at = factor + t * APART + i;
        u32 below = i > 0 ? at[-1] : t == s + 1 ? 0 : factor[(t - 1) * APART + LIMBS - 1];
        return __funnelshift_l(below, at[0], 1);
    }

    // x² in its blocks, but for the counted carries.
    DEVICE void make_square(const Block& x) const {
        u32 lane = lane_of_group(), done[4];
        __syncwarp();
        write(factor + lane * APART, x);
        carries[2 * lane] = carries[2 * lane + 1] = 0;
        ::square(x, [&](u32 t, u32 limb) {
            done[t % 4] = limb;
            u32* block = square + (2 * lane + t / LIMBS) * APART;
            if (t % 4 == 3) *(Quad*)(block + t % LIMBS - 3) = {{done[0], done[1], done[2], done[3]}};
        });
        __syncwarp();
#pragma unroll 1
        for (u32 d = 1; d < LANES / 2; d++) {
            u32 other = (lane + d) % LANES, s = min(lane, other), t = max(lane, other);
            bool goes_round = other < lane;
            u32* place = square + (s + t) * APART;
            u32* own = goes_round ? round + (lane - LANES / 2) * APART : place;
            Sums<LIMBS> sums;
            sums.clear();
            Block a;
            read(a, own);
#pragma unroll
            for (u32 i = 0; i < LIMBS; i++) sums.words[0][i] = goes_round ? 0 : a[i];
            read(a, factor + s * APART);
            add_rows<LIMBS>(sums, a, [&](u32 i) { return doubled(s, t, i); },
                            [&](u32 i, u32 limb) {
                                done[i % 4] = limb;
                                if (i % 4 == 3) {
                                    *(Quad*)(own + i - 3) = {{done[0], done[1], done[2], done[3]}};
                                }
                            });
#pragma unroll
            for (u32 i = 0; i < LIMBS; i++) a[i] = sums.next_sum(LIMBS + i);
#pragma unroll 1
            for (u32 turn = 0; turn < 2; turn++) {
                __syncwarp();
                if (goes_round == (turn == 1)) {
                    u32 carry = 0;
                    if (goes_round) {
                        Block lower;
                        read(lower, own);
                        carry = add_to(place, lower, 0);
                    }
                    carry = add_to(place + APART, a, carry);
                    if (carry != 0) carries[s + t + 2]++;
                }
            }
            __syncwarp();
        }
        add_middle_pairs();
    }

    // The pairs of blocks T/2 apart, and X itself where 2·X has one bit more than X.
    DEVICE void add_middle_pairs() const {
        u32 lane = lane_of_group(), s = lane % (LANES / 2), t = s + LANES / 2;
        bool is_upper = lane >= LANES / 2;
        Sums<LIMBS> sums;
        sums.clear();
        Block a;
        u32 lowest[HALF];
        read(a, factor + s * APART);
        u32 first = is_upper ? HALF : 0;
        auto limb = [&](u32 i) {
            if (i > 0) return __funnelshift_l(factor[t * APART + first + i - 1], factor[t * APART + first + i], 1);
            return doubled(s, t, first);
        };
        add_rows<HALF>(sums, a, limb, [&](u32 i, u32 x) { lowest[i] = x; });
#pragma unroll
        for (u32 i = 0; i < LIMBS; i++) a[i] = sums.next_sum(HALF + i);
        Block lower, upper;
#pragma unroll
        for (u32 i = 0; i < HALF; i++) {
            lower[i] = is_upper ? 0 : lowest[i];
            lower[HALF + i] = is_upper ? lowest[i] : a[i];
            upper[i] = is_upper ? a[i] : a[HALF + i];
            upper[HALF + i] = is_upper ? a[HALF + i] : 0;
        }
        u32* place = square + (s + t) * APART;
#pragma unroll 1
        for (u32 half = 0; half < 2; half++) {
            if (is_upper == (half == 1)) {
                u32 carry = add_to(place + APART, upper, add_to(place, lower, 0));
                if (carry != 0) carries[s + t + 2]++;
            }
            __syncwarp();
        }
        bool is_long = factor[(LANES - 1) * APART + LIMBS - 1] >> 31 != 0;
        if (is_long && !is_top()) {
            read(a, factor + lane * APART);
            u32 carry = add_to(square + (LANES + lane) * APART, a, 0);
            if (carry != 0) carries[LANES + lane + 1]++;
        }
        __syncwarp();
    }

    // The quotient limb of what a lane has at positions below; that of lane 0 is meant.
    DEVICE u32 quotient(u32 lowest) const { return of_lane(lowest * inverse, 0); }

    // The square over R modulo m, below R.
    DEVICE void reduce_square(Block& x) const {
        u32 lane = lane_of_group();
        read(x, square + lane * APART);
        u32 beyond = ripple(x, add_word(x, carries[lane])), waiting = 0;
#pragma unroll 1
        for (u32 i = 0; i < WHOLE; i += 2) {
            Pair sum;
            sum.begin(x, waiting);
            sum.add<0, true>(m, quotient(sum.first()));
            sum.add<1, false>(m, quotient(sum.second()));
            sum.end(x, waiting);
        }
        Block upper;
        read(upper, square + (LANES + lane) * APART);
        u32 small = from_below(waiting, 0) + carries[LANES + lane] + (is_bottom() ? beyond : 0);
        x[0] = add_first(x[0], upper[0]);
#pragma unroll
        for (u32 i = 1; i < LIMBS; i++) x[i] = add_carried(x[i], upper[i]);
        u32 carry = ripple(x, add_last(0, 0));
        carry += ripple(x, add_word(x, small)) + of_top(waiting);
        subtract_modulus(x, carry, false);
    }

    // x·y/R modulo m, below R, y in the places of the factor.
    DEVICE void multiply(Block& x) const {
        Block sum;
#pragma unroll
        for (u32 i = 0; i < LIMBS; i++) sum[i] = 0;
        u32 waiting = 0;
#pragma unroll 1
        for (u32 i = 0; i < LANES; i++) {
#pragma unroll 1
            for (u32 j = 0; j < LIMBS; j += 2) {
                u32 y0 = factor[i * APART + j], y1 = factor[i * APART + j + 1];
                Pair pair;
                pair.begin(sum, waiting);
                pair.add<0, true>(x, y0);
                pair.add<0, false>(m, quotient(pair.first()));
                pair.add<1, false>(x, y1);
                pair.add<1, false>(m, quotient(pair.second()));
                pair.end(sum, waiting);
            }
        }
        u32 carry = ripple(sum, add_word(sum, from_below(waiting, 0)));
        carry += of_top(waiting);
#pragma unroll
        for (u32 i = 0; i < LIMBS; i++) x[i] = sum[i];
        subtract_modulus(x, carry, false);
    }

    // x − m where there is a carry, or if x is no less and that is wanted.
    DEVICE void subtract_modulus(Block& x, u32 carry, bool always) const {
        if (!__any_sync(0xffffffffu, carry != 0 || always)) return;
        Block less;
        add_first(is_bottom() ? 1 : 0, 0xffffffffu);
#pragma unroll
        for (u32 t = 0; t < LIMBS; t++) less[t] = add_carried(x[t], ~m[t]);
        u32 is_no_less = ripple(less, add_last(0, 0));
        if (carry != 0 || (always && is_no_less != 0)) {
#pragma unroll
            for (u32 t = 0; t < LIMBS; t++) x[t] = less[t];
        }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    power_lanes(const u32* x, const u32* e, const u32* m, const u32* raised, u32* out, unsigned char* is_zero,
                u32* evens, u32* tables, u64 x_stride, u64 e_stride, u64 m_stride, u64 raised_stride,
                u32 count) {
    DYNAMIC_SHARED(u32, places);
    u32 group = threadIdx.x / LANES, lane = lane_of_group();
    u32* factor = places + group * PLACES;
    // The powers x^0 … x^(ENTRIES − 1) times R, this lane's blocks.
    u32* table = tables + ((u64)blockIdx.x * THREADS + threadIdx.x) * ENTRIES * LIMBS;
    Work work;
    work.factor = factor, work.square = factor + OF_SQUARE;
    work.round = factor + OF_ROUND, work.carries = factor + OF_CARRIES;
    constexpr u32 OF_WARP = 32 / LANES;
    // Whole warps go on together.
    u64 begin = (u64)blockIdx.x * NUMBERS + group / OF_WARP * OF_WARP;
    for (; begin < count; begin += (u64)gridDim.x * NUMBERS) {
        u64 number = begin + group % OF_WARP, i = min(number, (u64)count - 1);
        load<M_LIMBS>(work.m, m + i * m_stride);
        u32 any = 0;
#pragma unroll
        for (u32 t = 0; t < LIMBS; t++) any |= work.m[t];
        bool by_zero = votes(any != 0) == 0;
        u32 lowest = of_lane(work.m[0], 0);
        if (lowest % 2 == 0 && !by_zero && is_bottom() && number < count) atomicOr(evens, 1u);
        // Right in 3 bits, then 6, 12, 24, 48.
        u32 inverse = lowest;
#pragma unroll
        for (u32 t = 0; t < 4; t++) inverse *= 2 - lowest * inverse;
        work.inverse = 0u - inverse;

        const u32* exponent = e + i * e_stride;
        u32 bits = warp_largest(bit_length(exponent, E_LIMBS));
        u32 windows = (bits + WINDOW - 1) / WINDOW, last = ENTRIES + windows;
        Block a;
#pragma unroll 1
        for (u32 step = 0; step <= last; step++) {
            bool is_window = step >= ENTRIES && step < last;
            if (step < 2) load<M_LIMBS>(a, raised + i * raised_stride);
            if (step == ENTRIES) read(a, table);
#pragma unroll 1
            for (u32 k = is_window && step > ENTRIES ? WINDOW : 0; k > 0; k--) {
                work.make_square(a);
                work.reduce_square(a);
            }
            Block y;
            if (step == 0 || step == last) {
#pragma unroll
                for (u32 t = 0; t < LIMBS; t++) y[t] = is_bottom() && t == 0 ? 1 : 0;
            } else if (step == 1) {
                load<X_LIMBS>(y, x + i * x_stride);
            } else {
                u32 entry = is_window ? window(exponent, (last - 1 - step) * WINDOW) : 1;
                read(y, table + entry * LIMBS);
            }
            __syncwarp();
            write(factor + lane * APART, y);
            __syncwarp();
            work.multiply(a);
            if (step < ENTRIES) write(table + step * LIMBS, a);
        }
        work.subtract_modulus(a, 0, true);
        if (number < count) {
#pragma unroll
            for (u32 t = 0; t < LIMBS; t++) {
                u32 at = lane * LIMBS + t;
                if (at < M_LIMBS) out[number * M_LIMBS + at] = by_zero ? 0 : a[t];
            }
            if (is_bottom() && is_zero) is_zero[number] = by_zero;
        }
    }
}
