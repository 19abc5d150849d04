//! The command line: its grammar, its help, and what it says of a value that makes no sense.

mod work;

use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use warpint::mersenne::engine::places::DeviceId;
use warpint::mersenne::proof::LARGEST_POWER;
use warpint::mersenne::{DeviceChoice, Exponent, LlStart, PlanRequest, TestKind, TestSpec, engine};

use crate::run::{Job, random_shift};
use crate::units;
pub(crate) use work::{StatusArgs, WorkArgs};

/// Exact arithmetic on large integers: primality tests of Mersenne numbers 2^P − 1.
#[derive(Debug, Parser)]
#[command(name = "warpint", version, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  warpint prp 216091            is 2^216091 − 1 a probable prime?
  warpint ll 44497              is 2^44497 − 1 prime?
  warpint work                  do the assignments of warpint-work/worktodo.txt
  warpint bench mersenne        time a squaring for exponents of several sizes

A test that was stopped, by Ctrl-C or by a power cut, goes on with the same command.

Exit codes: 0 done (prime or composite), 2 bad input, 3 stopped by the user, 1 anything else.";

const TEST_EXAMPLES: &str = "\
Examples:
  warpint prp 216091                        test M216091 = 2^216091 − 1
  warpint prp 216091 --json --quiet         the same for a script
  warpint prp 6972593 --iterations 10000    the residue after 10000 squarings
  warpint ll 44497 --engine goldilocks      in exact integer arithmetic
  warpint ll 44497 --length 4K --threads 1  with a given transform length

Checkpoints are in DIR/M<P>/. Ctrl-C saves one and stops; the same command goes on from it.";

