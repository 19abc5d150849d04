// Carry chains and ordered accesses: inline PTX, each with a portable equivalent, which the simulator
// runs.
#pragma once
#include "simt.cuh"

DEVICE u32 low(u64 x) { return (u32)x; }
DEVICE u32 high(u64 x) { return (u32)(x >> 32); }
DEVICE u64 join(u32 lo, u32 hi) { return (u64)hi << 32 | lo; }

// The largest value in a warp. If the hardware has an instruction for it, the compiler knows that the
// result is the same in all lanes.
DEVICE u32 warp_largest(u32 value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#pragma unroll
    for (u32 apart = 1; apart < 32; apart *= 2) {
        value = max(value, __shfl_xor_sync(0xffffffffu, value, apart));
    }
    return value;
#else
    return __reduce_max_sync(0xffffffffu, value);
#endif
}

// A 96-bit two's complement integer: w0 + w1·2^32 + w2·2^64, w2 signed.
struct Wide {
    u32 w0, w1, w2;
};

DEVICE Wide widen(u64 x) { return {low(x), high(x), 0}; }

// a·b + c for a·b + c < 2^64.
DEVICE u64 multiply_add_short(u32 a, u32 b, u64 c) {
#ifdef WARPINT_SIM
    return (u64)a * b + c;
#else
    u64 r;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(r) : "r"(a), "r"(b), "l"(c));
    return r;
#endif
}

// The same, for sums of several products. In such sums ptxas 13.0 splits `mad.wide` into a product and two
// additions for compute capability 9.0, but keeps this pair as one instruction.
DEVICE u64 accumulate_product(u32 a, u32 b, u64 c) {
#ifdef WARPINT_SIM
    return (u64)a * b + c;
#else
    u32 lo, hi;
    asm("mad.lo.cc.u32 %0, %2, %3, %4;\n\t"
        "madc.hi.u32 %1, %2, %3, %5;"
        : "=&r"(lo), "=&r"(hi)
        : "r"(a), "r"(b), "r"(low(c)), "r"(high(c)));
    return join(lo, hi);
#endif
}

#ifdef WARPINT_SIM

DEVICE Wide wide_of(__int128 v) { return {(u32)v, (u32)(v >> 32), (u32)(v >> 64)}; }
DEVICE __int128 value_of(Wide a) {
    return (__int128)((unsigned __int128)(__int128)(i32)a.w2 << 64) + join(a.w0, a.w1);
}

// a + b and a − b mod 2^96.
DEVICE Wide add(Wide a, Wide b) { return wide_of(value_of(a) + value_of(b)); }
DEVICE Wide sub(Wide a, Wide b) { return wide_of(value_of(a) - value_of(b)); }

// a·b + c, exact for c < 2^64; at most 2^65.
DEVICE Wide multiply_add(u32 a, u32 b, u32 c0, u32 c1) {
    return wide_of((__int128)((u64)a * b) + join(c0, c1));
}

// The 128-bit product of a and b, low word first.
DEVICE void multiply(u64 a, u64 b, u32 x[4]) {
    unsigned __int128 p = (unsigned __int128)a * b;
    for (int i = 0; i < 4; i++) x[i] = (u32)(p >> 32 * i);
}

// a·b + c − s mod 2^96 for c < 2^64.
DEVICE Wide multiply_add_sub(u32 a, u32 b, u32 c0, u32 c1, Wide s) {
    return wide_of((__int128)((u64)a * b) + join(c0, c1) - value_of(s));
}

// a·b + c1·2^32 + c0 for signed c0.
DEVICE Wide multiply_add_sum(u32 a, u32 b, u32 c0, u32 c1) {
    return wide_of((__int128)((u64)a * b) + (__int128)join(0, c1) + (i32)c0);
}

// {lo, hi} − b + (top half only) up·2^32, mod 2^64.
DEVICE u64 sub_add_high(u32 lo, u32 hi, u32 b, u32 up) {
    return join(lo, hi) - (u64)(b) + ((u64)up << 32);
}

#else

