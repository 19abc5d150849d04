// Products of numbers, many of which fit in shared memory: LEVELS levels of Karatsuba's identity
//
//     (x0 + x1·X)(y0 + y1·X) = z0 + (z0 + z2 − (x0 − x1)(y0 − y1))·X + z2·X²,  z0 = x0·y0, z2 = x1·y1,
//
// then products of LEAF by LEAF limbs, one per thread. LEVELS = 0: one thread per number.
//
//   A_LIMBS, B_LIMBS   limbs of the factors; at most LEAF·2^LEVELS
//   FIRST, OUT_LIMBS   the limbs of the product that are written
//   LEAF               a multiple of 4
//   SQUARE             whether a = b: b is not read
//   LOW                whether only the lower half is written, and LEVELS is 0 or 1; not of a square
//   HIGH               whether only the limbs from FIRST on are written, FIRST > 1, and LEVELS is 0; not of
//                      a square
//   NUMBERS, THREADS   numbers and threads of a block, BLOCKS blocks per multiprocessor
//
// A number has LEAVES = 3^LEVELS slots of 2·LEAF limbs. The index of a slot has, in base 3, a digit
// for each level, the highest for the whole number: 0 is the low half, 1 the high half, 2 the
// difference of both. A slot begins as [limbs of b | limbs of a] and becomes the product. Combined
// products stay in the slots with digits 0 and 1 only: limb t of a number is limb t mod 2·LEAF of
// slot spread(⌊t / (2·LEAF)⌋). Slots are an odd number of quads of words apart, so that the same
// quads of eight slots are in different banks.
//
// A LOW product needs x0·y0, and the lower halves of x0·y1 and x1·y0, which use slots 1 and 2.
//
// Between products all threads share the work: each processes a run of RUN limbs of a number at a
// level. Borrows into a run are found by comparing the limbs below it, which one limb nearly always
// decides. Carries out of runs are added in rounds until none is left, which nearly always takes
// one round.
#include "limbs.cuh"
#include "quad.cuh"

__host__ __device__ constexpr u32 power(u32 base, u32 e) {
    return e == 0 ? 1 : base * power(base, e - 1);
}

constexpr u32 LEAVES = power(3, LEVELS), PIECES = power(2, LEVELS);
constexpr u32 STRIDE = 2 * LEAF + 4;
[[maybe_unused]] constexpr u32 RUN = LEAF % 8 == 0 ? 8 : LEAF;

// Returns the limbs that are moved at once, for numbers of `limbs` limbs.
__host__ __device__ constexpr u32 unit(u32 limbs) {
    return limbs % 4 == 0 ? 4 : limbs % 2 == 0 ? 2 : 1;
}
template <u32 LIMBS>
struct __align__(4 * LIMBS) Unit {
    u32 limbs[LIMBS];
};
// Returns the binary digits of q, read as digits in base 3.
template <u32 R = LEVELS>
DEVICE u32 spread(u32 q) {
    if constexpr (R == 0) {
        return 0;
    } else {
        return (q & 1) + 3 * spread<R - 1>(q >> 1);
    }
}

// Limb t of an operand, and limb t of a combined product, from the first slot on.
DEVICE u32* operand_limb(u32* first, u32 t) { return first + spread(t / LEAF) * STRIDE + t % LEAF; }
DEVICE u32* product_limb(u32* first, u32 t) {
    return first + spread(t / (2 * LEAF)) * STRIDE + t % (2 * LEAF);
}

// Loads an operand of each number into its slots.
template <u32 LIMBS>
DEVICE void load(u32* slots, const u32* from, u64 stride, u32 numbers) {
    constexpr u32 UNIT = unit(LIMBS), UNITS = LIMBS / UNIT, MISSING = LEAF * PIECES - LIMBS;
    for (u32 f = threadIdx.x; f < numbers * UNITS; f += THREADS) {
        u32 number = f / UNITS, limb = f % UNITS * UNIT;
        u32* to = operand_limb(slots + number * LEAVES * STRIDE, limb);
        copy_async<4 * UNIT>(to, &from[number * stride + limb]);
    }
    if constexpr (MISSING > 0) {
        for (u32 f = threadIdx.x; f < numbers * MISSING; f += THREADS) {
            u32* first = slots + f / MISSING * LEAVES * STRIDE;
            *operand_limb(first, LIMBS + f % MISSING) = 0;
        }
    }
}

