// Products of the points of vectors modulo 2^64 − 2^32 + 1. Points of a vector are contiguous, vectors are
// `stride` words apart; threads with the same blockIdx.x run through `batch` vectors.
//
//   THREADS   threads of a block
#include "goldilocks.cuh"

// Calls f(word) for the words of point `point` of all vectors.
template <class F>
DEVICE void each_vector(u64 point, u64 length, u64 stride, u32 batch, F f) {
    if (point >= length) return;
    for (u32 vector = blockIdx.y; vector < batch; vector += gridDim.y) f(vector * stride + point);
}

// a ← a·b; results are any words.
extern "C" __global__ void __launch_bounds__(THREADS)
goldilocks_multiply(u64* a, const u64* b, u64 length, u64 stride, u32 batch) {
    each_vector((u64)blockIdx.x * THREADS + threadIdx.x, length, stride, batch,
                [&](u64 at) { a[at] = correct(mul(a[at], b[at])); });
}

// x_j ← x_j·ψ^j, where low and high contain ψ^e and ψ^(e·2^log_low); results are from 0 to q − 1.
extern "C" __global__ void __launch_bounds__(THREADS)
goldilocks_twist(u64* x, const u64* __restrict__ low, const u64* __restrict__ high, u64 length, u64 stride,
                 u32 batch, u32 log_low) {
    const u64 j = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (j >= length) return;
    const u64 factor = correct(mul(low[j & ((1ull << log_low) - 1)], high[j >> log_low]));
    each_vector(j, length, stride, batch, [&](u64 at) {
        const u64 v = correct(mul(x[at], factor));
        x[at] = v >= FIELD_Q ? v - FIELD_Q : v;
    });
}
