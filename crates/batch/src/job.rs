//! A job: an operation on all numbers of some operands, from opening the operands to writing the
//! results.

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use warpint_integer::{Executor, Operation};
use warpint_progress::StopToken;

use crate::check::Sample;
use crate::identities::Identities;
use crate::operand::{Operand, operands};
use crate::out::Output;
use crate::pipeline::{Checks, Plan, Ran};
use crate::sink::{Begin, Sink};
use crate::state::Identity;
use crate::{BatchError, Bits, Check, Form, Format, News, Out, Source, Tally, Times, shape};

/// The operation, operands, outputs and options of a job.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request {
    /// The operation to compute.
    pub operation: Operation,
    /// One path per operand: a file, a pipe, `-` for standard input, or one number such as `5`,
    /// `0x10001` or `2^127-1` ([`crate::expression`]). If there is a file with the name `5`, the
    /// file is read. All operands with more than one number have the same count of numbers; an
    /// operand with one number is combined with each number of the other operands.
    pub operands: Vec<PathBuf>,
    /// The output for results: a file, a pipe, a device, or `-` for standard output. It may be the
    /// same file as an operand.
    pub out: PathBuf,
    /// The output for remainders, if the operation has them; `None` if they are not requested.
    pub rem: Option<PathBuf>,
    /// The format of all operands. `None`: the format of each operand follows from the extension of
    /// its file name, or else from its content.
    pub format: Option<Format>,
    /// The format of the results. `None`: it follows from the extension of the output's name. If
    /// the extension names no format, it is the format of the first operand that is read from a
    /// file or a pipe, or decimal if every operand is a single number in place of a path.
    pub out_format: Option<Format>,
    /// The widths of the operands. Raw files require them. For text the default is the width of the
    /// widest number in the file.
    pub bits: Option<Bits>,
    /// The count of numbers per piece. `None`: the count that fits in 256 MiB, at most 65,536, and
    /// on the CPU at most the count that the CPU computes in about a second.
    pub chunk: Option<u64>,
    /// Whether results are written only if every number has a result.
    pub strict: bool,
    /// How results are checked; `None` for the defaults.
    pub check: Option<Check>,
    /// The seed from which the results to check are drawn; `None` for a new seed each time.
    pub seed: Option<u64>,
    /// Whether the results that an earlier, unfinished run has left next to the same output are
    /// discarded.
    pub restart: bool,
    /// The time between two saves of the progress.
    pub checkpoint_interval: Duration,
}

impl Request {
    /// Creates a request with default options, which records its progress every 5 seconds.
    #[must_use]
    pub fn new(operation: Operation, operands: Vec<PathBuf>, out: PathBuf) -> Self {
        Self {
            operation,
            operands,
            out,
            rem: None,
            format: None,
            out_format: None,
            bits: None,
            chunk: None,
            strict: false,
            check: None,
            seed: None,
            restart: false,
            checkpoint_interval: Duration::from_secs(5),
        }
    }

    /// Returns the identity of the job. Its count of results is 0; the caller replaces this count.
    fn identity(&self, operands: &[Operand]) -> Identity {
        let mut command = vec![self.operation.name().to_owned()];
        command.extend(operands.iter().map(|operand| operand.place.clone()));
        let mut option = |name: &str, value: Option<String>| {
            command.extend(value.map(|value| format!("--{name} {value}")));
        };
        option("rem", self.rem.as_ref().map(|rem| rem.display().to_string()));
        option("format", self.format.map(|format| format.to_string()));
        option("out-format", self.out_format.map(|format| format.to_string()));
        option("bits", self.bits.as_ref().map(ToString::to_string));
        option("check", self.check.map(|check| check.to_string()));
        option("seed", self.seed.map(|seed| seed.to_string()));
        command.extend(self.strict.then(|| "--strict".to_owned()));
        let inputs = operands.iter().map(|operand| (operand.name.clone(), operand.stamp.clone()));
        Identity { command, inputs: inputs.collect(), count: 0 }
    }
}

