//! Tests that proofs are identical to those of an independent program.

use sha2::{Digest, Sha256};
use warpint_mersenne::engine::families_for;
use warpint_mersenne::proof::{ResidueFolder, build};
use warpint_mersenne::{KnownFactors, StopToken, Verdict};
use warpint_selftest::vectors::proof_layout;
use warpint_testkit::tests::plan;

use super::common::{built, file_of, fp64, hex, keep_residues, proof_of, verified};

#[test]
fn every_known_proof_is_built_byte_for_byte() {
    for known in proof_layout().unwrap().proofs {
        for family in families_for(known.p) {
            let what = format!("M{} by {}", known.p, family.name());
            let root = tempfile::tempdir().unwrap();
            let folder = ResidueFolder::new(root.path(), known.p);
            let plan = plan(family, u64::from(known.p)).unwrap();
            let last = keep_residues(plan, known.power, &folder);
            let proof = built(plan, known.power, &folder, &last);
            let proof = proof.with_factors(KnownFactors::new(known.p, &known.factors).unwrap());
            assert_eq!(proof.claimed().unwrap().res64_hex(), known.res64, "{what}");

            let file = file_of(&proof);
            let bytes = file.to_bytes();
            if let Some(whole) = known.file() {
                assert_eq!(bytes, whole, "{what}");
            }
            assert_eq!(file.md5(), known.md5, "{what}");
            assert_eq!(hex(&Sha256::digest(&bytes)), known.sha256, "{what}");

            assert_eq!(proof_of(&bytes), Some(proof.clone()), "{what}");
            let verdict = if known.prime { Verdict::ProbablePrime } else { Verdict::Composite };
            assert_eq!(verified(plan, &proof).finding, Ok(verdict), "{what}");
        }
    }
}

#[test]
fn progress_goes_from_nothing_to_all() {
    let (p, power) = (4423, 8);
    let root = tempfile::tempdir().unwrap();
    let folder = ResidueFolder::new(root.path(), p);
    let last = keep_residues(fp64(p), power, &folder);
    let mut told = vec![];
    build(fp64(p), power, &folder, &last, &mut |share| told.push(share), &StopToken::new())
        .unwrap()
        .unwrap();
    assert!(told.first().is_some_and(|&share| share < 0.1));
    assert!(told.is_sorted() && told.iter().all(|share| (0.0..=1.0).contains(share)));
}
