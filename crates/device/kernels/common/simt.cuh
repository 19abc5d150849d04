// Included first by every kernel: integer types, and the few constructs that CUDA and the simulator
// (WARPINT_SIM, with simt.h included before) write differently.
#pragma once

typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;

#define DEVICE __device__ __forceinline__

// Returns x, hidden from the compiler: in a loop, values that depend on x are computed anew instead of
// being kept in registers.
DEVICE u32 anew(u32 x) {
#ifndef WARPINT_SIM
    asm volatile("mov.u32 %0, %0;" : "+r"(x));
#endif
    return x;
}

#ifndef WARPINT_SIM
// The dynamic shared memory of a block, as an array of T.
#define DYNAMIC_SHARED(T, name) extern __shared__ __align__(16) T name[]

// Barrier for runs of COUNT threads, each run separately; at most 15 runs in a block.
template <u32 COUNT>
DEVICE void team_barrier() {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + threadIdx.x / COUNT), "n"(COUNT) : "memory");
}

// For loops that wait for another block. Does nothing here: the next load takes long enough.
DEVICE void spin_pause() {}

// In a kernel that may begin before the preceding launch has ended: waits for its end, after which all
// its writes are visible.
DEVICE void wait_for_last_launch() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// After all blocks have reached this point, blocks of the next launch may occupy free multiprocessor
// resources.
DEVICE void let_next_launch_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
#endif
