//! The command `warpint bench mersenne --same-plan`: times two transforms with the same
//! factorisation of their length, one over complex numbers and one over integers.

use warpint_bench::BenchError;
use warpint_bench::mersenne::same_plan::{CommonPlan, MOST, Measured, Row, common};

use super::{Plot, device_of, say, say_all};
use crate::args::BenchArgs;
use crate::exit::{BadRequest, Exit};
use crate::run::resolve_for_any;
use crate::units;

pub(super) fn run(args: &BenchArgs, points: &[usize], plot: &Plot) -> anyhow::Result<Exit> {
    let request = resolve_for_any(&args.arithmetic.plan_request(None))?;
    let Some(id) = device_of(&request) else {
        let text = "--same-plan compares engines of a device, which is not the CPU: give --device";
        return Err(BadRequest(text.into()).into());
    };
    let found = common(&request, id, points).map_err(in_words)?;
    let mut measured = Measured::new(id);
    say(args.json, &head(&measured))?;
    for alike in &found {
        let row = Row::measure(alike)?;
        say(args.json, &line(&row))?;
        measured.rows.push(row);
    }
    say_all(args.json, &measured)?;
    plot.write(|| measured.chart())?;
    Ok(Exit::Done)
}

/// Converts an error of the benchmark into the error that the program prints, with the number of
/// points formatted as on the command line, such as `64K`.
fn in_words(e: BenchError) -> anyhow::Error {
    let BenchError::NoCommonPlan { points, place } = e else { return e.into() };
    let n = units::words(points);
    BadRequest(format!("fp64 and goldilocks have no plan of {n} points in common on {place}"))
        .into()
}

const HEADER: &str = "points  rows x columns, radices      µs fp64  goldilocks  ratio     P fp64  \
                      goldilocks  ns/bit fp64  goldilocks";

fn head(measured: &Measured) -> String {
    let Measured { device, name, .. } = measured;
    format!(
        "{device}  {name}\n\n\
         One cut for n complex numbers (fp64, 2n words) and n integers (goldilocks, n words).\n\
         Of each n at most {MOST} cuts are tried, those first that both engines expect most \
         of.\n\
         µs: of a squaring; ratio: goldilocks to fp64; P: the largest exponent; ns/bit: ns over \
         P.\n\n{HEADER}"
    )
}

fn line(row: &Row) -> String {
    let Row { points, plan: CommonPlan { name, .. }, ratio, fp64, goldilocks } = row;
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
