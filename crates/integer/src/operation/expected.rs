//! Results of operations by slow and obvious arithmetic: the oracle of the batches.

use std::cmp::Ordering;

use warpint_natural::limbs;

use super::Operation;

impl Operation {
    /// What there should be, of numbers a, b and m of 64-bit limbs, the lowest first; where there is no
    /// b, or no m, it is empty. The result, and the second one of operations that have two, both with
    /// any zeros at their ends; `None` if there is no result. `result_limbs`, of 32 bits, are those of
    /// [`Operation::widths`], to which [`Operation::MultiplyLow`] cuts its result.
    #[must_use]
    pub fn expected(
        self,
        [a, b, m]: [Vec<u64>; 3],
        result_limbs: usize,
    ) -> Option<(Vec<u64>, Vec<u64>)> {
        let mut number = a;
        match self {
            Self::Add => {
                number.resize(number.len().max(b.len()) + 1, 0);
                limbs::add_assign(&mut number, &b);
            }
            Self::Subtract => {
                if limbs::compare(&number, &b) == Ordering::Less {
                    return None;
                }
                limbs::sub_assign(&mut number, limbs::trimmed(&b));
            }
            Self::Multiply => number = limbs::mul(&number, &b),
            Self::Square => number = limbs::mul(&number, &number),
            Self::MultiplyLow => {
                number = limbs::mul(&number, &b);
                number.resize(result_limbs.div_ceil(2), 0);
                if let (1, Some(top)) = (result_limbs % 2, number.last_mut()) {
                    *top &= u64::from(u32::MAX);
                }
            }
            Self::Divide => {
                let is_zero = limbs::trimmed(&b).is_empty();
                return (!is_zero).then(|| limbs::div_rem(&number, &b));
            }
            Self::Gcd => number = limbs::gcd(&number, &b),
            Self::Inverse => number = limbs::inverse(&number, &b)?,
            Self::SquareRoot => {
                let root = limbs::sqrt(&number);
                let square = limbs::mul(&root, &root);
                limbs::sub_assign(&mut number, limbs::trimmed(&square));
                return Some((root, number));
            }
            Self::Power => number = limbs::pow_mod(&number, &b, &m)?,
        }
        Some((number, vec![]))
    }
}
