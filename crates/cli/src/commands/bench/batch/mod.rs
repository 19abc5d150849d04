//! `warpint bench batch`

mod euclid;
mod on_cpu;
mod on_device;
mod operands;
mod operation;
mod row;
mod works;

use std::fmt;
use std::time::Duration;

use anyhow::Context;
use serde::Serialize;
use warpint::integer::gpu::{Choice, Method};
use warpint::mersenne::DeviceChoice;
use warpint::mersenne::engine::places::cpu_name;

use self::on_cpu::OnCpu;
use self::on_device::OnDevice;
use self::operands::Operands;
use self::row::Row;
pub(crate) use self::row::{chosen_by, figures};
use super::chart::{Chart, Labels};
use crate::args::{BenchBatchArgs, Operation};
use crate::commands::batch::place::{gpu, settled};
use crate::exit::Exit;
use crate::report;
use crate::whole_file::WholeFile;
use crate::{threads, units};

const LABELS: Labels = Labels {
    title: "Time of an operation in a batch",
    axes: ["bits of an operand", "ns per operation"],
    marker: |name, bits, ns| format!("{name} of {bits:.0} bits: {ns:.4} ns"),
};

/// A row that is to be measured.
#[derive(Debug, Clone, Copy)]
struct Work {
    operation: Operation,
    /// Limbs of 32 bits of an operand.
    limbs: usize,
    /// Numbers, at least one.
    count: usize,
    /// How to multiply; `None` for what the library takes.
    method: Option<Method>,
}

impl Work {
    fn bits(&self) -> u32 {
        32 * self.limbs as u32
    }

    /// The product of numbers of the dividend's width, which a quotient is compared with.
    fn product(&self) -> Option<Self> {
        let product = Self { operation: Operation::Mul, method: None, ..*self };
        (self.operation == Operation::Divrem).then_some(product)
    }

    /// Bytes that are read and written.
    fn bytes(&self) -> u64 {
        self.operation.bytes(self.limbs) * self.count as u64
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} bits", self.operation.name(), self.bits())?;
        self.method.map_or(Ok(()), |method| write!(f, " by {method}"))
    }
}

/// Where batches are computed.
trait Place {
    /// Prepares the work, does it once and waits. How long that took, by the host's clock, where a
    /// kernel is compiled for it.
    fn first(&mut self, work: &Work, operands: &Operands) -> anyhow::Result<Option<Duration>>;
    /// The limbs of the result of an instance.
    fn result(&self, work: &Work, i: usize) -> anyhow::Result<Vec<u32>>;
    /// The times of some more runs.
    fn times(&mut self, work: &Work) -> anyhow::Result<Vec<Duration>>;
    /// Bytes read and written a second by copies that touch so many.
    fn copy_rate(&mut self, bytes: u64) -> f64;
    /// Whether there is a method for a product.
    fn can(&self, work: &Work) -> bool;
    /// What the library takes for a product, where there are several methods and none was named.
    fn choice(&self, work: &Work) -> anyhow::Result<Option<Choice>>;
}

/// All that was measured.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Measured {
    device: String,
    name: String,
    /// Of a device.
    driver: Option<String>,
    /// Of the CPU.
    threads: Option<usize>,
    /// Which the operands are drawn from.
    seed: u32,
    rows: Vec<Row>,
}

