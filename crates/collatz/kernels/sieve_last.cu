// Sieves the last bits of nodes, and walks the surviving numbers (see src/sieve/sieve.md). A warp
// processes 32 nodes at a time. It sieves the 1,024 numbers of one node after the other, one word
// of 32 numbers per lane. Survivors wait in shared memory until 32 of them can be walked, one per
// lane. Long numbers, which no rule excludes in any stage of the walk, are written to a list.
//
// The nodes that are processed together have a tally, which the host may recompute. tallies[i] is
// the tally of the nodes from start + 32·i on: {numbers walked, odd steps of numbers that a rule
// excluded, long numbers, mark}. `sums` has the first two sums over all nodes.
//
//   THREADS   threads per block, a multiple of 32
//   BLOCKS    blocks per multiprocessor
//   STEP      bits of a step of the walk
//   LOOK      the vectors have 2^LOOK bits
//   CLASSES   vectors
#include "index.cuh"
#include "sieve.cuh"

const u32 ALL = 0xffffffffu;
const u32 WARPS = THREADS / 32;
const u32 STAGES = 96 / STEP;
// Of the 1,024 numbers of a node, at most 5·1,024/9 + 1 survive the rule of residues modulo 9;
// without that rule all may survive. Up to 31 numbers may have waited before.
const u32 WAITING = 1024 + 32;

struct Node {
    // base: T^K of the node's first number mod 2^96, and the number of odd steps. power: 3^odd mod
    // 2^96.
    uint4 base, power;
};

struct Shared {
    // At the start of the structure, so that bits 2 to 5 of a table word are the offset of a power.
    u32 rises[16];
    Node nodes[WARPS][32];
    u32 steps[1 << STEP];
    u32 mod_9[9 * 32];
    // For each warp: numbers walked, and odd steps of numbers that a rule excluded.
    u64 sums[WARPS][2];
    unsigned short waiting[WARPS][WAITING];
};

