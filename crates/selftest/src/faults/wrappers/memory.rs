//! Host memory in which a bit of a stored state flips.

use std::sync::atomic::{AtomicU64, Ordering};

use warpint_mersenne::checkpoint::State;
use warpint_mersenne::{Memory, Residue};

/// The part of a test's state in which a bit flips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The residue x of the test.
    Residue,
    /// The Gerbicz product D.
    Product,
    /// The last verified residue, which is stored with its SHA-256.
    Verified,
}

/// Memory that flips one bit of the first state that a test reads back.
#[derive(Debug)]
pub struct FailingMemory {
    part: Part,
    /// The index of the bit that flips, taken modulo the number of bits of N.
    bit: u32,
    looks: AtomicU64,
}

impl FailingMemory {
    /// Creates memory that exists until the process ends, because a test requires a `'static`
    /// reference.
    #[must_use]
    pub fn leaked(part: Part, bit: u32) -> &'static Self {
        Box::leak(Box::new(Self { part, bit, looks: AtomicU64::new(0) }))
    }

    /// Returns whether the bit has been flipped.
    #[must_use]
    pub fn has_struck(&self) -> bool {
        self.looks.load(Ordering::Relaxed) > 0
    }
}

impl Memory for FailingMemory {
    fn recalled(&self, mut state: State) -> State {
        if self.looks.fetch_add(1, Ordering::Relaxed) > 0 {
            return state;
        }
        match (self.part, &mut state.gerbicz) {
            (Part::Product, Some(g)) => g.product = flipped(&g.product, self.bit),
            (Part::Verified, Some(g)) => {
                let changed = flipped(g.verified.residue(), self.bit);
                g.verified = g.verified.clone().changed_to(changed);
            }
            // A test without checks stores x only.
            _ => state.residue = flipped(&state.residue, self.bit),
        }
        state
    }
}

/// Returns x with one bit flipped. The index `bit` is taken modulo the number of bits of the modulus.
fn flipped(x: &Residue, bit: u32) -> Residue {
    let bit = bit % x.number().bits();
    let mut limbs = x.limbs().to_vec();
    limbs[(bit / 64) as usize] ^= 1 << (bit % 64);
    Residue::from_limbs(x.number(), &limbs)
}
