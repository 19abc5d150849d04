//! Tuning of products of integers in batches: the search for the fastest method at each width.

use std::path::PathBuf;
use std::time::Instant;

use serde::Serialize;
use warpint_device::{Device, DeviceInfo, Effort, TuningStore, Warned};
use warpint_integer::Width;
use warpint_integer::gpu::{Algorithm, Gpu, Prices, ProductTimer, Step, steps};
use warpint_progress::Watch;

use super::Storing;
use crate::{BenchError, chosen_by, is_simulator};

/// The largest width that the simulator computes in seconds, in limbs.
const ON_SIMULATOR: usize = 24;

/// The largest number of kernels that are compiled together before they are timed.
const AHEAD: usize = 16;

/// The results of tuning products on a device.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Tuned {
    /// The identifier of the device, such as `cuda:0`.
    pub device: String,
    /// The name of the GPU model or of the simulator.
    pub name: String,
    /// The version of the driver; empty on the simulator.
    pub driver: String,
    /// The elapsed time in seconds.
    pub seconds: f64,
    /// Whether a stop was requested before every method was measured.
    pub stopped: bool,
    /// The measurements of this tuner, in the order in which they were made.
    pub rows: Vec<Row>,
    /// The method that is chosen at each width, by ranges of widths. The choice follows from all
    /// measured and estimated times at the end of the tuning.
    pub ladder: Vec<Rung>,
}

/// The measurement of one method with one size.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Row {
    /// The operation: `mul` or `sqr`.
    pub operation: &'static str,
    /// The name of the method.
    pub method: String,
    /// For a method by transforms, the number of points of a transform. For other methods, the
    /// number of limbs of a factor of the products that a single thread computes.
    pub size: usize,
    /// The width in bits of the factors that were multiplied: the largest width at which the method
    /// uses this size.
    pub bits: usize,
    /// The time of a product in ns; absent if the measurement failed.
    pub ns_per_product: Option<f64>,
    /// The time of a product in ns as estimated by a formula before any measurement.
    pub estimated_ns: f64,
    /// The error, if the measurement failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A range of widths for which the same method is chosen.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Rung {
    /// The operation: `mul` or `sqr`.
    pub operation: &'static str,
    /// The least width of a factor, in bits.
    pub from_bits: usize,
    /// The largest width of a factor, in bits.
    pub to_bits: usize,
    /// The name of the method.
    pub method: String,
    /// The time of a product of the widest factors, in ns.
    pub ns_per_product: f64,
    /// Whether the method was chosen by its measured time (`measured`) or by its estimated time
    /// (`estimate`).
    pub chosen_by: &'static str,
}

/// Tuning in progress on a device: measures the prices of methods, which are times per product, and
/// stores each price as soon as it is measured.
#[derive(Debug)]
pub struct Tuner {
    gpu: Gpu,
    store: TuningStore,
    storing: Storing,
    prices: Prices,
    rows: Vec<Row>,
    /// The warnings since the last call of `take_warnings`.
    warnings: Vec<String>,
    effort: Effort,
    /// The width of the widest factors, in limbs of 32 bits.
    most: usize,
}

impl Tuner {
    /// Creates a tuner, and tests whether prices can be stored. The tuner begins with the stored
    /// prices of methods (times per product). If `again` is true, it begins without prices instead,
    /// so that everything is measured again. On the simulator, factors have at most 768 bits.
    ///
    /// # Errors
    /// The store does not exist, or cannot be read.
    pub fn new(device: &Device, store: TuningStore, again: bool) -> Result<Self, BenchError> {
        let info = device.info();
        let Warned { value: stored, warning } = Prices::stored(&store, info)?;
        let (effort, most) = match is_simulator(device) {
            false => (Effort::Whole, (Width::MAX_BITS / 32) as usize),
            true => (Effort::Few, ON_SIMULATOR),
        };
        Ok(Self {
            gpu: Gpu::new(device),
            storing: Storing::new(store.check()),
            store,
            prices: if again { Prices::default() } else { stored },
            rows: vec![],
            warnings: Vec::from_iter(warning),
            effort,
            most,
        })
    }

    /// Returns whether prices can be stored, and if not, why.
    #[must_use]
    pub fn storing(&self) -> &Storing {
        &self.storing
    }