/// A request whose operands and outputs were inspected.
#[derive(Debug)]
pub struct Job {
    request: Request,
    plan: Plan,
    identity: Identity,
    outs: Vec<Out>,
    /// The time that the inspection of the operands took.
    looked: Duration,
}

impl Job {
    /// Inspects the request: counts the numbers of the operands, and determines the widths of
    /// operands and results. Pipes are read to their end. Nothing is written.
    ///
    /// # Errors
    /// [`BatchError`] if the request is invalid or an operand cannot be read.
    pub fn new(
        request: Request,
        executor: Executor,
        news: &mut dyn FnMut(News),
    ) -> Result<Self, BatchError> {
        let operation = request.operation;
        let outs = [Some(&request.out), request.rem.as_ref()].into_iter().flatten();
        let outs = outs.map(|path| Out::new(path)).collect::<Result<Vec<_>, _>>()?;
        if let [first, second] = &outs[..]
            && first.is_same(second)
        {
            return Err(BatchError::request("results and remainders cannot go to the same place"));
        }
        let paths: Vec<&Path> = request.operands.iter().map(PathBuf::as_path).collect();
        let widths = shape::widths(operation, paths.len(), request.bits.as_ref())?;
        let begin = Instant::now();
        let operands = operands(&paths, &outs)?;
        for Operand { name, .. } in operands.iter().filter(|operand| operand.hides_number) {
            news(News::ReadAsFile(name.clone()));
        }
        let identity = request.identity(&operands);
        let operands = operands.into_iter().zip(widths);
        let operands =
            operands.map(|(operand, width)| Source::look(operand, request.format, width));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        let looked = begin.elapsed();
        let count = shape::count(&operands)?;
        let forms = shape::forms(&request, &operands)?;
        let on_cpu = executor.is_cpu();
        let chunk = shape::chunk(operation, on_cpu, &operands, &forms, count, request.chunk)?;
        let plan = Plan { operation, executor, operands, count, forms, chunk };
        Ok(Self { identity: Identity { count, ..identity }, request, plan, outs, looked })
    }

    /// Opens the outputs that are streams. Opening a pipe waits for its reader.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn open(&self) -> Result<Opened<'_>, BatchError> {
        let streams = self.outs.iter().filter_map(|out| out.open_stream().transpose());
        Ok(Opened { job: self, streams: streams.collect::<Result<Vec<_>, _>>()? })
    }

    /// Returns the operation.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.plan.operation
    }

    /// Returns the count of results. It is 1 if each operand has one number. Otherwise it is the
    /// count of numbers of each operand that does not have exactly one number.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.plan.count
    }

    /// Returns the operands, in the order of the operation.
    #[must_use]
    pub fn operands(&self) -> &[Source] {
        &self.plan.operands
    }

    /// Returns the form in which the results are written and, if remainders are requested, the form
    /// of the remainders.
    #[must_use]
    pub fn forms(&self) -> &[Form] {
        &self.plan.forms
    }

    /// Returns the output for the results and, if remainders are requested, the output for the
    /// remainders.
    #[must_use]
    pub fn outs(&self) -> &[Out] {
        &self.outs
    }
}

/// A job whose outputs are open.
pub struct Opened<'a> {
    job: &'a Job,
    streams: Vec<Output>,
}

/// The outcome of a job that did not fail.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The totals of this run and of earlier runs of the same request.
    pub tally: Tally,
    /// The count of numbers that earlier runs of the same request processed.
    pub resumed_from: u64,
    /// The working time of each stage.
    pub times: Times,
    /// The size of all results in bytes, including the results of earlier runs.
    pub written_bytes: u64,
    /// The seed from which the results to recompute by slow arithmetic were drawn; `None` if no
    /// results are recomputed.
    pub seed: Option<u64>,
    /// How the job ended.
    pub end: End,
}

