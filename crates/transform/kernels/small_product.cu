// Products in Z/pZ, p = r^k + 1, as sums for each digit: column j of a·b is
// Σ_(i ≤ j) a_i·b_(j − i) − Σ_(i > j) a_i·b_(j − i + k), as r^k = −1.
//
//   DIGITS    k
//   GROUP     columns of a thread, a divisor of k; there are blockIdx.y groups
//   THREADS   threads of a block
#include "chain.cuh"

constexpr u32 GROUPS = DIGITS / GROUP;

// A sum of signed products of words of 64 bits, of absolute value below 2^151: the 32-bit words at even
// places, and those at odd places, each in two's complement.
struct Sum {
    u32 even[5], odd[3];

    DEVICE void add_product(u64 a, u64 b) {
        multiply_add_first(even[0], even[1], low(a), low(b));
        multiply_add_carried(even[2], even[3], high(a), high(b));
        even[4] = add_last(even[4], 0);
        multiply_add_first(odd[0], odd[1], low(a), high(b));
        odd[2] = add_last(odd[2], 0);
        multiply_add_first(odd[0], odd[1], high(a), low(b));
        odd[2] = add_last(odd[2], 0);
    }
    DEVICE void negate() {
        even[0] = sub_first(0, even[0]);
#pragma unroll
        for (u32 i = 1; i < 4; i++) even[i] = sub_carried(0, even[i]);
        even[4] = sub_last(0, even[4]);
        odd[0] = sub_first(0, odd[0]);
        odd[1] = sub_carried(0, odd[1]);
        odd[2] = sub_last(0, odd[2]);
    }
    // Writes the sum as three words of 64 bits.
    DEVICE void words(u64 (&w)[3]) const {
        u32 sign = (u32)((i32)even[4] >> 31), sign_odd = (u32)((i32)odd[2] >> 31);
        u32 w1 = add_first(even[1], odd[0]), w2 = add_carried(even[2], odd[1]);
        u32 w3 = add_carried(even[3], odd[2]), w4 = add_carried(even[4], sign_odd);
        u32 w5 = add_last(sign, sign_odd);
        w[0] = join(even[0], w1), w[1] = join(w2, w3), w[2] = join(w4, w5);
    }
};

// Digit j of element i is at j·count + i, with the count of each array; word w of sum j is at
// (w·k + j)·count + i, in two's complement. Elements belong to vectors of N = 2^log2. The factors
// depend on `which`:
//   0   element i of a, and element i mod N of b
//   1   the same, with element −i mod N of each vector of a
//   2   the power n² mod 2N of a root, n = i mod N: a has its powers by 2^low, b the lower ones
//   3   the same for −n²
extern "C" __global__ void __launch_bounds__(THREADS)
    product(u64* sums, const u64* a, const u64* b, u64 a_count, u64 b_count, u64 count, u32 log2, u32 low_bits,
            u32 which) {
    u64 i = (u64)blockIdx.x * THREADS + threadIdx.x;
    if (i >= count) return;
    u64 mask = (1ull << log2) - 1, n = i & mask;
    u64 a_at = i, b_at = n;
    if (which == 1) a_at = (i & ~mask) | (0 - n & mask);
    if (which >= 2) {
        u64 e = (which == 2 ? n * n : 0 - n * n) & (2 * mask + 1);
        a_at = e >> low_bits, b_at = e & ((1ull << low_bits) - 1);
    }
    a += a_at, b += b_at;
    u32 own = blockIdx.y;
    Sum columns[GROUP] = {};
    // The digits of b in block `own` − `block`, and in the block below.
    u64 here[GROUP], below[GROUP];
#pragma unroll
    for (u32 t = 0; t < GROUP; t++) here[t] = b[(own * GROUP + t) * b_count];
#pragma unroll 1
    for (u32 block = 0; block < GROUPS; block++) {
        u32 next = (own + GROUPS - block - 1) % GROUPS;
#pragma unroll
        for (u32 t = 0; t < GROUP; t++) below[t] = b[(next * GROUP + t) * b_count];
#pragma unroll
        for (u32 t = 0; t < GROUP; t++) {
            u64 digit = a[(block * GROUP + t) * a_count];
#pragma unroll
            for (u32 j = 0; j < GROUP; j++) {
                // From here on sums have the opposite sign.
                if (block == own && t == j + 1) columns[j].negate();
                columns[j].add_product(digit, j >= t ? here[j - t] : below[GROUP + j - t]);
            }
        }
        if (block == own) columns[GROUP - 1].negate();
#pragma unroll
        for (u32 t = 0; t < GROUP; t++) here[t] = below[t];
    }
#pragma unroll
    for (u32 j = 0; j < GROUP; j++) {
        columns[j].negate();
        u64 digit = own * GROUP + j;
        u64 w[3];
        columns[j].words(w);
#pragma unroll
        for (u32 t = 0; t < 3; t++) sums[(t * DIGITS + digit) * count + i] = w[t];
    }
}