// Returns whether x0 < x1 in their limbs below limb t.
DEVICE bool is_less(u32* x0, u32* x1, u32 t) {
    while (t-- > 0) {
        u32 limb0 = *operand_limb(x0, t), limb1 = *operand_limb(x1, t);
        if (limb0 != limb1) return limb0 < limb1;
    }
    return false;
}

// Computes |x0 − x1| of all factors at a level; negative[…] records where x0 < x1.
template <u32 LEVEL>
DEVICE void subtract_halves(u32* slots, unsigned char* negative) {
    constexpr u32 APART = power(3, LEVEL) * STRIDE, LIMBS = power(2, LEVEL) * LEAF;
    constexpr u32 FACTORS = NUMBERS * LEAVES / power(3, LEVEL + 1), OPERANDS = SQUARE ? 1 : 2;
    for (u32 task = threadIdx.x; task < FACTORS * OPERANDS * (LIMBS / RUN); task += THREADS) {
        u32 factor = task % FACTORS, operand = task / FACTORS % OPERANDS;
        u32 begin = task / (FACTORS * OPERANDS) * RUN;
        u32* x0 = slots + factor * 3 * APART + (1 - operand) * LEAF;
        u32* x1 = x0 + APART;
        u32* difference = x1 + APART;
        bool less = is_less(x0, x1, LIMBS);
        if (begin == 0) negative[operand * FACTORS + factor] = less;
        if (less) {
            u32* other = x0;
            x0 = x1, x1 = other;
        }
        u32 borrow = is_less(x0, x1, begin);
        const u32 *from0 = operand_limb(x0, begin), *from1 = operand_limb(x1, begin);
        u32* to = operand_limb(difference, begin);
#pragma unroll 2
        for (u32 q = 0; q < RUN; q += 4) {
            u32 limbs0[4], limbs1[4];
            read(limbs0, from0 + q);
            read(limbs1, from1 + q);
            sub_first(0, borrow);
#pragma unroll
            for (u32 t = 0; t < 4; t++) limbs0[t] = sub_carried(limbs0[t], limbs1[t]);
            borrow = sub_last(0, 0) & 1;
            write(to + q, limbs0);
        }
    }
}

// For LOW products, copies x0 of a and y1 of b to slot 1, x1 and y0 to slot 2.
DEVICE void cross_halves(u32* slots) {
    for (u32 task = threadIdx.x; task < NUMBERS * (LEAF / 4); task += THREADS) {
        u32* b = slots + task % NUMBERS * LEAVES * STRIDE + task / NUMBERS * 4;
        u32* a = b + LEAF;
        Quad x0 = *(Quad*)a, x1 = *(Quad*)(a + STRIDE), y0 = *(Quad*)b;
        *(Quad*)(a + STRIDE) = x0;
        *(Quad*)(a + 2 * STRIDE) = x1;
        *(Quad*)(b + 2 * STRIDE) = y0;
    }
}

// Adds the products of slots 1 and 2 to the upper half of the product in slot 0.
DEVICE void add_lows(u32* slots) {
    for (u32 number = threadIdx.x; number < NUMBERS; number += THREADS) {
        u32* slot = slots + number * LEAVES * STRIDE;
        u64 sum = 0;
#pragma unroll 2
        for (u32 q = 0; q < LEAF; q += 4) {
            u32 upper[4], low1[4], low2[4];
            read(upper, slot + LEAF + q);
            read(low1, slot + STRIDE + q);
            read(low2, slot + 2 * STRIDE + q);
#pragma unroll
            for (u32 t = 0; t < 4; t++) {
                sum += (u64)upper[t] + low1[t] + low2[t];
                upper[t] = low(sum), sum >>= 32;
            }
            write(slot + LEAF + q, upper);
        }
    }
}

