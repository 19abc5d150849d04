// The arithmetic of f50.cuh applied to arrays: thread i reads element i and writes result i.
#include "f50.cuh"

#define FOR_EACH(i, n)                             \
    u32 i = blockIdx.x * blockDim.x + threadIdx.x; \
    if (i >= (n)) return;

extern "C" __global__ void sums(double p, double inverse, const double* x, double* out, u32 n) {
    FOR_EACH(i, n)
    out[i] = reduce(F50{p, inverse}, x[i]);
}

extern "C" __global__ void integers(double p, double inverse, const double* x, i64* out, u32 n) {
    FOR_EACH(i, n)
    out[i] = to_integer(x[i]);
}

extern "C" __global__ void elements(double p, double inverse, const u64* x, double* out, u32 n) {
    FOR_EACH(i, n)
    out[i] = from_word(F50{p, inverse}, x[i]);
}

extern "C" __global__ void any_products(double p, double inverse, const double* a, const double* b, double* out,
                                        u32 n) {
    FOR_EACH(i, n)
    out[i] = mul(F50{p, inverse}, a[i], b[i]);
}

extern "C" __global__ void products_by_factors(double p, double inverse, const double* a, const Factor* w, double* out,
                                               u32 n) {
    FOR_EACH(i, n)
    out[i] = mul_by(F50{p, inverse}, a[i], w[i]);
}
