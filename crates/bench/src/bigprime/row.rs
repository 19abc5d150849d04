//! What is measured of a prime and a length.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use warpint_arith::gfn::Form;
use warpint_transform::gpu::small_primes::StepTimes;

use crate::micros;

/// Runs, in µs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Times {
    /// The middle one; of an even number the longer of two.
    pub us: f64,
    /// The fastest.
    pub us_fastest_run: f64,
    /// The slowest.
    pub us_slowest_run: f64,
    /// The runs timed.
    pub runs: usize,
}

impl Times {
    pub(super) fn new(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        // Nothing takes no time, whatever a coarse clock says.
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

/// The big-prime way.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Big {
    /// The forward transform.
    pub transform: Times,
    /// The inverse transform.
    pub inverse: Times,
    /// The cyclic convolution of two vectors.
    pub convolution: Times,
    /// The passes; `None` on the CPU.
    pub passes: Option<Passes>,
}

/// What the passes of a device are made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Passes {
    /// How many passes.
    pub count: usize,
    /// The passes without their products by twiddles.
    pub butterflies_us: f64,
    /// What these add.
    pub twiddles_us: f64,
    /// That, of the whole transform: 0 to 1.
    pub twiddles_share: f64,
    /// Read and written in all passes, with the tables of twiddles.
    pub bytes: u64,
    /// That at the rate of a copy.
    pub memory_floor_us: f64,
    /// That rate, 10^9 bytes a second.
    pub copy_gb_per_second: f64,
    /// Products of two digits; of primes of many digits there are none.
    pub digit_products: Option<u64>,
    /// Those at the rate of products mod 2^64 − 2^32 + 1.
    pub arithmetic_floor_us: Option<f64>,
}

/// Of what floors are made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    pub(super) passes: usize,
    pub(super) bytes: u64,
    pub(super) digit_products: Option<u64>,
    /// Bytes read and written, and products, in a second.
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

    /// The larger floor.
    #[must_use]
    pub fn floor_us(&self) -> f64 {
        self.memory_floor_us.max(self.arithmetic_floor_us.unwrap_or(0.0))
    }
}

/// The small-primes way: the same transform.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Small {
    /// The forward transform.
    pub transform: Times,
    /// The inverse transform.
    pub inverse: Times,
    /// The cyclic convolution of two vectors.
    pub convolution: Times,
    /// Small primes, enough for convolutions.
    pub primes: usize,
    /// Of the transform.
    pub steps: Steps,
    /// With just enough small primes for an element.
    pub ring: Ring,
}

/// A transform over the product of just enough small primes to hold an element: as much work as Chen et al.
/// compare, but another transform.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Ring {
    /// The forward transform.
    pub transform: Times,
    /// Small primes.
    pub primes: usize,
    /// Of the transform.
    pub steps: Steps,
}

/// The time of each step of one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Steps {
    /// Products by chirps.
    pub chirps_us: f64,
    /// Remainders modulo the small primes.
    pub projection_us: f64,
    /// Transforms modulo the small primes.
    pub transforms_us: f64,
    /// Elements from their remainders.
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

/// What was compared, and did not differ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// All outputs of both ways, digit by digit, of the transform and of the convolution.
    pub equal: bool,
    /// The inverse transform, with what it is to give back.
    pub inverse: bool,
    /// Outputs of the transform, with the definition; and one of the convolution if there are any.
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

/// A prime and a length.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Row {
    /// The prime: `(2^63+2^34)^8+1`.
    pub prime: String,
    /// k, the digits of an element.
    pub digits: usize,
    /// Bits of p.
    pub bits: u32,
    /// log2 of the elements of a transform.
    pub log2: u32,
    /// In the field itself; absent if it was not wanted, or is missing.
    pub big: Option<Big>,
    /// Modulo many small primes; absent if it was not wanted, or is missing.
    pub small: Option<Small>,
    /// The time of the small-primes way over that of the other.
    pub small_over_big: Option<f64>,
    /// What was compared.
    pub checked: Checked,
    /// Why ways have no times.
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

    /// Compares the ways, if both were measured.
    pub(super) fn compare(&mut self) {
        let both = self.big.as_ref().zip(self.small.as_ref());
        self.small_over_big = both.map(|(big, small)| small.transform.us / big.transform.us);
    }
}
