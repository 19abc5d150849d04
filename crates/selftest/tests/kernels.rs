//! The kernels on the simulator, one function or operation at a time.
#![cfg(test)]

use warpint_device::Device;
use warpint_integer::Executor;
use warpint_selftest::batches::{self, Sizes};
use warpint_selftest::{
    CaseReport, SEED, Summary, elementwise, field, field50, run_batches, run_kernels,
    transform_prime,
};

/// Runs the cases whose names hold a word.
fn passes(filter: &str, cases: usize) {
    let device = Device::simulator().unwrap();
    let mut failures = vec![];
    let summary =
        run_kernels(&device, Some(filter), &mut |CaseReport { family, case, result, .. }| {
            failures.extend(result.as_ref().err().map(|why| format!("{family}::{case}: {why}")));
        });
    assert_eq!(failures, Vec::<String>::new());
    assert_eq!(summary, Summary { passed: cases, failed: 0 });
}

#[test]
fn the_field_arithmetic_is_that_of_the_cpu() {
    passes("field@", field::CASES.len());
    passes("field50@", field50::CASES.len());
}

#[test]
fn operations_of_batches_are_exact() {
    passes("elementwise@", elementwise::CASES.len());
}

/// All cases of an executor, at few sizes.
fn batches_pass(executor: &Executor, cases: usize) {
    let mut failures = vec![];
    let summary =
        run_batches(executor, &Sizes::few(), None, &mut |CaseReport { case, result, .. }| {
            failures.extend(result.as_ref().err().map(|why| format!("{case}: {why}")));
        });
    assert_eq!(failures, Vec::<String>::new());
    assert_eq!(summary, Summary { passed: cases, failed: 0 });
}

#[test]
fn batches_are_exact_on_a_device() {
    let cases = batches::CASES.len() + batches::CASES_OF_DEVICES.len();
    batches_pass(&Executor::on(Device::simulator().unwrap()), cases);
}

#[test]
fn batches_are_exact_on_the_cpu() {
    batches_pass(&Executor::cpu(), batches::CASES.len());
}

#[test]
fn transforms_over_prime_fields_are_those_of_the_cpu() {
    let device = Device::simulator().unwrap();
    for (case, run) in transform_prime::CASES {
        assert_eq!(run(&device, SEED), Ok(()), "{case}");
    }
}
