//! The test that an assignment asks for.

use std::path::Path;

use warpint_gimps::Work;
use warpint_mersenne::{Exponent, KnownFactors, LlStart, TestKind, TestSpec};

use super::StartFile;
use crate::RunError;
use crate::job::random_shift;

/// Returns the test of an assignment in a directory, with a random shift. The start residue of a
/// certification is read from `DIR/M<p>.cert`.
///
/// # Errors
/// Returns an error for invalid factors, and for a certification with too many squarings or without
/// a start residue.
pub fn spec_of(dir: &Path, work: &Work, exponent: Exponent) -> Result<TestSpec, RunError> {
    let p = exponent.get();
    let spec = match work {
        // Without known factors the residues of types 1 and 5 are the same.
        Work::Prp { known_factors, .. } => {
            let known_factors = KnownFactors::new(p, known_factors)?;
            TestSpec { known_factors, ..TestSpec::new(TestKind::Prp, exponent) }
        }
        Work::Ll { .. } => TestSpec::new(TestKind::Ll(LlStart::Four), exponent),
        Work::Cert { squarings, .. } => {
            if *squarings > u64::from(p) {
                return Err(RunError::TooManySquarings { exponent: p, squarings: *squarings });
            }
            let start = StartFile::new(dir, p).read()?;
            TestSpec::certification(exponent, start, *squarings)
        }
    };
    Ok(TestSpec { shift: random_shift(p), ..spec })
}
