// Products of numbers that shared memory holds many of: LEVELS times Karatsuba's identity
//
//     (x0 + x1·X)(y0 + y1·X) = z0 + (z0 + z2 − (x0 − x1)(y0 − y1))·X + z2·X²,  z0 = x0·y0, z2 = x1·y1,
//
// then products of LEAF by LEAF limbs, one a thread. LEVELS = 0: one thread a number.
//
//   A_LIMBS, B_LIMBS   limbs of the factors; at most LEAF·2^LEVELS
//   FIRST, OUT_LIMBS   the limbs of the product that are written
//   LOW                whether they are all below LEAF (and LEVELS = 0)
//   SQUARE             whether a = b: b is not read
//   NUMBERS, THREADS   numbers and threads of a block, BLOCKS blocks of a multiprocessor
//
// A number has LEAVES = 3^LEVELS slots of 2·LEAF limbs. A slot's number has, in base 3, a digit
// for each level, the highest for the whole number: 0 low half, 1 high half, 2 difference of both.
// A slot begins as [limbs of b | limbs of a] and becomes the product. What is made of products
// stays in the slots of digits 0 and 1: limb t of a number is limb t mod 2·LEAF of slot
// spread(⌊t / (2·LEAF)⌋). Slots are an odd number of words apart: threads at the same place of
// different slots use different banks.
#include "limbs.cuh"

__host__ __device__ constexpr u32 power(u32 base, u32 e) { return e == 0 ? 1 : base * power(base, e - 1); }

constexpr u32 LEAVES = power(3, LEVELS), PIECES = power(2, LEVELS);
constexpr u32 STRIDE = 2 * LEAF + 1;

// The binary digits of q as digits in base 3.
template <u32 R = LEVELS>
DEVICE u32 spread(u32 q) {
    if constexpr (R == 0) {
        return 0;
    } else {
        return (q & 1) + 3 * spread<R - 1>(q >> 1);
    }
}

// The pieces of an operand into the slots of its number.
template <u32 LIMBS>
DEVICE void load(u32* slots, const u32* from, u64 stride, u32 numbers, u32 offset) {
    for (u32 f = threadIdx.x; f < NUMBERS * LEAF * PIECES; f += THREADS) {
        u32 number = f / (LEAF * PIECES), limb = f % (LEAF * PIECES);
        u32* to = &slots[(number * LEAVES + spread(limb / LEAF)) * STRIDE + offset + limb % LEAF];
        if (number < numbers && limb < LIMBS) {
            copy_async(to, &from[number * stride + limb]);
        } else {
            *to = 0;
        }
    }
}

// Chunk c of LEAF limbs of a number of 2^r pieces whose first slot is given.
DEVICE u32* piece_of(u32* first, u32 c) { return first + spread(c) * STRIDE; }

// Whether x0 < x1 in their lowest `pieces` pieces.
DEVICE bool is_less(u32* x0, u32* x1, u32 pieces) {
    for (u32 t = pieces * LEAF; t-- > 0;) {
        u32 u0 = piece_of(x0, t / LEAF)[t % LEAF], u1 = piece_of(x1, t / LEAF)[t % LEAF];
        if (u0 != u1) return u0 < u1;
    }
    return false;
}

// |x0 − x1| of all factors at a level, a piece at a time; below[…] tells where x0 < x1.
template <u32 LEVEL>
DEVICE void subtract_halves(u32* slots, unsigned char* below) {
    constexpr u32 UNIT = power(3, LEVEL), SPLIT = power(2, LEVEL), OPERANDS = SQUARE ? 1 : 2;
    constexpr u32 FACTORS = NUMBERS * LEAVES / (3 * UNIT);
    for (u32 task = threadIdx.x; task < FACTORS * OPERANDS * SPLIT; task += THREADS) {
        u32 factor = task % FACTORS, operand = task / FACTORS % OPERANDS;
        u32 piece = task / (FACTORS * OPERANDS);
        u32* x0 = slots + factor * 3 * UNIT * STRIDE + (1 - operand) * LEAF;
        u32* x1 = x0 + UNIT * STRIDE;
        u32* difference = piece_of(x1 + UNIT * STRIDE, piece);
        bool less = is_less(x0, x1, SPLIT);
        if (piece == 0) below[operand * FACTORS + factor] = less;
        if (less) {
            u32* other = x0;
            x0 = x1, x1 = other;
        }
        u32 borrow = is_less(x0, x1, piece);
        const u32 *u0 = piece_of(x0, piece), *u1 = piece_of(x1, piece);
        sub_first(0, borrow);
#pragma unroll
        for (u32 t = 0; t < LEAF; t++) difference[t] = sub_carried(u0[t], u1[t]);
    }
}

// Chunk c of LEAF limbs of a number made of products.
DEVICE u32* chunk_of(u32* first, u32 c) { return piece_of(first, c / 2) + c % 2 * LEAF; }

