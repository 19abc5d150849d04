//! Proofs: built as an independent program builds them, and refused when
//! anything in them is changed.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use sha2::{Digest, Sha256};
use warpint_gimps::ProofFile;
use warpint_mersenne::engine::{fp64::Fp64, goldilocks::Goldilocks};
use warpint_mersenne::proof::{
    Points, Proof, ProofError, ResidueFolder, Verification, build, build_largest, verify,
};
use warpint_mersenne::{EngineFamily, Exponent, Plan, Residue, Shift, Step, StopToken, Verdict};
use warpint_selftest::vectors::{KnownProof, proof_layout};
use warpint_testkit::faults::{Fault, Faulty};
use warpint_testkit::gmp::Ring;
use warpint_testkit::tests::plan;

const FAMILIES: [&dyn EngineFamily; 2] = [&Fp64, &Goldilocks];

fn fp64(p: u32) -> Plan {
    plan(&Fp64, u64::from(p)).unwrap()
}

/// Does the squarings of a test, keeps the residues of its points, and gives the last.
fn keep_residues(plan: Plan, power: u32, folder: &ResidueFolder) -> Residue {
    let p = plan.exponent().get();
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

fn built(plan: Plan, power: u32, folder: &ResidueFolder, last: &Residue) -> Proof {
    build(plan, power, folder, last, &mut |_| {}, &StopToken::new()).unwrap().unwrap()
}

fn verified(plan: Plan, proof: &Proof) -> Verification {
    verify(plan, proof, &mut |_| {}, &StopToken::new()).unwrap().unwrap()
}

fn file_of(proof: &Proof) -> ProofFile {
    let p = proof.exponent().get();
    ProofFile::new(p, proof.factors().to_vec(), proof.residue_bytes()).unwrap()
}

/// What a program does with a file: `None` if it is not even a proof.
fn proof_of(bytes: &[u8]) -> Option<Proof> {
    let file = ProofFile::from_bytes(bytes).ok()?;
    let exponent = Exponent::new(u64::from(file.exponent())).ok()?;
    let residue = |x: &Vec<u8>| Residue::from_le_bytes(file.exponent(), x).ok();
    let mut residues = file.residues().iter().map(residue).collect::<Option<Vec<_>>>()?;
    let last = residues.remove(0);
    let proof = Proof::new(exponent, last, residues).ok()?;
    proof.with_factors(file.factors().to_vec()).ok()
}

fn is_refused(bytes: &[u8]) -> bool {
    proof_of(bytes).is_none_or(|proof| !verified(fp64(proof.exponent().get()), &proof).is_valid())
}

fn known(p: u32) -> KnownProof {
    proof_layout().unwrap().proofs.into_iter().find(|proof| proof.p == p).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn every_known_proof_is_built_byte_for_byte() {
    for known in proof_layout().unwrap().proofs {
        for family in FAMILIES {
            let what = format!("M{} by {}", known.p, family.name());
            let root = tempfile::tempdir().unwrap();
            let folder = ResidueFolder::new(root.path(), known.p);
            let plan = plan(family, u64::from(known.p)).unwrap();
            let last = keep_residues(plan, known.power, &folder);
            let proof = built(plan, known.power, &folder, &last);
            let proof = proof.with_factors(known.factors.clone()).unwrap();
            assert_eq!(proof.residue().res64_hex(), known.res64, "{what}");

            let file = file_of(&proof);
            let bytes = file.to_bytes();
            if let Some(whole) = known.file() {
                assert_eq!(bytes, whole, "{what}");
            }
            assert_eq!(file.md5(), known.md5, "{what}");
            assert_eq!(hex(&Sha256::digest(&bytes)), known.sha256, "{what}");

            assert_eq!(proof_of(&bytes), Some(proof.clone()), "{what}");
            let verdict = if known.prime { Verdict::ProbablePrime } else { Verdict::Composite };
            assert_eq!(verified(plan, &proof).verdict, Some(verdict), "{what}");
        }
    }
}

#[test]
fn a_proof_with_any_byte_changed_is_refused() {
    for p in [131, 179] {
        let good = known(p).file().unwrap();
        assert!(!is_refused(&good));
        for at in 0..good.len() {
            for change in [0x01, 0x10, 0xff] {
                let mut bad = good.clone();
                bad[at] ^= change;
                assert!(is_refused(&bad), "M{p}: byte {at} xor {change:#x}");
            }
        }
        for length in 0..good.len() {
            assert!(is_refused(&good[..length]), "M{p}: {length} bytes");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_proof_with_changed_residues_is_refused(
        at in 60usize..561,
        change in 1u8..=255,
        and in proptest::option::of((60usize..561, any::<u8>())),
    ) {
        let mut bytes = known(1009).file().unwrap();
        bytes[at] ^= change;
        if let Some((at, change)) = and.filter(|other| other.0 != at) {
            bytes[at] ^= change;
        }
        prop_assert!(is_refused(&bytes));
    }
}

#[test]
fn residues_in_another_order_or_of_another_power_are_refused() {
    let proof = proof_of(&known(521).file().unwrap()).unwrap();
    let (p, exponent) = (521, proof.exponent());
    let refused = |last: &Residue, middles: &[Residue]| {
        let proof = Proof::new(exponent, last.clone(), middles.to_vec()).unwrap();
        !verified(fp64(p), &proof).is_valid()
    };
    let (last, middles) = (proof.last(), proof.middles());
    assert!(!refused(last, middles));
    for i in 0..middles.len() {
        for j in 0..i {
            let mut swapped = middles.to_vec();
            swapped.swap(i, j);
            assert!(refused(last, &swapped), "{i} and {j}");
        }
        let mut other = middles.to_vec();
        other[i] = last.clone();
        assert!(refused(last, &other), "{i}");
    }
    assert!(refused(&middles[0], middles));
    // The first middles are those of a proof of lower power; the others are none.
    assert!(!refused(last, &middles[..3]));
    assert!(refused(last, &middles[1..]));
}

#[test]
fn zeros_satisfy_the_equations_and_are_refused() {
    let zero = Residue::from_u64(1009, 0);
    let exponent = Exponent::new(1009).unwrap();
    let proof = Proof::new(exponent, zero.clone(), vec![zero.clone(); 3]).unwrap();
    assert!(!verified(fp64(1009), &proof).is_valid());
    let known = proof_of(&known(1009).file().unwrap()).unwrap();
    let mut middles = known.middles().to_vec();
    middles[2] = zero;
    let proof = Proof::new(exponent, known.last().clone(), middles).unwrap();
    assert!(!verified(fp64(1009), &proof).is_valid());
}

#[test]
fn what_does_not_belong_together_is_an_error() {
    let proof = proof_of(&known(1009).file().unwrap()).unwrap();
    let stop = StopToken::new();
    let foreign = verify(fp64(1013), &proof, &mut |_| {}, &stop);
    assert!(matches!(foreign, Err(ProofError::Foreign { exponent: 1009, found: 1013 })));
    let other = Residue::from_u64(1013, 3);
    let mixed = Proof::new(proof.exponent(), proof.last().clone(), vec![other.clone()]);
    assert!(matches!(mixed, Err(ProofError::Foreign { .. })));
    for power in [0, 12, 16] {
        let middles = vec![proof.last().clone(); power];
        let none = Proof::new(proof.exponent(), proof.last().clone(), middles);
        assert!(matches!(none, Err(ProofError::Power { .. })), "{power}");
    }
    let folder = ResidueFolder::new(Path::new("nowhere"), 1009);
    let none = build(fp64(1009), 12, &folder, proof.last(), &mut |_| {}, &stop);
    assert!(matches!(none, Err(ProofError::Power { power: 12, .. })));
    let foreign = build(fp64(1009), 3, &folder, &other, &mut |_| {}, &stop);
    assert!(matches!(foreign, Err(ProofError::Foreign { .. })));
    let factor = proof.with_factors(vec!["10091".into()]);
    assert!(factor.unwrap_err().to_string().contains("10091 of M1009 does not divide"));
}

#[test]
fn missing_and_damaged_residues_lead_to_a_lower_power() {
    let (p, stop) = (2203, StopToken::new());
    let root = tempfile::tempdir().unwrap();
    let folder = ResidueFolder::new(root.path(), p);
    let last = keep_residues(fp64(p), 5, &folder);
    assert_eq!(last.divided_by(9), Some(Ring::new(p).prp_residue()));
    let largest = || build_largest(fp64(p), 11, &folder, &last, &mut |_| {}, &stop);
    let proof = largest().unwrap().unwrap();
    assert_eq!(file_of(&proof).md5(), known(p).md5);

    let points = |power| Points::new(p, power).unwrap();
    let file = |k: u64| folder.dir().join(format!("{k:010}.residue"));
    let only_of = |power| points(power).iter().find(|&k| !points(power - 1).contains(k)).unwrap();
    fs::remove_file(file(only_of(5))).unwrap();
    assert_eq!(largest().unwrap().unwrap().power(), 4);

    // Of the right size, but changed: found when it is read, and set aside.
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

    fs::remove_file(file(points(1).iter().next().unwrap())).unwrap();
    assert!(matches!(largest(), Err(ProofError::NoResidues { exponent: 2203, .. })));
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

    for (after, bit) in [(5, 0), (100, 1008), (300, 500), (450, 3), (900, 77)] {
        let fault = Fault::FlippedBit { after, bit };
        assert_eq!(attempt(fault.clone()).0.unwrap(), right, "{fault:?}");
        assert!(check(fault.clone()).unwrap().is_valid(), "{fault:?}");
    }
    for after in [0, 10, 400, 1000] {
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
    for after in [1, 50, 500, 1000] {
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

/// Some minutes: `cargo test --release -p warpint-testkit --test proofs -- --ignored`.
#[test]
#[ignore = "some minutes"]
fn a_proof_of_a_million_bits_with_any_byte_changed_is_refused() {
    let (p, power, every) = (1_000_003, 8, 25_000);
    let all = Plan::of_family(Exponent::new(p).unwrap(), &Fp64, None, None).unwrap();
    let root = tempfile::tempdir().unwrap();
    let folder = ResidueFolder::new(root.path(), p as u32);
    let last = keep_residues(all, power, &folder);
    let proof = built(all, power, &folder, &last);
    let good = file_of(&proof).to_bytes();
    for at in (0..good.len()).step_by(every) {
        let mut bad = good.clone();
        bad[at] ^= 0x40;
        let refused = proof_of(&bad).is_none_or(|proof| !verified(all, &proof).is_valid());
        assert!(refused, "byte {at}");
    }
}
