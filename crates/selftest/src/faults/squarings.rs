//! Faults of devices during squarings of a Lucas–Lehmer test. The check of every squaring must
//! detect them.

use rand::RngExt;
use warpint_device::Device;
use warpint_mersenne::engine::fp64_gpu::Fp64On;
use warpint_mersenne::engine::goldilocks::Goldilocks;
use warpint_mersenne::{BuildOptions, Engine, EngineError, EngineFamily, Residue, Shift, Step};

use super::on_device::{Extent, Fate, Fates, Faults, Sizes, Suite};
use super::wrappers::{DeviceFault, FaultyDevice};
use crate::SEED;
use crate::sample::random;

pub(super) const SUITE: Suite = Suite { name: "squarings", fates, death_is_noticed: true };

/// A sequence of squarings in parts, as a test with checkpoints makes them.
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
    /// Creates the work for a device, and computes its result in exact arithmetic on the CPU.
    fn new(sizes: &Sizes) -> Result<Self, String> {
        // The second part of the work on a GPU contains graphs, and a new root is drawn in it.
        let (exponent, length, parts) = if sizes.log2 < 8 {
            (4_423u32, 256, [3, 5, 2])
        } else {
            (167_423, 9 << 10, [100, 1_000, 50])
        };
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
    let work = Work::new(sizes)?;
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
/// its own: in spectra, digits, hand-over words of carries, tables and sums. Returns a line with the
/// numbers of flips that were noticed and of those that left the residue unchanged.
///
/// # Errors
/// A wrong residue passed, or no flip was noticed.
pub fn flip_squarings(device: &Device, count: u64) -> Result<String, String> {
    let draw = |rng: &mut crate::sample::Random, of: Extent| DeviceFault::FlippedMemory {
        launch: rng.random_range(0..of.launches()),
        bit: rng.random(),
    };
    fates(device, &Sizes::of(device), Faults { count, draw })?.counted()
}
