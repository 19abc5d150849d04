//! A job: an operation on all numbers of some operands, from the first look at them to the file of
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

/// What is to be computed, from where and to where.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Request {
    /// What is computed.
    pub operation: Operation,
    /// An operand each: a file, a pipe, `-` for standard input, or one number such as `5`, `0x10001`
    /// or `2^127-1` ([`crate::expression`]); a file of that name comes first. All have as many
    /// numbers, or one for all of the others.
    pub operands: Vec<PathBuf>,
    /// The place of the results: a file, a pipe, a device, or `-` for standard output. It may be one
    /// of the operands.
    pub out: PathBuf,
    /// The place of the remainders of operations that have some; `None` if they are not wanted.
    pub rem: Option<PathBuf>,
    /// The format of the operands; by default by the ends of their names, else by their content.
    pub format: Option<Format>,
    /// The format of the results; by default by the end of the name of OUT, else that of the first
    /// operand that is a file.
    pub out_format: Option<Format>,
    /// The widths of the operands. Raw files need them; by default those of text are the widest
    /// numbers there are.
    pub bits: Option<Bits>,
    /// Numbers at a time; by default what 256 MiB hold, at most 65,536, and on the CPU no more than
    /// it computes in about a second.
    pub chunk: Option<u64>,
    /// Nothing is written unless every number has a result.
    pub strict: bool,
    /// How results are checked.
    pub check: Option<Check>,
    /// It draws the results to check; by default another one each time.
    pub seed: Option<u64>,
    /// What an earlier run has left of these results is discarded.
    pub restart: bool,
    /// Time between two records of how far the job is.
    pub checkpoint_interval: Duration,
}

impl Request {
    /// With nothing but defaults, and a record every 5 seconds.
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

    /// What tells a job from others, but for the count of its numbers.
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

/// A request whose operands and places have been looked at.
#[derive(Debug)]
pub struct Job {
    request: Request,
    plan: Plan,
    identity: Identity,
    outs: Vec<Out>,
    /// How long the operands were looked at.
    looked: Duration,
}

impl Job {
    /// Looks at everything: counts the numbers of the operands, and finds how wide they and the
    /// results are. Pipes are read to their end. Nothing is written.
    ///
    /// # Errors
    /// What makes no sense or cannot be read.
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

    /// Opens the places of results that are streams: a pipe waits for its reader.
    ///
    /// # Errors
    /// Those of the system.
    pub fn open(&self) -> Result<Opened<'_>, BatchError> {
        let streams = self.outs.iter().filter_map(|out| out.open_stream().transpose());
        Ok(Opened { job: self, streams: streams.collect::<Result<Vec<_>, _>>()? })
    }

    /// What is computed.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.plan.operation
    }

    /// Results: as many as the operands have numbers.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.plan.count
    }

    /// The operands, in their order.
    #[must_use]
    pub fn operands(&self) -> &[Source] {
        &self.plan.operands
    }

    /// How results are written, and remainders if they are wanted.
    #[must_use]
    pub fn forms(&self) -> &[Form] {
        &self.plan.forms
    }

    /// Where results go, and remainders if they are wanted.
    #[must_use]
    pub fn outs(&self) -> &[Out] {
        &self.outs
    }
}

/// A job whose places are open.
pub struct Opened<'a> {
    job: &'a Job,
    streams: Vec<Output>,
}

/// What came of a job that did not fail.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What is done, by earlier runs too.
    pub tally: Tally,
    /// Numbers that earlier runs of the same request had done.
    pub resumed_from: u64,
    /// How long each stage worked.
    pub times: Times,
    /// Bytes of the results in their places, those of earlier runs too.
    pub written_bytes: u64,
    /// It drew the results that were checked by slow arithmetic; `None` if none were.
    pub seed: Option<u64>,
    /// How it ended.
    pub end: End,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// All results are in their places.
    Written,
    /// Some numbers have no result, and [`Request::strict`] asked for all: nothing is written.
    Refused,
    /// Stopped as asked; `None` if nothing is kept.
    Stopped(Option<Kept>),
}

/// What an unfinished job leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// Numbers that are done.
    pub done: u64,
    /// The file that has the results.
    pub path: String,
}

impl Opened<'_> {
    /// Computes all results, or those that an earlier run of the same request has left to do, and
    /// puts them in their places at the end. When `stop` is asked for, what is done is kept beside
    /// OUT.
    ///
    /// # Errors
    /// [`BatchError::Kept`] where results so far are kept; otherwise nothing is left.
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

/// How the results are checked, and the seed of the sample if there is one: that of the request, else
/// that of an earlier run.
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

/// An error that ended a job early, and what is left of it.
fn kept(sink: Sink, count: u64, error: BatchError) -> BatchError {
    match sink.keep() {
        Some(Kept { done, path }) => {
            BatchError::Kept { source: Box::new(error), done, count, path }
        }
        None => error,
    }
}
