//! Products and squares of two long numbers of the same length, divisions of a number of twice that length by
//! one, and conversions of one to and from decimal digits.
//!
//! Results are verified modulo 2^61 − 1; products before they are timed.

use serde::Serialize;
use warpint_device::{Device, View};
use warpint_integer::huge;
use warpint_integer::huge::device::{DeviceMultiplier, DeviceProducts, residue};
use warpint_natural::division::div_rem_by;
use warpint_natural::product::{Multiplier, TransformMultiplier};

use crate::chart::Chart;
use crate::columns::{Machine, Times};
use crate::error::if_it_fits;
use crate::timing::{self, DeviceTimer};
use crate::vectors::{self, mixed};
use crate::{BenchError, is_simulator, once_each};

/// log2 of the least and of the largest number of bits of a factor.
const LEAST: u32 = 6;
const MOST: u32 = 34;
/// A number of kernels that a product does not exceed.
const LAUNCHES: usize = 20;
/// The seed of all numbers.
const SEED: u64 = 3;

/// The lengths of factors to measure.
#[derive(Debug, Clone)]
pub struct Request {
    lengths: Vec<u32>,
    runs: Option<usize>,
}

/// The reason why a requested benchmark is impossible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("factors of 2^{log2} bits: give an exponent from {LEAST} to {MOST}")]
pub struct RequestError {
    /// log2 of the requested number of bits.
    log2: u32,
}

impl Request {
    /// Creates a request for products of two numbers of 2^l bits for each l of `lengths`; an empty
    /// iterator selects the default lengths of the device or the CPU. A time is the median of
    /// `runs` runs; `None` selects 15, or 3 for products that take long.
    ///
    /// # Errors
    /// A length is not from 2^6 to 2^34 bits.
    pub fn new(
        lengths: impl Iterator<Item = u32>,
        runs: Option<usize>,
    ) -> Result<Self, RequestError> {
        let lengths = once_each(lengths);
        match lengths.iter().find(|&log2| !(LEAST..=MOST).contains(log2)) {
            Some(&log2) => Err(RequestError { log2 }),
            None => Ok(Self { lengths, runs }),
        }
    }
}

/// The measurements for one length.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Row {
    /// log2 of the number of bits of each factor.
    pub log2: u32,
    /// The measurements; `None` if the products could not be measured.
    pub products: Option<Products>,
    /// A line that says why the products could not be measured; `None` if they were measured.
    pub missing: Option<String>,
}

/// The measurements of products of one length, which were verified.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Products {
    /// The times of products of two different numbers. On a device the numbers are in its memory,
    /// and the time includes that of the residues by which the product is verified.
    pub product: Times,
    /// The times of squares, likewise.
    pub square: Times,
    /// On a device, the times of products of numbers in host memory, with all copies; `None` on the
    /// CPU.
    pub from_host: Option<Times>,
    /// The times of divisions of a number of twice as many bits, by the clock of the host. On a device the
    /// numbers are in its memory, and the times include that of the reciprocal and of the verification.
    /// `None` if the numbers are too long for the device.
    pub division: Option<Times>,
    /// The times of conversions of a factor to decimal digits in host memory, by the clock of the host, with
    /// the verification on a device. `None` if the factor is too long or too short for the device.
    pub to_decimal: Option<Times>,
    /// The times of conversions of these digits to a number in host memory, likewise.
    pub from_decimal: Option<Times>,
    /// The bytes of working memory on the device, beside the numbers; `None` on the CPU.
    pub working_bytes: Option<u64>,
}

/// All measurements of a benchmark of products.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Measured {
    /// The device or CPU on which the benchmark ran.
    #[serde(flatten)]
    pub machine: Machine,
    /// The rows, length by length.
    pub rows: Vec<Row>,
}

/// A benchmark in progress on a device or on the CPU.
#[derive(Debug)]
pub struct Bench {
    lengths: Vec<u32>,
    runs: Option<usize>,
    device: Option<Device>,
    measured: Measured,
}

