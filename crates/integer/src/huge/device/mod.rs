//! Products of long numbers on a device.
//!
//! A number is split into digits. The digits of the product before carries are a convolution, which
//! is computed by transforms modulo 2^64 − 2^32 + 1 ([`Ntt64`]); then carries are added. The host
//! verifies products modulo 2^61 − 1 ([`residue`]). The device computes the residues of the factors
//! and of the product, in a kernel that has nothing in common with those of products.
//!
//! Cost: three transforms of N points, or two for a square, where N is about 2·n/b for numbers of n
//! bits and digits of b bits (22 at 2^24 bits, 16 at 2^32).

mod multiplier;
pub mod residue;
mod shape;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use warpint_device::{
    Arg, Buffer, Cells, Device, DeviceError, ErrorKind, Kernel, Launch, Source, View, common,
};
use warpint_transform::Plan;
use warpint_transform::gpu::goldilocks::Ntt64;
use warpint_transform::gpu::ntt::NttError;

use self::shape::Shape;
pub use multiplier::DeviceMultiplier;

/// The header of the kernels that add carries.
const HEADERS: &[(&str, &str)] = &[("huge.cuh", include_str!("../../../kernels/huge/huge.cuh"))];
/// The number of threads of a block in kernels of this module.
const THREADS: u32 = 512;
/// The number of threads of the single block that adds up carries of blocks.
const CARRY_THREADS: u32 = 512;
/// The largest number of blocks of kernels whose threads run through several words.
const MOST_BLOCKS: u64 = 4096;
/// The largest number of blocks, and so of partial sums, of a residue.
const RESIDUE_BLOCKS: usize = 512;
/// The largest number of products that wait for their verification.
const MOST_PENDING: usize = 256;

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
            Self::TooLong { .. } => ErrorKind::BadInput,
            Self::Wrong { .. } => ErrorKind::Unsound,
            Self::Transform(e) => e.kind(),
            Self::Device(e) => e.kind(),
        }
    }
}

/// Multiplies long numbers on a device, in its memory.
///
/// It keeps the plans and the working memory of the shape of the last product, and the kernels of
/// all.
#[derive(Debug)]
pub struct DeviceProducts {
    device: Device,
    residue: Kernel,
    carries: Kernel,
    /// The kernels for each number of bits of a digit.
    by_bits: HashMap<u32, ByBits>,
    space: Option<Space>,
    /// The partial sums of the residues of the products in `pending`, and room for others:
    /// [product][a, b, a·b][block].
    sums: Buffer<u64>,
    /// The products that were not verified yet.
    pending: Vec<Pending>,
}

/// A product that was not verified yet.
#[derive(Debug, Clone, Copy)]
struct Pending {
    /// The numbers of words of the factors.
    words: [usize; 2],
    is_square: bool,
}

/// Kernels for digits of a certain number of bits.
#[derive(Debug, Clone)]
struct ByBits {
    digits: Kernel,
    sum: Kernel,
    add_carries: Kernel,
}

/// The transforms of products of one length, and their working memory.
#[derive(Debug)]
struct Space {
    plan: Ntt64,
    /// The digits of the first factor, and then the coefficients of the product.
    first: Buffer<u64>,
    /// The digits of the second factor, if the last product was not a square.
    second: Option<Buffer<u64>>,
    /// What each block of a sum does with a carry, then the carry into the block.
    blocks: Buffer<u32>,
}

impl DeviceProducts {
    /// Loads the kernels that all products use. Others are loaded when a product needs them first.
    ///
    /// # Errors
    /// The device cannot compile the kernels, or fails.
    pub fn new(device: &Device) -> Result<Self, HugeError> {
        let [residue, carries] = [residue_source(), carries_source()];
        let residue = device.program(&residue)?.kernel("huge_residue", 0)?;
        let carries = device.program(&carries)?.kernel("huge_carries", 0)?;
        let sums = device.alloc(3 * RESIDUE_BLOCKS * MOST_PENDING)?;
        Ok(Self {
            device: device.clone(),
            residue,
            carries,
            by_bits: HashMap::new(),
            space: None,
            sums,
            pending: vec![],
        })
    }

