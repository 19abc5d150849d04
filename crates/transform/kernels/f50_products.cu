// Products of the points of vectors modulo primes below 2^50. Points of a vector are contiguous, vectors are
// `stride` words apart; threads with the same blockIdx.x run through `batch` vectors. blockIdx.z is the prime.
//
//   THREADS   threads of a block
#include "f50.cuh"

// What `f50_pass.cu` multiplies by; here only f counts.
struct Constants {
    F50 f;
    Factor scale;
};

// Calls f(word) for the words of point `point` of all vectors of the prime.
template <class F>
DEVICE void each_vector(u64 point, u64 length, u64 stride, u32 batch, F f) {
    if (point >= length) return;
    const u64 first = (u64)blockIdx.z * batch;
    for (u32 vector = blockIdx.y; vector < batch; vector += gridDim.y) f((first + vector) * stride + point);
}

// a ← a·b, for elements within p; results are within p.
extern "C" __global__ void __launch_bounds__(THREADS)
f50_multiply(double* a, const double* b, u64 length, u64 stride, u32 batch, const Constants* __restrict__ constants) {
    const F50 f = constants[blockIdx.z].f;
    each_vector((u64)blockIdx.x * THREADS + threadIdx.x, length, stride, batch,
                [&](u64 at) { a[at] = mul(f, a[at], b[at]); });
}

// x_j ← x_j·ψ^j for elements within p, where low and high contain ψ^e and ψ^(e·2^log_low) of each prime, ψ of
// order 2·length; results are from 0 to p − 1.
extern "C" __global__ void __launch_bounds__(THREADS)
f50_twist(double* x, const double* __restrict__ low, const double* __restrict__ high, u64 length, u64 stride,
          u32 batch, u32 log_low, const Constants* __restrict__ constants) {
    const u64 j = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (j >= length) return;
    const F50 f = constants[blockIdx.z].f;
    low += (u64)blockIdx.z << log_low;
    high += blockIdx.z * ((2 * length - 1 >> log_low) + 1);
    const double factor = mul(f, low[j & ((1ull << log_low) - 1)], high[j >> log_low]);
    each_vector(j, length, stride, batch, [&](u64 at) {
        const double r = mul(f, x[at], factor);
        x[at] = r < 0.0 ? r + f.p : r;
    });
}
