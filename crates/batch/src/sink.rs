//! The files and streams that receive a job's results, and the record of the job's progress.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use warpint_files::WholeFile;

use crate::out::Output;
use crate::partial::{Mark, Partial, failed, is_there, partial_path};
use crate::state::{Identity, State, StateFile, sync_folder};
use crate::{BatchError, Kept, News, Out, Tally};

/// The unfinished results of one output.
enum Draft {
    File(Partial),
    Stream(Output),
}

/// The unfinished results of a job. At the end of the job, the outputs receive all results or none.
pub(crate) struct Sink {
    drafts: Vec<Draft>,
    keeper: Option<Keeper>,
}

/// The start of a job, either at its first number or after the results of an earlier run.
pub(crate) struct Begin {
    pub(crate) sink: Sink,
    /// The totals of the earlier run. All are 0 if there is no earlier run.
    pub(crate) tally: Tally,
    /// The seed with which the earlier run chose the results to check.
    pub(crate) seed: Option<u64>,
    /// A message about the results of an earlier run. `None` if there are no such results.
    pub(crate) note: Option<News>,
}

/// The record of a job's progress.
struct Keeper {
    file: StateFile,
    job: Identity,
    seed: Option<u64>,
    /// Whether the job can be resumed. False if an output is a stream.
    resumable: bool,
    interval: Duration,
    last: Instant,
    /// The totals after the last piece whose results are completely written to all files of
    /// results.
    tally: Tally,
    names: Vec<PathBuf>,
    files: Vec<Mark>,
    /// The count of numbers that the record on disk counts as processed.
    saved: u64,
}

impl Sink {
    /// Starts a job, or resumes it after the results of an earlier run. `streams` are the outputs
    /// that are streams, already opened.
    pub(crate) fn begin(
        outs: &[Out],
        streams: Vec<Output>,
        job: Identity,
        restart: bool,
        interval: Duration,
    ) -> Result<Begin, BatchError> {
        let files: Vec<&WholeFile> = outs.iter().filter_map(Out::file).collect();
        let resumable = streams.is_empty();
        let mut streams = streams.into_iter();
        let Some(first) = files.first() else {
            let sink = Self { drafts: streams.map(Draft::Stream).collect(), keeper: None };
            return Ok(Begin { sink, tally: Tally::default(), seed: None, note: None });
        };
        let file = StateFile::of(first);
        let old = file.read()?;
        for out in &files {
            let path = partial_path(out);
            let is_own = old.as_ref().is_some_and(|state| state.names(&path));
            if is_there(&path)? && !is_own {
                let path = path.display();
                let line = format!(
                    "{path} exists, but does not belong to an unfinished batch: move it away"
                );
                return Err(BatchError::Request(line));
            }
        }
        let open =
            || files.iter().map(|out| Partial::open(out)).collect::<Result<Vec<_>, BatchError>>();
        // Another process that writes there is not disturbed.
        let mut partials = old.as_ref().map(|_| open()).transpose()?;
        let state = old.filter(|state| state.tally.done > 0);
        let mut discarded = match &state {
            Some(_) if restart => Some("--restart".to_owned()),
            Some(state) => state.differs(&job, file.path())?,
            None => None,
        };
        let mut going_on = None;
        if let (Some(state), Some(partials), None) = (&state, &mut partials, &discarded) {
            if state.go_on(partials)? {
                going_on = Some(state.clone());
            } else {
                discarded =
                    Some(format!("{} is not as it was left", partial_path(first).display()));
            }
        }
        let tally = going_on.as_ref().map_or_else(Tally::default, |state| state.tally);
        let seed = going_on.as_ref().and_then(|state| state.seed);
        let (saved, last) = (tally.done, Instant::now());
        let names = files.iter().map(|out| partial_path(out)).collect();
        let mut keeper = Keeper {
            file,
            job,
            seed,
            resumable,
            interval,
            last,
            tally,
            names,
            files: vec![],
            saved,
        };
        if going_on.is_none() {
            keeper.write(vec![Mark::default(); files.len()])?;
        }
        let mut partials = partials.map_or_else(open, Ok)?;
        if going_on.is_none() {
            partials.iter_mut().try_for_each(Partial::clear)?;
        }
        keeper.files = partials.iter().map(Partial::written).collect();
        let note = match (&state, discarded) {
            (Some(state), Some(why)) => {
                Some(News::Discarded(format!("{why}: {} done before are discarded", state.says())))
            }
            (Some(state), None) => Some(News::GoingOn(format!("going on after {}", state.says()))),
            (None, _) => None,
        };
        let mut partials = partials.into_iter();
        let drafts = outs.iter().filter_map(|out| match out.file() {
            Some(_) => partials.next().map(Draft::File),
            None => streams.next().map(Draft::Stream),
        });
        let sink = Self { drafts: drafts.collect(), keeper: Some(keeper) };
        Ok(Begin { sink, tally, seed, note })
    }

