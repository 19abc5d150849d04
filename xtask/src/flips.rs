//! Runs thousands of primality tests, in each of which a single bit flips at a random moment.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::bail;
use clap::error::ErrorKind;
use clap::{Args, ValueEnum};
use warpint_mersenne::{Exponent, LlStart, Number, TestKind};
use warpint_selftest::faults::{Campaign, Fate, Flip, Tally, Target};

use crate::families::Place;

const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// The kind of test in which bits flip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Test {
    /// PRP; for --number Fermat's test
    Prp,
    /// Lucas–Lehmer
    Ll,
    /// The test that proves most about --number
    Best,
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
    /// Where bits flip; for Lucas–Lehmer tests and those of Riesel only `residue` is possible
    #[arg(long, value_enum, default_value_t = What::Residue)]
    what: What,
    /// The exponent, a prime; by default 86243 for prp and 4441 for ll
    #[arg(long, value_name = "P")]
    exponent: Option<Exponent>,
    /// The number that is tested instead, K*2^N+1 or K*2^N-1; by default 7*2^10002+1 for best
    #[arg(long, value_name = "NUMBER", conflicts_with = "exponent")]
    number: Option<Number>,
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
    let (number, kind) = tested(options)?;
    let target = match options.what {
        What::Residue => Target::Residue,
        What::Product => Target::Product,
        What::Check => Target::Check,
        What::Saved => Target::Saved,
    };
    if kind.has_two_terms() {
        refuse(&format!(
            "--number: bits do not flip in the test of Morrison, which applies to {number}; \
             `cargo test -p warpint-mersenne morrison` flips them"
        ));
    }
    if !kind.is_checked() && target != Target::Residue {
        refuse("--what: the test has a residue only");
    }
    let family = options.place.family()?;
    if !kind.suits(number) || !family.takes(number) || kind.iterations(number) < 8 {
        let name = family.name();
        refuse(&format!(
            "--exponent, --number: {name} has no test {kind} of {number} to flip bits in"
        ));
    }
    let seed = options.seed.unwrap_or_else(rand::random);
    let families = options.place.for_threads(family)?;
    let threads = families.len();
    println!(
        "{} flips in {kind} tests of {number}, {} on {}, {threads} at a time, seed {seed}",
        options.count,
        family.name(),
        family.place()
    );
    let count = options.count;
    let campaign = Campaign { family, kind, number, target, count, seed, threads };
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

/// Returns the number and the kind of the tests.
fn tested(options: &Options) -> anyhow::Result<(Number, TestKind)> {
    let mersenne = |usual| match options.exponent {
        Some(exponent) => Ok(exponent),
        None => Exponent::new(usual),
    };
    Ok(match (options.test, options.number) {
        (Test::Prp, None) => (mersenne(86_243)?.into(), TestKind::Prp),
        (Test::Prp, Some(number)) => (number, TestKind::fermat(number)),
        (Test::Ll, None) => (mersenne(4_441)?.into(), TestKind::Ll(LlStart::Four)),
        (Test::Ll, Some(number)) => (number, TestKind::Ll(LlStart::Four)),
        (Test::Best, number) => {
            let number = match number {
                Some(number) => number,
                None => "7*2^10002+1".parse()?,
            };
            (number, TestKind::for_number(number))
        }
    })
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
