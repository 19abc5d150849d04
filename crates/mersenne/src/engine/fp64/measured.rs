//! The accuracy of the kernels on a GPU, as measured at many transform lengths.
//!
//! The table `tables/fp64-round-off.txt` has a line for every length of 64K words or more that
//! plans use. `cargo xtask margins --output FILE` writes such a table. The kernels round
//! identically on every GPU, so the table is valid for all GPUs. The module `margin` allows for the
//! observed variation over exponents and over divisions of a transform into columns and rows.

use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use super::margin;
use crate::engine::{Gumbel, RoundOff};

/// The text of the table of measurements, which is compiled into the program.
const TABLE: &str = include_str!("../../../tables/fp64-round-off.txt");

/// The names of the columns of the table, separated by spaces, as they are in the table's heading.
pub const COLUMNS: &str = "length c exponent squarings mean deviation largest Z shape";

/// The round-off of squarings of random residues at one transform length. The value holds one line
/// of the table, with the columns [`COLUMNS`]:
///
/// | column | |
/// |---|---|
/// | length, exponent | the transform length N, and the exponent p of the measurement |
/// | c | the coefficient in σ = c·2^−53·√(log2 N)·√N·4^(p/N), the deviation of errors |
/// | squarings | the number of squarings measured; `-` if it was not counted |
/// | mean | the mean of the largest error of each squaring |
/// | deviation | the standard deviation of the same errors; `-` if it was not measured |
/// | largest | the largest error of any squaring |
/// | Z | [`Gumbel::z`] of these squarings; `-` if it was not computed |
/// | shape | the shape of the transform, as in [`Profiled::variants`](crate::Profiled::variants) |
#[derive(Debug, Clone, PartialEq)]
pub struct MeasuredLength {
    /// The transform length N, in words.
    pub length: usize,
    /// The coefficient c in σ = c·2^−53·√(log2 N)·√N·4^(p/N), the standard deviation of the errors
    /// of words.
    pub c: f64,
    /// The exponent p of the residues mod 2^p − 1 that were squared.
    pub exponent: u32,
    /// The number of squarings measured; `None` if it was not counted.
    pub squarings: Option<u64>,
    /// The mean over all squarings of the largest error of each squaring.
    pub mean: f64,
    /// The standard deviation over all squarings of the largest error of each squaring; `None` if
    /// it was not measured.
    pub deviation: Option<f64>,
    /// The largest error of any squaring.
    pub largest: f64,
    /// The distance Z ([`Gumbel::z`]) of the measured squarings; `None` if it was not computed.
    pub z: Option<f64>,
    /// The shape of the transform, as in [`Profiled::variants`](crate::Profiled::variants).
    pub shape: String,
}

impl MeasuredLength {
    /// Computes the line of the table for N = `length` words and the exponent p. `measured` is the
    /// round-off of squarings mod 2^p − 1, and `shape` is the shape of the transform.
    #[must_use]
    pub fn new(p: u32, length: usize, shape: String, measured: &RoundOff) -> Self {
        let c = margin::coefficient_of_mean(p, length, measured.mean);
        Self {
            length,
            c,
            exponent: p,
            squarings: Some(measured.products),
            mean: measured.mean,
            deviation: Some(measured.deviation),
            largest: measured.max,
            z: measured.z(),
            shape,
        }
    }

    /// Returns the margin for the exponent p at this transform length, in bits: log2 of the factor
    /// by which errors may grow before the distance Z ([`Gumbel::z`]) falls to [`least_z`]. If p is
    /// not the measured exponent, the errors are converted, since they are proportional to 4^(p/N).
    /// Returns `None` if the deviation was not measured.
    pub(super) fn margin(&self, p: u32) -> Option<f64> {
        let Gumbel { location, scale } = Gumbel::of_moments(self.mean, self.deviation?)?;
        let until_least = 0.5 / (least_z(p) * scale + location);
        let longer = (f64::from(p) - f64::from(self.exponent)) / self.length as f64;
        Some(until_least.log2() - 2.0 * longer)
    }
}

/// Returns ln(1000·p), the smallest acceptable Z ([`Gumbel::z`]) for the exponent p. With the
/// Gumbel distribution, one in a thousand tests of p squarings then has an error above ½. The value
/// is 25 for p = 6·10^7.
fn least_z(p: u32) -> f64 {
    (1000.0 * f64::from(p)).ln()
}

/// The error for a text that is not a line of the table of measurements. The error contains this
/// text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a line with the columns {COLUMNS}")]
pub struct NoSuchLine(String);

impl FromStr for MeasuredLength {
    type Err = NoSuchLine;

    fn from_str(line: &str) -> Result<Self, NoSuchLine> {
        parsed(line).ok_or_else(|| NoSuchLine(line.to_owned()))
    }
}

fn parsed(line: &str) -> Option<MeasuredLength> {
    let mut columns = line.splitn(9, ' ');
    let mut next = || columns.next();
    let (length, c, exponent) = (next()?, next()?, next()?);
    let (squarings, mean, deviation, largest, z) = (next()?, next()?, next()?, next()?, next()?);
    Some(MeasuredLength {
        length: length.parse().ok()?,
        c: number(c)?,
        exponent: exponent.parse().ok()?,
        squarings: known(squarings, |text| text.parse().ok())?,
        mean: number(mean)?,
        deviation: known(deviation, number)?,
        largest: number(largest)?,
        z: known(z, number)?,
        shape: next()?.to_owned(),
    })
}

