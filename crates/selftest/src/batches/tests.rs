//! Tests that every operation in the list of operations is implemented on the CPU and on devices,
//! that it has a check or declares that it has none, and that a suite of cases tests it.

use warpint_device::Device;
use warpint_integer::{IntegerError, Operation, UintBatch, Width};

use super::*;

/// Returns the name in [`CASES`] of the case that tests an operation.
fn suite(operation: Operation) -> &'static str {
    match operation {
        Operation::Add | Operation::Subtract => "sums",
        Operation::Multiply | Operation::MultiplyLow => "products",
        Operation::Square => "squares",
        Operation::Divide => "quotients",
        Operation::Gcd => "divisors",
        Operation::Inverse => "inverses",
        Operation::SquareRoot => "square_roots",
        Operation::Power => "powers",
        Operation::ProbablePrime => "primes",
    }
}

#[test]
fn every_operation_has_a_suite() {
    for &operation in Operation::ALL {
        let suite = suite(operation);
        assert!(CASES.iter().any(|(name, _)| *name == suite), "{operation:?}: {suite}");
    }
}

/// Returns three operands of twelve 64-bit numbers each. Most numbers are odd and have the highest
/// bit set. The others are small or even, and some of these are 0 or 1, so that some operations
/// have no result.
fn operands() -> [Vec<u64>; 3] {
    let number = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 63 | 1;
    [
        [0, 1, 12, 1 << 40].into_iter().chain((1..9).map(number)).collect(),
        [7, 0, 18, 1 << 41].into_iter().chain((101..109).map(number)).collect(),
        [9, 5, 0, 1].into_iter().chain((201..209).map(number)).collect(),
    ]
}

fn batches() -> [UintBatch; 3] {
    let width = Width::new(64).unwrap();
    operands().map(|x| UintBatch::from_limbs_u64(&Executor::cpu(), width, &x).unwrap())
}

/// The results of an operation, on the host, and its flags.
type Results = (Vec<UintBatch>, Vec<u8>);

fn results(operation: Operation, on: &Executor) -> Result<Results, IntegerError> {
    let [a, b, m] = batches().map(|x| x.to(on).unwrap());
    let (results, flags) = operation.apply([&a, &b, &m])?;
    let is_there = |x: &UintBatch| x.executor().is_cpu() == on.is_cpu();
    assert!(results.iter().all(is_there), "{operation:?}: results are in another place");
    assert_eq!(flags.is_some(), operation.no_result().is_some(), "{operation:?}: flags");
    let results = results.into_iter().map(|x| x.to(&Executor::cpu())).collect::<Result<_, _>>()?;
    Ok((results, flags.map_or_else(|| Ok(vec![0; 12]), |flags| flags.to_vec())?))
}

/// Returns number i of a batch in 64-bit limbs.
fn row(batch: &UintBatch, i: usize) -> Vec<u64> {
    let limbs = batch.get(i).unwrap().unwrap();
    let wide = |pair: &[u32]| pair.iter().rev().fold(0, |limb, &half| limb << 32 | u64::from(half));
    limbs.chunks(2).map(wide).collect()
}

fn same(found: &[u64], expected: &[u64]) -> bool {
    warpint_natural::limbs::compare(found, expected).is_eq()
}

#[test]
fn every_operation_is_right_on_the_cpu_and_on_a_device() {
    let device = Executor::on(Device::simulator().unwrap());
    let [a, b, m] = operands();
    for &operation in Operation::ALL {
        let width = Width::new(64).unwrap();
        let (width, second) = operation.widths([width; 3]).unwrap();
        for on in [&Executor::cpu(), &device] {
            let (batches, flags) = results(operation, on).unwrap();
            assert_eq!(batches.len(), 1 + usize::from(second.is_some()), "{operation:?}");
            assert_eq!(batches[0].width(), width, "{operation:?}");
            for i in 0..12 {
                let of = [vec![a[i]], vec![b[i]], vec![m[i]]];
                let expected = operation.expected(of, width.limbs());
                assert_eq!(flags[i] == 0, expected.is_some(), "{operation:?} {i}");
                let Some((result, rest)) = expected else { continue };
                assert!(same(&row(&batches[0], i), &result), "{operation:?} {i}");
                let right = batches.get(1).is_none_or(|batch| same(&row(batch, i), &rest));
                assert!(right, "{operation:?} {i}: the second result");
            }
        }
    }
}

#[test]
fn every_check_that_is_declared_finds_a_wrong_result() {
    let cpu = Executor::cpu();
    let all: Vec<usize> = (0..12).collect();
    let operands = batches();
    for &operation in Operation::ALL {
        let (mut batches, flags) = results(operation, &cpu).unwrap();
        let failing = |batches: &[UintBatch]| {
            operation.failing(operands.each_ref(), batches, &flags, &all, &cpu).unwrap()
        };
        assert!(failing(&batches).is_empty(), "{operation:?}: a right result is refused");
        for which in 0..batches.len() {
            let (width, mut limbs) = (batches[which].width(), batches[which].to_limbs().unwrap());
            // The limbs of the last number, which has a result.
            let at = limbs.len() - width.limbs();
            limbs[at] ^= 1 << 9;
            let wrong = UintBatch::from_vec(&cpu, width, limbs).unwrap();
            let right = std::mem::replace(&mut batches[which], wrong);
            let found = failing(&batches);
            let expected = if operation.evidence().is_some() { vec![11] } else { vec![] };
            assert_eq!(found, expected, "{operation:?}");
            batches[which] = right;
        }
    }
}
