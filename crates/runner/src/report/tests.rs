//! Tests of the printed, stored and recorded forms of a result.

use std::time::Duration;

use super::*;
use warpint_mersenne::Residue;

fn measured(products: u64) -> warpint_mersenne::RoundOff {
    warpint_mersenne::RoundOff { max: 0.125, mean: 0.0625, deviation: 0.01, products }
}

fn outcome(kind: TestKind, verdict: Verdict, residue: u64) -> Outcome {
    Outcome {
        kind,
        number: 127u32.into(),
        verdict,
        residue: Residue::from_u64(127u32, residue),
        iterations: kind.iterations(127u32),
        resumed_at: 0,
        engine: "fp64",
        place: CPU,
        length: 3072,
        round_off: Some(measured(9)),
        twice: false,
        bases: vec![],
        checked_squarings: 0,
        errors: ErrorCounts::default(),
        shift: 0,
        known_factors: vec![],
        elapsed: Duration::from_millis(1500),
    }
}

#[test]
fn people_read_one_line() {
    let line =
        |kind, verdict, residue| TestReport::new(&outcome(kind, verdict, residue)).to_string();
    let tail = "1.5 s, fp64 3K words, round-off max 0.1250 mean 0.0625, no errors";
    assert_eq!(
        line(TestKind::Prp, Verdict::ProbablePrime, 1),
        format!("M127 is a probable prime: PRP-3 res64 0000000000000001, 127 squarings, {tail}")
    );
    assert_eq!(
        line(TestKind::Ll(LlStart::Four), Verdict::Prime, 0),
        format!("M127 is prime (Lucas–Lehmer): 125 squarings, {tail}")
    );
    assert_eq!(
        line(TestKind::Ll(LlStart::TwoThirds), Verdict::Composite, 0xAB),
        format!(
            "M127 is composite (Lucas–Lehmer): res64 00000000000000AB, 125 squarings from 2/3, {tail}"
        )
    );
    let factors = vec!["3".to_owned(), "7".to_owned()];
    let rest =
        Outcome { known_factors: factors, ..outcome(TestKind::Prp, Verdict::ProbablePrime, 1) };
    let line = TestReport::new(&rest).to_string();
    assert!(line.starts_with("M127/3/7 is a probable prime: PRP-3 res64 "), "{line}");
    let mut early = outcome(TestKind::Prp, Verdict::Interim, 9);
    early.iterations = 1;
    early.errors = ErrorCounts {
        gerbicz: 1,
        jacobi: 1,
        double_check: 0,
        squarings: 0,
        lucas: 0,
        round_off: 2,
    };
    assert_eq!(
        TestReport::new(&early).to_string(),
        "M127 PRP-3 after 1 of 127 squarings: res64 0000000000000009, no verdict yet, \
         1.5 s, fp64 3K words, round-off max 0.1250 mean 0.0625, \
         2 failed checks and 2 round-off errors overcome"
    );
}

#[test]
fn only_the_squarings_of_the_last_run_are_called_exact() {
    let whole = Outcome {
        engine: "hybrid",
        round_off: None,
        ..outcome(TestKind::Ll(LlStart::Four), Verdict::Composite, 7)
    };
    let resumed = Outcome { resumed_at: 42, ..whole.clone() };
    for (outcome, claim) in [
        (whole, ", hybrid 3K words, exact arithmetic, no errors"),
        (resumed, ", hybrid 3K words, exact arithmetic after squaring 42, no errors"),
    ] {
        let report = TestReport::new(&outcome);
        assert!(report.to_string().ends_with(claim), "{report}");
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(text.contains("resumed-at"), outcome.resumed_at > 0);
        let again: TestReport = serde_json::from_str(&text).unwrap();
        assert_eq!(again, report);
    }
}

#[test]
fn z_is_told_once_it_is_known() {
    let few = outcome(TestKind::Prp, Verdict::ProbablePrime, 1);
    let many = Outcome { round_off: Some(measured(100)), ..few.clone() };
    let json = |outcome| serde_json::to_value(TestReport::new(outcome)).unwrap();
    assert_eq!(json(&few)["round-off"].get("z"), None);
    // (½ − 0.0625)·π/(0.01·√6) + 0.5772.
    let z = json(&many)["round-off"]["z"].as_f64().unwrap();
    assert!((z - 56.689).abs() < 0.001, "{z}");
    for report in [TestReport::new(&few), TestReport::new(&many)] {
        let text = serde_json::to_string(&report).unwrap();
        let again: TestReport = serde_json::from_str(&text).unwrap();
        assert_eq!(again.to_string(), report.to_string());
    }
}

#[test]
fn a_device_is_named_and_the_cpu_is_not() {
    let on_cpu = outcome(TestKind::Prp, Verdict::ProbablePrime, 1);
    let on_gpu = Outcome { engine: "goldilocks", place: "cuda:0", ..on_cpu.clone() };
    let line = TestReport::new(&on_gpu).to_string();
    assert!(line.contains(", goldilocks on cuda:0 3K words, "), "{line}");
    let json = |outcome| serde_json::to_value(TestReport::new(outcome)).unwrap();
    assert_eq!(json(&on_gpu)["device"], "cuda:0");
    assert_eq!(json(&on_cpu).get("device"), None);
}

