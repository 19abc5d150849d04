//! Moments of a test from which it can be begun again: its verified states.

use warpint_mersenne::checkpoint::{Confirmation, State};
use warpint_mersenne::primality::registers;
use warpint_mersenne::{EngineFamily, Event, Exponent, Residue, TestKind};

use super::sitting::{Folder, Run, store};
use super::wrappers::Faulty;
use crate::vectors;

/// A moment from which a test goes on.
pub(super) struct Start {
    /// `None`: the beginning.
    pub(super) state: Option<State>,
    /// The changes of each register from here to the end.
    pub(super) changes: [u64; registers::COUNT],
}

impl Start {
    pub(super) fn iteration(&self) -> u64 {
        self.state.as_ref().map_or(0, |state| state.iteration)
    }
}

/// A test that was sound from every start.
pub(super) struct Prepared {
    /// Ascending, the beginning first.
    pub(super) starts: Vec<Start>,
    /// The residue at the end.
    pub(super) right: Residue,
}

/// Runs a test in so many sittings of equal length, each of which leaves a verified state, and
/// then from each of these states to the end.
///
/// # Errors
/// A check that failed, or an end that is not the known answer or that of another sitting: the
/// family is not sound, or a check raises false alarms.
pub(super) fn prepare(
    family: &'static dyn EngineFamily,
    kind: TestKind,
    exponent: Exponent,
    count: u64,
) -> Result<Prepared, String> {
    let total = kind.iterations(exponent.get());
    let count = count.clamp(1, total);
    let folder = Folder::new()?;
    let mut store = store(&folder, kind, exponent)?;
    let mut states = vec![None];
    for i in 1..count {
        let mut run = Run::new(kind, exponent).stored(&mut store);
        run.spec.iterations = Some(i * total / count);
        silent(run.by(family)?.outcome()?)?;
        let newest = store.load_newest().map_err(|e| e.to_string())?;
        let (state, path) = newest.ok_or("a test that reached its target left no state")?;
        // What a Jacobi check at the end of a sitting has confirmed.
        let confirmed = if kind.is_checked() { Confirmation::No } else { Confirmation::Jacobi };
        if kind.is_checked() && !state.is_verified() {
            return Err(format!("{} is not verified", path.display()));
        }
        states.push(Some(State { confirmed, ..state }));
    }
    let (outcome, _) = Run::new(kind, exponent).stored(&mut store).by(family)?.outcome()?;
    let right = outcome.residue;
    check_known(kind, exponent, &right)?;
    drop(store);
    let starts: Result<Vec<Start>, String> =
        states.into_iter().map(|state| sound(family, kind, exponent, state, &right)).collect();
    Ok(Prepared { starts: starts?, right })
}

/// Goes from a state to the end on a sound engine, and counts.
fn sound(
    family: &'static dyn EngineFamily,
    kind: TestKind,
    exponent: Exponent,
    state: Option<State>,
    right: &Residue,
) -> Result<Start, String> {
    let counting = Faulty::counting(family);
    let folder = Folder::new()?;
    let mut store = store(&folder, kind, exponent)?;
    if let Some(state) = &state {
        store.save(state).map_err(|e| e.to_string())?;
    }
    let (found, _) = silent(Run::new(kind, exponent).stored(&mut store).by(counting)?.outcome()?)?;
    let start = Start { state, changes: counting.changes() };
    if found.residue != *right {
        let (from, of, expected) =
            (start.iteration(), found.residue.res64_hex(), right.res64_hex());
        return Err(format!("res64 {of} from iteration {from}, not {expected}"));
    }
    Ok(start)
}

/// Refuses a test that went wrong, or says so.
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

/// Compares an end with the known answer, where there is one.
fn check_known(kind: TestKind, exponent: Exponent, found: &Residue) -> Result<(), String> {
    let p = exponent.get();
    let primes = vectors::mersenne_primes().map_err(|e| e.to_string())?.exponents;
    let small = vectors::small_residues().map_err(|e| e.to_string())?.residues;
    let known = small.into_iter().find(|known| known.p == p);
    let expected = match kind {
        TestKind::Prp if primes.contains(&p) => Some("0000000000000001".to_owned()),
        TestKind::Ll(_) if primes.contains(&p) => Some("0000000000000000".to_owned()),
        TestKind::Prp => known.map(|known| known.prp),
        TestKind::Ll(_) => known.map(|known| known.ll),
        TestKind::Cert(_) => None,
    };
    let found = found.res64_hex();
    match expected {
        Some(expected) if expected != found => {
            Err(format!("res64 {found} of M{p}, not the known {expected}"))
        }
        _ => Ok(()),
    }
}
