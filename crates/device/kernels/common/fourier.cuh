// Discrete Fourier transforms of R complex points in registers, R = 2^a·3^b·5^c·7^d·11^e:
// X_k = Σ_j x_j·w^j·e(±jk/R), e(t) = e^(2πit), with a factor w^j for every point.
//
// The sum is the value of the polynomial Σ x_j·z^j at z = w·e(±k/R). It is computed by a tree: modulo
// z^R − w^R first, then modulo its p factors z^(R/p) − (w·e(±k/R))^(R/p), k < p, and so on. The factors
// of a node are the same for all its points and are applied before the sums, where a·b ± c is one
// instruction. This takes 3 instructions per point and level of radix 2, including the factors w^j.
//
// Roots of unity come from `constants.cuh`, which the host writes:
// ROOT_RE<k, n>() and ROOT_IM<k, n>() of e(k/n).
#pragma once
#include "complex.cuh"
#include "constants.cuh"
#include "index.cuh"

constexpr int FORWARD = -1, INVERSE = 1;

constexpr int greatest_divisor(int a, int b) { return b == 0 ? a : greatest_divisor(b, a % b); }

// The radix of the first level of a node of n points.
constexpr int first_radix(int n) {
    return n % 11 == 0 ? 11 : n % 7 == 0 ? 7 : n % 5 == 0 ? 5 : n % 3 == 0 ? 3 : 2;
}

// The k of X_k at a place of the result: its digits in the radices of the levels, reversed.
constexpr int frequency_at(int n, int place) {
    if (n == 1) return 0;
    int p = first_radix(n), m = n / p;
    return place / m + p * frequency_at(m, place % m);
}
// The place of X_k in the result.
constexpr int place_of(int n, int k) {
    if (n == 1) return 0;
    int p = first_radix(n), m = n / p;
    return k % p * m + place_of(m, k / p);
}

// The term that the node `index` of `nodes` adds to the frequencies of all its points. The nodes are
// those of a transform of n points after levels whose radices have the product `nodes`.
constexpr int frequency_of_node(int n, int nodes, int index) { return frequency_at(n, index * (n / nodes)); }

// w·e(k/n).
template <int k, int n>
DEVICE Complex times_root(Complex w) {
    // e(k/n) = i^quarters·e(rest/n): factors that differ by a power of i only share one product.
    constexpr int step = n % 4 == 0 ? n / 4 : n % 2 == 0 ? n / 2 : n;
    constexpr int turned = (k % n + n) % n, quarters = turned / step * (4 * step / n), rest = turned % step;
    if constexpr (rest == 0) {
        return times_i<quarters>(w);
    } else {
        constexpr int g = greatest_divisor(rest, n);
        constexpr int a = rest / g, b = n / g;
        if constexpr (a == 1 && b == 8) {
            return times_i<quarters>({(w.re - w.im) * ROOT_RE<1, 8>(), (w.re + w.im) * ROOT_RE<1, 8>()});
        } else {
            return times_i<quarters>({fma(w.re, ROOT_RE<a, b>(), -(w.im * ROOT_IM<a, b>())),
                                      fma(w.re, ROOT_IM<a, b>(), w.im * ROOT_RE<a, b>())});
        }
    }
}

// e(k/n). In lowest terms, k/n must be in `constants.cuh` or a multiple of 1/4.
template <int k, int n>
DEVICE Complex root() {
    constexpr int turned = (k % n + n) % n;
    if constexpr (4 * turned % n == 0) {
        return times_i<4 * turned / n>({1.0, 0.0});
    } else {
        constexpr int g = greatest_divisor(turned, n);
        return {ROOT_RE<turned / g, n / g>(), ROOT_IM<turned / g, n / g>()};
    }
}

// x_0 + t·x_1 and x_0 − t·x_1.
DEVICE void butterfly(Complex& a, Complex& b, Complex t) {
    Complex sum = multiply_add(t, b, a);
    b = twice_sub(a, sum);
    a = sum;
}
// x_0 + t·x_1 and x_0 − t·x_1 for t = i^quarters.
template <int quarters>
DEVICE void butterfly(Complex& a, Complex& b) {
    Complex c = times_i<quarters>(b);
    b = sub(a, c);
    a = add(a, c);
}

