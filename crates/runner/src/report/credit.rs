//! To whom a result is credited.

use serde::{Deserialize, Serialize};

/// The assignment, the user and the computer to which the result of a test is credited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Credit {
    /// The keyword and the exponent of the assignment, such as `PRPDC 216091`.
    pub assignment: String,
    /// The identifier of the assignment (AID), 32 hexadecimal digits; absent if the assignment has
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aid: Option<String>,
    /// The user's name on the GIMPS server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The name of the computer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub computer: Option<String>,
    /// The number of the worker whose results file has the result; 0 for the only worker of a
    /// directory.
    pub worker: u32,
    /// Whether the name of the results file contains the worker's number even if the number is 0.
    #[serde(default)]
    pub numbered: bool,
}

impl Credit {
    /// Returns the worker's number in the name of the results file; `None` if the name has no
    /// number.
    #[must_use]
    pub fn results_number(&self) -> Option<u32> {
        (self.numbered || self.worker > 0).then_some(self.worker)
    }

    /// Returns whether the two credits are for the same assignment.
    pub(super) fn is_for(&self, other: &Self) -> bool {
        (&self.assignment, &self.aid) == (&other.assignment, &other.aid)
    }
}