// Returns where a run of a product's upper three quarters keeps its carry, in the slots of z1: run
// q of the middle in the limbs of run q; the other runs, which are RUNS or more further, next to
// those.
template <u32 RUNS>
DEVICE i32* carry_of(u32* z1, u32 q, u32 round) {
    return (i32*)product_limb(z1, q % RUNS * RUN) + q / RUNS * 2 + round % 2;
}

// Adds (z0 + z2 ∓ z1)·X to z0 + z2·X² at a level, and leaves the carries of the first round.
template <u32 LEVEL>
DEVICE void add_middles(u32* slots, const unsigned char* negative) {
    constexpr u32 APART = power(3, LEVEL) * STRIDE, LIMBS = power(2, LEVEL) * LEAF;
    constexpr u32 PRODUCTS = NUMBERS * LEAVES / power(3, LEVEL + 1), RUNS = LIMBS / RUN;
    for (u32 task = threadIdx.x; task < PRODUCTS * RUNS; task += THREADS) {
        u32 product = task % PRODUCTS, run = task / PRODUCTS;
        u32* z0 = slots + product * 3 * APART;
        u32 *z2 = z0 + APART, *z1 = z2 + APART;
        // Minus z1 is its complement plus 1, minus 2^(32·2·LIMBS).
        bool plus = SQUARE ? false : negative[product] != negative[PRODUCTS + product];
        u32 mask = plus ? 0 : 0xffffffffu;
        const u32* from0 = product_limb(z0, run * RUN);
        u32* middle0 = product_limb(z0, LIMBS + run * RUN);
        u32* middle2 = product_limb(z2, run * RUN);
        const u32* from2 = product_limb(z2, LIMBS + run * RUN);
        const u32* lower1 = product_limb(z1, run * RUN);
        const u32* upper1 = product_limb(z1, LIMBS + run * RUN);
        u64 lower = run == 0 && !plus ? 1 : 0, upper = 0;
#pragma unroll 2
        for (u32 q = 0; q < RUN; q += 4) {
            u32 low0[4], high0[4], low2[4], high2[4], low1[4], high1[4];
            read(low0, from0 + q);
            read(high0, middle0 + q);
            read(low2, middle2 + q);
            read(high2, from2 + q);
            read(low1, lower1 + q);
            read(high1, upper1 + q);
#pragma unroll
            for (u32 t = 0; t < 4; t++) {
                u64 both = (u64)high0[t] + low2[t];
                lower += both + low0[t] + (low1[t] ^ mask);
                upper += both + high2[t] + (high1[t] ^ mask);
                low0[t] = low(lower), high2[t] = low(upper);
                lower >>= 32, upper >>= 32;
            }
            write(middle0 + q, low0);
            write(middle2 + q, high2);
        }
        *carry_of<2 * RUNS>(z1, run, 0) = (i32)lower;
        *carry_of<2 * RUNS>(z1, RUNS + run, 0) = (i32)upper - (run == RUNS - 1 && !plus);
        *carry_of<2 * RUNS>(z1, 2 * RUNS + run, 0) = 0;
    }
}

// Adds the carries, which may be −1, until none is left. Carries out of a product's last run are
// dropped: the product has no more limbs.
template <u32 LEVEL>
DEVICE void add_carries(u32* slots) {
    constexpr u32 APART = power(3, LEVEL) * STRIDE, LIMBS = power(2, LEVEL) * LEAF;
    constexpr u32 PRODUCTS = NUMBERS * LEAVES / power(3, LEVEL + 1), RUNS = LIMBS / RUN;
    u32 round = 0;
    bool again;
    do {
        again = false;
        for (u32 task = threadIdx.x; task < PRODUCTS * 3 * RUNS; task += THREADS) {
            u32 product = task % PRODUCTS, q = task / PRODUCTS;
            u32* z0 = slots + product * 3 * APART;
            u32* z1 = z0 + 2 * APART;
            i32 carry = q == 0 ? 0 : *carry_of<2 * RUNS>(z1, q - 1, round);
            u32* limb = product_limb(z0, LIMBS + q * RUN);
            for (u32 t = 0; carry != 0 && t < RUN; t++) {
                i64 sum = (i64)limb[t] + carry;
                limb[t] = (u32)sum, carry = (i32)(sum >> 32);
            }
            *carry_of<2 * RUNS>(z1, q, round + 1) = carry;
            again = again || carry != 0;
        }
        round++;
    } while (__syncthreads_or(again));
}

