//! Audits: random units, or random parts of units, verified again by another method.

use std::path::PathBuf;

use super::Files;
use crate::evidence::draw::Draw;
use crate::runs::sample::Sample;
use crate::runs::{HighestText, Unit};
use crate::sieve::{CpuSieve, Sieve};
use crate::table::{TableMethod, TableOptions};
use crate::{Method, Plain, Region, Verified, Verifier, Watch};

/// Returns log2 of the count of numbers that a method verifies with a few CPU threads in a few
/// seconds.
fn affordable_bits(method: Method) -> u32 {
    match method {
        Method::Sieve => 34,
        Method::Table => 30,
        Method::Plain => 22,
    }
}

/// A unit, or a part of one, and its second verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Audit {
    /// The path of the unit's file.
    pub path: PathBuf,
    /// The numbers of the unit, or some of them.
    pub region: Region,
    /// Whether the region is the whole unit.
    pub is_whole: bool,
    /// The method of the audit, different from the unit's.
    pub method: Method,
    /// The result of the audit.
    pub outcome: AuditOutcome,
    /// The index of the unit among the sound files that were read.
    unit: usize,
}

/// The result of an audit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditOutcome {
    /// The audit was not performed yet.
    Planned,
    /// Everything that can be compared agrees.
    Agrees,
    /// A quantity differs; contains its name.
    Differs(&'static str),
    /// The second verification failed; contains the reason.
    Failed(String),
}

impl Files {
    /// Chooses `count` random units to audit, or all if there are fewer, and returns the planned
    /// audits. A chosen unit that no other method supports gets no audit.
    ///
    /// The choice depends only on the seed and the files.
    #[must_use]
    pub fn plan_audits(&self, count: u64, seed: u64) -> Vec<Audit> {
        let draw = Draw::new(seed);
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(self.units.len());
        let mut left: Vec<usize> = (0..self.units.len()).collect();
        let one = |k: usize| {
            let (k, n) = (k as u64, left.len() as u128);
            let unit = left.swap_remove(draw.below(2 * k, n) as usize);
            let (path, found) = &self.units[unit];
            let region = found.layout().ok().and_then(|layout| layout.region(found.unit))?;
            let (method, part) = choose(&found.method, &region, |n| draw.below(2 * k + 1, n))?;
            let (path, is_whole) = (path.clone(), part == region);
            Some(Audit {
                path,
                region: part,
                is_whole,
                method,
                outcome: AuditOutcome::Planned,
                unit,
            })
        };
        (0..count).map(one).collect::<Vec<_>>().into_iter().flatten().collect()
    }

    /// Performs an audit on the CPU and returns the audit with its result. Returns `None` if the
    /// watch stopped the audit. Verified numbers are reported to the watch. `planned` must be an
    /// audit that [`Self::plan_audits`] of the same files returned.
    ///
    /// A unit that agrees as a whole no longer counts as lacking evidence.
    #[must_use]
    pub fn audit(&mut self, planned: Audit, watch: &dyn Watch) -> Option<Audit> {
        let unit = &self.units[planned.unit].1;
        let verified = verifier(planned.method).and_then(|mut v| v.verify(&planned.region, watch));
        let outcome = match verified {
            Ok(verified) => match compare(unit, &planned, verified?) {
                None => AuditOutcome::Agrees,
                Some(what) => AuditOutcome::Differs(what),
            },
            Err(error) => AuditOutcome::Failed(error.to_string()),
        };
        if outcome == AuditOutcome::Agrees && planned.is_whole {
            self.lacking.retain(|&lacking| lacking != planned.unit);
        }
        Some(Audit { outcome, ..planned })
    }
}

fn verifier(method: Method) -> Result<Box<dyn Verifier>, crate::CollatzError> {
    Ok(match method {
        Method::Sieve => Box::new(Sieve::new(CpuSieve::default())),
        Method::Table => Box::new(TableMethod::new(TableOptions::default())?),
        Method::Plain => Box::new(Plain::default()),
    })
}

