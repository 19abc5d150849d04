//! Hints for a request with an unusable transform length: the nearest usable lengths.

use std::fmt;

use warpint_files::ErrorKind;
use warpint_progress::units::words;

use super::{PlanError, PlanRequest};
use crate::engine::{EngineError, EngineFamily};

/// The reason why no plan fits a request. If the requested length is unusable
/// ([`PlanError::Unusable`]), the message also names the nearest usable lengths, one shorter and
/// one longer: `…; near it, 10K and 16K would do`.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanRefusal {
    /// The reason itself, without the usable lengths.
    pub error: PlanError,
    /// The nearest usable lengths in words, ascending: at most one shorter and one longer. The list
    /// is empty unless `error` is [`PlanError::Unusable`].
    pub near: Vec<usize>,
}

impl PlanRefusal {
    /// Returns the kind of the error, which is the kind of `error`.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.error.kind()
    }
}

impl fmt::Display for PlanRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.error.fmt(f)?;
        if self.near.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = self.near.iter().copied().map(words).collect();
        write!(f, "; near it, {} would do", names.join(" and "))
    }
}

impl std::error::Error for PlanRefusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

impl PlanError {
    /// Returns the error together with the nearest usable lengths. The lengths are sought only if
    /// the requested length is unusable ([`PlanError::Unusable`]). `request` must name the CPU or a
    /// device: for `Auto`, lengths on the CPU are returned.
    #[must_use]
    pub fn of_request(self, request: &PlanRequest) -> PlanRefusal {
        let near = near(&self, request).unwrap_or_default();
        PlanRefusal { error: self, near }
    }
}

fn near(error: &PlanError, request: &PlanRequest) -> Option<Vec<usize>> {
    let PlanError::Unusable(EngineError::Unusable { engine, number, length, .. }) = error else {
        return None;
    };
    let (families, _) = request.families().ok()?;
    let family = families.into_iter().find(|family| family.name() == *engine)?;
    let number = Some(number).filter(|number| number.is_mersenne())?;
    let (shorter, longer) = neighbours(family, number.exponent(), *length);
    Some(shorter.into_iter().chain(longer).collect())
}

/// Returns the longest length below `n` and the shortest length above `n` at which the family
/// supports M_p with enough margin. Each of the two results is `None` if there is no such length.
fn neighbours(family: &dyn EngineFamily, p: u32, n: usize) -> (Option<usize>, Option<usize>) {
    let usable = |n: &usize| family.margin(p, *n).is_ok_and(|margin| margin.bits >= 0.0);
    let shorter = family.lengths(1, n.saturating_sub(1)).into_iter().rev().find(usable);
    let longer = family.lengths(n.saturating_add(1), p as usize).into_iter().find(usable);
    (shorter, longer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{DeviceChoice, Exponent, Plan, engine};

    fn refusal(p: u64, engine: &'static str, length: usize) -> String {
        let request = PlanRequest {
            engine: Some(engine),
            device: DeviceChoice::Cpu,
            length: Some(length),
            threads: Some(1),
            lane: 0,
            in_gangs: false,
        };
        let error = Plan::new(Exponent::new(p).unwrap(), &request).unwrap_err();
        let cause = error.to_string();
        let said = error.of_request(&request);
        assert!(std::error::Error::source(&said).is_some_and(|cause| cause.is::<PlanError>()));
        said.to_string().strip_prefix(&cause).unwrap().to_owned()
    }

    #[test]
    fn a_refused_length_is_answered_with_its_neighbours() {
        for (p, engine, length, said) in [
            // Not a length of the family: within and beyond the usable lengths.
            (216_091, "fp64", 12_000, "; near it, 11520 and 12096 would do"),
            (216_091, "goldilocks", 12_000, "; near it, 10K and 16K would do"),
            // Words too long, words too short, and more words than any length has.
            (216_091, "goldilocks", 16, "; near it, 10K would do"),
            (216_091, "goldilocks", 1 << 18, "; near it, 160K would do"),
            (61, "word", usize::MAX, "; near it, 1 would do"),
        ] {
            assert_eq!(refusal(p, engine, length), said, "M{p} by {engine} in {length}");
        }
    }

    #[test]
    fn neighbours_make_plans_and_nothing_lies_between() {
        let p = Exponent::new(4_423).unwrap();
        for engine in ["fp64", "goldilocks"] {
            let family = engine::family(engine).unwrap();
            let makes_a_plan = |n| Plan::of_family(p, family, Some(n), Some(1)).is_ok();
            for n in (1..4_600).step_by(7) {
                let (shorter, longer) = neighbours(family, p.get(), n);
                assert!(shorter.into_iter().chain(longer).all(makes_a_plan), "{engine} {n}");
                let between = shorter.unwrap_or(0) + 1..longer.unwrap_or(5_000);
                assert!(between.filter(|&m| m != n).all(|m| !makes_a_plan(m)), "{engine} {n}");
            }
        }
    }
}
