//! The proof of a test: the residues that are saved during the test, and the file that is built
//! from them.

mod verify;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpint_files::ErrorKind;
use warpint_gimps::{
    ProofFile, ProofFileError, ProofFormatError, ProofInfo, ProofTest, SavedProof,
    check_proof_folder,
};
use warpint_mersenne::proof::{
    self, Built, Points, Proof, ProofError, ResidueFileError, ResidueFolder, Subject,
};
use warpint_mersenne::{KnownFactors, Outcome, Plan, Residue, ResidueSink, StopToken, Verdict};

use crate::note::Note;
use crate::observer::{Observer, ProofStage, Reporter, RunEvent};
use crate::warning::{Warning, prospect};
pub use verify::verify_file;

/// The name of the directory of proofs within a job's directory.
pub(crate) const PROOFS: &str = "proof";

/// The reason why no proof was made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MakeError {
    /// Residues or disk space are missing, so that another attempt would not succeed.
    #[error("{0}")]
    GivenUp(String),
    /// The proof could not be built.
    #[error(transparent)]
    Proof(#[from] ProofError),
    /// The proof cannot be written in the file format.
    #[error(transparent)]
    Format(#[from] ProofFormatError),
    /// The proof file could not be written.
    #[error(transparent)]
    File(#[from] ProofFileError),
}

impl MakeError {
    /// Returns whether the proof contradicts the test, so that one of them is wrong.
    #[must_use]
    pub(crate) fn is_contradiction(&self) -> bool {
        matches!(self, Self::Proof(ProofError::Contradiction { .. } | ProofError::Wrong { .. }))
    }

    /// Returns the kind of the error, which decides the exit code of the program.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::GivenUp(_) => ErrorKind::Io,
            Self::Proof(e) => e.kind(),
            Self::Format(e) => e.kind(),
            Self::File(e) => e.kind(),
        }
    }
}

/// The residues that a test saves for its proof, and the directory of the proof.
///
/// During the test this type is the test's [`ResidueSink`] and saves the residues in `DIR/M<p>/…` or
/// `DIR/<k>_<b>_<n>+1/…`, where `DIR` is the directory of the job. After the test, [`ProofWork::make`] builds
/// the proof from them, in `DIR/proof` ([`ProofFile::file_name`]).
#[derive(Debug)]
pub struct ProofWork {
    power: u32,
    /// The largest power that the saved residues still allow, as last reported to the user; 0 if no
    /// proof is possible.
    possible: Mutex<u32>,
    subject: Subject,
    residues: ResidueFolder,
    proofs: PathBuf,
    reporter: Reporter,
}

impl ProofWork {
    /// Creates the [`ProofWork`] of a test in a directory; an exponent p stands for the PRP test of M_p.
    /// Returns `None` if the power is not from 1 to
    /// [`LARGEST_POWER`](warpint_mersenne::proof::LARGEST_POWER), or if the number is too small for the power.
    #[must_use]
    pub fn new(
        dir: &Path,
        subject: impl Into<Subject>,
        power: u32,
        observer: Arc<dyn Observer>,
    ) -> Option<Self> {
        Self::reporting(dir, subject.into(), power, Reporter { observer, watch: None })
    }

    pub(crate) fn reporting(
        dir: &Path,
        subject: Subject,
        power: u32,
        reporter: Reporter,
    ) -> Option<Self> {
        points(subject, power)?;
        let (residues, proofs) = (ResidueFolder::new(dir, subject), dir.join(PROOFS));
        Some(Self { power, possible: Mutex::new(power), subject, residues, proofs, reporter })
    }

    /// Checks the paths of the folders for the residues and for the proof. A path that already
    /// exists must be a folder. Call this before the test.
    ///
    /// # Errors
    /// Returns [`ProofFileError::NotAFolder`].
    pub fn check_folders(&self) -> Result<(), ProofFileError> {
        [self.residues.dir(), &self.proofs].into_iter().try_for_each(check_proof_folder)
    }

