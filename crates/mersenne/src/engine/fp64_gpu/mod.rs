//! The engine family `fp64` on a device: floating-point squaring, as an `Arithmetic` for the
//! module `engine/gpu`. (For the weighted transform on a GPU, see Thall 2011.)
//!
//! | file | subject |
//! |---|---|
//! | `line`, `shape` | the division of a transform into lines, tiles and threads |
//! | `tables` | factors of the transforms, and weights |
//! | `instructions` | counts of the FP64 instructions of a squaring |
//! | `constants` | the texts, headers and constants of the kernels |
//! | `form` | numbers k·2^n ± 1 |
//! | `bases` | numbers k·b^n ± 1 with b ≠ 2 |
//! | `padded` | numbers k·b^n ± 1 by transforms that are longer than products |
//! | `words` | the layout of words, and the round-off that the kernels of columns report |
//!
//! The kernels are `kernels/fp64/*.cu` of this crate; `columns.cu` and `rows.cu` begin with a
//! description of the method.

pub(super) mod bases;
pub(super) mod constants;
pub(super) mod form;
pub(super) mod instructions;
mod line;
mod padded;
pub(super) mod shape;
pub(super) mod tables;
mod words;

use std::ops::RangeInclusive;

use warpint_device::{Device, Source, fp64_rate};

use super::fp64::{Fp64, margin};
use super::gpu::{self, Arithmetic, Family, OnDevice, Others, Part, Shape as _, StepKind};
use super::squares;
use super::{EngineError, EngineFamily as _, Margin, Work};
use crate::Number;
use crate::layout::WordLayout;
use shape::Shape;
use tables::Point;
use words::WeightedWords;

/// The engine family `fp64` on a device, for exponents p from 2,304 to about 658,000,000. Transform
/// lengths are N = 2^a·3^b·5^c·7^d words from 2^8 to 36·2^20. Tiles of the transform must fit into
/// the device's shared memory.
///
/// The margin is statistical, and round-off is measured at some squarings only
/// (`kernels/fp64/columns.cu`). The round-off of random digits is predictable enough for that.
/// Hardware errors in other squarings are detected by the checks of a test.
///
/// An engine needs the following memory on the device: 8·N bytes for the spectrum, up to 4·N for
/// carries, 4·N for each register, 4·N for sums, and tables. The first product of two registers
/// adds 8·N bytes.
pub type Fp64On = OnDevice<Fp64>;

/// The odd parts of the transform lengths. (The odd part of n is n divided by the highest power of
/// 2 that divides it.) Adjacent lengths differ by at most 9.4 %, except where no shape exists for a
/// length. This is so at some short lengths, and at 35·2^20 words, just below the longest length.
const ODD_PARTS: [usize; 11] = [1, 3, 5, 7, 9, 15, 21, 35, 45, 75, 105];

/// The dominated transform lengths, in units of 1,024 words. On an H200, every shape tried at these
/// lengths was slower than some longer length, by 2.7 to 19 %. (All lengths were timed in laps of 5
/// ms; the lengths that are not listed here were timed again in longer laps.)
const DOMINATED: [usize; 19] =
    [70, 75, 80, 84, 90, 96, 105, 112, 120, 140, 150, 168, 210, 224, 240, 560, 600, 2240, 4480];

/// The shortest transform length, in words.
const SHORTEST: usize = 1 << 8;

/// The longest transform length, in words.
const LONGEST: usize = 36 << 20;

/// The largest multiplier m that the kernels support for
/// [`Step::SquareTimes`](super::Step::SquareTimes). Up to this m, the carries of m times a square
/// end within two words.
const LARGEST_MULTIPLIER: u32 = 4;

