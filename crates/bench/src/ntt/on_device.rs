//! Measures transforms modulo 2^64 − 2^32 + 1 on a device.

use std::time::Duration;

use warpint_device::{Buffer, Device, DeviceError, Effort, Rates, rates};
use warpint_transform::gpu::goldilocks::{Ntt64, Ntt64Error, Ntt64Request};
use warpint_transform::{Order, Plan};

use super::elements::Elements;
use super::row::{Floors, Row, Transforms};
use super::{Case, Place};
use crate::columns::Times;
use crate::error::if_it_fits;
use crate::{BenchError, is_simulator, timing, vectors};

/// A run of transforms that take less than this is repeated within the timed span, because the clock
/// of a device has a resolution of about half a microsecond.
const SPAN: Duration = Duration::from_micros(100);
/// The largest number of repetitions within a timed span.
const MOST_REPEATED: usize = 32;
/// The largest number of launches that are submitted while the device is kept busy. The queue of a
/// device has room for more.
const MOST_QUEUED: usize = 500;
/// The time of a run for which the host submits the next run before the device has ended this one.
const LONG_TO_SUBMIT: Duration = Duration::from_millis(2);

/// Work for a device that takes some milliseconds, during which the host submits timed work. Without
/// it the device would wait for the host between short kernels.
#[derive(Debug)]
struct Busy {
    from: Buffer<u64>,
    to: Buffer<u64>,
}

impl Busy {
    /// The number of words of a copy, 64 MiB, which takes at least 30 µs.
    const WORDS: usize = 8 << 20;
    const COPIES: usize = 64;

    fn new(device: &Device) -> Result<Self, DeviceError> {
        let mut from = device.alloc(Self::WORDS)?;
        from.clear()?;
        Ok(Self { from, to: device.alloc(Self::WORDS)? })
    }

    fn submit(&mut self) -> Result<(), DeviceError> {
        (0..Self::COPIES).try_for_each(|_| self.to.copy_from(&self.from))
    }
}

#[derive(Debug)]
pub(super) struct OnDevice {
    device: Device,
    rates: Rates,
    runs: Option<usize>,
    /// `None` on the simulator, where times have no meaning.
    busy: Option<Busy>,
}

impl OnDevice {
    pub(super) fn new(device: Device, runs: Option<usize>) -> Result<Self, DeviceError> {
        let is_real = !is_simulator(&device);
        let effort = if is_real { Effort::Whole } else { Effort::Few };
        let busy = if is_real { Some(Busy::new(&device)?) } else { None };
        Ok(Self { rates: rates(&device, effort)?, device, runs, busy })
    }

    /// Times several runs of `work`, which submits `launches` kernels and must have been performed
    /// once before, so that kernels are compiled.
    fn times(
        &mut self,
        launches: usize,
        mut work: impl FnMut() -> Result<(), Ntt64Error>,
    ) -> Result<Times, BenchError> {
        const LONG: Duration = Duration::from_millis(20);
        let once: Duration = timing::on_device(&self.device, 1, &mut work)?.into_iter().sum();
        let Some(busy) = &mut self.busy else {
            let runs = self.runs.unwrap_or(3);
            return Ok(Times::new(timing::on_device(&self.device, runs, work)?));
        };
        let runs = self.runs.unwrap_or(timing::usual_runs(once, LONG));
        let (repeated, group) = spans(once, launches);
        let mut times = vec![];
        while times.len() < runs {
            if once < LONG_TO_SUBMIT {
                busy.submit()?;
            } else {
                work()?;
            }
            let count = group.min(runs - times.len());
            let mut span = || (0..repeated).try_for_each(|_| work());
            times.extend(timing::on_device(&self.device, count, &mut span)?);
        }
        Ok(Times::new(times.into_iter().map(|time| time / repeated as u32).collect()))
    }

    fn transforms(&mut self, case: Case) -> Result<Transforms, BenchError> {
        let Case { log2, order, batch } = case;
        let elements = Elements::new(case);
        let request = Ntt64Request::new(1 << log2).batch(batch).order(order);
        let plan = Ntt64::with(&self.device, request)?;
        // Allocated first, so that the elements are not computed in vain.
        let mut x = self.device.alloc(plan.size())?;
        x.upload(&elements.words().ok_or(BenchError::NoMemory)?)?;
        plan.forward(&mut x)?;
        let looked_at = elements.looked_at();
        for &at in &looked_at {
            let Some((vector, k)) = plan.frequency(at) else { continue };
            let (found, expected) = (vectors::word(&x, at)?, elements.output(vector, k));
            if found != expected {
                let line = format!(
                    "output {k} of vector {vector} is wrong: it is {found:#x}, not {expected:#x}"
                );
                return Err(BenchError::Wrong(line));
            }
        }
        plan.inverse(&mut x)?;
        vectors::compare(&x, "the inverse transform", |part| {
            elements.part(part).ok_or(BenchError::NoMemory)
        })?;
        let passes = plan.passes();
        // The values do not matter.
        let forward = self.times(passes, || plan.forward(&mut x))?;
        let inverse = self.times(passes, || plan.inverse(&mut x))?;
        let in_place = order == Order::BitReversed || passes == 1;
        let copies = self.rates.copy_near(8 * plan.size() as u64);
        let copy_rate =
            copies.map_or(0.0, |copy| if in_place { copy.in_place } else { copy.between });
        let levels = self.rates.transforms.iter().map(|of| of.rate.per_second).fold(0.0, f64::max);
        let floors = Floors::new(case, passes, forward.us, copy_rate, levels);
        let transforms = Transforms::new(case, forward, inverse, looked_at.len());
        Ok(Transforms { floors: Some(floors), ..transforms })
    }
}

impl Place for OnDevice {
    fn row(&mut self, case: Case) -> Result<Row, BenchError> {
        let done = if_it_fits(self.transforms(case))?;
        Ok(Row::new(case, done.map_err(|full| full.to_string())))
    }
}

/// Returns the number of repetitions within a timed span of work that takes `once` and submits
/// `launches` kernels, and the number of spans that are submitted at a time.
fn spans(once: Duration, launches: usize) -> (usize, usize) {
    let repeated = SPAN.as_nanos().div_ceil(once.as_nanos().max(1)) as usize;
    let repeated = repeated.clamp(1, MOST_REPEATED);
    (repeated, (MOST_QUEUED / (repeated * launches.max(1))).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_transforms_are_repeated_within_a_span() {
        let of = |micros, launches| spans(Duration::from_micros(micros), launches);
        assert_eq!(of(0, 1), (32, 15));
        assert_eq!(of(10, 2), (10, 25));
        assert_eq!(of(70, 3), (2, 83));
        assert_eq!(of(100, 3), (1, 166));
        assert_eq!(of(1_000_000, 3), (1, 166));
        assert_eq!(of(1, 100), (32, 1));
    }
}
