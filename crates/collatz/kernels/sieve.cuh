// The rules of the sieve, and integers of 96 and 128 bits (see src/sieve/sieve.md).
#pragma once
#include "ptx.cuh"

// The limits of the step from T^k(n) to T^(k+1)(n), one per rule. A rule excludes a number with
// fewer odd steps than its limit.
struct Limits {
    u32 descent, run, preimage;
};

// The value of Pattern::evens before the first known odd step.
const u32 NO_ODD = 2;

// run: 1 within a run of odd steps to which the rule of runs applies, 2 after the first even step
// that follows such a run, otherwise 0. evens: the parity of the number of even steps since the
// last odd one, or NO_ODD.
struct Pattern {
    u32 run, evens;

    DEVICE void odd(u32 odd, Limits limits) {
        run = run == 1 || odd < limits.run;
        evens = 0;
    }

    // Updates the pattern after an even step. Returns whether a rule excludes numbers with `odd`
    // odd steps.
    DEVICE bool even(u32 odd, Limits limits) {
        evens = evens == NO_ODD ? NO_ODD : evens ^ 1;
        bool dead = run == 2 || odd < limits.descent || (evens == 0 && odd < limits.preimage);
        run *= 2;
        return dead;
    }
};

// A warp reserves this many places of the list of long numbers at a time. When it reserves more, or
// ends, the rest of them stay empty: fewer than 32, except in its last reservation.
const u32 PLACES = 256;
const u64 NOBODY = ~0ull;

// The value in place of the odd steps of a number that is left to the host.
const unsigned short GIVEN_UP = 0xffff;

// Returns the sum of a warp's values, in all lanes.
DEVICE u32 warp_sum(u32 value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#pragma unroll
    for (u32 apart = 1; apart < 32; apart *= 2) value += __shfl_xor_sync(0xffffffffu, value, apart);
    return value;
#else
    return __reduce_add_sync(0xffffffffu, value);
#endif
}

// An integer below 2^128, the lowest word first.
struct Long {
    u32 w[4];
};

DEVICE Long join(uint4 words) { return {{words.x, words.y, words.z, words.w}}; }

// Returns a + b mod 2^128.
DEVICE Long add(Long a, Long b) {
    u64 lower = join(a.w[0], a.w[1]), upper = join(a.w[2], a.w[3]);
    u64 sum = lower + join(b.w[0], b.w[1]);
    upper += join(b.w[2], b.w[3]) + (sum < lower);
    return {{low(sum), high(sum), low(upper), high(upper)}};
}

// Returns a + b·m mod 2^128.
DEVICE Long multiply_add(Long a, Long b, u32 m) {
    Long r;
    u64 carry = 0;
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
        u64 t = (u64)b.w[i] * m + a.w[i];
        t += carry;
        r.w[i] = low(t);
        carry = high(t);
    }
    return r;
}

// Returns whether a < b.
DEVICE bool less(Long a, Long b) {
    u64 upper = join(a.w[2], a.w[3]), of_b = join(b.w[2], b.w[3]);
    return upper < of_b || (upper == of_b && join(a.w[0], a.w[1]) < join(b.w[0], b.w[1]));
}
