//! Delays on a device compared with those of the CPU.

use warpint_collatz::Unwatched;
use warpint_collatz::delay::{Delays, Host, Survey};
use warpint_collatz::gpu::{DelayShape, DelaysOnDevice};
use warpint_collatz::path::path;
use warpint_device::Device;

use super::Sizes;

/// Compares a device with the CPU: sums of delays, largest delays, numbers whose paths exceed a
/// record, and individual delays. The six ranges of numbers begin just above powers of two, from
/// 2^26 to 2^90.
pub(super) fn delays(device: &Device, seed: u64, sizes: &Sizes) -> Result<(), String> {
    let mut engine = engine(device, sizes).map_err(|e| e.to_string())?;
    let mut host = Host::default();
    let numbers = if sizes.small { 1u64 << (sizes.bits - 8) } else { 1 << 25 };
    for bits in [26, 40, 47, 62, 75, 90] {
        let from = (1u128 << bits) + u128::from(seed % 1_000_000);
        let context = |e| format!("{numbers} numbers from {from}: {e}");
        // High enough that few numbers exceed it, and that all first steps are common.
        let record = (from << if sizes.small { 15 } else { 24 }).into();
        let survey = |by: &mut dyn Delays| {
            let survey = by.survey(from, numbers, Some(&record)).map_err(|e| e.to_string())?;
            let mut survey: Survey = survey.ok_or("too many candidates")?;
            // The candidates that exceed the record; which numbers are candidates depends on the
            // tables.
            survey
                .candidates
                .retain(|&n| path(&n.into(), &Unwatched).is_none_or(|path| path.maximum > record));
            Ok::<_, String>(survey)
        };
        let (found, expected) = (survey(&mut engine), survey(&mut host));
        let (found, expected) = (found.map_err(context)?, expected.map_err(context)?);
        if found != expected {
            return Err(context(format!("{found:?}, on the CPU {expected:?}")));
        }
        let few = (numbers as usize / 16).max(100);
        let mut written = [vec![0; few], vec![0; few]];
        engine.fill(from, &mut written[0]).map_err(|e| context(e.to_string()))?;
        host.fill(from, &mut written[1]).map_err(|e| context(e.to_string()))?;
        if let Some(i) = (0..few).find(|&i| written[0][i] != written[1][i]) {
            let (found, expected) = (written[0][i], written[1][i]);
            return Err(context(format!("delay {i} is {found}, on the CPU {expected}")));
        }
    }
    Ok(())
}

fn engine(device: &Device, sizes: &Sizes) -> Result<DelaysOnDevice, warpint_collatz::CollatzError> {
    if !sizes.small {
        return DelaysOnDevice::new(device);
    }
    let [step_bits, small_bits] = sizes.steps;
    let shape =
        DelayShape { step_bits, small_bits, small_shared: true, unroll: 2, threads: 64, blocks: 1 };
    let engine = DelaysOnDevice::with_shape(device, shape)?;
    Ok(engine.with_sizes(1 << 30, 0, 2).with_groups(Some(6)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_agree_on_the_simulator() {
        let device = Device::shuffled_simulator().unwrap();
        delays(&device, crate::SEED, &Sizes::few()).unwrap();
    }
}