const BENCH_EXAMPLES: &str = "\
Examples:
  warpint bench mersenne
  warpint bench mersenne --device cuda --plot speed.svg
  warpint bench mersenne 136279841 --device cuda --engine fp64 --json
  warpint bench mersenne --device cuda --same-plan
  warpint bench mersenne --device cuda --same-plan=64K,2M";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Test 2^P − 1 by Fermat's test to base 3, guarded by Gerbicz–Li checks.
    ///
    /// Finds composite or probable prime. An error of the hardware is noticed and repaired.
    #[command(after_help = TEST_EXAMPLES)]
    Prp {
        #[command(flatten)]
        test: TestArgs,

        /// Known factors of 2^P − 1, separated by commas: tests whether what they leave is a
        /// probable prime (residue type 5).
        #[arg(long, value_name = "FACTORS", value_delimiter = ',')]
        factors: Vec<String>,

        /// Make a proof that the test was done, of this power [default: as GIMPS wants it], in
        /// DIR/proof. The residues for it, whose size is told, stay below DIR meanwhile.
        #[arg(long, value_name = "POWER", num_args = 0..=1, require_equals = true, value_parser = proof_power, conflicts_with = "iterations")]
        proof: Option<Option<u32>>,
    },
    /// Prove 2^P − 1 prime or composite by Lucas–Lehmer.
    ///
    /// The result of a start other than 4 is kept beside its checkpoints but not appended to the
    /// results file, whose readers take every LL residue for that of 4.
    #[command(after_help = TEST_EXAMPLES)]
    Ll {
        /// The first term of the sequence: 4, 10 or 2/3.
        #[arg(long, value_enum, default_value_t, value_name = "S0", hide_possible_values = true)]
        start: Start,

        /// Compute everything with this engine too, stretch by stretch, and compare: takes the time
        /// of both, and finds every error of one of them.
        #[arg(long, value_name = "ENGINE", value_parser = engine_parser(), hide_possible_values = true)]
        verify_with: Option<EngineName>,

        #[command(flatten)]
        test: TestArgs,
    },
    /// Do GIMPS assignments: the lines of DIR/worktodo.txt, one after the other.
    ///
    /// PRP, PRPDC, Test, DoubleCheck and Cert of Mersenne numbers, PRP also of cofactors and with
    /// proofs. A result is appended to
    /// DIR/results.txt, then its line removed; other lines stay as they are. No factors are looked
    /// for, and nothing is sent anywhere. Exit code 1 if an assignment failed; the others are done.
    #[command(after_help = work::WORK_EXAMPLES)]
    Work(WorkArgs),
    /// Say what the workers of a directory do, and how many assignments are left.
    #[command(after_help = "Examples:\n  warpint status\n  warpint status gimps --json")]
    Status(StatusArgs),
    /// Check proofs that a probable-prime test was done.
    Proof {
        #[command(subcommand)]
        what: Proof,
    },
    /// Measure how fast this machine is.
    Bench {
        #[command(subcommand)]
        what: Bench,
    },
    /// Find the fastest transforms on this machine and store their times.
    ///
    /// Times every engine of the device at every length worth trying and in every variant. Tests
    /// choose by the stored times from then on, which hold for all exponents that need the same
    /// lengths; without them a test begins with a short measurement.
    #[command(
        after_help = "Examples:\n  warpint tune\n  warpint tune 82589933 136279841 --device cuda"
    )]
    Tune(TuneArgs),
    /// Keep a GPU or CPU busy with squarings whose results are checked.
    ///
    /// Powers of 3 under Gerbicz–Li checks at several transform lengths, each begun again from
    /// time to time and compared with its first run. Exit code 1 if anything is ever wrong.
    #[command(
        after_help = "Examples:\n  warpint stress\n  warpint stress --device cuda:1 --time 3600 --json"
    )]
    Stress(StressArgs),
    /// Check the arithmetic of this program on this machine; about a minute, and some more on a GPU
    /// while its kernels are compiled for the first time.
    ///
    /// Every engine against slow, obvious oracles and known answers; with --device auto those of the
    /// CPU and of a GPU, if there is one. Exit code 1 if a case fails.
    #[command(
        after_help = "Examples:\n  warpint selftest\n  warpint selftest fp64::\n  warpint selftest --device cuda\n  warpint selftest --faults"
    )]
    Selftest {
        /// Only the cases whose family::case contains this text.
        #[arg(value_name = "FILTER")]
        filter: Option<String>,
        /// Instead, make faults on purpose in tests whose answers are known, about a minute on the
        /// CPU: flipped bits, failing devices, full disks, kills. Each must be noticed and do no harm.
        #[arg(long)]
        faults: bool,
        #[command(flatten)]
        device: DeviceArgs,
    },
    /// List the GPUs, and what is missing to use them.
    ///
    /// Memory, compute capability, driver and run-time compiler (NVRTC) of each, and whether it
    /// computes in FP64 at full rate, measured in a second. That there is none is no error.
    #[command(after_help = "Examples:\n  warpint devices\n  warpint devices --json")]
    Devices {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Print a completion script for a shell.
    #[command(
        after_help = "Example:\n  warpint completions bash > ~/.local/share/bash-completion/completions/warpint"
    )]
    Completions {
        /// bash, elvish, fish, powershell or zsh.
        #[arg(value_name = "SHELL", hide_possible_values = true)]
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Proof {
    /// Verify a PRP proof of 2^P − 1 (version 2, of this or another program), in a small part of the
    /// time of the test.
    ///
    /// Exit code 0: the proof is right; 1: it is wrong, which a second run at another transform
    /// length has confirmed; 2: the file is no proof.
    #[command(
        after_help = "Examples:\n  warpint proof verify warpint-work/proof/M216091-8.proof\n  warpint proof verify M136279841-10.proof --device cuda --json"
    )]
    Verify(ProofVerifyArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ProofVerifyArgs {
    /// The proof file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,

    #[command(flatten)]
    pub(crate) arithmetic: ArithmeticArgs,

    /// Print nothing but the result, and what goes wrong.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print the result as one JSON object; progress stays on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Bench {
    /// Time a squaring mod 2^P − 1 with each engine, beside the time that it needs at least.
    ///
    /// On the CPU that floor is the bare real FFT and its inverse, on one thread, at the length that
    /// fp64 uses. On a GPU at least 20000 squarings are timed, in laps that the engines take in
    /// turns, and there are two floors, both by rates that are measured first, as bench device does:
    /// traffic (two reads and two writes of the spectrum, at the rate of a copy in place of about
    /// its size) and arithmetic (the instructions, or products and points·levels, that the kernels
    /// have by count). The share of each kernel is measured with launches kept apart. All exponents
    /// are timed at one place, with --device auto that of the largest.
    #[command(after_help = BENCH_EXAMPLES)]
    Mersenne(BenchArgs),
    /// Measure what checks and checkpoints cost a PRP test: the time of its squarings, without and
    /// with checkpoints, beside that of bare ones before and after it.
    ///
    /// Takes some minutes, and a temporary folder. P must be so large that its whole test takes 10
    /// seconds or more: a smaller one is refused, since its checks are lost in the noise.
    Checks(BenchChecksArgs),
    /// Measure what a GPU reaches: products and transforms mod 2^64 − 2^32 + 1 in registers, memory,
    /// kernels in a graph, FP64. A wrong result is an error.
    Device(BenchDeviceArgs),
    /// Time the Jacobi symbol of a random residue mod 2^P − 1, the check of a Lucas–Lehmer test.
    #[command(
        after_help = "Examples:\n  warpint bench jacobi\n  warpint bench jacobi 332192831 --threads 16"
    )]
    Jacobi(BenchJacobiArgs),
}

