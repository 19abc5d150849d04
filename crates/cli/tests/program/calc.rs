//! Tests of `warpint calc`.

use std::fs;

use crate::common::{end, names, signal, spawn, wait_for_work, warpint, with_input};

#[test]
fn numbers_go_from_file_to_file() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let text = |name: &str| fs::read_to_string(at(name)).unwrap();
    // 10^3000 − 1 = (10^1000 − 1)·(10^2000 + 10^1000 + 1), over lines of 60 digits.
    let nines: Vec<String> = (0..50).map(|_| "9".repeat(60)).collect();
    fs::write(at("a.txt"), nines.join("\n")).unwrap();
    fs::write(at("b.txt"), "9".repeat(1000)).unwrap();
    let ran = warpint(dir.path(), "calc divrem a.txt b.txt -o q.hex --rem r.txt");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.starts_with("divrem needs about "), "{ran:?}");
    assert!(ran.out.starts_with("q.hex (6644 bits, hex, "), "{ran:?}");
    assert!(ran.out.contains(" and r.txt (0 bits, dec, 2 bytes): divrem in "), "{ran:?}");
    let says = "checked modulo the primes 2^61 − c for c = 1, 31, 45, 229, 259\n";
    assert!(ran.out.ends_with(says), "{ran:?}");
    assert_eq!(text("r.txt"), "0\n");
    assert_eq!(warpint(dir.path(), "calc todec q.hex -o q.txt -q").code, Some(0));
    assert_eq!(text("q.txt"), format!("1{0}1{0}1\n", "0".repeat(999)));
    assert_eq!(warpint(dir.path(), "calc mul q.hex b.txt -o p.bin -q").code, Some(0));
    let ran = warpint(dir.path(), "calc todec p.bin -o - -q");
    assert_eq!((ran.out.trim_end(), ran.err.as_str()), (nines.concat().as_str(), ""));
    let ran = warpint(dir.path(), "calc tohex p.bin -o p.hex --json");
    let json = ran.json();
    assert_eq!(ran.err, "");
    assert_eq!((&json["calculation"], &json["status"]), (&"tohex".into(), &"done".into()));
    let prime = ((1u64 << 61) - 31).to_string();
    assert_eq!((&json["checked"], &json["check-primes"][1]), (&"result".into(), &prime.into()));
    assert_eq!(
        (&json["operands"][0]["format"], &json["results"][0]["bits"]),
        (&"raw".into(), &9966.into())
    );
    assert!(json["memory-needed"].as_u64().unwrap() > 1 << 20);
    for part in ["read", "convert-operands", "compute", "convert-results", "check", "write"] {
        let seconds = json[format!("{part}-seconds")].as_f64().unwrap();
        assert!(seconds >= 0.0 && seconds <= json["seconds"].as_f64().unwrap(), "{part}: {json}");
    }
}

#[test]
fn numbers_come_from_pipes_and_the_command_line() {
    let dir = tempfile::tempdir().unwrap();
    let ran = with_input(dir.path(), "calc pow - 3 -o -", b"0x10\n");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "1000\n"), "{ran:?}");
    assert!(
        ran.err.contains(
            "standard output (13 bits, hex, 5 bytes): pow, standard input read as hex in "
        ),
        "{ran:?}"
    );
    let ran =
        with_input(dir.path(), "calc gcd - 36 -o - --format raw --check none --json", b"27\n");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "\t"), "{ran:?}");
    assert!(ran.err.contains("\"checked\":\"none\",\"check-primes\":[]"), "{ran:?}");
    fs::write(dir.path().join("5"), "7").unwrap();
    let ran = warpint(dir.path(), "calc sqr 5 -o r.txt");
    assert!(
        ran.err.starts_with("5 is read as a file, for there is one; for the number give 5+0\n")
    );
    assert_eq!(fs::read_to_string(dir.path().join("r.txt")).unwrap(), "49\n");
}

