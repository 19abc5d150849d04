// __syncthreads and its voting forms, which all threads of a block reach at one place; and barriers of
// teams.
#include <string.h>

#include "runtime.h"

namespace simt {

static int result_of(int operation, unsigned truths) {
    switch (operation) {
        case barrier_or: return truths != 0;
        case barrier_and: return truths == run.threads;
        case barrier_count: return static_cast<int>(truths);
        default: return 0;
    }
}

// The last thread to arrive releases all others.
static void open_barrier(Block& block, const Thread& last) {
    block.barrier_result = result_of(block.barrier_operation, block.barrier_truths);
    block.at_barrier = 0;
    block.barrier_generation++;
    run.idle_turns = 0;
    if (shuffled_order()) shuffle_order(run.thread_order, run.threads);
    for (unsigned i = 0; i < run.threads; i++) {
        unsigned index = run.thread_order[i];
        if (index != last.index) make_ready(block, index);
    }
}

int block_barrier(int operation, int value, const char* file, int line) {
    Thread& thread = *me();
    Block& block = *thread.home;
    if (block.at_barrier == 0) {
        block.barrier_site = {file, line};
        block.barrier_operation = operation;
        block.barrier_truths = 0;
    } else if (line != block.barrier_site.line || operation != block.barrier_operation ||
               (file != block.barrier_site.file && strcmp(file, block.barrier_site.file) != 0)) {
        fault("%s:%d: divergent barrier: thread %u of block %u comes to __syncthreads here while "
              "%u threads wait at %s:%d",
              base_name(file), line, thread.index, block.index.x, block.at_barrier,
              base_name(block.barrier_site.file), block.barrier_site.line);
    }
    block.at_barrier++;
    block.barrier_truths += value != 0;
    // Two tags in turn: a fast thread cannot reach the next barrier but one before the slowest thread
    // has left this one.
    char* tag = &block.barrier_tags[block.barrier_generation & 1];
    order_release(tag);
    if (block.at_barrier == run.threads) {
        open_barrier(block, thread);
        // With a seed, other blocks may run in between.
        if (shuffled_order() && random_below(8) == 0) yield_block(thread);
    } else {
        thread.site = {file, line};
        thread.state = State::at_barrier;
        leave(thread);
    }
    order_acquire(tag);
    return block.barrier_result;
}

void team_barrier(unsigned index, unsigned threads, const char* file, int line) {
    Thread& thread = *me();
    Block& block = *thread.home;
    if (index >= most_teams || run.threads % threads != 0) {
        fault("%s:%d: %u threads are no more than %u teams of %u", base_name(file), line, run.threads,
              most_teams, threads);
    }
    Team& team = block.teams[index];
    if (team.arrived == 0) {
        team.site = {file, line};
    } else if (line != team.site.line || strcmp(file, team.site.file) != 0) {
        fault("%s:%d: divergent barrier: thread %u of block %u comes to a barrier of its team here while "
              "%u threads wait at %s:%d",
              base_name(file), line, thread.index, block.index.x, team.arrived, base_name(team.site.file),
              team.site.line);
    }
    char* tag = &team.tags[team.generation & 1];
    order_release(tag);
    if (++team.arrived == threads) {
        team.arrived = 0;
        team.generation++;
        run.idle_turns = 0;
        if (shuffled_order()) shuffle_order(run.thread_order, run.threads);
        for (unsigned i = 0; i < run.threads; i++) {
            unsigned other = run.thread_order[i];
            if (other != thread.index && other / threads == index) make_ready(block, other);
        }
        if (shuffled_order() && random_below(8) == 0) yield_block(thread);
    } else {
        thread.site = {file, line};
        thread.state = State::at_barrier;
        leave(thread);
    }
    order_acquire(tag);
}

}  // namespace simt
