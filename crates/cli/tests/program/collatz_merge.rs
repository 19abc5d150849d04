//! Tests of `warpint collatz merge`: recomputation, refused files, audits, and units of different
//! sizes.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use warpint::collatz::Region;
use warpint::collatz::runs::sample::Sample;

use crate::common::{Ran, end, signal, spawn, wait_for_work, warpint};

const MERGE: &str = "collatz merge warpint-collatz";

fn verified(dir: &Path, line: &str) -> Ran {
    let ran = warpint(dir, line);
    assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
    ran
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(dir.join("warpint-collatz")).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

fn unit_of(file: &Path) -> serde_json::Value {
    let text = fs::read_to_string(file).unwrap();
    serde_json::from_str::<serde_json::Value>(&text).unwrap()["unit"].take()
}

/// Writes a unit file with a valid digest.
fn forge(file: &Path, unit: &serde_json::Value) {
    let unit = unit.to_string();
    let digest: String = Sha256::digest(&unit).iter().map(|byte| format!("{byte:02x}")).collect();
    fs::write(file, format!("{{\"sha256\":\"{digest}\",\"unit\":{unit}}}\n")).unwrap();
}

/// Returns an invented unit: the claim that a method has verified 2^100 ≤ n < 2^100 + 2^60.
fn claim(method: &str, parameters: &str, walked: u64, checksum: &str) -> serde_json::Value {
    let (from, to) = (1u128 << 100, (1u128 << 100) + (1 << 60));
    let sample = Sample::of(&Region::interval(from, to).unwrap());
    let (from, to) = (from.to_string(), to.to_string());
    serde_json::json!({
        "format": "warpint-collatz-unit", "format-version": 2, "program": "warpint 0.1.0",
        "method": method, "method-version": 1, "parameters": parameters, "place": "cpu",
        "from": from, "to": to, "unit-bits": 60, "unit": 0, "units": 1,
        "region": {"interval": {"from": from, "to": to}},
        "numbers": (1u64 << 60).to_string(), "walked": walked.to_string(), "highest": null,
        "checksum": checksum, "sample-version": 1, "sample-numbers": "1048576",
        "sample-odd-steps": sample.odd_steps.to_string(), "unresolved": [],
        "seconds": 1.5, "finished": "2026-11-23T00:00:00Z",
    })
}

#[test]
fn a_forged_claim_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("warpint-collatz");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("claim.json");
    let said = |unit: &serde_json::Value, says: &str| {
        forge(&file, unit);
        let ran = warpint(dir.path(), MERGE);
        assert!(matches!(ran.code, Some(1 | 2)), "{ran:?}");
        let line = ran.err.lines().find(|line| line.contains("claim.json: "));
        assert!(line.is_some_and(|line| line.contains(says)), "{says}: {ran:?}");
        assert!(!ran.out.contains("verified") && !ran.out.contains("reaches 1"), "{ran:?}");
    };
    let plain = claim("plain", "none", 1 << 60, "7");
    // With sample 0.
    let mut none = plain.clone();
    none["sample-odd-steps"] = "0".into();
    said(&none, "its sample is impossible for its numbers");
    none["sample-odd-steps"] = "1".into();
    said(&none, "its checksum is 7");
    // With the right sample and no evidence.
    said(&plain, "its checksum is 7, but 16384 random items imply ");
    let parameters = "last=10,look=auto24,step=12,rules=descent+preimages+runs+mod9";
    said(&claim("sieve", parameters, 1, "7"), "the sieve does not support");
    said(&claim("sieve", "fast", 1, "7"), "no method sieve of version 1 with parameters fast");
    said(&claim("table", "s=99,d=12,words=auto", 1, "7"), "with parameters s=99,d=12,words=auto");
    said(
        &claim("table", "s=auto,d=12,words=auto", 1, "7"),
        "its count of numbers walked is 1, but ",
    );
    said(&claim("magic", "none", 1, "7"), "this program does not know its method 'magic'");
    // With invented evidence.
    let mut invented = plain.clone();
    invented["evidence"] = serde_json::json!({
        "version": 1, "seed": "7", "items": (1u64 << 60).to_string(), "challenges": "1024",
        "walked": "1024", "checksum": "12345",
    });
    said(&invented, "the checksum of its 1024 challenged items is claimed to be 12345; it is ");
    invented["evidence"]["challenges"] = "0".into();
    said(&invented, "it has 0 challenges, but must have 1024 to 1024");
    invented["evidence"]["items"] = "12".into();
    said(&invented, "it claims 12 items of work");
    // Totals beyond the possible, and a value that is not on the path.
    let mut walked = plain.clone();
    walked["walked"] = ((1u64 << 60) + 1).to_string().into();
    said(&walked, "it has more numbers walked than numbers");
}

