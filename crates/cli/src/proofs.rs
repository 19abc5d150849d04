//! The proof of a PRP test: residues kept on the way, and at the end the file.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{fmt, io};

use warpint::gimps::{ProofFile, ProofFileError, ProofInfo, check_proof_folder};
use warpint::mersenne::proof::{self, Points, ProofError, ResidueFolder};
use warpint::mersenne::{Keeper, KnownFactors, Outcome, Plan, Residue, StopToken};

use crate::exit::BadRequest;
use crate::proof_view::View;
use crate::report::notice;
use crate::units;
use crate::work::Watch;

/// A proof has nothing that it could be made of, or no room: trying again would not help.
#[derive(Debug)]
pub(crate) struct GivenUp(String);

impl fmt::Display for GivenUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for GivenUp {}

/// What a test keeps for its proof, and where the proof goes.
#[derive(Debug)]
pub(crate) struct ProofWork {
    power: u32,
    /// That which is still possible, as far as has been told; 0 for none.
    possible: Mutex<u32>,
    exponent: u32,
    residues: ResidueFolder,
    proofs: PathBuf,
    /// Of an assignment: has every line too.
    watch: Option<Watch>,
}

impl ProofWork {
    /// That of M_p in a directory; `None` for an exponent too small for the power.
    pub(crate) fn new(dir: &Path, p: u32, power: u32, watch: Option<Watch>) -> Option<Self> {
        points(p, power)?;
        let (residues, proofs) = (ResidueFolder::new(dir, p), dir.join("proof"));
        Some(Self { power, possible: Mutex::new(power), exponent: p, residues, proofs, watch })
    }

    /// Whether its files could go where they belong, before the test begins.
    pub(crate) fn check_folders(&self) -> Result<(), BadRequest> {
        [self.residues.dir(), &self.proofs]
            .into_iter()
            .try_for_each(check_proof_folder)
            .map_err(|e| BadRequest(e.to_string()))
    }

    /// Says before the test, not after it, that its proof will find its place taken.
    pub(crate) fn warn_of_what_is_in_the_way(&self, factors: &KnownFactors) {
        let (p, factors) = (self.exponent, factors.texts());
        if let Some(path) = ProofFile::in_the_way(&self.proofs, p, factors, self.power) {
            self.warn(&format!(
                "M{p}: warning: there is another {} already: move it away before the test ends, or \
                 the proof cannot be put there",
                path.display()
            ));
        }
    }

    /// What it needs, before the test begins.
    pub(crate) fn announce(&self) -> String {
        let bytes = proof::disk_bytes(self.exponent, self.power);
        format!(
            "M{}: residues for a proof of power {} take up to {} in {}",
            self.exponent,
            self.power,
            units::memory(bytes),
            self.residues.dir().display()
        )
    }

    /// Builds the proof, of a lower power where residues are missing, verifies it and puts it into
    /// its place; `None` if `stop` asked for it.
    pub(crate) fn make(
        &self,
        plan: Plan,
        outcome: &Outcome,
        factors: &KnownFactors,
        stop: &StopToken,
        quiet: bool,
    ) -> anyhow::Result<Option<ProofInfo>> {
        let p = self.exponent;
        // x_p = 9·3^(M_p − 1).
        let last = outcome.residue.times(9);
        let mut view = View::new(p, "proof built", quiet);
        let watch = self.watch.as_ref();
        self.log("the test is done, its proof is being built");
        watch.into_iter().for_each(|watch| watch.proving(0.0));
        let built = proof::build_largest(
            plan,
            proof::least_power(self.power)..=self.power,
            &self.residues,
            &last,
            &mut |share| {
                view.show(share);
                watch.into_iter().for_each(|watch| watch.proving(share));
            },
            stop,
        );
        view.end();
        let proof = match built {
            Ok(Some(proof)) => proof,
            Ok(None) => return Ok(None),
            Err(e @ ProofError::NoResidues { .. }) => return Err(GivenUp(e.to_string()).into()),
            Err(e) => return Err(e.into()),
        };
        let proof = proof.with_factors(factors.clone());
        let power = proof.power();
        if power < self.power {
            let line = format!(
                "M{p}: residues are missing: the proof has power {power} instead of {}",
                self.power
            );
            // What was missing from the beginning has been told then.
            if power < *self.possible() {
                notice(&line);
            }
            self.log(&line);
        }
        let file = ProofFile::new(p, proof.factors().texts().to_vec(), proof.residue_bytes())?;
        let saved = match file.save(&self.proofs) {
            // The result must not wait for room: the proof gets that of its residues, or is given up.
            Err(ProofFileError::Write { source, .. }) if is_want_of_room(&source) => {
                self.lower(&mut self.possible(), 0);
                file.save(&self.proofs).map_err(|e| GivenUp(e.to_string()))?
            }
            saved => saved?,
        };
        let line = format!("M{p}: the proof of power {power} is in {}", saved.path.display());
        if !quiet {
            notice(&line);
        }
        self.log(&line);
        Ok(Some(ProofInfo::version_2(power, saved.md5)))
    }

