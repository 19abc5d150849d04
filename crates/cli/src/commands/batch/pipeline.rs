//! Reading, computing and writing, each in a thread of its own, some numbers at a time.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use rayon::prelude::*;
use warpint::integer::{Executor, UintBatch};
use warpint::mersenne::StopToken;

use super::check::{Sample, Written, wrong};
use super::operation::Operation;
use super::sink::{Form, Results};
use super::source::{Piece, Source};
use crate::whole_file::Unfinished;

/// What is to be done.
pub(crate) struct Job {
    pub(crate) operation: Operation,
    pub(crate) executor: Executor,
    pub(crate) a: Source,
    /// As many numbers as of a, or one; `None` for a square.
    pub(crate) b: Option<Source>,
    pub(crate) form: Form,
    /// Numbers at a time.
    pub(crate) chunk: u64,
}

/// What happens on the way.
pub(crate) enum News {
    /// So many numbers are done.
    Done(u64),
    /// A number has no result.
    Problem(String),
}

/// What was done.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    pub(crate) done: u64,
    /// Without a result.
    pub(crate) malformed: u64,
    pub(crate) checked: u64,
}

/// One number for all of a.
struct Single {
    piece: Piece,
    number: UintBatch,
}

impl Job {
    /// Writes all results, with those of a sample computed once more, and tells the news on the
    /// way. A request to stop ends it early: then fewer are done than there are.
    pub(crate) fn run(
        &self,
        file: &mut Unfinished,
        sample: Sample,
        stop: &StopToken,
        news: &mut dyn FnMut(News),
    ) -> anyhow::Result<Tally> {
        let single = self.single()?;
        thread::scope(|scope| {
            let (to_compute, pieces) = sync_channel(1);
            let (to_write, results) = sync_channel(1);
            let with_b = single.is_none();
            let reader = scope.spawn(move || self.read(with_b, &to_compute));
            let writer = scope.spawn(move || write(file, &results));
            let mut work = Work { job: self, single, sample, tally: Tally::default() };
            let computed = work.all(&pieces, &to_write, stop, news);
            drop((pieces, to_write));
            let read = reader.join().unwrap_or_else(|panic| resume_unwind(panic));
            let written = writer.join().unwrap_or_else(|panic| resume_unwind(panic));
            computed.and(read).and(written)?;
            Ok(work.tally)
        })
    }

    fn single(&self) -> anyhow::Result<Option<Single>> {
        let Some(b) = self.b.as_ref().filter(|b| b.count == 1 && self.a.count != 1) else {
            return Ok(None);
        };
        let piece = b.open()?.next(1)?;
        let (number, problems) = b.numbers(&self.executor, &piece)?;
        match problems.first() {
            Some((_, problem)) => {
                let line = format!("{}: line 1: {problem}", b.path.display());
                Err(crate::exit::BadRequest(line).into())
            }
            None => Ok(Some(Single { piece, number })),
        }
    }

    fn read(
        &self,
        with_b: bool,
        to: &SyncSender<(usize, Piece, Option<Piece>)>,
    ) -> anyhow::Result<()> {
        let mut a = self.a.open()?;
        let mut b = self.b.as_ref().filter(|_| with_b).map(Source::open).transpose()?;
        let mut left = self.a.count;
        while left > 0 {
            let some = left.min(self.chunk);
            let count = usize::try_from(some)?;
            let b = b.as_mut().map(|b| b.next(count)).transpose()?;
            if to.send((count, a.next(count)?, b)).is_err() {
                // Nobody wants more: a stop, or an error that is told elsewhere.
                return Ok(());
            }
            left -= some;
        }
        Ok(())
    }
}

fn write(file: &mut Unfinished, results: &Receiver<(Results, Vec<usize>)>) -> anyhow::Result<()> {
    for (results, none) in results {
        file.write(&results.into_bytes(&none))?;
    }
    Ok(())
}

/// Computing.
struct Work<'a> {
    job: &'a Job,
    single: Option<Single>,
    sample: Sample,
    tally: Tally,
}

