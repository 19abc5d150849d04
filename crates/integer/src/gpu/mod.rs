//! The operations on a device: which kernel, specialised how.

use warpint_device::Buffer;

/// An operand: `count` numbers of `limbs` limbs of 32 bits, row-major, little-endian, or
/// one such number for all.
#[derive(Debug, Clone, Copy)]
pub struct Operand<'a> {
    /// The limbs: limb j of number i is at `i·limbs + j`.
    pub data: &'a Buffer<u32>,
    /// Limbs of a number.
    pub limbs: usize,
    /// Whether there is one number, which every instance takes.
    pub broadcast: bool,
}
