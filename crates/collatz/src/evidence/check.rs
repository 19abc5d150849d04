//! Checks of the evidence and the totals of a unit. The totals are checked by a random sample of
//! the unit's items.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.

use rayon::prelude::*;

use super::{Evidence, Items, MOST_CHALLENGES, NODES, NUMBERS, Plan, Share, VERSION};
use crate::CollatzError;
use crate::runs::Unit;

/// The least number of random nodes by which the totals of a unit are checked, if its method is the
/// sieve.
const LEAST_NODES: u64 = 512;
/// The least count of random numbers by which the totals of a unit are checked, if its method is
/// the plain or the table method.
const LEAST_NUMBERS: u64 = 1 << 14;

/// The number of standard errors in the tolerance of an estimated total. The tolerance is the
/// number of items times the sum of two parts: `ERRORS` standard errors of the sample's mean, and
/// 1/[`PARTS`] of this mean.
const ERRORS: f64 = 10.0;
/// The part of the mean in the tolerance of a total is 1/`PARTS`: see [`ERRORS`].
const PARTS: f64 = 50.0;

/// A total of a unit, in four parts: its name; its value in the unit; the contribution of the
/// numbers that belong to no item; and a function that reads the total from an item's [`Share`].
type Pair = (&'static str, u64, u64, fn(&Share) -> u64);

const WALKED: &str = "count of numbers walked";
const CHECKSUM: &str = "checksum";

/// A contradiction between a unit and its evidence.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    /// The version of the evidence is unknown to this program.
    #[error("its evidence is of version {version}, which this program does not know")]
    Version {
        /// The version of the evidence.
        version: u32,
    },
    /// This program does not know the method, its version or its parameters.
    #[error(
        "this program has no method {method} of version {version} with parameters {parameters}"
    )]
    Unknown {
        /// The name of the method.
        method: String,
        /// The version of the method.
        version: u32,
        /// The parameters of the method.
        parameters: String,
    },
    /// The unit's region does not exist, or the unit's method does not support it.
    #[error("no such unit can be verified: {reason}")]
    Impossible {
        /// The reason why the unit cannot be verified.
        reason: String,
    },
    /// The evidence states a wrong number of items.
    #[error("it claims {found} items of work (nodes, or numbers walked); there are {expected}")]
    Items {
        /// The number of items in the evidence.
        found: u128,
        /// The true number of items, which is computed by a recurrence.
        expected: u128,
    },
    /// The evidence has too few or too many challenges.
    #[error("it has {found} challenges, but must have {least} to {most}")]
    Challenges {
        /// The number of challenges in the evidence.
        found: u64,
        /// The smallest valid number of challenges.
        least: u64,
        /// The largest valid number of challenges.
        most: u64,
    },
    /// A sum over the challenged items is wrong.
    #[error(
        "the {what} of its {challenges} challenged items is claimed to be {found}; it is {expected}"
    )]
    Sample {
        /// The name of the sum: `count of numbers walked` or `checksum`.
        what: &'static str,
        /// The number of challenged items.
        challenges: u64,
        /// The sum in the evidence.
        found: u64,
        /// The recomputed sum.
        expected: u64,
    },
    /// A total of the unit is far from its estimate by a random sample of the items, or differs
    /// from its exact value.
    #[error("its {what} is {found}, but {sampled} random items imply {least} to {most}")]
    Total {
        /// The name of the total: `count of numbers walked` or `checksum`.
        what: &'static str,
        /// The total in the unit.
        found: u64,
        /// The number of recomputed items.
        sampled: u64,
        /// The smallest plausible total.
        least: u128,
        /// The largest plausible total.
        most: u128,
    },
    /// The computation on the host failed.
    #[error(transparent)]
    Collatz(#[from] Box<CollatzError>),
}

impl Evidence {
    /// Recomputes the evidence of a unit from its region, method and parameters, and checks its
    /// totals against bounds.
    ///
    /// The number of items and the sums over the challenged items must be exact. The unit's two
    /// totals, its count of numbers walked and its checksum, are compared with estimates by a
    /// sample: at least 512 random nodes of the sieve, or 16,384 random numbers of another method,
    /// including the challenged ones. A total may differ from its estimate by ten standard errors
    /// plus 2 %. It must be exact if the sample contains all items. A checksum is not compared if
    /// its estimate plus this tolerance is 2^64 or more, because checksums are sums modulo 2^64.
    /// The count of numbers walked of the plain and the table method must always be exact.
    ///
    /// For the sieve, the check takes 0.1 to 0.2 s of computing time, spread over the CPU's
    /// threads. It takes up to 1 s for classes whose paths rise for many steps, and 20 ms more for
    /// a region with numbers below 2^20. For other methods it takes about 10 ms.
    ///
    /// # Errors
    /// The first contradiction found, or an error of the host.
    pub fn check(&self, unit: &Unit) -> Result<(), EvidenceError> {
        if self.version != VERSION {
            return Err(EvidenceError::Version { version: self.version });
        }
        let items = items_of(unit)?;
        let expected = items.count();
        if self.items != expected {
            return Err(EvidenceError::Items { found: self.items, expected });
        }
        self.challenges_are_enough(if items.are_numbers() { NUMBERS } else { NODES })?;
        let sample = Sample::new(self, &items);
        sample.confirms(self)?;
        sample.bounds(&items, total(unit))
    }

    fn challenges_are_enough(&self, every: u64) -> Result<(), EvidenceError> {
        let all = u64::try_from(self.items).unwrap_or(u64::MAX);
        let (least, most) = ((all / every).min(MOST_CHALLENGES), all.min(MOST_CHALLENGES));
        if (least..=most).contains(&self.challenges) {
            Ok(())
        } else {
            Err(EvidenceError::Challenges { found: self.challenges, least, most })
        }
    }
}

