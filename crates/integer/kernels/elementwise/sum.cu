// Sums and differences of numbers, with their carries.
//
//   A_LIMBS, B_LIMBS, OUT_LIMBS   limbs; a shorter operand is followed by zeros
//   CHUNK                         limbs that a thread adds by itself: 1, 2 or 4, a factor of these
//   NUMBERS, WINDOWS, THREADS     a block has NUMBERS numbers, a warp WINDOWS times 32 chunks of them
//   SUBTRACT                      0: a + b, 1: a − b; carries are then borrows
//
// The chunks of a block's numbers form a row that fills whole warps; the boundaries of numbers
// matter only in that no carry leaves the last chunk of one. A chunk generates a carry (G), or it
// is all ones (all zeros for a difference) and propagates one (P), never both. Let T_i be the carry
// of chunk i − 1. The bits that change from P to P + T are the carries into all chunks, because the
// addition propagates a carry exactly where T and P are both 1. (CGBN resolves carries in this
// way.)
#include "chain.cuh"

constexpr u32 WARPS = THREADS / 32;
constexpr u32 CHUNKS = OUT_LIMBS / CHUNK;
// Whether a number may extend over two warps.
constexpr bool SHARED_NUMBERS = WINDOWS * 32 % CHUNKS != 0;

struct __align__(4 * CHUNK) Chunk {
    u32 limbs[CHUNK];
};

template <u32 LIMBS>
DEVICE Chunk load(const u32* numbers, u64 stride, u32 number, u32 chunk) {
    if (LIMBS < OUT_LIMBS && chunk >= LIMBS / CHUNK) return {};
    const Chunk* from = (const Chunk*)(numbers + number * stride) + chunk;
    return *from;
}

// Computes x + y or x − y; returns the carry.
DEVICE bool combine(Chunk& x, const Chunk& y) {
#pragma unroll
    for (u32 i = 0; i < CHUNK; i++) {
        u32 a = x.limbs[i], b = y.limbs[i];
        if constexpr (SUBTRACT) {
            x.limbs[i] = i == 0 ? sub_first(a, b) : sub_carried(a, b);
        } else {
            x.limbs[i] = i == 0 ? add_first(a, b) : add_carried(a, b);
        }
    }
    return (SUBTRACT ? sub_last(0, 0) : add_last(0, 0)) != 0;
}

// Returns whether a carry passes through.
DEVICE bool passes(const Chunk& x) {
    u32 all = x.limbs[0];
#pragma unroll
    for (u32 i = 1; i < CHUNK; i++) all = SUBTRACT ? all | x.limbs[i] : all & x.limbs[i];
    return all == (SUBTRACT ? 0 : 0xffffffffu);
}

// Returns the carries into 32 chunks; bit 32 is the carry out of them.
DEVICE u64 carries_into(u32 gives, u32 passes_on, u32 carry) {
    return (((u64)gives << 1 | carry) + passes_on) ^ passes_on;
}

// Returns the carry into this warp, from what each warp passes on with and without a carry in.
DEVICE u32 carry_from_warps(bool gives, bool passes_on) {
    __shared__ unsigned char hands_on[WARPS];
    u32 warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) hands_on[warp] = gives | passes_on << 1;
    __syncthreads();
    u32 other = lane < WARPS ? hands_on[lane] : 0;
    u32 g = __ballot_sync(0xffffffffu, other & 1), p = __ballot_sync(0xffffffffu, other == 2);
    return carries_into(g, p, 0) >> warp & 1;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    sum(const u32* a, const u32* b, u32* out, unsigned char* carries, u64 a_stride, u64 b_stride,
        u32 count) {
    u32 first = blockIdx.x * NUMBERS, numbers = min(count - first, (u32)NUMBERS);
    a += first * a_stride, b += first * b_stride, out += (u64)first * OUT_LIMBS;
    u32 lane = threadIdx.x % 32, at = threadIdx.x / 32 * WINDOWS * 32 + lane;

    Chunk x[WINDOWS], y[WINDOWS];
#pragma unroll
    for (u32 w = 0; w < WINDOWS; w++) {
        u32 number = (at + 32 * w) / CHUNKS, chunk = (at + 32 * w) % CHUNKS;
        x[w] = y[w] = {};
        if (number < numbers) {
            x[w] = load<A_LIMBS>(a, a_stride, number, chunk);
            y[w] = load<B_LIMBS>(b, b_stride, number, chunk);
        }
    }
    u32 gives[WINDOWS], passes_on[WINDOWS], ends[WINDOWS];
    u32 carry = 0;
    bool whole = true;
#pragma unroll
    for (u32 w = 0; w < WINDOWS; w++) {
        bool g = combine(x[w], y[w]);
        gives[w] = __ballot_sync(0xffffffffu, g);
        passes_on[w] = __ballot_sync(0xffffffffu, passes(x[w]));
        ends[w] = __ballot_sync(0xffffffffu, (at + 32 * w) % CHUNKS == CHUNKS - 1);
        if constexpr (SHARED_NUMBERS) {
            u32 p = passes_on[w] & ~ends[w];
            carry = carries_into(gives[w] & ~ends[w], p, carry) >> 32;
            whole = whole && p == 0xffffffffu;
        }
    }
    // If all chunks propagate a carry, none generates one.
    carry = SHARED_NUMBERS ? carry_from_warps(carry, whole) : 0;
#pragma unroll
    for (u32 w = 0; w < WINDOWS; w++) {
        u32 number = (at + 32 * w) / CHUNKS, chunk = (at + 32 * w) % CHUNKS;
        u64 into = carries_into(gives[w] & ~ends[w], passes_on[w] & ~ends[w], carry);
        carry = into >> 32;
        u32 mine = into >> lane & 1;
        Chunk none = {{mine}};
        combine(x[w], none);
        if (number < numbers) {
            ((Chunk*)(out + (u64)number * OUT_LIMBS))[chunk] = x[w];
            if (carries != nullptr && chunk == CHUNKS - 1) {
                carries[first + number] = (gives[w] >> lane | (passes_on[w] >> lane & mine)) & 1;
            }
        }
    }
}
