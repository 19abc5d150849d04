// Declarations shared by the parts of the run time: threads as fibers, blocks in slots, one launch at a
// time in one OS thread.
//
// The run time is compiled without instrumentation in every build. Under a sanitizer it reports fiber
// switches and the ordering of barriers to the sanitizer.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "interface.h"

namespace simt {

struct Block;

constexpr unsigned most_threads = 1024;
constexpr unsigned most_slots = 64;
// The stack of a fiber; frames are larger under a sanitizer.
#if defined(SIMT_ASAN) || defined(SIMT_TSAN)
constexpr size_t stack_bytes = 256 << 10;
#else
constexpr size_t stack_bytes = 64 << 10;
#endif

enum class State { ready, at_barrier, at_collective, spinning, ended };

struct Site {
    const char* file;
    int line;
};

// A machine context: a stack, and the point at which it was suspended.
struct Fiber {
    void* saved = nullptr;
    char* stack = nullptr;
    size_t stack_bytes = 0;
    void* tsan = nullptr;
    void* asan_fake_stack = nullptr;
};

struct Thread : Position {
    Fiber fiber;
    Block* home;
    // The thread's index in its block.
    unsigned index;
    State state;
    // The place in the kernel at which it waits.
    Site site;
    // The thread's input to a collective or barrier, and the result.
    uint64_t value;
    unsigned source;
    // Whether the thread has executed a fence, and its atomic reads (memory_order.cpp).
    bool fenced;
    char fence_tag;
    void* courier;
    unsigned reads;
    const volatile void* read[4];
};

// A collective that some lanes of a warp have reached. The lanes of a warp may wait at several
// collectives with disjoint masks.
struct Pending {
    Collective kind;
    unsigned mask;
    unsigned arrived;
    void* tag;
};

struct Warp {
    // Each holds at least one waiting lane.
    Pending pending[32];
    unsigned pending_count;
    // The lanes of this warp in the block, and those that have ended.
    unsigned existing;
    unsigned ended;
    // Tags are used in rotation, one for each collective.
    unsigned generation;
    char tags[64];
};

// A run of threads of a block with barriers of its own.
struct Team {
    unsigned arrived;
    unsigned generation;
    Site site;
    char tags[2];
};

// The number of barriers of a GPU besides that of __syncthreads.
constexpr unsigned most_teams = 15;

// A slot for a resident block; its fibers and memory serve one block after another.
struct Block {
    bool active;
    uint3 index;
    Thread* threads;
    Warp* warps;
    unsigned ended;

    // Threads that can continue: a ring of indices.
    unsigned* ring;
    unsigned ring_mask, head, tail;
    unsigned spinning;

    unsigned at_barrier;
    Site barrier_site;
    int barrier_operation;
    unsigned barrier_truths;
    int barrier_result;
    unsigned barrier_generation;
    char barrier_tags[2];
    Team teams[most_teams];
    char life_tag;

    char* dynamic_allocation;
    char* dynamic_shared;
    size_t dynamic_bytes;
    // Saved while other blocks run.
    char* static_shared;
    size_t static_bytes;
};

struct Run {
    const SimtLaunch* launch;
    unsigned threads;
    unsigned warps;
    uint64_t blocks, started;
    unsigned* block_order;
    unsigned* thread_order;
    Block** slots;
    unsigned slot_count, active, turn;
    // Turns that ended with all threads of the block spinning: since the last progress, and since a
    // block last ended.
    uint64_t idle_turns, turns;
    uint64_t random;
    Fiber* main;
    char launch_tag, end_tag;
};

extern Run run;

inline Thread* me() { return static_cast<Thread*>(current); }

// A number below `bound` that depends on the seed.
unsigned random_below(unsigned bound);

// fiber.cpp
void fiber_prepare(Fiber&, size_t stagger);
void fiber_adopt_main(Fiber&);
void fiber_switch(Fiber& from, Fiber& to);

// stage.cpp; false if there is no memory.
bool stage_prepare();
bool stage_overflowed();

// shared_memory.cpp
bool shared_memory_prepare(Block&);
void shared_memory_start(Block&);
void shared_memory_activate(Block&);
const char* shared_memory_overrun(const Block&);

// scheduler.cpp
inline void make_ready(Block& block, unsigned thread) {
    block.threads[thread].state = State::ready;
    block.ring[block.tail++ & block.ring_mask] = thread;
}
void leave(Thread&);
[[noreturn]] void fault(const char* format, ...) __attribute__((format(printf, 1, 2)));
const char* base_name(const char* file);

// Whether threads run in another order than by index.
inline bool shuffled_order() { return run.launch->seed != 0; }
void shuffle_order(unsigned* order, unsigned count);
// Interrupts the block's turn; the thread stays ready.
void yield_block(Thread&);

// memory_order.cpp. A tag stands for everything that its releasers did before; a thread that acquires
// the tag is ordered after that.
#if defined(SIMT_TSAN)
void order_release(void* tag);
void order_acquire(void* tag);
void order_forget(char* memory, size_t bytes);
#else
inline void order_release(void*) {}
inline void order_acquire(void*) {}
inline void order_forget(char*, size_t) {}
#endif

}  // namespace simt
