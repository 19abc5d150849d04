//! Malformed files of timings, and malformed lines of the table of round-off.

use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use warpint_device::{Tuning, TuningKey, TuningStore};
use warpint_mersenne::engine::fp64::measured::MeasuredLength;

use crate::memory::{allowed, most_used};
use crate::mutate::mutated;
use crate::{cases, cases_on_disk};

fn key(subject: &str) -> TuningKey {
    TuningKey {
        device: "NVIDIA H200".into(),
        driver: "580.159.04 (CUDA 13.0)".into(),
        program: "0.1.0".into(),
        subject: subject.into(),
    }
}

fn timing(microseconds: f64) -> Tuning {
    Tuning { choice: "2048x1024".into(), microseconds }
}

/// A valid line of the table of round-off.
const LINE: &str =
    "65536 0.3648 1280283 2001 0.105747 0.009210 0.1464 55.5 128x256 4.8.4/8.8.4 2/4 1 128.128";

/// Returns files of timings as the store writes them, and as a later version of the program might
/// write them.
fn sound() -> Vec<Vec<u8>> {
    let dir = tempfile::tempdir().unwrap();
    let store = TuningStore::at(dir.path());
    store.put(&key("a"), &timing(130.5)).unwrap();
    store.put(&key("b"), &timing(21.0)).unwrap();
    let file = fs::read(store.path()).unwrap();
    let later = String::from_utf8(file.clone()).unwrap();
    let later = later.replace("\"choice\"", "\"since\": [1, 2], \"choice\"");
    vec![file, later.into_bytes(), b"{}".to_vec()]
}

proptest! {
    #![proptest_config(cases_on_disk())]

    #[test]
    fn fuzz_file_of_timings(
        file in prop_oneof![3 => mutated(sound()), 1 => vec(any::<u8>(), 0..300)],
    ) {
        let outer = tempfile::tempdir().unwrap();
        let dir = outer.path().join("config");
        fs::create_dir(&dir).unwrap();
        let store = TuningStore::at(&dir);
        fs::write(store.path(), &file).unwrap();
        let (found, most) = most_used(|| store.get(&key("a")).unwrap());
        prop_assert!(most <= allowed(64, file.len()), "{most} bytes for {}", file.len());
        if let Some(found) = found.value {
            prop_assert!(found.microseconds.is_finite() && found.microseconds > 0.0);
        }
        // The damage is reported, the file renamed, and the store works again.
        let aside = dir.join("tuning.json.bad");
        prop_assert_eq!(found.warning.is_some(), aside.exists());
        if aside.exists() {
            prop_assert_eq!(fs::read(&aside).unwrap(), file);
        }
        store.put(&key("a"), &timing(7.5)).unwrap();
        prop_assert_eq!(store.get(&key("a")).unwrap().value, Some(timing(7.5)));
        prop_assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 1);
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn fuzz_line_of_measured_round_off(
        line in prop_oneof![
            mutated(vec![LINE.into()]),
            vec(any::<u8>(), 0..80),
        ],
    ) {
        prop_assert!(LINE.parse::<MeasuredLength>().is_ok());
        let line = String::from_utf8_lossy(&line).into_owned();
        let (found, most) = most_used(|| line.parse::<MeasuredLength>());
        prop_assert!(most <= allowed(4, line.len()), "{most} bytes for {}", line.len());
        if let Ok(found) = found {
            let numbers = [found.c, found.mean, found.largest];
            let numbers = numbers.into_iter().chain(found.deviation).chain(found.z);
            prop_assert!(numbers.into_iter().all(|x| x.is_finite() && x > 0.0), "{found}");
        }
    }
}
