// The field of q = 2^31 − 1 elements, its extension by i, and discrete Fourier transforms over it.
//
// Components of elements are from 0 to q; 0 and q both stand for 0. A *doubled* factor has the
// components 2w with 0 ≤ w ≤ q. Doubled, the upper word of a product is its part above 2^31.
#pragma once
#include "index.cuh"
#include "ptx.cuh"

#define Q31 0x7fffffffu

struct alignas(8) Gauss {
    u32 re, im;
};

// v − q if v ≥ q, for v ≤ 2q. One instruction from compute capability 9.0 on.
DEVICE u32 fold31(u32 v) { return min(v, v - Q31); }
DEVICE u32 add31(u32 a, u32 b) { return fold31(a + b); }
DEVICE u32 sub31(u32 a, u32 b) {
    u32 d = a - b;
    return min(d, d + Q31);
}
DEVICE u32 neg31(u32 a) { return a ^ Q31; }
// p/2 mod q for even p = p1·2^32 + p0 ≤ 4q².
DEVICE u32 halved31(u64 p) { return fold31(fold31(high(p)) + (low(p) >> 1)); }
// p/2 mod q for even p = p1·2^32 + p0 < 2^63.
DEVICE u32 halved_short31(u64 p) { return fold31(high(p) + (low(p) >> 1)); }
// a·2^k for 0 ≤ k < 31. The bits of both parts are disjoint.
DEVICE u32 rotate31(u32 a, u32 k) {
    u64 p = (u64)a * (2u << k);
    return high(p) + (low(p) >> 1);
}

DEVICE Gauss add(Gauss a, Gauss b) { return {add31(a.re, b.re), add31(a.im, b.im)}; }
DEVICE Gauss sub(Gauss a, Gauss b) { return {sub31(a.re, b.re), sub31(a.im, b.im)}; }
DEVICE Gauss conjugate(Gauss a) { return {a.re, neg31(a.im)}; }
// a·w for a doubled w.
DEVICE Gauss mul(Gauss a, Gauss w) {
    u64 re = multiply_add_short(neg31(a.im), w.im, (u64)a.re * w.re);
    u64 im = multiply_add_short(a.im, w.re, (u64)a.re * w.im);
    return {halved31(re), halved31(im)};
}
DEVICE Gauss doubled(Gauss a) { return {2 * a.re, 2 * a.im}; }
DEVICE Gauss square(Gauss a) {
    Gauss twice = doubled(a);
    u64 re = multiply_add_short(neg31(a.im), twice.im, (u64)a.re * twice.re);
    return {halved31(re), halved31((u64)twice.re * twice.im)};
}
// a·i^QUARTERS, for any sign of QUARTERS.
template <int QUARTERS>
DEVICE Gauss times_i(Gauss a) {
    constexpr int q = (QUARTERS % 4 + 4) % 4;
    if constexpr (q == 0) return a;
    if constexpr (q == 1) return {neg31(a.im), a.re};
    if constexpr (q == 2) return {neg31(a.re), neg31(a.im)};
    return {a.im, neg31(a.re)};
}

// Roots of unity at compile time: the powers of 6 + 3i, which generates the group of order q² − 1.
struct Root31 {
    u32 re, im;
};
constexpr u32 reduced31(u64 v) { return (u32)(v % Q31); }
constexpr Root31 product31(Root31 a, Root31 b) {
    return {reduced31((u64)a.re * b.re + (u64)(Q31 - a.im) * b.im), reduced31((u64)a.re * b.im + (u64)a.im * b.re)};
}
constexpr Root31 power31(Root31 a, u64 e) {
    Root31 result = {1, 0};
    for (; e > 0; e >>= 1) {
        if (e & 1) result = product31(result, a);
        a = product31(a, a);
    }
    return result;
}
// ω_n^k, for n that divide q² − 1 and any sign of k.
constexpr Root31 root31(int k, int n) {
    constexpr u64 group = (u64)Q31 * Q31 - 1;
    return power31({6, 3}, group / (u64)n * (u64)((k % n + n) % n));
}

