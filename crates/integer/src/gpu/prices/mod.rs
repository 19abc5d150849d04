//! Prices of products on a device, in nanoseconds per product: measured if a measurement is stored,
//! otherwise estimated.
//!
//! A price decides which method is used, and nothing else: all methods give the same results.

use std::collections::HashMap;
use std::fmt;

use warpint_device::{DeviceInfo, Tuning, TuningError, TuningKey, TuningStore, Warned};

use super::Method;
use crate::Width;

/// A method of multiplication with its size. Products of different widths that use the same
/// algorithm have the same price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Algorithm {
    /// The method of multiplication.
    pub method: Method,
    /// For Karatsuba's identity, the number of limbs of the factors that one thread multiplies. For
    /// transforms, the number of points.
    pub size: usize,
    /// Whether the algorithm squares numbers instead of multiplying different factors.
    pub square: bool,
}

/// Formats an algorithm as in `mul karatsuba2 of 40 limbs` and `sqr ntt3 of 384 points`.
impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = if self.square { "sqr" } else { "mul" };
        let unit = if self.method.is_transform() { "points" } else { "limbs" };
        write!(f, "{operation} {} of {} {unit}", self.method, self.size)
    }
}

/// An [`Algorithm`], with the range of lengths of the factors that it multiplies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The algorithm.
    pub way: Algorithm,
    /// The number of limbs of the shortest factors.
    pub first: usize,
    /// The number of limbs of the longest factors. Measurements use factors of this length.
    pub last: usize,
    /// The estimated price of the algorithm, in nanoseconds.
    pub estimate: f64,
}

/// Returns the steps of all methods on a device with `shared_memory` bytes of shared memory per
/// block, in ascending order of their longest factors. The steps cover products of two factors of
/// equal width, and squares, up to the largest width of a factor.
#[must_use]
pub fn steps(shared_memory: u32) -> Vec<Step> {
    let most = (Width::MAX_BITS / 32) as usize;
    let mut steps: Vec<Step> = vec![];
    for (method, square) in Method::all().flat_map(|m| [(m, false), (m, true)]) {
        for limbs in 1..=most {
            let way = method.way(limbs, (!square).then_some(limbs), shared_memory);
            match (way, steps.last_mut()) {
                (Some((way, _)), Some(step)) if step.way == way => step.last = limbs,
                (Some((way, estimate)), _) => {
                    steps.push(Step { way, first: limbs, last: limbs, estimate });
                }
                (None, _) => {}
            }
        }
    }
    steps.sort_by_key(|step| step.last);
    steps
}

/// An algorithm whose price is at most this factor times the lowest price may prove to be the
/// fastest.
const NEAR: f64 = 1.7;

/// The measured prices of some algorithms, in nanoseconds per product. The prices of all other
/// algorithms are estimates.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    measured: HashMap<Algorithm, Measured>,
    /// The median ratio of measured prices to estimates: first for Karatsuba's identity, then for
    /// transforms. `None` if no price of that kind was measured.
    scales: [Option<f64>; 2],
}

#[derive(Debug, Clone, Copy)]
struct Measured {
    nanoseconds: f64,
    /// The ratio of the measured price to the estimate.
    scale: f64,
}

impl Prices {
    /// Adds the measured price of a step's algorithm, in nanoseconds per product. Replaces an
    /// earlier price.
    pub fn insert(&mut self, step: &Step, nanoseconds: f64) {
        let measured = Measured { nanoseconds, scale: nanoseconds / step.estimate };
        self.measured.insert(step.way, measured);
        let transforms = step.way.method.is_transform();
        let alike = self.measured.iter().filter(|(way, _)| way.method.is_transform() == transforms);
        let mut scales: Vec<f64> = alike.map(|(_, measured)| measured.scale).collect();
        scales.sort_by(f64::total_cmp);
        self.scales[usize::from(transforms)] = scales.get(scales.len() / 2).copied();
    }

