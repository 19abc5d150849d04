//! The choice of a place for a test, and of plans that need no measurement.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use warpint_device::{CPU, DeviceChoice, DeviceError, DeviceId, first_gpu};

use super::alike::largest_exponent;
use super::{EXACT, Plan, PlanError, PlanRequest};
use crate::Number;
use crate::engine::places::{self, Families, probe};
use crate::engine::{EngineError, EngineFamily};

/// The smallest exponent for which a device is used by default. For smaller exponents, opening the
/// device takes longer than a whole test on the CPU.
const LEAST_FOR_DEVICES: u32 = 40_000;

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
    pub(super) fn decided(&self, number: Number) -> Result<Self, PlanError> {
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

    /// Tests the device: builds the plan's engine and computes a small power with it.
    fn try_out(&self) -> Result<(), EngineError> {
        probe(self.build(1)?.as_mut(), self.place())
    }
}
