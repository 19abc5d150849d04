// Products of numbers by convolution of their digits modulo PRIMES primes below 2^BITS.
//
//   A_LIMBS, B_LIMBS   limbs of the factors
//   FIRST, OUT_LIMBS   the limbs of the product that are written
//   SQUARE             whether a = b: b is not read
//   LOG_HEAD, SHARE    points of a transform, and
//   RADICES            its passes: as f50_passes.cuh has them
//   DIGIT_BITS         even, at least 64; the digits of a and b together are no more than points
//   PRIMES, BITS       the primes' product is more than 2^(2·DIGIT_BITS) times the digits of the shorter
//                      factor
//   FIELDS             p and RN(1/p) of each
//   RAISED             2^64, 2^128, … mod p of each, a Factor for each 64 bits of a digit
//   MIXED              for k, i < k: −M_i/M_k mod p_k, M_i = p_0·…·p_(i−1), and 1/(2^LOG_HEAD·M_k) mod p_k
//   JOINED             w and w^i/2 mod p of each, i < 2^SHARE, w the root of the tail
//   PRODUCTS           products of a block, BLOCKS blocks per multiprocessor
//   WIDE               whether residues are in global memory, `scratch`, as shared memory has no room for
//                      those modulo all primes; then PRODUCTS = 1, and blocks make many products each
//
// With a tail the product is computed mod (x^H − 1)(x^T − w), H = 2^LOG_HEAD, T = H/2^SHARE,
// w^(H/T) = −1: that of the blocks 0 … 2^SHARE of T points. A factor has at most H digits. In a
// block, the threads of tails follow those of all heads, so that the threads of a warp follow the
// same path through the first pass.
//
// Digits are not carried before the end. After the inverse transforms the residues of a point,
// modulo all primes, determine one integer below their product, which is computed by mixed radices
// (Garner). These integers overlap; a thread adds 16 of them at a time, and the carries between
// threads are added in rounds until none is left.
#include "f50_stages.cuh"
#include "ptx.cuh"

constexpr u32 PIECES = (DIGIT_BITS + 63) / 64;

// Returns the digits of a factor.
__host__ __device__ constexpr u32 digits(u32 limbs) {
    return (32 * limbs + DIGIT_BITS - 1) / DIGIT_BITS;
}
constexpr u32 MOST_DIGITS = digits(A_LIMBS > B_LIMBS ? A_LIMBS : B_LIMBS);

// The words of a digit, all except the first times a factor: bounded like any word below 2^50.
constexpr u32 DIGIT_BOUND = REDUCED + times_factor(64 << (50 - BITS)) * (PIECES - 1);
// A digit, plus w times a sum of digits.
__host__ __device__ constexpr u32 tail_bound() {
    u32 bound = DIGIT_BOUND;
    for (u32 i = 1; i < 1 << SHARE; i++) bound = DIGIT_BOUND + times_factor(bound);
    return bound;
}
static_assert(tail_bound() <= LIMIT, "factors of a product by a root are within the limit");

// The parameters of the passes.
constexpr u32 FILLED = MOST_DIGITS, HEAD_BEGIN = DIGIT_BOUND, TAIL_BEGIN = tail_bound(), TEAMS = PRODUCTS;
#include "f50_passes.cuh"

// Not __constant__, because the compiler would reload an indexed constant for each use.
__device__ const F50 FIELD[PRIMES] = FIELDS;
__device__ const Factor RAISE[PRIMES][PIECES] = RAISED;
__constant__ Factor MIX[PRIMES][PRIMES] = MIXED;
[[maybe_unused]] __device__ const Factor JOIN[PRIMES][1 + (1 << SHARE)] = JOINED;

constexpr u32 THREADS = TEAM * PRODUCTS, FACTORS = SQUARE ? 1 : 2;
constexpr u32 RUN_WORDS = HOLDS * DIGIT_BITS / 32;

// Returns word w of a number, 0 beyond its end. Unconditional loads can be issued many at a time.
DEVICE u32 word_of(const u32* number, u32 limbs, u32 w) {
    u32 word = __ldg(&number[min(w, limbs - 1)]);
    return w < limbs ? word : 0;
}

