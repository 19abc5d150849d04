//! Compares results on the simulator with the definition.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_arith::field::Field;
use warpint_arith::gfn::Gfn;
use warpint_arith::limbs;
use warpint_device::DeviceError;

use super::*;
use crate::definition;
use crate::gpu::layout::{element_major, limb_major};

/// Returns random elements, many of which have sums and products with long carries.
fn elements<const K: usize>(form: Form, count: usize, seed: u64) -> Vec<[u64; K]> {
    let r = form.radix();
    let rng = &mut ChaCha8Rng::seed_from_u64(seed);
    let mut top = [0; K];
    top[K - 1] = r;
    let mut one = [0; K];
    one[0] = 1;
    let mut high = [0; K];
    high[K - 1] = r - 1;
    let hard = [top, [r - 1; K], one, [0; K], high];
    let mut all = vec![];
    for i in 0..count {
        let drawn = std::array::from_fn(|_| match rng.random_range(0..4) {
            0 => r - 1,
            1 => 0,
            _ => rng.random_range(0..r),
        });
        all.push(if rng.random_range(0..3) == 0 { hard[i % 5] } else { drawn });
    }
    all
}

fn upload<const K: usize>(device: &Device, x: &[[u64; K]]) -> Buffer<u64> {
    device.upload(&limb_major(x.as_flattened(), K)).unwrap()
}

fn download<const K: usize>(x: &Buffer<u64>) -> Vec<[u64; K]> {
    let words = element_major(&x.download().unwrap(), K);
    words.as_chunks::<K>().0.to_vec()
}

/// Returns `batch` vectors of n elements. In each of the first three vectors, all elements are
/// equal: r^k in the first vector, r^k − 1 in the second, and 0 in the third.
fn vectors<const K: usize>(form: Form, n: usize, batch: usize, seed: u64) -> Vec<[u64; K]> {
    let r = form.radix();
    let mut top = [0; K];
    top[K - 1] = r;
    let mut all = elements(form, n * batch, seed);
    for (b, vector) in all.chunks_mut(n).enumerate().take(4) {
        match b {
            0 => vector.fill(top),
            1 => vector.fill([r - 1; K]),
            2 => vector.fill([0; K]),
            _ => {}
        }
    }
    all
}

fn check_convolution<const K: usize>(form: Form, log2: u32, batch: usize) {
    let device = Device::simulator().unwrap();
    let field = Gfn::<K>::new(form).unwrap();
    let plan = SmallPrimes::convolutions(&device, form, log2, batch).unwrap();
    let n = 1 << log2;
    let a = vectors::<K>(form, n, batch, 1);
    let mut b = vectors::<K>(form, n, batch, 2);
    b.rotate_left(n * (batch / 3));
    let mut out = device.alloc(K * n * batch).unwrap();
    plan.convolve_into(&upload(&device, &a), &upload(&device, &b), &mut out).unwrap();
    let found = download::<K>(&out);
    for v in 0..batch {
        let part = v * n..(v + 1) * n;
        let expected = definition::convolve(&field, &a[part.clone()], &b[part.clone()]);
        assert_eq!(found[part], expected, "{form}, 2^{log2} points, vector {v}");
    }
    // A square, in place.
    let mut data = upload(&device, &a);
    let cells = data.cells(..);
    plan.convolve_into(cells, cells, cells).unwrap();
    let expected = definition::convolve(&field, &a[..n], &a[..n]);
    assert_eq!(download::<K>(&data)[..n], expected);
}

fn check_transform<const K: usize>(form: Form, log2: u32, batch: usize) {
    let device = Device::simulator().unwrap();
    let field = Gfn::<K>::new(form).unwrap();
    let plan = SmallPrimes::new(&device, form, log2, batch).unwrap();
    let n = 1 << log2;
    let x = vectors::<K>(form, n, batch, 3);
    let mut data = upload(&device, &x);
    plan.forward(&mut data).unwrap();
    let found = download::<K>(&data);
    let root = field.root_of_unity(log2).unwrap();
    for v in 0..batch {
        let part = v * n..(v + 1) * n;
        let expected = definition::transform(&field, &x[part.clone()], &root);
        assert_eq!(found[part], expected, "{form}, 2^{log2} points, vector {v}");
    }
    let mut out = device.alloc(K * n * batch).unwrap();
    plan.inverse_into(&data, &mut out).unwrap();
    assert_eq!(download::<K>(&out), x, "{form}, 2^{log2} points, and back");
    let times = plan.times(&out, &mut data).unwrap();
    assert!(times.total() >= times.transforms);
    assert_eq!(download::<K>(&data), found);
}

