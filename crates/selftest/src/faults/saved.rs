//! Flips bits of the state that a PRP test has saved. The bits flip in a checkpoint between two
//! sittings (runs of the test), in memory while the state is being saved, or in memory when the
//! test returns to the state.

use std::path::Path;
use std::time::Duration;

use rand::RngExt;
use warpint_mersenne::primality::registers;
use warpint_mersenne::{Event, Finished, RunOptions, TestError};

use super::flips::{Campaign, Fate, Place};
use super::sitting::{Folder, Run, Sitting, store};
use super::starts::{Prepared, Start};
use super::wrappers::{
    FailingMemory, Fault, Faulty, HurriedClock, Part, cut_file, flip_bit_of_file,
};
use crate::sample::Random;

/// The factor by which the clock of a test runs too fast. A short test then reads the clock, and
/// can be stopped, after fewer squarings.
const HURRY: u32 = 100;
/// An interval between checkpoints that is longer than any test. Only requested checkpoints are
/// then saved.
const NEVER: Duration = Duration::from_secs(1 << 40);

/// Runs a test with one random flip in a saved state. Returns the place of the flip and its effect.
pub(super) fn flip(campaign: &Campaign, rng: &mut Random, prepared: &Prepared) -> (Place, Fate) {
    let bit = rng.random_range(0..campaign.number.bits());
    let at = rng.random_range(0..prepared.starts.len());
    let from = prepared.starts[at].iteration();
    let (sort, moment, done) = match rng.random_range(0..6u32) {
        // From the second start on a checkpoint exists.
        n @ 0..2 if at > 0 => {
            let anywhere = rng.random();
            let sort = ["a checkpoint, a bit flipped", "a checkpoint, cut short"][n as usize];
            let moment = format!("bit {anywhere} mod its length, at iteration {from}");
            let damage = |path: &Path| match n {
                0 => flip_bit_of_file(path, anywhere),
                _ => cut_file(path, anywhere / 8),
            };
            (sort, moment, on_disk(campaign, prepared, at, &damage))
        }
        n @ 2..5 => {
            let (sort, part) = [
                ("memory at a save, x", Part::Residue),
                ("memory at a save, D", Part::Product),
                ("memory at a save, x_v", Part::Verified),
            ][n as usize - 2];
            let left = campaign.kind.iterations(campaign.number) - from;
            let after = rng.random_range(1..=(left * 3 / 4).max(1));
            let moment = format!("bit {bit} after {after} products from iteration {from}");
            (sort, moment, at_a_save(campaign, prepared, at, part, bit, after))
        }
        _ => {
            let moment = format!("bit {bit}, from iteration {from}");
            ("memory at a return, x_v", moment, at_a_return(campaign, prepared, at, bit))
        }
    };
    (Place { sort, moment }, done.unwrap_or_else(Fate::Failed))
}

/// Creates a checkpoint store with the states of the last two of `starts`, and returns the result
/// of `work` with this store.
fn with_states<T>(
    campaign: &Campaign,
    starts: &[Start],
    work: impl FnOnce(&mut warpint_mersenne::checkpoint::CheckpointStore) -> Result<T, String>,
) -> Result<T, String> {
    let folder = Folder::new()?;
    let mut store = store(&folder, campaign.kind, campaign.number)?;
    let newest = starts.len().saturating_sub(2);
    for state in starts[newest..].iter().filter_map(|start| start.state.as_ref()) {
        store.save(state).map_err(|e| e.to_string())?;
    }
    work(&mut store)
}

