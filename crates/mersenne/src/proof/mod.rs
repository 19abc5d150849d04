//! Proofs of PRP tests, and of the tests of k·b^n ± 1 that compute a power ([`Subject`]). A proof is built
//! from residues that the test has stored. Verifying it takes a small part of the time of the test.
//!
//! A proof of power n contains B = x_p, where x_k = 3^(2^k) mod M_p, and n *middles*. The proof
//! shows that B results from 3 by p squarings, that is, A^(2^s) = B with A = 3 and s = p. This
//! claim is halved n times. With the middle M, which should be A^(2^⌈s/2⌉), and an exponent h that
//! depends on M, the claim A^(2^s) = B becomes
//!
//! (A^h·M)^(2^⌈s/2⌉) = M^h·B', with B' = B² for odd s and B for even s.
//!
//! After n halvings, ⌈p/2^n⌉ squarings are left, and the verifier computes them. Source: Pietrzak,
//! *Simple verifiable delay functions* (ITCS 2019, §3); the proofs of version 2 of GpuOwl and
//! Prime95.
//!
//! For k·b^n ± 1 the squarings are followed by factors: see `windows`. The last 1,024 iterations of these
//! tests are left to the verifier, which computes the residue of the test from the last residue of the
//! proof. `docs/checks/proofs.md` says why.
//!
//! The main functions and types, in the order of their use: [`Subject`] → [`power_for`] → [`Points`] →
//! [`ResidueFolder::keep`] during the test → [`build_largest`] → [`Proof`] → [`verify`].

use warpint_files::ErrorKind;

mod build;
mod hash;
mod judge;
mod points;
mod refusal;
mod residues;
mod small_order;
mod subject;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_numbers;
mod verify;
mod watch;
mod windows;

pub use build::{Built, build, build_largest};
pub use hash::{sha3_256_of, sha3_256_text};
pub use points::{LARGEST_POWER, Points, disk_bytes, least_power, power_for};
pub use refusal::Refusal;
pub use residues::{ResidueFileError, ResidueFolder};
pub use subject::Subject;
pub use verify::{Verification, verify};

use crate::{
    EngineError, Exponent, ExponentError, FactorError, KnownFactors, Number, PlanError, Residue,
    ResidueError,
};

/// A proof of a test. Only its form has been checked, so it may be right or wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    subject: Subject,
    factors: KnownFactors,
    last: Residue,
    middles: Vec<Residue>,
}

/// The reason why a proof could not be built, read or verified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The engine failed in a way that a longer transform cannot correct.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// No usable plan exists. For example, a round-off error requires a longer transform, but the
    /// engine has none.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A residue that is needed to build the proof is missing, unreadable or damaged.
    #[error(transparent)]
    Residue(#[from] ResidueFileError),
    /// Proofs of this power do not exist for the number.
    #[error(
        "{number} has no proof of power {power}: powers are from 1 to {LARGEST_POWER}, and less for small exponents"
    )]
    Power {
        /// The number that is tested.
        number: Number,
        /// The power that was asked for.
        power: usize,
    },
    /// A residue, a folder of residues or a plan belongs to another number than the proof.
    #[error("a residue mod {found} cannot be part of a proof of {number}")]
    Foreign {
        /// The number of the proof.
        number: Number,
        /// The number of the residue, folder or plan.
        found: Number,
    },
    /// The lines of a proof file that name the test and the number do not name a test that has proofs.
    #[error("TEST={} and NUMBER={} do not name a test that has proofs", shown(test), shown(number))]
    NoTest {
        /// The text for the test.
        test: String,
        /// The text for the number.
        number: String,
    },
    /// The exponent is not a prime below 2^31.
    #[error(transparent)]
    Exponent(#[from] ExponentError),
    /// A known factor is invalid.
    #[error(transparent)]
    Factor(#[from] FactorError),
    /// The bytes given for a residue of the proof are not a residue.
    #[error("residue {number}: {source}")]
    Bytes {
        /// The number of the residue in the proof, from 1. Residue 1 is the last residue of the
        /// test; the middles follow.
        number: usize,
        /// What is wrong with the bytes.
        source: ResidueError,
    },
    /// The folder lacks residues that are needed even for a proof of the least power.
    #[error("{folder} lacks residues of {number} that a proof of power {least} or more needs")]
    NoResidues {
        /// The number that is tested.
        number: Number,
        /// The least power that was acceptable.
        least: u32,
        /// The path of the folder.
        folder: String,
    },
    /// A proof was built twice, and both results are wrong.
    #[error(
        "the proof of power {power} of {number} was built twice and is wrong ({}): {}",
        if *repeated { "the same each time" } else { "different each time" },
        if *repeated { "a residue kept during the test is wrong, or this machine makes the same error repeatedly" } else { "this machine computes unreliably" }
    )]
    Wrong {
        /// The number that is tested.
        number: Number,
        /// The power of the proof.
        power: u32,
        /// Whether the two wrong proofs were equal.
        repeated: bool,
    },
    /// Neither of the two runs of a verification accepted the proof, and their results contradict
    /// each other.
    #[error(
        "two verifications of the proof of {number} gave different numbers: this machine \
         computes unreliably, and nothing is known of the proof; try engine goldilocks or \
         another machine"
    )]
    Unreliable {
        /// The number that is tested.
        number: Number,
    },
    /// A right proof of this composite number is refused, because its residue is that of a prime times an
    /// element of small order ([`Refusal::SmallOrder`]).
    #[error(
        "{number} is composite, but its residue cannot be told from that of a prime times an element of \
         small order"
    )]
    Ambiguous {
        /// The number that is tested.
        number: Number,
        /// The power of the proof.
        power: u32,
    },
    /// The residue that the proof gives is not that of the test.
    #[error(
        "the proof of {number} gives the residue {proven}, and its test the residue {tested}: this \
         machine computes unreliably; --restart tests again"
    )]
    Contradiction {
        /// The number that is tested.
        number: Number,
        /// The low 64 bits of the residue that the proof gives.
        proven: String,
        /// The low 64 bits of the residue of the test.
        tested: String,
    },
}

