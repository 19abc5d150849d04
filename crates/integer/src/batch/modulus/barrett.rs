//! Remainders by a reciprocal of the modulus (Barrett 1986, Implementing the Rivest Shamir and
//! Adleman public key encryption algorithm on a standard digital signal processor). Möller and
//! Granlund 2011, Improved division by invariant integers, define the reciprocal for a modulus with
//! its highest bit set.
//!
//! Let B = 2^32, and let the modulus m have β bits and n = ⌈β/32⌉ limbs. Let M = m·2^s, with s such
//! that the highest bit of the n limbs of M is set, so B^n/2 ≤ M < B^n. The precomputed reciprocal
//! is v = ⌊(B^(2n) − 1)/M⌋ − B^n, where 0 ≤ v < B^n. The remainder of a number u < m·B^n follows
//! from
//!
//! ```text
//! h = ⌊u·2^s/B^n⌋ < M,   q = h + ⌊h·v/B^n⌋ = ⌊h·(B^n + v)/B^n⌋,   r = u − q·m.
//! ```
//!
//! **Bounds: 0 ≤ r < 4m.** Let B^(2n) = (B^n + v)·M + e; then 1 ≤ e ≤ M. So q·M ≤ h·(B^(2n) −
//! e)/B^n ≤ h·B^n ≤ u·2^s, which gives r ≥ 0, and also q ≤ u/m < B^n, so the sum q does not
//! overflow n limbs. For the upper bound, h·e/B^n < M·M/B^n < M, so q·M > h·(B^(2n) − e)/B^n − M =
//! h·B^n − h·e/B^n − M > h·B^n − 2M. Since u·2^s < h·B^n + B^n and B^n ≤ 2M, it follows that r·2^s
//! < B^n + 2M ≤ 4M.
//!
//! So q is at most 3 less than ⌊u/m⌋, and u mod m = r − k·m with k ≤ 3. The lowest n + 1 limbs of r
//! determine k, since 4m < B^(n + 1). Barrett's own bound, k ≤ 2, needs factors of n + 1 limbs.
//! Such factors are too long for transforms of a length that suits n limbs.

use super::super::UintBatch;
use super::ones;
use crate::operation::Shift;
use crate::{IntegerError, Width};

/// Moduli that all have the same bit length, with their reciprocals.
#[derive(Debug)]
pub(super) struct Barrett {
    /// The bit length β of the moduli.
    bits: u32,
    /// The moduli m, of n = ⌈β/32⌉ limbs each, where β is their bit length.
    modulus: UintBatch,
    /// The shifted moduli M = m·2^s. M has as many limbs as m, and the highest bit of M is set.
    shifted: UintBatch,
    /// The reciprocals v = ⌊(B^(2n) − 1)/M⌋ − B^n of the shifted moduli M, where B = 2^32. A
    /// modulus and a reciprocal have n limbs each.
    reciprocal: UintBatch,
}

/// Temporary memory for `count` remainders.
#[derive(Debug)]
pub(super) struct Space {
    /// Memory for h, the upper n limbs of the shifted dividends, where moduli have n limbs.
    high: UintBatch,
    /// Memory for ⌊h·v/B^n⌋, where h is in `high`, v is the reciprocal, B = 2^32, and moduli have n
    /// limbs.
    part: UintBatch,
    /// Memory for the approximate quotients, with as many limbs as the moduli.
    quotient: UintBatch,
    /// Memory for the products of the quotients and the moduli, with twice as many limbs as the
    /// moduli.
    product: UintBatch,
}

impl Barrett {
    /// Precomputes the reciprocals of moduli of `bits` > 0 bits each.
    pub(super) fn new(m: &UintBatch, bits: u32) -> Result<Self, IntegerError> {
        let limbs = bits.div_ceil(32) as usize;
        let width = Width::of_limbs(limbs);
        let shift = 32 * width.limbs() as u32 - bits;
        let mut modulus = m.output(m.count, width)?;
        m.shift_into(Shift::Right, 0, &mut modulus)?;
        let mut shifted = m.output(m.count, width)?;
        m.shift_into(Shift::Left, shift, &mut shifted)?;
        let all = ones(&m.executor, 1, Width::of_limbs(2 * limbs))?;
        let (quotient, _) = all.div(&shifted)?;
        let mut reciprocal = m.output(m.count, width)?;
        quotient.shift_into(Shift::Right, 0, &mut reciprocal)?;
        Ok(Self { bits, modulus, shifted, reciprocal })
    }

    /// Returns the width of the moduli and of residues, without leading zero limbs.
    pub(super) fn width(&self) -> Width {
        self.modulus.width
    }

    /// Allocates temporary memory for `count` remainders.
    pub(super) fn space(&self, count: usize) -> Result<Space, IntegerError> {
        let of = |width| self.modulus.output(count, width);
        let width = self.modulus.width;
        Ok(Space {
            high: of(width)?,
            part: of(width)?,
            quotient: of(width)?,
            product: of(Width::of_limbs(2 * width.limbs()))?,
        })
    }

    /// Returns u mod m for any u, where m is the modulus. The result has the width [`Self::width`].
    pub(super) fn rem(&self, u: &UintBatch) -> Result<UintBatch, IntegerError> {
        if u.bits() < self.bits || self.is_below(u.width) {
            return self.rem_of_below(u);
        }
        let repeated = self.repeated(u)?;
        self.rem_of_below(&self.folded(repeated.as_ref().unwrap_or(u))?)
    }