#[test]
fn what_makes_no_sense_is_refused_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("folder")).unwrap();
    fs::write(at("a.txt"), "12\n345\n").unwrap();
    fs::write(at("kept.txt"), "old\n").unwrap();
    fs::write(at("bad.txt"), "12\n34_5\n").unwrap();
    fs::write(at("letter.txt"), "12f\n").unwrap();
    fs::write(at("bad.hex"), "0x12\n\n  g\n").unwrap();
    fs::write(at("signed.txt"), "-5\n").unwrap();
    fs::write(at("empty.txt"), " \n").unwrap();
    fs::write(at("empty.bin"), "").unwrap();
    fs::write(at("utf16.txt"), b"\xff\xfe1\0\n\0").unwrap();
    fs::write(at("a.npy"), "12").unwrap();
    fs::write(at("zero.txt"), "0000\n").unwrap();
    let before = names(dir.path());
    for (line, says) in [
        ("mul a.txt bad.txt -o r.txt", "bad.txt: line 2, column 3: '_' is not a decimal digit"),
        ("sqr letter.txt -o r.txt", "letter.txt: line 1, column 3: 'f' is not a decimal digit"),
        ("sqr bad.hex -o r.txt", "bad.hex: line 3, column 3: 'g' is not a hexadecimal digit"),
        ("sqr signed.txt -o r.txt", "signed.txt: line 1, column 1: '-' is not a decimal digit"),
        ("sqr empty.txt -o r.txt", "empty.txt: has no digits"),
        ("sqr empty.bin -o r.txt", "empty.bin: is empty"),
        ("sqr utf16.txt -o r.txt", "utf16.txt: seems to be UTF-16: convert it to UTF-8, by iconv"),
        ("sqr a.npy -o r.txt", "a.npy: npy files hold batches: give a decimal, hexadecimal or raw"),
        ("sqr a.txt -o r.npy", "r.npy: npy files hold batches: choose dec, hex or raw"),
        (
            "todec a.txt -o r.hex",
            "todec writes dec, but the name r.hex is that of a hex file: choose",
        ),
        ("tohex a.txt -o r --format dec", "tohex writes hex, not dec"),
        ("sqr missing.txt -o r.txt", "cannot read missing.txt: No such file"),
        ("sqr folder -o r.txt", "folder: is a directory"),
        ("sqr a.txt -o folder", "cannot write folder: it is a directory"),
        ("sqr a.txt -o none/r.txt", "cannot write none/r.txt: No such file"),
        ("sqr a.txt -o kept.txt", "kept.txt exists: --force replaces it"),
        ("sqr a.txt -o a.txt", "a.txt exists: --force replaces it"),
        ("divrem a.txt 7 -o r.txt --rem kept.txt", "kept.txt exists: --force replaces it"),
        ("divrem a.txt 7 -o r.txt --rem ./r.txt", "results and remainders cannot go to the same"),
        ("divrem a.txt 0 -o r.txt", "0: the divisor is 0"),
        ("divrem a.txt zero.txt -o r.txt", "zero.txt: the divisor is 0"),
        ("mul a.txt -5 -o r.txt", "'-5' is signed; only unsigned numbers are supported"),
        ("pow 3 2^64 -o r.txt", "2^64: an exponent must be below 2^64"),
        ("pow 3 2^60 -o r.txt", "pow: the result would have more than 2^48 bits"),
        ("fac 2^64 -o r.txt", "2^64: n must be below 2^64"),
        ("fac 2^60 -o r.txt", "fac: the result would have more than 2^48 bits"),
        ("primorial 2^63 -o r.txt", "primorial: the result would have more than 2^48 bits"),
        ("fac 12x -o r.txt", "there is no file '12x', and as a number: '12x' is not a number"),
    ] {
        let ran = warpint(dir.path(), &format!("calc {line} -q"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
        assert!(ran.error().starts_with(says), "{line}: {ran:?}");
        assert_eq!(names(dir.path()), before, "{line}");
        assert_eq!(fs::read_to_string(at("kept.txt")).unwrap(), "old\n", "{line}");
    }
    // More memory than any machine has; 3^(2^46) has 2^46.7 bits.
    let ran = warpint(dir.path(), "calc pow 3 2^46 -o r.txt");
    if cfg!(target_os = "linux") {
        assert_eq!((ran.code, names(dir.path())), (Some(4), before), "{ran:?}");
        assert!(
            ran.error().starts_with("pow needs about ") && ran.error().ends_with(" are available")
        );
    }
}

#[test]
fn force_replaces_files_and_operands() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.txt");
    fs::write(&path, "12\n").unwrap();
    for want in ["144\n", "20736\n"] {
        assert_eq!(warpint(dir.path(), "calc sqr a.txt -o a.txt --force -q").code, Some(0));
        assert_eq!(fs::read_to_string(&path).unwrap(), want);
    }
    // A failure leaves the old file.
    fs::write(dir.path().join("bad.txt"), "1-\n").unwrap();
    assert_eq!(warpint(dir.path(), "calc sqr bad.txt -o a.txt --force -q").code, Some(2));
    assert_eq!(fs::read_to_string(&path).unwrap(), "20736\n");
    assert_eq!(names(dir.path()), ["a.txt", "bad.txt"]);
}

#[cfg(unix)]
#[test]
fn a_stopped_calculation_leaves_nothing_behind() {
    use std::time::{Duration, Instant};

    let dir = tempfile::tempdir().unwrap();
    for name in ["INT", "TERM", "KILL"] {
        let mut child = spawn(dir.path(), "calc fac 20000000 -o r.txt");
        wait_for_work(&mut child);
        let begin = Instant::now();
        if name == "KILL" {
            child.kill().unwrap();
        } else {
            signal(&child, name);
        }
        let ran = end(child);
        assert!(begin.elapsed() < Duration::from_secs(2), "{name}: {:?}", begin.elapsed());
        assert!(if name == "KILL" { ran.signal == Some(9) } else { ran.ended_by(name) }, "{ran:?}");
        assert!(names(dir.path()).is_empty(), "{name}: {:?}", names(dir.path()));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "calc fac 2000 -o /dev/full -q");
    assert_eq!((ran.code, ran.out.as_str()), (Some(4), ""), "{ran:?}");
    assert!(ran.error().starts_with("cannot write to /dev/full: No space"), "{ran:?}");
    assert!(names(dir.path()).is_empty());
}

/// Factors that are long enough for a device.
#[test]
fn long_products_on_a_device() {
    let dir = tempfile::tempdir().unwrap();
    // 2^(2^19) − 1, in raw bytes.
    fs::write(dir.path().join("a.bin"), [0xff; 1 << 16]).unwrap();
    let ran = warpint(dir.path(), "calc sqr a.bin -o b.bin --device sim --json");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(ran.json()["device"], "sim");
    // Its square is 2^(2^20) − 2^(2^19 + 1) + 1.
    let mut expected = [0xff; 1 << 17];
    expected[..1 << 16].fill(0);
    (expected[0], expected[1 << 16]) = (1, 0xfe);
    assert!(fs::read(dir.path().join("b.bin")).unwrap() == expected);
}
