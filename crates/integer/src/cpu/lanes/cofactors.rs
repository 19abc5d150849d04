//! Cofactors of division steps modulo odd numbers m, one modulus per lane.
//!
//! d and e are numbers with f ≡ d·a and g ≡ e·a modulo m for the same a. If f = ±1 in the end, ±d is
//! the inverse of a. A batch of steps multiplies the column (d, e) by the same matrix as (f, g), and
//! divides it by 2^β modulo m: the multiple k·m that makes the sum divisible is added first
//! (Montgomery 1985).
//!
//! # Bounds
//! At first d = 0 and e = 1. Let c be the larger one of |d| and |e|. A batch changes d to
//! (x·d + y·e + k·m)/2^β with |x| + |y| ≤ 2^β and 0 ≤ k < 2^β, so |d| becomes less than c + m. The
//! same is true for e. After t batches, |d| and |e| are below (t + 1)·m. [`spare_bits`] is the number
//! of bits for these multiples.

use super::masks::{Masks, sign};
use super::montgomery::inverse_of_odd;
use super::rows::{Group, PADDING, Words, limbs_of, load};
use super::steps::Matrix;
use super::sums::Sum;
use super::vector::{Kernel, digit, words_mut};

/// The cofactors of a group, and their moduli.
pub(super) struct Cofactors<V> {
    /// d in two's complement, and zeros after its n limbs.
    d: Vec<V>,
    /// e in two's complement.
    e: Vec<V>,
    m: Vec<V>,
    /// −m^(−1) mod 2^β.
    inverse: V,
    /// The number of batches so far.
    batches: usize,
}

/// Returns the least s with t + 1 ≤ 2^s for t batches.
const fn spare_bits(batches: usize) -> u32 {
    usize::BITS - batches.leading_zeros()
}

impl<V: Masks> Cofactors<V> {
    /// Allocates memory for moduli of `width` limbs of 32 bits, and for up to `batches` batches.
    pub(super) fn new(proof: V::Proof, width: usize, batches: usize) -> Self {
        // [`Finish`] needs numbers below 2^(s+1)·m with a sign.
        let n = limbs_of::<V>(32 * width + spare_bits(batches) as usize + 2);
        let zeros = |len: usize| vec![V::splat(proof, 0); len];
        let inverse = V::splat(proof, 0);
        Self { d: zeros(n + PADDING), e: zeros(n), m: zeros(n), inverse, batches: 0 }
    }

    /// Sets d = 0, e = 1, and the moduli, which must be odd.
    #[inline(always)]
    pub(super) fn start(&mut self, proof: V::Proof, moduli: &Group, words: &mut Words<V>) {
        let Self { d, e, m, inverse, batches } = self;
        load(proof, moduli, moduli[0].len(), words, m);
        *inverse = m[0];
        for word in words_mut(std::slice::from_mut(inverse)) {
            *word = inverse_of_odd(*word).wrapping_neg();
        }
        *inverse = digit(proof, *inverse);
        d.fill(V::splat(proof, 0));
        e.fill(V::splat(proof, 0));
        e[0] = V::splat(proof, 1);
        *batches = 0;
    }

    /// Returns the limbs of d, and [`PADDING`] zeros after them.
    pub(super) fn d(&self) -> &[V] {
        &self.d
    }
}

/// Replaces d and e by the numbers after a batch of steps.
pub(super) struct Update<'a, V> {
    pub(super) cofactors: &'a mut Cofactors<V>,
    pub(super) matrix: &'a Matrix<V>,
}

impl<V: Masks> Kernel<V> for Update<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self, proof: V::Proof) {
        let Cofactors { d, e, m, inverse, batches } = self.cofactors;
        *batches += 1;
        let n = m.len();
        let (d, e) = (&mut d[..n], &mut e[..n]);
        let [row_d, row_e] = *self.matrix;
        let (mut of_d, mut of_e) = (V::Sum::new(proof, row_d), V::Sum::new(proof, row_e));
        let times_d = of_d.lowest(proof, d[0], e[0]).low_product(proof, *inverse);
        let times_e = of_e.lowest(proof, d[0], e[0]).low_product(proof, *inverse);
        // The lowest limbs of the sums are 0.
        of_d.step_with(proof, d[0], e[0], [m[0], times_d]);
        of_e.step_with(proof, d[0], e[0], [m[0], times_e]);
        for i in 1..n {
            let (x, y) = (d[i], e[i]);
            d[i - 1] = of_d.step_with(proof, x, y, [m[i], times_d]);
            e[i - 1] = of_e.step_with(proof, x, y, [m[i], times_e]);
        }
        let (x, y) = (sign(proof, d[n - 1]), sign(proof, e[n - 1]));
        let zero = V::splat(proof, 0);
        d[n - 1] = of_d.step_with(proof, x, y, [zero, times_d]);
        e[n - 1] = of_e.step_with(proof, x, y, [zero, times_e]);
    }
}

/// Replaces d by the number from 0 to m − 1 that is congruent to −d in the lanes of `negate`, and to
/// d in the others.
pub(super) struct Finish<'a, V> {
    pub(super) cofactors: &'a mut Cofactors<V>,
    pub(super) negate: u8,
}

impl<V: Masks> Kernel<V> for Finish<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self, proof: V::Proof) {
        let Cofactors { d, m, batches, .. } = self.cofactors;
        let d = &mut d[..m.len()];
        let zero = V::splat(proof, 0);
        // With s spare bits, ±d + 2^s·m is from 0 to 2^(s+1)·m − 1.
        let spare = spare_bits(*batches);
        for d in &mut *d {
            *d = d.select(self.negate, zero.sub(*d));
        }
        combine::<V, false, true>(proof, d, m, V::splat(proof, 1 << spare));
        for bit in (0..=spare).rev() {
            let multiple = V::splat(proof, 1 << bit);
            let negative = combine::<V, true, false>(proof, d, m, multiple).negative();
            combine::<V, true, true>(proof, d, m, multiple.select(negative, zero));
        }
    }
}

/// Returns the carry out of the highest limb of d + t·m, or of d − t·m if `SUBTRACTS` is true. If
/// `WRITES` is true, replaces d by the limbs below it. Limbs of d may be negative. t < 2^β.
#[inline(always)]
fn combine<V: Masks, const SUBTRACTS: bool, const WRITES: bool>(
    proof: V::Proof,
    d: &mut [V],
    m: &[V],
    t: V,
) -> V {
    let zero = V::splat(proof, 0);
    let (mut high, mut carry) = (zero, zero);
    for (d, &m) in d.iter_mut().zip(m) {
        let (low, next) = V::mad(high, zero, m, t);
        let sum = if SUBTRACTS { d.sub(low) } else { d.add(low) }.add(carry);
        carry = sum.shr_signed(u64::from(V::BITS));
        high = next;
        if WRITES {
            *d = digit(proof, sum);
        }
    }
    carry
}
