// Products of numbers by convolution of their digits modulo PRIMES primes of 50 bits.
//
//   A_LIMBS, B_LIMBS   limbs of the factors
//   FIRST, OUT_LIMBS   the limbs of the product that are written
//   SQUARE             whether a = b: b is not read
//   PARTS, LOG_PART    1 or 3 parts of 2^LOG_PART points of a transform, 16 a thread
//   RADICES            stages of the passes over shared memory: at most 4 each, LOG_PART in all
//   DIGIT_BITS         even, at least 64; the digits of a and b together are no more than points
//   PRIMES             their product is more than 2^(2·DIGIT_BITS) times the digits of the shorter factor
//   FIELDS             p and RN(1/p) of each
//   RAISED             2^64, 2^128, … mod p of each, a Factor for each 64 bits of a digit beyond 64
//   MIXED              for k, i < k: −M_i/M_k mod p_k, M_i = p_0·…·p_(i−1), and 1/(S·M_k) mod p_k with
//                      S = 2^LOG_PART, four times that for 3 parts
//   PRODUCTS           products of a block, BLOCKS blocks of a multiprocessor
//   WIDE               whether residues are in global memory, `scratch`, as shared memory has no room for
//                      those modulo all primes; then PRODUCTS = 1, and blocks make many products each
//
// A forward stage takes x^(2h) − w² apart into (x^h − w)(x^h + w): in block β of 2h points, all
// differences and sums a ± w·b are with the same w, a root of unity whose exponent is β with its
// bits reversed. The result is in reversed order, products are made there, and the inverse stages go
// back. (This form is that of FLINT's fft_small.) A pass has a table of roots of its own, in which
// those of neighbouring blocks stand side by side.
//
// Three parts are a product mod (x^(2M) − 1)(x^M − i), M = 2^LOG_PART, i² = −1: its blocks 0, 1
// and 2 of M points. A factor has at most 2M digits.
//
// Digits are never carried before the end: what a point has after the inverse transforms, modulo
// all primes, is one integer below their product, given by mixed radices (Garner). These overlap;
// they are added 16 at a time by a thread, and the carries between threads in rounds until there
// are none.
#include "f50.cuh"
#include "ptx.cuh"

// Not __constant__: what comes from there through an index is moved anew for each use.
__device__ const F50 FIELD[PRIMES] = FIELDS;
constexpr u32 PIECES = (DIGIT_BITS + 63) / 64;
__device__ const Factor RAISE[PRIMES][PIECES] = RAISED;
__constant__ Factor MIX[PRIMES][PRIMES] = MIXED;

constexpr u32 PART = 1 << LOG_PART, POINTS = PARTS * PART;
constexpr u32 HOLDS = 16, TEAM = POINTS / HOLDS, PART_TEAM = PART / HOLDS;
constexpr u32 THREADS = TEAM * PRODUCTS, FACTORS = SQUARE ? 1 : 2;
constexpr u32 PASS_STAGES[] = {RADICES};
constexpr u32 PASSES = sizeof(PASS_STAGES) / sizeof(PASS_STAGES[0]);
constexpr u32 RUN_WORDS = HOLDS * DIGIT_BITS / 32;

__host__ __device__ constexpr u32 stages_before(u32 pass) {
    u32 stages = 0;
    for (u32 i = 0; i < pass; i++) stages += PASS_STAGES[i];
    return stages;
}

// Digits of a factor.
__host__ __device__ constexpr u32 digits(u32 limbs) {
    return (32 * limbs + DIGIT_BITS - 1) / DIGIT_BITS;
}
// Both factors end in the lower half: the first stage finds nothing in the upper one.
constexpr bool HALF_EMPTY =
    PARTS == 1 && digits(A_LIMBS) <= POINTS / 2 && (SQUARE || digits(B_LIMBS) <= POINTS / 2);

