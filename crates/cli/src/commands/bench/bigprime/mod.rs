//! `warpint bench bigprime`

mod crossover;
mod elements;
mod on_cpu;
mod on_device;
mod row;

use anyhow::Context;
use serde::Serialize;
use warpint::arith::gfn::{Form, PRIMES};
use warpint::mersenne::engine::places::cpu_name;
use warpint::mersenne::{DeviceChoice, DeviceId};

use self::crossover::{Crossover, crossovers};
use self::on_cpu::OnCpu;
use self::on_device::OnDevice;
use self::row::Row;
use super::chart::{Chart, Labels};
use crate::args::{BenchBigprimeArgs, Way};
use crate::commands::batch::place::settled;
use crate::exit::{BadRequest, Exit};
use crate::meter::Meter;
use crate::report;
use crate::signals::Signals;
use crate::whole_file::WholeFile;
use crate::{threads, units};

/// Of the vectors of a row.
const SEEDS: [u64; 2] = [1, 2];

const TIMES: Labels = Labels {
    title: "Time of a transform over Z/pZ",
    axes: ["elements", "ns per element"],
    marker: |name, n, ns| format!("{name}, 2^{:.0} elements: {ns:.4} ns each", n.log2()),
};

const RATIOS: Labels = Labels {
    title: "Small-primes way over big-prime way",
    axes: ["elements", "time by small primes / time in the field"],
    marker: |name, n, ratio| format!("{name}, 2^{:.0} elements: {ratio:.2}", n.log2()),
};

/// The ways that are measured.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    big: bool,
    small: bool,
}

/// Where transforms are computed.
trait Place {
    /// Measures a prime and a length by the ways wanted, and checks the outputs.
    fn row(&mut self, form: Form, log2: u32, wanted: Wanted) -> anyhow::Result<Row>;
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
    rows: Vec<Row>,
    /// Which way is the faster one.
    crossovers: Vec<Crossover>,
}

pub(crate) fn run(args: &BenchBigprimeArgs) -> anyhow::Result<Exit> {
    let _signals = Signals::install()?;
    threads::set(args.threads)?;
    // What cannot be written is no reason to measure for minutes.
    let chart = args.plot.as_deref().map(WholeFile::new).transpose()?;
    let primes = once_each(
        if args.primes.is_empty() { &PRIMES[..] } else { &args.primes[..] }.iter().copied(),
    );
    let primes = &primes[..];
    let lengths = once_each(args.lengths.iter().flat_map(|lengths| lengths.from..=lengths.to));
    possible(primes, &lengths)?;
    let place = settled(args.device)?;
    let wanted = wanted(args.way, place)?;
    let lengths = if lengths.is_empty() { usual(primes, place, wanted)? } else { lengths };
    if matches!(place, DeviceChoice::On(_))
        && wanted.big
        && let Some(form) = primes.iter().find(|form| form.w() < 56)
    {
        let line = format!("--prime: {form}: devices take radices of w from 56 to 64");
        return Err(BadRequest(line).into());
    }
    let mut measured = match place {
        DeviceChoice::On(id) => {
            let mut place = OnDevice::new(id, args.runs)?;
            let info = place.device().info().clone();
            let (device, name, driver) = (info.id, info.name, Some(info.driver));
            let measured =
                Measured { device, name, driver, threads: None, rows: vec![], crossovers: vec![] };
            measured.of(args, (primes, &lengths), wanted, &mut place)?
        }
        DeviceChoice::Auto | DeviceChoice::Cpu => {
            let (device, threads) = ("cpu".into(), Some(rayon::current_num_threads()));
            let name = cpu_name();
            let measured =
                Measured { device, name, driver: None, threads, rows: vec![], crossovers: vec![] };
            measured.of(args, (primes, &lengths), wanted, &mut OnCpu { runs: args.runs })?
        }
    };
    if args.json {
        report::write_out((serde_json::to_string(&measured)? + "\n").as_bytes())?;
    }
    measured.rows.sort_by_key(|row| row.log2);
    if let Some(file) = chart {
        file.write(&measured.chart().to_string())?;
    }
    Ok(Exit::Done)
}

/// In their order, without those that came before.
fn once_each<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(vec![], |mut kept, one| {
        if !kept.contains(&one) {
            kept.push(one);
        }
        kept
    })
}

