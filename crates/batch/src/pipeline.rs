//! The stages of a job: reading, computing and writing. Each stage has its own thread. The numbers
//! pass through the stages piece by piece.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use warpint_integer::{Evidence, Executor, Operation, UintBatch};
use warpint_progress::StopToken;

use crate::check::{Sample, Written, wrong};
use crate::identities::{Identities, Outcome};
use crate::sink::Sink;
use crate::{BatchError, Form, Piece, Results, Source, SourceReader};

/// The operation of a job, its operands, and the forms in which its results are written.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) operation: Operation,
    pub(crate) executor: Executor,
    /// The one to three operands, in the order of the operation.
    pub(crate) operands: Vec<Source>,
    /// The count of results. Each operand has this count of numbers, or a single number that is
    /// combined with each number of the other operands.
    pub(crate) count: u64,
    /// The form of the results and, if remainders are requested, the form of the remainders.
    pub(crate) forms: Vec<Form>,
    /// The count of numbers per piece.
    pub(crate) chunk: u64,
}

/// The checks of a job's results, with their progress so far.
pub(crate) struct Checks {
    pub(crate) identities: Identities,
    pub(crate) sample: Sample,
}

/// A notification from a running job. Each text in it is one sentence for users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// An argument could be a number, but is read as a file, because a file with this name exists.
    /// The value is the name.
    ReadAsFile(String),
    /// The job resumes an earlier run of the same request. The value is a message with the count of
    /// numbers that this run has processed.
    GoingOn(String),
    /// Results of an earlier run are discarded. The value is a message with the reason.
    Discarded(String),
    /// The computation begins.
    Begun {
        /// The count of numbers that earlier runs have processed.
        done: u64,
        /// The count of all numbers.
        count: u64,
    },
    /// A piece has been computed. The value is the count of all numbers processed so far, by this
    /// run and earlier runs.
    Done(u64),
    /// A number has no result. The value is a message with the position of the number and the
    /// reason.
    Problem(String),
    /// The device computed incorrectly, and the results were computed again. The value is a message
    /// with the details.
    Warning(String),
    /// The computation has ended, also if it was stopped or failed. If it is complete, the results
    /// are moved to their outputs next.
    Ended,
}

/// Totals of this run and of the runs that it resumes.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Tally {
    /// The count of processed numbers, with or without a result.
    pub done: u64,
    /// The count of numbers without a result.
    pub malformed: u64,
    /// The count of results that were recomputed by slow arithmetic.
    pub checked: u64,
    /// The count of results that passed the check by identities against their operands. For powers,
    /// the count of results that were recomputed on the CPU instead.
    pub identities: u64,
    /// The count of pieces that were computed twice because results contradicted their operands.
    pub device_errors: u64,
}

/// The working time of each stage of a job. The stages work at the same time, so the times overlap.
#[derive(Debug, Clone, Copy, Default)]
pub struct Times {
    /// The time of reading, including the inspection of the operands.
    pub read: Duration,
    /// The time of computing, including conversions between digits and limbs.
    pub compute: Duration,
    /// The time of writing, including waits for the disk.
    pub write: Duration,
}

/// The totals and times of a run, and the error that ended it, if any.
pub(crate) struct Ran {
    pub(crate) tally: Tally,
    pub(crate) times: Times,
    pub(crate) ended: Result<(), BatchError>,
    /// Whether results that are already written may be wrong.
    ///
    /// It is true after the failed check of a sample, because only a sample of the earlier results
    /// was checked. It is false after the failed check of all results of a piece, because all
    /// earlier results have passed this check.
    pub(crate) distrusted: bool,
}

impl Plan {
    /// Computes and writes all results after the first `begun.done`, recomputes a sample of these
    /// results, and sends messages to `news`. A stop request ends the run early. [`Ran::tally`]
    /// then contains the count of processed numbers.
    pub(crate) fn run(
        &self,
        begun: Tally,
        sink: &mut Sink,
        checks: Checks,
        stop: &StopToken,
        news: &mut dyn FnMut(News),
    ) -> Result<Ran, BatchError> {
        let singles = self.operands.iter().map(|source| self.single(source));
        let singles = singles.collect::<Result<Vec<_>, _>>()?;
        thread::scope(|scope| {
            let (to_compute, pieces) = sync_channel(1);
            let (to_write, results) = sync_channel(1);
            let reader = scope.spawn(move || self.read(begun.done, &to_compute));
            let writer = scope.spawn(move || write(sink, &results));
            let (time, distrusted) = (Duration::ZERO, false);
            let mut work = Work { plan: self, singles, checks, tally: begun, time, distrusted };
            let computed = work.all(&pieces, &to_write, stop, news);
            drop((pieces, to_write));
            let read = reader.join().unwrap_or_else(|panic| resume_unwind(panic));
            let written = writer.join().unwrap_or_else(|panic| resume_unwind(panic));
            let mut times = Times { compute: work.time, ..Times::default() };
            let ended = computed
                .and(read.map(|time| times.read = time))
                .and(written.map(|time| times.write = time));
            Ok(Ran { tally: work.tally, times, ended, distrusted: work.distrusted })
        })
    }

