//! Tests that proof files are written and read, and that invalid files are refused.

use std::fs;

use proptest::prelude::*;
use warpint_gimps::{ProofFile, ProofFileError, ProofFormatError, ProofTest, check_proof_folder};

use files::{mersenne, refusal, small, with};

/// A proof file of M13 with power 2 and residues of 2 bytes.
const SMALL: &[u8] = b"PRP PROOF\nVERSION=2\nHASHSIZE=64\nPOWER=2\nNUMBER=M13\nabcdef";

mod files {
    use super::*;

    pub(super) fn small() -> ProofFile {
        let residues = [b"ab", b"cd", b"ef"].map(|x| x.to_vec());
        ProofFile::new(13, vec![], residues.to_vec()).unwrap()
    }

    pub(super) fn with(from: &str, to: &str) -> Vec<u8> {
        let text = String::from_utf8(SMALL.to_vec()).unwrap();
        assert!(text.contains(from));
        text.replacen(from, to, 1).into_bytes()
    }

    pub(super) fn mersenne(exponent: u32, factors: &[&str]) -> ProofTest {
        let factors = factors.iter().map(ToString::to_string).collect();
        ProofTest::Mersenne { exponent, factors }
    }

    pub(super) fn refusal(bytes: &[u8]) -> String {
        ProofFile::from_bytes(bytes).unwrap_err().to_string()
    }
}

#[test]
fn the_layout_is_that_of_the_format() {
    let proof = small();
    assert_eq!(proof.to_bytes(), SMALL);
    assert_eq!(ProofFile::from_bytes(SMALL), Ok(proof.clone()));
    assert_eq!((proof.test(), proof.power()), (&mersenne(13, &[]), 2));
    assert_eq!(proof.residues()[2], b"ef");
    // md5sum of the same bytes.
    assert_eq!(proof.md5(), "79d1685ac6f761235ef64815f2a46caa");
    let factors = with("M13", "M13/3/456789012345678901234567890");
    let read = ProofFile::from_bytes(&factors).unwrap();
    assert_eq!(read.test(), &mersenne(13, &["3", "456789012345678901234567890"]));
    assert_eq!(read.to_bytes(), factors);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    for (from, to, says) in [
        ("PRP PROOF", "PRP PROOFS", "line 1 must be PRP PROOF or WARPINT PROOF, not 'PRP PROOFS'"),
        (
            "PRP PROOF\n",
            "PRP PROOF\r\n",
            "line 1 must be PRP PROOF or WARPINT PROOF, not 'PRP PROOF\\r'",
        ),
        ("VERSION=2", "VERSION=1", "line 2, 'VERSION=1', is of another version than 2"),
        ("VERSION=2", "VERSION=02", "line 2 must be VERSION=2"),
        ("HASHSIZE=64", "HASHSIZE=32", "line 3, 'HASHSIZE=32', is of another hash size"),
        ("HASHSIZE=64", "HASHSIZE=", "line 3 must be HASHSIZE=64"),
        ("POWER=2", "POWER=2x3", "line 4, 'POWER=2x3', is of a repeated proof"),
        ("POWER=2", "POWER=16", "line 4 must be POWER=n, n from 1 to 15, not 'POWER=16'"),
        ("POWER=2", "POWER=0", "line 4 must be POWER=n"),
        ("POWER=2", "POWER=99999999999999999999999", "line 4 must be POWER=n"),
        ("POWER=2", "POWER=3", "it has 57 bytes instead of 59"),
        ("POWER=2", "BASE=3", "line 4 must be POWER=n"),
        ("M13", "M17", "it has 57 bytes instead of 60"),
        ("M13", "M013", "line 5 must be NUMBER=M<p>"),
        ("M13", "F13", "line 5 must be NUMBER=M<p>"),
        ("M13", "M1", "line 5 must be NUMBER=M<p>"),
        ("M13", "M2147483648", "line 5 must be NUMBER=M<p>"),
        ("M13", "M13/", "line 5 must be NUMBER=M<p>"),
        ("M13", "M13/2x", "line 5 must be NUMBER=M<p>"),
        ("M13", "M2147483647", "it has 65 bytes instead of 805306427"),
        (
            "M13\nabcdef",
            "M13",
            "line 5, which must be NUMBER=M<p>, or NUMBER=M<p>/<factor>/…, does not end",
        ),
        ("abcdef", "abcde", "it has 56 bytes instead of 57"),
        ("abcdef", "abcdefg", "it has 58 bytes instead of 57"),
    ] {
        let error = refusal(&with(from, to));
        assert!(error.contains(says), "{from} -> {to}: {error}");
    }
    assert!(refusal(b"").contains("line 1"));
    assert!(refusal(&[0xff; 5000]).contains("line 1"));
    assert!(refusal(&[b'7'; 5000]).len() < 200);
}

