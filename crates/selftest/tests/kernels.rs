//! The kernels on the simulator: the field arithmetic one function at a time.
#![cfg(test)]

use warpint_device::Device;
use warpint_selftest::{CaseReport, Summary, field, field50, run_field};

#[test]
fn the_field_arithmetic_is_that_of_the_cpu() {
    let device = Device::simulator().unwrap();
    let mut failures = vec![];
    let summary = run_field(&device, None, &mut |CaseReport { family, case, result, .. }| {
        failures.extend(result.as_ref().err().map(|why| format!("{family}::{case}: {why}")));
    });
    assert_eq!(failures, Vec::<String>::new());
    assert_eq!(summary, Summary { passed: field::CASES.len() + field50::CASES.len(), failed: 0 });
}
