//! Tests that right results pass the checks. Also tests that if one bit or flag of a result is
//! changed, this result fails and all other results pass.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_device::Device;

use super::*;
use crate::{Executor, Width};

type Random = ChaCha8Rng;

const NONE: [usize; 0] = [];

/// The results of an operation and the function that checks them.
struct Case<'a> {
    name: &'static str,
    results: Vec<UintBatch>,
    flags: Vec<u8>,
    check: Check<'a>,
}

type Check<'a> = Box<dyn Fn(&[UintBatch], &[u8]) -> Vec<usize> + 'a>;

fn width(limbs: usize) -> Width {
    Width::new(32 * limbs as u32).unwrap()
}

fn batch(limbs: usize, numbers: Vec<u32>) -> UintBatch {
    UintBatch::from_vec(&Executor::cpu(), width(limbs), numbers).unwrap()
}

/// Returns numbers of random lengths. Some numbers are 0 or 1, and some numbers divide other
/// numbers.
fn drawn(rng: &mut Random, limbs: usize, count: usize) -> UintBatch {
    let mut all = vec![];
    for _ in 0..count {
        let used = rng.random_range(0..=limbs);
        let mut row: Vec<u32> = (0..limbs).map(|_| rng.random()).collect();
        row[used..].fill(0);
        if rng.random_ratio(1, 3) {
            row[0] &= 0xff00;
        }
        all.extend(row);
    }
    batch(limbs, all)
}

/// Returns the results of every operation on a, b and m, with their checks. `on` computes the
/// witnesses.
fn cases<'a>([a, b, m]: [&'a UintBatch; 3], on: &'a Executor) -> Vec<Case<'a>> {
    let (sum, carries) = a.add(b).unwrap();
    let (difference, borrows) = a.sub(b).unwrap();
    let ((q, r), by_zero) = a.div_rem(b).unwrap();
    let (root, rest) = a.sqrt_rem().unwrap();
    let (inverse, none) = a.mod_inv(m).unwrap();
    let (power, zero) = a.pow_mod(b, m).unwrap();
    let all: Vec<usize> = (0..power.count()).collect();
    let case = |name, results, flags, check: Check<'a>| Case { name, results, flags, check };
    let flags = |flags: crate::Flags| flags.to_vec().unwrap();
    vec![
        case(
            "add",
            vec![sum],
            flags(carries),
            Box::new(|r, f| sums(a, b, &r[0], Some(f)).unwrap()),
        ),
        case(
            "sub",
            vec![difference],
            flags(borrows),
            Box::new(|r, f| differences(a, b, &r[0], Some(f)).unwrap()),
        ),
        case(
            "mul",
            vec![a.mul(b).unwrap()],
            vec![],
            Box::new(|r, _| products(a, b, &r[0]).unwrap()),
        ),
        case(
            "square",
            vec![a.square().unwrap()],
            vec![],
            Box::new(|r, _| squares(a, &r[0]).unwrap()),
        ),
        case(
            "mul_low",
            vec![a.mul_low(b).unwrap()],
            vec![],
            Box::new(|r, _| low_products(a, b, &r[0], on).unwrap()),
        ),
        case(
            "div_rem",
            vec![q, r],
            flags(by_zero),
            Box::new(|r, f| quotients(a, b, &r[0], &r[1], f).unwrap()),
        ),
        case(
            "sqrt_rem",
            vec![root, rest],
            vec![],
            Box::new(|r, _| square_roots(a, &r[0], &r[1]).unwrap()),
        ),
        case(
            "gcd",
            vec![a.gcd(b).unwrap()],
            vec![],
            Box::new(|r, _| divisors(a, b, &r[0], on).unwrap()),
        ),
        case(
            "mod_inv",
            vec![inverse],
            flags(none),
            Box::new(|r, f| inverses(a, m, &r[0], f, on).unwrap()),
        ),
        case(
            "pow_mod",
            vec![power],
            flags(zero),
            Box::new(move |r, f| powers([a, b, m], &r[0], f, &all).unwrap()),
        ),
    ]
}

