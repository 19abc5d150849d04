//! Tests the reports of a run of the suites, as the program starts it, and the effect of a filter.

use warpint_mersenne::engine::places::families_on_cpu;
use warpint_selftest::{CaseReport, Depth, Summary, cases::CASES, run, run_seeded};

#[test]
fn a_filter_leaves_the_cases_that_contain_it() {
    let mut reports: Vec<CaseReport> = Vec::new();
    let summary =
        run(&families_on_cpu(), Depth::Quick, Some("word::"), &mut |r| reports.push(r.clone()));
    assert_eq!(summary, Summary { passed: CASES.len(), failed: 0 });
    let named: Vec<&str> = reports.iter().map(|r| r.case.as_str()).collect();
    assert_eq!(named, CASES.iter().map(|c| c.name).collect::<Vec<_>>());
    assert!(reports.iter().all(|r| r.family == "word" && r.result.is_ok()));

    assert_eq!(
        run(&families_on_cpu(), Depth::Quick, Some("no such case"), &mut |_| ()),
        Summary::default()
    );
}

#[test]
fn other_seeds_pass_too() {
    for seed in 1..=5 {
        let mut failures = Vec::new();
        run_seeded(&families_on_cpu(), Depth::Quick, Some("word::"), seed, &mut |r| {
            failures.extend(r.result.clone().err())
        });
        assert_eq!(failures, Vec::<String>::new());
    }
}