// Bounds of elements as multiples of p/64. A word is within p/2 + 2^12, and times a factor within
// (1/2 + 1/15)·p, as is any integer below 2^50.
constexpr u32 DIGIT_BOUND = 33 + 37 * (PIECES - 1);
// With three parts a digit and i times another are added, which is at most 33 + bound/16.
constexpr u32 UPPER_BOUND = DIGIT_BOUND <= 112 ? 40 : 33 + DIGIT_BOUND / 16;
constexpr u32 FIRST_BOUND = PARTS == 1 ? DIGIT_BOUND : DIGIT_BOUND + UPPER_BOUND;
// a ± w·b for a, b within `bound`, at most 4p.
__host__ __device__ constexpr u32 after_forward(u32 bound) { return bound + 33 + bound / 16; }
// The bound before a forward stage, before it is reduced if need be. (p/2 + 2 is less than 33/64·p.)
__host__ __device__ constexpr u32 forward_bound(u32 stage) {
    u32 bound = FIRST_BOUND;
    for (u32 s = 0; s < stage; s++) {
        if (bound > 4 * 64) bound = 33;
        bound = s > 0 || PARTS > 1 ? after_forward(bound) : HALF_EMPTY ? bound : 2 * bound;
    }
    return bound;
}
// The bound before the inverse of a stage. Sums above 2p are reduced.
__host__ __device__ constexpr u32 inverse_bound(u32 stage) {
    // A product of an element within 4p and one within p/2 + 2.
    u32 bound = 64 + 1;
    for (u32 s = LOG_PART; s-- > stage + 1;) {
        u32 difference = 33 + 2 * bound / 16;
        u32 sum = 2 * bound > 2 * 64 ? 33 : 2 * bound;
        bound = sum > difference ? sum : difference;
    }
    return bound;
}

// Where threads that exchange points meet.
DEVICE void meet() {
    if constexpr (32 % TEAM == 0) {
        __syncwarp();
    } else {
        __syncthreads();
    }
}

// Where a point is: 16 neighbours, or 16 points that are 8 or 16 apart, are in different banks.
__host__ __device__ constexpr u32 place(u32 point) { return point + point / 16; }
constexpr u32 PLACES = place(POINTS);

// The first point of unit v of a thread in a pass, of the whole. Point i of the unit is i·2^LOG_STRIDE further; what
// the two are beyond multiples of 16 is below 16 together, so the places are place(i·2^LOG_STRIDE) apart.
template <u32 PASS>
DEVICE u32 first_point(u32 thread, u32 v) {
    constexpr u32 R = PASS_STAGES[PASS], LOG_STRIDE = LOG_PART - stages_before(PASS) - R;
    u32 unit = thread % PART_TEAM + v * PART_TEAM, part = thread / PART_TEAM;
    return part * PART + ((unit >> LOG_STRIDE) << (LOG_STRIDE + R)) + (unit & ((1 << LOG_STRIDE) - 1));
}
template <u32 PASS>
DEVICE u32 block_of(u32 thread, u32 v) {
    constexpr u32 LOG_STRIDE = LOG_PART - stages_before(PASS) - PASS_STAGES[PASS];
    u32 unit = thread % PART_TEAM + v * PART_TEAM, part = thread / PART_TEAM;
    return (part << stages_before(PASS)) + (unit >> LOG_STRIDE);
}

template <u32 PASS>
DEVICE void put(double* buffer, const double (&x)[HOLDS], u32 thread) {
    constexpr u32 R = PASS_STAGES[PASS], LOG_STRIDE = LOG_PART - stages_before(PASS) - R;
#pragma unroll
    for (u32 v = 0; v < HOLDS >> R; v++) {
        double* to = buffer + place(first_point<PASS>(thread, v));
#pragma unroll
        for (u32 i = 0; i < 1 << R; i++) to[place(i << LOG_STRIDE)] = x[(v << R) + i];
    }
}
template <u32 PASS>
DEVICE void take(const double* buffer, double (&x)[HOLDS], u32 thread) {
    constexpr u32 R = PASS_STAGES[PASS], LOG_STRIDE = LOG_PART - stages_before(PASS) - R;
#pragma unroll
    for (u32 v = 0; v < HOLDS >> R; v++) {
        const double* from = buffer + place(first_point<PASS>(thread, v));
#pragma unroll
        for (u32 i = 0; i < 1 << R; i++) x[(v << R) + i] = from[place(i << LOG_STRIDE)];
    }
}

DEVICE void reduce_all(F50 f, double (&x)[HOLDS]) {
#pragma unroll
    for (u32 t = 0; t < HOLDS; t++) x[t] = reduce(f, x[t]);
}

// The root of block c of those into which stage r of a pass takes a block apart.
template <u32 PASS>
DEVICE Factor root(const Factor* roots, u32 r, u32 c, u32 block) {
    constexpr u32 NUMBER = PARTS << stages_before(PASS);
    // The tables of the passes before have PARTS·(1 + 2 + 4 + …) roots, PARTS less than NUMBER.
    u32 entry = NUMBER - PARTS + ((1 << r) - 1 + c) * NUMBER + block;
    double2 factor = __ldg((const double2*)&roots[entry]);
    return {factor.x, factor.y};
}

