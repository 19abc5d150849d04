//! Charts of the book that are drawn from raw output in `benches/runs`. The test
//! `charts_are_those_of_the_raw_output` compares them with the files in `docs/performance`. With
//! `WARPINT_UPDATE=1` it writes the files instead.

use std::fs;
use std::path::Path;

use warpint_bench::collatz::{Measured, Row};
use warpint_bench::device::{Copy, Field, Reached, Transform};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn raw(run: &str) -> String {
    let path = root().join("benches/runs").join(run);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// Returns the words of a line of numbers, after the text that ends at the column `at`.
fn words(line: &str, at: usize) -> (String, Vec<&str>) {
    let (text, rest) = line.split_at(line.char_indices().nth(at).unwrap().0);
    (text.trim_end().to_owned(), rest.split_whitespace().collect())
}

fn number(word: &str) -> f64 {
    word.parse().unwrap_or_else(|e| panic!("{word}: {e}"))
}

/// Reads a row of the output of `collatz bench`.
fn collatz_row(line: &str) -> Row {
    let (what, words) = words(line, 34);
    let method = ["sieve", "table"].into_iter().find(|&method| method == words[0]).unwrap();
    Row {
        what,
        method,
        parameters: words[7].into(),
        place: words[1].into(),
        numbers: String::new(),
        seconds: number(words[2]),
        per_second: number(words[3]),
        walked: 0,
        walked_share: number(words[4]),
        walked_per_second: number(words[5]),
        prepared_seconds: number(words[6].trim_end_matches('s')),
        checksum: String::new(),
        unresolved: vec![],
    }
}

/// The last run of the sieve and the run of the table method on an H200.
fn collatz() -> Measured {
    let sieve = raw("2026-11-23-h200/collatz-evidence-2.txt");
    let lines: Vec<&str> = sieve.lines().filter(|line| line.contains(" sieve  cuda:0")).collect();
    let table = raw("2026-11-22-h200/collatz-bench.txt");
    let table = table.lines().filter(|line| line.contains(" table  cuda:0"));
    let rows = lines[lines.len() - 2..].iter().copied().chain(table).map(collatz_row).collect();
    Measured { name: "NVIDIA H200".into(), rows, delays: None }
}

/// The rates of an H200.
fn device() -> Reached {
    let text = raw("2026-11-21-h200/bench-device.txt");
    let line = |begin: &str| text.lines().find(|line| line.starts_with(begin)).unwrap();
    let figures = |line| words(line, 35);
    let field = |line| {
        let numbers: Vec<f64> = figures(line).1.into_iter().map(number).collect();
        let [per_clock_per_multiprocessor, giga, clock_ghz] = numbers[..] else { panic!("{line}") };
        Field { per_clock_per_multiprocessor, per_second: giga * 1e9, clock_ghz }
    };
    let transforms = text.lines().filter(|line| line.starts_with("points·levels"));
    let transforms = transforms.map(|line| {
        let points = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        Transform { points, rate: field(line) }
    });
    let copies = text.lines().filter(|line| line.contains(" MiB ")).map(|line| {
        let (size, rates) = figures(line);
        Copy {
            bytes: (number(size.trim_end_matches(" MiB")) * 1_048_576.0) as u64,
            in_place_gb_per_second: number(rates[0]),
            between_gb_per_second: number(rates[1]),
        }
    });
    let first = |begin| number(figures(line(begin)).1[0]);
    Reached {
        device: "cuda:0".into(),
        name: "NVIDIA H200".into(),
        driver: String::new(),
        multiprocessors: 132,
        products: field(line("products")),
        transforms: transforms.collect(),
        copies: copies.collect(),
        kernel_period_us: first("kernel period"),
        fp64_fma_per_second: 1e12 * first("multiply-adds in FP64"),
        fp32_fma_per_second: 1e12 * first("multiply-adds in FP32"),
    }
}

#[test]
fn charts_are_those_of_the_raw_output() {
    let (collatz, device) = (collatz(), device());
    assert_eq!((collatz.rows.len(), device.copies.len(), device.transforms.len()), (3, 5, 2));
    for (name, chart) in [("collatz.svg", collatz.chart()), ("device.svg", device.chart())] {
        let path = root().join("docs/performance").join(name);
        let drawn = chart.to_string();
        if std::env::var_os("WARPINT_UPDATE").is_some() {
            fs::write(&path, &drawn).unwrap();
        }
        let stored = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            stored == drawn,
            "docs/performance/{name} differs: WARPINT_UPDATE=1 cargo test -p warpint-bench --test \
             suite charts_of_the_book draws it"
        );
    }
}
