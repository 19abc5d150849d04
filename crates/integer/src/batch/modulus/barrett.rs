//! Remainders by a reciprocal (Barrett 1986, Implementing the Rivest Shamir and Adleman public key
//! encryption algorithm on a standard digital signal processor; the reciprocal of a modulus with its
//! highest bit set as in Möller and Granlund 2011, Improved division by invariant integers).
//!
//! B = 2^32. m has β bits and n = ⌈β/32⌉ limbs; M = m·2^s has the highest bit of n limbs set, so
//! B^n/2 ≤ M < B^n. Kept is v = ⌊(B^(2n) − 1)/M⌋ − B^n, 0 ≤ v < B^n. For u < m·B^n:
//!
//! ```text
//! h = ⌊u·2^s/B^n⌋ < M,   q = h + ⌊h·v/B^n⌋ = ⌊h·(B^n + v)/B^n⌋,   r = u − q·m.
//! ```
//!
//! **0 ≤ r < 4m.** Let B^(2n) = (B^n + v)·M + e; then 1 ≤ e ≤ M. So
//! q·M ≤ h·(B^(2n) − e)/B^n ≤ h·B^n ≤ u·2^s, which is r ≥ 0, and with it q ≤ u/m < B^n: the sum that
//! is q does not overflow n limbs. And q·M > h·(B^(2n) − e)/B^n − M = h·B^n − h·e/B^n − M
//! > h·B^n − 2M, for h·e/B^n < M·M/B^n < M. With u·2^s < h·B^n + B^n and B^n ≤ 2M
//! this gives r·2^s < B^n + 2M ≤ 4M.
//!
//! So two corrections are enough: 2m is subtracted from r ≥ 2m, then m from r ≥ m. All of it is
//! known modulo B^W for W > n, since 4m < 4·B^n; and where x, c < B^W, the smaller of x and
//! (x − c) mod B^W is x − c for x ≥ c, and x otherwise.

use super::super::UintBatch;
use super::ones;
use crate::operation::Shift;
use crate::{IntegerError, Width};

/// Moduli of one bit length, and their reciprocals.
#[derive(Debug)]
pub(super) struct Barrett {
    /// β.
    bits: u32,
    /// m, of n limbs.
    modulus: UintBatch,
    /// 2m, of W limbs.
    twice: UintBatch,
    /// M, of n limbs.
    shifted: UintBatch,
    /// v, of n limbs.
    reciprocal: UintBatch,
}

/// What remainders of `count` numbers need memory for.
#[derive(Debug)]
pub(super) struct Space {
    /// h, ⌊h·v/B^n⌋ and q, of n limbs.
    high: UintBatch,
    part: UintBatch,
    quotient: UintBatch,
    /// q·m.
    product: UintBatch,
    /// W limbs.
    low: UintBatch,
    rest: UintBatch,
    less: UintBatch,
}

impl Barrett {
    /// For moduli of `bits` > 0 bits each.
    pub(super) fn new(m: &UintBatch, bits: u32) -> Result<Self, IntegerError> {
        let limbs = bits.div_ceil(32) as usize;
        let width = Width::of_limbs(limbs);
        let shift = 32 * width.limbs() as u32 - bits;
        let mut modulus = m.output(m.count, width)?;
        m.shift_into(Shift::Right, 0, &mut modulus)?;
        let mut shifted = m.output(m.count, width)?;
        m.shift_into(Shift::Left, shift, &mut shifted)?;
        // A multiple of four limbs moves faster.
        let mut twice = m.output(m.count, Width::of_limbs((limbs + 1).next_multiple_of(4)))?;
        m.shift_into(Shift::Left, 1, &mut twice)?;
        let all = ones(&m.executor, 1, Width::of_limbs(2 * limbs))?;
        let (quotient, _) = all.div(&shifted)?;
        let mut reciprocal = m.output(m.count, width)?;
        quotient.shift_into(Shift::Right, 0, &mut reciprocal)?;
        Ok(Self { bits, modulus, twice, shifted, reciprocal })
    }

