//! Division on the simulator, compared with division on the CPU.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use warpint_device::Device;
use warpint_natural::limbs::{self, add_assign, compare, mul, sub_assign, trimmed};

use super::{corners, random};
use crate::huge::device::{DeviceProducts, HugeError};

fn divide(products: &mut DeviceProducts, a: &[u64], d: &[u64], p: Option<usize>) -> [Vec<u64>; 2] {
    let device = products.device().clone();
    let (on_device, there) = (device.upload(a).unwrap(), device.upload(d).unwrap());
    let m = trimmed(d).len();
    let quotient = (a.len() + 1).saturating_sub(m);
    let divisor = match p {
        Some(p) => products.divisor_with_block(there.view(..m), p).unwrap(),
        None => products.divisor(there.view(..), quotient).unwrap(),
    };
    let mut q = device.upload(&vec![3; quotient + 1]).unwrap();
    let mut r = device.upload(&vec![3; m]).unwrap();
    products.div_rem(q.cells(..), r.cells(..), on_device.view(..), &divisor).unwrap();
    [q.download().unwrap(), r.download().unwrap()]
}

fn check(products: &mut DeviceProducts, a: &[u64], d: &[u64], p: Option<usize>) {
    let [q, r] = divide(products, a, d, p);
    let (want_q, want_r) = limbs::div_rem(a, d);
    let case = format!("{} by {} words, blocks of {p:?}", a.len(), d.len());
    assert!(
        trimmed(&q) == want_q,
        "{case}: quotient {:x?} {:x?} of {a:x?} {d:x?}",
        trimmed(&q),
        want_q
    );
    assert!(trimmed(&r) == want_r, "{case}: remainder of {a:x?} by {d:x?}");
}

fn products(newton_from: usize) -> DeviceProducts {
    let mut products = DeviceProducts::new(&Device::simulator().unwrap()).unwrap();
    products.newton_from = newton_from;
    products
}

/// The invariant of the module `division`: 2·β^p ≤ β^(2p) − I·D ≤ 9·β^p.
#[test]
fn reciprocals_are_within_their_bounds() {
    let mut products = products(2);
    let device = products.device().clone();
    let rng = &mut ChaCha8Rng::seed_from_u64(11);
    for p in (1..20).chain([31, 32, 33, 64, 100, 257, 600]) {
        let mut least = vec![0; p];
        least[p - 1] = 1 << 63;
        let mut next = least.clone();
        next[0] |= 1;
        let mut cases = vec![least, next, vec![u64::MAX; p]];
        let mut low = vec![0; p];
        low[p - 1] = u64::MAX;
        cases.push(low);
        let mut half = vec![u64::MAX; p];
        half[p - 1] = 1 << 63;
        cases.push(half);
        cases.push(random(rng, p));
        for mut d in cases {
            d[p - 1] |= 1 << 63;
            let there = device.upload(&d).unwrap();
            let found = products.reciprocal(there.view(..)).unwrap().download().unwrap();
            let mut error = vec![0; 2 * p + 2];
            error[2 * p] = 1;
            assert!(!sub_assign(&mut error, &mul(&found, &d)), "{p} words: too large");
            let times = |factor: u64| {
                let mut bound = vec![0; p + 1];
                bound[p] = factor;
                bound
            };
            let error = trimmed(&error);
            assert!(compare(error, &times(2)).is_ge(), "{p} words: {error:x?} of {d:x?}");
            assert!(compare(error, &times(9)).is_le(), "{p} words: {error:x?} of {d:x?}");
        }
    }
}

#[test]
fn quotients_are_those_of_the_cpu() {
    let mut products = products(3);
    let rng = &mut ChaCha8Rng::seed_from_u64(12);
    for (k, m) in [(1, 1), (1, 40), (12, 1), (33, 32), (100, 30), (30, 100)] {
        for kind in [0, 2, 3, 5, 6] {
            let d = match kind {
                0..5 => corners(m)[kind].clone(),
                _ => random(rng, m),
            };
            if trimmed(&d).is_empty() {
                continue;
            }
            let q = if kind % 2 == 0 { vec![u64::MAX; k] } else { random(rng, k) };
            // Dividends around multiples of the divisor.
            let mut a = mul(&q, &d);
            a.push(0);
            check(&mut products, &a, &d, None);
            let mut rest = d.clone();
            sub_assign(&mut rest, &[1]);
            add_assign(&mut a, trimmed(&rest));
            check(&mut products, &a, &d, None);
            add_assign(&mut a, &[1]);
            check(&mut products, &a, &d, None);
        }
    }
}

#[test]
fn blocks_of_all_lengths() {
    let mut products = products(2);
    let rng = &mut ChaCha8Rng::seed_from_u64(13);
    for (k, m) in [(9, 7), (20, 40)] {
        let (q, d) = (random(rng, k), random(rng, m));
        let a = mul(&q, &d);
        for p in [1, 2, 3, m / 2, m - 1, m] {
            check(&mut products, &a, &d, Some(p));
        }
    }
    // Short dividends, and leading zeros of both numbers.
    check(&mut products, &[5], &[7, 8, 9], None);
    check(&mut products, &[0], &[7], None);
    check(&mut products, &[0, 0, 0, 0], &[7, 8], None);
    check(&mut products, &[9, 9, 9, 0, 0, 0], &[7, 8, 0, 0], None);
    let ones = [u64::MAX; 200];
    check(&mut products, &ones, &ones, None);
    check(&mut products, &ones, &ones[..77], None);
}

#[test]
fn division_by_zero_is_refused() {
    let mut products = products(2);
    let zero = products.device().upload(&[0u64; 100]).unwrap();
    let error = products.divisor(zero.view(..), 1).unwrap_err();
    assert!(matches!(error, HugeError::ZeroDivisor));
}

#[test]
fn wrong_quotients_are_noticed() {
    let mut products = products(2);
    let device = products.device().clone();
    let rng = &mut ChaCha8Rng::seed_from_u64(14);
    let (a, d) = (random(rng, 40), random(rng, 20));
    let (there, of_d) = (device.upload(&a).unwrap(), device.upload(&d).unwrap());
    let [mut q, mut r] = [21, 20].map(|words| device.alloc::<u64>(words).unwrap());
    let mut divisor = products.divisor(of_d.view(..), 21).unwrap();
    products.div_rem(q.cells(..), r.cells(..), there.view(..), &divisor).unwrap();
    let is_wrong = |e: &HugeError| matches!(e, HugeError::WrongQuotient { a: 40, d: 20 });
    divisor.residue ^= 1;
    let found = products.div_rem(q.cells(..), r.cells(..), there.view(..), &divisor);
    assert!(is_wrong(&found.unwrap_err()));
    divisor.residue ^= 1;
    // Estimates are far too small.
    divisor.reciprocal.clear().unwrap();
    let found = products.div_rem(q.cells(..), r.cells(..), there.view(..), &divisor);
    assert!(is_wrong(&found.unwrap_err()));
}
