// Windows of exponents. ENTRIES = 2^WINDOW powers are stored; an exponent has E_LIMBS limbs.
#pragma once
#include "ptx.cuh"

constexpr u32 ENTRIES = 1 << WINDOW;

// Returns the bit length of a number.
DEVICE u32 bit_length(const u32* x, u32 limbs) {
    while (limbs > 0 && x[limbs - 1] == 0) limbs--;
    return limbs == 0 ? 0 : 32 * limbs - __clz(x[limbs - 1]);
}

// Returns WINDOW bits from a given bit on.
DEVICE u32 window(const u32* e, u32 bit) {
    u32 at = bit / 32, upper = at + 1 < E_LIMBS ? e[at + 1] : 0;
    return __funnelshift_r(e[at], upper, bit % 32) & (ENTRIES - 1);
}
