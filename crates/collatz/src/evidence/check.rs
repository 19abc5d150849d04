//! Whether evidence and totals of a unit are what they must be, as far as a sample shows.

use rayon::prelude::*;

use super::{Evidence, Items, MOST_CHALLENGES, NODES, NUMBERS, Plan, Share, VERSION};
use crate::CollatzError;
use crate::runs::Unit;

/// So many nodes, or numbers, are recomputed at least, for the bounds on totals.
const LEAST_NODES: u64 = 512;
const LEAST_NUMBERS: u64 = 1 << 14;

/// Totals may be off by this many standard errors of the sample's mean, and by one of this many parts of it besides.
const ERRORS: f64 = 10.0;
const PARTS: f64 = 50.0;

/// What, the total, what of it belongs to no item, and what an item adds.
type Pair = (&'static str, u64, u64, fn(&Share) -> u64);

const WALKED: &str = "count of numbers walked";
const CHECKSUM: &str = "checksum";

/// Why a unit is not what its evidence must show.
#[derive(Debug, thiserror::Error)]
pub enum EvidenceError {
    /// Of a later program.
    #[error("its evidence is of version {version}, which this program does not know")]
    Version {
        /// Found.
        version: u32,
    },
    /// Not of this program.
    #[error(
        "this program has no method {method} of version {version} with parameters {parameters}"
    )]
    Unknown {
        /// The method.
        method: String,
        /// Its version.
        version: u32,
        /// Its parameters.
        parameters: String,
    },
    /// The region is none, or the method does not take it.
    #[error("no such unit can be verified: {reason}")]
    Impossible {
        /// Why.
        reason: String,
    },
    /// Another count of items.
    #[error("it claims {found} items of work (nodes, or numbers walked); there are {expected}")]
    Items {
        /// Claimed.
        found: u128,
        /// By the recurrence.
        expected: u128,
    },
    /// Too few, or too many.
    #[error("it has {found} challenges; there must be {least} to {most}")]
    Challenges {
        /// Claimed.
        found: u64,
        /// The fewest.
        least: u64,
        /// The most.
        most: u64,
    },
    /// A sum that the recomputation does not confirm.
    #[error(
        "the {what} of its {challenges} challenged items is claimed to be {found}; it is {expected}"
    )]
    Sample {
        /// `count of numbers walked` or `checksum`.
        what: &'static str,
        /// How many items.
        challenges: u64,
        /// Claimed.
        found: u64,
        /// Recomputed.
        expected: u64,
    },
    /// A total far from what a sample of its items leads to.
    #[error("its {what} is {found}; {sampled} random items lead to {least} to {most}")]
    Total {
        /// `count of numbers walked` or `checksum`.
        what: &'static str,
        /// Claimed.
        found: u64,
        /// Items recomputed.
        sampled: u64,
        /// The least that is possible, or all but impossible.
        least: u128,
        /// The most.
        most: u128,
    },
    /// The host failed.
    #[error(transparent)]
    Collatz(#[from] Box<CollatzError>),
}

impl Evidence {
    /// Recomputes the evidence of a unit from its region, method and parameters, and bounds its totals.
    ///
    /// Items and challenged sums must be exact. The counts of numbers walked and the checksum of the unit are compared
    /// with the mean of at least 512 random nodes or 16,384 numbers, those challenged included: they may differ by ten
    /// standard errors and 2 %; they must be exact if those are all items, as must the
    /// count of numbers walked of the plain and the table method. Cost for the sieve: 0.1 to 0.2 s of one core, shared by all
    /// cores, up to 1 s in classes whose numbers rise long; some 10 ms for other methods, and 20 ms more if the region has
    /// numbers below 2^20.
    ///
    /// # Errors
    /// What is wrong with the unit; or the host failed.
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

/// What can be checked of a unit without evidence: its method and parameters, whether the method takes the region, and
/// bounds on its totals as in [`Evidence::check`].
///
/// # Errors
/// What is wrong with the unit; or the host failed.
pub(crate) fn check_totals(unit: &Unit) -> Result<(), EvidenceError> {
    let items = items_of(unit)?;
    // Items at random; which ones does not matter.
    let none = Evidence::new(unit.sample_odd_steps, items.count(), 0, Share::default());
    Sample::new(&none, &items).bounds(&items, total(unit))
}

fn total(unit: &Unit) -> Share {
    Share { walked: unit.walked, checksum: unit.checksum }
}

/// The items of a unit's region, as its method takes it.
fn items_of(unit: &Unit) -> Result<Items, EvidenceError> {
    let impossible = |reason: String| EvidenceError::Impossible { reason };
    let layout = unit.layout().map_err(|error| impossible(error.to_string()))?;
    let region = layout.region(unit.unit);
    let region = region.ok_or_else(|| impossible(format!("there is no unit {}", unit.unit)))?;
    Items::of(&unit.method, unit.method_version, &unit.parameters, &region)
        .ok_or_else(|| EvidenceError::Unknown {
            method: unit.method.clone(),
            version: unit.method_version,
            parameters: unit.parameters.clone(),
        })?
        .map_err(|error| impossible(error.to_string()))
}

/// What the slow rules say.
struct Sample {
    /// Of the challenged items together.
    challenged: Share,
    /// Of random items, those challenged included, or of all.
    shares: Vec<Share>,
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

    /// Whether the sums over the challenged items are these.
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

    /// Whether totals are what all items give, or near what some lead to.
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

/// Where the sum of `items` values is, of which some are given at random.
fn interval(values: impl Iterator<Item = u64> + Clone, items: u128) -> (u128, u128) {
    let values = values.map(|value| value as f64);
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let square = values.map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    let apart = ERRORS * (square / count).sqrt() + mean / PARTS;
    let all = |mean: f64| (items as f64 * mean).max(0.0) as u128;
    (all(mean - apart), all(mean + apart) + 1)
}