impl ProofError {
    /// Returns the kind of the error. An error of the plan or of the engine during the work does
    /// not count as bad input.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Power { .. }
            | Self::Foreign { .. }
            | Self::NoTest { .. }
            | Self::Exponent(_)
            | Self::Factor(_)
            | Self::Bytes { .. } => ErrorKind::BadInput,
            Self::Residue(e) => e.kind(),
            Self::NoResidues { .. } => ErrorKind::Io,
            Self::Engine(EngineError::Device(_) | EngineError::NoRoom { .. }) => ErrorKind::Device,
            // A plan or an engine that fails during the work is not an error in the request.
            Self::Plan(_)
            | Self::Engine(_)
            | Self::Wrong { .. }
            | Self::Ambiguous { .. }
            | Self::Contradiction { .. }
            | Self::Unreliable { .. } => ErrorKind::Unsound,
        }
    }
}

impl Proof {
    /// Creates a proof of M_p from the parts of a proof file. `factors` contains the known factors of M_p
    /// in decimal digits. `residues` contains the last residue of the test, followed by the
    /// middles, in ⌈p/8⌉ little-endian bytes each. Checks the form of all parts, that p is prime,
    /// and that the factors divide M_p ([`KnownFactors::new`]). Does not verify the proof.
    ///
    /// # Errors
    /// Returns [`ProofError::Exponent`], [`ProofError::Factor`] or [`ProofError::Bytes`] for
    /// invalid parts, [`ProofError::Power`] if `residues` is empty, and the errors of
    /// [`Proof::new`].
    pub fn from_parts(
        p: u32,
        factors: &[impl AsRef<str>],
        residues: &[impl AsRef<[u8]>],
    ) -> Result<Self, ProofError> {
        let exponent = Exponent::new(u64::from(p))?;
        let proof = Self::of_residues(exponent.into(), residues)?;
        Ok(proof.with_factors(KnownFactors::new(p, factors)?))
    }

    /// Creates a proof of a test of k·b^n ± 1 from the parts of a proof file: the name of the test
    /// ([`TestKind::slug`](crate::TestKind::slug)), the number, and the residues in ⌈bits/8⌉ little-endian
    /// bytes each, the last residue of the proof first. Checks the form of all parts. Does not verify the
    /// proof.
    ///
    /// # Errors
    /// Returns [`ProofError::NoTest`] if [`Subject::parse`] returns `None`, [`ProofError::Bytes`] for
    /// invalid residues, [`ProofError::Power`] if `residues` is empty, and the errors of [`Proof::new`].
    pub fn of_number(
        test: &str,
        number: &str,
        residues: &[impl AsRef<[u8]>],
    ) -> Result<Self, ProofError> {
        let no_test = || ProofError::NoTest { test: test.into(), number: number.into() };
        Self::of_residues(Subject::parse(test, number).ok_or_else(no_test)?, residues)
    }

