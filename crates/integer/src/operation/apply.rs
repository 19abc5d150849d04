//! Application of an [`Operation`] to batches, and checks of its results.

use super::Operation;
use crate::{Executor, Flagged, Flags, IntegerError, PrimalityTest, UintBatch, Width, check};

impl Operation {
    /// Applies the operation to the batches a, b and m. Returns one batch of results or two, of the
    /// widths that [`Operation::widths`] returns. If some numbers may have no result, also returns
    /// flags, which are set for numbers without a result. A batch of one number is combined with
    /// all numbers of the other operands. b and m are ignored if the operation does not use them.
    ///
    /// # Errors
    /// The errors of the corresponding method of [`UintBatch`] and of [`Operation::widths`].
    pub fn apply(
        self,
        [a, b, m]: [&UintBatch; 3],
    ) -> Result<(Vec<UintBatch>, Option<Flags>), IntegerError> {
        let flagged = |(result, flags): Flagged<UintBatch>| (vec![result], Some(flags));
        Ok(match self {
            Self::Add => {
                let (width, _) = self.widths([a.width(), b.width(), m.width()])?;
                let (wider, other) = if a.width() < b.width() { (b, a) } else { (a, b) };
                (vec![wider.resized(width)?.0.wrapping_add(other)?], None)
            }
            Self::Subtract => flagged(a.sub(b)?),
            Self::Multiply => (vec![a.mul(b)?], None),
            Self::MultiplyLow => (vec![a.mul_low(b)?], None),
            Self::Square => (vec![a.square()?], None),
            Self::Divide => {
                let ((quotients, remainders), flags) = a.div_rem(b)?;
                (vec![quotients, remainders], Some(flags))
            }
            Self::Gcd => (vec![a.gcd(b)?], None),
            Self::Inverse => flagged(a.mod_inv(b)?),
            Self::SquareRoot => {
                let (roots, remainders) = a.sqrt_rem()?;
                (vec![roots, remainders], None)
            }
            Self::Power => flagged(a.pow_mod(b, m)?),
            Self::ProbablePrime => {
                let primes = a.is_probable_prime(&PrimalityTest::baillie_psw())?;
                let primes = primes.into_iter().map(u32::from).collect();
                (vec![UintBatch::from_vec(a.executor(), Width::of_limbs(1), primes)?], None)
            }
        })
    }

    /// Returns the indices of the results that fail the checks of [`check`], in ascending order.
    ///
    /// Operands and results are in the host's memory. `flags` are the flags that
    /// [`Operation::apply`] returned, 0 or 1 per number; they are ignored if the operation has no
    /// flags. `sample` has the indices of the results that are recomputed if the operation has
    /// [`Evidence::Sample`](super::Evidence). The executor `on` computes the witnesses: numbers,
    /// such as quotients, that make a check cheap.
    ///
    /// # Errors
    /// The errors of the corresponding function of [`check`].
    pub fn failing(
        self,
        [a, b, m]: [&UintBatch; 3],
        results: &[UintBatch],
        flags: &[u8],
        sample: &[usize],
        on: &Executor,
    ) -> Result<Vec<usize>, IntegerError> {
        let Some(first) = results.first() else { return Ok(vec![]) };
        let second = results.get(1).unwrap_or(first);
        match self {
            Self::Add => check::sums(a, b, first, None),
            Self::Subtract => check::differences(a, b, first, Some(flags)),
            Self::Multiply => check::products(a, b, first),
            Self::MultiplyLow => check::low_products(a, b, first, on),
            Self::Square => check::squares(a, first),
            Self::Divide => check::quotients(a, b, first, second, flags),
            Self::Gcd => check::divisors(a, b, first, on),
            Self::Inverse => check::inverses(a, b, first, flags, on),
            Self::SquareRoot => check::square_roots(a, first, second),
            Self::Power => check::powers([a, b, m], first, flags, sample),
            Self::ProbablePrime => {
                check::probable_primes(a, first, sample, &PrimalityTest::baillie_psw())
            }
        }
    }
}
