//! Batches across the lanes of vectors. Each lane holds one number, and all lanes execute the same
//! steps.
//!
//! | file | subject |
//! |---|---|
//! | `vector` | the interface of vectors |
//! | `ifma`, `avx2`, `portable` | vectors for AVX-512 IFMA, for AVX2, and for tests on any processor |
//! | `avx2_words` | vectors for division steps on AVX2 |
//! | `rows` | conversion between rows in memory and limbs in lanes |
//! | `columns` | products, squares and Montgomery reductions of limbs in lanes |
//! | `product` | products and squares of a batch's numbers |
//! | `fixed` | the same for ranges of widths, each compiled on its own |
//! | `chunks` | distribution of results to cores |
//! | `montgomery` | powers modulo odd numbers, one group of lanes at a time |
//! | `power` | powers of a batch's numbers |
//! | `masks` | the interface of vectors whose lanes are treated differently |
//! | `steps` | division steps on the lowest bits of two numbers |
//! | `sums` | combinations of two numbers |
//! | `pair` | the numbers of division steps |
//! | `cofactors` | their cofactors modulo odd numbers |
//! | `twos` | common powers of two |
//! | `gcd` | greatest common divisors and inverses of a batch's numbers |

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx2_words;
mod chunks;
mod cofactors;
mod columns;
mod fixed;
mod gcd;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod masks;
#[cfg(test)]
mod measure;
mod montgomery;
mod pair;
#[cfg(test)]
mod portable;
mod power;
mod product;
mod rows;
mod steps;
mod sums;
#[cfg(test)]
mod tests;
mod twos;
mod vector;

use super::{Operand, Rows};
use crate::operation::Part;
use vector::Lanes;

/// The vectors that compute a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Path {
    /// Eight lanes with limbs of 52 bits, by AVX-512 IFMA.
    #[cfg(target_arch = "x86_64")]
    Ifma,
    /// Four lanes with limbs of 52 bits, by FP64 on AVX2. Division steps have limbs of 30 bits.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// The operations of [`Path::Ifma`] on any processor.
    #[cfg(test)]
    Portable,
    /// As [`Path::Portable`], but with the blocks of [`Path::Avx2`], and with its limbs for division
    /// steps.
    #[cfg(test)]
    PortableSmall,
}

/// Returns `Some` of the value of `$body`, where `$v` is the type of the vectors of a path, and
/// `$proof` is the proof that the processor has its instructions. Returns `None` if the processor
/// lacks them. `$avx2` and `$small` are the types of [`Path::Avx2`] and [`Path::PortableSmall`].
macro_rules! with_vectors {
    ($avx2:ty, $small:ty, $path:expr, $v:ident, $proof:ident => $body:expr) => {{
        match $path {
            #[cfg(target_arch = "x86_64")]
            Path::Ifma => {
                type $v = ifma::Ifma;
                $v::proof().map(|$proof| $body)
            }
            #[cfg(target_arch = "x86_64")]
            Path::Avx2 => {
                type $v = $avx2;
                $v::proof().map(|$proof| $body)
            }
            #[cfg(test)]
            Path::Portable => {
                type $v = portable::Portable<true>;
                $v::proof().map(|$proof| $body)
            }
            #[cfg(test)]
            Path::PortableSmall => {
                type $v = $small;
                $v::proof().map(|$proof| $body)
            }
        }
    }};
}

/// Does the same as `with_vectors` for the vectors of products and powers.
macro_rules! with_lanes {
    ($path:expr, $v:ident, $proof:ident => $body:expr) => {
        with_vectors!(avx2::Avx2, portable::Portable<false>, $path, $v, $proof => $body)
    };
}

/// Does the same as `with_vectors` for the vectors of division steps, which have [`masks::Masks`].
macro_rules! with_masks {
    ($path:expr, $v:ident, $proof:ident => $body:expr) => {
        with_vectors!(
            avx2_words::Avx2Words, portable::Portable<true, 30>, $path, $v, $proof => $body
        )
    };
}

