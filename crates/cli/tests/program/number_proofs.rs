//! Tests of proofs of k·b^n ± 1: made by `warpint test` and `warpint work`, and verified.

use std::fs;
use std::path::Path;

use crate::common::{Ran, command, warpint};

/// Runs `warpint test <args>` on the CPU in a directory.
fn test(dir: &Path, args: &[&str]) -> Ran {
    let args = ["test", "--device", "cpu", "--dir", "w"].iter().chain(args);
    command(dir, args).output().unwrap().into()
}

fn verify(dir: &Path, file: &str, options: &str) -> Ran {
    warpint(dir, &format!("proof verify {file} --device cpu --quiet{options}"))
}

/// Composite, without a prime factor below 1,000,000.
const COMPOSITE: &str = "15*2^5000+1";

#[test]
fn a_test_leaves_a_proof_that_says_what_it_certifies() {
    let dir = tempfile::tempdir().unwrap();
    for (args, file, status, said) in [
        (
            &["7*2^2256+1"][..],
            "7_2_2256+1-proth-3-3.proof",
            "P",
            "7*2^2256+1 is prime (Proth): the proof of Proth-3, power 3, is right, res64 ",
        ),
        (
            &[COMPOSITE],
            "15_2_5000+1-proth-7-3.proof",
            "C",
            "15*2^5000+1 is composite: the proof of Proth-7, power 3, is right, res64 ",
        ),
        (
            &["46^512+1"],
            "1_46_512+1-pocklington-3-23-3.proof",
            "P",
            "46^512+1 is a probable prime: the proof of Pocklington-3, power 3, is right, res64 ",
        ),
        (
            &["3*2^3276-1", "--base", "5"],
            "3_2_3276-1-prp-b5-3.proof",
            "PRP",
            "3*2^3276-1 is a probable prime: the proof of PRP-5, power 3, is right, res64 ",
        ),
    ] {
        let ran = test(dir.path(), &[args, &["--proof=3", "--json"]].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let tested = ran.json();
        assert_eq!(tested["status"], status, "{ran:?}");
        let proof = &tested["proof"];
        assert_eq!((&proof["version"], &proof["power"]), (&1.into(), &3.into()), "{ran:?}");
        assert!(file.contains(proof["test"].as_str().unwrap()), "{ran:?}");
        assert!(ran.err.contains("residues for a proof of power 3 take up to"), "{ran:?}");
        assert!(ran.err.contains(&format!("the proof of power 3 is in w/proof/{file}")), "{ran:?}");
        let path = format!("w/proof/{file}");
        let text = verify(dir.path(), &path, "");
        assert_eq!((text.code, text.err.as_str()), (Some(0), ""), "{text:?}");
        assert!(text.out.starts_with(said), "{text:?}");
        let json = verify(dir.path(), &path, " --json --engine plain").json();
        assert_eq!(json["valid"], true);
        for field in ["number", "worktype", "res64", "exponent"] {
            assert_eq!(json[field], tested[field], "{field}: {json}");
        }
        // For 46 = 2·23 the theorem needs 23, for which a proof gives no certainty.
        let is_proven = !args.contains(&"46^512+1");
        assert_eq!(json["status"], if is_proven { status } else { "PRP" }, "{json}");
        assert_eq!(json.get("theorem"), tested.get("theorem").filter(|_| is_proven));
        assert_eq!((&json["md5"], json.get("residue-type")), (&proof["md5"], None));
        // The same command prints the stored result, and makes no second proof.
        let again = test(dir.path(), &[args, &["--proof=3", "--json"]].concat());
        assert_eq!((again.code, &again.json()["proof"]), (Some(0), proof), "{again:?}");
    }
    // The residues are gone.
    for entry in fs::read_dir(dir.path().join("w")).unwrap().flatten() {
        let inside = fs::read_dir(entry.path()).into_iter().flatten().flatten();
        let left: Vec<_> = inside.map(|e| e.path()).filter(|p| p.is_dir()).collect();
        assert_eq!(left, Vec::<std::path::PathBuf>::new());
    }
}

#[test]
fn a_proof_of_a_number_of_65537_bits_is_verified_by_each_engine() {
    let dir = tempfile::tempdir().unwrap();
    let ran = test(dir.path(), &["21*2^65532+1", "--proof", "--json", "--quiet"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let tested = ran.json();
    assert_eq!((&tested["engine"], &tested["proof"]["power"]), (&"fp64".into(), &8.into()));
    let slug = tested["proof"]["test"].as_str().unwrap();
    let path = format!("w/proof/21_2_65532+1-{slug}-8.proof");
    for engine in ["fp64", "plain"] {
        let json = verify(dir.path(), &path, &format!(" --json --engine {engine}")).json();
        assert_eq!((&json["valid"], &json["engine"]), (&true.into(), &engine.into()), "{json}");
        assert_eq!((&json["status"], &json["res64"]), (&tested["status"], &tested["res64"]));
    }
}

#[test]
fn a_changed_proof_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(test(dir.path(), &["7*2^2256+1", "--proof=2", "--quiet"]).code, Some(0));
    let whole = fs::read(dir.path().join("w/proof/7_2_2256+1-proth-3-2.proof")).unwrap();
    let header =
        b"WARPINT PROOF\nVERSION=1\nHASHSIZE=64\nPOWER=2\nTEST=proth-3\nNUMBER=7*2^2256+1\n";
    assert!(whole.starts_with(header));
    // 2,259 bits are 283 bytes.
    assert_eq!(whole.len(), header.len() + 3 * 283);
    let ran = |bytes: &[u8]| {
        fs::write(dir.path().join("some.proof"), bytes).unwrap();
        verify(dir.path(), "some.proof", "")
    };
    // Each of the three residues: its first, an inner, and its last byte.
    for at in [0, 1, 140, 281, 283, 420, 564, 566, 700, 847] {
        let mut bytes = whole.clone();
        bytes[header.len() + at] ^= 4;
        let ran = ran(&bytes);
        assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{at}: {ran:?}");
        let says =
            "7*2^2256+1: the proof of Proth-3, power 2, is WRONG (its equation does not hold), md5";
        assert!(ran.out.starts_with(says), "{ran:?}");
    }
    let mut zero = whole.clone();
    zero[header.len()..header.len() + 283].fill(0);
    assert!(
        ran(&zero).out.contains("WRONG (residue 1 has a factor in common with the tested number")
    );
    let refused = |bytes: &[u8], says: &str| {
        let ran = ran(bytes);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.error().starts_with("some.proof is not a proof file: "), "{ran:?}");
        assert!(ran.error().contains(says) && ran.err.lines().count() == 1, "{ran:?}");
    };
    let replaced = |from: &str, to: &str| {
        let at = whole.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
        [&whole[..at], to.as_bytes(), &whole[at + from.len()..]].concat()
    };
    let mut long = whole.clone();
    *long.last_mut().unwrap() = 0xff;
    refused(&long, "residue 3: the bytes are not a canonical residue mod 7*2^2256+1");
    refused(&whole[..whole.len() - 1], "which are not 3 residues of equal size");
    refused(
        &whole[..whole.len() - 3],
        "residue 1: a residue mod 7*2^2256+1 has 283 bytes, not 282",
    );
    refused(&replaced("POWER=2", "POWER=3"), "which are not 4 residues of equal size");
    refused(&replaced("TEST=proth-3", "TEST=proth-7"), "TEST=proth-7 and NUMBER=7*2^2256+1 do not");
    refused(&replaced("TEST=proth-3", "TEST=llr"), "do not name a test that has proofs");
    refused(&replaced("TEST=proth-3", "TEST=ll"), "do not name a test that has proofs");
    refused(&replaced("7*2^2256+1", "14*2^2255+1"), "do not name a test that has proofs");
    refused(
        &replaced("7*2^2256+1", "7*2^2256+3"),
        "line 6 must be NUMBER=k*b^n+1 or NUMBER=k*b^n-1",
    );
    refused(&replaced("7*2^2256+1", "7*2^56+1"), "its residues have more bits than its number");
    refused(&replaced("7*2^2256+1", "7*2^9999999999+1"), "do not name a test that has proofs");
    refused(&replaced("VERSION=1", "VERSION=2"), "line 2, 'VERSION=2', is of another version");
    refused(&replaced("WARPINT PROOF", "PRP PROOF"), "line 2, 'VERSION=1', is of another version");
    // Residues of the same size for another test, or for another number.
    for (from, to) in [("TEST=proth-3", "TEST=prp-b3"), ("7*2^2256+1", "7*2^2258+1")] {
        let ran = ran(&replaced(from, to));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.out.contains("is WRONG (its equation does not hold)"), "{ran:?}");
    }
}