// Stage r of a pass, and those after it, on the points that a thread holds.
template <u32 PASS, u32 r = 0>
DEVICE void forward_stages(double (&x)[HOLDS], F50 f, const Factor* roots, u32 thread) {
    constexpr u32 R = PASS_STAGES[PASS], SIZE = 1 << R, HALF = SIZE >> (r + 1), BLOCKS_HERE = 1 << r;
    constexpr u32 BOUND = forward_bound(stages_before(PASS) + r);
    constexpr bool COPIES = PASS == 0 && r == 0 && HALF_EMPTY;
    if constexpr (BOUND > 4 * 64) reduce_all(f, x);
#pragma unroll
    for (u32 v = 0; v < HOLDS / SIZE; v++) {
        u32 block = PASS == 0 && PARTS == 1 ? 0 : block_of<PASS>(thread, v);
#pragma unroll
        for (u32 c = 0; c < BLOCKS_HERE; c++) {
            bool by_one = PASS == 0 && PARTS == 1 && c == 0;
            Factor w = by_one ? Factor{1.0, 0.0} : root<PASS>(roots, r, c, block);
#pragma unroll
            for (u32 i = 0; i < HALF; i++) {
                u32 at = v * SIZE + c * 2 * HALF + i;
                double a = x[at], b = x[at + HALF];
                if (!by_one) {
                    b = mul_by(f, b, w);
                } else if (r > 0 && 2 * BOUND > after_forward(BOUND)) {
                    // Not multiplied, it may be too large for the bound.
                    b = reduce(f, b);
                }
                x[at] = COPIES ? a : a + b;
                x[at + HALF] = COPIES ? a : a - b;
            }
        }
    }
    if constexpr (r + 1 < R) forward_stages<PASS, r + 1>(x, f, roots, thread);
}

template <u32 PASS, u32 r>
DEVICE void inverse_stages(double (&x)[HOLDS], F50 f, const Factor* roots, u32 thread) {
    constexpr u32 SIZE = 1 << PASS_STAGES[PASS], HALF = SIZE >> (r + 1), BLOCKS_HERE = 1 << r;
    constexpr bool REDUCES = 2 * inverse_bound(stages_before(PASS) + r) > 2 * 64;
#pragma unroll
    for (u32 v = 0; v < HOLDS / SIZE; v++) {
        u32 block = PASS == 0 && PARTS == 1 ? 0 : block_of<PASS>(thread, v);
#pragma unroll
        for (u32 c = 0; c < BLOCKS_HERE; c++) {
            bool by_one = PASS == 0 && PARTS == 1 && c == 0;
            Factor w = by_one ? Factor{1.0, 0.0} : root<PASS>(roots, r, c, block);
#pragma unroll
            for (u32 i = 0; i < HALF; i++) {
                u32 at = v * SIZE + c * 2 * HALF + i;
                double sum = x[at] + x[at + HALF], difference = x[at] - x[at + HALF];
                x[at] = REDUCES ? reduce(f, sum) : sum;
                x[at + HALF] = !by_one   ? mul_by(f, difference, w)
                               : REDUCES ? reduce(f, difference)
                                         : difference;
            }
        }
    }
    if constexpr (r > 0) inverse_stages<PASS, r - 1>(x, f, roots, thread);
}

template <u32 PASS = 0>
DEVICE void forward(double (&x)[HOLDS], double* buffer, F50 f, const Factor* roots, u32 thread) {
    forward_stages<PASS>(x, f, roots, thread);
    if constexpr (PASS + 1 < PASSES) {
        // Each thread puts points where it took points from.
        put<PASS>(buffer, x, thread);
        meet();
        take<PASS + 1>(buffer, x, thread);
        forward<PASS + 1>(x, buffer, f, roots, thread);
    }
}

template <u32 PASS = PASSES - 1>
DEVICE void inverse(double (&x)[HOLDS], double* buffer, F50 f, const Factor* roots, u32 thread) {
    inverse_stages<PASS, PASS_STAGES[PASS] - 1>(x, f, roots, thread);
    if constexpr (PASS > 0) {
        put<PASS>(buffer, x, thread);
        meet();
        take<PASS - 1>(buffer, x, thread);
        inverse<PASS - 1>(x, buffer, f, roots, thread);
    }
}

