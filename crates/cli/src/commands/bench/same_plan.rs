//! Complex numbers against integers mod 2^64 − 2^32 + 1, in transforms that are cut alike.

use serde::Serialize;
use warpint::mersenne::engine::places::product;
use warpint::mersenne::{
    Alike, DeviceId, EngineError, Plan, PlanRequest, SquaringTimer, plans_cut_alike,
};

use super::on_device::{Laps, device_of};
use super::{micros, say, say_all};
use crate::args::BenchArgs;
use crate::exit::{BadRequest, Exit};
use crate::run::settle_for_any;
use crate::units;

/// Common plans tried for each number of points: on a GPU a plan takes a second to compile.
const MOST: usize = 4;

/// 2^16 to 2^24 points on a GPU.
fn default_points(id: DeviceId) -> Vec<usize> {
    let logs = match id {
        DeviceId::Cuda(_) => 16..=24,
        DeviceId::Sim => 8..=9,
    };
    logs.map(|log| 1 << log).collect()
}

/// All that was measured.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Measured {
    device: String,
    name: String,
    driver: String,
    rows: Vec<Row>,
}

/// One cut of a transform, with both kinds of points.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Row {
    points: usize,
    plan: CommonPlan,
    fp64: Side,
    goldilocks: Side,
    /// The time by integers over that by complex numbers.
    ratio: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct CommonPlan {
    /// `256x512 16.16/4.8.16`.
    name: String,
    rows: u32,
    columns: u32,
    column_radices: Vec<u32>,
    row_radices: Vec<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Side {
    fft_length: usize,
    variant: String,
    /// The largest prime that the length holds with margin.
    exponent: u32,
    squarings: u64,
    us_per_squaring: f64,
    us_fastest_lap: f64,
    us_slowest_lap: f64,
    ns_per_bit: f64,
}

/// Measures and prints.
pub(super) fn run(args: &BenchArgs, points: &[usize]) -> anyhow::Result<Exit> {
    let request = settle_for_any(&args.arithmetic.plan_request(None))?;
    let Some(id) = device_of(&request) else {
        let text = "--same-plan compares engines of a device, which is not the CPU: give --device";
        return Err(BadRequest(text.into()).into());
    };
    let laps = match id {
        DeviceId::Cuda(_) => Laps { laps: 4, squarings: 1_000 },
        DeviceId::Sim => Laps { laps: 2, squarings: 4 },
    };
    let asked_for = !points.is_empty();
    let points = if asked_for { points.to_vec() } else { default_points(id) };
    let mut found = vec![];
    for n in points {
        let alike = common_plans(&request, n)?;
        // Of the default ones, some may need more shared memory than the device has.
        if alike.is_empty() && asked_for {
            let n = units::words(n);
            let text = format!("fp64 and goldilocks have no plan of {n} points in common on {id}");
            return Err(BadRequest(text).into());
        }
        found.extend(alike);
    }
    let device = id.to_string();
    let (name, driver) = product(&device).unwrap_or_default();
    let mut measured = Measured { device, name, driver, rows: vec![] };
    say(args, &measured.head())?;
    for alike in &found {
        let row = Row::measure(alike, laps)?;
        say(args, &row.line())?;
        measured.rows.push(row);
    }
    say_all(args, &measured)?;
    Ok(Exit::Done)
}

/// Plans of n complex points, which are 2n words, and of n integers.
fn common_plans(request: &PlanRequest, n: usize) -> anyhow::Result<Vec<Alike>> {
    let families = request.families()?.0;
    let of = |name| families.iter().copied().find(|family| family.name() == name);
    let (Some(complex), Some(integers)) = (of("fp64"), of("goldilocks")) else {
        return Ok(vec![]);
    };
    Ok(plans_cut_alike([(complex, n.saturating_mul(2)), (integers, n)], 1, MOST))
}

const HEADER: &str = "points  rows x columns, radices      µs fp64  goldilocks  ratio     P fp64  \
                      goldilocks  ns/bit fp64  goldilocks";

impl Measured {
    fn head(&self) -> String {
        let Self { device, name, .. } = self;
        format!(
            "{device}  {name}\n\n\
             One cut for n complex numbers (fp64, 2n words) and n integers (goldilocks, n words).\n\
             Of each n at most {MOST} cuts are tried, those first that both engines expect most \
             of.\n\
             µs: of a squaring; ratio: goldilocks to fp64; P: the largest exponent; ns/bit: ns over \
             P.\n\n{HEADER}"
        )
    }
}

impl Row {
    /// Times both plans in turns.
    fn measure(alike: &Alike, laps: Laps) -> Result<Self, EngineError> {
        let Alike { cut, plans: [complex, integers] } = alike;
        let mut timers = [complex.timer()?, integers.timer()?];
        laps.run(&mut timers)?;
        let [fp64, goldilocks] = [Side::new(complex, &timers[0]), Side::new(integers, &timers[1])];
        Ok(Self {
            points: cut.points(),
            plan: CommonPlan {
                name: cut.to_string(),
                rows: cut.rows,
                columns: cut.columns,
                column_radices: cut.column_radices.clone(),
                row_radices: cut.row_radices.clone(),
            },
            ratio: goldilocks.us_per_squaring / fp64.us_per_squaring,
            fp64,
            goldilocks,
        })
    }

    fn line(&self) -> String {
        let Self { points, plan: CommonPlan { name, .. }, ratio, fp64, goldilocks } = self;
        format!(
            "{:>6}  {name:<27}  {:>9.2}  {:>10.2}  {ratio:>5.2}  {:>9}  {:>10}  {:>11.5}  {:>10.5}",
            units::words(*points),
            fp64.us_per_squaring,
            goldilocks.us_per_squaring,
            fp64.exponent,
            goldilocks.exponent,
            fp64.ns_per_bit,
            goldilocks.ns_per_bit,
        )
    }
}

impl Side {
    fn new(plan: &Plan, timer: &SquaringTimer) -> Self {
        let (least, most) = timer.extremes();
        let (time, exponent) = (micros(timer.mean()), plan.exponent().get());
        Self {
            fft_length: plan.length(),
            variant: plan.variant(),
            exponent,
            squarings: timer.squarings(),
            us_per_squaring: time,
            us_fastest_lap: micros(least),
            us_slowest_lap: micros(most),
            ns_per_bit: 1e3 * time / f64::from(exponent),
        }
    }
}