/// Parses a finite number above 0. Returns `None` for any other text.
fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|x: &f64| x.is_finite() && *x > 0.0)
}

/// Parses the text of a column that may have no value. Returns `Some(None)` for `-`, and
/// `Some(Some(value))` for a value that the function `of` parses. Returns `None` for any other
/// text.
fn known<T>(text: &str, of: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
    if text == "-" { Some(None) } else { of(text).map(Some) }
}

impl fmt::Display for MeasuredLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { length, c, exponent, squarings, mean, deviation, largest, z, shape } = self;
        let squarings = squarings.map_or("-".into(), |n| n.to_string());
        let deviation = deviation.map_or("-".into(), |s| format!("{s:.6}"));
        let z = z.map_or("-".into(), |z| format!("{z:.1}"));
        write!(
            f,
            "{length} {c:.4} {exponent} {squarings} {mean:.6} {deviation} {largest:.4} {z} {shape}"
        )
    }
}

/// Parses the lines of a table. Skips comments, which start with `#`.
fn lines(table: &str) -> impl Iterator<Item = Result<MeasuredLength, NoSuchLine>> {
    table.lines().filter(|line| !line.starts_with('#')).map(str::parse)
}

/// Returns the line of the shipped table for a transform length. Returns `None` if the table has no
/// line for that length.
pub(super) fn line(length: usize) -> Option<&'static MeasuredLength> {
    static LINES: LazyLock<Vec<MeasuredLength>> =
        LazyLock::new(|| lines(TABLE).flatten().collect());
    let at = LINES.binary_search_by_key(&length, |line| line.length).ok()?;
    LINES.get(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fp64_gpu::{all_lengths, is_dominated};

    fn table() -> Vec<MeasuredLength> {
        lines(TABLE).map(|line| line.unwrap_or_else(|error| panic!("{error}"))).collect()
    }

    #[test]
    fn every_line_parses_and_says_what_was_measured() {
        let table = table();
        assert!(table.is_sorted_by(|a, b| a.length < b.length));
        // 35·2^20 has no shape on any device.
        let chosen = |n: &usize| *n >= 1 << 16 && *n != 35 << 20 && !is_dominated(*n);
        let long = all_lengths().filter(chosen);
        for length in long {
            assert!(line(length).is_some(), "{length} is missing");
        }
        for found in &table {
            let line = line(found.length).unwrap();
            assert_eq!(line, found);
            assert!(all_lengths().any(|n| n == line.length), "{line}");
            assert!((0.25..0.5).contains(&line.c), "{line}");
            assert!(line.mean < line.largest && line.largest < 0.4, "{line}");
            let again = margin::coefficient_of_mean(line.exponent, line.length, line.mean);
            assert!((again / line.c - 1.0).abs() < 1e-3, "{line}: {again}");
            // The words were shorter than the longest allowed ones.
            assert!(line.z.is_none_or(|z| z > least_z(line.exponent)), "{line}");
            assert_eq!(line.z.is_some(), line.margin(line.exponent).is_some(), "{line}");
            assert_eq!(line.to_string().parse().as_ref(), Ok(line));
        }
        assert_eq!(line(1 << 7), None);
    }

    #[test]
    fn what_is_no_line_is_refused() {
        let good = "65536 0.3635 1296335 2001 0.148000 0.011000 0.2000 31.2 4096x8 16.16.16/2.2.2 2/4 1 128.128";
        let line: MeasuredLength = good.parse().unwrap();
        assert_eq!((line.length, line.squarings, line.z), (65_536, Some(2001), Some(31.2)));
        assert_eq!(line.to_string(), good);
        for bad in [
            "",
            "65536",
            "65536 0.3635 1296335 2001 0.148000 0.011000 0.2000 31.2",
            "65536 - 1296335 2001 0.148000 0.011000 0.2000 31.2 shape",
            "65536 NaN 1296335 2001 0.148000 0.011000 0.2000 31.2 shape",
            "65536 0.3635 1296335 2001 0 0.01100 0.2000 31.2 shape",
            "65536 0.3635 1296335 many 0.14800 0.01100 0.2000 31.2 shape",
        ] {
            let error = bad.parse::<MeasuredLength>().unwrap_err();
            assert!(error.to_string().starts_with(&format!("'{bad}' is not a line")), "{error}");
        }
    }

    #[test]
    fn the_margin_ends_where_z_does() {
        let measured = RoundOff { max: 0.247, mean: 0.17, deviation: 0.012, products: 2000 };
        let (p, n) = (76_087_804, 1 << 22);
        let line = MeasuredLength::new(p, n, "shape".into(), &measured);
        let margin = line.margin(p).unwrap();
        // Errors larger by that factor.
        let larger = RoundOff {
            mean: measured.mean * margin.exp2(),
            deviation: measured.deviation * margin.exp2(),
            ..measured
        };
        let least = 25.055;
        assert!((larger.z().unwrap() - least).abs() < 1e-3, "{margin}");
        assert!(line.z.unwrap() > least && margin > 0.0);
        // Half a bit more per word costs a bit of margin, and a little more for the longer test.
        let longer = line.margin(p + (n >> 1) as u32).unwrap();
        assert!((-2e-3..0.0).contains(&(longer - (margin - 1.0))), "{margin} {longer}");
        let poor = RoundOff { products: 3, ..measured };
        assert_eq!(MeasuredLength::new(p, n, "shape".into(), &poor).z, None);
        let unknown = MeasuredLength { deviation: None, ..line };
        assert_eq!(unknown.margin(p), None);
    }
}
