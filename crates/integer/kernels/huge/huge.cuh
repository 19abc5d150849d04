// What the kernels that add carries have in common.
#pragma once
#include "simt.cuh"

// What a block does with a carry.
constexpr u32 GIVES = 1, PASSES = 2;
