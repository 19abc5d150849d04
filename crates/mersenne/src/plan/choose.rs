//! The choice of a plan: first the place, then the fastest engine family and transform length at
//! this place.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use rayon::prelude::*;
use warpint_device::{CPU, DeviceChoice, DeviceError, DeviceId, first_gpu};

use super::alike::largest_exponent;
use super::{EXACT, Plan, PlanError, PlanRequest};
use crate::Number;
use crate::engine::places::{self, Families, probe};
use crate::engine::{EngineError, EngineFamily};

/// The smallest exponent for which a device is used by default. For smaller exponents, opening the
/// device takes longer than a whole test on the CPU.
const LEAST_FOR_DEVICES: u32 = 40_000;

/// The smallest exponent for which the speed of plans is measured. For smaller exponents, a
/// measurement takes longer than a whole test.
const LEAST_WORTH_MEASURING: u32 = 100_000;

/// The largest exponent for which the speed of plans is measured on a CPU. For larger exponents, a
/// measurement would take minutes.
const MOST_WORTH_MEASURING: u32 = 200_000_000;

/// The time for which the squarings of one plan are measured.
const EACH: Duration = Duration::from_millis(50);

/// The bound on the time of a longer transform, as a fraction of the time of the shortest
/// transform. The longer transform is preferred only if its time is below this bound.
const GAIN: f64 = 0.97;

/// The key of a stored time of a squaring. The time is valid for every exponent that is tested at
/// this transform length.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TimingKey {
    /// The name of the engine family.
    pub engine: &'static str,
    /// The place where the engine computes: `cpu`, `cuda:0`, …
    pub place: &'static str,
    /// The transform length N, in words.
    pub length: usize,
    /// The number of threads on the CPU; `None` on a device.
    pub threads: Option<usize>,
}

/// Formats the key as `goldilocks 4194304` or `fp64 393216, 2 threads`, without the place.
impl fmt::Display for TimingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.engine, self.length)?;
        self.threads.map_or(Ok(()), |threads| write!(f, ", {threads} threads"))
    }
}

/// The fastest known variant at a transform length, with its time.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredTime {
    /// The name of the variant.
    pub variant: String,
    /// The time of a squaring with this variant.
    pub time: Duration,
}

/// A store of times of squarings. The times were measured earlier, on this machine or on the same
/// device model.
pub trait StoredTimes {
    /// Returns the stored time for a key, with its variant; `None` if no time is stored.
    fn get(&self, key: &TimingKey) -> Option<StoredTime>;
}

/// A store that contains no times.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTimes;

impl StoredTimes for NoTimes {
    fn get(&self, _: &TimingKey) -> Option<StoredTime> {
        None
    }
}

/// A request for a plan whose place, the CPU or a device, has been decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The request. Its device is [`DeviceChoice::Cpu`] or [`DeviceChoice::On`].
    pub request: PlanRequest,
    /// A warning in one line that an existing GPU cannot be used, with the reason. `None` if no
    /// warning is needed.
    pub warning: Option<String>,
}

impl PlanRequest {
    /// Decides where to compute. A device is tested before it is chosen: an engine is built on it
    /// and computes a small power. This takes the time to open the device and to compile its
    /// kernels. Choosing the CPU takes no time.
    ///
    /// `Auto` means the first GPU if it works and supports the request, the exponent is at least
    /// 40,000, and the transform is long enough ([`EngineFamily::shortest_worthwhile`]); otherwise
    /// it means the CPU.
    ///
    /// # Errors
    /// Returns an error if the requested device does not exist or cannot be used, or if no plan for
    /// this exponent on this device fits the request. `Auto` causes no error.
    pub fn resolved(&self, number: impl Into<Number>) -> Result<Resolved, PlanError> {
        let number = number.into();
        let at = |device| PlanRequest { device, ..*self };
        match self.device {
            DeviceChoice::Cpu => Ok(Resolved { request: *self, warning: None }),
            DeviceChoice::On(id) => {
                let families = self.families_on(id).map_err(EngineError::from)?;
                Plan::default_among(number, &families, &id.to_string(), self)?.try_out()?;
                Ok(Resolved { request: *self, warning: None })
            }
            DeviceChoice::Auto => {
                let gpu = (number.bits() >= LEAST_FOR_DEVICES).then(first_gpu).flatten();
                let (device, warning) = match gpu {
                    Some(id) => device_or_cpu(number, id, self.families_on(id), self),
                    None => (DeviceChoice::Cpu, None),
                };
                Ok(Resolved { request: at(device), warning })
            }
        }
    }

