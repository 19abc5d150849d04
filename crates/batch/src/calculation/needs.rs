//! The memory and the work that a calculation needs, from the sizes of its operands.

use warpint_integer::huge::{MOST_BITS, memory, work};
use warpint_natural::product::Multiplier;

use super::{Calculation, CalculationJob};
use crate::{BatchError, Format};

/// Memory that does not depend on the operands: buffers, stacks and tables.
const BASE: u64 = 32 << 20;

/// The needs of a calculation.
pub(super) struct Needs {
    /// An upper bound of the memory in bytes.
    pub(super) memory: u64,
    /// The work in units of [`work`].
    pub(super) work: f64,
}

impl CalculationJob {
    pub(super) fn needs(&self, multiplier: &dyn Multiplier) -> Result<Needs, BatchError> {
        let bits = self.inputs.iter().map(super::Input::bits).collect::<Result<Vec<_>, _>>()?;
        let a = limbs(bits.first().copied().unwrap_or(0));
        let b = limbs(bits.get(1).copied().unwrap_or(0));
        let small = self.small;
        let (results, needed, mut work) = match self.calculation {
            Calculation::Multiply => {
                (vec![a + b], memory::product(multiplier, a, b), work::product(a, b))
            }
            Calculation::Square => {
                (vec![2 * a], memory::product(multiplier, a, a), work::product(a, a))
            }
            Calculation::Divide => (
                vec![a.saturating_sub(b) + 1, b],
                memory::division(multiplier, a, b),
                work::division(a, b),
            ),
            Calculation::Gcd => (vec![a.max(b)], memory::gcd(multiplier, a, b), work::gcd(a, b)),
            Calculation::SquareRoot => {
                (vec![a / 2 + 1; 2], memory::square_root(multiplier, a), work::square_root(a))
            }
            Calculation::Power => {
                let base = bits.first().copied().unwrap_or(0);
                let result = u128::from(base) * u128::from(small);
                if result > u128::from(MOST_BITS) && base > 1 {
                    return Err(self.too_large());
                }
                let result = if base > 1 { limbs(result as u64) } else { 1 };
                let exponent = if base > 1 { small } else { 1 };
                (vec![result], memory::power(multiplier, result), work::power(base, exponent))
            }
            Calculation::Factorial | Calculation::Primorial if small > MOST_BITS => {
                return Err(self.too_large());
            }
            Calculation::Factorial => {
                let result = memory::factorial_limbs(small);
                let needed = memory::primes_product(multiplier, result, small);
                (vec![result], needed, work::factorial(small))
            }
            Calculation::Primorial => {
                let result = memory::primorial_limbs(small);
                let needed = memory::primes_product(multiplier, result, small);
                (vec![result], needed, work::primorial(small))
            }
            Calculation::ToDecimal | Calculation::ToHex => (vec![a], 0, 0.0),
        };
        let operands: Vec<usize> = bits.iter().map(|&bits| limbs(bits)).collect();
        let mut peak = self.bytes(&operands) + needed;
        // Each operand is read while the ones before it are in memory.
        for (i, input) in self.inputs.iter().enumerate() {
            let before = self.bytes(&operands[..i]);
            let (n, text) = (operands[i], input.bytes());
            let conversion = match input.format() {
                Format::Decimal => {
                    work += work::from_decimal(n);
                    text + memory::from_decimal(multiplier, n)
                }
                Format::Hex => text + 8 * n as u64,
                Format::Npy | Format::Raw => 8 * n as u64,
            };
            peak = peak.max(before + conversion);
        }
        // Each result is converted while the texts before it and the numbers after it are in memory.
        let mut texts = 0;
        let wanted = self.outs.iter().zip(&results).enumerate();
        for (i, ((_, format), &n)) in wanted {
            let numbers = self.bytes(&results[i..]);
            let (text, conversion) = match format {
                Format::Decimal => {
                    work += work::to_decimal(n);
                    (memory::decimal_digits(n), memory::to_decimal(multiplier, n))
                }
                Format::Hex => (16 * n as u64, 16 * n as u64),
                Format::Npy | Format::Raw => (8 * n as u64, 8 * n as u64),
            };
            peak = peak.max(numbers + texts + conversion);
            texts += text;
        }
        Ok(Needs { memory: peak + BASE, work })
    }

    fn bytes(&self, limbs: &[usize]) -> u64 {
        limbs.iter().map(|&n| 8 * n as u64).sum()
    }

    fn too_large(&self) -> BatchError {
        let name = self.calculation.name();
        let most = MOST_BITS.ilog2();
        BatchError::Request(format!("{name}: the result would have more than 2^{most} bits"))
    }
}

/// Returns an upper bound of the number of limbs of a number of `bits` bits.
fn limbs(bits: u64) -> usize {
    (bits / 64 + 1) as usize
}
