// Discrete Fourier transforms of 2 to 32 points in registers, over the field of
// goldilocks.cuh: X_k = Σ_j x_j·ω^(jk), ω = 2^(192/n), so that every twiddle is a shift.
//
// Inputs are within ±2^65 (exclusive), outputs within ±2^72. x_0 enters every output with the factor 1
// and is never shifted, so a bias of 2^12·q on x_0 makes all outputs positive. The inverse (without
// 1/n) is X_(−k): callers renumber.
#pragma once
#include "goldilocks.cuh"
#include "index.cuh"

// v·ω_n^e for 0 ≤ v < 2^70: a shift, up to the sign of 2^96 ≡ −1.
template <int n, int e>
DEVICE Wide times_root(Wide v) {
    constexpr int s = 192 / n * (e % n);
    if constexpr (s >= 96) {
        return sub({0, 0, 0}, positive_times_power<s - 96>(v));
    } else {
        return positive_times_power<s>(v);
    }
}

DEVICE void dft_4(Wide x[4]) {
    Wide s = add(x[0], x[2]), t = sub(x[0], x[2]);
    Wide u = add(x[1], x[3]), v = times_power<48>(sub(x[1], x[3]));
    x[0] = add(s, u);
    x[1] = add(t, v);
    x[2] = sub(s, u);
    x[3] = sub(t, v);
}

DEVICE void dft_8(Wide x[8]) {
    Wide even[4] = {add(x[0], x[4]), add(x[1], x[5]), add(x[2], x[6]), add(x[3], x[7])};
    Wide d0 = sub(x[0], x[4]), d1 = sub(x[1], x[5]);
    Wide d2 = times_power<48>(sub(x[2], x[6])), d3 = times_power<48>(sub(x[3], x[7]));
    dft_4(even);
    // X_1, X_5 = (d0 + i·d2) ± ω·(d1 + i·d3); X_3, X_7 = (d0 − i·d2) ± ω^3·(d1 − i·d3).
    Wide s = add(d0, d2), t = sub(d0, d2);
    Wide u = times_power<24>(add(d1, d3)), v = times_power<72>(sub(d1, d3));
    x[0] = even[0];
    x[2] = even[1];
    x[4] = even[2];
    x[6] = even[3];
    x[1] = add(s, u);
    x[5] = sub(s, u);
    x[3] = add(t, v);
    x[7] = sub(t, v);
}

// Computes X_k from x_j = load(Index<j>{}) and passes each to store(Index<k>{}, X_k). For n ≥ 4 the
// calls are ordered by j = 4a + b and k = ka + n/4·kb, with a and kb in the inner loops. Work in `load`
// and `store` thus runs between the steps of the transform, on another pipe.
template <int n, class Load, class Store>
DEVICE void dft(Load load, Store store) {
    if constexpr (n == 1) {
        store(Index<0>{}, load(Index<0>{}));
    } else if constexpr (n == 2) {
        Wide x = load(Index<0>{}), y = load(Index<1>{});
        store(Index<0>{}, add(x, y));
        store(Index<1>{}, sub(x, y));
    } else {
        // j = 4a + b, k = ka + P·kb.
        constexpr int P = n / 4;
        Wide x[n];
        unrolled<0, 4>([&](auto b) {
            Wide t[P];
            unrolled<0, P>([&](auto a) { t[VALUE(a)] = load(Index<4 * VALUE(a) + VALUE(b)>{}); });
            if constexpr (P == 1) {
                x[VALUE(b)] = t[0];
            } else if constexpr (n == 8) {
                x[VALUE(b)] = t[0];
                x[4 + VALUE(b)] = t[1];
            } else {
                // P terms of at most 2^65: the values that are shifted next are positive.
                if constexpr (VALUE(b) > 0) t[0] = biased<4 * P>(t[0]);
                if constexpr (P == 4) {
                    dft_4(t);
                } else {
                    dft_8(t);
                }
                unrolled<0, P>([&](auto ka) {
                    x[4 * VALUE(ka) + VALUE(b)] = times_root<n, VALUE(ka) * VALUE(b)>(t[VALUE(ka)]);
                });
            }
        });
        if constexpr (n == 8) {
            dft_8(x);
            unrolled<0, 8>([&](auto k) { store(Index<VALUE(k) / 4 + VALUE(k) % 4 * 2>{}, x[VALUE(k) / 4 + VALUE(k) % 4 * 2]); });
        } else {
            unrolled<0, P>([&](auto ka) {
                Wide* t = x + 4 * VALUE(ka);
                dft_4(t);
                unrolled<0, 4>([&](auto kb) { store(Index<VALUE(ka) + P * VALUE(kb)>{}, t[VALUE(kb)]); });
            });
        }
    }
}

// x[k] ← X_k: the transform in place.
template <int n>
DEVICE void dft(Wide x[n]) {
    Wide y[n];
    dft<n>([&](auto j) { return x[VALUE(j)]; }, [&](auto k, Wide v) { y[VALUE(k)] = v; });
    unrolled<0, n>([&](auto k) { x[VALUE(k)] = y[VALUE(k)]; });
}
