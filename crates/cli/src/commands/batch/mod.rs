//! The command `warpint batch`: operations on the numbers of files, number by number.

pub(crate) mod place;
mod report;
mod view;

use std::path::{Path, PathBuf};
use std::time::Instant;

use report::BatchReport;
use view::View;
use warpint::batch::{End, Format, Job, Kept, Out, Outcome, Request};
use warpint::integer::Operation;

use crate::args::{Batch, BatchArgs, PairArgs, RootArgs};
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
        Batch::Isprime(args) => files(Operation::ProbablePrime, &[&args.a], &args.rest, None),
    }
}

fn pair(operation: Operation, args: &PairArgs, rem: Option<&Path>) -> anyhow::Result<Exit> {
    files(operation, &[&args.a, &args.b], &args.rest, rem)
}

fn files(
    operation: Operation,
    paths: &[&PathBuf],
    args: &BatchArgs,
    rem: Option<&Path>,
) -> anyhow::Result<Exit> {
    let signals = Signals::install()?;
    let begin = Instant::now();
    let (executor, device) = place::executor(args.device, args.threads)?;
    let mut view = View::new(args.quiet, args.json);
    let mut news = |news| view.take(news);
    let job = Job::new(request(operation, paths, args, rem), executor, &mut news)?;
    let opened = job.open()?;
    // From here on files are written; they are kept or removed at the end.
    let outcome = opened.run(signals.save_first(), &mut news)?;
    if let End::Stopped(kept) = &outcome.end {
        notice(&stopped(&outcome, kept.as_ref(), job.count()));
    }
    let report = BatchReport::new(&job, &outcome, device, begin.elapsed());
    let says = match outcome.end {
        End::Written => args.json || !args.quiet,
        End::Refused | End::Stopped(_) => args.json,
    };
    if says {
        tell(&report, job.outs(), args.json)?;
    }
    match outcome.end {
        End::Stopped(_) => Ok(Exit::Stopped),
        _ if outcome.tally.malformed == 0 => Ok(Exit::Done),
        _ => Err(without_result(&job, &outcome).into()),
    }
}

fn request(
    operation: Operation,
    paths: &[&PathBuf],
    args: &BatchArgs,
    rem: Option<&Path>,
) -> Request {
    let operands = paths.iter().map(|&path| path.clone()).collect();
    let mut request = Request::new(operation, operands, args.out.clone());
    request.rem = rem.map(Path::to_owned);
    request.format = args.format;
    request.out_format = args.out_format;
    request.bits = args.bits.clone();
    request.chunk = args.chunk;
    request.strict = args.strict;
    request.check = args.check;
    request.seed = args.seed;
    request.restart = args.restart;
    request.checkpoint_interval = args.checkpoint_interval;
    request
}

/// Formats the message of a stopped run as `stopped after 3000 of 10000 numbers: …`.
fn stopped(outcome: &Outcome, kept: Option<&Kept>, count: u64) -> String {
    let after = |done| format!("stopped after {done} of {}", units::count(count, "number"));
    match kept {
        Some(Kept { done, path }) => {
            format!("{}: kept in {path}; the same command goes on from there", after(*done))
        }
        None => format!("{}: nothing is written", after(outcome.tally.done)),
    }
}

/// Builds the error for a batch in which some numbers have no result. The error states the count of
/// these numbers. If the output file contains a text or zeros in place of their results, the error
/// states this too.
fn without_result(job: &Job, outcome: &Outcome) -> BadRequest {
    let format = job.forms().first().map_or(Format::Decimal, |form| form.format);
    let what = match (&outcome.end, format) {
        (End::Refused, _) => "nothing is written",
        (_, Format::Decimal | Format::Hex) => "'none' is written instead",
        (_, Format::Npy | Format::Raw) => "zeros are written instead",
    };
    let malformed = outcome.tally.malformed;
    BadRequest(format!(
        "{malformed} of {} {} no result: {what}",
        units::count(job.count(), "number"),
        if malformed == 1 { "has" } else { "have" },
    ))
}

/// Prints a report on standard output, or on standard error if results are written to standard
/// output.
fn tell(report: &BatchReport, outs: &[Out], json: bool) -> anyhow::Result<()> {
    if !outs.iter().any(Out::is_standard) {
        return print(report, json);
    }
    notice(&report_line(report, json)?);
    Ok(())
}
