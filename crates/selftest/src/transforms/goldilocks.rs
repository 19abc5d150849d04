//! Tests transforms and convolutions modulo 2^64 − 2^32 + 1 on a device. Some outputs of each
//! transform are compared with the definition, and inverse transforms must return the inputs.

use rand::RngExt;
use warpint_arith::goldilocks::{CORNERS, Goldilocks, Q, canonical, pow, root_of_unity};
use warpint_device::Device;
use warpint_transform::gpu::goldilocks::{Ntt64, Ntt64Request};
use warpint_transform::{Order, Plan, definition};

use super::plans::Failure;
use crate::sample::random;

/// A case: takes a device and a seed; returns a message if it fails.
pub type Run = fn(&Device, u64) -> Result<(), String>;

/// The names and functions of all cases.
pub const CASES: &[(&str, Run)] = &[
    ("natural_order", |device, seed| transforms(device, seed, Order::Natural)),
    ("bit_reversed_order", |device, seed| transforms(device, seed, Order::BitReversed)),
    ("convolutions", convolutions),
];

/// Lengths, numbers of vectors and words between vectors, on a GPU: of one pass, two and three.
const ON_GPU: [(usize, usize, usize); 12] = [
    (1, 1000, 0),
    (3, 5, 2),
    (5 << 3, 200, 0),
    (1 << 6, 33, 5),
    (1 << 9, 100, 0),
    (1 << 10, 7, 1),
    (1 << 12, 300, 0),
    (5 << 9, 3, 0),
    (1 << 13, 5, 3),
    (3 << 15, 2, 3),
    (1 << 20, 1, 0),
    (5 << 21, 2, 3),
];
const ON_SIMULATOR: [(usize, usize, usize); 4] =
    [(2, 3, 1), (48, 2, 0), (1 << 8, 1, 0), (1 << 13, 1, 0)];

/// The number of outputs of a batch that are compared.
const OUTPUTS: usize = 4;

/// The largest number of points of convolutions, whose definition takes long.
const MOST_OF_CONVOLUTIONS: usize = 1 << 20;

fn sizes(device: &Device) -> &'static [(usize, usize, usize)] {
    let is_simulator = device.info().compute_capability == (0, 0);
    if is_simulator { &ON_SIMULATOR } else { &ON_GPU }
}

fn transforms(device: &Device, seed: u64, order: Order) -> Result<(), String> {
    sizes(device).iter().try_for_each(|&(length, batch, between)| {
        let request = Ntt64Request::new(length).batch(batch).stride(length + between).order(order);
        transform(device, seed + length as u64, request)
            .map_err(|why| format!("{batch} times {length} points, {between} words apart: {why}"))
    })
}

fn transform(device: &Device, seed: u64, request: Ntt64Request) -> Result<(), Failure> {
    let plan = Ntt64::with(device, request).map_err(Failure::plan)?;
    let Ntt64Request { length, batch, stride, .. } = request;
    let x = words(seed, plan.size());
    let mut data = device.upload(&x)?;
    plan.forward(&mut data).map_err(Failure::plan)?;
    let found = data.download()?;
    let root = root_of_unity(length as u64).ok_or(Failure::NoRoot)?;
    let mut rng = random(seed);
    for round in 0..OUTPUTS.min(2 * length) {
        let vector = if round == 0 { batch - 1 } else { rng.random_range(0..batch) };
        let place = vector * stride + rng.random_range(0..length);
        let Some((_, k)) = plan.frequency(place) else { return Err(Failure::NoElement("a place")) };
        let x: Vec<u64> = x[vector * stride..][..length].iter().map(|&x| canonical(x)).collect();
        let expected = definition::evaluate(&Goldilocks, &x, &pow(root, k as u64));
        compare("a transform", place, found[place], expected)?;
    }
    plan.inverse(&mut data).map_err(Failure::plan)?;
    let found = data.download()?;
    for (i, (&found, &x)) in found.iter().zip(&x).enumerate() {
        let expected = if i % stride < length { canonical(x) } else { x };
        compare("an inverse transform", i, found, expected)?;
    }
    Ok(())
}

fn convolutions(device: &Device, seed: u64) -> Result<(), String> {
    let sizes = sizes(device).iter().filter(|(length, ..)| *length <= MOST_OF_CONVOLUTIONS);
    sizes.into_iter().try_for_each(|&(length, batch, between)| {
        let request = Ntt64Request::new(length).batch(batch).stride(length + between);
        convolution(device, seed + length as u64, request)
            .map_err(|why| format!("{batch} times {length} points, {between} words apart: {why}"))
    })
}

/// Compares some elements of cyclic and negacyclic convolutions with the definition.
fn convolution(device: &Device, seed: u64, request: Ntt64Request) -> Result<(), Failure> {
    let plan = Ntt64::with(device, request).map_err(Failure::plan)?;
    let Ntt64Request { length, batch, stride, .. } = request;
    let (x, y) = (words(seed, plan.size()), words(seed + 1, plan.size()));
    for is_negacyclic in [false, true] {
        let (mut a, mut b) = (device.upload(&x)?, device.upload(&y)?);
        let done = if is_negacyclic {
            plan.convolve_negacyclic(&mut a, &mut b)
        } else {
            plan.convolve(&mut a, &mut b)
        };
        done.map_err(Failure::plan)?;
        let found = a.download()?;
        let mut rng = random(seed);
        for round in 0..OUTPUTS.min(2 * length) {
            let vector = if round == 0 { batch - 1 } else { rng.random_range(0..batch) };
            let l = rng.random_range(0..length);
            let part = |x: &[u64]| -> Vec<u128> {
                x[vector * stride..][..length].iter().map(|&x| canonical(x).into()).collect()
            };
            let (x, y, q) = (part(&x), part(&y), u128::from(Q));
            let expected = x.iter().enumerate().fold(0, |sum, (i, x)| {
                let product = x * y[(length + l - i) % length] % q;
                (sum + if is_negacyclic && i > l { q - product } else { product }) % q
            });
            let place = vector * stride + l;
            compare("a convolution", place, found[place], expected as u64)?;
        }
    }
    Ok(())
}

fn compare(what: &'static str, element: usize, found: u64, expected: u64) -> Result<(), Failure> {
    if found == expected {
        return Ok(());
    }
    let [found, expected] = [found, expected].map(|x| format!("{x:#x}"));
    Err(Failure::Word { what, word: 0, element, found, expected })
}

/// Returns random words, among them corners of the field and words that are not less than q.
fn words(seed: u64, count: usize) -> Vec<u64> {
    let mut rng = random(seed);
    let mut word = || match rng.random_range(0..16) {
        0 => CORNERS[rng.random_range(0..CORNERS.len())],
        1 => u64::MAX - u64::from(rng.random_range(0..3u32)),
        _ => rng.random(),
    };
    (0..count).map(|_| word()).collect()
}
