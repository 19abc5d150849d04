//! Transforms modulo q = 2^64 − 2^32 + 1, or modulo a prime below 2^50, of 2^k, 3·2^k or 5·2^k points.
//!
//! Before a transform is timed, some of its outputs are compared with outputs computed by
//! definition, and the result of the inverse transform is compared with the input.

mod elements;
mod field;
mod on_cpu;
mod on_device;
mod row;

use std::fmt;

use serde::Serialize;
use warpint_arith::goldilocks::Goldilocks;
use warpint_device::Device;
use warpint_transform::Order;

use self::on_cpu::OnCpu;
use self::on_device::OnDevice;
use crate::chart::Chart;
use crate::columns::Machine;
use crate::{BenchError, is_simulator, once_each};

pub use self::field::Modulus;
pub use self::row::{Floors, Row, Transforms};

/// log2 of the largest number of points of a transform.
const MOST: u32 = 30;
/// log2 of the largest number of points of a batch.
const MOST_OF_BATCH: u32 = 36;
/// log2 of the largest number of vectors of a batch.
const MOST_VECTORS: u32 = 28;

/// The odd factors of lengths.
pub const ODD_FACTORS: [u32; 3] = [1, 3, 5];

/// Formats a number of points, as 2^12 or 3·2^12.
fn points(n: usize) -> String {
    let log2 = n.trailing_zeros();
    match n >> log2 {
        1 => format!("2^{log2}"),
        odd => format!("{odd}·2^{log2}"),
    }
}

/// The orders of the outputs of transforms to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orders {
    /// Natural order.
    Natural,
    /// Bit-reversed order.
    BitReversed,
    /// Both orders, one after the other.
    Both,
}

impl Orders {
    /// All choices of orders.
    pub const ALL: [Self; 3] = [Self::Natural, Self::BitReversed, Self::Both];

    /// Returns the name of the choice in options.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Natural => name(Order::Natural),
            Self::BitReversed => name(Order::BitReversed),
            Self::Both => "both",
        }
    }

    /// Returns a short description of the choice.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Natural => "Output k is at place k",
            Self::BitReversed => "Output k is at the place with the bits of k in reverse order",
            Self::Both => "One after the other",
        }
    }

    fn all(self) -> &'static [Order] {
        match self {
            Self::Natural => &[Order::Natural],
            Self::BitReversed => &[Order::BitReversed],
            Self::Both => &[Order::Natural, Order::BitReversed],
        }
    }
}

/// Returns the name of an order in options and in rows.
fn name(order: Order) -> &'static str {
    match order {
        Order::Natural => "natural",
        Order::BitReversed => "bit-reversed",
    }
}

/// The reason why a requested benchmark is impossible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The requested length is too large.
    #[error("no transform has {} points: the longest has 2^{MOST}", points((*odd as usize) << log2))]
    TooLong {
        /// The odd factor of the requested number of points.
        odd: u32,
        /// log2 of the other factor.
        log2: u32,
    },
    /// The requested batch is too large, or has too many vectors.
    #[error(
        "2^{batch} points in vectors of 2^{log2} points are too many: a batch has at most 2^{MOST_OF_BATCH} points and 2^{MOST_VECTORS} vectors"
    )]
    Batch {
        /// log2 of the number of points of the batch.
        batch: u32,
        /// log2 of the number of points of a vector.
        log2: u32,
    },
    /// Bit-reversed order was requested on the CPU modulo 2^64 − 2^32 + 1, which is not supported.
    #[error(
        "on the CPU, transforms in bit-reversed order are only supported modulo a prime below 2^50"
    )]
    ReversedOnCpu,
    /// A length with an odd factor was requested on the CPU modulo 2^64 − 2^32 + 1, which is not
    /// supported.
    #[error(
        "on the CPU, transforms of 3·2^k and 5·2^k points are only supported modulo a prime below 2^50"
    )]
    OddOnCpu,
}

/// The lengths, orders and batches to measure.
#[derive(Debug, Clone)]
pub struct Request {
    /// log2 of each length; an empty list selects the default lengths.
    lengths: Vec<u32>,
    orders: Option<Orders>,
    batch: Option<u32>,
    runs: Option<usize>,
    modulus: Modulus,
    odd: u32,
}