    /// Returns whether an operand has a single number that is combined with each number of the
    /// other operands.
    fn is_single(&self, source: &Source) -> bool {
        source.count == 1 && self.count != 1
    }

    /// Returns the first operand that has as many numbers as the job has results. Messages contain
    /// positions in this operand.
    fn counted(&self) -> Option<&Source> {
        self.operands.iter().find(|source| !self.is_single(source))
    }

    /// If the operand has a single number, which is combined with each number of the other
    /// operands, reads and returns this number. Otherwise returns `None`.
    fn single(&self, source: &Source) -> Result<Option<Arc<UintBatch>>, BatchError> {
        if !self.is_single(source) {
            return Ok(None);
        }
        let (number, problems) = source.open(0)?.next(1)?.numbers(&Executor::cpu())?;
        match problems.first() {
            Some((_, problem)) => {
                let (name, reason) = (source.name_of(0), problem.to_string());
                Err(BatchError::Operand { name, reason })
            }
            None => Ok(Some(Arc::new(number))),
        }
    }

    /// Reads the operands piece by piece, starting with number `from`, and sends the pieces to
    /// `to`. Returns the time spent, without the time of waiting for the receiver.
    fn read<'a>(
        &'a self,
        from: u64,
        to: &SyncSender<(usize, Vec<Piece<'a>>)>,
    ) -> Result<Duration, BatchError> {
        let mut begin = Instant::now();
        let mut time = Duration::ZERO;
        let open = |source| self.open(source, from);
        let mut readers = self.operands.iter().map(open).collect::<Result<Vec<_>, _>>()?;
        let next = |reader: &mut SourceReader<'a>, count| {
            let single = self.is_single(reader.source);
            if single { self.open(reader.source, from)?.next(1) } else { reader.next(count) }
        };
        let mut left = self.count - from;
        while left > 0 {
            let some = left.min(self.chunk);
            // A chunk fits in memory.
            let count = some as usize;
            let pieces = readers.iter_mut().map(|reader| next(reader, count));
            let pieces = pieces.collect::<Result<_, _>>()?;
            time += begin.elapsed();
            if to.send((count, pieces)).is_err() {
                // The receiver has gone: a stop, or an error that is reported elsewhere.
                break;
            }
            begin = Instant::now();
            left -= some;
        }
        Ok(time)
    }

    fn open<'a>(&self, source: &'a Source, from: u64) -> Result<SourceReader<'a>, BatchError> {
        source.open(if self.is_single(source) { 0 } else { from })
    }
}

/// The results of a piece, and the indices of the numbers without a result.
type Computed = (Vec<Results>, Vec<usize>);

/// Writes the results of each piece to `sink`. Returns the time spent, without the time of waiting
/// for results.
fn write(sink: &mut Sink, computed: &Receiver<(Computed, Tally)>) -> Result<Duration, BatchError> {
    let mut time = Duration::ZERO;
    for ((results, none), tally) in computed {
        let begin = Instant::now();
        let bytes = results.into_iter().map(|results| results.into_bytes(&none));
        sink.write(&bytes.collect::<Vec<_>>())?;
        sink.whole(tally)?;
        time += begin.elapsed();
    }
    Ok(time)
}

/// The state of the computing stage.
struct Work<'a> {
    plan: &'a Plan,
    /// One element for each operand. If the operand has a single number that is combined with each
    /// number of the other operands, the element is this number. Otherwise it is `None`.
    singles: Vec<Option<Arc<UintBatch>>>,
    checks: Checks,
    tally: Tally,
    time: Duration,
    distrusted: bool,
}