/// Changes one random bit or flag at a time in the results of each case, and asserts that exactly
/// the changed result fails the check.
fn changes_are_found(rng: &mut Random, operands: [&UintBatch; 3], on: &Executor, changes: usize) {
    for case in cases(operands, on) {
        let name = case.name;
        let check = |results: &[UintBatch], flags: &[u8]| (case.check)(results, flags);
        assert_eq!(check(&case.results, &case.flags), NONE, "{name}: right results");
        for which in 0..case.results.len() {
            let limbs = case.results[which].width().limbs();
            for _ in 0..changes {
                let i = rng.random_range(0..case.results[which].count());
                let bit = rng.random_range(0..32 * limbs);
                let mut data = case.results[which].to_limbs().unwrap();
                data[i * limbs + bit / 32] ^= 1 << (bit % 32);
                let copies = case.results.iter().map(|r| r.try_clone().unwrap());
                let mut changed: Vec<UintBatch> = copies.collect();
                changed[which] = batch(limbs, data);
                let found = check(&changed, &case.flags);
                assert_eq!(found, [i], "{name}: bit {bit} of result {i}, {which}");
            }
        }
        for _ in 0..changes.min(case.flags.len()) {
            let i = rng.random_range(0..case.flags.len());
            for value in [1 - case.flags[i], 2, 255] {
                let mut flags = case.flags.clone();
                flags[i] = value;
                assert_eq!(check(&case.results, &flags), [i], "{name}: flag {i} is {value}");
            }
        }
    }
}

#[test]
fn every_changed_bit_is_found() {
    let cpu = Executor::cpu();
    let seed = rand::rng().random();
    println!("seed {seed}");
    let mut rng = Random::seed_from_u64(seed);
    for (n, k, l) in [(1, 1, 1), (2, 3, 1), (5, 2, 4), (33, 16, 7), (70, 70, 70)] {
        let [a, b, m] = [n, k, l].map(|limbs| drawn(&mut rng, limbs, 40));
        changes_are_found(&mut rng, [&a, &b, &m], &cpu, 12);
        let one = drawn(&mut rng, k, 1);
        changes_are_found(&mut rng, [&a, &one, &one], &cpu, 4);
        changes_are_found(&mut rng, [&one, &b, &m], &cpu, 4);
    }
}

/// Tests that changed bits are found if a simulated device computes the witnesses.
#[test]
fn every_changed_bit_is_found_with_the_simulator() {
    let on = Executor::on(Device::simulator().unwrap());
    let mut rng = Random::seed_from_u64(7);
    let [a, b, m] = [4, 3, 3].map(|limbs| drawn(&mut rng, limbs, 30));
    changes_are_found(&mut rng, [&a, &b, &m], &on, 3);
}

/// Tests that the checks fail if all results and flags are zeros, as a failed device may leave
/// them.
#[test]
fn zeros_are_found() {
    let cpu = Executor::cpu();
    let mut rng = Random::seed_from_u64(8);
    // No operand is zero and no divisor exceeds its dividend.
    let mut numbers = |limbs: usize| {
        let limb = |j: usize| if j + 1 == limbs { 1 << 31 } else { 1 };
        let data = (0..20 * limbs).map(|j| rng.random::<u32>() | limb(j % limbs));
        batch(limbs, data.collect())
    };
    let (a, b) = (numbers(6), numbers(5));
    for case in cases([&a, &b, &b], &cpu) {
        let zeros =
            case.results.iter().map(|r| UintBatch::zeros(&cpu, r.count(), r.width()).unwrap());
        let found = (case.check)(&zeros.collect::<Vec<_>>(), &vec![0; case.flags.len()]);
        let all: Vec<usize> = (0..20).collect();
        assert_eq!(found, all, "{}", case.name);
    }
}

