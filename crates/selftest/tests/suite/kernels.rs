//! Tests the kernels on the simulator, one function or operation at a time. The simulator runs
//! threads in order with the seed 0, and in a random order with a random seed. Short suites run in
//! both orders. Batches and transforms run in a random order only: batches in order are a slow
//! test, and the tests of `warpint-transform` run the kernels of transforms in order.

use warpint_device::Device;
use warpint_integer::Executor;
use warpint_selftest::batches::{self, Sizes, elementwise};
use warpint_selftest::fields::{f50, goldilocks, m31};
use warpint_selftest::transforms::{big, cpu, ntt, prime, small};
use warpint_selftest::{
    CaseReport, Depth, Summary, huge, run_batches, run_huge, run_kernels, run_transforms,
    run_transforms_on_cpu,
};

/// Runs the cases whose names contain `filter`, on each simulator. Asserts that `cases` cases run
/// and that all pass.
fn passes(filter: &str, widths: &[usize], cases: usize) {
    for device in Device::simulators() {
        let mut failures = vec![];
        let mut report = |CaseReport { family, case, result, .. }: &CaseReport| {
            failures.extend(result.as_ref().err().map(|why| format!("{family}::{case}: {why}")));
        };
        let summary = run_kernels(&device.unwrap(), widths, Some(filter), &mut report);
        assert_eq!(failures, Vec::<String>::new());
        assert_eq!(summary, Summary { passed: cases, failed: 0 });
    }
}

#[test]
fn the_field_arithmetic_is_that_of_the_cpu() {
    passes("field@", &[], goldilocks::CASES.len());
    passes("field50@", &[], f50::CASES.len());
    passes("field31@", &[], m31::CASES.len());
}

#[test]
fn operations_of_batches_are_exact() {
    passes("elementwise@", &elementwise::quick_widths(), elementwise::CASES.len());
}

#[test]
#[ignore = "slow: the test above has some of these widths"]
fn operations_of_batches_of_all_widths_are_exact() {
    passes("elementwise@", &elementwise::widths(), elementwise::CASES.len());
}

/// Runs all cases of batches on an executor, at the given sizes. Asserts that `cases` cases run and
/// that all pass.
fn batches_pass(executor: &Executor, sizes: &Sizes, cases: usize) {
    let mut failures = vec![];
    let summary = run_batches(executor, sizes, None, &mut |CaseReport { case, result, .. }| {
        failures.extend(result.as_ref().err().map(|why| format!("{case}: {why}")));
    });
    assert_eq!(failures, Vec::<String>::new());
    assert_eq!(summary, Summary { passed: cases, failed: 0 });
}

/// Runs all cases of batches on a device. Asserts that all pass.
fn batches_pass_on(device: Device, sizes: &Sizes) {
    let cases = batches::CASES.len() + batches::CASES_OF_DEVICES.len();
    batches_pass(&Executor::on(device), sizes, cases);
}

/// The longer numbers of [`Sizes::few`], and factors of unequal lengths, are left to an ignored
/// test. The suites against GMP have such numbers too.
#[test]
fn batches_are_exact_on_a_device() {
    let widths = vec![(3, 3), (33, 33)];
    let sizes = Sizes { widths, methods: vec![7], large: vec![(33, 40)], ..Sizes::few() };
    batches_pass_on(Device::shuffled_simulator().unwrap(), &sizes);
}

/// Takes minutes: `cargo test -p warpint-selftest --test suite kernels:: -- --ignored`.
#[test]
#[ignore = "slow: the test above has most of these sizes, shuffled"]
fn batches_of_all_sizes_are_exact_on_a_device() {
    for device in Device::simulators() {
        batches_pass_on(device.unwrap(), &Sizes::few());
    }
}

#[test]
fn batches_are_exact_on_the_cpu() {
    batches_pass(&Executor::cpu(), &Sizes::few(), batches::CASES.len());
}

/// Runs the cases of transforms whose names contain `family` on the simulator. Asserts that `cases`
/// cases run and that all pass.
fn transforms_pass(family: &str, cases: usize) {
    let (device, mut failures) = (Device::shuffled_simulator().unwrap(), vec![]);
    let sizes = (&big::Sizes::few(), &small::Sizes::few());
    let summary = run_transforms(
        &device,
        Depth::Thorough,
        sizes,
        Some(family),
        &mut |CaseReport { case, result, .. }| {
            failures.extend(result.as_ref().err().map(|why| format!("{case}: {why}")));
        },
    );
    assert_eq!(failures, Vec::<String>::new());
    assert_eq!(summary, Summary { passed: cases, failed: 0 });
}

/// The tests of `warpint-transform` run these kernels at some lengths.
#[test]
#[ignore = "slow: every big prime"]
fn transforms_over_big_prime_fields_are_those_of_the_cpu() {
    transforms_pass("transform-big@", big::CASES.len());
}

#[test]
fn transforms_over_prime_fields_are_those_of_the_cpu() {
    transforms_pass("transform-prime@", prime::CASES.len());
}

#[test]
fn transforms_modulo_50_bit_primes_are_those_of_the_definition() {
    transforms_pass("transform-f50@", ntt::F50_PRIMES.len());
}

#[test]
fn products_of_long_numbers_are_those_of_the_cpu() {
    let (device, mut failures) = (Device::shuffled_simulator().unwrap(), vec![]);
    let summary = run_huge(&device, None, &mut |CaseReport { case, result, .. }| {
        failures.extend(result.as_ref().err().map(|why| format!("{case}: {why}")));
    });
    assert_eq!(failures, Vec::<String>::new());
    assert_eq!(summary, Summary { passed: huge::CASES.len(), failed: 0 });
}

#[test]
fn transforms_on_the_cpu_are_those_of_the_definition() {
    let mut failures = vec![];
    let summary = run_transforms_on_cpu(None, &mut |CaseReport { case, result, .. }| {
        failures.extend(result.as_ref().err().map(|why| format!("{case}: {why}")));
    });
    assert_eq!(failures, Vec::<String>::new());
    assert_eq!(summary, Summary { passed: cpu::CASES.len(), failed: 0 });
}
