//! Engines for numbers b^n + 1 on a device: negacyclic products of digits, in exact integers.
//!
//! # Method
//!
//! Let W be the number of words, a divisor of n, and B = b^(n/W). A residue x modulo N = b^n + 1 is Σ x_j·B^j, j <
//! W. Because B^W ≡ −1, the words of a product are the negacyclic convolution
//!
//! z_i = Σ_(j+l=i) x_j·y_l − Σ_(j+l=i+W) x_j·y_l.
//!
//! With a root ψ of −1 of the order W in the field modulo q = 2^64 − 2^32 + 1, ψ^i·z_i is the cyclic convolution of
//! ψ^j·x_j and ψ^l·y_l. All words have the same base, so the weights ψ^j are the only ones.
//!
//! # Margin
//!
//! Digits are balanced, but the last word of a tile keeps the carry that arrives in it. By [`least_base`] this carry
//! is at most B/64 + 2. So |x_j| ≤ D = B/2 + B/64 + 2, and |z_i| ≤ W·D². The limit is 15/16·2^62: it is below q/2, so
//! that z_i is determined by its residue, and the rest of 2^62 is room for the carry into the word.
//!
//! The product may be multiplied by m: a digit of z_i times m is small, and carries are m times as large.

use warpint_device::{Arg, Device, Source};

use super::shape::Shape;
use super::tables::Tables;
use crate::engine::goldilocks::Goldilocks;
use crate::engine::gpu::{
    self, Arithmetic, Gangs, LineTables, Machine, Others, Part, Products, Shape as _, Words,
};
use crate::engine::{BuildOptions, Engine, EngineError, EngineFamily as _, Health, Margin, Step};
use crate::layout::{DigitLayout, StoredDigits};
use crate::{Number, Sign};

/// The arithmetic of numbers b^n + 1.
pub(in crate::engine) struct Digits;

impl Arithmetic for Digits {
    type Point = u64;
    type Shape = Shape;
    type Layout = StoredDigits;
    type Words = DigitWords;

    const COLUMNS: &'static str = Goldilocks::COLUMNS;
    const ROWS: &'static str = Goldilocks::ROWS;
    const SPECIALISED: bool = false;
    const FINDS_ADDEND: bool = false;

    fn arithmetic() -> &'static str {
        Goldilocks.name()
    }

    fn specialise(source: Source, shape: &Shape, number: Number, part: Part, sums: bool) -> Source {
        Goldilocks::specialise(source, shape, number, part, sums).define("DIGITS", 1)
    }
}

/// Returns the layout of residues modulo b^n + 1 in `length` words, if `length` divides n.
fn layout_of(number: Number, length: usize) -> Option<DigitLayout> {
    let layout = DigitLayout::new(number, length);
    layout.filter(|layout| layout.is_even() && number.sign() == Sign::Plus)
}

/// The base of the words, as the kernels of columns need it.
pub(in crate::engine) struct DigitWords {
    layout: DigitLayout,
    division: Division,
}

/// The constants of a division by B: for 0 ≤ v < 2^63, ⌊v/B⌋ = ⌊v·reciprocal/2^64⌋·2^(−shift).
///
/// With l = ⌈log2 B⌉ and reciprocal = ⌊2^(63+l)/B⌋ + 1, the error v·(reciprocal/2^(63+l) − 1/B) is below
/// 2^63/2^(63+l) ≤ 1/B. The fraction of v/B is at most 1 − 1/B, so the quotient is not rounded up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Division {
    reciprocal: u64,
    shift: u32,
    /// K = ⌊2^62/B⌋ − 1.
    multiples: u64,
    /// K·B + ⌊B/2⌋, which is added to v to divide numbers |v| < 2^62 − 2B.
    offset: u64,
}

