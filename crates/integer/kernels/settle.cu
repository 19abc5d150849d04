// A step of a long division, from a guess to the remainder (Burnikel and Ziegler 1998, Fast recursive
// division, algorithm 2; the guess: Knuth, TAOCP 4.3.1, theorem B).
//
//   DIGIT     1: a step has one limb of quotient, 0: a block of many
//   THREADS   of a block, which has one number
//
// B = 2^32. V has N limbs, its highest bit set. A step has a window X of N + m limbs, and
// gives ⌊X/V⌋ and X mod V, in the window's lower N limbs.
//
// Blocks. V = V1·B^k + V2, N = m + k; X = X1·B^k + X2. The guess g = ⌊X1/V1⌋ ≤ B^m + 1, g = o·B^m + q with an
// overflow o, is known; X1 mod V1 lies in place of X1; D = q·V2 too. What is left is
//
//     R = (X1 mod V1)·B^k + X2 − D − o·V2·B^m = X − g·V < V;
//
// where that is negative V is added, and 1 taken from g. As X ≥ g·V1·B^k ≥ g·V − g·V2 and
// V2 < B^k ≤ 2·V1·B^k/B^m, the guess is too large by g·V2/V < 2·(B^m + 1)/B^m: at most 2, at the very end 3.
// Nearly always the top of X, D and V tells how many times V is to be added, and
// all is done in one pass over the window. That count is from a bound that R is below, so it is never
// too large; if V has to be added again, the carry out of the window tells.
//
// Digits. m = 1, and X < 2^31·B^N: alignment leaves the highest bit of a dividend unused. So
// X's top limb is less than V's, and the guess, from the top three limbs of X and two of V, is less than
// B; it is never too small, and at most 1 too large.
//
// A pass adds E + w·W to R mod B^N and finds the carry; E is the complement of D and W that of V where these
// are subtracted. Warps have spans of a number, and rows of 32 quads of a span, one after
// the other. What a quad hands on is a word, at most w or, with E, at most w + 1: the lane above adds it. Where
// that carries, what is left is less than the word, so that the lane passes no other carry on. What
// a span hands on is added in rounds until there is nothing, which nearly always is one round.
#include "quad.cuh"

constexpr u32 WARPS = THREADS / 32, ROW = 128;

// What a pass adds: `times` V, or its complement, and the complement of D·B^up.
struct Added {
    const u32* v;
    u32 times, change;
    // nullptr for none.
    const u32* d;
    u32 up;
    // At the lowest limb.
    u32 carry;
};

// Adds to x; the carry out of its limbs. All threads of the block come to it.
DEVICE u32 pass(u32* x, u32 whole, const Added& added) {
    __shared__ u32 handed[2][WARPS];
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u32 span = ((whole + ROW - 1) / ROW + WARPS - 1) / WARPS * ROW;
    u32 begin = min(warp * span, whole), end = min(begin + span, whole);
    u32 carry = warp == 0 ? added.carry : 0;
#pragma unroll 2
    for (u32 from = begin; from < end; from += ROW) {
        u32 at = from + lane * 4, last = min(end - from, ROW) / 4 - 1, given = 0, ones = 0;
        Quad r = {};
        if (at < end) {
            Quad v = {}, d = {};
            if (added.times) v = *(const Quad*)(added.v + at);
            if (added.d) {
                if (at >= added.up) d = *(const Quad*)(added.d + at - added.up);
                for (u32 t = 0; t < 4; t++) d.limbs[t] = ~d.limbs[t];
            }
            r = *(const Quad*)(x + at);
            u64 sum = 0;
#pragma unroll
            for (u32 t = 0; t < 4; t++) {
                u64 product = (u64)(v.limbs[t] ^ added.change) * added.times;
                sum += (u64)r.limbs[t] + d.limbs[t] + low(product) + given;
                r.limbs[t] = low(sum), sum >>= 32, given = high(product);
            }
            given += low(sum);
        }
        u32 below = __shfl_up_sync(0xffffffffu, given, 1);
        u64 sum = lane == 0 ? carry : below;
        ones = 0xffffffffu;
#pragma unroll
        for (u32 t = 0; t < 4; t++) {
            sum += r.limbs[t];
            r.limbs[t] = low(sum), sum >>= 32, ones &= r.limbs[t];
        }
        u32 gives = __ballot_sync(0xffffffffu, sum != 0);
        u32 passes = __ballot_sync(0xffffffffu, ones == 0xffffffffu);
        u64 into = (((u64)gives << 1) + passes) ^ passes;
        sum = (u32)(into >> lane) & 1;
#pragma unroll
        for (u32 t = 0; t < 4; t++) {
            sum += r.limbs[t];
            r.limbs[t] = low(sum), sum >>= 32;
        }
        carry = __shfl_sync(0xffffffffu, given, last) + ((u32)(into >> (last + 1)) & 1);
        if (at < end) *(Quad*)(x + at) = r;
    }
    u32 out = 0, round = 0;
    do {
        if (lane == 0) handed[round % 2][warp] = carry;
        __syncthreads();
        out += handed[round % 2][WARPS - 1];
        carry = 0;
        if (lane == 0 && warp > 0) {
            carry = handed[round % 2][warp - 1];
            for (u32 at = begin; carry != 0 && at < end; at++) {
                u32 sum = x[at] + carry;
                carry = sum < carry;
                x[at] = sum;
            }
        }
        round++;
    } while (__syncthreads_or(carry != 0));
    return out;
}

