// Square roots and remainders, limb by limb of the root, with the numbers in the registers of
// groups of lanes.
//
//   A_LIMBS            limbs of a; a root has ROOT_LIMBS = ⌈A_LIMBS/2⌉ ≤ WHOLE, a remainder one more
//   LANES, LIMBS, THREADS   see lanes.cuh; LIMBS ≥ 4. BLOCKS blocks per multiprocessor
//
// With B = 2^32, N = WHOLE, k the number of pairs of limbs of a, and A = a·B^(2N − 2k): a root S of
// A has N limbs, of which the lowest N − k are not needed, and the highest is not 0. When the limbs
// of S from p on are known, the rest of S being 0,
//
//     R = (A − S²)/(2·B^p),
//
// the lanes hold the integer part of R; the part below is appended as limbs of A/2. A step finds
// limb p of S,
//
//     R ← R·B + next − q·(S + q·B^p/2),   S ← S + q·B^p:
//
// like a division by S (digits.cuh) with q/2 in place of the limb to be found: ⌊q/2⌋ at p, and q
// mod 2 as the highest bit below, which is an integer except for p = 0 (see below). S is complete
// if R < S + B^p/2; if not, that is subtracted, and B^p added to S.
//
// The digit. Let c < 32 be the number of leading zeros of S, and r and w the highest two limbs of
// R·2^c and of S·2^c when all of S is known. w is the root of the highest four limbs of A·2^(2c),
// so that S begins with two correct limbs. W = (w + 1)·B^(N − 2)/2^c is a multiple of B^p for p ≤ N
// − 3 and above S, so S + (q + 1)·B^p ≤ W where q is the largest digit that can be subtracted.
// Hence q + 1 is too large for R·B/W, and q ≥ ⌊r·B/(w + 1)⌋: a digit is never too large. It may be
// too small by as much as a digit of a division by W, and by q·(W − S − q·B^p/2)/W more, which is
// less than 2^(c − 32) + 2^−30 ≤ 0.6 in the first step and 2^−30 in others: at most 2 in total. The
// waiting limbs are less than a unit of r, as L > 3. R is corrected at the end of each number, and
// whenever r > w, or R is not between 0 and 2^(32·N − c). In all other steps R < W·(1 + 2^−62), and
// the next digit is at most B, which the guess, below B − 1, does not reach: then R is about 2·S
// and r > w, it is corrected by 2, and the limb above receives the carry. r ≤ w holds at the
// beginning and after R was corrected, since S + B^p/2 is below the next multiple of B^(N − 2)/2^c.
//
// The last step of a number with k = N, at p = 0. With a bit h = 0 or 1, A − S² = 2·R + h. For an
// odd q the step subtracts q·⌊q/2⌋, and ⌊q/2⌋ + 1/2 remains to be subtracted. R is at least S + 1/2
// if 2·R + h is at least 2·S + 1.
//
// The numbers of a warp end at different steps, and then continue with limbs of the root that are
// not read. Roots of one and of two limbs are known at the beginning.
//
// A number's shared memory holds a, and at the end its root and the remainder.
#include "digits.cuh"

constexpr u32 ROOT_LIMBS = (A_LIMBS + 1) / 2;
static_assert(LIMBS >= 4 && LIMBS % 2 == 0 && ROOT_LIMBS <= WHOLE);

// Words between numbers: an odd number, so that neighbouring groups use different banks.
constexpr u32 PLACES = 2 * ROOT_LIMBS + 1;

DEVICE void load(u32* places, const u32* a, u64 stride, u32 numbers) {
    for (u32 f = threadIdx.x; f < NUMBERS * 2 * ROOT_LIMBS; f += THREADS) {
        u32 number = f / (2 * ROOT_LIMBS), limb = f % (2 * ROOT_LIMBS);
        bool is_there = number < numbers && limb < A_LIMBS;
        places[number * PLACES + limb] = is_there ? a[number * stride + limb] : 0;
    }
}

