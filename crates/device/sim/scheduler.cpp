// The scheduler. A thread runs until it waits. Then the next ready thread of its block runs; if none is
// ready, the next resident block. When a block ends, its slot is given to a new block.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime.h"

namespace simt {

Position* current;
dim3 block_size, grid_size;
Run run;

// Limits beyond which a launch counts as stuck: turns per active block in which blocks only spin, without
// other progress, and turns between two ends of blocks.
static constexpr uint64_t most_idle_turns = 10000;
static constexpr uint64_t most_turns = 4000000;

static Fiber main_fiber;
static int run_status;

unsigned random_below(unsigned bound) {
    // splitmix64
    uint64_t z = run.random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<unsigned>(((z ^ (z >> 31)) >> 32) * bound >> 32);
}

void shuffle_order(unsigned* order, unsigned count) {
    for (unsigned i = count; i > 1; i--) {
        unsigned j = random_below(i), swapped = order[j];
        order[j] = order[i - 1];
        order[i - 1] = swapped;
    }
}

const char* base_name(const char* file) {
    const char* slash = strrchr(file, '/');
    return slash == nullptr ? file : slash + 1;
}

simt_u64 clock() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<simt_u64>(now.tv_sec) * 1000000000u + static_cast<simt_u64>(now.tv_nsec);
}

static void start_block(Block& block) {
    uint64_t number = run.started++;
    if (run.block_order != nullptr) number = run.block_order[number];
    block.active = true;
    block.index.x = static_cast<unsigned>(number % grid_size.x);
    block.index.y = static_cast<unsigned>(number / grid_size.x % grid_size.y);
    block.index.z = static_cast<unsigned>(number / grid_size.x / grid_size.y);
    block.ended = block.spinning = block.at_barrier = 0;
    for (Team& team : block.teams) team.arrived = 0;
    shared_memory_start(block);
    for (unsigned w = 0; w < run.warps; w++) {
        Warp& warp = block.warps[w];
        unsigned lanes = run.threads - 32 * w;
        warp.pending_count = warp.ended = 0;
        warp.existing = lanes >= 32 ? 0xffffffffu : (1u << lanes) - 1;
    }
    if (shuffled_order()) shuffle_order(run.thread_order, run.threads);
    for (unsigned i = 0; i < run.threads; i++) {
        unsigned index = run.thread_order[i];
        block.threads[index].block = block.index;
        make_ready(block, index);
    }
}

// All threads of the block wait, and none of them for memory.
[[noreturn]] static void report_stuck(const Block& block) {
    const Thread *at_barrier = nullptr, *at_collective = nullptr;
    unsigned barriers = 0, collectives = 0;
    for (unsigned i = 0; i < run.threads; i++) {
        const Thread& thread = block.threads[i];
        if (thread.state == State::at_barrier) at_barrier = &thread, barriers++;
        if (thread.state == State::at_collective) at_collective = &thread, collectives++;
    }
    char ended[48] = "";
    if (block.ended != 0) snprintf(ended, sizeof ended, ", %u have ended", block.ended);
    if (at_collective != nullptr) {
        const Warp& warp = block.warps[at_collective->index / 32];
        unsigned missing = 0;
        for (unsigned i = 0; i < warp.pending_count; i++) {
            if (warp.pending[i].mask >> (at_collective->index % 32) & 1) {
                missing = warp.pending[i].mask & warp.existing & ~warp.pending[i].arrived;
            }
        }
        char others[96] = "";
        if (at_barrier != nullptr) {
            snprintf(others, sizeof others, ", %u wait at a barrier (%s:%d)", barriers,
                     base_name(at_barrier->site.file), at_barrier->site.line);
        }
        fault("%s:%d: lanes missing from a warp collective: %u threads of block %u wait there, "
              "lanes 0x%08x of warp %u never come%s%s",
              base_name(at_collective->site.file), at_collective->site.line, collectives,
              block.index.x, missing, at_collective->index / 32, others, ended);
    }
    fault("%s:%d: divergent barrier: %u of %u threads of block %u wait there%s",
          base_name(at_barrier->site.file), at_barrier->site.line, barriers, run.threads,
          block.index.x, ended);
}

[[noreturn]] static void report_deadlock() {
    for (unsigned s = 0; s < run.slot_count; s++) {
        const Block& block = *run.slots[s];
        if (!block.active) continue;
        for (unsigned i = 0; i < run.threads; i++) {
            const Thread& thread = block.threads[i];
            if (thread.state != State::spinning) continue;
            fault("%s:%d: deadlock: all %u resident blocks spin (block %u, thread %u here), "
                  "%llu of %llu blocks have not started",
                  base_name(thread.site.file), thread.site.line, run.active, block.index.x,
                  thread.index, static_cast<unsigned long long>(run.blocks - run.started),
                  static_cast<unsigned long long>(run.blocks));
        }
    }
    fault("deadlock: all %u resident blocks spin", run.active);
}

// Ends the turn of a block that is done, spinning, stuck, or merely interrupted.
static void end_turn(Block& block) {
    if (block.ended == run.threads) {
        const char* overrun = shared_memory_overrun(block);
        if (overrun != nullptr) fault("block %u %s", block.index.x, overrun);
        block.active = false;
        run.active--;
        run.idle_turns = run.turns = 0;
        if (run.started < run.blocks) {
            start_block(block);
            run.active++;
        }
    } else if (block.head == block.tail) {
        if (block.spinning == 0) report_stuck(block);
        if (++run.idle_turns > most_idle_turns * run.active || ++run.turns > most_turns) {
            report_deadlock();
        }
    }
}

