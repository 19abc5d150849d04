//! The measurements of transforms of one length over the field of one prime.

use std::fmt;

use serde::Serialize;
use warpint_arith::gfn::Form;
use warpint_transform::gpu::small_primes::StepTimes;

use crate::columns::Times;
use crate::micros;

/// The measurements of the big-prime method.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Big {
    /// The times of the forward transform.
    pub transform: Times,
    /// The times of the inverse transform.
    pub inverse: Times,
    /// The times of a cyclic convolution of two vectors of elements.
    pub convolution: Times,
    /// The components and the floors of the time of the forward transform; `None` on the CPU.
    pub passes: Option<Passes>,
}

/// The components of the time of a forward transform on a device (butterflies and products by
/// twiddle factors), and lower bounds on this time (floors).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Passes {
    /// The number of passes over the vector.
    pub count: usize,
    /// The time of the passes without their products by twiddle factors, in µs.
    pub butterflies_us: f64,
    /// The time that the products by twiddle factors add, in µs.
    pub twiddles_us: f64,
    /// The ratio of `twiddles_us` to the time of the whole transform, from 0 to 1.
    pub twiddles_share: f64,
    /// The number of bytes read and written in all passes, including the tables of twiddle factors.
    pub bytes: u64,
    /// The time in which a copy reads and writes `bytes` bytes, in µs.
    pub memory_floor_us: f64,
    /// The rate of a copy of about the size of the vector, in 10^9 bytes read and written per
    /// second.
    pub copy_gb_per_second: f64,
    /// The number of products of two digits that the products by twiddle factors take. `None` for
    /// primes of many digits, for which products of elements are computed by transforms of the
    /// digits.
    pub digit_products: Option<u64>,
    /// The time for `digit_products` products at the rate of products mod 2^64 − 2^32 + 1, in µs.
    /// `None` if `digit_products` is `None`.
    pub arithmetic_floor_us: Option<f64>,
}

/// The counts of a transform on a device, and the rates of the device, from which floors are
/// computed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    pub(super) passes: usize,
    pub(super) bytes: u64,
    pub(super) digit_products: Option<u64>,
    /// The number of bytes that a copy reads and writes per second.
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

    /// Returns the larger of `memory_floor_us` and `arithmetic_floor_us`, in µs. An
    /// `arithmetic_floor_us` of `None` counts as 0.
    #[must_use]
    pub fn floor_us(&self) -> f64 {
        self.memory_floor_us.max(self.arithmetic_floor_us.unwrap_or(0.0))
    }
}

/// The measurements of the small-primes method, which computes the same transform as the big-prime
/// method.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Small {
    /// The times of the forward transform.
    pub transform: Times,
    /// The times of the inverse transform.
    pub inverse: Times,
    /// The times of a cyclic convolution of two vectors of elements.
    pub convolution: Times,
    /// The number of small primes. Their product is large enough for the sums of convolutions.
    pub primes: usize,
    /// The time of each step of the transform.
    pub steps: Steps,
    /// The measurements of a transform with just enough small primes to represent an element.
    pub ring: Ring,
}

/// The measurements of a transform modulo the product of just enough small primes to represent an
/// element. Chen et al. 2018 compare the big-prime method with a transform of this size. The
/// outputs of this transform differ from the outputs of the transform over the field.
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

/// The times of the steps of one transform by the small-primes method, in µs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Steps {
    /// The time of the products by chirps, which turn the transform into a convolution.
    pub chirps_us: f64,
    /// The time of computing the remainders of elements modulo the small primes.
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

/// The comparisons that were made. All were successful.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Checked {
    /// Whether all outputs of the two methods were compared with each other, digit by digit, for
    /// the transform and for the convolution.
    pub equal: bool,
    /// Whether the result of the inverse transform was compared with the input of the transform.
    pub inverse: bool,
    /// The number of outputs of the transform that were compared with the definition. If it is not
    /// 0, one output of the convolution was compared with the definition, too.
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
    /// The prime in the notation of options, such as `(2^63+2^34)^8+1`.
    pub prime: String,
    /// The number k of digits of an element.
    pub digits: usize,
    /// The number of bits of the prime p.
    pub bits: u32,
    /// log2 of the number of elements of a transform.
    pub log2: u32,
    /// The measurements of the big-prime method; `None` if it was not requested or could not be
    /// measured.
    pub big: Option<Big>,
    /// The measurements of the small-primes method; `None` if it was not requested or could not be
    /// measured.
    pub small: Option<Small>,
    /// The time of a transform by the small-primes method divided by the time of the same transform
    /// by the big-prime method. `None` unless both methods were measured.
    pub small_over_big: Option<f64>,
    /// The comparisons of outputs that were made.
    pub checked: Checked,
    /// For each requested method that could not be measured, a line that says why.
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

    /// Sets `small_over_big` if both methods were measured.
    pub(super) fn compare(&mut self) {
        let both = self.big.as_ref().zip(self.small.as_ref());
        self.small_over_big = both.map(|(big, small)| small.transform.us / big.transform.us);
    }
}
