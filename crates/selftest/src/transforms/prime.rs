//! Tests transforms, inverses and convolutions over prime fields on a device. The results are
//! compared with those of the CPU element by element. The primes have 1 to 64 words, with and
//! without an unused highest bit.

use rand::RngExt;
use warpint_arith::field::Field;
use warpint_arith::montgomery::known::{
    BLS12_377_BASE, BLS12_381_SCALAR, BN254_SCALAR, Known, full,
};
use warpint_arith::montgomery::{PrimeField, Residue};
use warpint_device::Device;
use warpint_transform::gpu::prime::PrimeFft;

use super::plans::{Failure, Planned};
use crate::sample::random;

/// A case: takes a device and a seed; returns a message if it fails.
pub type Run = fn(&Device, u64) -> Result<(), String>;

/// The names and functions of all cases.
pub const CASES: &[(&str, Run)] = &[
    ("bn254_scalars", |device, seed| known(device, seed, &BN254_SCALAR, &LONG)),
    ("bls12_381_scalars", |device, seed| known(device, seed, &BLS12_381_SCALAR, &LONG)),
    ("bls12_377_base", |device, seed| known(device, seed, &BLS12_377_BASE, &LONG)),
    ("one_word", one_word),
    ("all_bits_of_1_word", |device, seed| all_bits::<1>(device, seed, &LONG)),
    ("all_bits_of_2_words", |device, seed| all_bits::<2>(device, seed, &SHORT)),
    ("all_bits_of_3_words", |device, seed| all_bits::<3>(device, seed, &SHORT)),
    ("all_bits_of_4_words", |device, seed| all_bits::<4>(device, seed, &SHORT)),
    ("all_bits_of_5_words", |device, seed| all_bits::<5>(device, seed, &SHORT)),
    ("all_bits_of_6_words", |device, seed| all_bits::<6>(device, seed, &SHORT)),
    ("all_bits_of_8_words", |device, seed| all_bits::<8>(device, seed, &SHORT)),
    ("all_bits_of_12_words", |device, seed| all_bits::<12>(device, seed, &LARGE)),
    ("all_bits_of_16_words", |device, seed| all_bits::<16>(device, seed, &LARGE)),
    ("all_bits_of_32_words", |device, seed| all_bits::<32>(device, seed, &LARGE)),
    ("all_bits_of_64_words", |device, seed| all_bits::<64>(device, seed, &LARGEST)),
];

/// The names of the quick cases: a field that is used in practice, and fields of 1, 4 and 12 words.
pub const QUICK: [&str; 5] = [
    "bn254_scalars",
    "one_word",
    "all_bits_of_1_word",
    "all_bits_of_4_words",
    "all_bits_of_12_words",
];

/// The batches to test on a GPU and on the simulator. Each batch is given by log2 of the length of
/// a transform and the number of transforms.
struct Sizes {
    gpu: &'static [(u32, usize)],
    simulator: &'static [(u32, usize)],
}

/// The batches for the fields that are tested at many lengths. Their transforms take one to three
/// passes. A tile, which is the part of the data that a block processes, contains columns of one or
/// of several transforms. Some batches end within a tile.
const LONG: Sizes = Sizes {
    gpu: &[
        (0, 1),
        (0, 1000),
        (1, 77),
        (2, 1),
        (3, 200),
        (6, 5),
        (7, 33),
        (8, 3),
        (10, 9),
        (13, 5),
        (14, 1),
        (15, 3),
        (18, 1),
        (20, 1),
    ],
    simulator: &[(0, 3), (2, 1), (3, 70), (8, 2)],
};

const SHORT: Sizes = Sizes {
    gpu: &[(1, 5), (4, 100), (7, 3), (9, 7), (13, 2), (15, 1), (17, 1)],
    simulator: &[(4, 3), (8, 1)],
};

const LARGE: Sizes =
    Sizes { gpu: &[(1, 5), (4, 50), (5, 1), (9, 3), (12, 1)], simulator: &[(3, 3), (5, 1)] };

const LARGEST: Sizes = Sizes { gpu: &[(1, 5), (4, 7), (7, 1), (9, 1)], simulator: &[(3, 1)] };

fn known<const L: usize>(
    device: &Device,
    seed: u64,
    known: &Known<L>,
    sizes: &Sizes,
) -> Result<(), String> {
    let field = known.field().map_err(|why| format!("{}: {why}", known.name))?;
    all(device, seed, &field, sizes)
}

/// Tests one-word fields: a prime of 64 bits and a prime of 61 bits, both with roots of unity of
/// high order, and the prime 65,537.
fn one_word(device: &Device, seed: u64) -> Result<(), String> {
    let long = [0xffff_ffff_0000_0001, 0x1fff_ffff_ff00_0001];
    let fields = long.map(|p| (p, &LONG)).into_iter().chain([(65_537, &SHORT)]);
    for (p, sizes) in fields {
        let field = PrimeField::new([p]).map_err(|why| format!("{p}: {why}"))?;
        all(device, seed, &field, sizes)?;
    }
    Ok(())
}

fn all_bits<const L: usize>(device: &Device, seed: u64, sizes: &Sizes) -> Result<(), String> {
    let modulus = full::<L>().ok_or_else(|| format!("no modulus of {L} words"))?;
    let field = PrimeField::new(modulus).map_err(|why| format!("{L} words: {why}"))?;
    all(device, seed, &field, sizes)
}

fn all<const L: usize>(
    device: &Device,
    seed: u64,
    field: &PrimeField<L>,
    sizes: &Sizes,
) -> Result<(), String> {
    let is_simulator = device.info().compute_capability == (0, 0);
    let lengths = if is_simulator { sizes.simulator } else { sizes.gpu };
    // Lengths for which the field has no root are left out.
    lengths.iter().filter(|&&(log2, _)| log2 <= field.two_adicity()).try_for_each(
        |&(log2, batch)| {
            one(device, seed + u64::from(log2), field, log2, batch)
                .map_err(|why| format!("{L} words, {batch} times 2^{log2} elements: {why}"))
        },
    )
}

/// Tests a batch of `batch` vectors of 2^log2 elements: transforms, inverses and convolutions.
fn one<const L: usize>(
    device: &Device,
    seed: u64,
    field: &PrimeField<L>,
    log2: u32,
    batch: usize,
) -> Result<(), Failure> {
    let plan = PrimeFft::new(device, field, log2, batch).map_err(Failure::plan)?;
    let planned = Planned { device, field, plan };
    let (x, y) =
        (elements(field, batch << log2, seed), elements(field, batch << log2, seed + (1 << 32)));
    planned.transforms(&x)?;
    let second = planned.convolution(x, y.clone())?;
    planned.compare("its second factor", &second, &y)
}

/// Returns `count` random elements of a field. Some are 0, 1 or −1. A long vector also contains
/// runs of −1.
fn elements<const L: usize>(field: &PrimeField<L>, count: usize, seed: u64) -> Vec<Residue<L>> {
    let mut rng = random(seed);
    let base = field.from_u64(u64::MAX);
    let minus_one = field.neg(&field.one());
    let mut element = |i: usize| match rng.random_range(0..16) {
        _ if i / 64 % 16 == 3 => minus_one,
        0 => field.zero(),
        1 => field.one(),
        2 => minus_one,
        _ => (0..L).fold(field.from_u64(rng.random()), |sum, _| {
            field.add(&field.mul(&sum, &base), &field.from_u64(rng.random()))
        }),
    };
    (0..count).map(&mut element).collect()
}