template <u32 COUNT>
DEVICE void store(u32* to, u64 stride, const u32* places, u32 numbers) {
    for (u32 f = threadIdx.x; f < numbers * COUNT; f += THREADS) {
        to[f / COUNT * stride + f % COUNT] = places[f / COUNT * PLACES + f % COUNT];
    }
}

// Prevents the compiler from merging code with that of other branches.
DEVICE void stay_apart() {
#ifndef WARPINT_SIM
    asm volatile("");
#endif
}

// x − s² in three limbs.
struct Rest {
    u32 limbs[3];
    bool is_negative;
};
DEVICE Rest rest_of(u64 upper, u64 lower, u64 s) {
    u64 square = s * s, above = upper - __umul64hi(s, s) - (lower < square);
    lower -= square;
    return {{low(lower), high(lower), low(above)}, (i64)above < 0};
}

// Returns ⌊√x⌋ of x = upper·2^64 + lower ≥ 2^126 (Zimmermann 1999, Karatsuba square root).
DEVICE u64 root_of(u64 upper, u64 lower) {
    // The root t of the upper half, in 32 bits. The estimate is off by less than 2^−20, and not
    // below t: for t > 2^31, RN(upper) is at least t²·(1 − 2^−53), the root of that is above t −
    // 2^−22, and the nearest multiple of 2^−21 is t; (2^31)² is a double itself.
    u64 s = min((u64)__dsqrt_rn((double)upper), 0xffffffffull);
    if (s * s > upper) s--;
    // ⌊(r·B + next limb)/2s⌋ = ⌊half/s⌋ is at most B, and equals B only if the next limb is all
    // ones.
    u64 half = (upper - s * s) << 31 | lower >> 33;
    s = (s << 32) + min(half / s, 0xffffffffull);
    return rest_of(upper, lower, s).is_negative ? s - 1 : s;
}

// The limbs of B^N − 1 − S.
struct Root {
    u32 complement[LIMBS];

    // Sets limb p of S, p = owner·LIMBS + slot, to `digit`, the limb above to `before`, and the
    // limb below to `after`.
    DEVICE void put(u32 owner, u32 slot, u32 before, u32 digit, u32 after) {
        u32 from_owner = lane_of_group() - owner;
        put_between<0, LIMBS>(from_owner, slot, ~before, ~digit, ~after);
    }

    // The same for slots from FROM to UNTIL − 1. Registers have no addresses, so a tree of branches
    // selects them; the compiler must not turn it into one selection per limb.
    template <u32 FROM, u32 UNTIL>
    DEVICE void put_between(u32 from_owner, u32 slot, u32 upper, u32 middle, u32 lower) {
        if constexpr (UNTIL - FROM > 1) {
            constexpr u32 HALF = (FROM + UNTIL) / 2;
            if (slot < HALF) {
                put_between<FROM, HALF>(from_owner, slot, upper, middle, lower);
            } else {
                put_between<HALF, UNTIL>(from_owner, slot, upper, middle, lower);
            }
        } else {
            constexpr u32 ABOVE = (FROM + 1) % LIMBS, BELOW = (FROM + LIMBS - 1) % LIMBS;
            if (from_owner == 0) complement[FROM] = middle;
            if (from_owner == (ABOVE == 0 ? 1u : 0u)) complement[ABOVE] = upper;
            if (from_owner == (FROM == 0 ? 0xffffffffu : 0u)) complement[BELOW] = lower;
            stay_apart();
        }
    }

    // Computes S + by·B^p. The highest limb of S has room for the carry.
    DEVICE void raise(u32 p, u32 by) {
        u32 at = p - lane_of_group() * LIMBS;
        add_first(0, 0);
#pragma unroll
        for (u32 t = 0; t < LIMBS; t++) complement[t] = add_carried(~complement[t], t == at ? by : 0);
        ripple(complement, add_last(0, 0));
#pragma unroll
        for (u32 t = 0; t < LIMBS; t++) complement[t] = ~complement[t];
    }
};