// Returns the 64 bits from a position on.
DEVICE u64 bits_of(const u32* number, u32 limbs, u32 position) {
    u32 w = position / 32, shift = position % 32;
    if constexpr (DIGIT_BITS == 64 && A_LIMBS % 2 == 0 && B_LIMBS % 2 == 0) {
        u64 bits = __ldg((const u64*)number + min(w, limbs - 2) / 2);
        return w < limbs ? bits : 0;
    }
    u32 w0 = word_of(number, limbs, w), w1 = word_of(number, limbs, w + 1);
    // Digits of 64 bits need only two words.
    u32 w2 = DIGIT_BITS == 64 ? 0 : word_of(number, limbs, w + 2);
    return join(__funnelshift_r(w0, w1, shift), __funnelshift_r(w1, w2, shift));
}

// Returns the element of the digit at a position; factors are those of RAISE.
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
            // The bit pattern of 2^52 + bits.
            double high = __longlong_as_double(0x4330000000000000 | bits) - 4503599627370496.0;
            sum += mul_by(f, high, factors[i - 1]);
        } else {
            sum += mul_by(f, from_word(f, bits), factors[i - 1]);
        }
    }
    return sum;
}

// Loads a number's digits as the points that a thread of the head has in the first pass; with a
// tail, writes its points to the buffer.
DEVICE void take_digits(double (&x)[HOLDS], const u32* number, u32 limbs, double* buffer, F50 f,
                        const Factor* factors, Factor w, u32 thread) {
    using P = Pass<0, FIRST_STAGES>;
#pragma unroll
    for (u32 t = 0; t < HOLDS; t++) {
        // Points beyond the end of a number are 0.
        u32 least = t % P::SIZE << P::LOG_STRIDE, point = P::first_point(thread, t / P::SIZE) + least;
        x[t] = 0.0;
        if (least < MOST_DIGITS) x[t] = element(number, limbs, point * DIGIT_BITS, f, factors);
    }
    if constexpr (SHARE > 0) {
        // In the tail, x^T is w.
        constexpr u32 APART = P::SIZE >> SHARE;
#pragma unroll
        for (u32 t = 0; t < HOLDS; t++) {
            if (t % P::SIZE >= APART) continue;
            double sum = 0.0;
            bool is_first = true;
#pragma unroll
            for (u32 i = 1 << SHARE; i-- > 0;) {
                u32 at = t + i * APART;
                if (at % P::SIZE << P::LOG_STRIDE >= MOST_DIGITS) continue;
                sum = is_first ? x[at] : mul_by(f, sum, w) + x[at];
                is_first = false;
            }
            u32 point = P::first_point(thread, t / P::SIZE) + HEAD;
            buffer[place(point) + place(t % P::SIZE << P::LOG_STRIDE)] = sum;
        }
    }
}

// Transforms a number's digits. It must synchronise first if other threads may still read points
// from the buffer.
DEVICE void transform(double (&x)[HOLDS], const u32* number, u32 limbs, double* buffer, F50 f,
                      const Factor* factors, Factor w, const Factor* roots, u32 thread,
                      bool must_meet) {
    constexpr u32 R_TAIL = FIRST_STAGES - SHARE;
    bool in_tail = SHARE > 0 && thread >= HEAD_TEAM;
    if (SHARE > 0 && must_meet) meet();
    if (!in_tail) take_digits(x, number, limbs, buffer, f, factors, w, thread);
    if (SHARE > 0) meet();
    if (!in_tail) {
        forward_stages<0, FIRST_STAGES>(x, f, roots, thread);
        if (SHARE == 0 && must_meet) meet();
        put<Pass<0, FIRST_STAGES>>(buffer, x, thread);
    } else {
        take<Pass<SHARE, R_TAIL>>(buffer, x, thread);
        forward_stages<SHARE, R_TAIL>(x, f, roots, thread);
        put<Pass<SHARE, R_TAIL>>(buffer, x, thread);
    }
    meet();
    forward(x, buffer, f, roots, thread);
}

// Performs the last inverse pass, of the head (S = 0) or the tail (S = SHARE), from the buffer to
// the plane.
template <u32 S>
DEVICE void last_pass(double* plane, const double* buffer, F50 f, const Factor* roots, u32 thread) {
    double x[HOLDS];
    take<Pass<S, FIRST_STAGES - S>>(buffer, x, thread);
    inverse_stages<S, FIRST_STAGES - S>(x, f, roots, thread);
    put<Pass<S, FIRST_STAGES - S>>(plane, x, thread);
}

