//! The fastest plan at a place: by stored times, or by a short measurement.

use std::time::Duration;

use rayon::prelude::*;

use super::{NoTimes, Plan, PlanError, PlanRequest, StoredTimes};
use crate::Number;
use crate::engine::EngineFamily;

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

/// Measures the plans at their lengths and at lengths at most an eighth longer. Returns the fastest plan of each
/// family, and its time per squaring in seconds, which is infinite if no plan of the family works.
fn measure(plans: &[Plan]) -> Vec<(Plan, f64)> {
    let measurable = plans.iter().filter(|plan| plan.is_measurable());
    let lengths: Vec<Plan> = measurable.flat_map(|plan| plan.near_lengths()).collect();
    // A plan whose kernels do not compile fails when it is measured.
    lengths.par_iter().for_each(|plan| drop(plan.compile()));
    plans.iter().filter_map(|plan| plan.fastest_measured()).collect()
}

/// Returns whether only one family is worth trying for a number: for k·2^n ± 1, `fp64` is faster than exact engines.
fn has_one_family(number: Number) -> bool {
    number.base() == 2 && !number.is_mersenne()
}

impl Plan {
    /// Returns the fastest plan for the exponent, like [`Plan::fastest`] without stored times.
    pub fn measured(number: impl Into<Number>, request: &PlanRequest) -> Result<Self, PlanError> {
        Self::fastest(number, request, &NoTimes)
    }

    /// Returns the fastest plan for the number. Uses stored times if they exist; otherwise measures plans. A
    /// measurement takes some tenths of a second or the time of about twenty squarings, whichever is longer. Before
    /// it, kernels for 2^p − 1 that are not in the cache are compiled, those of all measured plans at the same time.
    ///
    /// Within a family, only the shortest length and lengths at most an eighth longer are tried. If
    /// they are measured, a longer length must be faster than the shortest by more than 3 % to be
    /// chosen.
    ///
    /// These families are tried on a device:
    /// - for 2^p − 1 all. If the default family ([`Plan::new`]) is taken to outrun the exact families
    ///   ([`EngineFamily::outruns_exact_families`]), these count by stored times only, or if the default family fails;
    /// - for other numbers k·2^n ± 1 the default family;
    /// - for k·b^n ± 1 with b > 2 those whose spectrum is not larger than that of the default plan. A family with a
    ///   statistical margin is left out if an exact family has the same length.
    ///
    /// If the time of the default family is neither stored nor measured, its shortest length is used.
    ///
    /// On the CPU the default family and families with a stored time are tried, since `goldilocks` takes two to four
    /// times as long as `fp64` on the CPU.
    ///
    /// Nothing is measured if the request names a length, or if only one family supports the
    /// number and this family has only one length to try. Nothing is measured either for an
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
        let fails = |(_, time): &(Self, f64)| time.is_infinite();
        let (measured, others) = first.worth_measuring(unknown);
        match measured.as_slice() {
            [plan] if found.is_empty() && others.is_empty() && plan.near_lengths().len() == 1 => {
                found.push((*plan, 0.0));
            }
            plans => found.extend(measure(plans)),
        }
        if !first.is_on_cpu() && found.iter().any(fails) && found.iter().all(fails) {
            found.extend(measure(&others));
        }
        // A stored time says nothing against a default plan whose time is not known.
        if !found.iter().any(|(plan, _)| plan.engine() == first.engine()) {
            return Ok(first);
        }
        // Of equal times, the first one counts, which is that of an earlier family.
        let best = found.into_iter().reduce(|best, next| if next.1 < best.1 { next } else { best });
        Ok(best.map_or(first, |(plan, _)| Self { exact: first.exact, ..plan }))
    }

    /// Divides plans, each of another family, into those that may be faster than this one, which is the default, and
    /// others.
    fn worth_measuring(&self, plans: Vec<Self>) -> (Vec<Self>, Vec<Self>) {
        let is_default = |plan: &Self| plan.engine() == self.engine();
        if self.is_on_cpu() {
            return plans.into_iter().partition(is_default);
        }
        let others = plans.iter().any(|plan| !is_default(plan));
        let alone = others && self.number.is_mersenne() && self.family.outruns_exact_families();
        let wanted = |plan: &Self| !alone || is_default(plan) || !plan.family.is_exact();
        plans.into_iter().partition(wanted)
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
    pub(super) fn near_lengths(self) -> Vec<Self> {
        let longest = self.length + self.length / 8;
        let longer = self.family.lengths(self.length + 1, longest).into_iter();
        let longer = longer.filter(|n| !self.family.is_dominated(*n)).filter_map(|n| {
            Self::of_family(self.number, self.family, Some(n), Some(self.threads)).ok()
        });
        [self].into_iter().chain(longer).collect()
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
}
