//! `warpint tune batch`

use std::time::{Duration, Instant};

use serde::Serialize;
use warpint::device::{DeviceInfo, Effort, TuningError, TuningStore, Warned};
use warpint::integer::Width;
use warpint::integer::gpu::{Gpu, Prices, ProductTimer, Step, Way, steps};
use warpint::mersenne::DeviceId;
use warpint::mersenne::engine::places::device_on;

use super::bench::batch::{chosen_by, figures};
use crate::args::TuneBatchArgs;
use crate::exit::{self, Exit};
use crate::meter::Meter;
use crate::report;
use crate::signals::Signals;
use crate::units;

/// Widths that the simulator does in seconds, in limbs.
const ON_SIMULATOR: usize = 24;

/// How many kernels are compiled at a time.
const AHEAD: usize = 16;

/// All that was found.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Tuned {
    device: String,
    /// The product's name.
    name: String,
    driver: String,
    seconds: f64,
    /// Whether there was a request to stop before all was measured.
    stopped: bool,
    rows: Vec<Row>,
    ladder: Vec<Rung>,
}

/// What was measured now.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Row {
    operation: &'static str,
    method: String,
    /// Limbs of the products of one thread, or points of a transform.
    size: usize,
    /// The widest factors for it, which were multiplied.
    bits: usize,
    /// Absent if it failed.
    ns_per_product: Option<f64>,
    /// By the formula.
    estimated_ns: f64,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Widths that one method is taken for.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Rung {
    operation: &'static str,
    from_bits: usize,
    to_bits: usize,
    method: String,
    /// That of the widest factors.
    ns_per_product: f64,
    chosen_by: &'static str,
}

pub(crate) fn run(args: &TuneBatchArgs) -> anyhow::Result<Exit> {
    let signals = Signals::install()?;
    let gpu = Gpu::new(&device_on(args.device)?);
    let info = gpu.device().info();
    let store = TuningStore::open()?;
    let Warned { value: stored, warning } = Prices::stored(&store, info)?;
    let prices = if args.again { Prices::default() } else { stored };
    let mut tuning = Tuning {
        trouble: unstored(store.check()),
        store,
        prices,
        rows: vec![],
        warnings: Vec::from_iter(warning),
    };
    let (effort, most) = match args.device {
        DeviceId::Cuda(_) => (Effort::Whole, (Width::MAX_BITS / 32) as usize),
        DeviceId::Sim => (Effort::Few, ON_SIMULATOR),
    };
    let steps: Vec<Step> = steps(info.shared_memory_per_block);
    let (begin, stop) = (Instant::now(), signals.save_first());
    let mut meter = Meter::new(String::new(), args.quiet);
    let timer = ProductTimer::new(&gpu, effort)?;
    let mut left = tuning.left(&steps, most);
    while !left.is_empty() && !stop.is_stopped() {
        let all = (tuning.rows.len() + left.len()) as u64;
        let timed = tuning.rows.len() as u64;
        meter.show(timed, all, || format!("{timed} of {all}, compiling"));
        left.truncate(AHEAD);
        timer.compile(&left);
        for step in left.iter().take_while(|_| !stop.is_stopped()) {
            let timed = tuning.rows.len() as u64;
            let line = || format!("{timed} of {all}, {} at {} bits", step.way, 32 * step.last);
            meter.show(timed, all, line);
            tuning.measure(&timer, step, info);
        }
        left = tuning.left(&steps, most);
    }
    meter.end();
    let Tuning { store, prices, rows, warnings, trouble } = tuning;
    for warning in warnings {
        report::notice(&format!("warning: {warning}"));
    }
    let tuned = Tuned {
        device: info.id.clone(),
        name: info.name.clone(),
        driver: info.driver.clone(),
        seconds: begin.elapsed().as_secs_f64(),
        stopped: !left.is_empty(),
        rows,
        ladder: ladder(&gpu.clone().with_prices(prices), &steps, most),
    };
    if args.json {
        report::write_out((serde_json::to_string(&tuned)? + "\n").as_bytes())?;
    } else {
        report::write_out(tuned.text(&store, trouble == Exit::Done).as_bytes())?;
    }
    let failed = |row: &Row| row.error.is_some();
    Ok(match (tuned.stopped, !tuned.rows.is_empty() && tuned.rows.iter().all(failed)) {
        (true, _) => Exit::Stopped,
        (false, true) => Exit::Failed,
        (false, false) => trouble,
    })
}