// In all planes, combines u, the product mod x^H − 1 times H, and v, the product mod x^T − w times
// T, to the product times H, within p/2 more than u. It is u + (x^H − 1)·q, with q = (u mod (x^T −
// w) − v·H/T) / 2.
DEVICE void join(double* planes, u32 thread) {
#pragma unroll 1
    for (u32 point = thread; point < TAIL; point += TEAM) {
        double* at = planes + place(point);
#pragma unroll
        for (u32 k = 0; k < PRIMES; k++) {
            F50 f = FIELD[k];
            double *u = at + k * PLACES, *v = u + place(HEAD);
            double q = reduce(f, -0.5 * (1 << SHARE) * *v);
#pragma unroll
            for (u32 i = 0; i < 1 << SHARE; i++) q += mul_by(f, u[place(i * TAIL)], JOIN[k][1 + i]);
            q = reduce(f, q);
            *u -= q;
            *v = q;
        }
    }
}

// Computes the integer c ≥ 0 with residues x[k] (times H) modulo all primes, where |x[k]| ≤ 2^52.
// With digits |d_k| < p_k in c = d_0 + p_0·(d_1 + p_1·(d_2 + …)) each of these sums is an integer
// above −1; so the last digit is not negative.
DEVICE void mix(u64 (&words)[PRIMES], const double (&x)[PRIMES]) {
    double digits[PRIMES];
#pragma unroll
    for (u32 k = 0; k < PRIMES; k++) {
        double sum = mul_by(FIELD[k], x[k], MIX[k][k]);
#pragma unroll
        for (u32 i = 0; i < k; i++) sum += mul_by(FIELD[k], digits[i], MIX[k][i]);
        digits[k] = k == 0 ? sum : reduce(FIELD[k], sum);
    }
#pragma unroll
    for (u32 i = 0; i < PRIMES; i++) words[i] = 0;
    double last = digits[PRIMES - 1];
    words[0] = to_integer(last < 0.0 ? last + FIELD[PRIMES - 1].p : last);
#pragma unroll
    for (u32 k = PRIMES - 1; k-- > 0;) {
        u64 carry = to_integer(digits[k]);
#pragma unroll
        for (u32 i = 0; i < PRIMES - 1 - k; i++) {
            // From the second word on the carry is −1 or more.
            u64 beyond = (i64)carry >> 63, p = (u64)FIELD[k].p, lo = words[i] * p + carry;
            carry = __umul64hi(words[i], p) + beyond + (lo < carry);
            words[i] = lo;
        }
        words[PRIMES - 1 - k] = carry;
    }
}

// Returns the position of word w of a product: the runs of threads begin in different banks.
__host__ __device__ constexpr u32 place_of_word(u32 w) { return w + w / 32; }

// Planes, words and two rounds of carries of a wide product, in doubles.
[[maybe_unused]] constexpr u32 SCRATCH =
    PRIMES * PLACES + (place_of_word(TEAM * RUN_WORDS) + 2 * TEAM + 1) / 2;

