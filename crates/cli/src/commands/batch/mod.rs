//! `warpint batch`: operations on the numbers of files, number by number.

mod check;
mod encoding;
#[cfg(test)]
mod fuzz;
mod identities;
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
use std::path::{Path, PathBuf};
use std::time::Instant;

use check::Sample;
use identities::Identities;
use npy::Item;
use operation::Operation;
use pipeline::{Checks, Job};
use report::BatchReport;
use sink::{Draft, Form, Out};
use source::{Source, bytes_each, format_of};
use standard::is_standard;
use view::View;
use warpint::integer::Width;

use crate::args::{Batch, BatchArgs, Bits, Format, PairArgs, RootArgs};
use crate::exit::{BadRequest, Exit};
use crate::report::{notice, print, report_line};
use crate::signals::Signals;
use crate::units;

pub(crate) fn run(what: &Batch) -> anyhow::Result<Exit> {
    match what {
        Batch::Add(args) => pair(Operation::Add, args, None),
        Batch::Sub(args) => pair(Operation::Subtract, args, None),
        Batch::Mul(args) => pair(Operation::Multiply, args, None),
        Batch::Mullo(args) => pair(Operation::MultiplyLow, args, None),
        Batch::Sqr(args) => files(Operation::Square, &[&args.a], &args.rest, None),
        Batch::Divrem(args) => pair(Operation::Divide, &args.pair, args.second.rem.as_deref()),
        Batch::Gcd(args) => pair(Operation::Gcd, args, None),
        Batch::Modinv(args) => pair(Operation::Inverse, args, None),
        Batch::Sqrt(RootArgs { single, second }) => {
            files(Operation::SquareRoot, &[&single.a], &single.rest, second.rem.as_deref())
        }
        Batch::Powm(args) => {
            files(Operation::Power, &[&args.a, &args.e, &args.m], &args.rest, None)
        }
    }
}

fn pair(operation: Operation, args: &PairArgs, rem: Option<&Path>) -> anyhow::Result<Exit> {
    files(operation, &[&args.a, &args.b], &args.rest, rem)
}