    /// n limbs.
    pub(super) fn width(&self) -> Width {
        self.modulus.width
    }

    /// For remainders of so many numbers.
    pub(super) fn space(&self, count: usize) -> Result<Space, IntegerError> {
        let of = |width| self.modulus.output(count, width);
        let (width, wide) = (self.modulus.width, self.twice.width);
        Ok(Space {
            high: of(width)?,
            part: of(width)?,
            quotient: of(width)?,
            product: of(Width::of_limbs(2 * width.limbs()))?,
            low: of(wide)?,
            rest: of(wide)?,
            less: of(wide)?,
        })
    }

    /// u mod m, of n limbs, of any u.
    pub(super) fn rem(&self, u: &UintBatch) -> Result<UintBatch, IntegerError> {
        let count = u.count_with(&self.modulus)?;
        let repeated;
        let u = if u.count == count {
            u
        } else {
            let zeros = UintBatch::zeros(&u.executor, count, u.width)?;
            repeated = zeros.or(u)?;
            &repeated
        };
        let mut r = u.output(count, self.modulus.width)?;
        if u.bits() < self.bits {
            u.shift_into(Shift::Right, 0, &mut r)?;
        } else if self.is_below(u.width) {
            self.rem_into(u, &mut self.space(count)?, &mut r)?;
        } else {
            self.rem_into(&self.folded(u)?, &mut self.space(count)?, &mut r)?;
        }
        Ok(r)
    }

    /// Whether numbers of that width are below m·B^n, for m ≥ 2^(β − 1).
    fn is_below(&self, width: Width) -> bool {
        u64::from(width.bits()) < u64::from(self.bits) + u64::from(self.modulus.bits())
    }

    /// A number below m·B^n that is congruent to u: h mod M in place of h, for
    /// M·2^β = m·B^n. For s > 0 this is a division, but one with a short quotient unless u has many more limbs
    /// than 2n.
    fn folded(&self, u: &UintBatch) -> Result<UintBatch, IntegerError> {
        let width = self.modulus.width;
        // h = ⌊u/2^β⌋, for 32·n − s = β.
        let kept = self.bits;
        let limbs = (u.bits() - kept).div_ceil(32) as usize;
        let mut high = u.output(u.count, Width::of_limbs(limbs))?;
        u.shift_into(Shift::Right, kept, &mut high)?;
        let high = if kept == width.bits() && limbs <= width.limbs() {
            // B^n ≤ 2M.
            high.min(&high.wrapping_sub(&self.shifted)?)?
        } else {
            high.rem(&self.shifted)?.0
        };
        let mut folded = u.output(u.count, Width::of_limbs(2 * width.limbs()))?;
        high.shift_into(Shift::Left, kept, &mut folded)?;
        let mut low = u.output(u.count, width)?;
        u.shift_into(Shift::Right, 0, &mut low)?;
        let mask = ones(&u.executor, 1, width)?.shr(width.bits() - kept)?;
        folded.add_assign(&low.and(&mask)?)?;
        Ok(folded)
    }

    /// r ← u mod m, of n limbs, for u < m·B^n of any width, as many as r and `space` are for.
    pub(super) fn rem_into(
        &self,
        u: &UintBatch,
        space: &mut Space,
        r: &mut UintBatch,
    ) -> Result<(), IntegerError> {
        let Space { high, part, quotient, product, low, rest, less } = space;
        u.shift_into(Shift::Right, self.bits, high)?;
        high.mul_high_into(&self.reciprocal, part)?;
        high.add_into(part, quotient, None)?;
        quotient.mul_into(&self.modulus, product)?;
        u.shift_into(Shift::Right, 0, low)?;
        product.shift_into(Shift::Right, 0, less)?;
        low.sub_into(less, rest, None)?;
        rest.sub_into(&self.twice, less, None)?;
        rest.min_into(less, low)?;
        low.sub_into(&self.modulus, less, None)?;
        low.min_into(less, rest)?;
        rest.shift_into(Shift::Right, 0, r)
    }
}
