//! Tests that changed proofs are refused.

use proptest::prelude::*;
use warpint_mersenne::engine::fp64::Fp64;
use warpint_mersenne::proof::{Proof, ProofError, ResidueFolder, build};
use warpint_mersenne::{Exponent, Plan, Residue, StopToken};
use warpint_natural::limbs;

use super::common::{built, file_of, fp64, is_refused, keep_residues, known, proof_of, verified};

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
    let (p, exponent) = (521, proof.subject());
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
    // The first middles are those of a proof of lower power; the other middles are not.
    assert!(!refused(last, &middles[..3]));
    assert!(refused(last, &middles[1..]));
}

#[test]
fn zeros_satisfy_the_equations_and_are_refused() {
    let zero = Residue::from_u64(1009u32, 0);
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
fn a_sign_that_hides_a_prime_is_refused() {
    let p = 521;
    let root = tempfile::tempdir().unwrap();
    let folder = ResidueFolder::new(root.path(), p);
    let last = keep_residues(fp64(p), 4, &folder);
    assert!(last.is(9));
    let zero = Residue::from_u64(p, 0);
    let minus = Residue::from_limbs(p, &limbs::sub_mod(zero.limbs(), last.limbs(), p));
    // Its square is right, and the first step of a verification is to square it.
    let result = build(fp64(p), 4, &folder, &minus, &mut |_| {}, &StopToken::new());
    assert!(matches!(result, Err(ProofError::Wrong { repeated: true, .. })), "{result:?}");
}

/// Tests that a large proof with a wrong byte is refused, for one byte in 2,500. Takes some
/// minutes. Run it by `cargo test --release -p warpint-testkit --test suite proofs:: -- --ignored`.
#[test]
#[ignore = "some minutes"]
fn a_large_proof_with_any_of_many_bytes_changed_is_refused() {
    let (p, power, every) = (216_091, 8, 2_500);
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