pub(crate) fn run(args: &BenchBatchArgs) -> anyhow::Result<Exit> {
    threads::set(args.threads)?;
    // What cannot be written is no reason to measure for minutes.
    let chart = args.plot.as_deref().map(WholeFile::new).transpose()?;
    let mut measured = match settled(args.device)? {
        DeviceChoice::On(id) => {
            let gpu = gpu(id)?;
            let works = works::on_device(args, gpu.device(), id)?;
            let operands = works::operands(args, &works)?;
            let info = gpu.device().info().clone();
            let results = [works::result_limbs(&works), works::remainder_limbs(&works)];
            let mut place = OnDevice::new(gpu, id, &operands, results)?;
            let measured = Measured {
                device: info.id,
                name: info.name,
                driver: Some(info.driver),
                threads: None,
                seed: operands.seed(),
                rows: vec![],
            };
            measured.of(args, &works, &operands, &mut place)?
        }
        DeviceChoice::Auto | DeviceChoice::Cpu => {
            let works = works::on_cpu(args)?;
            let operands = works::operands(args, &works)?;
            let measured = Measured {
                device: "cpu".into(),
                name: cpu_name(),
                driver: None,
                threads: Some(rayon::current_num_threads()),
                seed: operands.seed(),
                rows: vec![],
            };
            measured.of(args, &works, &operands, &mut OnCpu::default())?
        }
    };
    if args.json {
        report::write_out((serde_json::to_string(&measured)? + "\n").as_bytes())?;
    }
    measured.rows.sort_by_key(|row| row.bits);
    if let Some(file) = chart {
        file.write(&measured.chart(args.method.is_some()).to_string())?;
    }
    Ok(Exit::Done)
}

impl Measured {
    /// Measures row by row, each printed when it is known.
    fn of(
        mut self,
        args: &BenchBatchArgs,
        works: &[Work],
        operands: &Operands,
        place: &mut impl Place,
    ) -> anyhow::Result<Self> {
        let say = |line: &str| {
            if args.json { Ok(()) } else { report::write_out(format!("{line}\n").as_bytes()) }
        };
        say(&format!("{}\n\n{}", self.place(), Row::HEADER))?;
        for work in works {
            let choice = place.choice(work)?;
            let work = Work { method: choice.map(|c| c.method).or(work.method), ..*work };
            let mut row = measure(&work, operands, place).with_context(|| work.to_string())?;
            row.chosen_by = choice.map(chosen_by);
            if let Some(product) = work.product() {
                row.compare(self.product_ns(&product, operands, place)?);
            }
            say(&row.line())?;
            self.rows.push(row);
        }
        Ok(self)
    }

    /// Nanoseconds of a product: of the fastest row of its width, or measured now. `None` where the place
    /// has no method for it.
    fn product_ns(
        &self,
        product: &Work,
        operands: &Operands,
        place: &mut impl Place,
    ) -> anyhow::Result<Option<f64>> {
        let name = product.operation.name();
        let rows = self.rows.iter();
        let same = rows.filter(|row| row.operation == name && row.bits == product.bits());
        let known = same.map(|row| row.ns_per_operation).min_by(f64::total_cmp);
        if known.is_some() || !place.can(product) {
            return Ok(known);
        }
        let row = measure(product, operands, place).with_context(|| product.to_string())?;
        Ok(Some(row.ns_per_operation))
    }

    /// `cuda:0  NVIDIA H200, 580.159.04 (CUDA 13.0)`.
    fn place(&self) -> String {
        let threads = self.threads.map(|n| units::count(n as u64, "thread"));
        let more = self.driver.clone().or(threads).filter(|text| !text.is_empty());
        let more = more.map_or_else(String::new, |text| format!(", {text}"));
        format!("{}  {}{more}", self.device, self.name)
    }

    /// One line for each operation, or for each method of each.
    fn chart(&self, by_method: bool) -> Chart {
        let mut chart = Chart::new(&LABELS, &self.name);
        for row in &self.rows {
            let line = match &row.method {
                Some(method) if by_method => format!("{}, {method}", row.operation),
                _ => row.operation.to_owned(),
            };
            chart.mark(&line, row.bits.into(), row.ns_per_operation);
        }
        let mut floors: Vec<(&str, u32)> = vec![];
        for row in &self.rows {
            // Methods of one operation have one floor.
            if !floors.contains(&(row.operation, row.bits)) {
                floors.push((row.operation, row.bits));
                let name = format!("{}: memory floor", row.operation);
                chart.dash(row.operation, &name, row.bits.into(), row.floor_ns);
            }
        }
        chart
    }
}

fn measure(work: &Work, operands: &Operands, place: &mut impl Place) -> anyhow::Result<Row> {
    let first = place.first(work, operands)?;
    operands.check(work, |i| place.result(work, i))?;
    let times = place.times(work)?;
    Ok(Row::new(work, first, times, place.copy_rate(work.bytes())))
}

/// The middle one; of an even number the longer of two.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
