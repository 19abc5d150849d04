// Waits for other blocks that end even if the memory by which blocks communicate was damaged.
#pragma once
#include "ptx.cuh"

// The number of polls after which a wait is given up, about a second; and after how many polls the flag is
// read again.
constexpr u32 MOST_POLLS = 1u << 20, POLLS_BETWEEN = 64;

// Called between two polls of a wait. Returns whether the wait is given up. This is so after MOST_POLLS
// polls, or if another thread has given up, in this launch or an earlier one: then `given_up` is not 0.
// Waits take so long only after a fault of the memory. The results are then meaningless, and the host
// discards them.
DEVICE bool gives_up(u32& polls, u64* given_up) {
    spin_pause();
    if (++polls % POLLS_BETWEEN != 0) return false;
    if (polls == MOST_POLLS) store_relaxed(given_up, (u64)1);
    return load_relaxed(given_up) != 0;
}
