//! The arguments that `warpint prp` and `warpint ll` have in common.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use warpint::mersenne::{Exponent, LlStart, PlanRequest, TestKind, TestSpec};
use warpint::runner::{CheckSquarings, Job, TF_LIMIT, random_shift};

use super::arithmetic::ArithmeticArgs;
use super::at_least_one;
use super::sitting::SittingArgs;
use crate::units;

pub(super) const PRP_EXAMPLES: &str = "\
Examples:
  warpint prp 216091                         test M216091 = 2^216091 − 1
  warpint prp 216091 --json --quiet          the same for a script
  warpint prp 216091 --proof                 and make a proof of the test
  warpint prp 67 --factors 193707721         test the cofactor that known factors leave
  warpint prp 6972593 --iterations 10000     the residue after 10000 squarings
  warpint prp 82589933 --device cuda:1       on the second GPU

  $ warpint prp 67
  M67 is composite: it has the factor 193707721 = 2·1445580·67 + 1

Checkpoints are in DIR/M<P>/. Ctrl-C saves one and stops; the same command resumes the test.";

pub(super) const LL_EXAMPLES: &str = "\
Examples:
  warpint ll 44497                           test M44497 = 2^44497 − 1
  warpint ll 44497 --json --quiet            the same for a script
  warpint ll 44497 --engine goldilocks       in exact integer arithmetic
  warpint ll 44497 --verify-with goldilocks  with two engines that are compared
  warpint ll 44497 --length 4K --threads 1   with a given transform length

  $ warpint ll 31 --quiet
  M31 is prime (Lucas–Lehmer): 29 squarings, 0.16 ms, engine word, exact arithmetic, no errors

Checkpoints are in DIR/M<P>/. Ctrl-C saves one and stops; the same command resumes the test.";

/// The arguments that `warpint prp` and `warpint ll` have in common.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// The exponent: a prime below 2^31.
    #[arg(value_name = "P", allow_negative_numbers = true)]
    pub(crate) exponent: Exponent,

    #[command(flatten)]
    pub(crate) arithmetic: ArithmeticArgs,

    /// Use this transform length, in words: 393216, 384K, 4M [default: the fastest safe one]. fp64
    /// accepts most even lengths whose prime factors are at most 7; goldilocks accepts 2^k and
    /// 5·2^k; hybrid and hybrid-fast accept 2^k·m for m = 1, 3, 7, 9, 11, 21, 33 and 77, on a GPU also 5. The error
    /// message for a length that cannot be used names the nearest ones that can.
    #[arg(long, value_name = "N", value_parser = units::parse_words)]
    pub(crate) length: Option<usize>,

    /// Append the result to this file [default: DIR/results.txt].
    #[arg(long, value_name = "FILE")]
    pub(crate) results: Option<PathBuf>,

    /// Stop after K iterations and print the residue. No factors are searched for, and the results
    /// file gets nothing unless K is the whole test.
    #[arg(long, value_name = "K", value_parser = at_least_one)]
    pub(crate) iterations: Option<u64>,

    /// Begin with the residue shifted by this number of bits [default: random]. Two runs with
    /// different shifts share no systematic error.
    #[arg(long, value_name = "BITS")]
    pub(crate) shift: Option<u32>,

    /// Do not look for a small factor first.
    #[arg(long)]
    pub(crate) no_tf: bool,

    /// Look for factors 2kP + 1 with k up to this.
    #[arg(long, value_name = "K", default_value_t = TF_LIMIT, value_parser = at_least_one, conflicts_with = "no_tf")]
    pub(crate) tf_limit: u64,

    #[command(flatten)]
    pub(crate) sitting: SittingArgs,
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

/// The checks of a Lucas–Lehmer test.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum LlCheck {
    Every,
    Jacobi,
}

impl LlCheck {
    /// Returns whether squarings are checked if the option has this value; `None` stands for no
    /// option.
    pub(crate) fn of_squarings(option: Option<Self>) -> CheckSquarings {
        match option {
            None => CheckSquarings::Auto,
            Some(Self::Every) => CheckSquarings::Every,
            Some(Self::Jacobi) => CheckSquarings::Never,
        }
    }
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

impl TestArgs {
    /// Returns the specification of the test of the given kind. The shift is random unless it was
    /// given.
    pub(crate) fn spec(&self, kind: TestKind) -> TestSpec {
        let shift = self.shift.unwrap_or_else(|| random_shift(self.exponent.get()));
        TestSpec { iterations: self.iterations, shift, ..TestSpec::new(kind, self.exponent) }
    }

    /// Returns the job of a test with the given options, without assignment, proof or second
    /// engine.
    pub(crate) fn job(&self, spec: TestSpec) -> Job<'_> {
        let mut job = Job::new(spec, &self.sitting.dir);
        self.sitting.set(&mut job);
        job.request = self.plan_request();
        job.results = self.results.as_deref();
        job.tf_limit = (!self.no_tf).then_some(self.tf_limit);
        job
    }

    pub(crate) fn plan_request(&self) -> PlanRequest {
        self.arithmetic.plan_request(self.length)
    }
}
