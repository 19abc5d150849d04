//! Faults under batches and transforms: of whole devices, and of the host's memory.

use std::time::Instant;

use rand::RngExt;
use warpint_device::Device;

use super::wrappers::{DeviceFault, FaultyDevice};
use super::{FaultReport, batch, transform};
use crate::Summary;
use crate::sample::Random;

/// Work on devices that must survive faults.
pub(super) struct Suite {
    pub(super) name: &'static str,
    /// A function that makes some faults in each piece of the work, and returns their effects. The
    /// given device is sound; faulty ones are made from it.
    pub(super) fates: fn(&Device, &Sizes, Faults) -> Result<Fates, String>,
    /// Whether the death of a device must be noticed at every launch; at a launch of the check it
    /// may have no effect.
    pub(super) death_is_noticed: bool,
}

const SUITES: [Suite; 2] = [batch::SUITE, transform::SUITE];

/// The numbers of launches and downloads of a piece of work on a sound device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    launches: u64,
    downloads: u64,
}

impl Extent {
    pub(super) fn of(device: &FaultyDevice) -> Self {
        Self { launches: device.launches(), downloads: device.downloads() }
    }
}

/// Faults of devices under a piece of work.
#[derive(Debug, Clone, Copy)]
pub(super) struct Faults {
    /// The number of faults to make.
    count: u64,
    /// A function that draws one fault.
    draw: fn(&mut Random, Extent) -> DeviceFault,
}

/// A fault of devices with its name.
struct DeviceCase {
    name: &'static str,
    run: fn(&Suite, &Device, &Sizes) -> Result<String, String>,
}

const CASES: [DeviceCase; 5] = [
    DeviceCase { name: "a_dead_device", run: a_dead_device },
    DeviceCase { name: "a_device_that_dies", run: a_device_that_dies },
    DeviceCase { name: "downloads_of_zeros", run: downloads_of_zeros },
    DeviceCase { name: "flips_of_downloads", run: flips_of_downloads },
    DeviceCase { name: "flips_of_buffers", run: flips_of_buffers },
];

/// Tests a device whose launches do nothing, from the first on.
fn a_dead_device(suite: &Suite, device: &Device, sizes: &Sizes) -> Result<String, String> {
    let faults = Faults { count: 1, draw: |_, _| DeviceFault::Dead { from: 0 } };
    (suite.fates)(device, sizes, faults)?.all_noticed()
}

/// Tests devices whose launches do nothing from some launch on.
fn a_device_that_dies(suite: &Suite, device: &Device, sizes: &Sizes) -> Result<String, String> {
    let faults = Faults {
        count: sizes.flips.min(4),
        draw: |rng, of| DeviceFault::Dead { from: rng.random_range(0..of.launches) },
    };
    let fates = (suite.fates)(device, sizes, faults)?;
    if suite.death_is_noticed { fates.all_noticed() } else { fates.counted() }
}

/// Tests a device whose downloads are all zero: results, flags and witnesses.
fn downloads_of_zeros(suite: &Suite, device: &Device, sizes: &Sizes) -> Result<String, String> {
    let faults = Faults { count: 1, draw: |_, _| DeviceFault::Zeros { from: 0 } };
    (suite.fates)(device, sizes, faults)?.all_noticed()
}

/// Tests devices on which bits of results, flags and witnesses flip on their way to the host.
fn flips_of_downloads(suite: &Suite, device: &Device, sizes: &Sizes) -> Result<String, String> {
    let faults = Faults {
        count: sizes.flips,
        draw: |rng, of| DeviceFault::FlippedDownload {
            download: rng.random_range(0..of.downloads),
            bit: rng.random(),
        },
    };
    (suite.fates)(device, sizes, faults)?.counted()
}

/// Tests devices in whose memory bits of operands, tables and results flip.
fn flips_of_buffers(suite: &Suite, device: &Device, sizes: &Sizes) -> Result<String, String> {
    let faults = Faults {
        count: sizes.flips,
        draw: |rng, of| DeviceFault::FlippedMemory {
            launch: rng.random_range(0..of.launches),
            bit: rng.random(),
        },
    };
    (suite.fates)(device, sizes, faults)?.counted()
}

/// The name of a fault, and the work on the CPU that must survive it.
pub(super) type CpuCase = (&'static str, fn() -> Result<String, String>);

/// The amount of work in each case.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// The count of numbers in a batch, and the number of their limbs of 32 bits.
    pub batch: (usize, usize),
    /// The number of bits flipped in each operation, and in each transform.
    pub flips: u64,
    /// log2 of the number of elements of a transform.
    pub log2: u32,
}

