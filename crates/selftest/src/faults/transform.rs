//! Faults of devices during transforms. The checks of `warpint_transform::check`, which compare
//! sums at a random point, must detect them.

use rand::RngExt;
use warpint_arith::f50::F50;
use warpint_arith::field::Field;
use warpint_arith::gfn::{Gfn, PRIMES};
use warpint_arith::goldilocks::Goldilocks;
use warpint_arith::montgomery::known::BN254_SCALAR;
use warpint_device::{Buffer, Device};
use warpint_transform::Plan;
use warpint_transform::check;
use warpint_transform::cpu::Transform;
use warpint_transform::f50::primes;
use warpint_transform::gpu::gfn::GfnFft;
use warpint_transform::gpu::layout::{WordField, from_words, to_words};
use warpint_transform::gpu::prime::PrimeFft;
use warpint_transform::gpu::spectra::Spectra50;

use super::on_device::{CpuCase, Extent, Fate, Fates, Faults, Sizes, Suite};
use super::wrappers::{DeviceFault, FaultyDevice};
use crate::SEED;
use crate::sample::{Random, random};

pub(super) const SUITE: Suite = Suite { name: "transform", fates, death_is_noticed: true };

pub(super) const ON_CPU: &[CpuCase] = &[("changed_outputs", changed_outputs)];

/// The number of transforms in a batch.
const BATCH: usize = 2;

/// A kind of transform on a device, with its check. The arguments of `run` are the device, log2 of
/// the length, and a seed.
#[derive(Debug, Clone, Copy)]
struct Kind {
    name: &'static str,
    run: fn(&Device, u32, u64) -> Result<Verdict, String>,
}

const KINDS: [Kind; 4] = [
    Kind { name: "transforms over a prime field", run: prime },
    Kind { name: "products over a prime field", run: prime_products },
    Kind { name: "transforms over r^4 + 1", run: gfn },
    Kind { name: "transforms over a 50-bit prime", run: f50 },
];

/// The judgement on the results of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// The check accepted the results, and they are right.
    Right,
    /// The check refused the results.
    Refused,
    /// The check accepted the results, but they are wrong.
    Wrong,
}

impl Verdict {
    fn new<T: PartialEq>(passes: bool, found: &[T], right: &[T]) -> Self {
        match (passes, found == right) {
            (false, _) => Self::Refused,
            (true, true) => Self::Right,
            (true, false) => Self::Wrong,
        }
    }
}

