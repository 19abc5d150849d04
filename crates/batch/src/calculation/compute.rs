//! The course of a calculation: operands are read and converted, results are computed, converted and
//! checked.

use std::time::{Duration, Instant};

use warpint_integer::huge::{self, Metered, PRIMES, Residues};
use warpint_natural::limbs::{bit_length, compare, shifted_left};
use warpint_natural::product::Multiplier;
use warpint_progress::Watch;

use super::{Calculation, CalculationJob, CalculationTimes};
use crate::out::Output;
use crate::{BatchError, Format};

/// The results of a calculation, converted and checked, before they are written.
pub struct Computed<'a> {
    pub(super) job: &'a CalculationJob,
    pub(super) results: Vec<Text>,
    /// The opened outputs that are streams; `None` for files.
    pub(super) streams: Vec<Option<Output>>,
    pub(super) times: CalculationTimes,
}

/// A result in the format of its output.
pub(super) struct Text {
    pub(super) bytes: Vec<u8>,
    pub(super) bits: u64,
}

/// The residues of the operands and of the results.
#[derive(Default)]
struct Known {
    operands: Vec<Residues>,
    results: Vec<Residues>,
    /// The residues of the limbs of the results, from which `results` may differ if a conversion is
    /// wrong.
    limbs: Vec<Residues>,
}

