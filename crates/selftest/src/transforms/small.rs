//! Tests transforms modulo many primes below 2^50 on a device. Also tests the convolutions and
//! transforms in fields Z/pZ, p = r^k + 1, that are computed by these transforms. The results are
//! compared with the definition, except those of the transforms in rings: these are only inverted
//! and compared with their inputs.

use rand::RngExt;
use warpint_arith::field::Field;
use warpint_arith::gfn::{Form, Gfn, PRIMES};
use warpint_arith::primes::{mul_mod, pow_mod};
use warpint_device::Device;
use warpint_transform::f50::primes;
use warpint_transform::gpu::layout::{element_major, limb_major};
use warpint_transform::gpu::small_primes::{RingTransform, SmallPrimes, SmallPrimesError};
use warpint_transform::gpu::spectra::Spectra50;
use warpint_transform::{Plan, definition};

use super::plans::{Failure, Planned};
use crate::sample::{Random, random};

/// A case: takes a device, a seed and sizes; returns a message if it fails.
pub type Run = fn(&Device, u64, &Sizes) -> Result<(), String>;

/// The names and functions of all cases.
pub const CASES: &[(&str, Run)] = &[
    ("modulo_small_primes", modulo_small_primes),
    ("convolutions", convolutions),
    ("transforms", transforms),
    ("rings", rings),
];

/// The fields, lengths and batches to test.
#[derive(Debug, Clone)]
pub struct Sizes {
    /// For each batch of transforms modulo small primes: log2 of the number of points, the number
    /// of vectors, and the number of primes.
    pub modulo: Vec<(u32, usize, usize)>,
    /// For each batch of transforms in a field: the index of the prime r^k + 1 in [`PRIMES`], log2
    /// of the number of points, and the number of vectors.
    pub fields: Vec<(usize, u32, usize)>,
    /// The number of outputs to compare for each vector. For vectors of more than 2^13 elements of
    /// a field, 3 outputs are compared instead. If a vector has fewer outputs, all of them are
    /// compared.
    pub outputs: usize,
}

impl Sizes {
    /// Returns the sizes for GPUs: all primes r^k + 1, with transforms of one row and of several
    /// rows.
    #[must_use]
    pub fn of_gpus() -> Self {
        let short = (1..=12).map(|log2| (log2, 7, 5));
        let long =
            [13, 14, 16, 17, 19, 22, 24].map(|log2| (log2, if log2 < 20 { 3 } else { 1 }, 3));
        let many = [(10, 20, 340), (16, 1, 340)];
        let fields = (0..PRIMES.len()).flat_map(|i| [(i, 4, 9), (i, 10, 2), (i, 13, 1)]);
        let large = [(0, 20, 1), (2, 16, 2), (2, 20, 1), (3, 20, 1), (6, 16, 1)];
        Self {
            modulo: short.chain(long).chain(many).collect(),
            fields: fields.chain(large).collect(),
            outputs: 16,
        }
    }

    /// Returns the sizes of the quick cases on GPUs: a transform of one row, and a transform of
    /// several rows.
    #[must_use]
    pub fn quick() -> Self {
        let modulo = vec![(5, 70, 3), (13, 2, 2)];
        Self { modulo, fields: vec![(0, 4, 5), (2, 3, 3)], outputs: 16 }
    }

    /// Returns small sizes, for the simulator.
    #[must_use]
    pub fn few() -> Self {
        let modulo = vec![(1, 5, 2), (5, 70, 3), (13, 2, 2)];
        Self { modulo, fields: vec![(0, 4, 5), (2, 3, 3)], outputs: 16 }
    }
}

/// Returns `outputs` indices below n, among them 0, n/2 and n − 1. If n ≤ `outputs`, returns all
/// indices below n.
fn places(n: usize, outputs: usize, rng: &mut Random) -> Vec<usize> {
    if n <= outputs {
        return (0..n).collect();
    }
    let drawn = (3..outputs).map(|_| rng.random_range(0..n));
    [0, n / 2, n - 1].into_iter().chain(drawn).collect()
}