impl Request {
    /// Creates a request for transforms of 2^l points for each l of `lengths`; an empty iterator
    /// selects the default lengths of the device or the CPU. `orders` are the orders of the outputs;
    /// `None` selects all orders that the device or the CPU supports. A batch has 2^`batch` points,
    /// or one vector if a vector is longer; `None` selects one vector. A time is the median of
    /// `runs` runs; `None` selects 15, or 3 for transforms that take long.
    ///
    /// # Errors
    /// A length is larger than 2^30, or a batch would have more than 2^36 points or 2^28 vectors.
    pub fn new(
        lengths: impl Iterator<Item = u32>,
        orders: Option<Orders>,
        batch: Option<u32>,
        runs: Option<usize>,
    ) -> Result<Self, RequestError> {
        let lengths = once_each(lengths);
        if let Some(&log2) = lengths.iter().find(|&&log2| log2 > MOST) {
            return Err(RequestError::TooLong { odd: 1, log2 });
        }
        Ok(Self { lengths, orders, batch, runs, modulus: Modulus::Goldilocks, odd: 1 })
    }

    /// Sets the field. The default is that of 2^64 − 2^32 + 1.
    #[must_use]
    pub fn modulus(self, modulus: Modulus) -> Self {
        Self { modulus, ..self }
    }

    /// Sets the odd factor of all lengths, one of [`ODD_FACTORS`]: vectors have odd·2^l points. The
    /// default is 1.
    ///
    /// # Errors
    /// A length is larger than 2^30.
    ///
    /// # Panics
    /// If the factor is another number.
    pub fn odd(self, odd: u32) -> Result<Self, RequestError> {
        assert!(ODD_FACTORS.contains(&odd), "an odd factor of {odd}");
        let too_long = |&&log2: &&u32| u64::from(odd) << log2 > 1 << MOST;
        match self.lengths.iter().find(too_long) {
            Some(&log2) => Err(RequestError::TooLong { odd, log2 }),
            None => Ok(Self { odd, ..self }),
        }
    }

    /// Returns the rows to measure on a device, or on the CPU.
    fn cases(&self, device: Option<&Device>) -> Result<Vec<Case>, RequestError> {
        // The CPU's plan modulo 2^64 − 2^32 + 1 is for natural order and 2^k points only.
        let is_plain = device.is_none() && self.modulus == Modulus::Goldilocks;
        let orders = match self.orders {
            None | Some(Orders::Natural) if is_plain => Orders::Natural,
            Some(_) if is_plain => return Err(RequestError::ReversedOnCpu),
            orders => orders.unwrap_or(Orders::Both),
        };
        if self.odd > 1 && is_plain {
            return Err(RequestError::OddOnCpu);
        }
        let lengths = match &self.lengths[..] {
            [] => usual(device),
            lengths => lengths.to_vec(),
        };
        let batch = self.batch.unwrap_or(0);
        let too_large =
            |log2: u32| batch > MOST_OF_BATCH || batch.saturating_sub(log2) > MOST_VECTORS;
        if let Some(&log2) = lengths.iter().find(|&&log2| too_large(log2)) {
            return Err(RequestError::Batch { batch, log2 });
        }
        let Self { modulus, odd, .. } = *self;
        let of = |log2: u32| {
            // With an odd factor, a batch has at most 2^batch points.
            let batch = (((1 << batch) / u64::from(odd)) >> log2).max(1) as usize;
            orders.all().iter().map(move |&order| Case { modulus, odd, log2, order, batch })
        };
        Ok(lengths.into_iter().flat_map(of).collect())
    }
}

/// Returns log2 of the default lengths of a device or the CPU.
fn usual(device: Option<&Device>) -> Vec<u32> {
    let (from, to) = match device {
        Some(device) if is_simulator(device) => (4, 6),
        Some(_) => (12, 28),
        None => (10, 20),
    };
    (from..=to).step_by(2).collect()
}

/// The device or CPU that computes transforms.
trait Place: fmt::Debug {
    /// Measures the transforms of a row, and checks their outputs.
    fn row(&mut self, case: Case) -> Result<Row, BenchError>;
}

