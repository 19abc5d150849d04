//! Compares products on the simulator with products on the CPU.

mod batches;
mod decimal;
mod division;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_device::Device;
use warpint_natural::limbs;
use warpint_natural::product::Multiplier;

use super::checks::MOST_PENDING;
use super::{
    DeviceMultiplier, DeviceProducts, Factor, HugeError, Map, RowCells, Rows, Shape, THREADS,
};

/// Returns a product by the device.
fn product(products: &mut DeviceProducts, a: &[u64], b: &[u64]) -> Vec<u64> {
    let device = products.device().clone();
    let [there, other] = [a, b].map(|x| device.upload(x).unwrap());
    let mut out = device.upload(&vec![u64::MAX; a.len() + b.len()]).unwrap();
    products.mul(out.cells(..), there.view(..), other.view(..)).unwrap();
    products.verify().unwrap();
    out.download().unwrap()
}

fn random(rng: &mut ChaCha8Rng, len: usize) -> Vec<u64> {
    (0..len).map(|_| rng.random()).collect()
}

/// Numbers whose products have long carries, zeros, or the largest coefficients.
fn corners(len: usize) -> Vec<Vec<u64>> {
    let mut one = vec![0; len];
    one[0] = 1;
    let mut top = vec![0; len];
    top[len - 1] = 1 << 63;
    let alternating = (0..len).map(|i| if i % 2 == 0 { u64::MAX } else { 0 }).collect();
    vec![vec![u64::MAX; len], vec![0; len], one, top, alternating]
}

#[test]
fn products_are_those_of_the_cpu() {
    let mut products = DeviceProducts::new(&Device::simulator().unwrap()).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(29);
    // Blocks of words end at multiples of THREADS.
    let threads = THREADS as usize;
    for (a, b) in [(1, 1), (1, 2), (3, 200), (threads / 2, threads / 2 + 1), (700, 33), (1, 1100)] {
        let mut cases: Vec<[Vec<u64>; 2]> = vec![[random(rng, a), random(rng, b)]];
        for (x, y) in corners(a).into_iter().zip(corners(b)) {
            cases.push([x.clone(), vec![u64::MAX; b]]);
            cases.push([x, y]);
        }
        for [x, y] in cases {
            assert!(product(&mut products, &x, &y) == limbs::mul(&x, &y), "{a}×{b}: {x:x?} {y:x?}");
        }
    }
}

#[test]
fn squares_are_products() {
    let device = Device::simulator().unwrap();
    let mut products = DeviceProducts::new(&device).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(30);
    for len in [1, 64, 255, 257] {
        for x in corners(len).into_iter().chain([random(rng, len)]) {
            let there = device.upload(&x).unwrap();
            let mut out = device.alloc(2 * len).unwrap();
            products.square(out.cells(..), there.view(..)).unwrap();
            assert!(out.download().unwrap() == limbs::mul(&x, &x), "{len}: {x:x?}");
            products.verify().unwrap();
        }
    }
}

/// A carry that passes through all words of many blocks: (2^(64n) − 1)·(2^(64m) + 1) + … has runs of
/// all ones, and (2^(64n) − 1)² runs of zeros after a carry.
#[test]
fn carries_pass_through_blocks() {
    let mut products = DeviceProducts::new(&Device::simulator().unwrap()).unwrap();
    let n = 2 * THREADS as usize;
    let ones = vec![u64::MAX; n];
    for at in [1, 2, THREADS as usize, n - 1] {
        // x·(2^(64·at) + 1), and x·(2^(64·at) − 1).
        let mut plus = vec![0; at + 1];
        (plus[0], plus[at]) = (1, 1);
        assert!(product(&mut products, &ones, &plus) == limbs::mul(&ones, &plus), "{at}");
        let minus = vec![u64::MAX; at];
        assert!(product(&mut products, &ones, &minus) == limbs::mul(&ones, &minus), "{at}");
    }
}

