//! Proofs of PRP tests. A proof is built from residues that the test has stored. Verifying it takes
//! a small part of the time of the test.
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
//! The main functions and types, in the order of their use: [`power_for`] → [`Points`] →
//! [`ResidueFolder::keep`] during the test → [`build_largest`] → [`Proof`] → [`verify`].

use warpint_files::ErrorKind;

mod build;
mod hash;
mod points;
mod refusal;
mod residues;
mod small_order;
#[cfg(test)]
mod tests;
mod verify;
mod watch;

pub use build::{build, build_largest};
pub use hash::{sha3_256_of, sha3_256_text};
pub use points::{LARGEST_POWER, Points, disk_bytes, least_power, power_for};
pub use refusal::Refusal;
pub use residues::{ResidueFileError, ResidueFolder};
pub use verify::{Verification, verify};

use crate::{
    EngineError, Exponent, ExponentError, FactorError, KnownFactors, PlanError, Residue,
    ResidueError,
};

/// A proof of a PRP test of M_p. Only its form has been checked, so it may be right or wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    exponent: Exponent,
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
    /// Proofs of this power do not exist for the exponent.
    #[error(
        "M{exponent} has no proof of power {power}: powers are from 1 to {LARGEST_POWER}, and less for small exponents"
    )]
    Power {
        /// The exponent p of M_p.
        exponent: u32,
        /// The power that was asked for.
        power: usize,
    },
    /// A residue, a folder of residues or a plan belongs to another exponent than the proof.
    #[error("a residue mod M{found} cannot be part of a proof of M{exponent}")]
    Foreign {
        /// The exponent p of the proof.
        exponent: u32,
        /// The exponent of the residue, folder or plan.
        found: u32,
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
    #[error("{folder} lacks residues of M{exponent} that a proof of power {least} or more needs")]
    NoResidues {
        /// The exponent p of M_p.
        exponent: u32,
        /// The least power that was acceptable.
        least: u32,
        /// The path of the folder.
        folder: String,
    },
    /// A proof was built twice, and both results are wrong.
    #[error(
        "the proof of power {power} of M{exponent} was built twice and is wrong ({}): {}",
        if *repeated { "the same each time" } else { "different each time" },
        if *repeated { "a residue kept during the test is wrong, or this machine makes the same error repeatedly" } else { "this machine computes unreliably" }
    )]
    Wrong {
        /// The exponent p of M_p.
        exponent: u32,
        /// The power of the proof.
        power: u32,
        /// Whether the two wrong proofs were equal.
        repeated: bool,
    },
    /// Neither of the two runs of a verification accepted the proof, and their results contradict
    /// each other.
    #[error(
        "two verifications of the proof of M{exponent} gave different numbers: this machine \
         computes unreliably, and nothing is known of the proof; try engine goldilocks or \
         another machine"
    )]
    Unreliable {
        /// The exponent p of M_p.
        exponent: u32,
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
            | Self::Exponent(_)
            | Self::Factor(_)
            | Self::Bytes { .. } => ErrorKind::BadInput,
            Self::Residue(e) => e.kind(),
            Self::NoResidues { .. } => ErrorKind::Io,
            Self::Engine(EngineError::Device(_) | EngineError::NoRoom { .. }) => ErrorKind::Device,
            // A plan or an engine that fails during the work is not an error in the request.
            Self::Plan(_) | Self::Engine(_) | Self::Wrong { .. } | Self::Unreliable { .. } => {
                ErrorKind::Unsound
            }
        }
    }
}

impl Proof {
    /// Creates a proof from the parts of a proof file. `factors` contains the known factors of M_p
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
        let read = residues.iter().zip(1..).map(|(bytes, number)| {
            Residue::from_le_bytes(p, bytes.as_ref())
                .map_err(|source| ProofError::Bytes { number, source })
        });
        let mut residues = read.collect::<Result<Vec<_>, _>>()?.into_iter();
        let last = residues.next().ok_or(ProofError::Power { exponent: p, power: 0 })?;
        let factors = KnownFactors::new(p, factors)?;
        Ok(Self::new(exponent, last, residues.collect())?.with_factors(factors))
    }

    /// Creates a proof from the last residue of the test, 3^(2^p) mod M_p, and the middles. The
    /// number of middles is the power of the proof. Computes nothing.
    ///
    /// # Errors
    /// Returns [`ProofError::Power`] if [`Points::new`] returns `None` for this power, and
    /// [`ProofError::Foreign`] for residues that are not mod M_p.
    pub fn new(
        exponent: Exponent,
        last: Residue,
        middles: Vec<Residue>,
    ) -> Result<Self, ProofError> {
        let (p, power) = (exponent.get(), middles.len());
        if let Some(x) = [&last].into_iter().chain(&middles).find(|x| x.exponent() != p) {
            return Err(ProofError::Foreign { exponent: p, found: x.exponent() });
        }
        u32::try_from(power)
            .ok()
            .and_then(|power| Points::new(p, power))
            .ok_or(ProofError::Power { exponent: p, power })?;
        Ok(Self { exponent, factors: KnownFactors::default(), last, middles })
    }

    /// Returns the proof with these known factors of M_p. It is then a proof about the cofactor.
    #[must_use]
    pub fn with_factors(self, factors: KnownFactors) -> Self {
        Self { factors, ..self }
    }

    /// Returns the exponent p.
    #[must_use]
    pub fn exponent(&self) -> Exponent {
        self.exponent
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

    /// Returns the last residue, which is 3^(2^p) mod M_p if the proof is right.
    #[must_use]
    pub fn last(&self) -> &Residue {
        &self.last
    }

    /// Returns the middles M_1, …, M_power.
    #[must_use]
    pub fn middles(&self) -> &[Residue] {
        &self.middles
    }

    /// Returns the last residue divided by 9 modulo M_p. If the proof is right, this is 3^(M_p − 1)
    /// mod M_p: the residue of type 1, and with known factors also of type 5.
    #[must_use]
    pub fn residue(&self) -> Residue {
        // 9 is invertible mod M_p for odd p.
        self.last.divided_by(9).unwrap_or_else(|| self.last.clone())
    }

    /// Returns the residues as they are stored in a proof file: the last residue and then the
    /// middles, in ⌈p/8⌉ little-endian bytes each.
    #[must_use]
    pub fn residue_bytes(&self) -> Vec<Vec<u8>> {
        [&self.last].into_iter().chain(&self.middles).map(Residue::to_le_bytes).collect()
    }
}