/// The transforms of a row to be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// The field.
    pub modulus: Modulus,
    /// The odd factor of the number of points of a vector.
    pub odd: u32,
    /// log2 of the other factor.
    pub log2: u32,
    /// The order of the outputs.
    pub order: Order,
    /// The number of vectors.
    pub batch: usize,
}

impl Case {
    /// Returns the number of points of a vector.
    fn length(&self) -> usize {
        (self.odd as usize) << self.log2
    }

    /// Returns the number of points of the batch.
    fn points(&self) -> usize {
        self.batch * self.length()
    }
}

/// Formats a case as `2^12 points in natural order`.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} points in {} order", points(self.length()), name(self.order))
    }
}

/// All measurements of a benchmark of transforms.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Measured {
    /// The device or CPU on which the benchmark ran.
    #[serde(flatten)]
    pub machine: Machine,
    /// The field: `goldilocks` or `f50`.
    pub field: &'static str,
    /// The rows, length by length.
    pub rows: Vec<Row>,
}

/// A benchmark in progress on a device or on the CPU.
#[derive(Debug)]
pub struct Bench {
    cases: Vec<Case>,
    place: Box<dyn Place>,
    measured: Measured,
}

impl Bench {
    /// Creates a benchmark on a device, whose rates are measured first. Without a device, all
    /// threads of the CPU compute.
    ///
    /// # Errors
    /// The request is impossible ([`RequestError`]), or the device failed or computed a wrong
    /// result.
    pub fn new(request: &Request, device: Option<Device>) -> Result<Self, BenchError> {
        let cases = request.cases(device.as_ref())?;
        let machine = Machine::of(device.as_ref().map(Device::info));
        let place = match request.modulus {
            Modulus::Goldilocks => place(Goldilocks, device, request.runs)?,
            Modulus::F50 => place(field::f50()?, device, request.runs)?,
        };
        let field = request.modulus.name();
        Ok(Self { cases, place, measured: Measured { machine, field, rows: vec![] } })
    }

    /// Returns the rows to be measured, length by length.
    #[must_use]
    pub fn cases(&self) -> Vec<Case> {
        self.cases.clone()
    }

    /// Measures a row, adds it to the measurements, and returns it.
    ///
    /// # Errors
    /// An output is wrong, or the device or the memory failed.
    pub fn measure(&mut self, case: Case) -> Result<&Row, BenchError> {
        let row = self.place.row(case).map_err(|e| e.in_row(case.to_string()))?;
        let rows = &mut self.measured.rows;
        rows.push(row);
        Ok(&rows[rows.len() - 1])
    }

    /// Returns the measurements so far.
    #[must_use]
    pub fn measured(&self) -> &Measured {
        &self.measured
    }
}

/// Returns what measures transforms over a field.
fn place<F: field::Measured>(
    field: F,
    device: Option<Device>,
    runs: Option<usize>,
) -> Result<Box<dyn Place>, BenchError> {
    Ok(match device {
        Some(device) => Box::new(OnDevice::new(field, device, runs)?),
        None => Box::new(OnCpu { field, runs }),
    })
}

impl Measured {
    /// Draws a chart of the time per point of the forward transforms, in ns, against the number of
    /// points of a vector. On a device there is a dashed line for the larger floor.
    #[must_use]
    pub fn chart(&self) -> Chart {
        let title = if self.field == Modulus::F50.name() {
            "Time of a transform modulo a prime below 2^50"
        } else {
            "Time of a transform modulo 2^64 − 2^32 + 1"
        };
        let mut chart = Chart::new(title, &self.machine.name, ["points", "ns per point"]);
        for row in &self.rows {
            let Some(transforms) = &row.transforms else { continue };
            let n = f64::from(row.odd) * f64::from(row.log2).exp2();
            let of_point = 1e3 / (n * row.batch as f64);
            let ns = transforms.forward.us * of_point;
            let said = format!("{}, {} points: {ns:.4} ns each", row.order, points(n as usize));
            chart.mark(row.order, (n, ns), said);
            if let Some(floors) = &transforms.floors {
                let name = format!("{}: floor", row.order);
                chart.dash(row.order, &name, (n, floors.largest_us() * of_point));
            }
        }
        chart
    }
}

#[cfg(test)]
mod tests;