// Word w of a number, 0 beyond its end. Loads without a condition are made many at a time.
DEVICE u32 word_of(const u32* number, u32 limbs, u32 w) {
    u32 word = __ldg(&number[min(w, limbs - 1)]);
    return w < limbs ? word : 0;
}

// The 64 bits from a position on.
DEVICE u64 bits_of(const u32* number, u32 limbs, u32 position) {
    u32 w = position / 32, shift = position % 32;
    if constexpr (DIGIT_BITS == 64 && A_LIMBS % 2 == 0 && B_LIMBS % 2 == 0) {
        u64 bits = __ldg((const u64*)number + min(w, limbs - 2) / 2);
        return w < limbs ? bits : 0;
    }
    u32 w0 = word_of(number, limbs, w), w1 = word_of(number, limbs, w + 1);
    // Digits of 64 bits are two words.
    u32 w2 = DIGIT_BITS == 64 ? 0 : word_of(number, limbs, w + 2);
    return join(__funnelshift_r(w0, w1, shift), __funnelshift_r(w1, w2, shift));
}

// The element of the digit at a position; factors are those of RAISE.
DEVICE double element(const u32* number, u32 limbs, u32 position, F50 f, const Factor* factors) {
    double sum = 0.0;
#pragma unroll
    for (u32 i = 0; i < PIECES; i++) {
        u64 bits = bits_of(number, limbs, position + 64 * i);
        constexpr u32 LAST = DIGIT_BITS - 64 * (PIECES - 1);
        if (i == PIECES - 1 && LAST < 64) bits &= (1ull << LAST % 64) - 1;
        if (i == 0) {
            sum = from_word(f, bits);
        } else if (i == PIECES - 1 && LAST <= 50) {
            // The bits of 2^52 and so many more.
            double high = __longlong_as_double(0x4330000000000000 | bits) - 4503599627370496.0;
            sum += mul_by(f, high, factors[i - 1]);
        } else {
            sum += mul_by(f, from_word(f, bits), factors[i - 1]);
        }
    }
    return sum;
}

// The digits of a number that belong to the points of the first pass.
DEVICE void take_digits(double (&x)[HOLDS], const u32* number, u32 limbs, F50 f,
                        const Factor* factors, Factor upper, u32 thread) {
    constexpr u32 SIZE = 1 << PASS_STAGES[0];
    // Beyond the end of a number there are zeros.
    auto digit = [&](u32 d) { return element(number, limbs, d * DIGIT_BITS, f, factors); };
#pragma unroll
    for (u32 t = 0; t < HOLDS; t++) {
        u32 point = first_point<0>(thread, t / SIZE) + t % SIZE * (PART / SIZE);
        if constexpr (PARTS == 1) {
            x[t] = HALF_EMPTY && t % SIZE >= SIZE / 2 ? 0.0 : digit(point);
        } else {
            // The first of all points that are at this place of a unit.
            constexpr u32 MOST = digits(A_LIMBS > B_LIMBS ? A_LIMBS : B_LIMBS);
            bool none = t % SIZE * (PART / SIZE) + PART >= MOST;
            x[t] = digit(point % PART);
            if (!none) x[t] += mul_by(f, digit(point % PART + PART), upper);
        }
    }
}

// The residues u0, u1, u2 of a polynomial c mod x^M − 1, x^M + 1 and x^M − i become its points,
// times 4, within 3p. With c = L + H·x^M + q·(x^(2M) − 1): u0 + u1 = 2L, u0 − u1 = 2H, and
// u2 = L + i·H − 2q.
DEVICE void join_parts(double* residues, F50 f, Factor i, u32 thread) {
    for (u32 point = thread; point < PART; point += TEAM) {
        double* at = residues + place(point);
        double u0 = at[0], u1 = at[place(PART)], u2 = at[2 * place(PART)];
        double lower = reduce(f, u0 + u1), upper = reduce(f, u0 - u1);
        double top = lower + mul_by(f, upper, i) - reduce(f, 2.0 * u2);
        at[0] = 2.0 * lower - top, at[place(PART)] = 2.0 * upper, at[2 * place(PART)] = top;
    }
}

// v·m + x, in W words of 64 bits of which x uses one less.
template <u32 W>
DEVICE void multiply_add_word(u64 (&x)[W], u64 m, u64 v) {
    u64 carry = v;
#pragma unroll
    for (u32 i = 0; i < W; i++) {
        u64 lo = x[i] * m + carry;
        carry = __umul64hi(x[i], m) + (lo < carry);
        x[i] = lo;
    }
}

