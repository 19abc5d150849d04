//! What a worker does for a line of a list.

use warpint_gimps::{Assignment, NumberedLine, Work};
use warpint_mersenne::{Exponent, ExponentError, Number};

use super::Claim;
use super::common::Reserved;
use super::entry::{Entry, Key};
use crate::Candidate;

/// A line of a list, its meaning, and the index of the list in the lists of the worker.
pub(super) struct Place {
    pub(super) list: usize,
    pub(super) line: NumberedLine,
    pub(super) entry: Entry,
}

impl Place {
    /// Returns the key that finds the line again.
    pub(super) fn key(&self) -> Key {
        Key::new(&self.line, &self.entry)
    }

    /// Returns whether the line is a certification.
    pub(super) fn is_cert(&self) -> bool {
        matches!(&self.entry, Entry::Assignment(Assignment { work: Work::Cert { .. }, .. }))
    }
}

/// The test that a line asks for.
pub(super) enum Errand {
    Assignment(Assignment, Exponent),
    Candidate(Candidate),
}

impl Errand {
    /// Returns the test that an entry asks for; `None` if it asks for none.
    pub(super) fn of(entry: &Entry) -> Option<Result<Self, ExponentError>> {
        match entry {
            Entry::Assignment(assignment) => {
                let exponent = Exponent::new(assignment.work.exponent().into());
                Some(exponent.map(|exponent| Self::Assignment(assignment.clone(), exponent)))
            }
            Entry::Candidate(candidate) => Some(Ok(Self::Candidate(candidate.clone()))),
            _ => None,
        }
    }

    /// Returns the number that is tested.
    pub(super) fn number(&self) -> Number {
        match self {
            Self::Assignment(_, exponent) => (*exponent).into(),
            Self::Candidate(candidate) => candidate.number(),
        }
    }
}

/// A test to be made, its line, and the claim on its number, which is held until the end.
pub(super) struct Task {
    pub(super) place: Place,
    pub(super) errand: Errand,
    pub(super) _held: Held,
}

/// The claim on a number: that of the process, and that of the worker within the process. The claim of the
/// process ends first, so that a worker that can reserve the number does not take its own process for another
/// one.
pub(super) struct Held {
    pub(super) _claim: Claim,
    pub(super) _reserved: Reserved,
}