#[derive(Debug, Args)]
pub(crate) struct BenchJacobiArgs {
    /// Exponents [default: 1257787 6972593 20996011 82589933].
    #[arg(value_name = "P", allow_negative_numbers = true)]
    pub(crate) exponents: Vec<Exponent>,

    /// Threads of the CPU [default: one for each core].
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchDeviceArgs {
    /// The GPU: cuda or cuda:N.
    #[arg(long, value_name = "DEVICE", default_value = "cuda", value_parser = gpu)]
    pub(crate) device: DeviceId,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `prp` and `ll` share.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// The exponent: a prime below 2^31.
    #[arg(value_name = "P", allow_negative_numbers = true)]
    pub(crate) exponent: Exponent,

    #[command(flatten)]
    pub(crate) arithmetic: ArithmeticArgs,

    /// Use this transform length, in words: 393216, 384K, 4M [default: the fastest safe one].
    /// fp64 has even ones with no prime factor above 7 (not all), goldilocks 2^k and 5·2^k; one
    /// that cannot be used is answered with its neighbours.
    #[arg(long, value_name = "N", value_parser = units::parse_words)]
    pub(crate) length: Option<usize>,

    /// Where checkpoints and results are.
    #[arg(long, value_name = "DIR", default_value = "warpint-work")]
    pub(crate) dir: PathBuf,

    /// Append the result to this file [default: DIR/results.txt].
    #[arg(long, value_name = "FILE")]
    pub(crate) results: Option<PathBuf>,

    /// Time between checkpoints.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = units::parse_seconds)]
    pub(crate) checkpoint_interval: Duration,

    /// Stop after K iterations and print the residue; no factor is looked for, and nothing goes
    /// into the results file before the last iteration.
    #[arg(long, value_name = "K", value_parser = at_least_one)]
    pub(crate) iterations: Option<u64>,

    /// Begin with the residue shifted by so many bits [default: drawn at random]: two runs with
    /// different shifts share no systematic error.
    #[arg(long, value_name = "BITS")]
    pub(crate) shift: Option<u32>,

    /// Do not look for a small factor first.
    #[arg(long)]
    pub(crate) no_tf: bool,

    /// Look for factors 2kP + 1 with k up to this.
    #[arg(long, value_name = "K", default_value_t = TF_LIMIT, value_parser = at_least_one, conflicts_with = "no_tf")]
    pub(crate) tf_limit: u64,

    /// Forget the stored result and the checkpoints of this test, and begin anew.
    #[arg(long)]
    pub(crate) restart: bool,

    /// Print nothing but the result, and what goes wrong.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print the result as one JSON object; progress and notices stay on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

/// About a tenth of a second at the largest exponents.
const TF_LIMIT: u64 = 2_000_000;

/// Where to compute.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct DeviceArgs {
    /// Where to compute: auto (a GPU if there is one that works and the exponent is large enough
    /// for it, otherwise the CPU), cpu, cuda or cuda:N.
    #[arg(long, value_name = "DEVICE", default_value_t)]
    pub(crate) device: DeviceChoice,
}

/// What every computation shares.
#[derive(Debug, Args)]
pub(crate) struct ArithmeticArgs {
    #[arg(
        long,
        value_name = "ENGINE",
        default_value = AUTO,
        value_parser = engine_parser(),
        hide_possible_values = true,
        help = engine_help(),
    )]
    engine: EngineName,

    #[command(flatten)]
    device: DeviceArgs,

    /// Threads of the CPU [default: one for each core].
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// Exponents [default: 216091 1257787 6972593 20996011 on the CPU, 6972593 43112609 57885161
    /// 82589933 136279841 332192831 on a GPU].
    #[arg(value_name = "P", allow_negative_numbers = true)]
    pub(crate) exponents: Vec<Exponent>,

    #[command(flatten)]
    pub(crate) arithmetic: ArithmeticArgs,

    /// Draw the times and floors against the exponent into this SVG file, which is replaced if it is
    /// there. A path that cannot be written is refused before anything is measured.
    #[arg(long, value_name = "FILE", conflicts_with = "same_plan")]
    pub(crate) plot: Option<PathBuf>,

    /// On a GPU: time fp64 with N complex numbers against goldilocks with N integers where both
    /// have one number of rows and of columns and the same radices [default: each N = 2^16 … 2^24].
    /// Of each N at most four such cuts are tried, those first that both engines expect most of.
    #[arg(
        long,
        value_name = "N",
        value_parser = units::parse_words,
        value_delimiter = ',',
        num_args = 0..,
        require_equals = true,
        conflicts_with_all = ["exponents", "engine"],
    )]
    pub(crate) same_plan: Option<Vec<usize>>,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchChecksArgs {
    /// The exponent [default: 82589933 on a GPU, 1257787 on the CPU]; its test must take 10 seconds
    /// or more.
    #[arg(value_name = "P", allow_negative_numbers = true)]
    pub(crate) exponent: Option<Exponent>,

    #[command(flatten)]
    pub(crate) arithmetic: ArithmeticArgs,

    /// End after so many checks, or at the end of the test.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = checks)]
    pub(crate) checks: usize,

    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TuneArgs {
    /// Exponents whose transform lengths are to be timed [default: of several sizes].
    #[arg(value_name = "P", allow_negative_numbers = true)]
    pub(crate) exponents: Vec<Exponent>,

    #[command(flatten)]
    pub(crate) arithmetic: ArithmeticArgs,

    /// Instead of lengths for some exponents, every length in this range, as 64K..36M.
    #[arg(long, value_name = "FROM..TO", value_parser = units::parse_word_range, conflicts_with = "exponents")]
    pub(crate) lengths: Option<RangeInclusive<usize>>,

    /// Of each length try only the first N variants, which promise most.
    #[arg(long, value_name = "N", value_parser = variants, default_value_t = 24)]
    pub(crate) variants: usize,

    /// Write the fastest of each length into this file as a table, with whatever was there gone.
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,

    /// Print one JSON object, with all that was timed.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StressArgs {
    #[command(flatten)]
    pub(crate) arithmetic: ArithmeticArgs,

    /// How long, in seconds.
    #[arg(long, visible_alias = "seconds", value_name = "SECONDS", default_value = "60", value_parser = units::parse_seconds)]
    pub(crate) time: Duration,

    /// Only at this exponent [default: of several sizes, in turns].
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub(crate) exponent: Option<Exponent>,

    /// At this transform length [default: the shortest safe one].
    #[arg(long, value_name = "N", value_parser = units::parse_words, requires = "exponent")]
    pub(crate) length: Option<usize>,

    /// Print the tally as one JSON object, and no progress.
    #[arg(long)]
    pub(crate) json: bool,
}

/// An engine family by name; `None` lets the plan choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EngineName(pub(crate) Option<&'static str>);

const AUTO: &str = "auto";

/// Takes `auto` and the name of every family that there is.
fn engine_parser() -> impl TypedValueParser<Value = EngineName> {
    let families = engine::families().into_iter().map(|family| family.name());
    PossibleValuesParser::new([AUTO].into_iter().chain(families))
        .map(|name| EngineName(engine::family(&name).map(|family| family.name())))
}

/// `The arithmetic: auto, word (P up to 63), fp64, …`
fn engine_help() -> String {
    const LARGEST: u32 = (1 << 31) - 1;
    let families = engine::families().into_iter().map(|family| {
        let (name, range) = (family.name(), family.exponent_range());
        if *range.end() < LARGEST {
            format!("{name} (P up to {})", range.end())
        } else {
            name.into()
        }
    });
    let names: Vec<String> = [AUTO.to_owned()].into_iter().chain(families).collect();
    format!("The arithmetic: {}", names.join(", "))
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum Start {
    #[default]
    #[value(name = "4")]
    Four,
    #[value(name = "10")]
    Ten,
    #[value(name = "2/3")]
    TwoThirds,
}

impl From<Start> for LlStart {
    fn from(start: Start) -> Self {
        match start {
            Start::Four => Self::Four,
            Start::Ten => Self::Ten,
            Start::TwoThirds => Self::TwoThirds,
        }
    }
}

impl ArithmeticArgs {
    /// A plan of these, at a length or at the fastest.
    pub(crate) fn plan_request(&self, length: Option<usize>) -> PlanRequest {
        let (engine, device, threads) = (self.engine.0, self.device.device, self.threads);
        PlanRequest { engine, device, length, threads }
    }
}

impl TestArgs {
    /// The test of a kind that is asked for.
    pub(crate) fn spec(&self, kind: TestKind) -> TestSpec {
        let shift = self.shift.unwrap_or_else(|| random_shift(self.exponent.get()));
        TestSpec { iterations: self.iterations, shift, ..TestSpec::new(kind, self.exponent) }
    }

    /// A job for no assignment, without proof and second engine.
    pub(crate) fn job(&self, spec: TestSpec) -> Job<'_> {
        Job {
            spec,
            request: self.plan_request(),
            proof: None,
            verify_with: None,
            dir: &self.dir,
            results: self.results.as_deref(),
            checkpoint_interval: self.checkpoint_interval,
            tf_limit: (!self.no_tf).then_some(self.tf_limit),
            restart: self.restart,
            quiet: self.quiet,
            json: self.json,
            order: None,
        }
    }

    pub(crate) fn plan_request(&self) -> PlanRequest {
        self.arithmetic.plan_request(self.length)
    }
}

fn checks(text: &str) -> Result<usize, String> {
    let n = text.parse().ok().filter(|n| (1..=1_000).contains(n));
    n.ok_or_else(|| format!("'{text}' is not a number of checks from 1 to 1000"))
}

/// A power of a proof: there is none with more middles.
pub(crate) fn proof_power(text: &str) -> Result<u32, String> {
    let power = text.parse().ok().filter(|power| (1..=LARGEST_POWER).contains(power));
    power.ok_or_else(|| format!("'{text}' is not a power from 1 to {LARGEST_POWER}"))
}

fn at_least_one(text: &str) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|&n| n > 0)
        .ok_or_else(|| format!("'{text}' is not a number from 1 up"))
}