// v with −q/2 < v < q/2 for a residue w.
constexpr i32 balanced31(u32 w) { return w > Q31 / 2 ? (i32)(w - Q31) : (i32)w; }
// The doubled magnitude of a residue.
constexpr u32 magnitude31(u32 w) { return 2 * (balanced31(w) < 0 ? Q31 - w : w); }
// a or −a, so that the product with the magnitude of w is a·w.
template <u32 w>
DEVICE u32 signed31(u32 a) {
    return balanced31(w) < 0 ? neg31(a) : a;
}

// a·(re + i·im) for constants. Their magnitudes are below q/2, so sums of two doubled products are below
// 2^63.
template <u32 re, u32 im>
DEVICE Gauss mul_constant(Gauss a) {
    constexpr u32 minus_im = reduced31(Q31 - im);
    u64 x = (u64)signed31<re>(a.re) * magnitude31(re), y = (u64)signed31<im>(a.re) * magnitude31(im);
    x = multiply_add_short(signed31<minus_im>(a.im), magnitude31(im), x);
    y = multiply_add_short(signed31<re>(a.im), magnitude31(re), y);
    return {halved_short31(x), halved_short31(y)};
}

// x·ω_n^k. Powers of ω_8 = 2^15·(1 + i) take sums and rotations.
template <int k, int n>
DEVICE Gauss times_root(Gauss x) {
    constexpr int turned = (k % n + n) % n;
    if constexpr (4 * turned % n == 0) {
        return times_i<4 * turned / n>(x);
    } else if constexpr (8 * turned % n == 0) {
        constexpr int eighths = 8 * turned / n;
        Gauss y = {rotate31(sub31(x.re, x.im), 15), rotate31(add31(x.re, x.im), 15)};
        return times_i<(eighths - 1) / 2>(y);
    } else {
        constexpr Root31 w = root31(k, n);
        return mul_constant<w.re, w.im>(x);
    }
}

// a + b·i^quarters and a − b·i^quarters.
template <int quarters>
DEVICE void butterfly31(Gauss& a, Gauss& b) {
    constexpr int q = (quarters % 4 + 4) % 4;
    Gauss sum, difference;
    if constexpr (q % 2 == 0) {
        sum = add(a, b), difference = sub(a, b);
    } else {
        // i·b = (−im, re).
        sum = {sub31(a.re, b.im), add31(a.im, b.re)};
        difference = {add31(a.re, b.im), sub31(a.im, b.re)};
    }
    a = q < 2 ? sum : difference;
    b = q < 2 ? difference : sum;
}

// The radix of the first level of a transform of n points, and the order of its results. These are
// the same as in fourier.cuh.
constexpr int first_radix31(int n) { return n % 11 == 0 ? 11 : n % 7 == 0 ? 7 : n % 3 == 0 ? 3 : 2; }
constexpr int place_of31(int n, int k) {
    if (n == 1) return 0;
    int p = first_radix31(n), m = n / p;
    return k % p * m + place_of31(m, k / p);
}

// (ω^a + ω^(−a))/2 and (ω^a − ω^(−a))/2 for ω = ω_p^(SIGN·k), p = 3, 7 or 11. These roots are elements of the
// field of q elements.
template <int p, int SIGN, int a, int k>
constexpr u32 cosine31() {
    return reduced31((u64)reduced31((u64)root31(SIGN * a * k, p).re + root31(-SIGN * a * k, p).re) << 30);
}
template <int p, int SIGN, int a, int k>
constexpr u32 sine31() {
    return reduced31((u64)reduced31((u64)root31(SIGN * a * k, p).re + Q31 - root31(-SIGN * a * k, p).re) << 30);
}

