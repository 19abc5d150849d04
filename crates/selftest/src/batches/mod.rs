//! Batches on an executor, compared with slow, obvious implementations. The cases cover most
//! operations of [`warpint_integer::UintBatch`]. Some operands make carries run through all limbs.
//! Operations on two operands are tested with equal and with different widths, and with a single
//! number as one operand for the whole batch. Results replace an operand or form a new batch. A
//! device is also compared with the CPU bit by bit.

mod bits;
mod division;
pub mod elementwise;
mod moduli;
mod numbers;
mod places;
mod primality;
mod products;
mod sums;
#[cfg(test)]
mod tests;

use rayon::prelude::*;
use warpint_integer::Executor;
use warpint_integer::gpu::{Gpu, Method};

use crate::sample::{Random, random};
use numbers::{Failure, Numbers};

/// A case: takes an executor, a seed and sizes; returns a message if it fails.
pub type Run = fn(&Executor, u64, &Sizes) -> Result<(), String>;

/// The names and functions of the cases for the CPU and for devices.
pub const CASES: &[(&str, Run)] = &[
    ("sums", |executor, seed, sizes| for_all(executor, seed, sizes, sums::all)),
    ("products", |executor, seed, sizes| for_all(executor, seed, sizes, products::all)),
    ("squares", |executor, seed, sizes| for_all(executor, seed, sizes, products::squares)),
    ("sums_of_products", |executor, seed, sizes| {
        for_all(executor, seed, sizes, products::with_sums)
    }),
    ("quotients", |executor, seed, sizes| for_all(executor, seed, sizes, division::all)),
    ("divisors", |executor, seed, sizes| for_all(executor, seed, sizes, division::divisors)),
    ("inverses", |executor, seed, sizes| for_all(executor, seed, sizes, division::inverses)),
    ("powers", |executor, seed, sizes| for_powers(executor, seed, sizes, division::powers)),
    ("primes", |executor, seed, sizes| for_powers(executor, seed, sizes, primality::all)),
    ("square_roots", |executor, seed, sizes| for_all(executor, seed, sizes, division::roots)),
    ("moduli", |executor, seed, sizes| for_powers(executor, seed, sizes, moduli::all)),
    ("many_quotients", many_quotients),
    ("many_powers", many_powers),
    ("limb_by_limb", |executor, seed, sizes| for_all(executor, seed, sizes, bits::all)),
    ("places", |executor, seed, _| places::moves(executor, seed).map_err(|e| e.to_string())),
];

/// The names and functions of the cases for devices only.
pub const CASES_OF_DEVICES: &[(&str, Run)] = &[("methods", methods), ("as_the_cpu", as_the_cpu)];

/// The sizes of the numbers that the cases try.
#[derive(Debug, Clone)]
pub struct Sizes {
    /// For each pair of batches: the number of limbs of a number in the first batch, and in the
    /// second batch.
    pub widths: Vec<(usize, usize)>,
    /// The largest total number of limbs of the wider batch of a pair. A batch has from 3 to 200
    /// numbers; three numbers may exceed the total.
    pub limbs: usize,
    /// The numbers of limbs at which the case `methods` tests every method of multiplication.
    pub methods: Vec<usize>,
    /// For each comparison with the CPU: the number of limbs of the random numbers, and their
    /// count.
    pub large: Vec<(usize, usize)>,
    /// For each large batch of divisions: the number of limbs of a dividend, the number of limbs of
    /// a divisor, the count of divisions in a round, and the number of rounds.
    pub divisions: Vec<(usize, usize, usize, usize)>,
    /// The largest number of limbs in the cases `powers`, `moduli` and `primes`.
    pub widest_power: usize,
    /// For each large batch of powers: the number of limbs of a modulus, and the number of powers.
    /// With the numbers of [`Self::of_gpus`], a block of a GPU computes several powers at a time,
    /// several times in succession.
    pub powers: Vec<(usize, usize)>,
}

impl Sizes {
    /// Returns the sizes for the CPU: equal widths from 1 to 8,192 limbs, and some pairs of unequal
    /// widths. On a GPU, each kernel for these sizes takes some tenths of a second to compile.
    #[must_use]
    pub fn usual() -> Self {
        let equal = [
            1, 2, 3, 4, 5, 8, 12, 16, 17, 31, 32, 33, 48, 64, 65, 100, 128, 129, 255, 256, 320,
            512, 1000, 1024, 2048, 4096, 8192,
        ];
        let unequal = [(1, 2), (5, 3), (32, 33), (128, 1), (40, 120), (300, 64), (700, 1024)];
        let large = vec![
            (1, 1 << 20),
            (32, 1 << 16),
            (128, 1 << 14),
            (256, 1 << 12),
            (1024, 600),
            (8192, 30),
        ];
        let widths = equal.map(|limbs| (limbs, limbs)).into_iter().chain(unequal).collect();
        let divisions = vec![(2, 1, 50_000, 2), (16, 8, 20_000, 2), (300, 150, 500, 2)];
        let methods = vec![7, 32, 100, 300, 1000];
        Self {
            widths,
            limbs: 1 << 13,
            methods,
            large,
            divisions,
            widest_power: 8192,
            powers: vec![(33, 200)],
        }
    }

    /// Returns the sizes for GPUs. They are [`Self::usual`] with more powers and with larger
    /// batches of divisions: 10^8 quotients of numbers of 64 to 512 bits, and 10^5 quotients of
    /// numbers of 2^16 bits.
    #[must_use]
    pub fn of_gpus() -> Self {
        let mut divisions: Vec<_> =
            [(2, 1), (4, 2), (8, 4), (16, 8)].map(|(a, b)| (a, b, 1_000_000, 25)).to_vec();
        divisions.push((2048, 1024, 25_000, 4));
        let powers = vec![(5, 150_000), (33, 30_000), (64, 20_000), (512, 5_000)];
        Self { divisions, powers, ..Self::usual() }
    }

