//! The result of a test.

use std::time::Duration;

use crate::{Residue, RoundOff, TestKind};

/// What a test has found about M_p.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// M_p is proven prime by a Lucas–Lehmer test.
    Prime,
    /// M_p, or its cofactor if factors are known, is a probable prime to base 3, by a PRP test.
    ProbablePrime,
    /// M_p is composite; if factors are known, its cofactor is composite.
    Composite,
    /// The residue of a certification after the requested squarings has been computed.
    Certified,
    /// The run ended before the last iteration, as requested. The residue is that of the sequence
    /// at `iterations`.
    Interim,
}

/// The numbers of errors that a run detected and recovered from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ErrorCounts {
    /// The number of failed Gerbicz–Li checks.
    pub gerbicz: u32,
    /// The number of failed Jacobi checks of a Lucas–Lehmer test.
    pub jacobi: u32,
    /// The number of residues of a Lucas–Lehmer test on which two engines differed.
    pub double_check: u32,
    /// The number of round-off errors, each followed by a longer transform.
    pub round_off: u32,
}

/// The result of a finished test.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The kind of the test.
    pub kind: TestKind,
    /// The exponent p of M_p.
    pub exponent: u32,
    /// The verdict of the test.
    pub verdict: Verdict,
    /// The final residue. For a Lucas–Lehmer test it is s_(p−2). For a PRP test it is 3^(M_p−1) mod
    /// M_p, the residue of type 1, and with known factors also that of type 5, which is the same
    /// number. For interim results and certifications it is the residue of the sequence at
    /// `iterations`.
    pub residue: Residue,
    /// The number of squarings of the sequence, not counting those repeated after an error.
    pub iterations: u64,
    /// The name of the engine family that finished the test.
    pub engine: &'static str,
    /// Where the engine computed: `cpu`, `cuda:0`, …
    pub place: &'static str,
    /// The engine's transform length in words.
    pub length: usize,
    /// The round-off of the last engine; `None` if it computed in integers.
    pub round_off: Option<RoundOff>,
    /// The numbers of errors detected and recovered from, over all sittings.
    pub errors: ErrorCounts,
    /// Whether two engines have computed a whole Lucas–Lehmer test and agreed.
    pub twice: bool,
    /// The shift, in bits, at the start of the test.
    pub shift: u32,
    /// The known factors of M_p, in decimal digits, ascending. If there are any, the test is of the
    /// cofactor.
    pub known_factors: Vec<String>,
    /// The computing time over all sittings.
    pub elapsed: Duration,
}
