//! Tests of calculations from files to files.

use std::fs;
use std::path::Path;

use warpint_natural::product::{FastProducts, Multiplier};
use warpint_progress::{StopToken, Unwatched};

use super::*;

fn names(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap();
    let mut names: Vec<_> =
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Creates a request whose operands are numbers or names of files in a directory.
fn request(dir: &Path, calculation: Calculation, operands: &[&str]) -> CalculationRequest {
    let operand = |name: &&str| match dir.join(name) {
        path if path.exists() => path,
        _ => (*name).into(),
    };
    let operands = operands.iter().map(operand).collect();
    CalculationRequest::new(calculation, operands, dir.join("r.txt"))
}

fn run(request: CalculationRequest, multiplier: &dyn Multiplier) -> Result<Written, BatchError> {
    let job = CalculationJob::new(request, multiplier)?;
    let computed = job.compute(multiplier, &Unwatched)?.expect("nobody stops it");
    Ok(computed.write(&StopToken::new())?.expect("nobody stops it"))
}

#[test]
fn results_of_every_calculation() {
    let dir = tempfile::tempdir().unwrap();
    let rem = dir.path().join("rem.txt");
    for (calculation, operands, result, remainder) in [
        (Calculation::Multiply, &["2^64", "3"][..], "55340232221128654848", None),
        (Calculation::Multiply, &["0", "3"], "0", None),
        (Calculation::Square, &["10^20"], "10000000000000000000000000000000000000000", None),
        (Calculation::Divide, &["10^20", "7"], "14285714285714285714", Some("2")),
        (Calculation::Divide, &["6", "7"], "0", Some("6")),
        (Calculation::Gcd, &["2^60-1", "2^48-1"], "4095", None),
        (Calculation::Gcd, &["0", "0"], "0", None),
        (
            Calculation::SquareRoot,
            &["10^41"],
            "316227766016837933199",
            Some("562477137586013626399"),
        ),
        (Calculation::SquareRoot, &["0"], "0", Some("0")),
        (Calculation::Power, &["3", "40"], "12157665459056928801", None),
        (Calculation::Power, &["0", "0"], "1", None),
        (Calculation::Power, &["1", "2^64-1"], "1", None),
        (Calculation::Power, &["0", "2^64-1"], "0", None),
        (Calculation::Factorial, &["25"], "15511210043330985984000000", None),
        (Calculation::Factorial, &["0"], "1", None),
        (Calculation::Primorial, &["50"], "614889782588491410", None),
        (Calculation::Primorial, &["1"], "1", None),
        (Calculation::ToDecimal, &["0xffffffffffffffff"], "18446744073709551615", None),
        (Calculation::ToHex, &["2^64-1"], "ffffffffffffffff", None),
    ] {
        let mut request = request(dir.path(), calculation, operands);
        request.force = true;
        request.rem = remainder.map(|_| rem.clone());
        if calculation == Calculation::ToHex {
            request.out = dir.path().join("r");
        }
        let out = request.out.clone();
        let written = run(request, &FastProducts).unwrap();
        assert_eq!(fs::read_to_string(out).unwrap(), format!("{result}\n"), "{operands:?}");
        assert_eq!(written.files.len(), 1 + usize::from(remainder.is_some()));
        if let Some(remainder) = remainder {
            assert_eq!(fs::read_to_string(&rem).unwrap(), format!("{remainder}\n"));
        }
    }
}

#[test]
fn formats_of_operands_and_results() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    // 2^72 + 15 in every format.
    fs::write(at("a.txt"), "4722366\n482869645\r\n 213711").unwrap();
    fs::write(at("a.hex"), "0x1 000000000000\n00000F\n").unwrap();
    fs::write(at("a.bin"), [15, 0, 0, 0, 0, 0, 0, 0, 0, 1]).unwrap();
    fs::write(at("letters"), "1000000000000\n00000f").unwrap();
    fs::write(at("digits"), "4722366482869645213711").unwrap();
    let product = "4722366482869645213711\n";
    for a in ["a.txt", "a.hex", "a.bin", "letters", "digits"] {
        for (out, want) in [
            ("r.txt", product.as_bytes()),
            ("r.hex", b"100000000000000000f\n"),
            ("r.raw", &[15, 0, 0, 0, 0, 0, 0, 0, 0, 1][..]),
        ] {
            let mut request = request(dir.path(), Calculation::Multiply, &[a, "1"]);
            request.out = at(out);
            request.force = true;
            let written = run(request, &FastProducts).unwrap();
            assert_eq!(fs::read(at(out)).unwrap(), want, "{a} to {out}");
            assert_eq!((written.files[0].bits, written.files[0].bytes), (73, want.len() as u64));
        }
        // Without an extension, the format is that of the operand.
        let mut plain = request(dir.path(), Calculation::Multiply, &["1", a]);
        plain.out = at("plain");
        plain.force = true;
        run(plain.clone(), &FastProducts).unwrap();
        let has = fs::read(at("plain")).unwrap();
        assert_eq!(has == product.as_bytes(), a == "a.txt" || a == "digits", "{a}");
        plain.out_format = Some(Format::Decimal);
        run(plain, &FastProducts).unwrap();
        assert_eq!(fs::read_to_string(at("plain")).unwrap(), product, "{a}");
    }
    // Zero has one byte.
    let mut zero = request(dir.path(), Calculation::Multiply, &["0", "0"]);
    zero.out = at("zero.bin");
    run(zero, &FastProducts).unwrap();
    assert_eq!(fs::read(at("zero.bin")).unwrap(), [0]);
}