    /// Returns the device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the bytes of working memory that a product of numbers of `a` and `b` words needs
    /// beside the numbers. `None` if the numbers are too long for one transform.
    #[must_use]
    pub fn working_bytes(a: usize, b: usize) -> Option<u64> {
        let shape = Shape::of(a, b)?;
        Some(16 * shape.points as u64 + 4 * (a + b).div_ceil(THREADS as usize) as u64)
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
        if out.is_empty() {
            return Ok(());
        }
        let shape = Shape::of(of_a, of_b).ok_or(HugeError::TooLong { a: of_a, b: of_b })?;
        let kernels = self.kernels(shape.bits)?.clone();
        let blocks = out.len().div_ceil(THREADS as usize);
        let Space { plan, first, second, blocks: of_blocks } =
            Space::get(&mut self.space, &self.device, shape.points, blocks)?;
        split(&kernels, first, a)?;
        if let Some(b) = b {
            let second = match second {
                Some(second) => second,
                None => second.insert(self.device.alloc(shape.points)?),
            };
            split(&kernels, second, b)?;
            plan.convolve(first, second)?;
        } else {
            plan.square(first)?;
        }
        let coefficients = (shape.digits(of_a) + shape.digits(of_b)).min(shape.points);
        let words = Arg::U64(out.len() as u64);
        let grid = Launch::linear(blocks as u32, THREADS);
        let args = [
            out.into(),
            (&mut *of_blocks).into(),
            (&*first).into(),
            Arg::U64(coefficients as u64),
            words,
        ];
        // SAFETY: `first` has `coefficients` words or more, `out` has `words`, and there is a word
        // of `of_blocks` for each block.
        unsafe { kernels.sum.launch(grid, &args)? };
        let args = [(&mut *of_blocks).into(), Arg::U32(blocks as u32)];
        // SAFETY: as above.
        unsafe { self.carries.launch(Launch::linear(1, CARRY_THREADS), &args)? };
        let args = [out.into(), (&*of_blocks).into(), Arg::U32(blocks as u32), words];
        let grid = Launch::linear((blocks as u32).div_ceil(THREADS), THREADS);
        // SAFETY: as above.
        unsafe { kernels.add_carries.launch(grid, &args)? };
        if self.pending.len() == MOST_PENDING {
            self.verify()?;
        }
        let at = 3 * self.pending.len();
        self.submit_residue(at, a)?;
        if let Some(b) = b {
            self.submit_residue(at + 1, b)?;
        }
        self.submit_residue(at + 2, out.view())?;
        self.pending.push(Pending { words: [of_a, of_b], is_square: b.is_none() });
        Ok(())
    }

    /// Waits for the device, and verifies the products computed since the last call.
    ///
    /// # Errors
    /// [`HugeError::Wrong`] if one is wrong; the others then count as unverified too. Or the device
    /// fails.
    pub fn verify(&mut self) -> Result<(), HugeError> {
        let pending = std::mem::take(&mut self.pending);
        let sums = self.sums.download_part(0..3 * RESIDUE_BLOCKS * pending.len())?;
        let mut residues = sums.chunks(RESIDUE_BLOCKS);
        for Pending { words: [a, b], is_square } in pending {
            let mut next = |words| {
                let sums = residues.next().unwrap_or_default();
                let used = &sums[..residue_blocks(words).min(sums.len())];
                used.iter().fold(0, |all, &sum| residue::sum(all, residue::of(&[sum])))
            };
            let (of_a, of_b, product) = (next(a), next(b), next(a + b));
            if product != residue::product(of_a, if is_square { of_a } else { of_b }) {
                return Err(HugeError::Wrong { a, b });
            }
        }
        Ok(())
    }

    /// Forgets the products that wait for their verification. For a caller that verifies them by
    /// itself.
    pub(super) fn forget(&mut self) {
        self.pending.clear();
    }

