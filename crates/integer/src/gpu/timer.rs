//! Timing of products on a device.

use std::time::Duration;

use rayon::prelude::*;
use warpint_device::{Buffer, DeviceError, Effort};

use super::{Gpu, Operand, Part, Step};

/// The largest length of an operand in limbs: the limbs of all its numbers together.
const LIMBS: usize = 1 << 25;

/// Like [`LIMBS`], but with `Effort::Few`, which is for the simulator, where times have no meaning.
const FEW_LIMBS: usize = 1 << 10;

/// The least duration of a run with `Effort::Whole`, unless memory holds too few products for a run
/// of this duration. Before the timed runs, the device computes products for about the same
/// duration, so that it reaches its usual clock rate.
const RUN: Duration = Duration::from_millis(20);

/// The number of timed runs.
const RUNS: usize = 5;

/// A timer of products of random numbers. Each operand takes up to 128 MiB, or a fifth of the free
/// memory if that is less.
#[derive(Debug)]
pub struct ProductTimer {
    factors: Factors,
    out: Buffer<u32>,
    effort: Effort,
}

/// Random numbers on a device, as factors of the timed products.
#[derive(Debug)]
struct Factors {
    gpu: Gpu,
    a: Buffer<u32>,
    b: Buffer<u32>,
}

impl Factors {
    /// Starts `count` products of factors of `step.last` limbs on the device.
    fn submit(&self, step: &Step, count: usize, out: &mut Buffer<u32>) -> Result<(), DeviceError> {
        let operand = |data| Operand::new(data, step.last, false);
        let b = (!step.way.square).then(|| operand(&self.b));
        self.gpu.multiply_by(step.way.method, Part::Full, operand(&self.a), b, count, out)
    }
}

impl ProductTimer {
    /// Allocates memory for operands and results on the device.
    ///
    /// # Errors
    /// The memory cannot be allocated, or the device fails.
    pub fn new(gpu: &Gpu, effort: Effort) -> Result<Self, DeviceError> {
        let most = if effort == Effort::Whole { LIMBS } else { FEW_LIMBS };
        let device = gpu.device();
        // Operands and results take four fifths; blocks need memory too.
        let room = device.memory()?.0 / 5 / size_of::<u32>() as u64;
        let limbs = most.min(usize::try_from(room).unwrap_or(most));
        // Knuth's generator of 64 bits.
        let next = |x: &u64| Some(x.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1));
        let mut drawn = std::iter::successors(Some(1), next).map(|x| (x >> 32) as u32);
        let mut operand = || device.upload(&drawn.by_ref().take(limbs).collect::<Vec<_>>());
        let (a, b) = (operand()?, operand()?);
        let out = device.alloc(2 * limbs)?;
        Ok(Self { factors: Factors { gpu: gpu.clone(), a, b }, out, effort })
    }

    /// Compiles the kernels of `steps`, in parallel in rayon's current thread pool. Ignores
    /// failures, which [`Self::time`] reports later.
    pub fn compile(&self, steps: &[Step]) {
        let submit = |step: &Step| {
            let mut out = self.factors.gpu.device().alloc(2 * step.last)?;
            self.factors.submit(step, 1, &mut out)
        };
        steps.par_iter().for_each(|step| drop(submit(step)));
    }

    /// Returns the time of one product of factors of `step.last` limbs, in nanoseconds: the median
    /// of five runs, measured by the device's clock.
    ///
    /// # Errors
    /// The kernel cannot be compiled, the device fails, or the device has too little memory for a
    /// product.
    pub fn time(&mut self, step: &Step) -> Result<f64, DeviceError> {
        let Self { factors, out, .. } = self;
        let device = factors.gpu.device();
        let whole = self.effort == Effort::Whole;
        // Where there is no room for one, it is refused.
        let all = (factors.a.len() / step.last).max(1);
        // At least two products per multiprocessor, so that all are busy.
        let mut count = (2 * device.info().multiprocessors as usize).clamp(1, all);
        factors.submit(step, count, out)?;
        let mut once = device.time(|| factors.submit(step, count, out))?;
        while whole && once < RUN && count < all {
            count = ((count as f64 * per(RUN, once).max(2.0)) as usize).min(all);
            once = device.time(|| factors.submit(step, count, out))?;
        }
        let before = if whole { per(RUN, once) as usize } else { 0 };
        // The last of them lets the host submit ahead of the device.
        (0..=before).try_for_each(|_| factors.submit(step, count, out))?;
        let mut times = device.times(RUNS, |_| factors.submit(step, count, out))?;
        times.sort_unstable();
        let median = times.get(RUNS / 2).copied().unwrap_or_default();
        Ok(median.max(LEAST).as_secs_f64() * 1e9 / count as f64)
    }
}

/// The shortest time of a run. Shorter measured times count as this time, in case the clock is
/// coarse.
const LEAST: Duration = Duration::from_micros(1);

/// Returns the ratio of `time` to `of`, where `of` counts as at least [`LEAST`].
fn per(time: Duration, of: Duration) -> f64 {
    time.as_secs_f64() / of.max(LEAST).as_secs_f64()
}
