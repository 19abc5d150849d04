//! Results as objects of JSON, with the fields that `docs/reference/json.md` describes: the output of
//! `warpint collatz … --json`, and of the Python package. Numbers that may exceed 2^53 are strings of
//! decimal digits.

mod delay;
mod merge;
mod verify;

use std::collections::BTreeMap;

use serde::Serialize;

pub use delay::{DelayReport, Longest, Rise};
pub use merge::{
    AuditObject, DisagreementObject, Interval, MergeReport, MissingObject, OverlapObject,
    RejectedObject,
};
pub use verify::{Status, VerifyReport};

use crate::Highest;

/// The highest value of the walked paths, and the number on whose path it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Peak {
    /// The value.
    pub value: String,
    /// The start of the path.
    pub start: String,
}

impl From<&Highest> for Peak {
    fn from(highest: &Highest) -> Self {
        Self { value: highest.value.to_string(), start: highest.start.to_string() }
    }
}

/// The number of units of one method, version and parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MethodObject {
    /// The name of the method.
    pub method: String,
    /// The version of the method.
    pub version: u32,
    /// The parameters of the method.
    pub parameters: String,
    /// The number of units.
    pub units: u64,
}

fn methods(methods: &BTreeMap<(String, u32, String), u64>) -> Vec<MethodObject> {
    let objects = methods.iter().map(|((method, version, parameters), &units)| MethodObject {
        method: method.clone(),
        version: *version,
        parameters: parameters.clone(),
        units,
    });
    objects.collect()
}

fn texts(numbers: &[u128]) -> Vec<String> {
    numbers.iter().map(ToString::to_string).collect()
}
