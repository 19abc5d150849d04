//! Operations on the CPU. *Instance* i of an operation on batches is the computation with number i
//! of each batch. All cores work on a batch, and each core processes several instances at a time.
//! In the comments of these files, a *limb* has 32 bits in batches, and 64 bits in working memory.
//! The arithmetic of single numbers is in [`warpint_natural`].
//!
//! | file | what it computes |
//! |---|---|
//! | `sum` | sums and differences |
//! | `elementwise` | comparisons, shifts, logic, products with a word |
//! | `multiply` | products and squares of a batch's numbers |
//! | `whole` | whole products and squares, one after the other |
//! | `divide` | quotients and remainders of a batch's numbers |
//! | `gcd` | common divisors and inverses of a batch's numbers |
//! | `powers` | roots and powers of a batch's numbers, and products modulo numbers |
//! | `rows` | loops over the rows of several results and flags |
//! | `lanes` | batches across the lanes of vectors |

mod divide;
mod elementwise;
mod gcd;
#[cfg(any(test, target_arch = "x86_64"))]
mod lanes;
mod multiply;
mod powers;
mod rows;
mod sum;
mod whole;

pub(crate) use divide::{divide, divide_exactly};
pub(crate) use elementwise::{
    bit_lengths, bitwise, choose, compare, compare_limbs, mul_word, neg, not, reduce, resize,
    shift_left, shift_right, take,
};
pub(crate) use gcd::{gcd, gcd_ext, inverse};
pub(crate) use multiply::{multiply, square};
pub(crate) use powers::{mul_mod, pow_mod, root, sqrt_rem};
pub(crate) use rows::Rows;
pub(crate) use sum::{sum, sum_assign};

use warpint_natural::product::Rows as Rows64;

/// The size in bytes of the results that one core computes at a time. For less work, distribution
/// to cores takes longer than it saves.
const CHUNK_BYTES: usize = 1 << 14;

/// An operand: numbers of `width` limbs of 32 bits, one number after the other, the lowest limb
/// first. If `broadcast` is true, there is a single number, which every instance uses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operand<'a> {
    limbs: &'a [u32],
    width: usize,
    broadcast: bool,
}

impl<'a> Operand<'a> {
    pub(crate) fn new(limbs: &'a [u32], width: usize, broadcast: bool) -> Self {
        Self { limbs, width, broadcast }
    }

    /// Returns the number of limbs per number.
    fn width(&self) -> usize {
        self.width
    }

    /// Returns whether every instance uses the same number.
    fn is_broadcast(&self) -> bool {
        self.broadcast
    }

    /// Returns the limbs of number i.
    pub(crate) fn row(&self, i: usize) -> &'a [u32] {
        let i = if self.broadcast { 0 } else { i };
        &self.limbs[i * self.width..][..self.width]
    }

    /// Returns the numbers in limbs of 64 bits, without a copy. Returns `None` if the width is odd,
    /// the memory is not aligned for them, or the processor has the upper half of a limb first.
    fn words(&self) -> Option<Rows64<'a>> {
        let limbs = bytemuck::try_cast_slice(self.limbs).ok()?;
        let fits = cfg!(target_endian = "little") && self.width.is_multiple_of(2);
        fits.then(|| Rows64::new(limbs, self.width / 2, self.broadcast))
    }
}

/// Returns how many numbers of `limbs` limbs one core processes at a time.
fn rows_at_a_time(limbs: usize) -> usize {
    (CHUNK_BYTES / 4 / limbs).max(1)
}

/// Joins two limbs of 32 bits, the lower one first, to one limb of 64 bits.
#[inline]
pub(crate) fn join(pair: &[u32]) -> u64 {
    u64::from(pair[0]) | u64::from(pair[1]) << 32
}

/// Copies the 32-bit limbs `from` to the 64-bit limbs `to`, and sets the higher limbs of `to` to 0.
/// `to` must have at least half as many limbs as `from`, rounded up.
fn load(to: &mut [u64], from: &[u32]) {
    let pairs = from.chunks_exact(2);
    let odd = pairs.remainder().first();
    let used = from.len().div_ceil(2);
    for (to, pair) in to.iter_mut().zip(pairs) {
        *to = join(pair);
    }
    if let Some(&odd) = odd {
        to[used - 1] = u64::from(odd);
    }
    to[used..].fill(0);
}

/// Returns the 64-bit limbs of the number with the 32-bit limbs `row`.
pub(crate) fn limbs_of(row: &[u32]) -> Vec<u64> {
    let mut limbs = vec![0; row.len().div_ceil(2)];
    load(&mut limbs, row);
    limbs
}

/// Fills the 32-bit limbs `to` with the lowest limbs of the number with the 64-bit limbs `from`.
/// `from` must have at least half as many limbs as `to`, rounded up.
pub(crate) fn store(to: &mut [u32], from: &[u64]) {
    let top = to.len() / 2;
    let mut pairs = to.chunks_exact_mut(2);
    for (pair, &limb) in pairs.by_ref().zip(from) {
        pair[0] = limb as u32;
        pair[1] = (limb >> 32) as u32;
    }
    if let Some(odd) = pairs.into_remainder().first_mut() {
        *odd = from[top] as u32;
    }
}
