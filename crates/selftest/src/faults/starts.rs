//! The verified states of a test, from which the test can be started again.

use warpint_mersenne::checkpoint::{Confirmation, State};
use warpint_mersenne::primality::registers;
use warpint_mersenne::{EngineFamily, Event, Exponent, Number, Residue, TestKind};

use super::sitting::{Folder, Run, store};
use super::wrappers::Faulty;
use crate::vectors;

/// A state of a test from which the test can be started again.
pub(super) struct Start {
    /// The saved state from which the test continues. `None` for the beginning of the test.
    pub(super) state: Option<State>,
    /// For each register, the number of its changes from this state to the end of the test.
    pub(super) changes: [u64; registers::COUNT],
}

impl Start {
    pub(super) fn iteration(&self) -> u64 {
        self.state.as_ref().map_or(0, |state| state.iteration)
    }
}

/// A test that ended with the right residue from each of several starts.
pub(super) struct Prepared {
    /// The starts in ascending order of their iterations. The first is the beginning of the test.
    pub(super) starts: Vec<Start>,
    /// The right final residue of the test.
    pub(super) right: Residue,
}

/// Runs a test in `count` sittings (runs) of equal length. Each sitting except the last leaves a
/// verified state. Then runs the test again to its end from the beginning and from each of these
/// states.
///
/// # Errors
/// A check failed, or a final residue differs from the known answer or from the residue of another
/// run. This means that the family is not sound or that a check raises false alarms.
pub(super) fn prepare(
    family: &'static dyn EngineFamily,
    kind: TestKind,
    number: Number,
    count: u64,
) -> Result<Prepared, String> {
    let total = kind.iterations(number);
    let count = count.clamp(1, total);
    let folder = Folder::new()?;
    let mut store = store(&folder, kind, number)?;
    let mut states = vec![None];
    for i in 1..count {
        let mut run = Run::new(kind, number).stored(&mut store);
        run.spec.iterations = Some(i * total / count);
        silent(run.by(family)?.outcome()?)?;
        let newest = store.load_newest().map_err(|e| e.to_string())?;
        let (state, path) = newest.ok_or("a test that reached its target left no state")?;
        // A Jacobi check at the end of a sitting has confirmed this state.
        let confirmed = if kind.is_checked() { Confirmation::No } else { Confirmation::Jacobi };
        if kind.is_checked() && !state.is_verified() {
            return Err(format!("{} is not verified", path.display()));
        }
        states.push(Some(State { confirmed, ..state }));
    }
    let (outcome, _) = Run::new(kind, number).stored(&mut store).by(family)?.outcome()?;
    let right = outcome.residue;
    check_known(kind, number, &right)?;
    drop(store);
    let starts: Result<Vec<Start>, String> =
        states.into_iter().map(|state| sound(family, kind, number, state, &right)).collect();
    Ok(Prepared { starts: starts?, right })
}

/// Runs a test from a state to its end, and counts the changes of each register. Returns the state
/// with these counts. Returns an error if a check fails or the final residue is not `right`.
fn sound(
    family: &'static dyn EngineFamily,
    kind: TestKind,
    number: Number,
    state: Option<State>,
    right: &Residue,
) -> Result<Start, String> {
    let counting = Faulty::counting(family);
    let folder = Folder::new()?;
    let mut store = store(&folder, kind, number)?;
    if let Some(state) = &state {
        store.save(state).map_err(|e| e.to_string())?;
    }
    let (found, _) = silent(Run::new(kind, number).stored(&mut store).by(counting)?.outcome()?)?;
    let start = Start { state, changes: counting.changes() };
    if found.residue != *right {
        let (from, of, expected) =
            (start.iteration(), found.residue.res64_hex(), right.res64_hex());
        return Err(format!("res64 {of} from iteration {from}, not {expected}"));
    }
    Ok(start)
}

/// Returns the outcome and the events unchanged. Returns an error instead if the events include
/// anything other than progress, such as a failed check.
fn silent<T>((outcome, events): (T, Vec<Event>)) -> Result<(T, Vec<Event>), String> {
    let alarm = events.iter().find(|event| {
        !matches!(
            event,
            Event::Started { .. }
                | Event::Progress { .. }
                | Event::Saved { .. }
                | Event::Verified { .. }
        )
    });
    match alarm {
        Some(event) => Err(format!("without a fault: {event:?}")),
        None => Ok((outcome, events)),
    }
}

/// Returns an error if a final residue differs from the known answer. Does nothing if no answer is
/// known, as for all numbers but Mersenne numbers.
fn check_known(kind: TestKind, number: Number, found: &Residue) -> Result<(), String> {
    let Some(p) = number.mersenne_exponent().map(Exponent::get) else { return Ok(()) };
    let primes = vectors::mersenne_primes().map_err(|e| e.to_string())?.exponents;
    let small = vectors::small_residues().map_err(|e| e.to_string())?.residues;
    let known = small.into_iter().find(|known| known.p == p);
    let expected = match kind {
        TestKind::Prp if primes.contains(&p) => Some("0000000000000001".to_owned()),
        TestKind::Ll(_) if primes.contains(&p) => Some("0000000000000000".to_owned()),
        TestKind::Prp => known.map(|known| known.prp),
        TestKind::Ll(_) => known.map(|known| known.ll),
        _ => None,
    };
    let found = found.res64_hex();
    match expected {
        Some(expected) if expected != found => {
            Err(format!("res64 {found} of M{p}, not the known {expected}"))
        }
        _ => Ok(()),
    }
}
