//! `warpint batch`: operations on the numbers of files, pair by pair.

mod check;
mod encoding;
#[cfg(test)]
mod fuzz;
mod lines;
mod npy;
mod operation;
mod pipeline;
pub(crate) mod place;
mod report;
mod sink;
mod source;
mod standard;
mod view;

use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::time::Instant;

use check::Sample;
use npy::Item;
use operation::Operation;
use pipeline::Job;
use report::BatchReport;
use sink::{Form, Out};
use source::{Source, bytes_each, format_of};
use standard::is_standard;
use view::View;

use crate::args::{Batch, BatchArgs, Format};
use crate::exit::{BadRequest, Exit};
use crate::report::{notice, print, report_line};
use crate::signals::Signals;
use crate::units;

pub(crate) fn run(what: &Batch) -> anyhow::Result<Exit> {
    match what {
        Batch::Add(args) => files(Operation::Add, &args.a, Some(&args.b), &args.rest),
        Batch::Sub(args) => files(Operation::Subtract, &args.a, Some(&args.b), &args.rest),
        Batch::Mul(args) => files(Operation::Multiply, &args.a, Some(&args.b), &args.rest),
        Batch::Mullo(args) => files(Operation::MultiplyLow, &args.a, Some(&args.b), &args.rest),
        Batch::Sqr(args) => files(Operation::Square, &args.a, None, &args.rest),
    }
}

fn files(
    operation: Operation,
    a: &Path,
    b: Option<&Path>,
    args: &BatchArgs,
) -> anyhow::Result<Exit> {
    let signals = Signals::install()?;
    let begin = Instant::now();
    let (executor, device) = place::executor(args.device, args.threads)?;
    let out = Out::new(&args.out)?;
    if is_standard(a) && b.is_some_and(is_standard) {
        return Err(BadRequest("A and B cannot both be standard input".into()).into());
    }
    if b.is_none() && args.bits.is_some_and(|bits| bits.a != bits.b) {
        return Err(BadRequest("sqr reads one file: give --bits its width alone".into()).into());
    }
    let a = Source::look(a, args.format, args.bits.map(|bits| bits.a))?;
    let b = b.map(|b| Source::look(b, args.format, args.bits.map(|bits| bits.b))).transpose()?;
    let count = count(&a, b.as_ref())?;
    let form = form(operation, &a, b.as_ref(), args)?;
    let chunk = chunk(&a, b.as_ref(), form, count, args.chunk)?;
    let seed = args.check.map(|_| args.seed.unwrap_or_else(|| RandomState::new().hash_one(0)));
    let sample = Sample::new(args.check.unwrap_or(0), count, seed.unwrap_or(0));
    let job = Job { operation, executor, a, b, count, form, chunk };

    // From here on a file is written, which must not be left behind.
    let stop = signals.save_first();
    let mut file = form.open(&out, count)?;
    let mut view = View::new(count, args.json);
    let ended = job.run(&mut file, sample, stop, &mut |news| view.take(news));
    view.end();
    let tally = ended?;
    if tally.done < count {
        notice(&format!(
            "stopped after {} of {}: nothing is written",
            tally.done,
            units::count(count, "number")
        ));
        return Ok(Exit::Stopped);
    }
    let written = tally.malformed == 0 || !args.strict;
    if written {
        file.finish()?;
    } else {
        drop(file);
    }
    let report = BatchReport::new(&job, out.name(), tally, begin.elapsed(), device, seed);
    match (written || args.json, is_standard(&args.out)) {
        (false, _) => {}
        (true, false) => print(&report, args.json)?,
        (true, true) => notice(&report_line(&report, args.json)?),
    }
    if tally.malformed == 0 {
        return Ok(Exit::Done);
    }
    let what = match (written, form.format) {
        (false, _) => "nothing is written",
        (true, Format::Decimal | Format::Hex) => "'none' is written instead",
        (true, Format::Npy | Format::Raw) => "zeros are written instead",
    };
    Err(BadRequest(format!(
        "{} of {} {} no result: {what}",
        tally.malformed,
        units::count(count, "number"),
        if tally.malformed == 1 { "has" } else { "have" },
    ))
    .into())
}

/// How many results there are.
fn count(a: &Source, b: Option<&Source>) -> Result<u64, BadRequest> {
    match b {
        None => Ok(a.count),
        Some(b) if a.count == b.count || b.count == 1 => Ok(a.count),
        Some(b) if a.count == 1 => Ok(b.count),
        Some(b) => Err(BadRequest(format!(
            "{} and {}: {} and {}: there must be as many of both, or one of either",
            a.path.display(),
            b.path.display(),
            units::count(a.count, "number"),
            units::count(b.count, "number"),
        ))),
    }
}

/// How results are written.
fn form(
    operation: Operation,
    a: &Source,
    b: Option<&Source>,
    args: &BatchArgs,
) -> anyhow::Result<Form> {
    let width = operation.width(a.width, b.map_or(a.width, |b| b.width))?;
    let format = args.out_format.or_else(|| format_of(&args.out)).unwrap_or(a.format);
    let given = a.item == Some(Item::U64) || b.is_some_and(|b| b.item == Some(Item::U64));
    let item = if given && width.limbs().is_multiple_of(2) { Item::U64 } else { Item::U32 };
    Ok(Form { format, width, item })
}

/// So many numbers as this much memory holds.
const MEMORY: u64 = 256 << 20;
/// More at a time are no faster.
const MOST: u64 = 1 << 16;

/// Numbers at a time: some are read, some wait, some are computed, some are written.
fn chunk(
    a: &Source,
    b: Option<&Source>,
    form: Form,
    count: u64,
    wanted: Option<u64>,
) -> Result<u64, BadRequest> {
    const STAGES: u64 = 4;
    let each = STAGES
        * (a.bytes_each() + b.map_or(0, Source::bytes_each) + bytes_each(form.format, form.width));
    let chunk = wanted.unwrap_or((MEMORY / each).clamp(1, MOST)).min(count);
    let bytes = chunk.checked_mul(each).and_then(|bytes| usize::try_from(bytes).ok());
    // What there cannot be is told of now, not in the middle of the work.
    let there = bytes.is_some_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    if there {
        return Ok(chunk);
    }
    let numbers = units::count(chunk, "number");
    Err(BadRequest(format!("no memory for {numbers} at a time: give a smaller --chunk")))
}
