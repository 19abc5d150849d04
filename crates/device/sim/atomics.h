// Atomics and fences. As on the GPU, an atomic operation alone orders nothing: a value is handed over
// only if a __threadfence() precedes the write and another one follows the read that saw it. The thread
// sanitizer checks this (memory_order.cpp). In all other builds one OS thread runs everything in
// program order.
#pragma once

namespace simt {

#if !defined(SIMT_TSAN)
inline void atomic_read(const volatile void*) {}
inline void atomic_write(const volatile void*) {}
inline void fence() { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
#endif

template <class T, class Change>
inline T atomic_change(T* address, Change change) {
    atomic_write(address);
    T old = __atomic_load_n(address, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(address, &old, change(old), false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
    }
    atomic_read(address);
    return old;
}

}  // namespace simt

#define SIMT_ATOMIC(name, builtin, type)                                \
    inline type name(type* address, type value) {                       \
        simt::atomic_write(address);                                    \
        type old = builtin(address, value, __ATOMIC_RELAXED);           \
        simt::atomic_read(address);                                     \
        return old;                                                     \
    }

#define SIMT_ATOMIC_EXTREME(name, better, type)                         \
    inline type name(type* address, type value) {                       \
        return simt::atomic_change(address, [value](type old) {         \
            return value better old ? value : old;                      \
        });                                                             \
    }

#define SIMT_ATOMICS(type)                                              \
    SIMT_ATOMIC(atomicAdd, __atomic_fetch_add, type)                    \
    SIMT_ATOMIC(atomicSub, __atomic_fetch_sub, type)                    \
    SIMT_ATOMIC(atomicAnd, __atomic_fetch_and, type)                    \
    SIMT_ATOMIC(atomicOr, __atomic_fetch_or, type)                      \
    SIMT_ATOMIC(atomicXor, __atomic_fetch_xor, type)                    \
    SIMT_ATOMIC(atomicExch, __atomic_exchange_n, type)                  \
    SIMT_ATOMIC_EXTREME(atomicMin, <, type)                             \
    SIMT_ATOMIC_EXTREME(atomicMax, >, type)                             \
    inline type atomicCAS(type* address, type expected, type value) {   \
        simt::atomic_write(address);                                    \
        __atomic_compare_exchange_n(address, &expected, value, false,   \
                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
        simt::atomic_read(address);                                     \
        return expected;                                                \
    }

SIMT_ATOMICS(int)
SIMT_ATOMICS(unsigned)
SIMT_ATOMICS(long long)
SIMT_ATOMICS(unsigned long long)

#undef SIMT_ATOMICS
#undef SIMT_ATOMIC_EXTREME
#undef SIMT_ATOMIC

inline double atomicAdd(double* address, double value) {
    unsigned long long* bits = reinterpret_cast<unsigned long long*>(address);
    unsigned long long old = simt::atomic_change(bits, [value](unsigned long long old) {
        double sum;
        __builtin_memcpy(&sum, &old, 8);
        sum += value;
        unsigned long long changed;
        __builtin_memcpy(&changed, &sum, 8);
        return changed;
    });
    double before;
    __builtin_memcpy(&before, &old, 8);
    return before;
}

inline void __threadfence() { simt::fence(); }
inline void __threadfence_block() { simt::fence(); }
inline void __threadfence_system() { simt::fence(); }

// Relaxed accesses: without fences they order nothing.
template <class T>
inline void store_relaxed(T* address, T value) {
    simt::atomic_write(address);
    __atomic_store_n(address, value, __ATOMIC_RELAXED);
}
template <class T>
inline T load_relaxed(const T* address) {
    T value = __atomic_load_n(address, __ATOMIC_RELAXED);
    simt::atomic_read(address);
    return value;
}

// Everything that the writer did before store_release is visible after the load_acquire that reads its
// value.
template <class T>
inline void store_release(T* address, T value) {
    __atomic_store_n(address, value, __ATOMIC_RELEASE);
}
template <class T>
inline T load_acquire(const T* address) {
    return __atomic_load_n(address, __ATOMIC_ACQUIRE);
}
