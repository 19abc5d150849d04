//! What the engines `goldilocks`, `hybrid` and `hybrid-fast` on the CPU share: registers of balanced
//! digits, and carries through them.
//!
//! | file | subject |
//! |---|---|
//! | `carry` | carries through the digits of a register |
//! | `machine` | the register machine, on top of products of digits ([`Products`]) |

pub(super) mod carry;
mod machine;

pub(super) use machine::Machine;

use warpint_transform::cpu::goldilocks::Pool;

use crate::layout::WordLayout;

/// Products of residues that are given by the balanced digits of a layout.
pub(super) trait Products: Send + Sync {
    /// Memory for the spectrum of one factor.
    type Spectrum: Send;

    /// Returns the layout of the digits.
    fn layout(&self) -> &WordLayout;

    /// Allocates memory for one spectrum.
    fn spectrum(&self) -> Self::Spectrum;

    /// Replaces `digits` by the balanced digits of the square of the residue that they represent.
    /// The address of the digits is a multiple of 8.
    ///
    /// Returns the error of the product: the largest distance of a quotient from the integer to which
    /// it was rounded. Returns 0 if products are not measured.
    fn square(&self, pool: &Pool, digits: &mut [i32], work: &mut Self::Spectrum) -> f64;

    /// Sets `registers[dst]` to the balanced digits of the product of `registers[a]` and
    /// `registers[b]`. Returns the error of the product as [`Self::square`] does.
    fn multiply(
        &self,
        pool: &Pool,
        registers: &mut [Digits],
        operands: [usize; 3],
        work: [&mut Self::Spectrum; 2],
    ) -> f64;
}

/// The digits of a residue, at an address that is a multiple of 8. Their number is even.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Digits(Vec<u64>);

impl Digits {
    /// Returns n digits 0, for even n.
    pub(super) fn new(n: usize) -> Self {
        Self(vec![0; n / 2])
    }
}

impl std::ops::Deref for Digits {
    type Target = [i32];
    fn deref(&self) -> &[i32] {
        bytemuck::cast_slice(&self.0)
    }
}

impl std::ops::DerefMut for Digits {
    fn deref_mut(&mut self) -> &mut [i32] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}