    /// Returns the sizes of the quick cases on GPUs. They have few widths, because kernels must be
    /// compiled for each width.
    #[must_use]
    pub fn quick() -> Self {
        let widths = vec![(3, 3), (33, 33), (4, 66)];
        let large = vec![(1, 1 << 16), (32, 1 << 12), (256, 64)];
        let divisions = vec![(2, 1, 100_000, 2), (16, 8, 20_000, 2)];
        let methods = vec![7, 100];
        Self { widths, methods, large, divisions, powers: vec![(33, 2_000)], ..Self::usual() }
    }

    /// Returns the sizes for the simulator: few widths, because a kernel takes a second to compile.
    #[must_use]
    pub fn few() -> Self {
        let widths = vec![(3, 3), (33, 33), (320, 320), (4, 66)];
        let large = vec![(2, 999), (33, 40), (300, 5)];
        let divisions = vec![(2, 1, 100, 2), (33, 16, 20, 2)];
        let methods = vec![7, 100];
        Self {
            widths,
            limbs: 1 << 10,
            methods,
            large,
            divisions,
            widest_power: 140,
            powers: vec![(33, 140)],
        }
    }

    /// Returns the sizes for runs of the simulator that are recorded and replayed under sanitizers:
    /// numbers of 3 and of 600 limbs, and factors of 5 and of 34 limbs.
    #[must_use]
    pub fn least() -> Self {
        let widths = vec![(3, 3), (600, 600)];
        let (large, divisions) = (vec![], vec![]);
        Self {
            widths,
            limbs: 60,
            methods: vec![5, 34],
            large,
            divisions,
            widest_power: 600,
            powers: vec![],
        }
    }

    /// Returns the count of numbers in a batch whose numbers have `limbs` limbs each.
    fn count(&self, limbs: usize) -> usize {
        (self.limbs / limbs).clamp(3, 200)
    }
}

/// A test of two batches. The test may draw further numbers from the random generator.
type OfPair = fn(&mut Random, &Numbers, &Numbers) -> Result<(), Failure>;

/// Runs a case at all widths. As many widths as the machine has cores run at the same time, so that
/// kernels are compiled in parallel.
fn for_all(executor: &Executor, seed: u64, sizes: &Sizes, case: OfPair) -> Result<(), String> {
    sizes.widths.par_iter().try_for_each(|&(x, y)| {
        let mut rng = random(seed + (x << 20 | y) as u64);
        let count = sizes.count(x.max(y));
        let mut work = || {
            let a = Numbers::hard(executor, &mut rng, x, count)?;
            let b = Numbers::hard(executor, &mut rng, y, count)?;
            case(&mut rng, &a, &b)
        };
        work().map_err(|why| format!("{count} numbers of {x} limbs with {y}: {why}"))
    })
}

/// Runs a case at all widths, with larger widths reduced to [`Sizes::widest_power`].
fn for_powers(executor: &Executor, seed: u64, sizes: &Sizes, case: OfPair) -> Result<(), String> {
    let most = sizes.widest_power;
    let widths = sizes.widths.iter().map(|&(x, y)| (x.min(most), y.min(most))).collect();
    for_all(executor, seed, &Sizes { widths, ..sizes.clone() }, case)
}

/// Tests larger batches of quotients. The executor that computes the quotients also checks them.
fn many_quotients(executor: &Executor, seed: u64, sizes: &Sizes) -> Result<(), String> {
    sizes.divisions.iter().try_for_each(|&(a, b, count, rounds)| {
        division::many(executor, &mut random(seed + a as u64), (a, b), count, rounds)
            .map_err(|why| format!("{rounds} times {count} numbers of {a} limbs by {b}: {why}"))
    })
}

/// Tests larger batches of powers.
fn many_powers(executor: &Executor, seed: u64, sizes: &Sizes) -> Result<(), String> {
    sizes.powers.iter().try_for_each(|&(limbs, count)| {
        division::many_powers(executor, &mut random(seed + limbs as u64), limbs, count)
            .map_err(|why| format!("{count} powers modulo numbers of {limbs} limbs: {why}"))
    })
}

/// Tests products and squares by every method that a device has for their width.
fn methods(executor: &Executor, seed: u64, sizes: &Sizes) -> Result<(), String> {
    let Some(device) = executor.device() else { return Err("it is no device".into()) };
    let gpu = Gpu::new(device);
    let most = device.info().shared_memory_per_block;
    let of = |&limbs: &usize| {
        Method::possible(limbs, Some(limbs), most).map(move |m| (m, limbs)).collect::<Vec<_>>()
    };
    let all: Vec<(Method, usize)> = sizes.methods.iter().flat_map(of).collect();
    all.into_par_iter().try_for_each(|(method, limbs)| {
        let rng = &mut random(seed + limbs as u64);
        products::by(&gpu, method, rng, limbs, sizes.count(limbs))
            .map_err(|why| format!("{method} of {limbs} limbs: {why}"))
    })
}

/// Compares larger batches of random numbers on a device and on the CPU.
fn as_the_cpu(executor: &Executor, seed: u64, sizes: &Sizes) -> Result<(), String> {
    sizes.large.iter().try_for_each(|&(limbs, count)| {
        places::agree(executor, &mut random(seed + limbs as u64), limbs, count)
            .map_err(|why| format!("{count} numbers of {limbs} limbs: {why}"))
    })
}