// Σ_j x_j·ω_p^(SIGN·jk) for p = 3, 7 or 11.
template <int p, int SIGN>
DEVICE void odd_transform31(Gauss (&x)[p]) {
    constexpr int h = (p - 1) / 2;
    Gauss s[h + 1], d[h + 1];
    unrolled<1, h + 1>([&](auto a) {
        s[VALUE(a)] = add(x[VALUE(a)], x[p - VALUE(a)]);
        d[VALUE(a)] = sub(x[VALUE(a)], x[p - VALUE(a)]);
    });
    const Gauss x0 = x[0];
    unrolled<1, h + 1>([&](auto a) { x[0] = add(x[0], s[VALUE(a)]); });
    // ω^a·x_a + ω^(−a)·x_(p−a) = (ω^a + ω^(−a))·s_a/2 + (ω^a − ω^(−a))·d_a/2. Products are doubled.
    unrolled<1, h + 1>([&](auto of) {
        constexpr int k = VALUE(of);
        Gauss even, odd;
        if constexpr (p == 3) {
            constexpr u32 cosine = 2 * cosine31<p, SIGN, 1, k>(), sine = 2 * sine31<p, SIGN, 1, k>();
            even = add(x0, {halved31((u64)s[1].re * cosine), halved31((u64)s[1].im * cosine)});
            odd = {halved31((u64)d[1].re * sine), halved31((u64)d[1].im * sine)};
        } else {
            // The magnitudes of the cosines add up to (q − 1)/2 for p = 7, and to less than 1.31·2^31
            // for p = 11. Those of the sines add up to less than 1.23·2^31.
            u64 even_re = 2 * x0.re, even_im = 2 * x0.im, odd_re = 0, odd_im = 0;
            unrolled<1, h + 1>([&](auto of_a) {
                constexpr int a = VALUE(of_a);
                constexpr u32 cosine = cosine31<p, SIGN, a, k>(), sine = sine31<p, SIGN, a, k>();
                even_re = accumulate_product(signed31<cosine>(s[a].re), magnitude31(cosine), even_re);
                even_im = accumulate_product(signed31<cosine>(s[a].im), magnitude31(cosine), even_im);
                odd_re = accumulate_product(signed31<sine>(d[a].re), magnitude31(sine), odd_re);
                odd_im = accumulate_product(signed31<sine>(d[a].im), magnitude31(sine), odd_im);
            });
            if constexpr (p == 7) {
                even = {halved_short31(even_re), halved_short31(even_im)};
            } else {
                even = {halved31(even_re), halved31(even_im)};
            }
            odd = {halved31(odd_re), halved31(odd_im)};
        }
        x[k] = add(even, odd);
        x[p - k] = sub(even, odd);
    });
}

// The transform of the points FIRST … FIRST + n − 1 of x in place, in the order of `place_of31`.
template <int R, int SIGN, int FIRST, int n>
DEVICE void levels31(Gauss (&x)[R]) {
    if constexpr (n > 1 && first_radix31(n) > 2) {
        constexpr int p = first_radix31(n), m = n / p;
        unrolled<0, m>([&](auto j) {
            Gauss y[p];
            unrolled<0, p>([&](auto i) { y[VALUE(i)] = x[FIRST + VALUE(j) + VALUE(i) * m]; });
            odd_transform31<p, SIGN>(y);
            unrolled<0, p>([&](auto k) {
                x[FIRST + VALUE(j) + VALUE(k) * m] = times_root<SIGN * VALUE(j) * VALUE(k), n>(y[VALUE(k)]);
            });
        });
        unrolled<0, p>([&](auto k) { levels31<R, SIGN, FIRST + VALUE(k) * m, m>(x); });
    } else if constexpr (n == 2) {
        butterfly31<0>(x[FIRST], x[FIRST + 1]);
    } else if constexpr (n > 2) {
        // Two levels of radix 2, with one factor for each result.
        constexpr int m = n / 4;
        unrolled<0, m>([&](auto j) {
            constexpr int at = FIRST + VALUE(j);
            butterfly31<0>(x[at], x[at + 2 * m]);
            butterfly31<0>(x[at + m], x[at + 3 * m]);
            butterfly31<0>(x[at], x[at + m]);
            butterfly31<SIGN>(x[at + 2 * m], x[at + 3 * m]);
            x[at + m] = times_root<2 * SIGN * VALUE(j), n>(x[at + m]);
            x[at + 2 * m] = times_root<SIGN * VALUE(j), n>(x[at + 2 * m]);
            x[at + 3 * m] = times_root<3 * SIGN * VALUE(j), n>(x[at + 3 * m]);
        });
        unrolled<0, 4>([&](auto k) { levels31<R, SIGN, FIRST + VALUE(k) * m, m>(x); });
    }
}

// x[place_of31(R, k)] ← Σ_j x_j·ω_R^(SIGN·jk) for R = 2^a·3^b·7^c·11^d.
template <int R, int SIGN>
DEVICE void transform31(Gauss (&x)[R]) {
    levels31<R, SIGN, 0, R>(x);
}
