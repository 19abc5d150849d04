//! Kills `warpint work` by SIGKILL at random moments. At the end, every assignment of the work list
//! ([`List`]) must have exactly one result, and every other line must be preserved.

mod list;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use clap::Args;
use list::{List, expected};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;

use crate::kills::{CHECKPOINT_SECONDS, Killed, wait};

/// The interval at which the task checks the results file, and whether the program has ended.
const POLL: Duration = Duration::from_micros(100);

/// The options of `work-kills`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The number of times that the running program is killed
    #[arg(long, default_value_t = 20)]
    kills: u32,
    /// All exponents of the list are below this bound
    #[arg(long, default_value_t = 100_000)]
    below: u64,
    /// The number of tests at a time in the process that is killed (`work --together`)
    #[arg(long, default_value_t = 1)]
    together: u32,
    #[command(flatten)]
    killed: Killed,
}

/// Processes the work list without a kill and by one test at a time, then again with kills. Returns an error if
/// the results differ or a line is lost.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let program = options.killed.program()?;
    let mut rng = options.killed.moments();
    let list = List::new(&mut rng, options.below.max(5_000));
    let scratch = tempfile::tempdir()?;

    let whole = Site { program: &program, dir: scratch.path().join("whole"), together: 1 };
    whole.prepare(&list, &list.all())?;
    let begin = Instant::now();
    whole.to_the_end()?;
    let time = begin.elapsed();
    let right = whole.results()?;
    whole.check(&list)?;
    println!("uninterrupted: {} results in {:.1} s", right.len(), time.as_secs_f64());

    let together = options.together;
    let killed = Site { program: &program, dir: scratch.path().join("killed"), together };
    killed.prepare(&list, &list.at_first)?;
    let tally = kill(&killed, &list, &mut rng, time, options.kills)?;
    killed.to_the_end()?;
    killed.check(&list)?;
    let facts = |results: &[Value]| results.iter().map(fact).collect::<BTreeSet<_>>();
    ensure!(
        facts(&killed.results()?) == facts(&right),
        "other results than without a kill, in {}",
        killed.dir.display()
    );
    println!(
        "{} kills ({} right behind a result, {} of them before its line was removed, {} after the \
         end): {} assignments ({} certifications, {} cofactors), one right result each; {} other \
         lines as they were, {} malformed ones told of by their numbers",
        options.kills,
        tally.behind_a_result,
        tally.before_removal,
        tally.after_the_end,
        right.len(),
        right.iter().filter(|result| result.get("sha3-hash").is_some()).count(),
        right.iter().filter(|result| result.get("known-factors").is_some()).count(),
        list.kept().len(),
        list.malformed.len()
    );
    Ok(())
}

/// Counts of kills. `behind_a_result` counts the kills after which a new result was in the results
/// file. `before_removal` counts the kills after which, in addition, the line of the new result was
/// still in the work list. `after_the_end` counts the kills after all work had ended.
#[derive(Default)]
struct Tally {
    behind_a_result: u32,
    before_removal: u32,
    after_the_end: u32,
}

fn kill(
    site: &Site,
    list: &List,
    rng: &mut ChaCha8Rng,
    whole: Duration,
    kills: u32,
) -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    let share = whole.as_secs_f64() * 1.5 / f64::from(kills.max(1));
    for n in 0..kills {
        // Adds some lines while others are processed, in either way.
        if n == kills / 4 {
            fs::write(site.dir.join("worktodo.add"), list.by_file.join("\n"))?;
        }
        if n == kills / 2 {
            for line in &list.by_command {
                let done = site.command().args(["--add", line]).output()?;
                ensure!(done.status.success(), "--add {line}: {done:?}");
            }
        }
        let before: BTreeSet<String> = site.results()?.iter().map(fact).collect();
        let results = before.len();
        let mut child = site.start()?;
        let patience = Duration::from_secs_f64(rng.random_range(0.0..share.max(0.1)));
        let ended = if rng.random_range(0..2) == 0 {
            let seen = wait(&mut child, patience * 4, POLL, || {
                site.size() > 0 && { site.results().is_ok_and(|found| found.len() > results) }
            })?;
            thread::sleep(Duration::from_micros(rng.random_range(0..2_000)));
            seen
        } else {
            wait(&mut child, patience, POLL, || false)?
        };
        if ended.is_some() {
            tally.after_the_end += 1;
        }
        child.kill()?;
        child.wait()?;
        let found = site.results()?;
        if found.len() > results {
            tally.behind_a_result += 1;
            let left = fs::read_to_string(site.dir.join("worktodo.txt"))?;
            let new: Vec<String> =
                found.iter().map(fact).filter(|fact| !before.contains(fact)).collect();
            let mut wanted = left.lines().filter_map(expected);
            let pending = wanted.any(|wanted| new.iter().any(|fact| fact.starts_with(&wanted)));
            tally.before_removal += u32::from(pending);
        }
    }
    Ok(tally)
}