/// Damages the newest checkpoint between two sittings. The test must rename this checkpoint and
/// resume from the preceding checkpoint.
fn on_disk(
    campaign: &Campaign,
    prepared: &Prepared,
    at: usize,
    damage: &dyn Fn(&Path) -> std::io::Result<()>,
) -> Result<Fate, String> {
    with_states(campaign, &prepared.starts[..=at], |store| {
        let newest = store.load_newest().map_err(|e| e.to_string())?;
        let (_, path) = newest.ok_or("there is no checkpoint")?;
        damage(&path).map_err(|e| e.to_string())?;
        let run = Run::new(campaign.kind, campaign.number).stored(store);
        let sitting = run.by(campaign.family)?;
        let aside = sitting.count(|e| matches!(e, Event::BadCheckpoint { .. }));
        let before = prepared.starts[at - 1].iteration();
        let from_before =
            |e: &Event| matches!(e, Event::Started { iteration, .. } if *iteration == before);
        let went_back = sitting.count(from_before) == 1;
        ends_right(sitting, prepared, 0)?;
        if aside != 1 || !went_back {
            return Err(format!("{aside} checkpoints were set aside, {}", path.display()));
        }
        Ok(Fate::Found)
    })
}

/// Stops the test, and changes its state in memory before the state is written. Either the verified
/// residue no longer matches its SHA-256 and nothing is written, or the next check finds the error.
fn at_a_save(
    campaign: &Campaign,
    prepared: &Prepared,
    at: usize,
    part: Part,
    bit: u32,
    after: u64,
) -> Result<Fate, String> {
    with_states(campaign, &prepared.starts[..=at], |store| {
        let memory = FailingMemory::leaked(part, bit);
        let clock = HurriedClock::leaked(HURRY);
        let mut run = Run::new(campaign.kind, campaign.number).stored(store);
        let stop = run.stop.clone();
        run.options =
            RunOptions { checkpoint_interval: NEVER, clock, memory, ..RunOptions::default() };
        let family = Faulty::leaked(campaign.family, Fault::Interrupted { after, stop });
        let sitting = run.by(family)?;
        if !memory.has_struck() {
            return Err("no bit flipped".into());
        }
        let errors = match &sitting.finished {
            Err(TestError::Memory { .. }) => 0,
            Ok(Finished::Stopped { saved: true, .. }) if part != Part::Verified => 1,
            other => return Err(format!("the first sitting: {other:?}")),
        };
        let run = Run::new(campaign.kind, campaign.number).stored(store);
        ends_right(run.by(campaign.family)?, prepared, errors)?;
        Ok(Fate::Found)
    })
}

/// Lets a check fail, so that the test returns to a verified state, and changes this state in
/// memory. The test must end with an error, and resume from its checkpoint in a second sitting.
fn at_a_return(
    campaign: &Campaign,
    prepared: &Prepared,
    at: usize,
    bit: u32,
) -> Result<Fate, String> {
    with_states(campaign, &prepared.starts[..=at], |store| {
        let memory = FailingMemory::leaked(Part::Verified, bit);
        let mut run = Run::new(campaign.kind, campaign.number).stored(store);
        run.options = RunOptions { checkpoint_interval: NEVER, memory, ..RunOptions::default() };
        let fault = Fault::FlippedRegister { register: registers::X, after: 2, bit };
        let family = Faulty::leaked(campaign.family, fault);
        match run.by(family)?.finished {
            Err(TestError::Memory { .. }) if memory.has_struck() && family.flips() == 1 => {}
            other => return Err(format!("the first sitting: {other:?}")),
        }
        let run = Run::new(campaign.kind, campaign.number).stored(store);
        ends_right(run.by(campaign.family)?, prepared, 0)?;
        Ok(Fate::Found)
    })
}

/// Returns an error if a sitting did not end with the right residue, or if the number of failed
/// Gerbicz checks is not `errors`.
fn ends_right(sitting: Sitting, prepared: &Prepared, errors: u32) -> Result<(), String> {
    let (outcome, _) = sitting.outcome()?;
    if outcome.residue != prepared.right {
        return Err(format!("res64 {}", outcome.residue.res64_hex()));
    }
    if outcome.errors.gerbicz != errors {
        return Err(format!("{} checks failed, not {errors}", outcome.errors.gerbicz));
    }
    Ok(())
}
