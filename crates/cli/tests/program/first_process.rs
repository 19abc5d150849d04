//! A test of the program as the first process of a container, which signals end only if it handles
//! them.

use std::process::{Command, Stdio};

use super::common::{Ran, WARPINT};

/// Starts a command as the first process of a new process namespace, without root.
const AS_FIRST: [&str; 5] = ["--user", "--map-root-user", "--pid", "--fork", "--kill-child"];

#[test]
fn a_signal_to_the_first_process_of_a_container_saves_and_sets_the_code() {
    let works = Command::new("unshare").args(AS_FIRST).arg("true").stderr(Stdio::null()).status();
    if !works.is_ok_and(|status| status.success()) {
        eprintln!("not tested: this system allows no process namespaces without root");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    // A signal that arrives before the handler is there has no effect on a first process.
    let script = "(until test -e work/M86243/lock; do sleep 0.1; done
                   while kill -s TERM 1; do sleep 2; done) 2>/dev/null &
                  exec \"$0\" prp 86243 --device cpu --no-tf --quiet --dir work";
    let ran = Command::new("unshare")
        .args(AS_FIRST)
        .args(["sh", "-c", script, WARPINT])
        .current_dir(dir.path())
        .env("WARPINT_CONFIG_DIR", dir.path())
        .output();
    let ran: Ran = ran.unwrap().into();
    assert_eq!((ran.code, ran.signal), (Some(128 + 15), None), "{ran:?}");
    let saved = super::common::names(&dir.path().join("work/M86243"));
    assert!(saved.iter().any(|name| name.ends_with(".ckpt")), "{saved:?}");
}
