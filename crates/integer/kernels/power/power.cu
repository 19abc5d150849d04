// Computes x^e mod m, one thread per number, by Montgomery's products (Montgomery 1985) and windows
// of WINDOW bits.
//
//   X_LIMBS, E_LIMBS, M_LIMBS   limbs of the operands; X_LIMBS ≤ LIMBS, M_LIMBS ≤ LIMBS
//   LIMBS     a multiple of 4
//   WINDOW    bits of the exponent for each product
//   THREADS   of a block, BLOCKS blocks per multiprocessor; a block has many numbers, one after the other
//
// With B = 2^32 and R = B^LIMBS, m = 2^k·o, o odd. A number y is represented by any number below R
// congruent to y·R modulo o. a·b/R modulo o is (a·b + q·o)/R with q = −a·b/o mod R, which is less
// than R + o; o is subtracted if a carry occurs. If k > 0, x^e modulo 2^(32·LIMBS) is computed by
// truncated squares and products, and with y = x^e mod o the result is y + o·((x^e − y)/o mod 2^k).
//
// `raised` has 2^(64·LIMBS) mod m for each number.
#include "exponent.cuh"
#include "limbs.cuh"
#include "quad.cuh"

// A thread's shared memory holds o, and a product whose lower half is a factor at first. It has an
// odd number of quads of words, so that the same quads of eight threads are in different banks.
constexpr u32 PLACES = 3 * LIMBS % 8 == 4 ? 3 * LIMBS : 3 * LIMBS + 4;

// Loads a number of COUNT limbs, extended by zeros.
template <u32 COUNT>
DEVICE void load(u32 (&x)[LIMBS], const u32* from) {
#pragma unroll
    for (u32 t = 0; t < LIMBS; t++) x[t] = t < COUNT ? from[t] : 0;
}

// Subtracts y from x if the result is not negative.
DEVICE void subtract_once(u32 (&x)[LIMBS], const u32 (&y)[LIMBS]) {
    u32 less[LIMBS];
    less[0] = sub_first(x[0], y[0]);
#pragma unroll
    for (u32 t = 1; t < LIMBS; t++) less[t] = sub_carried(x[t], y[t]);
    bool is_less = sub_last(0, 0) != 0;
    if (!is_less) {
#pragma unroll
        for (u32 t = 0; t < LIMBS; t++) x[t] = less[t];
    }
}

// The memory and constants of a thread.
struct Work {
    u32 *modulus, *product;
    // −1/o mod B.
    u32 inverse;

    // Receives limb t of a product; reads limb t of the preceding factor.
    DEVICE u32 factor(u32 t, u32 (&quad)[4]) const {
        if (t % 4 == 0) {
            Quad from = *(const Quad*)(product + t);
#pragma unroll
            for (u32 i = 0; i < 4; i++) quad[i] = from.limbs[i];
        }
        return quad[t % 4];
    }
    DEVICE void put(u32 t, u32 x, u32 (&quad)[4]) const {
        quad[t % 4] = x;
        if (t % 4 == 3) *(Quad*)(product + t - 3) = {{quad[0], quad[1], quad[2], quad[3]}};
    }

    DEVICE void make_square(const u32 (&a)[LIMBS]) const {
        u32 done[4];
        square(a, [&](u32 t, u32 x) { put(t, x, done); });
    }
    DEVICE void make_product(const u32 (&a)[LIMBS]) const {
        u32 done[4], b[4];
        multiply(a, [&](u32 t) { return factor(t, b); }, [&](u32 t, u32 x) { put(t, x, done); });
    }
    // Moves the product mod R to x.
    DEVICE void low_product(u32 (&x)[LIMBS], const u32 (&a)[LIMBS]) const {
        u32 done[4], b[4];
        multiply_low(a, [&](u32 t) { return factor(t, b); }, [&](u32 t, u32 y) { put(t, y, done); });
        read(x, product);
    }