    /// Sets the seed for the random choice of the results to check. The record of progress contains
    /// it.
    pub(crate) fn set_seed(&mut self, seed: Option<u64>) {
        if let Some(keeper) = &mut self.keeper {
            keeper.seed = seed;
        }
    }

    /// Appends one element of `bytes` to each output, in the order of the outputs.
    pub(crate) fn write(&mut self, bytes: &[Vec<u8>]) -> Result<(), BatchError> {
        for (draft, bytes) in self.drafts.iter_mut().zip(bytes) {
            match draft {
                Draft::File(file) => file.write(bytes)?,
                Draft::Stream(stream) => stream.write(bytes)?,
            }
        }
        Ok(())
    }

    /// Records that all outputs contain the results that `tally` counts. Saves this progress to
    /// disk at most once per interval, and only if the job can be resumed.
    pub(crate) fn whole(&mut self, tally: Tally) -> Result<(), BatchError> {
        let marks = self.marks();
        let Some(keeper) = &mut self.keeper else { return Ok(()) };
        (keeper.tally, keeper.files) = (tally, marks);
        if keeper.resumable && keeper.last.elapsed() >= keeper.interval {
            self.save()?;
        }
        Ok(())
    }

    /// Returns the length and checksum of each file of results, in the order of the outputs.
    fn marks(&self) -> Vec<Mark> {
        self.partials().map(Partial::written).collect()
    }

    fn partials(&self) -> impl Iterator<Item = &Partial> {
        self.drafts.iter().filter_map(|draft| match draft {
            Draft::File(file) => Some(file),
            Draft::Stream(_) => None,
        })
    }

    fn save(&mut self) -> Result<(), BatchError> {
        let Some(keeper) = &mut self.keeper else { return Ok(()) };
        for draft in &mut self.drafts {
            if let Draft::File(file) = draft {
                file.sync()?;
            }
        }
        keeper.write(keeper.files.clone())?;
        keeper.last = Instant::now();
        Ok(())
    }

    /// Ends the job early, but keeps the results of all pieces that are completely written. Returns
    /// `None` if no results can be kept.
    pub(crate) fn keep(mut self) -> Option<Kept> {
        let unsaved = |keeper: &Keeper| keeper.resumable && keeper.tally.done > keeper.saved;
        if self.keeper.as_ref().is_some_and(unsaved) {
            // If the disk is full, the state saved last remains.
            drop(self.save());
        }
        let saved = self.keeper.as_ref().map_or(0, |keeper| keeper.saved);
        let Some(name) = self.partials().next().filter(|_| saved > 0) else {
            self.discard();
            return None;
        };
        Some(Kept { done: saved, path: name.path().display().to_string() })
    }

    /// Ends the job early and removes its files of unfinished results.
    pub(crate) fn discard(self) {
        for draft in self.drafts {
            if let Draft::File(file) = draft {
                file.discard();
            }
        }
        if let Some(keeper) = self.keeper {
            keeper.file.remove();
        }
    }

    /// Returns the size of all results so far, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        let bytes = |draft: &Draft| match draft {
            Draft::File(file) => file.written().bytes,
            Draft::Stream(stream) => stream.bytes(),
        };
        self.drafts.iter().map(bytes).sum()
    }

    /// Moves all results to their outputs.
    pub(crate) fn finish(self) -> Result<(), BatchError> {
        // All files are flushed before any is moved, so that all are moved at about the same time.
        self.partials().try_for_each(Partial::sync_all)?;
        let finished = self.drafts.into_iter().try_for_each(|draft| match draft {
            Draft::File(file) => file.finish(),
            Draft::Stream(stream) => stream.finish(),
        });
        if let Some(keeper) = self.keeper.filter(|keeper| finished.is_ok() || keeper.saved == 0) {
            sync_folder(keeper.file.path());
            keeper.file.remove();
        }
        finished
    }
}

impl Keeper {
    fn write(&mut self, files: Vec<Mark>) -> Result<(), BatchError> {
        let state = State::new(&self.job, self.tally, self.seed, &self.names, files);
        self.file.write(&state).map_err(|e| failed("write", self.file.path(), e))?;
        self.saved = self.tally.done;
        Ok(())
    }
}
