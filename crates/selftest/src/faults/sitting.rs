//! Runs tests in the same way as the program, in temporary folders.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, process};

use warpint_mersenne::checkpoint::CheckpointStore;
use warpint_mersenne::{
    EngineFamily, Event, Finished, Number, Outcome, Plan, RunOptions, StopToken, TestError,
    TestKind, TestSpec, primality,
};

/// The result and the events of a sitting: one run of a test until it ends or stops.
pub(super) struct Sitting {
    pub(super) finished: Result<Finished, TestError>,
    pub(super) events: Vec<Event>,
}

impl Sitting {
    /// Returns the outcome and the events of a completed test. Returns an error if the test stopped
    /// or failed.
    pub(super) fn outcome(self) -> Result<(Outcome, Vec<Event>), String> {
        match self.finished {
            Ok(Finished::Done(outcome)) => Ok((*outcome, self.events)),
            Ok(Finished::Stopped { iteration, .. }) => {
                Err(format!("the test stopped at iteration {iteration}"))
            }
            Err(e) => Err(e.to_string()),
        }
    }

    /// Returns the number of events for which `of` returns true.
    pub(super) fn count(&self, of: impl Fn(&Event) -> bool) -> usize {
        self.events.iter().filter(|event| of(event)).count()
    }
}

/// A test to be run, with its checkpoint store (`None`: no checkpoints) and its options.
pub(super) struct Run<'a> {
    pub(super) spec: TestSpec,
    pub(super) store: Option<&'a mut CheckpointStore>,
    pub(super) stop: StopToken,
    pub(super) options: RunOptions,
}

impl<'a> Run<'a> {
    /// Creates a test that runs to its end with default options and without checkpoints.
    pub(super) fn new(kind: TestKind, number: impl Into<Number>) -> Self {
        let spec = TestSpec::new(kind, number);
        Self { spec, store: None, stop: StopToken::new(), options: RunOptions::default() }
    }

    /// Makes the test save its checkpoints in `store`.
    pub(super) fn stored(self, store: &'a mut CheckpointStore) -> Self {
        Self { store: Some(store), ..self }
    }

    /// Runs the test with a family's plan for one thread.
    pub(super) fn by(self, family: &'static dyn EngineFamily) -> Result<Sitting, String> {
        let plan = plan(family, self.spec.number)?;
        let mut events = vec![];
        let finished = primality::run(
            &self.spec,
            plan,
            self.store,
            &mut |event| events.push(event),
            &self.stop,
            &self.options,
        );
        Ok(Sitting { finished, events })
    }
}

/// Returns the plan of a family for a number and one thread.
pub(super) fn plan(
    family: &'static dyn EngineFamily,
    number: impl Into<Number>,
) -> Result<Plan, String> {
    Plan::of_family(number, family, None, Some(1)).map_err(|e| e.to_string())
}

/// Opens the checkpoint store of a test in a folder.
pub(super) fn store(
    folder: &Folder,
    kind: TestKind,
    number: impl Into<Number>,
) -> Result<CheckpointStore, String> {
    CheckpointStore::open(folder.path(), number, kind).map_err(|e| e.to_string())
}

/// A temporary folder, which is removed when this value is dropped.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new() -> Result<Self, String> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = env::temp_dir().join(format!("warpint-faults-{}-{number}", process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self(path)),
                // A folder left by a killed process: it is neither used nor removed.
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(format!("cannot make the folder {}: {e}", path.display())),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays among the temporary files does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