#[test]
fn a_file_is_written_once_and_whole() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("proof");
    let saved = small().save(&folder).unwrap();
    assert_eq!(saved.path, folder.join("M13-2.proof"));
    assert_eq!(fs::read(&saved.path).unwrap(), SMALL);
    assert_eq!(saved.md5, small().md5());
    assert_eq!(ProofFile::read(&saved.path).unwrap(), (small(), saved.clone()));
    assert_eq!(small().save(&folder).unwrap(), saved);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);

    // Another file of that name is not changed.
    fs::write(&saved.path, "mine").unwrap();
    assert!(matches!(small().save(&folder), Err(ProofFileError::Exists { .. })));
    assert_eq!(fs::read(&saved.path).unwrap(), b"mine");
    fs::remove_file(&saved.path).unwrap();
    fs::create_dir(&saved.path).unwrap();
    assert!(matches!(small().save(&folder), Err(ProofFileError::Exists { .. })));

    // A file in the place of the folder.
    fs::write(root.path().join("file"), "").unwrap();
    let error = small().save(&root.path().join("file")).unwrap_err().to_string();
    assert!(error.contains("file is not a folder") && error.contains("move it away"), "{error}");
    assert!(check_proof_folder(&root.path().join("file")).is_err());
    assert!(check_proof_folder(&root.path().join("none")).is_ok());
    assert!(!root.path().join("none").exists());
}

#[cfg(unix)]
#[test]
fn a_link_is_neither_a_folder_nor_a_proof_of_the_program() {
    let root = tempfile::tempdir().unwrap();
    let link = root.path().join("proof");
    std::os::unix::fs::symlink("elsewhere", &link).unwrap();
    fs::create_dir(root.path().join("elsewhere")).unwrap();
    let error = small().save(&link).unwrap_err();
    assert!(matches!(error, ProofFileError::NotAFolder { .. }), "{error}");
    assert!(check_proof_folder(&link).is_err());
    // The parent of the folder may be reached by a link.
    let folder = link.join("M13");
    let saved = small().save(&folder).unwrap().path;
    assert_eq!(saved, folder.join("M13-2.proof"));
    // A file that the user names may be a link.
    let by_link = root.path().join("given");
    std::os::unix::fs::symlink(&saved, &by_link).unwrap();
    assert_eq!(ProofFile::read(&by_link).unwrap().0, small());
    // In place of a proof a link is an obstacle, whatever its target.
    fs::rename(&saved, root.path().join("outside")).unwrap();
    std::os::unix::fs::symlink("../../outside", &saved).unwrap();
    assert!(matches!(small().save(&folder), Err(ProofFileError::Exists { .. })));
    assert_eq!(ProofFile::in_the_way(&folder, &mersenne(13, &[]), 2), Some(saved));
}

#[test]
fn proofs_of_a_number_and_of_its_cofactors_are_in_one_folder() {
    let folder = tempfile::tempdir().unwrap();
    // Factors are only digits here; divisibility is not checked.
    for (factors, name) in [
        (vec![], "M13-2.proof"),
        (vec!["3"], "M13-f1-2.proof"),
        (vec!["3", "456789012345678901234567890"], "M13-f2-2.proof"),
    ] {
        let factors = factors.into_iter().map(str::to_owned).collect();
        let proof = ProofFile::new(13, factors, small().into_residues()).unwrap();
        assert_eq!(proof.file_name(), name);
        assert_eq!(proof.save(folder.path()).unwrap().path, folder.path().join(name));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
fn what_has_the_name_of_a_proof_and_is_another_is_in_its_way() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("M13-2.proof");
    let of = |p, factors: &[&str], power| {
        ProofFile::in_the_way(dir.path(), &mersenne(p, factors), power)
    };
    assert_eq!(of(13, &[], 2), None);
    small().save(dir.path()).unwrap();
    assert_eq!(of(13, &[], 2), None);
    for bytes in [with("M13", "M11"), with("M13", "M13/3"), vec![], SMALL[1..].to_vec()] {
        fs::write(&path, bytes).unwrap();
        assert_eq!(of(13, &[], 2).as_ref(), Some(&path));
        assert!(matches!(small().save(dir.path()), Err(ProofFileError::Exists { .. })));
    }
    assert_eq!((of(13, &["3"], 2), of(13, &[], 3)), (None, None));
    let of_cofactor = dir.path().join("M13-f1-2.proof");
    fs::write(&of_cofactor, with("M13", "M13/3")).unwrap();
    assert_eq!((of(13, &["3"], 2), of(13, &["5"], 2)), (None, Some(of_cofactor)));
}

#[test]
fn what_is_no_regular_file_is_not_opened() {
    let root = tempfile::tempdir().unwrap();
    let says = |name: &str| ProofFile::read(&root.path().join(name)).unwrap_err().to_string();
    let missing = says("none");
    assert!(missing.starts_with("cannot read the proof file "), "{missing}");
    assert!(missing.ends_with("none: the file does not exist"), "{missing}");
    assert!(says("").contains("it is a directory"));
    #[cfg(unix)]
    {
        let fifo = root.path().join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(fifo).status().unwrap().success());
        assert!(says("fifo").contains("not a regular file"));
    }
    // The size stated by the header is compared before memory is allocated.
    let header = with("M13\nabcdef", "M2147483647\n");
    fs::write(root.path().join("huge"), header).unwrap();
    assert!(says("huge").contains("59 bytes instead of 805306427"), "{}", says("huge"));
}