// How many times V must at least be added to X − D − o·B^m·V2, from their limbs N − 1 and N − 2,
// of which a sixteenth fits into signed words; z has those of V2 for o > 0.
DEVICE u32 times_at_least(u64 x, u64 d, u64 z, u32 o, u64 v) {
    i64 bound = (i64)(x >> 4) + 1 - (i64)(d >> 4) - (i64)o * (i64)(z >> 4);
    u32 times = 0;
    while (bound <= 0 && times < 3) bound += (i64)(v >> 4) + 1, times++;
    return times;
}

// A guess of one limb of quotient, from the top limbs of X and V, highest first.
DEVICE u32 digit_of(u32 x2, u32 x1, u32 x0, u32 v1, u32 v0) {
    u64 top = join(x1, x2);
    u32 digit = (u32)(top / v1);
    u64 rest = top - (u64)digit * v1;
    while (high(rest) == 0 && (u64)digit * v0 > join(x0, low(rest))) digit--, rest += v1;
    return digit;
}

// Takes a small number from the digits of a quotient; the borrow.
DEVICE u32 lower(u32* digits, u32 limbs, u32 by) {
    for (u32 i = 0; by != 0 && i < limbs; i++) {
        u32 digit = digits[i];
        digits[i] = digit - by;
        by = digit < by;
    }
    return by;
}

DEVICE u64 top(const u32* x, u32 limbs) { return join(x[limbs - 2], x[limbs - 1]); }

// `block` is m. Overflows are read from `overflows`, and written to `to` if the next step up has them.
extern "C" __global__ void __launch_bounds__(THREADS)
    settle(u32* windows, u64 window_stride, const u32* v, u64 v_stride, const u32* products,
           u32* quotients, u64 quotient_stride, const u32* overflows, u32* to, u32 whole, u32 block,
           u32 count) {
    u64 number = blockIdx.x;
    u32 *x = windows + number * window_stride, *quotient = quotients + number * quotient_stride;
    v += number * v_stride;
    // How many times V was added after the guess, and how often V2·B^m is still to be subtracted; what is
    // above limb N − 1 of R.
    u32 times = 0, left = 0, digit = 0;
    i64 beyond;
    Added added;
    if constexpr (DIGIT) {
        digit = digit_of(x[whole], x[whole - 1], x[whole - 2], v[whole - 1], v[whole - 2]);
        // −h·V = h·(B^N − 1 − V) + h − h·B^N.
        beyond = (i64)x[whole] - digit;
        added = {v, digit, 0xffffffffu, nullptr, 0, digit};
    } else {
        const u32* d = products + number * whole;
        left = overflows[number];
        u64 z = left ? top(v, whole - block) : 0;
        times = times_at_least(top(x, whole), top(d, whole), z, left, top(v, whole));
        beyond = -1;
        added = {v, times, 0, d, 0, 1};
    }
    u32 overflow = left;
    // All have read the top.
    __syncthreads();
    // At most two passes for D and V2·B^m, and three for V.
    for (u32 i = 0; i < 6; i++) {
        beyond += pass(x, whole, added);
        if (left > 0) {
            left--, beyond--;
            added = {v, 0, 0, v, block, 1};
        } else if (beyond < 0) {
            times++;
            added = {v, 1, 0, nullptr, 0, 0};
        } else {
            break;
        }
    }
    if (threadIdx.x != 0) return;
    if constexpr (DIGIT) {
        quotient[0] = digit - times;
    } else {
        overflow -= lower(quotient, block, times);
        if (to) to[number] = overflow;
    }
}
