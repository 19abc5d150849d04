//! What a test ends with.

use std::time::Duration;

use crate::{Residue, RoundOff, TestKind};

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Lucas–Lehmer: M_p is prime, proven.
    Prime,
    /// PRP: M_p, or what known factors leave of it, is a probable prime to base 3.
    ProbablePrime,
    /// M_p is composite; with known factors, what is left of it is.
    Composite,
    /// A certification: the residue after the squarings asked for.
    Certified,
    /// The run ended before the last iteration, as asked; the residue is that
    /// of the sequence at `iterations`.
    Interim,
}

/// Errors met and overcome in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ErrorCounts {
    /// Failed Gerbicz–Li checks.
    pub gerbicz: u32,
    /// Lucas–Lehmer: failed Jacobi checks.
    pub jacobi: u32,
    /// Lucas–Lehmer: residues on which two engines differed.
    pub double_check: u32,
    /// Round-off errors, each answered with a longer transform.
    pub round_off: u32,
}

/// A finished test.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// LL or PRP.
    pub kind: TestKind,
    /// p.
    pub exponent: u32,
    /// The answer.
    pub verdict: Verdict,
    /// LL: s_(p−2). PRP: 3^(M_p−1) mod M_p (residue type 1, and with known factors type 5, which
    /// is the same number). Interim and certifications: the sequence at `iterations`.
    pub residue: Residue,
    /// Squarings of the sequence (not those redone after an error).
    pub iterations: u64,
    /// The family of the engine that finished the test.
    pub engine: &'static str,
    /// Where it computed: `cpu`, `cuda:0`, …
    pub place: &'static str,
    /// Its transform length in words.
    pub length: usize,
    /// Round-off of the last engine.
    pub round_off: Option<RoundOff>,
    /// Errors met and overcome, over all sittings.
    pub errors: ErrorCounts,
    /// Lucas–Lehmer: whether two engines have computed all of it, and agreed.
    pub twice: bool,
    /// The shift with which the test began.
    pub shift: u32,
    /// The known factors of M_p without which the rest was tested: decimal digits, ascending.
    pub known_factors: Vec<String>,
    /// Computing time over all sittings.
    pub elapsed: Duration,
}
