//! Operations on batches of integers, compared with a floor: the time of a copy that reads and
//! writes as many bytes as the operation.
//!
//! Operands and results stay in the memory of the device or host that computes. Some results of a
//! first run are also computed limb by limb on the CPU; a difference is an error.
//!
//! On the CPU, GMP computes the same operations in turns with warpint if the library is installed.

mod euclid;
mod gmp;
mod on_cpu;
mod on_device;
mod operands;
mod operation;
mod primality;
mod row;
mod works;

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use warpint_integer::gpu::{Choice, Gpu, Method};
use warpint_integer::{Operation as Listed, Width};

use self::on_cpu::OnCpu;
use self::on_device::OnDevice;
use self::operands::Operands;
use crate::chart::Chart;
use crate::columns::Machine;
use crate::{BenchError, chosen_by};

pub use self::operation::Operation;
pub use self::row::Row;

/// The parameters of a benchmark of operations on batches.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The operations, in the order in which they are measured. Quotients are an exception: they
    /// are measured last, because they are compared with products.
    pub operations: Vec<Operation>,
    /// The widths of operands. An empty list selects the powers of 2 from 64 to 262,144 bits,
    /// without widths that the operation does not support or that take too long. On the simulator,
    /// it selects 64 and 512 bits.
    pub bits: Vec<Width>,
    /// The count of numbers in a batch. `None` selects a count with which one operand fills 256 MiB
    /// on a GPU, or 16 MiB on the CPU. The default count is smaller for operations that compute
    /// much, and if memory is short.
    pub count: Option<usize>,
    /// The method of products on a device; `None` leaves the choice to the library.
    pub method: Option<Methods>,
    /// The seed of the operands; `None` selects a random seed.
    pub seed: Option<u32>,
}

/// The methods by which products are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Methods {
    /// Each method that supports the operands is measured.
    All,
    /// This method is measured.
    One(Method),
}

/// The reason why a requested benchmark is impossible.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The given method supports none of the default widths.
    #[error("nothing to measure: the method supports none of the usual widths on this device")]
    Nothing,
    /// A method was given for the CPU, which has no choice of methods.
    #[error("a method can only be chosen on a device: the CPU has one for each width")]
    MethodOnCpu,
    /// The numbers are too wide for an operation on the device.
    #[error("{device} does not support {} of {bits} bits", operation.name())]
    NotDone {
        /// The operation.
        operation: Operation,
        /// The width of the operands, in bits.
        bits: usize,
        /// The name of the device.
        device: String,
    },
    /// The given method does not support the operands, or no method of the device supports them.
    #[error("{} {} of {bits} bits on {device}{}", who(asked.as_ref()), operation.name(), others(possible))]
    Method {
        /// The given method; `None` if no method was given.
        asked: Option<Method>,
        /// The operation.
        operation: Operation,
        /// The width of the operands, in bits.
        bits: usize,
        /// The name of the device.
        device: String,
        /// The methods of the device that support the width.
        possible: Vec<Method>,
    },
    /// The numbers do not fit in memory.
    #[error("{count} numbers of {bits} bits and their results need {bytes} bytes")]
    TooMany {
        /// The count of numbers in a batch.
        count: u64,
        /// The width of the numbers, in bits.
        bits: usize,
        /// The number of bytes of the operands and of the longest results.
        bytes: u64,
        /// The number of bytes that are free on the device; `None` on the CPU.
        free: Option<u64>,
    },
}

fn who(asked: Option<&Method>) -> String {
    asked.map_or_else(|| "no method supports".into(), |method| format!("{method} does not support"))
}

fn others(possible: &[Method]) -> String {
    let names: Vec<String> = possible.iter().map(ToString::to_string).collect();
    if names.is_empty() { String::new() } else { format!(": the methods are {}", names.join(", ")) }
}

/// A batch that is smaller than the default because memory is short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fewer {
    /// The count of numbers in the batch.
    pub count: u64,
    /// The width of the numbers, in bits.
    pub bits: usize,
    /// The default count of numbers.
    pub wanted: u64,
}

/// The rows to be measured on a device or on the CPU.
#[derive(Debug)]
pub struct Rows {
    works: Vec<Work>,
    fewer: Vec<Fewer>,
}