// a + b and a − b mod 2^96.
DEVICE Wide add(Wide a, Wide b) {
    Wide r;
    asm("add.cc.u32 %0, %3, %6;\n\t"
        "addc.cc.u32 %1, %4, %7;\n\t"
        "addc.u32 %2, %5, %8;"
        : "=&r"(r.w0), "=&r"(r.w1), "=&r"(r.w2)
        : "r"(a.w0), "r"(a.w1), "r"(a.w2), "r"(b.w0), "r"(b.w1), "r"(b.w2));
    return r;
}
DEVICE Wide sub(Wide a, Wide b) {
    Wide r;
    asm("sub.cc.u32 %0, %3, %6;\n\t"
        "subc.cc.u32 %1, %4, %7;\n\t"
        "subc.u32 %2, %5, %8;"
        : "=&r"(r.w0), "=&r"(r.w1), "=&r"(r.w2)
        : "r"(a.w0), "r"(a.w1), "r"(a.w2), "r"(b.w0), "r"(b.w1), "r"(b.w2));
    return r;
}

// a·b + c, exact for c < 2^64; at most 2^65. The carry is read by 0·0 + 0, on the multiplier's pipe,
// because the adder is the bottleneck of the kernels.
DEVICE Wide multiply_add(u32 a, u32 b, u32 c0, u32 c1) {
    Wide r;
    asm("mad.lo.cc.u32 %0, %3, %4, %5;\n\t"
        "madc.hi.cc.u32 %1, %3, %4, %6;\n\t"
        "madc.lo.u32 %2, 0, 0, 0;"
        : "=&r"(r.w0), "=&r"(r.w1), "=&r"(r.w2)
        : "r"(a), "r"(b), "r"(c0), "r"(c1));
    return r;
}

// The 128-bit product of a and b, low word first, in seven instructions. In C++, a·b and __umul64hi do
// not share products of words; in PTX they do. Chains of mad would need moves.
DEVICE void multiply(u64 a, u64 b, u32 x[4]) {
    asm("{\n\t"
        ".reg .u32 s0, s1, c, p1, m0, m1;\n\t"
        ".reg .u64 p, m;\n\t"
        "mul.wide.u32 p, %4, %6;\n\t"
        "mul.wide.u32 m, %5, %6;\n\t"
        "mov.b64 {%0, p1}, p;\n\t"
        "mov.b64 {m0, m1}, m;\n\t"
        "mad.lo.cc.u32 s0, %4, %7, m0;\n\t"
        "madc.hi.cc.u32 s1, %4, %7, m1;\n\t"
        "madc.lo.u32 c, 0, 0, 0;\n\t"
        "add.cc.u32 %1, p1, s0;\n\t"
        "madc.lo.cc.u32 %2, %5, %7, s1;\n\t"
        "madc.hi.u32 %3, %5, %7, c;\n\t"
        "}"
        : "=&r"(x[0]), "=&r"(x[1]), "=&r"(x[2]), "=&r"(x[3])
        : "r"(low(a)), "r"(high(a)), "r"(low(b)), "r"(high(b)));
}

// a·b + c − s mod 2^96 for c < 2^64. In this order one instruction consumes both the borrow and the
// carry, and the product is added to an existing register pair.
DEVICE Wide multiply_add_sub(u32 a, u32 b, u32 c0, u32 c1, Wide s) {
    Wide r;
    asm("{\n\t"
        ".reg .u32 d0, d1, d2;\n\t"
        "sub.cc.u32 d0, %5, %7;\n\t"
        "subc.cc.u32 d1, %6, %8;\n\t"
        "subc.u32 d2, 0, %9;\n\t"
        "mad.lo.cc.u32 %0, %3, %4, d0;\n\t"
        "madc.hi.cc.u32 %1, %3, %4, d1;\n\t"
        "addc.u32 %2, d2, 0;\n\t"
        "}"
        : "=&r"(r.w0), "=&r"(r.w1), "=&r"(r.w2)
        : "r"(a), "r"(b), "r"(c0), "r"(c1), "r"(s.w0), "r"(s.w1), "r"(s.w2));
    return r;
}

// a·b + c1·2^32 + c0 for signed c0.
DEVICE Wide multiply_add_sum(u32 a, u32 b, u32 c0, u32 c1) {
    Wide r;
    u32 sign = (u32)((i32)c0 >> 31);
    asm("{\n\t"
        ".reg .u32 d1, d2;\n\t"
        "add.cc.u32 d1, %6, %7;\n\t"
        "addc.u32 d2, %7, 0;\n\t"
        "mad.lo.cc.u32 %0, %3, %4, %5;\n\t"
        "madc.hi.cc.u32 %1, %3, %4, d1;\n\t"
        "addc.u32 %2, d2, 0;\n\t"
        "}"
        : "=&r"(r.w0), "=&r"(r.w1), "=&r"(r.w2)
        : "r"(a), "r"(b), "r"(c0), "r"(c1), "r"(sign));
    return r;
}

