// Walks the numbers r + h·2^s of mandatory residues r, TABLE_BITS bits per step, until they are
// below their starts. With d = TABLE_BITS, a step takes l + h·2^d to C[l] + h·B[l].
//
// A thread processes items, each of which is a residue and up to `item_highs` values h. The lanes
// of a warp are independent: a lane whose number is done starts the next one at the next step, so
// no lane waits for the slowest.
//
//   THREADS     threads per block
//   BLOCKS      blocks per multiprocessor
//   TABLE_BITS  d
//   WORDS       words of 32 bits of a number
//   SIEVE_BITS  s
#include "chain.cuh"
#include "index.cuh"

// Numbers are stored multiplied by four, so that their low bits are the address of a table entry.
#define SCALE 2
#define SIZE (1u << TABLE_BITS)
// The layout of a table entry: 4·f in the low bits, where B = 3^f, and 4·C above.
#define ODD_MASK 63u
#define ODD_BITS 6
// The layout of a residue: a word with r in the low bits and its number of odd steps above; then a
// word with T^s(r).
#define LOW_BITS 40
// The slack in the limit on the steps of an item. A number that exceeds the limit is left to the
// host.
#define MOST_STEPS 10000
// Steps between two tests for rare events.
#define ROUNDS 8
// The index of the nonzero word of 4·2^s.
#define BLOCK_WORD ((SIEVE_BITS + SCALE) / 32)
#define BLOCK_BIT (1u << (SIEVE_BITS + SCALE) % 32)

struct Number {
    u32 w[WORDS];
};

DEVICE Number number(u64 lower, u64 upper) {
    u32 words[4] = {low(lower), high(lower), low(upper), high(upper)};
    Number r;
#pragma unroll
    for (int i = 0; i < WORDS; i++) r.w[i] = words[i];
    return r;
}

// Returns a + b.
DEVICE Number sum(Number a, Number b) {
    a.w[0] = add_first(a.w[0], b.w[0]);
    unrolled<1, WORDS>([&](auto i) { a.w[VALUE(i)] = add_carried(a.w[VALUE(i)], b.w[VALUE(i)]); });
    return a;
}

// Returns n·2^BITS.
template <int BITS>
DEVICE Number shifted(Number n) {
    Number r;
    unrolled<0, WORDS>([&](auto index) {
        constexpr int i = VALUE(index) - BITS / 32;
        u32 upper = i >= 0 ? n.w[i < 0 ? 0 : i] : 0, lower = i >= 1 ? n.w[i < 1 ? 0 : i - 1] : 0;
        r.w[VALUE(index)] = __funnelshift_l(lower, upper, BITS % 32);
    });
    return r;
}

// Returns n·power + value.
DEVICE Number product(Number n, u64 power, u64 value) {
    Number r = number(value, 0);
#pragma unroll
    for (int j = 0; j < 2; j++) {
        u32 carry = 0, factor = j == 0 ? low(power) : high(power);
#pragma unroll
        for (int i = 0; i + j < WORDS; i++) {
            u64 t = multiply_add_short(n.w[i], factor, (u64)r.w[i + j] + carry);
            r.w[i + j] = low(t), carry = high(t);
        }
    }
    return r;
}

// Computes n ← C[l] + h·B[l]; returns the part that exceeds the words.
DEVICE u32 table_step(Number& n, const u32* table) {
    u32 entry = *(const u32*)((const char*)table + (n.w[0] & (SIZE - 1) << SCALE));
    u32 factor = *(const u32*)((const char*)(table + SIZE) + (entry & ODD_MASK));
    u64 p[WORDS];
    unrolled<0, WORDS>([&](auto i) {
        u32 above = VALUE(i) + 1 < WORDS ? n.w[VALUE(i) + 1 < WORDS ? VALUE(i) + 1 : 0] : 0;
        p[VALUE(i)] = multiply_add_short(__funnelshift_r(n.w[VALUE(i)], above, TABLE_BITS + SCALE), factor, 0);
    });
    n.w[0] = add_first(low(p[0]), entry >> ODD_BITS);
    unrolled<1, WORDS>([&](auto i) {
        n.w[VALUE(i)] = add_carried(high(p[VALUE(i) - 1]), low(p[VALUE(i)]));
    });
    return add_last(high(p[WORDS - 1]), 0);
}

