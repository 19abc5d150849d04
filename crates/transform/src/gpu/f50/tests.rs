//! Compares the kernels, on the simulator, with the definition.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_arith::primes::{mul_mod, pow_mod};
use warpint_device::Device;

use super::*;
use crate::f50::primes_for_all_lengths;
use crate::gpu::WrongLength;
use crate::{Order, Plan};

const ORDERS: [Order; 2] = [Order::Natural, Order::BitReversed];

/// Returns the largest primes, whose bounds are the closest, and one near 2^46.
fn fields(count: usize) -> Vec<F50> {
    let mut fields = primes_for_all_lengths(4).unwrap();
    fields[1] = primes_for_all_lengths(3655).unwrap()[3654];
    fields.truncate(count);
    fields
}

/// Returns words within p for each vector of a plan. All words of some vectors are the largest, with
/// both signs, or have signs at random.
fn words(rng: &mut ChaCha8Rng, plan: &Ntt50) -> Vec<f64> {
    let NttRequest { batch, stride, .. } = plan.request();
    let word = |i: usize| {
        let p = plan.fields()[i / stride / batch].modulus() as i64;
        (match i / stride % 4 {
            0 => rng.random_range(-p..=p),
            1 => p - 1,
            2 => -p,
            _ => [p, -p, 0, 1 - p][rng.random_range(0..4)],
        }) as f64
    };
    (0..plan.size()).map(word).collect()
}

fn integers(field: F50, x: &[f64]) -> Vec<u64> {
    x.iter().map(|&x| field.to_u64(x)).collect()
}

/// Returns output k of the transform of x, by Horner's rule.
fn output(field: F50, x: &[f64], k: usize) -> f64 {
    let p = field.modulus();
    let root = field.to_u64(field.root_of_order(x.len() as u64).unwrap());
    let point = pow_mod(root, k as u64, p);
    let x = integers(field, x);
    x.iter().rev().fold(0, |sum, &x| (mul_mod(sum, point, p) + x) % p) as f64
}

/// Tests transforms of a request, in place and into another buffer, and their inverses. Of each
/// vector, about `outputs` outputs are compared.
fn check(device: &Device, plan: &Ntt50, outputs: usize) {
    let request = plan.request();
    let NttRequest { length, batch, stride, .. } = request;
    let rng = &mut ChaCha8Rng::seed_from_u64(length as u64);
    let x = words(rng, plan);
    assert_eq!(x.len(), (plan.fields().len() * batch - 1) * stride + length);
    let field = |place: usize| plan.fields()[place / stride / batch];
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
        assert!((0.0..field(place).modulus() as f64).contains(&found), "{request:?}: {found}");
        if (place % stride).is_multiple_of(some) || place % stride == length - 1 {
            let expected = output(field(place), &x[vector * stride..][..length], k);
            assert_eq!(found, expected, "{request:?}: X_{k} of {vector}");
            compared += 1;
        }
    }
    assert!(compared >= plan.batch() * outputs.min(length));
    let mut data = device.upload(&x).unwrap();
    plan.forward(&mut data).unwrap();
    assert!(data.download().unwrap() == found, "{request:?} in place");
    let canonical = |(i, &x): (usize, &f64)| {
        if i % stride < length { field(i).to_u64(x) as f64 } else { x }
    };
    let expected: Vec<f64> = x.iter().enumerate().map(canonical).collect();
    plan.inverse(&mut data).unwrap();
    assert!(data.download().unwrap() == expected, "{request:?}: inverse in place");
    let mut back = device.upload(&x).unwrap();
    plan.inverse_into(&to, &mut back).unwrap();
    assert!(back.download().unwrap() == expected, "{request:?}: inverse");
    let mut on_host = x.clone();
    plan.forward_on_host(&mut on_host).unwrap();
    assert!(on_host == found, "{request:?}: on the host");
    // The inverse transform of X_k from −p to p.
    let mut negative: Vec<f64> = found.clone();
    for (i, x) in negative.iter_mut().enumerate().filter(|(i, _)| i % stride < length) {
        *x -= if i.is_multiple_of(3) { field(i).modulus() as f64 } else { 0.0 };
    }
    plan.inverse_on_host(&mut negative).unwrap();
    assert!(negative == expected, "{request:?}: inverse on the host");
}