#[test]
fn a_unit_that_lacks_evidence_is_named_and_counts() {
    let dir = tempfile::tempdir().unwrap();
    verified(dir.path(), "collatz verify 2^40 2^40+2^15 --unit-bits 13 --method plain");
    let files = files(dir.path());
    let highest = |ran: &Ran| ran.out.lines().last().unwrap().to_owned();
    let before = highest(&verified(dir.path(), MERGE));
    // As a program of version 1 wrote it: highest values in steps of T.
    for file in &files[1..3] {
        let mut unit = unit_of(file);
        let value: u128 = unit["highest"]["value"].as_str().unwrap().parse().unwrap();
        unit["highest"]["value"] = (value / 2).to_string().into();
        unit["format-version"] = 1.into();
        assert!(unit.as_object_mut().unwrap().remove("evidence").is_some());
        forge(file, &unit);
    }
    let ran = warpint(dir.path(), MERGE);
    assert_eq!((ran.code, ran.err.lines().count()), (Some(1), 2), "{ran:?}");
    for file in &files[1..3] {
        let name = file.file_name().unwrap().to_str().unwrap();
        let line = format!("{name}: it lacks evidence that the work was done");
        assert_eq!(ran.err.matches(&line).count(), 1, "{ran:?}");
    }
    let lacking = "2 units lack evidence: verify them again, or audit them with --audit";
    assert!(ran.out.starts_with("not proven: every n from 2^40 up and below "), "{ran:?}");
    assert!(ran.out.contains(&format!("\n{lacking}\n")) && ran.out.contains("\ncovered: "));
    assert_eq!(highest(&ran), before);
    let json = warpint(dir.path(), &format!("{MERGE} --json")).json();
    assert_eq!(
        (&json["complete"], &json["covered"][0]["from"]),
        (&false.into(), &(1u64 << 40).to_string().into())
    );
    assert_eq!(json["lacking-evidence"].as_array().unwrap().len(), 2);
    // With checks disabled, and with an audit.
    verified(dir.path(), &format!("{MERGE} --no-check"));
    let ran = verified(dir.path(), &format!("{MERGE} --audit 4"));
    assert!(ran.out.starts_with("verified: "), "{ran:?}");
}

