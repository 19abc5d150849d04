//! Faults during batch operations, transforms and checked squarings: faults of devices, and changes
//! of results in the host's memory.

use std::time::Instant;

use rand::RngExt;
use warpint_device::Device;

use super::wrappers::{DeviceFault, FaultyDevice};
use super::{FaultReport, batch, squarings, transform};
use crate::Summary;
use crate::sample::Random;

/// A kind of work on devices: operations on batches, or transforms. The checks of this work must
/// notice faults.
pub(super) struct Suite {
    pub(super) name: &'static str,
    /// A function that makes faults in each operation or transform, and returns how many faults
    /// were noticed and how many were harmless. The function wraps the given sound device into
    /// faulty devices.
    pub(super) fates: fn(&Device, &Sizes, Faults) -> Result<Fates, String>,
    /// Whether a device that stops working at any launch must be noticed. If false, this fault may
    /// be harmless, because the launch may belong to the check.
    pub(super) death_is_noticed: bool,
}

const SUITES: [Suite; 3] = [batch::SUITE, transform::SUITE, squarings::SUITE];

/// The numbers of launches and downloads that one operation or transform needs on a sound device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    launches: u64,
    downloads: u64,
}

impl Extent {
    pub(super) fn of(device: &FaultyDevice) -> Self {
        Self { launches: device.launches(), downloads: device.downloads() }
    }

    pub(super) fn launches(&self) -> u64 {
        self.launches
    }
}

/// The faults to make during each operation or transform.
#[derive(Debug, Clone, Copy)]
pub(super) struct Faults {
    /// The number of faults that are drawn before the first one that is made.
    pub(super) skipped: u64,
    /// The number of repetitions of the work. One fault is made in each repetition.
    pub(super) count: u64,
    /// A function that draws one fault within the launches and downloads of the work.
    pub(super) draw: fn(&mut Random, Extent) -> DeviceFault,
}

/// A kind of fault of devices, and its name.
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

/// Tests a device on which no launch does anything. The checks must notice this.
fn a_dead_device(suite: &Suite, device: &Device, sizes: &Sizes) -> Result<String, String> {
    let faults = Faults { skipped: 0, count: 1, draw: |_, _| DeviceFault::Dead { from: 0 } };
    (suite.fates)(device, sizes, faults)?.all_noticed()
}

/// Tests devices on which a random launch and all later launches do nothing.
fn a_device_that_dies(suite: &Suite, device: &Device, sizes: &Sizes) -> Result<String, String> {
    let faults = Faults {
        skipped: 0,
        count: sizes.flips.min(4),
        draw: |rng, of| DeviceFault::Dead { from: rng.random_range(0..of.launches) },
    };
    let fates = (suite.fates)(device, sizes, faults)?;
    if suite.death_is_noticed { fates.all_noticed() } else { fates.counted() }
}

/// Tests a device whose downloads (results, flags and witnesses) contain only zeros. The checks
/// must notice this.
fn downloads_of_zeros(suite: &Suite, device: &Device, sizes: &Sizes) -> Result<String, String> {
    let faults = Faults { skipped: 0, count: 1, draw: |_, _| DeviceFault::Zeros { from: 0 } };
    (suite.fates)(device, sizes, faults)?.all_noticed()
}

/// Tests devices on which a bit of a result, flag or witness flips on its way to the host.
fn flips_of_downloads(suite: &Suite, device: &Device, sizes: &Sizes) -> Result<String, String> {
    let faults = Faults {
        skipped: 0,
        count: sizes.flips,
        draw: |rng, of| DeviceFault::FlippedDownload {
            download: rng.random_range(0..of.downloads),
            bit: rng.random(),
        },
    };
    (suite.fates)(device, sizes, faults)?.counted()
}

