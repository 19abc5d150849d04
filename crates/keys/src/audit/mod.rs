//! The audit of a list of keys: all checks, and the primes that moduli share.
//!
//! | file | subject |
//! |---|---|
//! | `finding` | kinds of findings, and what a finding says |
//! | `single` | the checks of one modulus |
//! | `shared` | the batch gcd, and the primes that follow from it |

mod finding;
mod shared;
mod single;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use warpint_progress::Watch;
use warpint_transform::cpu::goldilocks::Pool;

use crate::{KeyList, KeysError};
pub use finding::{Finding, Kind};

/// The number of steps of Fermat's method for each modulus.
pub const FERMAT_STEPS: u32 = 1000;

/// The number of moduli that a thread checks between two looks at the watch.
const CHUNK: usize = 64;

/// The settings of an audit.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The number of threads.
    pub threads: usize,
    /// The largest amount of memory for the batch gcd in bytes, besides the keys.
    pub memory: u64,
}

/// An audit of a list of keys.
pub struct Audit<'a> {
    list: &'a KeyList,
    settings: Settings,
    /// The first key of each distinct modulus, in the order of the moduli.
    distinct: Vec<usize>,
    /// For each distinct modulus, all its keys in the order of the list.
    keys: Vec<Vec<usize>>,
    /// The moduli of the batch gcd that differ from those of the keys, by their index among the
    /// distinct moduli: cofactors of small primes.
    cofactors: BTreeMap<usize, Vec<u64>>,
    findings: Vec<Finding>,
}

impl<'a> Audit<'a> {
    /// Sorts the moduli and finds those that occur several times.
    #[must_use]
    pub fn new(list: &'a KeyList, settings: Settings) -> Self {
        let mut order: Vec<usize> = (0..list.len()).collect();
        let size = |i: usize| list.modulus(i);
        order.sort_by(|&i, &j| {
            warpint_natural::limbs::compare(size(i), size(j)).then_with(|| i.cmp(&j))
        });
        let mut keys: Vec<Vec<usize>> = vec![];
        for i in order {
            match keys.last_mut().filter(|some| size(some[0]) == size(i)) {
                Some(some) => some.push(i),
                None => keys.push(vec![i]),
            }
        }
        let distinct = keys.iter().map(|some| some[0]).collect();
        Self { list, settings, distinct, keys, cofactors: BTreeMap::new(), findings: vec![] }
    }

    /// Returns the number of distinct moduli.
    #[must_use]
    pub fn distinct(&self) -> usize {
        self.distinct.len()
    }

    /// Returns distinct modulus i.
    fn modulus(&self, i: usize) -> &'a [u64] {
        self.list.modulus(self.distinct[i])
    }

    /// Checks every modulus and every exponent on its own. `watch` receives the progress as steps, in
    /// moduli.
    ///
    /// # Errors
    /// [`KeysError::Stopped`].
    pub fn check_each(&mut self, watch: &dyn Watch) -> Result<(), KeysError> {
        let pool = Pool::new(self.settings.threads);
        let checks = single::Checks::default();
        let total = self.distinct() as u64;
        // Large parts, so that the progress is seen.
        let part = CHUNK * 16 * self.settings.threads.max(1);
        for begin in (0..self.distinct()).step_by(part) {
            let end = (begin + part).min(self.distinct());
            watch.step(begin as u64, total, &"checks of each modulus");
            let this = &*self;
            let found = pool.each((end - begin).div_ceil(CHUNK), |chunk| {
                let from = begin + chunk * CHUNK;
                let mut all = vec![];
                for i in from..(from + CHUNK).min(end) {
                    if watch.is_stopped() {
                        return Err(KeysError::Stopped);
                    }
                    all.extend(checks.run(this, i));
                }
                Ok(all)
            });
            for some in found {
                for finding in some? {
                    if let Some(cofactor) =
                        single::cofactor(self.modulus(finding.modulus), &finding)
                    {
                        self.cofactors.insert(finding.modulus, cofactor);
                    }
                    self.findings.push(finding);
                }
            }
        }
        Ok(())
    }

    /// Finds the moduli that share a prime, by the batch gcd. `planned` receives a description of the
    /// work, with its memory need, before it begins. `watch` receives the progress as steps.
    ///
    /// # Errors
    /// [`KeysError::Memory`], [`KeysError::Stopped`].
    pub fn check_together(
        &mut self,
        planned: &mut dyn FnMut(&str),
        watch: &dyn Watch,
    ) -> Result<(), KeysError> {
        let found = shared::find(self, planned, watch)?;
        self.findings.extend(found);
        Ok(())
    }

    /// Returns the findings: moduli in ascending order, and the findings of one modulus in the order
    /// of their kinds.
    #[must_use]
    pub fn finish(mut self) -> Vec<Finding> {
        self.findings.sort_by_key(|finding| (finding.modulus, finding.kind));
        self.findings
    }
}
