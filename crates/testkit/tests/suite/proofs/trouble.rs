//! Tests proofs whose parts do not match, proofs built from missing or wrong residues, and machines
//! that make errors while they build or verify a proof.

use std::fs;
use std::path::Path;

use warpint_mersenne::engine::fp64::Fp64;
use warpint_mersenne::proof::{
    Points, Proof, ProofError, ResidueFolder, build, build_largest, verify,
};
use warpint_mersenne::{KnownFactors, Residue, StopToken};
use warpint_selftest::faults::wrappers::{Fault, Faulty};
use warpint_testkit::gmp::Ring;
use warpint_testkit::tests::plan;

use super::common::{built, file_of, fp64, keep_residues, known, proof_of};

#[test]
fn what_does_not_belong_together_is_an_error() {
    let proof = proof_of(&known(1009).file().unwrap()).unwrap();
    let stop = StopToken::new();
    let foreign = verify(fp64(1013), &proof, &mut |_| {}, &stop);
    assert!(matches!(foreign, Err(ProofError::Foreign { number, found })
        if number == 1009.into() && found == 1013.into()));
    let other = Residue::from_u64(1013u32, 3);
    let mixed = Proof::new(proof.subject(), proof.last().clone(), vec![other.clone()]);
    assert!(matches!(mixed, Err(ProofError::Foreign { .. })));
    for power in [0, 12, 16] {
        let middles = vec![proof.last().clone(); power];
        let none = Proof::new(proof.subject(), proof.last().clone(), middles);
        assert!(matches!(none, Err(ProofError::Power { .. })), "{power}");
    }
    let folder = ResidueFolder::new(Path::new("nowhere"), 1009);
    let none = build(fp64(1009), 12, &folder, proof.last(), &mut |_| {}, &stop);
    assert!(matches!(none, Err(ProofError::Power { power: 12, .. })));
    let foreign = build(fp64(1009), 3, &folder, &other, &mut |_| {}, &stop);
    assert!(matches!(foreign, Err(ProofError::Foreign { .. })));
    let factor = KnownFactors::new(1_009, &["10091"]);
    assert!(factor.unwrap_err().to_string().contains("10091 does not divide M1009"));
}

#[test]
fn missing_and_damaged_residues_lead_to_a_lower_power() {
    let (p, stop) = (2203, StopToken::new());
    let root = tempfile::tempdir().unwrap();
    let folder = ResidueFolder::new(root.path(), p);
    let last = keep_residues(fp64(p), 5, &folder);
    assert_eq!(last.divided_by(9), Some(Ring::new(p).prp_residue()));
    let of = |powers| {
        let built = build_largest(fp64(p), powers, &folder, &last, &mut |_| {}, &stop);
        built.map(|built| built.map(|built| built.proof))
    };
    let largest = || of(1..=11);
    let proof = largest().unwrap().unwrap();
    assert_eq!(file_of(&proof).md5(), known(p).md5);

    let points = |power| Points::new(p, power).unwrap();
    let file = |k: u64| folder.dir().join(format!("{k:010}.residue"));
    let only_of = |power| points(power).iter().find(|&k| !points(power - 1).contains(k)).unwrap();
    fs::remove_file(file(only_of(5))).unwrap();
    assert_eq!(largest().unwrap().unwrap().power(), 4);

    // Of the right size, but changed: detected when it is read, and renamed.
    let damaged = file(only_of(4));
    let mut bytes = fs::read(&damaged).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 2;
    fs::write(&damaged, bytes).unwrap();
    let error = build(fp64(p), 4, &folder, &last, &mut |_| {}, &stop).unwrap_err().to_string();
    assert!(error.contains("not sound") && error.contains("checksum"), "{error}");
    let proof = largest().unwrap().unwrap();
    assert_eq!((proof.power(), damaged.exists()), (3, false));
    assert!(damaged.with_extension("bad").exists());
    assert!(matches!(of(4..=11), Err(ProofError::NoResidues { least: 4, .. })));
    assert_eq!(of(3..=3).unwrap().unwrap(), proof);

    fs::remove_file(file(points(1).iter().next().unwrap())).unwrap();
    assert!(
        matches!(largest(), Err(ProofError::NoResidues { number, .. }) if number == 2203.into())
    );
}

