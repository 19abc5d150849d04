// What every kernel includes first: integer types, and the few constructs that
// CUDA and the simulator (WARPINT_SIM, where simt.h comes before) spell differently.
#pragma once

typedef unsigned int u32;
typedef int i32;
typedef unsigned long long u64;
typedef long long i64;

#define DEVICE __device__ __forceinline__

// x, of which the compiler knows nothing: in a loop it finds anew what depends on it, and keeps no
// registers for that.
DEVICE u32 anew(u32 x) {
#ifndef WARPINT_SIM
    asm volatile("mov.u32 %0, %0;" : "+r"(x));
#endif
    return x;
}

#ifndef WARPINT_SIM
// The dynamic shared memory of a block, as an array of T.
#define DYNAMIC_SHARED(T, name) extern __shared__ __align__(16) T name[]

// Runs of COUNT threads wait for each other, each run for itself; at most 15 in a block.
template <u32 COUNT>
DEVICE void team_barrier() {
    asm volatile("bar.sync %0, %1;" ::"r"(1 + threadIdx.x / COUNT), "n"(COUNT) : "memory");
}

// Inside a loop that waits for another block; the next look at memory takes long enough.
DEVICE void spin_pause() {}

// In a kernel that may begin before the launch before it has ended: waits for that
// end, and sees all that it wrote.
DEVICE void wait_for_last_launch() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// When all blocks have come here, blocks of the next launch may take places that are free.
DEVICE void let_next_launch_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
#endif
