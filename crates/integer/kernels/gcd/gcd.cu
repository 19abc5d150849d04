// Greatest common divisors by division steps, with the numbers in the registers of groups of lanes,
// or of a block.
//
//   A_LIMBS, B_LIMBS   limbs of the operands; the results have as many as the wider ones
//   LANES, LIMBS, THREADS   see division_steps.cuh; BLOCKS blocks per multiprocessor
#include "division_steps.cuh"

// A number's shared memory holds a and b, each followed by two zeros; later f, followed by the
// result. A block with one number keeps operands and result in global memory.
constexpr bool APART = LANES > 32;
constexpr u32 OF_B = WIDE + 2, OF_RESULT = WHOLE + 2;
constexpr u32 PLACES = APART ? OF_RESULT : (OF_RESULT + WIDE > 2 * OF_B ? OF_RESULT + WIDE : 2 * OF_B) | 1;

template <u32 COUNT>
DEVICE void load(u32* places, const u32* from, u64 stride, u32 numbers) {
    for (u32 t = threadIdx.x; t < NUMBERS * OF_B; t += THREADS) {
        u32 number = t / OF_B, limb = t % OF_B;
        bool is_there = number < numbers && limb < COUNT;
        places[number * PLACES + limb] = is_there ? from[number * stride + limb] : 0;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    gcd(const u32* a, const u32* b, u32* out, u64 a_stride, u64 b_stride, u32 count) {
    DYNAMIC_SHARED(u32, places);
    u32 first = blockIdx.x * NUMBERS, numbers = min(count - first, NUMBERS), lane = lane_of_group();
    a += first * a_stride, b += first * b_stride, out += (u64)first * WIDE;
    u32* own = places + threadIdx.x / LANES * PLACES;
    Number of_a = {own, OF_B}, of_b = {own + OF_B, OF_B};
    if constexpr (APART) {
        of_a = {a, A_LIMBS}, of_b = {b, B_LIMBS};
    } else {
        load<A_LIMBS>(places, a, a_stride, numbers);
        load<B_LIMBS>(places + OF_B, b, b_stride, numbers);
        __syncthreads();
    }
    Start start(of_a, of_b);
    i32 f[LIMBS], g[LIMBS];
    start.take(f, g);
    i32 delta = 1;
    while (true) {
        i32 any = 0;
#pragma unroll
        for (u32 i = 0; i < LIMBS; i++) any |= g[i];
        if (!any_says(any != 0)) break;
        u64 lowest = of_lane(join((u32)f[0], (u32)g[0]), 0);
        transform(f, g, steps(delta, low(lowest), high(lowest)));
    }
    meet();
#pragma unroll
    for (u32 i = 0; i < LIMBS; i++) own[lane * LIMBS + i] = (u32)f[i];
    if (lane == 0) own[WHOLE] = own[WHOLE + 1] = 0;
    meet();
    if (lane == 0) make_canonical((i32*)own);
    meet();
    for (u32 i = lane; i < WIDE; i += LANES) {
        (APART ? out : own + OF_RESULT)[i] = word_of(own, i, start.zeros);
    }
    if constexpr (APART) return;
    __syncthreads();
    for (u32 t = threadIdx.x; t < numbers * WIDE; t += THREADS) {
        out[t] = places[t / WIDE * PLACES + OF_RESULT + t % WIDE];
    }
}
