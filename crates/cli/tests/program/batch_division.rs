//! Tests of `warpint batch`: division, greatest common divisors, inverses, square roots and powers.

use std::fs;

use num_bigint::BigUint;

use crate::batch::{numbers, read, sound, write};
use crate::common::warpint;

/// Returns the expected result and remainder of an operation on the operands a, b and m. Returns
/// `None` if no result exists.
fn expected(operation: &str, [a, b, m]: [&BigUint; 3]) -> Option<(BigUint, BigUint)> {
    let zero = BigUint::ZERO;
    match operation {
        "divrem" => (*b != zero).then(|| (a / b, a % b)),
        "gcd" => {
            let (mut a, mut b) = (a.clone(), b.clone());
            while b != zero {
                (a, b) = (b.clone(), a % b);
            }
            Some((a, zero))
        }
        "modinv" => match b {
            b if *b == zero => None,
            b if *b == BigUint::from(1u8) => Some((zero.clone(), zero)),
            b => Some((a.modinv(b)?, zero)),
        },
        "sqrt" => Some((a.sqrt(), a - a.sqrt().pow(2))),
        _ => (*m != zero).then(|| (a.modpow(b, m), zero)),
    }
}

/// Returns the limb counts of a result and of its remainder, for operands with the given limb
/// counts.
fn limbs(operation: &str, [a, b, m]: [usize; 3]) -> (usize, usize) {
    match operation {
        "divrem" => (a, b),
        "gcd" => (a.max(b), 0),
        "modinv" => (b, 0),
        "sqrt" => (a.div_ceil(2), a.div_ceil(2) + 1),
        _ => (m, 0),
    }
}

#[test]
fn every_operation_reads_and_writes_every_format() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let sizes = [5, 2, 3];
    let all = [numbers(40, 5, 1), numbers(40, 2, 2), numbers(40, 3, 3)];
    for format in ["txt", "hex", "npy", "bin"] {
        for ((numbers, limbs), name) in all.iter().zip(sizes).zip(["a", "b", "m"]) {
            write(&at(&format!("{name}.{format}")), format, numbers, limbs);
        }
    }
    for (operation, files, rem) in [
        ("divrem", "a.txt b.npy", true),
        ("divrem", "a.bin b.bin", false),
        ("gcd", "a.hex b.txt", false),
        ("modinv", "a.npy b.txt", false),
        ("sqrt", "a.txt", true),
        ("sqrt", "a.npy", false),
        ("powm", "a.txt b.hex m.npy", false),
        ("powm", "a.bin b.bin m.bin", false),
    ] {
        let bits = match (files.contains("bin"), operation) {
            (false, _) => "",
            (true, "powm") => " --bits 160,64,96",
            (true, _) => " --bits 160,64",
        };
        let of = |i: usize| expected(operation, [&all[0][i], &all[1][i], &all[2][i]]);
        let results: Vec<_> = (0..40).map(of).collect();
        let none = results.iter().filter(|r| r.is_none()).count();
        for to in ["txt", "hex", "npy", "bin"] {
            let (width, rem_width) = limbs(operation, sizes);
            let rem_args = if rem { format!(" --rem s.{to}") } else { String::new() };
            let line = format!(
                "batch {operation} {files} -o r.{to}{rem_args}{bits} --chunk 7 --check 40 --json"
            );
            let ran = warpint(dir.path(), &line);
            assert_eq!(ran.code, Some(if none == 0 { 0 } else { 2 }), "{line}: {ran:?}");
            let json = ran.json();
            assert_eq!(
                (&json["operation"], &json["malformed"], &json["checked"], &json["device"]),
                (&operation.into(), &none.into(), &(40 - none).into(), &"cpu".into()),
                "{line}"
            );
            assert_eq!(json["out-bits"], 32 * width);
            assert_eq!(json.get("rem-bits").is_some(), rem);
            assert_eq!(json.get("m-bits").is_some(), operation == "powm");
            let is_text = to == "txt" || to == "hex";
            let want = |of: &dyn Fn(&(BigUint, BigUint)) -> BigUint| -> Vec<Option<BigUint>> {
                let zero = || if is_text { None } else { Some(BigUint::ZERO) };
                results.iter().map(|r| r.as_ref().map(of).or_else(zero)).collect()
            };
            assert_eq!(read(&at(&format!("r.{to}")), to, width), want(&|r| r.0.clone()), "{line}");
            if rem {
                let found = read(&at(&format!("s.{to}")), to, rem_width);
                assert_eq!(found, want(&|r| r.1.clone()), "{line}");
            }
        }
    }
}

