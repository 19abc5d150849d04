//! The start of a run from the newest valid checkpoint or from the first state.

use std::io;

use super::TestError;
use super::driver::Driver;
use super::recovery::Trusted;
use super::sequence::Sequence;
use crate::Event;
use crate::checkpoint::{CheckpointError, CheckpointStore, Confirmation, State};

impl Driver<'_> {
    /// Returns the state from which the run starts. It is the state in the newest valid checkpoint,
    /// or the first state of the sequence if no checkpoint is valid. With a second engine, only
    /// verified checkpoints count.
    pub(super) fn resume(&mut self, sequence: &dyn Sequence) -> Result<State, TestError> {
        let mut found = None;
        if let Some(store) = self.store.as_deref_mut() {
            // With a second engine, the test resumes only from states that a check has confirmed.
            let doubled = self.options.verify_with.is_some();
            let newest = |store: &mut CheckpointStore| {
                if doubled { store.load_newest_verified() } else { store.load_newest() }
            };
            found = newest(store)?;
            while let Some((state, path)) = &found {
                if !sequence.impossible(state.iteration, &state.residue) {
                    break;
                }
                store.set_aside(path, "no sound computation has its residue");
                if path.exists() {
                    let (path, source) = (
                        path.clone(),
                        io::Error::other("it has an impossible residue and cannot be set aside"),
                    );
                    return Err(CheckpointError::Unreadable { path, source }.into());
                }
                found = newest(store)?;
            }
            let confirmed = match self.watch {
                Some(_) => store.load_newest_verified()?,
                None => None,
            };
            self.confirmed = confirmed.map(|(state, _)| Trusted::read(state));
        }
        self.tell_notices();
        let (state, resumed_from) = match found {
            Some((state, path)) => {
                self.on_disk = Some((state.iteration, path.clone()));
                (state, Some(path))
            }
            None => (sequence.first(), None),
        };
        let wanted = sequence.target();
        if state.iteration > wanted {
            return Err(TestError::PastTarget { found: state.iteration, wanted });
        }
        self.begun_at = state.iteration;
        self.errors = state.errors;
        self.earlier = state.elapsed;
        self.least_length = state.least_length.clone();
        if let Some(least) = &state.least_length
            && least.engine == self.plan.engine()
            && least.length > self.plan.length()
        {
            let from = self.plan.length();
            self.plan = self.plan.at_least(least.length).unwrap_or(self.plan);
            self.send(Event::LengthKept { from, to: self.plan.length() });
        }
        self.send(Event::Started { iteration: state.iteration, total: wanted, resumed_from });
        let once = state.iteration > 0 && state.confirmed != Confirmation::Twice;
        if once && self.options.verify_with.is_some() {
            self.send(Event::OnceOnly { iteration: state.iteration });
        }
        Ok(state)
    }
}
