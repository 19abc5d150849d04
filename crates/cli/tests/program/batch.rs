//! Tests of `warpint batch`: every operation, with every format of operands and results.

use std::fs;
use std::path::Path;

use num_bigint::BigUint;
use serde_json::Value;

use crate::common::{Ran, warpint, with_input};

const OPERATIONS: [&str; 5] = ["add", "sub", "mul", "mullo", "sqr"];
/// The extensions of file names, one for each format.
const FORMATS: [&str; 4] = ["txt", "hex", "npy", "bin"];

/// Returns the expected result of an operation on numbers of up to `bits` bits. Returns `None` for
/// a difference a − b with a < b, which has no result.
fn expected(operation: &str, a: &BigUint, b: &BigUint, bits: u32) -> Option<BigUint> {
    match operation {
        "add" => Some(a + b),
        "sub" => (a >= b).then(|| a - b),
        "mul" => Some(a * b),
        "mullo" => Some((a * b) % (BigUint::from(1u8) << bits)),
        _ => Some(a * a),
    }
}

/// Returns the number of limbs of a result for operands of `a` and `b` limbs.
fn result_limbs(operation: &str, a: usize, b: usize) -> usize {
    match operation {
        "add" => a.max(b) + 1,
        "mul" => a + b,
        "sqr" => 2 * a,
        _ => a.max(b),
    }
}

/// Writes numbers of `limbs` 32-bit limbs to a file in a format.
pub(crate) fn write(path: &Path, format: &str, numbers: &[BigUint], limbs: usize) {
    let lines = |text: fn(&BigUint) -> String| -> Vec<u8> {
        numbers.iter().flat_map(|n| (text(n) + "\n").into_bytes()).collect()
    };
    let bytes = |n: &BigUint| {
        let mut bytes = n.to_bytes_le();
        bytes.resize(4 * limbs, 0);
        bytes
    };
    let raw = || numbers.iter().flat_map(bytes).collect::<Vec<u8>>();
    let file = match format {
        "txt" => lines(BigUint::to_string),
        "hex" => lines(|n| format!("0x{n:X}")),
        // As NumPy writes it.
        "npy" => {
            let (count, data) = (numbers.len(), raw());
            let header = format!(
                "{{'descr': '<u4', 'fortran_order': False, 'shape': ({count}, {limbs}), }}"
            );
            [b"\x93NUMPY\x01\x00\x76\x00", format!("{header:117}\n").as_bytes(), &data].concat()
        }
        _ => raw(),
    };
    fs::write(path, file).unwrap();
}

/// Reads the results, of `limbs` limbs each, from a file. A line `none` in the file gives `None`.
pub(crate) fn read(path: &Path, format: &str, limbs: usize) -> Vec<Option<BigUint>> {
    let file = fs::read(path).unwrap();
    let radix = if format == "hex" { 16 } else { 10 };
    match format {
        "txt" | "hex" => {
            let text = String::from_utf8(file).unwrap();
            assert!(text.is_empty() || text.ends_with('\n'));
            let number = |line: &str| match line {
                "none" => None,
                digits => Some(BigUint::parse_bytes(digits.as_bytes(), radix).unwrap()),
            };
            text.lines().map(number).collect()
        }
        _ => {
            let (header, data) = file.split_at(if format == "npy" { 128 } else { 0 });
            if format == "npy" {
                let shape = format!("'shape': ({}, {limbs})", data.len() / (4 * limbs));
                assert!(String::from_utf8_lossy(header).contains(&shape));
            }
            data.chunks(4 * limbs).map(|number| Some(BigUint::from_bytes_le(number))).collect()
        }
    }
}

/// Returns `count` numbers of up to `limbs` limbs: first special numbers, such as 0 and the number
/// whose bits are all 1, then random numbers.
pub(crate) fn numbers(count: usize, limbs: usize, seed: u64) -> Vec<BigUint> {
    let ones = (BigUint::from(1u8) << (32 * limbs)) - 1u8;
    let mut state = seed;
    let mut random = move || {
        // The high half of Knuth's MMIX generator.
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 32) as u32
    };
    let hard = [BigUint::ZERO, ones.clone(), BigUint::from(1u8), &ones - 1u8, &ones >> 1u8];
    let rest = (hard.len()..count)
        .map(|i| BigUint::new((0..limbs - i % limbs.min(3)).map(|_| random()).collect()));
    hard.into_iter().take(count).chain(rest.collect::<Vec<_>>()).collect()
}

