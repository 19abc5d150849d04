//! Measures the rates of products and transforms modulo 2^64 − 2^32 + 1 on data in registers.

use std::time::Duration;

use warpint_arith::goldilocks::{Q, canonical, mul, pow};

use super::{Effort, wrong};
use crate::{Arg, Buffer, Device, DeviceError, Kernel, Launch, Source, common};

/// The measured rate of one kind of field operations on operands in registers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InRegisters {
    /// The number of operations that one multiprocessor performs per clock cycle: the median over
    /// all multiprocessors.
    pub per_clock: f64,
    /// The number of operations per second on the whole device.
    pub per_second: f64,
    /// The clock rate of the multiprocessors during the measurement, in Hz.
    pub clock_hz: f64,
}

/// The measured rate of transforms of one size. A transform of n points has log2(n) levels, and
/// counts as n·log2(n) operations: one for each point on each level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeasuredTransforms {
    /// The number of points of a transform.
    pub radix: u32,
    /// The rate, where one operation is one point on one level.
    pub rate: InRegisters,
}

/// The number of independent chains of products per thread.
const CHAINS: u32 = 4;
/// The number of products that a chain computes in one turn of the kernel's loop.
const TURN: u32 = 16;
/// The number of threads of a block that computes products. With 1,024 threads, each of the four
/// schedulers of a multiprocessor has eight warps.
const THREADS: u32 = 1024;

/// The second factor of all products. It is not in canonical form: it is not less than the modulus
/// Q = 2^64 − 2^32 + 1.
const FACTOR: u64 = Q + 0x1234_5678;

/// The shortest duration of a measurement. Compared with it, the overhead of a launch is
/// negligible.
const LONG_ENOUGH: Duration = Duration::from_millis(20);
const MOST_TURNS: u32 = 1 << 24;

pub(super) fn products_source() -> Source {
    source("products").define("CHAINS", CHAINS).define("TURN", TURN).define("THREADS", THREADS)
}

pub(super) fn transforms_source(radix: u32) -> Source {
    source("transforms").define("RADIX", radix).define("THREADS", transform_threads(radix))
}

fn source(kernel: &'static str) -> Source {
    Source::new("field.cu", include_str!("../../kernels/bench/field.cu"), &[kernel])
        .headers(common::HEADERS)
}

/// Returns the number of threads of a block that computes transforms. Each thread has `radix`
/// points in registers, and a block has 8,192 points in all.
fn transform_threads(radix: u32) -> u32 {
    8192 / radix
}

/// Measures the rate of products a·b mod 2^64 − 2^32 + 1.
pub(super) fn products(device: &Device, effort: Effort) -> Result<InRegisters, DeviceError> {
    let kernel = device.program(&products_source())?.kernel("products", 0)?;
    let mut bench = Bench::new(device, THREADS, CHAINS)?;
    let few = [Arg::U64(FACTOR)];
    let (turns, rate) = bench.run(&kernel, &few, effort, f64::from(TURN))?;
    let power = pow(canonical(FACTOR), u64::from(turns) * u64::from(TURN));
    bench.check("a chain of products", |i| mul(i + 1, power))?;
    Ok(rate)
}

/// Measures the rate of transforms of `radix` points, 16 or 32.
pub(super) fn transforms(
    device: &Device,
    radix: u32,
    effort: Effort,
) -> Result<MeasuredTransforms, DeviceError> {
    let kernel = device.program(&transforms_source(radix))?.kernel("transforms", 0)?;
    let mut bench = Bench::new(device, transform_threads(radix), radix)?;
    let levels = f64::from(radix.ilog2());
    let (turns, rate) = bench.run(&kernel, &[], effort, levels)?;
    // Two transforms multiply by n and reverse the points; four multiply by n² and change nothing else.
    let factor = pow(radix.into(), u64::from(turns / 2));
    let what = format!("a transform of {radix} points");
    bench.check(&what, |i| mul(i + 1, factor))?;
    Ok(MeasuredTransforms { radix, rate })
}

/// A benchmark that runs one block on each multiprocessor. It includes the memory for the results.
struct Bench<'a> {
    device: &'a Device,
    blocks: u32,
    threads: u32,
    /// The number of field elements that a thread computes.
    each: u32,
    out: Buffer<u64>,
    cycles: Buffer<u64>,
}

impl<'a> Bench<'a> {
    fn new(device: &'a Device, threads: u32, each: u32) -> Result<Self, DeviceError> {
        let blocks = device.info().multiprocessors.max(1);
        let out = device.alloc((blocks * threads * each) as usize)?;
        let cycles = device.alloc(blocks as usize)?;
        Ok(Self { device, blocks, threads, each, out, cycles })
    }

    /// Measures a kernel that performs `operations` operations per element in each turn of its
    /// loop. Returns the number of turns of the measured launch, which is a multiple of 4, and the
    /// rate.
    fn run(
        &mut self,
        kernel: &Kernel,
        arguments: &[Arg],
        effort: Effort,
        operations: f64,
    ) -> Result<(u32, InRegisters), DeviceError> {
        let mut time = |turns: u32| {
            let mut args = vec![Arg::from(&mut self.out), Arg::from(&mut self.cycles)];
            args.extend_from_slice(arguments);
            args.push(Arg::U32(turns));
            let shape = Launch::linear(self.blocks, self.threads);
            // SAFETY: both kernels have these parameters, and `products` additionally the factor in
            // between. A thread writes the elements that `out` was allocated for, a block one count of
            // cycles.
            self.device.time(|| unsafe { kernel.launch(shape, &args) })
        };
        let mut turns = 4;
        // The first launch loads the code and raises the clocks.
        let mut taken = time(turns)?;
        while effort == Effort::Whole && taken < LONG_ENOUGH && turns < MOST_TURNS {
            turns *= 4;
            taken = time(turns)?;
        }
        let mut cycles = self.cycles.download()?;
        cycles.sort_unstable();
        let cycles = cycles.get(cycles.len() / 2).map_or(1, |&median| median.max(1)) as f64;
        let of_block = f64::from(self.threads * self.each) * operations * f64::from(turns);
        let seconds = taken.as_secs_f64().max(1e-9);
        let rate = InRegisters {
            per_clock: of_block / cycles,
            per_second: of_block * f64::from(self.blocks) / seconds,
            clock_hz: cycles / seconds,
        };
        Ok((turns, rate))
    }

    /// Compares the results of the last launch with the expected results. Returns an error if any
    /// element i is not congruent to `expected(i)`. `what` names the computation in the error.
    fn check(&self, what: &str, expected: impl Fn(u64) -> u64) -> Result<(), DeviceError> {
        for (i, found) in (0..).zip(self.out.download()?) {
            if canonical(found) != expected(i) {
                return Err(wrong(what, canonical(found), expected(i)));
            }
        }
        Ok(())
    }
}
