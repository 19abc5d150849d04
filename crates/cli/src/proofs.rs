//! The proof of a PRP test: residues kept on the way, and at the end the file.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fmt, io};

use anyhow::Context;
use warpint::gimps::{ProofFile, ProofInfo, check_proof_folder};
use warpint::mersenne::proof::{self, Points, ProofError, ResidueFolder};
use warpint::mersenne::{Keeper, KnownFactors, Outcome, Plan, Residue, StopToken};

use crate::exit::BadRequest;
use crate::proof_view::View;
use crate::report::notice;
use crate::units;
use crate::work::Watch;

/// A proof has nothing that it could be made of.
#[derive(Debug)]
pub(crate) struct NoResidues(ProofError);

impl fmt::Display for NoResidues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for NoResidues {}

/// What a test keeps for its proof, and where the proof goes.
#[derive(Debug)]
pub(crate) struct ProofWork {
    power: u32,
    /// That which is still possible, once it is known where the test begins.
    possible: OnceLock<u32>,
    exponent: u32,
    residues: ResidueFolder,
    proofs: PathBuf,
}

impl ProofWork {
    /// That of M_p in a directory; `None` for an exponent too small for the power.
    pub(crate) fn new(dir: &Path, p: u32, power: u32) -> Option<Self> {
        points(p, power)?;
        let (residues, proofs) = (ResidueFolder::new(dir, p), dir.join("proof"));
        Some(Self { power, possible: OnceLock::new(), exponent: p, residues, proofs })
    }

    /// Whether its files could go where they belong, before the test begins.
    pub(crate) fn check_folders(&self) -> Result<(), BadRequest> {
        [self.residues.dir(), &self.proofs]
            .into_iter()
            .try_for_each(check_proof_folder)
            .map_err(|e| BadRequest(e.to_string()))
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
        watch: Option<&Watch>,
    ) -> anyhow::Result<Option<ProofInfo>> {
        let p = self.exponent;
        // x_p = 9·3^(M_p − 1).
        let last = outcome.residue.times(9);
        let mut view = View::new(p, "proof built", quiet);
        let log = |line: &str| watch.into_iter().for_each(|watch| watch.log(line));
        log("the test is done, its proof is being built");
        watch.into_iter().for_each(|watch| watch.proving(0.0));
        let built = proof::build_largest(
            plan,
            self.power,
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
            Err(e @ ProofError::NoResidues { .. }) => return Err(NoResidues(e).into()),
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
            if power < *self.possible.get().unwrap_or(&self.power) {
                notice(&line);
            }
            log(&line);
        }
        let file = ProofFile::new(p, proof.factors().texts().to_vec(), proof.residue_bytes())?;
        let saved = file.save(&self.proofs)?;
        let line = format!("M{p}: the proof of power {power} is in {}", saved.path.display());
        if !quiet {
            notice(&line);
        }
        log(&line);
        Ok(Some(ProofInfo::version_2(power, saved.md5)))
    }

    /// Removes the residues, once the result is safe.
    pub(crate) fn clear_away(&self) {
        if let Err(e) = self.residues.remove_all().context("residues of the proof stay") {
            notice(&format!("M{}: warning: {e:#}", self.exponent));
        }
    }
}

/// Where residues are kept: all points but the last, which the test ends with.
fn points(p: u32, power: u32) -> Option<Vec<u64>> {
    Some(Points::new(p, power)?.iter().filter(|&k| k < u64::from(p)).collect())
}

impl Keeper for ProofWork {
    fn iterations(&self, reached: u64) -> Vec<u64> {
        let p = self.exponent;
        let power = self.residues.largest_complete_power(self.power, reached);
        // A run has one beginning.
        let _ = self.possible.set(power);
        if power == 0 {
            notice(&format!(
                "M{p}: warning: it goes on at iteration {reached}, and residues from before are \
                 missing: no proof can be made of it; --restart begins it anew"
            ));
        } else if power < self.power {
            notice(&format!(
                "M{p}: warning: residues from before iteration {reached} are missing: the proof \
                 will have power {power} instead of {}",
                self.power
            ));
        }
        points(p, power).unwrap_or_default()
    }

    fn keep(&self, iteration: u64, x: &Residue) -> io::Result<()> {
        self.residues.keep(iteration, x)
    }
}
