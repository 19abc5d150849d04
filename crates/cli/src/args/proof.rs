//! The arguments of `warpint proof verify`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use warpint::mersenne::proof::LARGEST_POWER;

use super::arithmetic::ArithmeticArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  warpint prp 216091 --proof
  warpint proof verify warpint-work/proof/M216091-8.proof";

#[derive(Debug, Subcommand)]
pub(crate) enum Proof {
    /// Verify a PRP proof of 2^P − 1 (version 2, made by this or another program), or a proof of a test of
    /// K*B^N+1 or K*B^N-1 (made by this program), in a small fraction of the time of the test.
    ///
    /// A right proof rules out errors of the test. It does not rule out deceit: a patient forger can
    /// multiply the residue by an element of small order. A forgery that makes a prime look composite is
    /// refused, unless the order has a prime factor above 2^20 (other than P). A forgery for a composite
    /// number may pass. For K*2^N+1 with K below 2^N, no forgery changes the verdict of Proth's test, unless
    /// it takes about 2^64 hashes. See docs/checks/proofs.md.
    ///
    /// Exit code 0: the proof is right. 1: it is wrong, by exact arithmetic or in two runs at different
    /// transform lengths. 2: the file is not a proof.
    #[command(
        after_help = "Examples:\n  warpint proof verify warpint-work/proof/M216091-8.proof\n  warpint proof verify M136279841-10.proof --device cuda --json\n  warpint proof verify 3_2_20909+1-proth-5-8.proof"
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

    /// Print only the result, warnings and errors.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print the result as one JSON object; progress stays on stderr.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Parses the power of a proof, from 1 to [`LARGEST_POWER`].
pub(super) fn proof_power(text: &str) -> Result<u32, String> {
    let power = text.parse().ok().filter(|power| (1..=LARGEST_POWER).contains(power));
    power.ok_or_else(|| format!("'{text}' is not a power from 1 to {LARGEST_POWER}"))
}
