//! Tests of `warpint devices`, on a machine with a GPU or without. Missing requirements are
//! reported, and are not an error.

use std::path::Path;
use std::process::Command;

use crate::common::{Ran, command};

/// Builds the command `warpint devices <flags>` with an empty kernel cache.
fn devices(dir: &Path, flags: &[&str]) -> Command {
    let mut command = command(dir, ["devices"].iter().chain(flags));
    command.env("WARPINT_CACHE_DIR", dir.join("cache"));
    command
}

fn done(mut command: Command) -> Ran {
    let ran: Ran = command.output().unwrap().into();
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    ran
}

#[test]
fn every_device_is_described_or_its_absence_explained() {
    let dir = tempfile::tempdir().unwrap();
    let json = done(devices(dir.path(), &["--json"])).json();
    let text = done(devices(dir.path(), &[])).out;
    let found = json["devices"].as_array().unwrap();
    for device in found {
        let id = device["id"].as_str().unwrap();
        assert!(text.contains(&format!("{id}  {}\n", device["name"].as_str().unwrap())), "{text}");
        assert!(text.contains(device["driver"].as_str().unwrap()), "{text}");
        assert!(device["multiprocessors"].as_u64().unwrap() > 0, "{json}");
        // Measured wherever that is possible.
        let possible = device["problem"].is_null() && device["nvrtc"]["path"].is_string();
        assert_eq!(device["fp64"]["full-rate"].is_boolean(), possible, "{json}");
    }
    let missing = json["missing"].as_array().unwrap();
    assert_eq!(found.is_empty(), !missing.is_empty(), "{json}");
    if found.is_empty() {
        let reason = missing[0].as_str().unwrap();
        assert!(text.contains("No GPU can be used") && text.contains(reason), "{text}");
        assert!(reason.contains("driver"), "{reason}");
        let nvrtc = &json["nvrtc"];
        assert_ne!(nvrtc["path"].is_string(), nvrtc["missing"].is_string(), "{json}");
    }
}

#[test]
fn a_compiler_that_is_not_where_it_is_said_to_be_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let nowhere = dir.path().join("nowhere");
    let mut by_json = devices(dir.path(), &["--json"]);
    let mut by_text = devices(dir.path(), &[]);
    by_json.env("WARPINT_NVRTC", &nowhere);
    by_text.env("WARPINT_NVRTC", &nowhere);
    let json = done(by_json).json();
    let text = done(by_text).out;
    let compilers = match json["devices"].as_array().unwrap().as_slice() {
        [] => vec![&json["nvrtc"]],
        devices => devices.iter().map(|device| &device["nvrtc"]).collect(),
    };
    for compiler in compilers {
        let line = compiler["missing"].as_str().unwrap();
        let starts = format!("WARPINT_NVRTC={} is neither ", nowhere.display());
        assert!(line.starts_with(&starts) && line.contains("pip install"), "{line}");
        assert!(text.contains(line), "{text}");
    }
}
