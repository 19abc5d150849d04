//! Squares of real signals through complex transforms of half the length.
//!
//! A real signal x of N words is stored as n = N/2 complex points z_j = x_2j + i·x_(2j+1). Let Z be
//! the transform of z, E the transform of the even words, and O the transform of the odd words.
//! Then Z_k = E_k + i·O_k and conj Z_(n−k) = E_k − i·O_k. Points k and n − k are called partners.
//!
//! Let Z' be the transform, in the same form, of the cyclic convolution of x with itself, and
//! ω = e^(−2πi/n). Its parts are E' = E² + ω^k·O² and O' = 2·E·O. In terms of A = Z_k, B = conj
//! Z_(n−k) and D = A − B, this is
//!
//! Z'_k = A² − t·D², conj Z'_(n−k) = B² − t·D², t = (1 + ω^k)/4.

//! For the negacyclic convolution the spectrum is Z_k = Σ_j ω^(j·(k + ½))·z_j. Then points k and n − 1 − k
//! are partners, and the formulas hold with ω^(k + ½) in place of ω^k.

use multiversion::multiversion;
use rustfft::num_complex::Complex;

type C64 = Complex<f64>;

#[inline(always)]
fn combine(a: C64, b: C64, t: C64) -> (C64, C64) {
    let q = t * ((a - b) * (a - b));
    (a * a - q, b * b - q)
}

/// Computes t = (1 + ω^k)/4, where the root of unity ω^k is given as a product w·r. The arguments
/// are w and r/4.
#[inline(always)]
fn coefficient(w: C64, quarter_root: C64) -> C64 {
    w * quarter_root + 0.25
}

/// Squares a signal, given by the n points of its transform, at m pairs of partners.
///
/// With ω = e^(−2πi/n), let k be the index for which ω^k = 4·`w`·`quarter[i]`. Then `low[i]` is
/// point k, and `high[m − 1 − i]` is its partner, point n − k. All three slices have length m.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
pub(crate) fn square_mirrored(low: &mut [C64], high: &mut [C64], w: C64, quarter: &[C64]) {
    let m = low.len();
    let (high, quarter) = (&mut high[..m], &quarter[..m]);
    for i in 0..m {
        let (a, b) = (low[i], high[m - 1 - i].conj());
        let (a, b) = combine(a, b, coefficient(w, quarter[i]));
        low[i] = a;
        high[m - 1 - i] = b.conj();
    }
}

/// Squares at `z`, a point that is its own partner. Because the partner of point k of n points is
/// point n − k, the index is k = 0 (ω^k = 1) or k = n/2 (ω^k = −1). In a negacyclic convolution it is
/// k = (n − 1)/2 (ω^(k + ½) = −1). `quarter_root` is the root divided by 4.
fn square_alone(z: &mut C64, quarter_root: C64) {
    let t = coefficient(C64::new(1.0, 0.0), quarter_root);
    *z = combine(*z, z.conj(), t).0;
}

/// Squares a row of m points in which element i is the partner of element m − i mod m. This row is
/// the whole transform, or row 0 of a transform divided into rows. If element i is point k of the n
/// points of the transform, `quarter[i]` is ω^k/4 with ω = e^(−2πi/n).
pub(crate) fn square_row_zero(row: &mut [C64], quarter: &[C64]) {
    let m = row.len();
    let pairs = (m - 1) / 2;
    square_alone(&mut row[0], quarter[0]);
    if m.is_multiple_of(2) {
        square_alone(&mut row[m / 2], quarter[m / 2]);
    }
    let (low, high) = row.split_at_mut(m - pairs);
    square_mirrored(&mut low[1..=pairs], high, C64::new(1.0, 0.0), &quarter[1..=pairs]);
}

/// Squares all points of the transform of a negacyclic convolution. `quarter[k]` is ω^(k + ½)/4 for n points,
/// with ω = e^(−2πi/n).
pub(crate) fn square_half_turned(points: &mut [C64], quarter: &[C64]) {
    let pairs = points.len() / 2;
    if points.len() % 2 == 1 {
        square_alone(&mut points[pairs], quarter[pairs]);
    }
    let (low, high) = points.split_at_mut(points.len() - pairs);
    square_mirrored(&mut low[..pairs], high, C64::new(1.0, 0.0), &quarter[..pairs]);
}
