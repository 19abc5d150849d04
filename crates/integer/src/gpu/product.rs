//! Products as their kernels have them: which limbs, of factors of which size, and where these stand.

use warpint_device::{Cells, Source, assert_room};

use super::Part;
use super::memory::Numbers;

/// Which limbs are computed of products of factors of which size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Product {
    pub(super) part: Part,
    pub(super) a_limbs: usize,
    /// None for a square.
    pub(super) b_limbs: Option<usize>,
}

/// Factors anywhere in memory, `count` of each, and where the results go, side by side.
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

    /// The first limb of the product that is computed, and how many are.
    pub(super) fn computed(self) -> (usize, usize) {
        let [a_limbs, b_limbs] = self.limbs();
        self.part.limbs(a_limbs, b_limbs)
    }

    /// The constants of a kernel that say this.
    pub(super) fn define(self, source: Source) -> Source {
        let ([a_limbs, b_limbs], (first, out_limbs)) = (self.limbs(), self.computed());
        source
            .define("A_LIMBS", a_limbs)
            .define("B_LIMBS", b_limbs)
            .define("FIRST", first)
            .define("OUT_LIMBS", out_limbs)
            .define("SQUARE", u32::from(self.is_square()))
    }

    /// Panics unless a kernel can compute it of these factors.
    ///
    /// # Panics
    /// If they have other sizes, there are not `count`, or there is no room for the results.
    #[track_caller]
    pub(super) fn assert_fits(self, of: &Factors<'_>) {
        assert_eq!([of.a.limbs, of.b.limbs], self.limbs(), "limbs of factors");
        [of.a, of.b].iter().for_each(|numbers| numbers.assert_holds(of.count));
        assert_room("products", of.out.len(), of.count * self.computed().1);
    }
}
