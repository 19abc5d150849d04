// Walks the long numbers in the places from `from` to `until` of their list exactly, in 128 bits,
// until a step of the walk ends below the number. A thread walks one number after the other. A
// place is empty, and skipped, if its node index is not below `count`.
//
// `tall` lists the numbers with a value of at least `threshold` at the start or the end of a step.
// `given_up` lists the numbers that exceed 128 bits or take more than `most` steps of the walk.
// Each list has a count, then two words of 64 bits per number; numbers that do not fit in the list
// are only counted. sums[0] and sums[2] are both the sum of odd steps of the numbers that are not
// given up, sums[1] is their count. ends[i] is the number of odd steps of the number in place i, or
// GIVEN_UP.
//
//   THREADS   threads per block, a multiple of 32
//   STEP      bits of a step of the walk
//   POWERS    the most powers of 3
#include "sieve.cuh"

// Three blocks of 512 threads leave 40 registers per thread, which suffice except on the latest
// devices. Devices before compute capability 8.0 do not support so many threads.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && __CUDA_ARCH__ < 1200
#define BOUNDS __launch_bounds__(THREADS, 3)
#else
#define BOUNDS __launch_bounds__(THREADS)
#endif


DEVICE void list(u64* to, u32 length, Long n) {
    u64 place = atomicAdd(to, 1ull);
    if (place >= length) return;
    to[1 + 2 * place] = join(n.w[0], n.w[1]);
    to[2 + 2 * place] = join(n.w[2], n.w[3]);
}

extern "C" __global__ void BOUNDS
    sieve_long(const uint4* nodes, u32 count, const u64* listed, u32 from, u32 until, const uint4* powers, const u32* steps, u32 level,
               u32 top_0, u32 top_1, u32 top_2, u32 top_3, u32 threshold_0, u32 threshold_1, u32 threshold_2, u32 threshold_3,
               u32 most, u64* tall, u32 tall_length, u64* given_up, u32 given_up_length, u64* sums, unsigned short* ends) {
    DYNAMIC_SHARED(uint4, powers_here);
    u32* table = (u32*)(powers_here + POWERS);
    for (u32 i = threadIdx.x; i < POWERS; i += THREADS) powers_here[i] = powers[i];
    for (u32 i = threadIdx.x; i < 1u << STEP; i += THREADS) table[i] = steps[i];
    __syncthreads();
    Long threshold = {{threshold_0, threshold_1, threshold_2, threshold_3}};
    u64 sum = 0;
    u32 numbers = 0;
    // The entry after the next one and the next node are fetched while a number is walked.
    u32 i = from + blockIdx.x * THREADS + threadIdx.x, stride = gridDim.x * THREADS;
    u64 entry = i < until ? listed[i] : NOBODY, next = i + stride < until ? listed[i + stride] : NOBODY;
    uint4 low_part = make_uint4(0, 0, 0, 0), path = low_part;
    if (entry >> 10 < count) low_part = nodes[2 * (entry >> 10)], path = nodes[2 * (entry >> 10) + 1];
    for (; i < until; i += stride) {
        u64 this_entry = entry;
        uint4 this_low = low_part, this_path = path;
        entry = next;
        if (entry >> 10 < count) low_part = nodes[2 * (entry >> 10)], path = nodes[2 * (entry >> 10) + 1];
        next = i + 2 * (u64)stride < until ? listed[i + 2 * stride] : NOBODY;
        if (this_entry >> 10 >= count) continue;
        u32 odd = this_low.w & 127;
        // t = top + a; n = low + t·2^level; x = path + t·3^odd, below 2^128.
        Long t = add({{top_0, top_1, top_2, top_3}}, {{(u32)this_entry & 1023, 0, 0, 0}});
        Long power = join(powers_here[odd]), x = join(this_path);
#pragma unroll
        for (u32 word = 0; word < 4; word++) {
            x = multiply_add(x, power, t.w[word]);
            power = {{0, power.w[0], power.w[1], power.w[2]}};
        }
        Long n = {{this_low.x, this_low.y, this_low.z, 0}}, shifted;
        u32 words = level / 32, bits = level % 32;
#pragma unroll
        for (u32 word = 0; word < 4; word++) {
            u32 upper = word >= words ? t.w[word - words] : 0, lower = word > words ? t.w[word - words - 1] : 0;
            shifted.w[word] = __funnelshift_l(lower, upper, bits);
        }
        n = add(n, shifted);
        bool is_tall = !less(x, threshold), lost = false;
        u32 turns = 0;
        while (!less(x, n)) {
            u32 word = table[x.w[0] & ((1u << STEP) - 1)], m = powers_here[word >> 2 & 15].x;
            u64 carry = word >> 10;
#pragma unroll
            for (u32 w = 0; w < 4; w++) {
                u32 part = w < 3 ? __funnelshift_r(x.w[w], x.w[w < 3 ? w + 1 : 3], STEP) : x.w[3] >> STEP;
                carry += (u64)part * m;
                x.w[w] = low(carry);
                carry = high(carry);
            }
            odd += word >> 2 & 15;
            is_tall |= !less(x, threshold);
            if (carry || ++turns > most) {
                lost = true;
                break;
            }
        }
        ends[i] = lost ? GIVEN_UP : (unsigned short)odd;
        if (lost) {
            // A lost number is counted only by its list, so that the host notices if the list is
            // lost.
            list(given_up, given_up_length, n);
        } else {
            numbers++;
            sum += odd;
            if (is_tall) list(tall, tall_length, n);
        }
    }
    numbers = warp_sum(numbers);
#pragma unroll
    for (u32 apart = 16; apart; apart /= 2) sum += __shfl_down_sync(0xffffffffu, sum, apart);
    if (threadIdx.x % 32 == 0 && numbers) {
        atomicAdd(&sums[0], sum);
        atomicAdd(&sums[1], (u64)numbers);
        atomicAdd(&sums[2], sum);
    }
}
