//! The conversion of an assignment into the specification of its test.

use std::path::Path;

use warpint_gimps::Work;
use warpint_mersenne::{Exponent, KnownFactors, LlStart, TestKind, TestSpec};

use super::StartFile;
use crate::RunError;
use crate::job::random_shift;

/// Returns the specification of the test that an assignment asks for, with a random shift. The
/// start residue of a certification is read from `M<p>.cert` in `dir`.
///
/// # Errors
/// Returns an error if a known factor is not valid, or if a certification has too many squarings or
/// no usable start residue.
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
