//! Measures transforms on a device.

use warpint_device::{Device, DeviceError, Effort, Rates, rates};
use warpint_transform::gpu::ntt::{Ntt, NttRequest};
use warpint_transform::{Order, Plan};

use super::elements::Elements;
use super::field::Measured;
use super::row::{Floors, Row, Transforms};
use super::{Case, Place};
use crate::error::if_it_fits;
use crate::timing::DeviceTimer;
use crate::{BenchError, is_simulator, vectors};

#[derive(Debug)]
pub(super) struct OnDevice<F> {
    field: F,
    device: Device,
    rates: Rates,
    timer: DeviceTimer,
}

impl<F: Measured> OnDevice<F> {
    pub(super) fn new(field: F, device: Device, runs: Option<usize>) -> Result<Self, DeviceError> {
        let effort = if is_simulator(&device) { Effort::Few } else { Effort::Whole };
        let timer = DeviceTimer::new(&device, runs)?;
        Ok(Self { field, rates: rates(&device, effort)?, device, timer })
    }

    fn transforms(&mut self, case: Case) -> Result<Transforms, BenchError> {
        let Case { order, batch, .. } = case;
        let elements = Elements::new(self.field, case);
        let request = NttRequest::new(case.length()).batch(batch).order(order);
        let plan = Ntt::over(&self.device, &[self.field], request)?;
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
                    "output {k} of vector {vector} is wrong: it is {found}, not {expected}"
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
        let forward = self.timer.times(passes, || plan.forward(&mut x))?;
        let inverse = self.timer.times(passes, || plan.inverse(&mut x))?;
        let in_place = order == Order::BitReversed || passes == 1;
        let copies = self.rates.copy_near(8 * plan.size() as u64);
        let copy_rate =
            copies.map_or(0.0, |copy| if in_place { copy.in_place } else { copy.between });
        let levels = F::levels_per_second(&self.rates);
        let floors = Floors::new(case, passes, forward.us, copy_rate, levels);
        let transforms = Transforms::new(case, forward, inverse, looked_at.len());
        Ok(Transforms { floors: Some(floors), ..transforms })
    }
}

impl<F: Measured> Place for OnDevice<F> {
    fn row(&mut self, case: Case) -> Result<Row, BenchError> {
        let done = if_it_fits(self.transforms(case))?;
        Ok(Row::new(case, done.map_err(|full| full.to_string())))
    }
}