#[test]
fn audits_say_what_was_done_and_can_be_repeated() {
    let dir = tempfile::tempdir().unwrap();
    verified(dir.path(), "collatz verify 2^40 2^40+2^16 --unit-bits 14 --method plain");
    let ran = verified(dir.path(), &format!("{MERGE} --audit 2 --threads 1 --quiet"));
    let audited = |text: &str| -> Vec<String> {
        text.lines().filter(|line| line.starts_with("audited ")).map(str::to_owned).collect()
    };
    assert_eq!((ran.err.as_str(), audited(&ran.out).len()), ("", 2), "{ran:?}");
    let end = " by method sieve, all 16384 numbers: the same unresolved numbers and sample";
    assert!(audited(&ran.out).iter().all(|line| line.ends_with(end)), "{ran:?}");
    let seed = ran.out.split("\n2 audits, seed ").nth(1).unwrap().lines().next().unwrap();
    let again = format!("{MERGE} --audit 2 --audit-seed {seed}");
    assert_eq!(audited(&verified(dir.path(), &again).out), audited(&ran.out));
    let json = verified(dir.path(), &format!("{again} --json")).json();
    assert_eq!(
        (&json["audit-seed"], &json["audits"][1]["method"]),
        (&seed.into(), &"sieve".into())
    );
    // The findings of an audit, if the files are believed.
    for file in files(dir.path()) {
        let mut unit = unit_of(&file);
        unit["unresolved"] = serde_json::json!([unit["region"]["interval"]["from"]]);
        forge(&file, &unit);
    }
    let ran = warpint(dir.path(), &format!("{MERGE} --audit 1 --no-check"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let says = "are not those that an audit by method sieve found: verify that unit once more";
    assert!(ran.err.contains("DISAGREEMENT: the unresolved numbers of ") && ran.err.contains(says));
    let wrong = warpint(dir.path(), &format!("{MERGE} --audit-seed 7"));
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
}

#[test]
fn a_part_of_a_large_unit_is_audited() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("warpint-collatz");
    fs::create_dir(&folder).unwrap();
    // Believed. A part that the table method can do has too many low bits for it.
    let parameters = "last=10,look=auto24,step=12,rules=descent+preimages+runs+mod9";
    let mut unit = claim("sieve", parameters, 1, "7");
    let class = serde_json::json!({"class": {"bits": 70, "low-bits": 24, "residue": "3"}});
    (unit["from"], unit["to"]) = ("0".into(), (1u128 << 70).to_string().into());
    (unit["unit-bits"], unit["unit"], unit["units"]) = (46.into(), 3.into(), (1 << 24).into());
    (unit["region"], unit["numbers"]) = (class, (1u64 << 46).to_string().into());
    forge(&folder.join("claim.json"), &unit);
    let ran = warpint(dir.path(), &format!("{MERGE} --no-check --audit 1"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{ran:?}");
    let says = " by method plain, 2^22 numbers of it, ";
    let why = "sums of the whole unit cannot be compared with those of a part\n";
    assert!(ran.out.contains(says) && ran.out.contains(why), "{ran:?}");
    assert!(ran.out.contains(" mod 2^48 below 2^70: "), "{ran:?}");
}

#[test]
fn units_that_are_cut_differently_are_compared_or_named() {
    let dir = tempfile::tempdir().unwrap();
    for (place, bits, method) in [("a", 13, "plain"), ("b", 14, "plain"), ("c", 14, "sieve")] {
        let line = format!("collatz verify --below 2^16 --unit-bits {bits} --method {method}");
        verified(dir.path(), &format!("{line} --dir {place} --device cpu"));
    }
    let ran = verified(dir.path(), "collatz merge a b");
    assert!(ran.out.contains("\nunits cut differently were compared in 4 places\n"), "{ran:?}");
    let ran = warpint(dir.path(), "collatz merge a c");
    assert_eq!((ran.code, ran.err.lines().count()), (Some(1), 1), "{ran:?}");
    assert!(ran.err.starts_with("overlap: "), "{ran:?}");
    let says =
        ", and in 3 other places, but are cut differently: their totals cannot be compared\n";
    assert!(ran.err.ends_with(says), "{ran:?}");
    let json = warpint(dir.path(), "collatz merge a c --json").json();
    assert_eq!((&json["overlaps"][0]["places"], &json["complete"]), (&4.into(), &false.into()));
}

#[cfg(unix)]
#[test]
fn a_stopped_merge_reports_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("warpint-collatz");
    fs::create_dir(&folder).unwrap();
    // 2^34 numbers of each by the sieve, more than half a minute in all.
    for unit in 0..64 {
        let mut claim = claim("plain", "none", 1 << 60, "7");
        let (from, to) = ((1u128 << 100) + (unit << 60), (1u128 << 100) + ((unit + 1) << 60));
        (claim["from"], claim["to"]) = (from.to_string().into(), to.to_string().into());
        claim["region"] =
            serde_json::json!({"interval": {"from": claim["from"], "to": claim["to"]}});
        forge(&folder.join(format!("claim-{unit}.json")), &claim);
    }
    let mut child = spawn(dir.path(), &format!("{MERGE} --no-check --audit 64"));
    wait_for_work(&mut child);
    signal(&child, "INT");
    let ran = end(child);
    assert!(ran.ended_by("INT") && ran.out.is_empty(), "{ran:?}");
    assert!(ran.err.contains("stopped: nothing is reported\n"), "{ran:?}");
}
