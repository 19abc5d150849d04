//! The command line: its arguments, its help texts, and the parsers of values with their errors.

mod arithmetic;
mod audit_keys;
mod batch;
mod bench;
mod bench_batch;
mod bench_bigprime;
mod bench_ntt;
mod bench_product;
mod calc;
mod collatz;
mod collatz_bench;
mod collatz_delays;
mod collatz_runs;
mod config;
mod machine;
mod make_keys;
mod number;
mod proof;
mod report;
mod sitting;
mod test;
mod transforms;
mod work;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Parser, Subcommand};
use warpint::mersenne::{DeviceChoice, DeviceId};

use crate::exit::CODES;
pub(crate) use arithmetic::EngineName;
use arithmetic::engine_parser;
pub(crate) use audit_keys::{AuditKeysArgs, Form};
pub(crate) use batch::{Batch, BatchArgs, PairArgs, RootArgs};
pub(crate) use bench::{Bench, BenchArgs, BenchChecksArgs, BenchDeviceArgs, BenchJacobiArgs};
pub(crate) use bench_batch::BenchBatchArgs;
pub(crate) use bench_bigprime::BenchBigprimeArgs;
pub(crate) use bench_ntt::BenchNttArgs;
pub(crate) use bench_product::BenchProductArgs;
pub(crate) use calc::{Calc, CalcArgs, CalcCheck, DivremArgs, SqrtArgs, TwoArgs};
pub(crate) use collatz::Collatz;
pub(crate) use collatz_bench::CollatzBenchArgs;
pub(crate) use collatz_delays::{DelayArgs, PathArgs};
pub(crate) use collatz_runs::{MergeArgs, Places, VerifyArgs};
pub(crate) use config::ConfigArgs;
pub(crate) use machine::{
    SelftestArgs, StressArgs, Tune, TuneArgs, TuneBatchArgs, TuneCollatzArgs,
};
pub(crate) use make_keys::{KeyTest, MakeKeysArgs};
pub(crate) use number::NumberArgs;
use proof::proof_power;
pub(crate) use proof::{Proof, ProofVerifyArgs};
pub(crate) use report::ReportArgs;
use test::{LL_EXAMPLES, PRP_EXAMPLES};
pub(crate) use test::{LlCheck, Start, TestArgs};
pub(crate) use transforms::Lengths;
pub(crate) use work::{StatusArgs, WorkArgs};