/// Returns the smallest mean number of bits per word, β = p/N, at which a carry ends within two
/// words.
///
/// Let R be the root mean square of the words of a square of random digits, including their
/// weights: R = 0.255·√N·4^β. A word of weight a and b bits passes on a carry of R/(a·2^b). The
/// next word passes on a fraction of this carry to the word after it. At that word, the carry is
/// R/8^β times the range of digits. (The bits and weights of the three words compensate each
/// other.) This is 0.044 of the range for 2^β = 5.8·√N, and 0.18 with the multiplier 4. At the next
/// squaring, digits are larger by this fraction; the measured round-off includes the effect. In
/// tests with exact integers, digits stayed below 1.1 times their range with the multiplier 3, and
/// below 1.7 times with 6.
///
/// Short transforms must work for any digits. For them, R is 0.54·N·4^β. With 2^β ≥ 2·N, the carry
/// into the second word is then at most 0.27 of the range times the multiplier.
fn least_bits(length: usize) -> f64 {
    let n = length as f64;
    if length <= margin::ANY_DIGITS_UP_TO { (2.0 * n).log2() } else { (5.8 * n.sqrt()).log2() }
}

/// Returns the smallest exponent that a transform length supports.
fn least_exponent(length: usize) -> u32 {
    (least_bits(length) * length as f64).ceil() as u32
}

/// Returns a bound that carries do not exceed if digits are random. A larger carry indicates an
/// error.
///
/// The result is the smaller of two bounds. The first is [`LARGEST_MULTIPLIER`] times the carry out
/// of a word that is 16 times as large as the largest trusted root mean square of words. The second
/// is the carry that makes the digit of the second word that it enters four times as large as the
/// range of that word. This digit still has at most 31 bits.
///
/// Digits with a pattern can have larger carries, and larger round-off too. The only such digits in a
/// test are those of small numbers, whose products are small, and the first terms of a Lucas–Lehmer
/// sequence from 2/3 and of the Lucas sequences of Morrison's test, which the host computes (sources of the modules
/// `primality::ll` and `primality::morrison`).
fn largest_carry(layout: &WordLayout) -> f64 {
    let unit = 2f64.powi((layout.exponent() as usize / layout.len()) as i32);
    largest_random_carry(layout.len(), unit).min(4.0 * unit * unit)
}

/// Returns the first of the two bounds of [`largest_carry`], for words of the base `unit`.
fn largest_random_carry(length: usize, unit: f64) -> f64 {
    let rms = margin::largest_rms(length, margin::ON_GPU);
    16.0 * rms * f64::from(LARGEST_MULTIPLIER) / unit
}

/// Iterates over the transform lengths, in words, in ascending order. A given device may support
/// only some of these lengths.
pub fn all_lengths() -> impl Iterator<Item = usize> {
    let mut lengths: Vec<usize> = ODD_PARTS
        .into_iter()
        .flat_map(|odd| (1..=LONGEST.ilog2()).map(move |a| odd << a))
        .filter(|n| (SHORTEST..=LONGEST).contains(n))
        .collect();
    lengths.sort_unstable();
    lengths.into_iter()
}

/// Returns whether `length` is one of the lengths in [`DOMINATED`].
pub(super) fn is_dominated(length: usize) -> bool {
    DOMINATED.iter().any(|dominated| dominated << 10 == length)
}

/// Returns the range of exponents that the transform lengths in `lengths` support. `lengths` must
/// be in ascending order. The range begins at the smallest exponent of the shortest length, and
/// ends at the largest exponent of the longest length. The range is empty if `lengths` is empty.
fn exponents(lengths: &[usize]) -> RangeInclusive<u32> {
    let (Some(&shortest), Some(&longest)) = (lengths.first(), lengths.last()) else {
        return RangeInclusive::new(1, 0);
    };
    least_exponent(shortest)..=longest_exponent(longest)
}

/// Returns the largest exponent for which a transform length has a margin of at least 0.
fn longest_exponent(length: usize) -> u32 {
    // The margin decreases with the exponent.
    let (mut largest, mut too_large) = (0, 1u32 << 31);
    while too_large - largest > 1 {
        let middle = largest.midpoint(too_large);
        if margin::bits(middle, length, margin::ON_GPU) >= 0.0 {
            largest = middle
        } else {
            too_large = middle
        }
    }
    largest
}