pub(crate) fn sound(ran: &Ran) {
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
}

#[test]
fn every_operation_reads_and_writes_every_format() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let (m, n) = (3, 2);
    let (a, b) = (numbers(50, m, 1), numbers(50, n, 2));
    for format in FORMATS {
        write(&at(&format!("a.{format}")), format, &a, m);
        write(&at(&format!("b.{format}")), format, &b, n);
    }
    for operation in OPERATIONS {
        // With a − b ≥ 0, as far as that goes.
        let pair = |i: usize| expected(operation, &a[i], &b[i], 96);
        let results: Vec<_> = (0..50).map(pair).collect();
        let none = results.iter().filter(|r| r.is_none()).count();
        for (i, from) in FORMATS.iter().enumerate() {
            for (j, to) in FORMATS.iter().enumerate() {
                let second = match operation {
                    "sqr" => String::new(),
                    _ => format!(" b.{}", FORMATS[(i + j) % 4]),
                };
                // Text tells the width by itself, arrays have one.
                let bits = match (*from, second.as_str()) {
                    ("bin", "") => " --bits 96",
                    ("bin", _) | (_, " b.bin") => " --bits 96,64",
                    _ => "",
                };
                let line = format!(
                    "batch {operation} a.{from}{second} -o r.{to}{bits} --chunk 7 --check 20 --json"
                );
                let ran = warpint(dir.path(), &line);
                assert_eq!(ran.code, Some(if none == 0 { 0 } else { 2 }), "{line}: {ran:?}");
                let json = ran.json();
                assert_eq!((&json["count"], &json["malformed"]), (&50.into(), &none.into()));
                assert_eq!(
                    (&json["operation"], &json["device"]),
                    (&operation.into(), &"cpu".into())
                );
                let limbs = result_limbs(operation, m, n);
                assert_eq!(
                    (&json["a-bits"], &json["out-bits"]),
                    (&96.into(), &(32 * limbs).into())
                );
                let checked = json["checked"].as_u64().unwrap();
                assert!(if none == 0 { checked == 20 } else { (1..=20).contains(&checked) });
                let zero = |r: &Option<BigUint>| Some(r.clone().unwrap_or_default());
                let found = read(&at(&format!("r.{to}")), to, limbs);
                if *to == "npy" || *to == "bin" {
                    assert_eq!(found, results.iter().map(zero).collect::<Vec<_>>(), "{line}");
                } else {
                    assert_eq!(found, results, "{line}");
                }
            }
        }
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 12, "nothing else is left");
}

#[test]
fn ten_thousand_lines_of_2048_bits() {
    let dir = tempfile::tempdir().unwrap();
    let (a, b) = (numbers(10_000, 64, 3), numbers(10_000, 64, 4));
    write(&dir.path().join("a.txt"), "txt", &a, 64);
    write(&dir.path().join("b.hex"), "hex", &b, 64);
    for operation in OPERATIONS {
        let second = if operation == "sqr" { "" } else { " b.hex" };
        let ran = warpint(dir.path(), &format!("batch {operation} a.txt{second} -o r.txt --json"));
        let results = a.iter().zip(&b).map(|(a, b)| expected(operation, a, b, 2048));
        let results: Vec<_> = results.collect();
        let found = read(&dir.path().join("r.txt"), "txt", 0);
        let wrong = (0..10_000).find(|&i| found.get(i) != results.get(i));
        assert_eq!((wrong, found.len()), (None, 10_000), "{operation}");
        let json = ran.json();
        assert_eq!(json["a-bits"], 2048);
        assert_eq!(json["malformed"], results.iter().filter(|r| r.is_none()).count());
    }
}

