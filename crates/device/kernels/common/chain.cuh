// Carry chains: instructions that pass a carry (or a borrow) on to the next one. A function without
// `carried` in its name begins a chain. Code between the links of a chain must not change the carry
// flag; code in plain C++ does not.
#pragma once
#include "ptx.cuh"

#ifdef WARPINT_SIM

// Threads are switched at barriers only, never within a chain. Atomic for ThreadSanitizer, which treats
// fibers as threads that run concurrently.
static u32 CHAIN_CARRY;

DEVICE u32 chain_carry() { return __atomic_load_n(&CHAIN_CARRY, __ATOMIC_RELAXED); }
DEVICE void chain_hand_on(u32 carry) { __atomic_store_n(&CHAIN_CARRY, carry, __ATOMIC_RELAXED); }

DEVICE u32 chain_link(u64 sum) {
    chain_hand_on((u32)(sum >> 32) & 1);
    return (u32)sum;
}
DEVICE u32 add_first(u32 a, u32 b) { return chain_link((u64)a + b); }
DEVICE u32 add_carried(u32 a, u32 b) { return chain_link((u64)a + b + chain_carry()); }
DEVICE u32 add_last(u32 a, u32 b) { return a + b + chain_carry(); }
DEVICE u32 sub_first(u32 a, u32 b) { return chain_link((u64)a - b); }
DEVICE u32 sub_carried(u32 a, u32 b) { return chain_link((u64)a - b - chain_carry()); }
DEVICE u32 sub_last(u32 a, u32 b) { return a - b - chain_carry(); }

DEVICE void chain_product(u32& lo, u32& hi, u32 a, u32 b, u32 carry) {
    unsigned __int128 t = (unsigned __int128)((u64)a * b) + join(lo, hi) + carry;
    lo = (u32)t, hi = (u32)(t >> 32), chain_hand_on((u32)(t >> 64));
}
DEVICE void multiply_add_first(u32& lo, u32& hi, u32 a, u32 b) { chain_product(lo, hi, a, b, 0); }
DEVICE void multiply_add_carried(u32& lo, u32& hi, u32 a, u32 b) {
    chain_product(lo, hi, a, b, chain_carry());
}

#else

// add_first: a + b. add_carried: a + b + carry. add_last: a + b + carry, without passing a carry
// on. The functions sub_…: a − b, with a borrow in place of the carry.
DEVICE u32 add_first(u32 a, u32 b) {
    u32 r;
    asm volatile("add.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
DEVICE u32 add_carried(u32 a, u32 b) {
    u32 r;
    asm volatile("addc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
DEVICE u32 add_last(u32 a, u32 b) {
    u32 r;
    asm volatile("addc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
DEVICE u32 sub_first(u32 a, u32 b) {
    u32 r;
    asm volatile("sub.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
DEVICE u32 sub_carried(u32 a, u32 b) {
    u32 r;
    asm volatile("subc.cc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}
DEVICE u32 sub_last(u32 a, u32 b) {
    u32 r;
    asm volatile("subc.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    return r;
}

// multiply_add_first: {lo, hi} += a·b. multiply_add_carried: {lo, hi} += a·b + carry. Each is one
// instruction if lo and hi are a register pair.
DEVICE void multiply_add_first(u32& lo, u32& hi, u32 a, u32 b) {
    asm volatile("mad.lo.cc.u32 %0, %2, %3, %0;\n\t"
                 "madc.hi.cc.u32 %1, %2, %3, %1;"
                 : "+r"(lo), "+r"(hi)
                 : "r"(a), "r"(b));
}
DEVICE void multiply_add_carried(u32& lo, u32& hi, u32 a, u32 b) {
    asm volatile("madc.lo.cc.u32 %0, %2, %3, %0;\n\t"
                 "madc.hi.cc.u32 %1, %2, %3, %1;"
                 : "+r"(lo), "+r"(hi)
                 : "r"(a), "r"(b));
}

#endif
