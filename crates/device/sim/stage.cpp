// The slots with the stacks of their fibers. They are allocated on demand and kept from launch to
// launch by the program that requests launches, whichever module runs them.
#include <stdlib.h>
#include <sys/mman.h>

#include "runtime.h"

namespace simt {

struct Stage {
    Block* slots[most_slots];
    unsigned thread_order[most_threads];
};

template <class T>
static T* zeroed(size_t count) {
    return static_cast<T*>(calloc(count, sizeof(T)));
}

static Block* new_slot() {
    Block* block = zeroed<Block>(1);
    if (block == nullptr) return nullptr;
    block->threads = zeroed<Thread>(most_threads);
    block->warps = zeroed<Warp>(most_threads / 32);
    block->ring = zeroed<unsigned>(most_threads);
    block->ring_mask = most_threads - 1;
    // Pages that no thread touches cost nothing.
    void* stacks = mmap(nullptr, most_threads * stack_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block->threads == nullptr || block->warps == nullptr || block->ring == nullptr ||
        stacks == MAP_FAILED) {
        return nullptr;
    }
    for (unsigned i = 0; i < most_threads; i++) {
        Thread& thread = block->threads[i];
        thread.home = block;
        thread.index = i;
        thread.fiber.stack = static_cast<char*>(stacks) + i * stack_bytes;
        thread.fiber.stack_bytes = stack_bytes;
    }
    return block;
}

bool stage_prepare() {
    Stage*& stage = *reinterpret_cast<Stage**>(run.launch->stage);
    if (stage == nullptr) stage = zeroed<Stage>(1);
    if (stage == nullptr) return false;
    run.slots = stage->slots;
    run.thread_order = stage->thread_order;
    for (unsigned s = 0; s < run.slot_count; s++) {
        if (stage->slots[s] == nullptr) stage->slots[s] = new_slot();
        if (stage->slots[s] == nullptr) return false;
        Block& block = *stage->slots[s];
        block.active = false;
        block.head = block.tail = 0;
        if (!shared_memory_prepare(block)) return false;
        for (unsigned i = 0; i < run.threads; i++) {
            Thread& thread = block.threads[i];
            thread.thread.x = i % block_size.x;
            thread.thread.y = i / block_size.x % block_size.y;
            thread.thread.z = i / block_size.x / block_size.y;
            // Stacks that all began at the same offset in a page would compete for the same few lines
            // of the first-level cache.
            fiber_prepare(thread.fiber, i % 15 * 256);
        }
    }
    return true;
}

bool stage_overflowed() {
    for (unsigned s = 0; s < run.slot_count; s++) {
        for (unsigned i = 0; i < run.threads; i++) {
            // The lowest words of a stack, which were zero initially.
            uint64_t* end = reinterpret_cast<uint64_t*>(run.slots[s]->threads[i].fiber.stack);
            for (unsigned word = 0; word < 8; word++) {
                if (end[word] == 0) continue;
                for (word = 0; word < 8; word++) end[word] = 0;
                return true;
            }
        }
    }
    return false;
}

}  // namespace simt