    /// Decides where to compute, like [`PlanRequest::resolved`], but does not test a device that
    /// the request names.
    fn decided(&self, number: Number) -> Result<Self, PlanError> {
        match self.device {
            DeviceChoice::Auto => Ok(self.resolved(number)?.request),
            _ => Ok(*self),
        }
    }

    /// Returns whether an engine family at the requested place computes modulo the number, and the request
    /// allows this family. For `Auto`, the place is the CPU.
    ///
    /// # Errors
    /// Returns an error if the device does not exist or cannot be opened.
    pub fn takes(&self, number: impl Into<Number>) -> Result<bool, PlanError> {
        let number = number.into();
        let (families, _) = self.families()?;
        Ok(families.iter().any(|family| self.allows_for(*family, number) && family.takes(number)))
    }

    /// Returns whether the request is for the CPU. Also returns true for `Auto`, whose place is not
    /// decided yet.
    #[must_use]
    pub fn is_on_cpu(&self) -> bool {
        !matches!(self.device, DeviceChoice::On(_))
    }

    /// Returns the engine families at the requested place, and the name of the place. For `Auto`,
    /// returns the families on the CPU.
    ///
    /// # Errors
    /// Returns an error if the device does not exist or cannot be opened.
    pub fn families(&self) -> Result<(Families, String), PlanError> {
        match self.device {
            DeviceChoice::On(id) => {
                let families = self.families_on(id).map_err(EngineError::from)?;
                Ok((families, id.to_string()))
            }
            _ => Ok((places::families_on_cpu(), CPU.to_owned())),
        }
    }

    /// Returns the engine families on a device, in the lane of the request.
    fn families_on(&self, id: DeviceId) -> Result<Families, DeviceError> {
        if self.in_gangs {
            places::families_in_gangs(id, self.lane)
        } else {
            places::families_in_lane(id, self.lane)
        }
    }
}

/// Returns the GPU `id` if it is suitable for the request and works, otherwise the CPU. Also
/// returns a warning if the GPU cannot be opened, or if it is suitable but does not work.
pub(super) fn device_or_cpu(
    number: Number,
    id: DeviceId,
    families: Result<Families, DeviceError>,
    request: &PlanRequest,
) -> (DeviceChoice, Option<String>) {
    let on_cpu = |reason: &dyn fmt::Display| {
        let warning = format!("{id} cannot be used, the CPU computes instead: {reason}");
        (DeviceChoice::Cpu, Some(warning))
    };
    let families = match families {
        Ok(families) => families,
        Err(reason) => return on_cpu(&reason),
    };
    let place = id.to_string();
    let plan = match Plan::default_among(number, &families, &place, request) {
        Ok(plan) if plan.length() >= plan.family.shortest_worthwhile() => plan,
        // An exponent, engine or length that the device does not support is not a fault of the
        // device.
        _ => return (DeviceChoice::Cpu, None),
    };
    match plan.try_out() {
        Ok(()) => (DeviceChoice::On(id), None),
        Err(reason) => on_cpu(&reason),
    }
}

/// Compiles the kernels that [`Plan::fastest_measured`] needs for the plans, all in parallel.
fn compile(plans: &[Plan]) {
    let lengths: Vec<Plan> = plans
        .iter()
        .filter(|plan| plan.is_measurable() && plan.number.is_mersenne())
        .flat_map(|plan| plan.near_lengths())
        .collect();
    // A plan whose kernels do not compile fails when it is measured.
    lengths.par_iter().for_each(|plan| drop(plan.compile()));
}

/// Returns whether only one family is worth trying for a number: for k·2^n ± 1, `fp64` is faster than exact engines.
fn has_one_family(number: Number) -> bool {
    number.base() == 2 && !number.is_mersenne()
}

impl Plan {
    /// Returns a plan for the exponent without measuring speeds.
    ///
    /// The engine is the requested one, or else the first engine at the place that supports the
    /// number. On the CPU this is `word` for exponents below 64, and `fp64` for larger exponents;
    /// for numbers other than Mersenne numbers it is `fp64` or `plain`;
    /// for [`EXACT`] it is `word`, `goldilocks`, or, from 1,000 on, `hybrid`.
    /// The length is the requested one, or else the shortest length with enough margin that is not
    /// dominated ([`EngineFamily::is_dominated`]).
    pub fn new(number: impl Into<Number>, request: &PlanRequest) -> Result<Self, PlanError> {
        let number = number.into();
        let request = request.decided(number)?;
        let (families, place) = request.families()?;
        Self::default_among(number, &families, &place, &request)
    }