    /// Warns if another file has the name of the future proof. Call this before the test, so that
    /// the user can move the file in time.
    pub fn warn_of_what_is_in_the_way(&self, factors: &KnownFactors) {
        let test = test_of(self.subject, factors);
        if let Some(path) = ProofFile::in_the_way(&self.proofs, &test, self.power) {
            let number = self.subject.number();
            self.reporter.warn(&Warning::ProofInTheWay { number, path });
        }
    }

    /// Returns a note on the disk space that the residues need.
    #[must_use]
    pub fn room(&self) -> Note {
        Note::ProofRoom {
            number: self.subject.number(),
            power: self.power,
            bytes: proof::disk_bytes(self.subject, self.power),
            dir: self.residues.dir().to_owned(),
        }
    }

    /// Builds the proof, verifies it and writes it to its file. If residues are missing, the proof
    /// has a lower power. Returns `None` if `stop` was set.
    ///
    /// # Errors
    /// Returns [`MakeError::GivenUp`] if another attempt would not succeed, either because the
    /// remaining residues do not suffice for a proof, or because the disk is full even without the
    /// residues. Other errors may be temporary.
    pub fn make(
        &self,
        plan: Plan,
        outcome: &Outcome,
        factors: &KnownFactors,
        stop: &StopToken,
    ) -> Result<Option<ProofInfo>, MakeError> {
        let proof = match self.build(plan, outcome, stop) {
            Ok(Some(proof)) => proof.with_factors(factors.clone()),
            Ok(None) => return Ok(None),
            // What the proof says of a composite number, the test must say, too.
            Err(ProofError::Ambiguous { number, power })
                if outcome.verdict != Verdict::Composite =>
            {
                return Err(ProofError::Wrong { number, power, repeated: true }.into());
            }
            Err(e @ (ProofError::NoResidues { .. } | ProofError::Ambiguous { .. })) => {
                return Err(MakeError::GivenUp(e.to_string()));
            }
            Err(e) => return Err(e.into()),
        };
        let (number, power) = (self.subject.number(), proof.power());
        if power < self.power {
            let warning = Warning::LowerPower { number, power, wanted: self.power };
            // A reduction at the start of the test has been reported then.
            if power < *self.possible() {
                self.reporter.warn(&warning);
            } else {
                self.reporter.log(&warning);
            }
        }
        let SavedProof { path, md5 } = self.save(&proof)?;
        self.reporter.say(&Note::ProofMade { number, power, path });
        Ok(Some(match self.subject.is_of_mersenne() {
            true => ProofInfo::version_2(power, md5),
            false => ProofInfo::of_number(power, md5, self.subject.kind().slug()),
        }))
    }

    /// Builds and verifies the proof of the largest power that the residues allow. Returns `None`
    /// if `stop` was set.
    fn build(
        &self,
        plan: Plan,
        outcome: &Outcome,
        stop: &StopToken,
    ) -> Result<Option<Proof>, ProofError> {
        let (number, reporter) = (self.subject.number(), &self.reporter);
        let last = self.last(outcome)?;
        let progress = |share| {
            reporter.event(&RunEvent::Proof { share });
            reporter.watch.iter().for_each(|watch| watch.proving(share));
        };
        reporter.event(&RunEvent::ProofBegins { number, stage: ProofStage::Built });
        reporter.log(&"the test is done, its proof is being built");
        reporter.watch.iter().for_each(|watch| watch.proving(0.0));
        let built = proof::build_largest(
            plan,
            proof::least_power(self.power)..=self.power,
            &self.residues,
            &last,
            &mut { progress },
            stop,
        );
        reporter.event(&RunEvent::ProofEnds);
        let Some(Built { proof, verification }) = built? else { return Ok(None) };
        // The residue of a test to several bases is that of the last base.
        let is_of_proof = outcome.bases.len() <= 1;
        // The verdict of a test of M_p may be that on its cofactor.
        let is_composite =
            !self.subject.is_of_mersenne() && verification.finding == Ok(Verdict::Composite);
        let differs = |x: &Residue| {
            let other_verdict = is_composite && outcome.verdict != Verdict::Composite;
            other_verdict || is_of_proof && *x != outcome.residue
        };
        let proven = verification.residue.filter(differs);
        if let Some(proven) = proven {
            let (proven, tested) = (proven.res64_hex(), outcome.residue.res64_hex());
            return Err(ProofError::Contradiction { number, proven, tested });
        }
        Ok(Some(proof))
    }

