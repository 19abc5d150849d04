//! What a device reaches: products and transforms of the field 2^64 − 2^32 + 1
//! in registers, memory, launches, FP64. All results are compared with the CPU's.

mod field;
mod memory;

use std::time::Duration;

use crate::{Device, DeviceError, Fp64Rate, Source, fp64_rate};

pub use field::{InRegisters, MeasuredTransforms};
pub use memory::CopyRate;

/// What a device reaches.
#[derive(Debug, Clone, PartialEq)]
pub struct Rates {
    /// Products a·b mod 2^64 − 2^32 + 1, settled to 64 bits.
    pub products: InRegisters,
    /// Transforms of 16 and of 32 points, with their biases and reductions to 64 bits.
    pub transforms: Vec<MeasuredTransforms>,
    /// Reading, adding 1 and writing, at several sizes.
    pub copies: Vec<CopyRate>,
    /// From one kernel to the next in a graph, when they do nothing.
    pub kernel_period: Duration,
    /// Fused multiply-adds.
    pub fp64: Fp64Rate,
}

/// How long to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// A few seconds, on a GPU.
    Whole,
    /// A few operations of each kind, which shows that results are right and
    /// nothing else: for the simulator.
    Few,
}

/// Measures everything.
///
/// # Errors
/// No compiler, anything that fails on the device, and a wrong result.
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

/// The sources of this crate's own kernels, for those who compile without a device.
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
    fn the_simulator_computes_rightly_what_is_measured() {
        let rates = rates(&Device::simulator().unwrap(), Effort::Few).unwrap();
        assert!(rates.products.per_clock > 0.0 && rates.products.clock_hz > 0.0, "{rates:?}");
        assert_eq!(rates.transforms.iter().map(|t| t.radix).collect::<Vec<_>>(), [16, 32]);
        assert!(!rates.copies.is_empty() && rates.fp64.fp64 > 0.0);
    }
}