/// Tests that results fail if they satisfy only some of the conditions of a check.
#[test]
fn every_condition_counts() {
    let cpu = Executor::cpu();
    let of = |x: u32| batch(1, vec![x]);
    // 17 = 2·7 + 3 = 1·7 + 10.
    let flags = [0];
    assert_eq!(quotients(&of(17), &of(7), &of(2), &of(3), &flags).unwrap(), NONE);
    assert_eq!(quotients(&of(17), &of(7), &of(1), &of(10), &flags).unwrap(), [0]);
    assert_eq!(quotients(&of(17), &of(0), &of(0), &of(17), &[1]).unwrap(), [0]);
    assert_eq!(quotients(&of(17), &of(0), &of(0), &of(0), &[1]).unwrap(), NONE);
    // 24 = 4² + 8 = 3² + 15.
    assert_eq!(square_roots(&of(24), &of(4), &of(8)).unwrap(), NONE);
    assert_eq!(square_roots(&of(24), &of(3), &of(15)).unwrap(), [0]);
    // 6 and 12 divide both; only 12 is the greatest divisor.
    assert_eq!(divisors(&of(24), &of(36), &of(12), &cpu).unwrap(), NONE);
    assert_eq!(divisors(&of(24), &of(36), &of(6), &cpu).unwrap(), [0]);
    assert_eq!(divisors(&of(24), &of(36), &of(24), &cpu).unwrap(), [0]);
    assert_eq!(divisors(&of(0), &of(0), &of(0), &cpu).unwrap(), NONE);
    assert_eq!(divisors(&of(0), &of(5), &of(0), &cpu).unwrap(), [0]);
    // 3·12 ≡ 1 mod 7, but 12 is not reduced. 3 has no inverse mod 9; 2 has one.
    assert_eq!(inverses(&of(3), &of(7), &of(5), &[0], &cpu).unwrap(), NONE);
    assert_eq!(inverses(&of(3), &of(7), &of(12), &[0], &cpu).unwrap(), [0]);
    assert_eq!(inverses(&of(3), &of(9), &of(0), &[1], &cpu).unwrap(), NONE);
    assert_eq!(inverses(&of(2), &of(9), &of(0), &[1], &cpu).unwrap(), [0]);
    assert_eq!(inverses(&of(2), &of(0), &of(0), &[1], &cpu).unwrap(), NONE);
    assert_eq!(inverses(&of(2), &of(1), &of(0), &[0], &cpu).unwrap(), NONE);
    assert_eq!(inverses(&of(2), &of(1), &of(1), &[0], &cpu).unwrap(), [0]);
    // 2^5 mod 7 = 4; without a sample any number below 7 passes.
    let operands = [2, 5, 7].map(of);
    let of_powers =
        |r: u32, sample: &[usize]| powers(operands.each_ref(), &of(r), &[0], sample).unwrap();
    assert_eq!((of_powers(4, &[0]), of_powers(3, &[])), (vec![], vec![]));
    assert_eq!((of_powers(3, &[0]), of_powers(7, &[])), (vec![0], vec![0]));
}

/// Tests that the check of primes refuses results that are neither 0 nor 1, results that trial
/// division contradicts, and other wrong results if they are in the sample.
#[test]
fn wrong_primes_are_found() {
    let test = crate::PrimalityTest::baillie_psw();
    // 4,294,967,291 and 1009 are primes, 1009·1013 and 999·1001 are composite.
    let a = batch(1, vec![4_294_967_291, 1009, 1009 * 1013, 999 * 1001, 0, 1]);
    let right = [1, 1, 0, 0, 0, 0];
    let found = |results: &[u32], sample: &[usize]| {
        let results = batch(1, results.to_vec());
        super::probable_primes(&a, &results, sample, &test).unwrap()
    };
    let all: Vec<usize> = (0..6).collect();
    assert_eq!(found(&right, &[]), NONE);
    assert_eq!(found(&right, &all), NONE);
    for i in 0..6 {
        for wrong in [1 - right[i], 2, 1 << 31] {
            let mut results = right;
            results[i] = wrong;
            assert_eq!(found(&results, &all), [i], "{i} {wrong}");
            // Trial division decides all but the numbers 0 and 2.
            let passes = wrong < 2 && (i == 0 || i == 2);
            assert_eq!(found(&results, &[]).is_empty(), passes, "{i} {wrong}");
        }
    }
    let refused = |results: Vec<u32>, sample: &[usize]| {
        super::probable_primes(&a, &batch(1, results), sample, &test).unwrap_err()
    };
    assert!(matches!(refused(vec![1; 5], &[]), IntegerError::Counts { a: 6, b: 5 }));
    assert!(matches!(refused(vec![1; 6], &[6]), IntegerError::Counts { a: 6, b: 6 }));
}

#[test]
fn batches_that_do_not_fit_are_refused() {
    let of = |count: usize| batch(1, vec![1; count]);
    let refused = products(&of(2), &of(3), &of(3)).unwrap_err();
    assert!(matches!(refused, IntegerError::Counts { a: 3, b: 2 }));
    let refused = sums(&of(3), &of(3), &of(3), Some(&[0; 2])).unwrap_err();
    assert!(matches!(refused, IntegerError::Counts { a: 3, b: 2 }));
    let refused = powers([&of(1), &of(1), &of(1)], &of(1), &[0], &[1]).unwrap_err();
    assert!(matches!(refused, IntegerError::Counts { a: 1, b: 1 }));
    let there = of(3).to(&Executor::on(Device::simulator().unwrap())).unwrap();
    assert!(matches!(products(&there, &of(3), &of(3)), Err(IntegerError::Places)));
}
