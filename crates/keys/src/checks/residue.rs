//! Residues modulo numbers of one limb, which many numbers share.

use warpint_natural::division::OneLimb;

/// A divisor of one limb with its reciprocal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Divisor {
    shifted: OneLimb,
    shift: u32,
}

impl Divisor {
    /// Creates the divisor d > 0.
    pub(super) fn new(d: u64) -> Self {
        let shift = d.leading_zeros();
        Self { shifted: OneLimb::new(d << shift), shift }
    }

    /// Returns n mod d. The method divides n·2^s by d·2^s, where 2^s·d has its top bit set.
    pub(super) fn residue(&self, n: &[u64]) -> u64 {
        // Two shifts, because a shift by 64 is not defined.
        let high = |limb: u64| limb >> 1 >> (63 - self.shift);
        let mut rest = n.last().map_or(0, |&top| high(top));
        for (i, &limb) in n.iter().enumerate().rev() {
            let below = if i > 0 { high(n[i - 1]) } else { 0 };
            rest = self.shifted.div_rem(rest, limb << self.shift | below).1;
        }
        rest >> self.shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint_natural::limbs::rem_small;

    #[test]
    fn residues_are_those_of_division() {
        let limbs = [0, 1, u64::MAX, 1 << 63, 0x0123_4567_89ab_cdef];
        for d in [1, 2, 3, 65_537, (1 << 32) + 15, 1 << 63, (1 << 63) + 1, u64::MAX] {
            let divisor = Divisor::new(d);
            assert_eq!(divisor.residue(&[]), 0);
            for a in limbs {
                for b in limbs {
                    for c in limbs {
                        let n = [a, b, c];
                        assert_eq!(divisor.residue(&n), rem_small(&n, d), "{n:x?} mod {d}");
                    }
                }
            }
        }
    }
}