impl Bench {
    /// Creates a benchmark on a device, or without one on all threads of the CPU.
    #[must_use]
    pub fn new(request: &Request, device: Option<Device>) -> Self {
        let machine = Machine::of(device.as_ref().map(Device::info));
        let (from, to) = match &device {
            Some(device) if is_simulator(device) => (12, 14),
            Some(_) => (20, 32),
            None => (14, 24),
        };
        let lengths = match &request.lengths[..] {
            [] => (from..=to).step_by(2).collect(),
            lengths => lengths.to_vec(),
        };
        Self { lengths, runs: request.runs, device, measured: Measured { machine, rows: vec![] } }
    }

    /// Returns log2 of the lengths to be measured.
    #[must_use]
    pub fn lengths(&self) -> Vec<u32> {
        self.lengths.clone()
    }

    /// Measures products of two numbers of 2^log2 bits, adds the row to the measurements, and
    /// returns it.
    ///
    /// # Errors
    /// A product is wrong, or the device or the memory failed.
    pub fn measure(&mut self, log2: u32) -> Result<&Row, BenchError> {
        let done = if_it_fits(match &self.device {
            Some(device) => on_device(device, log2, self.runs),
            None => on_cpu(log2, self.runs),
        });
        let done = done.map_err(|e| e.in_row(format!("2^{log2} bits")))?;
        let (products, missing) = match done {
            Ok(products) => (Some(products), None),
            Err(full) => (None, Some(full.to_string())),
        };
        let rows = &mut self.measured.rows;
        rows.push(Row { log2, products, missing });
        Ok(&rows[rows.len() - 1])
    }

    /// Returns the measurements so far.
    #[must_use]
    pub fn measured(&self) -> &Measured {
        &self.measured
    }
}

impl Measured {
    /// Draws a chart of the times, in ms, against the number of bits of a factor.
    #[must_use]
    pub fn chart(&self) -> Chart {
        let title = "Time of a product of two numbers of n bits";
        let mut chart = Chart::new(title, &self.machine.name, ["bits", "ms"]);
        for row in &self.rows {
            let Some(products) = &row.products else { continue };
            let n = f64::from(row.log2).exp2();
            for (what, times) in [
                ("product", Some(&products.product)),
                ("square", Some(&products.square)),
                ("product, with copies", products.from_host.as_ref()),
                ("division of 2n bits", products.division.as_ref()),
                ("to decimal digits", products.to_decimal.as_ref()),
                ("from decimal digits", products.from_decimal.as_ref()),
            ] {
                if let Some(times) = times {
                    let ms = times.us / 1e3;
                    chart.mark(what, (n, ms), format!("{what}, 2^{} bits: {ms:.4} ms", row.log2));
                }
            }
        }
        chart
    }
}

/// Returns the two factors of 2^log2 bits.
fn factors(log2: u32) -> Result<[Vec<u64>; 2], BenchError> {
    let words = 1usize << (log2 - LEAST);
    let of = |seed: u64| {
        let number = vectors::words(0..words, |at| mixed(mixed(SEED + seed) ^ at as u64));
        number.ok_or(BenchError::NoMemory)
    };
    Ok([of(0)?, of(1)?])
}

/// Returns an error if a product of numbers with residues a and b is wrong modulo 2^61 − 1.
fn verify(what: &str, product: &[u64], a: u64, b: u64) -> Result<(), BenchError> {
    if residue::of(product) == residue::product(a, b) {
        return Ok(());
    }
    Err(BenchError::Wrong(format!("the {what} is wrong modulo 2^61 − 1")))
}

fn on_device(device: &Device, log2: u32, runs: Option<usize>) -> Result<Products, BenchError> {
    let [a, b] = factors(log2)?;
    let [of_a, of_b] = [&a, &b].map(|x| residue::of(x));
    let mut products = DeviceProducts::new(device)?;
    let working_bytes = DeviceProducts::working_bytes(a.len(), b.len());
    let mut out = device.alloc(a.len() + b.len())?;
    let [there, other] = [device.upload(&a)?, device.upload(&b)?];
    let (there, other) = (there.view(..), other.view(..));
    let out = out.cells(..);
    let mut timer = DeviceTimer::new(device, runs)?;
    products.mul(out, there, other)?;
    verify("product", &out.view().download()?, of_a, of_b)?;
    let product = timer.times(LAUNCHES, || products.mul(out, there, other))?;
    products.verify()?;
    products.square(out, there)?;
    verify("square", &out.view().download()?, of_a, of_a)?;
    let square = timer.times(LAUNCHES, || products.square(out, there))?;
    products.verify()?;
    let division = division_on_device(&mut products, &a, other, runs)?;
    drop(products);
    let from_host = DeviceMultiplier::new(device, rayon::current_num_threads())?;
    let times = timing::on_cpu(runs, || {
        from_host.mul(&a, &b);
        Ok::<_, BenchError>(())
    })?;
    let digits = from_host.format_decimal(&a);
    let [to_decimal, from_decimal] = match digits {
        Some(digits) => conversions(
            runs,
            || from_host.format_decimal(&a).is_some(),
            || from_host.parse_decimal(&digits).is_some_and(|number| number == a),
        )?,
        None => [None, None],
    };
    if let Some(why) = from_host.failure() {
        return Err(BenchError::Wrong(why));
    }
    let from_host = Some(times);
    Ok(Products { product, square, from_host, division, to_decimal, from_decimal, working_bytes })
}

