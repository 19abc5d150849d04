//! Compares every plan with the definition. Plans on devices run on the simulator.

use std::borrow::BorrowMut;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_arith::f50::F50;
use warpint_arith::field::Field;
use warpint_arith::gfn::{Gfn, PRIMES};
use warpint_arith::goldilocks::Goldilocks;
use warpint_arith::montgomery::known::BN254_SCALAR;
use warpint_device::{Buffer, Device};

use super::{Order, Plan};
use crate::cpu::Transform;
use crate::definition;
use crate::f50::primes;
use crate::gpu::gfn::GfnFft;
use crate::gpu::goldilocks::Ntt64;
use crate::gpu::layout::{WordField, from_words, to_words};
use crate::gpu::ntt::NttRequest;
use crate::gpu::prime::PrimeFft;
use crate::gpu::small_primes::SmallPrimes;
use crate::gpu::spectra::Spectra50;

/// Tests transforms and inverse transforms, in place and into another batch, and a convolution.
/// `upload` converts elements to a batch of the plan, and `download` converts a batch back to
/// elements. `download` may return additional elements at the end.
fn check<F: Field, P: Plan, V: BorrowMut<P::Vectors>>(
    field: &F,
    plan: &P,
    upload: impl Fn(&[F::Element]) -> V,
    download: impl Fn(&P::Vectors) -> Vec<F::Element>,
) {
    let n = plan.points();
    let rng = &mut ChaCha8Rng::seed_from_u64(plan.points() as u64);
    let [x, y] = [0; 2].map(|_| {
        let drawn = (0..plan.batch() * n).map(|_| field.from_u64(rng.random()));
        drawn.collect::<Vec<F::Element>>()
    });
    let root = field.root_of_unity(n.ilog2()).unwrap();
    let spectra: Vec<_> = x.chunks(n).map(|x| definition::transform(field, x, &root)).collect();
    let is_spectrum = |found: &P::Vectors| {
        let found = download(found);
        let mut stand = 0;
        for (place, found) in found.iter().enumerate() {
            let Some((vector, i)) = plan.frequency(place) else { continue };
            assert_eq!(*found, spectra[vector][i], "X_{i} of {vector}");
            stand += 1;
        }
        assert_eq!(stand, x.len());
    };
    let (mut out, mut back) = (upload(&y), upload(&y));
    plan.forward_into(upload(&x).borrow(), out.borrow_mut()).unwrap();
    is_spectrum(out.borrow());
    plan.inverse_into(out.borrow(), back.borrow_mut()).unwrap();
    assert!(download(back.borrow())[..x.len()] == x);
    plan.forward(back.borrow_mut()).unwrap();
    is_spectrum(back.borrow());
    plan.inverse(back.borrow_mut()).unwrap();
    assert!(download(back.borrow())[..x.len()] == x);

    plan.convolve(back.borrow_mut(), upload(&y).borrow_mut()).unwrap();
    let products =
        x.chunks(n).zip(y.chunks(n)).flat_map(|(x, y)| definition::convolve(field, x, y));
    assert!(download(back.borrow())[..x.len()] == products.collect::<Vec<_>>());
}

fn check_on<F: WordField, P: Plan<Vectors = Buffer<F::Word>>>(
    device: &Device,
    field: &F,
    plan: &P,
) {
    let upload = |x: &[F::Element]| {
        let mut words = to_words(field, x);
        words.resize(plan.size(), bytemuck::Zeroable::zeroed());
        device.upload(&words).unwrap()
    };
    let download = |x: &Buffer<F::Word>| from_words(field, &x.download().unwrap()).unwrap();
    check(field, plan, upload, download);
}

#[test]
fn plans_of_devices() {
    let device = Device::simulator().unwrap();
    let gfn = Gfn::<4>::new(PRIMES[1]).unwrap();
    let bn254 = BN254_SCALAR.field().unwrap();
    for (log2, batch) in [(1, 3), (4, 2), (7, 1)] {
        check_on(&device, &gfn, &GfnFft::new(&device, PRIMES[1], log2, batch).unwrap());
        check_on(&device, &bn254, &PrimeFft::new(&device, &bn254, log2, batch).unwrap());
        for order in [Order::Natural, Order::BitReversed] {
            let request = NttRequest::new(1 << log2).batch(batch).order(order);
            let plan = Ntt64::with(&device, request).unwrap();
            check_on(&device, &Goldilocks, &plan);
        }
        let field: F50 = primes(1, log2).unwrap()[0];
        check_on(&device, &field, &Spectra50::new(&device, &[field], log2, batch).unwrap());
    }
    check_on(&device, &gfn, &SmallPrimes::new(&device, PRIMES[1], 3, 2).unwrap());
}

#[test]
fn plans_of_the_cpu() {
    for log2 in [0, 3, 8] {
        let plan = Transform::new(Goldilocks, log2).unwrap();
        check(&Goldilocks, &plan, <[u64]>::to_vec, <[u64]>::to_vec);
        let mut short = vec![0; 1 << log2 >> 1];
        assert!(plan.forward_into(&vec![0; 1 << log2], &mut short).is_err());
    }
}
