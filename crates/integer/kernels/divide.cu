// Quotients and remainders, limb by limb of the quotient (Knuth, TAOCP 4.3.1, algorithm D), with the
// numbers in the registers of groups of lanes.
//
//   U_LIMBS, V_LIMBS   limbs of dividends and divisors; V_LIMBS ≤ WHOLE
//   QUOTIENT, REMAINDER   whether these are written, of U_LIMBS and V_LIMBS limbs
//   WINDOW             whether quotients have U_LIMBS − V_LIMBS limbs and another one, their overflow,
//                      elsewhere
//   EXACT              whether a quotient with a remainder is flagged, and 0, as one by 0 is
//   LANES, LIMBS, THREADS   see lanes.cuh; BLOCKS blocks of a multiprocessor
//
// With B = 2^32, N = WHOLE and s such that 2^s·v has exactly N limbs and its highest bit set: V = 2^s·v,
// U = 2^s·u. The remainder R begins as the limbs of U from the first one on that is to have a
// digit of the quotient, where R < V; a step brings in the next limb of U,
//
//     R ← R·B + next − q·V,
//
// with a digit q that may be one or two too small, never too large. Then V is subtracted again,
// and the digit is raised.
//
// The digit. r and w are the two highest limbs of R and V, ρ < 2^127/(w + 1) to 50 bits. q = ⌊r·ρ/2^95⌋, in
// which products of limbs below 2^64 are left out, which is at most 3 of 2^31. So
// q ≤ r·B/(w + 1) < R·B/V, and q > R·B/V − 1 − 2^−17. It is limited to B − 2, of which below.
//
// Carries. −q·V is q·(B^N − 1 − V) + q − q·B^N: a sum of natural numbers but for the top. A lane adds
// q times the complement of its limbs of V to its limbs of R, one place further up, and what
// is too much for LIMBS limbs is a limb that waits: the lane above adds it in the next step, at its
// second place. With q ≤ B − 2 this limb is below B: a lane's sum is at most
// B^L − 1 + (B − 2)·(B^L − 1) + (B − 1)·B < B^(L + 1), L = LIMBS ≥ 2. What waits is less than a unit of r where
// L > 2. R is known exactly where nothing waits, which `settle` sees to: at the end, and where the top
// of R is above that of V, or not between 0 and B^N (as R is near 0 and a carry waits). In all other steps
// R < V·(1 + 2^−62), and the next digit is below B.
//
// A number's shared memory: N zeros, and u. The digits of the quotient take the places of limbs of u
// that have been used. The zeros are what U has below u, where v stands at first and the remainder
// at last.
#include "lanes.cuh"

static_assert(LANES == 1 || LIMBS > 2);

// Places of a number: an odd number, so that those of neighbouring groups are in different banks.
constexpr u32 PLACES = (WHOLE + U_LIMBS) | 1;
// Limbs of a quotient that are written.
constexpr u32 DIGITS = WINDOW ? U_LIMBS - V_LIMBS : U_LIMBS;

struct Divisor {
    // Limbs of B^N − 1 − V.
    u32 complement[LIMBS];
    // The two highest limbs of V, and ρ.
    u64 top, reciprocal;
    // s in limbs and bits, and the limbs of v.
    u32 limbs_up, bits_up, limbs;
};

// Whole numbers from memory to their places, zeros where there are none.
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

// The divisor from its limbs, padded with zeros; 1 for 0.
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
    // Limb i of v, of which those below the first are 0.
    auto limb = [&](i32 i) { return i < 0 ? 0 : is_zero ? 1u : v[i]; };
    auto up = [&](i32 i) { return __funnelshift_l(limb(i - 1), limb(i), d.bits_up); };
#pragma unroll
    for (u32 i = 0; i < LIMBS; i++) {
        i32 at = (i32)(lane_of_group() * LIMBS + i) - (i32)d.limbs_up;
        d.complement[i] = ~(at < 0 ? 0 : up(at));
    }
    d.top = join(up((i32)d.limbs - 2), up((i32)d.limbs - 1));
    // RN(2^127/RN(w)), made smaller by 2^−51 of it: three roundings are less than that.
    double quotient = 0x1p127 / (double)d.top;
    d.reciprocal = (u64)(quotient * (1.0 - 0x1p-51));
    return d;
}

