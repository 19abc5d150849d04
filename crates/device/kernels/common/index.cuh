// Loops that the compiler unrolls, with indices as compile-time constants.
#pragma once
#include "simt.cuh"

// A compile-time loop: f(Index<I>{}) for I in FROM..TO.
template <int I>
struct Index {
    static constexpr int value = I;
};
template <int FROM, int TO, class F>
DEVICE void unrolled(F f) {
    if constexpr (FROM < TO) {
        f(Index<FROM>{});
        unrolled<FROM + 1, TO>(f);
    }
}
#define VALUE(index) decltype(index)::value
