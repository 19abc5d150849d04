//! Tests transforms and convolutions modulo 2^64 − 2^32 + 1, and modulo two primes below 2^50 at once, on
//! a device. Some outputs of each transform are compared with the definition, and inverse transforms must
//! return the inputs.

use std::fmt::Display;

use bytemuck::Pod;
use rand::RngExt;
use warpint_arith::f50::F50;
use warpint_arith::goldilocks::{CORNERS, Goldilocks, Q, canonical, root_of_unity};
use warpint_arith::primes::{mul_mod, pow_mod};
use warpint_device::Device;
use warpint_transform::f50::primes_for_all_lengths;
use warpint_transform::gpu::ntt::{Ntt, NttField, NttRequest};
use warpint_transform::{Order, Plan};

use super::plans::Failure;
use crate::sample::{Random, random};

/// A case: takes a device and a seed; returns a message if it fails.
pub type Run = fn(&Device, u64) -> Result<(), String>;

/// The names and functions of all cases modulo 2^64 − 2^32 + 1.
pub const GOLDILOCKS: &[(&str, Run)] = &[
    ("natural_order", |device, seed| transforms::<Goldilocks>(device, seed, Order::Natural)),
    ("bit_reversed_order", |device, seed| {
        transforms::<Goldilocks>(device, seed, Order::BitReversed)
    }),
    ("convolutions", convolutions::<Goldilocks>),
];

/// The names and functions of all cases modulo primes below 2^50.
pub const F50_PRIMES: &[(&str, Run)] = &[
    ("natural_order", |device, seed| transforms::<F50>(device, seed, Order::Natural)),
    ("bit_reversed_order", |device, seed| transforms::<F50>(device, seed, Order::BitReversed)),
    ("convolutions", convolutions::<F50>),
];

/// A field with transforms on devices, whose words stand for integers modulo a prime.
trait Tested: NttField<Word = <Self as Tested>::Number> {
    /// A word.
    type Number: Pod + PartialEq + Display;

    /// Returns the fields of a plan.
    fn fields() -> Result<Vec<Self>, Failure>;
    /// Returns the modulus.
    fn modulus(&self) -> u64;
    /// Returns the root of unity of order n.
    fn root_of(&self, n: u64) -> Option<u64>;
    /// Returns a word that a transform accepts, at random or a corner.
    fn draw(&self, rng: &mut Random) -> Self::Number;
    /// Returns the integer from 0 to p − 1 for which a word stands.
    fn integer(&self, word: Self::Number) -> u64;
    /// Returns the word that stands for an integer from 0 to p − 1.
    fn word(&self, x: u64) -> Self::Number;
}

impl Tested for Goldilocks {
    type Number = u64;

    fn fields() -> Result<Vec<Self>, Failure> {
        Ok(vec![Self])
    }

    fn modulus(&self) -> u64 {
        Q
    }

    fn root_of(&self, n: u64) -> Option<u64> {
        root_of_unity(n)
    }

    /// Among the words are some that are not less than q.
    fn draw(&self, rng: &mut Random) -> u64 {
        match rng.random_range(0..16) {
            0 => CORNERS[rng.random_range(0..CORNERS.len())],
            1 => u64::MAX - u64::from(rng.random_range(0..3u32)),
            _ => rng.random(),
        }
    }

    fn integer(&self, word: u64) -> u64 {
        canonical(word)
    }

    fn word(&self, x: u64) -> u64 {
        x
    }
}

impl Tested for F50 {
    type Number = f64;

    fn fields() -> Result<Vec<Self>, Failure> {
        primes_for_all_lengths(2).map_err(Failure::plan)
    }

    fn modulus(&self) -> u64 {
        F50::modulus(self)
    }

    fn root_of(&self, n: u64) -> Option<u64> {
        self.root_of_order(n).map(|root| self.to_u64(root))
    }

    /// Words are from −p to p. A quarter of them are the largest.
    fn draw(&self, rng: &mut Random) -> f64 {
        let p = F50::modulus(self) as i64;
        (match rng.random_range(0..8) {
            0 => p,
            1 => -p,
            _ => rng.random_range(-p..=p),
        }) as f64
    }

    fn integer(&self, word: f64) -> u64 {
        self.to_u64(word)
    }

    fn word(&self, x: u64) -> f64 {
        x as f64
    }
}

