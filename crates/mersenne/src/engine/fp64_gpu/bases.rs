//! Engines for numbers k·b^n + c, c = ±1, with b ≠ 2 and small k, on a device. The method is that of
//! `engine/fp64/form` with digits to the base b in place of bits, and `kernels/fp64/columns.cu` (FORM and DIGITS) has
//! the carries.
//!
//! # Margin
//!
//! Words have s or s + 1 digits, and the weights w_j are between 1 and b. The mean square of a weight is w(b) =
//! (b² − 1)/(2·ln b) for weights b^u with random u. So the errors are w(b)/w(2) times those of a Mersenne number
//! whose words have as many bits, log2 of K = (k·b^n)^(1/W). If W divides n and k = 1, all weights are 1. Large bases
//! therefore need a transform length that divides n.

use warpint_device::{Arg, Device};

use super::form::{
    COST_OF_TURNS, Form, Formed, LARGEST_REST, LastWord, Weights, cost_of_rest, frequencies,
    largest_multiplier, rest_of_carries, unusable,
};
use super::largest_random_carry;
use super::shape::Shape;
use super::tables;
use super::words::Prepared;
use crate::engine::fp64::margin;
use crate::engine::gpu::{Machine, Products, Shape as _};
use crate::engine::{BuildOptions, Engine, EngineError, Margin};
use crate::layout::{DigitLayout, StoredDigits};
use crate::{Number, Sign};

impl Formed for StoredDigits {
    const DIGITS: bool = true;

    fn prepare(&self, shape: &Shape) -> Prepared {
        let layout = &self.layout;
        let number = layout.number();
        let of_words = layout.weights();
        let [short, long] = layout.bases().map(f64::from);
        let weights = Weights {
            number,
            rate: layout.rate(),
            base: of_words.base(),
            short,
            weight: &|w| of_words.get(w),
            fraction: &|w| layout.fraction(w),
        };
        let radix = f64::from(number.base());
        Prepared {
            weights: Some(weights.tables(shape)),
            largest_carry: largest_carry(layout),
            largest_multiplier: multiplier(layout),
            constants: [radix, 1.0 / radix, short, long, 1.0 / short, 1.0 / long]
                .map(Arg::F64)
                .to_vec(),
            last: Some(last_word(layout)),
            lines: tables::of_lines(shape, frequencies(number)),
        }
    }
}

pub(in crate::engine) fn last_word(layout: &DigitLayout) -> LastWord {
    let number = layout.number();
    let radix = f64::from(number.base());
    let (top, last) = (layout.top() as i32, layout.digits(layout.len() - 1) as i32);
    let before = layout.digits(layout.len() - 2) as i32;
    let low = if top <= last { 0.0 } else { radix.powi(before + last - top) };
    LastWord {
        multiplier: number.multiplier(),
        sign: number.sign(),
        up: radix.powi(top),
        down: radix.powi(last - top),
        split: Some([radix.powi(top - last), low]),
    }
}

/// Returns the largest multiplier that kernels take in [`Step::SquareTimes`](crate::engine::Step::SquareTimes): the rest of carries is small enough, and
/// carries as large as those of random digits are below the bounds of [`largest_carry`].
fn multiplier(layout: &DigitLayout) -> u32 {
    let squares = weight_square(layout);
    let of_rest = largest_multiplier(rest_of_carries(layout.number(), layout.len()) * squares);
    // The quotient is not negative, and a quotient out of range becomes the largest number.
    let of_words =
        LARGEST_WORD / (16.0 * typical_carry(layout, squares) * f64::from(layout.bases()[1]));
    of_rest.min((of_words as u32).max(1))
}

/// The bound on words of a product before they are rounded. It leaves room below 2^51, the largest integer that
/// adding and subtracting 1.5·2^52 leaves exact.
const LARGEST_WORD: f64 = (1u64 << 50) as f64;

/// Returns a bound that carries do not exceed if digits are random. A larger carry indicates an error. The bound is
/// the smallest of these: the carry out of a word that is 16 times as large as trusted words; the carry that makes
/// the digit of the fourth word that it enters four times as large as its range; the carry out of a word of
/// [`LARGEST_WORD`]; and the carry C for which C·b^κ is an exact double.
fn largest_carry(layout: &DigitLayout) -> f64 {
    let number = layout.number();
    let unit = (layout.rate() as f64 / 2f64.powi(32) * f64::from(number.base()).log2()).exp2();
    let long = f64::from(layout.bases()[1]);
    let up = last_word(layout).up;
    let of_word = (LARGEST_WORD / long).min(2f64.powi(52) / up);
    largest_random_carry(layout.len(), unit).min(4.0 * unit.powi(4)).min(of_word)
}

