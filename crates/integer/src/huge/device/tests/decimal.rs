//! Decimal digits by the simulator, compared with those of the CPU.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_device::Device;
use warpint_natural::limbs::{mul, sub_assign, trimmed};
use warpint_natural::product::{FastProducts, Multiplier};
use warpint_natural::radix::decimal::{format_by, parse_by};

use super::{corners, random};
use crate::huge::device::{DeviceMultiplier, DeviceProducts};

/// Returns 10^k.
fn power_of_ten(k: usize) -> Vec<u64> {
    parse_by(&FastProducts, &[b"1".to_vec(), vec![b'0'; k]].concat())
}

fn check(products: &mut DeviceProducts, x: &[u64]) {
    let device = products.device().clone();
    let want = format_by(&FastProducts, x);
    let there = device.upload(x).unwrap();
    let found = products.format_decimal(there.view(..)).unwrap().unwrap();
    assert!(found == want, "{} words: {} digits, not {}", x.len(), found.len(), want.len());
    let back = products.parse_decimal(&want).unwrap().download().unwrap();
    assert!(trimmed(&back) == trimmed(x), "{} words from digits", x.len());
}

#[test]
fn digits_are_those_of_the_cpu() {
    let mut products = DeviceProducts::new(&Device::simulator().unwrap()).unwrap();
    products.newton_from = 4;
    let rng = &mut ChaCha8Rng::seed_from_u64(21);
    // A leaf has at most 64 groups, about 63 words.
    for words in [1, 2, 50, 62, 63, 64, 126, 300] {
        check(&mut products, &random(rng, words));
        for x in corners(words).into_iter().take(3) {
            check(&mut products, &x);
        }
    }
    // Leading zeros.
    check(&mut products, &[vec![7; 130], vec![0; 70]].concat());
}

#[test]
fn runs_of_zeros_and_nines() {
    let mut products = DeviceProducts::new(&Device::simulator().unwrap()).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(22);
    for digits in [19, 1216, 1217, 2431, 2432, 5000] {
        let power = power_of_ten(digits);
        check(&mut products, &power);
        let mut nines = power.clone();
        sub_assign(&mut nines, &[1]);
        check(&mut products, &nines);
        check(&mut products, &mul(&power, &random(rng, 3)));
    }
}

/// With c = 555…5 added, 444…4 becomes 999…9, whose digits the error bound does not determine.
#[test]
fn unclear_digits_are_refused() {
    let device = Device::simulator().unwrap();
    let mut products = DeviceProducts::new(&device).unwrap();
    let x = parse_by(&FastProducts, &[b'4'; 5000]);
    let there = device.upload(&x).unwrap();
    assert_eq!(products.format_decimal(there.view(..)).unwrap(), None);
    // The multiplier leaves it to the CPU, without a failure.
    let multiplier = DeviceMultiplier::for_tests(&device, 1 << 30, 16);
    assert_eq!(multiplier.format_decimal(&x), None);
    assert_eq!(format_by(&multiplier, &x), [b'4'; 5000]);
    assert_eq!(multiplier.failure(), None);
}

#[test]
fn a_multiplier_divides_and_converts() {
    let device = Device::simulator().unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(23);
    let multiplier = DeviceMultiplier::for_tests(&device, 1 << 30, 16);
    let (a, d) = (random(rng, 120), random(rng, 50));
    let (q, r) = multiplier.div_rem(&a, &d).unwrap();
    assert!((q, r) == warpint_natural::limbs::div_rem(&a, &d));
    assert!(multiplier.div_rem(&a[..60], &d).is_none(), "a short quotient");
    let digits: Vec<u8> =
        (0..3000).map(|i| b'0' + if i == 0 { 7 } else { rng.random_range(0..10) }).collect();
    let number = multiplier.parse_decimal(&digits).unwrap();
    assert!(number == parse_by(&FastProducts, &digits));
    assert!(multiplier.format_decimal(&number).unwrap() == digits);
    assert!(format_by(&multiplier, &number) == digits && parse_by(&multiplier, &digits) == number);
    assert_eq!(multiplier.failure(), None);
    // Little memory: batches are cut, or the CPU does it.
    let enough = DeviceProducts::decimal_bytes(number.len()).unwrap();
    let multiplier = DeviceMultiplier::for_tests(&device, enough, 16);
    assert!(multiplier.format_decimal(&number).unwrap() == digits);
    let multiplier = DeviceMultiplier::for_tests(&device, enough - 1, 16);
    assert_eq!(multiplier.format_decimal(&number), None);
    let multiplier = DeviceMultiplier::for_tests(&device, 1000, 16);
    assert_eq!(multiplier.div_rem(&a, &d), None);
    assert_eq!(multiplier.parse_decimal(&digits), None);
    assert_eq!(multiplier.failure(), None);
}
