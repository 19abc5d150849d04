//! What products cost on a device: measured there, otherwise estimated.
//!
//! A price decides which method is taken, and nothing else: all methods give the same numbers.

use std::collections::HashMap;
use std::fmt;

use warpint_device::{DeviceInfo, Tuning, TuningError, TuningKey, TuningStore, Warned};

use super::Method;
use crate::Width;

/// What the products of many widths have in common, and with it their price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Algorithm {
    /// The method.
    pub method: Method,
    /// Limbs of the products of one thread, or points of a transform.
    pub size: usize,
    /// Whether both factors are the same.
    pub square: bool,
}

/// `mul karatsuba2 of 40 limbs`, `sqr ntt3 of 384 points`.
impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operation = if self.square { "sqr" } else { "mul" };
        let unit = if self.method.is_transform() { "points" } else { "limbs" };
        write!(f, "{operation} {} of {} {unit}", self.method, self.size)
    }
}

/// A [`Algorithm`], and the widths of factors that it is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Step {
    /// The way.
    pub way: Algorithm,
    /// Limbs of the narrowest factors.
    pub first: usize,
    /// Limbs of the widest ones, at which it is measured.
    pub last: usize,
    /// Its price by the formula.
    pub estimate: f64,
}

/// The steps of all methods for products of two factors of one width and for squares, to the
/// largest width, the shorter ones first, on a device whose blocks have so much shared memory.
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

/// A way whose price is within this factor of the cheapest may be the cheapest.
const NEAR: f64 = 1.7;

/// What some ways were measured to cost, in nanoseconds a product. None: all prices are estimates.
#[derive(Debug, Clone, Default)]
pub struct Prices {
    measured: HashMap<Algorithm, Measured>,
    /// The median of measured prices over estimates: of Karatsuba's identity, of transforms.
    scales: [Option<f64>; 2],
}

#[derive(Debug, Clone, Copy)]
struct Measured {
    nanoseconds: f64,
    /// How many times the estimate that is.
    scale: f64,
}

impl Prices {
    /// Takes a price that was measured, in place of an earlier one.
    pub fn insert(&mut self, step: &Step, nanoseconds: f64) {
        let measured = Measured { nanoseconds, scale: nanoseconds / step.estimate };
        self.measured.insert(step.way, measured);
        let transforms = step.way.method.is_transform();
        let alike = self.measured.iter().filter(|(way, _)| way.method.is_transform() == transforms);
        let mut scales: Vec<f64> = alike.map(|(_, measured)| measured.scale).collect();
        scales.sort_by(f64::total_cmp);
        self.scales[usize::from(transforms)] = scales.get(scales.len() / 2).copied();
    }

    /// The price that was measured.
    #[must_use]
    pub fn measured(&self, way: Algorithm) -> Option<f64> {
        self.measured.get(&way).map(|measured| measured.nanoseconds)
    }

    /// An estimate that measured prices can be compared with: times the median of what measured
    /// ways of its kind cost over their estimates; where there are none, of the other kind.
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

    /// The steps worth measuring, of factors of up to `most` limbs: those not measured that are
    /// within a factor 1.7 of the cheapest at some width, if others are so too. What is measured of
    /// them scales the rest, so that others may be wanted then; in the end none is.
    #[must_use]
    pub fn wanted(&self, steps: &[Step], most: usize) -> Vec<Step> {
        let mut wanted = vec![false; steps.len()];
        // Which steps there are changes where one ends.
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

    /// Those that were stored of a device by this version of the program. What is damaged in the
    /// store, of another device or driver, or no way of this version, is left out.
    ///
    /// # Errors
    /// The store cannot be read: a matter of speed only.
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

    /// Stores a price that was measured on a device.
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
