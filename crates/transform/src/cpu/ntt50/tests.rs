//! Compares transforms and convolutions with the definition, at all kinds of lengths.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_arith::primes::{mul_mod, pow_mod};

use super::*;
use crate::f50::primes_for_all_lengths;

/// Returns the largest prime, whose bounds are the closest, and the smallest.
fn fields() -> Vec<F50> {
    let all = primes_for_all_lengths(3655).unwrap();
    vec![all[0], all[3654]]
}

fn words(rng: &mut ChaCha8Rng, plan: &CpuNtt50) -> Vec<f64> {
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

fn check(request: NttRequest, outputs: usize) {
    let plan = CpuNtt50::new(&fields(), request).unwrap();
    let NttRequest { length, batch, stride, .. } = request;
    let rng = &mut ChaCha8Rng::seed_from_u64(length as u64);
    let x = words(rng, &plan);
    let field = |place: usize| plan.fields()[place / stride / batch];
    let mut found = x.clone();
    plan.forward(&mut found).unwrap();
    let some = (length / outputs).max(1);
    for (place, (&found, &before)) in found.iter().zip(&x).enumerate() {
        let Some((vector, k)) = plan.frequency(place) else {
            assert_eq!(found, before, "{request:?}: word {place} between vectors");
            continue;
        };
        let (field, p) = (field(place), field(place).modulus());
        assert!((0.0..p as f64).contains(&found), "{request:?}: {found}");
        if (place % stride).is_multiple_of(some) || place % stride == length - 1 {
            let root = field.to_u64(field.root_of_order(length as u64).unwrap());
            let point = pow_mod(root, k as u64, p);
            let x = integers(field, &x[vector * stride..][..length]);
            let sum = x.iter().rev().fold(0, |sum, &x| (mul_mod(sum, point, p) + x) % p);
            assert_eq!(found, sum as f64, "{request:?}: X_{k} of {vector}");
        }
    }
    let mut out = x.clone();
    plan.forward_into(&x, &mut out).unwrap();
    assert!(out == found);
    for (i, x) in found.iter_mut().enumerate().filter(|(i, _)| i % stride < length) {
        *x -= if i.is_multiple_of(3) { field(i).modulus() as f64 } else { 0.0 };
    }
    plan.inverse(&mut found).unwrap();
    for (i, (&found, &x)) in found.iter().zip(&x).enumerate() {
        let expected = if i % stride < length { field(i).to_u64(x) as f64 } else { x };
        assert_eq!(found, expected, "{request:?}: inverse at {i}");
    }
}

#[test]
fn transforms_of_all_lengths() {
    let powers = (0..=13).map(|m| 1 << m).chain([1 << 15, 1 << 16]);
    let odd = (0..=9).flat_map(|m| [3 << m, 5 << m]).chain([3 << 13, 5 << 13]);
    for length in powers.chain(odd) {
        for order in [Order::Natural, Order::BitReversed] {
            let request = NttRequest::new(length).order(order).batch(4).stride(length + 3);
            check(request, if length <= 64 { length } else { 4 });
        }
    }
}

#[test]
fn convolutions() {
    for (length, batch, stride) in [(1, 3, 1), (2, 4, 3), (24, 4, 24), (40, 1, 40), (512, 2, 512)] {
        let request = NttRequest::new(length).batch(batch).stride(stride);
        let plan = CpuNtt50::new(&fields(), request).unwrap();
        let rng = &mut ChaCha8Rng::seed_from_u64(length as u64);
        let (x, y) = (words(rng, &plan), words(rng, &plan));
        for is_negacyclic in [false, true] {
            let (mut a, mut b) = (x.clone(), y.clone());
            if is_negacyclic {
                plan.convolve_negacyclic(&mut a, &mut b).unwrap();
            } else {
                plan.convolve(&mut a, &mut b).unwrap();
            }
            for vector in 0..plan.batch() {
                let field = plan.fields()[vector / batch];
                let p = field.modulus();
                let part = |x: &[f64]| integers(field, &x[vector * stride..][..length]);
                let (x, y) = (part(&x), part(&y));
                for l in 0..length {
                    let term = |i: usize| {
                        let product = mul_mod(x[i], y[(length + l - i) % length], p);
                        if is_negacyclic && i > l { p - product } else { product }
                    };
                    let expected = (0..length).fold(0, |sum, i| (sum + term(i)) % p);
                    let found = a[vector * stride + l];
                    assert_eq!(found, expected as f64, "{request:?}, {is_negacyclic}: {l}");
                }
            }
        }
    }
}

#[test]
fn requests_that_are_refused() {
    let fields = fields();
    let refused = |fields: &[F50], request| CpuNtt50::new(fields, request).unwrap_err();
    assert_eq!(refused(&fields, NttRequest::new(7)), NttError::Length(7));
    assert_eq!(refused(&[], NttRequest::new(8)), NttError::Primes(0));
    let batch = NttError::Batch { batch: 1, length: 8, stride: 7, primes: 2 };
    assert_eq!(refused(&fields, NttRequest::new(8).stride(7)), batch);
    let field = F50::new(warpint_arith::f50::PRIMES[0].0).unwrap();
    let no_root = NttError::NoRoot { prime: field.modulus(), order: 3 };
    assert_eq!(refused(&[field], NttRequest::new(3)), no_root);
    let plan = CpuNtt50::new(&fields, NttRequest::new(8)).unwrap();
    let error = NttError::Words(WrongLength { words: 15, expected: 16 });
    assert_eq!(plan.forward(&mut [0.0; 15]).unwrap_err(), error);
    assert_eq!(plan.convolve(&mut [0.0; 16], &mut [0.0; 15]).unwrap_err(), error);
}