fn message(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Judges `found`, which a device returned as the transforms of the vectors x of 2^log2 elements.
/// If the words of the device were not elements of the field, `found` is `None`, which counts as
/// refused.
fn judged<F: Field + Clone>(
    field: &F,
    log2: u32,
    x: &[F::Element],
    found: Option<Vec<F::Element>>,
    rng: &mut Random,
) -> Result<Verdict, String> {
    let Some(found) = found else { return Ok(Verdict::Refused) };
    // Drawn after the device has answered.
    let r = field.from_u64(rng.random());
    let passes = check::transforms(field, log2, x, &found, &r).map_err(message)?;
    let mut right = x.to_vec();
    let plan = Transform::new(field.clone(), log2).map_err(message)?;
    plan.forward(&mut right).map_err(message)?;
    Ok(Verdict::new(passes, &found, &right))
}

fn drawn<F: Field>(field: &F, count: usize, rng: &mut Random) -> Vec<F::Element> {
    (0..count).map(|_| field.from_u64(rng.random())).collect()
}

/// Returns the device's transform of x. Returns `None` if the words of the result are not elements
/// of the field.
fn transformed<F: WordField, P: Plan<Vectors = Buffer<F::Word>>>(
    device: &Device,
    field: &F,
    plan: &P,
    x: &[F::Element],
) -> Result<Option<Vec<F::Element>>, String> {
    let there = device.upload(&to_words(field, x)).map_err(message)?;
    let mut out = device.alloc(there.len()).map_err(message)?;
    plan.forward_into(&there, &mut out).map_err(message)?;
    Ok(from_words(field, &out.download().map_err(message)?))
}

fn prime(device: &Device, log2: u32, seed: u64) -> Result<Verdict, String> {
    let mut rng = random(seed);
    let field = BN254_SCALAR.field().map_err(message)?;
    let x = drawn(&field, BATCH << log2, &mut rng);
    let plan = PrimeFft::new(device, &field, log2, BATCH).map_err(message)?;
    let found = transformed(device, &field, &plan, &x)?;
    judged(&field, log2, &x, found, &mut rng)
}

fn prime_products(device: &Device, log2: u32, seed: u64) -> Result<Verdict, String> {
    let mut rng = random(seed);
    let field = BN254_SCALAR.field().map_err(message)?;
    // The factors are chosen so that no product wraps.
    let mut factor = || {
        let mut factor = drawn(&field, 1 << log2, &mut rng);
        factor[1 << (log2 - 1)..].fill(field.zero());
        factor
    };
    let (mut a, mut b) = (factor(), factor());
    let plan = PrimeFft::new(device, &field, log2, 1).map_err(message)?;
    let upload = |x: &[_]| device.upload(&to_words(&field, x)).map_err(message);
    let (mut there_a, mut there_b) = (upload(&a)?, upload(&b)?);
    plan.convolve(&mut there_a, &mut there_b).map_err(message)?;
    let found = from_words(&field, &there_a.download().map_err(message)?);
    let Some(found) = found else { return Ok(Verdict::Refused) };
    let r = field.from_u64(rng.random());
    let passes = check::product(&field, &a, &b, &found, &r).map_err(message)?;
    Transform::new(field, log2).map_err(message)?.cyclic(&mut a, &mut b).map_err(message)?;
    Ok(Verdict::new(passes, &found, &a))
}

fn gfn(device: &Device, log2: u32, seed: u64) -> Result<Verdict, String> {
    let mut rng = random(seed);
    let field = Gfn::<4>::new(PRIMES[1]).map_err(message)?;
    let x = drawn(&field, BATCH << log2, &mut rng);
    let plan = GfnFft::new(device, field.form(), log2, BATCH).map_err(message)?;
    let found = transformed(device, &field, &plan, &x)?;
    judged(&field, log2, &x, found, &mut rng)
}

fn f50(device: &Device, log2: u32, seed: u64) -> Result<Verdict, String> {
    let mut rng = random(seed);
    let field: F50 = primes(1, log2).map_err(message)?[0];
    let x = drawn(&field, BATCH << log2, &mut rng);
    let plan = Spectra50::new(device, &[field], log2, BATCH).map_err(message)?;
    let mut data = x.clone();
    data.resize(plan.size(), 0.0);
    let mut there = device.upload(&data).map_err(message)?;
    plan.forward(&mut there).map_err(message)?;
    let mut out = device.alloc(plan.size()).map_err(message)?;
    plan.natural(&there, &mut out).map_err(message)?;
    let words = out.download().map_err(message)?;
    judged(&field, log2, &x, from_words(&field, &words[..x.len()]), &mut rng)
}

/// Makes faults during each kind of transform. Returns how many were noticed, and how many were
/// harmless.
fn fates(device: &Device, sizes: &Sizes, faults: Faults) -> Result<Fates, String> {
    let mut rng = random(SEED);
    let mut fates = Fates::default();
    for kind in KINDS {
        let work = |faulty: &FaultyDevice| (kind.run)(faulty.device(), sizes.log2, SEED);
        let sound = FaultyDevice::new(device, DeviceFault::Zeros { from: u64::MAX });
        match work(&sound) {
            Ok(Verdict::Right) => {}
            other => return Err(format!("{} on a sound device: {other:?}", kind.name)),
        }
        let run = |fault| {
            let faulty = FaultyDevice::new(device, fault);
            Ok(match (work(&faulty), faulty.strikes()) {
                (Ok(Verdict::Wrong), _) => return Err("a wrong result passed".into()),
                (Ok(_), 0) => Fate::NotMade,
                (Ok(Verdict::Right), _) => Fate::Harmless,
                // An error of the device also counts as noticed.
                (Ok(Verdict::Refused) | Err(_), _) => Fate::Noticed,
            })
        };
        fates.add(kind.name, (&mut rng, Extent::of(&sound), faults), run)?;
    }
    Ok(fates)
}

/// Tests that a change of one output of a transform on the CPU is noticed.
fn changed_outputs() -> Result<String, String> {
    const COUNT: u64 = 20;
    fn of<F: Field + Clone>(field: &F, log2: u32) -> Result<u64, String> {
        let mut rng = random(SEED);
        let x = drawn(field, BATCH << log2, &mut rng);
        let mut outputs = x.clone();
        let plan = Transform::new(field.clone(), log2).map_err(message)?;
        plan.forward(&mut outputs).map_err(message)?;
        for _ in 0..COUNT {
            let mut changed = outputs.clone();
            let at = rng.random_range(0..changed.len());
            changed[at] = field.add(&changed[at], &field.from_u64(1 << rng.random_range(0..32)));
            let verdict = judged(field, log2, &x, Some(changed), &mut rng)?;
            let sound = judged(field, log2, &x, Some(outputs.clone()), &mut rng)?;
            if (verdict, sound) != (Verdict::Refused, Verdict::Right) {
                return Err(format!("output {at}: {verdict:?}, and {sound:?} without the change"));
            }
        }
        Ok(COUNT)
    }
    let noticed = of(&Goldilocks, 10)?
        + of(&BN254_SCALAR.field().map_err(message)?, 8)?
        + of(&Gfn::<4>::new(PRIMES[1]).map_err(message)?, 8)?;
    Ok(format!("{noticed} of {noticed} faults noticed"))
}
