// Lines of Q·A·B points in shared memory, several side by side.
//
// The time index of a line is q·A·B + a·B + b, its frequency index is kq + Q·(ka + A·kb). Between the
// steps, points are in slots (u, a or ka, b), where u < U enumerates the lines and kq.
#pragma once
#include "simt.cuh"

// The addresses of slots in shared memory. Threads with consecutive u, then a, cause no bank
// conflicts. Because of the padding, threads with consecutive u, then b, cause none either. Other
// paddings suit threads that run through the points in another order.
template <u32 U, u32 A, u32 B, u32 PADDING_A = 0, u32 PADDING_B = (U < 16 ? U : 4)>
struct Slots {
    static constexpr u32 STRIDE_A = U + PADDING_A, STRIDE_B = STRIDE_A * A + PADDING_B;
    static constexpr u32 COUNT = STRIDE_B * B;
    static DEVICE u32 at(u32 u, u32 a, u32 b) { return u + STRIDE_A * a + STRIDE_B * b; }
};

// −k mod n.
constexpr u32 minus(u32 k, u32 n) { return (n - k) % n; }
