//! Tests transforms, inverses and convolutions over big prime fields Z/pZ, p = r^k + 1, on a
//! device. The results are compared with those of the CPU digit by digit.

use rand::RngExt;
use warpint_arith::field::Field;
use warpint_arith::gfn::{Form, Gfn, NoForm, PRIMES};
use warpint_arith::with_field;
use warpint_device::Device;
use warpint_transform::gpu::gfn::GfnFft;
use warpint_transform::{Plan, definition};

use super::plans::{Failure, Planned};
use crate::sample::{Random, random};

/// A case: takes a device, a seed and sizes; returns a message if it fails.
pub type Run = fn(&Device, u64, &Sizes) -> Result<(), String>;

/// The names and functions of all cases.
pub const CASES: &[(&str, Run)] = &[
    ("transforms", transforms),
    ("convolutions", convolutions),
    ("outputs", outputs),
    ("own_prime", own_prime),
];

/// The primes and lengths to test.
#[derive(Debug, Clone)]
pub struct Sizes {
    /// For each batch of transforms: the index of the prime in [`PRIMES`], log2 of the number of
    /// elements, and the number of transforms. All outputs are compared with the CPU's.
    pub whole: Vec<(usize, u32, usize)>,
    /// For each long transform: the index of the prime in [`PRIMES`], and log2 of the number of
    /// elements. Some outputs are compared with values that the CPU computes by Horner's rule.
    pub long: Vec<(usize, u32)>,
    /// For each transform over (2^60 + 2^36)^8 + 1, a prime that is not in [`PRIMES`]: log2 of the
    /// number of elements.
    pub own: Vec<u32>,
}

impl Sizes {
    /// Returns the sizes for GPUs: all primes, with vectors whose sizes range from one element to a
    /// million digits. The comparison takes the CPU some seconds.
    #[must_use]
    pub fn of_gpus() -> Self {
        let whole = |which: usize| {
            let log2_k = PRIMES[which].digits().ilog2();
            let batch = |log2: u32| [3, 2, 1, 1][(log2 / 5).min(3) as usize];
            let lengths = [0, 1, 2, 3, 5, 8, 11, 14, 17].into_iter();
            lengths
                .filter(move |log2| *log2 <= 19 - 2 * log2_k)
                .map(move |log2| (which, log2, batch(log2)))
        };
        Self {
            whole: (0..PRIMES.len()).flat_map(whole).collect(),
            long: vec![(0, 22), (1, 21), (2, 20), (3, 18), (4, 16), (5, 14), (6, 12)],
            own: vec![0, 1, 5, 9, 12],
        }
    }

    /// Returns the sizes of the quick cases on GPUs: one or two lengths for some primes.
    #[must_use]
    pub fn quick() -> Self {
        let whole = vec![(0, 1, 2), (0, 7, 2), (1, 5, 2), (2, 6, 1), (4, 3, 1), (6, 2, 1)];
        Self { whole, long: vec![(2, 12)], own: vec![5] }
    }

    /// Returns small sizes, for the simulator.
    #[must_use]
    pub fn few() -> Self {
        let whole = vec![(0, 0, 3), (0, 1, 2), (0, 7, 2), (1, 5, 2), (2, 3, 2), (2, 6, 1)];
        let wide = [(3, 5, 1), (4, 3, 1), (5, 2, 1), (6, 2, 1)];
        Self { whole: whole.into_iter().chain(wide).collect(), long: vec![(0, 9)], own: vec![5] }
    }

    /// Returns the smallest sizes, for runs of the simulator that are recorded and replayed under
    /// sanitizers.
    #[must_use]
    pub fn least() -> Self {
        let whole = vec![(0, 5, 2), (2, 5, 1), (4, 2, 1), (6, 1, 1)];
        Self { whole, long: vec![], own: vec![] }
    }
}

/// Tests each batch of [`Sizes::whole`]: the transforms and their inverses.
fn transforms(device: &Device, seed: u64, sizes: &Sizes) -> Result<(), String> {
    sizes.whole.iter().try_for_each(|&(which, log2, batch)| {
        let form = PRIMES[which];
        let done = with_field!(form, |field| transform(device, seed, &field, log2, batch));
        explained(done, form, log2, batch)
    })
}

fn convolutions(device: &Device, seed: u64, sizes: &Sizes) -> Result<(), String> {
    sizes.whole.iter().try_for_each(|&(which, log2, batch)| {
        let form = PRIMES[which];
        let done = with_field!(form, |field| convolution(device, seed, &field, log2, batch));
        explained(done, form, log2, batch)
    })
}

