use warpint_device::Device;
use warpint_natural::limbs;

use super::*;

const CPU: fn() -> Executor = Executor::cpu;

fn batch(executor: &Executor, bits: u32, texts: &[&str]) -> UintBatch {
    UintBatch::from_decimal(executor, Width::new(bits).unwrap(), texts.iter().copied()).unwrap()
}

/// A strong pseudoprime to the prime bases below 37 (Arnault 1995, *Rabin–Miller primality test:
/// composite numbers which pass it*, Mathematics of Computation 64, 355–361).
const ARNAULT: &str = "1195068768795265792518361315725116351898245581";

const PRIME_BASES: [u32; 11] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31];

#[test]
fn a_pseudoprime_to_eleven_bases_fails_further_tests() {
    let strong = PrimalityTest::strong(&PRIME_BASES).unwrap();
    let longer = PrimalityTest::strong(&[&PRIME_BASES[..], &[37]].concat()).unwrap();
    let tests = [(&strong, true), (&longer, false), (&strong.clone().with_lucas(), false)];
    for on in [CPU(), Executor::on(Device::simulator().unwrap())] {
        // With leading zeros, and beside a prime and an even number.
        let numbers = batch(&on, 192, &[ARNAULT, "170141183460469231731687303715884105727", "6"]);
        for (test, passes) in tests {
            assert_eq!(numbers.is_probable_prime(test).unwrap(), [passes, true, false]);
        }
        let psw = PrimalityTest::baillie_psw();
        assert_eq!(numbers.is_probable_prime(&psw).unwrap(), [false, true, false]);
    }
}

#[test]
fn bases_that_a_number_divides_exclude_nothing() {
    let primes = ["3", "5", "7", "31", "37", "1009"];
    let numbers = batch(&CPU(), 32, &primes);
    for bases in [&[3, 5, 7][..], &[31 * 37], &[1009, 2018], &[u32::MAX]] {
        let test = PrimalityTest::strong(bases).unwrap().with_trial_division(0);
        assert_eq!(numbers.is_probable_prime(&test).unwrap(), [true; 6], "{bases:?}");
    }
    for base in [0, 1] {
        let refused = PrimalityTest::strong(&[2, base]).unwrap_err();
        assert!(matches!(refused, IntegerError::Base { base: found } if found == base));
    }
    // Without bases only trial division remains: 2047 = 23·89, 1009·1013.
    let none = PrimalityTest::strong(&[]).unwrap();
    let numbers = batch(&CPU(), 32, &["2047", "1022117"]);
    assert_eq!(numbers.is_probable_prime(&none).unwrap(), [false, true]);
    assert_eq!(numbers.is_probable_prime(&none.with_trial_division(1010)).unwrap(), [false, false]);
}

#[test]
fn trial_division_decides_below_the_square_of_its_bound() {
    let oracle = |n: u64| limbs::is_probable_prime(&[n]);
    for bound in [0, 3, 4, 5, 11, 12, 1000] {
        let test = PrimalityTest::baillie_psw().with_trial_division(bound);
        let numbers: Vec<u32> = (0..2000).collect();
        for n in &numbers {
            let found = test.by_trial_division(&[u64::from(*n), 0]);
            assert!(found.is_none_or(|found| found == oracle(u64::from(*n))), "{bound} {n}");
        }
        let batch = UintBatch::from_vec(&CPU(), Width::new(32).unwrap(), numbers).unwrap();
        let found = batch.is_probable_prime(&test).unwrap();
        assert!((0..2000).all(|n| found[n as usize] == oracle(n)), "{bound}");
    }
    // 1009 is the first prime above the bound of trial division.
    let psw = PrimalityTest::baillie_psw();
    assert_eq!(psw.by_trial_division(&[999_983]), Some(true));
    assert_eq!(psw.by_trial_division(&[1009 * 1009]), None);
}

#[test]
fn an_empty_batch_has_no_results() {
    for on in [CPU(), Executor::on(Device::simulator().unwrap())] {
        let none = UintBatch::zeros(&on, 0, Width::new(64).unwrap()).unwrap();
        assert!(none.is_probable_prime(&PrimalityTest::baillie_psw()).unwrap().is_empty());
    }
}
