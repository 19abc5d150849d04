//! Compares the kernels, on the simulator, with the definition.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_arith::goldilocks::{CORNERS, Goldilocks, Q, canonical, pow, root_of_unity};
use warpint_device::Device;

use super::{Ntt64, NttError, NttRequest, Pass, PassField};
use crate::gpu::WrongLength;
use crate::{Order, Plan, definition};

/// Returns random words, among them corners of the field and words that are not less than q.
fn words(rng: &mut ChaCha8Rng, count: usize) -> Vec<u64> {
    let word = |rng: &mut ChaCha8Rng| match rng.random_range(0..8) {
        0 => CORNERS[rng.random_range(0..CORNERS.len())],
        1 => u64::MAX - u64::from(rng.random_range(0..3u32)),
        2 => Q - 1,
        _ => rng.random(),
    };
    (0..count).map(|_| word(rng)).collect()
}

/// Returns output k of the transform of x, by Horner's rule.
fn output(x: &[u64], k: usize) -> u64 {
    let root = root_of_unity(x.len() as u64).unwrap();
    let x: Vec<u64> = x.iter().map(|&x| canonical(x)).collect();
    definition::evaluate(&Goldilocks, &x, &pow(root, k as u64))
}

/// Tests transforms of a request, in place and into another buffer, and their inverses. Of each
/// vector, about `outputs` outputs are compared.
fn check(device: &Device, request: NttRequest, outputs: usize) {
    let plan = Ntt64::with(device, request).unwrap();
    let NttRequest { length, batch, stride, .. } = request;
    let rng = &mut ChaCha8Rng::seed_from_u64(length as u64);
    let x = words(rng, plan.size());
    assert_eq!(x.len(), (batch - 1) * stride + length);
    let from = device.upload(&x).unwrap();
    let mut to = device.upload(&x).unwrap();
    plan.forward_into(&from, &mut to).unwrap();
    let found = to.download().unwrap();
    let mut compared = 0;
    let some = (length / outputs).max(1);
    for (place, (&found, &before)) in found.iter().zip(&x).enumerate() {
        let Some((vector, k)) = plan.frequency(place) else {
            assert_eq!(found, before, "{request:?}: word {place} between vectors");
            continue;
        };
        assert!(found < Q, "{request:?}: {found}");
        if (place % stride).is_multiple_of(some) || place % stride == length - 1 {
            let expected = output(&x[vector * stride..][..length], k);
            assert_eq!(found, expected, "{request:?}: X_{k} of {vector}");
            compared += 1;
        }
    }
    assert!(compared >= batch * outputs.min(length));
    let mut data = device.upload(&x).unwrap();
    plan.forward(&mut data).unwrap();
    assert!(data.download().unwrap() == found, "{request:?} in place");
    let expected: Vec<u64> = x
        .iter()
        .enumerate()
        .map(|(i, &x)| if i % stride < length { canonical(x) } else { x })
        .collect();
    plan.inverse(&mut data).unwrap();
    assert!(data.download().unwrap() == expected, "{request:?}: inverse in place");
    let mut back = device.upload(&x).unwrap();
    plan.inverse_into(&to, &mut back).unwrap();
    assert!(back.download().unwrap() == expected, "{request:?}: inverse");
    let mut on_host = x.clone();
    plan.forward_on_host(&mut on_host).unwrap();
    assert!(on_host == found, "{request:?}: on the host");
    plan.inverse_on_host(&mut on_host).unwrap();
    assert!(on_host == expected, "{request:?}: inverse on the host");
}

const ORDERS: [Order; 2] = [Order::Natural, Order::BitReversed];

#[test]
fn transforms_of_one_pass() {
    let device = Device::simulator().unwrap();
    let lengths = (0..=9).map(|m| 1 << m).chain([3, 6, 12, 48, 96, 5, 10, 40, 160]);
    for length in lengths {
        for order in ORDERS {
            let request = NttRequest::new(length).order(order);
            assert_eq!(Ntt64::with(&device, request).unwrap().passes(), 1);
            check(&device, request.batch(3).stride(length + 1), length.min(40));
        }
    }
}

#[test]
fn long_lines() {
    let device = Device::simulator().unwrap();
    for length in [1 << 10, 1 << 11, 1 << 12, 3 << 10, 5 << 9] {
        for order in ORDERS {
            check(&device, NttRequest::new(length).order(order), 3);
        }
    }
}

#[test]
fn transforms_of_two_and_three_passes() {
    // With little shared memory, lines are short.
    for order in ORDERS {
        for (length, passes) in [(1 << 10, 2), (3 << 9, 2), (1 << 15, 3), (5 << 12, 3)] {
            check_split(length, order, passes);
        }
    }
}

/// Tests a transform whose lines have at most 2^6 points.
fn check_split(length: usize, order: Order, passes: usize) {
    let device = Device::simulator().unwrap();
    let request = NttRequest::new(length).order(order).batch(2);
    let plan = Ntt64::with_shared_memory(&device, &[Goldilocks], request, 600).unwrap();
    assert_eq!(plan.passes(), passes);
    let rng = &mut ChaCha8Rng::seed_from_u64(length as u64);
    let x = words(rng, plan.size());
    let mut data = device.upload(&x).unwrap();
    plan.forward(&mut data).unwrap();
    let found = data.download().unwrap();
    for place in [0, 1, length / 3, length - 1, length, length + 7, 2 * length - 2] {
        let (vector, k) = plan.frequency(place).unwrap();
        assert_eq!(found[place], output(&x[vector * length..][..length], k), "X_{k} of {length}");
    }
    plan.inverse(&mut data).unwrap();
    assert!(data.download().unwrap().iter().zip(&x).all(|(&found, &x)| found == canonical(x)));
}

