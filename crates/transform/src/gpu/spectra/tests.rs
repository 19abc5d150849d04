//! Compares transforms on the simulator with the definition.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_arith::primes::{mul_mod, pow_mod};

use super::*;
use crate::f50::primes;

fn residues(rng: &mut ChaCha8Rng, plan: &Spectra50) -> Vec<f64> {
    let mut all = vec![0.0; plan.size()];
    for (field, row) in plan.fields().iter().zip(all.chunks_mut(plan.stride())) {
        let p = field.modulus();
        for (i, x) in row.iter_mut().enumerate() {
            // Inputs are within p.
            *x = match (i / plan.points()) % 3 {
                0 => rng.random_range(-(p as i64)..=p as i64) as f64,
                1 => (p - 1) as f64,
                _ => -(p as f64),
            };
        }
    }
    all
}

fn integers(field: F50, x: &[f64]) -> Vec<u64> {
    x.iter().map(|&x| field.to_u64(x)).collect()
}

/// Returns Σ_j x_j·point^j mod p by Horner's rule. For point = ω^i, the result is output i of a
/// transform.
fn evaluate(x: &[u64], point: u64, p: u64) -> u64 {
    x.iter().rev().fold(0, |sum, &x| (mul_mod(sum, point, p) + x) % p)
}

fn check(log2: u32, most: u32, batch: usize, count: usize) {
    let device = Device::simulator().unwrap();
    let fields = primes(count, log2).unwrap();
    let plan = Spectra50::with_rows(&device, &fields, log2, batch, most).unwrap();
    let rng = &mut ChaCha8Rng::seed_from_u64(u64::from(log2));
    let n = 1 << log2;
    let start = residues(rng, &plan);
    let mut data = device.upload(&start).unwrap();
    plan.forward(&mut data).unwrap();
    let found = data.download().unwrap();
    let mut ordered = device.alloc(plan.size()).unwrap();
    plan.natural(&data, &mut ordered).unwrap();
    let ordered = ordered.download().unwrap();
    for (s, &field) in fields.iter().enumerate() {
        let p = field.modulus();
        let root = field.to_u64(field.root_of_unity(log2).unwrap());
        let x = integers(field, &start[s * plan.stride()..][..batch * n]);
        let some = if n * batch <= 256 { 1 } else { plan.stride() / 61 };
        for place in (0..plan.stride()).step_by(some) {
            let Some((vector, i)) = plan.frequency(place) else { continue };
            let expected = evaluate(&x[vector * n..][..n], pow_mod(root, i as u64, p), p);
            let found = found[s * plan.stride() + place];
            assert_eq!(ordered[s * plan.stride() + vector * n + i], found);
            assert_eq!(found, expected as f64, "2^{log2} points, X_{i} of {vector} mod {p}");
        }
    }
    // Forward and inverse.
    plan.inverse(&mut data).unwrap();
    let back = data.download().unwrap();
    for (s, &field) in fields.iter().enumerate() {
        let part = s * plan.stride()..s * plan.stride() + batch * n;
        assert_eq!(integers(field, &back[part.clone()]), integers(field, &start[part.clone()]));
        assert!(back[part].iter().all(|&x| (0.0..field.modulus() as f64).contains(&x)));
    }
    // A product with itself.
    let mut spectrum = device.upload(&start).unwrap();
    plan.spectrum(&mut spectrum).unwrap();
    let mut data = device.upload(&start).unwrap();
    plan.multiply(&mut data, &spectrum).unwrap();
    let found = data.download().unwrap();
    for (s, &field) in fields.iter().enumerate() {
        let p = field.modulus();
        for vector in 0..batch {
            let part = s * plan.stride() + vector * n..s * plan.stride() + (vector + 1) * n;
            let (x, found) = (integers(field, &start[part.clone()]), &found[part]);
            for l in (0..n).step_by(n.div_ceil(32)) {
                let term = |sum, i: usize| (sum + mul_mod(x[i], x[(n + l - i) % n], p)) % p;
                assert_eq!(
                    found[l],
                    (0..n).fold(0, term) as f64,
                    "2^{log2} points, {l} of {vector}"
                );
            }
        }
    }
}