// Computes x ← (x >> STEP)·m + c. The next stages need WIDTH bits of the result.
template <u32 WIDTH>
DEVICE void step(u32 (&x)[3], u32 m, u32 c) {
    u32 a = __funnelshift_r(x[0], x[1], STEP);
    if constexpr (WIDTH <= 32) {
        x[0] = a * m + c;
    } else {
        u32 b = __funnelshift_r(x[1], x[2], STEP);
        u64 t = (u64)a * m + c;
        x[0] = low(t);
        if constexpr (WIDTH <= 64) {
            x[1] = b * m + high(t);
        } else {
            t = (u64)b * m + high(t);
            x[1] = low(t);
            x[2] = (x[2] >> STEP) * m + high(t);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    sieve_last(const uint4* nodes, const u32* count, u32* taken, const u32* vectors, const uint4* powers,
               const u32* inverses, const u32* steps, const u32* mod_9, const u32* least, u32 top_0, u32 top_1, u32 top_2,
               u64* listed, u32* list_count, u32 list_length, u64* sums, uint4* tallies, u32 start, u32 mark) {
    DYNAMIC_SHARED(unsigned char, bytes);
    Shared& shared = *(Shared*)bytes;
    for (u32 i = threadIdx.x; i < 1u << STEP; i += THREADS) shared.steps[i] = steps[i];
    for (u32 i = threadIdx.x; i < 9 * 32; i += THREADS) shared.mod_9[i] = mod_9[i];
    if (threadIdx.x < 16) shared.rises[threadIdx.x] = powers[threadIdx.x].x;
    if (threadIdx.x % 32 < 2) shared.sums[threadIdx.x / 32][threadIdx.x % 32] = 0;
    __syncthreads();
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, below = (1u << lane) - 1;
    Node* group = shared.nodes[warp];
    unsigned short* waiting = shared.waiting[warp];
    // Numbers of odd steps are multiplied by 4, as in the words of the table.
    u32 total = *count, leasts[STAGES];
#pragma unroll
    for (u32 i = 0; i < STAGES; i++) leasts[i] = 4 * least[i];
    // Totals of the current nodes.
    u32 walked_here = 0, sum_here = 0, long_here = 0;
    u32 place = 0, places = 0;
    bool full = false;

    // Walks `numbers` waiting numbers, one per lane, whose entries begin at index `from`. `first`
    // is the index of the first node.
    auto walk = [&](u32 first, u32 from, u32 numbers) {
        u32 entry = waiting[from + lane], a = entry & 1023;
        // Lanes without a number use any entry that waited before.
        Node node = group[entry >> 10 & 31];
        bool alive = lane < numbers;
        u32 x[3], odd = 4 * node.base.w;
        u64 t = (u64)node.power.x * a + node.base.x;
        x[0] = low(t);
        t = (u64)node.power.y * a + ((u64)node.base.y + high(t));
        x[1] = low(t);
        x[2] = node.power.z * a + node.base.z + high(t);
        unrolled<0, STAGES>([&](auto index) {
            constexpr u32 stage = VALUE(index);
            constexpr bool asks = (stage + 1) * STEP > LOOK;
            u32 word = 0;
            if (!asks || alive) word = shared.steps[x[0] & ((1u << STEP) - 1)];
            if constexpr (asks) {
                bool killed = odd < leasts[stage] + (word >> 4 & 60);
                if (alive && killed) sum_here += odd;
                alive = alive && !killed;
            }
            if constexpr (stage + 1 < STAGES) {
                u32 rise = word & 60;
                step<STEP*(STAGES - 1 - stage)>(x, *(const u32*)(bytes + rise), word >> 10);
                odd += rise;
            }
        });
        u32 vote = __ballot_sync(ALL, alive);
        u32 long_ones = __popc(vote);
        long_here += long_ones;
        if (long_ones > places && !full) {
            // The remaining places stay empty.
            for (u32 i = lane; i < places; i += 32) listed[place + i] = NOBODY;
            if (lane == 0) place = atomicAdd(list_count, PLACES);
            place = __shfl_sync(ALL, place, 0);
            places = PLACES;
            // The host detects by the count that a list is too short. A warp reserves nothing after
            // that, because all long numbers of a chunk may be more than 2^32.
            full = place > list_length - PLACES;
        }
        if (full) return;
        if (alive) listed[place + __popc(vote & below)] = ((u64)first << 10) + entry;
        place += long_ones;
        places -= long_ones;
    };

    while (true) {
        u32 first = 0;
        if (lane == 0) first = atomicAdd(taken, 32);
        first = __shfl_sync(ALL, first, 0);
        if (first >= total) break;
        u32 have = min(32u, total - first), index = 0, odd = 0, row = 0;
        __syncwarp();
        if (lane < have) {
            uint4 low_part = nodes[2 * (u64)(first + lane)], path = nodes[2 * (u64)(first + lane) + 1];
            odd = low_part.w & 127;
            uint4 p = powers[odd];
            // path + top·3^odd mod 2^96.
            u64 t = (u64)p.x * top_0 + path.x;
            u32 x0 = low(t);
            t = (u64)p.y * top_0 + ((u64)path.y + high(t));
            u64 v = (u64)p.x * top_1 + low(t);
            u32 x1 = low(v);
            u32 x2 = path.z + p.z * top_0 + high(t) + p.y * top_1 + high(v) + p.x * top_2;
            group[lane] = {make_uint4(x0, x1, x2, odd), p};
            index = inverses[odd] * x0;
            // 2^18 ≡ 1 mod 9.
            row = ((low_part.x & 0x3ffff) + (low_part.x >> 18) + 4 * ((low_part.y & 0x3ffff) + (low_part.y >> 18)) +
                   7 * ((low_part.z & 0x3ffff) + (low_part.z >> 18))) % 9;
        }
        __syncwarp();
        // The words of a node's vector: this lane's, and in the last lane also the following one.
        // The words of the next node are fetched while the numbers of this one are walked.
        auto fetch = [&](u32 node) {
            u32 at = __shfl_sync(ALL, index, node), vector = __shfl_sync(ALL, odd, node) - leasts[0] / 4;
            uint2 words = make_uint2(ALL, ALL);
            if (vector < CLASSES) {
                const u32* from = vectors + ((u64)vector << (LOOK - 5));
                const u32 mask = (1u << (LOOK - 5)) - 1;
                words.x = from[(at / 32 + lane) & mask];
                if (lane == 31) words.y = from[(at / 32 + 32) & mask];
            }
            return words;
        };
        u32 waits = 0;
        uint2 next = fetch(0);
        for (u32 node = 0; node < have; node++) {
            uint2 words = next;
            if (node + 1 < have) next = fetch(node + 1);
            u32 upper = __shfl_down_sync(ALL, words.x, 1);
            if (lane == 31) upper = words.y;
            u32 left = __funnelshift_r(words.x, upper, __shfl_sync(ALL, index, node) & 31) &
                       shared.mod_9[__shfl_sync(ALL, row, node) * 32 + lane];
            // The places of this lane's numbers among the waiting ones.
            u32 mine = __popc(left), until = mine;
            walked_here += mine;
#pragma unroll
            for (u32 apart = 1; apart < 32; apart *= 2) {
                u32 other = __shfl_up_sync(ALL, until, apart);
                if (lane >= apart) until += other;
            }
            unsigned short* to = waiting + waits + until - mine;
            while (left) {
                *to++ = (unsigned short)(node << 10 | lane << 5 | (__ffs(left) - 1));
                left &= left - 1;
            }
            waits += __shfl_sync(ALL, until, 31);
            __syncwarp();
            while (waits >= 32) {
                waits -= 32;
                walk(first, waits, 32);
            }
            __syncwarp();
        }
        if (waits) walk(first, 0, waits);
        walked_here = warp_sum(walked_here);
        sum_here = warp_sum(sum_here / 4);
        if (lane == 0) {
            tallies[(first - start) / 32] = make_uint4(walked_here, sum_here, long_here, mark);
            shared.sums[warp][0] += walked_here;
            shared.sums[warp][1] += sum_here;
        }
        walked_here = sum_here = long_here = 0;
        __syncwarp();
    }
    for (u32 i = lane; i < places && !full; i += 32) listed[place + i] = NOBODY;
    if (lane < 2) atomicAdd(&sums[lane], shared.sums[warp][lane]);
}
