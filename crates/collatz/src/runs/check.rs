//! Checks of the result in a unit's file, by computations on the host.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.

use num_bigint::BigUint;

use crate::evidence::{EvidenceError, check_totals};
use crate::runs::Unit;
use crate::runs::sample::Sample;
use crate::walk::Walker;
use crate::{Method, Region};

/// An error in the result for a unit.
#[derive(Debug, thiserror::Error)]
pub enum Flaw {
    /// The sum of odd steps over the unit's sample is wrong.
    #[error("its sample has {expected} odd steps, but the file says {found}")]
    Sample {
        /// The sum in the file.
        found: u64,
        /// The recomputed sum.
        expected: u64,
    },
    /// A number of the sample is unresolved, but is not listed as unresolved.
    #[error(
        "{number} of its sample does not come below its start, but is not listed as unresolved"
    )]
    Hidden {
        /// The number that is missing from the list.
        number: u128,
    },
    /// A number is listed as unresolved, but its path falls below its start.
    #[error("{number} is listed as unresolved, but comes below its start after {steps} steps of T")]
    Resolved {
        /// The number that is listed.
        number: u128,
        /// The number of steps of T until the path is below its start.
        steps: u64,
    },
    /// The highest value contradicts the path of its start.
    #[error("its file gives {value} as the highest value, but the path of {start} {really}")]
    Highest {
        /// The highest value according to the file.
        value: BigUint,
        /// The start according to the file.
        start: u128,
        /// The behaviour of the path, in words: `rises to 9232`.
        really: String,
    },
    /// The unit's method, parameters, totals or evidence are wrong.
    #[error(transparent)]
    Work(#[from] Box<EvidenceError>),
}

impl Unit {
    /// Recomputes the sample, the evidence, the path of the highest value and the paths of
    /// unresolved numbers, and checks the totals against bounds. Returns whether the unit has
    /// evidence.
    ///
    /// The check takes about 100 ms of computing time for most units, spread over the CPU's
    /// threads. [`Evidence::check`](crate::evidence::Evidence::check) states the exceptions.
    ///
    /// # Errors
    /// The first error found.
    pub fn check_work(&self) -> Result<bool, Flaw> {
        match self.evidence() {
            Some(evidence) => evidence.check(self).map_err(Box::new)?,
            None => check_totals(self).map_err(Box::new)?,
        }
        // Checked above.
        if let Some(region) = self.layout().ok().and_then(|layout| layout.region(self.unit)) {
            self.check_sample(&region)?;
        }
        self.check_unresolved()?;
        self.check_highest()?;
        Ok(self.evidence().is_some())
    }

    fn check_sample(&self, region: &Region) -> Result<(), Flaw> {
        let sample = Sample::of(region);
        let (found, expected) = (self.sample_odd_steps, sample.odd_steps);
        if found != expected {
            return Err(Flaw::Sample { found, expected });
        }
        let is_hidden = |number: &u128| self.unresolved.binary_search(number).is_err();
        match sample.unresolved.into_iter().find(is_hidden) {
            Some(number) => Err(Flaw::Hidden { number }),
            None => Ok(()),
        }
    }

    fn check_unresolved(&self) -> Result<(), Flaw> {
        for &number in &self.unresolved {
            if let Some(descent) = Walker::default().descend(number) {
                return Err(Flaw::Resolved { number, steps: descent.steps });
            }
        }
        Ok(())
    }

    /// Checks the highest value. Methods other than the sieve report the highest value of the path.
    /// The sieve does not examine the first steps of a path. So the value that it reports must be
    /// on the path, but need not be the highest.
    fn check_highest(&self) -> Result<(), Flaw> {
        let Some(highest) = &self.highest else { return Ok(()) };
        let (value, start) = (highest.value.clone(), highest.start);
        let Some(descent) = Walker::default().descend(start) else {
            let really = "does not come below its start".into();
            return Err(Flaw::Highest { value, start, really });
        };
        let is_exact = self.method != Method::Sieve.name();
        if value > descent.highest || is_exact && value != descent.highest {
            let really = format!("rises to {}", descent.highest);
            return Err(Flaw::Highest { value, start, really });
        }
        if !is_exact && !is_on_path(&value, start) {
            return Err(Flaw::Highest { value, start, really: "does not contain it".into() });
        }
        Ok(())
    }
}

/// The number of steps of T after which the search on a path ends if the path has not reached 1
/// before. The longest known paths from starts below 2^127 take fewer than 3,000 steps.
const MOST_STEPS: u32 = 200_000;

/// Returns whether a value is on a path under n/2 and 3n + 1. A path that reaches 1 is taken to
/// continue with 4, 2, 1, since the sieve may have seen the value in this continuation.
fn is_on_path(value: &BigUint, start: u128) -> bool {
    let one = BigUint::from(1u32);
    let mut x = BigUint::from(start);
    for _ in 0..MOST_STEPS {
        if x == *value {
            return true;
        }
        if x == one {
            break;
        }
        if x.bit(0) {
            x = x * 3u32 + 1u32;
            if x == *value {
                return true;
            }
        }
        x >>= 1u32;
    }
    *value == BigUint::from(4u32) || *value == BigUint::from(2u32)
}