// X_k = Σ_j t_j·x_j·e(SIGN·jk/p), p an odd prime, t_0 = 1; `plain` if all t_j are 1.
template <int p, int SIGN, bool plain>
DEVICE void odd_transform(Complex (&x)[p], const Complex (&t)[p]) {
    constexpr int h = (p - 1) / 2;
    Complex s[h + 1], d[h + 1];
    unrolled<1, h + 1>([&](auto a) {
        constexpr int j = VALUE(a);
        if constexpr (plain) {
            s[j] = add(x[j], x[p - j]);
            d[j] = sub(x[j], x[p - j]);
        } else {
            Complex first = mul(t[j], x[j]);
            s[j] = multiply_add(t[p - j], x[p - j], first);
            d[j] = twice_sub(first, s[j]);
        }
    });
    const Complex x0 = x[0];
    unrolled<1, h + 1>([&](auto a) { x[0] = add(x[0], s[VALUE(a)]); });
    unrolled<1, h + 1>([&](auto of) {
        constexpr int k = VALUE(of);
        Complex even = x0, odd = {0.0, 0.0};
        unrolled<1, h + 1>([&](auto a) {
            constexpr int j = VALUE(a) * k % p;
            constexpr int g = j < p - j ? j : p - j;
            double cosine = ROOT_RE<g, p>();
            double sine = j < p - j ? ROOT_IM<g, p>() : -ROOT_IM<g, p>();
            even = {fma(s[VALUE(a)].re, cosine, even.re), fma(s[VALUE(a)].im, cosine, even.im)};
            if constexpr (VALUE(a) == 1) {
                odd = {d[1].re * sine, d[1].im * sine};
            } else {
                odd = {fma(d[VALUE(a)].re, sine, odd.re), fma(d[VALUE(a)].im, sine, odd.im)};
            }
        });
        x[k] = even;
        x[p - k] = even;
        odd = times_i<SIGN>(odd);
        x[k] = add(even, odd);
        x[p - k] = sub(even, odd);
    });
}

// The powers of w = e(SIGN/(2R)), which are constants: sums with these factors have the frequencies k + ½.
template <int R, int SIGN>
struct HalfTurns {
    template <class I>
    DEVICE Complex operator()(I) const {
        return root<SIGN * I::value, 2 * R>();
    }
};
template <class Power>
constexpr bool has_half_turns = false;
template <int R, int SIGN>
constexpr bool has_half_turns<HalfTurns<R, SIGN>> = true;

// Computes the levels of the tree below a level of NODES nodes.
template <int R, int SIGN, bool plain, int NODES, class Power>
DEVICE void levels(Complex (&x)[R], const Power& power) {
    constexpr int length = R / NODES;
    if constexpr (length > 1) {
        constexpr int p = first_radix(length), m = length / p;
        Complex w[p];
        if constexpr (!plain) unrolled<1, p>([&](auto i) { w[VALUE(i)] = power(Index<m * VALUE(i)>{}); });
        unrolled<0, NODES>([&](auto node) {
            constexpr int k = frequency_of_node(R, NODES, VALUE(node)), first = VALUE(node) * length;
            // w^(m·i)·e(±k·i/(NODES·p)).
            Complex t[p];
            unrolled<1, p>([&](auto i) {
                if constexpr (plain) {
                    t[VALUE(i)] = root<SIGN * k * VALUE(i), NODES * p>();
                } else if constexpr (has_half_turns<Power>) {
                    t[VALUE(i)] = root<SIGN * (2 * k + 1) * m * VALUE(i), 2 * R>();
                } else {
                    t[VALUE(i)] = times_root<SIGN * k * VALUE(i), NODES * p>(w[VALUE(i)]);
                }
            });
            unrolled<0, m>([&](auto j) {
                constexpr int at = first + VALUE(j);
                constexpr bool quarters = plain && 4 * k % (NODES * p) == 0;
                if constexpr (p == 2 && quarters) {
                    butterfly<SIGN * 4 * k / (NODES * p)>(x[at], x[at + m]);
                } else if constexpr (p == 2) {
                    butterfly(x[at], x[at + m], t[1]);
                } else {
                    Complex y[p];
                    unrolled<0, p>([&](auto i) { y[VALUE(i)] = x[at + VALUE(i) * m]; });
                    odd_transform<p, SIGN, plain && k == 0>(y, t);
                    unrolled<0, p>([&](auto i) { x[at + VALUE(i) * m] = y[VALUE(i)]; });
                }
            });
        });
        levels<R, SIGN, plain, NODES * p>(x, power);
    }
}

// x[place_of(R, k)] ← X_k; power(Index<e>{}) is w^e.
template <int R, int SIGN, class Power>
DEVICE void transform(Complex (&x)[R], const Power& power) {
    levels<R, SIGN, false, 1>(x, power);
}
// x[place_of(R, k)] ← X_k for w = 1.
template <int R, int SIGN>
DEVICE void transform(Complex (&x)[R]) {
    levels<R, SIGN, true, 1>(x, 0);
}

// The exponents e of the powers w^e that a transform requires, in order: m, 2m, …, (p − 1)·m for every
// level of radix p with m points after it. `slot_of` is the index of e among them.
constexpr int powers_of(int n) { return n == 1 ? 0 : first_radix(n) - 1 + powers_of(n / first_radix(n)); }
constexpr int slot_of(int n, int e) {
    int p = first_radix(n), m = n / p;
    return e % m == 0 ? e / m - 1 : p - 1 + slot_of(m, e);
}
