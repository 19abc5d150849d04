//! How long products take on a device.

use std::time::Duration;

use rayon::prelude::*;
use warpint_device::{Buffer, DeviceError, Effort};

use super::{Gpu, Operand, Part, Step};

/// Limbs of each operand in a batch.
const LIMBS: usize = 1 << 25;

/// Those on the simulator, whose times mean nothing.
const FEW_LIMBS: usize = 1 << 10;

/// A run takes as long, if the batch has products enough. For as long the device works before those
/// that are timed, which brings it to its clock.
const RUN: Duration = Duration::from_millis(20);

/// Runs that are timed.
const RUNS: usize = 5;

/// Times products of drawn numbers, in batches of up to 128 MiB, as the free memory has room.
#[derive(Debug)]
pub struct ProductTimer {
    factors: Factors,
    out: Buffer<u32>,
    effort: Effort,
}

/// Drawn numbers on a device.
#[derive(Debug)]
struct Factors {
    gpu: Gpu,
    a: Buffer<u32>,
    b: Buffer<u32>,
}

impl Factors {
    /// Submits so many products.
    fn submit(&self, step: &Step, count: usize, out: &mut Buffer<u32>) -> Result<(), DeviceError> {
        let operand = |data| Operand::new(data, step.last, false);
        let b = (!step.way.square).then(|| operand(&self.b));
        self.gpu.multiply_by(step.way.method, Part::Full, operand(&self.a), b, count, out)
    }
}

impl ProductTimer {
    /// Takes memory for operands and results there.
    ///
    /// # Errors
    /// No memory, anything that fails on the device.
    pub fn new(gpu: &Gpu, effort: Effort) -> Result<Self, DeviceError> {
        let most = if effort == Effort::Whole { LIMBS } else { FEW_LIMBS };
        let device = gpu.device();
        // Operands and results take four parts of five; blocks need some too.
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

    /// Compiles what some steps need, as many at a time as there are cores. What fails here is
    /// seen by [`Self::time`].
    pub fn compile(&self, steps: &[Step]) {
        let submit = |step: &Step| {
            let mut out = self.factors.gpu.device().alloc(2 * step.last)?;
            self.factors.submit(step, 1, &mut out)
        };
        steps.par_iter().for_each(|step| drop(submit(step)));
    }

    /// Nanoseconds of a product of the widest factors of a step: the median of five runs, by the
    /// device's clock.
    ///
    /// # Errors
    /// The kernel cannot be compiled, the device fails, or has no memory for a product.
    pub fn time(&mut self, step: &Step) -> Result<f64, DeviceError> {
        let Self { factors, out, .. } = self;
        let device = factors.gpu.device();
        let whole = self.effort == Effort::Whole;
        // Where there is no room for one, it is refused.
        let all = (factors.a.len() / step.last).max(1);
        // So that all multiprocessors have something to do.
        let mut count = (2 * device.info().multiprocessors as usize).clamp(1, all);
        factors.submit(step, count, out)?;
        let mut once = device.time(|| factors.submit(step, count, out))?;
        while whole && once < RUN && count < all {
            count = ((count as f64 * per(RUN, once).max(2.0)) as usize).min(all);
            once = device.time(|| factors.submit(step, count, out))?;
        }
        let before = if whole { per(RUN, once) as usize } else { 0 };
        // The last of them gives the host a lead.
        (0..=before).try_for_each(|_| factors.submit(step, count, out))?;
        let mut times = device.times(RUNS, |_| factors.submit(step, count, out))?;
        times.sort_unstable();
        let median = times.get(RUNS / 2).copied().unwrap_or_default();
        Ok(median.max(LEAST).as_secs_f64() * 1e9 / count as f64)
    }
}

/// Nothing takes no time, whatever a coarse clock says.
const LEAST: Duration = Duration::from_micros(1);

/// How often one time has room in another.
fn per(time: Duration, of: Duration) -> f64 {
    time.as_secs_f64() / of.max(LEAST).as_secs_f64()
}