impl Division {
    /// Computes the constants for 2 ≤ B < 2^30.
    fn by(base: u32) -> Self {
        let log = base.next_power_of_two().trailing_zeros();
        let base = u64::from(base);
        let multiples = (1 << 62) / base - 1;
        Self {
            reciprocal: ((1u128 << (63 + log)) / u128::from(base)) as u64 + 1,
            shift: log - 1,
            multiples,
            offset: multiples * base + base / 2,
        }
    }
}

impl Words<Digits> for DigitWords {
    const GRAPH_SQUARINGS: u64 = 16;
    const MOST_UNSYNCED: u64 = u64::MAX;
    const WATCHED: u64 = 0;
    const ADDEND: usize = 4;

    fn new(
        _: &Device,
        stored: &StoredDigits,
        shape: &Shape,
        _check: bool,
    ) -> Result<(Self, LineTables<u64>), EngineError> {
        let layout = stored.layout;
        let no_root = |e: warpint_arith::goldilocks::NoRoot| {
            unusable(layout.number(), layout.len(), e.to_string())
        };
        let Tables { columns, rows, .. } = Tables::negacyclic(shape).map_err(no_root)?;
        Ok((
            Self { layout, division: Division::by(layout.bases()[0]) },
            LineTables { columns, rows },
        ))
    }

    fn takes_multiplier(&self, m: u32) -> bool {
        carries_rest(self.layout, m)
    }

    fn digit_args(&mut self) -> Vec<Arg> {
        vec![]
    }

    fn carry_args(&mut self, scratch: [Arg; 3], step: Step) -> Vec<Arg> {
        let (subtrahend, multiplier) = match step {
            Step::Square => (0, 1),
            Step::SquareMinusTwo => (2, 1),
            Step::SquareTimes(m) => (0, m),
        };
        let Division { reciprocal, shift, multiples, offset } = self.division;
        let mut args = scratch.to_vec();
        args.extend([Arg::U32(self.layout.bases()[0]), Arg::U64(offset), Arg::U64(reciprocal)]);
        args.extend([Arg::U64(multiples), Arg::U32(shift)]);
        args.extend([Arg::U32(subtrahend), Arg::U32(multiplier)]);
        args
    }

    fn sync(&mut self, device: &Device) -> Result<(), EngineError> {
        Ok(device.synchronize()?)
    }

    fn health(&self) -> Health {
        Health::default()
    }
}

/// Returns the bound D on the magnitude of digits.
fn largest_digit(layout: DigitLayout) -> f64 {
    let base = f64::from(layout.bases()[0]);
    base / 2.0 + base / 64.0 + 2.0
}

/// Returns whether carries end within a tile of four words if the words of a product are multiplied by m.
///
/// A word of a product is at most W·D², and m times a carry out of it at most m·W·D²/B + m + 1. Three words later,
/// at most m·W·D²/B⁴ + 2 are left of it for B ≥ 8, which must be at most B/64 + 2. The carry out of the first
/// word that it enters, at most m·W·D²/B² + 2, must fit into 31 bits.
fn carries_rest(layout: DigitLayout, m: u32) -> bool {
    let base = f64::from(layout.bases()[0]);
    let product = f64::from(m.max(1)) * layout.len() as f64 * largest_digit(layout).powi(2);
    base >= 8.0
        && m < 1 << 16
        && product <= base.powi(5) / 64.0
        && product / base.powi(2) <= 2f64.powi(30)
}

/// Returns log2 of the ratio of the limit of words of a product, 15/16·2^62, and their bound W·D².
fn spare_bits(layout: DigitLayout) -> f64 {
    let limit = 62.0 + (15.0f64 / 16.0).log2();
    limit - (layout.len() as f64).log2() - 2.0 * largest_digit(layout).log2()
}

/// Returns the sources of the kernels for numbers b^n + 1, as [`super::sources`] does.
pub(super) fn sources(length: usize, shared_memory: u32) -> Vec<Source> {
    let shape = Shape::best(length, shared_memory);
    let number = Number::new(1, 3, 4, Sign::Plus).ok();
    let pair = shape.zip(number);
    pair.map_or_else(Vec::new, |(shape, number)| gpu::sources_of::<Digits>(&shape, number, None))
}

