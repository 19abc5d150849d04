//! Words: from digits to weighted elements, and from elements of the product to digits and carries.
//!
//! Word w has the weight 2^(e_w/N) with e_w = −pw mod N. Modulo q, it is 2^(r·e_w) for the power 2^r
//! of order 31 that is an N-th root of 2. If a row begins with word w and i is a word of row 0, then
//! e_(w+i) is e_w + e_i, or this sum minus N; in the second case the sum *wraps*, and the product of
//! both weights is halved.

use warpint_arith::dd::{Dd, exp2_ratio};
use warpint_arith::m31::{self, Q};
use warpint_arith::simd::{F64s, U64s};

use super::arithmetic::{Z, fold, fold_signed};
use super::memory::load_one;
use super::shape::Shape;
use crate::layout::WordLayout;

/// The constants of a run of words, either of the first words of all rows or of some words of row 0,
/// as bit patterns of `f64` or integers in lanes.
#[derive(Default)]
pub(super) struct Weights {
    /// The numbers e_w, as `f64`.
    exponents: Vec<f64>,
    /// The weights in FP64.
    forward: Vec<f64>,
    /// The inverse weights in FP64, of rows divided by n.
    inverse: Vec<f64>,
    /// The weights modulo q.
    modular: Vec<f64>,
    /// The inverse weights modulo q, of rows divided by n.
    modular_inverse: Vec<f64>,
}

impl Weights {
    /// Computes the constants of some words. Inverse weights are divided by `scale`.
    fn new(layout: &WordLayout, words: impl Iterator<Item = usize>, scale: u64) -> Self {
        let n = layout.len() as u64;
        // No length is a multiple of 31.
        let root = u64::from(m31::root_of_two(n).unwrap_or(0));
        let unscale = m31::inverse(m31::reduce(scale));
        let mut weights = Self::default();
        for w in words {
            let e = layout.weight_numerator(w);
            let weight = exp2_ratio(e, n);
            let rotation = (root * (e % 31) % 31) as u32;
            let inverse = Dd::ONE / (weight * Dd::from_u64(scale));
            weights.exponents.push(e as f64);
            weights.forward.push(weight.to_f64());
            weights.inverse.push(inverse.to_f64());
            weights.modular.push(lane(m31::rotate(1, rotation)));
            weights.modular_inverse.push(lane(m31::rotate(unscale, 31 - rotation)));
        }
        weights
    }
}

impl Weights {
    /// Returns words of a row, from column c on, times their weights, in FP64 and modulo q. `digits` are
    /// the digits plus 2^31.
    #[inline(always)]
    fn weigh<V: F64s>(
        &self,
        i: V::Instructions,
        digits: V::Integers,
        row: &Row<V>,
        c: usize,
    ) -> [V; 2] {
        let wraps = load_one::<V>(i, &self.exponents, c).at_least(row.wraps_from);
        let weight =
            V::select(wraps, row.half_forward, row.forward).mul(load_one(i, &self.forward, c));
        let exact = V::from_bits(digits.or(V::splat_bits(i, TWO_TO_52)))
            .sub(V::splat(i, ((1u64 << 52) + (1 << 31)) as f64));
        // d + 2^31 ≡ d + 1. Products are below 2^63, and folded twice below 2^32.
        let of_column = load_one::<V>(i, &self.modular, c).to_bits();
        let modular = digits.sub(V::splat_bits(i, 1)).mul_low(of_column);
        let modular = fold::<V>(i, fold::<V>(i, modular));
        let of_row = V::select(wraps, row.half_modular, row.modular).to_bits();
        [exact.mul(weight), V::from_bits(fold::<V>(i, modular.mul_low(of_row)))]
    }
}

/// Returns an element of GF(q) as the bit pattern of a lane.
fn lane(x: u32) -> f64 {
    f64::from_bits(u64::from(x))
}

/// Returns the bits of a lane as an element of GF(q).
fn element(x: f64) -> u32 {
    x.to_bits() as u32
}

/// The constants of all words of a residue.
pub(super) struct Words {
    /// The number of words N.
    n: f64,
    /// The number of bits of a short word, ⌊p/N⌋.
    bits: u32,
    /// The number p mod N. A word w with e_w below it has one bit more.
    long_below: f64,
    rows: Weights,
    /// The even and the odd words of row 0.
    columns: [Weights; 2],
}

/// The constants of one row, in every lane.
pub(super) struct Row<V> {
    /// N − e_w: with at least this exponent in a column, the sum wraps.
    wraps_from: V,
    forward: V,
    half_forward: V,
    modular: V,
    half_modular: V,
}

/// The constants of L rows, one in each lane.
pub(super) struct Rows<V> {
    exponents: V,
    inverse: V,
    double_inverse: V,
    modular: V,
    double_modular: V,
}

/// Adding this number to an integer of magnitude below 2^51 leaves the integer in the low bits.
const ROUNDER: f64 = 1.5 * (1u64 << 52) as f64;

