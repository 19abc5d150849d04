//! Jobs. A job computes an operation on all numbers of its operands: it opens the operands,
//! computes the results, and writes them.

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
    /// The operands, one path for each operand. A path names a file or a pipe, or is `-` for
    /// standard input. In place of a path, a single number such as `5`, `0x10001` or `2^127-1` is
    /// accepted (see [`crate::expression`]). If a file named `5` exists, the file is read.
    ///
    /// All operands that do not have exactly one number must have the same count of numbers. An
    /// operand with one number is combined with each number of the other operands.
    pub operands: Vec<PathBuf>,
    /// The output for results: a file, a pipe, a device, or `-` for standard output. It may be a
    /// file that is also an operand.
    pub out: PathBuf,
    /// The output for remainders, if the operation has remainders. `None` if they are not
    /// requested.
    pub rem: Option<PathBuf>,
    /// The format of all operands. If it is `None`, the format of each operand is determined by the
    /// extension of its file name, or else by its content.
    pub format: Option<Format>,
    /// The format of the results. If it is `None`, the format is determined by the extension of the
    /// output's name. If this extension names no format, the results have the format of the first
    /// operand that is a file or a pipe. If all operands are single numbers, the format is decimal.
    ///
    /// The format of the remainders is determined in the same way by the name of their own output.
    /// If its extension names no format, the remainders have the format of the results.
    pub out_format: Option<Format>,
    /// The widths of the operands. They are required for raw files. An npy file states its width
    /// itself. The default for text is the smallest width that holds all numbers of the file.
    pub bits: Option<Bits>,
    /// The count of numbers per piece. If it is `None`, a piece has at most 65,536 numbers, and all
    /// pieces in memory take at most 256 MiB. On the CPU, a piece is also limited to the numbers
    /// that are computed in about a second.
    pub chunk: Option<u64>,
    /// Whether results are written only if every number has a result.
    pub strict: bool,
    /// How results are checked. `None` means the default of [`Check`].
    pub check: Option<Check>,
    /// The seed for the random choice of the results to check. If it is `None`, each new job
    /// chooses a seed.
    pub seed: Option<u64>,
    /// Whether the results of an earlier, unfinished run for the same output are discarded.
    /// Otherwise the job resumes this run.
    pub restart: bool,
    /// The time between two saves of the progress.
    pub checkpoint_interval: Duration,
}

impl Request {
    /// Creates a request with default options. The job saves its progress every 5 seconds.
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

    /// Returns the identity of the job, by which a later run recognises it. The count of results in
    /// it is 0; the caller replaces this count.
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

/// A job whose operands and outputs have been inspected.
#[derive(Debug)]
pub struct Job {
    request: Request,
    plan: Plan,
    identity: Identity,
    outs: Vec<Out>,
    /// The time taken by the inspection of the operands.
    looked: Duration,
}

impl Job {
    /// Inspects the operands and outputs of a request. Counts the numbers of the operands, and
    /// determines the widths of operands and results. Pipes are read to their end. No output is
    /// written.
    ///
    /// # Errors
    /// Returns an error if the request is invalid, if an operand is invalid or cannot be read, if
    /// an output cannot be written, if a temporary file cannot be created or written, or if memory
    /// is insufficient.
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

    /// Opens the outputs that are streams. If an output is a pipe, waits until a process opens it
    /// for reading.
    ///
    /// # Errors
    /// A stream, or the temporary file for its results, cannot be opened.
    pub fn open(&self) -> Result<Opened<'_>, BatchError> {
        let streams = self.outs.iter().filter_map(|out| out.open_stream().transpose());
        Ok(Opened { job: self, streams: streams.collect::<Result<Vec<_>, _>>()? })
    }

    /// Returns the operation that the job computes.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.plan.operation
    }

    /// Returns the count of results. If every operand has one number, the count is 1. Otherwise it
    /// is the common count of all operands that do not have exactly one number.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.plan.count
    }

    /// Returns the operands, in the order of the operation.
    #[must_use]
    pub fn operands(&self) -> &[Source] {
        &self.plan.operands
    }

    /// Returns the form of the results and, if remainders are requested, the form of the
    /// remainders.
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

/// A job whose output streams are open. Output files are opened by [`Self::run`].
pub struct Opened<'a> {
    job: &'a Job,
    streams: Vec<Output>,
}

/// The outcome of a job that did not fail.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The totals of this run and of earlier runs of the same request.
    pub tally: Tally,
    /// The count of numbers that earlier runs of the same request have processed.
    pub resumed_from: u64,
    /// The working time of each stage.
    pub times: Times,
    /// The size of all results in bytes, including the results of earlier runs.
    pub written_bytes: u64,
    /// The seed for the random choice of the results that are recomputed by slow arithmetic. `None`
    /// if no results are recomputed.
    pub seed: Option<u64>,
    /// How the job ended.
    pub end: End,
}

/// The way in which a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// All results are written.
    Written,
    /// Some numbers have no result, but [`Request::strict`] requires a result for every number.
    /// Nothing was written.
    Refused,
    /// The job was stopped on request. The value describes the results kept for the next run. It is
    /// `None` if no results are kept.
    Stopped(Option<Kept>),
}

/// The kept results of an unfinished job. The next run of the same request continues after them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The count of numbers whose results are kept.
    pub done: u64,
    /// The path of the file with the results, `OUT.partial` for the output OUT.
    pub path: String,
}

impl Opened<'_> {
    /// Computes the results that earlier runs of the same request have not computed. At the end,
    /// moves all results to their outputs. If a stop is requested, keeps the results so far next to
    /// the output.
    ///
    /// # Errors
    /// Returns an error if an earlier, unfinished job for the same output belongs to another
    /// request, if a file or a stream cannot be read or written, if the computation fails, or if a
    /// check finds a wrong result. If the run fails before the results are moved to their outputs,
    /// and its results so far are kept, the error is inside [`BatchError::Kept`].
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

/// Returns the checks of the results, and the seed of the random sample. The seed is that of the
/// request if it contains one, otherwise `earlier`, the seed of an earlier run, or else a new seed.
/// The returned seed is `None` if no sample is drawn.
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

/// Keeps the results of a job that ended early with `error`, if possible. Returns
/// [`BatchError::Kept`] if the results are kept, and otherwise `error`.
fn kept(sink: Sink, count: u64, error: BatchError) -> BatchError {
    match sink.keep() {
        Some(Kept { done, path }) => {
            BatchError::Kept { source: Box::new(error), done, count, path }
        }
        None => error,
    }
}
