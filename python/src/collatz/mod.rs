//! Verification of the Collatz conjecture, delays and paths.

pub(crate) mod delay;
pub(crate) mod merge;
mod pooled;
pub(crate) mod verify;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use warpint::collatz::Highest;

/// The numbers of units by method, version and parameters, as in the JSON of the command line.
fn methods(methods: &BTreeMap<(String, u32, String), u64>) -> Vec<Value> {
    let object = |(key, units): (&(String, u32, String), &u64)| {
        let (method, version, parameters) = key;
        json!({"method": method, "version": version, "parameters": parameters, "units": units})
    };
    methods.iter().map(object).collect()
}

/// The highest value of the walked paths, as in the JSON of the command line.
fn peak(highest: Option<&Highest>) -> Value {
    highest.map_or(
        Value::Null,
        |highest| json!({"value": highest.value.to_string(), "start": highest.start.to_string()}),
    )
}

/// Formats numbers as text, because they may not fit in a JSON number.
fn texts(numbers: &[u128]) -> Vec<String> {
    numbers.iter().map(ToString::to_string).collect()
}