/// Exact arithmetic on large integers, on GPUs and CPUs.
///
/// Tests of Mersenne numbers 2^P − 1 (PRP, Lucas–Lehmer, GIMPS assignments) and of numbers K·B^N ± 1,
/// batches of integers, calculations with numbers of any length, audits of RSA keys, verification of the
/// Collatz conjecture, transforms over big prime fields.
#[derive(Debug, Parser)]
#[command(name = "warpint", version, after_help = EXAMPLES.to_owned() + CODES)]
pub(crate) struct Cli {
    /// Read no configuration file. Give this option in front of the command.
    #[arg(long)]
    pub(crate) no_config: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  warpint prp 216091            is 2^216091 − 1 a probable prime?
  warpint ll 44497              is 2^44497 − 1 prime?
  warpint test '5*2^3313+1'     is 5·2^3313 + 1 prime?
  warpint work                  do the assignments of warpint-work/worktodo.txt
  warpint batch mul A B -o OUT  multiply the numbers of two files, pair by pair
  warpint audit-keys KEYS       find weak RSA keys, such as keys with a common prime
  warpint calc fac 10^6 -o OUT  the factorial of a million, in decimal digits
  warpint collatz path 27       steps and maximum of the path of 27
  warpint bench mersenne        time a squaring for exponents of several sizes

A test that was stopped, by Ctrl-C or by a power cut, resumes with the same command.

";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Test whether 2^P − 1 is a probable prime, by Fermat's test to base 3.
    ///
    /// The answer is `composite` or `probable prime`. Gerbicz–Li checks detect errors of the
    /// hardware; the test then goes on from the last state that a check has confirmed.
    #[command(after_help = PRP_EXAMPLES)]
    Prp {
        #[command(flatten)]
        test: TestArgs,

        /// Known factors of 2^P − 1, separated by commas. The cofactor is then tested (residue type
        /// 5).
        #[arg(long, value_name = "FACTORS", value_delimiter = ',')]
        factors: Vec<String>,

        /// Make a proof of the test. POWER is the power of the proof [default: the power that GIMPS
        /// uses]. The proof goes to DIR/proof. The residues that it needs are kept beside the
        /// checkpoints until the proof is written; their size is printed at the start.
        #[arg(long, value_name = "POWER", num_args = 0..=1, require_equals = true, value_parser = proof_power, conflicts_with = "iterations")]
        proof: Option<Option<u32>>,
    },
    /// Prove 2^P − 1 prime or composite by the Lucas–Lehmer test.
    ///
    /// The result of a start other than 4 is stored beside its checkpoints, but not appended to the
    /// results file: programs that read this file assume start 4.
    #[command(after_help = LL_EXAMPLES)]
    Ll {
        /// The first term of the sequence: 4, 10 or 2/3.
        #[arg(long, value_enum, default_value_t, value_name = "S0", hide_possible_values = true)]
        start: Start,

        /// Compute everything with a second engine too, and compare both every 20 s or so. This takes the
        /// time of both engines, and detects every error that only one of them makes. The second engine
        /// must differ from that of the test.
        #[arg(long, value_name = "ENGINE", value_parser = engine_parser(), hide_possible_values = true)]
        verify_with: Option<EngineName>,

        /// What is checked: every (each squaring, by sums over its words; also Jacobi symbols) or
        /// jacobi (Jacobi symbols only). fp64 can check every squaring [default: every with fp64 on a
        /// GPU, otherwise jacobi].
        #[arg(long, value_enum, value_name = "WHAT", hide_possible_values = true)]
        check: Option<LlCheck>,

        #[command(flatten)]
        test: TestArgs,
    },
    /// Test a number K*B^N+1 or K*B^N-1 by the test that proves most about it.
    ///
    /// Small and algebraic factors are sought first. Then K*2^N+1 with K < 2^N is proven prime or
    /// composite by Proth's theorem (Pépin's for K = 1), K*B^N+1 with K < B^N by Pocklington's theorem,
    /// K*2^N-1 with K < 2^N by the test of Lucas, Lehmer and Riesel, K*B^N-1 with K < B^N by Morrison's
    /// theorem after a Fermat test, and 2^p-1 by the Lucas–Lehmer test.
    /// All other numbers get Fermat's probable-prime test.
    /// Powers are guarded by Gerbicz–Li checks, the Lucas sequence of Morrison's test by an identity, and
    /// the other tests by Jacobi symbols.
    ///
    /// Of the numbers other than 2^p-1 with 10,000 bits or more, a GPU tests K*B^N+1 and K*B^N-1 for any K and
    /// for bases B up to some 18 bits by the engines `fp64` and `hybrid`, and generalized Fermat numbers for B up to
    /// some 30 bits by `goldilocks` and `hybrid`. The CPU tests K*2^N+1 and K*2^N-1 with K < 2^20 by `fp64`, and all
    /// others by `plain`.
    /// The verdict is P (proven prime), PRP (probable prime), C (composite) or F (a factor is known). It is
    /// stored beside the checkpoints, and for numbers other than 2^p-1 it is not appended to a results file.
    #[command(after_help = number::EXAMPLES)]
    Test(NumberArgs),
    /// Do the work that DIR/worktodo.txt lists, one line after the other: GIMPS assignments and numbers
    /// k*b^n+1 and k*b^n-1.
    ///
    /// Supported assignments are PRP, PRPDC, Test, DoubleCheck and Cert of Mersenne numbers. A PRP test can
    /// also be a test of a cofactor. PRP tests make proofs. Certifications come first. A result is appended
    /// to DIR/results.txt, then its line is removed. Small factors are searched for only if the line has
    /// neither an assignment ID nor a statement of earlier factoring.
    ///
    /// Numbers k*b^n+1 and k*b^n-1 are tested as by `warpint test`. Their results are appended to
    /// DIR/candidates.jsonl and DIR/lresults.txt.
    ///
    /// Other lines stay as they are. Nothing is sent anywhere. If an assignment fails, the others are done, and the exit code is that of
    /// the gravest failure: 2 for bad input, 4 for a failure of the machine.
    #[command(after_help = work::WORK_EXAMPLES)]
    Work(WorkArgs),
    /// Show what the workers of a directory do, and how many assignments are left.
    #[command(after_help = work::STATUS_EXAMPLES)]
    Status(StatusArgs),
    /// Show the values that configuration files set, and where each comes from.
    ///
    /// The files are warpint.toml in DIR and warpint.toml in the user's configuration folder, usually
    /// ~/.config/warpint. Each line `KEY = VALUE` sets the option --KEY. An option of the command line
    /// comes before a value of DIR/warpint.toml, and this before a value of the user's file. The file of
    /// a directory applies to `work`, `prp`, `ll` and `test` in this directory, that of the user to most
    /// commands: `warpint COMMAND --help` marks their options with [in warpint.toml: KEY]. A mistake in a
    /// file ends a command that reads it with exit code 2, before any work.
    #[command(after_help = config::EXAMPLES)]
    Config(ConfigArgs),
    /// Make an HTML page of a work directory, or of results of benchmarks.
    ///
    /// The page of a work directory has the states of the workers, the lines that are left, the finished
    /// tests, errors, and charts over time: progress, time per iteration, round-off, temperatures, finished
    /// tests. Results of benchmarks become tables and charts, with the lower bounds and the times of
    /// other programs that they contain. Files that cannot be read are named on the page and on standard
    /// error, and do not change the exit code. Changes no file but OUT.
    #[command(after_help = report::EXAMPLES)]
    Report(ReportArgs),
    /// Add, multiply, divide … the numbers in files, number by number.
    ///
    /// An operand is a file, a pipe or a number. A file is text with one decimal or hexadecimal
    /// number per line, a NumPy array, or raw bytes. Results go to OUT in the order of the numbers.
    /// If an item has no result (malformed input, a < b, zero divisor, no inverse), OUT contains
    /// `none` or zeros, and the exit code is 2. A run that was stopped goes on with the same
    /// command.
    #[command(after_help = batch::BATCH_EXAMPLES)]
    Batch {
        #[command(subcommand)]
        what: Batch,
    },
    /// Find weak public RSA keys: shared primes, and other flaws of moduli and exponents.
    ///
    /// Reads PEM, DER, SSH and JSON web keys, certificates, and moduli in decimal or hexadecimal digits, one per
    /// line. A batch gcd finds all moduli that share a prime with another one. Other checks look at each
    /// key alone: small factors, perfect powers, close primes, ROCA, exponents, length. Entries that cannot
    /// be read are reported, and the others are audited. The exit code is 1 if there is a finding other
    /// than a notice, 2 if there is none and an entry could not be read, and 0 otherwise.
    #[command(after_help = audit_keys::EXAMPLES)]
    AuditKeys(AuditKeysArgs),
    /// Multiply, divide … single numbers of any length; factorials, powers, conversions.
    ///
    /// An operand is a file of one number in decimal or hexadecimal digits or in bytes, or a small
    /// number on the command line. White space between digits is left out. The memory that is needed
    /// is computed before the start, and a calculation that needs more than is available is refused.
    /// Results are checked modulo five primes.
    #[command(after_help = calc::CALC_EXAMPLES)]
    Calc {
        #[command(subcommand)]
        what: Calc,
    },
    /// The Collatz conjecture: verify it over ranges of numbers; paths, delays and records.
    #[command(after_help = collatz::EXAMPLES)]
    Collatz {
        #[command(subcommand)]
        what: Collatz,
    },
    /// Check proofs of probable-prime tests.
    #[command(after_help = proof::EXAMPLES)]
    Proof {
        #[command(subcommand)]
        what: Proof,
    },
    /// Measure how fast this machine is.
    #[command(after_help = bench::EXAMPLES)]
    Bench {
        #[command(subcommand)]
        what: Bench,
    },
    /// Find the fastest transforms on this machine and store their times.
    ///
    /// Times the engines of the device at every length worth trying, in several variants. Later tests
    /// choose engine, length and variant by the stored times; a time holds for all exponents that
    /// need the same length. Without stored times a test begins with a short measurement. Ctrl-C
    /// stops and keeps what was measured. `tune batch` is for batches of integers, `tune collatz` for
    /// the Collatz conjecture.
    #[command(
        after_help = "Examples:\n  warpint tune\n  warpint tune 82589933 136279841 --device cuda\n  warpint tune 82589933 --device cuda --budget 300\n  warpint tune batch\n  warpint tune collatz"
    )]
    Tune(TuneArgs),
    /// Keep a GPU or CPU busy with squarings whose results are checked, until Ctrl-C.
    ///
    /// Computes powers of 3 under Gerbicz–Li checks at several transform lengths. The sequence of
    /// each length is repeated from the start again and again. Its results are compared with known
    /// results or, where none are known, with those of the first run. On a GPU with NVML the
    /// progress shows temperature, clock, power and what throttles the clock; the tally has the
    /// ranges of these values. Exit code 1 if any result is wrong.
    #[command(
        after_help = "Examples:\n  warpint stress\n  warpint stress --device cuda:1 --time 3600 --json"
    )]
    Stress(StressArgs),
    /// Check the arithmetic of this program on this machine.
    ///
    /// Compares every engine and every kind of batch and transform with slow, simple algorithms and
    /// with known answers. With --device auto this covers the CPU (about 40 s on two cores) and a GPU, if there
    /// is one. On a GPU the quick cases of every suite take about 2 minutes when no kernel is compiled yet;
    /// --thorough runs all cases in about 11 minutes. Exit code 1 if a case fails.
    #[command(
        after_help = machine::SELFTEST_EXAMPLES
    )]
    Selftest(SelftestArgs),
    /// Make test moduli for audits of RSA keys, with planted weaknesses. Unfit for use as keys.
    ///
    /// Writes COUNT moduli p·q of B bits to OUT, one in each line in hexadecimal digits, after comment
    /// lines that begin with #. The primes follow from the seed: everybody who knows the seed knows
    /// them. OUT.planted.json lists the planted weaknesses with their lines and primes. The same
    /// arguments give the same files on every device.
    #[command(after_help = make_keys::EXAMPLES)]
    MakeKeys(MakeKeysArgs),
    /// List the GPUs, and what is missing to use them.
    ///
    /// Shows memory, compute capability, driver, run-time compiler (NVRTC) and sensors of each GPU,
    /// and measures in a second whether it computes in FP64 at full rate. A machine without a GPU is not an error.
    #[command(after_help = "Examples:\n  warpint devices\n  warpint devices --json")]
    Devices {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Print a completion script for a shell.
    #[command(
        after_help = "Examples:\n  warpint completions fish > ~/.config/fish/completions/warpint.fish\n  warpint completions bash > ~/.local/share/bash-completion/completions/warpint"
    )]
    Completions {
        /// bash, elvish, fish, powershell or zsh.
        #[arg(value_name = "SHELL", hide_possible_values = true)]
        shell: clap_complete::Shell,
    },
    /// Write the man pages of the program and of its commands.
    ///
    /// The pages are in section 1: warpint.1, and one for each command, such as warpint-batch-mul.1.
    #[command(
        after_help = "Examples:\n  warpint man ~/.local/share/man/man1\n  man warpint-batch-mul\n\n  $ warpint man pages\n  wrote the man pages to pages"
    )]
    Man {
        /// The folder for the pages. It is made if it is missing; pages that are there are replaced.
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
}

