//! Kills a running test by SIGKILL at random moments. The same command must resume the test and end
//! with the same residue.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use clap::{Args, ValueEnum};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::kills::{CHECKPOINT_SECONDS, Killed, wait};

/// The interval at which the task checks whether the test has ended by itself.
const POLL: Duration = Duration::from_millis(2);

/// The kind of test that is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Prp,
    Ll,
}

/// The options of `kill-resume`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The exponent of the Mersenne number to test
    #[arg(long, default_value_t = 86_243)]
    exponent: u32,
    /// How often the running test is killed
    #[arg(long, default_value_t = 50)]
    kills: u32,
    /// The kind of test
    #[arg(long, value_enum, default_value_t = Kind::Prp)]
    kind: Kind,
    #[command(flatten)]
    killed: Killed,
}

/// Runs a test without interruption, then the same test while killing it repeatedly. Returns an
/// error if their residues differ, or if a results file does not have exactly one line.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let program = options.killed.program()?;
    let mut rng = options.killed.moments();
    let scratch = tempfile::tempdir()?;
    let test = Test { program, options, root: scratch.path() };

    let begin = Instant::now();
    let right = test.to_the_end("whole", &mut test.start("whole")?)?;
    let whole = begin.elapsed();
    println!("uninterrupted: res64 {right} in {:.1} s", whole.as_secs_f64());

    let mut tally = Tally::default();
    while tally.kills < options.kills {
        let mut child = test.start("killed")?;
        let delay = moment(&mut rng, whole, options.kills);
        match wait(&mut child, delay, POLL, || false)? {
            None => {
                child.kill()?;
                child.wait()?;
                tally.killed(&test.files("killed")?)?;
            }
            Some(status) => {
                // The test ended before the kill: begin again from the start.
                ensure!(status.success(), "a resumed run ended with {status}");
                test.check("killed", &right)?;
                fs::remove_dir_all(scratch.path().join("killed"))?;
                tally.finished += 1;
            }
        }
    }
    let last = test.to_the_end("killed", &mut test.start("killed")?)?;
    ensure!(last == right, "res64 {last} after {} kills, not {right}", tally.kills);
    test.check("killed", &right)?;
    println!(
        "{} kills ({} before a first checkpoint, {} with a file half written), tests finished \
         between them: {}; every residue is {right}, one line of results each",
        tally.kills,
        tally.before_checkpoint,
        tally.half_written,
        tally.finished + 1
    );
    Ok(())
}

/// Returns a random time from the start of a process to its kill. One in five is less than 0.05 s,
/// and one in three is close to the time of a checkpoint. The others are uniform up to
/// max(3·`whole`/`kills`, 0.3 s), so that the test can make some progress. `whole` is the duration
/// of the test without kills.
fn moment(rng: &mut ChaCha8Rng, whole: Duration, kills: u32) -> Duration {
    let share = (whole.as_secs_f64() * 3.0 / f64::from(kills.max(1))).max(0.3);
    let seconds = match rng.random_range(0..15) {
        0..3 => rng.random_range(0.0..0.05),
        3..8 => {
            let nth = f64::from(rng.random_range(1u32..=3));
            nth * CHECKPOINT_SECONDS + rng.random_range(-0.01..0.04)
        }
        _ => rng.random_range(0.0..share),
    };
    Duration::from_secs_f64(seconds)
}

/// The command under test, which is run in subdirectories of a temporary directory.
struct Test<'a> {
    program: PathBuf,
    options: &'a Options,
    root: &'a Path,
}

impl Test<'_> {
    fn start(&self, dir: &str) -> anyhow::Result<Child> {
        let kind = match self.options.kind {
            Kind::Prp => "prp",
            Kind::Ll => "ll",
        };
        let dir = self.root.join(dir);
        fs::create_dir_all(&dir)?;
        let output = fs::File::create(dir.join("stdout"))?;
        let log = fs::File::options().create(true).append(true).open(dir.join("stderr"))?;
        Command::new(&self.program)
            .args(["--no-config", kind, &self.options.exponent.to_string(), "--json", "--no-tf"])
            .args(["--checkpoint-interval", &CHECKPOINT_SECONDS.to_string()])
            .arg("--dir")
            .arg(&dir)
            .current_dir(self.root)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(log)
            .spawn()
            .with_context(|| format!("starting {}", self.program.display()))
    }

    /// Waits until the process ends, and returns the res64 that it printed. `dir` is the
    /// subdirectory in which the process runs.
    fn to_the_end(&self, dir: &str, child: &mut Child) -> anyhow::Result<String> {
        let status = child.wait()?;
        let file = |name: &str| fs::read_to_string(self.root.join(dir).join(name));
        ensure!(status.success(), "the test ended with {status}:\n{}", file("stderr")?);
        res64(&file("stdout")?)
    }

    /// Returns an error if `results.txt` in the subdirectory does not have exactly one line, or if
    /// this line does not have the res64 `right`.
    fn check(&self, dir: &str, right: &str) -> anyhow::Result<()> {
        let path = self.root.join(dir).join("results.txt");
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let lines = text.lines().count();
        ensure!(lines == 1, "{} has {lines} lines:\n{text}", path.display());
        let found = res64(&text)?;
        ensure!(found == right, "{} has res64 {found}, not {right}", path.display());
        Ok(())
    }

    /// Returns the names of the files in the checkpoint directory of the test. Returns no names if
    /// this directory does not exist.
    fn files(&self, dir: &str) -> anyhow::Result<Vec<String>> {
        let dir = self.root.join(dir).join(format!("M{}", self.options.exponent));
        if !dir.exists() {
            return Ok(vec![]);
        }
        fs::read_dir(dir)?.map(|f| Ok(f?.file_name().to_string_lossy().into_owned())).collect()
    }
}

/// Returns the field `res64` of the last line of a text. This line must be JSON.
fn res64(text: &str) -> anyhow::Result<String> {
    let line = text.lines().last().context("no output")?;
    let value: Value = serde_json::from_str(line).with_context(|| format!("not JSON: {line}"))?;
    match value.get("res64").and_then(Value::as_str) {
        Some(res64) => Ok(res64.to_owned()),
        None => bail!("no res64 in {line}"),
    }
}

/// Counts of the kills (`kills`), of the kills that left no checkpoint (`before_checkpoint`), of
/// the kills that left an incomplete file (`half_written`), and of the tests that ended before they
/// were killed (`finished`).
#[derive(Default)]
struct Tally {
    kills: u32,
    before_checkpoint: u32,
    half_written: u32,
    finished: u32,
}

impl Tally {
    /// Counts a kill by the files that it left. Returns an error if the killed process had found a
    /// damaged checkpoint.
    fn killed(&mut self, files: &[String]) -> anyhow::Result<()> {
        self.kills += 1;
        if let Some(bad) = files.iter().find(|f| f.ends_with(".bad")) {
            bail!("after {} kills a checkpoint was found bad: {bad}", self.kills);
        }
        self.half_written += u32::from(files.iter().any(|f| f.ends_with(".tmp")));
        let checkpoints = files.iter().any(|f| !f.ends_with(".tmp") && !f.contains("lock"));
        self.before_checkpoint += u32::from(!checkpoints);
        Ok(())
    }
}