fn modulo_small_primes(device: &Device, seed: u64, sizes: &Sizes) -> Result<(), String> {
    sizes.modulo.iter().try_for_each(|&(log2, batch, count)| {
        let rng = &mut random(seed + u64::from(log2));
        modulo(device, rng, (log2, batch, count), sizes.outputs)
            .map_err(|why| format!("{batch} vectors of 2^{log2} points mod {count} primes: {why}"))
    })
}

fn modulo(
    device: &Device,
    rng: &mut Random,
    (log2, batch, count): (u32, usize, usize),
    outputs: usize,
) -> Result<(), String> {
    let fields = primes(count, log2).map_err(|e| e.to_string())?;
    let plan = Spectra50::new(device, &fields, log2, batch).map_err(|e| e.to_string())?;
    let (n, stride) = (1usize << log2, plan.stride());
    let mut start = vec![0.0; plan.size()];
    for (row, field) in start.chunks_mut(stride).zip(&fields) {
        let p = field.modulus();
        for (i, x) in row[..batch * n].iter_mut().enumerate() {
            // One vector of the largest values, and vectors of random values; both signs.
            let size = if i >> log2 == 1 { p - 1 } else { rng.random_range(0..p) };
            *x = if i >> log2 == 2 { -(size as f64) } else { size as f64 };
        }
    }
    let mut data = device.upload(&start).map_err(|e| e.to_string())?;
    plan.forward(&mut data).map_err(|e| e.to_string())?;
    let spectra = data.download().map_err(|e| e.to_string())?;
    // All outputs are compared after the inverse, and some here.
    let some: Vec<usize> = (0..count).step_by(count.div_ceil(4)).collect();
    for s in some {
        let (field, p) = (fields[s], fields[s].modulus());
        let root = field.root_of_unity(log2).map_or(0, |root| field.to_u64(root));
        for place in places(stride, outputs, rng) {
            let Some((vector, i)) = plan.frequency(place) else { continue };
            let point = pow_mod(root, i as u64, p);
            let x = start[s * stride + vector * n..][..n].iter().rev();
            let sum = x.fold(0, |sum, &x| (mul_mod(sum, point, p) + field.to_u64(x)) % p);
            let found = spectra[s * stride + place];
            if found != sum as f64 {
                return Err(format!("X_{i} of vector {vector} is {found}, not {sum}, mod {p}"));
            }
        }
    }
    plan.inverse(&mut data).map_err(|e| e.to_string())?;
    let back = data.download().map_err(|e| e.to_string())?;
    for (s, field) in fields.iter().enumerate() {
        let part = s * stride..s * stride + batch * n;
        let mut pairs = back[part.clone()].iter().zip(&start[part]).enumerate();
        if let Some((i, (found, x))) = pairs.find(|&(_, (&y, &x))| y != field.to_u64(x) as f64) {
            return Err(format!(
                "element {i} comes back as {found}, not {x}, mod {}",
                field.modulus()
            ));
        }
    }
    Ok(())
}

/// A test in the field of a prime r^k + 1, compiled for one number of digits k. Its arguments are
/// the device, a random generator, the form of the prime, log2 of the number of points, the number
/// of vectors, and the number of outputs to compare.
type OfForm = fn(&Device, &mut Random, Form, u32, usize, usize) -> Result<(), String>;

/// Makes a closure that takes the form of a prime r^k + 1, and returns the function `$case`
/// compiled for the number of digits k of this prime.
macro_rules! of_every_length {
    ($case:ident) => {
        |form: Form| -> OfForm {
            match form.digits() {
                2 => $case::<2>,
                4 => $case::<4>,
                8 => $case::<8>,
                16 => $case::<16>,
                32 => $case::<32>,
                64 => $case::<64>,
                _ => $case::<128>,
            }
        }
    };
}