    fn of_residues(subject: Subject, residues: &[impl AsRef<[u8]>]) -> Result<Self, ProofError> {
        let number = subject.number();
        let read = residues.iter().zip(1..).map(|(bytes, place)| {
            Residue::from_le_bytes(number, bytes.as_ref())
                .map_err(|source| ProofError::Bytes { number: place, source })
        });
        let mut residues = read.collect::<Result<Vec<_>, _>>()?.into_iter();
        let last = residues.next().ok_or(ProofError::Power { number, power: 0 })?;
        Self::new(subject, last, residues.collect())
    }

    /// Creates a proof from its last residue, which is x_i for i = [`Subject::iterations`] (for M_p it is
    /// 3^(2^p) mod M_p, where a prime exponent stands for the test), and the middles. The number of middles
    /// is the power of the proof. Computes nothing.
    ///
    /// # Errors
    /// Returns [`ProofError::Power`] if [`Points::new`] returns `None` for this power, and
    /// [`ProofError::Foreign`] for residues modulo another number.
    pub fn new(
        subject: impl Into<Subject>,
        last: Residue,
        middles: Vec<Residue>,
    ) -> Result<Self, ProofError> {
        let (subject, power) = (subject.into(), middles.len());
        let number = subject.number();
        if let Some(x) = [&last].into_iter().chain(&middles).find(|x| x.number() != number) {
            return Err(ProofError::Foreign { number, found: x.number() });
        }
        u32::try_from(power)
            .ok()
            .and_then(|power| Points::new(subject.iterations(), power))
            .ok_or(ProofError::Power { number, power })?;
        Ok(Self { subject, factors: KnownFactors::default(), last, middles })
    }

    /// Returns the proof with these known factors of M_p. It is then a proof about the cofactor.
    #[must_use]
    pub fn with_factors(self, factors: KnownFactors) -> Self {
        Self { factors, ..self }
    }

    /// Returns the test that the proof is about.
    #[must_use]
    pub fn subject(&self) -> Subject {
        self.subject
    }

    /// Returns the number that is tested.
    #[must_use]
    pub fn number(&self) -> Number {
        self.subject.number()
    }

    /// Returns the power of the proof, which is the number of middles.
    #[must_use]
    pub fn power(&self) -> u32 {
        // The number is at most LARGEST_POWER.
        self.middles.len() as u32
    }

    /// Returns the known factors of M_p. The list is empty if the proof is about M_p itself.
    #[must_use]
    pub fn factors(&self) -> &KnownFactors {
        &self.factors
    }

    /// Returns the last residue. If the proof is right, it is 3^(2^p) mod M_p, or x_i for i =
    /// [`Subject::iterations`].
    #[must_use]
    pub fn last(&self) -> &Residue {
        &self.last
    }

    /// Returns the middles M_1, …, M_power.
    #[must_use]
    pub fn middles(&self) -> &[Residue] {
        &self.middles
    }

    /// Returns the residue of the test that the proof claims for M_p, the last residue divided by 9. If the
    /// proof is right, this is 3^(M_p − 1) mod M_p: the residue of type 1, and with known factors also of
    /// type 5. Returns `None` for other numbers, for which the verification computes the residue
    /// ([`Verification::residue`]).
    #[must_use]
    pub fn claimed(&self) -> Option<Residue> {
        // 9 is invertible mod M_p for odd p.
        self.subject
            .is_of_mersenne()
            .then(|| self.last.divided_by(9).unwrap_or_else(|| self.last.clone()))
    }

    /// Returns the residues as they are stored in a proof file: the last residue and then the
    /// middles, in ⌈bits/8⌉ little-endian bytes each.
    #[must_use]
    pub fn residue_bytes(&self) -> Vec<Vec<u8>> {
        [&self.last].into_iter().chain(&self.middles).map(Residue::to_le_bytes).collect()
    }
}

/// Returns the first 40 characters of a text, escaped, with `…` after a longer text.
fn shown(text: &str) -> String {
    const MOST: usize = 40;
    let start: String = text.chars().take(MOST).flat_map(char::escape_default).collect();
    if text.chars().nth(MOST).is_some() { start + "…" } else { start }
}