// The integer with residues x[k] (times S) modulo all primes.
DEVICE void mix(u64 (&words)[PRIMES], const double (&x)[PRIMES]) {
    double digits[PRIMES];
    u64 integers[PRIMES];
#pragma unroll
    for (u32 k = 0; k < PRIMES; k++) {
        double sum = mul_by(FIELD[k], x[k], MIX[k][k]);
#pragma unroll
        for (u32 i = 0; i < k; i++) sum += mul_by(FIELD[k], digits[i], MIX[k][i]);
        integers[k] = canonical(FIELD[k], sum);
        // Below 2^50: exact.
        digits[k] = (double)(i64)integers[k];
    }
    // ((v_2·p_1 + v_1)·p_0 + v_0 and so on.
#pragma unroll
    for (u32 i = 0; i < PRIMES; i++) words[i] = 0;
    words[0] = integers[PRIMES - 1];
#pragma unroll
    for (u32 k = PRIMES - 1; k-- > 0;) multiply_add_word(words, (u64)FIELD[k].p, integers[k]);
}

// Where word w of a product is: the runs of threads begin in different banks.
__host__ __device__ constexpr u32 place_of_word(u32 w) { return w + w / 32; }

// Planes, words and two rounds of carries of a wide product, in doubles.
[[maybe_unused]] constexpr u32 SCRATCH =
    PRIMES * PLACES + (place_of_word(TEAM * RUN_WORDS) + 2 * TEAM + 1) / 2;

// A thread's 16 digits of the product from the integers of all points: put(w, x) takes word w. Returns
// what they carry.
template <class Put>
DEVICE u32 add_digits(const u64* integers, u32 thread, Put put) {
    // The words from that of a point's lowest bit on.
    constexpr u32 REACH = 2 * PRIMES + 1;
    u64 words[REACH] = {}, carry = 0;
#pragma unroll
    for (u32 e = 0; e < HOLDS + 2; e++) {
        // Two points before this run reach into it: positions are those in it and BEFORE more.
        constexpr u32 BEFORE = (2 * DIGIT_BITS + 31) / 32, SKIPPED = 32 * BEFORE - 2 * DIGIT_BITS;
        u32 first = (e * DIGIT_BITS + SKIPPED) / 32, shift = (e * DIGIT_BITS + SKIPPED) % 32;
        u32 next = ((e + 1) * DIGIT_BITS + SKIPPED) / 32, below = 0;
#pragma unroll
        for (u32 k = 0; k < PRIMES; k++) {
            u32 at = k * PLACES + place(thread * HOLDS + e - 2);
            u64 word = thread == 0 && e < 2 ? 0 : integers[at];
            words[2 * k] += __funnelshift_l(below, low(word), shift);
            words[2 * k + 1] += __funnelshift_l(low(word), high(word), shift);
            below = high(word);
        }
        words[2 * PRIMES] += __funnelshift_l(below, 0, shift);
#pragma unroll
        for (u32 i = 0; i < next - first; i++) {
            // What is before the run is another thread's, with its carries.
            if (first + i >= BEFORE) {
                carry += words[i];
                put(first + i - BEFORE, low(carry));
                carry >>= 32;
            }
        }
#pragma unroll
        for (u32 i = 0; i < REACH; i++) {
            words[i] = i + next - first < REACH ? words[i + next - first] : 0;
        }
    }
    return low(carry);
}