/// Returns the method for the audit of a unit, and the part of the unit that this method verifies.
/// Returns `None` if no other method supports the unit. A unit of the sieve is verified by the
/// table method, and a unit of the table method by the sieve. If the chosen method does not support
/// the part, the plain method is used instead. A unit of the plain method is verified by the sieve,
/// or by the table method if the sieve does not support the part.
fn choose(
    method: &str,
    region: &Region,
    mut draw: impl FnMut(u128) -> u128,
) -> Option<(Method, Region)> {
    let others = match method {
        method if method == Method::Sieve.name() => [Method::Table, Method::Plain],
        method if method == Method::Table.name() => [Method::Sieve, Method::Plain],
        _ => [Method::Sieve, Method::Table],
    };
    others
        .into_iter()
        .filter_map(|other| {
            let part = part(region, affordable_bits(other), &mut draw);
            verifier(other).ok()?.takes(&part).is_ok().then_some((other, part))
        })
        .next()
}

/// Returns a random part of 2^bits numbers of a region, or the whole region if it has fewer than
/// 2^(bits + 1) numbers. `draw` returns a random number below its argument.
fn part(region: &Region, bits: u32, mut draw: impl FnMut(u128) -> u128) -> Region {
    if region.numbers() >> bits <= 1 {
        return *region;
    }
    match *region {
        Region::Interval { from, to } => {
            let from = from + (draw((to - from) >> bits) << bits);
            Region::Interval { from, to: from + (1 << bits) }
        }
        Region::Class { bits: all, low_bits, residue } => {
            // From a class mod 2^low_bits to one with more low bits.
            let more = all - low_bits - bits;
            let residue = residue | draw(1 << more) << low_bits;
            Region::Class { bits: all, low_bits: low_bits + more, residue }
        }
    }
}

/// Compares a unit with the second verification of the unit or of a part of it. Returns the name of
/// the first quantity in which the two contradict each other. Returns `None` if they agree.
fn compare(unit: &Unit, audit: &Audit, verified: Verified) -> Option<&'static str> {
    let sample = Sample::of(&audit.region);
    let mut unresolved = verified.unresolved;
    unresolved.extend(sample.unresolved);
    unresolved.sort_unstable();
    unresolved.dedup();
    let of_part = |n: &&u128| audit.region.contains(**n);
    if !unit.unresolved.iter().filter(of_part).eq(&unresolved) {
        return Some("the unresolved numbers");
    }
    let counts = (sample.numbers, sample.odd_steps);
    if audit.is_whole && (unit.sample_numbers, unit.sample_odd_steps) != counts {
        return Some("the sample checksums");
    }
    let (Some(said), Some(found)) = (&unit.highest, verified.highest) else { return None };
    let HighestText { value: said, .. } = said;
    // The sieve does not see all paths from their starts on.
    let (said_exact, found_exact) =
        (unit.method != Method::Sieve.name(), audit.method != Method::Sieve);
    let wrong = match (said_exact, found_exact) {
        (true, true) if audit.is_whole => *said != found.value,
        (true, _) => *said < found.value,
        (false, true) if audit.is_whole => *said > found.value,
        (false, _) => false,
    };
    wrong.then_some("the highest values")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_parts() {
        let class = Region::class(71, 20, 12_345).unwrap();
        let interval = Region::interval(3 << 40, (3 << 40) + (5 << 35)).unwrap();
        for region in [class, interval] {
            for bits in [0, 7, 30, 33] {
                for draw in [|_| 0, |n| n - 1, |n: u128| n / 3] {
                    let part = part(&region, bits, draw);
                    assert_eq!(part.numbers(), 1 << bits);
                    for index in [0, part.numbers() / 2, part.numbers() - 1] {
                        assert!(region.contains(part.nth(index).unwrap()), "{part} of {region}");
                    }
                }
            }
            assert_eq!(part(&region, 60, |_| 0), region);
        }
    }

    #[test]
    fn the_method_is_another() {
        let small = Region::interval(1 << 40, (1 << 40) + (1 << 20)).unwrap();
        let deep = Region::class(71, 38, 7).unwrap();
        let high = Region::interval(1 << 126, (1 << 126) + (1 << 40)).unwrap();
        let chosen = |method, region: &Region| choose(method, region, |_| 0).unwrap();
        assert_eq!(chosen("sieve", &small), (Method::Table, small));
        assert_eq!(chosen("table", &small), (Method::Sieve, small));
        assert_eq!(chosen("plain", &small), (Method::Sieve, small));
        // The table method does not support a class of 41 low bits, and the sieve does not support
        // such numbers.
        let (method, part) = chosen("sieve", &deep);
        assert_eq!((method, part.numbers()), (Method::Plain, 1 << 22));
        let (method, part) = chosen("plain", &high);
        assert_eq!((method, part.numbers()), (Method::Table, 1 << 30));
    }
}