    /// Returns the fastest plan for the exponent, like [`Plan::fastest`] without stored times.
    pub fn measured(number: impl Into<Number>, request: &PlanRequest) -> Result<Self, PlanError> {
        Self::fastest(number, request, &NoTimes)
    }

    /// Returns the fastest plan for the exponent. Uses stored times if they exist; otherwise
    /// measures plans. A measurement takes some tenths of a second or the time of about twenty
    /// squarings, whichever is longer. On a device, kernels for 2^p − 1 that are not in the cache are compiled
    /// before, those of all plans at the same time.
    ///
    /// Within a family, only the shortest length and lengths at most an eighth longer are tried. If
    /// they are measured, a longer length must be faster than the shortest by more than 3 % to be
    /// chosen. On a device all families are tried, but only the one that [`Plan::new`] uses for numbers k·2^n ± 1 other
    /// than Mersenne numbers. For 2^p − 1, exact families are not measured if that family outruns them
    /// ([`EngineFamily::outruns_exact_families`]). For other numbers k·b^n ± 1, no plan is tried whose spectrum is larger than that of
    /// [`Plan::new`], and no statistical margin beside a proven one of the same length. On the CPU only the family that [`Plan::new`]
    /// uses and families with a stored time are tried, since `goldilocks` takes two to four times
    /// as long as `fp64` on the CPU.
    ///
    /// Nothing is measured if the request names a length, or if only one family supports the
    /// exponent and this family has only one length to try. Nothing is measured either for an
    /// exponent below 100,000, for which a measurement would take longer than a whole test, or, on
    /// the CPU, for an exponent above 200,000,000, for which a measurement would take minutes.
    pub fn fastest(
        number: impl Into<Number>,
        request: &PlanRequest,
        stored: &dyn StoredTimes,
    ) -> Result<Self, PlanError> {
        let number = number.into();
        let request = request.decided(number)?;
        let (families, place) = request.families()?;
        Self::fastest_among(number, &families, &place, &request, stored)
    }

    /// Returns every plan that `warpint tune` times for an exponent. These are the plans of all
    /// engine families at the place, at the shortest length and at all lengths at most an eighth
    /// longer, in every variant. Dominated lengths are left out. If the request names a family or a
    /// length, returns only plans of this family or length.
    pub fn candidates(
        number: impl Into<Number>,
        request: &PlanRequest,
    ) -> Result<Vec<Self>, PlanError> {
        let number = number.into();
        let request = request.decided(number)?;
        let (families, place) = request.families()?;
        Self::candidates_among(number, &families, &place, &request)
    }

    /// Returns the plans that `warpint tune --lengths` times. For every engine family at the place
    /// and every transform length in `range`, these are plans with the first `most` variants, or
    /// with all variants if there are fewer. The lengths of a family are in ascending order. If the
    /// request names a family, returns only plans of this family. Each plan is for the largest
    /// prime exponent that its length supports.
    ///
    /// # Errors
    /// Returns an error if the device does not exist or cannot be opened.
    pub fn of_lengths(
        request: &PlanRequest,
        range: &RangeInclusive<usize>,
        most: usize,
    ) -> Result<Vec<Self>, PlanError> {
        let (families, _) = request.families()?;
        let asked = families.iter().filter(|family| request.allows(**family));
        let plans = asked.flat_map(|family| {
            let lengths = family.lengths(*range.start(), *range.end());
            lengths.into_iter().filter_map(|n| {
                let p = largest_exponent(*family, n)?;
                Self::of_family(p, *family, Some(n), request.threads).ok()
            })
        });
        Ok(plans.flat_map(|plan| plan.with_variants().take(most)).collect())
    }

