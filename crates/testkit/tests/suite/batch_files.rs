//! Compares the results of `warpint batch` on files with GMP. The program must be built first:
//! `cargo build --release && cargo test --release -p warpint-testkit --test suite batch_files:: --
//! --ignored`

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use rug::Integer;
use rug::integer::Order;

const PAIRS: usize = 1_000_000;
const BITS: u32 = 2048;

/// Returns the path of the program `warpint`. It is in the parent of the folder that contains this
/// test's executable.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.ancestors().nth(2).unwrap().join("warpint");
    assert!(program.exists(), "{} is not built", program.display());
    program
}

/// Writes a file of random decimal numbers, one per line. One number in 1,000 is shorter than the
/// others. The random generator is SplitMix64 (Steele, Lea and Flood 2014).
fn write_numbers(path: &Path, seed: u64) {
    let mut state = seed;
    let mut limb = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let mut file = BufWriter::new(File::create(path).unwrap());
    for i in 0..PAIRS {
        let limbs = if i % 1000 == 7 { limb() % 32 } else { 32 };
        let limbs: Vec<u64> = (0..limbs).map(|_| limb()).collect();
        writeln!(file, "{}", Integer::from_digits(&limbs, Order::Lsf)).unwrap();
    }
    file.into_inner().unwrap();
}

fn numbers(path: &Path) -> impl Iterator<Item = Option<Integer>> + use<> {
    // `none` is not a number.
    BufReader::new(File::open(path).unwrap()).lines().map(|line| line.unwrap().parse().ok())
}

fn expected(operation: &str, a: Integer, b: Integer) -> Option<Integer> {
    match operation {
        "add" => Some(a + b),
        "sub" => Some(a - b).filter(|difference| *difference >= 0),
        "mul" => Some(a * b),
        "mullo" => Some((a * b).keep_bits(BITS)),
        _ => Some(a.square()),
    }
}

#[test]
#[ignore = "minutes; the program must be built"]
fn a_million_pairs_are_those_of_gmp() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    write_numbers(&at("a.txt"), 1);
    write_numbers(&at("b.txt"), 2);
    for operation in ["add", "sub", "mul", "mullo", "sqr"] {
        let second = (operation != "sqr").then_some("b.txt");
        let ran = Command::new(program())
            .args(["batch", operation, "a.txt"])
            .args(second)
            .args(["-o", "r.txt", "--check", "1000", "--json"])
            .current_dir(dir.path())
            .output()
            .unwrap();
        println!("{}", String::from_utf8_lossy(&ran.stdout).trim_end());
        let (a, b) = (numbers(&at("a.txt")), numbers(&at("b.txt")));
        let (mut results, mut none) = (numbers(&at("r.txt")), 0);
        for (i, (a, b)) in a.zip(b).enumerate() {
            let expected = expected(operation, a.unwrap(), b.unwrap());
            none += usize::from(expected.is_none());
            assert_eq!(results.next(), Some(expected), "{operation} of line {}", i + 1);
        }
        assert!(results.next().is_none());
        assert_eq!(ran.status.code(), Some(if none == 0 { 0 } else { 2 }), "{operation}");
        let report: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
        assert_eq!(report["malformed"], none, "{report}");
        assert_eq!((&report["count"], &report["a-bits"]), (&PAIRS.into(), &BITS.into()));
    }
}