// The product of a and b to `out`. Planes: PRIMES numbers for each point, and for a wide product the
// words after them. Buffer: where the threads of a team exchange points; without WIDE the last plane.
DEVICE void product(const u32* a, const u32* b, u32* out, const Factor* roots, double* planes,
                    double* buffer, u32 thread) {
    double x[HOLDS];
#pragma unroll 1
    for (u32 k = 0; k < PRIMES; k++) {
        F50 f = FIELD[k];
        const Factor* forth = roots + k * 2 * POINTS;
        Factor i = PARTS > 1 ? root<0>(forth, 0, 0, 1) : Factor{};
        // x^M is 1, −1 and i in the three parts.
        Factor upper = thread / PART_TEAM == 2 ? i : Factor{1.0, f.inverse};
        if (thread / PART_TEAM == 1) upper = {-1.0, -f.inverse};
        // A loop, so that the compiler does not keep the roots of one factor for the other.
#pragma unroll 1
        for (u32 factor = 0; factor < FACTORS; factor++) {
            double y[HOLDS];
            if (PARTS > 1) thread = anew(thread);
            take_digits(y, factor == 0 ? a : b, factor == 0 ? A_LIMBS : B_LIMBS, f, RAISE[k], upper,
                        thread);
            // Wait until all have taken the points of a. Elsewhere a transform begins with the
            // points that the last one has ended with, in every thread.
            if (factor == 1) meet();
            forward(y, buffer, f, forth, thread);
            // A product takes one factor within p/2 + 2 and one within 250/64·p.
            if (SQUARE || factor == 0 || forward_bound(LOG_PART) > 250) reduce_all(f, y);
#pragma unroll
            for (u32 t = 0; t < HOLDS; t++) {
                x[t] = SQUARE ? mul(f, y[t], y[t]) : factor == 0 ? y[t] : mul(f, x[t], y[t]);
            }
        }
        if (PARTS > 1) thread = anew(thread);
        inverse(x, buffer, f, forth + POINTS, thread);
        put<0>(planes + k * PLACES, x, thread);
        if constexpr (PARTS > 1) {
            meet();
            join_parts(planes + k * PLACES, f, i, thread);
        }
    }
    if constexpr (PARTS > 1) meet();

    u64* integers = (u64*)planes;
#pragma unroll 1
    for (u32 t = 0; t < HOLDS; t++) {
        u32 at = place(t * TEAM + thread);
        double of_point[PRIMES];
        u64 words[PRIMES];
#pragma unroll
        for (u32 k = 0; k < PRIMES; k++) of_point[k] = planes[k * PLACES + at];
        mix(words, of_point);
#pragma unroll
        for (u32 k = 0; k < PRIMES; k++) integers[k * PLACES + at] = words[k];
    }
    meet();

    u32* words = (u32*)(WIDE ? planes + PRIMES * PLACES : planes);
    u32 begin = thread * RUN_WORDS, carry;
    if constexpr (WIDE) {
        carry = add_digits(integers, thread, [&](u32 w, u32 word) {
            words[place_of_word(begin + w)] = word;
        });
    } else {
        // The words take the memory of the integers.
        u32 run[RUN_WORDS];
        carry = add_digits(integers, thread, [&](u32 w, u32 word) { run[w] = word; });
        meet();
#pragma unroll
        for (u32 w = 0; w < RUN_WORDS; w++) words[place_of_word(begin + w)] = run[w];
    }
    // Behind the words of all threads.
    u32* carries = words + place_of_word(TEAM * RUN_WORDS);
    carries[thread] = carry;
    __syncthreads();
    u32 round = 0;
    do {
        carry = thread == 0 ? 0 : carries[round % 2 * TEAM + thread - 1];
        for (u32 w = 0; carry != 0 && w < RUN_WORDS; w++) {
            u32* word = &words[place_of_word(begin + w)];
            u32 sum = *word + carry;
            carry = sum < carry;
            *word = sum;
        }
        round++;
        carries[round % 2 * TEAM + thread] = carry;
    } while (__syncthreads_or(carry != 0));

    if (out == nullptr) return;
    for (u32 w = thread; w < OUT_LIMBS; w += TEAM) out[w] = words[place_of_word(FIRST + w)];
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    ntt(const u32* a, const u32* b, u32* out, const Factor* roots, double* scratch, u64 a_stride,
        u64 b_stride, u32 count) {
    DYNAMIC_SHARED(double, shared);
    u32 team = threadIdx.x / TEAM, thread = threadIdx.x % TEAM;
    if constexpr (WIDE) {
        double* planes = scratch + (u64)blockIdx.x * SCRATCH;
        for (u64 number = blockIdx.x; number < count; number += gridDim.x) {
            product(a + number * a_stride, b + number * b_stride, out + number * OUT_LIMBS, roots,
                    planes, shared, thread);
            // All have read the words.
            __syncthreads();
        }
    } else {
        // A team without a product does the last one again, and writes nothing.
        u64 number = (u64)blockIdx.x * PRODUCTS + team;
        u64 of = min(number, (u64)count - 1);
        double* planes = shared + team * PRIMES * PLACES;
        product(a + of * a_stride, b + of * b_stride, number < count ? out + of * OUT_LIMBS : nullptr,
                roots, planes, planes + (PRIMES - 1) * PLACES, thread);
    }
}
