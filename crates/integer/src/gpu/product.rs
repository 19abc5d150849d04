//! Products as kernels see them: the selected limbs, the sizes of the factors, and their memory.

use warpint_device::{Cells, Source, assert_room};

use super::Part;
use super::memory::Numbers;

/// The sizes of the factors and the limbs to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Product {
    pub(super) part: Part,
    pub(super) a_limbs: usize,
    /// `None` for a square.
    pub(super) b_limbs: Option<usize>,
}

/// `count` pairs of factors with any strides, and contiguous memory for the results.
#[derive(Debug, Clone, Copy)]
pub(super) struct Factors<'a> {
    pub(super) a: Numbers<'a>,
    /// `a` for squares.
    pub(super) b: Numbers<'a>,
    pub(super) count: usize,
    pub(super) out: Cells<'a, u32>,
}

impl Product {
    pub(super) fn is_square(self) -> bool {
        self.b_limbs.is_none()
    }

    /// Limbs of both factors.
    fn limbs(self) -> [usize; 2] {
        [self.a_limbs, self.b_limbs.unwrap_or(self.a_limbs)]
    }

    /// Returns the first limb to compute and the number of limbs.
    pub(super) fn computed(self) -> (usize, usize) {
        let [a_limbs, b_limbs] = self.limbs();
        self.part.limbs(a_limbs, b_limbs)
    }

    /// Defines the kernel's constants for this product.
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
    /// If they have other sizes, a buffer has fewer than `count` numbers, or the results do not
    /// fit.
    #[track_caller]
    pub(super) fn assert_fits(self, of: &Factors<'_>) {
        assert_eq!([of.a.limbs, of.b.limbs], self.limbs(), "limbs of factors");
        [of.a, of.b].iter().for_each(|numbers| numbers.assert_holds(of.count));
        assert_room("products", of.out.len(), of.count * self.computed().1);
    }
}