/// Returns a parser that accepts the names of the values in `all`. Shell completions show the text
/// of `about` beside each name.
fn named<T: Clone + Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
    about: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let values = all.iter().map(move |&one| PossibleValue::new(name(one)).help(about(one)));
    PossibleValuesParser::new(values)
        .try_map(move |text| all.iter().copied().find(|&one| name(one) == text).ok_or("no value"))
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
        _ => Err(format!("'{text}' is not a GPU: give cuda, or cuda:1 for the second")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use warpint::batch::calculation::Calculation;
    use warpint::integer::Operation;

    #[test]
    fn the_grammar_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn calc_has_every_calculation_of_the_list() {
        let cli = Cli::command();
        let calc = cli.find_subcommand("calc").unwrap();
        let names: Vec<_> = calc.get_subcommands().map(|command| command.get_name()).collect();
        assert_eq!(names, Calculation::ALL.map(Calculation::name));
    }

    #[test]
    fn batch_has_every_operation_of_the_list() {
        let cli = Cli::command();
        let batch = cli.find_subcommand("batch").unwrap();
        let names: Vec<_> = batch.get_subcommands().map(|command| command.get_name()).collect();
        let all: Vec<_> = Operation::ALL.iter().map(|operation| operation.name()).collect();
        assert_eq!(names, all);
        for operation in Operation::ALL {
            let command = batch.find_subcommand(operation.name()).unwrap();
            let operands = command.get_positionals().count();
            assert_eq!(operands, operation.operands().len(), "{operation:?}");
        }
    }
}