// {lo, hi} − b + (top half only) up·2^32, mod 2^64.
DEVICE u64 sub_add_high(u32 lo, u32 hi, u32 b, u32 up) {
    u32 r0, r1;
    asm("sub.cc.u32 %0, %2, %4;\n\t"
        "subc.u32 %1, %3, 0;"
        : "=&r"(r0), "=&r"(r1)
        : "r"(lo), "r"(hi), "r"(b));
    return join(r0, r1 + up);
}

// Accesses to a word that other blocks write or read while this one runs (simt.h has these too).
DEVICE u64 load_relaxed(const u64* p) {
    u64 v;
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}
DEVICE void store_relaxed(u64* p, u64 v) {
    asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

// Everything that a thread did before a release is visible to threads that acquire it.
DEVICE u64 load_acquire(const u64* p) {
    u64 v;
    asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
    return v;
}
DEVICE void store_release(u64* p, u64 v) {
    asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

#endif

// sums += a·b for matrices of unsigned bytes: a has 16 rows of 32, b 32 rows of 8. Let g = lane / 4 and
// t = lane % 4. A lane holds:
// - of a: rows g and g + 8 from column 4t on, then rows g and g + 8 from column 16 + 4t on;
// - of b: column g from rows 4t and 16 + 4t on;
// - of the sums: columns 2t and 2t + 1 in row g, then in row g + 8.
// All lanes of the warp must call it.
DEVICE void multiply_add_bytes(i32 (&sums)[4], const u32 (&a)[4], const u32 (&b)[2]) {
#ifdef WARPINT_SIM
    u32 lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    auto dot = [](u32 x, u32 y) {
        i32 sum = 0;
        for (u32 k = 0; k < 32; k += 8) sum += (i32)((x >> k & 255) * (y >> k & 255));
        return sum;
    };
    for (u32 i = 0; i < 4; i++) {
        u64 upper = __shfl_sync(0xffffffffu, join(a[0], a[2]), 4 * g + i);
        u64 lower = __shfl_sync(0xffffffffu, join(a[1], a[3]), 4 * g + i);
        for (u32 half = 0; half < 2; half++) {
            u64 column = __shfl_sync(0xffffffffu, join(b[0], b[1]), 8 * t + 4 * half + i);
            sums[half] += dot(low(upper), low(column)) + dot(high(upper), high(column));
            sums[2 + half] += dot(low(lower), low(column)) + dot(high(lower), high(column));
        }
    }
#elif __CUDA_ARCH__ < 800
#pragma unroll
    for (u32 i = 0; i < 4; i++) {
        asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
            : "+r"(sums[i % 2 * 2]), "+r"(sums[i % 2 * 2 + 1])
            : "r"(a[i]), "r"(b[i / 2]));
    }
#else
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// Ends a run of instructions: ptxas hardly moves instructions across it. In a long unrolled loop with several
// sums, ptxas 13.0 otherwise computes one of them last, and its operands occupy registers until then.
// `nonzero` is never 0; if it were, the kernel would end with an error.
DEVICE void end_run(u32 nonzero) {
#ifndef WARPINT_SIM
    asm volatile("{\n\t.reg .pred p;\n\tsetp.eq.u32 p, %0, 0;\n\t@p trap;\n\t}" ::"r"(nonzero));
#endif
}

// Requests the line of global memory that holds an address to be loaded into the L2 cache.
DEVICE void prefetch(const void* address) {
#ifndef WARPINT_SIM
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
}

// Copies 4, 8 or 16 bytes, with that alignment, from global to shared memory. The bytes are visible to
// the thread itself after `wait_for_copies`, and to its block after a barrier.
template <u32 BYTES>
DEVICE void copy_async(void* to, const void* from) {
#if defined(WARPINT_SIM) || __CUDA_ARCH__ < 800
    struct __align__(BYTES) Words {
        u32 words[BYTES / 4];
    };
    *(Words*)to = *(const Words*)from;
#else
    u32 address = (u32)__cvta_generic_to_shared(to);
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address), "l"(from), "n"(BYTES)
                 : "memory");
#endif
}
DEVICE void wait_for_copies() {
#if !defined(WARPINT_SIM) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
