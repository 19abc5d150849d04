//! `warpint batch`: operations on the numbers of files, number by number.

mod check;
mod detect;
mod digits;
mod encoding;
#[cfg(test)]
mod fuzz;
mod identities;
mod lines;
mod npy;
mod operand;
mod operation;
mod out;
mod partial;
mod pipeline;
pub(crate) mod place;
mod report;
mod results;
mod shape;
mod sink;
mod source;
mod spool;
mod state;
mod view;

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use check::Sample;
use identities::Identities;
use operand::{Operand, operands};
use operation::Operation;
use out::{Out, Output};
use pipeline::{Checks, Job, Ran};
use report::BatchReport;
use sink::{Begin, Note, Sink};
use source::Source;
use state::Identity;
use view::View;

use crate::args::{Batch, BatchArgs, Format, PairArgs, RootArgs};
use crate::exit::{BadRequest, Exit, one_line};
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

/// What is to be computed, from where and to where.
struct Task {
    job: Job,
    identity: Identity,
    outs: Vec<Out>,
    device: String,
    /// How long the operands were looked at.
    looked: Duration,
}

/// Looks at everything before anything is written.
fn task(
    operation: Operation,
    paths: &[&PathBuf],
    args: &BatchArgs,
    rem: Option<&Path>,
) -> anyhow::Result<Task> {
    let (executor, device) = place::executor(args.device, args.threads)?;
    let outs = [Some(args.out.as_path()), rem].into_iter().flatten();
    let outs = outs.map(Out::new).collect::<Result<Vec<_>, _>>()?;
    if let [first, second] = &outs[..]
        && first.is_same(second)
    {
        return Err(BadRequest("results and remainders cannot go to the same place".into()).into());
    }
    let widths = shape::widths(operation, paths.len(), args.bits.as_ref())?;
    let begin = Instant::now();
    let operands = operands(paths, &outs)?;
    warn_of_names(&operands, args);
    let identity = identity(operation, &operands, args, rem);
    let operands = operands.into_iter().zip(widths);
    let operands = operands.map(|(operand, width)| Source::look(operand, args.format, width));
    let operands = operands.collect::<anyhow::Result<Vec<_>>>()?;
    let looked = begin.elapsed();
    let count = shape::count(&operands)?;
    let forms = shape::forms(operation, &operands, args, rem)?;
    let chunk = shape::chunk(operation, executor.is_cpu(), &operands, &forms, count, args.chunk)?;
    let job = Job { operation, executor, operands, count, forms, chunk };
    Ok(Task { job, identity: Identity { count, ..identity }, outs, device, looked })
}