#[test]
fn only_results_that_gimps_can_read_have_a_line() {
    let has_line =
        |kind, verdict| TestReport::new(&outcome(kind, verdict, 7)).result_line().is_some();
    for start in [LlStart::Four, LlStart::Ten, LlStart::TwoThirds] {
        let kind = TestKind::Ll(start);
        assert_eq!(is_recorded(kind), has_line(kind, Verdict::Composite));
    }
    assert!(is_recorded(TestKind::Prp));
    assert!(has_line(TestKind::Prp, Verdict::Composite));
    assert!(has_line(TestKind::Ll(LlStart::Four), Verdict::Composite));
    assert!(!has_line(TestKind::Ll(LlStart::Ten), Verdict::Composite));
    assert!(!has_line(TestKind::Prp, Verdict::Interim));
}

#[test]
fn a_report_reads_back_and_knows_its_test() {
    let report = TestReport::new(&outcome(TestKind::Ll(LlStart::Ten), Verdict::Composite, 7));
    let text = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<TestReport>(&text).unwrap(), report);
    assert!(report.is_of(TestKind::Ll(LlStart::Ten), 127u32, &[]));
    assert!(!report.is_of(TestKind::Ll(LlStart::Four), 127u32, &[]));
    assert!(!report.is_of(TestKind::Prp, 127u32, &[]));
    assert!(!report.is_of(TestKind::Ll(LlStart::Ten), 89u32, &[]));
}

#[test]
fn a_result_of_two_engines_is_one_of_either_and_of_no_third() {
    let report = |second| {
        TestReport::new(&outcome(TestKind::Ll(LlStart::Four), Verdict::Prime, 0)).doubled_by(second)
    };
    let of_both = report(Some("goldilocks"));
    let doubled = ["fp64", "goldilocks", "word"].map(|engine| of_both.is_doubled_with(engine));
    assert_eq!(doubled, [true, true, false]);
    assert!(!report(None).is_doubled_with("fp64"));
}

/// Morrison's test of 27·10^100 − 1: proven, composite by each of its parts, and without a proof.
#[test]
fn morrison_s_test_is_reported_by_the_part_that_decides() {
    let number: Number = "27*10^100-1".parse().unwrap();
    let kind = TestKind::for_number(number);
    let report = |kind, verdict, residue, bases: &[u32], iterations| {
        let (residue, bases) = (Residue::from_u64(number, residue), bases.to_vec());
        let length = 1;
        let outcome = outcome(TestKind::Prp, verdict, 1);
        let round_off = None;
        TestReport::new(&Outcome {
            kind,
            number,
            residue,
            bases,
            iterations,
            length,
            round_off,
            ..outcome
        })
    };
    let llr = |report: &TestReport| {
        Report::Test(Box::new(report.clone())).llr_line("27*10^100-1", number).unwrap()
    };
    let proven = report(kind, Verdict::Prime, 2, &[1, 2], 1_009);
    assert!(proven.to_string().starts_with(
        "27*10^100-1 is prime (Morrison): Morrison-1,2, 1009 squarings, 1.5 s, engine fp64"
    ));
    assert_eq!((proven.total, proven.iterations()), (1_009, 1_009));
    let fermat = TestKind::fermat(number);
    let by_fermat = report(fermat, Verdict::Composite, 0xAB, &[], 337);
    assert!(by_fermat.to_string().starts_with(
        "27*10^100-1 is composite: PRP-3 res64 00000000000000AB, 337 squarings, 1.5 s, "
    ));
    assert_eq!(by_fermat.total, 337);
    assert!(llr(&by_fermat).starts_with("27*10^100-1 is not prime.  RES64: 00000000000000AB"));
    let by_sequence = report(kind, Verdict::Composite, 0xCD, &[1, 2], 1_009);
    let open = report(kind, Verdict::ProbablePrime, 2, &[1, 2], 1_009);
    assert!(llr(&open).starts_with("27*10^100-1 is base 3-Fermat PRP! (102 decimal digits)"));
    for finished in [&proven, &by_fermat, &by_sequence, &open] {
        assert!(finished.is_of(kind, number, &[]), "{finished}");
    }
    // A probable prime by Fermat's test alone is not finished.
    let passed = report(fermat, Verdict::ProbablePrime, 1, &[], 337);
    assert!(!passed.is_of(kind, number, &[]) && passed.is_of(fermat, number, &[]));
    let errors = ErrorCounts { lucas: 1, ..ErrorCounts::default() };
    assert!(serde_json::to_string(&Errors::from(errors)).unwrap().contains("\"lucas\":1"));
    let none = serde_json::to_string(&Errors::from(ErrorCounts::default())).unwrap();
    assert!(!none.contains("lucas"), "{none}");
}