/// The largest quotient by q of sound products, as on a GPU (`columns.cu`).
const LARGEST_QUOTIENT: f64 = (1u64 << 46) as f64;

/// The bit pattern of 2^52.
const TWO_TO_52: u64 = 0x4330 << 48;

/// A number added before unsigned shifts of signed numbers.
const SIGNED: u64 = 1 << 62;

impl Words {
    /// Computes the constants of a layout in rows and columns of points, two words each.
    pub(super) fn new(layout: &WordLayout, shape: &Shape) -> Self {
        let (n, p) = (layout.len(), layout.exponent() as usize);
        let width = 2 * shape.columns;
        let column = |odd| Weights::new(layout, (odd..width).step_by(2), 1);
        Self {
            n: n as f64,
            bits: (p / n) as u32,
            long_below: (p % n) as f64,
            rows: Weights::new(layout, (0..n).step_by(width), shape.points() as u64),
            columns: [column(0), column(1)],
        }
    }

    /// Returns the constants of row r for [`Words::weigh`].
    #[inline(always)]
    pub(super) fn row<V: F64s>(&self, i: V::Instructions, r: usize) -> Row<V> {
        let (forward, modular) = (self.rows.forward[r], self.rows.modular[r]);
        Row {
            wraps_from: V::splat(i, self.n - self.rows.exponents[r]),
            forward: V::splat(i, forward),
            half_forward: V::splat(i, 0.5 * forward),
            modular: V::splat(i, modular),
            half_modular: V::splat(i, lane(m31::rotate(element(modular), 30))),
        }
    }

    /// Returns the constants of the rows from r on for [`Words::carried`].
    #[inline(always)]
    pub(super) fn rows<V: F64s>(&self, i: V::Instructions, r: usize) -> Rows<V> {
        let inverse = load_one::<V>(i, &self.rows.inverse, r);
        let modular = load_one::<V>(i, &self.rows.modular_inverse, r);
        Rows {
            exponents: load_one(i, &self.rows.exponents, r),
            inverse,
            double_inverse: inverse.add(inverse),
            modular,
            // From 0 to 2q − 2, so below 2^32.
            double_modular: V::from_bits(modular.to_bits().shift_left::<1>()),
        }
    }

    /// Returns the weighted points of a row from column c on, in both arithmetics. Each lane of
    /// `digits` has the digits of a point: the even word in its low half, the odd word in its high
    /// half.
    #[inline(always)]
    pub(super) fn weigh<V: F64s>(
        &self,
        i: V::Instructions,
        digits: V::Integers,
        row: &Row<V>,
        c: usize,
    ) -> [Z<V>; 2] {
        let low = V::splat_bits(i, (1 << 32) - 1);
        // A digit d plus 2^31, from 0 to 2^32 − 1.
        let plus = V::splat_bits(i, 1 << 31 | 1 << 63);
        let digits = digits.xor(plus);
        let [x, r] = self.columns[0].weigh::<V>(i, digits.and(low), row, c);
        let [y, s] = self.columns[1].weigh::<V>(i, digits.shift_right::<32>(), row, c);
        [[x, y], [r, s]]
    }

    /// Converts a word of the product to a digit and a carry, in each lane. The words are in column c
    /// of L rows, and are the even or the odd words. `real` and `modular` are their parts of the
    /// inverse transforms.
    ///
    /// The word is z = n·q + r, n = round((z̃ − r)/q), for the FP64 value z̃ and some r ≡ z of the
    /// integers. Let b be the bits of the word. As q = 2^31 − 1, the sum of z and the old carry is
    /// n·2^31 + s with s = r − n + carry. The new carry is n·2^(31−b) + ⌊s/2^b + ½⌋, and the digit is
    /// s − ⌊s/2^b + ½⌋·2^b, from −2^(b−1) to 2^(b−1) − 1. |n| is below 2^46, and carries are below 2^58.
    /// A word has at most 31 bits.
    ///
    /// If `MEASURED`, raises `worst` to the distance of (z̃ − r)/q from n, if that is larger.
    #[inline(always)]
    pub(super) fn carried<V: F64s, const MEASURED: bool>(
        &self,
        i: V::Instructions,
        [real, modular]: [V; 2],
        rows: &Rows<V>,
        (c, odd): (usize, usize),
        [carry, worst]: [&mut V; 2],
    ) -> V::Integers {
        let column = &self.columns[odd];
        let exponents = rows.exponents.add(V::splat(i, column.exponents[c]));
        let wraps = exponents.at_least(V::splat(i, self.n));
        let below =
            V::select(wraps, V::splat(i, self.n + self.long_below), V::splat(i, self.long_below));

        let real = real.mul(
            V::select(wraps, rows.double_inverse, rows.inverse).mul(V::splat(i, column.inverse[c])),
        );
        let r =
            fold_signed::<V>(i, modular).mul_low(V::splat(i, column.modular_inverse[c]).to_bits());
        let r = fold::<V>(i, fold::<V>(i, r));
        let of_row = V::select(wraps, rows.double_modular, rows.modular).to_bits();
        let r = fold::<V>(i, r.mul_low(of_row));
        let r_real =
            V::from_bits(r.or(V::splat_bits(i, TWO_TO_52))).sub(V::splat(i, (1u64 << 52) as f64));
        let (n, distance) = quotient::<V>(i, real, r_real);
        if MEASURED {
            *worst = worst.max(distance);
        }

        let short = exponents.at_least(below);
        let b = u64::from(self.bits);
        let bits = choose::<V>(i, short, [b, b + 1]);
        let half = choose::<V>(i, short, [1 << b >> 1, 1 << b]);
        let offset = choose::<V>(i, short, [SIGNED >> b, SIGNED >> (b + 1)]);
        let s = r.sub(n).add(carry.to_bits());
        let out = s.add(half).add(V::splat_bits(i, SIGNED)).shift_right_each(bits).sub(offset);
        let digit = s.sub(out.shift_left_each(bits));
        *carry = V::from_bits(n.shift_left_each(V::splat_bits(i, 31).sub(bits)).add(out));
        digit
    }
}