// The two highest limbs of R·2^c, in the top lane, and whether R has more above them.
struct Top {
    u32 r1, r0;
    bool is_more;

    DEVICE Top(const Remainder& r, u32 c)
        : r1(__funnelshift_l(r.limbs[LIMBS - 2], r.limbs[LIMBS - 1], c)),
          r0(__funnelshift_l(r.limbs[LIMBS - 3], r.limbs[LIMBS - 2], c)),
          is_more((r.waiting | __funnelshift_l(r.limbs[LIMBS - 1], 0, c)) != 0) {}
};

// Subtracts S + B^p/2 from R, and adds B^p to S, as often as possible; returns how often. For p = 0
// the lowest lane has h.
DEVICE u32 correct(Remainder& r, Root& s, u32 p, u32& h) {
    u32 beyond = r.gather(), times = 0;
#pragma unroll 1
    for (u32 i = 0; i < 3; i++) {
        bool takes = r.take(s.complement, beyond, p == 0 ? h : 1);
        if (!__any_sync(0xffffffffu, takes)) break;
        s.raise(p, takes);
        times += takes, h ^= takes;
    }
    return times;
}

// Subtracts the half of an odd q that the step at p = 0 has left from R, and sets h from the lowest
// bit of a. No limb is waiting.
DEVICE void finish_halves(Remainder& r, u32 q, u32& h) {
    u32 beyond = r.gather(), is_odd = q & 1, complement[LIMBS];
#pragma unroll
    for (u32 t = 0; t < LIMBS; t++) complement[t] = 0xffffffffu;
    if (is_bottom() && is_odd) complement[0] = ~((q >> 1) + 1 - h);
    h ^= is_odd;
    r.take(complement, beyond, 1);
    r.waiting = is_top() ? beyond : 0;
}

// Writes a number's result, when the limbs from p on are the root of k limbs; `below` is the limb
// below this lane's.
DEVICE void put_result(u32* places, const Remainder& r, const Root& s, u32 p, u32 k, u32 below) {
    u32 *rest = places + ROOT_LIMBS, lane = lane_of_group();
#pragma unroll
    for (u32 t = 0; t < LIMBS; t++) {
        u32 i = lane * LIMBS + t - p;
        if (i < k) {
            places[i] = ~s.complement[t];
            rest[i] = __funnelshift_l(t > 0 ? r.limbs[t - 1] : below, r.limbs[t], 1);
        }
    }
    if (is_top()) rest[k] = r.limbs[LIMBS - 1] >> 31;
    for (u32 i = k + lane; i < ROOT_LIMBS; i += LANES) places[i] = rest[i + 1] = 0;
}