fn gpu(text: &str) -> Result<DeviceId, String> {
    match text.parse() {
        Ok(DeviceChoice::On(id)) => Ok(id),
        _ => Err(format!("'{text}' is no GPU: give cuda, or cuda:1 for the second")),
    }
}

fn variants(text: &str) -> Result<usize, String> {
    at_least_one(text).map(|n| usize::try_from(n).unwrap_or(usize::MAX))
}

fn threads(text: &str) -> Result<usize, String> {
    const MOST: usize = 1024;
    text.parse()
        .ok()
        .filter(|n| (1..=MOST).contains(n))
        .ok_or_else(|| format!("'{text}' is not a number of threads from 1 to {MOST}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_grammar_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_family_can_be_asked_for_and_is_in_the_help() {
        let help = engine_help();
        let mut names = vec![AUTO];
        for family in engine::families() {
            let args = ["warpint", "prp", "7", "--engine", family.name()];
            let Command::Prp { test, .. } = Cli::try_parse_from(args).unwrap().command else {
                panic!()
            };
            assert_eq!(test.plan_request().engine, Some(family.name()));
            assert!(help.contains(family.name()), "{help}");
            names.push(family.name());
        }
        let valid: Vec<_> = engine_parser().possible_values().unwrap().collect();
        assert_eq!(valid.iter().map(|v| v.get_name()).collect::<Vec<_>>(), names);
        let Command::Ll { test, .. } = Cli::try_parse_from(["warpint", "ll", "7"]).unwrap().command
        else {
            panic!()
        };
        assert_eq!(test.plan_request().engine, None);
    }
}
