//! Moduli that share primes, and their partners.

use std::collections::{BTreeMap, BTreeSet};

use warpint_natural::division::div_rem_by;
use warpint_natural::euclid::Euclid;
use warpint_natural::product::FastProducts;
use warpint_progress::Watch;
use warpint_transform::cpu::goldilocks::Pool;

use super::{Audit, Finding, Kind};
use crate::KeysError;

/// A modulus that shares a prime with others.
pub(super) struct Weak {
    pub(super) modulus: Vec<u64>,
    /// The number whose gcds are computed: the modulus without small primes.
    pub(super) number: Vec<u64>,
    /// A proper factor of the number, if one is known.
    pub(super) factor: Option<Vec<u64>>,
    /// The other weak moduli with which it shares a prime, as indices of the weak moduli.
    pub(super) partners: BTreeSet<usize>,
}

/// The largest number of partners that a finding names. A prime may divide thousands of moduli.
pub(super) const MOST_PARTNERS: usize = 100;

impl Weak {
    /// Creates the entry of a modulus whose number has this gcd with others.
    pub(super) fn new(modulus: &[u64], gcd: Vec<u64>, number: &[u64]) -> Self {
        let factor = (gcd != number).then_some(gcd);
        let (modulus, number) = (modulus.to_vec(), number.to_vec());
        Self { modulus, number, factor, partners: BTreeSet::new() }
    }
}

/// Finds the partners of weak moduli among each other, and the factors that follow from them.
pub(super) fn relate(
    weak: &mut [Weak],
    threads: usize,
    watch: &dyn Watch,
) -> Result<(), KeysError> {
    let is_whole = |w: &Weak| w.factor.is_none();
    resolve(weak, &is_whole, threads, watch)?;
    join(weak);
    // The known factor of a number may be a product of primes that it shares with different numbers.
    resolve(weak, &|w| w.partners.is_empty(), threads, watch)
}

/// Returns the findings of weak moduli, which all are distinct moduli of the audit.
pub(super) fn findings(audit: &Audit, weak: &[Weak]) -> Vec<Finding> {
    let index = |w: &Weak| {
        let stored = audit.distinct..audit.keys.len();
        let find = || stored.into_iter().find(|&i| audit.modulus(i) == w.modulus);
        audit.find(&w.modulus).or_else(find)
    };
    let indices: Vec<Option<usize>> = weak.iter().map(index).collect();
    let first = |&w: &usize| indices[w].map(|i| audit.keys[i][0]);
    let found = weak.iter().zip(&indices).filter_map(|(found, index)| {
        let index = (*index)?;
        let shared_with = found.partners.iter().filter_map(first).take(MOST_PARTNERS).collect();
        // If the modulus has small primes, the number itself is a proper factor.
        let whole = (found.number != found.modulus).then(|| found.number.clone());
        let factor = found.factor.clone().or(whole);
        let keys = audit.keys[index].clone();
        Some(Finding { shared_with, factor, ..Finding::new(Kind::SharedPrime, index, keys) })
    });
    found.collect()
}

/// Computes the gcds of each number for which `is_open` holds with all other weak numbers, for a proper
/// factor and its partners. Cost: one gcd for each such pair.
fn resolve(
    weak: &mut [Weak],
    is_open: &dyn Fn(&Weak) -> bool,
    threads: usize,
    watch: &dyn Watch,
) -> Result<(), KeysError> {
    let open: Vec<usize> = (0..weak.len()).filter(|&w| is_open(&weak[w])).collect();
    let all = &*weak;
    let resolved = Pool::new(threads).each(open.len(), |i| {
        let (w, mut euclid) = (open[i], Euclid::default());
        let (mut factor, mut partners) = (None, BTreeSet::new());
        for (other, found) in all.iter().enumerate().filter(|(other, _)| *other != w) {
            if watch.is_stopped() {
                return Err(KeysError::Stopped);
            }
            let gcd = euclid.gcd(&all[w].number, &found.number);
            if gcd != [1] {
                if partners.len() < MOST_PARTNERS {
                    partners.insert(other);
                }
                if gcd != all[w].number && factor.is_none() {
                    factor = Some(gcd.to_vec());
                }
            }
        }
        Ok((factor, partners))
    });
    for (&w, result) in open.iter().zip(resolved) {
        let (factor, partners) = result?;
        for &partner in &partners {
            weak[partner].partners.insert(w);
        }
        if weak[w].factor.is_none() {
            weak[w].factor = factor;
        }
        weak[w].partners.extend(partners);
    }
    Ok(())
}

/// Makes partners of the numbers that have one of their known factors in common.
fn join(weak: &mut [Weak]) {
    let mut owners: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
    for (w, found) in weak.iter().enumerate() {
        let Some(factor) = &found.factor else { continue };
        let cofactor = div_rem_by(&FastProducts, &found.number, factor).0;
        owners.entry(factor.clone()).or_default().push(w);
        if cofactor != *factor {
            owners.entry(cofactor).or_default().push(w);
        }
    }
    for owners in owners.into_values().filter(|owners| owners.len() > 1) {
        for &w in &owners {
            let others = owners.iter().copied().filter(|&other| other != w);
            weak[w].partners.extend(others.take(MOST_PARTNERS));
        }
    }
}
