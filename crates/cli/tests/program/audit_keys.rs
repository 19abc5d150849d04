//! Tests of `warpint audit-keys`.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::common::{Ran, command, end, signal, spawn, wait_for_handler, warpint, with_input};

/// p·q, p·r and s·t with primes p, q, r, s and t.
const MODULI: [&str; 3] = ["48c28c60aa1", "1b48f0c46cc3", "cbba2a2dcc9"];

fn vectors() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/keys");
    path.canonicalize().unwrap().display().to_string()
}

fn moduli(names: &[usize]) -> String {
    names.iter().map(|&i| format!("0x{}\n", MODULI[i])).collect()
}

/// Starts `warpint <line>` with pipes for its input and both outputs.
fn started_with_input(dir: &Path, line: &str) -> Child {
    let piped = Stdio::piped;
    let mut command = command(dir, line.split(' '));
    command.stdin(piped()).stdout(piped()).stderr(piped()).spawn().unwrap()
}

fn objects(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn findings_are_one_object_each() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a"), moduli(&[0, 2])).unwrap();
    fs::write(dir.path().join("b"), moduli(&[1, 2])).unwrap();
    let ran = warpint(dir.path(), "audit-keys a b --json");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let all = objects(&ran.out);
    let kinds: Vec<_> = all.iter().map(|o| o["kind"].as_str().unwrap()).collect();
    let modulus: Vec<_> = all.iter().map(|o| o["modulus"].as_str().unwrap()).collect();
    assert_eq!(
        kinds
            .iter()
            .zip(&modulus)
            .filter(|(kind, _)| **kind != "below-1024-bits")
            .collect::<Vec<_>>(),
        [(&"shared-prime", &MODULI[0]), (&"duplicate", &MODULI[2]), (&"shared-prime", &MODULI[1])]
    );
    let shared = &all[0];
    assert_eq!(shared["bits"], 43);
    assert_eq!(shared["exponent"], Value::Null);
    assert_eq!(shared["places"], serde_json::json!([{"file": "a", "line": 1, "key": null}]));
    assert_eq!(shared["shared-with"], serde_json::json!([{"file": "b", "line": 1, "key": null}]));
    let duplicate = all.iter().find(|o| o["kind"] == "duplicate").unwrap();
    assert_eq!(duplicate["places"].as_array().unwrap().len(), 2);
    // Only the summary is on standard error, and no factor anywhere.
    assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
    assert!(ran.err.starts_with("4 keys, 3 distinct moduli in 2 files: 3 findings"), "{}", ran.err);
    for factor in ["f4243", "4c4b4b", "1c9c381"] {
        assert!(!ran.out.contains(&format!("\"{factor}\"")) && !ran.err.contains(factor));
    }
}

#[test]
fn exit_codes_are_of_findings_and_of_bad_input() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    let (sound, weak) = (moduli(&[0, 2]), moduli(&[0, 1]));
    write("sound", &sound);
    write("weak", &weak);
    write("bad", "no key\n");
    write("empty", "");
    write("both", &(weak + "no key\n"));
    write("half", &(sound + "no key\n"));
    for (files, code, says) in [
        ("sound", 0, ""),
        ("sound empty", 0, ""),
        ("weak", 1, ""),
        ("both", 1, "both: line 3: 'no key' is neither"),
        ("half", 2, "error: 1 entry could not be read; the others have no finding"),
        ("bad", 2, "error: 1 entry could not be read"),
        ("empty", 2, "error: no RSA key in 1 file"),
        ("none", 2, "error: cannot read none: No such file"),
        ("weak none", 2, "error: cannot read none: No such file"),
        ("weak --memory 1", 2, "error: the audit needs at least"),
        ("weak --memory 4X", 2, "'4X' is not an amount of memory"),
    ] {
        let ran = warpint(dir.path(), &format!("audit-keys {files} --quiet"));
        assert_eq!(ran.code, Some(code), "{files}: {ran:?}");
        assert!(ran.err.contains(says) && (says.is_empty() == ran.err.is_empty()), "{ran:?}");
    }
}