fn files(
    operation: Operation,
    paths: &[&PathBuf],
    args: &BatchArgs,
    rem: Option<&Path>,
) -> anyhow::Result<Exit> {
    let signals = Signals::install()?;
    let begin = Instant::now();
    let Task { job, identity, outs, device, looked } = task(operation, paths, args, rem)?;
    let count = job.count;
    // A pipe may have to wait for its reader.
    let streams = outs.iter().filter_map(|out| out.open_stream().transpose());
    let streams = streams.collect::<anyhow::Result<Vec<Output>>>()?;

    // From here on files are written, which are kept or removed at the end.
    let stop = signals.save_first();
    let Begin { mut sink, tally: begun, seed, note } =
        Sink::begin(&outs, streams, identity, args.restart, args.checkpoint_interval)?;
    let says = match note {
        Some(Note::GoingOn(line)) => Some(line).filter(|_| !args.quiet && !args.json),
        Some(Note::Discarded(line)) => Some(line),
        None => None,
    };
    says.iter().for_each(|line| notice(line));
    let drawn = || RandomState::new().hash_one(0);
    let check = args.check.unwrap_or_default();
    let drawn_seed = args.seed.or(seed).unwrap_or_else(drawn);
    let seed = (check.sample > 0).then_some(drawn_seed);
    sink.set_seed(seed);
    let mut sample = Sample::new(check.sample, count, drawn_seed);
    for _ in 0..begun.done {
        sample.draw();
    }
    if begun.done == 0 {
        let headers: Vec<_> = job.forms.iter().map(|form| form.header(count)).collect();
        if let Err(e) = sink.write(&headers) {
            return Err(kept(sink, count, e));
        }
    }
    let mut view = View::new(begun.done, count, args.json || args.quiet);
    let asked_for = check.identity.unwrap_or(!job.executor.is_cpu());
    let checks = Checks { identities: Identities::new(asked_for, drawn_seed), sample };
    let ran = job.run(begun, &mut sink, checks, stop, &mut |news| view.take(news));
    view.end();
    let Ran { tally, mut times, ended, distrusted } = match ran {
        Ok(ran) => ran,
        Err(e) => return Err(kept(sink, count, e)),
    };
    times.read += looked;
    match ended {
        Err(e) if distrusted => {
            sink.discard();
            return Err(e);
        }
        Err(e) => return Err(kept(sink, count, e)),
        Ok(()) => {}
    }
    let names = outs.iter().map(Out::name).collect::<Vec<_>>().join(" and ");
    let bytes = sink.bytes();
    let mut report = BatchReport::new(&job, names, tally, device, seed);
    report.begun(begun);
    if tally.done < count {
        let after = |done| format!("stopped after {done} of {}", units::count(count, "number"));
        notice(&match sink.keep() {
            Some((done, name)) => {
                format!("{}: kept in {name}; the same command goes on from there", after(done))
            }
            None => format!("{}: nothing is written", after(tally.done)),
        });
        if args.json {
            report.took(begin.elapsed(), times, bytes);
            tell(&report, &outs, true)?;
        }
        return Ok(Exit::Stopped);
    }
    let written = tally.malformed == 0 || !args.strict;
    let finishing = Instant::now();
    if written {
        sink.finish()?;
    } else {
        sink.discard();
    }
    times.write += finishing.elapsed();
    report.took(begin.elapsed(), times, if written { bytes } else { 0 });
    if args.json || (written && !args.quiet) {
        tell(&report, &outs, args.json)?;
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

/// Prints a report: on standard output, unless results go there.
fn tell(report: &BatchReport, outs: &[Out], json: bool) -> anyhow::Result<()> {
    if !outs.iter().any(Out::is_standard) {
        return print(report, json);
    }
    notice(&report_line(report, json)?);
    Ok(())
}

/// An error that ended a job early, and what is left of it.
fn kept(sink: Sink, count: u64, error: anyhow::Error) -> anyhow::Error {
    let Some((done, name)) = sink.keep() else { return error };
    let says = one_line(&error);
    let count = units::count(count, "number");
    error.context(format!(
        "{says}; {done} of {count} are kept in {name}, and the same command goes on from there"
    ))
}

/// A file is taken where a number may be meant.
fn warn_of_names(operands: &[Operand], args: &BatchArgs) {
    for Operand { name, .. } in operands.iter().filter(|operand| operand.hides_number) {
        if !args.quiet {
            notice(&format!(
                "{name} is read as a file, for there is one; for the number give {name}+0"
            ));
        }
    }
}

/// What tells a job from others, but for the count of its numbers.
fn identity(
    operation: Operation,
    operands: &[Operand],
    args: &BatchArgs,
    rem: Option<&Path>,
) -> Identity {
    let mut command = vec![operation.name().to_owned()];
    command.extend(operands.iter().map(|operand| operand.place.clone()));
    let mut option = |name: &str, value: Option<String>| {
        command.extend(value.map(|value| format!("--{name} {value}")));
    };
    option("rem", rem.map(|rem| rem.display().to_string()));
    option("format", args.format.map(|format| format.to_string()));
    option("out-format", args.out_format.map(|format| format.to_string()));
    option("bits", args.bits.as_ref().map(ToString::to_string));
    option("check", args.check.map(|check| check.to_string()));
    option("seed", args.seed.map(|seed| seed.to_string()));
    command.extend(args.strict.then(|| "--strict".to_owned()));
    let inputs = operands.iter().map(|operand| (operand.name.clone(), operand.stamp.clone()));
    Identity { command, inputs: inputs.collect(), count: 0 }
}