#[test]
fn one_pass() {
    for (log2, batch) in [(1, 5), (2, 3), (3, 3), (4, 3), (5, 70), (7, 3), (9, 3)] {
        check(log2, 12, batch, 2);
    }
    check(12, 12, 1, 2);
}

#[test]
fn two_passes() {
    for (log2, most, batch) in [(5, 4, 3), (6, 4, 3), (7, 4, 3), (8, 4, 3), (10, 5, 2), (12, 6, 1)]
    {
        check(log2, most, batch, 2);
    }
    check(13, 12, 2, 1);
    check(15, 8, 1, 1);
}

#[test]
fn every_number_of_stages() {
    for log2 in [6, 8, 10, 11] {
        check(log2, 12, 1, 1);
    }
    for columns in 8..=12 {
        check(4 + columns, 4, 1, 1);
    }
}

#[test]
fn a_spectrum_again_and_again() {
    let device = Device::simulator().unwrap();
    for (log2, batch) in [(3, 300), (11, 3), (13, 2)] {
        let fields = primes(2, log2).unwrap();
        let n = 1usize << log2;
        let (plan, fixed) = (
            Spectra50::new(&device, &fields, log2, batch).unwrap(),
            Spectra50::new(&device, &fields, log2, (1 << 11 >> log2).max(1)).unwrap(),
        );
        // x rotated by one.
        let mut shift = vec![0.0; fixed.size()];
        shift.iter_mut().skip(1).step_by(n).for_each(|x| *x = 1.0);
        let mut spectrum = device.upload(&shift).unwrap();
        fixed.spectrum(&mut spectrum).unwrap();
        let start: Vec<f64> = (0..plan.size()).map(|i| i as f64).collect();
        let mut data = device.upload(&start).unwrap();
        plan.multiply(&mut data, &spectrum).unwrap();
        let found = data.download().unwrap();
        for (s, found) in found.chunks(plan.stride()).enumerate() {
            for (i, &x) in found[..batch * n].iter().enumerate() {
                let from = i / n * n + (i + n - 1) % n;
                assert_eq!(x, (s * plan.stride() + from) as f64);
            }
        }
    }
}

#[test]
fn what_is_refused() {
    let device = Device::simulator().unwrap();
    let fields = primes(1, 24).unwrap();
    let wrong = [(0, 1), (25, 1), (3, 0), (24, 257)];
    for (log2, batch) in wrong {
        let refused = Spectra50::new(&device, &fields, log2, batch).unwrap_err();
        assert_eq!(refused, Spectra50Error::Size { log2, batch, primes: 1 });
    }
    assert!(Spectra50::new(&device, &[], 3, 1).is_err());
    let no_root = F50::new((1 << 50) - 27).unwrap();
    let refused = Spectra50::new(&device, &[no_root], 9, 1).unwrap_err();
    assert_eq!(refused, Spectra50Error::NoRoot { prime: (1 << 50) - 27, log2: 9 });
    let plan = Spectra50::new(&device, &fields, 3, 1).unwrap();
    let mut short = device.alloc::<f64>(8).unwrap();
    assert!(matches!(plan.forward(&mut short), Err(Spectra50Error::Length { .. })));
    assert!(matches!(plan.inverse(&mut short), Err(Spectra50Error::Length { .. })));
    let mut data = device.alloc::<f64>(plan.size()).unwrap();
    assert!(matches!(plan.multiply(&mut data, &short), Err(Spectra50Error::Length { .. })));
}

#[test]
#[should_panic(expected = "a spectrum of 2048 elements, where a kernel needs 4096")]
fn a_spectrum_that_is_too_short_is_refused_before_a_launch() {
    let device = Device::simulator().unwrap();
    let plan = Spectra50::new(&device, &primes(2, 3).unwrap(), 3, 1).unwrap();
    let mut data = device.alloc(plan.size()).unwrap();
    let spectrum = device.alloc(2048).unwrap();
    let stride = plan.stride();
    drop(plan.launch_rows(Rows::Multiply, data.cells(..), spectrum.view(..), &plan.one, stride));
}