    pub(super) fn candidates_among(
        number: Number,
        families: &[&'static dyn EngineFamily],
        place: &str,
        request: &PlanRequest,
    ) -> Result<Vec<Self>, PlanError> {
        let first = Self::default_among(number, families, place, request)?;
        let mut plans = vec![];
        for family in families.iter().filter(|family| request.allows_for(**family, number)) {
            let shortest = if family.name() == first.engine() {
                Ok(first)
            } else {
                Self::of_family(number, *family, request.length, request.threads)
            };
            let Ok(shortest) = shortest else { continue };
            let lengths =
                if request.length.is_some() { vec![shortest] } else { shortest.near_lengths() };
            plans.extend(lengths.into_iter().flat_map(Self::with_variants));
        }
        Ok(plans)
    }

    /// Returns a plan of the first of the `families` that supports the exponent. If the request
    /// names a family, only this family is considered. The length is the requested one, or else the
    /// shortest length with enough margin that is not dominated ([`EngineFamily::is_dominated`]). For a base
    /// other than 2, a later family on a device is preferred if it needs at most half of the words.
    ///
    /// On the CPU, `families` begins with `word` and `fp64`, so the first family that supports the
    /// exponent is also the fastest one. If the request is for [`EXACT`] on the CPU, the last exact
    /// family with a plan is used: `hybrid` for exponents from 1,000 on, then `goldilocks`, then
    /// `word`. On a device it is the first exact family, like for other requests.
    pub(super) fn default_among(
        number: Number,
        families: &[&'static dyn EngineFamily],
        place: &str,
        request: &PlanRequest,
    ) -> Result<Self, PlanError> {
        let plan = Self::first_among(number, families, place, request)?;
        Ok(Self { exact: request.engine.is_some() && plan.family.is_exact(), ..plan })
    }

    fn first_among(
        number: Number,
        families: &[&'static dyn EngineFamily],
        place: &str,
        request: &PlanRequest,
    ) -> Result<Self, PlanError> {
        let asked: Vec<_> =
            families.iter().filter(|family| request.allows_for(**family, number)).collect();
        let takes = |f: &&&&'static dyn EngineFamily| f.takes(number);
        if request.engine == Some(EXACT) {
            let plan = |family: &&&'static dyn EngineFamily| {
                Self::of_family(number, **family, request.length, request.threads).ok()
            };
            // On the CPU later families are faster.
            let found = if place == CPU {
                asked.iter().rev().find_map(plan)
            } else {
                asked.iter().find_map(plan)
            };
            if let Some(plan) = found {
                return Ok(plan);
            }
        }
        let Some(family) = asked.iter().find(takes).or(asked.first()) else {
            let known: Vec<_> = families.iter().map(|family| family.name()).collect();
            return Err(PlanError::NoEngine {
                engine: request.engine.unwrap_or("at all"),
                place: place.to_owned(),
                known: if known.is_empty() { "none".into() } else { known.join(", ") },
            });
        };
        let first = Self::of_family(number, **family, request.length, request.threads)?;
        if place == CPU || number.base() == 2 || request.length.is_some() {
            return Ok(first);
        }
        // Padded transforms may be much longer than those of a family that suits the number better.
        let shorter = asked.iter().filter(takes).filter_map(|family| {
            let plan = Self::of_family(number, **family, None, request.threads).ok()?;
            (2 * plan.length <= first.length).then_some(plan)
        });
        Ok(shorter.min_by_key(|plan| plan.length).unwrap_or(first))
    }

    pub(super) fn fastest_among(
        number: Number,
        families: &[&'static dyn EngineFamily],
        place: &str,
        request: &PlanRequest,
        stored: &dyn StoredTimes,
    ) -> Result<Self, PlanError> {
        let first = Self::default_among(number, families, place, request)?;
        if request.length.is_some() {
            return Ok(first.stored(stored).map_or(first, |(plan, _)| plan));
        }
        let shortest: Vec<Self> = families
            .iter()
            .filter(|family| request.allows_for(**family, number))
            .filter(|family| !has_one_family(number) || family.name() == first.engine())
            .filter_map(|family| Self::of_family(number, *family, None, request.threads).ok())
            .collect();
        // Statistical margins gain nothing where a proven one allows the same length.
        let is_beside_proven = |of: &Self| {
            let is_statistical = of.family.is_on_request() && !of.family.is_exact();
            let is_proven = |plan: &Self| plan.length == of.length && plan.family.is_exact();
            is_statistical && shortest.iter().any(is_proven)
        };
        let wanted = |plan: &&Self| {
            number.is_mersenne() || !(is_beside_proven(plan) || plan.is_larger(&first))
        };
        let plans: Vec<_> = shortest.iter().filter(wanted).collect();
        let known = plans.iter().filter_map(|plan| plan.fastest_stored(stored));
        let mut found: Vec<(Self, f64)> = known.collect();
        let is_unknown = |plan: &Self| plan.fastest_stored(stored).is_none();
        let unknown: Vec<Self> = plans.iter().map(|plan| **plan).filter(is_unknown).collect();
        let measured = first.worth_measuring(unknown);
        match measured.as_slice() {
            [plan] if found.is_empty() && plan.near_lengths().len() == 1 => {
                found.push((*plan, 0.0));
            }
            plans => {
                compile(plans);
                found.extend(plans.iter().filter_map(|plan| plan.fastest_measured()));
            }
        }
        // Of equal times, the first one counts, which is that of an earlier family.
        let best = found.into_iter().reduce(|best, next| if next.1 < best.1 { next } else { best });
        Ok(best.map_or(first, |(plan, _)| Self { exact: first.exact, ..plan }))
    }

    /// Returns those of the plans, each of another family, that may be faster than this one, which is the default.
    fn worth_measuring(&self, plans: Vec<Self>) -> Vec<Self> {
        let is_default = |plan: &Self| plan.engine() == self.engine();
        if self.is_on_cpu() {
            return plans.into_iter().filter(is_default).collect();
        }
        let others = plans.iter().any(|plan| !is_default(plan));
        let alone = others && self.number.is_mersenne() && self.family.outruns_exact_families();
        let wanted = |plan: &Self| !alone || is_default(plan) || !plan.family.is_exact();
        plans.into_iter().filter(wanted).collect()
    }

    /// Returns whether the spectrum of this plan is known to be larger than that of another one. Families whose
    /// points are of several kinds then gain nothing by a shorter length.
    fn is_larger(&self, other: &Self) -> bool {
        let bytes = |plan: &Self| {
            let work = plan.family.profiled()?.work(plan.length, plan.variant)?;
            Some(work.spectrum_bytes)
        };
        matches!((bytes(self), bytes(other)), (Some(own), Some(others)) if own > others)
    }

    /// Returns this plan, and the plans of the same family at lengths at most an eighth longer.
    /// Leaves out longer lengths that are dominated ([`EngineFamily::is_dominated`]).
    fn near_lengths(self) -> Vec<Self> {
        let longest = self.length + self.length / 8;
        let longer = self.family.lengths(self.length + 1, longest).into_iter();
        let longer = longer.filter(|n| !self.family.is_dominated(*n)).filter_map(|n| {
            Self::of_family(self.number, self.family, Some(n), Some(self.threads)).ok()
        });
        [self].into_iter().chain(longer).collect()
    }

    /// Iterates over copies of this plan, one for each variant of its family.
    fn with_variants(self) -> impl Iterator<Item = Self> {
        let variants = self.variants().len();
        (0..variants.max(1)).map(move |variant| Self { variant, ..self })
    }

    /// Returns the key under which the time of a squaring with this plan is stored.
    #[must_use]
    pub fn timing_key(&self) -> TimingKey {
        TimingKey {
            engine: self.engine(),
            place: self.place(),
            length: self.length,
            threads: self.is_on_cpu().then_some(self.threads),
        }
    }

    /// Returns this plan in the variant whose time is stored, and this time per squaring in
    /// seconds. The stored variant is the fastest known one. Returns `None` if no time is stored,
    /// or if the family does not have the stored variant.
    fn stored(self, stored: &dyn StoredTimes) -> Option<(Self, f64)> {
        let found = stored.get(&self.timing_key())?;
        let variant = self.variants().iter().position(|name| *name == found.variant)?;
        Some((Self { variant, ..self }, found.time.as_secs_f64()))
    }

    /// Returns the plan with the shortest stored time, and this time per squaring in seconds.
    /// Compares the plans at this plan's length and at lengths at most an eighth longer. Returns
    /// `None` if this plan's length has no stored time.
    fn fastest_stored(self, stored: &dyn StoredTimes) -> Option<(Self, f64)> {
        self.stored(stored)?;
        self.near_lengths()
            .into_iter()
            .filter_map(|plan| plan.stored(stored))
            .min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Returns whether the exponent is neither too small nor too large for a measurement to be worthwhile.
    fn is_measurable(&self) -> bool {
        let p = self.number.exponent();
        p >= LEAST_WORTH_MEASURING && !(self.is_on_cpu() && p > MOST_WORTH_MEASURING)
    }

    /// Measures the plans at this plan's length and at lengths at most an eighth longer. Returns
    /// the fastest plan and its time per squaring in seconds. A longer length is chosen only if its
    /// time is below [`GAIN`] times the time of this plan. Returns `None` if the exponent is too
    /// small or too large for a measurement to be worthwhile.
    fn fastest_measured(self) -> Option<(Self, f64)> {
        if !self.is_measurable() {
            return None;
        }
        let seconds = |plan: &Self| {
            plan.time_per_squaring(EACH).map_or(f64::INFINITY, |time| time.as_secs_f64())
        };
        let least = seconds(&self);
        let (mut best, mut bar) = ((self, least), GAIN * least);
        for plan in self.near_lengths().into_iter().skip(1) {
            let taken = seconds(&plan);
            if taken < bar {
                (best, bar) = ((plan, taken), taken);
            }
        }
        Some(best)
    }

    /// Tests the device: builds the plan's engine and computes a small power with it.
    fn try_out(&self) -> Result<(), EngineError> {
        probe(self.build(1)?.as_mut(), self.place())
    }
}
