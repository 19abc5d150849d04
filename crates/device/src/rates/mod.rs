//! Measures the rates of a device: products and transforms modulo 2^64 − 2^32 + 1 in registers,
//! memory, launches, and FP64. The results of the measured kernels are verified, except for FP64.

mod field;
mod memory;

use std::time::Duration;

use crate::{Device, DeviceError, Fp64Rate, Source, fp64_rate};

pub use field::{InRegisters, MeasuredTransforms};
pub use memory::{CopyRate, copies};

/// The measured rates of a device.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// The rate of products a·b mod 2^64 − 2^32 + 1, each reduced to 64 bits.
    pub products: InRegisters,
    /// The rates of transforms of 16 and of 32 points. They include the reduction of each output to
    /// 64 bits.
    pub transforms: Vec<MeasuredTransforms>,
    /// The rates of reading, adding 1 and writing, for buffers of several sizes.
    pub copies: Vec<CopyRate>,
    /// The mean time from the beginning of one kernel to the beginning of the next kernel, in a
    /// graph of kernels that do almost nothing.
    pub kernel_period: Duration,
    /// The rates of fused multiply-adds in double and single precision.
    pub fp64: Fp64Rate,
}

impl Rates {
    /// Returns the measured copy whose size is nearest to `bytes`. Nearness is measured by the
    /// ratio of the sizes. Returns `None` if no copy was measured. The size matters because buffers
    /// that fit in a cache are faster.
    #[must_use]
    pub fn copy_near(&self, bytes: u64) -> Option<&CopyRate> {
        let apart = |copy: &CopyRate| (copy.bytes as f64 / bytes.max(1) as f64).ln().abs();
        self.copies.iter().min_by(|a, b| apart(a).total_cmp(&apart(b)))
    }
}

/// The effort of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Measures long enough for valid rates. Takes a few seconds on a GPU.
    Whole,
    /// Runs a few operations of each kind, which verifies their results but gives no valid rates.
    /// This effort is meant for the simulator.
    Few,
}

/// Measures all rates of a device.
///
/// # Errors
/// No compiler was found, a kernel cannot be compiled, the device fails, or a result is wrong.
pub fn rates(device: &Device, effort: Effort) -> Result<Rates, DeviceError> {
    let radices = [16, 32];
    let transforms: Result<_, _> =
        radices.iter().map(|&radix| field::transforms(device, radix, effort)).collect();
    Ok(Rates {
        products: field::products(device, effort)?,
        transforms: transforms?,
        copies: memory::copies(device, effort)?,
        kernel_period: memory::kernel_period(device, effort)?,
        fp64: match effort {
            Effort::Whole => fp64_rate(device)?,
            Effort::Few => crate::fp64_rate::for_at_least(device, Duration::ZERO)?,
        },
    })
}

/// Returns the sources of the kernels in this crate, so that they can be compiled without a device.
#[must_use]
pub fn own_sources() -> Vec<Source> {
    let bench = [field::products_source(), field::transforms_source(16)];
    let more = [field::transforms_source(32), memory::source(), crate::fp64_rate::source()];
    bench.into_iter().chain(more).collect()
}

fn wrong(what: &str, found: u64, expected: u64) -> DeviceError {
    DeviceError::Failed {
        what: what.into(),
        message: format!("the result is {found:#x}, not {expected:#x}"),
    }
}

#[cfg(all(test, feature = "sim"))]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_copy_is_so_by_ratio() {
        let mut rates = rates(&Device::simulator().unwrap(), Effort::Few).unwrap();
        let of = |mib: u64| CopyRate { bytes: mib << 20, in_place: 1.0, between: 1.0 };
        rates.copies = vec![of(8), of(64), of(512)];
        for (mib, nearest) in [(1, 8), (20, 8), (25, 64), (144, 64), (200, 512), (4096, 512)] {
            let found = rates.copy_near(mib << 20).unwrap().bytes >> 20;
            assert_eq!(found, nearest, "{mib}");
        }
        rates.copies.clear();
        assert_eq!(rates.copy_near(1 << 20), None);
    }

    #[test]
    fn the_simulator_computes_rightly_what_is_measured() {
        let rates = rates(&Device::simulator().unwrap(), Effort::Few).unwrap();
        assert!(rates.products.per_clock > 0.0 && rates.products.clock_hz > 0.0, "{rates:?}");
        assert_eq!(rates.transforms.iter().map(|t| t.radix).collect::<Vec<_>>(), [16, 32]);
        assert!(!rates.copies.is_empty() && rates.fp64.fp64 > 0.0);
    }
}