fn in_fields(
    device: &Device,
    seed: u64,
    sizes: &Sizes,
    case: fn(Form) -> OfForm,
) -> Result<(), String> {
    sizes.fields.iter().try_for_each(|&(which, log2, batch)| {
        let form = PRIMES[which];
        let rng = &mut random(seed + ((which as u64) << 8 | u64::from(log2)));
        case(form)(device, rng, form, log2, batch, sizes.outputs)
            .map_err(|why| format!("{batch} vectors of 2^{log2} elements mod {form}: {why}"))
    })
}

fn convolutions(device: &Device, seed: u64, sizes: &Sizes) -> Result<(), String> {
    in_fields(device, seed, sizes, of_every_length!(convolution))
}

fn transforms(device: &Device, seed: u64, sizes: &Sizes) -> Result<(), String> {
    in_fields(device, seed, sizes, of_every_length!(transform))
}

/// Returns `batch` vectors of n elements modulo r^k + 1. If there are more than two vectors, all
/// elements of the first vector are r^k, and all digits of the second vector are r − 1. The other
/// vectors contain random elements, some of which are replaced by r^k, by the element whose digits
/// are all r − 1, by 0, by 1 or by (r − 1)·r^(k−1).
fn vectors<const K: usize>(form: Form, n: usize, batch: usize, rng: &mut Random) -> Vec<[u64; K]> {
    let r = form.radix();
    let of = |lowest: u64, highest: u64| {
        let mut digits = [0; K];
        digits[0] = lowest;
        digits[K - 1] += highest;
        digits
    };
    let hard = [of(0, r), [r - 1; K], of(0, 0), of(1, 0), of(0, r - 1)];
    let one = |i: usize| match i / n {
        0 | 1 if batch > 2 => hard[i / n],
        _ if rng.random_range(0..4) == 0 => hard[i % 5],
        _ => std::array::from_fn(|_| rng.random_range(0..r)),
    };
    (0..batch * n).map(one).collect()
}

fn convolution<const K: usize>(
    device: &Device,
    rng: &mut Random,
    form: Form,
    log2: u32,
    batch: usize,
    outputs: usize,
) -> Result<(), String> {
    let n = 1usize << log2;
    let field = Gfn::<K>::new(form).map_err(|e| e.to_string())?;
    let (a, b) = (vectors::<K>(form, n, batch, rng), vectors::<K>(form, n, batch, rng));
    let run = || {
        let plan = SmallPrimes::convolutions(device, form, log2, batch).map_err(Failure::plan)?;
        let planned = Planned { device, field: &field, plan };
        let (mut x, mut y) = (planned.upload(&a)?, planned.upload(&b)?);
        planned.plan.convolve(&mut x, &mut y).map_err(Failure::plan)?;
        planned.download("a convolution", &x)
    };
    let found = run().map_err(|e: Failure| e.to_string())?;
    let expected = |vector: usize, l: usize| {
        let part = vector * n..(vector + 1) * n;
        let (a, b) = (&a[part.clone()], &b[part]);
        let term = |sum, i: usize| field.add(&sum, &field.mul(&a[i], &b[(n + l - i) % n]));
        (0..n).fold(field.zero(), term)
    };
    match wrong_output(&found, n, outputs, rng, expected) {
        Some((vector, l)) => Err(format!("the convolution of vectors {vector} is wrong at {l}")),
        None => Ok(()),
    }
}

