//! Faults of devices and of the CPU's memory during squarings of a Lucas–Lehmer test. The check of
//! every squaring must detect them.

use std::collections::BTreeMap;

use rand::RngExt;
use warpint_device::Device;
use warpint_mersenne::engine::Profiled;
use warpint_mersenne::engine::fp64::Fp64;
use warpint_mersenne::engine::fp64::flip::{Flip, Place};
use warpint_mersenne::engine::fp64_gpu::Fp64On;
use warpint_mersenne::engine::goldilocks::Goldilocks;
use warpint_mersenne::{BuildOptions, Engine, EngineError, EngineFamily, Residue, Shift, Step};

use super::on_device::{CpuCase, Extent, Fate, Fates, Faults, Sizes, Suite};
use super::wrappers::{DeviceFault, FaultyDevice};
use crate::SEED;
use crate::sample::random;

pub(super) const SUITE: Suite = Suite { name: "squarings", fates, death_is_noticed: true };

pub(super) const ON_CPU: &[CpuCase] = &[("flips_in_fp64", || flip_squarings_on_cpu(0, 60))];

/// A sequence of squarings in parts, as a test with checkpoints makes them.
#[derive(Clone)]
struct Work {
    exponent: u32,
    length: usize,
    /// The number of squarings of each part. Between the parts the residue is read.
    parts: [u64; 3],
    first: Residue,
    right: Residue,
}

fn message(error: impl std::fmt::Display) -> String {
    error.to_string()
}

impl Work {
    /// Creates the work for a device.
    fn for_device(sizes: &Sizes) -> Result<Self, String> {
        // The second part of the work on a GPU contains graphs, and a new root is drawn in it.
        if sizes.log2 < 8 {
            Self::new(4_423, 256, [3, 5, 2])
        } else {
            Self::new(167_423, 9 << 10, [100, 1_000, 50])
        }
    }

    /// Creates the work, and computes its result in exact arithmetic on the CPU.
    fn new(exponent: u32, length: usize, parts: [u64; 3]) -> Result<Self, String> {
        let mut rng = random(SEED);
        let limbs: Vec<u64> = (0..exponent.div_ceil(64)).map(|_| rng.random()).collect();
        let first = Residue::from_limbs(exponent, &limbs);
        let holds = |n: &usize| Goldilocks.margin(exponent, *n).is_ok_and(|m| m.bits >= 0.0);
        let exact = Goldilocks.lengths(1, 2 * length).into_iter().find(holds);
        let exact = exact.ok_or_else(|| format!("no exact length for M{exponent}"))?;
        let build = Goldilocks.build(exponent, exact, BuildOptions::new(1, 2));
        let mut engine = build.map_err(message)?;
        let mut work = Self { exponent, length, parts, right: first.clone(), first };
        work.right = work.on(engine.as_mut()).map_err(message)?;
        Ok(work)
    }

    fn on(&self, engine: &mut dyn Engine) -> Result<Residue, EngineError> {
        let shift = Shift::new(1_000_003, self.exponent);
        engine.write(0, &self.first, shift)?;
        let (mut done, mut residue) = (0, self.first.clone());
        for part in self.parts {
            let before = shift.after_squarings(done, self.exponent);
            engine.square(0, part, Step::SquareMinusTwo, before)?;
            engine.finish()?;
            done += part;
            residue = engine.read(0, shift.after_squarings(done, self.exponent))?;
        }
        Ok(residue)
    }

    /// Returns options of an engine on the CPU that checks its squarings.
    fn on_cpu(&self, variant: usize) -> BuildOptions {
        let threads = 1 + variant % 2;
        BuildOptions { variant, check_squarings: true, ..BuildOptions::new(1, threads) }
    }

    fn on_device(&self, device: &Device) -> Result<Residue, EngineError> {
        let options = BuildOptions { check_squarings: true, ..BuildOptions::new(1, 1) };
        let family = Fp64On::new(device.clone());
        let mut engine = family.build(self.exponent, self.length, options)?;
        self.on(engine.as_mut())
    }
}

/// Directs a flip in memory at one buffer: among all bits, those of the largest buffers would be
/// chosen nearly always.
fn at_one_buffer(fault: DeviceFault) -> DeviceFault {
    match fault {
        DeviceFault::FlippedMemory { launch, bit } => {
            DeviceFault::FlippedBuffer { launch, buffer: bit % 1_021, bit: bit / 1_021 }
        }
        other => other,
    }
}