impl Rows {
    /// Derives the rows of a request on a device, or on the CPU if `gpu` is `None`.
    ///
    /// # Errors
    /// The request is impossible ([`RequestError`]), or the device failed.
    pub fn new(request: &Request, gpu: Option<&Gpu>) -> Result<Self, BenchError> {
        let mut fewer = vec![];
        let works = match gpu {
            Some(gpu) => works::on_device(request, gpu.device(), &mut fewer)?,
            None => works::on_cpu(request)?,
        };
        Ok(Self { works, fewer })
    }

    /// Returns the batches that are smaller than the default because memory is short.
    #[must_use]
    pub fn fewer(&self) -> &[Fewer] {
        &self.fewer
    }
}

/// The operation, width, batch size and method of a row to be measured.
#[derive(Debug, Clone, Copy)]
struct Work {
    operation: Operation,
    /// The number of 32-bit limbs of an operand.
    limbs: usize,
    /// The count of numbers in the batch, at least 1.
    count: usize,
    /// The method of products; `None` leaves the choice to the library.
    method: Option<Method>,
}

impl Work {
    fn bits(&self) -> u32 {
        32 * self.limbs as u32
    }

    /// Returns, for the work of a quotient, the work of the product with which the quotient is
    /// compared. The factors of this product are as wide as the dividend. Returns `None` for other
    /// operations.
    fn product(&self) -> Option<Self> {
        let of = Operation::Listed;
        let product = Self { operation: of(Listed::Multiply), method: None, ..*self };
        (self.operation == of(Listed::Divide)).then_some(product)
    }

    /// Returns the number of bytes that the operation reads and writes for the whole batch.
    fn bytes(&self) -> u64 {
        self.operation.bytes(self.limbs) * self.count as u64
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bits", self.operation.name(), self.bits())?;
        self.method.map_or(Ok(()), |method| write!(f, " by {method}"))
    }
}

/// The device or CPU that computes batches.
trait Place: fmt::Debug {
    /// Prepares the work, performs it once and waits for its end. On a device, returns the time by
    /// the host's clock, which includes compiling kernels. Returns `None` on the CPU.
    fn first(&mut self, work: &Work, operands: &Operands) -> Result<Option<Duration>, BenchError>;
    /// Returns the limbs of the result of instance i. The limbs of a remainder follow the limbs of
    /// the quotient or root.
    fn result(&self, work: &Work, i: usize) -> Result<Vec<u32>, BenchError>;
    /// Performs the prepared work several more times, and returns the time of each run.
    fn times(&mut self, work: &Work) -> Result<Vec<Duration>, BenchError>;
    /// Returns the times of GMP for the same work, measured in turns with the runs of the last call
    /// of [`Place::times`]. Returns no times if GMP is not measured.
    fn gmp_times(&self) -> &[Duration] {
        &[]
    }
    /// Returns the version of GMP if it is measured.
    fn gmp_version(&self) -> Option<&str> {
        None
    }
    /// Returns the rate of copies that read and write about `bytes` bytes in all, in bytes read and
    /// written per second.
    fn copy_rate(&mut self, bytes: u64) -> f64;
    /// Returns whether some method supports a product of the width of `work`.
    fn can(&self, work: &Work) -> bool;
    /// Returns the method that the library chooses for a product. Returns `None` on the CPU, for an
    /// operation that is not a product, or if `work` states a method.
    fn choice(&self, work: &Work) -> Result<Option<Choice>, BenchError>;
}

/// All measurements of a benchmark of operations on batches.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Measured {
    /// The device or CPU on which the benchmark ran.
    #[serde(flatten)]
    pub machine: Machine,
    /// The version of GMP whose times stand beside those of warpint; `None` if GMP is not measured,
    /// because the benchmark runs on a device or GMP is not installed.
    pub gmp: Option<String>,
    /// The seed of the operands.
    pub seed: u32,
    /// The rows, in the order of the requested operations, but with quotients last.
    pub rows: Vec<Row>,
}

/// A benchmark in progress on a device or on the CPU, with its operands.
#[derive(Debug)]
pub struct Bench {
    /// The rows still to be measured, in reverse order.
    left: Vec<Work>,
    operands: Operands,
    place: Box<dyn Place>,
    measured: Measured,
}