/// Returns `x[0]` where the mask is true, and `x[1]` elsewhere.
#[inline(always)]
fn choose<V: F64s>(i: V::Instructions, mask: V::Mask, x: [u64; 2]) -> V::Integers {
    let [yes, no] = [V::splat_bits(i, x[0]), V::splat_bits(i, x[1])];
    V::select(mask, V::from_bits(yes), V::from_bits(no)).to_bits()
}

/// Returns n = round((z̃ − r)/q) as a signed integer, for |n| < 2^51, and the distance of (z̃ − r)/q
/// from n. For an integer z ≡ r mod q with |z̃ − z| < `margin::limit`(), n is (z − r)/q. If the
/// quotient is above 2^46 or no number, the distance is ½.
#[inline(always)]
fn quotient<V: F64s>(i: V::Instructions, real: V, r: V) -> (V::Integers, V) {
    let rounder = V::splat(i, ROUNDER);
    let t = real.sub(r).mul(V::splat(i, 1.0 / f64::from(Q)));
    let rounded = t.add(rounder);
    let distance = t.sub(rounded.sub(rounder)).abs();
    let sound = V::splat(i, LARGEST_QUOTIENT).at_least(t.abs());
    let n = rounded.to_bits().sub(rounder.to_bits());
    (n, V::select(sound, distance, V::splat(i, 0.5)))
}

#[cfg(test)]
mod tests {
    use super::super::margin;
    use super::super::memory::first_lane;
    use super::*;
    use warpint_arith::simd::Kernel;

    struct Quotient(f64, f64);

    impl Kernel for Quotient {
        type Output = (i64, f64);

        #[inline(always)]
        fn run<V: F64s>(self, i: V::Instructions) -> (i64, f64) {
            let (n, distance) = quotient::<V>(i, V::splat(i, self.0), V::splat(i, self.1));
            (first_lane(V::from_bits(n)).to_bits() as i64, first_lane(distance))
        }
    }

    #[test]
    fn words_are_exact_up_to_the_limit() {
        let q = i128::from(Q);
        let (mut checked, mut wrong) = (0, 0);
        for z in [0i128, 1, -1, q, -q, q / 2, 1 << 40, (1 << 60) + 12_345, 0x5555 << 58, 1 << 74] {
            for z in [z, -z, z + 1_234_567_890] {
                // r may be any residue of the carry pass, also one above q.
                for r in [z.rem_euclid(q), z.rem_euclid(q) + q] {
                    let exact = ((z - r) / q) as i64;
                    for error in [0.0, 0.5, 0.999, 1.0, 1.1].map(|f| (f * margin::limit()) as i128)
                    {
                        for approximate in [z + error, z - error].map(|x| x as f64) {
                            let within = (approximate as i128 - z).abs() as f64 <= margin::limit();
                            let (found, distance) =
                                warpint_arith::simd::run(Quotient(approximate, r as f64));
                            assert!((0.0..=0.5).contains(&distance), "z = {z}: {distance}");
                            if within {
                                assert_eq!(found, exact, "z = {z}, r = {r}, error {error}");
                                checked += 1;
                            } else if found != exact {
                                wrong += 1;
                            }
                        }
                    }
                }
            }
        }
        // Beyond the limit, 1.1 times its value is too far for almost all words.
        assert!(checked > 300 && wrong > 60, "{checked} {wrong}");
    }

    #[test]
    fn distances_are_those_from_the_nearest_integer() {
        let q = f64::from(Q);
        for (quotient, expected) in
            [(0.0, 0.0), (7.25, 0.25), (-7.25, 0.25), (1e6 + 0.125, 0.125), (-3.4, 0.4)]
        {
            let (_, distance) = warpint_arith::simd::run(Quotient(quotient * q, 0.0));
            assert!((distance - expected).abs() < 1e-9, "{quotient}: {distance}");
        }
        for large in [1e14, -1e14, 1e300, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(warpint_arith::simd::run(Quotient(large * q, 0.0)).1, 0.5, "{large}");
        }
    }
}
