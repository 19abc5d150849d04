//! The memory and the work that a calculation needs, from the sizes of its operands.

use warpint_integer::huge::{MOST_BITS, memory, work};
use warpint_natural::limbs::{bit_length, shifted_right};
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
                let size = match self.inputs.first().map(super::Input::short).transpose()? {
                    Some(Some(base)) => PowerSize::of(&base, small),
                    _ => PowerSize::of_long(base, small),
                };
                let bits = size.odd.saturating_add(size.twos);
                if bits > u128::from(MOST_BITS) {
                    return Err(self.too_large());
                }
                let (odd, result) = (limbs(size.odd as u64), limbs(bits as u64));
                let mut needed = memory::power(multiplier, odd);
                if size.twos > 0 {
                    // The odd part and the shifted power.
                    needed = needed.max(self.bytes(&[odd, result]));
                }
                (
                    vec![result],
                    needed,
                    work::power(size.base, if size.base > 1 { small } else { 1 }),
                )
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

/// The size of a power (2^t·u)^e with odd u.
#[derive(Debug, PartialEq, Eq)]
struct PowerSize {
    /// The number of bits of u.
    base: u64,
    /// An upper bound of the number of bits of u^e.
    odd: u128,
    /// t·e.
    twos: u128,
}

impl PowerSize {
    /// Bounds the power of a base whose digits are known.
    fn of(base: &[u64], e: u64) -> Self {
        let Some(limb) = base.iter().position(|&limb| limb != 0) else {
            return Self { base: 0, odd: 1, twos: 0 };
        };
        let twos = 64 * limb + base[limb].trailing_zeros() as usize;
        let odd = shifted_right(base, twos);
        let bits = bit_length(&odd);
        // u ≤ (top + 1)·2^below, or u = top. The slack is far above the rounding errors.
        let below = bits.saturating_sub(64);
        let top = shifted_right(&odd, below as usize).first().map_or(0.0, |&top| top as f64);
        let top = if below > 0 { top + 1.0 } else { top };
        let log = (top.log2() + below as f64) * e as f64;
        let odd = (log * (1.0 + 1e-12)).ceil() as u128 + 1;
        Self { base: bits, odd, twos: twos as u128 * u128::from(e) }
    }

    /// Bounds the power of a base of this number of bits.
    fn of_long(bits: u64, e: u64) -> Self {
        let odd = (u128::from(bits) * u128::from(e)).max(1);
        Self { base: bits, odd, twos: 0 }
    }
}

/// Returns an upper bound of the number of limbs of a number of `bits` bits.
fn limbs(bits: u64) -> usize {
    (bits / 64 + 1) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use warpint_integer::huge::power;
    use warpint_natural::limbs::{shifted_left, trim};
    use warpint_natural::product::FastProducts;

    use super::*;

    #[test]
    fn powers_of_two_have_no_odd_part() {
        let most = (1 << 48) - 1;
        let size = PowerSize::of(&[2], most);
        assert_eq!(size, PowerSize { base: 1, odd: 1, twos: most.into() });
        assert!(size.odd + size.twos <= u128::from(MOST_BITS));
        assert_eq!(PowerSize::of(&[0, 1], 1 << 33).twos, 1 << 39);
        assert_eq!(PowerSize::of(&[], 5), PowerSize { base: 0, odd: 1, twos: 0 });
        // log2(3) = 1.5849625….
        let three = PowerSize::of(&[3], 10_000_000);
        assert!((15_849_626..15_849_629).contains(&three.odd), "{three:?}");
        let all = PowerSize::of(&[u64::MAX; 4], u64::MAX);
        assert!(all.odd >= 256 * u128::from(u64::MAX) && all.twos == 0);
    }

    proptest! {
        /// The bound holds, and is less than two bits above the power of a short base.
        #[test]
        fn the_bits_of_powers_are_bounded(
            odd in prop::collection::vec(any::<u64>(), 1..5),
            twos in 0usize..200,
            e in 0u64..40,
        ) {
            let mut base = shifted_left(&odd, twos);
            trim(&mut base);
            let bits = u128::from(bit_length(&power(&FastProducts, &base, e).unwrap()));
            let size = PowerSize::of(&base, e);
            let bound = size.odd + size.twos;
            prop_assert!((bits..=bits + 2).contains(&bound) || base.is_empty(), "{bits} {bound}");
        }
    }
}