static Block& next_block() {
    if (shuffled_order()) run.turn += random_below(run.slot_count);
    for (;;) {
        run.turn = (run.turn + 1) % run.slot_count;
        if (run.slots[run.turn]->active) return *run.slots[run.turn];
    }
}

// Selects the next thread when no thread of `block` is ready.
static Fiber& another_block(Block& block) {
    end_turn(block);
    if (run.active == 0) {
        run_status = 0;
        return *run.main;
    }
    Block& next = next_block();
    shared_memory_activate(next);
    if (next.spinning != 0) {
        for (unsigned i = 0; i < run.threads; i++) {
            if (next.threads[i].state == State::spinning) make_ready(next, i);
        }
        next.spinning = 0;
    }
    Thread& thread = next.threads[next.ring[next.head++ & next.ring_mask]];
    current = &thread;
    return thread.fiber;
}

void leave(Thread& thread) {
    Block& block = *thread.home;
    Fiber* to;
    if (block.head != block.tail) {
        Thread& next = block.threads[block.ring[block.head++ & block.ring_mask]];
        current = &next;
        to = &next.fiber;
    } else {
        to = &another_block(block);
    }
    if (to != &thread.fiber) fiber_switch(thread.fiber, *to);
}

void yield_block(Thread& thread) {
    make_ready(*thread.home, thread.index);
    Fiber& to = another_block(*thread.home);
    if (&to != &thread.fiber) fiber_switch(thread.fiber, to);
}

void pause(const char* file, int line) {
    Thread& thread = *me();
    thread.site = {file, line};
    thread.state = State::spinning;
    thread.home->spinning++;
    leave(thread);
}

// Runs a thread of each block that is assigned to this slot.
void thread_main() {
    for (;;) {
        Thread& thread = *me();
        Block& block = *thread.home;
        thread.fenced = false;
        thread.reads = 0;
        order_acquire(&run.launch_tag);
        order_acquire(&block.life_tag);
        run.launch->kernel->call(run.launch->arguments);
        order_release(&block.life_tag);
        order_release(&run.end_tag);
        thread.state = State::ended;
        block.ended++;
        block.warps[thread.index / 32].ended |= 1u << thread.index % 32;
        run.idle_turns = 0;
        leave(thread);
    }
}

void fault(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run.launch->report, run.launch->report_bytes, format, arguments);
    va_end(arguments);
    run_status = 1;
    fiber_switch(me()->fiber, *run.main);
    abort();
}

static bool prepare_run(const SimtLaunch& launch) {
    run.launch = &launch;
    run.random = launch.seed;
    block_size = dim3(launch.block[0], launch.block[1], launch.block[2]);
    grid_size = dim3(launch.grid[0], launch.grid[1], launch.grid[2]);
    run.threads = block_size.x * block_size.y * block_size.z;
    run.warps = (run.threads + 31) / 32;
    run.blocks = static_cast<uint64_t>(grid_size.x) * grid_size.y * grid_size.z;
    unsigned most = launch.resident_blocks < most_slots ? launch.resident_blocks : most_slots;
    run.slot_count = static_cast<unsigned>(run.blocks < most ? run.blocks : most);
    run.started = run.idle_turns = run.turns = 0;
    run.active = run.turn = 0;
    run.main = &main_fiber;
    fiber_adopt_main(main_fiber);
    if (!stage_prepare()) return false;
    for (unsigned i = 0; i < run.threads; i++) run.thread_order[i] = i;
    run.block_order = nullptr;
    if (shuffled_order()) {
        run.block_order = static_cast<unsigned*>(malloc(run.blocks * sizeof(unsigned)));
        if (run.block_order == nullptr) return false;
        for (unsigned i = 0; i < run.blocks; i++) run.block_order[i] = i;
        shuffle_order(run.block_order, static_cast<unsigned>(run.blocks));
    }
    return true;
}

static int run_blocks(const SimtLaunch& launch) {
    if (!prepare_run(launch)) {
        snprintf(launch.report, launch.report_bytes,
                 "the simulator has no memory for %u blocks of %u threads", run.slot_count,
                 run.threads);
        return 1;
    }
    for (unsigned s = 0; s < run.slot_count; s++) {
        start_block(*run.slots[s]);
        run.active++;
    }
    order_release(&run.launch_tag);
    Block& first = *run.slots[0];
    shared_memory_activate(first);
    Thread& thread = first.threads[first.ring[first.head++ & first.ring_mask]];
    current = &thread;
    fiber_switch(main_fiber, thread.fiber);
    current = nullptr;
    order_acquire(&run.end_tag);
    free(run.block_order);
    if (run_status == 0 && stage_overflowed()) {
        snprintf(launch.report, launch.report_bytes,
                 "a thread needs more than %zu bytes of stack", stack_bytes);
        return 1;
    }
    return run_status;
}

}  // namespace simt

int simt_run(const SimtLaunch* launch) { return simt::run_blocks(*launch); }
