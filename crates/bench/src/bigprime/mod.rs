//! Transforms and convolutions over big prime fields Z/pZ by two methods, where p = r^k + 1 is a
//! generalised Fermat prime.
//!
//! The big-prime method computes in the field itself, in which the powers of r are roots of unity.
//! The small-primes method computes the same transform modulo many primes below 2^50; its outputs
//! are equal to those of the big-prime method.
//!
//! The outputs of the two methods are compared with each other. Some outputs are compared with
//! outputs computed by definition. The result of the inverse transform is compared with the input.

mod crossover;
mod elements;
mod on_cpu;
mod on_device;
mod row;

use std::fmt;

use serde::Serialize;
use warpint_arith::gfn::{Form, PRIMES};
use warpint_device::Device;

use self::crossover::crossovers;
use self::on_cpu::OnCpu;
use self::on_device::OnDevice;
use crate::chart::Chart;
use crate::columns::Machine;
use crate::{BenchError, is_simulator, once_each};

pub use self::crossover::{Crossover, Stretch};
pub use self::row::{Big, Checked, Passes, Ring, Row, Small, Steps};

/// The seeds of the two vectors of a row.
const SEEDS: [u64; 2] = [1, 2];

/// The least exponent w of the radices 2^w ± 2^u that devices support.
const LEAST_W_ON_DEVICES: u32 = 56;

/// The titles of a chart and of its vertical axis: of times, and of their ratios.
const TIMES: [&str; 2] = ["Time of a transform over Z/pZ", "ns per element"];
const RATIOS: [&str; 2] =
    ["Small-primes way over big-prime way", "time by small primes / time in the field"];

/// The methods by which transforms are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The big-prime method, which computes in the field itself.
    Big,
    /// The small-primes method, which computes modulo many small primes.
    Small,
    /// Both methods, one after the other.
    Both,
}

impl Way {
    /// All choices of methods.
    pub const ALL: [Self; 3] = [Self::Big, Self::Small, Self::Both];

    /// Returns the name of the choice in options.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Big => "big",
            Self::Small => "small",
            Self::Both => "both",
        }
    }

    /// Returns a short description of the choice.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Big => "In the field itself",
            Self::Small => "Modulo many small primes",
            Self::Both => "One after the other",
        }
    }
}

/// Whether the big-prime method and the small-primes method are to be measured.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    big: bool,
    small: bool,
}

/// The reason why a requested benchmark is impossible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The field has no root of unity for the requested length.
    #[error("{form} has no transform of 2^{log2} elements: the longest has 2^{most}")]
    TooLong {
        /// The prime in the form r^k + 1.
        form: Form,
        /// log2 of the requested number of elements.
        log2: u32,
        /// log2 of the number of elements of the field's longest transform.
        most: u32,
    },
    /// The number is not a prime.
    #[error("{form} is not a prime, so no field of this size exists")]
    NotPrime {
        /// The number in the form r^k + 1.
        form: Form,
    },
    /// The field has no transform of any default length.
    #[error(
        "{form} has transforms of at most 2^{most} elements, but the default lengths begin at 2^{from}"
    )]
    NoUsualLength {
        /// The prime in the form r^k + 1.
        form: Form,
        /// log2 of the number of elements of the field's longest transform.
        most: u32,
        /// log2 of the shortest default length.
        from: u32,
    },
    /// The small-primes method was requested on the CPU, which does not support it.
    #[error("the small-primes method is only supported on devices")]
    SmallOnCpu,
    /// The radix of the prime is too small for devices.
    #[error("{form}: devices support radices 2^w ± 2^u with w from {LEAST_W_ON_DEVICES} to 64")]
    Radix {
        /// The prime in the form r^k + 1.
        form: Form,
    },
}

/// The fields, lengths and methods to measure.
#[derive(Debug, Clone)]
pub struct Request {
    primes: Vec<Form>,
    /// log2 of each length; an empty list selects the default lengths.
    lengths: Vec<u32>,
    way: Option<Way>,
    runs: Option<usize>,
}

impl Request {
    /// Creates a request for transforms over the fields of `primes`; an empty slice selects all
    /// [`PRIMES`]. The transforms have 2^l elements for each l of `lengths`; an empty iterator
    /// selects the default lengths of the device or the CPU. `way` is the method; `None` selects
    /// all methods that the device or the CPU supports. A time is the median of `runs` runs; `None`
    /// selects 15, or 3 for transforms that take long. A number that is not one of [`PRIMES`] is
    /// proven to be a prime, which takes time.
    ///
    /// # Errors
    /// One of the numbers is not a prime, or its field has no root of unity for one of the lengths.
    pub fn new(
        primes: &[Form],
        lengths: impl Iterator<Item = u32>,
        way: Option<Way>,
        runs: Option<usize>,
    ) -> Result<Self, RequestError> {
        let primes =
            once_each(if primes.is_empty() { &PRIMES[..] } else { primes }.iter().copied());
        let lengths = once_each(lengths);
        for &form in &primes {
            let most = form.two_adicity();
            if let Some(&log2) = lengths.iter().find(|&&log2| log2 > most) {
                return Err(RequestError::TooLong { form, log2, most });
            }
            if !form.is_known() && !form.is_prime() {
                return Err(RequestError::NotPrime { form });
            }
        }
        Ok(Self { primes, lengths, way, runs })
    }

    fn wanted(&self, device: Option<&Device>) -> Result<Wanted, RequestError> {
        let (way, on_cpu) = (self.way, device.is_none());
        match way {
            Some(way) if on_cpu && way != Way::Big => Err(RequestError::SmallOnCpu),
            _ => {
                Ok(Wanted { big: way != Some(Way::Small), small: !on_cpu && way != Some(Way::Big) })
            }
        }
    }

