//! Moduli that share primes, and their partners.

use std::cmp::Ordering as Order;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use warpint_natural::division::div_rem_by;
use warpint_natural::euclid::Euclid;
use warpint_natural::limbs::compare;
use warpint_natural::product::FastProducts;
use warpint_progress::Watch;
use warpint_transform::cpu::goldilocks::Pool;

use super::{Audit, Finding, Kind, Settings};
use crate::KeysError;
use crate::batch_gcd::{Batch, Times};

/// A number in the order of numbers. Neighbours have equal lengths, as product trees want them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Number(pub(super) Vec<u64>);

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Order {
        compare(&self.0, &other.0)
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Order> {
        Some(self.cmp(other))
    }
}

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

/// Finds the partners of weak moduli among each other, and the factors that follow from them. Each weak
/// modulus gets the partners with the lowest indices: at least [`MOST_PARTNERS`], or all if it has fewer.
///
/// A number with the known factor f has the parts f and n/f, one without a factor has the part n. Two
/// numbers with a common prime either have a part in common, or different parts that are not coprime.
/// [`join`] finds the first kind of partners. A batch gcd of all parts finds the parts of the second kind,
/// and gcds with all other weak numbers find the partners of their owners. Moduli of two primes have
/// prime parts, so that only moduli of three or more primes need these gcds.
pub(super) fn relate(
    weak: &mut [Weak],
    settings: &Settings,
    watch: &dyn Watch,
) -> Result<(), KeysError> {
    let threads = settings.threads;
    let whole: Vec<usize> = (0..weak.len()).filter(|&w| weak[w].factor.is_none()).collect();
    resolve(weak, &whole, Until::Factor, threads, watch)?;
    let owners = join(weak);
    let parts: Vec<&[u64]> = owners.keys().map(|part| &part.0[..]).collect();
    let entangled =
        Batch::new(&parts, settings.memory, threads)?.run(watch, &mut Times::default())?;
    let open: BTreeSet<usize> = entangled
        .iter()
        .flat_map(|common| &owners[&Number(parts[common.index].to_vec())])
        .copied()
        .collect();
    let open: Vec<usize> = open.into_iter().collect();
    resolve(weak, &open, Until::Partners, threads, watch)
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

/// When the gcds of a number end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Until {
    /// At its first proper factor.
    Factor,
    /// At a proper factor and [`MOST_PARTNERS`] partners.
    Partners,
}

/// Computes the gcds of each open number with the other weak numbers, for a proper factor and its
/// partners. Cost: at most one gcd for each such pair.
fn resolve(
    weak: &mut [Weak],
    open: &[usize],
    until: Until,
    threads: usize,
    watch: &dyn Watch,
) -> Result<(), KeysError> {
    let all = &*weak;
    let done = AtomicU64::new(0);
    let resolved = Pool::new(threads).each(open.len(), |i| {
        let (w, mut euclid) = (open[i], Euclid::default());
        let (mut factor, mut partners) = (all[w].factor.clone(), BTreeSet::new());
        for (other, found) in all.iter().enumerate().filter(|(other, _)| *other != w) {
            if watch.is_stopped() {
                return Err(KeysError::Stopped);
            }
            let enough = until == Until::Factor || partners.len() >= MOST_PARTNERS;
            if enough && factor.is_some() {
                break;
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
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        watch.step(done, open.len() as u64, &"gcds of pairs of weak moduli");
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

/// Makes partners of the numbers that have one of their parts in common. Returns the owners of each part.
fn join(weak: &mut [Weak]) -> BTreeMap<Number, Vec<usize>> {
    let mut owners: BTreeMap<Number, Vec<usize>> = BTreeMap::new();
    for (w, found) in weak.iter().enumerate() {
        let Some(factor) = &found.factor else {
            owners.entry(Number(found.number.clone())).or_default().push(w);
            continue;
        };
        let cofactor = div_rem_by(&FastProducts, &found.number, factor).0;
        owners.entry(Number(factor.clone())).or_default().push(w);
        if cofactor != *factor {
            owners.entry(Number(cofactor)).or_default().push(w);
        }
    }
    for owners in owners.values().filter(|owners| owners.len() > 1) {
        for &w in owners {
            let others = owners.iter().copied().filter(|&other| other != w);
            weak[w].partners.extend(others.take(MOST_PARTNERS));
        }
    }
    owners
}