/// Tests each transform of [`Sizes::long`]: some outputs by Horner's rule, and the inverse.
fn outputs(device: &Device, seed: u64, sizes: &Sizes) -> Result<(), String> {
    sizes.long.iter().try_for_each(|&(which, log2)| {
        let form = PRIMES[which];
        explained(with_field!(form, |field| some(device, seed, &field, log2)), form, log2, 1)
    })
}

/// Tests transforms and convolutions over the prime (2^60 + 2^36)^8 + 1, for each length of
/// [`Sizes::own`].
fn own_prime(device: &Device, seed: u64, sizes: &Sizes) -> Result<(), String> {
    let form = Form::plus(60, 36, 8).map_err(|e: NoForm| e.to_string())?;
    sizes.own.iter().try_for_each(|&log2| {
        let done = with_field!(form, |field| {
            transform(device, seed, &field, log2, 2)
                .and_then(|()| convolution(device, seed, &field, log2, 2))
        });
        explained(done, form, log2, 2)
    })
}

fn explained<E: std::fmt::Display>(
    done: Result<Result<(), Failure>, E>,
    form: Form,
    log2: u32,
    batch: usize,
) -> Result<(), String> {
    let why = match done {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(why)) => why.to_string(),
        Err(why) => why.to_string(),
    };
    Err(format!("{form}, {batch} times 2^{log2} elements: {why}"))
}

fn planned<'a, const K: usize>(
    device: &'a Device,
    field: &'a Gfn<K>,
    log2: u32,
    batch: usize,
) -> Result<Planned<'a, Gfn<K>, GfnFft>, Failure> {
    let plan = GfnFft::new(device, field.form(), log2, batch).map_err(Failure::plan)?;
    Ok(Planned { device, field, plan })
}

fn transform<const K: usize>(
    device: &Device,
    seed: u64,
    field: &Gfn<K>,
    log2: u32,
    batch: usize,
) -> Result<(), Failure> {
    let x = elements(field, batch << log2, &mut random(seed + u64::from(log2)));
    planned(device, field, log2, batch)?.transforms(&x)
}

fn convolution<const K: usize>(
    device: &Device,
    seed: u64,
    field: &Gfn<K>,
    log2: u32,
    batch: usize,
) -> Result<(), Failure> {
    let rng = &mut random(seed + (1 << 32) + u64::from(log2));
    let [a, b] = [0; 2].map(|_| elements(field, batch << log2, rng));
    planned(device, field, log2, batch)?.convolution(a, b).map(drop)
}

fn some<const K: usize>(
    device: &Device,
    seed: u64,
    field: &Gfn<K>,
    log2: u32,
) -> Result<(), Failure> {
    let n = 1usize << log2;
    let planned = planned(device, field, log2, 1)?;
    let rng = &mut random(seed + (2 << 32) + u64::from(log2));
    let start = elements(field, n, rng);
    let x = planned.upload(&start)?;
    let (mut out, mut back) = (device.alloc(x.len())?, device.alloc(x.len())?);
    planned.plan.forward_into(&x, &mut out).map_err(Failure::plan)?;
    let root = field.root_of_unity(log2).ok_or(Failure::NoRoot)?;
    for element in [0, 1, n - 1, rng.random_range(0..n)] {
        let expected = definition::evaluate(field, &start, &field.pow(&root, &[element as u64]));
        for (word, &expected) in expected.iter().enumerate() {
            let at = word * n + element;
            let found = out.download_part(at..at + 1)?.first().copied().unwrap_or_default();
            if found != expected {
                let [found, expected] = [found, expected].map(|x| format!("{x:#x}"));
                return Err(Failure::Word { what: "a transform", word, element, found, expected });
            }
        }
    }
    planned.plan.inverse_into(&out, &mut back).map_err(Failure::plan)?;
    planned.compare("an inverse transform", &back, &start)
}

/// Returns `count` elements of a field: runs of random elements, and runs of elements whose sums
/// and products carry or wrap. A short vector may lie within one run.
pub(super) fn elements<const K: usize>(
    field: &Gfn<K>,
    count: usize,
    rng: &mut Random,
) -> Vec<[u64; K]> {
    let r = field.form().radix();
    let mut minus_one = [0; K];
    minus_one[K - 1] = r;
    let corner = |which: u32| match which {
        0 => Some([0; K]),
        1 => Some(minus_one),
        2 => Some([r - 1; K]),
        3 => Some(field.one()),
        _ => None,
    };
    let mut run = None;
    (0..count)
        .map(|j| {
            if j % 16 == 0 {
                run = corner(rng.random_range(0..8));
            }
            run.or_else(|| corner(rng.random_range(0..12))).unwrap_or_else(|| {
                let sparse = rng.random_range(0..4) == 0;
                std::array::from_fn(|_| match sparse {
                    true if rng.random() => r - 1,
                    true => 0,
                    false => rng.random_range(0..r),
                })
            })
        })
        .collect()
}