    /// Returns log2 of the default lengths of the device or the CPU. Omits lengths for which some
    /// field lacks the roots of unity that the methods need. If no length is left, returns an
    /// error.
    fn usual(&self, device: Option<&Device>, wanted: Wanted) -> Result<Vec<u32>, RequestError> {
        let (from, to) = match device {
            Some(device) if is_simulator(device) => (3, 4),
            Some(_) => (10, 22),
            None => (6, 10),
        };
        // Chirps of the small-primes method are powers of a root of twice the order.
        let most = |form: &Form| form.two_adicity().saturating_sub(u32::from(wanted.small));
        match self.primes.iter().min_by_key(|form| most(form)) {
            Some(form) if most(form) < from => {
                Err(RequestError::NoUsualLength { form: *form, most: most(form), from })
            }
            least => Ok((from..=least.map_or(to, |form| to.min(most(form)))).collect()),
        }
    }
}

/// The device or CPU that computes transforms.
trait Place: fmt::Debug {
    /// Measures transforms of 2^`log2` elements over the field of one prime by the requested
    /// methods, and checks the outputs.
    fn row(&mut self, form: Form, log2: u32, wanted: Wanted) -> Result<Row, BenchError>;
}

/// The prime and the length of a row to be measured.
#[derive(Debug, Clone, Copy)]
pub struct Case {
    /// The prime in the form r^k + 1.
    pub form: Form,
    /// log2 of the number of elements of a transform.
    pub log2: u32,
}

/// All measurements of a benchmark of transforms over big prime fields.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Measured {
    /// The device or CPU on which the benchmark ran.
    #[serde(flatten)]
    pub machine: Machine,
    /// The rows, prime by prime, and for each prime length by length.
    pub rows: Vec<Row>,
    /// The faster method at each length, for each prime. Empty until [`Bench::finish`] is called,
    /// and if only one method was measured.
    pub crossovers: Vec<Crossover>,
}

/// A benchmark in progress on a device or on the CPU.
#[derive(Debug)]
pub struct Bench {
    wanted: Wanted,
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
        let wanted = request.wanted(device.as_ref())?;
        let lengths = match &request.lengths[..] {
            [] => request.usual(device.as_ref(), wanted)?,
            lengths => lengths.to_vec(),
        };
        let of = |&form: &Form| lengths.iter().map(move |&log2| Case { form, log2 });
        let cases = request.primes.iter().flat_map(of).collect();
        let short = request.primes.iter().find(|form| form.w() < LEAST_W_ON_DEVICES);
        if let (Some(_), true, Some(&form)) = (&device, wanted.big, short) {
            return Err(RequestError::Radix { form }.into());
        }
        let measured = Measured::new(device.as_ref());
        let place: Box<dyn Place> = match device {
            Some(device) => Box::new(OnDevice::new(device, request.runs)?),
            None => Box::new(OnCpu { runs: request.runs }),
        };
        Ok(Self { wanted, cases, place, measured })
    }

    /// Returns the rows to be measured, prime by prime.
    #[must_use]
    pub fn cases(&self) -> Vec<Case> {
        self.cases.clone()
    }

    /// Measures the row of a prime and a length, adds it to the measurements, and returns it.
    ///
    /// # Errors
    /// An output is wrong, or the device or the memory failed.
    pub fn measure(&mut self, case: Case) -> Result<&Row, BenchError> {
        let Case { form, log2 } = case;
        let row = self.place.row(form, log2, self.wanted);
        let row = row.map_err(|e| e.in_row(format!("{form}, 2^{log2} elements")))?;
        Ok(self.measured.add(row))
    }

    /// Returns the measurements so far.
    #[must_use]
    pub fn measured(&self) -> &Measured {
        &self.measured
    }

    /// Computes the crossovers, and returns all measurements with them.
    #[must_use]
    pub fn finish(mut self) -> Measured {
        self.measured.crossovers = crossovers(&self.measured.rows);
        self.measured
    }
}

impl Measured {
    fn new(device: Option<&Device>) -> Self {
        Self { machine: Machine::of(device.map(Device::info)), rows: vec![], crossovers: vec![] }
    }

    fn add(&mut self, mut row: Row) -> &Row {
        row.compare();
        self.rows.push(row);
        &self.rows[self.rows.len() - 1]
    }

    /// Draws a chart against the number of elements. If both methods were measured, the chart shows
    /// the time of the small-primes method divided by the time of the big-prime method. Otherwise
    /// it shows the time per element of the measured method, in ns.
    #[must_use]
    pub fn chart(&self) -> Chart {
        let both = !self.crossovers.is_empty();
        let [title, values] = if both { RATIOS } else { TIMES };
        let mut chart = Chart::new(title, &self.machine.name, ["elements", values]);
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by_key(|row| row.log2);
        for row in &rows {
            let (n, name) = (f64::from(row.log2).exp2(), format!("k = {}", row.digits));
            let big = row.big.as_ref().map(|big| &big.transform);
            let times = big.or(row.small.as_ref().map(|small| &small.transform));
            let value = if both { row.small_over_big } else { times.map(|t| 1e3 * t.us / n) };
            if let Some(value) = value {
                let said = if both { format!("{value:.2}") } else { format!("{value:.4} ns each") };
                chart.mark(&name, (n, value), format!("{name}, 2^{} elements: {said}", row.log2));
            }
        }
        if both {
            for row in &rows {
                chart.dash("alike", "both alike", (f64::from(row.log2).exp2(), 1.0));
            }
        }
        chart
    }
}
