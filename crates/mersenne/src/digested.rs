//! A residue that is kept in memory for hours, with a digest that detects changes to it.

use sha2::{Digest, Sha256};

use crate::Residue;

/// A residue together with its SHA-256. The digest is computed when the value is created. Computing
/// it again later shows whether the residue has changed in memory.
///
/// A test may go back to its last verified state after many hours. If memory flips a bit of that
/// state in the meantime, only the digest reveals the error: every later check starts from the
/// changed state and passes. For a residue modulo 2^p − 1, creating the value costs one SHA-256 of
/// p/8 bytes. Each check costs the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestedResidue {
    residue: Residue,
    digest: [u8; 32],
}

impl DigestedResidue {
    /// Stores a residue and computes its digest. The residue must have just been computed, or read
    /// from a file whose checksum was verified.
    #[must_use]
    pub fn new(residue: Residue) -> Self {
        let digest = digest(&residue);
        Self { residue, digest }
    }

    /// Replaces the residue but keeps the old digest. Tests use this function to simulate a memory
    /// error.
    #[must_use]
    pub fn changed_to(self, residue: Residue) -> Self {
        Self { residue, ..self }
    }

    /// Returns the residue without checking the digest.
    #[must_use]
    pub fn residue(&self) -> &Residue {
        &self.residue
    }

    /// Returns whether the residue still has the digest that [`Self::new`] computed.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        digest(&self.residue) == self.digest
    }
}

/// The SHA-256 of a residue and its low 64 bits. Two residues are compared through their
/// fingerprints if they should not be in memory at the same time. Different residues have different
/// fingerprints, except with negligible probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    digest: [u8; 32],
    pub(crate) res64: u64,
}

impl Fingerprint {
    pub(crate) fn of(x: &Residue) -> Self {
        Self { digest: digest(x), res64: x.res64() }
    }
}

fn digest(x: &Residue) -> [u8; 32] {
    // The number of limbs hashed at a time. One limb at a time takes twice as long.
    const LIMBS: usize = 512;
    let mut hasher = Sha256::new();
    let mut bytes = [0u8; 8 * LIMBS];
    for limbs in x.limbs().chunks(LIMBS) {
        for (to, limb) in bytes.chunks_exact_mut(8).zip(limbs) {
            to.copy_from_slice(&limb.to_le_bytes());
        }
        hasher.update(&bytes[..8 * limbs.len()]);
    }
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_flipped_bit_breaks_the_seal() {
        let p = 127;
        let right = Residue::from_limbs(p, &[0x0123_4567_89ab_cdef, 42]);
        let sealed = DigestedResidue::new(right.clone());
        assert!(sealed.is_intact());
        for bit in 0..p {
            let mut limbs = right.limbs().to_vec();
            limbs[bit as usize / 64] ^= 1 << (bit % 64);
            let changed = sealed.clone().changed_to(Residue::from_limbs(p, &limbs));
            assert!(!changed.is_intact(), "bit {bit}");
        }
    }
}