/// Returns w(b)/w(2), the mean square of the weights as a multiple of that for b = 2.
fn weight_square(layout: &DigitLayout) -> f64 {
    let of = |b: f64| (b * b - 1.0) / (2.0 * b.ln());
    let own = if layout.is_even() { 1.0 } else { of(layout.number().base().into()) };
    own / of(2.0)
}

/// The upper bound on log2 k.
const MULTIPLIER_BITS: u32 = 20;

/// The least number of bits of a number. For shorter numbers, exact products are as fast.
const SHORTEST_NUMBER: u32 = 10_000;

/// Returns the margin of a number with b ≠ 2 at a transform length of the device.
pub(super) fn margin(number: Number, length: usize) -> Result<Margin, EngineError> {
    let refuse = |reason| Err(unusable(number, length, reason));
    if number.multiplier() >> MULTIPLIER_BITS != 0 {
        return refuse("multipliers k are below 2^20");
    }
    if number.bits() < SHORTEST_NUMBER {
        return refuse("numbers have 10000 bits or more");
    }
    let Some(layout) = DigitLayout::new(number, length).filter(|layout| layout.len() >= 2) else {
        return refuse("more words than digits, or words of more than 30 bits");
    };
    let squares = weight_square(&layout);
    let rest = rest_of_carries(number, length) * squares;
    let last = [1, 2].map(|i| layout.digits(length - i));
    let last_word = last_word(&layout);
    // r·b^n of the last carry enters two words, and carries as large as those of random digits are exact.
    let typical = 16.0 * typical_carry(&layout, squares);
    if rest > LARGEST_REST
        || layout.top() > last[0] + last[1]
        || typical * last_word.up > 2f64.powi(52)
        || typical * f64::from(layout.bases()[1]) > LARGEST_WORD
    {
        return refuse("words are too short for carries");
    }
    let k = (number.multiplier() as f64).log2();
    let word = (f64::from(number.exponent()) * f64::from(number.base()).log2() + k) / length as f64;
    let bits = margin::bits_of_words(word, length, margin::ON_GPU) - k - squares.log2();
    // The last word may be twice as large as others of its digits.
    let double = 2.0 * (1.0 + 1.5 * squares / length as f64).log2();
    let turns = if number.sign() == Sign::Plus { COST_OF_TURNS } else { 0.0 };
    Ok(Margin { bits: bits - double - cost_of_rest(rest) - turns, proven: false })
}

/// Returns the root mean square of the carries of random digits.
fn typical_carry(layout: &DigitLayout, squares: f64) -> f64 {
    let number = layout.number();
    let (k, n) = (number.multiplier() as f64, layout.len() as f64);
    let unit = layout.rate() as f64 / 2f64.powi(32) * f64::from(number.base()).log2();
    0.255 * squares * k * n.sqrt() * unit.exp2()
}

/// Builds an engine for a number with b ≠ 2 in a shape.
pub(super) fn build(
    device: &Device,
    number: Number,
    shape: Shape,
    options: BuildOptions,
) -> Result<Box<dyn Engine>, EngineError> {
    let length = 2 * shape.points();
    let layout = DigitLayout::new(number, length);
    let layout = layout.ok_or_else(|| unusable(number, length, "there are no such words"))?;
    let stored = || StoredDigits::new(layout);
    let products = Products::<Form<StoredDigits>>::new(device, stored(), shape, options.into())?;
    Ok(Box::new(Machine::new(device, stored(), options.registers, products)?))
}

#[cfg(test)]
#[cfg(feature = "sim")]
mod tests {
    use super::*;
    use crate::engine::EngineFamily as _;
    use crate::engine::fp64_gpu::Fp64On;
    use crate::engine::gpu::compared;
    use crate::engine::plain::Plain;
    use crate::{Residue, Shift};
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn number(k: u64, b: u32, n: u32, sign: Sign) -> Option<Number> {
        Number::new(k, b, n, sign).ok()
    }

    /// Returns the number k·b^n + c with the largest n that has a margin in `length` words.
    fn longest(k: u64, b: u32, sign: Sign, length: usize) -> Option<Number> {
        let digit = f64::from(b).log2();
        let most = (25.0 * length as f64 / digit) as u32;
        (length as u32..most)
            .rev()
            .filter_map(|n| number(k, b, n, sign))
            .find(|&number| margin(number, length).is_ok_and(|margin| margin.bits >= 0.0))
    }