#[test]
fn parts_that_make_no_proof_are_refused() {
    let residues = |n: usize, size: usize| vec![vec![0; size]; n];
    let refused = |p, factors: &[&str], residues| {
        let factors = factors.iter().map(|&f| f.to_owned()).collect();
        matches!(ProofFile::new(p, factors, residues), Err(ProofFormatError::Parts(_)))
    };
    assert!(!refused(13, &["3"], residues(2, 2)));
    assert!(refused(1, &[], residues(2, 1)));
    assert!(refused(13, &["03"], residues(2, 2)));
    assert!(refused(13, &["3\n4"], residues(2, 2)));
    assert!(refused(13, &[""], residues(2, 2)));
    assert!(refused(13, &[], residues(1, 2)));
    assert!(refused(13, &[], residues(17, 2)));
    assert!(refused(13, &[], residues(2, 3)));
    assert!(refused(13, &["7".repeat(4096).as_str()], residues(2, 2)));
}

/// Returns a configuration with 10,000 cases, or the number in the environment variable
/// `PROPTEST_CASES`.
fn many() -> ProptestConfig {
    let config = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { config.cases } else { 10_000 };
    ProptestConfig { cases, ..config }
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn fuzz_any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(ProofFile::from_bytes(&bytes).is_err());
    }

    #[test]
    fn fuzz_a_changed_file_is_another_file_or_none(
        at in 0usize..58,
        delete in 0usize..4,
        insert in proptest::collection::vec(prop_oneof![any::<u8>(), b'0'..=b'9', Just(b'\n'), Just(b'/'), Just(b'x')], 0..4),
    ) {
        let mut bytes = SMALL.to_vec();
        let end = (at + delete).min(bytes.len());
        bytes.splice(at..end, insert);
        if let Ok(proof) = ProofFile::from_bytes(&bytes) {
            prop_assert_eq!(proof.to_bytes(), bytes);
        }
    }

    #[test]
    fn fuzz_what_is_written_is_read(
        p in 2u32..2000,
        power in 1usize..=15,
        factors in proptest::collection::vec("[1-9][0-9]{0,40}", 0..4),
        seed in any::<u8>(),
    ) {
        let size = (p as usize).div_ceil(8);
        let residue = |i: usize| (0..size).map(|j| seed.wrapping_mul((7 * i + j) as u8)).collect();
        let proof = ProofFile::new(p, factors, (0..=power).map(residue).collect()).unwrap();
        prop_assert_eq!(ProofFile::from_bytes(&proof.to_bytes()), Ok(proof));
    }
}

/// A proof file of 7·2^9 + 1 with power 2 and residues of 2 bytes.
const OF_NUMBER: &[u8] =
    b"WARPINT PROOF\nVERSION=1\nHASHSIZE=64\nPOWER=2\nTEST=proth-5\nNUMBER=7*2^9+1\nabcdef";

