//! Functions that all tests use: they run the program, send it signals, and wait for it.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

pub(crate) const WARPINT: &str = env!("CARGO_BIN_EXE_warpint");

/// The outcome of a run of the program.
#[derive(Debug)]
pub(crate) struct Ran {
    /// The exit code; `None` if a signal ended the process.
    pub(crate) code: Option<i32>,
    /// The number of the signal that ended the process; `None` if the process exited by itself.
    pub(crate) signal: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// Returns whether the process was ended by this signal. The name of the signal is written
    /// without `SIG`.
    pub(crate) fn ended_by(&self, signal: &str) -> bool {
        let number = match signal {
            "HUP" => 1,
            "INT" => 2,
            "TERM" => 15,
            other => panic!("no request to stop: {other}"),
        };
        (self.code, self.signal) == (None, Some(number))
    }

    /// Returns the single JSON object on standard output.
    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.out.lines().count(), 1, "{self:?}");
        serde_json::from_str(&self.out).unwrap()
    }

    pub(crate) fn res64(&self) -> String {
        self.json()["res64"].as_str().unwrap().to_owned()
    }

    /// Returns the error message without its beginning `error: `. The message must be the only line
    /// on standard error.
    pub(crate) fn error(&self) -> &str {
        assert_eq!(self.err.lines().count(), 1, "{self:?}");
        self.err.trim_end().strip_prefix("error: ").unwrap()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self {
            code: output.status.code(),
            signal: signal_of(output.status),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal_of(_: ExitStatus) -> Option<i32> {
    None
}

/// Builds the command `warpint <args>` with a working directory. The command ignores the timings
/// that the user who runs the tests has stored.
pub(crate) fn command<A: AsRef<OsStr>>(dir: &Path, args: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(WARPINT);
    // The variable would change the width of help.
    command.env_remove("COLUMNS");
    command.current_dir(dir).env("WARPINT_CONFIG_DIR", dir.join("config")).args(args);
    command
}

/// Runs `warpint <line>`, where spaces separate the arguments.
pub(crate) fn warpint(dir: &Path, line: &str) -> Ran {
    command(dir, line.split(' ')).output().unwrap().into()
}

/// Starts `warpint <line>` without input.
pub(crate) fn started(dir: &Path, line: &str) -> Child {
    let mut command = command(dir, line.split(' '));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs `warpint <line>` with the given standard input.
pub(crate) fn with_input(dir: &Path, line: &str, input: &[u8]) -> Ran {
    let piped = || Stdio::piped();
    let mut command = command(dir, line.split(' '));
    let mut child = command.stdin(piped()).stdout(piped()).stderr(piped()).spawn().unwrap();
    // A program that has read enough closes its input.
    drop(child.stdin.take().unwrap().write_all(input));
    child.wait_with_output().unwrap().into()
}

/// Runs a command, which might wait forever or use ever more memory. After 20 s, kills it and
/// panics.
pub(crate) fn in_time(mut command: Command) -> Ran {
    const PATIENCE: Duration = Duration::from_secs(20);
    let begin = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("no end: {:?}", Ran::from(child.wait_with_output().unwrap()));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap().into()
}

/// Starts `warpint <line>` with pipes for both outputs.
pub(crate) fn spawn(dir: &Path, line: &str) -> Child {
    let piped = Stdio::piped;
    command(dir, line.split(' ')).stdout(piped()).stderr(piped()).spawn().unwrap()
}

/// Waits until `is_so` returns true. After a minute, panics with a message that contains `what`.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(begin.elapsed() < Duration::from_secs(60), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Sends a signal to a process. The name of the signal is written without `SIG`.
pub(crate) fn signal(child: &Child, name: &str) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
}

/// Waits until the program has installed its handler of Ctrl-C. The program installs the handler
/// before it begins to work.
pub(crate) fn wait_for_handler(child: &mut Child) {
    let status = format!("/proc/{}/status", child.id());
    if !Path::new(&status).exists() {
        // Other Unix systems do not report it.
        std::thread::sleep(Duration::from_secs(2));
        return;
    }
    // Bit 1 of the caught signals is SIGINT.
    let caught = || {
        let text = std::fs::read_to_string(&status).ok()?;
        let mask = text.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        Some(u64::from_str_radix(mask.trim(), 16).ok()? & 2 != 0)
    };
    wait_until("the signal handler", || {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        caught() == Some(true)
    });
}

pub(crate) fn end(child: Child) -> Ran {
    child.wait_with_output().unwrap().into()
}

/// Waits until the program has computed for a third of a second, so that there is work to stop.
pub(crate) fn wait_for_work(child: &mut Child) {
    wait_for_handler(child);
    let stat = format!("/proc/{}/stat", child.id());
    if !Path::new(&stat).exists() {
        return;
    }
    // Ticks of 10 ms in user mode: the 14th field, the 12th behind the name in parentheses.
    let ticks = || {
        let text = std::fs::read_to_string(&stat).ok()?;
        let (_, fields) = text.rsplit_once(") ")?;
        fields.split(' ').nth(11)?.parse::<u64>().ok()
    };
    wait_until("some work", || {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        ticks().is_some_and(|ticks| ticks > 33)
    });
}

/// Checks that the times of a benchmark of transforms were measured in `runs` runs, and that the
/// fastest, median and slowest times are above 0 and in ascending order. Returns the median in
/// microseconds.
pub(crate) fn check_times(times: &Value, runs: usize) -> f64 {
    let us = |key: &str| times[key].as_f64().unwrap_or_else(|| panic!("{key} of {times}"));
    assert!(us("us-fastest-run") <= us("us") && us("us") <= us("us-slowest-run"), "{times}");
    assert!(us("us-fastest-run") > 0.0);
    assert_eq!(times["runs"], runs);
    us("us")
}

/// Returns the names of the files of a directory, in order.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap();
    let mut names: Vec<_> =
        entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
