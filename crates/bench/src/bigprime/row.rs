//! The measurement of a prime and a length.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use warpint_arith::gfn::Form;
use warpint_transform::gpu::small_primes::StepTimes;

use crate::micros;

/// The times of several runs, in µs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Times {
    /// The median time; of an even number of runs, the longer of the middle two.
    pub us: f64,
    /// The time of the fastest run, in µs.
    pub us_fastest_run: f64,
    /// The time of the slowest run, in µs.
    pub us_slowest_run: f64,
    /// The number of timed runs.
    pub runs: usize,
}

impl Times {
    pub(super) fn new(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        // A lower bound on times, in case of a coarse clock.
        let at = |i: usize| micros(times.get(i).copied().unwrap_or_default()).max(0.001);
        let runs = times.len();
        Self {
            us: at(runs / 2),
            us_fastest_run: at(0),
            us_slowest_run: at(runs.saturating_sub(1)),
            runs,
        }
    }
}

/// The measurements of the big-prime method.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Big {
    /// The times of the forward transform.
    pub transform: Times,
    /// The times of the inverse transform.
    pub inverse: Times,
    /// The times of the cyclic convolution of two vectors.
    pub convolution: Times,
    /// The components of the passes; `None` on the CPU.
    pub passes: Option<Passes>,
}

/// The components of the time of a device's passes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Passes {
    /// The number of passes.
    pub count: usize,
    /// The time of the passes without products by twiddles, in µs.
    pub butterflies_us: f64,
    /// The time that the twiddles add, in µs.
    pub twiddles_us: f64,
    /// The share of the twiddles in the time of the transform, from 0 to 1.
    pub twiddles_share: f64,
    /// The number of bytes read and written in all passes, including the tables of twiddles.
    pub bytes: u64,
    /// The time for these bytes at the rate of a copy, in µs.
    pub memory_floor_us: f64,
    /// The rate of a copy, in 10^9 bytes per second.
    pub copy_gb_per_second: f64,
    /// The number of products of two digits; absent for primes of many digits, which need none.
    pub digit_products: Option<u64>,
    /// The time for these products at the rate of products mod 2^64 − 2^32 + 1, in µs.
    pub arithmetic_floor_us: Option<f64>,
}

/// The work from which floors are computed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    pub(super) passes: usize,
    pub(super) bytes: u64,
    pub(super) digit_products: Option<u64>,
    /// The number of bytes read and written per second by a copy. The next field is the number of
    /// products per second.
    pub(super) copy_rate: f64,
    pub(super) product_rate: f64,
}

impl Passes {
    pub(super) fn new(work: &Work, transform_us: f64, butterflies_us: f64) -> Self {
        let us = |amount: u64, rate: f64| if rate > 0.0 { amount as f64 / rate * 1e6 } else { 0.0 };
        let twiddles_us = (transform_us - butterflies_us).max(0.0);
        Self {
            count: work.passes,
            butterflies_us,
            twiddles_us,
            twiddles_share: twiddles_us / transform_us,
            bytes: work.bytes,
            memory_floor_us: us(work.bytes, work.copy_rate),
            copy_gb_per_second: work.copy_rate / 1e9,
            digit_products: work.digit_products,
            arithmetic_floor_us: work.digit_products.map(|count| us(count, work.product_rate)),
        }
    }

    /// Returns the larger of the two floors, in µs.
    #[must_use]
    pub fn floor_us(&self) -> f64 {
        self.memory_floor_us.max(self.arithmetic_floor_us.unwrap_or(0.0))
    }
}

/// The measurements of the small-primes method, which computes the same transform.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Small {
    /// The times of the forward transform.
    pub transform: Times,
    /// The times of the inverse transform.
    pub inverse: Times,
    /// The times of the cyclic convolution of two vectors.
    pub convolution: Times,
    /// The number of small primes, enough for convolutions.
    pub primes: usize,
    /// The time of each step of the transform.
    pub steps: Steps,
    /// The measurements of the transform with just enough small primes for an element.
    pub ring: Ring,
}

/// The measurements of a transform modulo the product of just enough small primes to hold an
/// element. It is as much work as Chen et al. compare, but another transform.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Ring {
    /// The times of the forward transform.
    pub transform: Times,
    /// The number of small primes.
    pub primes: usize,
    /// The time of each step of the transform.
    pub steps: Steps,
}

/// The time of each step of one run, in µs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Steps {
    /// The time of the products by chirps.
    pub chirps_us: f64,
    /// The time of computing remainders modulo the small primes.
    pub projection_us: f64,
    /// The time of the transforms modulo the small primes.
    pub transforms_us: f64,
    /// The time of computing elements from their remainders.
    pub recombination_us: f64,
}

impl Steps {
    pub(super) fn new(times: &StepTimes) -> Self {
        Self {
            chirps_us: micros(times.chirps),
            projection_us: micros(times.projection),
            transforms_us: micros(times.transforms),
            recombination_us: micros(times.recombination),
        }
    }
}

/// The comparisons that were made, all successful.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// Whether all outputs of both methods, of the transform and of the convolution, were compared
    /// digit by digit.
    pub equal: bool,
    /// Whether the inverse transform was compared with its expected result.
    pub inverse: bool,
    /// The number of outputs of the transform that were compared with the definition; if above 0,
    /// one of the convolution was too.
    pub outputs: usize,
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let equal = self.equal.then(|| "equal".to_owned());
        let inverse = self.inverse.then(|| "inverse".to_owned());
        let outputs = (self.outputs > 0).then(|| self.outputs.to_string());
        let said: Vec<_> = [equal, inverse, outputs].into_iter().flatten().collect();
        f.write_str(&said.join(", "))
    }
}

/// The measurements for one prime and one length.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Row {
    /// The prime: `(2^63+2^34)^8+1`.
    pub prime: String,
    /// The number k of digits of an element.
    pub digits: usize,
    /// The number of bits of the prime p.
    pub bits: u32,
    /// log2 of the number of elements of a transform.
    pub log2: u32,
    /// The big-prime method; absent if it was not requested, or is missing.
    pub big: Option<Big>,
    /// The small-primes method; absent if it was not requested, or is missing.
    pub small: Option<Small>,
    /// The time of the small-primes method divided by that of the big-prime method.
    pub small_over_big: Option<f64>,
    /// The comparisons that were made.
    pub checked: Checked,
    /// The reasons why methods have no times.
    pub missing: Vec<String>,
}

impl Row {
    pub(super) fn new(form: Form, log2: u32) -> Self {
        Self {
            prime: form.to_string(),
            digits: form.digits(),
            bits: form.bits(),
            log2,
            big: None,
            small: None,
            small_over_big: None,
            checked: Checked::default(),
            missing: vec![],
        }
    }

    /// Computes the ratio of the methods' times, if both were measured.
    pub(super) fn compare(&mut self) {
        let both = self.big.as_ref().zip(self.small.as_ref());
        self.small_over_big = both.map(|(big, small)| small.transform.us / big.transform.us);
    }
}