#[test]
fn convolutions() {
    let device = Device::simulator().unwrap();
    for (length, batch, stride) in
        [(1, 3, 1), (2, 2, 3), (8, 3, 9), (24, 2, 24), (64, 2, 70), (40, 1, 40)]
    {
        for order in ORDERS {
            let request = NttRequest::new(length).batch(batch).stride(stride).order(order);
            let plan = Ntt64::with(&device, request).unwrap();
            let rng = &mut ChaCha8Rng::seed_from_u64(length as u64);
            let (x, y) = (words(rng, plan.size()), words(rng, plan.size()));
            for is_negacyclic in [false, true] {
                let mut a = device.upload(&x).unwrap();
                let mut b = device.upload(&y).unwrap();
                if is_negacyclic {
                    plan.convolve_negacyclic(&mut a, &mut b).unwrap();
                } else {
                    plan.convolve(&mut a, &mut b).unwrap();
                }
                let found = a.download().unwrap();
                for vector in 0..batch {
                    let part = |x: &[u64]| -> Vec<u128> {
                        x[vector * stride..][..length]
                            .iter()
                            .map(|&x| u128::from(canonical(x)))
                            .collect()
                    };
                    let (x, y, q) = (part(&x), part(&y), u128::from(Q));
                    let mut expected = vec![0; length];
                    for (i, x) in x.iter().enumerate() {
                        for (j, y) in y.iter().enumerate() {
                            let product = x * y % q;
                            let is_negative = is_negacyclic && i + j >= length;
                            let sum = &mut expected[(i + j) % length];
                            *sum = (*sum + if is_negative { q - product } else { product }) % q;
                        }
                    }
                    let found: Vec<u128> =
                        found[vector * stride..][..length].iter().map(|&x| x.into()).collect();
                    assert!(found == expected, "{request:?}, negacyclic: {is_negacyclic}");
                }
                // Words between the vectors stay as they are.
                assert!(
                    (0..found.len()).filter(|i| i % stride >= length).all(|i| found[i] == x[i])
                );
            }
        }
    }
}

#[test]
fn sequences_of_passes() {
    let lines = |length: usize, order| -> Vec<usize> {
        Pass::sequence(&Goldilocks::COSTS, length, order, false, 227 << 10)
            .iter()
            .map(Pass::length)
            .collect()
    };
    for order in ORDERS {
        for m in 0..=30 {
            for f in [1, 3, 5].into_iter().filter(|f| f << m <= 1 << 30) {
                let lines = lines(f << m, order);
                assert_eq!(lines.iter().product::<usize>(), f << m);
                assert!(lines.len() <= 3, "{lines:?}");
                for (inverse, shared) in [(false, 227 << 10), (true, 227 << 10), (true, 48 << 10)] {
                    for pass in Pass::sequence(&Goldilocks::COSTS, f << m, order, inverse, shared) {
                        assert!(pass.shared_bytes() <= shared, "{pass:?}");
                        assert!(pass.length() <= 1 << 12);
                    }
                }
            }
        }
        assert_eq!(lines(1 << 20, order).len(), 2);
        assert_eq!(lines(1 << 22, order).len(), 2);
        assert_eq!(lines(1 << 26, order).len(), 3);
    }
    // Decimation in time begins with the last pass.
    let passes = Pass::sequence(&Goldilocks::COSTS, 1 << 20, Order::BitReversed, true, 227 << 10);
    assert_eq!((passes[0].inner, passes[0].scaled, passes[1].scaled), (1, false, true));
}

#[test]
fn requests_that_are_refused() {
    let device = Device::simulator().unwrap();
    for length in [0, 7, 9, 15, 1 << 31, 3 << 29, usize::MAX] {
        let error = Ntt64::new(&device, length).unwrap_err();
        assert_eq!(error, NttError::Length(length));
        assert!(error.to_string().contains("3·2^k"));
    }
    for (batch, stride) in [(0, 8), (1, 7), (1 << 29, 8), (1 << 28, 1 << 13), (usize::MAX, 8)] {
        let error = Ntt64::with(&device, NttRequest::new(8).batch(batch).stride(stride));
        assert_eq!(error.unwrap_err(), NttError::Batch { batch, length: 8, stride, primes: 1 });
    }
    let plan = Ntt64::with(&device, NttRequest::new(8).batch(2).stride(10)).unwrap();
    let mut short = device.alloc(17).unwrap();
    let error = NttError::Words(WrongLength { words: 17, expected: 18 });
    assert_eq!(plan.forward(&mut short).unwrap_err(), error);
    assert_eq!(plan.forward_on_host(&mut [0; 17]).unwrap_err(), error);
    let mut right = device.alloc(18).unwrap();
    assert_eq!(plan.convolve_negacyclic(&mut right, &mut short).unwrap_err(), error);
    assert_eq!(plan.inverse_into(&right, &mut short).unwrap_err(), error);
}
