//! Primes that moduli share.

use std::collections::{BTreeMap, BTreeSet};

use warpint_natural::division::div_rem_by;
use warpint_natural::euclid::Euclid;
use warpint_natural::product::FastProducts;
use warpint_progress::Watch;
use warpint_transform::cpu::goldilocks::Pool;

use super::{Audit, Finding, Kind};
use crate::KeysError;
use crate::batch_gcd::{Batch, Common};

/// A modulus that shares a prime: its index among the distinct moduli, the number whose gcds are
/// computed (the modulus without small primes), and a proper factor of this number, if one is known.
struct Weak<'a> {
    index: usize,
    number: &'a [u64],
    factor: Option<Vec<u64>>,
    /// The other weak moduli with which it shares a prime, as indices of the weak moduli.
    partners: BTreeSet<usize>,
}

/// The largest number of partners that a finding names. A prime may divide thousands of moduli.
const MOST_PARTNERS: usize = 100;

/// Returns the findings of moduli that share a prime with another distinct modulus.
pub(super) fn find(
    audit: &Audit,
    planned: &mut dyn FnMut(&str),
    watch: &dyn Watch,
) -> Result<Vec<Finding>, KeysError> {
    let number = |i: usize| audit.cofactors.get(&i).map_or_else(|| audit.modulus(i), Vec::as_slice);
    // Cofactors of small primes may be 1.
    let indices: Vec<usize> = (0..audit.distinct()).filter(|&i| *number(i) != [1]).collect();
    let numbers: Vec<&[u64]> = indices.iter().map(|&i| number(i)).collect();
    let batch = Batch::new(&numbers, audit.settings.memory, audit.settings.threads)?;
    planned(&batch.to_string());
    let common = batch.run(watch)?;
    let mut weak: Vec<Weak> = common
        .into_iter()
        .map(|Common { index, gcd }| Weak {
            index: indices[index],
            number: numbers[index],
            factor: (gcd != numbers[index]).then_some(gcd),
            partners: BTreeSet::new(),
        })
        .collect();
    resolve(&mut weak, audit.settings.threads, watch)?;
    join(&mut weak);
    let first = |w: usize| audit.distinct[weak[w].index];
    let findings = weak.iter().map(|found| {
        let shared_with = found.partners.iter().take(MOST_PARTNERS).map(|&w| first(w)).collect();
        // If the modulus has small primes, the number itself is a proper factor.
        let whole = (found.number != audit.modulus(found.index)).then(|| found.number.to_vec());
        let factor = found.factor.clone().or(whole);
        let keys = audit.keys[found.index].clone();
        Finding { shared_with, factor, ..Finding::new(Kind::SharedPrime, found.index, keys) }
    });
    Ok(findings.collect())
}

/// Computes the gcds of each number whose primes are all shared with all other weak numbers, for a
/// proper factor and its partners. Cost: one gcd for each such pair.
fn resolve(weak: &mut [Weak], threads: usize, watch: &dyn Watch) -> Result<(), KeysError> {
    let open: Vec<usize> = (0..weak.len()).filter(|&w| weak[w].factor.is_none()).collect();
    let all = &*weak;
    let resolved = Pool::new(threads).each(open.len(), |i| {
        let (w, mut euclid) = (open[i], Euclid::default());
        let (mut factor, mut partners) = (None, BTreeSet::new());
        for (other, found) in all.iter().enumerate().filter(|(other, _)| *other != w) {
            if watch.is_stopped() {
                return Err(KeysError::Stopped);
            }
            let gcd = euclid.gcd(all[w].number, found.number);
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
        weak[w].factor = factor;
        weak[w].partners.extend(partners);
    }
    Ok(())
}

/// Makes partners of the numbers that have one of their known factors in common.
fn join(weak: &mut [Weak]) {
    let mut owners: BTreeMap<Vec<u64>, Vec<usize>> = BTreeMap::new();
    for (w, found) in weak.iter().enumerate() {
        let Some(factor) = &found.factor else { continue };
        let cofactor = div_rem_by(&FastProducts, found.number, factor).0;
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
