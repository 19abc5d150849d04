//! What is printed of a prime and a length.

use std::fmt;
use std::time::Duration;

use serde::Serialize;
use warpint::arith::gfn::Form;
use warpint::transform::gpu::small_primes::StepTimes;

use crate::commands::bench::{micros, optional};

/// Runs, in µs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Times {
    /// The middle one; of an even number the longer of two.
    pub(super) us: f64,
    us_fastest_run: f64,
    us_slowest_run: f64,
    runs: usize,
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
pub(super) struct Big {
    /// The forward transform.
    pub(super) transform: Times,
    pub(super) inverse: Times,
    /// The cyclic convolution of two vectors.
    pub(super) convolution: Times,
    /// Of devices.
    pub(super) passes: Option<Passes>,
}

/// What the passes of a device are made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Passes {
    pub(super) count: usize,
    /// The passes without their products by twiddles, and what these add.
    butterflies_us: f64,
    twiddles_us: f64,
    twiddles_share: f64,
    /// Read and written in all passes, with the tables of twiddles.
    bytes: u64,
    /// That at the rate of a copy.
    memory_floor_us: f64,
    copy_gb_per_second: f64,
    /// Products of two digits; of primes of many digits there are none.
    digit_products: Option<u64>,
    /// Those at the rate of products mod 2^64 − 2^32 + 1.
    arithmetic_floor_us: Option<f64>,
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

    /// The larger one.
    pub(super) fn floor_us(&self) -> f64 {
        self.memory_floor_us.max(self.arithmetic_floor_us.unwrap_or(0.0))
    }
}

/// The small-primes way: the same transform.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Small {
    pub(super) transform: Times,
    pub(super) inverse: Times,
    pub(super) convolution: Times,
    /// Small primes, enough for convolutions.
    pub(super) primes: usize,
    /// Of the transform.
    pub(super) steps: Steps,
    pub(super) ring: Ring,
}

/// A transform over the product of just enough small primes to hold an element: as much work as Chen et al.
/// compare, but another transform.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Ring {
    pub(super) transform: Times,
    pub(super) primes: usize,
    pub(super) steps: Steps,
}

/// The time of each step of one run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Steps {
    chirps_us: f64,
    projection_us: f64,
    transforms_us: f64,
    recombination_us: f64,
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
pub(super) struct Checked {
    /// All outputs of both ways, digit by digit, of the transform and of the convolution.
    pub(super) equal: bool,
    /// The inverse transform, with what it is to give back.
    pub(super) inverse: bool,
    /// Outputs of the transform, with the definition; and one of the convolution if there are any.
    pub(super) outputs: usize,
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
pub(super) struct Row {
    pub(super) prime: String,
    /// k.
    pub(super) digits: usize,
    /// Of p.
    pub(super) bits: u32,
    pub(super) log2: u32,
    pub(super) big: Option<Big>,
    pub(super) small: Option<Small>,
    /// The time of the small-primes way over that of the other.
    pub(super) small_over_big: Option<f64>,
    pub(super) checked: Checked,
    /// Why ways have no times.
    pub(super) missing: Vec<String>,
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

    /// Above the rows of a prime.
    pub(super) fn title(&self) -> String {
        format!("p = {}: k = {}, {} bits", self.prime, self.digits, self.bits)
    }

    pub(super) const HEADER: &str = "log2 N      big µs      conv. twidd. floor µs |   small µs      conv.       ring  primes | small/big | checked";

    pub(super) fn line(&self) -> String {
        let (big, small) = (self.big.as_ref(), self.small.as_ref());
        let passes = big.and_then(|big| big.passes.as_ref());
        let us = |times: Option<&Times>| optional(times.map(|times| times.us), 1);
        let line = format!(
            "{:>6}  {:>10} {:>10} {:>6} {:>8} | {:>10} {:>10} {:>10}  {:>6} | {:>9} | {}",
            self.log2,
            us(big.map(|big| &big.transform)),
            us(big.map(|big| &big.convolution)),
            passes.map_or_else(|| "–".into(), |p| format!("{:.0} %", 100.0 * p.twiddles_share)),
            optional(passes.map(Passes::floor_us), 1),
            us(small.map(|small| &small.transform)),
            us(small.map(|small| &small.convolution)),
            us(small.map(|small| &small.ring.transform)),
            small.map_or_else(|| "–".into(), |small| small.primes.to_string()),
            optional(self.small_over_big, 2),
            self.checked,
        );
        self.missing.iter().fold(line, |line, why| format!("{line}\n{:>6}  {why}", ""))
    }
}