/// The way in which a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// All results are written.
    Written,
    /// Some numbers have no result, and [`Request::strict`] requires all: nothing is written.
    Refused,
    /// The job was stopped on request. Contains the results that are kept for the next run, or
    /// `None` if none are kept.
    Stopped(Option<Kept>),
}

/// The results of an unfinished job, from which the next run of the same request continues.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The count of numbers whose results are kept.
    pub done: u64,
    /// The path of the file with the results.
    pub path: String,
}

impl Opened<'_> {
    /// Computes the results that earlier runs of the same request have not computed, and moves all
    /// results to their outputs at the end. If a stop is requested, the results so far are kept
    /// next to the output.
    ///
    /// # Errors
    /// [`BatchError::Kept`] if the computation failed and its results so far are kept; otherwise
    /// the error itself.
    pub fn run(self, stop: &StopToken, news: &mut dyn FnMut(News)) -> Result<Outcome, BatchError> {
        let Self { job: Job { request, plan, identity, outs, looked }, streams } = self;
        let count = plan.count;
        let begin = Sink::begin(
            outs,
            streams,
            identity.clone(),
            request.restart,
            request.checkpoint_interval,
        )?;
        let Begin { mut sink, tally: begun, seed, note } = begin;
        note.into_iter().for_each(&mut *news);
        let (checks, seed) = checks(request, plan, begun, seed);
        sink.set_seed(seed);
        if begun.done == 0 {
            let headers: Vec<_> = plan.forms.iter().map(|form| form.header(count)).collect();
            if let Err(e) = sink.write(&headers) {
                return Err(kept(sink, count, e));
            }
        }
        news(News::Begun { done: begun.done, count });
        let ran = plan.run(begun, &mut sink, checks, stop, news);
        news(News::Ended);
        let Ran { tally, mut times, ended, distrusted } = match ran {
            Ok(ran) => ran,
            Err(e) => return Err(kept(sink, count, e)),
        };
        times.read += *looked;
        match ended {
            Err(e) if distrusted => {
                sink.discard();
                return Err(e);
            }
            Err(e) => return Err(kept(sink, count, e)),
            Ok(()) => {}
        }
        let bytes = sink.bytes();
        let finishing = Instant::now();
        let end = if tally.done < count {
            End::Stopped(sink.keep())
        } else if tally.malformed > 0 && request.strict {
            sink.discard();
            End::Refused
        } else {
            sink.finish()?;
            End::Written
        };
        if end == End::Written || end == End::Refused {
            times.write += finishing.elapsed();
        }
        let written_bytes = if end == End::Refused { 0 } else { bytes };
        Ok(Outcome { tally, resumed_from: begun.done, times, written_bytes, seed, end })
    }
}

/// Returns the checks of the results, and the seed of the random sample if a sample is drawn. The
/// seed is the one that the request states, or else the seed `earlier` of the earlier run, or else
/// a new one.
fn checks(
    request: &Request,
    plan: &Plan,
    begun: Tally,
    earlier: Option<u64>,
) -> (Checks, Option<u64>) {
    let drawn = || RandomState::new().hash_one(0);
    let check = request.check.unwrap_or_default();
    let seed = request.seed.or(earlier).unwrap_or_else(drawn);
    let mut sample = Sample::new(check.sample, plan.count, seed);
    for _ in 0..begun.done {
        sample.draw();
    }
    let asked_for = check.identity.unwrap_or(!plan.executor.is_cpu());
    let identities = Identities::new(asked_for, seed);
    (Checks { identities, sample }, (check.sample > 0).then_some(seed))
}

/// Keeps the results of a job that ended early, if possible. Returns [`BatchError::Kept`] if the
/// results are kept, otherwise `error`.
fn kept(sink: Sink, count: u64, error: BatchError) -> BatchError {
    match sink.keep() {
        Some(Kept { done, path }) => {
            BatchError::Kept { source: Box::new(error), done, count, path }
        }
        None => error,
    }
}