// Returns whether n is below the start. With three words or more the lowest word is ignored.
DEVICE bool below(const Number& n, const Number& start) {
#if WORDS == 1
    return n.w[0] < start.w[0];
#elif WORDS == 2
    return join(n.w[0], n.w[1]) < join(start.w[0], start.w[1]);
#elif WORDS == 3
    return join(n.w[1], n.w[2]) < join(start.w[1], start.w[2]);
#else
    u64 upper = join(n.w[2], n.w[3]), of_start = join(start.w[2], start.w[3]);
    return upper < of_start || (upper == of_start && n.w[1] < start.w[1]);
#endif
}

// Computes start ← start + 2^s and value ← value + 3^f.
DEVICE void advance(Number& start, Number& value, Number power) {
    value = sum(value, power);
    start.w[BLOCK_WORD] = add_first(start.w[BLOCK_WORD], BLOCK_BIT);
    unrolled<BLOCK_WORD + 1, WORDS>([&](auto i) { start.w[VALUE(i)] = add_carried(start.w[VALUE(i)], 0); });
}

// Inputs: `entries` has 2^d entries, then 4·3^0 … 4·3^15; `powers` has 3^0 … 3^40. The values h are
// first … first + highs − 1. Item i has the residue with index i/chunks and the values from (i %
// chunks)·item_highs on.
//
// Outputs: `state` has five words: the next item; the number of starts left to the host; the steps
// of all numbers; a sum for table_sum; and the number of starts left again, so that the host
// detects a corrupted count. `over` has room for `capacity` starts left to the host, WORDS words
// each; starts beyond that are only counted. tallies[i] becomes the steps of item i.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    table_walk(u64* state, u32* over, u32 capacity, const u64* residues, const u32* entries, const u64* powers,
               u64 first_lower, u64 first_upper, u64 highs, u32 item_highs, u32 chunks, u32 items, u32* tallies) {
    DYNAMIC_SHARED(u32, table);
    // The index of this thread's item, and its steps before that item. They are in shared memory
    // because they are rarely used and registers are scarce.
    u32* mine = table + SIZE + 16 + threadIdx.x;
    mine[0] = ~0u;
    for (u32 i = threadIdx.x; i < SIZE + 16; i += THREADS) table[i] = entries[i];
    __syncthreads();
    Number n, start, value, power;
    u32 left = 0, steps = 0, limit = 0;
    for (;;) {
        u32 carry = 0;
        if (left != 0) {
#pragma unroll
            for (int round = 0; round < ROUNDS; round++) {
                carry = table_step(n, table);
                if ((carry == 0) & below(n, start)) {
                    advance(start, value, power);
                    n = value;
                    left--;
                }
                if ((carry != 0) | (left == 0)) {
                    steps -= ROUNDS - 1 - round;
                    break;
                }
            }
            steps += ROUNDS;
        }
        if (left != 0 && (carry != 0 || steps >= limit)) {
            u64 place = atomicAdd(&state[1], 1ull);
            atomicAdd(&state[4], 1ull);
            if (place < capacity) {
#pragma unroll
                for (int i = 0; i < WORDS; i++) over[place * WORDS + i] = start.w[i];
            }
            advance(start, value, power);
            n = value;
            left--;
            limit = steps + MOST_STEPS + 64 * left;
        }
        if (left == 0) {
            if (mine[0] != ~0u) tallies[mine[0]] = steps - mine[THREADS];
            u64 item = atomicAdd(&state[0], 1ull);
            if (item >= items) break;
            mine[0] = (u32)item;
            mine[THREADS] = steps;
            u64 residue = (u32)item / chunks;
            u64 offset = (u64)((u32)item % chunks) * item_highs;
            u64 packed = residues[2 * residue];
            left = (u32)min((u64)item_highs, highs - offset);
            limit = steps + MOST_STEPS + 64 * left;
            Number h = sum(number(first_lower, first_upper), number(offset, 0));
            u64 factor = powers[packed >> LOW_BITS];
            power = number(factor << SCALE, 0);
            value = shifted<SCALE>(product(h, factor, residues[2 * residue + 1]));
            Number low_part = number(packed & ((1ull << LOW_BITS) - 1), 0);
            start = shifted<SCALE>(sum(shifted<SIEVE_BITS>(h), low_part));
            n = value;
        }
    }
    u64 all = steps;
#pragma unroll
    for (u32 apart = 16; apart > 0; apart /= 2) all += __shfl_down_sync(0xffffffffu, all, apart);
    if (threadIdx.x % 32 == 0) atomicAdd(&state[2], all);
}