fn unusable(number: Number, length: usize, reason: String) -> EngineError {
    EngineError::Unusable { engine: Goldilocks.name(), number, length, reason }
}

/// The engines for numbers b^n + 1 of at least 10,000 bits, b ≠ 2, at transform lengths that divide n.
pub(super) struct PowersPlusOne;

/// The least number of bits of a number. For shorter numbers, exact products on the CPU are as fast.
const SHORTEST_NUMBER: u32 = 10_000;

/// Returns why numbers of this form, or of this size, cannot be computed with.
fn unsuitable(number: Number) -> Option<&'static str> {
    if number.multiplier() != 1 || number.sign() != Sign::Plus || number.base() == 2 {
        return Some("it computes modulo 2^p-1 and, for b > 2, b^n+1");
    }
    (number.bits() < SHORTEST_NUMBER).then_some("numbers b^n+1 have 10000 bits or more")
}

impl Others for PowersPlusOne {
    fn has_shape(&self, _: Number, length: usize, shared_memory: u32) -> bool {
        Shape::exists(length, shared_memory)
    }

    fn margin(&self, number: Number, length: usize) -> Result<Margin, EngineError> {
        let refuse = |reason: &str| Err(unusable(number, length, reason.into()));
        if let Some(reason) = unsuitable(number) {
            return refuse(reason);
        }
        let Some(layout) = layout_of(number, length) else {
            return refuse("words are whole digits to the base b, of less than 30 bits together");
        };
        if !carries_rest(layout, 1) {
            return refuse("words are too short for carries");
        }
        Ok(Margin { bits: spare_bits(layout), proven: true })
    }