    /// Returns the path of the file of stored prices.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.store.path()
    }

    /// Returns the warnings since the last call of this function, one line each.
    #[must_use]
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Measures every method that, according to the prices known so far, may be the fastest at some
    /// width. Ends when no unmeasured method is left or `watch` requests a stop. Each method is
    /// reported to `watch` as a step.
    ///
    /// # Errors
    /// The device fails before the first measurement. Later failures are not errors: they are
    /// recorded in the rows.
    pub fn measure(&mut self, watch: &dyn Watch) -> Result<Tuned, BenchError> {
        let begin = Instant::now();
        let info = self.gpu.device().info().clone();
        let steps: Vec<Step> = steps(info.shared_memory_per_block);
        let mut timer = ProductTimer::new(&self.gpu, self.effort)?;
        let mut left = self.left(&steps);
        while !left.is_empty() && !watch.is_stopped() {
            let all = (self.rows.len() + left.len()) as u64;
            watch.step(self.rows.len() as u64, all, &"compiling");
            left.truncate(AHEAD);
            timer.compile(&left);
            for step in left.iter().take_while(|_| !watch.is_stopped()) {
                let what = format_args!("{} at {} bits", step.way, 32 * step.last);
                watch.step(self.rows.len() as u64, all, &what);
                self.time(&mut timer, step, &info);
            }
            left = self.left(&steps);
        }
        Ok(Tuned {
            device: info.id,
            name: info.name,
            driver: info.driver,
            seconds: begin.elapsed().as_secs_f64(),
            stopped: !left.is_empty(),
            ladder: ladder(&self.gpu.clone().with_prices(self.prices.clone()), &steps, self.most),
            rows: self.rows.clone(),
        })
    }

    /// Returns the steps (methods with a range of widths) that are still to be measured. Omits
    /// steps whose measurement failed.
    fn left(&self, steps: &[Step]) -> Vec<Step> {
        let tried = |way: &Algorithm| self.rows.iter().any(|row| row.is_of(way));
        let wanted = self.prices.wanted(steps, self.most).into_iter();
        wanted.filter(|step| !tried(&step.way)).collect()
    }

    /// Measures a step, stores its price (the time per product) and adds a row. A failure becomes a
    /// warning.
    fn time(&mut self, timer: &mut ProductTimer, step: &Step, info: &DeviceInfo) {
        let time = timer.time(step);
        if let Ok(ns) = time {
            self.prices.insert(step, ns);
            let stored = self.storing.put(|| Prices::store(&self.store, info, step, ns));
            self.warnings.extend(stored.and_then(|stored| stored.warning));
        }
        let error = time.as_ref().err().map(|e| e.to_string().replace('\n', " "));
        let told = error.iter().map(|e| format!("{} at {} bits: {e}", step.way, 32 * step.last));
        self.warnings.extend(told);
        self.rows.push(Row {
            operation: operation(step.way.square),
            method: step.way.method.to_string(),
            size: step.way.size,
            bits: 32 * step.last,
            ns_per_product: time.ok(),
            estimated_ns: step.estimate,
            error,
        });
    }
}

impl Row {
    fn is_of(&self, way: &Algorithm) -> bool {
        let Algorithm { method, size, square } = *way;
        self.size == size
            && self.operation == operation(square)
            && self.method == method.to_string()
    }
}

/// Returns the ranges of widths, from 32 bits to `most` limbs, in which one method is chosen: first
/// for products of two factors of equal width, then for squares.
fn ladder(gpu: &Gpu, steps: &[Step], most: usize) -> Vec<Rung> {
    let mut ladder: Vec<Rung> = vec![];
    for square in [false, true] {
        let ends = steps.iter().filter(|step| step.way.square == square && step.last <= most);
        let mut from = 1;
        for to in ends.map(|step| step.last) {
            // Several steps end at the same width.
            if to < from {
                continue;
            }
            let Some(choice) = gpu.choice(to, (!square).then_some(to)) else { continue };
            let rung = Rung {
                operation: operation(square),
                from_bits: 32 * from,
                to_bits: 32 * to,
                method: choice.method.to_string(),
                ns_per_product: choice.price,
                chosen_by: chosen_by(choice),
            };
            from = to + 1;
            match ladder.last_mut() {
                Some(last) if last.goes_on_as(&rung) => {
                    *last = Rung { from_bits: last.from_bits, ..rung };
                }
                _ => ladder.push(rung),
            }
        }
    }
    ladder
}

impl Rung {
    fn goes_on_as(&self, next: &Self) -> bool {
        self.operation == next.operation
            && self.method == next.method
            && self.chosen_by == next.chosen_by
    }
}

fn operation(square: bool) -> &'static str {
    if square { "sqr" } else { "mul" }
}