impl CalculationJob {
    /// Reads the operands, computes, and converts and checks the results. `watch` observes the steps
    /// and, in units of [`huge::work`], the work. Returns `None` if it requests a stop, which is noticed
    /// between two steps. Outputs that are streams are opened first; if one is a pipe, waits until a
    /// process opens it for reading.
    ///
    /// # Errors
    /// Returns an error if an operand cannot be read or is not a number, if the divisor is 0, or if a
    /// stream cannot be opened. Returns [`BatchError::Wrong`] if a result fails its check.
    pub fn compute(
        &self,
        multiplier: &dyn Multiplier,
        watch: &dyn Watch,
    ) -> Result<Option<Computed<'_>>, BatchError> {
        let streams = self.outs().map(crate::Out::open_stream).collect::<Result<Vec<_>, _>>()?;
        let metered = Metered::new(multiplier, watch);
        let mut times = CalculationTimes::default();
        let mut known = Known::default();
        let total = (2 * self.inputs.len() + 2 + self.outs.len()) as u64;
        let mut done = 0;
        let mut next = |what: &str| {
            watch.step(done, total, &what);
            done += 1;
            watch.is_stopped()
        };
        let mut numbers = vec![];
        for input in &self.inputs {
            if next(&format!("reading {}", input.name())) {
                return Ok(None);
            }
            let content = timed(&mut times.read, || input.read())?;
            let residues = timed(&mut times.check, || self.check.then(|| content.residues()));
            if next(&format!("converting {}", input.name())) {
                return Ok(None);
            }
            let number = timed(&mut times.convert_operands, || content.number(&metered));
            if let Some(residues) = residues {
                let of_limbs = || residues.unwrap_or_else(|| Residues::of(&number));
                known.operands.push(timed(&mut times.check, of_limbs));
            }
            numbers.push(number);
        }
        if next("computing") {
            return Ok(None);
        }
        let (mut results, in_range) =
            timed(&mut times.compute, || self.results(numbers, &metered))?;
        results.truncate(if self.check { 2 } else { self.outs.len() });
        let mut texts = vec![];
        for (i, number) in results.into_iter().enumerate() {
            if self.check {
                known.limbs.push(timed(&mut times.check, || Residues::of(&number)));
            }
            let Some((out, format)) = self.outs.get(i) else { continue };
            if next(&format!("converting {}", out.name())) {
                return Ok(None);
            }
            let bits = bit_length(&number);
            let convert = || converted(number, *format, &metered);
            let mut bytes = timed(&mut times.convert_results, convert);
            if self.check {
                let of_text = || match format {
                    Format::Decimal => Residues::of_decimal(&bytes),
                    _ => known.limbs[i],
                };
                known.results.push(timed(&mut times.check, of_text));
            }
            if format.is_text() {
                bytes.push(b'\n');
            }
            texts.push(Text { bytes, bits });
        }
        if next("checking") {
            return Ok(None);
        }
        if self.check {
            timed(&mut times.check, || self.verify(&known, in_range))?;
        }
        Ok(Some(Computed { job: self, results: texts, streams, times }))
    }

    /// Computes the results of the calculation: one, or a quotient or root and a remainder. Also returns
    /// whether the remainder is in its range.
    fn results(
        &self,
        mut numbers: Vec<Vec<u64>>,
        multiplier: &dyn Multiplier,
    ) -> Result<(Vec<Vec<u64>>, bool), BatchError> {
        let b = if numbers.len() > 1 { numbers.pop().unwrap_or_default() } else { vec![] };
        let a = numbers.pop().unwrap_or_default();
        let result = match self.calculation {
            Calculation::Multiply => huge::product(multiplier, &a, &b),
            Calculation::Square => huge::square(multiplier, &a),
            Calculation::Divide => {
                let (q, r) = huge::div_rem(multiplier, &a, &b).map_err(|e| match e {
                    warpint_integer::IntegerError::ZeroDivisor => BatchError::Operand {
                        name: self.inputs[1].name().to_owned(),
                        reason: "the divisor is 0".into(),
                    },
                    e => e.into(),
                })?;
                let in_range = compare(&r, &b).is_lt();
                return Ok((vec![q, r], in_range));
            }
            Calculation::Gcd => huge::gcd(multiplier, &a, &b),
            Calculation::SquareRoot => {
                let (s, r) = huge::sqrt_rem(multiplier, &a);
                let in_range = compare(&r, &shifted_left(&s, 1)).is_le();
                return Ok((vec![s, r], in_range));
            }
            Calculation::Power => huge::power(multiplier, &a, self.small)?,
            Calculation::Factorial => huge::factorial(multiplier, self.small)?,
            Calculation::Primorial => huge::primorial(multiplier, self.small)?,
            Calculation::ToDecimal | Calculation::ToHex => a,
        };
        Ok((vec![result], true))
    }

    /// Checks the results modulo the five primes.
    fn verify(&self, known: &Known, in_range: bool) -> Result<(), BatchError> {
        let operand = |i: usize| known.operands.get(i).copied().unwrap_or(Residues::ONE);
        let limbs = |i: usize| known.limbs.get(i).copied().unwrap_or(Residues::ONE);
        let result = |i: usize| known.results.get(i).copied().unwrap_or_else(|| limbs(i));
        let (left, right) = match self.calculation {
            Calculation::Multiply => (operand(0).times(operand(1)), result(0)),
            Calculation::Square => (operand(0).times(operand(0)), result(0)),
            Calculation::Divide => (result(0).times(operand(1)).plus(result(1)), operand(0)),
            Calculation::SquareRoot => (result(0).times(result(0)).plus(result(1)), operand(0)),
            Calculation::Power => (operand(0).pow(self.small), result(0)),
            Calculation::Factorial => (Residues::of_factorial(self.small), result(0)),
            Calculation::ToDecimal | Calculation::ToHex => (operand(0), result(0)),
            // Only the conversion of the result.
            Calculation::Gcd | Calculation::Primorial => (limbs(0), result(0)),
        };
        let (left, right) = (left.values(), right.values());
        let wrong = (0..PRIMES.len()).find(|&i| left[i] != right[i]);
        let name = self.calculation.name();
        match wrong {
            Some(i) => {
                let what = format!("it is wrong modulo the prime {}", PRIMES[i]);
                Err(BatchError::Wrong { calculation: name, what })
            }
            None if !in_range => {
                let what = "the remainder is too large".into();
                Err(BatchError::Wrong { calculation: name, what })
            }
            None => Ok(()),
        }
    }
}

/// Returns a number in a format, without a line end.
fn converted(number: Vec<u64>, format: Format, multiplier: &dyn Multiplier) -> Vec<u8> {
    match format {
        Format::Decimal => huge::to_decimal(multiplier, &number),
        Format::Hex => huge::to_hex(&number),
        Format::Npy | Format::Raw => {
            let mut bytes = Vec::with_capacity(8 * number.len());
            number.iter().for_each(|limb| bytes.extend(limb.to_le_bytes()));
            let zeros = bytes.iter().rev().take_while(|&&byte| byte == 0).count();
            bytes.truncate(bytes.len() - zeros);
            if bytes.is_empty() {
                bytes.push(0);
            }
            bytes
        }
    }
}

/// Runs `work`, and adds its time to `time`.
fn timed<T>(time: &mut Duration, work: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = work();
    *time += begin.elapsed();
    result
}