#[test]
fn one_number_meets_all() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "1\n2\n3\n4\n5\n").unwrap();
    fs::write(dir.path().join("b.hex"), "100000000000000000\n").unwrap();
    let line = "batch mul a.txt b.hex -o r.txt --chunk 2 --check 5 --seed 9";
    let ran = warpint(dir.path(), line);
    sound(&ran);
    assert!(
        ran.out.starts_with("r.txt: 5 results of 128 bits (mul, 32 and 96 bits) in "),
        "{ran:?}"
    );
    assert!(ran.out.ends_with("/s on cpu, 5 checked (seed 9)\n"), "{ran:?}");
    let expected: String = (1..=5u128).map(|i| format!("{}\n", i << 68)).collect();
    assert_eq!(fs::read_to_string(dir.path().join("r.txt")).unwrap(), expected);
    // The wider number is that of b.
    sound(&warpint(dir.path(), "batch add a.txt b.hex -o s.hex"));
    let sums = fs::read_to_string(dir.path().join("s.hex")).unwrap();
    assert_eq!(sums.lines().last(), Some("100000000000000005"));
    // One number of a and one of b.
    sound(&warpint(dir.path(), "batch add b.hex b.hex -o s.dec"));
    assert_eq!(fs::read_to_string(dir.path().join("s.dec")).unwrap(), format!("{}\n", 2u128 << 68));
}

#[test]
fn one_number_of_either_file_meets_all_of_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("one.txt"), "3\n").unwrap();
    fs::write(at("all.hex"), "1\n2\n3\n4\nx\n").unwrap();
    let bad = "all.hex: line 5: 'x' at position 0 is not a hexadecimal digit\n";
    for (operation, files, results, told) in [
        ("add", "one.txt all.hex", "4\n5\n6\n7\n", ""),
        ("mul", "one.txt all.hex", "3\n6\n9\n12\n", ""),
        ("mullo", "one.txt all.hex", "3\n6\n9\n12\n", ""),
        ("sub", "one.txt all.hex", "2\n1\n0\nnone\n", "all.hex: line 4: a < b\n"),
        (
            "sub",
            "all.hex one.txt",
            "none\nnone\n0\n1\n",
            "all.hex: line 1: a < b\nall.hex: line 2: a < b\n",
        ),
    ] {
        for chunk in [1, 3, 100] {
            let line = format!(
                "batch {operation} {files} -o r.txt --out-format dec --chunk {chunk} --check 9 --json"
            );
            let ran = warpint(dir.path(), &line);
            assert_eq!((ran.code, &ran.json()["count"]), (Some(2), &5.into()), "{line}: {ran:?}");
            assert!(ran.err.starts_with(&format!("{told}{bad}")), "{line}: {ran:?}");
            assert_eq!(fs::read_to_string(at("r.txt")).unwrap(), format!("{results}none\n"));
        }
    }
    // One number for none.
    fs::write(at("none.txt"), "").unwrap();
    for files in ["one.txt none.txt", "none.txt one.txt"] {
        sound(&warpint(dir.path(), &format!("batch mul {files} -o r.txt")));
        assert_eq!(fs::read_to_string(at("r.txt")).unwrap(), "");
    }
}

#[test]
fn a_file_can_be_replaced_by_its_results() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.txt");
    fs::write(&path, "3\r\n5\r\n").unwrap();
    sound(&warpint(dir.path(), "batch mul a.txt a.txt -o a.txt"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "9\n25\n");
    sound(&warpint(dir.path(), "batch sqr a.txt -o ./a.txt"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "81\n625\n");
}

#[test]
fn empty_files_have_empty_results() {
    let dir = tempfile::tempdir().unwrap();
    for file in ["a.txt", "a.hex", "a.bin"] {
        fs::write(dir.path().join(file), "").unwrap();
    }
    fs::write(dir.path().join("one.txt"), "7").unwrap();
    fs::write(dir.path().join("blank.dec"), "\r\n").unwrap();
    for (line, size) in [
        ("mul a.txt a.hex -o r.txt", 0),
        ("add a.bin one.txt -o r.txt --bits 64", 0),
        ("sqr blank.dec -o r.bin", 0),
        ("sqr a.txt -o r.npy --check 3", 128),
    ] {
        let ran = warpint(dir.path(), &format!("batch {line} --json"));
        sound(&ran);
        assert_eq!((&ran.json()["count"], &ran.json()["checked"]), (&0.into(), &0.into()));
        let out = line.split(' ').find(|word| word.starts_with("r.")).unwrap();
        assert_eq!(fs::metadata(dir.path().join(out)).unwrap().len(), size, "{line}");
    }
    sound(&warpint(dir.path(), "batch sqr r.npy -o s.npy"));
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_number() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "\u{feff}3\n5\n").unwrap();
    fs::write(dir.path().join("b.hex"), "\u{feff}0xA\r\n").unwrap();
    for bits in ["", " --bits 64"] {
        let line = format!("batch mul a.txt b.hex -o r.txt --chunk 1 --check 2{bits}");
        sound(&warpint(dir.path(), &line));
        assert_eq!(fs::read_to_string(dir.path().join("r.txt")).unwrap(), "30\n50\n");
    }
    // And none is written.
    sound(&warpint(dir.path(), "batch sqr a.txt -o a.txt"));
    assert_eq!(fs::read_to_string(dir.path().join("a.txt")).unwrap(), "9\n25\n");
}