/// Returns the content of a result as a text, without the parts that may depend on kills. It
/// consists of the text that [`expected`] returns, and of the outcome.
fn fact(result: &Value) -> String {
    let text = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or("none").to_owned();
    let p = result.get("exponent").and_then(Value::as_u64).unwrap_or(0);
    let (status, res64, hash) = (text("status"), text("res64"), text("sha3-hash"));
    let factors = result.get("known-factors").unwrap_or(&Value::Null);
    format!("{p} {} {}: {status} {res64} {hash} {factors}", text("worktype"), text("aid"))
}

/// The program under test, and a working directory for it.
struct Site<'a> {
    program: &'a Path,
    dir: PathBuf,
    /// The number of tests at a time.
    together: u32,
}

impl Site<'_> {
    /// Creates the directory, and writes the work list and the files from which certifications
    /// start. Some lines of the list end with CR LF and the others with LF; the last line has no
    /// line end.
    fn prepare(&self, list: &List, lines: &[String]) -> anyhow::Result<()> {
        fs::create_dir(&self.dir)?;
        for (name, residue) in &list.starts {
            fs::write(self.dir.join(name), residue)?;
        }
        let mut text = String::new();
        for (i, line) in lines.iter().enumerate() {
            text += line;
            text += if i % 3 == 0 { "\r\n" } else { "\n" };
        }
        let text = text.trim_end();
        Ok(fs::write(self.dir.join("worktodo.txt"), text)?)
    }

    fn command(&self) -> Command {
        let mut command = Command::new(self.program);
        command.args(["--no-config", "work"]).arg(&self.dir).stdin(Stdio::null());
        command.args(["--device", "cpu", "--checkpoint-interval", &CHECKPOINT_SECONDS.to_string()]);
        command.args(["--together", &self.together.to_string()]);
        command
    }

    fn start(&self) -> anyhow::Result<Child> {
        let log = fs::File::create(self.dir.join("stderr"))?;
        let mut command = self.command();
        let child = command.stdout(Stdio::null()).stderr(log).spawn();
        child.with_context(|| format!("starting {}", self.program.display()))
    }

    fn to_the_end(&self) -> anyhow::Result<()> {
        let status = self.start()?.wait()?;
        let said = fs::read_to_string(self.dir.join("stderr"))?;
        ensure!(status.success(), "the work ended with {status}:\n{said}");
        Ok(())
    }

    /// Returns the paths of the results files: that of the only worker, or those of all workers.
    fn results_files(&self) -> Vec<PathBuf> {
        let of_workers = (0..self.together).map(|worker| format!("results-{worker}.txt"));
        let names = match self.together {
            1 => vec!["results.txt".to_owned()],
            _ => of_workers.collect(),
        };
        names.into_iter().map(|name| self.dir.join(name)).collect()
    }

    fn size(&self) -> u64 {
        self.results_files().iter().map(|path| fs::metadata(path).map_or(0, |m| m.len())).sum()
    }

    /// Returns the complete lines of the results files, each of which must be JSON.
    fn results(&self) -> anyhow::Result<Vec<Value>> {
        let mut results = vec![];
        for path in self.results_files().iter().filter(|path| path.exists()) {
            let text = fs::read_to_string(path)?;
            let whole = text.rfind('\n').map_or("", |end| &text[..end]);
            for line in whole.lines() {
                let parsed = serde_json::from_str(line);
                results.push(parsed.with_context(|| format!("not JSON: {line}"))?);
            }
        }
        Ok(results)
    }

    /// Returns an error if an assignment does not have exactly one result, if another line is
    /// missing, or if the last process has not reported each malformed line by its line number.
    fn check(&self, list: &List) -> anyhow::Result<()> {
        let dir = self.dir.display();
        let mut wanted: Vec<String> = list.all().iter().filter_map(|line| expected(line)).collect();
        let mut found: Vec<String> = self
            .results()?
            .iter()
            .map(|result| fact(result).split_inclusive(':').next().unwrap_or_default().to_owned())
            .collect();
        wanted.sort();
        found.sort();
        ensure!(wanted == found, "in {dir} results of {found:?}, not of {wanted:?}");

        let left = fs::read_to_string(self.dir.join("worktodo.txt"))?;
        let before: Vec<String> = list.kept();
        let now: Vec<&str> = left.lines().collect();
        ensure!(now == before, "{dir}/worktodo.txt has {now:?}, not {before:?}");

        let said = fs::read_to_string(self.dir.join("stderr"))?;
        for line in &list.malformed {
            let told = said.lines().filter(|told| told.contains("the line is kept")).any(|told| {
                let number = told
                    .split("worktodo.txt, line ")
                    .nth(1)
                    .and_then(|rest| rest.split(':').next()?.parse::<usize>().ok());
                // Earlier lines may have been completed since: the reported number is at least the
                // current one.
                let at = now.iter().position(|l| l == line).map_or(usize::MAX, |i| i + 1);
                number.is_some_and(|n| n >= at && n <= list.at_first.len())
            });
            ensure!(told, "{line} was not reported with its number:\n{said}");
        }
        Ok(())
    }
}
