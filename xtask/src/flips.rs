//! Runs thousands of Mersenne tests, in each of which a single bit flips at a random moment.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::error::ErrorKind;
use clap::{Args, ValueEnum};
use warpint_mersenne::{Exponent, LlStart, TestKind};
use warpint_selftest::faults::{Campaign, Fate, Flip, Tally, Target};

use crate::families::Place;

const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// The kind of test in which bits flip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Test {
    Prp,
    Ll,
}

/// Where bits flip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum What {
    /// The residue, after any squaring
    Residue,
    /// The Gerbicz product
    Product,
    /// The registers that only checks use
    Check,
    /// Checkpoints, on disk and in memory
    Saved,
}

/// The options of `flips`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The kind of test
    #[arg(long, value_enum, default_value_t = Test::Prp)]
    test: Test,
    /// Where bits flip; for Lucas–Lehmer tests only `residue` is possible
    #[arg(long, value_enum, default_value_t = What::Residue)]
    what: What,
    /// The exponent, a prime; by default 86243 for prp and 4441 for ll
    #[arg(long, value_name = "P")]
    exponent: Option<Exponent>,
    /// The number of flips, each in a test of its own
    #[arg(long, value_name = "N", default_value_t = 1_000,
          value_parser = clap::value_parser!(u64).range(1..))]
    count: u64,
    /// The seed from which the flips are drawn; by default random, and printed
    #[arg(long)]
    seed: Option<u64>,
    #[command(flatten)]
    place: Place,
}

/// Runs the tests with flipped bits. Returns an error if a test failed, for example because a
/// harmful flip was not noticed in a PRP test. A Jacobi check finds a flip with probability ½. For
/// Lucas–Lehmer tests, `run` also returns an error if the checks find fewer or more flips than
/// chance explains.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let (kind, usual) = match options.test {
        Test::Prp => (TestKind::Prp, 86_243),
        Test::Ll => (TestKind::Ll(LlStart::Four), 4_441),
    };
    let target = match options.what {
        What::Residue => Target::Residue,
        What::Product => Target::Product,
        What::Check => Target::Check,
        What::Saved => Target::Saved,
    };
    if kind != TestKind::Prp && target != Target::Residue {
        refuse("--what: a Lucas–Lehmer test has a residue only");
    }
    let exponent = match options.exponent {
        Some(exponent) => exponent,
        None => Exponent::new(usual)?,
    };
    let family = options.place.family()?;
    if !family.exponent_range().contains(&exponent.get()) || kind.iterations(exponent.get()) < 8 {
        refuse(&format!(
            "--exponent: {} has no test of M{exponent} to flip bits in",
            family.name()
        ));
    }
    let seed = options.seed.unwrap_or_else(rand::random);
    let families = options.place.for_threads(family)?;
    let threads = families.len();
    println!(
        "{} flips in {kind} tests of M{exponent}, {} on {}, {threads} at a time, seed {seed}",
        options.count,
        family.name(),
        family.place()
    );
    let count = options.count;
    let campaign = Campaign { family, kind, exponent, target, count, seed, threads };
    let begun = Instant::now();
    let mut progress = Progress::new(count);
    let tally =
        campaign.run_on(&families, &mut |flip| progress.done(flip)).map_err(anyhow::Error::msg)?;
    table(&tally);
    println!(
        "{} tests without a flip: no alarm; {:.1} s in all",
        tally.sound,
        begun.elapsed().as_secs_f64()
    );
    for failed in &tally.failed {
        println!("FAILED: {failed}");
    }
    match campaign.judge(&tally) {
        Ok(said) => println!("{said}"),
        Err(said) => bail!("{said}; --seed {seed} has it again"),
    }
    Ok(())
}

/// Prints a usage error in one line, and exits with code 2.
fn refuse(reason: &str) -> ! {
    clap::Error::raw(ErrorKind::ValueValidation, format!("{reason}\n")).exit()
}

/// Prints a line for each kind of flip: how many flips were found, how many were harmless, and how
/// many were missed.
fn table(tally: &Tally) {
    println!("{:32} {:>6} {:>9} {:>7}", "flips in", "found", "harmless", "missed");
    for (sort, [found, harmless, missed]) in &tally.sorts {
        println!("{sort:32} {found:>6} {harmless:>9} {missed:>7}");
    }
}

/// The progress of the task. It prints a line every few seconds, and a line for each failure.
struct Progress {
    count: u64,
    done: u64,
    begun: Instant,
    last: Instant,
    fates: BTreeMap<&'static str, u64>,
}

impl Progress {
    fn new(count: u64) -> Self {
        let now = Instant::now();
        Self { count, done: 0, begun: now, last: now, fates: BTreeMap::new() }
    }

    fn done(&mut self, flip: &Flip) {
        self.done += 1;
        let fate = match &flip.fate {
            Fate::Found => "found",
            Fate::Harmless => "harmless",
            Fate::Missed => "missed",
            Fate::Failed(reason) => {
                eprintln!("flip {}, {}: {reason}", flip.number, flip.place.moment);
                "FAILED"
            }
        };
        *self.fates.entry(fate).or_default() += 1;
        if self.last.elapsed() < BETWEEN_LINES {
            return;
        }
        self.last = Instant::now();
        let seconds = self.begun.elapsed().as_secs_f64();
        let left = seconds / self.done as f64 * (self.count - self.done) as f64;
        let fates: Vec<String> = self.fates.iter().map(|(f, n)| format!("{n} {f}")).collect();
        eprintln!(
            "{} of {} flips: {}; {seconds:.0} s, about {left:.0} s left",
            self.done,
            self.count,
            fates.join(", ")
        );
    }
}