/// Returns the sources of all kernels that an engine of transform length `length` compiles by
/// default, for Mersenne numbers and for numbers k·b^n ± 1. With these sources, kernels can be compiled
/// without a device. The constants that depend on the exponent p of a Mersenne number are those for
/// p = 1. `shared_memory_per_block` is the largest shared memory of a block, in bytes.
#[must_use]
pub fn sources(length: usize, shared_memory_per_block: u32) -> Vec<Source> {
    let mut sources = gpu::sources::<Fp64>(length, shared_memory_per_block);
    sources.extend(form::sources(length, shared_memory_per_block));
    sources
}

impl Arithmetic for Fp64 {
    fn arithmetic() -> &'static str {
        Fp64.name()
    }

    type Point = Point;
    type Shape = Shape;
    type Layout = WordLayout;
    type Words = WeightedWords;

    const COLUMNS: &'static str = constants::COLUMNS;
    const ROWS: &'static str = constants::ROWS;
    const SPECIALISED: bool = true;

    fn specialise(source: Source, shape: &Shape, number: Number, part: Part, sums: bool) -> Source {
        constants::specialise(source, shape, number.exponent(), part, sums)
    }
}

impl Family for Fp64 {
    const LENGTHS_ARE: &'static str = "not a length of this engine on this device";

    /// Returns whether double precision runs at a quarter of the single-precision rate or more. On an H200, which
    /// has half of it, `goldilocks` and `hybrid` took longer at every measured exponent, from 6,972,593 to
    /// 332,192,831 (`benches/runs/2026-11-27-h200/engines-bench.txt`). For other exponents and other GPUs this is
    /// assumed. If the rate cannot be measured, the families are measured.
    fn outruns_exact_families_on(device: &Device) -> bool {
        fp64_rate(device).is_ok_and(|rate| rate.is_full())
    }

    fn can_check_squarings(p: u32, length: usize) -> bool {
        squares::carries_fit(p, length)
    }

    fn checked_parts() -> Vec<Part> {
        let step = StepKind::MinusTwo;
        let columns = [true, false].map(|measured| Part::Columns { step, measured });
        let to_digits = Part::SpectrumToDigits { step, measured: true };
        let others = [Part::DigitsToSpectrum, Part::SumDigits, to_digits];
        others.into_iter().chain(columns).collect()
    }

    fn all_lengths() -> Vec<usize> {
        all_lengths().collect()
    }

    fn is_outrun(length: usize) -> bool {
        is_dominated(length)
    }

    fn exponents(lengths: &[usize]) -> RangeInclusive<u32> {
        exponents(lengths)
    }

    fn exponents_are(exponents: &RangeInclusive<u32>) -> String {
        let (from, to) = (exponents.start(), exponents.end());
        format!("exponents are from {from} to {to} on this device")
    }

    fn margin_on_device(p: u32, length: usize) -> Result<Margin, EngineError> {
        let unusable = |reason: String| Self::unusable(p, length, reason);
        if p < least_exponent(length) {
            let least = least_bits(length);
            return Err(unusable(format!("words have at least {least:.2} bits on a device")));
        }
        if p as usize > 25 * length {
            return Err(unusable("words of more than 25 bits".into()));
        }
        Ok(Margin { bits: margin::bits(p, length, margin::ON_GPU), proven: false })
    }

