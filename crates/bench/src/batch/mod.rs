//! Operations on batches of integers, beside a floor: a copy of as many bytes as are read and written.
//!
//! Operands and results stay in the memory of the place. Some results of a first run are computed limb
//! by limb too; a difference is an error.

mod euclid;
mod on_cpu;
mod on_device;
mod operands;
mod operation;
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
use crate::chart::{Chart, Labels};
use crate::columns::Machine;
use crate::{BenchError, chosen_by};

pub use self::operation::Operation;
pub use self::row::Row;

const LABELS: Labels = Labels {
    title: "Time of an operation in a batch",
    axes: ["bits of an operand", "ns per operation"],
    marker: |name, bits, ns| format!("{name} of {bits:.0} bits: {ns:.4} ns"),
};

/// What is measured.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// In this order, quotients last: they are compared with products.
    pub operations: Vec<Operation>,
    /// The widths of operands; none: the powers of 2 from 64 to 262,144 bits that can be done.
    pub bits: Vec<Width>,
    /// Numbers of a batch; `None`: as many as fill 256 MiB, on the CPU 16 MiB, and fit into the free
    /// memory.
    pub count: Option<usize>,
    /// How a device multiplies; `None`: as the library chooses.
    pub method: Option<Methods>,
    /// From which the operands are drawn; `None`: a random one.
    pub seed: Option<u32>,
}

/// Ways to multiply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Methods {
    /// Each that is possible.
    All,
    /// This one.
    One(Method),
}

/// Why a benchmark makes no sense.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The method is possible at none of the usual widths.
    #[error("there is nothing to measure: the method can do no width on this device")]
    Nothing,
    /// A method was named for the CPU.
    #[error("methods are for devices: the CPU has one way for each width")]
    MethodOnCpu,
    /// Numbers too wide for a device.
    #[error("{} of {bits} bits is not done on {device}", operation.name())]
    NotDone {
        /// The operation.
        operation: Operation,
        /// The width.
        bits: usize,
        /// The device.
        device: String,
    },
    /// A method that is not possible at a width, or none is.
    #[error("{} do {} of {bits} bits on {device}{}", who(asked.as_ref()), operation.name(), others(possible))]
    Method {
        /// The method that was named.
        asked: Option<Method>,
        /// The operation.
        operation: Operation,
        /// The width.
        bits: usize,
        /// The device.
        device: String,
        /// The methods that are possible.
        possible: Vec<Method>,
    },
    /// Numbers that do not fit into the memory.
    #[error("{count} numbers of {bits} bits and results take {bytes} bytes")]
    TooMany {
        /// Numbers of a batch.
        count: u64,
        /// Their width.
        bits: usize,
        /// What operands and results take, at most.
        bytes: u64,
        /// The bytes that are free on the device.
        free: Option<u64>,
    },
}

fn who(asked: Option<&Method>) -> String {
    asked.map_or_else(|| "no method can".into(), |method| format!("{method} cannot"))
}

fn others(possible: &[Method]) -> String {
    let names: Vec<String> = possible.iter().map(ToString::to_string).collect();
    if names.is_empty() { String::new() } else { format!(": there are {}", names.join(", ")) }
}

/// A batch of fewer numbers than usual: no more memory is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fewer {
    /// Numbers of the batch.
    pub count: u64,
    /// Their width.
    pub bits: usize,
    /// The usual number.
    pub wanted: u64,
}

/// The rows that are to be measured at a place.
#[derive(Debug)]
pub struct Rows {
    works: Vec<Work>,
    fewer: Vec<Fewer>,
}

impl Rows {
    /// Those of a request on a device, or on the CPU.
    ///
    /// # Errors
    /// A [`RequestError`]; the device failed.
    pub fn new(request: &Request, gpu: Option<&Gpu>) -> Result<Self, BenchError> {
        let mut fewer = vec![];
        let works = match gpu {
            Some(gpu) => works::on_device(request, gpu.device(), &mut fewer)?,
            None => works::on_cpu(request)?,
        };
        Ok(Self { works, fewer })
    }

    /// The batches of fewer numbers than usual.
    #[must_use]
    pub fn fewer(&self) -> &[Fewer] {
        &self.fewer
    }
}

/// A row that is to be measured.
#[derive(Debug, Clone, Copy)]
struct Work {
    operation: Operation,
    /// Limbs of 32 bits of an operand.
    limbs: usize,
    /// Numbers, at least one.
    count: usize,
    /// How to multiply; `None` for what the library takes.
    method: Option<Method>,
}

