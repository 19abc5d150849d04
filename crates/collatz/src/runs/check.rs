//! Whether a unit is what its file says: all that the host can recompute in some milliseconds.

use num_bigint::BigUint;

use crate::evidence::{EvidenceError, check_totals};
use crate::runs::Unit;
use crate::runs::sample::Sample;
use crate::walk::Walker;
use crate::{Method, Region};

/// What is wrong with a unit.
#[derive(Debug, thiserror::Error)]
pub enum Flaw {
    /// The sample of its numbers gives another sum.
    #[error("its sample is said to have {found} odd steps, and has {expected}")]
    Sample {
        /// In the file.
        found: u64,
        /// Recomputed.
        expected: u64,
    },
    /// An unresolved number is missing.
    #[error(
        "{number} of its sample does not come below its start, and is not among its unresolved numbers"
    )]
    Hidden {
        /// The number.
        number: u128,
    },
    /// A number that comes down.
    #[error(
        "{number} is said to be unresolved, but comes below its start after {steps} steps of T"
    )]
    Resolved {
        /// The number.
        number: u128,
        /// Steps of T.
        steps: u64,
    },
    /// No path rises so.
    #[error("its highest value is said to be {value}, but the path of {start} {really}")]
    Highest {
        /// In the file.
        value: BigUint,
        /// In the file.
        start: u128,
        /// `rises to 9232`.
        really: String,
    },
    /// Method, parameters, totals or evidence.
    #[error(transparent)]
    Work(#[from] Box<EvidenceError>),
}

impl Unit {
    /// Recomputes the sample, the evidence, the path of the highest value and the paths of unresolved numbers, and
    /// bounds the totals. Returns whether there is evidence.
    ///
    /// Cost: some 100 ms of one core, shared by all.
    ///
    /// # Errors
    /// The first thing that is wrong.
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

    /// The sieve begins to look at a path after some steps, and its values need only be on the path; others have the
    /// highest of it.
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
            return Err(Flaw::Highest { value, start, really: "does not meet it".into() });
        }
        Ok(())
    }
}

/// Most steps of T until a path is at 1; the known numbers take fewer than 3,000.
const MOST_STEPS: u32 = 200_000;

/// Whether a value is on a path under n/2 and 3n + 1, which goes on with 4, 2, 1 after its end: the sieve may have looked at it
/// there.
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