impl Bench {
    /// Creates a benchmark: draws the operands, and moves them to the device. Without a device, all
    /// threads of the CPU compute. `gpu` must be the device for which the rows were derived, or
    /// `None` if they were derived for the CPU.
    ///
    /// # Errors
    /// There is no memory for the operands, or the device failed.
    pub fn new(request: &Request, rows: Rows, gpu: Option<Gpu>) -> Result<Self, BenchError> {
        let mut works = rows.works;
        let operands = works::operands(request, &works)?;
        let machine = Machine::of(gpu.as_ref().map(|gpu| gpu.device().info()));
        let place: Box<dyn Place> = match gpu {
            Some(gpu) => {
                let results = [works::result_limbs(&works), works::remainder_limbs(&works)];
                Box::new(OnDevice::new(gpu, &operands, results)?)
            }
            None => Box::new(OnCpu::new()),
        };
        let gmp = place.gmp_version().map(str::to_owned);
        let measured = Measured { machine, gmp, seed: operands.seed(), rows: vec![] };
        works.reverse();
        Ok(Self { left: works, operands, place, measured })
    }

    /// Returns the measurements so far.
    #[must_use]
    pub fn measured(&self) -> &Measured {
        &self.measured
    }

    /// Measures and returns the next row. Returns `None` after the last row.
    ///
    /// # Errors
    /// A result is wrong, or the device or the memory failed.
    pub fn measure_next(&mut self) -> Result<Option<&Row>, BenchError> {
        let Some(work) = self.left.pop() else { return Ok(None) };
        let place = &mut *self.place;
        let choice = place.choice(&work)?;
        let work = Work { method: choice.map(|c| c.method).or(work.method), ..work };
        let row = measure(&work, &self.operands, place);
        let mut row = row.map_err(|e| e.in_row(work.to_string()))?;
        row.chosen_by = choice.map(chosen_by);
        if let Some(product) = work.product() {
            row.compare(self.measured.product_ns(&product, &self.operands, place)?);
        }
        self.measured.rows.push(row);
        Ok(self.measured.rows.last())
    }
}

impl Measured {
    /// Returns the time of `product` in nanoseconds. If rows with this product at this width exist,
    /// the time is taken from the fastest of these rows; otherwise it is measured now. Returns
    /// `None` if no method supports the width.
    fn product_ns(
        &self,
        product: &Work,
        operands: &Operands,
        place: &mut dyn Place,
    ) -> Result<Option<f64>, BenchError> {
        let name = product.operation.name();
        let rows = self.rows.iter();
        let same = rows.filter(|row| row.operation == name && row.bits == product.bits());
        let known = same.map(|row| row.ns_per_operation).min_by(f64::total_cmp);
        if known.is_some() || !place.can(product) {
            return Ok(known);
        }
        let row = measure(product, operands, place);
        Ok(Some(row.map_err(|e| e.in_row(product.to_string()))?.ns_per_operation))
    }

    /// Draws a chart of times against widths: one line per operation, or one line per operation and
    /// method if `by_method` is true. Floors are dashed lines.
    #[must_use]
    pub fn chart(&self, by_method: bool) -> Chart {
        let axes = ["bits of an operand", "ns per operation"];
        let mut chart = Chart::new("Time of an operation in a batch", &self.machine.name, axes);
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by_key(|row| row.bits);
        for row in &rows {
            let line = match &row.method {
                Some(method) if by_method => format!("{}, {method}", row.operation),
                _ => row.operation.to_owned(),
            };
            let (bits, ns) = (row.bits, row.ns_per_operation);
            chart.mark(&line, (bits.into(), ns), format!("{line} of {bits} bits: {ns:.4} ns"));
        }
        let mut floors: Vec<(&str, u32)> = vec![];
        for row in &rows {
            // All methods of an operation share a floor.
            if !floors.contains(&(row.operation, row.bits)) {
                floors.push((row.operation, row.bits));
                let name = format!("{}: memory floor", row.operation);
                chart.dash(row.operation, &name, (row.bits.into(), row.floor_ns));
            }
        }
        chart
    }
}

fn measure(work: &Work, operands: &Operands, place: &mut dyn Place) -> Result<Row, BenchError> {
    let first = place.first(work, operands)?;
    operands.check(work, |i| place.result(work, i))?;
    let times = place.times(work)?;
    let mut row = Row::new(work, first, times, place.copy_rate(work.bytes()));
    row.compare_with_gmp(place.gmp_times());
    Ok(row)
}

/// Returns the median of the times. For an even number of times, the median is the longer of the
/// middle two.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
