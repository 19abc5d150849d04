//! Tests every prime exponent in a range by Lucas–Lehmer, with every engine that supports it.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;
use rayon::prelude::*;
use warpint_arith::primes;
use warpint_mersenne::{
    EngineFamily, Exponent, Finished, LlStart, Plan, RunOptions, StopToken, TestKind, TestSpec,
    Verdict, engine, primality,
};
use warpint_selftest::vectors;

const BETWEEN_LINES: Duration = Duration::from_secs(5);

/// The value of `--engine` that selects every engine that supports an exponent.
const ALL: &str = "all";

/// The options of `ll-sweep`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// The smallest exponent
    #[arg(long, default_value_t = 2)]
    from: u32,
    /// The largest exponent
    #[arg(long, default_value_t = 23_209)]
    to: u32,
    /// The engine; `all` compares the residues of all engines. An exponent that the engine does not
    /// support is tested by every engine that supports it
    #[arg(long, value_name = "NAME", default_value = ALL, value_parser = names())]
    engine: String,
}

fn names() -> PossibleValuesParser {
    let families = engine::families().iter().map(|family| family.name());
    PossibleValuesParser::new([ALL].into_iter().chain(families))
}

/// The result of the test of one exponent by one family.
struct Tested {
    family: &'static str,
    p: u32,
    prime: bool,
    res64: String,
    elapsed: Duration,
}

/// Tests every prime p in the range. Returns an error if a verdict differs from the list of known
/// Mersenne primes, or if the residues of two engines differ.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let known = vectors::mersenne_primes()?.exponents;
    // Longest first, so that no thread begins a long one at the end.
    let mut exponents: Vec<u32> =
        primes::primes_between(u64::from(options.from), u64::from(options.to))
            .map(|p| p as u32)
            .collect();
    exponents.reverse();
    let progress = Mutex::new(Progress::new(&exponents));
    let begin = Instant::now();
    let tested: Vec<Vec<Tested>> = exponents
        .par_iter()
        .map(|&p| {
            let results = test_all(&options.engine, p)?;
            if let Ok(mut progress) = progress.lock() {
                progress.done(p);
            }
            Ok(results)
        })
        .collect::<anyhow::Result<_>>()?;
    let wall = begin.elapsed();

    let wrong: Vec<String> = tested.iter().filter_map(|of_p| mismatch(of_p, &known)).collect();
    table(&tested);
    println!(
        "{} prime exponents from {} to {} in {:.1} s of wall time on {} threads: {}",
        exponents.len(),
        options.from,
        options.to,
        wall.as_secs_f64(),
        rayon::current_num_threads(),
        if wrong.is_empty() { "every verdict is right" } else { "MISMATCHES" }
    );
    if !wrong.is_empty() {
        bail!("{} mismatches:\n{}", wrong.len(), wrong.join("\n"));
    }
    Ok(())
}

fn test_all(name: &str, p: u32) -> anyhow::Result<Vec<Tested>> {
    let mut families = engine::families_for(p);
    if let Some(&asked) = families.iter().find(|family| family.name() == name) {
        families = vec![asked];
    }
    families.into_iter().map(|family| test_one(family, p)).collect()
}

/// Runs a complete test in the same way as the program, on one thread and without files.
fn test_one(family: &'static dyn EngineFamily, p: u32) -> anyhow::Result<Tested> {
    let what = || format!("M{p} by {}", family.name());
    let exponent = Exponent::new(u64::from(p)).with_context(what)?;
    let plan = Plan::of_family(exponent, family, None, Some(1)).with_context(what)?;
    let kind = TestKind::Ll(LlStart::Four);
    let spec = TestSpec::new(kind, exponent);
    let begin = Instant::now();
    let finished =
        primality::run(&spec, plan, None, &mut |_| {}, &StopToken::new(), &RunOptions::default())
            .with_context(what)?;
    let elapsed = begin.elapsed();
    let Finished::Done(outcome) = finished else { bail!("{} stopped unasked", what()) };
    let prime = outcome.verdict == Verdict::Prime;
    Ok(Tested { family: family.name(), p, prime, res64: outcome.residue.res64_hex(), elapsed })
}

/// Returns a description if the tests of one exponent differ from each other or from the list of
/// known Mersenne primes. Returns `None` if all agree.
fn mismatch(of_p: &[Tested], known: &[u32]) -> Option<String> {
    let first = of_p.first()?;
    let prime = known.contains(&first.p);
    let wrong = of_p.iter().any(|t| t.prime != prime || t.res64 != first.res64);
    wrong.then(|| {
        let said: Vec<String> = of_p
            .iter()
            .map(|t| format!("{}: {} {}", t.family, verdict(t.prime), t.res64))
            .collect();
        format!("M{} is {}, but {}", first.p, verdict(prime), said.join(", "))
    })
}

fn verdict(prime: bool) -> &'static str {
    if prime { "prime" } else { "composite" }
}

/// Prints a line for each engine family: how many tests and squarings it has done, how many primes
/// it has found, and the time.
fn table(tested: &[Vec<Tested>]) {
    println!(
        "{:12} {:>9} {:>7} {:>12} {:>10} {:>12}",
        "engine", "exponents", "primes", "squarings", "core s", "µs/squaring"
    );
    for family in engine::families() {
        let name = family.name();
        let of: Vec<&Tested> = tested.iter().flatten().filter(|t| t.family == name).collect();
        if of.is_empty() {
            continue;
        }
        let squarings: u64 = of.iter().map(|t| u64::from(t.p) - 2).sum();
        let seconds: f64 = of.iter().map(|t| t.elapsed.as_secs_f64()).sum();
        println!(
            "{name:12} {:>9} {:>7} {squarings:>12} {seconds:>10.1} {:>12.3}",
            of.len(),
            of.iter().filter(|t| t.prime).count(),
            seconds * 1e6 / squarings.max(1) as f64
        );
    }
}

/// The progress of the sweep. It prints a line every few seconds with the completed fraction of the
/// work. This is not the fraction of the exponents, because the work grows with the exponent.
struct Progress {
    begin: Instant,
    last: Instant,
    exponents: usize,
    tested: usize,
    work: f64,
    done: f64,
}

impl Progress {
    fn new(exponents: &[u32]) -> Self {
        let now = Instant::now();
        let work = exponents.iter().map(|&p| Self::work(p)).sum();
        Self { begin: now, last: now, exponents: exponents.len(), tested: 0, work, done: 0.0 }
    }

    /// Returns a measure of the work of a test of M_p: about p squarings, each of which takes a
    /// time proportional to p·log p.
    fn work(p: u32) -> f64 {
        f64::from(p).powi(2) * f64::from(p).ln()
    }

    fn done(&mut self, p: u32) {
        self.tested += 1;
        self.done += Self::work(p);
        if self.last.elapsed() < BETWEEN_LINES {
            return;
        }
        self.last = Instant::now();
        let share = self.done / self.work;
        let elapsed = self.begin.elapsed().as_secs_f64();
        eprintln!(
            "{} of {} exponents, {:.0} % of the work, {elapsed:.0} s, about {:.0} s left",
            self.tested,
            self.exponents,
            100.0 * share,
            elapsed / share - elapsed
        );
    }
}