/// Tests devices in whose memory a bit of an operand, table or result flips.
fn flips_of_buffers(suite: &Suite, device: &Device, sizes: &Sizes) -> Result<String, String> {
    let faults = Faults {
        skipped: 0,
        count: sizes.flips,
        draw: |rng, of| DeviceFault::FlippedMemory {
            launch: rng.random_range(0..of.launches),
            bit: rng.random(),
        },
    };
    (suite.fates)(device, sizes, faults)?.counted()
}

/// The name of a case on the CPU, and its function, which returns a description of the success or
/// failure.
pub(super) type CpuCase = (&'static str, fn() -> Result<String, String>);

/// The amount of work in each case of faults of devices.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// The count of numbers in a batch, and the number of 32-bit limbs of a number.
    pub batch: (usize, usize),
    /// The number of flips for each operation and for each kind of transform, one in each
    /// repetition.
    pub flips: u64,
    /// log2 of the number of elements of each transform.
    pub log2: u32,
}

impl Sizes {
    /// Returns the sizes for a device. Sizes for the simulator are small; sizes for a GPU take some
    /// seconds.
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

/// Runs every case of faults of a device during batch operations (`batch@cuda:0::…`), transforms
/// (`transform@cuda:0::…`) and checked squarings (`squarings@cuda:0::…`). `filter` and `report` are those of [`super::run`].
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

/// Runs the cases in which results that the CPU has computed are changed in memory (`batch::…`,
/// `transform::…`), and those in which bits flip in its memory during checked squarings
/// (`squarings::…`). Takes some seconds.
pub fn run_on_cpu(filter: Option<&str>, report: &mut dyn FnMut(&FaultReport)) -> Summary {
    let mut summary = Summary::default();
    let suites: [(&str, &[CpuCase]); 3] = [
        ("batch", batch::ON_CPU),
        ("transform", transform::ON_CPU),
        ("squarings", squarings::ON_CPU),
    ];
    for (suite, cases) in suites {
        for &(name, run) in cases {
            one(suite, name, filter, &mut summary, report, run);
        }
    }
    summary
}

/// Runs a case and reports its result, unless the filter excludes the case.
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

/// The effect of a fault on the results of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The check refused the results of the device, or the device reported an error.
    Noticed,
    /// The check accepted the results, and they are right.
    Harmless,
    /// The fault was never made, so the run proves nothing.
    NotMade,
}

/// The number of faults that were noticed, and the number of faults that were harmless.
#[derive(Debug, Default)]
pub(super) struct Fates {
    noticed: u64,
    harmless: u64,
}

impl Fates {
    /// Draws faults, calls `run` with each fault, and counts the effects that `run` returns. `what`
    /// names the work in messages.
    ///
    /// # Errors
    /// `run` returned an error, or a fault was never made, so that the case proves nothing.
    pub(super) fn add(
        &mut self,
        what: &str,
        (rng, extent, faults): (&mut Random, Extent, Faults),
        run: impl Fn(DeviceFault) -> Result<Fate, String>,
    ) -> Result<(), String> {
        for _ in 0..faults.skipped {
            let _ = (faults.draw)(rng, extent);
        }
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

    /// Returns a message with the number of faults, all of which were noticed.
    ///
    /// # Errors
    /// A fault was not noticed, or no fault was made.
    pub(super) fn all_noticed(&self) -> Result<String, String> {
        let all = self.noticed + self.harmless;
        if self.harmless > 0 || all == 0 {
            return Err(format!("{} of {all} faults noticed", self.noticed));
        }
        Ok(format!("{all} of {all} faults noticed"))
    }

    /// Returns a message with the number of faults that were noticed and the number of faults that
    /// were harmless.
    ///
    /// # Errors
    /// No fault was noticed, so the case proves nothing.
    pub(super) fn counted(&self) -> Result<String, String> {
        let Self { noticed, harmless } = self;
        let all = noticed + harmless;
        let says = format!(
            "{noticed} of {all} faults noticed, {harmless} without effect, no wrong result passed"
        );
        if *noticed > 0 { Ok(says) } else { Err(says) }
    }
}