/// Makes faults during squarings. Returns how many were noticed, and how many were harmless.
fn fates(device: &Device, sizes: &Sizes, faults: Faults) -> Result<Fates, String> {
    let work = Work::for_device(sizes)?;
    let mut rng = random(SEED);
    let sound = FaultyDevice::new(device, DeviceFault::Zeros { from: u64::MAX });
    match work.on_device(sound.device()) {
        Ok(residue) if residue == work.right => {}
        other => return Err(format!("on a sound device: {:?}", other.map(|r| r.res64_hex()))),
    }
    let run = |fault| {
        let faulty = FaultyDevice::new(device, at_one_buffer(fault));
        Ok(match (work.on_device(faulty.device()), faulty.strikes()) {
            (Ok(_), 0) => Fate::NotMade,
            (Ok(residue), _) if residue != work.right => return Err("a wrong result passed".into()),
            (Ok(_), _) => Fate::Harmless,
            (Err(_), _) => Fate::Noticed,
        })
    };
    let mut fates = Fates::default();
    fates.add("squarings", (&mut rng, Extent::of(&sound), faults), run)?;
    Ok(fates)
}

/// Flips `count` bits in the memory of a device during squarings whose check is on, each in a run of
/// its own: in spectra, digits, hand-over words of carries, tables and sums. These are the flips from
/// number `first` on of a sequence that is always the same. Returns a line with the numbers of flips
/// that were noticed and of those that left the residue unchanged.
///
/// # Errors
/// A wrong residue passed, or no flip was noticed.
pub fn flip_squarings(device: &Device, first: u64, count: u64) -> Result<String, String> {
    let draw = |rng: &mut crate::sample::Random, of: Extent| DeviceFault::FlippedMemory {
        launch: rng.random_range(0..of.launches()),
        bit: rng.random(),
    };
    fates(device, &Sizes::of(device), Faults { skipped: first, count, draw })?.counted()
}

/// The work on the CPU: exponents, lengths and numbers of squarings of the parts. The first length is
/// transformed in one FFT, the second by explicit vectors if the processor has them, and the last by
/// rows and columns. The second work is long enough for another root to be drawn.
const WORK_ON_CPU: [(u32, usize, [u64; 3]); 4] = [
    (4_423, 256, [3, 5, 2]),
    (20_011, 1_152, [1_000, 20, 3]),
    (167_423, 9 << 10, [2, 9, 1]),
    (1_150_007, 64 << 10, [1, 2, 1]),
];

/// Flips `count` bits in the memory of engines `fp64` on the CPU during squarings whose check is on,
/// each in a run of its own: in spectra, digits, carries, tables and registers. These are the flips
/// from number `first` on of a sequence that is always the same. Returns a line with the numbers of
/// flips that were noticed and of those that left the residue unchanged.
///
/// # Errors
/// A wrong residue passed, an engine without a flip reports an error, or no flip of some place was
/// noticed.
pub fn flip_squarings_on_cpu(first: u64, count: u64) -> Result<String, String> {
    let mut works = vec![];
    for (exponent, length, parts) in WORK_ON_CPU {
        let work = Work::new(exponent, length, parts)?;
        // The default, a shape of explicit vectors and the FFTs of rustfft are among the first.
        for variant in 0..Fp64.variants(length).len().min(3) {
            let build = Fp64.build(exponent, length, work.on_cpu(variant));
            let right = work.on(build.map_err(message)?.as_mut()).map_err(message)?;
            if right != work.right {
                return Err(format!("M{exponent} in {length} words without a flip"));
            }
            works.push((variant, Work { right, ..work.clone() }));
        }
    }
    let mut rng = random(SEED);
    let mut fates: BTreeMap<Place, [u64; 2]> = BTreeMap::new();
    for number in 0..first + count {
        let place = Place::ALL[(number % Place::ALL.len() as u64) as usize];
        let (variant, work) = &works[rng.random_range(0..works.len())];
        let squaring = rng.random_range(0..work.parts.iter().sum());
        let flip = Flip { place, squaring, bit: rng.random() };
        if number < first {
            continue;
        }
        let options = work.on_cpu(*variant);
        let build = Fp64.build_with_flip(work.exponent, work.length, options, flip);
        let harmless = match work.on(build.map_err(message)?.as_mut()) {
            Ok(residue) if residue == work.right => true,
            Ok(_) => {
                let Work { exponent, length, .. } = work;
                let what = format!("M{exponent}, {length} words, variant {variant}, {flip:?}");
                return Err(format!("{what}: a wrong residue passed"));
            }
            Err(EngineError::WrongSquaring { .. } | EngineError::RoundOff { .. }) => false,
            Err(other) => return Err(message(other)),
        };
        fates.entry(place).or_default()[usize::from(harmless)] += 1;
    }
    let sum = |k: usize| fates.values().map(|fate| fate[k]).sum::<u64>();
    let (noticed, harmless) = (sum(0), sum(1));
    let each = fates.iter().map(|(place, [noticed, harmless])| {
        format!("{} {noticed} and {harmless}", format!("{place:?}").to_lowercase())
    });
    let each = each.collect::<Vec<_>>().join(", ");
    let says = format!(
        "{noticed} of {count} flips noticed, {harmless} without effect ({each}), no wrong residue passed"
    );
    if fates.values().all(|fate| fate[0] > 0) { Ok(says) } else { Err(says) }
}