/// Times divisions of a number of twice as many words by d on a device. `None` if they are too long for
/// it.
fn division_on_device(
    products: &mut DeviceProducts,
    a: &[u64],
    d: View<'_, u64>,
    runs: Option<usize>,
) -> Result<Option<Times>, BenchError> {
    if DeviceProducts::division_bytes(2 * a.len(), a.len()).is_none() {
        return Ok(None);
    }
    let device = products.device().clone();
    let mut dividend = device.alloc(2 * a.len())?;
    dividend.cells(..a.len()).upload(a)?;
    dividend.cells(a.len()..).upload(a)?;
    let [mut q, mut r] = [device.alloc(a.len() + 1)?, device.alloc(a.len())?];
    let times = timing::on_cpu(runs, || {
        let divisor = products.divisor(d, a.len())?;
        products.div_rem(q.cells(..), r.cells(..), dividend.view(..), &divisor)
    })?;
    Ok(Some(times))
}

/// Times a conversion to decimal digits and one from them. Each returns whether its result is right.
fn conversions(
    runs: Option<usize>,
    to_decimal: impl Fn() -> bool,
    from_decimal: impl Fn() -> bool,
) -> Result<[Option<Times>; 2], BenchError> {
    let wrong = || BenchError::Wrong("decimal digits are wrong".into());
    let to = timing::on_cpu(runs, || to_decimal().then_some(()).ok_or_else(wrong))?;
    let from = timing::on_cpu(runs, || from_decimal().then_some(()).ok_or_else(wrong))?;
    Ok([Some(to), Some(from)])
}

fn on_cpu(log2: u32, runs: Option<usize>) -> Result<Products, BenchError> {
    let [a, b] = factors(log2)?;
    let [of_a, of_b] = [&a, &b].map(|x| residue::of(x));
    let multiplier = TransformMultiplier::new(rayon::current_num_threads());
    verify("product", &multiplier.mul(&a, &b), of_a, of_b)?;
    verify("square", &multiplier.mul(&a, &a), of_a, of_a)?;
    let times = |x: &[u64], y: &[u64]| {
        timing::on_cpu(runs, || {
            multiplier.mul(x, y);
            Ok::<_, BenchError>(())
        })
    };
    let (product, square) = (times(&a, &b)?, times(&a, &a)?);
    let dividend = [&a[..], &a[..]].concat();
    let (q, r) = div_rem_by(&multiplier, &dividend, &b);
    let [of_q, of_r] = [&q, &r].map(|x| residue::of(x));
    if residue::sum(residue::product(of_q, of_b), of_r) != residue::of(&dividend) {
        return Err(BenchError::Wrong("the quotient is wrong modulo 2^61 − 1".into()));
    }
    let division = timing::on_cpu(runs, || {
        drop(div_rem_by(&multiplier, &dividend, &b));
        Ok::<_, BenchError>(())
    })?;
    let digits = huge::to_decimal(&multiplier, &a);
    let [to_decimal, from_decimal] = conversions(
        runs,
        || huge::to_decimal(&multiplier, &a).len() == digits.len(),
        || huge::from_decimal(&multiplier, &digits) == a,
    )?;
    let division = Some(division);
    Ok(Products {
        product,
        square,
        from_host: None,
        division,
        to_decimal,
        from_decimal,
        working_bytes: None,
    })
}