// Computes all factors of the levels below R. The signs of a level precede those of the levels
// below it.
template <u32 R>
DEVICE void split(u32* slots, unsigned char* negative) {
    if constexpr (R > 0) {
        subtract_halves<R - 1>(slots, negative);
        __syncthreads();
        split<R - 1>(slots, negative + 2 * NUMBERS * LEAVES / power(3, R));
    }
}

template <u32 R>
DEVICE void join_products(u32* slots, const unsigned char* negative) {
    if constexpr (R > 0) {
        join_products<R - 1>(slots, negative + 2 * NUMBERS * LEAVES / power(3, R));
        add_middles<R - 1>(slots, negative);
        __syncthreads();
        add_carries<R - 1>(slots);
    }
}

// Computes the product of a slot's two operands, or its lower half, in their place.
template <bool LOWER>
DEVICE void multiply_slot(u32* slot) {
    u32 a[LEAF], b[4], done[4];
    read(a, slot + LEAF);
    auto limb_of_b = [&](u32 t) {
        if (t % 4 == 0) read(b, slot + t);
        return b[t % 4];
    };
    auto put = [&](u32 t, u32 x) {
        done[t % 4] = x;
        if (t % 4 == 3) write(slot + t - 3, done);
    };
    if constexpr (SQUARE) {
        square(a, put);
    } else if constexpr (LOWER) {
        multiply_low(a, limb_of_b, put);
    } else if constexpr (HIGH) {
        multiply_high<FIRST>(a, limb_of_b, put);
    } else {
        multiply(a, limb_of_b, put);
    }
}

// Computes LOW products of numbers in three slots each; a thread processes one slot, and a whole
// warp slots of one kind.
DEVICE void multiply_low_numbers(u32* slots) {
    static_assert(!LOW || LEVELS == 0 || (THREADS == 3 * NUMBERS && NUMBERS % 32 == 0));
    cross_halves(slots);
    __syncthreads();
    u32 digit = threadIdx.x / NUMBERS;
    u32* slot = slots + (threadIdx.x % NUMBERS * LEAVES + digit) * STRIDE;
    if (digit == 0) {
        multiply_slot<false>(slot);
    } else {
        multiply_slot<true>(slot);
    }
    __syncthreads();
    add_lows(slots);
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    karatsuba(const u32* a, const u32* b, u32* out, u64 a_stride, u64 b_stride, u32 count) {
    DYNAMIC_SHARED(u32, slots);
    unsigned char* negative = (unsigned char*)(slots + NUMBERS * LEAVES * STRIDE);
    u32 first = blockIdx.x * NUMBERS, numbers = min(count - first, (u32)NUMBERS);
    load<A_LIMBS>(slots + LEAF, a + first * a_stride, a_stride, numbers);
    if constexpr (!SQUARE) load<B_LIMBS>(slots, b + first * b_stride, b_stride, numbers);
    wait_for_copies();
    __syncthreads();
    if constexpr (LOW && LEVELS == 1) {
        multiply_low_numbers(slots);
    } else {
        split<LEVELS>(slots, negative);
        for (u32 leaf = threadIdx.x; leaf < NUMBERS * LEAVES; leaf += THREADS) {
            multiply_slot<LOW>(slots + leaf * STRIDE);
        }
        __syncthreads();
        join_products<LEVELS>(slots, negative);
    }

    constexpr u32 UNIT = unit(FIRST | OUT_LIMBS), UNITS = OUT_LIMBS / UNIT;
    Unit<UNIT>* to = (Unit<UNIT>*)(out + (u64)first * OUT_LIMBS);
    for (u32 f = threadIdx.x; f < numbers * UNITS; f += THREADS) {
        u32* number = slots + f / UNITS * LEAVES * STRIDE;
        to[f] = *(Unit<UNIT>*)product_limb(number, FIRST + f % UNITS * UNIT);
    }
}