#[test]
fn a_residue_that_was_wrong_when_it_was_kept_is_found() {
    let (p, stop) = (2203, StopToken::new());
    let root = tempfile::tempdir().unwrap();
    let folder = ResidueFolder::new(root.path(), p);
    let last = keep_residues(fp64(p), 3, &folder);
    for k in Points::new(p, 3).unwrap().iter().filter(|&k| k < u64::from(p)) {
        let right = folder.load(k).unwrap();
        folder.keep(k, &right.rotated_left(1)).unwrap();
        let result = build(fp64(p), 3, &folder, &last, &mut |_| {}, &stop);
        assert!(matches!(result, Err(ProofError::Wrong { repeated: true, .. })), "{k}");
        folder.keep(k, &right).unwrap();
    }
    let result = build(fp64(p), 3, &folder, &last.rotated_left(1), &mut |_| {}, &stop);
    assert!(matches!(result, Err(ProofError::Wrong { .. })));
    built(fp64(p), 3, &folder, &last);
}

#[test]
fn errors_of_the_machine_are_overcome_or_told() {
    let (p, power) = (1009, 3);
    let root = tempfile::tempdir().unwrap();
    let folder = ResidueFolder::new(root.path(), p);
    let last = keep_residues(fp64(p), power, &folder);
    let right = built(fp64(p), power, &folder, &last);
    assert_eq!(file_of(&right).to_bytes(), known(p).file().unwrap());
    let attempt = |fault: Fault| {
        let plan = plan(Faulty::leaked(&Fp64, fault), u64::from(p)).unwrap();
        let stop = StopToken::new();
        let proof = build(plan, power, &folder, &last, &mut |_| {}, &stop).map(Option::unwrap);
        (proof, plan)
    };
    let check = |fault: Fault| {
        let plan = plan(Faulty::leaked(&Fp64, fault), u64::from(p)).unwrap();
        verify(plan, &right, &mut |_| {}, &StopToken::new()).map(Option::unwrap)
    };

    let mut erred = 0;
    for (after, bit) in [(5, 0), (100, 1008), (300, 500), (450, 3), (900, 77)] {
        let fault = Fault::FlippedBit { after, bit };
        assert_eq!(attempt(fault.clone()).0.unwrap(), right, "{fault:?}");
        let verification = check(fault.clone()).unwrap();
        assert!(verification.is_valid(), "{fault:?}");
        erred += u32::from(verification.erred);
    }
    // The other bits flip after the end of a first run.
    assert!(erred >= 4, "{erred}");
    for after in [0, 10, 400, 700] {
        assert!(matches!(
            attempt(Fault::Unreliable { after }).0,
            Err(ProofError::Wrong { .. } | ProofError::Unreliable { .. })
        ));
    }
    assert!(matches!(check(Fault::Unreliable { after: 10 }), Err(ProofError::Unreliable { .. })));
    for after in [0, 20, 350] {
        let short = fp64(p).length();
        let fault = Fault::RoundOff { after, enough: short + 1 };
        let (proof, plan) = attempt(fault.clone());
        assert_eq!((proof.unwrap(), plan.length()), (right.clone(), short), "{fault:?}");
        let verification = check(fault).unwrap();
        assert!(verification.is_valid() && verification.length > short);
    }
}

#[test]
fn a_stop_is_heard_soon_and_leaves_no_proof() {
    let (p, power) = (2203, 5);
    let root = tempfile::tempdir().unwrap();
    let folder = ResidueFolder::new(root.path(), p);
    let last = keep_residues(fp64(p), power, &folder);
    let proof = built(fp64(p), power, &folder, &last);
    for after in [1, 50, 500, 700] {
        let interrupted = || {
            let stop = StopToken::new();
            let fault = Fault::Interrupted { after, stop: stop.clone() };
            (Faulty::leaked(&Fp64, fault), stop)
        };
        let (family, stop) = interrupted();
        let its = plan(family, u64::from(p)).unwrap();
        let stopped = build(its, power, &folder, &last, &mut |_| {}, &stop);
        assert!(matches!(stopped, Ok(None)), "{after}");
        assert!(family.products() < after + 10);
        let (family, stop) = interrupted();
        let its = plan(family, u64::from(p)).unwrap();
        let stopped = verify(its, &proof, &mut |_| {}, &stop);
        assert!(matches!(stopped, Ok(None)), "{after}");
        assert!(family.products() < after + 100);
    }
}
