//! Runs the program as a child process and kills it repeatedly with SIGKILL.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rand::RngExt;
use serde_json::Value;

use super::Bench;
use super::sitting::Folder;
use crate::sample::{Random, Scale};

/// The exponent of a Mersenne prime whose test takes some seconds with integer transforms on the
/// CPU. `P_BY_FP64` is the corresponding exponent for floating-point transforms on the CPU, and
/// `P_ON_GPU` is the corresponding exponent for a GPU.
const P_BY_INTEGERS: u32 = 44_497;
const P_BY_FP64: u32 = 86_243;
const P_ON_GPU: u32 = 216_091;
const CHECKPOINT_SECONDS: &str = "0.05";
/// The largest number of kills of each test. The first kill comes soon after the start; each later
/// kill follows a new checkpoint.
const KILLS: u64 = 4;
/// The time after which a process that has not ended counts as hanging.
const PATIENCE: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(2);

/// Returns whether there is a program to kill, the exponent of the bench is large enough, and the
/// family does not compute on the simulator.
pub(super) fn suits(bench: &Bench<'_>) -> bool {
    bench.program.is_some() && bench.is_long() && bench.scale != Scale::Small
}

/// Kills and resumes a PRP test and a Lucas–Lehmer test of a Mersenne prime. Each test must end
/// with the right residue, and write exactly one line of results.
pub(super) fn kills(bench: &Bench<'_>, rng: &mut Random) -> Result<String, String> {
    let program = bench.program.ok_or("there is no program to kill")?;
    let mut killed = 0;
    for (test, right) in [("prp", "0000000000000001"), ("ll", "0000000000000000")] {
        let folder = Folder::new()?;
        let victim = Victim { program, bench, test, folder: &folder };
        killed += victim.kill_and_go_on(rng, right)?;
    }
    Ok(format!("{killed} kills, both residues right, one line of results each"))
}

/// A test that runs as a child process and is killed.
struct Victim<'a> {
    program: &'a Path,
    bench: &'a Bench<'a>,
    test: &'static str,
    folder: &'a Folder,
}

impl Victim<'_> {
    fn exponent(&self) -> u32 {
        match self.bench.scale {
            Scale::Large => P_ON_GPU,
            _ if self.bench.family.name() == "fp64" => P_BY_FP64,
            _ => P_BY_INTEGERS,
        }
    }

    /// Runs the test, kills it up to [`KILLS`] times and resumes it, and compares its res64 with
    /// `right`. Returns the number of kills.
    fn kill_and_go_on(&self, rng: &mut Random, right: &str) -> Result<u64, String> {
        let mut killed = 0;
        for n in 0..KILLS {
            let mut child = self.start()?;
            let before = self.newest();
            let begun = Instant::now();
            let due = |newest: Option<u64>| n == 0 || newest > before;
            while !due(self.newest()) && self.is_running(&mut child, begun)? {
                thread::sleep(POLL);
            }
            thread::sleep(Duration::from_millis(rng.random_range(0..60)));
            if self.is_running(&mut child, begun)? {
                child.kill().map_err(|e| e.to_string())?;
                killed += 1;
            }
            child.wait().map_err(|e| e.to_string())?;
        }
        let mut child = self.start()?;
        let begun = Instant::now();
        while self.is_running(&mut child, begun)? {
            thread::sleep(POLL);
        }
        let status = child.wait().map_err(|e| e.to_string())?;
        let said = fs::read_to_string(self.folder.path().join("stderr")).unwrap_or_default();
        if !status.success() {
            return Err(format!("{} ended with {status}: {}", self.test, said.trim()));
        }
        let results = self.folder.path().join("results.txt");
        let results = fs::read_to_string(results).map_err(|e| format!("no results: {e}"))?;
        let lines: Vec<&str> = results.lines().collect();
        let res64 = |line: &str| {
            let line: Value = serde_json::from_str(line).ok()?;
            Some(line.get("res64")?.as_str()?.to_owned())
        };
        match lines.as_slice() {
            [line] if res64(line).as_deref() == Some(right) => {}
            [line] => return Err(format!("not res64 {right}: {line}")),
            lines => return Err(format!("{} lines of results", lines.len())),
        }
        if killed == 0 {
            return Err(format!("{} was over before it could be killed", self.test));
        }
        Ok(killed)
    }

    fn start(&self) -> Result<Child, String> {
        let (root, family) = (self.folder.path(), self.bench.family);
        let log = fs::File::create(root.join("stderr")).map_err(|e| e.to_string())?;
        Command::new(self.program)
            .args([self.test, &self.exponent().to_string(), "--quiet", "--no-tf"])
            .args(["--engine", family.name(), "--device", family.place(), "--threads", "1"])
            .args(["--checkpoint-interval", CHECKPOINT_SECONDS, "--dir"])
            .arg(root)
            // The user's stored timings must not be changed.
            .env("WARPINT_CONFIG_DIR", root.join("config"))
            .current_dir(root)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|e| format!("cannot start {}: {e}", self.program.display()))
    }

    /// Returns whether the process is still running. If the process has run for more than
    /// [`PATIENCE`] since `begun`, kills the process and returns an error.
    fn is_running(&self, child: &mut Child, begun: Instant) -> Result<bool, String> {
        let ended = child.try_wait().map_err(|e| e.to_string())?.is_some();
        if !ended && begun.elapsed() > PATIENCE {
            // The process may have ended just now.
            let _ = child.kill();
            let _ = child.wait();
            let (test, p) = (self.test, self.exponent());
            return Err(format!("{test} {p} did not end in {} s", PATIENCE.as_secs()));
        }
        Ok(!ended)
    }

    /// Returns the iteration of the newest checkpoint. Returns `None` if there is no checkpoint.
    fn newest(&self) -> Option<u64> {
        let dir = self.folder.path().join(format!("M{}", self.exponent()));
        let files = fs::read_dir(dir).ok()?.filter_map(Result::ok);
        let iteration = |name: String| {
            let rest = name.strip_prefix(self.test)?.strip_prefix('-')?;
            let (digits, extension) = rest.split_once('.')?;
            matches!(extension, "ckpt" | "verified").then(|| digits.parse().ok())?
        };
        files.filter_map(|file| iteration(file.file_name().to_string_lossy().into_owned())).max()
    }
}