    /// Compares squarings, products and sums with those of exact integers. Returns the largest error of a
    /// word.
    fn compare(device: &Device, number: Number, length: usize, rng: &mut ChaCha8Rng) -> f64 {
        let mut residues = compared::corners(number, rng);
        let room = margin(number, length).unwrap().bits;
        if length <= margin::ANY_DIGITS_UP_TO || room > 4.0 {
            residues.push(Residue::from_limbs(number, &vec![u64::MAX; number.limbs()]));
        }
        let family = Fp64On::new(device.clone());
        let health = compared::compare(&family, number, length, &residues, &[3, 65_535], 40);
        health.round_off.unwrap().max
    }

    #[test]
    fn residues_agree_with_exact_integers() {
        let device = Device::simulator().unwrap();
        let seed = rand::random();
        println!("seed {seed}");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        for length in [1024, 1152, 1344] {
            for (k, b) in [
                (1u64, 3u32),
                (2, 3),
                (10_223, 3),
                (1, 10),
                (27, 10),
                (3, 5),
                (4, 67),
                (1, 1009),
                ((1 << 20) - 1, 7),
            ] {
                for sign in [Sign::Minus, Sign::Plus] {
                    let Some(longest) = longest(k, b, sign, length) else { continue };
                    let n = longest.exponent();
                    for number in
                        [Some(longest), number(k, b, n - 1, sign), number(k, b, n - n / 9, sign)]
                    {
                        let number = number.unwrap();
                        if margin(number, length).is_ok_and(|margin| margin.bits >= 0.0) {
                            let error = compare(&device, number, length, &mut rng);
                            println!("{number} in {length} words: {error:.4}");
                            assert!(error < 0.3, "{number} in {length} words: {error}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn digits_of_generalized_fermat_numbers_agree_with_exact_integers() {
        let device = Device::simulator().unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(7);
        for length in [1024usize, 2048] {
            let bases = (1000..2_000_000).rev().step_by(7);
            let number = bases
                .filter_map(|b| number(1, b, length as u32, Sign::Plus))
                .find(|&number| margin(number, length).is_ok_and(|margin| margin.bits >= 0.0));
            let number = number.unwrap();
            let error = compare(&device, number, length, &mut rng);
            println!("{number}: {error:.4}, {:.2} bits", margin(number, length).unwrap().bits);
            assert!(error < 0.3 && number.base() > 200_000, "{number}: {error}");
        }
    }

    #[test]
    fn powers_of_random_exponents_stay_within_the_bounds_of_carries() {
        let device = Device::simulator().unwrap();
        let family = Fp64On::new(device);
        for (text, length) in
            [("4*67^34644-1", 16_384), ("65537*10^5027-1", 2048), ("7*12^7000+1", 2048)]
        {
            let number: Number = text.parse().unwrap();
            assert!(margin(number, length).unwrap().bits >= 0.0, "{text}");
            let mut engine = family.build_for(number, length, BuildOptions::new(1, 1)).unwrap();
            let mut oracle = Plain.build_for(number, 1, BuildOptions::new(1, 1)).unwrap();
            let has_factor = |j: u64| 0xb5c3_9e1d_u64 >> (j * 7 % 32) & 1 == 1;
            let [found, expected] = [engine.as_mut(), oracle.as_mut()].map(|engine| {
                engine.set(0, 5, Shift::ZERO).unwrap();
                engine.square_with_factors(0, 250, 3, &has_factor, Shift::ZERO).unwrap();
                engine.read(0, Shift::ZERO).unwrap()
            });
            assert!(found == expected, "{text}");
        }
    }

    #[test]
    fn other_numbers_are_refused() {
        for (text, length) in [
            ("1048577*10^5000+1", 1024),
            ("10^1000+1", 1024),
            ("10^100+1", 64),
            ("10^60000-1", 1024),
        ] {
            let number: Number = text.parse().unwrap();
            let usable = margin(number, length).is_ok_and(|margin| margin.bits >= 0.0);
            assert!(!usable, "{text}");
        }
        let family = Fp64On::new(Device::simulator().unwrap());
        for (text, takes) in [
            ("10223*3^40000+1", true),
            ("7*10^30000-1", true),
            ("1048577*10^5000+1", true),
            ("10^1000+1", false),
        ] {
            assert_eq!(family.takes(text.parse().unwrap()), takes, "{text}");
        }
    }
}
