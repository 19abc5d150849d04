// digits (64 per block, base 2^32) += 1, with a carry from block to block. A block draws its number
// from a ticket, then waits for the carry of the preceding block. state: the ticket, then for each
// block whether carries[block] is known.
//
// A macro PLANT_… plants an error that the simulator must find.

extern "C" __global__ void increment(unsigned* digits, volatile unsigned* state, unsigned* carries) {
    __shared__ unsigned number, carry_in;
    if (threadIdx.x == 0) number = atomicAdd((unsigned*)&state[0], 1);
    __syncthreads();
    unsigned* mine = digits + 64 * number;
    unsigned full = __syncthreads_and(mine[threadIdx.x] == 0xffffffffu);
    if (threadIdx.x == 0) {
        unsigned carry = 1;
        if (number > 0) {
#ifdef PLANT_DEADLOCK
            while (state[1 + number] == 0) spin_pause();
#else
            while (state[number] == 0) spin_pause();
#endif
            __threadfence();
            carry = carries[number - 1];
        }
        carries[number] = carry && full;
#ifndef PLANT_NO_FENCE
        __threadfence();
#endif
        state[1 + number] = 1;
        carry_in = carry;
    }
    __syncthreads();
    if (threadIdx.x == 0 && carry_in) {
        for (unsigned i = 0; i < 64 && ++mine[i] == 0; i++) {
        }
    }
}