#[test]
fn standard_input_and_output_are_files_too() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("b.hex"), "a\nb\n").unwrap();
    for (line, input, out) in [
        ("mul - b.hex -o -", "2\n3\n", "20\n33\n"),
        ("mul b.hex - -o -", "2\n3\n", "14\n21\n"),
        ("sub b.hex - -o - --out-format dec --chunk 1", "7\n", "3\n4\n"),
        ("add - b.hex -o - --format hex", "ff\n", "109\n10a\n"),
        ("sqr - -o - --format raw --bits 32", "\u{1}\0\0\0", "\u{1}\0\0\0\0\0\0\0"),
        ("sqr - -o -", "", ""),
    ] {
        let ran = with_input(dir.path(), &format!("batch {line} --check 2"), input.as_bytes());
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), out), "{line}: {ran:?}");
        assert!(
            ran.err.starts_with("standard output: ") && ran.err.lines().count() == 1,
            "{ran:?}"
        );
    }
    let ran = with_input(dir.path(), "batch sqr - -o - --json", b"7\nx\n");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), "49\nnone\n"));
    let told: Vec<&str> = ran.err.lines().collect();
    assert_eq!(told[0], "standard input: line 2: 'x' at position 0 is not a decimal digit");
    assert!(
        told[1].starts_with("{\"operation\":\"sqr\",\"status\":\"done\",\"count\":2,"),
        "{told:?}"
    );
    assert_eq!(told[2], "error: 1 of 2 numbers has no result: 'none' is written instead");
    // Nothing at all, or all.
    let ran = with_input(dir.path(), "batch sqr - -o - --strict", b"7\nx\n");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
    let ran = with_input(dir.path(), "batch mul - - -o r.txt", b"7\n");
    assert_eq!(
        (ran.code, ran.error()),
        (Some(2), "two operands are standard input, which can be read only once")
    );

    let ran = warpint(dir.path(), "batch sqr a.txt -o s.txt --bits 64,128");
    assert_eq!(
        (ran.code, ran.error()),
        (Some(2), "sqr reads one file: give --bits its width alone")
    );
    assert!(!dir.path().join("s.txt").exists());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left");
}

#[test]
fn arrays_of_64_bit_limbs_stay_so() {
    let dir = tempfile::tempdir().unwrap();
    let header = "{'descr': '<u8', 'fortran_order': False, 'shape': (2, 1), }";
    let numbers = [7u64, u64::MAX];
    let data: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    // Version 2.0 has a longer length, and the header may be of any size.
    for (begin, length) in
        [(&b"\x93NUMPY\x01\x00\x3b\x00"[..], 59), (b"\x93NUMPY\x02\x00\x3b\x00\x00\x00", 59)]
    {
        assert_eq!(header.len(), length);
        let file = [begin, header.as_bytes(), &data].concat();
        fs::write(dir.path().join("a.npy"), file).unwrap();
        sound(&warpint(dir.path(), "batch sqr a.npy -o r"));
        let squares = fs::read(dir.path().join("r")).unwrap();
        assert!(String::from_utf8_lossy(&squares).contains("'<u8'"));
        let (of, shape) = (numbers.map(|n| u128::from(n).pow(2)), "(2, 2)");
        assert!(String::from_utf8_lossy(&squares).contains(shape));
        let of: Vec<u8> = of.iter().flat_map(|n| n.to_le_bytes()).collect();
        assert_eq!(squares[128..], of);
        // 96 bits are not a whole number of 64-bit limbs.
        sound(&warpint(dir.path(), "batch add a.npy a.npy -o s.npy"));
        let sums = fs::read(dir.path().join("s.npy")).unwrap();
        let text = String::from_utf8_lossy(&sums);
        assert!(text.contains("'<u4'") && text.contains("(2, 3)"), "{text}");
    }
}