// Computes roots of more than two limbs: of each number, of k pairs of limbs, in as many steps as
// the longest number of the warp needs. `top` is the root of the highest two pairs, and w that of
// all bits that it uses; their remainder is in their places.
DEVICE void roots(u32* places, u32 k, u32 most, u64 top, u64 w, u32 c) {
    u32 lane = lane_of_group(), end = WHOLE - k;
    u64 reciprocal = reciprocal_of(w);
    // Limb i of A is limb i − 2·end of a, for the limbs that are requested.
    auto limb = [&](i32 i) { return i < 0 ? 0 : places[i]; };
    i32 at = (i32)WHOLE - 2 - 2 * (i32)end;
    Remainder r;
    Root s;
#pragma unroll
    for (u32 t = 0; t < LIMBS; t++) {
        u32 i = lane * LIMBS + t;
        r.limbs[t] = k > 2 ? __funnelshift_r(limb(at + (i32)i), limb(at + (i32)i + 1), 1) : 0;
        s.complement[t] = ~(i == WHOLE - 1 ? high(top) : i == WHOLE - 2 ? low(top) : 0);
    }
    r.waiting = 0;
    u32 upper = limb(at), before = low(top), slot = (WHOLE - 3) % LIMBS, owner = (WHOLE - 3) / LIMBS;
    Top now(r, c);
#pragma unroll 1
    for (u32 p = WHOLE - 3;; p--) {
        at--;
        // Only the lowest lane needs it.
        u32 lower = is_bottom() ? limb(at) : 0, next = __funnelshift_r(lower, upper, 1);
        upper = lower;
        u32 q = of_top(digit_of(now.r1, now.r0, reciprocal));
        s.put(owner, slot, before, q >> 1, q << 31);
        r.step(s.complement, q, next);
        now = Top(r, c);
        bool is_doubtful = is_top() && (now.is_more || join(now.r0, now.r1) > w), ends = p == end;
        if (__any_sync(0xffffffffu, is_doubtful || ends)) {
            u32 h = lower & 1;
            if (p == 0) finish_halves(r, q, h);
            // B^p/2 is stored as a limb for now: the next digit overwrites it.
            s.put(owner, slot, before, q, 0x80000000u);
            q += correct(r, s, p, h);
            now = Top(r, c);
            if (__any_sync(0xffffffffu, ends)) {
                u32 below = from_below(r.limbs[LIMBS - 1], h << 31);
                __syncwarp();
                if (ends) put_result(places, r, s, p, k, below);
                __syncwarp();
            }
        }
        before = q;
        if (p == WHOLE - most) break;
        if (slot-- == 0) slot = LIMBS - 1, owner--;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    square_root(const u32* a, u32* root, u32* remainder, u64 a_stride, u64 root_stride, u64 remainder_stride,
                u32 count) {
    DYNAMIC_SHARED(u32, places);
    u32 first = blockIdx.x * NUMBERS, numbers = min(count - first, NUMBERS);
    load(places, a + first * a_stride, a_stride, numbers);
    __syncthreads();

    u32 *own = places + threadIdx.x / LANES * PLACES, pairs = 0;
    for (u32 i = lane_of_group(); i < ROOT_LIMBS; i += LANES) {
        if ((own[2 * i] | own[2 * i + 1]) != 0) pairs = i + 1;
    }
    u32 k = max(largest(pairs), 1u);
    auto pair = [&](u32 from_top) {
        return k < from_top ? 0 : join(own[2 * (k - from_top)], own[2 * (k - from_top) + 1]);
    };
    u64 x2 = pair(1), x1 = pair(2), x0 = pair(3);
    // Nothing is computed for 0.
    bool is_zero = x2 == 0;
    u32 c = is_zero ? 0 : __clzll(x2) / 2;
    auto up = [&](u64 upper, u64 lower) { return c == 0 ? upper : upper << 2 * c | lower >> (64 - 2 * c); };
    u64 w = is_zero ? 1ull << 63 : root_of(up(x2, x1), up(x1, x0)), top = is_zero ? 0 : w >> c;
    Rest rest = rest_of(x2, x1, top);
    __syncwarp();
    if (is_bottom() && k > 2) {
#pragma unroll
        for (u32 t = 0; t < 3; t++) own[2 * k - 4 + t] = rest.limbs[t];
        own[2 * k - 1] = 0;
    }
    if (is_bottom() && k <= 2) {
        // For one limb the remainder is computed anew.
        u64 found = k == 1 ? top >> 32 : top;
        if (k == 1) rest = rest_of(0, x2, found);
        for (u32 i = 0; i < PLACES; i++) own[i] = 0;
        own[0] = low(found);
        if (ROOT_LIMBS > 1) own[1] = high(found);
#pragma unroll
        for (u32 t = 0; t < 3; t++) {
            if (t <= ROOT_LIMBS) own[ROOT_LIMBS + t] = rest.limbs[t];
        }
    }
    __syncwarp();
    if constexpr (ROOT_LIMBS > 2) {
        u32 most = warp_largest(k);
        if (most > 2) roots(own, k, most, top, w, c);
    }
    __syncthreads();
    if (root) store<ROOT_LIMBS>(root + first * root_stride, root_stride, places, numbers);
    if (remainder) {
        store<ROOT_LIMBS + 1>(remainder + first * remainder_stride, remainder_stride, places + ROOT_LIMBS,
                              numbers);
    }
}
