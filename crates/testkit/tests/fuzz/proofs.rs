//! Malformed proof files, malformed files of residues for a proof, and malformed start residues of
//! certifications.

use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use warpint_gimps::{ProofFile, ProofTest};
use warpint_mersenne::proof::{Proof, ProofError, ResidueFolder};
use warpint_mersenne::{Number, Residue};

use crate::memory::{allowed, most_used};
use crate::mutate::mutated;
use crate::{cases, cases_on_disk};

const P: u32 = 67;

fn x(k: u64) -> Residue {
    Residue::from_limbs(P, &[k.wrapping_mul(0x9e37_79b9_7f4a_7c15), k % 8])
}

/// Returns proof files in the form in which this program writes them, for M67, for its cofactor, and for
/// 7·2^2256 + 1. Their residues are arbitrary.
fn sound() -> Vec<Vec<u8>> {
    let file = |factors: &[&str], power: u64| {
        let residues = (0..=power).map(|k| x(k + 1).to_le_bytes()).collect();
        let factors = factors.iter().map(|&text| text.to_owned()).collect();
        ProofFile::new(P, factors, residues).unwrap().to_bytes()
    };
    let number: Number = "7*2^2256+1".parse().unwrap();
    let residues = [1, 2, 3].map(|k| Residue::from_u64(number, k).to_le_bytes()).to_vec();
    let other = ProofFile::of_number("proth-3".into(), number.to_string(), residues).unwrap();
    vec![file(&[], 1), file(&[], 4), file(&["193707721"], 2), other.to_bytes()]
}

fn proof_of(file: &ProofFile) -> Result<Proof, ProofError> {
    match file.test() {
        ProofTest::Mersenne { exponent, factors } => {
            Proof::from_parts(*exponent, factors, file.residues())
        }
        ProofTest::Number { test, number } => Proof::of_number(test, number, file.residues()),
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn fuzz_proof_file_that_was_changed(bytes in mutated(sound())) {
        let (found, most) = most_used(|| {
            ProofFile::from_bytes(&bytes).map(|file| (proof_of(&file), file))
        });
        prop_assert!(most <= allowed(8, bytes.len()), "{most} bytes for {}", bytes.len());
        match found {
            Ok((proof, file)) => {
                prop_assert_eq!(file.to_bytes(), bytes);
                match proof {
                    Ok(proof) => prop_assert_eq!(proof.residue_bytes(), file.into_residues()),
                    Err(e) => prop_assert!(!e.to_string().contains('\n')),
                }
            }
            Err(e) => prop_assert!(!e.to_string().contains('\n')),
        }
    }

    #[test]
    fn fuzz_first_residue_of_a_certification(
        p in prop_oneof![2u32..200, 2u32..1 << 31],
        bytes in vec(prop_oneof![Just(0xff), any::<u8>()], 0..40),
    ) {
        let (found, most) = most_used(|| Residue::from_le_bytes(p, &bytes));
        prop_assert!(most <= allowed(4, bytes.len()), "{most} bytes for {}", bytes.len());
        if let Ok(x) = found {
            prop_assert_eq!(x.to_le_bytes(), bytes);
        }
    }
}

proptest! {
    #![proptest_config(cases_on_disk())]

    #[test]
    fn fuzz_residue_on_the_way(
        which in 1u64..60, asked in 1u64..60,
        bytes in prop_oneof![3 => mutated(kept()), 1 => vec(any::<u8>(), 0..200)],
    ) {
        let root = tempfile::tempdir().unwrap();
        let folder = ResidueFolder::new(root.path(), P);
        folder.keep(which, &x(which)).unwrap();
        fs::write(folder.dir().join(format!("{asked:010}.residue")), &bytes).unwrap();
        let (found, most) = most_used(|| folder.load(asked));
        prop_assert!(most <= allowed(4, bytes.len()), "{most} bytes for {}", bytes.len());
        match found {
            // A file that no change has hit.
            Ok(found) => prop_assert!(asked == 17 && found == x(17) && kept().contains(&bytes)),
            Err(e) => prop_assert!(!e.to_string().contains('\n')),
        }
        if asked != which {
            prop_assert_eq!(folder.load(which).unwrap(), x(which));
        }
        folder.remove_all().unwrap();
        prop_assert!(!folder.dir().exists());
    }
}

/// Returns the content of one valid file: a residue after 17 iterations, as it is stored for a
/// proof.
fn kept() -> Vec<Vec<u8>> {
    let root = tempfile::tempdir().unwrap();
    let folder = ResidueFolder::new(root.path(), P);
    folder.keep(17, &x(17)).unwrap();
    vec![fs::read(folder.dir().join("0000000017.residue")).unwrap()]
}