    /// Returns the last residue of the proof. For M_p it follows from the result of the test. The last
    /// residue of another proof was saved during the test. If its file is damaged, the file is renamed.
    fn last(&self, outcome: &Outcome) -> Result<Residue, ProofError> {
        if self.subject.is_of_mersenne() {
            // x_p = 9·3^(M_p − 1).
            return Ok(outcome.residue.times(9));
        }
        let iteration = u64::from(self.subject.iterations());
        self.residues.load(iteration).map_err(|e| {
            if matches!(e, ResidueFileError::Unsound { .. }) {
                self.residues.set_aside(iteration);
            }
            ProofError::NoResidues {
                number: self.subject.number(),
                least: proof::least_power(self.power),
                folder: self.residues.dir().display().to_string(),
            }
        })
    }

    /// Writes a proof to its file, and returns the path and the MD5 of the file. If the disk is
    /// full, removes the residues and tries again. If that attempt fails too, returns
    /// [`MakeError::GivenUp`], so that the result of the test does not wait for disk space.
    fn save(&self, proof: &Proof) -> Result<SavedProof, MakeError> {
        let file = match test_of(self.subject, proof.factors()) {
            ProofTest::Mersenne { exponent, factors } => {
                ProofFile::new(exponent, factors, proof.residue_bytes())?
            }
            ProofTest::Number { test, number } => {
                ProofFile::of_number(test, number, proof.residue_bytes())?
            }
        };
        match file.save(&self.proofs) {
            Err(ProofFileError::Write { source, .. }) if is_want_of_room(&source) => {
                self.lower(&mut self.possible(), 0);
                file.save(&self.proofs).map_err(|e| MakeError::GivenUp(e.to_string()))
            }
            saved => Ok(saved?),
        }
    }

    fn possible(&self) -> MutexGuard<'_, u32> {
        self.possible.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lowers the largest possible power to `power`, or to 0 if `power` is too low to be useful.
    /// Removes the residues that the new power does not need, which frees disk space.
    fn lower(&self, possible: &mut u32, power: u32) {
        *possible = if power < proof::least_power(self.power) { 0 } else { power };
        // A residue that cannot be removed only takes disk space.
        let _ = match Points::new(self.subject.iterations(), *possible) {
            Some(points) => self.residues.forget_all_but(&points),
            None => self.residues.remove_all(),
        };
    }
}

