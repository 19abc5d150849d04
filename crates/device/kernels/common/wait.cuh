// Waits for other blocks that end even if the memory by which blocks communicate was damaged.
#pragma once
#include "ptx.cuh"

// The number of polls after which a wait is given up, about a second.
constexpr u32 MOST_POLLS = 1u << 20;

// This bit of the next ticket means that a wait was given up. Blocks that take such a ticket end at once.
// Waits take so long only after a fault of the memory. The results are then meaningless, and the host
// discards them.
#define GIVEN_UP (1ull << 63)

// Reads word = read() until came(word). Gives up after MOST_POLLS polls, and marks the next ticket.
//
// `polls` counts. It is in shared memory, because kernels that use all registers would spill others.
template <class Word, class Came, class Read>
DEVICE void wait_until(Came came, Word& word, Read read, volatile u32& polls, u64* next_ticket) {
    if (came(word)) return;
    polls = 0;
    do {
        spin_pause();
        const u32 count = polls + 1;
        polls = count;
        if (count == MOST_POLLS) {
            store_relaxed(next_ticket, GIVEN_UP);
            return;
        }
        word = read();
    } while (!came(word));
}
