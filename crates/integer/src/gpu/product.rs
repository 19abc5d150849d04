//! Descriptions of products for kernels: the selected limbs, the sizes of the factors, and their
//! memory.

use warpint_device::{Cells, Source, assert_room};

use super::Part;
use super::memory::Numbers;

/// A product: the sizes of the factors and the part to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Product {
    pub(super) part: Part,
    pub(super) a_limbs: usize,
    /// The number of limbs of b; `None` for a square.
    pub(super) b_limbs: Option<usize>,
}

/// The memory of a batch of products: `count` pairs of factors with any strides, and contiguous
/// results.
#[derive(Debug, Clone, Copy)]
pub(super) struct Factors<'a> {
    pub(super) a: Numbers<'a>,
    /// The second factors, which are `a` for squares.
    pub(super) b: Numbers<'a>,
    pub(super) count: usize,
    pub(super) out: Cells<'a, u32>,
}

impl Product {
    pub(super) fn is_square(self) -> bool {
        self.b_limbs.is_none()
    }

    /// Returns the number of limbs of each factor.
    fn limbs(self) -> [usize; 2] {
        [self.a_limbs, self.b_limbs.unwrap_or(self.a_limbs)]
    }

    /// Returns the index of the first limb of the product that is computed, and the number of
    /// computed limbs.
    pub(super) fn computed(self) -> (usize, usize) {
        let [a_limbs, b_limbs] = self.limbs();
        self.part.limbs(a_limbs, b_limbs)
    }

    /// Returns `source` with the constants that describe this product.
    pub(super) fn define(self, source: Source) -> Source {
        let ([a_limbs, b_limbs], (first, out_limbs)) = (self.limbs(), self.computed());
        source
            .define("A_LIMBS", a_limbs)
            .define("B_LIMBS", b_limbs)
            .define("FIRST", first)
            .define("OUT_LIMBS", out_limbs)
            .define("SQUARE", u32::from(self.is_square()))
    }

    /// Asserts that a kernel for this product can process these factors.
    ///
    /// # Panics
    /// If the factors do not have the sizes of this product, a buffer has fewer than `count`
    /// numbers, or the results do not fit.
    #[track_caller]
    pub(super) fn assert_fits(self, of: &Factors<'_>) {
        assert_eq!([of.a.limbs, of.b.limbs], self.limbs(), "limbs of factors");
        [of.a, of.b].iter().for_each(|numbers| numbers.assert_holds(of.count));
        assert_room("products", of.out.len(), of.count * self.computed().1);
    }
}
