// Quotients and remainders, limb by limb of the quotient (Knuth, TAOCP 4.3.1, algorithm D), with
// the numbers in the registers of groups of lanes.
//
//   U_LIMBS, V_LIMBS   limbs of dividends and divisors; V_LIMBS ≤ WHOLE
//   QUOTIENT, REMAINDER   whether these are written, of U_LIMBS and V_LIMBS limbs
//   WINDOW             whether quotients have U_LIMBS − V_LIMBS limbs and another one, their overflow,
//                      elsewhere
//   EXACT              whether a quotient with a remainder is flagged, and 0, as one by 0 is
//   LANES, LIMBS, THREADS   see lanes.cuh; BLOCKS blocks per multiprocessor
//
// With B = 2^32, N = WHOLE and s such that 2^s·v has exactly N limbs and its highest bit set: V =
// 2^s·v, U = 2^s·u. The remainder R starts as the limbs of U above those for which digits of the
// quotient are computed, where R < V. A step appends the next limb of U,
//
//     R ← R·B + next − q·V,
//
// with a digit q that may be one or two too small, but never too large. In that case V is
// subtracted again, and the digit is raised.
//
// For the digit see digits.cuh. r and w are the two highest limbs of R and V, so q ≤ r·B/(w + 1) <
// R·B/V, and q > R·B/V − 1 − 2^−17 unless q was limited. The waiting limbs are less than a unit of
// r if L > 2. R is corrected at the end, and whenever the top of R exceeds that of V or is not
// between 0 and B^N (when R is near 0 and a carry waits). In all other steps R < V·(1 + 2^−62), and
// the next digit is below B.
//
// A number's shared memory holds N zeros, and u. The digits of the quotient replace limbs of u that
// have been used. The zeros are the limbs of U below u; v is stored there at first, and the
// remainder at the end.
#include "digits.cuh"

// Words between numbers: an odd number, so that neighbouring groups use different banks.
constexpr u32 PLACES = (WHOLE + U_LIMBS) | 1;
// Limbs of a quotient to write.
constexpr u32 DIGITS = WINDOW ? U_LIMBS - V_LIMBS : U_LIMBS;

struct Divisor {
    // Limbs of B^N − 1 − V.
    u32 complement[LIMBS];
    // The two highest limbs of V, and ρ.
    u64 top, reciprocal;
    // s in limbs and bits, and the limbs of v.
    u32 limbs_up, bits_up, limbs;
};

// Copies whole numbers from memory to shared memory, extended by zeros.
template <u32 COUNT, u32 PADDED>
DEVICE void load(u32* places, const u32* from, u64 stride, u32 numbers) {
    for (u32 f = threadIdx.x; f < NUMBERS * PADDED; f += THREADS) {
        u32 number = f / PADDED, limb = f % PADDED;
        bool is_there = number < numbers && limb < COUNT;
        places[number * PLACES + limb] = is_there ? from[number * stride + limb] : 0;
    }
}

template <u32 COUNT>
DEVICE void store(u32* to, u64 stride, const u32* places, u32 numbers) {
    for (u32 f = threadIdx.x; f < numbers * COUNT; f += THREADS) {
        to[f / COUNT * stride + f % COUNT] = places[f / COUNT * PLACES + f % COUNT];
    }
}

// Normalises the divisor, given as limbs padded with zeros; 0 is replaced by 1.
DEVICE Divisor normalise(const u32* v, bool& is_zero) {
    Divisor d;
    u32 highest = 0;
#pragma unroll
    for (u32 i = 0; i < LIMBS; i++) {
        u32 at = lane_of_group() * LIMBS + i;
        if (v[at] != 0) highest = at + 1;
    }
    d.limbs = largest(highest);
    is_zero = d.limbs == 0;
    if (is_zero) d.limbs = 1;
    d.limbs_up = WHOLE - d.limbs;
    u32 first = is_zero ? 1 : v[d.limbs - 1];
    d.bits_up = __clz(first);
    // Limb i of v; limbs below the first are 0.
    auto limb = [&](i32 i) { return i < 0 ? 0 : is_zero ? 1u : v[i]; };
    auto up = [&](i32 i) { return __funnelshift_l(limb(i - 1), limb(i), d.bits_up); };
#pragma unroll
    for (u32 i = 0; i < LIMBS; i++) {
        i32 at = (i32)(lane_of_group() * LIMBS + i) - (i32)d.limbs_up;
        d.complement[i] = ~(at < 0 ? 0 : up(at));
    }
    d.top = join(up((i32)d.limbs - 2), up((i32)d.limbs - 1));
    d.reciprocal = reciprocal_of(d.top);
    return d;
}

DEVICE u64 top(const Remainder& r) { return join(r.limbs[LIMBS - 2], r.limbs[LIMBS - 1]); }

// Returns the digit, in the top lane.
DEVICE u32 digit(const Remainder& r, const Divisor& v) {
    return digit_of(r.limbs[LIMBS - 1], r.limbs[LIMBS - 2], v.reciprocal);
}

