//! The audit of a list of keys: all checks, and the primes that moduli share.
//!
//! | file | subject |
//! |---|---|
//! | `finding` | kinds of findings, and what a finding says |
//! | `object` | findings as objects of JSON |
//! | `single` | the checks of one modulus |
//! | `shared` | the batch gcd, and the primes that follow from it |
//! | `stored` | the same against the moduli of a store |
//! | `weak` | moduli that share primes, and their partners |

mod finding;
mod object;
mod shared;
mod single;
mod stored;
#[cfg(test)]
mod stored_tests;
#[cfg(test)]
mod tests;
mod weak;

use std::collections::BTreeMap;

use warpint_device::Device;
use warpint_progress::Watch;
use warpint_transform::cpu::goldilocks::Pool;

use crate::batch_gcd::{DeviceTrees, Times};
use crate::{KeyList, KeysError, Store};
pub use finding::{Finding, Kind};
pub use object::{FindingObject, PlaceObject};

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
    /// The device that computes the trees of the batch gcd. `None`: the CPU does.
    pub device: Option<Device>,
}

/// An audit of a list of keys.
pub struct Audit {
    list: KeyList,
    settings: Settings,
    store: Option<stored::Audited>,
    /// The number of distinct moduli in the list.
    distinct: usize,
    /// For each distinct modulus, all its keys in the order of the list. The first ones are those of
    /// the list, in ascending order. Those of the store that findings name follow, in any order.
    keys: Vec<Vec<usize>>,
    /// The moduli of the batch gcd that differ from those of the keys, by their index among the
    /// distinct moduli: cofactors of small primes.
    cofactors: BTreeMap<usize, Vec<u64>>,
    findings: Vec<Finding>,
    times: Times,
    failure: Option<String>,
}

impl Audit {
    /// Sorts the moduli and finds those that occur several times.
    #[must_use]
    pub fn new(list: KeyList, settings: Settings) -> Self {
        // Moduli of one length nearly always differ in their highest limbs, which stand beside the
        // indices: so a comparison reads no modulus.
        let size = |i: usize| list.modulus(i);
        let head = |i: usize| (size(i).len(), size(i).last().copied(), i);
        let mut order: Vec<_> = (0..list.len()).map(head).collect();
        order.sort_unstable_by(|&(len, top, i), &(other_len, other_top, j)| {
            (len, top)
                .cmp(&(other_len, other_top))
                .then_with(|| warpint_natural::limbs::compare(size(i), size(j)))
                .then_with(|| i.cmp(&j))
        });
        let mut keys: Vec<Vec<usize>> = vec![];
        for (_, _, i) in order {
            match keys.last_mut().filter(|some| size(some[0]) == size(i)) {
                Some(some) => some.push(i),
                None => keys.push(vec![i]),
            }
        }
        let distinct = keys.len();
        let (cofactors, findings, times) = (BTreeMap::new(), vec![], Times::default());
        let (store, failure) = (None, None);
        Self { list, settings, store, distinct, keys, cofactors, findings, times, failure }
    }

    /// Audits the keys also against those in a store. Finds out which keys the store has. A key with
    /// the same modulus, file and position is the same key. [`Self::check_together`] adds the
    /// others to the store.
    ///
    /// # Errors
    /// [`KeysError::Damaged`], [`KeysError::File`], [`KeysError::Stopped`].
    pub fn with_store(mut self, store: Store, watch: &dyn Watch) -> Result<Self, KeysError> {
        self.store = Some(stored::Audited::new(&mut self, store, watch)?);
        Ok(self)
    }

    /// Returns the number of distinct moduli of the list.
    #[must_use]
    pub fn distinct(&self) -> usize {
        self.distinct
    }

    /// Returns the number of distinct moduli of the list that the store had before the audit.
    #[must_use]
    pub fn known(&self) -> usize {
        self.store.as_ref().map_or(0, stored::Audited::known)
    }

    /// Returns the times of the parts of [`Self::check_together`].
    #[must_use]
    pub fn times(&self) -> Times {
        self.times
    }

    /// Returns distinct modulus i.
    fn modulus(&self, i: usize) -> &[u64] {
        self.list.modulus(self.keys[i][0])
    }

    /// Returns distinct modulus i without its small prime factors.
    fn number(&self, i: usize) -> &[u64] {
        self.cofactors.get(&i).map_or_else(|| self.modulus(i), Vec::as_slice)
    }

    /// Returns the index of a modulus of the list among the distinct moduli.
    fn find(&self, modulus: &[u64]) -> Option<usize> {
        let compare = |keys: &Vec<usize>| {
            warpint_natural::limbs::compare(self.list.modulus(keys[0]), modulus)
        };
        self.keys[..self.distinct].binary_search_by(compare).ok()
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
                    let cofactor = single::cofactor(self.modulus(finding.modulus), &finding);
                    if let Some(cofactor) = cofactor {
                        self.cofactors.insert(finding.modulus, cofactor);
                    }
                    self.findings.push(finding);
                }
            }
        }
        Ok(())
    }

    /// Finds the moduli that share a prime, by the batch gcd. `planned` receives a description of the
    /// work, with its memory need, before it begins. `watch` receives the progress as steps. With a
    /// store, it also finds the moduli that share a prime with one of the store, and adds each group
    /// of new moduli to the store when the group is done. If a device fails, the CPU does the rest of its
    /// work.
    ///
    /// # Errors
    /// [`KeysError::Memory`], [`KeysError::Stopped`]; with a store, those of [`Self::with_store`] too.
    pub fn check_together(
        &mut self,
        planned: &mut dyn FnMut(&str),
        watch: &dyn Watch,
    ) -> Result<(), KeysError> {
        let trees = self.settings.device.as_ref().map(DeviceTrees::new).transpose();
        let found = trees
            .map_err(KeysError::from)
            .and_then(|trees| self.together(trees.as_ref(), planned, watch));
        let found = match found {
            Err(error) if error.is_of_device() => {
                self.failure = Some(error.to_string());
                self.together(None, planned, watch)?
            }
            found => found?,
        };
        self.findings.extend(found);
        Ok(())
    }

    /// Returns why the device was given up, so that the CPU did its work. `None` if it was not. The
    /// caller tells the user.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    fn together(
        &mut self,
        trees: Option<&DeviceTrees>,
        planned: &mut dyn FnMut(&str),
        watch: &dyn Watch,
    ) -> Result<Vec<Finding>, KeysError> {
        let Some(mut store) = self.store.take() else {
            return shared::find(self, trees, planned, watch);
        };
        let found = store.find(self, trees, planned, watch);
        self.store = Some(store);
        found
    }

    /// Returns the keys and the findings: moduli in ascending order, and the findings of one modulus
    /// in the order of their kinds.
    #[must_use]
    pub fn finish(self) -> (KeyList, Vec<Finding>) {
        let Self { list, keys, mut findings, .. } = self;
        let modulus = |finding: &Finding| list.modulus(keys[finding.modulus][0]);
        findings.sort_by(|a, b| {
            let order = warpint_natural::limbs::compare(modulus(a), modulus(b));
            order.then(a.kind.cmp(&b.kind))
        });
        (list, findings)
    }
}