#[test]
fn proofs_of_other_numbers_have_a_layout_of_their_own() {
    let of = |test: &str, number: &str| {
        ProofFile::of_number(test.into(), number.into(), small().into_residues())
    };
    let proof = of("proth-5", "7*2^9+1").unwrap();
    assert_eq!(proof.to_bytes(), OF_NUMBER);
    assert_eq!(ProofFile::from_bytes(OF_NUMBER), Ok(proof.clone()));
    let test = ProofTest::Number { test: "proth-5".into(), number: "7*2^9+1".into() };
    assert_eq!((proof.test(), proof.power()), (&test, 2));
    for (test, number, name) in [
        ("proth-5", "7*2^9+1", "7_2_9+1-proth-5-2.proof"),
        ("prp-b3", "2^64+1", "1_2_64+1-prp-b3-2.proof"),
        ("prp-b5", "M11", "M11-prp-b5-2.proof"),
    ] {
        assert_eq!(of(test, number).unwrap().file_name(), name);
    }
    let dir = tempfile::tempdir().unwrap();
    let saved = proof.save(dir.path()).unwrap();
    assert_eq!(ProofFile::read(&saved.path).unwrap(), (proof.clone(), saved.clone()));
    assert_eq!(ProofFile::in_the_way(dir.path(), &test, 2), None);
    fs::write(&saved.path, SMALL).unwrap();
    assert_eq!(ProofFile::in_the_way(dir.path(), &test, 2), Some(saved.path));
    for (test, number) in
        [("", "7*2^9+1"), ("Proth", "7*2^9+1"), ("a", ""), ("a", "7 2"), ("../a", "7")]
    {
        assert!(matches!(of(test, number), Err(ProofFormatError::Parts(_))), "{test} {number}");
    }
    for sizes in [&[2][..], &[2, 3], &[0, 0], &[1; 17]] {
        let residues = sizes.iter().map(|&n| vec![0; n]).collect();
        let result = ProofFile::of_number("a".into(), "2^99+1".into(), residues);
        assert!(matches!(result, Err(ProofFormatError::Parts(_))), "{sizes:?}");
    }
    let long = ProofFile::of_number("a".into(), "7*2^9+1".into(), vec![vec![0; 4]; 2]);
    let too_long = "its residues have more bits than its number";
    assert_eq!(long, Err(ProofFormatError::Parts(too_long)));
    assert_eq!(refusal(&[OF_NUMBER, &[0; 6]].concat()), too_long);
}

#[test]
fn malformed_proofs_of_other_numbers_are_refused() {
    for (from, to, says) in [
        ("WARPINT PROOF", "WARPINT  PROOF", "line 1 must be PRP PROOF or WARPINT PROOF"),
        ("WARPINT PROOF", "PRP PROOF", "line 2, 'VERSION=1', is of another version than 2"),
        ("VERSION=1", "VERSION=2", "line 2, 'VERSION=2', is of another version than 1"),
        ("HASHSIZE=64", "HASHSIZE=65", "line 3, 'HASHSIZE=65', is of another hash size"),
        ("POWER=2", "POWER=3", "which are not 4 residues of equal size: truncated or extended"),
        ("POWER=2", "POWER=0", "line 4 must be POWER=n"),
        ("TEST=proth-5", "TEST=", "line 5 must be TEST=name, not 'TEST='"),
        ("TEST=proth-5", "TEST=proth 5", "line 5 must be TEST=name"),
        ("TEST=proth-5\n", "", "line 5 must be TEST=name, not 'NUMBER=7*2^9+1'"),
        ("NUMBER=7*2^9+1", "NUMBER=", "line 6 must be NUMBER=k*b^n+1 or NUMBER=k*b^n-1"),
        ("NUMBER=7*2^9+1", "NUMBER=../7", "line 6 must be NUMBER="),
        ("NUMBER=7*2^9+1", "NUMBER=7*2^9+3", "line 6 must be NUMBER="),
        ("NUMBER=7*2^9+1", "NUMBER=07*2^9+1", "line 6 must be NUMBER="),
        ("NUMBER=7*2^9+1", "NUMBER=7*2^99999999999999999999+1", "line 6 must be NUMBER="),
        ("NUMBER=7*2^9+1", "NUMBER=7*2+1", "line 6 must be NUMBER="),
        ("NUMBER=7*2^9+1", "NUMBER=M", "line 6 must be NUMBER="),
        ("+1\nabcdef", "+1\nabcde", "it has 5 bytes after its header, which are not 3"),
        ("+1\nabcdef", "+1\nabcdefg", "it has 7 bytes after its header, which are not 3"),
        ("+1\nabcdef", "+1\n", "it has 0 bytes after its header"),
        (
            "+1\nabcdef",
            "+1",
            "line 6, which must be NUMBER=k*b^n+1 or NUMBER=k*b^n-1, does not end",
        ),
    ] {
        let text = String::from_utf8(OF_NUMBER.to_vec()).unwrap();
        let found = refusal(text.replacen(from, to, 1).as_bytes());
        assert!(found.contains(says), "{from} → {to}: {found}");
    }
}
