// A pass over a number of many limbs by a block: x ← x ± times·v − d.
//
//   THREADS   threads per block
//
// With B = 2^32 and N limbs of x, it adds E + w·W to x mod B^N and returns the carry. w is `times`,
// E is the complement of D·B^up, and W is V, or the complement of V if V is subtracted. Each warp
// processes a span of consecutive limbs of a number, in rows of 32 quads, one row after the other.
// The carry of a quad is a word, at most w or, with E, at most w + 1, which the lane above adds. If
// that addition carries, the remaining quad is less than the word, so the lane passes no other
// carry on. Carries of spans are added in rounds until none is left, which nearly always takes one
// round.
#pragma once
#include "quad.cuh"

constexpr u32 WARPS = THREADS / 32, ROW = 128;

// The addends of a pass: `times` V, or its complement, and the complement of D·B^up.
struct Added {
    const u32* v;
    u32 times, change;
    // nullptr if absent.
    const u32* d;
    u32 up;
    // The carry into the lowest limb.
    u32 carry;
};

// Adds to x; returns the carry out of its limbs. All threads of the block call it.
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