impl Path {
    /// Returns the fastest path of this processor.
    #[cfg(target_arch = "x86_64")]
    fn best() -> Option<Self> {
        [Self::Ifma, Self::Avx2].into_iter().find(|path| path.exists())
    }

    /// Returns whether this processor has the instructions.
    fn exists(self) -> bool {
        with_lanes!(self, V, _proof => ()).is_some()
    }

    /// Returns the path that is faster than one product after the other for `count` products, of
    /// which `part` is needed, of factors of `a` and `b` limbs of 32 bits. Returns `None` if there is
    /// none.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn for_products(part: Part, a: usize, b: usize, count: usize) -> Option<Self> {
        let path = Self::best()?;
        let widths = path.widths_of_products();
        let is_whole = part == Part::Full && a == b && path.whole_products_pay(a);
        let pays = if widths.contains(&a) && widths.contains(&b) {
            count >= path.fewest()
        } else {
            is_whole && count >= 2 * path.fewest()
        };
        pays.then_some(path)
    }

    /// Returns the smallest number of instances for which lanes are used: half of the lanes of a
    /// vector.
    #[cfg(target_arch = "x86_64")]
    fn fewest(self) -> usize {
        with_lanes!(self, V, _proof => V::LANES / 2).unwrap_or(usize::MAX)
    }

    /// Returns the widths of factors, in limbs of 32 bits, for which products are faster across
    /// lanes. Measured by `cargo test --release -p warpint-integer --lib lanes::tests::speed --
    /// --ignored --nocapture` on an AMD EPYC (Zen 4) and an Intel Xeon.
    #[cfg(target_arch = "x86_64")]
    fn widths_of_products(self) -> std::ops::RangeInclusive<usize> {
        let from = if self == Self::Avx2 { 64 } else { 5 };
        from..=256
    }

    /// Returns whether whole products and squares of factors of `width` limbs of 32 bits are faster
    /// across lanes. Measured as for [`Self::widths_of_products`].
    #[cfg(target_arch = "x86_64")]
    fn whole_products_pay(self, width: usize) -> bool {
        match (self, width) {
            (Self::Avx2, 9..=16) => !width.is_multiple_of(2),
            (Self::Avx2, 17..=256) => true,
            (Self::Avx2, _) => false,
            _ => self.widths_of_products().contains(&width),
        }
    }

    /// Computes out_i ← the limbs of a_i·b_i that `part` selects, or of a_i² if b is `None`.
    ///
    /// # Panics
    /// Panics if the processor lacks the instructions of the path.
    pub(super) fn multiply(self, part: Part, a: Operand, b: Option<Operand>, out: &mut [u32]) {
        let done = with_lanes!(self, V, proof => product::multiply::<V>(proof, part, a, b, out));
        assert!(done.is_some(), "the processor lacks the path's instructions");
    }

    /// Returns the path that is faster than one power after the other for `count` powers of numbers
    /// of `a` limbs of 32 bits modulo numbers of `m` limbs. Returns `None` if there is none.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn for_powers(a: usize, m: usize, count: usize) -> Option<Self> {
        let path = Self::best()?;
        let pays = path.widths_of_powers().contains(&m) && count >= path.fewest();
        (pays && path.fits(a, m)).then_some(path)
    }

    /// Returns the widths of moduli, in limbs of 32 bits, for which powers are faster across lanes.
    /// Measured as for products.
    #[cfg(target_arch = "x86_64")]
    fn widths_of_powers(self) -> std::ops::RangeInclusive<usize> {
        5..=256
    }

    /// Returns whether powers of numbers of `a` limbs of 32 bits modulo numbers of `m` limbs can be
    /// computed: bases may not be wider than residues.
    fn fits(self, a: usize, m: usize) -> bool {
        with_lanes!(self, V, _proof => power::fits::<V>(a, m)).unwrap_or(false)
    }

    /// Computes x_i ← a_i^e_i mod m_i, with as many limbs as m. Where m_i = 0, x_i is 0 and flags_i
    /// is 1. `operands` are a, e and m.
    ///
    /// # Panics
    /// Panics if the processor lacks the instructions of the path, or if bases are wider than
    /// residues.
    pub(super) fn pow_mod(self, operands: [Operand; 3], x: Rows, flags: &mut [u8]) {
        let done = with_lanes!(self, V, proof => power::pow_mod::<V>(proof, operands, x, flags));
        assert!(done.is_some(), "the processor lacks the path's instructions");
    }

    /// Returns the path that is faster than one greatest common divisor after the other for `count`
    /// pairs of numbers of `a` and `b` limbs of 32 bits. Returns `None` if there is none. The limits
    /// were measured by `cargo test --release -p warpint-integer --lib speed_of_gcds -- --ignored
    /// --nocapture` on an AMD EPYC (Zen 4). If one number is much longer than the other, Lehmer's
    /// method begins with a division, and the other steps depend on the shorter number only.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn for_gcds(a: usize, b: usize, count: usize) -> Option<Self> {
        let (short, long) = (a.min(b), a.max(b));
        let pays = |path| {
            let widths = match (path, 2 * long <= 3 * short) {
                (Self::Avx2, true) => 4..=128,
                (Self::Avx2, false) => 4..=32,
                _ => 3..=512,
            };
            widths.contains(&long) && long <= 2 * short
        };
        Self::with_steps(count).filter(|&path| pays(path))
    }

    /// Returns the path that is faster than one inverse after the other for `count` numbers of `a`
    /// limbs of 32 bits modulo numbers of `m` limbs. Returns `None` if there is none. Measured as for
    /// greatest common divisors.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn for_inverses(a: usize, m: usize, count: usize) -> Option<Self> {
        let (short, long) = (a.min(m), a.max(m));
        let pays = |path| {
            let most = match (path, 2 * long <= 3 * short) {
                (Self::Avx2, true) if 4 * long <= 5 * short => 128,
                (Self::Avx2, true) => 32,
                (Self::Avx2, false) => 16,
                (_, true) => 256,
                (_, false) => 128,
            };
            long <= most && long <= 2 * short
        };
        Self::with_steps(count).filter(|&path| pays(path))
    }

    /// Returns the fastest path if `count` instances fill three quarters of the lanes of a vector, or
    /// all lanes on AVX2.
    #[cfg(target_arch = "x86_64")]
    fn with_steps(count: usize) -> Option<Self> {
        let path = Self::best()?;
        let lanes = with_masks!(path, V, _proof => V::LANES)?;
        let fewest = if path == Self::Avx2 { lanes } else { 3 * lanes / 4 };
        (count >= fewest).then_some(path)
    }

    /// Computes g_i ← gcd(a_i, b_i), with as many limbs as the longer operand.
    ///
    /// # Panics
    /// Panics if the processor lacks the instructions of the path.
    pub(super) fn gcd(self, a: Operand, b: Operand, count: usize, g: Rows) {
        let done = with_masks!(self, V, proof => gcd::gcd::<V>(proof, a, b, count, g));
        assert!(done.is_some(), "the processor lacks the path's instructions");
    }

    /// Computes x_i ← a_i^(−1) mod m_i, with as many limbs as m. Where no inverse exists, x_i is 0
    /// and flags_i is 1.
    ///
    /// # Panics
    /// Panics if the processor lacks the instructions of the path.
    pub(super) fn inverse(self, a: Operand, m: Operand, x: Rows, flags: &mut [u8]) {
        let done = with_masks!(self, V, proof => gcd::inverse::<V>(proof, a, m, x, flags));
        assert!(done.is_some(), "the processor lacks the path's instructions");
    }
}