    // Computes the product divided by R, modulo o, below R. After rows 0 … i of q·o, one limb of q
    // each, their sum with the lower half of the product is less than B^(i + 1 + LIMBS): the bound
    // of limbs.cuh.
    DEVICE void reduce(u32 (&x)[LIMBS]) const {
        u32 o[LIMBS];
        read(o, modulus);
        read(x, product);
        Sums<LIMBS> sums;
        sums.clear();
#pragma unroll
        for (u32 t = 0; t < LIMBS; t++) sums.words[0][t] = x[t];
#pragma unroll
        for (u32 i = 0; i < LIMBS; i++) {
            u32 lowest = sums.words[0][0];
            if (i > 0) {
                sums.first_sum(i - 1);
                lowest = sums.next_sum(i);
            }
            u32 q = lowest * inverse;
            if (LIMBS > 16 && i > 0) q = when_known(q, sums.words[(i + 1) % 2][i + LIMBS - 1]);
            if (i > 0) sums.first_sum(i - 1);
            sums.add_chain(o, q, i, 0, LIMBS, i > 0);
            sums.add_chain(o, q, i, 1, LIMBS, false);
        }
        sums.first_sum(LIMBS - 1);
#pragma unroll
        for (u32 t = 0; t < LIMBS; t++) x[t] = sums.next_sum(LIMBS + t);
        u32 upper[LIMBS];
        read(upper, product + LIMBS);
        x[0] = add_first(x[0], upper[0]);
#pragma unroll
        for (u32 t = 1; t < LIMBS; t++) x[t] = add_carried(x[t], upper[t]);
        bool is_too_much = add_last(0, 0) != 0;
        if (is_too_much) {
            x[0] = sub_first(x[0], o[0]);
#pragma unroll
            for (u32 t = 1; t < LIMBS; t++) x[t] = sub_carried(x[t], o[t]);
        }
    }
};

// The data of a thread's number.
struct Number {
    const u32 *x, *e, *m, *raised;
    // ENTRIES numbers of LIMBS limbs.
    u32* table;
    // m = 2^zeros·o.
    u32 zeros;
};

DEVICE void set_one(u32 (&x)[LIMBS]) {
#pragma unroll
    for (u32 t = 0; t < LIMBS; t++) x[t] = t == 0 ? 1 : 0;
}

// Computes x^e mod o, from the windows of the lowest `bits` bits of e. The table has the powers x^0
// … x^(ENTRIES − 1) times R.
DEVICE void power_of_odd(u32 (&a)[LIMBS], const Work& work, const Number& n, u32 bits) {
    u32 windows = (bits + WINDOW - 1) / WINDOW, last = ENTRIES + windows;
#pragma unroll 1
    for (u32 step = 0; step <= last; step++) {
        u32 factor[LIMBS];
        bool is_window = step >= ENTRIES && step < last;
        if (step < 2) load<M_LIMBS>(a, n.raised);
        if (step == ENTRIES) read(a, n.table);
#pragma unroll 1
        for (u32 k = is_window && step > ENTRIES ? WINDOW : 0;; k--) {
            if (k > 0) {
                work.make_square(a);
            } else {
                if (step == 0 || step == last) {
                    set_one(factor);
                } else if (step == 1) {
                    load<X_LIMBS>(factor, n.x);
                } else {
                    u32 entry = is_window ? window(n.e, (last - 1 - step) * WINDOW) : 1;
                    read(factor, n.table + entry * LIMBS);
                }
                write(work.product, factor);
                work.make_product(a);
            }
            work.reduce(a);
            if (k == 0) break;
        }
        if (step < ENTRIES) write(n.table + step * LIMBS, a);
    }
    u32 o[LIMBS];
    read(o, work.modulus);
    subtract_once(a, o);
}

