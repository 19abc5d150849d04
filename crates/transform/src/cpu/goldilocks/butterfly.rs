//! Discrete Fourier transforms of 2, 3, 4, 5, 8 and 16 points in registers.
//!
//! The transform of n points is X_k = Σ_j x_j·ω_n^(jk); inputs and outputs are in natural order.
//! The roots of unity are those of [`root_of_unity`](warpint_arith::goldilocks::root_of_unity). All
//! these roots except ω_5 are powers of 2; in particular, ω_4 = 2^48, ω_8 = 2^24 and ω_16 = 2^12.
//! So only the 5-point transform needs products. To invert a transform, apply it again, exchange
//! the outputs k and n − k, and divide by n.

use super::lanes::Lanes;
use warpint_arith::goldilocks as field;

#[inline(always)]
pub(super) fn dft2<V: Lanes>([a, b]: [V; 2]) -> [V; 2] {
    [a.add(b), a.sub(b)]
}

#[inline(always)]
pub(super) fn dft4<V: Lanes>([a, b, c, d]: [V; 4]) -> [V; 4] {
    let [even_sum, even_difference] = dft2([a, c]);
    let [odd_sum, odd_difference] = dft2([b, d]);
    let turned = odd_difference.mul_pow2(48);
    [
        even_sum.add(odd_sum),
        even_difference.add(turned),
        even_sum.sub(odd_sum),
        even_difference.sub(turned),
    ]
}

#[inline(always)]
pub(super) fn dft8<V: Lanes>(x: [V; 8]) -> [V; 8] {
    let [a, b, c, d, e, f, g, h] = x;
    let even = dft4([a.add(e), b.add(f), c.add(g), d.add(h)]);
    let odd = dft4([a.sub(e), b.sub(f).mul_pow2(24), c.sub(g).mul_pow2(48), d.sub(h).mul_pow2(72)]);
    [even[0], odd[0], even[1], odd[1], even[2], odd[2], even[3], odd[3]]
}

#[inline(always)]
pub(super) fn dft16<V: Lanes>(x: [V; 16]) -> [V; 16] {
    let [x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, xa, xb, xc, xd, xe, xf] = x;
    // x_{j+4m}, over m; then the twiddles ω_16^(jk) = 2^(12jk).
    let [a0, a1, a2, a3] = dft4([x0, x4, x8, xc]);
    let [b0, b1, b2, b3] = dft4([x1, x5, x9, xd]);
    let [c0, c1, c2, c3] = dft4([x2, x6, xa, xe]);
    let [d0, d1, d2, d3] = dft4([x3, x7, xb, xf]);
    let [y0, y4, y8, yc] = dft4([a0, b0, c0, d0]);
    let [y1, y5, y9, yd] = dft4([a1, b1.mul_pow2(12), c1.mul_pow2(24), d1.mul_pow2(36)]);
    let [y2, y6, ya, ye] = dft4([a2, b2.mul_pow2(24), c2.mul_pow2(48), d2.mul_pow2(72)]);
    let [y3, y7, yb, yf] = dft4([a3, b3.mul_pow2(36), c3.mul_pow2(72), d3.mul_pow2(108)]);
    [y0, y1, y2, y3, y4, y5, y6, y7, y8, y9, ya, yb, yc, yd, ye, yf]
}

/// The exponent e with ω_3 = 2^e for the root of unity ω_3 of order 3. It is 64 or 128, because 2
/// is a root of unity of order 192.
const SHIFT_OF_THIRD: u32 = match field::root_of_unity(3) {
    Some(omega) if omega == field::mul_pow2(1, 64) => 64,
    _ => 128,
};

/// Returns the transform of three points. It needs only one product by a root, which is a shift,
/// because ω² = −1 − ω for the root of unity ω of order 3.
#[inline(always)]
pub(super) fn dft3<V: Lanes>([a, b, c]: [V; 3]) -> [V; 3] {
    let turned = b.sub(c).mul_pow2(SHIFT_OF_THIRD);
    [a.add(b).add(c), a.sub(c).add(turned), a.sub(b).sub(turned)]
}

/// The constants of a 5-point transform.
#[derive(Clone, Copy)]
pub(super) struct Fifth {
    five_quarters: u64,
    cosine_difference: u64,
    sine_2: u64,
    sine_difference: u64,
    sine_sum: u64,
}

impl Fifth {
    /// Computes the constants for a root of unity ω of order 5. With c_k = (ω^k + ω^−k)/2 and s_k =
    /// (ω^k − ω^−k)/2, the constants are 5/4, (c_1 − c_2)/2, s_2, s_1 − s_2 and s_1 + s_2.
    pub(super) fn new(omega: u64) -> Self {
        let square = field::square(omega);
        let (inverse, inverse_square) = (field::pow(omega, 4), field::pow(omega, 3));
        let cosine = |a, b| field::halve(field::add(a, b));
        let sine = |a, b| field::halve(field::sub(a, b));
        let (c1, c2) = (cosine(omega, inverse), cosine(square, inverse_square));
        let (s1, s2) = (sine(omega, inverse), sine(square, inverse_square));
        Self {
            five_quarters: field::halve(field::halve(5)),
            cosine_difference: field::halve(field::sub(c1, c2)),
            sine_2: s2,
            sine_difference: field::sub(s1, s2),
            sine_sum: field::add(s1, s2),
        }
    }

    /// Returns the transform of five points. It needs five products. With the notation of
    /// [`Fifth::new`], two products give the terms with c_1 and c_2, because c_1 + c_2 = −1/2.
    /// Three products give the terms with s_1 and s_2.
    #[inline(always)]
    pub(super) fn dft5<V: Lanes>(&self, [a, b, c, d, e]: [V; 5]) -> [V; 5] {
        let ([s1, d1], [s2, d2]) = (dft2([b, e]), dft2([c, d]));
        let [sum, difference] = dft2([s1, s2]);
        let x0 = a.add(sum);
        let mean = x0.sub(by(sum, self.five_quarters));
        let [even_1, even_2] = dft2([mean, by(difference, self.cosine_difference)]);
        let shared = by(d1.add(d2), self.sine_2);
        let odd_1 = shared.add(by(d1, self.sine_difference));
        let odd_2 = shared.sub(by(d2, self.sine_sum));
        let ([x1, x4], [x2, x3]) = (dft2([even_1, odd_1]), dft2([even_2, odd_2]));
        [x0, x1, x2, x3, x4]
    }
}

/// Returns v·w, where w is the same number for every lane. This is not a closure, because a closure
/// would not be compiled with the instruction set of `V`.
#[inline(always)]
fn by<V: Lanes>(v: V, w: u64) -> V {
    v.scale(w)
}
