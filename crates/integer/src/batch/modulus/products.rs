//! Successive products of residues, and powers.

use super::Modulus;
use super::barrett::{Barrett, Space};
use crate::operation::Shift;
use crate::{Flags, IntegerError, UintBatch, Width};

/// The modulus and temporary memory for successive products of `count` residues. A residue is less
/// than its modulus and has the width [`Modulus::residues`].
pub(super) struct Products<'m> {
    modulus: &'m Modulus,
    count: usize,
    product: UintBatch,
    by: By<'m>,
}

/// The method that reduces a product, with its temporary memory.
enum By<'m> {
    Division { zero_divisors: Flags },
    Reciprocal { barrett: &'m Barrett, space: Box<Space> },
}

/// A step of the computation of a power of x. The first step uses the highest bits of the exponent.
/// A step consists of `squares` squarings, followed by a product with x^(2·odd + 1) unless `odd` is
/// `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) squares: usize,
    pub(super) odd: Option<usize>,
}

impl<'m> Products<'m> {
    pub(super) fn new(modulus: &'m Modulus, count: usize) -> Result<Self, IntegerError> {
        let limbs = 2 * modulus.residues().limbs();
        let product = modulus.m.output(count, Width::of_limbs(limbs))?;
        let by = match &modulus.barrett {
            Some(barrett) => By::Reciprocal { barrett, space: Box::new(barrett.space(count)?) },
            None => By::Division { zero_divisors: Flags::zeros(&modulus.m.executor, count)? },
        };
        Ok(Self { modulus, count, product, by })
    }

    /// Allocates memory for `count` residues.
    pub(super) fn numbers(&self) -> Result<UintBatch, IntegerError> {
        self.modulus.m.output(self.count, self.modulus.residues())
    }

    /// Returns `count` copies of the residue 1 mod m, where m is the modulus.
    pub(super) fn one(&self) -> Result<UintBatch, IntegerError> {
        let ones = vec![1; self.count];
        let ones = UintBatch::from_vec(&self.modulus.m.executor, Width::of_limbs(1), ones)?;
        self.residue(&ones)
    }

    /// Returns the residues u mod m, where m is the modulus. u has any width that [`Modulus::rem`]
    /// accepts.
    pub(super) fn residue(&self, u: &UintBatch) -> Result<UintBatch, IntegerError> {
        let found = self.modulus.rem(u)?;
        let mut residue = self.numbers()?;
        found.shift_into(Shift::Right, 0, &mut residue)?;
        Ok(residue)
    }

    /// Computes r ← x·y mod m, where m is the modulus. x and y have as many numbers as r, or one of
    /// them has a single number.
    pub(super) fn mul(
        &mut self,
        x: &UintBatch,
        y: &UintBatch,
        r: &mut UintBatch,
    ) -> Result<(), IntegerError> {
        x.mul_into(y, &mut self.product)?;
        self.reduce(r)
    }

    /// Computes r ← x² mod m, where m is the modulus. x has as many numbers as r.
    pub(super) fn square(&mut self, x: &UintBatch, r: &mut UintBatch) -> Result<(), IntegerError> {
        x.square_into(&mut self.product)?;
        self.reduce(r)
    }

    fn reduce(&mut self, r: &mut UintBatch) -> Result<(), IntegerError> {
        match &mut self.by {
            // A product of two residues is less than m².
            By::Reciprocal { barrett, space } => barrett.rem_into(&self.product, space, r),
            By::Division { zero_divisors } => {
                self.product.rem_into(&self.modulus.m, r, zero_divisors)
            }
        }
    }

    /// Returns how many powers of each number fit in an eighth of the device's free memory. On the
    /// CPU there is no limit.
    fn most_powers(&self) -> Result<usize, IntegerError> {
        let Some(device) = self.modulus.m.executor.device() else { return Ok(usize::MAX) };
        let bytes = (4 * self.count * self.modulus.residues().limbs()).max(1);
        Ok((device.memory()?.0 / 8) as usize / bytes)
    }

    /// Returns x^e mod m by sliding windows, where m is the modulus and e has the given 32-bit
    /// limbs, the lowest first.
    pub(super) fn power(&mut self, x: &UintBatch, e: &[u32]) -> Result<UintBatch, IntegerError> {
        let window = window(bit_length(e), self.most_powers()?);
        let mut steps = steps(e, window).into_iter();
        let first = steps.next().and_then(|step| step.odd);
        let Some(first) = first else { return self.one() };
        let mut odd = vec![self.residue(x)?];
        let mut other = self.numbers()?;
        let most = steps.clone().filter_map(|step| step.odd).chain([first]).max().unwrap_or(0);
        if most > 0 {
            let mut square = self.numbers()?;
            self.square(&odd[0], &mut square)?;
            for _ in 0..most {
                let mut next = self.numbers()?;
                if let Some(last) = odd.last() {
                    self.mul(last, &square, &mut next)?;
                }
                odd.push(next);
            }
        }
        let mut power = self.numbers()?;
        if let Some(first) = odd.get(first) {
            first.shift_into(Shift::Right, 0, &mut power)?;
        }
        for step in steps {
            for _ in 0..step.squares {
                self.square(&power, &mut other)?;
                std::mem::swap(&mut power, &mut other);
            }
            if let Some(factor) = step.odd.and_then(|k| odd.get(k)) {
                self.mul(&power, factor, &mut other)?;
                std::mem::swap(&mut power, &mut other);
            }
        }
        Ok(power)
    }
}

fn bit(e: &[u32], i: usize) -> usize {
    e.get(i / 32).map_or(0, |limb| (limb >> (i % 32) & 1) as usize)
}

fn bit_length(e: &[u32]) -> usize {
    (0..32 * e.len()).rev().find(|&i| bit(e, i) == 1).map_or(0, |i| i + 1)
}

/// Returns the size of sliding windows, from 1 to 5 bits, that minimizes the number of products for
/// an exponent of `bits` bits. With windows of w bits, 2^(w − 1) odd powers are stored, each
/// computed by one product, and each window takes one more product. At most max(1, `most_powers`)
/// powers are stored.
fn window(bits: usize, most_powers: usize) -> usize {
    let products = |w: usize| (1 << (w - 1)) + bits / (w + 1);
    let fits = |w: &usize| *w == 1 || 1 << (w - 1) <= most_powers;
    (1..=5).filter(fits).min_by_key(|&w| products(w)).unwrap_or(1)
}

/// Splits an exponent e into sliding windows of up to `window` bits (Knuth 1997, TAOCP 2, §4.6.3)
/// and returns the steps that compute a power with this exponent. The first step has no squarings.
/// For e = 0 there are no steps.
pub(super) fn steps(e: &[u32], window: usize) -> Vec<Step> {
    let mut steps = vec![];
    let mut left = bit_length(e);
    let mut squares = 0;
    while left > 0 {
        if bit(e, left - 1) == 0 {
            (squares, left) = (squares + 1, left - 1);
            continue;
        }
        let from = left.saturating_sub(window);
        // A bit that is 1 is found at left − 1 at the latest.
        let low = (from..left).find(|&i| bit(e, i) == 1).unwrap_or(left - 1);
        let value = (low..left).rev().fold(0, |value, i| value << 1 | bit(e, i));
        squares += if steps.is_empty() { 0 } else { left - low };
        steps.push(Step { squares, odd: Some(value / 2) });
        (squares, left) = (0, low);
    }
    if squares > 0 {
        steps.push(Step { squares, odd: None });
    }
    steps
}
