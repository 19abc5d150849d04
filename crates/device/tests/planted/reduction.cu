// sums[b] = sum of the 256 numbers of block b: within each warp by shuffles,
// over the warps through static shared memory.
//
// A macro PLANT_… plants an error that the simulator must find.

typedef unsigned long long u64;

__device__ u64 warp_sum(u64 x) {
    for (int distance = 16; distance > 0; distance /= 2) {
        x += __shfl_down_sync(0xffffffffu, x, distance);
    }
    return x;
}

extern "C" __global__ void block_sums(u64* sums, const u64* numbers) {
    __shared__ u64 of_warp[8];
    unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    u64 x = numbers[blockIdx.x * 256 + threadIdx.x];
#ifdef PLANT_MISSING_LANE
    if (lane != 3)
#endif
        x = warp_sum(x);
    if (lane == 0) of_warp[warp] = x;
#ifndef PLANT_NO_BARRIER
    __syncthreads();
#endif
    if (warp == 0) {
        x = warp_sum(lane < 8 ? of_warp[lane] : 0);
        if (lane == 0) sums[blockIdx.x] = x;
    }
}