#[test]
fn what_has_no_proof_is_refused_before_the_test() {
    let dir = tempfile::tempdir().unwrap();
    for (args, says) in [
        (
            &["3*2^3276-1", "--proof"][..],
            "the LLR test of 3*2^3276-1 has no proofs; Fermat's test to a base A, by --base A, has",
        ),
        (&["27*10^400-1", "--proof=2"], "test of 27*10^400-1 has no proofs"),
        (
            &["M1279", "--proof"],
            "the LL test of M1279 has no proofs; a probable-prime test by `warpint prp` has",
        ),
        (
            &["7*2^2256+1", "--proof"],
            "7*2^2256+1 is too small for a proof that saves work: give the power",
        ),
        (&["7*2^2256+1", "--proof=12"], "7*2^2256+1 is too small for a proof of power 12"),
        (&["7*2^2256+1", "--proof=16"], "'16' is not a power from 1 to 15"),
        (&["7*2^1000+1", "--proof=1"], "7*2^1000+1 is too small for a proof of power 1"),
    ] {
        let ran = test(dir.path(), args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.error().contains(says), "{ran:?}");
    }
    assert!(!dir.path().join("w").exists());
    // A test that was finished without a proof is not repeated.
    assert_eq!(test(dir.path(), &["7*2^2256+1", "--quiet"]).code, Some(0));
    let ran = test(dir.path(), &["7*2^2256+1", "--proof=3", "--quiet"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let ran = test(dir.path(), &["7*2^2256+1", "--proof=3", "--quiet", "--restart"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // A number that has a factor needs no proof.
    let ran = test(dir.path(), &["81*2^5000+1", "--proof=3", "--quiet"]);
    assert!(ran.code == Some(0) && ran.out.contains("it has the factor"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn a_killed_test_goes_on_to_the_same_proof() {
    use std::process::Stdio;

    use crate::common::{end, signal, wait_until};

    let dir = tempfile::tempdir().unwrap();
    let number = "3*2^42665+1";
    let args = [number, "--proof=6", "--json", "--checkpoint-interval", "0.05"];
    for (name, how) in [("w", "KILL"), ("w", "KILL"), ("w", "INT")] {
        let mut child =
            command(dir.path(), ["test", "--device", "cpu", "--dir", name].iter().chain(&args))
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
        let folder = dir.path().join("w/3_2_42665+1");
        let count = |extension: &str, folder: &Path| {
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            entries.filter(|e| e.path().extension().is_some_and(|x| x == extension)).count()
        };
        let residues = || {
            let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
            entries.map(|e| count("residue", &e.path())).sum::<usize>()
        };
        let before = residues();
        wait_until("residues and a checkpoint", || {
            assert!(child.try_wait().unwrap().is_none(), "{number} is too short");
            residues() > before + 3 && count("ckpt", &folder) > 0
        });
        signal(&child, how);
        let stopped = end(child);
        let ended = if how == "KILL" { stopped.signal == Some(9) } else { stopped.ended_by(how) };
        assert!(ended, "{stopped:?}");
    }
    let resumed = test(dir.path(), &args);
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert!(resumed.err.contains("going on at iteration"), "{resumed:?}");
    let whole: Ran =
        command(dir.path(), ["test", "--device", "cpu", "--dir", "other"].iter().chain(&args))
            .output()
            .unwrap()
            .into();
    let (resumed, whole) = (resumed.json(), whole.json());
    assert_eq!((&resumed["status"], &resumed["proof"]["power"]), (&"P".into(), &6.into()));
    assert_eq!(resumed["proof"], whole["proof"]);
}

#[test]
fn a_list_of_candidates_gets_proofs_on_request() {
    let dir = tempfile::tempdir().unwrap();
    let work = |options: &str, lines: &str| {
        fs::create_dir_all(dir.path().join("list")).unwrap();
        fs::write(dir.path().join("list/worktodo.txt"), lines).unwrap();
        let ran = warpint(dir.path(), &format!("work list --device cpu --quiet --json{options}"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.out.contains("\"proof\"")
    };
    assert!(!work("", "7*2^2256+1\n"));
    fs::remove_dir_all(dir.path().join("list")).unwrap();
    assert!(!work(" --no-proof", "7*2^2256+1\n"));
    fs::remove_dir_all(dir.path().join("list")).unwrap();
    // The second number has no proofs by its test, the third is too small.
    assert!(work(" --proof-power 3", "7*2^2256+1\n3*2^3276-1\n5*2^127+1\n"));
    let proof = "list/proof/7_2_2256+1-proth-3-3.proof";
    assert_eq!(verify(dir.path(), proof, "").code, Some(0));
    assert_eq!(fs::read_dir(dir.path().join("list/proof")).unwrap().count(), 1);
}
