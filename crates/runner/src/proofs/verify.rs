//! Verification of a proof file.

use std::path::Path;
use std::time::Instant;

use warpint_gimps::{ProofFile, ProofTest};
use warpint_mersenne::proof::{self, Proof};
use warpint_mersenne::{Plan, PlanRequest, StopToken, TunedTimes};

use crate::RunError;
use crate::observer::{Observer, ProofStage, RunEvent};
use crate::place::resolved;
use crate::report::ProofReport;
use crate::warning::Warning;

/// Verifies a proof file with the fastest plan for a request, and returns the report. Returns
/// `None` if `stop` was set. Writes no files.
///
/// # Errors
/// Returns an error if the file cannot be read or is not a proof, if no plan fits the request, or
/// if [`proof::verify`] fails. A wrong proof is not an error: see [`ProofReport::is_valid`].
pub fn verify_file(
    path: &Path,
    request: &PlanRequest,
    observer: &dyn Observer,
    stop: &StopToken,
) -> Result<Option<ProofReport>, RunError> {
    let (file, on_disk) = ProofFile::read(path)?;
    let residues = file.residues();
    let proof = match file.test() {
        ProofTest::Mersenne { exponent, factors } => {
            Proof::from_parts(*exponent, factors, residues)
        }
        ProofTest::Number { test, number } => Proof::of_number(test, number, residues),
    };
    let proof = proof.map_err(|source| RunError::NotAProof { path: path.to_owned(), source })?;
    drop(file);
    let number = proof.number();
    let request = resolved(request, number, observer)?;
    let tuned = TunedTimes::open();
    let plan = Plan::fastest(number, &request, &tuned).map_err(|e| e.of_request(&request))?;
    for warning in tuned.take_warnings() {
        observer.event(&RunEvent::Warning(&Warning::OfPlan(warning)));
    }
    let begin = Instant::now();
    observer.event(&RunEvent::ProofBegins { number, stage: ProofStage::Verified });
    let mut progress = |share| observer.event(&RunEvent::Proof { share });
    let verified = proof::verify(plan, &proof, &mut progress, stop);
    observer.event(&RunEvent::ProofEnds);
    let Some(verified) = verified? else { return Ok(None) };
    if verified.erred {
        observer.event(&RunEvent::Warning(&Warning::ProofRunErred { number }));
    }
    Ok(Some(ProofReport::new(path, on_disk, &proof, &verified, begin.elapsed())))
}
