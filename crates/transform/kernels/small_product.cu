// Products in Z/pZ, p = r^k + 1, as sums for each digit: column j of a·b is
// Σ_(i ≤ j) a_i·b_(j − i) − Σ_(i > j) a_i·b_(j − i + k), as r^k = −1.
//
//   DIGITS    k
//   GROUP     columns of a thread, which divides k; blockIdx.y of them
//   THREADS   of a block
#include "ptx.cuh"

constexpr u32 GROUPS = DIGITS / GROUP;

struct Sum {
    u64 w0, w1, w2;

    DEVICE void add_product(u64 a, u64 b) {
        u64 lo = a * b, hi = __umul64hi(a, b);
        w0 += lo;
        hi += w0 < lo;
        w1 += hi;
        w2 += w1 < hi;
    }
    DEVICE void negate() {
        w0 = ~w0 + 1;
        w1 = ~w1 + (w0 == 0);
        w2 = ~w2 + (w0 == 0 && w1 == 0);
    }
};

// Digit j of element i at j·count + i, for each count; word w of sum j at (w·k + j)·count + i, two's complement.
// Elements are those of vectors of N = 2^log2. By `which`:
//   0   a's i-th by the (i mod N)-th of b
//   1   the same, but of a's vectors the element −i mod N
//   2   power n² mod 2N, n = i mod N, of a root: a has those of its powers by 2^low, b the lower ones
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
    // b's digits of block `own` − `block`, and of the one below that.
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
                // From here on sums are of the other sign.
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
        sums[digit * count + i] = columns[j].w0;
        sums[(DIGITS + digit) * count + i] = columns[j].w1;
        sums[(2 * DIGITS + digit) * count + i] = columns[j].w2;
    }
}