#[test]
fn transforms_of_one_pass() {
    let device = Device::simulator().unwrap();
    let lengths = (0..=9).map(|m| 1 << m).chain([3, 6, 12, 48, 96, 5, 10, 40, 160]);
    for length in lengths {
        for order in ORDERS {
            let request = NttRequest::new(length).order(order).batch(4).stride(length + 1);
            let plan = Ntt50::over(&device, &fields(2), request).unwrap();
            assert_eq!(plan.passes(), 1);
            check(&device, &plan, length.min(20));
        }
    }
}

#[test]
fn long_lines() {
    let device = Device::simulator().unwrap();
    for length in [1 << 10, 1 << 11, 1 << 12, 3 << 10, 5 << 9] {
        for order in ORDERS {
            let request = NttRequest::new(length).order(order).batch(4);
            check(&device, &Ntt50::over(&device, &fields(1), request).unwrap(), 3);
        }
    }
}

#[test]
fn transforms_of_two_and_three_passes() {
    // With little shared memory, lines are short.
    let device = Device::simulator().unwrap();
    for order in ORDERS {
        for (length, passes, batch) in [(1 << 10, 2, 4), (3 << 9, 2, 4), (5 << 12, 3, 3)] {
            let request = NttRequest::new(length).order(order).batch(batch);
            let plan = Ntt50::with_shared_memory(&device, &fields(2), request, 600).unwrap();
            assert_eq!(plan.passes(), passes);
            check(&device, &plan, 5);
        }
    }
}

#[test]
fn four_primes_at_once() {
    let device = Device::simulator().unwrap();
    let request = NttRequest::new(64).batch(5).stride(70);
    check(&device, &Ntt50::over(&device, &fields(4), request).unwrap(), 64);
    let plan = Ntt50::new(&device, &fields(3), 1 << 13).unwrap();
    assert_eq!((plan.passes(), plan.size(), plan.batch()), (2, 3 << 13, 3));
    check(&device, &plan, 5);
}

#[test]
fn convolutions() {
    let device = Device::simulator().unwrap();
    for (length, batch, stride) in [(1, 3, 1), (2, 2, 3), (8, 4, 9), (24, 4, 24), (40, 1, 40)] {
        for order in ORDERS {
            let request = NttRequest::new(length).batch(batch).stride(stride).order(order);
            let plan = Ntt50::over(&device, &fields(2), request).unwrap();
            let rng = &mut ChaCha8Rng::seed_from_u64(length as u64);
            let (x, y) = (words(rng, &plan), words(rng, &plan));
            for is_negacyclic in [false, true] {
                let mut a = device.upload(&x).unwrap();
                let mut b = device.upload(&y).unwrap();
                if is_negacyclic {
                    plan.convolve_negacyclic(&mut a, &mut b).unwrap();
                } else {
                    plan.convolve(&mut a, &mut b).unwrap();
                }
                let found = a.download().unwrap();
                for vector in 0..plan.batch() {
                    let field = plan.fields()[vector / batch];
                    let p = field.modulus();
                    let part = |x: &[f64]| integers(field, &x[vector * stride..][..length]);
                    let (x, y) = (part(&x), part(&y));
                    let mut expected = vec![0; length];
                    for (i, &x) in x.iter().enumerate() {
                        for (j, &y) in y.iter().enumerate() {
                            let product = mul_mod(x, y, p);
                            let is_negative = is_negacyclic && i + j >= length;
                            let sum = &mut expected[(i + j) % length];
                            *sum = (*sum + if is_negative { p - product } else { product }) % p;
                        }
                    }
                    let expected: Vec<f64> = expected.into_iter().map(|x| x as f64).collect();
                    assert!(
                        found[vector * stride..][..length] == expected,
                        "{request:?}, negacyclic: {is_negacyclic}"
                    );
                }
                assert!(
                    (0..found.len()).filter(|i| i % stride >= length).all(|i| found[i] == x[i])
                );
                // A square, from the vectors themselves.
                let mut squares = device.upload(&x).unwrap();
                let mut by_themselves = device.upload(&x).unwrap();
                plan.square(&mut squares).unwrap();
                plan.convolve(&mut by_themselves, &mut device.upload(&x).unwrap()).unwrap();
                assert!(squares.download().unwrap() == by_themselves.download().unwrap());
            }
        }
    }
}