impl Work {
    fn bits(&self) -> u32 {
        32 * self.limbs as u32
    }

    /// The product of numbers of the dividend's width, which a quotient is compared with.
    fn product(&self) -> Option<Self> {
        let of = Operation::Listed;
        let product = Self { operation: of(Listed::Multiply), method: None, ..*self };
        (self.operation == of(Listed::Divide)).then_some(product)
    }

    /// Bytes that are read and written.
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

/// Where batches are computed.
trait Place: fmt::Debug {
    /// Prepares the work, does it once and waits. How long that took, by the host's clock, where a
    /// kernel is compiled for it.
    fn first(&mut self, work: &Work, operands: &Operands) -> Result<Option<Duration>, BenchError>;
    /// The limbs of the result of an instance.
    fn result(&self, work: &Work, i: usize) -> Result<Vec<u32>, BenchError>;
    /// The times of some more runs.
    fn times(&mut self, work: &Work) -> Result<Vec<Duration>, BenchError>;
    /// Bytes read and written in a second by copies of about `bytes` bytes.
    fn copy_rate(&mut self, bytes: u64) -> f64;
    /// Whether there is a method for a product.
    fn can(&self, work: &Work) -> bool;
    /// What the library takes for a product, where there are several methods and none was named.
    fn choice(&self, work: &Work) -> Result<Option<Choice>, BenchError>;
}

/// All that was measured.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Measured {
    /// What computed.
    #[serde(flatten)]
    pub machine: Machine,
    /// From which the operands were drawn.
    pub seed: u32,
    /// In the order of the request.
    pub rows: Vec<Row>,
}

/// A request at a place, with its operands.
#[derive(Debug)]
pub struct Bench {
    /// The rows that are left, the next one last.
    left: Vec<Work>,
    operands: Operands,
    place: Box<dyn Place>,
    measured: Measured,
}

impl Bench {
    /// Draws the operands and takes them to the device, or to the CPU, whose threads are all used. The
    /// place is that of the rows.
    ///
    /// # Errors
    /// There is no memory for the operands; the device failed.
    pub fn new(request: &Request, rows: Rows, gpu: Option<Gpu>) -> Result<Self, BenchError> {
        let mut works = rows.works;
        let operands = works::operands(request, &works)?;
        let machine = Machine::of(gpu.as_ref().map(|gpu| gpu.device().info()));
        let measured = Measured { machine, seed: operands.seed(), rows: vec![] };
        let place: Box<dyn Place> = match gpu {
            Some(gpu) => {
                let results = [works::result_limbs(&works), works::remainder_limbs(&works)];
                Box::new(OnDevice::new(gpu, &operands, results)?)
            }
            None => Box::new(OnCpu::default()),
        };
        works.reverse();
        Ok(Self { left: works, operands, place, measured })
    }

    /// What was measured so far.
    #[must_use]
    pub fn measured(&self) -> &Measured {
        &self.measured
    }

    /// Measures the next row; `None` after the last.
    ///
    /// # Errors
    /// A result is wrong; the device or the memory failed.
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
    /// Nanoseconds of a product: of the fastest row of its width, or measured now. `None` where the place
    /// has no method for it.
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

    /// One line for each operation, or for each method of each.
    #[must_use]
    pub fn chart(&self, by_method: bool) -> Chart {
        let mut chart = Chart::new(&LABELS, &self.machine.name);
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by_key(|row| row.bits);
        for row in &rows {
            let line = match &row.method {
                Some(method) if by_method => format!("{}, {method}", row.operation),
                _ => row.operation.to_owned(),
            };
            chart.mark(&line, row.bits.into(), row.ns_per_operation);
        }
        let mut floors: Vec<(&str, u32)> = vec![];
        for row in &rows {
            // Methods of one operation have one floor.
            if !floors.contains(&(row.operation, row.bits)) {
                floors.push((row.operation, row.bits));
                let name = format!("{}: memory floor", row.operation);
                chart.dash(row.operation, &name, row.bits.into(), row.floor_ns);
            }
        }
        chart
    }
}

fn measure(work: &Work, operands: &Operands, place: &mut dyn Place) -> Result<Row, BenchError> {
    let first = place.first(work, operands)?;
    operands.check(work, |i| place.result(work, i))?;
    let times = place.times(work)?;
    Ok(Row::new(work, first, times, place.copy_rate(work.bytes())))
}

/// The middle one; of an even number the longer of two.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