/// What is known so far.
struct Tuning {
    store: TuningStore,
    prices: Prices,
    rows: Vec<Row>,
    /// What was found wrong so far.
    warnings: Vec<String>,
    /// [`Exit::Done`] as long as prices can be stored.
    trouble: Exit,
}

/// Says that prices cannot be stored, if they cannot: they are printed all the same.
fn unstored(stored: Result<(), TuningError>) -> Exit {
    let Err(e) = stored else { return Exit::Done };
    let e = e.into();
    let line = exit::one_line(&e);
    report::notice(&format!("warning: {line}: prices are printed, but not stored"));
    exit::class_of(&e)
}

impl Tuning {
    /// What is still to be measured; not again what has failed.
    fn left(&self, steps: &[Step], most: usize) -> Vec<Step> {
        let tried = |way: &Way| self.rows.iter().any(|row| row.is_of(way));
        let wanted = self.prices.wanted(steps, most).into_iter();
        wanted.filter(|step| !tried(&step.way)).collect()
    }

    /// Measures a step and stores the price.
    fn measure(&mut self, timer: &ProductTimer, step: &Step, info: &DeviceInfo) {
        let time = timer.time(step);
        if let Ok(ns) = time {
            self.prices.insert(step, ns);
            if self.trouble == Exit::Done {
                match Prices::store(&self.store, info, step, ns) {
                    Ok(stored) => self.warnings.extend(stored.warning),
                    Err(e) => self.trouble = unstored(Err(e)),
                }
            }
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
    fn is_of(&self, way: &Way) -> bool {
        let Way { method, size, square } = *way;
        self.size == size
            && self.operation == operation(square)
            && self.method == method.to_string()
    }
}

/// What is taken for products of two factors of one width and for squares, from 32 bits on.
fn ladder(gpu: &Gpu, steps: &[Step], most: usize) -> Vec<Rung> {
    let mut ladder: Vec<Rung> = vec![];
    for square in [false, true] {
        let ends = steps.iter().filter(|step| step.way.square == square && step.last <= most);
        let mut from = 1;
        for to in ends.map(|step| step.last) {
            // Several end at one width.
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

impl Tuned {
    fn text(&self, store: &TuningStore, is_stored: bool) -> String {
        let driver =
            if self.driver.is_empty() { String::new() } else { format!(", {}", self.driver) };
        let mut text = format!("{}  {}{driver}\n\n{HEADER}\n", self.device, self.name);
        for rung in &self.ladder {
            text += &format!(
                "{:<3}  {:>9}  {:>9}  {:<10}  {:>10}  {}\n",
                rung.operation,
                rung.from_bits,
                rung.to_bits,
                rung.method,
                figures(rung.ns_per_product),
                rung.chosen_by,
            );
        }
        let measured = self.rows.iter().filter(|row| row.error.is_none()).count();
        let what = units::count(measured as u64, "price");
        let path = store.path();
        let kept = match is_stored {
            true => format!("kept in {}", path.display()),
            false => "not stored".to_owned(),
        };
        let time = units::elapsed(Duration::try_from_secs_f64(self.seconds).unwrap_or_default());
        text += &match (self.stopped, self.rows.is_empty()) {
            (false, true) => {
                format!(
                    "\nall prices are known, in {}; --again measures them anew\n",
                    path.display()
                )
            }
            (false, false) => format!("\n{what} measured in {time}, {kept}\n"),
            (true, _) => {
                format!("\nstopped: {what} measured in {time}, {kept}; the same command goes on\n")
            }
        };
        text
    }
}

const HEADER: &str = "op   from bits    to bits  method      ns/product  chosen by";

fn operation(square: bool) -> &'static str {
    if square { "sqr" } else { "mul" }
}