// R, and what waits: for the lane above, or of the top the limb of B^N, which may be −1.
struct Remainder {
    u32 limbs[LIMBS];
    u32 waiting;

    DEVICE u64 top() const { return join(limbs[LIMBS - 2], limbs[LIMBS - 1]); }

    // The digit, in the top lane.
    DEVICE u32 digit(const Divisor& v) const {
        u32 r1 = limbs[LIMBS - 1], r0 = limbs[LIMBS - 2], p1 = high(v.reciprocal), p0 = low(v.reciprocal);
        u64 product = (u64)r1 * p1 + __umulhi(r1, p0) + __umulhi(r0, p1);
        return min((u32)(product >> 31), 0xfffffffeu);
    }

    // R·B + next − q·V.
    DEVICE void step(const Divisor& v, u32 q, u32 next) {
        u32 above = limbs[LIMBS - 1], in = from_below(above, next), late = from_below(waiting, 0);
        u32 even[LIMBS], odd[LIMBS + 1];
        even[0] = in;
#pragma unroll
        for (u32 i = 1; i < LIMBS; i++) even[i] = limbs[i - 1];
#pragma unroll
        for (u32 i = 0; i < LIMBS; i += 2) {
            if (i == 0) {
                multiply_add_first(even[0], even[1], v.complement[0], q);
            } else {
                multiply_add_carried(even[i], even[i + 1], v.complement[i], q);
            }
        }
        u32 carry = add_last(0, 0);
        // What waits has the second place, q the first one of all.
        odd[0] = is_bottom() ? q : 0;
#pragma unroll
        for (u32 i = 1; i < LIMBS; i += 2) {
            u64 product = (u64)v.complement[i] * q + (i == 1 ? late : 0);
            odd[i] = low(product), odd[i + 1] = high(product);
        }
        limbs[0] = add_first(even[0], odd[0]);
#pragma unroll
        for (u32 i = 1; i < LIMBS; i++) limbs[i] = add_carried(even[i], odd[i]);
        waiting = add_last(carry, odd[LIMBS]);
        if (is_top()) waiting += above - q;
    }

    // Whether R may not be less than V, or its top is not known.
    DEVICE bool is_doubtful(const Divisor& v) const {
        return is_top() && (waiting != 0 || top() > v.top);
    }

    // Adds what waits; then R mod V, and how many times V was subtracted, at most 3.
    DEVICE u32 settle(const Divisor& v) {
        u32 carry = add_word(limbs, from_below(waiting, 0));
        u32 beyond = ripple(limbs, carry) + of_top(waiting), times = 0;
#pragma unroll 1
        for (u32 i = 0; i < 3; i++) {
            u32 less[LIMBS];
            less[0] = limbs[0];
            u32 carry = is_bottom() ? 1 : 0;
            add_first(carry, 0xffffffffu);
#pragma unroll
            for (u32 t = 0; t < LIMBS; t++) less[t] = add_carried(limbs[t], v.complement[t]);
            carry = ripple(less, add_last(0, 0));
            // B^N of what was added is −V.
            bool is_no_less = beyond + carry != 0;
            if (is_no_less) {
                beyond += carry - 1, times++;
#pragma unroll
                for (u32 t = 0; t < LIMBS; t++) limbs[t] = less[t];
            }
        }
        waiting = 0;
        return times;
    }
};

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
    // As many digits as the number of the warp with most has: those of the others are 0.
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
    // The limb of u in which the next one begins.
    const u32* below = digits + (i32)(most - divisor.limbs_up) - 1;
    u32 upper = *below;
    __syncwarp();
    for (u32 i = most + lane; i < U_LIMBS; i += LANES) digits[i] = 0;

#pragma unroll 1
    for (u32 t = most; t-- > 0;) {
        // The lowest lane alone needs it, and soon writes there.
        --below;
        u32 lower = is_bottom() ? *below : 0;
        u32 next = __funnelshift_l(lower, upper, divisor.bits_up), q = of_top(r.digit(divisor));
        upper = lower;
        r.step(divisor, q, next);
        if (is_bottom()) digits[t] = q;
        if (__any_sync(0xffffffffu, r.is_doubtful(divisor))) {
            u32 times = r.settle(divisor);
            if (is_bottom()) raise(digits + t, times);
        }
    }
    u32 times = r.settle(divisor);
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
