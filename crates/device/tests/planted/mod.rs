//! Small kernels that use the features of CUDA that the simulator implements. Each kernel can be
//! compiled with a planted error, which the simulator or a sanitizer must find.

use warpint_device::{Arg, Device, DeviceError, Launch, Source};

/// Runs a kernel on a device and checks its result. The second argument is the name of the macro
/// that plants an error in the kernel, or `None`.
pub(crate) type Suite = fn(&Device, Option<&'static str>) -> Result<(), DeviceError>;

/// The tool that finds a planted error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finder {
    /// The simulator itself, without a sanitizer.
    Scheduler,
    /// The address sanitizer.
    Address,
    /// The thread sanitizer.
    Thread,
}

/// An error planted in a kernel.
#[derive(Debug)]
pub(crate) struct Plant {
    /// The name of the preprocessor macro that plants the error.
    pub(crate) name: &'static str,
    /// The function that runs the kernel.
    pub(crate) suite: Suite,
    /// The tool that must find the error.
    pub(crate) finder: Finder,
    /// Texts that the report must contain: file and line, and the error.
    pub(crate) report: &'static [&'static str],
}

/// All planted errors.
pub(crate) const PLANTS: &[Plant] = &[
    Plant {
        name: "PLANT_NO_BARRIER",
        suite: reduction,
        finder: Finder::Thread,
        report: &["data race", "reduction.cu:28"],
    },
    Plant {
        name: "PLANT_NO_FENCE",
        suite: carry,
        finder: Finder::Thread,
        report: &["data race", "carry.cu:24"],
    },
    Plant {
        name: "PLANT_GLOBAL_OFF_BY_ONE",
        suite: transpose,
        finder: Finder::Address,
        report: &["heap-buffer-overflow", "transpose.cu:22"],
    },
    Plant {
        name: "PLANT_SHARED_OFF_BY_ONE",
        suite: transpose,
        finder: Finder::Address,
        report: &["heap-buffer-overflow", "transpose.cu:22"],
    },
    Plant {
        name: "PLANT_SHARED_OFF_BY_ONE",
        suite: transpose,
        finder: Finder::Scheduler,
        report: &["wrote past the end of its dynamic shared memory"],
    },
    Plant {
        name: "PLANT_DIVERGENT_BARRIER",
        suite: transpose,
        finder: Finder::Scheduler,
        report: &["divergent barrier", "transpose.cu:25"],
    },
    Plant {
        name: "PLANT_MISSING_LANE",
        suite: reduction,
        finder: Finder::Scheduler,
        report: &["lanes 0x00000008 of warp", "reduction.cu:10"],
    },
    Plant {
        name: "PLANT_DEADLOCK",
        suite: carry,
        finder: Finder::Scheduler,
        report: &["deadlock", "resident blocks spin", "carry.cu:17"],
    },
];

fn source(
    name: &'static str,
    text: &'static str,
    kernel: &'static str,
    plant: Option<&'static str>,
) -> Source {
    plant
        .into_iter()
        .fold(Source::new(name, text, &[kernel]), |source, plant| source.define(plant, 1))
}

fn expect<T: PartialEq>(what: &str, result: &[T], expected: &[T]) -> Result<(), DeviceError> {
    let at = result.iter().zip(expected).position(|(a, b)| a != b);
    at.map_or(Ok(()), |at| {
        let message = format!("element {at} is wrong");
        Err(DeviceError::Failed { what: what.to_owned(), message })
    })
}

pub(crate) fn reduction(device: &Device, plant: Option<&'static str>) -> Result<(), DeviceError> {
    let text = include_str!("reduction.cu");
    let source = source("reduction.cu", text, "block_sums", plant);
    let kernel = device.program(&source)?.kernel("block_sums", 0)?;
    let numbers: Vec<u64> = (0..256 * 12).map(|i: u64| i * i).collect();
    let from = device.upload(&numbers)?;
    let sums = device.alloc::<u64>(12)?;
    // SAFETY: a block reads 256 numbers of `from` and writes one of `sums`, or more by a planted fault, which
    // a sanitizer or the simulator stops.
    unsafe { kernel.launch(Launch::linear(12, 256), &[Arg::from(&sums), Arg::from(&from)])? };
    let expected: Vec<u64> = numbers.chunks(256).map(|block| block.iter().sum()).collect();
    expect("the sum of a block", &sums.download()?, &expected)
}

pub(crate) fn transpose(device: &Device, plant: Option<&'static str>) -> Result<(), DeviceError> {
    let text = include_str!("transpose.cu");
    let source = source("transpose.cu", text, "transpose", plant);
    let bytes = 4 * (31 * 33 + 32);
    let kernel = device.program(&source)?.kernel("transpose", bytes)?;
    let n = 96;
    let numbers: Vec<u32> = (0..n * n).collect();
    let from = device.upload(&numbers)?;
    let to = device.alloc::<u32>(numbers.len())?;
    let shape = Launch { grid: [3, 3, 1], block: [32, 8, 1], shared_bytes: bytes };
    // SAFETY: both matrices have n rows and columns; planted faults as above.
    unsafe { kernel.launch(shape, &[Arg::from(&to), Arg::from(&from), Arg::U32(n)])? };
    let expected: Vec<u32> = (0..n * n).map(|i| i % n * n + i / n).collect();
    expect("a transposed matrix", &to.download()?, &expected)
}

pub(crate) fn carry(device: &Device, plant: Option<&'static str>) -> Result<(), DeviceError> {
    let source = source("carry.cu", include_str!("carry.cu"), "increment", plant);
    let kernel = device.program(&source)?.kernel("increment", 0)?;
    let blocks = 20;
    // The carry ripples through 12 blocks and half of the next.
    let ones = 12 * 64 + 32;
    let digits: Vec<u32> = (0..64 * blocks).map(|i| if i < ones { u32::MAX } else { 7 }).collect();
    let mut buffer = device.upload(&digits)?;
    let mut state = device.alloc::<u32>(1 + blocks)?;
    let carries = device.alloc::<u32>(blocks)?;
    let args = [Arg::from(&buffer), Arg::from(&state), Arg::from(&carries)];
    for _ in 0..2 {
        buffer.upload(&digits)?;
        state.clear()?;
        // SAFETY: each thread has a digit, each block a carry and a state; planted faults as above.
        unsafe { kernel.launch(Launch::linear(20, 64), &args)? };
    }
    let expected: Vec<u32> = (0..64 * blocks)
        .map(|i| if i < ones { 0 } else { digits[i] + u32::from(i == ones) })
        .collect();
    expect("an incremented number", &buffer.download()?, &expected)
}