fn files(
    operation: Operation,
    operands: &[&PathBuf],
    args: &BatchArgs,
    rem: Option<&Path>,
) -> anyhow::Result<Exit> {
    let signals = Signals::install()?;
    let begin = Instant::now();
    let (executor, device) = place::executor(args.device, args.threads)?;
    let outs = [Some(args.out.as_path()), rem].into_iter().flatten();
    let outs = outs.map(Out::new).collect::<Result<Vec<_>, _>>()?;
    if let [first, second] = &outs[..]
        && first.is_same(second)
    {
        return Err(BadRequest("results and remainders cannot go to the same place".into()).into());
    }
    if operands.iter().filter(|path| is_standard(path)).count() > 1 {
        let which = if operands.len() == 2 { "A and B cannot both" } else { "only one file can" };
        return Err(BadRequest(format!("{which} be standard input")).into());
    }
    let widths = widths(operation, operands.len(), args.bits.as_ref())?;
    let operands = operands.iter().zip(widths);
    let operands = operands.map(|(path, width)| Source::look(path, args.format, width));
    let operands = operands.collect::<anyhow::Result<Vec<_>>>()?;
    let count = count(&operands)?;
    let forms = forms(operation, &operands, args, rem)?;
    let chunk = chunk(&operands, &forms, count, args.chunk)?;
    let check = args.check.unwrap_or_default();
    let seed = args.seed.unwrap_or_else(|| RandomState::new().hash_one(0));
    let checks = Checks {
        identities: Identities::new(check.identity.unwrap_or(!executor.is_cpu()), seed),
        sample: Sample::new(check.sample, count, seed),
    };
    let job = Job { operation, executor, operands, count, forms, chunk };

    // From here on files are written, which must not be left behind.
    let stop = signals.save_first();
    let opened = job.forms.iter().zip(&outs).map(|(form, out)| form.open(out, count));
    let mut drafts = opened.collect::<anyhow::Result<Vec<_>>>()?;
    let mut view = View::new(count, args.json);
    let ended = job.run(&mut drafts, checks, stop, &mut |news| view.take(news));
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
        drafts.into_iter().try_for_each(Draft::finish)?;
    } else {
        drop(drafts);
    }
    let names = outs.iter().map(Out::name).collect::<Vec<_>>().join(" and ");
    let seed = (check.sample > 0).then_some(seed);
    let report = BatchReport::new(&job, names, tally, begin.elapsed(), device, seed);
    match (written || args.json, outs.iter().any(Out::is_standard)) {
        (false, _) => {}
        (true, false) => print(&report, args.json)?,
        (true, true) => notice(&report_line(&report, args.json)?),
    }
    if tally.malformed == 0 {
        return Ok(Exit::Done);
    }
    let format = job.forms.first().map_or(Format::Decimal, |form| form.format);
    let what = match (written, format) {
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

/// The width that was asked for of each file.
fn widths(
    operation: Operation,
    files: usize,
    bits: Option<&Bits>,
) -> Result<Vec<Option<Width>>, BadRequest> {
    let Some(Bits(given)) = bits else { return Ok(vec![None; files]) };
    match &given[..] {
        [first, others @ ..] if others.iter().all(|width| width == first) => {
            Ok(vec![Some(*first); files])
        }
        given if given.len() == files => Ok(given.iter().copied().map(Some).collect()),
        _ => {
            let name = operation.name();
            Err(BadRequest(match files {
                1 => format!("{name} reads one file: give --bits its width alone"),
                2 => format!("{name} reads two files: give --bits one width, or that of each"),
                _ => format!("{name} reads three files: give --bits one width, or that of each"),
            }))
        }
    }
}

/// How many results there are.
fn count(operands: &[Source]) -> Result<u64, BadRequest> {
    let mut many = operands.iter().filter(|source| source.count != 1);
    let Some(first) = many.next() else { return Ok(1) };
    match many.find(|source| source.count != first.count) {
        None => Ok(first.count),
        Some(other) => Err(BadRequest(format!(
            "{} and {}: {} and {}: there must be as many of both, or one of either",
            first.path.display(),
            other.path.display(),
            units::count(first.count, "number"),
            units::count(other.count, "number"),
        ))),
    }
}

/// How results are written, and remainders if they are wanted.
fn forms(
    operation: Operation,
    operands: &[Source],
    args: &BatchArgs,
    rem: Option<&Path>,
) -> anyhow::Result<Vec<Form>> {
    let of = |i: usize| operands.get(i).or(operands.first());
    let width = |i| of(i).map_or(Width::new(32), |source| Ok(source.width));
    let (first, second) = operation.widths([width(0)?, width(1)?, width(2)?])?;
    let given = operands.iter().any(|source| source.item == Some(Item::U64));
    let format = args.out_format.or_else(|| format_of(&args.out));
    let format = format.or(of(0).map(|a| a.format)).unwrap_or(Format::Decimal);
    let form = |width: Width, format| {
        let item = if given && width.limbs().is_multiple_of(2) { Item::U64 } else { Item::U32 };
        Form { format, width, item }
    };
    let rem = rem.zip(second).map(|(rem, width)| {
        form(width, args.out_format.or_else(|| format_of(rem)).unwrap_or(format))
    });
    Ok([Some(form(first, format)), rem].into_iter().flatten().collect())
}

/// So many numbers as this much memory holds.
const MEMORY: u64 = 256 << 20;
/// More at a time are no faster.
const MOST: u64 = 1 << 16;

/// Numbers at a time: some are read, some wait, some are computed, some are written.
fn chunk(
    operands: &[Source],
    forms: &[Form],
    count: u64,
    wanted: Option<u64>,
) -> Result<u64, BadRequest> {
    const STAGES: u64 = 4;
    let read = operands.iter().map(Source::bytes_each).sum::<u64>();
    let written = forms.iter().map(|form| bytes_each(form.format, form.width)).sum::<u64>();
    let each = STAGES * (read + written);
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