    /// Returns a·b mod m, where m is the modulus. The result has the width [`Self::width`].
    pub(super) fn mul(&self, a: &UintBatch, b: &UintBatch) -> Result<UintBatch, IntegerError> {
        let width = self.modulus.width;
        if a.width.max(b.width) > width {
            return self.rem(&a.mul(b)?);
        }
        // It suffices that one factor is below m, since the other is below B^n.
        let (a, b) = if b.bits() < self.bits { (b, a) } else { (a, b) };
        let residue = self.residue(a)?;
        self.rem_of_below(&residue.as_ref().unwrap_or(a).mul(b)?)
    }

    /// Returns a² mod m, where m is the modulus. The result has the width [`Self::width`].
    pub(super) fn square(&self, a: &UintBatch) -> Result<UintBatch, IntegerError> {
        if a.width > self.modulus.width {
            return self.rem(&a.square()?);
        }
        let residue = self.residue(a)?;
        self.rem_of_below(&residue.as_ref().unwrap_or(a).square()?)
    }

    /// Returns a mod m, where m is the modulus and a has at most as many limbs as m. Returns `None`
    /// if the width of a implies a < m. If the highest limb of m has s > 0 leading zero bits, a mod
    /// m is computed by a division, whose quotient is below 2^(s + 1).
    fn residue(&self, a: &UintBatch) -> Result<Option<UintBatch>, IntegerError> {
        if a.bits() < self.bits {
            Ok(None)
        } else if self.bits == self.modulus.bits() {
            // B^n ≤ 2m, and subtracting m from a smaller number wraps around to a larger one.
            Ok(Some(a.min(&a.wrapping_sub(&self.modulus)?)?))
        } else {
            Ok(Some(a.rem(&self.modulus)?.0))
        }
    }

    /// Returns u mod m for u < m·B^n, where B = 2^32 and m has n limbs. The result has n limbs.
    fn rem_of_below(&self, u: &UintBatch) -> Result<UintBatch, IntegerError> {
        let repeated = self.repeated(u)?;
        let u = repeated.as_ref().unwrap_or(u);
        let mut r = u.output(u.count, self.modulus.width)?;
        if u.bits() < self.bits {
            u.shift_into(Shift::Right, 0, &mut r)?;
        } else {
            self.rem_into(u, &mut self.space(u.count)?, &mut r)?;
        }
        Ok(r)
    }

    /// If u is a batch of one number and there are several moduli, returns a batch that repeats the
    /// number once per modulus. Returns `None` if u already has as many numbers as there are
    /// results.
    fn repeated(&self, u: &UintBatch) -> Result<Option<UintBatch>, IntegerError> {
        let count = u.count_with(&self.modulus)?;
        if u.count == count {
            return Ok(None);
        }
        UintBatch::zeros(&u.executor, count, u.width)?.or(u).map(Some)
    }

    /// Returns whether all numbers of `width` are below m·B^n for every m of β bits. β is the bit
    /// length of the moduli, n = ⌈β/32⌉, and B = 2^32.
    fn is_below(&self, width: Width) -> bool {
        u64::from(width.bits()) < u64::from(self.bits) + u64::from(self.modulus.bits())
    }

    /// Returns numbers congruent to u modulo m and below m·B^n, one per result, where B = 2^32 and
    /// m has n limbs and β bits. Let M be m shifted to n full limbs, so that M·2^β = m·B^n.
    /// Replaces h = ⌊u/2^β⌋, the upper part of u, by h mod M. The computation of h mod M takes a
    /// division if M ≠ m or if u has more than 2n limbs. The quotient of this division is short
    /// unless u has many more limbs than 2n.
    fn folded(&self, u: &UintBatch) -> Result<UintBatch, IntegerError> {
        let width = self.modulus.width;
        // h = ⌊u/2^β⌋, for 32·n − s = β.
        let kept = self.bits;
        let limbs = (u.bits() - kept).div_ceil(32) as usize;
        let mut high = u.output(u.count, Width::of_limbs(limbs))?;
        u.shift_into(Shift::Right, kept, &mut high)?;
        let high = if kept == width.bits() && limbs <= width.limbs() {
            // B^n ≤ 2M, and subtracting M from a smaller number wraps around to a larger one.
            high.min(&high.wrapping_sub(&self.shifted)?)?
        } else {
            high.rem(&self.shifted)?.0
        };
        let mut folded = u.output(u.count, Width::of_limbs(2 * width.limbs()))?;
        high.shift_into(Shift::Left, kept, &mut folded)?;
        let mut low = u.output(u.count, width)?;
        u.shift_into(Shift::Right, 0, &mut low)?;
        let mask = ones(&u.executor, 1, width)?.shr(width.bits() - kept)?;
        // No carry: `folded` was shifted and is 0 in the bits of `low`.
        drop(folded.add_assign(&low.and(&mask)?)?);
        Ok(folded)
    }

    /// Computes r ← u mod m for u < m·B^n of any width, where B = 2^32 and m has n limbs. r has n
    /// limbs. `u`, `r` and `space` have the same count.
    pub(super) fn rem_into(
        &self,
        u: &UintBatch,
        space: &mut Space,
        r: &mut UintBatch,
    ) -> Result<(), IntegerError> {
        let Space { high, part, quotient, product } = space;
        u.shift_into(Shift::Right, self.bits, high)?;
        high.mul_high_into(&self.reciprocal, part)?;
        high.add_into(part, quotient, None)?;
        quotient.mul_into(&self.modulus, product)?;
        u.reduce_into(product, &self.modulus, r)
    }
}