// Computes x^e mod m from y = x^e mod o.
DEVICE void add_multiple(u32 (&a)[LIMBS], const Work& work, const Number& n, u32 bits) {
    u32 other[LIMBS];
    write(n.table, a);
    set_one(a);
#pragma unroll 1
    for (u32 step = 2 * bits; step-- > 0;) {
        if (step % 2 == 1) {
            write(work.product, a);
        } else if (n.e[step / 64] >> step / 2 % 32 & 1) {
            load<X_LIMBS>(other, n.x);
            write(work.product, other);
        } else {
            set_one(other);
            write(work.product, other);
        }
        work.low_product(a, a);
    }
    // (x^e − y)/o, with 1/o mod B^i lifted to mod B^2i by v ← v·(2 − o·v).
    read(other, n.table);
    a[0] = sub_first(a[0], other[0]);
#pragma unroll
    for (u32 t = 1; t < LIMBS; t++) a[t] = sub_carried(a[t], other[t]);
    write(n.table, a);
    write(n.table + LIMBS, other);
    set_one(a);
    a[0] = 0u - work.inverse;
#pragma unroll 1
    for (u32 known = 1; known < LIMBS; known *= 2) {
        write(work.product, a);
        write(n.table + 2 * LIMBS, a);
        read(other, work.modulus);
        work.low_product(a, other);
        a[0] = sub_first(2, a[0]);
#pragma unroll
        for (u32 t = 1; t < LIMBS; t++) a[t] = sub_carried(0, a[t]);
        read(other, n.table + 2 * LIMBS);
        write(work.product, other);
        work.low_product(a, a);
    }
    read(other, n.table);
    write(work.product, other);
    work.low_product(a, a);
#pragma unroll
    for (u32 t = 0; t < LIMBS; t++) {
        u32 kept = n.zeros > 32 * t ? n.zeros - 32 * t : 0;
        if (kept < 32) a[t] &= (1u << kept) - 1;
    }
    read(other, work.modulus);
    write(work.product, other);
    work.low_product(a, a);
    read(other, n.table + LIMBS);
    a[0] = add_first(a[0], other[0]);
#pragma unroll
    for (u32 t = 1; t < LIMBS; t++) a[t] = add_carried(a[t], other[t]);
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    power(const u32* x, const u32* e, const u32* m, const u32* raised, u32* out, unsigned char* is_zero,
          u32* tables, u64 x_stride, u64 e_stride, u64 m_stride, u64 raised_stride, u32 count) {
    DYNAMIC_SHARED(u32, places);
    u32 thread = blockIdx.x * THREADS + threadIdx.x;
    u32* mine = places + threadIdx.x * PLACES;
    u32* table = tables + (u64)thread * ENTRIES * LIMBS;
    // Whole warps stay together.
    for (u64 begin = thread / 32 * 32; begin < count; begin += gridDim.x * THREADS) {
        u64 number = begin + thread % 32, i = min(number, (u64)count - 1);
        Number n = {x + i * x_stride, e + i * e_stride, m + i * m_stride, raised + i * raised_stride, table, 0};
        u32 limb = 0;
        while (limb < M_LIMBS && n.m[limb] == 0) limb++;
        bool by_zero = limb == M_LIMBS;
        n.zeros = by_zero ? 0 : 32 * limb + __ffs(n.m[limb]) - 1;
        u32 a[LIMBS];
#pragma unroll
        for (u32 t = 0; t < LIMBS; t++) {
            u32 at = t + limb, lower = at < M_LIMBS ? n.m[at] : 0, upper = at + 1 < M_LIMBS ? n.m[at + 1] : 0;
            a[t] = by_zero ? t == 0 : __funnelshift_r(lower, upper, n.zeros % 32);
        }
        write(mine, a);
        // Correct in 3 bits, then in 6, 12, 24, 48.
        u32 inverse = a[0];
#pragma unroll
        for (u32 t = 0; t < 4; t++) inverse *= 2 - a[0] * inverse;
        Work work = {mine, mine + LIMBS, 0u - inverse};
        u32 bits = warp_largest(bit_length(n.e, E_LIMBS));
        power_of_odd(a, work, n, bits);
        if (__any_sync(0xffffffffu, n.zeros > 0)) add_multiple(a, work, n, bits);
        if (number < count) {
#pragma unroll
            for (u32 t = 0; t < M_LIMBS; t++) out[number * M_LIMBS + t] = by_zero ? 0 : a[t];
            if (is_zero) is_zero[number] = by_zero;
        }
    }
}
