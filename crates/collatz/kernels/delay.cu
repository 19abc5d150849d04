// Computes the delays of `numbers` numbers from `base` on, by table steps of d = STEP_BITS bits
// (Honda 2017, §4.3.2, Algorithm 6).
//
// A lane processes numbers with the same low `common` bits in ascending order. With k = `common`,
// T^k(low + a·2^k) = T^k(low) + a·3^f, so the value of the next number after its first k steps is
// one addition away. A lane starts its next number as soon as one is done; lanes do not wait for
// each other. Warps draw residues from a counter.
//
// The table of steps has the word J·2^24 + C for each value l of the low d bits: C = T^d(l), and J
// = d + f counts the steps n/2 and 3n + 1. The factor B = 3^f comes from a table with one column
// per bank of shared memory. For numbers below 2^t, t = SMALL_BITS, a table has the delays.
//
// With MERGED, residues with the same T^k and f form a group: for every a, their numbers have the
// same delay. `groups` has the smallest residue and the size of each group, and only the numbers of
// that residue are walked.
//
// A number whose path reaches 2^hot bits is walked again in 128 bits. (`hot` is given as masks of
// the bits from there on, one for each word above the lowest.) It is then a candidate if a table
// step begins at `limit` or above. If it gets too long for 128 bits, it is left to the host. The
// masks include all bits from which on a step can overflow WORDS words.
//
//   STEP_BITS    d
//   SMALL_BITS   t ≥ d
//   SMALL_SHARED the table of delays is in shared memory
//   WORDS        words of 32 bits of an intermediate value: 2 to 4
//   LOST         a number whose top word has bits from this one on may overflow
//   UNROLL       table steps between two tests whether a number is done
//   THREADS      threads per block
//   BLOCKS       blocks per multiprocessor, at least
//   WRITE        each delay is written, with 65535 for those left to the host; otherwise they are summed up
//   MERGED       by groups: base and numbers are multiples of 2^common
#include "ptx.cuh"

typedef unsigned short u16;

#define LOW_MASK ((1u << STEP_BITS) - 1)
#define COLUMNS 32
#define POWERS (STEP_BITS + 1)
// From this value on, a delay is left to the host.
#define TOO_LONG 65535u
// This bit of a list entry says that the delay of the number is left to the host too.
#define UNKNOWN (1ull << 63)
// A key has the largest delay above OFFSET_BITS, and the smallest offset of a number with that
// delay, subtracted from the largest offset, below. Offsets are below 2^40.
#define OFFSET_BITS 44

template <u32 COUNT>
struct Value {
    u32 w[COUNT];
};

// An address in shared memory. Given a pointer, the compiler would compute the start of that memory
// again for each access.
#ifdef WARPINT_SIM
typedef const char* Shared;
DEVICE Shared shared_address(const void* pointer) { return (Shared)pointer; }
DEVICE u32 load_word(Shared at) { return *(const u32*)at; }
DEVICE u32 load_half(Shared at) { return *(const u16*)at; }
#else
typedef u32 Shared;
DEVICE Shared shared_address(const void* pointer) { return anew((u32)__cvta_generic_to_shared(pointer)); }
DEVICE u32 load_word(Shared at) {
    u32 word;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(at));
    return word;
}
DEVICE u32 load_half(Shared at) {
    u16 half;
    asm volatile("ld.shared.u16 %0, [%1];" : "=h"(half) : "r"(at));
    return half;
}
#endif

// The data shared by all numbers.
struct Tables {
    Shared steps;
    // The lane's column of powers: 3^(J − d) is in row J, counted from this address.
    Shared powers;
#if SMALL_SHARED
    Shared small;
#else
    const u16* small;
#endif

    DEVICE u32 small_delay(u32 n) const {
#if SMALL_SHARED
        return load_half(small + 2 * n);
#else
        return small[n];
#endif
    }
};

template <u32 COUNT>
DEVICE bool is_small(const Value<COUNT>& v) {
    u32 above = 0;
#pragma unroll
    for (u32 i = 1; i < COUNT; i++) above |= v.w[i];
    return above == 0 && v.w[0] < 1u << SMALL_BITS;
}

