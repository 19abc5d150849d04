//! The arguments that the benchmarks of transforms have in common.

use clap::Args;
use warpint::mersenne::DeviceChoice;

use super::arithmetic::threads;
use super::at_least_one;

/// How often to measure, and where.
#[derive(Debug, Args)]
pub(crate) struct MeasureArgs {
    /// Runs of which the median is taken, 1 to 1000 [default: 15, or 3 for transforms that take
    /// long].
    #[arg(long, value_name = "N", value_parser = runs)]
    pub(crate) runs: Option<usize>,

    /// Where to compute: auto (a GPU if there is one that works, otherwise the CPU), cpu, cuda or
    /// cuda:N.
    #[arg(long, value_name = "DEVICE", default_value_t)]
    pub(crate) device: DeviceChoice,

    /// Threads of the CPU [default: one for each logical CPU].
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
}

/// A range of transform lengths, as exponents of two. It includes both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lengths {
    from: u32,
    to: u32,
}

impl Lengths {
    /// Returns the exponents of all ranges, in the order of the ranges.
    pub(crate) fn exponents(ranges: &[Self]) -> impl Iterator<Item = u32> {
        ranges.iter().flat_map(|lengths| lengths.from..=lengths.to)
    }
}

/// log2 of the length of the longest transform that may be requested.
const MOST: u32 = 30;

pub(super) fn lengths(text: &str) -> Result<Lengths, String> {
    lengths_to(MOST, text)
}

/// Parses a range of exponents of two from 1 to `most`.
pub(super) fn lengths_to(most: u32, text: &str) -> Result<Lengths, String> {
    let one = |part: &str| {
        exponent(part, most).ok_or_else(|| {
            let what = if part == text { String::new() } else { format!(" in '{text}'") };
            format!("'{part}'{what} is not an exponent of two from 1 to {most}")
        })
    };
    let (from, to) = match text.split_once("..") {
        Some((from, to)) => (one(from)?, one(to)?),
        None => (one(text)?, one(text)?),
    };
    if from > to {
        return Err(format!("'{text}' ends before it begins"));
    }
    Ok(Lengths { from, to })
}

/// Parses an exponent of two from 1 to `most`. Returns `None` for any other text.
pub(super) fn exponent(text: &str, most: u32) -> Option<u32> {
    text.parse().ok().filter(|log2| (1..=most).contains(log2))
}

fn runs(text: &str) -> Result<usize, String> {
    const MOST: u64 = 1000;
    let n = at_least_one(text)?;
    if n > MOST {
        Err(format!("{n} runs are too many: give at most {MOST}"))
    } else {
        Ok(n as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_numbers_and_ranges() {
        assert_eq!(lengths("10..22"), Ok(Lengths { from: 10, to: 22 }));
        assert_eq!(lengths("7"), Ok(Lengths { from: 7, to: 7 }));
        for wrong in ["0", "31", "5..4", "..", "x", "3..", "1..40", "-1", "1...3", ""] {
            assert!(lengths(wrong).is_err(), "{wrong}");
        }
        let ranges = ["3..5", "4"].map(|text| lengths(text).unwrap());
        assert_eq!(Lengths::exponents(&ranges).collect::<Vec<_>>(), [3, 4, 5, 4]);
    }

    #[test]
    fn runs_are_numbers_up_to_a_thousand() {
        assert_eq!((runs("1"), runs("1000")), (Ok(1), Ok(1000)));
        for wrong in ["0", "1001", "-1", "x", ""] {
            assert!(runs(wrong).is_err(), "{wrong}");
        }
    }
}
