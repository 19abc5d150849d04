// The CUDA dialect of C++ on the host: a kernel's text, compiled after this header, runs thread by
// thread on the CPU. No header of the standard library is included, so that a kernel sees the same
// names here as under NVRTC.
#pragma once

typedef __SIZE_TYPE__ size_t;

#include "interface.h"

#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

// One copy for all blocks. The scheduler swaps its contents when it switches to another block.
#define __shared__ static __attribute__((section("simt_shared")))

// A pointer to the block's dynamic shared memory, as an array of `type`.
#define DYNAMIC_SHARED(type, name) type* const name = static_cast<type*>(simt::dynamic_shared())

// The place of a call in the kernel's text: default arguments are evaluated at the call.
#define SIMT_HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

#define threadIdx (simt::current->thread)
#define blockIdx (simt::current->block)
#define blockDim (simt::block_size)
#define gridDim (simt::grid_size)
#define warpSize 32

inline void __syncthreads(SIMT_HERE) { simt::block_barrier(simt::plain_barrier, 0, file, line); }
inline int __syncthreads_or(int value, SIMT_HERE) {
    return simt::block_barrier(simt::barrier_or, value, file, line);
}
inline int __syncthreads_and(int value, SIMT_HERE) {
    return simt::block_barrier(simt::barrier_and, value, file, line);
}
inline int __syncthreads_count(int value, SIMT_HERE) {
    return simt::block_barrier(simt::barrier_count, value, file, line);
}

// Barrier for runs of COUNT threads.
template <unsigned COUNT>
inline void team_barrier(SIMT_HERE) {
    static_assert(COUNT % 32 == 0, "teams are of whole warps");
    simt::team_barrier(threadIdx.x / COUNT, COUNT, file, line);
}

// For loops that wait for another thread or block: lets the others run.
inline void spin_pause(SIMT_HERE) { simt::pause(file, line); }

// Launches run one after another.
inline void wait_for_last_launch() {}
inline void let_next_launch_begin() {}
inline void __nanosleep(unsigned, SIMT_HERE) { simt::pause(file, line); }

inline long long clock64() { return static_cast<long long>(simt::clock()); }

#include "atomics.h"
#include "intrinsics.h"
#include "warp.h"
