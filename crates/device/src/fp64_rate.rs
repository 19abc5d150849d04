//! Measures the rates of a device in double and single precision, and decides whether double
//! precision (FP64) runs at full rate.

use std::time::Duration;

use bytemuck::Pod;

use crate::{Arg, Buffer, Device, DeviceError, Kernel, Launch, Source};

/// The number of independent chains of multiply-adds per thread, enough to hide the latency of one
/// multiply-add.
const CHAINS: u32 = 8;
const THREADS: u32 = 256;
/// The number of blocks per multiprocessor. A multiprocessor cannot hold this many blocks at once.
const BLOCKS: u32 = 16;
/// The shortest duration of a measurement. Compared with it, the overhead of a launch is
/// negligible.
const LONG_ENOUGH: Duration = Duration::from_millis(4);
const MOST_STEPS: u32 = 1 << 20;

/// The rates of a device: numbers of fused multiply-adds per second, summed over all
/// multiprocessors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fp64Rate {
    /// The number of fused multiply-adds per second in double precision.
    pub fp64: f64,
    /// The number of fused multiply-adds per second in single precision.
    pub fp32: f64,
}

impl Fp64Rate {
    /// Returns fp64/fp32, which is 1/2 on data-centre GPUs, and 1/32 or 1/64 on others.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.fp64 / self.fp32
    }

    /// Returns whether FP64 runs at a quarter of the FP32 rate or more.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.ratio() >= 0.25
    }
}

/// Measures the rates of fused multiply-adds in double and single precision. Takes well under a
/// second.
///
/// # Errors
/// No compiler was found, the kernels cannot be compiled, or the device fails.
pub fn fp64_rate(device: &Device) -> Result<Fp64Rate, DeviceError> {
    for_at_least(device, LONG_ENOUGH)
}

/// Measures the same rates as [`fp64_rate`]. Launches are lengthened until a launch takes at least
/// the time `long` or has the largest number of steps.
pub(crate) fn for_at_least(device: &Device, long: Duration) -> Result<Fp64Rate, DeviceError> {
    let program = device.program(&source())?;
    Ok(Fp64Rate {
        fp64: rate::<f64>(device, &program.kernel("fma64", 0)?, long)?,
        fp32: rate::<f32>(device, &program.kernel("fma32", 0)?, long)?,
    })
}

pub(crate) fn source() -> Source {
    Source::new("fp64_rate.cu", include_str!("../kernels/fp64_rate.cu"), &["fma64", "fma32"])
        .define("CHAINS", CHAINS)
}

fn rate<T: Pod>(device: &Device, kernel: &Kernel, long: Duration) -> Result<f64, DeviceError> {
    let blocks = device.info().multiprocessors.max(1) * BLOCKS;
    let threads = blocks * THREADS;
    let mut out: Buffer<T> = device.alloc(threads as usize)?;
    let mut time = |steps: u32| {
        let args = [Arg::from(&mut out), Arg::F64(0.5), Arg::F64(1.0), Arg::U32(steps)];
        // SAFETY: each thread writes one number of the kernel's type, which is T.
        device.time(|| unsafe { kernel.launch(Launch::linear(blocks, THREADS), &args) })
    };
    // The first launch loads the code and raises the clocks.
    let mut steps = 256;
    time(steps)?;
    loop {
        let taken = time(steps)?;
        if taken >= long || steps >= MOST_STEPS {
            let done = f64::from(threads) * f64::from(CHAINS) * f64::from(steps);
            return Ok(done / taken.as_secs_f64().max(1e-9));
        }
        steps *= 4;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Nvrtc;

    #[test]
    fn full_rate_is_a_quarter_or_more() {
        for (fp64, full) in [(33e12, true), (17e12, true), (16e12, false), (1e12, false)] {
            assert_eq!(Fp64Rate { fp64, fp32: 67e12 }.is_full(), full);
        }
    }

    #[test]
    fn the_chains_stay_in_registers() {
        let Ok(nvrtc) = Nvrtc::find(None) else { return };
        for &architecture in nvrtc.architectures() {
            let log = nvrtc.compile(&source(), architecture).unwrap().log;
            let frames: Vec<_> = log.lines().filter(|l| l.contains("stack frame")).collect();
            assert_eq!(frames.len(), 2, "sm_{architecture}: {log}");
            for frame in frames {
                assert!(frame.contains("0 bytes stack frame, 0 bytes spill"), "{log}");
            }
        }
    }
}
