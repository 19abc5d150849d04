//! The reduction of products that are longer than residues.

use warpint_device::{Arg, Buffer, Device, DeviceError, Kernel, Launch, Source, assert_room};

use super::products::Call;
use crate::engine::Step;

/// A kernel that reduces the digits of a product modulo N, with the buffers of a squaring.
///
/// Its first parameters are the digits of the residue and of the product, its last ones the multiplier of a step and
/// what the step adds, as doubles.
pub(in crate::engine) struct Reduction {
    kernel: Kernel,
    launch: Launch,
    /// The arguments between those of digits and those of the step.
    args: Vec<Arg>,
    /// What [`Step::SquareMinusTwo`] adds.
    minus_two: f64,
    product: Buffer<i32>,
    residue: Buffer<i32>,
}

impl Reduction {
    /// Compiles the kernel of a source and allocates digits of zeros for `len` words. The kernel writes only some
    /// words of a residue; the others are zero.
    ///
    /// # Safety
    /// The kernel must take `args` after the pointers to `len` words each of a residue and of a product, and two
    /// doubles after them. It must wait for the last launch before it reads or writes. What `args` point to must
    /// exist as long as the reduction and its graphs.
    pub(in crate::engine) unsafe fn new(
        device: &Device,
        source: &Source,
        name: &'static str,
        launch: Launch,
        args: Vec<Arg>,
        minus_two: f64,
        len: usize,
    ) -> Result<Self, DeviceError> {
        let zeros = vec![0; len];
        Ok(Self {
            kernel: device.program(source)?.kernel(name, 0)?,
            launch,
            args,
            minus_two,
            product: device.upload(&zeros)?,
            residue: device.upload(&zeros)?,
        })
    }

    /// Returns the number of digits for which a reduction of `len` words allocates memory.
    pub(in crate::engine) fn digits(len: usize) -> usize {
        2 * len
    }

    /// Returns the digits of a product, as the argument of a kernel that writes them.
    pub(super) fn product_arg(&mut self) -> Arg {
        Arg::from(&mut self.product)
    }

    /// Returns the digits to which [`Self::reduce`] reduces.
    pub(super) fn residue(&self) -> &Buffer<i32> {
        &self.residue
    }

    /// Returns the launch that reduces the product of a squaring.
    pub(super) fn reduce(&mut self, step: Step) -> Call<'_> {
        let digits = Arg::from(&mut self.residue);
        self.call(digits, step)
    }

    /// Returns the launch that reduces the product to the digits of a register.
    ///
    /// # Panics
    /// Panics if `digits` is shorter than the layout.
    pub(super) fn reduce_into(&self, digits: &mut Buffer<i32>, step: Step) -> Call<'_> {
        assert_room("digits", digits.len(), self.residue.len());
        self.call(Arg::from(digits), step)
    }

    /// Returns the digits of a residue after reducing the digits of a product.
    #[cfg(test)]
    pub(in crate::engine) fn reduced(
        &mut self,
        product: &[i32],
        step: Step,
    ) -> Result<Vec<i32>, DeviceError> {
        self.product.upload(product)?;
        self.reduce(step).make()?;
        self.residue.download()
    }

    fn call(&self, digits: Arg, step: Step) -> Call<'_> {
        let multiplier = if let Step::SquareTimes(m) = step { f64::from(m) } else { 1.0 };
        let addend = if step == Step::SquareMinusTwo { self.minus_two } else { 0.0 };
        let mut args = vec![digits, Arg::from(&self.product)];
        args.extend_from_slice(&self.args);
        args.extend([multiplier, addend].map(Arg::F64));
        Call { kernel: &self.kernel, launch: self.launch, args, begins_early: true }
    }
}
