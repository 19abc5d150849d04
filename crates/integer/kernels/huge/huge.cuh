// What the kernels for batches of rows have in common.
#pragma once
#include "simt.cuh"

// What a block does with a carry.
constexpr u32 GIVES = 1, PASSES = 2;

// Returns the row of element `at` of rows of `length` elements. Rows are often a single one.
DEVICE u32 row_of(u32 at, u32 length) { return at < length ? 0 : at / length; }