impl Sizes {
    /// Returns sizes for some seconds on a GPU, or for the simulator.
    #[must_use]
    pub fn of(device: &Device) -> Self {
        let is_simulator = device.info().compute_capability == (0, 0);
        if is_simulator {
            Self { batch: (6, 2), flips: 2, log2: 4 }
        } else {
            Self { batch: (100, 32), flips: 10, log2: 14 }
        }
    }
}

/// Runs every fault of batches (`batch@cuda:0::…`) and transforms (`transform@cuda:0::…`) on a
/// device, in the same way as [`super::run`] for families.
pub fn run_on_device(
    device: &Device,
    sizes: &Sizes,
    filter: Option<&str>,
    report: &mut dyn FnMut(&FaultReport),
) -> Summary {
    let mut summary = Summary::default();
    for suite in &SUITES {
        let place = format!("{}@{}", suite.name, device.info().id);
        for case in &CASES {
            let run = || (case.run)(suite, device, sizes);
            one(&place, case.name, filter, &mut summary, report, run);
        }
    }
    summary
}

/// Runs the faults of results of the CPU that change in memory: `batch::…`, `transform::…`. Takes
/// some seconds.
pub fn run_on_cpu(filter: Option<&str>, report: &mut dyn FnMut(&FaultReport)) -> Summary {
    let mut summary = Summary::default();
    for (suite, cases) in [("batch", batch::ON_CPU), ("transform", transform::ON_CPU)] {
        for (name, run) in cases {
            one(suite, name, filter, &mut summary, report, run);
        }
    }
    summary
}

/// Runs a case unless the filter leaves it out.
fn one(
    suite: &str,
    fault: &'static str,
    filter: Option<&str>,
    summary: &mut Summary,
    report: &mut dyn FnMut(&FaultReport),
    run: impl FnOnce() -> Result<String, String>,
) {
    if filter.is_some_and(|f| !format!("{suite}::{fault}").contains(f)) {
        return;
    }
    let begun = Instant::now();
    let result = run();
    match &result {
        Ok(_) => summary.passed += 1,
        Err(_) => summary.failed += 1,
    }
    let family = suite.to_owned();
    report(&FaultReport { family, fault, result, elapsed: begun.elapsed() });
}

/// The effect of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The check refused the results of the device, or the device reported an error.
    Noticed,
    /// The results are right and passed.
    Harmless,
    /// The fault was never made.
    NotMade,
}

/// The numbers of faults by effect.
#[derive(Debug, Default)]
pub(super) struct Fates {
    noticed: u64,
    harmless: u64,
}

impl Fates {
    /// Adds the effects of faults in a piece of work, which `run` repeats with each fault.
    ///
    /// # Errors
    /// Returns errors of `run`, and an error if a fault was never made, which proves nothing.
    pub(super) fn add(
        &mut self,
        what: &str,
        (rng, extent, faults): (&mut Random, Extent, Faults),
        run: impl Fn(DeviceFault) -> Result<Fate, String>,
    ) -> Result<(), String> {
        for _ in 0..faults.count {
            let fault = (faults.draw)(rng, extent);
            let told = |why: String| format!("{what}, {fault:?}: {why}");
            match run(fault).map_err(told)? {
                Fate::Noticed => self.noticed += 1,
                Fate::Harmless => self.harmless += 1,
                Fate::NotMade => return Err(told("the fault was never made".into())),
            }
        }
        Ok(())
    }

    /// # Errors
    /// Returns an error if a fault that must be noticed was not.
    pub(super) fn all_noticed(&self) -> Result<String, String> {
        let all = self.noticed + self.harmless;
        if self.harmless > 0 || all == 0 {
            return Err(format!("{} of {all} faults noticed", self.noticed));
        }
        Ok(format!("{all} of {all} faults noticed"))
    }

    /// # Errors
    /// Returns an error if no fault was noticed, since then none had an effect.
    pub(super) fn counted(&self) -> Result<String, String> {
        let Self { noticed, harmless } = self;
        let all = noticed + harmless;
        let says = format!(
            "{noticed} of {all} faults noticed, {harmless} without effect, no wrong result passed"
        );
        if *noticed > 0 { Ok(says) } else { Err(says) }
    }
}