    fn others() -> Option<&'static dyn Others> {
        Some(&form::OtherNumbers)
    }

    fn work_of(shape: &Shape) -> Work {
        let each = instructions::per_point(shape.column, shape.row);
        Work {
            spectrum_bytes: size_of::<Point>() as u64 * shape.points() as u64,
            fp64_instructions: (each * shape.points() as f64).round(),
            ..Work::default()
        }
    }

    fn bytes_beside_registers(length: usize, shape: Option<&Shape>) -> Option<u64> {
        let shape = shape?;
        let carries = 8 * u64::from(shape.tiles()) * u64::from(shape.rows());
        Some(16 * length as u64 + carries + tables::bytes(shape))
    }

    fn no_shape(variant: usize, _shapes: usize) -> String {
        format!("there is no shape {variant} of this length")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::known;

    /// Returns the transform lengths that a device supports if a block can have `shared_memory`
    /// bytes of shared memory.
    fn lengths(shared_memory: u32) -> Vec<usize> {
        gpu::lengths::<Fp64>(shared_memory, 0, usize::MAX)
    }

    #[test]
    fn exponents_end_where_the_longest_words_do() {
        // 227 KiB, and the smallest shared memory of a block on any GPU.
        for (shared_memory, at_least) in [(227 << 10, 630_000_000), (48 << 10, 10_000_000)] {
            let lengths = lengths(shared_memory);
            let range = exponents(&lengths);
            let longest = lengths[lengths.len() - 1];
            assert_eq!((*range.start(), lengths[0]), (2_304, 256));
            assert!(*range.end() >= at_least, "{range:?}");
            assert!(margin::bits(*range.end(), longest, margin::ON_GPU) >= 0.0);
            assert!(margin::bits(*range.end() + 1, longest, margin::ON_GPU) < 0.0);
            // Up to the exponents at which a length's words are too short, the length before it is
            // usable.
            for pair in lengths.windows(2) {
                let least = least_exponent(pair[1]);
                let good = least as usize <= 25 * pair[0]
                    && margin::bits(least, pair[0], margin::ON_GPU) >= 0.0;
                assert!(good, "{pair:?}");
            }
        }
    }

    #[test]
    fn longer_transforms_hold_larger_exponents() {
        // Independent of the accuracy of each length: plans use the shortest usable length.
        let longest: Vec<u32> = lengths(227 << 10).into_iter().map(longest_exponent).collect();
        for pair in longest.windows(2) {
            assert!(pair[0] < pair[1], "{pair:?}");
        }
    }

    #[test]
    fn no_length_that_plans_choose_is_slower_than_a_longer_one() {
        let time = |n: usize| known::on("NVIDIA H200", "fp64", n).map(|way| way.time);
        let chosen: Vec<_> = all_lengths()
            .filter(|&n| n >= 1 << 16 && !is_dominated(n) && n != 35 << 20)
            .map(|n| (n, time(n).unwrap()))
            .collect();
        assert_eq!(chosen.len(), 82);
        for (i, &(n, time)) in chosen.iter().enumerate() {
            let least = chosen[i..].iter().map(|(_, time)| *time).min().unwrap();
            assert!(time <= least.mul_f64(1.03), "{n}: {time:?} {least:?}");
        }
        for n in DOMINATED.map(|n| n << 10) {
            let longer = chosen.iter().filter(|(longer, _)| *longer > n);
            let least = longer.map(|(_, time)| *time).min().unwrap();
            // With laps of one length each, a dominated length would be a little later.
            assert!(time(n).unwrap().mul_f64(1.05) > least.mul_f64(1.03), "{n}");
        }
    }

    #[test]
    fn a_length_left_behind_is_a_refuge_still() {
        // After a round-off error with 72K words, the next length would be 128K, but its words must
        // be longer than those of M1398269.
        let (p, length) = (1_398_269, 72 << 10);
        assert!(!is_dominated(length) && margin::bits(p, length, margin::ON_GPU) > 0.0);
        let next = all_lengths().find(|&n| n > length).unwrap();
        assert!(is_dominated(next) && least_exponent(next) < p && p < least_exponent(128 << 10));
    }

    #[test]
    fn words_are_as_long_as_carries_ask() {
        assert_eq!([256, 512, 1024].map(least_exponent), [9 * 256, 10 * 512, 11 * 1024]);
        let bits = [1152, 4096, 1 << 22, 36 << 20].map(least_bits);
        let expected = [7.62, 8.54, 13.54, 15.12];
        assert!(bits.iter().zip(expected).all(|(x, y)| (x - y).abs() < 0.01), "{bits:?}");
    }
}