/// Whether there are such fields, with such roots.
fn possible(primes: &[Form], lengths: &[u32]) -> Result<(), BadRequest> {
    for form in primes {
        let most = form.two_adicity();
        if let Some(log2) = lengths.iter().find(|&&log2| log2 > most) {
            return Err(BadRequest(format!(
                "--lengths: {form} has no transform of 2^{log2} elements: they end at 2^{most}"
            )));
        }
        if !form.is_known() && !form.is_prime() {
            return Err(BadRequest(format!(
                "--prime: {form} is no prime: there is no field of so many elements"
            )));
        }
    }
    Ok(())
}

/// The default lengths of a place, as far as all fields have roots for them.
fn usual(primes: &[Form], place: DeviceChoice, wanted: Wanted) -> Result<Vec<u32>, BadRequest> {
    let (from, to) = match place {
        DeviceChoice::On(DeviceId::Sim) => (3, 4),
        DeviceChoice::On(_) => (10, 22),
        DeviceChoice::Auto | DeviceChoice::Cpu => (6, 10),
    };
    // Chirps of the small-primes way are powers of a root of twice the order.
    let most = |form: &Form| form.two_adicity().saturating_sub(u32::from(wanted.small));
    let least = primes.iter().min_by_key(|form| most(form));
    match least {
        Some(form) if most(form) < from => Err(BadRequest(format!(
            "--prime: {form} has transforms of at most 2^{} elements, the default lengths begin at \
             2^{from}: give --lengths",
            most(form)
        ))),
        least => Ok((from..=least.map_or(to, |form| to.min(most(form)))).collect()),
    }
}

fn wanted(way: Option<Way>, place: DeviceChoice) -> Result<Wanted, BadRequest> {
    let on_cpu = !matches!(place, DeviceChoice::On(_));
    match way {
        Some(way) if on_cpu && way != Way::Big => {
            let line =
                "--way: the small-primes way is for devices: give --device cuda, or --way big";
            Err(BadRequest(line.into()))
        }
        _ => Ok(Wanted { big: way != Some(Way::Small), small: !on_cpu && way != Some(Way::Big) }),
    }
}

impl Measured {
    /// Measures row by row, each printed when it is known.
    fn of(
        mut self,
        args: &BenchBigprimeArgs,
        (primes, lengths): (&[Form], &[u32]),
        wanted: Wanted,
        place: &mut impl Place,
    ) -> anyhow::Result<Self> {
        let say = |line: &str| {
            if args.json { Ok(()) } else { report::write_out(format!("{line}\n").as_bytes()) }
        };
        say(&self.place())?;
        let total = (primes.len() * lengths.len()) as u64;
        for &form in primes {
            for (i, &log2) in lengths.iter().enumerate() {
                let done = self.rows.len() as u64;
                let what = || format!("{form}, 2^{log2} elements ({done} of {total} rows done)");
                // A bar for each row: lines stand between them.
                let mut meter = Meter::new(String::new(), args.quiet);
                meter.show(done, total, what);
                let row = place.row(form, log2, wanted);
                meter.end();
                let mut row = row.with_context(|| format!("{form}, 2^{log2} elements"))?;
                row.compare();
                if i == 0 {
                    say(&format!("\n{}\n{}", row.title(), Row::HEADER))?;
                }
                say(&row.line())?;
                self.rows.push(row);
            }
        }
        self.crossovers = crossovers(&self.rows);
        if !self.crossovers.is_empty() {
            say("\nthe faster way, and where")?;
        }
        self.crossovers.iter().try_for_each(|of_prime| say(&of_prime.line()))?;
        Ok(self)
    }

    /// `cuda:0  NVIDIA H200, 580.159.04 (CUDA 13.0)`.
    fn place(&self) -> String {
        let threads = self.threads.map(|n| units::count(n as u64, "thread"));
        let more = self.driver.clone().or(threads).filter(|text| !text.is_empty());
        let more = more.map_or_else(String::new, |text| format!(", {text}"));
        format!("{}  {}{more}", self.device, self.name)
    }

    /// The ratio of both ways, where both were measured; else the times of one.
    fn chart(&self) -> Chart {
        let both = !self.crossovers.is_empty();
        let mut chart = Chart::new(if both { &RATIOS } else { &TIMES }, &self.name);
        for row in &self.rows {
            let (n, name) = (f64::from(row.log2).exp2(), format!("k = {}", row.digits));
            let big = row.big.as_ref().map(|big| &big.transform);
            let times = big.or(row.small.as_ref().map(|small| &small.transform));
            let value = if both { row.small_over_big } else { times.map(|t| 1e3 * t.us / n) };
            if let Some(value) = value {
                chart.mark(&name, n, value);
            }
        }
        if both {
            for row in &self.rows {
                chart.dash("alike", "both alike", f64::from(row.log2).exp2(), 1.0);
            }
        }
        chart
    }
}