#[test]
fn names_do_not_matter_where_formats_are_given() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "ff\n").unwrap();
    sound(&warpint(dir.path(), "batch sqr a.txt -o r --format hex"));
    assert_eq!(fs::read_to_string(dir.path().join("r")).unwrap(), "fe01\n");
    sound(&warpint(dir.path(), "batch sqr a.txt -o r.hex --format hex --out-format dec"));
    assert_eq!(fs::read_to_string(dir.path().join("r.hex")).unwrap(), "65025\n");
    sound(&warpint(dir.path(), "batch add a.txt a.txt -o r.BIN --format hex --threads 1"));
    assert_eq!(fs::read(dir.path().join("r.BIN")).unwrap(), [0xfe, 1, 0, 0, 0, 0, 0, 0]);
}

/// Tests which results are compared with their operands: results from a device, unless the user
/// disables the comparison, and results from the CPU only if the user requests it.
#[test]
fn results_are_checked_by_identities_by_default_on_a_device() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "15\n35\n77\n1000000007\n").unwrap();
    fs::write(dir.path().join("b.txt"), "4\n21\n7\n998244353\n").unwrap();
    for (operation, checked, sample) in [
        ("mul a.txt b.txt --device sim", 4, 0),
        ("mul a.txt b.txt --device sim --check 2 --seed 5", 4, 2),
        ("mul a.txt b.txt --device sim --check none,2 --seed 5", 0, 2),
        ("mul a.txt b.txt --device sim --check none", 0, 0),
        ("mul a.txt b.txt --device cpu", 0, 0),
        ("mul a.txt b.txt --device cpu --check 3", 0, 3),
        ("powm a.txt b.txt a.txt --device cpu --check identity,3", 4, 3),
        ("add a.txt b.txt --device cpu --check identity", 4, 0),
        ("sub a.txt a.txt --device cpu --check identity", 4, 0),
        ("mullo a.txt b.txt --device cpu --check identity", 4, 0),
        ("sqr a.txt --device cpu --check identity --chunk 3", 4, 0),
        ("divrem a.txt b.txt --device cpu --check identity", 4, 0),
        ("gcd a.txt b.txt --device cpu --check identity", 4, 0),
        ("sqrt a.txt --device cpu --check identity", 4, 0),
    ] {
        let ran = warpint(dir.path(), &format!("batch {operation} -o r.txt --json"));
        assert_eq!(ran.code, Some(0), "{operation}: {ran:?}");
        let json = ran.json();
        let found = ["checked-by-identity", "checked", "device-errors"].map(|key| &json[key]);
        assert_eq!(found, [&checked.into(), &sample.into(), &Value::from(0)], "{operation}");
    }
    // 21 has no inverse modulo 35, nor 7 modulo 77: both are shown.
    let ran = warpint(dir.path(), "batch modinv b.txt a.txt -o i.txt --device sim --json");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert_eq!(ran.json()["checked-by-identity"], 4);
    let inverses = fs::read_to_string(dir.path().join("i.txt")).unwrap();
    assert!(inverses.starts_with("4\nnone\nnone\n"), "{inverses}");

    let ran = warpint(dir.path(), "batch mul a.txt b.txt -o r.txt --device sim");
    assert!(ran.out.ends_with("/s on sim, all checked by identity\n"), "{ran:?}");
    let line = "batch powm a.txt b.txt a.txt -o r.txt --check identity,1 --seed 3";
    let ran = warpint(dir.path(), line);
    let says = ", 4 computed again on the CPU, 1 checked (seed 3)\n";
    assert!(ran.out.ends_with(says), "{ran:?}");
    for (check, part) in
        [("all", "all"), ("0", "0"), ("identity,none", "none"), ("5,identity", "5")]
    {
        let ran = warpint(dir.path(), &format!("batch mul a.txt b.txt -o r.txt --check {check}"));
        assert_eq!(ran.code, Some(2));
        assert!(
            ran.err.contains(&format!("'{part}' is not a check: give identity, none, a number N")),
            "{ran:?}"
        );
    }
}
