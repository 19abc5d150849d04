//! Cofactors of division steps modulo odd numbers m, one modulus per lane.
//!
//! d and e are numbers with 2^(β·t)·f ≡ d·a and 2^(β·t)·g ≡ e·a modulo m for the same a, after t
//! batches of steps. A batch multiplies the column (d, e) by the same matrix as (f, g), without the
//! division by 2^β. In the end, d is divided by 2^(β·t) modulo m: multiples of m that make d
//! divisible are added first (Montgomery 1985). If f = ±1, the quotient is plus or minus the inverse
//! of a.
//!
//! Entries of the product of all matrices are at most 2^(β·t), but in most cases they have about half
//! as many bits. So d and e have about half of the t limbs, and most batches cost less
//! than if d and e were kept modulo m.
//!
//! # Bounds
//! At first d = 0 and e = 1. After t batches d and e are entries of the product of the matrices, so
//! |d| ≤ 2^(β·t) and |e| ≤ 2^(β·t). They are stored with as many limbs `len` as are
//! needed for |d| ≤ 2^(β·len−2) and |e| ≤ 2^(β·len−2) in all lanes. As |x| + |y| ≤ 2^β in each row of a matrix, one
//! limb more suffices after a batch. The quotient is (d + k·m)/2^(β·t) with 0 ≤ k < 2^(β·t), so it
//! is from −1 to m.

use super::masks::{Masks, all, sign};
use super::montgomery::inverse_of_odd;
use super::rows::{Group, PADDING, Words, limbs_of, load};
use super::steps::Matrix;
use super::sums::Sum;
use super::vector::{Kernel, digit, unrolled, words_mut};

/// The number of limbs by which [`Finish`] divides at a time.
const LIMBS: usize = 4;

/// The cofactors of a group, and their moduli.
pub(super) struct Cofactors<V> {
    /// d in two's complement.
    d: Vec<V>,
    /// e in two's complement.
    e: Vec<V>,
    /// The number of limbs of d and e that are valid.
    len: usize,
    /// The moduli, and zeros after them.
    m: Vec<V>,
    /// The number of limbs of residues with a sign, at least [`LIMBS`].
    n: usize,
    /// −m^(−1) mod 2^β.
    inverse: V,
    /// The number of batches so far.
    batches: usize,
}

impl<V: Masks> Cofactors<V> {
    /// Allocates memory for moduli of `width` limbs of 32 bits, and for up to `batches` batches.
    pub(super) fn new(proof: V::Proof, width: usize, batches: usize) -> Self {
        let n = limbs_of::<V>(32 * width + 2).max(LIMBS);
        let len = n.max(batches + 2) + LIMBS.max(PADDING);
        let zeros = || vec![V::splat(proof, 0); len];
        let inverse = V::splat(proof, 0);
        Self { d: zeros(), e: zeros(), len: 1, m: zeros(), n, inverse, batches: 0 }
    }

    /// Sets d = 0, e = 1, and the moduli, which must be odd.
    #[inline(always)]
    pub(super) fn start(&mut self, proof: V::Proof, moduli: &Group, words: &mut Words<V>) {
        let Self { d, e, len, m, inverse, batches, .. } = self;
        load(proof, moduli, moduli[0].len(), words, m);
        *inverse = m[0];
        for word in words_mut(std::slice::from_mut(inverse)) {
            *word = inverse_of_odd(*word).wrapping_neg();
        }
        *inverse = digit(proof, *inverse);
        (d[0], e[0]) = (V::splat(proof, 0), V::splat(proof, 1));
        (*len, *batches) = (1, 0);
    }

    /// Returns the limbs of d after [`Finish`], and [`PADDING`] zeros after them.
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
        let Cofactors { d, e, len, batches, .. } = self.cofactors;
        *batches += 1;
        let (d, e) = (&mut d[..=*len], &mut e[..=*len]);
        (d[*len], e[*len]) = (sign(proof, d[*len - 1]), sign(proof, e[*len - 1]));
        let [row_d, row_e] = *self.matrix;
        let (mut of_d, mut of_e) = (V::Sum::new(proof, row_d), V::Sum::new(proof, row_e));
        for (d, e) in d.iter_mut().zip(&mut *e) {
            (*d, *e) = (of_d.step(proof, *d, *e), of_e.step(proof, *d, *e));
        }
        *len += 1;
        while *len > 1 && is_spare(proof, &d[..*len]) && is_spare(proof, &e[..*len]) {
            *len -= 1;
        }
    }
}

