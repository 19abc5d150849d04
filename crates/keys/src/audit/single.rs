//! The checks of one modulus and of its exponents.

use std::collections::BTreeMap;

use super::{Audit, FERMAT_STEPS, Finding, Kind};
use crate::checks::{
    ExponentFlaw, PerfectPowers, close_factors, exponent, roca, small_factor, without_small_factors,
};
use crate::read::bits;

/// The checks, with their tables.
#[derive(Default)]
pub(super) struct Checks {
    powers: PerfectPowers,
}

impl Checks {
    /// Returns the findings of distinct modulus i.
    pub(super) fn run(&self, audit: &Audit, i: usize) -> Vec<Finding> {
        let (n, keys) = (audit.modulus(i), &audit.keys[i]);
        let mut all = vec![];
        let mut add = |kind, factor| {
            all.push(Finding { factor, ..Finding::new(kind, i, keys.clone()) });
        };
        if keys.len() > 1 {
            add(Kind::Duplicate, None);
        }
        match small_factor(n) {
            Some(2) => add(Kind::Even, Some(vec![2])),
            Some(p) => add(Kind::SmallFactor, Some(vec![p])),
            // 2 has no proper factor.
            None if n == [2] => add(Kind::Even, None),
            None => {}
        }
        if let Some((base, _)) = self.powers.find(n) {
            add(Kind::PerfectPower, Some(base));
        } else if let Some((p, _)) = close_factors(n, FERMAT_STEPS) {
            // The square of a prime is a perfect power.
            add(Kind::ClosePrimes, Some(p));
        }
        if roca(n) {
            add(Kind::Roca, None);
        }
        match bits(n) {
            ..1024 => add(Kind::Below1024Bits, None),
            1024..2048 => add(Kind::Below2048Bits, None),
            _ => {}
        }
        let mut flaws: BTreeMap<Kind, Vec<usize>> = BTreeMap::new();
        for &key in keys {
            let flaw = audit.list.exponent(key).and_then(exponent);
            let kind = flaw.map(|flaw| match flaw {
                ExponentFlaw::One => Kind::ExponentOne,
                ExponentFlaw::Even => Kind::ExponentEven,
                ExponentFlaw::Small => Kind::ExponentSmall,
                ExponentFlaw::Large => Kind::ExponentLarge,
            });
            if let Some(kind) = kind {
                flaws.entry(kind).or_default().push(key);
            }
        }
        all.extend(flaws.into_iter().map(|(kind, keys)| Finding::new(kind, i, keys)));
        all
    }
}

/// Returns the cofactor of the small primes of a modulus, if a finding says that it has some. Two
/// moduli that have only small primes in common share no prime that matters.
pub(super) fn cofactor(n: &[u64], finding: &Finding) -> Option<Vec<u64>> {
    matches!(finding.kind, Kind::Even | Kind::SmallFactor).then(|| without_small_factors(n))
}
