// Completes a step of a long division: corrects a guessed quotient and computes the remainder
// (Burnikel and Ziegler 1998, Fast recursive division, algorithm 2; for the guess see Knuth, TAOCP
// 4.3.1, theorem B).
//
//   DIGIT     1: a step has one limb of quotient, 0: a block of many
//   THREADS   threads per block; a block processes one number
//
// B = 2^32. V has N limbs, its highest bit set. A step has a window X of N + m limbs, and computes
// ⌊X/V⌋ and X mod V, the latter in the window's lower N limbs.
//
// Blocks. V = V1·B^k + V2, N = m + k; X = X1·B^k + X2. Known are the guess g = ⌊X1/V1⌋ ≤ B^m + 1, g
// = o·B^m + q with an overflow o; X1 mod V1, in place of X1; and D = q·V2. The remainder is
//
//     R = (X1 mod V1)·B^k + X2 − D − o·V2·B^m = X − g·V < V;
//
// and if that is negative, V is added, and 1 subtracted from g. Since X ≥ g·V1·B^k ≥ g·V − g·V2 and
// V2 < B^k ≤ 2·V1·B^k/B^m, the guess is too large by g·V2/V < 2·(B^m + 1)/B^m: at most 2, in the
// extreme case 3. In nearly all cases the top of X, D and V shows how many times V must be added,
// and one pass over the window does everything. That count is derived from an upper bound of R, so
// it is never too large; if V must be added again, the carry out of the window shows it.
//
// Digits. m = 1, and X < 2^31·B^N: alignment leaves the highest bit of a dividend unused. So X's
// top limb is less than V's, and the guess, from the top three limbs of X and two of V, is less
// than B; it is never too small, and at most 1 too large.
#include "pass.cuh"

// Returns a lower bound of the number of times V must be added to X − D − o·B^m·V2, from their
// limbs N − 1 and N − 2; a sixteenth of these fits in signed words. z has the limbs of V2 for o >
// 0.
DEVICE u32 times_at_least(u64 x, u64 d, u64 z, u32 o, u64 v) {
    i64 bound = (i64)(x >> 4) + 1 - (i64)(d >> 4) - (i64)o * (i64)(z >> 4);
    u32 times = 0;
    while (bound <= 0 && times < 3) bound += (i64)(v >> 4) + 1, times++;
    return times;
}

// Returns a guess of one limb of the quotient, from the top limbs of X and V, highest first.
DEVICE u32 digit_of(u32 x2, u32 x1, u32 x0, u32 v1, u32 v0) {
    u64 top = join(x1, x2);
    u32 digit = (u32)(top / v1);
    u64 rest = top - (u64)digit * v1;
    while (high(rest) == 0 && (u64)digit * v0 > join(x0, low(rest))) digit--, rest += v1;
    return digit;
}

// Subtracts a small number from the digits of a quotient; returns the borrow.
DEVICE u32 lower(u32* digits, u32 limbs, u32 by) {
    for (u32 i = 0; by != 0 && i < limbs; i++) {
        u32 digit = digits[i];
        digits[i] = digit - by;
        by = digit < by;
    }
    return by;
}

DEVICE u64 top(const u32* x, u32 limbs) { return join(x[limbs - 2], x[limbs - 1]); }

// `block` is m. Overflows are read from `overflows`, and written to `to` if the next step up stores
// them.
extern "C" __global__ void __launch_bounds__(THREADS)
    correct(u32* windows, u64 window_stride, const u32* v, u64 v_stride, const u32* products,
           u32* quotients, u64 quotient_stride, const u32* overflows, u32* to, u32 whole, u32 block,
           u32 count) {
    u64 number = blockIdx.x;
    u32 *x = windows + number * window_stride, *quotient = quotients + number * quotient_stride;
    v += number * v_stride;
    // The number of times V was added after the guess, and V2·B^m must still be subtracted; the
    // part of R above limb N − 1.
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
    // All threads have read the top.
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