/// Returns whether x is from −2^(β·n−2) to 2^(β·n−2) − 1 for the n limbs below the highest one. There
/// are at least two limbs.
#[inline(always)]
fn is_spare<V: Masks>(proof: V::Proof, x: &[V]) -> bool {
    let [.., below, top] = x else { return false };
    let (first, second) = (sign(proof, *below), sign(proof, below.add(*below)));
    top.sub(first).or(top.sub(second)).zero() == all::<V>()
}

/// Replaces d by the number from 0 to m − 1 that is congruent to −d/2^(β·t) in the lanes of `negate`,
/// and to d/2^(β·t) in the others, after t batches.
pub(super) struct Finish<'a, V> {
    pub(super) cofactors: &'a mut Cofactors<V>,
    pub(super) negate: u8,
}

impl<V: Masks> Kernel<V> for Finish<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self, proof: V::Proof) {
        let Cofactors { d, len, m, n, inverse, batches, .. } = self.cofactors;
        let above = sign(proof, d[*len - 1]);
        d[*len..].fill(above);
        let mut len = (*len).max(*n);
        for _ in 0..*batches / LIMBS {
            divide::<V, LIMBS>(proof, d, len, m, *inverse);
            // The absolute value of the quotient is at most 2^(β·(len−LIMBS)−1) + m.
            len = (len + 1 - LIMBS).max(*n);
        }
        for _ in 0..*batches % LIMBS {
            divide::<V, 1>(proof, d, len, m, *inverse);
        }
        let zero = V::splat(proof, 0);
        let (d, above) = d.split_at_mut(*n);
        above[..PADDING].fill(zero);
        let mut carry = zero;
        for d in &mut *d {
            let sum = d.select(self.negate, zero.sub(*d)).add(carry);
            carry = sum.shr_signed(u64::from(V::BITS));
            *d = digit(proof, sum);
        }
        // Now d is from −m to m.
        let negative = sign(proof, d[*n - 1]);
        let (mut carry, mut difference) = (zero, zero);
        for (d, &m) in d.iter_mut().zip(&*m) {
            let sum = d.add(m.and(negative)).add(carry);
            carry = sum.shr(u64::from(V::BITS));
            *d = digit(proof, sum);
            difference = difference.or(d.sub(m));
        }
        let is_m = difference.zero();
        for d in d {
            *d = d.select(is_m, zero);
        }
    }
}

/// Replaces d by (d + k·m)/2^(β·B), with 0 ≤ k < 2^(β·B) such that the quotient is an integer. d has
/// `len` ≥ B limbs in two's complement. The quotient must fit in as many limbs. `d` and `m` must have
/// B entries more; the entries of `d` are overwritten.
#[inline(always)]
fn divide<V: Masks, const B: usize>(proof: V::Proof, d: &mut [V], len: usize, m: &[V], inverse: V) {
    let zero = V::splat(proof, 0);
    let above = sign(proof, d[len - 1]);
    let (d, m) = (&mut d[..len + B], &m[..len + B]);
    d[len..].fill(above);
    // The limbs of k are those for which the lowest limbs of d + k·m are 0.
    let (mut low, mut k) = ([zero; B], [zero; B]);
    low.copy_from_slice(&d[..B]);
    for (b, k) in k.iter_mut().enumerate() {
        *k = low[0].low_product(proof, inverse);
        let mut sum = V::Sum::new(proof, [zero; 2]);
        sum.add_products(proof, low[0], [m[0]], [*k]);
        for i in 1..B - b {
            low[i - 1] = sum.add_products(proof, low[i], [m[i]], [*k]);
        }
    }
    let mut sum = V::Sum::new(proof, [zero; 2]);
    for i in 0..B {
        let mut window = [zero; B];
        for b in 0..=i {
            window[b] = m[i - b];
        }
        sum.add_products(proof, d[i], window, k);
    }
    for i in B..d.len() {
        let mut window = [zero; B];
        unrolled!(b < B => window[b] = m[i - b]);
        d[i - B] = sum.add_products(proof, d[i], window, k);
    }
}
