//! The arguments of `warpint test`.

use clap::Args;
use warpint::runner::{Candidate, Job};

use super::arithmetic::ArithmeticArgs;
use super::at_least_one;
use super::proof::proof_power;
use super::sitting::SittingArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  warpint test '7*2^2256+1'             prove by Proth's theorem whether the number is prime
  warpint test '3*2^3276-1' --json      by the test of Lucas, Lehmer and Riesel; for a script
  warpint test '824^1024+1'             by Pocklington's theorem
  warpint test '27*10^100-1'            by Morrison's theorem
  warpint test '824^1024+1' --base 7    a probable-prime test to base 7
  warpint test '3*2^20909+1' --iterations 10000  the residue after 10000 squarings
  warpint test '3*2^20909+1' --proof    and make a proof of the test

  $ warpint test '81*2^50+1'
  81*2^50+1 is composite: it has the factor 5
  $ warpint test '5*2^7+1'
  5*2^7+1 is prime, proven in machine words: no test is needed

Checkpoints are in DIR/K_B_N+1/ or DIR/K_B_N-1/. Ctrl-C saves one and stops; the same command
resumes the test.";

/// The arguments of `warpint test`.
#[derive(Debug, Args)]
pub(crate) struct NumberArgs {
    /// The number: K*B^N+1 or K*B^N-1, with K below 2^63, B below 2^32 and at most 2^31 bits. K* may be
    /// left out for K = 1; Mp is 2^p-1. Quote the text, because * is special in shells.
    #[arg(value_name = "NUMBER", allow_hyphen_values = true)]
    pub(crate) number: Candidate,

    /// Make Fermat's probable-prime test to base A, from 2 to 65536, also if another test would prove
    /// more.
    #[arg(long, value_name = "A", value_parser = clap::value_parser!(u32).range(2..=65_536))]
    pub(crate) base: Option<u32>,

    #[command(flatten)]
    pub(crate) arithmetic: ArithmeticArgs,

    /// Look for prime factors up to this before the test, at least 65536. For 2^p-1, factors 2kp+1 with
    /// k up to 2000000 are sought instead.
    #[arg(long, value_name = "Q", default_value_t = Candidate::FACTOR_LIMIT, value_parser = at_least_one)]
    pub(crate) tf_limit: u64,

    /// Stop after K iterations and print the residue. No factors are searched for.
    #[arg(long, value_name = "K", value_parser = at_least_one)]
    pub(crate) iterations: Option<u64>,

    /// Make a proof of the test, from which others can verify the result in a small part of its time. POWER is
    /// the power of the proof [default: 8 to 11 by the length of the number]. The tests of Proth,
    /// Pocklington and Fermat (--base) have proofs. The proof goes to DIR/proof. The residues that it needs
    /// are kept beside the checkpoints until the proof is written; their size is printed at the start.
    #[arg(long, value_name = "POWER", num_args = 0..=1, require_equals = true, value_parser = proof_power, conflicts_with = "iterations")]
    pub(crate) proof: Option<Option<u32>>,

    #[command(flatten)]
    pub(crate) sitting: SittingArgs,
}

impl NumberArgs {
    /// Returns the job of the test: the one that proves most, or Fermat's test to the given base.
    pub(crate) fn job(&self) -> Job<'_> {
        let mut job = self.number.job(self.base, self.tf_limit, &self.sitting.dir);
        job.request = self.arithmetic.plan_request(None);
        job.spec.iterations = self.iterations;
        self.sitting.set(&mut job);
        job
    }
}
