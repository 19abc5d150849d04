//! The two numbers of division steps, one pair per lane.
//!
//! Numbers are in two's complement: n limbs represent x with −2^(β·n−1) ≤ x < 2^(β·n−1).
//!
//! # Bounds
//! A batch of steps divides a combination x·f + y·g by 2^β without remainder. The limbs of f and g
//! are continued by the limb that [`sign`] returns, so the combination is correct mod 2^(β·(n+1)),
//! and the quotient mod 2^(β·n). By the bounds of [`steps`](super::steps) it is not larger than the
//! larger one of |f| and |g|, so it fits in n limbs. The number −2^(β·n−1) can only be g, since f is
//! odd or 0. As it is even, no row of the next batch is (0, 1), so the new f and g are smaller.
//! [`sums`](super::sums) has the bounds of columns.

use super::masks::{Masks, all, sign};
use super::steps::Matrix;
use super::sums::Sum;
use super::vector::{Kernel, digit};

/// The numbers f and g of a group.
pub(super) struct Pair<V> {
    pub(super) f: Vec<V>,
    pub(super) g: Vec<V>,
    /// The number of limbs that are used. Higher limbs are not valid.
    len: usize,
}

impl<V: Masks> Pair<V> {
    /// Allocates memory for numbers of n ≥ 1 limbs.
    pub(super) fn new(proof: V::Proof, n: usize) -> Self {
        let zeros = vec![V::splat(proof, 0); n];
        Self { f: zeros.clone(), g: zeros, len: n }
    }

    /// Prepares for steps of the numbers that all limbs of f and g represent.
    pub(super) fn start(&mut self) {
        self.len = self.f.len();
    }

    /// Returns whether g = 0 in all lanes.
    #[inline(always)]
    pub(super) fn is_done(&self) -> bool {
        for g in &self.g[..self.len] {
            if g.zero() != all::<V>() {
                return false;
            }
        }
        true
    }

    /// Returns the lanes in which f = 1. All limbs of f must be valid.
    #[inline(always)]
    pub(super) fn is_one(&self, proof: V::Proof) -> u8 {
        let mut union = self.f[0].sub(V::splat(proof, 1));
        for limb in &self.f[1..] {
            union = union.or(*limb);
        }
        union.zero()
    }

    /// Replaces f by |f|, and makes all limbs valid. Returns the lanes in which f was negative.
    #[inline(always)]
    pub(super) fn make_absolute(&mut self, proof: V::Proof) -> u8 {
        let zero = V::splat(proof, 0);
        let (f, above) = self.f.split_at_mut(self.len);
        above.fill(zero);
        let negative = all::<V>() & !sign(proof, f[f.len() - 1]).zero();
        let mut carry = zero;
        for f in f {
            let sum = f.select(negative, zero.sub(*f)).add(carry);
            carry = sum.shr_signed(u64::from(V::BITS));
            *f = digit(proof, sum);
        }
        negative
    }
}

/// Replaces f and g of a pair by the numbers after a batch of steps. Reduces the number of limbs if
/// all lanes allow it.
pub(super) struct Update<'a, V> {
    pub(super) pair: &'a mut Pair<V>,
    pub(super) matrix: &'a Matrix<V>,
}

impl<V: Masks> Kernel<V> for Update<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self, proof: V::Proof) {
        let Pair { f, g, len } = self.pair;
        let (f, g) = (&mut f[..*len], &mut g[..*len]);
        let [row_f, row_g] = *self.matrix;
        let (mut of_f, mut of_g) = (V::Sum::new(proof, row_f), V::Sum::new(proof, row_g));
        // The lowest limbs of the combinations are 0.
        of_f.step(proof, f[0], g[0]);
        of_g.step(proof, f[0], g[0]);
        for i in 1..*len {
            let (x, y) = (f[i], g[i]);
            f[i - 1] = of_f.step(proof, x, y);
            g[i - 1] = of_g.step(proof, x, y);
        }
        let top = *len - 1;
        let (x, y) = (sign(proof, f[top]), sign(proof, g[top]));
        f[top] = of_f.step(proof, x, y);
        g[top] = of_g.step(proof, x, y);
        while *len > 1 && is_spare(proof, &f[..*len]) && is_spare(proof, &g[..*len]) {
            *len -= 1;
        }
    }
}

/// Returns whether the numbers are determined without their highest limb. There are at least two
/// limbs.
#[inline(always)]
fn is_spare<V: Masks>(proof: V::Proof, x: &[V]) -> bool {
    let [.., below, top] = x else { return false };
    top.sub(sign(proof, *below)).zero() == all::<V>()
}
