//! Discrete Fourier transforms of 2 to 7 points, in registers.

use warpint_arith::simd::F64s;

use super::complex::C64s;

/// The sizes of transforms that [`dft`] computes.
pub(super) const RADICES: [usize; 5] = [2, 3, 4, 5, 7];

/// The cosines cos(2πk/Q) for k < Q, and then the sines, for Q = 3.
const TURNS_3: [[f64; 3]; 2] =
    [[1.0, -0.5, -0.5], [0.0, 0.866_025_403_784_438_6, -0.866_025_403_784_438_6]];

/// As [`TURNS_3`], for Q = 5.
const TURNS_5: [[f64; 5]; 2] = [
    [
        1.0,
        0.309_016_994_374_947_45,
        -0.809_016_994_374_947_5,
        -0.809_016_994_374_947_5,
        0.309_016_994_374_947_45,
    ],
    [
        0.0,
        0.951_056_516_295_153_5,
        0.587_785_252_292_473_1,
        -0.587_785_252_292_473_1,
        -0.951_056_516_295_153_5,
    ],
];

/// As [`TURNS_3`], for Q = 7.
const TURNS_7: [[f64; 7]; 2] = [
    [
        1.0,
        0.623_489_801_858_733_5,
        -0.222_520_933_956_314_4,
        -0.900_968_867_902_419_1,
        -0.900_968_867_902_419_1,
        -0.222_520_933_956_314_4,
        0.623_489_801_858_733_5,
    ],
    [
        0.0,
        0.781_831_482_468_029_8,
        0.974_927_912_181_823_6,
        0.433_883_739_117_558_1,
        -0.433_883_739_117_558_1,
        -0.974_927_912_181_823_6,
        -0.781_831_482_468_029_8,
    ],
];

/// Replaces x by its transform: y_k = Σ_j e(jk/Q)·x_j for k < Q, where Q is an entry of [`RADICES`].
/// If `INVERSE`, e(t) = e^(2πi·t), otherwise e(t) = e^(−2πi·t).
#[inline(always)]
pub(super) fn dft<V: F64s, const Q: usize, const INVERSE: bool>(
    i: V::Instructions,
    x: &mut [C64s<V>; Q],
) {
    match Q {
        2 => (x[0], x[1]) = (x[0].add(x[1]), x[0].sub(x[1])),
        3 => odd::<V, Q, 3, INVERSE>(i, x, &TURNS_3),
        4 => [x[0], x[1], x[2], x[3]] = dft_4::<V, INVERSE>([x[0], x[1], x[2], x[3]]),
        5 => odd::<V, Q, 5, INVERSE>(i, x, &TURNS_5),
        7 => odd::<V, Q, 7, INVERSE>(i, x, &TURNS_7),
        _ => unreachable!("a transform of {Q} points"),
    }
}

/// Returns a − i·b, or a + i·b if `INVERSE`.
#[inline(always)]
fn minus_i<V: F64s, const INVERSE: bool>(a: C64s<V>, b: C64s<V>) -> C64s<V> {
    if INVERSE { a.add_i(b) } else { a.sub_i(b) }
}

/// Returns a + i·b, or a − i·b if `INVERSE`.
#[inline(always)]
fn plus_i<V: F64s, const INVERSE: bool>(a: C64s<V>, b: C64s<V>) -> C64s<V> {
    if INVERSE { a.sub_i(b) } else { a.add_i(b) }
}

#[inline(always)]
fn dft_4<V: F64s, const INVERSE: bool>(x: [C64s<V>; 4]) -> [C64s<V>; 4] {
    let (a, b) = (x[0].add(x[2]), x[0].sub(x[2]));
    let (c, d) = (x[1].add(x[3]), x[1].sub(x[3]));
    [a.add(c), minus_i::<V, INVERSE>(b, d), a.sub(c), plus_i::<V, INVERSE>(b, d)]
}

/// The transform of an odd number Q = P of points. With a_j = x_j + x_(Q−j) and b_j = x_j − x_(Q−j)
/// for 1 ≤ j ≤ (Q − 1)/2, y_k and y_(Q−k) are m ∓ i·n with m = x_0 + Σ_j cos(2πjk/Q)·a_j and
/// n = Σ_j sin(2πjk/Q)·b_j.
#[inline(always)]
fn odd<V: F64s, const Q: usize, const P: usize, const INVERSE: bool>(
    i: V::Instructions,
    x: &mut [C64s<V>; Q],
    turns: &[[f64; P]; 2],
) {
    let half = P / 2;
    let first = x[0];
    let (mut a, mut b) = ([first; 4], [first; 4]);
    let mut sum = first;
    for j in 1..=half {
        a[j] = x[j].add(x[P - j]);
        b[j] = x[j].sub(x[P - j]);
        sum = sum.add(a[j]);
    }
    x[0] = sum;
    for k in 1..=half {
        let mut m = first.add_scaled(V::splat(i, turns[0][k]), a[1]);
        let mut n = b[1].scaled(V::splat(i, turns[1][k]));
        for j in 2..=half {
            m = m.add_scaled(V::splat(i, turns[0][j * k % P]), a[j]);
            n = n.add_scaled(V::splat(i, turns[1][j * k % P]), b[j]);
        }
        x[k] = minus_i::<V, INVERSE>(m, n);
        x[P - k] = plus_i::<V, INVERSE>(m, n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint_arith::dd::cos_sin_2pi;

    #[test]
    fn constants_are_correctly_rounded() {
        fn check<const P: usize>(turns: &[[f64; P]; 2]) {
            for (k, (&x, &y)) in turns[0].iter().zip(&turns[1]).enumerate() {
                let (cos, sin) = cos_sin_2pi(k as u64, P as u64);
                assert_eq!([x, y], [cos.to_f64(), sin.to_f64()], "{k}/{P}");
            }
        }
        check(&TURNS_3);
        check(&TURNS_5);
        check(&TURNS_7);
    }
}
