//! Changes single bytes of a proof file, and checks that no changed file is accepted.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use clap::Args;
use rand::{RngExt, SeedableRng};
use warpint_gimps::{ProofFile, ProofTest};
use warpint_mersenne::proof::{self, Proof};
use warpint_mersenne::{EngineFamily, Plan, StopToken};

use crate::families::Place;

const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// The options of `proof-bytes`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The proof file, which is not modified
    file: PathBuf,
    /// The distance N between the bytes that are changed: bytes 0, N, 2N, … and the last byte
    #[arg(long, value_name = "N", default_value_t = 1_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    every: u64,
    /// The seed of the changes; by default random, and printed
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    place: Place,
}

/// The outcome of verifying a file.
enum Fate {
    /// The file is not a valid proof file.
    Unread,
    /// The file is a valid proof file, but the verification refused its proof.
    Refused,
    /// The verification accepted the proof.
    Accepted,
}

/// A change of one byte: its offset, its original value and its new value.
struct Change {
    offset: usize,
    from: u8,
    to: u8,
}

/// Verifies the original file and the changed files. Returns an error if the original file is not
/// accepted, or if a changed file is accepted or could not be judged.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let begun = Instant::now();
    let path = &options.file;
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let family = options.place.family()?;
    let families = options.place.for_threads(family)?;
    let sound = matches!(verify(&bytes, family).with_context(|| named(path))?, Fate::Accepted);
    ensure!(sound, "{} is not right as it is", path.display());

    let seed = options.seed.unwrap_or_else(rand::random);
    let changes = changes(&bytes, options.every, seed);
    println!(
        "{}: right; {} of its {} bytes to change, {} on {}, {} at a time, seed {seed}",
        path.display(),
        changes.len(),
        bytes.len(),
        family.name(),
        family.place(),
        families.len()
    );
    let tally = Tally::new(changes.len());
    std::thread::scope(|scope| {
        for family in families {
            scope.spawn(|| work(&bytes, &changes, family, &tally));
        }
    });
    let [unread, refused, accepted, failed] = tally.counts();
    println!("{unread} no proof file any more, {refused} wrong proofs, {accepted} accepted");
    println!("{:.1} s in all", begun.elapsed().as_secs_f64());
    if accepted + failed > 0 {
        bail!("{accepted} changed files were accepted, {failed} could not be judged");
    }
    ensure!(unread + refused == changes.len() as u64, "not every change was tried");
    Ok(())
}

fn named(path: &Path) -> String {
    format!("{} is not a proof file", path.display())
}

/// Returns a random change of every `every`-th byte and of the last byte.
fn changes(bytes: &[u8], every: u64, seed: u64) -> Vec<Change> {
    let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let step = usize::try_from(every).unwrap_or(usize::MAX);
    let last = bytes.len().saturating_sub(1);
    let chosen = (0..bytes.len()).step_by(step).filter(|&k| k != last).chain([last]);
    chosen
        .filter_map(|offset| {
            let from = *bytes.get(offset)?;
            Some(Change { offset, from, to: from ^ random.random_range(1..=255u8) })
        })
        .collect()
}

/// Verifies changed files until no changes are left. Several threads share the changes through
/// `tally`.
fn work(bytes: &[u8], changes: &[Change], family: &'static dyn EngineFamily, tally: &Tally) {
    let mut bytes = bytes.to_vec();
    while let Some(change) = tally.next().and_then(|k| changes.get(k)) {
        bytes[change.offset] = change.to;
        tally.note(change, verify(&bytes, family));
        bytes[change.offset] = change.from;
    }
}

/// Verifies a proof file with this content in the same way as `warpint proof verify`, and returns
/// the outcome.
fn verify(bytes: &[u8], family: &'static dyn EngineFamily) -> anyhow::Result<Fate> {
    let Ok(file) = ProofFile::from_bytes(bytes) else { return Ok(Fate::Unread) };
    let residues = file.residues();
    let parts = match file.test() {
        ProofTest::Mersenne { exponent, factors } => {
            Proof::from_parts(*exponent, factors, residues)
        }
        ProofTest::Number { test, number } => Proof::of_number(test, number, residues),
    };
    let Ok(proof) = parts else { return Ok(Fate::Unread) };
    let plan = Plan::of_family(proof.number(), family, None, Some(1))?;
    let verified = proof::verify(plan, &proof, &mut |_| {}, &StopToken::new())?;
    let verified = verified.context("it was stopped")?;
    Ok(if verified.is_valid() { Fate::Accepted } else { Fate::Refused })
}

/// Distributes the changes to threads, counts the outcomes, and prints a line every few seconds.
struct Tally {
    count: usize,
    taken: AtomicU64,
    /// The counts of files that are unread, refused, accepted or undecided because of an error, and
    /// the time at which the last line was printed.
    counts: Mutex<([u64; 4], Instant)>,
    begun: Instant,
}

impl Tally {
    fn new(count: usize) -> Self {
        let begun = Instant::now();
        Self { count, taken: AtomicU64::new(0), counts: Mutex::new(([0; 4], begun)), begun }
    }

    fn next(&self) -> Option<usize> {
        usize::try_from(self.taken.fetch_add(1, Ordering::Relaxed)).ok()
    }

    fn counts(&self) -> [u64; 4] {
        self.counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner).0
    }

    fn note(&self, change: &Change, fate: anyhow::Result<Fate>) {
        let Change { offset, from, to } = change;
        let column = match &fate {
            Ok(Fate::Unread) => 0,
            Ok(Fate::Refused) => 1,
            Ok(Fate::Accepted) => {
                eprintln!("ACCEPTED: byte {offset} changed from {from:#04x} to {to:#04x}");
                2
            }
            Err(e) => {
                eprintln!("FAILED: byte {offset} changed from {from:#04x} to {to:#04x}: {e:#}");
                3
            }
        };
        let mut counts = self.counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        counts.0[column] += 1;
        if counts.1.elapsed() < BETWEEN_LINES {
            return;
        }
        counts.1 = Instant::now();
        let done: u64 = counts.0.iter().sum();
        let seconds = self.begun.elapsed().as_secs_f64();
        let left = seconds / done as f64 * (self.count as f64 - done as f64);
        eprintln!("{done} of {} changes; {seconds:.0} s, about {left:.0} s left", self.count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_so_many_bytes_and_the_last_become_others() {
        for (length, every, expected) in
            [(10, 4, vec![0, 4, 8, 9]), (9, 4, vec![0, 4, 8]), (1, 1_000, vec![0]), (0, 1, vec![])]
        {
            let bytes: Vec<u8> = (0..length).collect();
            let changes = changes(&bytes, every, 7);
            let offsets: Vec<usize> = changes.iter().map(|c| c.offset).collect();
            assert_eq!(offsets, expected, "{length} {every}");
            assert!(changes.iter().all(|c| c.from == bytes[c.offset] && c.to != c.from));
        }
    }
}
