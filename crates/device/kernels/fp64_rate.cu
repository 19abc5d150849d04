// Measures the rate of multiply-adds: each thread runs CHAINS chains of dependent fma to fill the
// pipeline.

__device__ double step(double x, double factor, double summand) { return fma(x, factor, summand); }
__device__ float step(float x, float factor, float summand) { return fmaf(x, factor, summand); }

template <typename T>
__device__ void chains(T *out, T factor, T summand, unsigned steps) {
    T x[CHAINS];
    unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < CHAINS; i++) x[i] = (T)(thread + i);
    for (unsigned n = 0; n < steps; n++)
        for (int i = 0; i < CHAINS; i++) x[i] = step(x[i], factor, summand);
    T sum = 0;
    for (int i = 0; i < CHAINS; i++) sum += x[i];
    // The result is stored, because the compiler would remove unused work.
    out[thread] = sum;
}

extern "C" __global__ void fma64(double *out, double factor, double summand, unsigned steps) {
    chains<double>(out, factor, summand, steps);
}

extern "C" __global__ void fma32(float *out, double factor, double summand, unsigned steps) {
    chains<float>(out, (float)factor, (float)summand, steps);
}
