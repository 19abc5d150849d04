//! Tests of `warpint proof verify`: right proofs, wrong proofs, and files that are not proofs.

use std::fs;
use std::path::Path;

use warpint::mersenne::engine::families_for;
use warpint_selftest::vectors::proof_layout;

use crate::common::{Ran, warpint};

/// Writes the known proof of M_p to a file after `change` has modified it.
fn write(dir: &Path, p: u32, change: impl Fn(&mut Vec<u8>)) {
    let proofs = proof_layout().unwrap().proofs;
    let mut bytes = proofs.iter().find(|proof| proof.p == p).unwrap().file().unwrap();
    change(&mut bytes);
    fs::write(dir.join("some.proof"), bytes).unwrap();
}

fn verify(dir: &Path, options: &str) -> Ran {
    warpint(dir, &format!("proof verify some.proof --device cpu{options}"))
}

#[test]
fn a_right_proof_is_told_with_its_verdict() {
    let dir = tempfile::tempdir().unwrap();
    for known in proof_layout().unwrap().proofs.iter().filter(|proof| proof.hex.is_some()) {
        write(dir.path(), known.p, |_| {});
        for engine in families_for(known.p).into_iter().map(|family| family.name()) {
            let ran = verify(dir.path(), &format!(" --json --quiet --engine {engine}"));
            assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
            let json = ran.json();
            assert_eq!(json["exponent"], known.p);
            assert_eq!(json["power"], known.power);
            assert_eq!(json["valid"], true);
            assert_eq!(json["status"], if known.prime { "P" } else { "C" });
            assert_eq!(json["res64"], known.res64.as_str());
            assert_eq!(json["residue-type"], if known.factors.is_empty() { 1 } else { 5 });
            assert_eq!(json["md5"], known.md5.as_str());
            assert_eq!(json["engine"], engine);
        }
        let ran = verify(dir.path(), "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.out.contains("is right") && ran.out.contains(&known.md5), "{ran:?}");
    }
}

#[test]
fn a_wrong_proof_ends_with_1() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), 1009, |bytes| bytes[300] ^= 1);
    let ran = verify(dir.path(), "");
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{ran:?}");
    let says = "M1009: the proof of power 3 is WRONG (its equation does not hold), res64 ";
    assert!(ran.out.starts_with(says), "{ran:?}");
    let json = verify(dir.path(), " --json").json();
    assert_eq!(json["valid"], false);
    assert!(json.get("status").is_none(), "{json}");
    assert_eq!(json["refusal"]["code"], "equation");
}

#[test]
fn a_proof_is_refused_with_its_reason() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |last: &[u8], code: &str, reason: &str| {
        // The last residue comes first, 127 bytes of it; the header has 53.
        write(dir.path(), 1009, |bytes| {
            bytes[53..180].fill(0);
            bytes[53..53 + last.len()].copy_from_slice(last);
        });
        let ran = verify(dir.path(), "");
        assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{ran:?}");
        let line =
            format!("M1009: the proof of power 3 is WRONG ({reason}: an honest test never has");
        assert!(ran.out.starts_with(&line), "{ran:?}");
        let json = verify(dir.path(), " --json").json();
        assert_eq!(json["refusal"]["code"], code);
        assert!(json["refusal"]["reason"].as_str().unwrap().starts_with(reason), "{json}");
    };
    refused(&[36], "power-of-two", "the last residue is 9 times 2^2");
    refused(&[0], "not-a-unit", "residue 1 has a factor in common with the tested number");
    let ran = warpint(dir.path(), "proof verify --help");
    assert!(ran.out.contains("It does not rule out deceit"), "{ran:?}");
}

#[test]
fn what_is_no_proof_ends_with_2() {
    let dir = tempfile::tempdir().unwrap();
    let refused = |says: &str| {
        let ran = verify(dir.path(), "");
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.error().starts_with("some.proof is not a proof file: "), "{ran:?}");
        assert!(ran.error().contains(says), "{ran:?}");
    };
    let unreadable = |says: &str| {
        let ran = verify(dir.path(), "");
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        let says = format!("cannot read the proof file some.proof: {says}");
        assert!(ran.error().contains(&says), "{ran:?}");
    };
    unreadable("the file does not exist");
    fs::create_dir(dir.path().join("some.proof")).unwrap();
    unreadable("it is a directory");
    fs::remove_dir(dir.path().join("some.proof")).unwrap();
    write(dir.path(), 1009, Vec::clear);
    refused("line 1 must be PRP PROOF");
    write(dir.path(), 1009, |bytes| bytes.truncate(500));
    refused("it has 500 bytes instead of 561");
    let replace = |p: u32, from: &str, to: &str| {
        write(dir.path(), p, |bytes| {
            let at = bytes.windows(from.len()).position(|w| w == from.as_bytes()).unwrap();
            bytes.splice(at..at + from.len(), to.bytes());
        });
    };
    replace(1009, "VERSION=2", "VERSION=1");
    refused("line 2, 'VERSION=1', is of another version");
    replace(1009, "POWER=3", "POWER=3x2");
    refused("is of a repeated proof");
    replace(1009, "M1009", "M1011");
    refused("1011 is not prime");
    replace(131, "/263", "/265");
    refused("265 does not divide M131");
    write(dir.path(), 1009, |bytes| bytes[560] |= 2);
    refused("residue 4: the bytes are not a canonical residue mod M1009");
    let ran = warpint(dir.path(), "proof verify some.proof --engine word");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert_eq!(warpint(dir.path(), "proof").code, Some(2));
}
