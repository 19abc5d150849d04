//! Proofs that a PRP test was done: made from residues that the test has kept, and verified in a
//! small part of its time.
//!
//! A proof of power n holds B = x_p, x_k = 3^(2^k) mod M_p, and n *middles*. It shows that B comes
//! from 3 by p squarings, by halving the claim n times: A^(2^s) = B becomes, with the middle M that
//! should be A^(2^⌈s/2⌉) and an exponent h that depends on M,
//!
//! (A^h·M)^(2^⌈s/2⌉) = M^h·B', with B' = B² for odd s and B for even s.
//!
//! What is left after n halvings, ⌈p/2^n⌉ squarings, is done. Source: Pietrzak, *Simple verifiable
//! delay functions* (ITCS 2019, §3); the proofs of version 2 of GpuOwl and Prime95.
//!
//! The straight line: [`power_for`] → [`Points`] → [`ResidueFolder::keep`] during the test →
//! [`build_largest`] → [`Proof`] → [`verify`].

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

/// A proof, right or wrong: only its form has been checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    exponent: Exponent,
    factors: KnownFactors,
    last: Residue,
    middles: Vec<Residue>,
}

/// Why there is no proof, or no answer about one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The engine failed in a way that no longer transform mends.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// No usable plan, in particular no longer length after a round-off error.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A residue is missing or damaged.
    #[error(transparent)]
    Residue(#[from] ResidueFileError),
    /// There is no proof of this power.
    #[error(
        "there is no proof of power {power} of M{exponent}: the power is from 1 to {LARGEST_POWER}, and less for small exponents"
    )]
    Power {
        /// p.
        exponent: u32,
        /// The power.
        power: usize,
    },
    /// Residues of different exponents were put together.
    #[error("a residue mod M{found} is no part of a proof of M{exponent}")]
    Foreign {
        /// p.
        exponent: u32,
        /// The other exponent.
        found: u32,
    },
    /// The exponent is no prime, or too large.
    #[error(transparent)]
    Exponent(#[from] ExponentError),
    /// A known factor is none.
    #[error(transparent)]
    Factor(#[from] FactorError),
    /// Some bytes are no residue.
    #[error("residue {number}: {source}")]
    Bytes {
        /// Its number, from 1; the first is B.
        number: usize,
        /// What is wrong.
        source: ResidueError,
    },
    /// The folder does not even have the residues of the least power.
    #[error(
        "the residues of M{exponent} that a proof of power {least} or more needs are not in {folder}"
    )]
    NoResidues {
        /// p.
        exponent: u32,
        /// The least power.
        least: u32,
        /// The folder.
        folder: String,
    },
    /// A proof that was just built is wrong, and so is the one built after it.
    #[error(
        "the proof of power {power} of M{exponent} was built twice and is wrong ({}): {}",
        if *repeated { "the same each time" } else { "different each time" },
        if *repeated { "a residue kept during the test is wrong, or this machine errs again and again" } else { "this machine computes unreliably" }
    )]
    Wrong {
        /// p.
        exponent: u32,
        /// The power.
        power: u32,
        /// Whether both were the same.
        repeated: bool,
    },
    /// Two verifications have refused a proof, with different numbers.
    #[error(
        "two verifications of the proof of M{exponent} came to different numbers: this machine \
         computes unreliably, and nothing is known of the proof; try --engine goldilocks or \
         another machine"
    )]
    Unreliable {
        /// p.
        exponent: u32,
    },
}

impl ProofError {
    /// What kind of error it is.
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
            // A plan or an engine that fails in mid-run is no fault of the request.
            Self::Plan(_) | Self::Engine(_) | Self::Wrong { .. } | Self::Unreliable { .. } => {
                ErrorKind::Unsound
            }
        }
    }
}

impl Proof {
    /// The proof that a file has: p, known factors of M_p in decimal digits, then B and the
    /// middles, ⌈p/8⌉ little-endian bytes each. Nothing is computed but divisions by the factors.
    ///
    /// # Errors
    /// [`ProofError::Exponent`], [`ProofError::Factor`] and [`ProofError::Bytes`] for parts that
    /// are none; those of [`Proof::new`].
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

    /// Puts a proof together: B = x_p and the middles, whose number is the power. Nothing is
    /// computed.
    ///
    /// # Errors
    /// [`ProofError::Power`] if [`Points::new`] has no points for it, [`ProofError::Foreign`] for
    /// residues that are not of M_p.
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

    /// The same proof, told of the cofactor of these factors of M_p.
    #[must_use]
    pub fn with_factors(self, factors: KnownFactors) -> Self {
        Self { factors, ..self }
    }

    /// p.
    #[must_use]
    pub fn exponent(&self) -> Exponent {
        self.exponent
    }

    /// The number of middles.
    #[must_use]
    pub fn power(&self) -> u32 {
        // At most LARGEST_POWER.
        self.middles.len() as u32
    }

    /// The known factors; none if the proof is of M_p itself.
    #[must_use]
    pub fn factors(&self) -> &KnownFactors {
        &self.factors
    }

    /// B, which is x_p if the proof is right.
    #[must_use]
    pub fn last(&self) -> &Residue {
        &self.last
    }

    /// M_1, …, M_power.
    #[must_use]
    pub fn middles(&self) -> &[Residue] {
        &self.middles
    }

    /// B/9 = 3^(M_p − 1), if the proof is right: the residue of type 1 (and of type 5, with known
    /// factors).
    #[must_use]
    pub fn residue(&self) -> Residue {
        // 9 is invertible mod M_p for odd p.
        self.last.divided_by(9).unwrap_or_else(|| self.last.clone())
    }

    /// B and the middles, ⌈p/8⌉ little-endian bytes each, as a proof file has them.
    #[must_use]
    pub fn residue_bytes(&self) -> Vec<Vec<u8>> {
        [&self.last].into_iter().chain(&self.middles).map(Residue::to_le_bytes).collect()
    }
}