// Adds (z0 + z2 ∓ z1)·X to z0 + z2·X² at a level, a chunk of each half at a time. What is
// carried out of a chunk is left in the first limb of the same chunk of z1.
template <u32 LEVEL>
DEVICE void add_middles(u32* slots, const unsigned char* below) {
    constexpr u32 UNIT = power(3, LEVEL), SPLIT = power(2, LEVEL);
    constexpr u32 PRODUCTS = NUMBERS * LEAVES / (3 * UNIT);
    for (u32 task = threadIdx.x; task < PRODUCTS * SPLIT; task += THREADS) {
        u32 product = task % PRODUCTS, c = task / PRODUCTS;
        u32* z0 = slots + product * 3 * UNIT * STRIDE;
        u32 *z2 = z0 + UNIT * STRIDE, *z1 = z2 + UNIT * STRIDE;
        // Minus z1 is its complement and 1, less 2^(32·2·LEAF·SPLIT).
        bool plus = SQUARE ? false : below[product] != below[PRODUCTS + product];
        u32 mask = plus ? 0 : 0xffffffffu;
        const u32 *low0 = chunk_of(z0, c), *high2 = chunk_of(z2, c + SPLIT);
        u32 *high0 = chunk_of(z0, c + SPLIT), *low2 = chunk_of(z2, c);
        u32 *low1 = chunk_of(z1, c), *high1 = chunk_of(z1, c + SPLIT);
        u64 lower = c == 0 && !plus ? 1 : 0, upper = 0;
#pragma unroll 8
        for (u32 t = 0; t < LEAF; t++) {
            u64 both = (u64)high0[t] + low2[t];
            lower += both + low0[t] + (low1[t] ^ mask);
            upper += both + high2[t] + (high1[t] ^ mask);
            high0[t] = low(lower), low2[t] = low(upper);
            lower >>= 32, upper >>= 32;
        }
        *low1 = low(lower), *high1 = low(upper);
    }
}

// Adds a carry to a number of products at the beginning of a chunk, below another; returns what
// is carried there.
DEVICE u32 ripple(u32* first, u32 chunk, u32 end, u32 carry) {
    for (u32 t = chunk * LEAF; carry != 0 && t < end * LEAF; t++) {
        u32* limb = chunk_of(first, t / LEAF) + t % LEAF;
        u32 sum = *limb + carry;
        carry = sum < carry;
        *limb = sum;
    }
    return carry;
}

// What `add_middles` has carried, at the same level.
template <u32 LEVEL>
DEVICE void add_carries(u32* slots, const unsigned char* below) {
    constexpr u32 UNIT = power(3, LEVEL), SPLIT = power(2, LEVEL);
    constexpr u32 PRODUCTS = NUMBERS * LEAVES / (3 * UNIT);
    for (u32 product = threadIdx.x; product < PRODUCTS; product += THREADS) {
        u32* z0 = slots + product * 3 * UNIT * STRIDE;
        u32* z1 = z0 + 2 * UNIT * STRIDE;
        bool plus = SQUARE ? false : below[product] != below[PRODUCTS + product];
        // z0 + z2 ∓ z1 is not negative: at its end nothing is owed.
        u32 carry = plus ? 0 : 0xffffffffu;
#pragma unroll 1
        for (u32 c = 0; c < 2 * SPLIT; c++) {
            carry += ripple(z0, SPLIT + c + 1, 3 * SPLIT, *chunk_of(z1, c));
        }
        ripple(z0, 3 * SPLIT, 4 * SPLIT, carry);
    }
}

// All factors of the levels below R. The signs of a level stand before those of the levels below.
template <u32 R>
DEVICE void split(u32* slots, unsigned char* below) {
    if constexpr (R > 0) {
        subtract_halves<R - 1>(slots, below);
        __syncthreads();
        split<R - 1>(slots, below + 2 * NUMBERS * LEAVES / power(3, R));
    }
}

template <u32 R>
DEVICE void join_products(u32* slots, const unsigned char* below) {
    if constexpr (R > 0) {
        join_products<R - 1>(slots, below + 2 * NUMBERS * LEAVES / power(3, R));
        add_middles<R - 1>(slots, below);
        __syncthreads();
        add_carries<R - 1>(slots, below);
        __syncthreads();
    }
}

// The product of a slot's two operands, in their place.
DEVICE void multiply_slot(u32* slot) {
    u32 a[LEAF];
#pragma unroll
    for (u32 t = 0; t < LEAF; t++) a[t] = slot[LEAF + t];
    auto read = [&](u32 t) { return slot[t]; };
    auto put = [&](u32 t, u32 x) { slot[t] = x; };
    if constexpr (SQUARE) {
        square(a, put);
    } else if constexpr (LOW) {
        multiply_low(a, read, put);
    } else {
        multiply(a, read, put);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    karatsuba(const u32* a, const u32* b, u32* out, u64 a_stride, u64 b_stride, u32 count) {
    DYNAMIC_SHARED(u32, slots);
    unsigned char* below = (unsigned char*)(slots + NUMBERS * LEAVES * STRIDE);
    u32 first = blockIdx.x * NUMBERS, numbers = min(count - first, (u32)NUMBERS);
    load<A_LIMBS>(slots, a + first * a_stride, a_stride, numbers, LEAF);
    if constexpr (!SQUARE) load<B_LIMBS>(slots, b + first * b_stride, b_stride, numbers, 0);
    wait_for_copies();
    __syncthreads();
    split<LEVELS>(slots, below);
    for (u32 leaf = threadIdx.x; leaf < NUMBERS * LEAVES; leaf += THREADS) {
        multiply_slot(slots + leaf * STRIDE);
    }
    __syncthreads();
    join_products<LEVELS>(slots, below);
    u32* to = out + (u64)first * OUT_LIMBS;
    for (u32 f = threadIdx.x; f < numbers * OUT_LIMBS; f += THREADS) {
        u32 number = f / OUT_LIMBS, limb = FIRST + f % OUT_LIMBS;
        u32 slot = number * LEAVES + spread(limb / (2 * LEAF));
        to[f] = slots[slot * STRIDE + limb % (2 * LEAF)];
    }
}
