// Polynomials of PARTS coefficients over the field of q² elements, q = 2^31 − 1, modulo y^PARTS − ξ.
#pragma once
#include "m31.cuh"

#ifndef PARTS
#define PARTS 1
#endif

struct Polynomial {
    Gauss of[PARTS];
    DEVICE Polynomial() {}
    DEVICE explicit Polynomial(const Gauss* coefficients) {
        unrolled<0, PARTS>([&](auto t) { of[VALUE(t)] = coefficients[VALUE(t)]; });
    }
    DEVICE void put(Gauss* coefficients) const {
        unrolled<0, PARTS>([&](auto t) { coefficients[VALUE(t)] = of[VALUE(t)]; });
    }
};

// x·y modulo y^PARTS − ξ, for a doubled ξ. Coefficient k is the sum of the products x_i·y_j with i + j = k, and ξ times
// that with i + j = k + PARTS.
DEVICE Polynomial times(const Polynomial& x, const Polynomial& y, Gauss xi) {
    Polynomial twice, z;
    unrolled<0, PARTS>([&](auto t) { twice.of[VALUE(t)] = doubled(y.of[VALUE(t)]); });
    unrolled<0, PARTS>([&](auto k) {
        Gauss sum = {0, 0};
        unrolled<VALUE(k) + 1, PARTS>([&](auto i) {
            sum = add(sum, mul(x.of[VALUE(i)], twice.of[VALUE(k) + PARTS - VALUE(i)]));
        });
        if constexpr (VALUE(k) + 1 < PARTS) sum = mul(sum, xi);
        unrolled<0, VALUE(k) + 1>([&](auto i) { sum = add(sum, mul(x.of[VALUE(i)], twice.of[VALUE(k) - VALUE(i)])); });
        z.of[VALUE(k)] = sum;
    });
    return z;
}

// x² modulo y^PARTS − ξ. Products of two different coefficients are formed once.
DEVICE Polynomial squared(const Polynomial& x, Gauss xi) {
    Polynomial z;
    // The sum of x_i·x_j for i < j and i + j = s, twice, and of the square, if s is even.
    auto sum_of = [&](auto s) {
        constexpr int S = VALUE(s), FIRST = S < PARTS ? 0 : S - PARTS + 1;
        Gauss sum = {0, 0};
        unrolled<FIRST, (S + 1) / 2>([&](auto i) {
            sum = add(sum, mul(x.of[VALUE(i)], doubled(x.of[S - VALUE(i)])));
        });
        sum = add(sum, sum);
        if constexpr (S % 2 == 0) sum = add(sum, square(x.of[S / 2]));
        return sum;
    };
    unrolled<0, PARTS>([&](auto k) {
        Gauss sum = sum_of(k);
        if constexpr (VALUE(k) + 1 < PARTS) {
            unrolled<VALUE(k) + PARTS, VALUE(k) + PARTS + 1>([&](auto s) { sum = add(sum, mul(sum_of(s), xi)); });
        }
        z.of[VALUE(k)] = sum;
    });
    return z;
}

// (x − y)/2.
DEVICE Polynomial half_difference(const Polynomial& x, const Polynomial& y) {
    Polynomial z;
    unrolled<0, PARTS>([&](auto t) {
        const Gauss d = sub(x.of[VALUE(t)], y.of[VALUE(t)]);
        z.of[VALUE(t)] = {rotate31(d.re, 30), rotate31(d.im, 30)};
    });
    return z;
}

// z − (1 + y)·d.
DEVICE Polynomial corrected(const Polynomial& z, const Polynomial& d, Gauss xi) {
    Polynomial r;
    unrolled<0, PARTS>([&](auto t) {
        constexpr int T = VALUE(t);
        const Gauss shifted = T == 0 ? mul(d.of[PARTS - 1], xi) : d.of[T == 0 ? 0 : T - 1];
        r.of[T] = sub(z.of[T], add(d.of[T], shifted));
    });
    return r;
}

// For the points x_(k,t) = Z_k and a = conj Z_(ck) of a real signal: replaces them by those of its square. The words with
// even and odd indices are x = E + i·O and a = E − i·O, and the square has the words E² + y·O² and 2·E·O.
DEVICE void self_product(Polynomial& x, Polynomial& a, Gauss xi) {
    const Polynomial d = squared(half_difference(x, a), xi);
    x = corrected(squared(x, xi), d, xi);
    a = corrected(squared(a, xi), d, xi);
}
DEVICE void product(Polynomial& x, Polynomial& a, const Polynomial& u, const Polynomial& b, Gauss xi) {
    const Polynomial d = times(half_difference(x, a), half_difference(u, b), xi);
    x = corrected(times(x, u, xi), d, xi);
    a = corrected(times(a, b, xi), d, xi);
}