/// Lengths, numbers of vectors and words between vectors, on a GPU: of one pass, two and three.
const ON_GPU: [(usize, usize, usize); 13] = [
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
    (3 << 23, 1, 0),
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

fn transforms<F: Tested>(device: &Device, seed: u64, order: Order) -> Result<(), String> {
    sizes(device).iter().try_for_each(|&(length, batch, between)| {
        let request = NttRequest::new(length).batch(batch).stride(length + between).order(order);
        transform::<F>(device, seed + length as u64, request)
            .map_err(|why| format!("{batch} times {length} points, {between} words apart: {why}"))
    })
}

/// A plan with the words of a batch.
struct Batch<F: Tested> {
    plan: Ntt<F>,
    request: NttRequest,
}

impl<F: Tested> Batch<F> {
    fn new(device: &Device, request: NttRequest) -> Result<Self, Failure> {
        let plan = Ntt::over(device, &F::fields()?, request).map_err(Failure::plan)?;
        Ok(Self { plan, request })
    }

    /// Returns the field of a vector.
    fn field(&self, vector: usize) -> &F {
        &self.plan.fields()[vector / self.request.batch]
    }

    /// Returns random words.
    fn words(&self, seed: u64) -> Vec<F::Number> {
        let mut rng = random(seed);
        let stride = self.request.stride;
        (0..self.plan.size()).map(|i| self.field(i / stride).draw(&mut rng)).collect()
    }

    /// Returns the integers of a vector.
    fn integers(&self, x: &[F::Number], vector: usize) -> Vec<u64> {
        let NttRequest { length, stride, .. } = self.request;
        let field = self.field(vector);
        x[vector * stride..][..length].iter().map(|&x| field.integer(x)).collect()
    }

    /// Returns the vector of a round of comparisons: first the last one, then any.
    fn vector(&self, round: usize, rng: &mut Random) -> usize {
        let count = self.plan.batch();
        if round == 0 { count - 1 } else { rng.random_range(0..count) }
    }
}

fn transform<F: Tested>(device: &Device, seed: u64, request: NttRequest) -> Result<(), Failure> {
    let batch = Batch::<F>::new(device, request)?;
    let NttRequest { length, stride, .. } = request;
    let x = batch.words(seed);
    let mut data = device.upload(&x)?;
    batch.plan.forward(&mut data).map_err(Failure::plan)?;
    let found = data.download()?;
    let mut rng = random(seed);
    for round in 0..OUTPUTS.min(2 * length) {
        let vector = batch.vector(round, &mut rng);
        let place = vector * stride + rng.random_range(0..length);
        let Some((_, k)) = batch.plan.frequency(place) else {
            return Err(Failure::NoElement("a place"));
        };
        let (field, p) = (batch.field(vector), batch.field(vector).modulus());
        let root = field.root_of(length as u64).ok_or(Failure::NoRoot)?;
        let point = pow_mod(root, k as u64, p);
        let sum = |sum, &x: &u64| add_mod(mul_mod(sum, point, p), x, p);
        let expected = batch.integers(&x, vector).iter().rev().fold(0, sum);
        compare("a transform", place, found[place], field.word(expected))?;
    }
    batch.plan.inverse(&mut data).map_err(Failure::plan)?;
    let found = data.download()?;
    for (i, (&found, &x)) in found.iter().zip(&x).enumerate() {
        let field = batch.field(i / stride);
        let expected = if i % stride < length { field.word(field.integer(x)) } else { x };
        compare("an inverse transform", i, found, expected)?;
    }
    Ok(())
}

fn convolutions<F: Tested>(device: &Device, seed: u64) -> Result<(), String> {
    let sizes = sizes(device).iter().filter(|(length, ..)| *length <= MOST_OF_CONVOLUTIONS);
    sizes.into_iter().try_for_each(|&(length, batch, between)| {
        let request = NttRequest::new(length).batch(batch).stride(length + between);
        convolution::<F>(device, seed + length as u64, request)
            .map_err(|why| format!("{batch} times {length} points, {between} words apart: {why}"))
    })
}

/// Compares some elements of cyclic and negacyclic convolutions with the definition.
fn convolution<F: Tested>(device: &Device, seed: u64, request: NttRequest) -> Result<(), Failure> {
    let batch = Batch::<F>::new(device, request)?;
    let NttRequest { length, stride, .. } = request;
    let (x, y) = (batch.words(seed), batch.words(seed + 1));
    for is_negacyclic in [false, true] {
        let (mut a, mut b) = (device.upload(&x)?, device.upload(&y)?);
        let done = if is_negacyclic {
            batch.plan.convolve_negacyclic(&mut a, &mut b)
        } else {
            batch.plan.convolve(&mut a, &mut b)
        };
        done.map_err(Failure::plan)?;
        let found = a.download()?;
        let mut rng = random(seed);
        for round in 0..OUTPUTS.min(2 * length) {
            let vector = batch.vector(round, &mut rng);
            let l = rng.random_range(0..length);
            let (x, y) = (batch.integers(&x, vector), batch.integers(&y, vector));
            let (field, p) = (batch.field(vector), batch.field(vector).modulus());
            let expected = x.iter().enumerate().fold(0, |sum, (i, &x)| {
                let product = mul_mod(x, y[(length + l - i) % length], p);
                let is_negative = is_negacyclic && i > l && product > 0;
                add_mod(sum, if is_negative { p - product } else { product }, p)
            });
            let place = vector * stride + l;
            compare("a convolution", place, found[place], field.word(expected))?;
        }
    }
    Ok(())
}

/// Returns a + b mod p for a, b < p.
fn add_mod(a: u64, b: u64, p: u64) -> u64 {
    ((u128::from(a) + u128::from(b)) % u128::from(p)) as u64
}

fn compare<W: PartialEq + Display>(
    what: &'static str,
    element: usize,
    found: W,
    expected: W,
) -> Result<(), Failure> {
    if found == expected {
        return Ok(());
    }
    let [found, expected] = [found, expected].map(|x| x.to_string());
    Err(Failure::Word { what, word: 0, element, found, expected })
}
