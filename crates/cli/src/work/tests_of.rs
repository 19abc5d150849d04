//! Which test an assignment asks for.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::Context;
use warpint::gimps::Work;
use warpint::mersenne::{Exponent, KnownFactors, LlStart, Residue, TestKind, TestSpec};

use crate::exit::BadRequest;
use crate::run::random_shift;

/// The test of an assignment in a directory, with a shift drawn at random. A certification begins
/// with the residue in `DIR/M<p>.cert`.
pub(crate) fn spec_of(dir: &Path, work: &Work, exponent: Exponent) -> anyhow::Result<TestSpec> {
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
                let line =
                    format!("a certification of M{p} has at most {p} squarings, not {squarings}");
                return Err(BadRequest(line).into());
            }
            let start = start_residue(&dir.join(format!("M{p}.cert")), p)?;
            TestSpec::certification(exponent, start, *squarings)
        }
    };
    Ok(TestSpec { shift: random_shift(p), ..spec })
}

/// The residue that a certification begins with: ⌈p/8⌉ little-endian bytes and nothing else.
fn start_residue(path: &Path, p: u32) -> anyhow::Result<Residue> {
    let size = Residue::byte_len(p) as u64;
    if path.exists() && !path.is_file() {
        return Err(BadRequest(format!("{} is not a file", path.display())).into());
    }
    let mut bytes = Vec::new();
    File::open(path).and_then(|file| file.take(size + 1).read_to_end(&mut bytes)).with_context(
        || {
            format!(
                "cannot read {}, the residue that the certification begins with",
                path.display()
            )
        },
    )?;
    Residue::from_le_bytes(p, &bytes)
        .map_err(|e| BadRequest(format!("{}: {e}", path.display())).into())
}
