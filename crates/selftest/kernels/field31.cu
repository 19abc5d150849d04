// The arithmetic of m31.cuh applied to arrays: thread i reads element i and writes result i.
#include "m31.cuh"

#define FOR_EACH(i, n)                               \
    u32 i = blockIdx.x * blockDim.x + threadIdx.x; \
    if (i >= (n)) return;

// Computes a + b, a − b, the product of a by doubled b, and a².
extern "C" __global__ void operations(const Gauss* a, const Gauss* b, Gauss* out, u32 n) {
    FOR_EACH(i, n)
    out[4 * i] = add(a[i], b[i]);
    out[4 * i + 1] = sub(a[i], b[i]);
    out[4 * i + 2] = mul(a[i], doubled(b[i]));
    out[4 * i + 3] = square(a[i]);
}

// Computes a·2^k for 0 ≤ k < 31.
extern "C" __global__ void rotations(const Gauss* a, Gauss* out, u32 n) {
    FOR_EACH(i, n)
    for (u32 k = 0; k < 31; k++) out[31 * i + k] = {rotate31(a[i].re, k), rotate31(a[i].im, k)};
}

template <int points>
DEVICE void transforms(const Gauss* a, Gauss* out, u32 n) {
    FOR_EACH(i, n)
    Gauss x[points], y[points];
    unrolled<0, points>([&](auto j) { x[VALUE(j)] = y[VALUE(j)] = a[points * i + VALUE(j)]; });
    transform31<points, 1>(x);
    transform31<points, -1>(y);
    unrolled<0, points>([&](auto k) {
        out[2 * points * i + VALUE(k)] = x[place_of31(points, VALUE(k))];
        out[2 * points * i + points + VALUE(k)] = y[place_of31(points, VALUE(k))];
    });
}

extern "C" __global__ void dft31_of_2(const Gauss* a, Gauss* out, u32 n) { transforms<2>(a, out, n); }
extern "C" __global__ void dft31_of_3(const Gauss* a, Gauss* out, u32 n) { transforms<3>(a, out, n); }
extern "C" __global__ void dft31_of_7(const Gauss* a, Gauss* out, u32 n) { transforms<7>(a, out, n); }
extern "C" __global__ void dft31_of_8(const Gauss* a, Gauss* out, u32 n) { transforms<8>(a, out, n); }
extern "C" __global__ void dft31_of_9(const Gauss* a, Gauss* out, u32 n) { transforms<9>(a, out, n); }
extern "C" __global__ void dft31_of_12(const Gauss* a, Gauss* out, u32 n) { transforms<12>(a, out, n); }
extern "C" __global__ void dft31_of_14(const Gauss* a, Gauss* out, u32 n) { transforms<14>(a, out, n); }
extern "C" __global__ void dft31_of_16(const Gauss* a, Gauss* out, u32 n) { transforms<16>(a, out, n); }