    fn build(
        &self,
        device: &Device,
        _: Option<&Gangs>,
        number: Number,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        let shared_memory = device.info().shared_memory_per_block;
        let shape = match options.variant {
            0 => Shape::best(length, shared_memory),
            variant => Shape::all(length, shared_memory).into_iter().nth(variant),
        };
        let missing = |what: &str| unusable(number, length, what.into());
        let shape = shape.ok_or_else(|| missing("there is no such shape of this length"))?;
        if options.check_squarings {
            return Err(missing("squarings cannot be checked"));
        }
        let layout = layout_of(number, length).ok_or_else(|| missing("no such words"))?;
        let stored = || StoredDigits::new(layout);
        let products = Products::<Digits>::new(device, stored(), shape, options.into())?;
        Ok(Box::new(Machine::new(device, stored(), options.registers, products)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn quotients_are_exact() {
        let seed = rand::random();
        println!("seed {seed}");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let random = (0..200).map(|_| rng.random_range(2..DigitLayout::BASE_LIMIT));
        for base in
            [2, 3, 4, 5, 7, 8, 9, 1 << 20, (1 << 20) + 1, (1 << 30) - 1].into_iter().chain(random)
        {
            let division = Division::by(base);
            let quotient = |v: u64| {
                ((u128::from(v) * u128::from(division.reciprocal)) >> 64) as u64 >> division.shift
            };
            let b = u64::from(base);
            let top = (1 << 63) - 1;
            for q in [1, 2, 3, top / b / 2, top / b - 1, top / b] {
                for v in [q * b - 1, q * b, q * b + 1, (q * b).saturating_add(b - 1)] {
                    if v <= top {
                        assert_eq!(quotient(v), v / b, "{v}/{b}");
                    }
                }
            }
            for v in [0, 1, b / 2, top, top - 1] {
                assert_eq!(quotient(v), v / b, "{v}/{b}");
            }
            assert_eq!(division.offset, division.multiples * b + b / 2);
            let most = (1u64 << 62) - 2 * b;
            assert!(division.offset >= most && division.offset + most < 1 << 63, "{b}");
        }
    }
}

#[cfg(test)]
#[cfg(feature = "sim")]
mod on_the_simulator {
    use super::*;
    use crate::Residue;
    use crate::engine::goldilocks_gpu::GoldilocksOn;
    use crate::engine::gpu::compared;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    fn number(base: u32, n: u32) -> Number {
        Number::new(1, base, n, Sign::Plus).unwrap()
    }

    /// Compares squarings, products and sums with those of exact integers: of residues whose digits are all alike
    /// and extreme, of residues near 0 and N, and of random ones.
    fn compare(device: &Device, number: Number, length: usize, rng: &mut ChaCha8Rng) {
        let layout = layout_of(number, length).unwrap();
        let stored = StoredDigits::new(layout);
        let mut residues = compared::corners(number, rng);
        let base = layout.bases()[0] as i32;
        let half = base / 2;
        for pair in [[half; 2], [-half; 2], [half, -half], [half, 0], [base - 1; 2]] {
            let digits: Vec<i32> = pair.into_iter().cycle().take(layout.len()).collect();
            residues.push(Residue::from_canonical(number, stored.load(&digits)));
        }
        let family = GoldilocksOn::new(device.clone());
        compared::compare(&family, number, length, &residues, &[2, 3, 5, 257, 65_535], 40);
    }

    #[test]
    fn residues_agree_with_exact_integers() {
        let device = Device::simulator().unwrap();
        let seed = rand::random();
        println!("seed {seed}");
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let cases = [
            (24_518, 1 << 10, 1 << 10),
            (919_444, 1 << 10, 1 << 10),
            (10, 1 << 12, 1 << 10),
            (824, 1 << 11, 1 << 11),
            (1_000_003, 5 << 8, 5 << 8),
            (7, 5 << 10, 5 << 8),
            (181, 3 << 10, 1 << 10),
        ];
        for (base, n, length) in cases {
            let number = number(base, n);
            assert!(PowersPlusOne.margin(number, length).unwrap().bits >= 0.0, "{number}");
            compare(&device, number, length, &mut rng);
        }
    }

    #[test]
    fn the_largest_bases_agree_with_exact_integers() {
        let device = Device::simulator().unwrap();
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for length in [1usize << 10, 5 << 8] {
            let is_exact = |number: Number| {
                let margin = PowersPlusOne.margin(number, length);
                margin.is_ok_and(|margin| margin.bits >= 0.0)
            };
            let of = |base| number(base, length as u32);
            // W·D² = 15/16·2^62 at about this base.
            let near = (15.0 * 2f64.powi(58) / length as f64).sqrt() / (0.5 + 1.0 / 64.0);
            let near = (near as u32).min(DigitLayout::BASE_LIMIT - 1);
            let largest = (near - 100..near + 100).rev().map(of).find(|&number| is_exact(number));
            compare(&device, largest.unwrap(), length, &mut rng);
            let least = (2..1000).map(of).find(|&number| is_exact(number));
            compare(&device, least.unwrap(), length, &mut rng);
        }
    }

    #[test]
    fn other_numbers_are_refused() {
        let family = GoldilocksOn::new(Device::simulator().unwrap());
        for (text, length) in [
            ("3*10^4096+1", 4096),
            ("10^4096-1", 4096),
            ("10^4095+1", 4096),
            ("10^4096+1", 4096),
            ("2^16384+1", 1024),
        ] {
            let number: Number = text.parse().unwrap();
            let error = family.build_for(number, length, BuildOptions::new(1, 1)).err();
            assert!(matches!(error, Some(EngineError::Unusable { .. })), "{text}: {error:?}");
        }
        for (text, takes) in [("24518^4096+1", true), ("24518^4093+1", false), ("10^256+1", false)]
        {
            assert_eq!(family.takes(text.parse().unwrap()), takes, "{text}");
        }
    }
}