/// Returns whether an error means that the disk, or the user's quota, is full.
pub(crate) fn is_want_of_room(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Returns the test as a proof file names it.
fn test_of(subject: Subject, factors: &KnownFactors) -> ProofTest {
    let number = subject.number();
    match subject.is_of_mersenne() {
        true => {
            let (exponent, factors) = (number.exponent(), factors.texts().to_vec());
            ProofTest::Mersenne { exponent, factors }
        }
        false => ProofTest::Number { test: subject.kind().slug(), number: number.to_string() },
    }
}

/// Returns the iterations whose residues are saved for a proof: all [`Points`], except the end of the test
/// of M_p. Returns `None` if [`Points::new`] does.
fn points(subject: Subject, power: u32) -> Option<Vec<u64>> {
    let points = Points::new(subject.iterations(), power)?;
    Some(points.iter().filter(|&k| subject.stores(k)).collect())
}

impl ResidueSink for ProofWork {
    fn iterations(&self, reached: u64) -> Vec<u64> {
        let mut possible = self.possible();
        let complete = self.residues.largest_complete_power(self.power, reached);
        if complete < self.power {
            self.lower(&mut possible, complete);
        }
        let power = *possible;
        if power < self.power {
            self.reporter.warn(&Warning::ResiduesMissing {
                number: self.subject.number(),
                iteration: reached,
                power,
                wanted: self.power,
                assigned: self.reporter.watch.is_some(),
            });
        }
        points(self.subject, power).unwrap_or_default()
    }

    /// Saves a residue. If that fails, for example because the disk is full, lowers the power of
    /// the proof and removes the residues that only the higher power needs, until the residue can
    /// be saved or is not needed. If the power was lowered, returns an error that says which power
    /// is still possible.
    fn keep(&self, iteration: u64, x: &Residue) -> io::Result<()> {
        let mut possible = self.possible();
        let mut trouble = None;
        let needs = |power| {
            let points = Points::new(self.subject.iterations(), power);
            points.is_some_and(|wanted| wanted.contains(iteration))
        };
        while needs(*possible) {
            let Err(e) = self.residues.keep(iteration, x) else { break };
            trouble.get_or_insert(e);
            let less = *possible - 1;
            self.lower(&mut possible, less);
        }
        match trouble {
            None => Ok(()),
            Some(e) => Err(io::Error::new(e.kind(), {
                format!("{e}; {}", prospect(*possible, self.power))
            })),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Unobserved;
    use std::fs;

    const P: u32 = 4_423;

    #[test]
    fn a_residue_that_cannot_be_kept_costs_the_powers_that_need_it_and_is_told_once() {
        let dir = tempfile::tempdir().unwrap();
        let work = ProofWork::new(dir.path(), P, 4, Arc::new(Unobserved)).unwrap();
        assert_eq!(proof::least_power(4), 1);
        let of = |power| points(P.into(), power).unwrap();
        let in_the_way = |k: u64| {
            let path = work.residues.dir().join(format!("{k:010}.residue"));
            fs::create_dir_all(path).unwrap();
        };
        let x = |k| Residue::from_u64(P, k);
        assert_eq!(work.iterations(0), of(4));
        let only_of = |power: u32| {
            let k = of(power).into_iter().find(|k| !of(power - 1).contains(k));
            k.unwrap()
        };
        in_the_way(only_of(4));
        in_the_way(only_of(2));
        let mut told = vec![];
        for k in of(4) {
            if let Err(e) = work.keep(k, &x(k)) {
                told.push((k, e.to_string()));
            }
            let possible = *work.possible();
            for k in of(4).into_iter().filter(|&earlier| earlier <= k) {
                let needed = possible > 0 && of(possible).contains(&k);
                assert_eq!(work.residues.has(k), needed, "{k} of power {possible}");
            }
        }
        let expected = [(4, 3), (2, 1)].map(|(power, left)| (only_of(power), left));
        assert_eq!(told.len(), 2, "{told:?}");
        for ((k, line), (at, left)) in told.iter().zip(expected) {
            assert_eq!(*k, at);
            let end = format!("; the proof will have power {left} instead of 4");
            assert!(line.ends_with(&end), "{line}");
        }
    }

    #[test]
    fn a_proof_that_nobody_would_want_is_given_up() {
        let dir = tempfile::tempdir().unwrap();
        let work = ProofWork::new(dir.path(), P, 5, Arc::new(Unobserved)).unwrap();
        let of = |power| points(P.into(), power).unwrap();
        let x = |k| Residue::from_u64(P, k);
        let mut told = vec![];
        for k in of(5) {
            // The only residue of power 1 is that of the middle of the test.
            if !of(2).contains(&k) {
                work.keep(k, &x(k)).unwrap();
            } else if of(1) != [k] {
                fs::create_dir_all(work.residues.dir().join(format!("{k:010}.residue"))).unwrap();
                told.extend(work.keep(k, &x(k)).err().map(|e| e.to_string()));
            } else {
                work.keep(k, &x(k)).unwrap();
            }
        }
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(told[0].ends_with("; no proof can be made"), "{told:?}");
        assert!(of(5).into_iter().all(|k| !work.residues.has(k)));
        // The same for residues that are missing when a test resumes: power 1 would be possible.
        let work = ProofWork::new(dir.path(), P, 5, Arc::new(Unobserved)).unwrap();
        let middle = of(1)[0];
        work.keep(middle, &x(middle)).unwrap();
        assert_eq!(work.residues.largest_complete_power(5, middle), 1);
        assert_eq!(work.iterations(middle), Vec::<u64>::new());
        assert!(!work.residues.has(middle));
    }
}
