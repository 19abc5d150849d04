// Each kernel writes the results of the functions for its arguments; main.rs has the formulas.

typedef unsigned long long u64;

extern "C" __global__ void integers(u64* out, u64 a, u64 b, unsigned s) {
    unsigned x = (unsigned)a, y = (unsigned)b;
    unsigned i = 0;
    out[i++] = __umul64hi(a, b);
    out[i++] = (u64)__mul64hi((long long)a, (long long)b);
    out[i++] = __umulhi(x, y);
    out[i++] = (unsigned)__mulhi((int)x, (int)y);
    out[i++] = __clzll(a);
    out[i++] = __clz(x);
    out[i++] = __ffsll(a);
    out[i++] = __ffs(x);
    out[i++] = __popcll(a);
    out[i++] = __popc(x);
    out[i++] = __brevll(a);
    out[i++] = __brev(x);
    out[i++] = __byte_perm(x, y, 0x7160);
    out[i++] = __byte_perm(x, y, 0xf8c3);
    out[i++] = __funnelshift_l(x, y, s);
    out[i++] = __funnelshift_r(x, y, s);
    out[i++] = __funnelshift_lc(x, y, s);
    out[i++] = __funnelshift_rc(x, y, s);
    out[i++] = min(a, b);
    out[i++] = (u64)max((long long)a, (long long)b);
}

extern "C" __global__ void doubles(double* out, double a, double b, double c) {
    out[0] = __fma_rn(a, b, c);
    // Never fused: a kernel must ask for that.
    out[1] = a * b + c;
    out[2] = rint(a);
    out[3] = __longlong_as_double(__double_as_longlong(b) ^ 1);
    out[4] = __hiloint2double(__double2hiint(c), __double2loint(c));
    out[5] = (double)__double2ll_rn(a);
    out[6] = __ddiv_rn(a, b);
    out[7] = __dsqrt_rn(c);
}

// 12 results per thread, for two and a half warps.
extern "C" __global__ void collectives(u64* out) {
    unsigned t = threadIdx.x, lane = t % 32;
    unsigned present = t < 64 ? 0xffffffffu : 0xffffu;
    out += 12 * t;
    out[0] = __shfl_sync(present, (u64)t << 40, lane ^ 5);
    out[1] = __shfl_sync(present, t, 3, 8);
    out[2] = __shfl_up_sync(present, t, 3);
    out[3] = __shfl_down_sync(present, (int)t, 2, 4);
    out[4] = (u64)__shfl_xor_sync(present, (double)t, 7, 8);
    out[5] = __ballot_sync(present, t % 3 == 0);
    out[6] = __any_sync(present, t == 70) + 2 * __all_sync(present, t < 64);
    out[7] = __match_any_sync(present, t % 5);
    out[8] = __reduce_add_sync(present, t);
    out[9] = (unsigned)__reduce_min_sync(present, 10 - (int)t);
    // Each half of a warp separately.
    unsigned half = lane < 16 ? 0xffffu : 0xffff0000u;
    out[10] = lane < 16 ? __reduce_xor_sync(half, t) : __reduce_max_sync(half, t * t);
    __syncwarp(half);
    out[11] = __syncthreads_count(t % 2) + 1000 * __syncthreads_or(t == 9);
}

// Each block in its own shared memory, which no other block has written.
template <unsigned n>
__device__ __forceinline__ unsigned* scratch() {
    __shared__ unsigned words[n];
    return words;
}

extern "C" __global__ void memory(u64* out, unsigned* counters) {
    DYNAMIC_SHARED(unsigned, tile);
    unsigned t = threadIdx.x, *words = scratch<64>();
    u64 poison = ((u64)tile[t] << 32) | words[t];
    words[t] = blockIdx.x;
    tile[t] = gridDim.x;
    // Another block runs in between.
    atomicAdd(&counters[0], 1);
    while (__syncthreads_or(load_relaxed(&counters[0]) < 64 * gridDim.x)) spin_pause();
    atomicMax(&counters[1], 64 * blockIdx.x + t);
    atomicMin(&counters[2], 64 * blockIdx.x + t);
    atomicXor(&counters[3], 1u << t % 32);
    atomicCAS(&counters[4], 0u, 7u);
    u64* mine = out + 2 * (64 * blockIdx.x + t);
    ulonglong2 both = make_ulonglong2(poison, 1000 * tile[63 - t] + words[63 - t]);
    *reinterpret_cast<ulonglong2*>(mine) = both;
}