fn transform<const K: usize>(
    device: &Device,
    rng: &mut Random,
    form: Form,
    log2: u32,
    batch: usize,
    outputs: usize,
) -> Result<(), String> {
    let n = 1usize << log2;
    let field = Gfn::<K>::new(form).map_err(|e| e.to_string())?;
    let root = field.root_of_unity(log2).ok_or("there is no root of unity")?;
    let x = vectors::<K>(form, n, batch, rng);
    let run = || {
        let plan = SmallPrimes::new(device, form, log2, batch).map_err(Failure::plan)?;
        let planned = Planned { device, field: &field, plan };
        let mut data = planned.upload(&x)?;
        planned.plan.forward(&mut data).map_err(Failure::plan)?;
        let found = planned.download("a transform", &data)?;
        planned.plan.inverse(&mut data).map_err(Failure::plan)?;
        Ok((found, planned.download("an inverse transform", &data)?))
    };
    let (found, back) = run().map_err(|e: Failure| e.to_string())?;
    let expected = |vector: usize, i: usize| {
        let point = field.pow(&root, &[i as u64]);
        definition::evaluate(&field, &x[vector * n..][..n], &point)
    };
    if let Some((vector, i)) = wrong_output(&found, n, outputs, rng, expected) {
        return Err(format!("X_{i} of vector {vector} is wrong"));
    }
    match back.iter().zip(&x).position(|(found, x)| found != x) {
        Some(i) => Err(format!("element {i} does not come back")),
        None => Ok(()),
    }
}

/// Compares some outputs of each vector of n elements with `expected(vector, index)`. Returns the
/// vector and the index of the first output that differs. Returns `None` if all compared outputs
/// are equal.
fn wrong_output<T: PartialEq>(
    found: &[T],
    n: usize,
    outputs: usize,
    rng: &mut Random,
    expected: impl Fn(usize, usize) -> T,
) -> Option<(usize, usize)> {
    // An output takes at least a microsecond per element.
    let outputs = if n > 1 << 13 { 3 } else { outputs };
    found.chunks(n).enumerate().find_map(|(vector, found)| {
        let mut places = places(n, outputs, rng).into_iter();
        places.find(|&i| found[i] != expected(vector, i)).map(|i| (vector, i))
    })
}

fn rings(device: &Device, seed: u64, sizes: &Sizes) -> Result<(), String> {
    sizes.fields.iter().try_for_each(|&(which, log2, batch)| {
        let form = PRIMES[which];
        let rng = &mut random(seed + ((which as u64) << 8 | u64::from(log2)));
        ring(device, rng, form, log2, batch)
            .map_err(|e| e.to_string())?
            .map_err(|why| format!("{batch} vectors of 2^{log2} integers for {form}: {why}"))
    })
}

fn ring(
    device: &Device,
    rng: &mut Random,
    form: Form,
    log2: u32,
    batch: usize,
) -> Result<Result<(), String>, SmallPrimesError> {
    let plan = RingTransform::new(device, form, log2, batch)?;
    let (modulus, count) = (plan.modulus(), plan.elements());
    let words = modulus.len();
    let mut start = vec![0u64; words * count];
    for (i, x) in start.chunks_mut(words).enumerate() {
        match i % 5 {
            0 => {}
            1 => {
                // M − 1, without a borrow, as M is odd.
                x.copy_from_slice(modulus);
                x[0] -= 1;
            }
            2 => x[0] = 1,
            _ => {
                x.iter_mut().for_each(|word| *word = rng.random());
                // Made less than M at its highest words that are not 0.
                for (word, &of) in x.iter_mut().zip(modulus).rev() {
                    *word %= of.max(1);
                    if of > 0 {
                        break;
                    }
                }
            }
        }
    }
    let mut data = device.upload(&limb_major(&start, words))?;
    let cells = data.cells(..);
    plan.transform(cells, cells)?;
    plan.inverse(cells, cells)?;
    let back = element_major(&data.download()?, words);
    let wrong = back.chunks(words).zip(start.chunks(words)).position(|(found, x)| found != x);
    Ok(wrong.map_or(Ok(()), |i| Err(format!("integer {i} does not come back"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_simulator() {
        for device in Device::simulators() {
            let device = device.unwrap();
            for (name, case) in CASES {
                if let Err(why) = case(&device, 1, &Sizes::few()) {
                    panic!("{name}: {why}");
                }
            }
        }
    }
}
