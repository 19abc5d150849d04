// How carries pass from column to column: between the threads of a warp through the slots of their
// points, and between blocks through tagged words in global memory (columns.cu).
#pragma once
#include "column_steps.cuh"
#include "wait.cuh"
#include "words.cuh"

// Indices of `addend`.
constexpr u32 ADDEND_ROW = 1, ADDEND_COLUMN = 2, ADDEND_HALF = 3, ADDEND_BIT = 4;

// Indices of `tickets`: the next ticket (see wait.cuh); the ticket of the launch's last block, once the
// first block has read. Word 0 is not used: with these indices kernels spill the fewest registers.
constexpr u32 NEXT = 2, READ = 1;

// COARSE, if defined and not 0: carries between blocks have up to 55 bits and a sign (hybrid/columns.cu).
#ifndef COARSE
#define COARSE 0
#endif

// The number of bits below the tag of a word, and the largest tag.
constexpr u32 UNTAGGED = COARSE > 0 ? 56 : 52;
constexpr u32 TAGS = (1u << (64 - UNTAGGED)) - 1;

#if COARSE
DEVICE u64 tagged(i64 v, u32 tag) { return ((u64)v & ((1ull << UNTAGGED) - 1)) | (u64)tag << UNTAGGED; }
// Returns a double with the bits of the integer.
DEVICE double untagged(u64 word) { return __longlong_as_double((i64)(word << (64 - UNTAGGED)) >> (64 - UNTAGGED)); }
#else
// Returns the bits of a double that holds an integer + 1.5·2^52, with a tag in place of the upper
// 12 bits, which are known.
DEVICE u64 tagged(double v, u32 tag) {
    return ((u64)__double_as_longlong(v) & ((1ull << UNTAGGED) - 1)) | (u64)tag << UNTAGGED;
}
DEVICE double untagged(u64 word) {
    return __longlong_as_double((i64)((word & ((1ull << UNTAGGED) - 1)) | (u64)0x433 << UNTAGGED));
}
#endif

// The memory in which a warp's threads pass carries to each other: the slots of their own points,
// which no other thread uses until the points are stored again. Of the two words of a slot, eight
// threads use the first and the next eight the second, so that sixteen threads cause no bank
// conflict. For the first column, which receives nothing from a thread of the tile, the other word
// holds the carry of the preceding tile.
//
// With FORM, threads pass on second carries in the free words. That of the first column, whose free word
// holds the carry of the preceding tile, takes the place of its first carry.
struct Handover {
    double *given, *taken;
#if FORM
    double *second_given, *second_taken;
#endif
    DEVICE Handover(Complex* tile) {
        const u32 lane = threadIdx.x % 32;
        Complex* own = own_slots(tile);
        given = (double*)own + lane / 8 % 2;
        taken = threadIdx.x % WIDTH == 0 ? (double*)own + (1 - lane / 8 % 2) : (double*)(own - 1) + (lane - 1) / 8 % 2;
#if FORM
        const u32 c = threadIdx.x % WIDTH;
        second_given = c == 0 ? given : (double*)own + (1 - lane / 8 % 2);
        second_taken = c <= 1 ? taken : (double*)(own - 1) + (1 - (lane - 1) / 8 % 2);
#endif
    }
    // Passes on the carry of point q = i.
    DEVICE void give(u32 i, double carry) const { given[2 * WIDTH * i] = carry; }
    DEVICE double take(u32 i) const { return taken[2 * WIDTH * i]; }
#if FORM
    DEVICE double own(u32 i) const { return given[2 * WIDTH * i]; }
    // Passes on the second carry of point q = i.
    DEVICE void give_second(u32 i, double carry) const { second_given[2 * WIDTH * i] = carry; }
    DEVICE double take_second(u32 i) const { return second_taken[2 * WIDTH * i]; }
#endif
};

// Returns the largest value of a warp.
DEVICE u32 largest_of_warp(u32 v) {
    unrolled<0, 5>([&](auto i) { v = max(v, __shfl_xor_sync(0xffffffffu, v, 1 << VALUE(i))); });
    return v;
}

// Receives the carries of the preceding columns for the first column of the tile and the rows of a
// warp; all threads of the warp take part. Waits for the carries.
DEVICE void receive(Complex* tile, const u64* carries, u64* tickets, u32 columns, u32 tag) {
    constexpr u32 GROUP = 32 / WIDTH, ITEMS = (Q + WIDTH - 1) / WIDTH;
    const u32 lane = threadIdx.x % 32, m = threadIdx.x / 32 * GROUP + lane % GROUP, first = lane / GROUP;
    // The first columns are preceded by the last ones, one row up.
    const u64* before = carries + (columns == 0 ? TILES - 1 : columns - 1) * ROWS;
    auto read = [&](u32 i) {
        u32 row = i * M + m;
        return load_relaxed(before + (columns > 0 ? row : row == 0 ? ROWS - 1 : row - 1));
    };
    u64 word[ITEMS];
    unrolled<0, ITEMS>([&](auto k) {
        u32 i = first + WIDTH * VALUE(k);
        if (Q % WIDTH == 0 || i < Q) word[VALUE(k)] = read(i);
    });
    const u32 owner = WIDTH * (lane % GROUP);
    // All threads have taken their points out of the slots.
    __syncwarp();
    double* slot = (double*)(tile + Tile::at(0, m / B, m % B)) + (1 - owner / 8 % 2);
    auto tagged = [&](u64 w) { return w >> UNTAGGED == tag; };
    auto own = [&](auto f) {
        unrolled<0, ITEMS>([&](auto k) {
            u32 i = first + WIDTH * VALUE(k);
            if (Q % WIDTH == 0 || i < Q) f(i, word[VALUE(k)]);
        });
    };
    if constexpr (ITEMS < 4) {
        // One loop for all words is less code, but takes more registers.
        struct All {
        };
        All all;
        auto all_came = [&](All) {
            bool came = true;
            own([&](u32, u64 w) { came = came && tagged(w); });
            return came;
        };
        auto read_all = [&] {
            own([&](u32 i, u64& w) { w = read(i); });
            return all;
        };
        wait_until(all_came, all, read_all, (volatile u32&)slot[2 * WIDTH * first], &tickets[NEXT]);
    }
    own([&](u32 i, u64& w) {
        if constexpr (ITEMS >= 4) wait_until(tagged, w, [&] { return read(i); }, (volatile u32&)slot[2 * WIDTH * i], &tickets[NEXT]);
        slot[2 * WIDTH * i] = untagged(w);
    });
    __syncwarp();
}
