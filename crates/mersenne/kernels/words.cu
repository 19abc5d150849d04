// Addition of registers, word by word, modulo 2^p − 1 or k·b^n ± 1.
#include "simt.cuh"

// Returns the bits of word j, ⌈p(j+1)/N⌉ − ⌈pj/N⌉.
DEVICE u32 bits_of(u64 p, u64 n, u64 j) {
    return (u32)((p * (j + 1) + n - 1) / n - (p * j + n - 1) / n);
}

// Returns v·2^bits; v may be negative.
DEVICE i64 shifted(i64 v, u32 bits) { return v * (1ll << bits); }

// Returns the multiple of 2^bits nearest to v, divided by 2^bits.
DEVICE i64 carry_of(i64 v, u32 bits) { return (v + (1ll << (bits - 1))) >> bits; }

// Sets `out` to the digits of a + sign·b, of n words mod 2^p − 1; `out` must differ from a and b.
// Carries are −1, 0 or 1 for balanced digits, and a few units for others. A carry is added to the
// next word and goes no further.
extern "C" __global__ void combine(i32* __restrict__ out, const i32* __restrict__ a,
                                   const i32* __restrict__ b, i32 sign, u32 p, u32 n) {
    u32 j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    u32 before = j == 0 ? n - 1 : j - 1;
    i64 v = (i64)a[j] + (i64)sign * b[j];
    i64 w = (i64)a[before] + (i64)sign * b[before];
    u32 bits = bits_of(p, n, j);
    out[j] = (i32)(v - shifted(carry_of(v, bits), bits) + carry_of(w, bits_of(p, n, before)));
}

// Returns ⌈j·ρ⌉ for the mean number of bits ρ of a word; `rate` is 2^32·ρ.
DEVICE u64 offset_of(u64 rate, u64 j) { return (rate * j + 0xffffffffu) >> 32; }
DEVICE u32 bits_of(u64 rate, u64 j) { return (u32)(offset_of(rate, j + 1) - offset_of(rate, j)); }

// The same as `combine` modulo k·2^n + c. The carry C out of the last word ends `top` bits after bit n, so with
// C·2^top = q·k + r it is −c·q + r·2^n: the number `sign_of_one`·q is added to word 0, where `sign_of_one` is
// −c, and r·2^n to the last two words.
extern "C" __global__ void combine_form(i32* __restrict__ out, const i32* __restrict__ a,
                                        const i32* __restrict__ b, i32 sign, u64 rate, u64 k, u32 top,
                                        i32 sign_of_one, u32 n) {
    u32 j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    auto sum = [&](u32 i) { return (i64)a[i] + (i64)sign * b[i]; };
    i64 v = sum(j);
    u32 bits = bits_of(rate, j);
    v -= shifted(carry_of(v, bits), bits);
    if (j > 0) v += carry_of(sum(j - 1), bits_of(rate, j - 1));
    if (j == 0 || j + 2 >= n) {
        const u32 last_bits = bits_of(rate, n - 1);
        const i64 carried = shifted(carry_of(sum(n - 1), last_bits), top), base = (i64)k;
        // ⌊(carried + k/2)/k⌋: the dividend may be negative.
        i64 q = (carried + base / 2) / base;
        if ((carried + base / 2) - q * base < 0) q--;
        const i64 r = carried - q * base;
        if (j == 0) v += sign_of_one * q;
        if (top <= last_bits) {
            if (j == n - 1) v += shifted(r, last_bits - top);
        } else {
            const i64 upper = carry_of(r, top - last_bits);
            if (j == n - 1) v += upper;
            if (j == n - 2) v += shifted(r - shifted(upper, top - last_bits), bits - (top - last_bits));
        }
    }
    out[j] = (i32)v;
}

// Returns the multiple of `base` nearest to v, divided by `base`; v may be negative.
DEVICE i64 carry_to(i64 v, i64 base) {
    const i64 half = base / 2, q = (v + half) / base;
    return (v + half) - q * base < 0 ? q - 1 : q;
}

// The same as `combine_form` modulo k·b^n + c, in words of s and s + 1 digits to the base b, whose bases are
// `short_base` and `long_base`. `rate` is 2^32·ρ for the mean number of digits ρ, and `top` is a number of digits.
extern "C" __global__ void combine_digits(i32* __restrict__ out, const i32* __restrict__ a,
                                          const i32* __restrict__ b, i32 sign, u64 rate, u32 radix,
                                          u32 short_base, u32 long_base, u64 k, u32 top, i32 sign_of_one, u32 n) {
    u32 j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    auto sum = [&](u32 i) { return (i64)a[i] + (i64)sign * b[i]; };
    auto digits_of = [&](u32 i) { return bits_of(rate, i); };
    auto base_of = [&](u32 i) { return (i64)(digits_of(i) > (u32)(rate >> 32) ? long_base : short_base); };
    auto power = [&](u32 e) {
        i64 v = 1;
        for (u32 i = 0; i < e; i++) v *= radix;
        return v;
    };
    i64 v = sum(j);
    v -= carry_to(v, base_of(j)) * base_of(j);
    if (j > 0) v += carry_to(sum(j - 1), base_of(j - 1));
    if (j == 0 || j + 2 >= n) {
        const i64 carried = carry_to(sum(n - 1), base_of(n - 1)) * power(top);
        const i64 q = carry_to(carried, (i64)k), r = carried - q * (i64)k;
        const u32 last = digits_of(n - 1);
        if (j == 0) v += sign_of_one * q;
        if (top <= last) {
            if (j == n - 1) v += r * power(last - top);
        } else {
            const i64 upper = carry_to(r, power(top - last));
            if (j == n - 1) v += upper;
            if (j == n - 2) v += (r - upper * power(top - last)) * power(digits_of(j) + last - top);
        }
    }
    out[j] = (i32)v;
}
