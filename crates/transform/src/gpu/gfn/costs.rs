//! Parts of a transform that benchmarks run separately, and counts of its memory traffic and
//! products.

use warpint_device::Buffer;

use super::plan::{GfnFft, GfnFftError};
use super::shape::has_spectra;
use super::twiddles::{Pass, Twiddles};
use crate::Plan;

/// The passes of a plan without their products by twiddles. Their result is not a transform. Their
/// time is the time of the sums, rotations and memory accesses of a transform.
#[derive(Debug)]
pub struct Butterflies<'a> {
    plan: &'a GfnFft,
    passes: Vec<Pass>,
}

impl Butterflies<'_> {
    /// Submits the passes to the device. The first pass reads x, and the last pass writes `out`.
    ///
    /// # Errors
    /// A buffer does not have the plan's length, or the device fails.
    pub fn run(&self, x: &Buffer<u64>, out: &mut Buffer<u64>) -> Result<(), GfnFftError> {
        self.plan.run(&self.passes, None, x, out)
    }
}

impl GfnFft {
    /// Prepares the passes of this plan without their products by twiddles, for benchmarks.
    ///
    /// # Errors
    /// The kernels of these passes do not compile, or the device fails.
    pub fn butterflies(&self) -> Result<Butterflies<'_>, GfnFftError> {
        let bare = |pass: &Pass| -> Result<Pass, GfnFftError> {
            let Pass { tile, launch, log_s, .. } = *pass;
            let program = self.device.program(&tile.pass(false)?)?;
            let kernel = program.kernel("pass", tile.shared_bytes())?;
            Ok(Pass { tile, kernel, launch, log_s, twiddles: None })
        };
        let passes = self.passes.iter().map(bare).collect::<Result<_, _>>()?;
        Ok(Butterflies { plan: self, passes })
    }

    /// Returns the number of bytes that a forward transform of a batch reads and writes. Each pass
    /// reads and writes all vectors. Each table of twiddles is counted once.
    #[must_use]
    pub fn traffic(&self) -> u64 {
        let tables: usize = self.twiddles().map(|twiddles| twiddles.table.len()).sum();
        8 * (2 * self.passes() as u64 * self.size() as u64 + tables as u64)
    }

    /// Returns the number of products of two digits in a forward transform of a batch: k² for each
    /// product of an element by a twiddle, where k is the number of digits of an element. Returns
    /// `None` if the plan computes products of elements by transforms of their digits, which is the
    /// case for k > 16.
    #[must_use]
    pub fn digit_products(&self) -> Option<u64> {
        let twiddled = self.twiddles().count() as u64;
        let all = twiddled * self.size() as u64 * self.form().digits() as u64;
        (!has_spectra(self.form())).then_some(all)
    }

    fn twiddles(&self) -> impl Iterator<Item = &Twiddles> {
        self.passes.iter().filter_map(|pass| pass.twiddles.as_ref())
    }
}