#[test]
fn convolutions() {
    check_convolution::<2>(PRIMES[0], 4, 5);
    check_convolution::<4>(PRIMES[1], 1, 6);
    check_convolution::<8>(PRIMES[2], 3, 5);
    check_convolution::<16>(PRIMES[3], 2, 5);
    check_convolution::<32>(PRIMES[4], 2, 4);
}

#[test]
fn convolutions_of_most_digits() {
    check_convolution::<64>(PRIMES[5], 1, 4);
    check_convolution::<128>(PRIMES[6], 1, 4);
}

#[test]
fn transforms() {
    check_transform::<2>(PRIMES[0], 5, 5);
    check_transform::<4>(PRIMES[1], 4, 5);
    check_transform::<8>(PRIMES[2], 4, 4);
    check_transform::<16>(PRIMES[3], 3, 4);
    check_transform::<32>(PRIMES[4], 1, 4);
}

/// Tests p = 6² + 1 and p = 10² + 1. Their radices are so small that carries pass the highest digit
/// several times.
#[test]
fn small_radices() {
    check_convolution::<2>(Form::minus(3, 1, 2).unwrap(), 3, 40);
    check_convolution::<2>(Form::plus(3, 1, 2).unwrap(), 3, 40);
    check_transform::<2>(Form::minus(3, 1, 2).unwrap(), 1, 40);
    check_transform::<2>(Form::plus(3, 1, 2).unwrap(), 1, 40);
}

#[test]
fn long_vectors() {
    // Two passes of the transforms modulo small primes; checks some outputs.
    let (device, form, log2) = (Device::simulator().unwrap(), PRIMES[0], 13);
    let field = Gfn::<2>::new(form).unwrap();
    let plan = SmallPrimes::new(&device, form, log2, 1).unwrap();
    let x = elements::<2>(form, 1 << log2, 4);
    let mut data = upload(&device, &x);
    plan.forward(&mut data).unwrap();
    let found = download::<2>(&data);
    let root = field.root_of_unity(log2).unwrap();
    for i in [0usize, 1, 2, 4095, 4096, 5000, 8191] {
        let point = field.pow(&root, &[i as u64]);
        assert_eq!(found[i], definition::evaluate(&field, &x, &point), "X_{i}");
    }
}

#[test]
fn ring_there_and_back() {
    let device = Device::simulator().unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(5);
    for (form, log2) in [(PRIMES[0], 3), (PRIMES[2], 11), (PRIMES[4], 2)] {
        let plan = RingTransform::new(&device, form, log2, 2).unwrap();
        let (words, count) = (plan.modulus().len(), plan.elements());
        assert!(limbs::compare(plan.modulus(), &form.modulus()).is_gt());
        let mut numbers = vec![];
        for i in 0..count {
            let mut x = plan.modulus().to_vec();
            let one = [1];
            match i % 7 {
                0 => x.fill(0),
                1 => drop(limbs::sub_assign(&mut x, &one)),
                2 => x = [vec![1], vec![0; words - 1]].concat(),
                _ => {
                    let carry = rng.random_range(1..1 << 20);
                    x.iter_mut().for_each(|word| *word = rng.random());
                    x[words - 1] = 0;
                    x[words - 2] %= (plan.modulus()[words - 2] / carry).max(1);
                }
            }
            numbers.extend(x);
        }
        let data = device.upload(&limb_major(&numbers, words)).unwrap();
        let mut out = device.alloc(data.len()).unwrap();
        plan.transform(&data, &mut out).unwrap();
        // One output by the definition, modulo one prime.
        let field = plan.ntt().fields()[1];
        let p = field.modulus();
        let spectrum = element_major(&out.download().unwrap(), words);
        let (vector, i) = plan.ntt().frequency(37 % count).unwrap_or((0, 0));
        if plan.ntt().frequency(37 % count).is_some() {
            let n = 1usize << log2;
            let root = field.root_of_unity(log2).unwrap();
            let point = field.pow(root, i as u64);
            let x = numbers[vector * n * words..][..n * words].chunks(words);
            let sum = x.rev().fold(0.0, |sum, x| {
                field.reduce(field.mul(sum, point) + field.from_u64(limbs::rem_small(x, p)))
            });
            let found = &spectrum[37 % count * words..][..words];
            assert_eq!(limbs::rem_small(found, p), field.to_u64(sum), "{form}");
        }
        for found in spectrum.chunks(words) {
            assert!(limbs::compare(found, plan.modulus()).is_lt());
        }
        let cells = out.cells(..);
        plan.inverse(cells, cells).unwrap();
        assert_eq!(element_major(&out.download().unwrap(), words), numbers, "{form}");
        assert!(plan.times(&data, &mut out).unwrap().chirps.is_zero());
    }
}