#[test]
fn what_has_no_result_is_told_of() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let text = |name: &str| fs::read_to_string(at(name)).unwrap();
    fs::write(at("a.txt"), "7\n12\nx\n100\n").unwrap();
    fs::write(at("b.txt"), "3\n0\n5\n8\n").unwrap();
    let ran = warpint(dir.path(), "batch divrem a.txt b.txt -o q.txt --rem r.hex --check 4");
    let bad = "a.txt: line 3: 'x' at position 0 is not a decimal digit\n";
    let end = "error: 2 of 4 numbers have no result: 'none' is written instead\n";
    let told = format!("b.txt: line 2: division by zero\n{bad}{end}");
    assert_eq!((ran.code, ran.err), (Some(2), told));
    assert!(
        ran.out.starts_with("q.txt and r.hex: 2 results of 32 bits (divrem, 32 and 32 bits) in "),
        "{}",
        ran.out
    );
    assert_eq!(
        (text("q.txt"), text("r.hex")),
        ("2\nnone\nnone\n12\n".into(), "1\nnone\nnone\n4\n".into())
    );

    let ran = warpint(dir.path(), "batch modinv a.txt b.txt -o i.txt --strict");
    let none = |i| format!("a.txt: line {i}: a has no inverse modulo b\n");
    let end = "error: 3 of 4 numbers have no result: nothing is written\n";
    assert_eq!((ran.code, ran.err), (Some(2), format!("{}{bad}{}{end}", none(2), none(4))));
    assert!(!at("i.txt").exists());

    // One base and one exponent for all moduli, one of which is zero.
    fs::write(at("three.txt"), "3\n").unwrap();
    let ran = warpint(dir.path(), "batch powm three.txt three.txt b.txt -o p.txt --check 4");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.starts_with("b.txt: line 2: the modulus is zero\n"), "{ran:?}");
    assert!(ran.out.starts_with("p.txt: 3 results of 32 bits (powm, 32, 32 and 32 bits) in "));
    assert_eq!(text("p.txt"), "0\nnone\n2\n3\n");

    let ran = warpint(dir.path(), "batch sqrt b.txt -o s.txt --rem - --check 4 --seed 1");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "2\n0\n1\n4\n"));
    assert!(ran.err.starts_with("s.txt and standard output: 4 results of 32 bits (sqrt, 32 bits)"));
    assert_eq!(text("s.txt"), "1\n0\n2\n2\n");
    sound(&warpint(dir.path(), "batch gcd b.txt b.txt -o b.txt --device cpu"));
    assert_eq!(text("b.txt"), "3\n0\n5\n8\n");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "1\n2\n").unwrap();
    fs::write(dir.path().join("b.txt"), "1\n2\n3\n").unwrap();
    for (line, says) in [
        (
            "divrem a.txt a.txt -o r.txt --rem ./r.txt",
            "results and remainders cannot go to the same place",
        ),
        ("divrem a.txt a.txt -o - --rem -", "results and remainders cannot go to the same place"),
        ("powm a.txt - - -o r.txt", "two operands are standard input, which can be read only once"),
        (
            "powm a.txt a.txt b.txt -o r.txt",
            "a.txt and b.txt: 2 numbers and 3 numbers: the counts must be equal, or one of",
        ),
        (
            "powm a.txt a.txt a.txt -o r.txt --bits 32,64",
            "powm reads three files: give --bits one width, or that of each",
        ),
        (
            "gcd a.txt a.txt -o r.txt --bits 32,64,32",
            "gcd reads two files: give --bits one width, or that of each",
        ),
        ("sqrt a.txt -o r.txt --bits 32,64", "sqrt reads one file: give --bits its width alone"),
        ("sqrt a.txt -o r.txt --rem none/s.txt", "cannot write none/s.txt: No such file"),
    ] {
        let ran = warpint(dir.path(), &format!("batch {line}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
        assert!(ran.error().starts_with(says), "{line}: {ran:?}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "{line}");
    }
}