#[test]
fn a_stop_request_leaves_nothing_behind() {
    let dir = tempfile::tempdir().unwrap();
    let mut request = request(dir.path(), Calculation::Divide, &["10^100", "7"]);
    request.rem = Some(dir.path().join("rem.txt"));
    let job = CalculationJob::new(request, &FastProducts).unwrap();
    let stopped = StopToken::new();
    let computed = job.compute(&FastProducts, &Unwatched).unwrap().unwrap();
    stopped.stop();
    assert!(computed.write(&stopped).unwrap().is_none());
    assert!(job.compute(&FastProducts, &stopped).unwrap().is_none());
    assert!(names(dir.path()).is_empty());
}

#[test]
fn a_file_that_appears_meanwhile_is_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    let request = request(dir.path(), Calculation::Square, &["12"]);
    let job = CalculationJob::new(request, &FastProducts).unwrap();
    let computed = job.compute(&FastProducts, &Unwatched).unwrap().unwrap();
    fs::write(dir.path().join("r.txt"), "mine").unwrap();
    let error = computed.write(&StopToken::new()).unwrap_err();
    assert!(error.to_string().contains("r.txt: "), "{error}");
    assert_eq!(fs::read_to_string(dir.path().join("r.txt")).unwrap(), "mine");
    assert_eq!(names(dir.path()), ["r.txt"]);
}

#[test]
fn too_little_memory_is_told_before_the_start() {
    let dir = tempfile::tempdir().unwrap();
    let mut request = request(dir.path(), Calculation::Factorial, &["10^9"]);
    request.memory = Some(1 << 30);
    let error = CalculationJob::new(request.clone(), &FastProducts).unwrap_err();
    assert!(matches!(error, BatchError::Memory { available: 0x4000_0000, .. }));
    let line = error.to_string();
    assert!(line.starts_with("fac needs about ") && line.ends_with("only 1.0 GiB are available"));
    // 10^9! has 2.85·10^10 bits.
    let job = CalculationJob::new(CalculationRequest { memory: None, ..request }, &FastProducts);
    assert!(job.unwrap().memory() > 3_500_000_000);
    assert!(names(dir.path()).is_empty());
}

/// A multiplier that flips a bit of each product of at least 16 limbs.
struct Faulty;

impl Multiplier for Faulty {
    fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let mut product = FastProducts.mul(a, b);
        if product.len() >= 16 {
            product[3] ^= 1 << 17;
        }
        product
    }
}

#[test]
fn wrong_products_are_found() {
    let dir = tempfile::tempdir().unwrap();
    for (calculation, operands) in [
        (Calculation::Multiply, &["3^800", "7^500"][..]),
        (Calculation::Square, &["3^800"]),
        (Calculation::Power, &["3", "3000"]),
        (Calculation::Factorial, &["2000"]),
    ] {
        for out in ["r.txt", "r.hex", "r.bin"] {
            let mut request = request(dir.path(), calculation, operands);
            request.out = dir.path().join(out);
            let error = run(request.clone(), &Faulty).unwrap_err();
            assert!(matches!(error, BatchError::Wrong { .. }), "{calculation:?}: {error}");
            assert!(names(dir.path()).is_empty());
            // Without a check, the wrong result is written.
            request.check = false;
            run(request, &Faulty).unwrap();
            fs::remove_file(dir.path().join(out)).unwrap();
        }
    }
    let request = request(dir.path(), Calculation::Square, &["3^800"]);
    let line = run(request, &Faulty).unwrap_err().to_string();
    let says = "check failed: sqr: the result contradicts the operands: it is wrong modulo the prime \
                2305843009213693951; nothing is written";
    assert_eq!(line, says);
}