// v ← B·⌊v/2^d⌋ + C; returns J. Exact if the top word has no bits from LOST on.
template <u32 COUNT>
DEVICE u32 table_step(Value<COUNT>& v, const Tables& tables) {
    u32 entry = load_word(tables.steps + 4 * (v.w[0] & LOW_MASK)), j = entry >> 24;
    u32 b = load_word(tables.powers + 4 * COLUMNS * j);
    u64 sum = entry & 0xffffffu;
#pragma unroll
    for (u32 i = 0; i < COUNT; i++) {
        u32 upper = i + 1 < COUNT ? v.w[i + 1] : 0;
        sum = multiply_add_short(__funnelshift_r(v.w[i], upper, STEP_BITS), b, sum);
        v.w[i] = low(sum), sum >>= 32;
    }
    return j;
}

// The numbers of one lane.
struct Lane {
    // The first number.
    Value<4> first;
    // The common first steps: k, the number of steps n/2 and 3n + 1 in them, T^k(low) and 3^f.
    u32 common, count, c, power;
};

// Returns T^k of number i of a lane, modulo 2^(32·COUNT).
template <u32 COUNT>
DEVICE Value<COUNT> start_of(const Lane& lane, u64 i) {
    // a = ⌊first/2^k⌋ + i.
    Value<COUNT> v;
    u64 sum = lane.c, carry = i;
#pragma unroll
    for (u32 j = 0; j < COUNT; j++) {
        u32 upper = j + 1 < 4 ? lane.first.w[j + 1 < 4 ? j + 1 : 3] : 0;
        u64 part = (u64)__funnelshift_r(lane.first.w[j], upper, lane.common) + low(carry);
        carry = (carry >> 32) + (part >> 32);
        sum = multiply_add_short(low(part), lane.power, sum);
        v.w[j] = low(sum), sum >>= 32;
    }
    return v;
}

// Returns the delay of a number, computed in 128 bits, or TOO_LONG if the path exceeds them; and
// whether the number is a candidate.
DEVICE u32 walk_long(Value<4> v, u32 count, const Tables& tables, u64 limit_low, u64 limit_high, bool& candidate) {
    candidate = false;
    while (!is_small(v)) {
        u64 v_low = join(v.w[0], v.w[1]), v_high = join(v.w[2], v.w[3]);
        candidate |= v_high > limit_high || (v_high == limit_high && v_low >= limit_low);
        if (v.w[3] >> LOST != 0 || count >= TOO_LONG) return TOO_LONG;
        count += table_step(v, tables);
    }
    return min(count + tables.small_delay(v.w[0]), TOO_LONG);
}

