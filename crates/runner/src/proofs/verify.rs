//! Verification of a proof file.

use std::path::Path;
use std::time::Instant;

use warpint_gimps::ProofFile;
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
    let proof = Proof::from_parts(file.exponent(), file.factors(), file.residues())
        .map_err(|source| RunError::NotAProof { path: path.to_owned(), source })?;
    drop(file);
    let exponent = proof.exponent();
    let request = resolved(request, exponent.into(), observer)?;
    let tuned = TunedTimes::open();
    let plan = Plan::fastest(exponent, &request, &tuned).map_err(|e| e.of_request(&request))?;
    for warning in tuned.take_warnings() {
        observer.event(&RunEvent::Warning(&Warning::OfPlan(warning)));
    }
    let (begin, exponent) = (Instant::now(), exponent.get());
    observer.event(&RunEvent::ProofBegins { exponent, stage: ProofStage::Verified });
    let mut progress = |share| observer.event(&RunEvent::Proof { share });
    let verified = proof::verify(plan, &proof, &mut progress, stop);
    observer.event(&RunEvent::ProofEnds);
    let Some(verified) = verified? else { return Ok(None) };
    if verified.erred {
        observer.event(&RunEvent::Warning(&Warning::ProofRunErred { exponent }));
    }
    Ok(Some(ProofReport::new(path, on_disk, &proof, &verified, begin.elapsed())))
}
