//! What a test ends with.

use std::time::Duration;

use crate::{Residue, RoundOff, TestKind};

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Lucas–Lehmer: M_p is prime, proven.
    Prime,
    /// PRP: M_p is a probable prime to the base.
    ProbablePrime,
    /// M_p is composite.
    Composite,
    /// The run ended before the last iteration, as asked; the residue is that
    /// of the sequence at `iterations`.
    Interim,
}

/// Errors met and overcome in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ErrorCounts {
    /// Failed Gerbicz–Li checks.
    pub gerbicz: u32,
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
    /// LL: s_(p−2). PRP: 3^(M_p−1) mod M_p (residue type 1). Interim: the
    /// sequence at `iterations`.
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
    /// The initial shift of the residue.
    pub shift: u32,
    /// Computing time over all sittings.
    pub elapsed: Duration,
}