    fn log(&self, line: &str) {
        if let Some(watch) = &self.watch {
            watch.log(line);
        }
    }

    /// Told whatever happens.
    fn warn(&self, line: &str) {
        notice(line);
        self.log(line);
    }

    fn possible(&self) -> MutexGuard<'_, u32> {
        self.possible.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on this power is the most that is possible, or none if it is too low to be worth
    /// anything; residues that it does not need leave the disk to the rest.
    fn lower(&self, possible: &mut u32, power: u32) {
        *possible = if power < proof::least_power(self.power) { 0 } else { power };
        // What cannot be removed takes its place on the disk, and no more.
        let _ = match Points::new(self.exponent, *possible) {
            Some(points) => self.residues.forget_all_but(&points),
            None => self.residues.remove_all(),
        };
    }

    /// What is to be expected of a power that is lower than that which was asked for.
    fn prospect(&self, power: u32) -> String {
        match power {
            0 => "no proof can be made".into(),
            _ => format!("the proof will have power {power} instead of {}", self.power),
        }
    }
}

/// Whether it is the disk, or the user's share of it, that is full.
pub(crate) fn is_want_of_room(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Where residues are kept: all points but the last, which the test ends with.
fn points(p: u32, power: u32) -> Option<Vec<u64>> {
    Some(Points::new(p, power)?.iter().filter(|&k| k < u64::from(p)).collect())
}

impl Keeper for ProofWork {
    fn iterations(&self, reached: u64) -> Vec<u64> {
        let p = self.exponent;
        let mut possible = self.possible();
        let complete = self.residues.largest_complete_power(self.power, reached);
        if complete < self.power {
            self.lower(&mut possible, complete);
        }
        let power = *possible;
        if power == 0 {
            let instead = match self.watch {
                None => "--restart begins it anew",
                Some(_) => "the test goes on without one",
            };
            self.warn(&format!(
                "M{p}: warning: it goes on at iteration {reached}, and residues from before are \
                 missing: no proof can be made of it; {instead}"
            ));
        } else if power < self.power {
            self.warn(&format!(
                "M{p}: warning: residues from before iteration {reached} are missing: {}",
                self.prospect(power)
            ));
        }
        points(p, power).unwrap_or_default()
    }

    /// On a disk that is full, residues of the highest power make room for those of lower ones: an
    /// error comes back once for each change of the power, and says which is possible now.
    fn keep(&self, iteration: u64, x: &Residue) -> io::Result<()> {
        let mut possible = self.possible();
        let mut trouble = None;
        while Points::new(self.exponent, *possible).is_some_and(|wanted| wanted.contains(iteration))
        {
            let Err(e) = self.residues.keep(iteration, x) else { break };
            trouble.get_or_insert(e);
            let less = *possible - 1;
            self.lower(&mut possible, less);
        }
        match trouble {
            None => Ok(()),
            Some(e) => Err(io::Error::new(e.kind(), format!("{e}; {}", self.prospect(*possible)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const P: u32 = 4_423;

    #[test]
    fn a_residue_that_cannot_be_kept_costs_the_powers_that_need_it_and_is_told_once() {
        let dir = tempfile::tempdir().unwrap();
        let work = ProofWork::new(dir.path(), P, 4, None).unwrap();
        assert_eq!(proof::least_power(4), 1);
        let of = |power| points(P, power).unwrap();
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
        let work = ProofWork::new(dir.path(), P, 5, None).unwrap();
        let of = |power| points(P, power).unwrap();
        let x = |k| Residue::from_u64(P, k);
        let mut told = vec![];
        for k in of(5) {
            // Power 1 alone has none but the middle of the test.
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
        // The same of what is missing when a test goes on: power 1 would be possible.
        let work = ProofWork::new(dir.path(), P, 5, None).unwrap();
        let middle = of(1)[0];
        work.keep(middle, &x(middle)).unwrap();
        assert_eq!(work.residues.largest_complete_power(5, middle), 1);
        assert_eq!(work.iterations(middle), Vec::<u64>::new());
        assert!(!work.residues.has(middle));
    }
}
