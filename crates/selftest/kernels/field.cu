// The arithmetic of goldilocks.cuh and dft.cuh applied to arrays: thread i reads element i and
// writes result i.
#include "dft.cuh"

#define FOR_EACH(i, n)                               \
    u32 i = blockIdx.x * blockDim.x + threadIdx.x; \
    if (i >= (n)) return;

// Computes a·b, narrow and corrected.
extern "C" __global__ void products(const u64* a, const u64* b, Wide* narrow, u64* lazy, u32 n) {
    FOR_EACH(i, n)
    narrow[i] = mul(a[i], b[i]);
    lazy[i] = correct(mul(a[i], b[i]));
}

// Computes m·w + c, wide and corrected.
extern "C" __global__ void word_products(const u32* m, const u64* w, const u64* c, Wide* wide, u64* lazy, u32 n) {
    FOR_EACH(i, n)
    wide[i] = mul_word(m[i], w[i], c[i]);
    lazy[i] = correct_positive(mul_word(m[i], w[i], c[i]));
}

extern "C" __global__ void nearest_integers(const Wide* v, i64* out, u32 n) {
    FOR_EACH(i, n)
    out[i] = nearest(v[i]);
}

extern "C" __global__ void corrected(const Wide* v, u64* out, u32 n) {
    FOR_EACH(i, n)
    out[i] = correct(v[i]);
}

extern "C" __global__ void corrected_positive(const Wide* v, u64* out, u32 n) {
    FOR_EACH(i, n)
    out[i] = correct_positive(v[i]);
}

extern "C" __global__ void reduced(const Wide* v, u64* out, u32 n) {
    FOR_EACH(i, n)
    out[i] = reduce(v[i]);
}

extern "C" __global__ void folded(const Wide* v, Wide* out, u32 n) {
    FOR_EACH(i, n)
    out[i] = fold(v[i]);
}

// Computes v + k·q for the k that transforms use.
extern "C" __global__ void biases(const Wide* v, Wide* out, u32 n) {
    FOR_EACH(i, n)
    out[3 * i] = biased<16>(v[i]);
    out[3 * i + 1] = biased<32>(v[i]);
    out[3 * i + 2] = biased<4096>(v[i]);
}

// Computes v·2^s for 0 ≤ s < 96.
extern "C" __global__ void powers(const Wide* v, Wide* out, u32 n) {
    FOR_EACH(i, n)
    unrolled<0, 96>([&](auto s) { out[96 * i + VALUE(s)] = times_power<VALUE(s)>(v[i]); });
}
extern "C" __global__ void positive_powers(const Wide* v, Wide* out, u32 n) {
    FOR_EACH(i, n)
    unrolled<0, 96>([&](auto s) { out[96 * i + VALUE(s)] = positive_times_power<VALUE(s)>(v[i]); });
}

template <int points>
DEVICE void transforms(const Wide* v, Wide* out, u32 n) {
    FOR_EACH(i, n)
    Wide x[points];
    unrolled<0, points>([&](auto j) { x[VALUE(j)] = v[points * i + VALUE(j)]; });
    dft<points>(x);
    unrolled<0, points>([&](auto k) { out[points * i + VALUE(k)] = x[VALUE(k)]; });
}

extern "C" __global__ void dft_of_2(const Wide* v, Wide* out, u32 n) { transforms<2>(v, out, n); }
extern "C" __global__ void dft_of_4(const Wide* v, Wide* out, u32 n) { transforms<4>(v, out, n); }
extern "C" __global__ void dft_of_8(const Wide* v, Wide* out, u32 n) { transforms<8>(v, out, n); }
extern "C" __global__ void dft_of_16(const Wide* v, Wide* out, u32 n) { transforms<16>(v, out, n); }
extern "C" __global__ void dft_of_32(const Wide* v, Wide* out, u32 n) { transforms<32>(v, out, n); }
