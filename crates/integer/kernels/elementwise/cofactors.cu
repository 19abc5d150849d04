// Chooses between two pairs of cofactors of a greatest common divisor: the one with the least |x|,
// with x positive if both are least.
//
// P and Q are a and b divided by their greatest common divisor, or b and a if the byte is nonzero,
// and d·Q − n·P = 1 with 0 ≤ d ≤ P and 0 ≤ n ≤ Q. A second solution is d − P and n − Q; the inputs
// d_less = P − d and n_less = Q − n are its negatives. All have `wide` limbs. x belongs to a, y to
// b:
//
//     byte 0: P is odd                 x, y = d, −n or −d_less, n_less, the latter unless d < d_less
//     byte 1: Q is even, P odd or 0    x, y = −n, d or n_less, −d_less, the latter unless n < n_less
//
// If the two candidates are equal, they are 0 or, for Q = 2, n and n_less: then x is the positive
// one. For Q = 0 no such n ≥ 0 exists; the input n is −1 mod 2^(32·wide), n_less is 1, and the
// second pair is right.
#include "compare.cuh"

// Loads the limbs of a chunk of one of two numbers.
DEVICE Chunk load_one(const Places& places, const Batch& x, const Batch& y, bool of_y, u32 row, u32 from) {
    Batch it = {of_y ? y.data : x.data, of_y ? y.stride : x.stride, x.limbs};
    return places.load(it, row, from);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    cofactors(const u32* d, const u32* d_less, const u32* n, const u32* n_less, u64 stride, u64 n_stride, u32 wide,
              const unsigned char* bytes, u32* x, u32 x_limbs, u32* y, u32 y_limbs, unsigned char* x_negative,
              unsigned char* y_negative, u32 count) {
    Batch of_d = part_of(d, stride, wide), of_d_less = part_of(d_less, stride, wide);
    Batch of_n = part_of(n, n_stride, wide), of_n_less = part_of(n_less, stride, wide), nothing = {nullptr, 0, 0};
    u64 first = (u64)blockIdx.x * NUMBERS;
    Places places(count);
    if (places.none()) return;
    u32 of_ds[KEPT], of_ns[KEPT], some_n[KEPT], some_d_less[KEPT];
    comparisons(places, of_d, of_d_less, wide, of_ds);
    comparisons(places, of_n, of_n_less, wide, of_ns);
    comparisons(places, nothing, of_n, wide, some_n);
    comparisons(places, nothing, of_d_less, wide, some_d_less);
    bool swaps[KEPT], others[KEPT];
#pragma unroll
    for (u32 k = 0; k < KEPT; k++) {
        u32 i = places.number(k);
        bool is_there = i < places.count;
        swaps[k] = is_there && bytes[first + i] != 0;
        others[k] = (swaps[k] ? of_ns[k] : of_ds[k]) != LESS;
        bool is_negative = (others[k] ? some_d_less[k] : some_n[k]) == LESS;
        if (is_there && threadIdx.x % LANES == 0) {
            bool of_x = others[k] != swaps[k];
            x_negative[first + i] = is_negative && of_x;
            y_negative[first + i] = is_negative && !of_x;
        }
    }
    for (u32 from = 0; from < max(x_limbs, y_limbs); from += SEGMENT) {
#pragma unroll
        for (u32 r = 0; r < ROWS; r++) {
            u32 k = LONG ? 0 : r;
            Chunk of_q = load_one(places, of_d, of_d_less, others[k], r, from);
            Chunk of_p = load_one(places, of_n, of_n_less, others[k], r, from);
            for (u32 v = 0; v < VECTOR; v++) {
                u32 p = of_p.limbs[v], q = of_q.limbs[v];
                of_q.limbs[v] = swaps[k] ? p : q, of_p.limbs[v] = swaps[k] ? q : p;
            }
            places.store(x, x_limbs, r, from, of_q);
            places.store(y, y_limbs, r, from, of_p);
        }
    }
}