    /// Returns the measured price of an algorithm, in nanoseconds per product. Returns `None` if
    /// the price was not measured.
    #[must_use]
    pub fn measured(&self, way: Algorithm) -> Option<f64> {
        self.measured.get(&way).map(|measured| measured.nanoseconds)
    }

    /// Returns an estimate scaled to be comparable with measured prices. The factor is the median
    /// ratio of measured prices to estimates for the same kind of algorithm: Karatsuba's identity
    /// or transforms. If no price of this kind was measured, the other kind gives the factor. If no
    /// price at all was measured, the factor is 1.
    pub(super) fn scaled(&self, way: Algorithm, estimate: f64) -> f64 {
        let [of_identity, of_transforms] = self.scales;
        let scale = if way.method.is_transform() {
            of_transforms.or(of_identity)
        } else {
            of_identity.or(of_transforms)
        };
        estimate * scale.unwrap_or(1.0)
    }

    fn price(&self, step: &Step) -> f64 {
        self.measured(step.way).unwrap_or_else(|| self.scaled(step.way, step.estimate))
    }

    /// Returns the steps that are worth measuring for factors of up to `most` limbs. A step is near
    /// the cheapest at a width if its price is at most 1.7 times the lowest price. A step is worth
    /// measuring if it is not measured yet and if, at some width, both this step and at least one
    /// other step are near the cheapest. A measurement changes the estimated prices, so another
    /// call may return further steps; tuning ends when no step is returned.
    #[must_use]
    pub fn wanted(&self, steps: &[Step], most: usize) -> Vec<Step> {
        let mut wanted = vec![false; steps.len()];
        // The set of steps changes where one ends.
        for end in steps.iter().filter(|step| step.last <= most) {
            let here = |step: &Step| {
                step.way.square == end.way.square && (step.first..=step.last).contains(&end.last)
            };
            let here: Vec<(usize, f64)> = (0..)
                .zip(steps)
                .filter(|(_, step)| here(step))
                .map(|(i, step)| (i, self.price(step)))
                .collect();
            let least = here.iter().map(|&(_, price)| price).fold(f64::INFINITY, f64::min);
            let near = || here.iter().filter(|&&(_, price)| price <= NEAR * least);
            if near().count() > 1 {
                near().for_each(|&(i, _)| wanted[i] = true);
            }
        }
        let steps = steps.iter().zip(wanted);
        let new = steps.filter(|(step, wanted)| *wanted && self.measured(step.way).is_none());
        new.map(|(step, _)| *step).collect()
    }

    /// Loads the prices stored for a device by this version of the program. Damaged entries,
    /// entries of another device or driver, and algorithms unknown to this version are skipped.
    ///
    /// # Errors
    /// The store cannot be read. This affects only speed.
    pub fn stored(store: &TuningStore, info: &DeviceInfo) -> Result<Warned<Self>, TuningError> {
        let Warned { value: timings, warning } = store.all(info)?;
        let mut prices = Self::default();
        for step in steps(info.shared_memory_per_block) {
            if let Some(timing) = timings.get(&subject(step.way)) {
                prices.insert(&step, timing.microseconds * 1e3);
            }
        }
        Ok(Warned { value: prices, warning })
    }

    /// Stores a price measured on a device.
    ///
    /// # Errors
    /// The store cannot be written.
    pub fn store(
        store: &TuningStore,
        info: &DeviceInfo,
        step: &Step,
        nanoseconds: f64,
    ) -> Result<Warned<()>, TuningError> {
        let choice = format!("at {} bits", 32 * step.last);
        let tuning = Tuning { choice, microseconds: nanoseconds * 1e-3 };
        store.put(&TuningKey::new(info, subject(step.way)), &tuning)
    }
}

fn subject(way: Algorithm) -> String {
    format!("batch {way}")
}

#[cfg(test)]
mod tests;
