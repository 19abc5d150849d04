//! What the plans of [`Ntt`](super::Ntt) require of a field.

use std::fmt::Debug;

use bytemuck::Pod;
use warpint_device::{Arg, Buffer, Device, DeviceError, Source};

use super::passes::{Costs, Pass};

/// A field over which [`Ntt`](super::Ntt) computes transforms on devices. Other crates cannot
/// implement it.
pub trait NttField: PassField {}

/// The tables, constants and kernels of a field.
pub trait PassField: Copy + Debug + Send + Sync + 'static {
    /// A word in the memory of a device, and a factor of a table.
    type Word: Pod + Debug + Send + Sync;
    /// What the kernels need beside their tables.
    type Constants: Debug + Send + Sync;

    /// The times of passes.
    const COSTS: Costs;
    /// The names of the kernels of a pass, of products, and of products by powers.
    const KERNELS: [&str; 3];

    /// Returns the modulus of the field.
    fn prime(&self) -> u64;

    /// Returns the root of unity of order n or its inverse. Returns `None` if n does not divide p − 1.
    fn root(&self, n: usize, is_inverse: bool) -> Option<Self::Word>;

    /// Returns root^e.
    fn power(&self, root: Self::Word, e: u64) -> Self::Word;

    /// Returns root^i for i < count, as the kernels read them.
    fn powers(&self, root: Self::Word, count: usize) -> Vec<Self::Word>;

    /// Returns the tables of the kernel of a pass. The field has roots of the order of its lines.
    fn tables(&self, pass: &Pass) -> Vec<Self::Word>;

    /// Returns the constants of plans of transforms of `length` points.
    ///
    /// # Errors
    /// The device fails, or does not have enough memory.
    fn constants(
        device: &Device,
        fields: &[Self],
        length: usize,
    ) -> Result<Self::Constants, DeviceError>;

    /// Returns the constants as an argument of the kernel of a pass.
    fn pass_constants(constants: &Self::Constants) -> Arg;

    /// Returns the constants as the last argument of the kernels of products, if they have it.
    fn product_constants(constants: &Self::Constants) -> Option<Arg>;

    /// Returns the source of the kernel of a pass.
    fn pass_source(pass: &Pass) -> Source;

    /// Returns the source of the kernels of products.
    fn product_source() -> Source;
}

/// Returns the argument of a buffer of constants.
pub(in crate::gpu) fn pointer<T: Pod>(constants: &Buffer<T>) -> Arg {
    constants.into()
}
