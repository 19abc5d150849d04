//! The words of the residues that a transform squares, for both kinds of numbers.

use super::weights::{Bases, Weights};
use crate::Sign;
use crate::layout::{FormLayout, StoredForm, WordLayout};

/// The words of a residue.
pub(crate) enum Words {
    /// Of a residue modulo 2^p − 1.
    Mersenne(WordLayout),
    /// Of a residue X modulo k·2^n ± 1, which is stored as X/k ([`form`](super::form)).
    Form(StoredForm),
}

impl From<WordLayout> for Words {
    fn from(layout: WordLayout) -> Self {
        Self::Mersenne(layout)
    }
}

impl From<StoredForm> for Words {
    fn from(stored: StoredForm) -> Self {
        Self::Form(stored)
    }
}

impl Words {
    /// Returns the number of words of a residue.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Mersenne(layout) => layout.len(),
            Self::Form(stored) => stored.layout.len(),
        }
    }

    /// Returns the number of bits of word j.
    pub(crate) fn bits(&self, j: usize) -> u32 {
        match self {
            Self::Mersenne(layout) => layout.bits(j),
            Self::Form(stored) => stored.layout.bits(j),
        }
    }

    pub(crate) fn weights(&self) -> Weights {
        match self {
            Self::Mersenne(layout) => Weights::Mersenne(*layout),
            Self::Form(StoredForm { layout, .. }) => Weights::Form(*layout, layout.weights()),
        }
    }

    pub(crate) fn bases(&self) -> Bases {
        match self {
            Self::Mersenne(layout) => Bases::new(layout),
            Self::Form(stored) => Bases::of_form(&stored.layout),
        }
    }

    /// Returns the layout if the number is not a Mersenne number, whose last carry goes into word 0
    /// unchanged.
    pub(crate) fn form(&self) -> Option<&FormLayout> {
        match self {
            Self::Mersenne(_) => None,
            Self::Form(stored) => Some(&stored.layout),
        }
    }

    /// Returns twice the offset of the frequencies of the spectrum: 1 if convolutions are negacyclic,
    /// otherwise 0.
    pub(crate) fn half_turns(&self) -> usize {
        let is_negacyclic = self.form().is_some_and(|layout| layout.number().sign() == Sign::Plus);
        usize::from(is_negacyclic)
    }
}
