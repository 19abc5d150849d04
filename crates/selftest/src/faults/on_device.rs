//! Faults under batches and transforms: of whole devices, and of the memory of the host.

use std::time::Instant;

use warpint_device::Device;

use super::{FaultReport, batch, transform};
use crate::Summary;

/// A fault, and the work on a device that must survive it.
pub(super) struct DeviceCase {
    pub(super) name: &'static str,
    /// The device is sound; the case makes faulty ones of it.
    pub(super) run: fn(&Device, &Sizes) -> Result<String, String>,
}

/// A fault by its name, and the work on the CPU that must survive it.
pub(super) type CpuCase = (&'static str, fn() -> Result<String, String>);

/// How much is done in each case.
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    /// Numbers of a batch, and their limbs of 32 bits.
    pub batch: (usize, usize),
    /// Bits flipped in each operation, and in each transform.
    pub flips: u64,
    /// Elements of a transform, as an exponent of two.
    pub log2: u32,
}

impl Sizes {
    /// What a GPU does in some seconds, or the simulator.
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

/// Runs every fault of batches (`batch@cuda:0::…`) and transforms (`transform@cuda:0::…`) on a device, as
/// [`super::run`] does those of families.
pub fn run_on_device(
    device: &Device,
    sizes: &Sizes,
    filter: Option<&str>,
    report: &mut dyn FnMut(&FaultReport),
) -> Summary {
    let mut summary = Summary::default();
    for (suite, cases) in [("batch", batch::CASES), ("transform", transform::CASES)] {
        let suite = format!("{suite}@{}", device.info().id);
        for case in cases {
            one(&suite, case.name, filter, &mut summary, report, || (case.run)(device, sizes));
        }
    }
    summary
}

/// The same of results of the CPU that change in memory: `batch::…`, `transform::…`. Some seconds.
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

/// What came of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    /// The check refused what the device returned, or the device reported an error.
    Noticed,
    /// The results are right, and passed.
    Harmless,
    /// The fault was never made.
    NotMade,
}

/// Fates, counted.
#[derive(Debug, Default)]
pub(super) struct Fates {
    noticed: u64,
    harmless: u64,
}

impl Fates {
    /// # Errors
    /// A fault that was never made shows nothing.
    pub(super) fn add(&mut self, what: &str, fate: Fate) -> Result<(), String> {
        match fate {
            Fate::Noticed => self.noticed += 1,
            Fate::Harmless => self.harmless += 1,
            Fate::NotMade => return Err(format!("{what}: the fault was never made")),
        }
        Ok(())
    }

    /// # Errors
    /// Faults that must be noticed were not.
    pub(super) fn all_noticed(&self) -> Result<String, String> {
        let all = self.noticed + self.harmless;
        if self.harmless > 0 || all == 0 {
            return Err(format!("{} of {all} faults noticed", self.noticed));
        }
        Ok(format!("{all} of {all} faults noticed"))
    }

    /// # Errors
    /// No fault was noticed: none came through.
    pub(super) fn counted(&self) -> Result<String, String> {
        let Self { noticed, harmless } = self;
        let all = noticed + harmless;
        let says = format!(
            "{noticed} of {all} faults noticed, {harmless} without effect, no wrong result passed"
        );
        if *noticed > 0 { Ok(says) } else { Err(says) }
    }
}
