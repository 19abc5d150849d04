// Queries of the host after the walks of a list of nodes: see src/gpu/sieve/challenge.rs.
//
//   THREADS   threads per block, a multiple of 32
#include "sieve.cuh"

const u32 ALL = 0xffffffffu;
// The number of nodes per tally.
const u32 TAKE = 32;
// The number of words of an answer before its long numbers.
const u32 HEAD = 4 + 4 * TAKE;

// Returns the index of a key among `count` ascending keys of 96 bits; `count` if it is not among
// them.
DEVICE u32 place_of(uint4 key, const uint4* keys, u32 count) {
    u64 upper = join(key.y, key.z);
    u32 from = 0, to = count;
    while (from < to) {
        u32 middle = (from + to) / 2;
        uint4 other = keys[middle];
        u64 of_other = join(other.y, other.z);
        if (of_other == upper && other.x == key.x) return middle;
        if (of_other < upper || (of_other == upper && other.x < key.x)) from = middle + 1;
        else to = middle;
    }
    return count;
}

// Searches for the nodes with given low bits from index `from` to `until`. found[2i] becomes the
// index of the node of keys[i], found[2i + 1] the number of matches. All must be 0 before.
extern "C" __global__ void __launch_bounds__(THREADS)
    sieve_find(const uint4* nodes, u32 from, u32 until, const uint4* keys, u32 count, u32* found) {
    for (u32 i = from + blockIdx.x * THREADS + threadIdx.x; i < until; i += gridDim.x * THREADS) {
        u32 place = place_of(nodes[2 * (u64)i], keys, count);
        if (place == count) continue;
        found[2 * place] = i;
        atomicAdd(&found[2 * place + 1], 1);
    }
}

// Adds the tallies of sieve_last.cu to four sums: numbers walked; odd steps of numbers that a rule
// excluded; long numbers; tallies with this mark.
extern "C" __global__ void __launch_bounds__(THREADS)
    sieve_sum(const uint4* tallies, u32 count, u32 mark, u64* sums) {
    u64 parts[4] = {0, 0, 0, 0};
    for (u32 i = blockIdx.x * THREADS + threadIdx.x; i < count; i += gridDim.x * THREADS) {
        uint4 tally = tallies[i];
        parts[0] += tally.x;
        parts[1] += tally.y;
        parts[2] += tally.z;
        parts[3] += tally.w == mark;
    }
#pragma unroll
    for (u32 part = 0; part < 4; part++) {
#pragma unroll
        for (u32 apart = 16; apart; apart /= 2) parts[part] += __shfl_down_sync(0xffffffffu, parts[part], apart);
        if (threadIdx.x % 32 == 0 && parts[part]) atomicAdd(&sums[part], parts[part]);
    }
}

// Writes an answer for each node that sieve_find has found, by key. An answer has: the index of the
// node and the number of matches, from `found`, in one word; the number of long numbers, which must
// be 0 before; the tally of the 32 nodes processed together with the node; these nodes; and two
// words for each of their long numbers, its list entry and its odd steps. Only the first `room`
// long numbers are written, but all are counted. Only the nodes from `from` to `until` were walked.
//
// A warp of sieve_last.cu processes nodes in ascending order. So a warp of this kernel reads the
// first entry and the last 32 of PLACES entries. It reads all of them only if the nodes may be
// among them. In total it reads about a seventh of the list.
extern "C" __global__ void __launch_bounds__(THREADS)
    sieve_take(const uint4* nodes, u32 from, u32 until, const uint4* tallies, const u64* listed,
               const unsigned short* ends, u32 places, const uint2* found, u32 count, u64* answers, u32 room) {
    const u64 words = HEAD + 2 * (u64)room;
    auto is_found = [&](uint2 key) { return key.y && key.x >= from && key.x < until; };
    auto first_of = [&](uint2 key) { return key.x - (key.x - from) % TAKE; };
    for (u32 i = blockIdx.x; i < count; i += gridDim.x) {
        u64* answer = answers + i * words;
        uint2 key = found[i];
        if (threadIdx.x == 0) answer[0] = join(key.x, key.y);
        if (!is_found(key)) continue;
        u32 first = first_of(key), have = min(TAKE, until - first);
        uint4 tally = tallies[(first - from) / TAKE];
        if (threadIdx.x == 0) answer[2] = join(tally.x, tally.y);
        if (threadIdx.x == 0) answer[3] = join(tally.z, tally.w);
        for (u32 part = threadIdx.x; part < 2 * have; part += THREADS) {
            uint4 words_of = nodes[2 * (u64)first + part];
            answer[4 + 2 * part] = join(words_of.x, words_of.y);
            answer[5 + 2 * part] = join(words_of.z, words_of.w);
        }
    }
    u32 lane = threadIdx.x % 32, warps = gridDim.x * (THREADS / 32);
    for (u32 group = (blockIdx.x * THREADS + threadIdx.x) / 32; group < places / PLACES; group += warps) {
        const u64* entries = listed + (u64)group * PLACES;
        u64 head = entries[0] >> 10, tail = entries[PLACES - 32 + lane];
        // The last places of a launch may be empty as well.
        bool is_open = !__ballot_sync(ALL, tail != NOBODY);
        for (u32 i = 0; i < count; i++) {
            uint2 key = found[i];
            u32 first = is_found(key) ? first_of(key) : ~0u;
            bool is_before = !is_open && !__ballot_sync(ALL, tail != NOBODY && tail >> 10 >= first);
            if (first == ~0u || is_before || head >= (u64)first + TAKE) continue;
            u64* answer = answers + i * words;
            for (u32 j = lane; j < PLACES; j += 32) {
                u64 entry = entries[j];
                if (entry == NOBODY || (entry >> 10) - first >= TAKE) continue;
                u64 place = atomicAdd(&answer[1], 1ull);
                if (place >= room) continue;
                answer[HEAD + 2 * place] = entry;
                answer[HEAD + 2 * place + 1] = ends[(u64)group * PLACES + j];
            }
        }
    }
}