#[test]
fn a_multiplier_cuts_long_products() {
    let device = Device::simulator().unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(31);
    let [a, b] = [300, 140].map(|len| random(rng, len));
    let whole = DeviceProducts::working_bytes(300, 140).unwrap() + 16 * 440;
    for memory in [whole, whole - 1, whole / 2] {
        let multiplier = DeviceMultiplier::for_tests(&device, memory, 16);
        assert!(multiplier.mul(&a, &b) == limbs::mul(&a, &b), "{memory} bytes");
        assert!(multiplier.mul(&b, &b) == limbs::mul(&b, &b), "{memory} bytes");
        assert_eq!(multiplier.failure(), None);
    }
    // Leading zeros are kept.
    let multiplier = DeviceMultiplier::for_tests(&device, whole, 16);
    let padded: Vec<u64> = b.iter().copied().chain([0; 5]).collect();
    assert!(multiplier.mul(&a, &padded) == limbs::mul(&a, &padded));
}

/// Pieces of unequal lengths, of zeros, and of ones, whose sums carry through all words.
#[test]
fn devices_share_pieces() {
    let devices = [0, 1].map(|_| Device::simulator().unwrap());
    let mut mixed = vec![u64::MAX; 333];
    mixed[60..190].fill(0);
    mixed[300..].fill(7);
    let ones = vec![u64::MAX; 201];
    for (a, b) in [(&mixed, &ones), (&ones, &mixed), (&mixed, &mixed), (&ones, &ones)] {
        let memory = DeviceProducts::working_bytes(64, 64).unwrap() + 16 * 128;
        let multiplier = DeviceMultiplier::for_tests(&devices[0], memory, 16);
        assert!(multiplier.mul(a, b) == limbs::mul(a, b));
        let multiplier = multiplier.with_others(&devices[1..]);
        assert_eq!(multiplier.place(), "sim, sim");
        assert!(multiplier.mul(a, b) == limbs::mul(a, b));
        assert_eq!(multiplier.failure(), None);
    }
}

#[test]
fn without_memory_the_cpu_multiplies() {
    let device = Device::simulator().unwrap();
    let multiplier = DeviceMultiplier::for_tests(&device, 1000, 16);
    let a = vec![u64::MAX; 100];
    assert!(multiplier.mul(&a, &a) == limbs::mul(&a, &a));
    // The device is sound.
    assert_eq!(multiplier.failure(), None);
}

/// Products are verified in the order in which they were computed, also if there are more than wait
/// at a time.
#[test]
fn many_products_are_verified() {
    let device = Device::simulator().unwrap();
    let mut products = DeviceProducts::new(&device).unwrap();
    let a = device.upload(&[u64::MAX; 3]).unwrap();
    let b = device.upload(&[u64::MAX - 1; 2]).unwrap();
    let [mut product, mut square] = [5, 6].map(|len| device.alloc::<u64>(len).unwrap());
    for _ in 0..=MOST_PENDING / 2 {
        products.mul(product.cells(..), a.view(..), b.view(..)).unwrap();
        products.square(square.cells(..), a.view(..)).unwrap();
    }
    assert_eq!(products.checks.pending.len(), 2);
    products.verify().unwrap();
    assert!(products.checks.pending.is_empty());
    products.verify().unwrap();
}

#[test]
fn wrong_products_are_noticed() {
    let device = Device::simulator().unwrap();
    let mut products = DeviceProducts::new(&device).unwrap();
    let a = device.upload(&[u64::MAX; 40]).unwrap();
    let mut out = device.alloc::<u64>(80).unwrap();
    for (at, bit) in [(0, 0), (17, 63), (79, 5)] {
        let factor = Factor::rows(Rows::one(a.view(..)), Map::EACH);
        let shape = Shape::whole(40, 40, 1).unwrap();
        products.multiply(&shape, RowCells::one(out.cells(..)), &[[factor; 2]]).unwrap();
        let mut words = out.download().unwrap();
        words[at] ^= 1 << bit;
        out.upload(&words).unwrap();
        products.submit_check(RowCells::one(out.cells(..)), &[[factor; 2]]).unwrap();
        let error = products.verify().unwrap_err();
        assert!(
            matches!(error, HugeError::Wrong { a: 40, b: 40 }),
            "bit {bit} of word {at}: {error}"
        );
        assert_eq!(error.kind(), warpint_device::ErrorKind::Unsound);
    }
    products.square(out.cells(..), a.view(..)).unwrap();
    products.verify().unwrap();
}

#[test]
fn numbers_that_are_too_long_are_refused() {
    assert_eq!(DeviceProducts::working_bytes(1 << 28, 1 << 28), None);
    let error = HugeError::TooLong { a: 1, b: 2 };
    assert!(error.to_string().starts_with("factors of 1 and of 2 words"));
}
