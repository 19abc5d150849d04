// The interfaces between a compiled kernel and the run time, and between both and the program that
// loads them.
#pragma once

#include "vector_types.h"

typedef unsigned long long simt_u64;

#define SIMT_HIDDEN __attribute__((visibility("hidden")))

namespace simt {

struct Position {
    uint3 thread;
    uint3 block;
};

SIMT_HIDDEN extern Position* current;
SIMT_HIDDEN extern dim3 block_size;
SIMT_HIDDEN extern dim3 grid_size;

SIMT_HIDDEN void* dynamic_shared();
SIMT_HIDDEN int block_barrier(int operation, int value, const char* file, int line);
SIMT_HIDDEN void team_barrier(unsigned team, unsigned threads, const char* file, int line);
SIMT_HIDDEN void pause(const char* file, int line);
SIMT_HIDDEN simt_u64 clock();

enum BarrierOperation { plain_barrier, barrier_or, barrier_and, barrier_count };

enum Collective {
    warp_barrier,
    shuffle,
    ballot,
    any,
    all,
    match_any,
    match_all,
    reduce_add,
    reduce_min_unsigned,
    reduce_max_unsigned,
    reduce_min_signed,
    reduce_max_signed,
    reduce_and,
    reduce_or,
    reduce_xor,
};

// `source`: the lane whose value a shuffle reads.
SIMT_HIDDEN simt_u64 collective(Collective kind, unsigned mask, simt_u64 value, unsigned source,
                                const char* file, int line);

#if defined(SIMT_TSAN)
// See memory_order.cpp.
SIMT_HIDDEN void atomic_read(const volatile void* address);
SIMT_HIDDEN void atomic_write(const volatile void* address);
SIMT_HIDDEN void fence();
#endif

}  // namespace simt

// The exports of a compiled program: its kernels by name, with the types of their parameters, and the
// function that runs a launch. src/sim/library.rs declares the same structures for the loader.
extern "C" {

struct SimtKernel {
    const char* name;
    // One letter per parameter: p pointer, u U 32- and 64-bit unsigned, i I signed, d double.
    const char* parameters;
    // The largest number of threads of a block, from __launch_bounds__; 0 if the kernel has none.
    unsigned most_threads;
    void (*call)(void** arguments);
};

struct SimtLaunch {
    const SimtKernel* kernel;
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    unsigned resident_blocks;
    simt_u64 seed;
    void** arguments;
    // Initially null. Its later contents are reused by the next launch; launches run one at a time.
    void** stage;
    // Buffer for the report of a fault, one line.
    char* report;
    simt_u64 report_bytes;
};

struct SimtModule {
    unsigned kernel_count;
    const SimtKernel* kernels;
    // Returns 0 if the launch ran to its end, 1 if a fault was reported.
    int (*run)(const SimtLaunch*);
};

SIMT_HIDDEN int simt_run(const SimtLaunch*);
}
