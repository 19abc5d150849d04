// CUDA's scalar functions: integers, bits, correctly rounded doubles.
#pragma once

extern "C" void* memcpy(void*, const void*, size_t);
extern "C" void* memset(void*, int, size_t);

inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>((static_cast<simt_u64>(a) * b) >> 32);
}
inline int __mulhi(int a, int b) {
    return static_cast<int>((static_cast<long long>(a) * b) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return static_cast<unsigned long long>((static_cast<unsigned __int128>(a) * b) >> 64);
}
inline long long __mul64hi(long long a, long long b) {
    return static_cast<long long>((static_cast<__int128>(a) * b) >> 64);
}

inline int __clz(unsigned x) { return x == 0 ? 32 : __builtin_clz(x); }
inline int __clzll(unsigned long long x) { return x == 0 ? 64 : __builtin_clzll(x); }
inline int __ffs(unsigned x) { return __builtin_ffs(static_cast<int>(x)); }
inline int __ffsll(unsigned long long x) { return __builtin_ffsll(static_cast<long long>(x)); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }

inline unsigned __brev(unsigned x) {
    x = __builtin_bswap32(x);
    x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
    x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
    return ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
}
inline unsigned long long __brevll(unsigned long long x) {
    return (static_cast<simt_u64>(__brev(static_cast<unsigned>(x))) << 32) |
           __brev(static_cast<unsigned>(x >> 32));
}

// Byte i of the result is byte (selector >> 4i) & 7 of y:x. If bit 3 of (selector >> 4i)
// is set, all eight bits of byte i are copies of that byte's sign.
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    simt_u64 bytes = (static_cast<simt_u64>(y) << 32) | x;
    unsigned result = 0;
    for (int i = 0; i < 4; i++) {
        unsigned choice = (selector >> (4 * i)) & 15;
        unsigned byte = (bytes >> (8 * (choice & 7))) & 0xff;
        if (choice & 8) byte = byte & 0x80 ? 0xff : 0;
        result |= byte << (8 * i);
    }
    return result;
}

// Shifts hi:lo and returns the upper word (`_l`) or the lower word (`_r`). The shift is reduced mod 32
// without `c`, and limited to 32 with `c`.
inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
    return static_cast<unsigned>((((static_cast<simt_u64>(hi) << 32) | lo) << (shift & 31)) >> 32);
}
inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
    return static_cast<unsigned>(((static_cast<simt_u64>(hi) << 32) | lo) >> (shift & 31));
}
inline unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned shift) {
    return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}
inline unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned shift) {
    return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}

// Loads and stores with cache hints, which have no effect here.
template <class T> inline T __ldg(const T* address) { return *address; }
template <class T> inline T __ldcg(const T* address) { return *address; }
template <class T> inline T __ldca(const T* address) { return *address; }
template <class T> inline T __ldcs(const T* address) { return *address; }
template <class T> inline T __ldlu(const T* address) { return *address; }
template <class T> inline T __ldcv(const T* address) { return *address; }
template <class T> inline void __stwb(T* address, T value) { *address = value; }
template <class T> inline void __stcg(T* address, T value) { *address = value; }
template <class T> inline void __stcs(T* address, T value) { *address = value; }
template <class T> inline void __stwt(T* address, T value) { *address = value; }

// Asynchronous copies to shared memory are executed at once.
inline void __pipeline_memcpy_async(void* to, const void* from, size_t bytes, size_t zeros = 0) {
    __builtin_memcpy(to, from, bytes - zeros);
    __builtin_memset(static_cast<char*>(to) + (bytes - zeros), 0, zeros);
}
inline void __pipeline_commit() {}
inline void __pipeline_wait_prior(size_t) {}

inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fabs(double a) { return __builtin_fabs(a); }
inline double floor(double a) { return __builtin_floor(a); }
inline double ceil(double a) { return __builtin_ceil(a); }
inline double trunc(double a) { return __builtin_trunc(a); }
inline double rint(double a) { return __builtin_rint(a); }
inline double sqrt(double a) { return __builtin_sqrt(a); }
inline double fmin(double a, double b) { return __builtin_fmin(a, b); }
inline double fmax(double a, double b) { return __builtin_fmax(a, b); }
inline double ldexp(double a, int e) { return __builtin_ldexp(a, e); }
inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __dsqrt_rn(double a) { return __builtin_sqrt(a); }

inline long long __double2ll_rn(double a) { return __builtin_llrint(a); }
inline int __double2int_rn(double a) { return static_cast<int>(__builtin_llrint(a)); }
inline long long __double2ll_rz(double a) { return static_cast<long long>(a); }
inline int __double2int_rz(double a) { return static_cast<int>(a); }
inline double __ll2double_rn(long long a) { return static_cast<double>(a); }
inline double __ull2double_rn(unsigned long long a) { return static_cast<double>(a); }
inline double __int2double_rn(int a) { return a; }
inline double __uint2double_rn(unsigned a) { return a; }

inline long long __double_as_longlong(double a) {
    long long bits;
    __builtin_memcpy(&bits, &a, 8);
    return bits;
}
inline double __longlong_as_double(long long bits) {
    double a;
    __builtin_memcpy(&a, &bits, 8);
    return a;
}
inline int __double2hiint(double a) { return static_cast<int>(__double_as_longlong(a) >> 32); }
inline int __double2loint(double a) { return static_cast<int>(__double_as_longlong(a)); }
inline double __hiloint2double(int high, int low) {
    return __longlong_as_double(static_cast<long long>(
        (static_cast<simt_u64>(static_cast<unsigned>(high)) << 32) | static_cast<unsigned>(low)));
}

#define SIMT_EXTREMES(type)                                     \
    inline type min(type a, type b) { return b < a ? b : a; }   \
    inline type max(type a, type b) { return a < b ? b : a; }
SIMT_EXTREMES(int)
SIMT_EXTREMES(unsigned)
SIMT_EXTREMES(long long)
SIMT_EXTREMES(unsigned long long)
#undef SIMT_EXTREMES
inline double min(double a, double b) { return __builtin_fmin(a, b); }
inline double max(double a, double b) { return __builtin_fmax(a, b); }
inline int abs(int a) { return a < 0 ? -a : a; }
inline long long llabs(long long a) { return a < 0 ? -a : a; }
inline double abs(double a) { return __builtin_fabs(a); }