#[test]
fn what_is_refused() {
    let device = Device::simulator().unwrap();
    let form = Form::minus(3, 1, 2).unwrap();
    // 37 − 1 = 36 has roots of order 4.
    let refused = SmallPrimes::new(&device, form, 2, 1).unwrap_err();
    assert_eq!(refused, SmallPrimesError::NoRoot { form, log2: 2 });
    assert!(matches!(
        SmallPrimes::convolutions(&device, form, 25, 1),
        Err(SmallPrimesError::Ntt(_) | SmallPrimesError::Primes(_))
    ));
    let plan = SmallPrimes::convolutions(&device, form, 2, 1).unwrap();
    let mut data = device.alloc::<u64>(8).unwrap();
    let mut short = device.alloc::<u64>(7).unwrap();
    assert_eq!(plan.forward(&mut data), Err(SmallPrimesError::ConvolutionsOnly));
    let data = data.cells(..);
    assert!(matches!(plan.convolve_into(data, &short, data), Err(SmallPrimesError::Length { .. })));
    assert!(matches!(
        plan.convolve_into(data, data, &mut short),
        Err(SmallPrimesError::Length { .. })
    ));
}

/// Tests that buffers that are too small for a kernel are refused before the kernel is launched.
#[test]
fn memory_that_is_too_short_is_refused_before_a_launch() {
    let device = Device::simulator().unwrap();
    let form = Form::minus(3, 1, 2).unwrap();
    let plan = SmallPrimes::convolutions(&device, form, 2, 1).unwrap();
    let work = &mut *plan.work.lock().unwrap();
    let (words, mut out) = (device.alloc(7).unwrap(), device.upload(&[5u64; 7]).unwrap());
    let refused = |work: &mut dyn FnMut() -> Result<(), DeviceError>| {
        let work = std::panic::AssertUnwindSafe(|| drop(work()));
        std::panic::catch_unwind(work).unwrap_err().downcast_ref::<String>().cloned().unwrap()
    };
    let [residues, _] = &mut work.residues;
    let found = refused(&mut || plan.projection.run(&plan.ntt, words.view(..), 4, residues));
    assert_eq!(found, "digits of 7 elements, where a kernel needs 8");
    let found = refused(&mut || plan.carry.run(&work.sums, 4, out.cells(..)));
    assert_eq!(found, "digits of 7 elements, where a kernel needs 8");
    let constants = &plan.constants;
    let found = refused(&mut || plan.columns.run(&plan.ntt, residues, constants, 2, &mut out));
    assert_eq!(found, "sums of 7 elements, where a kernel needs 8");
    assert_eq!(out.download().unwrap(), [5; 7]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn convolutions_of_drawn_elements(seed in any::<u64>()) {
        let device = Device::simulator().unwrap();
        let field = Gfn::<4>::new(PRIMES[1]).unwrap();
        let plan = SmallPrimes::convolutions(&device, PRIMES[1], 3, 1).unwrap();
        let (a, b) = (elements::<4>(PRIMES[1], 8, seed), elements::<4>(PRIMES[1], 8, !seed));
        let mut out = device.alloc(32).unwrap();
        plan.convolve_into(&upload(&device, &a), &upload(&device, &b), &mut out).unwrap();
        prop_assert_eq!(download::<4>(&out), definition::convolve(&field, &a, &b));
    }
}
