// The place of the shift among the words, for the −2 of the Lucas–Lehmer test.
#pragma once
#include "row_steps.cuh"

// Indices of `addend`.
constexpr u32 SHIFT = 0, ADDEND_ROW = 1, ADDEND_COLUMN = 2, ADDEND_HALF = 3, ADDEND_BIT = 4;

// Advances the shift by one squaring, and finds the word and the bit in which it lies.
DEVICE void advance(u64* addend, u32 p) {
    constexpr u64 length = 2ull * ROWS * COLUMNS;
    u64 shift = 2 * addend[SHIFT] % p;
    u64 w = shift * length / p;
    addend[SHIFT] = shift;
    addend[ADDEND_ROW] = w / 2 / COLUMNS;
    addend[ADDEND_COLUMN] = w / 2 % COLUMNS;
    addend[ADDEND_HALF] = w % 2;
    addend[ADDEND_BIT] = shift - (p * w + length - 1) / length;
}
