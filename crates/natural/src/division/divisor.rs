//! A stored divisor: shifted, and with the reciprocal of its top limbs.

use super::reciprocal::{OneLimb, TwoLimbs};
use crate::limbs::trimmed;

/// A divisor d, shifted so that its top bit is set, with the reciprocal of its top limbs.
#[derive(Debug, Default)]
pub(super) struct Divisor {
    pub(super) top: Top,
    pub(super) shift: u32,
    /// The limbs of d·2^shift, without leading zero limbs and with the top bit set, if there are two
    /// or more. Otherwise unspecified.
    pub(super) limbs: Vec<u64>,
}

/// The reciprocal with which each limb of a quotient is estimated. For a shifted divisor of one
/// limb, it is the reciprocal of the shifted divisor. For a longer one, it is the reciprocal of the
/// number formed by the two top limbs. The divisor 0 has no reciprocal.
#[derive(Debug, Default, Clone, Copy)]
pub(super) enum Top {
    #[default]
    Zero,
    /// A shifted divisor of one limb by which nothing has been divided yet.
    New(u64),
    /// A shifted divisor of one limb by which one number has been divided without a reciprocal. The
    /// next division computes it: as of the second division, this is faster on processors with a
    /// slow hardware division.
    Used(u64),
    One(OneLimb),
    /// The reciprocal for a divisor of two limbs or more. The two top limbs are not repeated here. A
    /// processor would delay a load of both of them together just after they were stored one by one.
    Two(u64),
}

impl Divisor {
    /// Sets d, which may be 0 and may have leading zero limbs.
    #[inline(always)]
    pub(super) fn set(&mut self, d: &[u64]) {
        match *trimmed(d) {
            [] => self.top = Top::Zero,
            [d] => {
                self.shift = d.leading_zeros();
                self.top = Top::New(d << self.shift);
            }
            [d0, d1] if self.limbs.len() == 2 => {
                let shift = d1.leading_zeros();
                // Two shifts, because a shift by 64 is not defined.
                let (d1, d0) = (d1 << shift | d0 >> 1 >> (63 - shift), d0 << shift);
                (self.limbs[0], self.limbs[1]) = (d0, d1);
                self.shift = shift;
                self.top = Top::Two(TwoLimbs::new(d1, d0).reciprocal());
            }
            ref d => self.set_long(d),
        }
    }

    /// Implements [`Self::set`] for a divisor of at least two limbs, without leading zero limbs.
    #[inline(never)]
    fn set_long(&mut self, d: &[u64]) {
        let &[.., second, top] = d else { return };
        let third = if let &[.., third, _, _] = d { third } else { 0 };
        let shift = top.leading_zeros();
        let limb = |limb: u64, below: u64| limb << shift | below >> 1 >> (63 - shift);
        if self.limbs.len() != d.len() {
            self.limbs.resize(d.len(), 0);
        }
        let mut below = 0;
        for (to, &from) in self.limbs.iter_mut().zip(d) {
            *to = limb(from, below);
            below = from;
        }
        self.shift = shift;
        self.top = Top::Two(TwoLimbs::new(limb(top, second), limb(second, third)).reciprocal());
    }
}
