//! Reading, computing and writing, each in a thread of its own, some numbers at a time.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use rayon::prelude::*;
use warpint::integer::{Executor, UintBatch};
use warpint::mersenne::StopToken;

use super::check::{Sample, Written, wrong};
use super::operation::Operation;
use super::sink::{Draft, Form, Results};
use super::source::{Piece, Source, SourceReader};

/// What is to be done.
pub(crate) struct Job {
    pub(crate) operation: Operation,
    pub(crate) executor: Executor,
    pub(crate) a: Source,
    /// `None` for a square.
    pub(crate) b: Option<Source>,
    /// Of results: as many as a and b have numbers, of which one may have a single number for all.
    pub(crate) count: u64,
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

impl Job {
    /// Writes all results, with those of a sample computed once more, and tells the news on the
    /// way. A request to stop ends it early: then fewer are done than there are.
    pub(crate) fn run(
        &self,
        file: &mut Draft,
        sample: Sample,
        stop: &StopToken,
        news: &mut dyn FnMut(News),
    ) -> anyhow::Result<Tally> {
        let a = self.single(&self.a)?;
        let b = self.b.as_ref().map(|b| self.single(b)).transpose()?.flatten();
        thread::scope(|scope| {
            let (to_compute, pieces) = sync_channel(1);
            let (to_write, results) = sync_channel(1);
            let reader = scope.spawn(move || self.read(&to_compute));
            let writer = scope.spawn(move || write(file, &results));
            let mut work = Work { job: self, singles: [a, b], sample, tally: Tally::default() };
            let computed = work.all(&pieces, &to_write, stop, news);
            drop((pieces, to_write));
            let read = reader.join().unwrap_or_else(|panic| resume_unwind(panic));
            let written = writer.join().unwrap_or_else(|panic| resume_unwind(panic));
            computed.and(read).and(written)?;
            Ok(work.tally)
        })
    }

    /// Whether a file has one number for all of the other.
    fn is_single(&self, source: &Source) -> bool {
        source.count == 1 && self.count != 1
    }

    /// The file whose numbers are counted.
    fn counted(&self) -> &Source {
        self.b.as_ref().filter(|_| self.is_single(&self.a)).unwrap_or(&self.a)
    }

    /// The number that a file has for all of the other.
    fn single(&self, source: &Source) -> anyhow::Result<Option<Arc<UintBatch>>> {
        if !self.is_single(source) {
            return Ok(None);
        }
        let (number, problems) = source.numbers(&self.executor, &source.open()?.next(1)?)?;
        match problems.first() {
            Some((_, problem)) => {
                let line = format!("{}: {problem}", source.name_of(0));
                Err(crate::exit::BadRequest(line).into())
            }
            None => Ok(Some(Arc::new(number))),
        }
    }

    fn read(&self, to: &SyncSender<(usize, Piece, Option<Piece>)>) -> anyhow::Result<()> {
        let mut a = self.a.open()?;
        let mut b = self.b.as_ref().map(Source::open).transpose()?;
        let next = |source: &mut SourceReader<'_>, count| {
            let single = self.is_single(source.source);
            if single { source.source.open()?.next(1) } else { source.next(count) }
        };
        let mut left = self.count;
        while left > 0 {
            let some = left.min(self.chunk);
            let count = usize::try_from(some)?;
            let b = b.as_mut().map(|b| next(b, count)).transpose()?;
            if to.send((count, next(&mut a, count)?, b)).is_err() {
                // Nobody wants more: a stop, or an error that is told elsewhere.
                return Ok(());
            }
            left -= some;
        }
        Ok(())
    }
}

fn write(file: &mut Draft, results: &Receiver<(Results, Vec<usize>)>) -> anyhow::Result<()> {
    for (results, none) in results {
        file.write(&results.into_bytes(&none))?;
    }
    Ok(())
}

/// Computing.
struct Work<'a> {
    job: &'a Job,
    /// Of a and of b: one number for all of the other.
    singles: [Option<Arc<UintBatch>>; 2],
    sample: Sample,
    tally: Tally,
}

impl<'a> Work<'a> {
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
        let mut read = |source: &'a Source, piece, single: &Option<Arc<UintBatch>>| {
            if let Some(number) = single {
                return anyhow::Ok(Arc::clone(number));
            }
            let (numbers, bad) = source.numbers(&job.executor, piece)?;
            problems.extend(bad.into_iter().map(|(i, bad)| (i, source, bad.to_string())));
            Ok(Arc::new(numbers))
        };
        let [single_a, single_b] = &self.singles;
        let x = read(&job.a, a, single_a)?;
        let y = match (&job.b, b) {
            (Some(source), Some(piece)) => read(source, piece, single_b)?,
            _ => Arc::clone(&x),
        };
        let (numbers, borrows) = job.operation.apply(&x, &y)?;
        // What stands for a bad line borrows too, and is told of already.
        let mut bad: Vec<usize> = problems.iter().map(|&(i, ..)| i).collect();
        bad.sort_unstable();
        let borrows = borrows.into_iter().filter(|i| bad.binary_search(i).is_err());
        problems.extend(borrows.map(|i| (i, job.counted(), "a < b".to_owned())));
        problems.sort_by_key(|&(i, ..)| i);
        for (i, source, problem) in &problems {
            let number = source.name_of(self.tally.done + *i as u64);
            news(News::Problem(format!("{number}: {problem}")));
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
        let written = |source: &'a Source, piece, i| {
            source.written(piece, if job.is_single(source) { 0 } else { i })
        };
        let found = drawn.par_iter().find_map_first(|&i| {
            let a = written(&job.a, a, i);
            let b = job.b.as_ref().zip(b).map(|(source, piece)| written(source, piece, i));
            let result = results.get(i, job.form.format);
            wrong(job.operation, a, b, result, job.form.width).map(|wrong| (i, wrong))
        });
        self.tally.checked += drawn.len() as u64;
        match found {
            None => Ok(()),
            Some((i, wrong)) => {
                let number = job.counted().name_of(self.tally.done + i as u64);
                let (name, seed) = (job.operation.name(), self.sample.seed);
                anyhow::bail!(
                    "check failed (seed {seed}): {name} of {number}: {wrong}; nothing is written"
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
