// to[c][r] = from[r][c] for a matrix of n × n words, in tiles of 32 × 32 through
// dynamic shared memory with padded rows; blocks of 32 × 8 threads, n a multiple of 32.
//
// A macro PLANT_… plants an error that the simulator must find.

#ifdef PLANT_GLOBAL_OFF_BY_ONE
#define SHIFT 1
#else
#define SHIFT 0
#endif

#ifdef PLANT_SHARED_OFF_BY_ONE
#define PITCH 34
#else
#define PITCH 33
#endif

extern "C" __global__ void transpose(unsigned* to, const unsigned* from, unsigned n) {
    DYNAMIC_SHARED(unsigned, tile);
    unsigned column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32;
    for (unsigned r = threadIdx.y; r < 32; r += 8) {
        tile[r * PITCH + threadIdx.x] = from[(row + r) * n + column + SHIFT];
    }
#ifdef PLANT_DIVERGENT_BARRIER
    if (threadIdx.y < 4) __syncthreads();
#else
    __syncthreads();
#endif
    column = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32;
    for (unsigned r = threadIdx.y; r < 32; r += 8) {
        to[(row + r) * n + column] = tile[threadIdx.x * PITCH + r];
    }
}