    /// Submits the computation of the partial sums of the residue of x, to place `at` of `sums`.
    fn submit_residue(&mut self, at: usize, x: View<'_, u64>) -> Result<(), DeviceError> {
        let blocks = residue_blocks(x.len());
        let sums = self.sums.cells(at * RESIDUE_BLOCKS..(at + 1) * RESIDUE_BLOCKS);
        let args = [sums.into(), x.into(), Arg::U64(x.len() as u64)];
        // SAFETY: there is a sum for each block.
        unsafe { self.residue.launch(Launch::linear(blocks as u32, THREADS), &args) }
    }

    /// Returns the kernels for digits of `bits` bits.
    fn kernels(&mut self, bits: u32) -> Result<&ByBits, DeviceError> {
        use std::collections::hash_map::Entry;
        match self.by_bits.entry(bits) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => {
                let split = self.device.program(&digits_source(bits))?;
                let carry = self.device.program(&carry_source(bits))?;
                Ok(entry.insert(ByBits {
                    digits: split.kernel("huge_digits", 0)?,
                    sum: carry.kernel("huge_sum", 0)?,
                    add_carries: carry.kernel("huge_add_carries", 0)?,
                }))
            }
        }
    }
}

impl Space {
    /// Returns the space for transforms of `points` points and sums of `blocks` blocks. A space of
    /// another length is freed first.
    fn get<'a>(
        space: &'a mut Option<Self>,
        device: &Device,
        points: usize,
        blocks: usize,
    ) -> Result<&'a mut Self, HugeError> {
        if space.as_ref().is_some_and(|space| space.plan.points() != points) {
            *space = None;
        }
        let space = match space {
            Some(space) => space,
            None => {
                let plan = Ntt64::new(device, points)?;
                let (first, blocks) = (device.alloc(points)?, device.alloc(blocks)?);
                space.insert(Self { plan, first, second: None, blocks })
            }
        };
        if space.blocks.len() < blocks {
            space.blocks = device.alloc(blocks)?;
        }
        Ok(space)
    }
}

/// Returns the number of blocks that compute the residue of a number of `words` words.
fn residue_blocks(words: usize) -> usize {
    words.div_ceil(THREADS as usize).clamp(1, RESIDUE_BLOCKS)
}

/// Splits a number into digits, as many as `digits` has words.
fn split(kernels: &ByBits, digits: &mut Buffer<u64>, x: View<'_, u64>) -> Result<(), DeviceError> {
    let count = digits.len() as u64;
    let blocks = count.div_ceil(u64::from(THREADS)).min(MOST_BLOCKS) as u32;
    let args = [digits.into(), x.into(), Arg::U64(x.len() as u64), Arg::U64(count)];
    // SAFETY: the lengths are those of the buffers.
    unsafe { kernels.digits.launch(Launch::linear(blocks, THREADS), &args) }
}

/// Returns the sources of the shipped kernels of this module.
#[must_use]
pub fn sources() -> Vec<Source> {
    let of_bits = |bits| [digits_source(bits), carry_source(bits)];
    let all = [16, 19, 22, 26].into_iter().flat_map(of_bits);
    all.chain([residue_source(), carries_source()]).collect()
}

fn digits_source(bits: u32) -> Source {
    Source::new("digits.cu", include_str!("../../../kernels/huge/digits.cu"), &["huge_digits"])
        .headers(common::HEADERS)
        .define("BITS", bits)
        .define("THREADS", THREADS)
}

fn carry_source(bits: u32) -> Source {
    const KERNELS: [&str; 2] = ["huge_sum", "huge_add_carries"];
    Source::new("carry.cu", include_str!("../../../kernels/huge/carry.cu"), &KERNELS)
        .headers(common::HEADERS)
        .headers(HEADERS)
        .define("BITS", bits)
        .define("THREADS", THREADS)
}

fn carries_source() -> Source {
    Source::new("carries.cu", include_str!("../../../kernels/huge/carries.cu"), &["huge_carries"])
        .headers(common::HEADERS)
        .headers(HEADERS)
        .define("THREADS", CARRY_THREADS)
}

fn residue_source() -> Source {
    Source::new("residue.cu", include_str!("../../../kernels/huge/residue.cu"), &["huge_residue"])
        .headers(common::HEADERS)
        .define("THREADS", THREADS)
}
