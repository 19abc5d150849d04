//! The result of a test.

use std::time::Duration;

use crate::{Number, Residue, RoundOff, TestKind};

/// The verdict of a test of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The number is proven prime, by the theorem of the test ([`TestKind::theorem`]).
    Prime,
    /// A PRP test has found that the number is a probable prime. If factors of M_p are known, the
    /// verdict is about the cofactor of M_p.
    ProbablePrime,
    /// The number is composite; if factors of M_p are known, its cofactor is composite.
    Composite,
    /// The requested squarings of a certification are done. The result is the residue; there is no
    /// verdict on M_p.
    Certified,
    /// The run ended, as requested, before the last iteration of the test. [`Outcome::residue`] is
    /// the term of the sequence at iteration [`Outcome::iterations`].
    Interim,
}

/// The numbers of errors that a test detected and recovered from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ErrorCounts {
    /// The number of failed Gerbicz–Li checks.
    pub gerbicz: u32,
    /// The number of failed Jacobi checks of a Lucas–Lehmer test.
    pub jacobi: u32,
    /// The number of residues of a Lucas–Lehmer test on which two engines differed.
    pub double_check: u32,
    /// The number of times that a squaring of a Lucas–Lehmer test was wrong by the sums over its
    /// words.
    pub squarings: u32,
    /// The number of failed checks of the Lucas sequences of Morrison's test.
    pub lucas: u32,
    /// The number of round-off errors. After each of them the test continued with a longer
    /// transform.
    pub round_off: u32,
}

/// The result of a finished test.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The kind of the test.
    pub kind: TestKind,
    /// The number that was tested.
    pub number: Number,
    /// The verdict of the test.
    pub verdict: Verdict,
    /// The final residue. For a Lucas–Lehmer test it is the last term of the sequence, s_(p−2). For
    /// a PRP test it is 3^(M_p−1) mod M_p: this is the residue of type 1 and also, with known
    /// factors, the residue of type 5. For the tests of numbers k·b^n ± 1 it is the value that their
    /// kinds define ([`TestKind`]). For interim results and certifications it is the term of the
    /// sequence at `iterations`.
    pub residue: Residue,
    /// The number of squarings of the sequence. A squaring that was repeated after an error counts
    /// once.
    pub iterations: u64,
    /// The iteration from which the last run of the test continued; 0 if that run computed the whole
    /// test. Earlier runs may have used other engines.
    pub resumed_at: u64,
    /// The family name of the engine that finished the test.
    pub engine: &'static str,
    /// The place where the engine computed: `cpu`, `cuda:0`, …
    pub place: &'static str,
    /// The engine's transform length in words.
    pub length: usize,
    /// The statistics of the round-off of the last engine; `None` if this engine measures none,
    /// because its products are exact.
    pub round_off: Option<RoundOff>,
    /// The number of squarings of this run that were checked by sums over their words, and found
    /// right. Squarings that were repeated after an error count twice.
    pub checked_squarings: u64,
    /// The numbers of errors detected and recovered from, over all runs of the test.
    pub errors: ErrorCounts,
    /// Whether two engines have computed the whole Lucas–Lehmer test and agreed.
    pub twice: bool,
    /// The shift of the first term of the sequence, in bits: see [`Shift`](crate::Shift).
    pub shift: u32,
    /// The known factors of M_p, in decimal digits, ascending. If there are any, the test is a test
    /// of the cofactor.
    pub known_factors: Vec<String>,
    /// For Pocklington's test: the bases of the powers, in the order of their computation. For Morrison's
    /// test: the numbers t of the sequences. `residue` is that of the last one, and `iterations` is the sum
    /// over all, for Morrison's test with the Fermat test before them. Empty for other tests.
    pub bases: Vec<u32>,
    /// The computing time over all runs of the test.
    pub elapsed: Duration,
}
