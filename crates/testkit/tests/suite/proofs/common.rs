//! Builds and reads proofs of small exponents in the same way as the program.

use warpint_gimps::{ProofFile, ProofTest};
use warpint_mersenne::engine::fp64::Fp64;
use warpint_mersenne::proof::{Points, Proof, ResidueFolder, Verification, build, verify};
use warpint_mersenne::{Plan, Residue, Shift, Step, StopToken};
use warpint_selftest::vectors::{KnownProof, proof_layout};
use warpint_testkit::tests::plan;

pub(crate) fn fp64(p: u32) -> Plan {
    plan(&Fp64, u64::from(p)).unwrap()
}

/// Computes the squarings of a PRP test. Saves the residues that are required for a proof with
/// `power` middles in `folder`. Returns the last residue.
pub(crate) fn keep_residues(plan: Plan, power: u32, folder: &ResidueFolder) -> Residue {
    let p = plan.exponent();
    let mut engine = plan.build(1).unwrap();
    engine.set(0, 3, Shift::ZERO).unwrap();
    let mut iteration = 0;
    for point in Points::new(p, power).unwrap().iter() {
        engine.square(0, point - iteration, Step::Square, Shift::ZERO).unwrap();
        iteration = point;
        if point < u64::from(p) {
            let x = engine.read(0, Shift::ZERO).unwrap();
            folder.keep(point, &x).unwrap();
        }
    }
    engine.read(0, Shift::ZERO).unwrap()
}

pub(crate) fn built(plan: Plan, power: u32, folder: &ResidueFolder, last: &Residue) -> Proof {
    build(plan, power, folder, last, &mut |_| {}, &StopToken::new()).unwrap().unwrap()
}

pub(crate) fn verified(plan: Plan, proof: &Proof) -> Verification {
    verify(plan, proof, &mut |_| {}, &StopToken::new()).unwrap().unwrap()
}

pub(crate) fn file_of(proof: &Proof) -> ProofFile {
    let p = proof.number().exponent();
    ProofFile::new(p, proof.factors().texts().to_vec(), proof.residue_bytes()).unwrap()
}

/// Decodes the bytes of a proof file. Returns `None` if the bytes are not a valid proof.
pub(crate) fn proof_of(bytes: &[u8]) -> Option<Proof> {
    let file = ProofFile::from_bytes(bytes).ok()?;
    match file.test() {
        ProofTest::Mersenne { exponent, factors } => {
            Proof::from_parts(*exponent, factors, file.residues()).ok()
        }
        ProofTest::Number { test, number } => Proof::of_number(test, number, file.residues()).ok(),
    }
}

pub(crate) fn is_refused(bytes: &[u8]) -> bool {
    proof_of(bytes)
        .is_none_or(|proof| !verified(fp64(proof.number().exponent()), &proof).is_valid())
}

pub(crate) fn known(p: u32) -> KnownProof {
    proof_layout().unwrap().proofs.into_iter().find(|proof| proof.p == p).unwrap()
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
