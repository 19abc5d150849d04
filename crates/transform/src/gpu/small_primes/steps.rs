//! The steps of a transform, which the parent module describes, and the measurement of their times.

use std::sync::MutexGuard;
use std::time::Duration;

use warpint_device::{Cells, Device, DeviceError, View};

use super::error::SmallPrimesError;
use crate::gpu::spectra::Spectra50Error;

/// A step of a transform by small primes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The products of the elements x_j by chirps c_j, before the transforms.
    ChirpBefore,
    /// The computation of residues from elements.
    Projection,
    /// The transforms modulo the small primes, and the products with fixed spectra.
    Transforms,
    /// The computation of elements from residues.
    Recombination,
    /// The products by chirps c_i, after the transforms.
    ChirpAfter,
}

/// The time of each step of a transform by the device's clock.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepTimes {
    /// The time of the products by chirps, before and after the transforms.
    pub chirps: Duration,
    /// The time of mapping elements to residues.
    pub projection: Duration,
    /// The time of transforms modulo the small primes, and of products with fixed spectra.
    pub transforms: Duration,
    /// The time of mapping residues to elements.
    pub recombination: Duration,
}

impl StepTimes {
    fn new(steps: &[Step], times: &[Duration]) -> Self {
        let mut all = Self::default();
        for (step, &time) in steps.iter().zip(times) {
            let of = match step {
                Step::ChirpBefore | Step::ChirpAfter => &mut all.chirps,
                Step::Projection => &mut all.projection,
                Step::Transforms => &mut all.transforms,
                Step::Recombination => &mut all.recombination,
            };
            *of += time;
        }
        all
    }

    /// Returns the sum of the times of all steps.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.chirps + self.projection + self.transforms + self.recombination
    }
}

/// A plan of transforms that consist of steps.
pub(super) trait Stepped {
    /// The type of the working memory, which holds the results of steps for later steps.
    type Work;

    /// The steps of a transform, in order.
    const STEPS: &'static [Step];

    fn device(&self) -> &Device;

    /// Locks the working memory. The caller holds the lock until all steps of a transform are
    /// launched.
    fn work(&self) -> MutexGuard<'_, Self::Work>;

    /// Returns an error unless `data` and `out` each have the length of a batch of the plan.
    fn fits(&self, data: View<'_, u64>, out: Cells<'_, u64>) -> Result<(), SmallPrimesError>;

    fn step(
        &self,
        step: Step,
        inverse: bool,
        vectors: (View<'_, u64>, Cells<'_, u64>),
        work: &mut Self::Work,
    ) -> Result<(), SmallPrimesError>;
}

/// Computes the transforms of the vectors in `data`, or the inverse transforms if `inverse` is
/// true, and writes them to `out`.
pub(super) fn run<P: Stepped>(
    plan: &P,
    inverse: bool,
    data: View<'_, u64>,
    out: Cells<'_, u64>,
) -> Result<(), SmallPrimesError> {
    plan.fits(data, out)?;
    let work = &mut *plan.work();
    P::STEPS.iter().try_for_each(|&step| plan.step(step, inverse, (data, out), work))
}

/// Computes the transforms of the vectors in `data`, writes them to `out`, and returns the time of
/// each step by the device's clock.
pub(super) fn times<P: Stepped>(
    plan: &P,
    data: View<'_, u64>,
    out: Cells<'_, u64>,
) -> Result<StepTimes, SmallPrimesError> {
    plan.fits(data, out)?;
    let work = &mut *plan.work();
    let run = |i: usize| plan.step(P::STEPS[i], false, (data, out), work).map_err(device_error);
    Ok(StepTimes::new(P::STEPS, &plan.device().times(P::STEPS.len(), run)?))
}

/// Converts the error of a step to a [`DeviceError`]. An error that is not an error of the device
/// becomes [`DeviceError::Failed`].
fn device_error(error: SmallPrimesError) -> DeviceError {
    match error {
        SmallPrimesError::Device(error) | SmallPrimesError::Ntt(Spectra50Error::Device(error)) => {
            error
        }
        other => DeviceError::Failed { what: "a step".into(), message: other.to_string() },
    }
}
