//! Which test an assignment asks for.

use warpint::gimps::Work;
use warpint::mersenne::{LlStart, TestKind};

/// The test; of work that this program does not do, why it does not.
pub(crate) fn kind_of(work: &Work) -> Result<TestKind, &'static str> {
    match work {
        Work::Prp { known_factors, .. } if !known_factors.is_empty() => {
            Err("PRP tests of cofactors (with known factors) are not done by this version")
        }
        // Without known factors the residues of types 1 and 5 are the same.
        Work::Prp { .. } => Ok(TestKind::Prp),
        Work::Ll { .. } => Ok(TestKind::Ll(LlStart::Four)),
        Work::Cert { .. } => Err("certifications are not done by this version"),
    }
}
