//! Expected results of operations, by slow and obvious arithmetic. Tests compare the results of
//! batches with them.

use std::cmp::Ordering;

use warpint_natural::limbs;

use super::Operation;

impl Operation {
    /// Returns the expected result of the operation on the numbers a, b and m. Returns `None` if no
    /// result exists. Numbers are given by their 64-bit limbs, the lowest first. b and m are empty
    /// if the operation does not use them. The first vector is the result. The second vector is the
    /// second result, or empty if the operation has only one result. Results may have leading
    /// zeros. [`Operation::MultiplyLow`] truncates its result to `result_limbs` limbs of 32 bits,
    /// the width according to [`Operation::widths`].
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
            Self::ProbablePrime => number = vec![limbs::is_probable_prime(&number).into()],
        }
        Some((number, vec![]))
    }
}
