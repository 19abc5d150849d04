//! `--device`, on machines with a GPU and without.

use std::fs;

use crate::common::warpint;

#[test]
fn a_device_that_is_not_there_is_refused_and_nothing_is_touched() {
    let dir = tempfile::tempdir().unwrap();
    // No machine has 64 GPUs; most have no driver either.
    for line in ["prp 216091", "ll 216091 --restart", "bench mersenne 216091"] {
        let ran = warpint(dir.path(), &format!("{line} --device cuda:63"));
        assert_eq!((ran.code, ran.out.lines().count() <= 3), (Some(2), true), "{line}: {ran:?}");
        assert!(!ran.error().is_empty(), "{line}: {ran:?}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "a refused request leaves nothing");
}

#[test]
fn the_cpu_can_be_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    for engine in ["fp64", "goldilocks"] {
        let line = format!("prp 1279 --device cpu --engine {engine} --json --restart");
        let ran = warpint(dir.path(), &line);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let json = ran.json();
        assert_eq!((&json["status"], &json["engine"]), (&"P".into(), &engine.into()));
        assert!(json.get("device").is_none(), "{json}");
        assert!(ran.err.contains(&format!("engine {engine}, ")), "{ran:?}");
    }
}
