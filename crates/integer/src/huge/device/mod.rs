//! Products, division and decimal digits of long numbers on a device.
//!
//! A number is split into digits. The digits of the product before carries are a convolution, which
//! is computed by transforms modulo 2^64 − 2^32 + 1
//! ([`Ntt64`](warpint_transform::gpu::goldilocks::Ntt64)); then carries are added. A batch of products
//! of equal shapes uses the same kernels as a single product ([`DeviceProducts::multiply`], [`Shape`]).
//! The host verifies products modulo 2^61 − 1 ([`residue`]). The device computes the residues of the
//! factors and of the product, in a kernel that has nothing in common with those of products.
//!
//! Cost: three transforms of N points, or two for a square, where N is about 2·n/b for numbers of n
//! bits and digits of b bits (22 at 2^24 bits, 16 at 2^32).

mod batch;
mod carries;
mod checks;
mod decimal;
mod division;
mod multiplier;
pub mod residue;
mod rows;
mod shape;
#[cfg(test)]
mod tests;

use warpint_device::{Cells, Device, DeviceError, ErrorKind, Source, View};
use warpint_transform::gpu::ntt::NttError;

use self::batch::Batches;
pub use self::batch::{Factor, Operand, Spectra};
use self::carries::Sums;
use self::checks::Checks;
use self::decimal::Decimal;
pub use self::division::DeviceDivisor;
pub use self::multiplier::DeviceMultiplier;
pub use self::rows::{Map, RowCells, Rows};
pub use self::shape::{Form, Shape};

/// The header of the kernels of batches.
const HEADERS: &[(&str, &str)] = &[("huge.cuh", include_str!("../../../kernels/huge/huge.cuh"))];
/// The number of threads of a block in kernels of this module.
const THREADS: u32 = 512;

/// The reason why a product on a device was refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HugeError {
    /// The factors are too long for one transform.
    #[error("factors of {a} and of {b} words: their product is too long for one transform")]
    TooLong {
        /// The number of words of the first factor.
        a: usize,
        /// The number of words of the second factor.
        b: usize,
    },
    /// The product is wrong modulo 2^61 − 1. The device made an error, or its memory did.
    #[error("the device computed a wrong product of numbers of {a} and of {b} words")]
    Wrong {
        /// The number of words of the first factor.
        a: usize,
        /// The number of words of the second factor.
        b: usize,
    },
    /// A quotient is wrong modulo 2^61 − 1, or a remainder is not less than the divisor. The device made
    /// an error, or its memory did.
    #[error("the device divided a number of {a} words by one of {d} words, with a wrong result")]
    WrongQuotient {
        /// The number of words of the dividend.
        a: usize,
        /// The number of words of the divisor.
        d: usize,
    },
    /// The digits of a number differ from it modulo 2^61 − 1. The device made an error, or its memory did.
    #[error(
        "the device converted a number of {words} words to or from digits, with a wrong result"
    )]
    WrongDigits {
        /// The number of words of the number.
        words: usize,
    },
    /// The divisor is 0.
    #[error("division by zero")]
    ZeroDivisor,
    /// A product needs more working memory than it may use.
    #[error("a product needs {bytes} bytes of the device's memory, and may use {limit}")]
    Memory {
        /// The bytes of working memory that the product needs.
        bytes: u64,
        /// The largest number of bytes that it may use.
        limit: u64,
    },
    /// A transform was refused or failed.
    #[error(transparent)]
    Transform(#[from] NttError),
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl HugeError {
    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::TooLong { .. } | Self::ZeroDivisor => ErrorKind::BadInput,
            Self::Wrong { .. } | Self::WrongQuotient { .. } | Self::WrongDigits { .. } => {
                ErrorKind::Unsound
            }
            Self::Memory { .. } => ErrorKind::Device,
            Self::Transform(e) => e.kind(),
            Self::Device(e) => e.kind(),
        }
    }
}

/// Multiplies long numbers on a device, in its memory.
///
/// It keeps the plans and the working memory of products, and their kernels.
#[derive(Debug)]
pub struct DeviceProducts {
    batches: Batches,
    sums: Sums,
    checks: Checks,
    decimal: Decimal,
    /// The number of words from which reciprocals are computed on the device.
    newton_from: usize,
}

impl DeviceProducts {
    /// Loads the kernels that all products use. Others are loaded when a product needs them first.
    ///
    /// # Errors
    /// The device cannot compile the kernels, or fails.
    pub fn new(device: &Device) -> Result<Self, HugeError> {
        Ok(Self {
            batches: Batches::new(device)?,
            sums: Sums::new(device)?,
            checks: Checks::new(device)?,
            decimal: Decimal::new(device)?,
            newton_from: division::NEWTON_FROM,
        })
    }

    /// Returns the device.
    #[must_use]
    pub fn device(&self) -> &Device {
        self.batches.device()
    }

    /// Returns the bytes of working memory that a product of numbers of `a` and `b` words needs
    /// beside the numbers. `None` if the numbers are too long for one transform.
    #[must_use]
    pub fn working_bytes(a: usize, b: usize) -> Option<u64> {
        let shape = Shape::whole(a, b, 1)?;
        Some(16 * shape.form.points as u64 + 4 * (a + b).div_ceil(THREADS as usize) as u64)
    }

    /// Sets the largest number of bytes of working memory of a call of [`Self::multiply`]. A batch that
    /// needs more is computed in parts. At first there is no limit.
    pub fn set_working_limit(&mut self, bytes: u64) {
        self.batches.limit = bytes;
    }

