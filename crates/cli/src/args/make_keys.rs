//! The arguments of `warpint make-keys`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use warpint::mersenne::DeviceChoice;

use super::arithmetic::threads;

pub(super) const EXAMPLES: &str = "\
Examples:
  warpint make-keys --count 1000 --bits 2048 --seed 1 --weak-pairs 2 --rings 1 -o keys.txt
  warpint make-keys --count 1000000 --bits 2048 --seed 1 --weak-pairs 100 -o keys.txt --device cuda";

#[derive(Debug, Args)]
pub(crate) struct MakeKeysArgs {
    /// The number of lines with a modulus, the weak ones included, up to 2^30.
    #[arg(long, value_name = "N")]
    pub(crate) count: u64,

    /// The bit length of every modulus, a multiple of 64 from 128 to 32768.
    #[arg(long, value_name = "B")]
    pub(crate) bits: u32,

    /// The seed, a number below 2^64, from which all primes and the order of the moduli follow.
    #[arg(long, value_name = "S")]
    pub(crate) seed: u64,

    /// The file for the moduli. The planted weaknesses go to OUT.planted.json. Both files appear when
    /// they are complete.
    #[arg(short, long = "output", value_name = "OUT")]
    pub(crate) out: PathBuf,

    /// Plant K pairs of moduli that share a prime: 2 lines each.
    #[arg(long, value_name = "K", default_value_t)]
    pub(crate) weak_pairs: u64,

    /// Plant R rings of three moduli p·q, q·r and r·p: 3 lines each.
    #[arg(long, value_name = "R", default_value_t)]
    pub(crate) rings: u64,

    /// Plant D moduli that stand on two lines.
    #[arg(long, value_name = "D", default_value_t)]
    pub(crate) duplicates: u64,

    /// Plant C moduli p·q whose q is the next prime after p.
    #[arg(long, value_name = "C", default_value_t)]
    pub(crate) close: u64,

    /// Plant E even moduli 2·p·r.
    #[arg(long, value_name = "E", default_value_t)]
    pub(crate) even: u64,

    /// The test for primality: baillie-psw, or strong (Miller–Rabin to the base 2 and to one from the
    /// seed) instead of a Lucas test on the CPU, for moduli of 1024 bits or more.
    #[arg(long, value_name = "TEST", value_enum, default_value_t = KeyTest::BailliePsw, hide_possible_values = true)]
    pub(crate) test: KeyTest,

    /// Where to compute: auto (a GPU if there is one that works, otherwise the CPU), cpu, cuda or
    /// cuda:N.
    #[arg(long, value_name = "DEVICE", default_value_t)]
    pub(crate) device: DeviceChoice,

    /// Threads of the CPU [default: one for each logical CPU].
    #[arg(long, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,

    /// Replace existing files.
    #[arg(long)]
    pub(crate) force: bool,

    /// Print warnings and errors only.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print one JSON object, and no progress.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A test for primality of the primes of test moduli.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeyTest {
    BailliePsw,
    Strong,
}
