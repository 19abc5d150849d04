//! What is printed of a prime and a length.

use std::time::Duration;

use serde::Serialize;
use warpint::arith::gfn::Form;

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
    /// Products of two digits.
    digit_products: u64,
    /// Those at the rate of products mod 2^64 − 2^32 + 1.
    arithmetic_floor_us: f64,
}

/// Of what floors are made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    pub(super) passes: usize,
    pub(super) bytes: u64,
    pub(super) digit_products: u64,
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
            arithmetic_floor_us: us(work.digit_products, work.product_rate),
        }
    }

    /// The larger one.
    pub(super) fn floor_us(&self) -> f64 {
        self.memory_floor_us.max(self.arithmetic_floor_us)
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
    /// What was compared, and did not differ.
    pub(super) checked: String,
    /// Why a way has no times.
    pub(super) missing: Option<String>,
}

impl Row {
    pub(super) fn new(form: Form, log2: u32) -> Self {
        Self {
            prime: form.to_string(),
            digits: form.digits(),
            bits: form.bits(),
            log2,
            big: None,
            checked: String::new(),
            missing: None,
        }
    }

    /// Above the rows of a prime.
    pub(super) fn title(&self) -> String {
        format!("p = {}: k = {}, {} bits", self.prime, self.digits, self.bits)
    }

    pub(super) const HEADER: &str = "log2 N  big ways";

    pub(super) fn line(&self) -> String {
        let big = self.big.as_ref();
        let passes = big.and_then(|big| big.passes.as_ref());
        let us = |times: Option<&Times>| optional(times.map(|times| times.us), 1);
        let mut line = format!(
            "{:>6}  {:>11}  {:>11}  {:>11}  {:>8}  {:>11}  {}",
            self.log2,
            us(big.map(|big| &big.transform)),
            us(big.map(|big| &big.inverse)),
            us(big.map(|big| &big.convolution)),
            passes.map_or_else(|| "–".into(), |p| format!("{:.0} %", 100.0 * p.twiddles_share)),
            optional(passes.map(Passes::floor_us), 1),
            self.checked,
        );
        if let Some(why) = &self.missing {
            line += &format!("  ({why})");
        }
        line
    }
}
