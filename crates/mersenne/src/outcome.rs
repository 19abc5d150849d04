//! The result of a test.

use std::time::Duration;

use crate::{Residue, RoundOff, TestKind};

/// The verdict of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Lucas–Lehmer: M_p is proven prime.
    Prime,
    /// PRP: M_p, or its cofactor if factors are known, is a probable prime to base 3.
    ProbablePrime,
    /// M_p is composite; if factors are known, its cofactor is composite.
    Composite,
    /// A certification: the residue after the requested squarings has been computed.
    Certified,
    /// The run ended before the last iteration, as requested. The residue is that of the sequence
    /// at `iterations`.
    Interim,
}

/// The numbers of errors that a run detected and recovered from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ErrorCounts {
    /// Failed Gerbicz–Li checks.
    pub gerbicz: u32,
    /// Failed Jacobi checks of a Lucas–Lehmer test.
    pub jacobi: u32,
    /// Residues of a Lucas–Lehmer test on which two engines differed.
    pub double_check: u32,
    /// Round-off errors, each followed by a longer transform.
    pub round_off: u32,
}

/// A finished test.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The kind of test.
    pub kind: TestKind,
    /// p.
    pub exponent: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// The final residue. LL: s_(p−2). PRP: 3^(M_p−1) mod M_p; this is the residue of type 1, and
    /// with known factors also that of type 5, which is the same number. Interim and
    /// certifications: the sequence at `iterations`.
    pub residue: Residue,
    /// Squarings of the sequence, not counting those repeated after an error.
    pub iterations: u64,
    /// The family of the engine that finished the test.
    pub engine: &'static str,
    /// Where the engine computed: `cpu`, `cuda:0`, …
    pub place: &'static str,
    /// The engine's transform length in words.
    pub length: usize,
    /// Round-off of the last engine.
    pub round_off: Option<RoundOff>,
    /// Errors detected and recovered from, over all sittings.
    pub errors: ErrorCounts,
    /// Lucas–Lehmer: whether two engines have computed the whole test and agreed.
    pub twice: bool,
    /// The shift at the start of the test.
    pub shift: u32,
    /// The known factors of M_p, in decimal digits, ascending. The test is of the cofactor.
    pub known_factors: Vec<String>,
    /// Computing time over all sittings.
    pub elapsed: Duration,
}