// Computes a thread's 16 digits of the product from the integers of all points: put(w, x) receives
// word w. Returns the carry.
template <class Put>
DEVICE u32 add_digits(const u64* integers, u32 thread, Put put) {
    // The number of words from the word of a point's lowest bit on.
    constexpr u32 REACH = 2 * PRIMES + 1;
    u64 words[REACH] = {}, carry = 0;
#pragma unroll
    for (u32 e = 0; e < HOLDS + 2; e++) {
        // Two points before this run extend into it: the run has its own positions and BEFORE more.
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
            // Words before the run, with their carries, belong to another thread.
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

// The arguments of a launch.
struct Batch {
    const u32 *a, *b;
    u32* out;
    const Factor* roots;
    double* scratch;
    u64 a_stride, b_stride;
    u32 count;
};

// The position of a thread in the work. With tails registers are scarce, so it is recomputed when
// needed.
struct Task {
    // The index of the product; teams beyond the last one repeat it, and write nothing.
    u64 number;
    // The index among the threads of the product.
    u32 thread;
    // PRIMES planes of points, and for a wide product the words after them.
    double* planes;
};

DEVICE Task find_task(const Batch& batch, double* shared, u64 wide) {
    u32 of_block = SHARE > 0 ? anew(threadIdx.x) : threadIdx.x;
    u32 team = of_block / TEAM, thread = of_block % TEAM;
    if constexpr (!OWN_WARPS) {
        // The threads of all heads come first, so that nearly all warps have a single path through
        // the first pass.
        constexpr u32 HEADS = PRODUCTS * HEAD_TEAM;
        bool in_tail = SHARE > 0 && of_block >= HEADS;
        u32 of_tails = of_block - HEADS;
        team = in_tail ? of_tails / TAIL_TEAM : of_block / HEAD_TEAM;
        thread = in_tail ? HEAD_TEAM + of_tails % TAIL_TEAM : of_block % HEAD_TEAM;
    }
    if (WIDE) return {wide, thread, batch.scratch + (u64)blockIdx.x * SCRATCH};
    return {(u64)blockIdx.x * PRODUCTS + team, thread, shared + team * PRIMES * PLACES};
}

// Computes a product of a batch; `wide` is the index of a wide one. Its threads exchange points in
// `shared`; other products use planes that are free.
DEVICE void product(const Batch& batch, double* shared, u64 wide) {
    Task task = find_task(batch, shared, wide);
    auto& [number, thread, planes] = task;
    auto again = [&] { task = find_task(batch, shared, wide); };
    double x[HOLDS];
#pragma unroll 1
    for (u32 k = 0; k < PRIMES; k++) {
        F50 f = FIELD[k];
        const Factor* forth = batch.roots + k * 2 * POINTS;
        const Factor* back = forth + POINTS;
        // A loop, so that the compiler does not keep the roots of one factor in registers for the
        // other.
#pragma unroll 1
        for (u32 factor = 0; factor < FACTORS; factor++) {
            double y[HOLDS];
            if constexpr (SHARE > 0) again();
            u64 of = min(number, (u64)batch.count - 1);
            const u32* from = factor == 0 ? batch.a + of * batch.a_stride : batch.b + of * batch.b_stride;
            // The second transform uses the next plane, if one is left, so that no thread waits
            // until all have read the last points of the first transform. `shared` begins with the
            // points that a thread itself used last, except those of the tail.
            double* buffer = WIDE ? shared : planes + min(k + factor, PRIMES - 1u) * PLACES;
            bool must_meet = factor == 1 && (WIDE || k == PRIMES - 1);
            if (WIDE && SHARE > 0) must_meet = k + factor > 0;
            transform(y, from, factor == 0 ? A_LIMBS : B_LIMBS, buffer, f, RAISE[k], JOIN[k][0], forth,
                      thread, must_meet);
            if (BOTH_REDUCED || factor == 0) reduce_all(f, y);
#pragma unroll
            for (u32 t = 0; t < HOLDS; t++) {
                x[t] = SQUARE ? mul(f, y[t], y[t]) : factor == 0 ? y[t] : mul(f, x[t], y[t]);
            }
        }
        if constexpr (SHARE > 0) again();
        double* plane = planes + k * PLACES;
        double* buffer = WIDE ? shared : plane;
        inverse(x, buffer, f, back, thread);
        meet();
        if (SHARE == 0 || thread < HEAD_TEAM) {
            last_pass<0>(plane, buffer, f, back, thread);
        } else {
            last_pass<SHARE>(plane, buffer, f, back, thread);
        }
    }
    if constexpr (SHARE > 0) {
        again();
        meet();
        join(planes, thread);
        meet();
        again();
    }

    u64* integers = (u64*)planes;
    // Later points do not contribute to the limbs that are written.
    constexpr u32 WANTED = (32 * (FIRST + OUT_LIMBS) + DIGIT_BITS - 1) / DIGIT_BITS;
#pragma unroll 1
    for (u32 t = 0; t < min((WANTED + TEAM - 1) / TEAM, HOLDS); t++) {
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
        // The words overwrite the memory of the integers.
        u32 run[RUN_WORDS];
        carry = add_digits(integers, thread, [&](u32 w, u32 word) { run[w] = word; });
        meet();
#pragma unroll
        for (u32 w = 0; w < RUN_WORDS; w++) words[place_of_word(begin + w)] = run[w];
    }
    // After the words of all threads.
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

    if (number >= batch.count) return;
    u32* out = batch.out + number * OUT_LIMBS;
    for (u32 w = thread; w < OUT_LIMBS; w += TEAM) out[w] = words[place_of_word(FIRST + w)];
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    ntt(const u32* a, const u32* b, u32* out, const Factor* roots, double* scratch, u64 a_stride,
        u64 b_stride, u32 count) {
    DYNAMIC_SHARED(double, shared);
    Batch batch = {a, b, out, roots, scratch, a_stride, b_stride, count};
    if constexpr (WIDE) {
        for (u64 number = blockIdx.x; number < count; number += gridDim.x) {
            product(batch, shared, number);
            // All threads have read the words.
            __syncthreads();
        }
    } else {
        product(batch, shared, 0);
    }
}