/// Checks a unit that has no evidence. This program must know the method and its parameters, the
/// method must support the region, and the totals must be within the bounds of [`Evidence::check`].
///
/// # Errors
/// The first contradiction found, or an error of the host.
pub(crate) fn check_totals(unit: &Unit) -> Result<(), EvidenceError> {
    let items = items_of(unit)?;
    // Random items; the seed does not matter.
    let none = Evidence::new(unit.sample_odd_steps, items.count(), 0, Share::default());
    Sample::new(&none, &items).bounds(&items, total(unit))
}

fn total(unit: &Unit) -> Share {
    Share { walked: unit.walked, checksum: unit.checksum }
}

/// Returns the items of a unit's region for the unit's method and parameters.
fn items_of(unit: &Unit) -> Result<Items, EvidenceError> {
    let impossible = |reason: String| EvidenceError::Impossible { reason };
    let layout = unit.layout().map_err(|error| impossible(error.to_string()))?;
    let region = layout.region(unit.unit);
    let region =
        region.ok_or_else(|| impossible(format!("the range has no unit {}", unit.unit)))?;
    Items::of(&unit.method, unit.method_version, &unit.parameters, &region)
        .ok_or_else(|| EvidenceError::Unknown {
            method: unit.method.clone(),
            version: unit.method_version,
            parameters: unit.parameters.clone(),
        })?
        .map_err(|error| impossible(error.to_string()))
}

/// The contributions of a random sample of a unit's items. They are recomputed by single steps of
/// T, without the tables of the unit's method.
struct Sample {
    /// The sum of the contributions of the challenged items.
    challenged: Share,
    /// The contributions of random items, including the challenged items; if `is_all`, the
    /// contributions of all items.
    shares: Vec<Share>,
    /// Whether `shares` contains every item exactly once.
    is_all: bool,
}

impl Sample {
    fn new(evidence: &Evidence, items: &Items) -> Self {
        let Evidence { seed, items: count, challenges, .. } = *evidence;
        let shares = |plan: Plan| -> Vec<Share> {
            let indices: Vec<u128> = plan.indices().collect();
            indices.par_iter().map(|&index| items.share(index).unwrap_or_default()).collect()
        };
        let sum = |shares: &[Share]| {
            let mut sum = Share::default();
            shares.iter().for_each(|&share| sum.add(share));
            sum
        };
        let plan = Plan { seed, items: count, challenges };
        let least = if items.are_numbers() { LEAST_NUMBERS } else { LEAST_NODES };
        if count <= least.into() {
            let all = Plan { challenges: count as u64, ..plan };
            return Self { challenged: sum(&shares(plan)), shares: shares(all), is_all: true };
        }
        let is_all = u128::from(challenges) == count;
        let some = Plan { challenges: challenges.max(least), ..plan };
        let shares = shares(some);
        Self { challenged: sum(&shares[..challenges as usize]), shares, is_all }
    }

    /// Returns an error if a sum over the challenged items differs from the evidence.
    fn confirms(&self, evidence: &Evidence) -> Result<(), EvidenceError> {
        let pairs = [
            (WALKED, evidence.walked, self.challenged.walked),
            (CHECKSUM, evidence.checksum, self.challenged.checksum),
        ];
        for (what, found, expected) in pairs {
            if found != expected {
                let challenges = evidence.challenges;
                return Err(EvidenceError::Sample { what, challenges, found, expected });
            }
        }
        Ok(())
    }

    /// Returns an error if a total is wrong. If the sample has all items, each total must equal the
    /// sum over all items and over the numbers that belong to no item. The count of numbers walked
    /// must be exact if each item is one number. Any other total must be near its estimate by the
    /// sample. A checksum whose largest plausible value is 2^64 or more is not checked.
    fn bounds(&self, items: &Items, total: Share) -> Result<(), EvidenceError> {
        let besides = items.besides().map_err(Box::new)?;
        let pairs: [Pair; 2] = [
            (WALKED, total.walked, besides.walked, |share| share.walked),
            (CHECKSUM, total.checksum, besides.checksum, |share| share.checksum),
        ];
        for (what, found, besides, of) in pairs {
            let values = self.shares.iter().map(of);
            let (least, most) = if self.is_all {
                let sum = values.fold(besides, u64::wrapping_add);
                (sum.into(), sum.into())
            } else if what == WALKED && items.are_numbers() {
                (items.count(), items.count())
            } else {
                let (least, most) = interval(values, items.count());
                (least + u128::from(besides), most + u128::from(besides))
            };
            // The checksum is known modulo 2^64.
            let is_known = what == WALKED || most <= u64::MAX.into();
            if is_known && !(least..=most).contains(&found.into()) {
                let sampled = self.shares.len() as u64;
                return Err(EvidenceError::Total { what, found, sampled, least, most });
            }
        }
        Ok(())
    }
}

/// Returns the smallest and the largest plausible sum of a population of `items` values. `values`
/// is a random sample of this population. [`ERRORS`] describes the tolerance.
fn interval(values: impl Iterator<Item = u64> + Clone, items: u128) -> (u128, u128) {
    let values = values.map(|value| value as f64);
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let square = values.map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    let apart = ERRORS * (square / count).sqrt() + mean / PARTS;
    let all = |mean: f64| (items as f64 * mean).max(0.0) as u128;
    (all(mean - apart), all(mean + apart) + 1)
}
