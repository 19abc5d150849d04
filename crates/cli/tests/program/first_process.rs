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
    let script = "(until ls work/M1257787/*.ckpt; do sleep 0.1; done
                   while kill -s TERM 1; do sleep 2; done) >/dev/null 2>&1 &
                  exec \"$0\" prp 1257787 --device cpu --no-tf --dir work --checkpoint-interval 0.1";
    let ran = Command::new("unshare")
        .args(AS_FIRST)
        .args(["sh", "-c", script, WARPINT])
        .current_dir(dir.path())
        .env("WARPINT_CONFIG_DIR", dir.path())
        .output();
    let ran: Ran = ran.unwrap().into();
    assert_eq!((ran.code, ran.signal), (Some(128 + 15), None), "{ran:?}");
    assert!(ran.err.contains("saved; the same command goes on from there"), "{ran:?}");
}