// Returns whether R may be at least V, or its top is unknown.
DEVICE bool is_doubtful(const Remainder& r, const Divisor& v) {
    return is_top() && (r.waiting != 0 || top(r) > v.top);
}

// Reduces R modulo V; returns how many times V was subtracted, at most 3.
DEVICE u32 correct(Remainder& r, const Divisor& v) {
    u32 beyond = r.gather(), times = 0;
#pragma unroll 1
    for (u32 i = 0; i < 3; i++) times += r.take(v.complement, beyond, 1);
    return times;
}

// Adds to the quotient, from one digit on.
DEVICE void raise(u32* digit, u32 by) {
    while (by != 0) {
        u32 sum = *digit + by;
        by = sum < by;
        *digit++ = sum;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    divide(const u32* u, const u32* v, u32* quotient, u32* remainder, unsigned char* flags, u32* overflows,
           u64 u_stride, u64 v_stride, u64 quotient_stride, u64 remainder_stride, u32 count) {
    DYNAMIC_SHARED(u32, places);
    u32 first = blockIdx.x * NUMBERS, numbers = min(count - first, NUMBERS);
    load<V_LIMBS, WHOLE>(places, v + first * v_stride, v_stride, numbers);
    load<U_LIMBS, U_LIMBS>(places + WHOLE, u + first * u_stride, u_stride, numbers);
    __syncthreads();

    u32 number = threadIdx.x / LANES, lane = lane_of_group();
    u32 *zeros = places + number * PLACES, *digits = zeros + WHOLE;
    bool is_flagged;
    Divisor divisor = normalise(zeros, is_flagged);
    __syncwarp();
#pragma unroll
    for (u32 i = 0; i < LIMBS; i++) zeros[lane * LIMBS + i] = 0;
    __syncwarp();
    // All numbers of a warp take as many digits as the longest quotient; extra digits are 0.
    u32 most = U_LIMBS < divisor.limbs ? 0 : U_LIMBS - divisor.limbs + 1;
    most = warp_largest(most);
    Remainder r;
#pragma unroll
    for (u32 i = 0; i < LIMBS; i++) {
        u32 at = most + lane * LIMBS + i, end = U_LIMBS + divisor.limbs_up;
        u32 lower = at <= end ? digits[(i32)(at - divisor.limbs_up) - 1] : 0;
        u32 upper = at < end ? digits[(i32)(at - divisor.limbs_up)] : 0;
        r.limbs[i] = __funnelshift_l(lower, upper, divisor.bits_up);
    }
    r.waiting = 0;
    // The limb of u in which the next limb of U begins.
    const u32* below = digits + (i32)(most - divisor.limbs_up) - 1;
    u32 upper = *below;
    __syncwarp();
    for (u32 i = most + lane; i < U_LIMBS; i += LANES) digits[i] = 0;

#pragma unroll 1
    for (u32 t = most; t-- > 0;) {
        // Only the lowest lane needs it, and soon overwrites it.
        --below;
        u32 lower = is_bottom() ? *below : 0;
        u32 next = __funnelshift_l(lower, upper, divisor.bits_up), q = of_top(digit(r, divisor));
        upper = lower;
        r.step(divisor.complement, q, next);
        if (is_bottom()) digits[t] = q;
        if (__any_sync(0xffffffffu, is_doubtful(r, divisor))) {
            u32 times = correct(r, divisor);
            if (is_bottom()) raise(digits + t, times);
        }
    }
    u32 times = correct(r, divisor);
    if (is_bottom()) raise(digits, times);
    __syncwarp();

    if constexpr (EXACT) {
        u32 any = 0;
#pragma unroll
        for (u32 i = 0; i < LIMBS; i++) any |= r.limbs[i];
        if (votes(any != 0) != 0) is_flagged = true;
    }
    if (QUOTIENT && is_flagged) {
        for (u32 i = lane; i < U_LIMBS; i += LANES) digits[i] = 0;
    }
    if constexpr (REMAINDER) {
#pragma unroll
        for (u32 i = 0; i < LIMBS; i++) zeros[lane * LIMBS + i] = r.limbs[i];
        __syncwarp();
#pragma unroll
        for (u32 i = 0; i < LIMBS; i++) {
            u32 at = lane * LIMBS + i + divisor.limbs_up;
            u32 lower = at < WHOLE ? zeros[at] : 0, upper = at + 1 < WHOLE ? zeros[at + 1] : 0;
            r.limbs[i] = is_flagged ? 0 : __funnelshift_r(lower, upper, divisor.bits_up);
        }
        __syncwarp();
#pragma unroll
        for (u32 i = 0; i < LIMBS; i++) zeros[lane * LIMBS + i] = r.limbs[i];
    }
    if (flags && is_bottom() && number < numbers) flags[first + number] = is_flagged;
    if (WINDOW && is_bottom() && number < numbers) overflows[first + number] = digits[DIGITS];
    __syncthreads();
    if constexpr (QUOTIENT) {
        store<DIGITS>(quotient + first * quotient_stride, quotient_stride, places + WHOLE, numbers);
    }
    if constexpr (REMAINDER) {
        store<V_LIMBS>(remainder + first * remainder_stride, remainder_stride, places, numbers);
    }
}
