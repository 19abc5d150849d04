// Words as integers: the digits of registers and of products, and doubles that hold integers.
#pragma once
#include "simt.cuh"

// 1.5·2^52: adding and subtracting it rounds to an integer; in between, the integer is in the lower
// bits.
#define MAGIC 6755399441055744.0

// Conversions by sums, of which a multiprocessor makes more at a time than of conversions.
// 2^52 + 2^31 + v has v + 2^31 in its lower word.
DEVICE double to_double(i32 v) { return __hiloint2double(0x43300000, v ^ (i32)0x80000000) - 4503601774854144.0; }
DEVICE i32 to_integer(double v) { return __double2loint(v + MAGIC); }

// The words 2j and 2j + 1 in memory.
struct __align__(8) Digits {
    i32 first, second;
};