impl<'a> Work<'a> {
    fn all(
        &mut self,
        pieces: &Receiver<(usize, Vec<Piece<'_>>)>,
        to: &SyncSender<(Computed, Tally)>,
        stop: &StopToken,
        news: &mut dyn FnMut(News),
    ) -> Result<(), BatchError> {
        for (count, pieces) in pieces {
            if stop.is_stopped() {
                break;
            }
            let begin = Instant::now();
            let done = self.some(count, &pieces, news)?;
            self.time += begin.elapsed();
            self.tally.done += count as u64;
            if to.send((done, self.tally)).is_err() {
                break;
            }
            news(News::Done(self.tally.done));
        }
        Ok(())
    }

    fn some(
        &mut self,
        count: usize,
        pieces: &[Piece<'_>],
        news: &mut dyn FnMut(News),
    ) -> Result<Computed, BatchError> {
        let plan = self.plan;
        let mut problems = vec![];
        let mut numbers = vec![];
        for ((source, piece), single) in plan.operands.iter().zip(pieces).zip(&self.singles) {
            if let Some(number) = single {
                numbers.push(Arc::clone(number));
                continue;
            }
            let (these, bad) = piece.numbers(&Executor::cpu())?;
            problems.extend(bad.into_iter().map(|(i, bad)| (i, Some(source), bad.to_string())));
            numbers.push(Arc::new(these));
        }
        let Some(first) = numbers.first() else { return Ok((vec![], vec![])) };
        let of = |i: usize| &**numbers.get(i).unwrap_or(first);
        let operands = [of(0), of(1), of(2)];
        let identities = &mut self.checks.identities;
        let outcome =
            identities.compute(plan.operation, &plan.executor, operands, plan.forms.len())?;
        let (results, flagged) = self.confirmed(outcome, news)?;
        // The placeholder of a bad line may have no result either; it is reported already.
        let mut bad: Vec<usize> = problems.iter().map(|&(i, ..)| i).collect();
        bad.sort_unstable();
        let flagged = flagged.into_iter().filter(|i| bad.binary_search(i).is_err());
        let says = plan.operation.no_result().unwrap_or("no result");
        // The file with the zero, unless it has one number for all.
        let operand = plan.operation.refuses_zeros_of().and_then(|i| plan.operands.get(i));
        let blamed = operand.filter(|source| !plan.is_single(source)).or(plan.counted());
        problems.extend(flagged.map(|i| (i, blamed, says.to_owned())));
        problems.sort_by_key(|&(i, ..)| i);
        for (i, source, problem) in &problems {
            let number = self.name_of(*source, *i);
            news(News::Problem(format!("{number}: {problem}")));
        }
        let mut none: Vec<usize> = problems.into_iter().map(|(i, ..)| i).collect();
        none.dedup();
        self.tally.malformed += none.len() as u64;
        let results = plan.forms.iter().zip(&results).map(|(form, numbers)| form.of(numbers));
        let results = results.collect::<Result<Vec<_>, _>>()?;
        let checked = self.check(count, pieces, &results, &none);
        self.distrusted = checked.is_err();
        checked?;
        Ok((results, none))
    }

    /// Returns the results, and the indices of the numbers without a result. Sends a warning if the
    /// first computation failed the check.
    ///
    /// # Errors
    /// Returns an error if results of the second computation also contradict their operands.
    fn confirmed(
        &mut self,
        outcome: Outcome,
        news: &mut dyn FnMut(News),
    ) -> Result<(Vec<UintBatch>, Vec<usize>), BatchError> {
        let name = self.plan.operation.name();
        let device = self.plan.executor.device().map_or("cpu", |device| &device.info().id);
        let sampled = self.plan.operation.evidence() == Some(Evidence::Sample);
        if let Some(wrong) = outcome.wrong {
            // Of results written before, only a sample may have been checked.
            self.distrusted = sampled;
            let number = self.name_of(self.plan.counted(), wrong.first);
            let (operation, device) = (name, device.to_owned());
            return Err(BatchError::Contradiction { operation, number, device });
        }
        if let Some(erred) = outcome.erred {
            self.tally.device_errors += 1;
            let number = self.name_of(self.plan.counted(), erred.first);
            let more = match erred.count - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let now = if sampled { "the larger sample is right" } else { "all are right" };
            news(News::Warning(format!(
                "{device} erred: {name} of {number}{more} contradicted the operands; computed \
                 again, {now}"
            )));
        }
        self.tally.identities += outcome.checked;
        Ok((outcome.results, outcome.none))
    }

    /// Returns the position of number i of the current piece in `source`, as text for messages. If
    /// `source` is `None`, the first operand is meant.
    fn name_of(&self, source: Option<&Source>, i: usize) -> String {
        let i = self.tally.done + i as u64;
        source.or(self.plan.operands.first()).map_or_else(String::new, |source| source.name_of(i))
    }

    fn check(
        &mut self,
        count: usize,
        pieces: &[Piece<'_>],
        results: &[Results],
        none: &[usize],
    ) -> Result<(), BatchError> {
        let plan = self.plan;
        let drawn: Vec<usize> = (0..count).filter(|_| self.checks.sample.draw()).collect();
        let drawn: Vec<usize> =
            drawn.into_iter().filter(|i| none.binary_search(i).is_err()).collect();
        let found = drawn.par_iter().find_map_first(|&i| {
            let operands =
                plan.operands.iter().zip(pieces).map(|(source, piece)| {
                    piece.written(if plan.is_single(source) { 0 } else { i })
                });
            let operands: Vec<Written<'_>> = operands.collect();
            let written = results
                .iter()
                .zip(&plan.forms)
                .map(|(results, form)| (results.get(i, form.format), form.width));
            wrong(plan.operation, &operands, &written.collect::<Vec<_>>()).map(|wrong| (i, wrong))
        });
        self.tally.checked += drawn.len() as u64;
        match found {
            None => Ok(()),
            Some((i, what)) => {
                let number = self.name_of(plan.counted(), i);
                let (operation, seed) = (plan.operation.name(), self.checks.sample.seed);
                Err(BatchError::Differs { seed, operation, number, what })
            }
        }
    }
}
