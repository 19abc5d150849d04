// Complex numbers in FP64.
#pragma once
#include "simt.cuh"

struct alignas(16) Complex {
    double re, im;
};

DEVICE Complex add(Complex a, Complex b) { return {a.re + b.re, a.im + b.im}; }
DEVICE Complex sub(Complex a, Complex b) { return {a.re - b.re, a.im - b.im}; }
DEVICE Complex conjugate(Complex a) { return {a.re, -a.im}; }
DEVICE Complex mul(Complex a, Complex b) {
    return {fma(a.re, b.re, -(a.im * b.im)), fma(a.re, b.im, a.im * b.re)};
}
// a·b + c.
DEVICE Complex multiply_add(Complex a, Complex b, Complex c) {
    return {fma(-a.im, b.im, fma(a.re, b.re, c.re)), fma(a.im, b.re, fma(a.re, b.im, c.im))};
}
// a·b − c.
DEVICE Complex multiply_sub(Complex a, Complex b, Complex c) {
    return {fma(-a.im, b.im, fma(a.re, b.re, -c.re)), fma(a.im, b.re, fma(a.re, b.im, -c.im))};
}
DEVICE Complex square(Complex a) { return {fma(a.re, a.re, -(a.im * a.im)), (a.re + a.re) * a.im}; }
// a^2 − c.
DEVICE Complex square_sub(Complex a, Complex c) {
    return {fma(a.re, a.re, -fma(a.im, a.im, c.re)), fma(a.re + a.re, a.im, -c.im)};
}
// 2a − b.
DEVICE Complex twice_sub(Complex a, Complex b) { return {fma(2.0, a.re, -b.re), fma(2.0, a.im, -b.im)}; }
// a·i^QUARTERS, for any sign of QUARTERS.
template <int QUARTERS>
DEVICE Complex times_i(Complex a) {
    constexpr int q = (QUARTERS % 4 + 4) % 4;
    if constexpr (q == 0) return a;
    if constexpr (q == 1) return {-a.im, a.re};
    if constexpr (q == 2) return {-a.re, -a.im};
    return {a.im, -a.re};
}