#[test]
fn every_file_of_a_folder_and_standard_input_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), &format!("audit-keys {} --json", vectors()));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let all = objects(&ran.out);
    // The same key in eleven files; README.md and make.sh are no keys.
    let duplicate = all.iter().find(|o| o["kind"] == "duplicate").unwrap();
    assert_eq!(duplicate["places"].as_array().unwrap().len(), 11, "{ran:?}");
    assert_eq!(all.len(), 1, "{ran:?}");
    assert!(ran.err.contains("1 EC skipped, 2 Ed25519 skipped"), "{}", ran.err);
    let ran = with_input(dir.path(), "audit-keys - --quiet", moduli(&[0, 1]).as_bytes());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.contains("standard input: line 2; shared with standard input: line 1"));
}

#[test]
fn factors_go_to_a_new_file_of_their_owner() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("keys"), moduli(&[0, 1, 2])).unwrap();
    let ran = warpint(dir.path(), "audit-keys keys --factors factors --quiet");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let text = fs::read_to_string(at("factors")).unwrap();
    let all = objects(&text);
    assert_eq!(all.len(), 2, "{text}");
    for (object, modulus) in all.iter().zip(MODULI) {
        assert_eq!(object["modulus"], modulus);
        let number = |v: &Value| u64::from_str_radix(v.as_str().unwrap(), 16).unwrap();
        let [a, b] = [0, 1].map(|i| number(&object["factors"][i]));
        assert!(a > 1 && b > 1 && a * b == u64::from_str_radix(modulus, 16).unwrap());
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(at("factors")).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // Nothing that exists is replaced, not even keys that are named by mistake.
    for (line, says) in [
        ("audit-keys keys --factors factors", "--factors: factors exists already"),
        ("audit-keys --factors keys keys", "--factors: keys exists already"),
        ("audit-keys keys --factors none/factors", "cannot write none/factors"),
        ("audit-keys keys --factors /dev/stdout", "/dev/stdout"),
    ] {
        let ran = warpint(dir.path(), line);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.error().contains(says), "{ran:?}");
    }
    assert_eq!(fs::read_to_string(at("factors")).unwrap(), text);
    assert_eq!(fs::read_to_string(at("keys")).unwrap(), moduli(&[0, 1, 2]));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}

/// A file that is named several times has its keys once.
#[test]
fn a_file_is_read_once() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("keys")).unwrap();
    fs::write(dir.path().join("keys/a"), moduli(&[0])).unwrap();
    let ran = warpint(dir.path(), "audit-keys keys/a keys ./keys/../keys/a --quiet");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.starts_with("1 key, 1 distinct modulus in 1 file: no findings"), "{ran:?}");
}

/// A file that appears at the path of `--factors` during an audit is kept, and the findings are shown.
#[test]
fn factors_do_not_replace_a_file_that_appears_meanwhile() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = started_with_input(dir.path(), "audit-keys - --factors factors --quiet");
    let mut input = child.stdin.take().unwrap();
    // More than a pipe holds: when it is written, the program reads, and has looked at the path.
    input.write_all("# a comment\n".repeat(100_000).as_bytes()).unwrap();
    fs::write(dir.path().join("factors"), "precious").unwrap();
    input.write_all(moduli(&[0, 1]).as_bytes()).unwrap();
    drop(input);
    let ran = end(child);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert_eq!(ran.error(), "--factors: factors exists already: give the name of a new file");
    assert!(ran.out.contains("2 findings (2 shared-prime)"), "{ran:?}");
    assert_eq!(fs::read_to_string(dir.path().join("factors")).unwrap(), "precious");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