// `results` has the sum of delays, the largest key, the length of the list, the work counter, and
// the list. The kernel processes `count_of` residues or groups, at most `each` numbers of one at a
// time.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    delays(u64* results, u16* out, const u32* steps, const u16* small, const u32* groups, u32 count_of, u32 each,
           u64 base_low, u64 base_high, u64 numbers, u32 common, u32 list_length, u32 hot1, u32 hot2, u32 hot3, u64 limit_low, u64 limit_high) {
    DYNAMIC_SHARED(u32, shared);
    u32* shared_steps = shared + POWERS * COLUMNS;
    for (u32 i = threadIdx.x; i < POWERS * COLUMNS; i += THREADS) {
        u32 power = 1;
        for (u32 f = 0; f < i / COLUMNS; f++) power *= 3;
        shared[i] = power;
    }
    for (u32 i = threadIdx.x; i <= LOW_MASK; i += THREADS) shared_steps[i] = steps[i];
#if SMALL_SHARED
    u32* shared_small = shared_steps + LOW_MASK + 1;
    for (u32 i = threadIdx.x; i < 1u << SMALL_BITS >> 1; i += THREADS) shared_small[i] = ((const u32*)small)[i];
#endif
    __syncthreads();

    u32 id = threadIdx.x % 32;
    Tables tables;
    tables.steps = shared_address(shared_steps);
    tables.powers = shared_address(shared) + 4 * id - 4 * COLUMNS * STEP_BITS;
#if SMALL_SHARED
    tables.small = shared_address(shared_small);
#else
    tables.small = small;
#endif
    u32 hot[4] = {0, hot1, hot2, hot3};
    u32 residues = 1u << common, padded = (count_of + 31) / 32 * 32;
#if !WRITE
    u64 sum = 0, key = 0;
#endif
    for (;;) {
        u64 drawn = id == 0 ? atomicAdd(&results[3], 32ull) : 0;
        drawn = __shfl_sync(0xffffffffu, drawn, 0);
        // The offset of the first number; offsets from `numbers` on are out of range.
        u64 skipped = drawn / padded * each << common;
        if (skipped >= numbers) break;
        u32 which = (u32)(drawn % padded) + id;
        bool has_numbers = which < count_of;
        u64 offset = which;
#if MERGED
        u32 weight = has_numbers ? groups[2 * which + 1] : 0;
        offset = has_numbers ? groups[2 * which] : 0;
#endif
        offset += skipped;
        has_numbers = has_numbers && offset < numbers;

        Lane lane;
        u64 first_low = base_low + offset, first_high = base_high + (first_low < offset);
        lane.first = {low(first_low), high(first_low), low(first_high), high(first_high)};
        lane.common = common, lane.count = common, lane.power = 1;
        u64 x = lane.first.w[0] & (residues - 1);
        for (u32 i = 0; i < common; i++) {
            bool odd = x & 1;
            x = odd ? (3 * x + 1) / 2 : x / 2;
            lane.power *= odd ? 3 : 1, lane.count += odd;
        }
        lane.c = low(x);

        Value<WORDS> start = start_of<WORDS>(lane, 0), v = start, seen = start;
        u32 own = has_numbers ? (u32)min((numbers - offset + residues - 1) >> common, (u64)each) : 0;
        u32 left = own, count = lane.count;
#if !WRITE
        // `each` is at most 2^12, and delays are below 2^17.
        u32 best = 0, best_left = 0, own_sum = 0;
#endif
        // All lanes reach this point each time, including those without a number left: otherwise
        // the compiler may make lanes that are done with a number wait for all others.
        while (__any_sync(0xffffffffu, left != 0)) {
#pragma unroll
            for (u32 s = 0; s < UNROLL; s++) {
                if (!is_small(v)) {
                    count += table_step(v, tables);
#pragma unroll
                    for (u32 j = 1; j < WORDS; j++) seen.w[j] |= v.w[j];
                }
            }
            // The bound on `count` also ends paths that cycle.
            bool lost = seen.w[WORDS - 1] >> LOST != 0 || count >= TOO_LONG;
            if (left != 0 && (is_small(v) || lost)) {
                u32 any = lost, delay;
#pragma unroll
                for (u32 j = 1; j < WORDS; j++) any |= seen.w[j] & hot[j];
                if (any != 0) {
                    bool candidate;
                    u64 i = own - left;
                    delay = walk_long(start_of<4>(lane, i), lane.count, tables, limit_low, limit_high, candidate);
#if !WRITE
                    if (candidate || delay == TOO_LONG) {
                        u64 slot = atomicAdd(&results[2], 1ull);
                        u64 entry = offset + (i << common) + (delay == TOO_LONG ? UNKNOWN : 0);
                        if (slot < list_length) results[4 + slot] = entry;
                        if (delay == TOO_LONG) delay = 0;
                    }
#endif
                } else {
                    delay = count + tables.small_delay(v.w[0]);
#if WRITE
                    delay = min(delay, TOO_LONG);
#endif
                }
#if WRITE
                out[offset + ((u64)(own - left) << common)] = (u16)delay;
#else
                own_sum += delay;
                if (delay > best) best = delay, best_left = left;
#endif
                left--;
                u64 carry = lane.power;
#pragma unroll
                for (u32 j = 0; j < WORDS; j++) {
                    carry += start.w[j];
                    start.w[j] = low(carry), carry >>= 32;
                }
                v = start, seen = start, count = lane.count;
            }
        }
#if !WRITE
#if MERGED
        sum += (u64)own_sum * weight;
#else
        sum += own_sum;
#endif
        u64 place = offset + ((u64)(own - best_left) << common);
        key = max(key, ((u64)best << OFFSET_BITS) + ((1ull << OFFSET_BITS) - 1 - place));
#endif
    }
#if !WRITE
    for (u32 apart = 16; apart > 0; apart /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, apart);
        key = max(key, __shfl_xor_sync(0xffffffffu, key, apart));
    }
    if (id == 0) {
        atomicAdd(&results[0], sum);
        atomicMax(&results[1], key);
    }
#endif
}
