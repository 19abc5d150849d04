//! The reduction of products that are longer than residues.

use warpint_device::{Arg, Buffer, Device, DeviceError, Kernel, Launch, assert_room};

use super::products::Call;
use crate::engine::Step;

/// The reduction of products modulo N, and the digits of a product.
///
/// One kernel reduces the digits of a product to those of a register. Its first parameters are the digits of the
/// register and of the product, its last ones the multiplier of a step and what the step adds, as doubles. In
/// squarings, the kernels of columns reduce with the same constants.
pub(in crate::engine) struct Reduction {
    kernel: Kernel,
    launch: Launch,
    /// The number of digits of k.
    factors: u32,
    /// The arguments between those of digits and those of the step.
    args: Vec<Arg>,
    /// What [`Step::SquareMinusTwo`] adds.
    minus_two: f64,
    product: Buffer<i32>,
}

impl Reduction {
    /// Allocates the digits of a product of `len` words.
    ///
    /// # Safety
    /// The kernel must take `args` after the pointers to `len` words each of a register and of a product, and two
    /// doubles after them. The kernels of columns that reduce must take the same arguments after their tables. What
    /// `args` point to must exist as long as the reduction and its graphs.
    pub(in crate::engine) unsafe fn new(
        device: &Device,
        kernel: Kernel,
        launch: Launch,
        factors: u32,
        args: Vec<Arg>,
        minus_two: f64,
        len: usize,
    ) -> Result<Self, DeviceError> {
        Ok(Self {
            kernel,
            launch,
            factors,
            args,
            minus_two,
            product: device.upload(&vec![0; len])?,
        })
    }

    /// Returns the number of digits for which a reduction of `len` words allocates memory.
    pub(in crate::engine) fn digits(len: usize) -> usize {
        len
    }

    /// Returns the number of digits of k.
    pub(super) fn factors(&self) -> u32 {
        self.factors
    }

    /// Returns the digits of a product, as the argument of a kernel that writes them.
    pub(super) fn product_arg(&mut self) -> Arg {
        Arg::from(&mut self.product)
    }

    /// Returns the constants of the reduction and the arguments of a step.
    pub(super) fn args(&self, step: Step) -> impl Iterator<Item = Arg> {
        let multiplier = if let Step::SquareTimes(m) = step { f64::from(m) } else { 1.0 };
        let addend = if step == Step::SquareMinusTwo { self.minus_two } else { 0.0 };
        self.args.iter().cloned().chain([multiplier, addend].map(Arg::F64))
    }

    /// Returns the launch that reduces the product to the digits of a register. It writes the words of a residue,
    /// and the others are zero in registers.
    ///
    /// # Panics
    /// Panics if `digits` is shorter than the layout.
    pub(super) fn reduce(&self, digits: &mut Buffer<i32>, step: Step) -> Call<'_> {
        assert_room("digits", digits.len(), self.product.len());
        let mut args = vec![Arg::from(digits), Arg::from(&self.product)];
        args.extend(self.args(step));
        Call { kernel: &self.kernel, launch: self.launch, args, begins_early: false }
    }

    /// Returns the digits of a residue after reducing the digits of a product.
    #[cfg(all(test, feature = "sim"))]
    pub(in crate::engine) fn reduced(
        &mut self,
        device: &Device,
        product: &[i32],
        step: Step,
    ) -> Result<Vec<i32>, DeviceError> {
        self.product.upload(product)?;
        let mut digits = device.upload(&vec![0; product.len()])?;
        self.reduce(&mut digits, step).make()?;
        digits.download()
    }
}