#[test]
fn sequences_of_passes() {
    let of = |length: usize, order, inverse, shared| {
        Pass::sequence(&F50::COSTS, length, order, inverse, shared)
    };
    for order in ORDERS {
        for m in 0..=30 {
            for f in [1, 3, 5].into_iter().filter(|f| f << m <= 1 << 30) {
                let passes = of(f << m, order, false, 227 << 10);
                assert_eq!(passes.iter().map(Pass::length).product::<usize>(), f << m);
                let least = if m <= 9 {
                    1
                } else if m <= 20 {
                    2
                } else {
                    3
                };
                assert!(passes.len() <= least, "{f}·2^{m}");
                for pass in of(f << m, order, true, 48 << 10) {
                    assert!(pass.shared_bytes() <= 48 << 10, "{pass:?}");
                }
            }
        }
        // Two passes suffice up to 2^24 points.
        assert_eq!(of(1 << 24, order, false, 227 << 10).len(), 2);
        assert_eq!(of(1 << 25, order, false, 227 << 10).len(), 3);
    }
}

#[test]
fn requests_that_are_refused() {
    let device = Device::simulator().unwrap();
    let fields = fields(2);
    for length in [0, 7, 9, 15, 1 << 31, 3 << 29] {
        let error = Ntt50::new(&device, &fields, length).unwrap_err();
        assert_eq!(error, NttError::Length(length));
    }
    let error = Ntt50::new(&device, &[], 8).unwrap_err();
    assert_eq!(error, NttError::Primes(0));
    for (batch, stride) in [(0, 8), (1, 7), (1 << 28, 8), (1 << 27, 1 << 14), (usize::MAX, 8)] {
        let request = NttRequest::new(8).batch(batch).stride(stride);
        let error = Ntt50::over(&device, &fields, request).unwrap_err();
        assert_eq!(error, NttError::Batch { batch, length: 8, stride, primes: 2 });
    }
    // 2^36 divides p − 1 for the first of these primes, 3 does not.
    let field = F50::new(warpint_arith::f50::PRIMES[0].0).unwrap();
    let (prime, length) = (field.modulus(), 3 << 4);
    assert_ne!(prime % 3, 1);
    let error = Ntt50::new(&device, &[fields[0], field], length).unwrap_err();
    assert_eq!(error, NttError::NoRoot { prime, order: length });
    assert!(error.to_string().contains(&prime.to_string()));
    // A prime with roots of order 2^4, and none of order 2^5.
    let field = (1u64 << 46..).step_by(32).find_map(|x| F50::new(x + 17).ok()).unwrap();
    let plan = Ntt50::new(&device, &[field], 16).unwrap();
    let (mut a, mut b) = (device.alloc(16).unwrap(), device.alloc(16).unwrap());
    let error = NttError::NoRoot { prime: field.modulus(), order: 32 };
    assert_eq!(plan.convolve_negacyclic(&mut a, &mut b).unwrap_err(), error);
    plan.convolve(&mut a, &mut b).unwrap();
    let mut short = device.alloc(15).unwrap();
    let error = NttError::Words(WrongLength { words: 15, expected: 16 });
    assert_eq!(plan.forward(&mut short).unwrap_err(), error);
    assert_eq!(plan.forward_on_host(&mut [0.0; 15]).unwrap_err(), error);
    assert_eq!(plan.inverse_into(&a, &mut short).unwrap_err(), error);
}