impl Work<'_> {
    fn all(
        &mut self,
        pieces: &Receiver<(usize, Piece, Option<Piece>)>,
        to: &SyncSender<(Results, Vec<usize>)>,
        stop: &StopToken,
        news: &mut dyn FnMut(News),
    ) -> anyhow::Result<()> {
        for (count, a, b) in pieces {
            if stop.is_stopped() {
                break;
            }
            let done = self.some(count, &a, b.as_ref(), news)?;
            self.tally.done += count as u64;
            if to.send(done).is_err() {
                break;
            }
            news(News::Done(self.tally.done));
        }
        Ok(())
    }

    /// The results of a piece, and which of them are none.
    fn some(
        &mut self,
        count: usize,
        a: &Piece,
        b: Option<&Piece>,
        news: &mut dyn FnMut(News),
    ) -> anyhow::Result<(Results, Vec<usize>)> {
        let job = self.job;
        let mut problems = vec![];
        let mut read = |source: &Source, piece| -> anyhow::Result<UintBatch> {
            let (numbers, bad) = source.numbers(&job.executor, piece)?;
            let path = source.path.display().to_string();
            problems.extend(bad.into_iter().map(|(i, bad)| (i, path.clone(), bad.to_string())));
            Ok(numbers)
        };
        let x = read(&job.a, a)?;
        let y = match (&job.b, b) {
            (Some(source), Some(piece)) => Some(read(source, piece)?),
            _ => None,
        };
        let other = y.as_ref().or(self.single.as_ref().map(|single| &single.number));
        let (numbers, borrows) = job.operation.apply(&x, other.unwrap_or(&x))?;
        // What stands for a bad line borrows too, and is told of already.
        let mut bad: Vec<usize> = problems.iter().map(|&(i, ..)| i).collect();
        bad.sort_unstable();
        let borrows = borrows.into_iter().filter(|i| bad.binary_search(i).is_err());
        let path = job.a.path.display().to_string();
        problems.extend(borrows.map(|i| (i, path.clone(), "a < b".to_owned())));
        problems.sort_by_key(|&(i, ..)| i);
        let unit = job.a.unit();
        for (i, path, problem) in &problems {
            let number = self.tally.done + *i as u64 + 1;
            news(News::Problem(format!("{path}: {unit} {number}: {problem}")));
        }
        let mut none: Vec<usize> = problems.into_iter().map(|(i, ..)| i).collect();
        none.dedup();
        self.tally.malformed += none.len() as u64;
        let results = job.form.of(&numbers)?;
        self.check(count, a, b, &results, &none)?;
        Ok((results, none))
    }

    fn check(
        &mut self,
        count: usize,
        a: &Piece,
        b: Option<&Piece>,
        results: &Results,
        none: &[usize],
    ) -> anyhow::Result<()> {
        let job = self.job;
        let drawn: Vec<usize> = (0..count).filter(|_| self.sample.draw()).collect();
        let drawn: Vec<usize> =
            drawn.into_iter().filter(|i| none.binary_search(i).is_err()).collect();
        let single = self.single.as_ref().map(|single| &single.piece);
        let found = drawn.par_iter().find_map_first(|&i| {
            let b = match (&job.b, b, single) {
                (Some(source), Some(piece), _) => Some(source.written(piece, i)),
                (Some(source), None, Some(piece)) => Some(source.written(piece, 0)),
                _ => None,
            };
            let (a, result) = (job.a.written(a, i), results.get(i, job.form.format));
            wrong(job.operation, a, b, result, job.form.width).map(|wrong| (i, wrong))
        });
        self.tally.checked += drawn.len() as u64;
        match found {
            None => Ok(()),
            Some((i, wrong)) => {
                let (path, unit) = (job.a.path.display(), job.a.unit());
                let number = self.tally.done + i as u64 + 1;
                let name = job.operation.name();
                let seed = self.sample.seed;
                anyhow::bail!(
                    "check failed (seed {seed}): {name} of {path}, {unit} {number}: {wrong}; \
                     nothing is written"
                )
            }
        }
    }
}

impl Source {
    /// Number i of a piece as it stands there.
    fn written<'a>(&self, piece: &'a Piece, i: usize) -> Written<'a> {
        let row = 4 * self.width.limbs();
        let bytes = match piece {
            Piece::Lines(lines) => lines.get(i).ok(),
            Piece::Bytes(bytes) => bytes.get(i * row..(i + 1) * row),
        };
        Written { format: self.format, bytes: bytes.unwrap_or_default() }
    }
}