/// A full disk for the factors does not take the findings away.
#[test]
fn findings_are_shown_before_factors_are_written() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("keys"), moduli(&[0, 1])).unwrap();
    for json in ["", " --json"] {
        let line = format!("audit-keys keys --factors factors --quiet{json}");
        let mut command = command(dir.path(), line.split(' '));
        let ran: Ran = command.env("WARPINT_TEST_DISK", "full:factors:1").output().unwrap().into();
        assert_eq!(ran.code, Some(4), "{ran:?}");
        assert!(ran.out.contains("1b48f0c46cc3"), "{ran:?}");
        assert!(ran.err.contains("error: cannot write factors: "), "{ran:?}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}

/// Keys beside PEM blocks are read, and lines of text beside them are counted.
#[test]
fn keys_beside_pem_blocks_are_audited() {
    let dir = tempfile::tempdir().unwrap();
    let block = fs::read_to_string(Path::new(&vectors()).join("spki.pem")).unwrap();
    let [before, after] = [moduli(&[0]), moduli(&[1])];
    let text = format!("# of -----BEGIN X-----\n{before}subject=x\n{block}\n{after}");
    fs::write(dir.path().join("keys"), text).unwrap();
    let ran = warpint(dir.path(), "audit-keys keys --quiet");
    assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{ran:?}");
    let says = "3 keys, 3 distinct moduli in 1 file (1 line of text skipped): 2 findings";
    assert!(ran.out.contains(says), "{ran:?}");
    let text = format!("# of -----BEGIN CERTIFICATE----- files\n{}", moduli(&[0, 1]));
    fs::write(dir.path().join("keys"), text).unwrap();
    let ran = warpint(dir.path(), "audit-keys keys --quiet");
    assert!(ran.out.contains("2 keys, 2 distinct moduli in 1 file: 2 findings"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn a_stop_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let moduli: String = (0..40_000u64)
        .map(|i| {
            let limb = |j: u64| (4096 * i + j).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            format!("0x{}\n", (0..32).map(|j| format!("{:016x}", limb(j))).collect::<String>())
        })
        .collect();
    fs::write(dir.path().join("keys"), moduli).unwrap();
    let mut child = spawn(dir.path(), "audit-keys keys --factors factors --quiet");
    wait_for_handler(&mut child);
    signal(&child, "INT");
    let ran = end(child);
    assert!(ran.ended_by("INT"), "{ran:?}");
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", "stopped: nothing is reported\n"));
    assert!(!dir.path().join("factors").exists());
}

#[test]
fn moduli_as_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let numbers = MODULI.map(|digits| u64::from_str_radix(digits, 16).unwrap());
    let records: Vec<u8> = numbers.iter().flat_map(|n| n.to_be_bytes()).collect();
    fs::write(dir.path().join("records"), &records).unwrap();
    let gmp = numbers.iter().flat_map(|n| [&[0, 0, 0, 8][..], &n.to_be_bytes()].concat());
    fs::write(dir.path().join("gmp"), gmp.collect::<Vec<u8>>()).unwrap();
    for (line, name) in [("records --format raw:64", "records"), ("gmp --format gmp", "gmp")] {
        let ran = warpint(dir.path(), &format!("audit-keys {line} --quiet"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{ran:?}");
        let says = format!("{name}: key 1; shared with {name}: key 2");
        assert!(ran.out.contains(&says), "{ran:?}");
    }
    let ran = warpint(dir.path(), "audit-keys records --format raw:56 --quiet");
    assert!(
        ran.err.contains("records: key 4: the file ends inside a number of 7 bytes"),
        "{ran:?}"
    );
    for form in ["raw", "raw:0", "raw:12", "raw:65544", "pem"] {
        let ran = warpint(dir.path(), &format!("audit-keys records --format {form}"));
        assert_eq!(ran.code, Some(2));
        assert!(ran.error().contains("give auto, gmp, or raw:BITS"), "{ran:?}");
    }
}

#[test]
fn new_keys_are_audited_against_a_store() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("keys")).unwrap();
    fs::write(at("keys/old"), moduli(&[0, 2])).unwrap();
    fs::write(at("new"), moduli(&[1, 2])).unwrap();
    // The store may be among the keys: its files are not read as keys.
    let first = warpint(dir.path(), "audit-keys keys --store keys/store --quiet");
    assert_eq!((first.code, first.err.as_str()), (Some(0), ""), "{first:?}");
    assert!(
        first
            .out
            .contains("2 keys, 2 distinct moduli (0 in the store before) in 1 file: no findings")
    );
    let second = warpint(dir.path(), "audit-keys new --store keys/store --json");
    assert_eq!(second.code, Some(1), "{second:?}");
    let mut found = vec![];
    for object in objects(&second.out) {
        if object["kind"] != "below-1024-bits" {
            let place = |v: &Value| format!("{}:{}", v["file"].as_str().unwrap(), v["line"]);
            let places = |v: &Value| v.as_array().unwrap().iter().map(place).collect::<Vec<_>>();
            let (at, with) = (places(&object["places"]), places(&object["shared-with"]));
            found.push((object["kind"].as_str().unwrap().to_owned(), at, with));
        }
    }
    let texts = |some: &[&str]| -> Vec<String> { some.iter().map(|&s| s.to_owned()).collect() };
    assert_eq!(
        found,
        [
            ("shared-prime".to_owned(), texts(&["keys/old:1"]), texts(&["new:1"])),
            ("duplicate".to_owned(), texts(&["new:2", "keys/old:2"]), vec![]),
            ("shared-prime".to_owned(), texts(&["new:1"]), texts(&["keys/old:1"])),
        ]
    );
    assert!(second.err.contains("2 keys, 2 distinct moduli (1 in the store before) in 1 file"));
    // The same again: the same findings, and no file more.
    let count = || fs::read_dir(at("keys/store")).unwrap().count();
    let files = count();
    let third = warpint(dir.path(), "audit-keys new --store keys/store --json");
    assert_eq!((third.code, &third.out, count()), (Some(1), &second.out, files), "{third:?}");
    let fourth = warpint(dir.path(), "audit-keys keys --store keys/store --quiet");
    assert_eq!(fourth.code, Some(1), "{fourth:?}");

    // A damaged file, and a store that is no directory.
    let part = at("keys/store/part-00000001.keys");
    let mut bytes = fs::read(&part).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&part, bytes).unwrap();
    let ran = warpint(dir.path(), "audit-keys new --store keys/store --quiet");
    assert_eq!((ran.code, ran.out.as_str()), (Some(4), ""), "{ran:?}");
    let says = "keys/store/part-00000001.keys is damaged (the digest of a section is wrong): remove the file";
    assert!(ran.error().contains(says), "{ran:?}");
    fs::remove_file(&part).unwrap();
    let ran = warpint(dir.path(), "audit-keys keys --store keys/store --quiet");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let ran = warpint(dir.path(), "audit-keys new --store new --quiet");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.error().contains("new is a file, not a directory"), "{ran:?}");
}

/// An audit that SIGKILL ends while its second group is computed goes on with this group.
#[cfg(unix)]
#[test]
fn a_killed_audit_goes_on_from_its_store() {
    let dir = tempfile::tempdir().unwrap();
    let mut state = 1u64;
    let mut word = || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state ^ state >> 29 | 1
    };
    let mut text = String::new();
    for i in 0..3000 {
        let digits: String = (0..32).map(|_| format!("{:016x}", word())).collect();
        // Some moduli are multiples of 2^61 − 1.
        if i % 1000 == 7 {
            let product = u128::from(word()) * ((1 << 61) - 1);
            text += &format!("0x{product:x}\n");
        }
        text += &format!("0x{digits}\n");
    }
    fs::write(dir.path().join("keys"), text).unwrap();
    let plain = warpint(dir.path(), "audit-keys keys --json");
    let command = "audit-keys keys --store store --memory 12M --json";
    let mut child = spawn(dir.path(), command);
    wait_for_handler(&mut child);
    let begin = std::time::Instant::now();
    let part = |number: u32| dir.path().join(format!("store/part-{number:08}.keys"));
    while !part(1).exists() {
        assert!(begin.elapsed().as_secs() < 300, "no group is complete");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    let killed = end(child);
    assert_eq!((killed.code, killed.out.as_str()), (None, ""), "it was complete before the kill");
    let before = fs::metadata(part(1)).unwrap().modified().unwrap();
    let ran = warpint(dir.path(), command);
    // Random numbers share primes of five digits too. How these are related may differ.
    let found = |out: &str| -> Vec<(Value, Value)> {
        objects(out).into_iter().map(|o| (o["kind"].clone(), o["modulus"].clone())).collect()
    };
    assert_eq!((ran.code, found(&ran.out)), (plain.code, found(&plain.out)), "{}", ran.err);
    assert_eq!(fs::metadata(part(1)).unwrap().modified().unwrap(), before);
    assert!(part(2).exists());
    assert!(!ran.err.contains("(0 in the store before)"), "{}", ran.err);
}