    /// Computes out ← a·b. `out` has as many words as a and b together, and no word in common with
    /// them. Asynchronous: returns before the device has finished. The product counts only after
    /// [`Self::verify`]. This function calls it if many products wait for it.
    ///
    /// # Errors
    /// The numbers are too long, an earlier product is wrong, or the device fails or does not have
    /// enough memory.
    ///
    /// # Panics
    /// If `out` has another number of words.
    pub fn mul(
        &mut self,
        out: Cells<'_, u64>,
        a: View<'_, u64>,
        b: View<'_, u64>,
    ) -> Result<(), HugeError> {
        self.product(out, a, Some(b))
    }

    /// Computes out ← a², like [`Self::mul`]. `out` has twice as many words as a, and no word in
    /// common with it.
    ///
    /// # Errors
    /// As for [`Self::mul`].
    ///
    /// # Panics
    /// If `out` has another number of words.
    pub fn square(&mut self, out: Cells<'_, u64>, a: View<'_, u64>) -> Result<(), HugeError> {
        self.product(out, a, None)
    }

    /// Computes out ← a·b, or a² without b.
    fn product(
        &mut self,
        out: Cells<'_, u64>,
        a: View<'_, u64>,
        b: Option<View<'_, u64>>,
    ) -> Result<(), HugeError> {
        let [of_a, of_b] = [a.len(), b.unwrap_or(a).len()];
        assert_eq!(out.len(), of_a + of_b, "words of the product");
        if of_a.min(of_b) == 0 {
            // A number without words is 0.
            return Ok(out.clear()?);
        }
        let shape = Shape::whole(of_a, of_b, 1).ok_or(HugeError::TooLong { a: of_a, b: of_b })?;
        let factor = |x| Factor::rows(Rows::one(x), Map::EACH);
        let terms = [[factor(a), factor(b.unwrap_or(a))]];
        let out = RowCells::one(out);
        self.multiply(&shape, out, &terms)?;
        self.submit_check(out, &terms)
    }

    /// Computes the spectra of rows, for use in several products. The form is that of the shape of these
    /// products. Asynchronous, except for the allocation of the spectra.
    ///
    /// The memory of the spectra is 8 bytes for each point of each row. The cost is one transform.
    ///
    /// # Errors
    /// The device fails, or does not have enough memory.
    ///
    /// # Panics
    /// If the rows have more words than [`Form::words`].
    pub fn forward(&mut self, form: Form, rows: Rows<'_>) -> Result<Spectra, HugeError> {
        let points = rows.count.saturating_mul(form.points);
        let mut spectra = self.batches.room(form, points)?;
        self.batches.forward(&mut spectra, form, rows)?;
        Ok(spectra)
    }

    /// Computes for each row i of `out` the product s·t of the two factors of a single term, or the sum
    /// s·t + u·v of two terms, where s, t, u and v are the rows of the factors that their maps assign to
    /// row i. The results are the words of the window of `shape`, with the error stated there: whole
    /// products are exact.
    ///
    /// Factors may be shorter than the shape says, and have leading zeros. `out` has no word in common
    /// with the factors. Asynchronous. If the working memory is limited, a batch is computed in
    /// parts. The results are not verified, see [`Self::submit_check`].
    ///
    /// Cost: one transform for each row of different operands that are not spectra, and one for each row
    /// of `out`.
    ///
    /// # Errors
    /// One row needs more working memory than the limit, or the device fails or does not have enough
    /// memory.
    ///
    /// # Panics
    /// If the number of terms, the words of `out`, the words of a factor or the form of a spectrum are not
    /// those of the shape, if a map assigns a row that does not exist, or if a shape is cyclic and `out`
    /// has several rows.
    pub fn multiply(
        &mut self,
        shape: &Shape,
        out: RowCells<'_>,
        terms: &[[Factor<'_>; 2]],
    ) -> Result<(), HugeError> {
        self.batches.multiply(shape, out, terms)
    }

    /// Submits the computation of the residues of whole products and of their factors, which
    /// [`Self::verify`] compares. `out` and `terms` are those of [`Self::multiply`], and must not be
    /// changed before. Asynchronous, except that it calls [`Self::verify`] if many products wait for it.
    ///
    /// # Errors
    /// An earlier product is wrong, or the device fails.
    ///
    /// # Panics
    /// If a factor is given as spectra.
    pub fn submit_check(
        &mut self,
        out: RowCells<'_>,
        terms: &[[Factor<'_>; 2]],
    ) -> Result<(), HugeError> {
        self.checks.submit(out.rows(), terms)
    }

    /// Waits for the device, and verifies the products that were submitted for it since the last call.
    ///
    /// # Errors
    /// [`HugeError::Wrong`] if one is wrong; the others then count as unverified too. Or the device
    /// fails.
    pub fn verify(&mut self) -> Result<(), HugeError> {
        self.checks.verify()
    }

    /// Waits for the device, and returns the residues of rows modulo 2^61 − 1. Products that wait for
    /// their verification are verified too.
    ///
    /// # Errors
    /// As for [`Self::verify`].
    pub fn residues(&mut self, rows: Rows<'_>) -> Result<Vec<u64>, HugeError> {
        self.checks.residues(rows)
    }

    /// Frees the working memory if it is larger than `bytes`.
    pub(super) fn keep_at_most(&mut self, bytes: u64) {
        self.batches.keep_at_most(bytes);
    }
}

/// Returns the sources of the shipped kernels of this module.
#[must_use]
pub fn sources() -> Vec<Source> {
    let mut all = batch::sources();
    all.extend([checks::source(), decimal::source()]);
    all.extend(carries::sources());
    all
}
