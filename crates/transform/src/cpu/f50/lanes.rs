//! Vectors of four elements of a field, and operations on all four at a time.

use warpint_arith::f50::{F50, Factor};

/// The number of elements in a [`Lane`], a vector register of 256 bits.
pub(super) const WIDTH: usize = 4;

/// A vector of four elements of a field. An operation processes all four at once.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(32))]
pub(super) struct Lane(pub(super) [f64; WIDTH]);

/// Four [`Factor`]s, one for each element of a [`Lane`].
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
pub(super) struct Factors {
    w: [f64; WIDTH],
    ratio: [f64; WIDTH],
}

impl Factors {
    pub(super) fn new(factors: [Factor; WIDTH]) -> Self {
        let constants = factors.map(|f| f.constants());
        Self { w: constants.map(|[w, _]| w), ratio: constants.map(|[_, ratio]| ratio) }
    }
}

impl Lane {
    #[inline(always)]
    fn map(self, f: impl Fn(usize, f64) -> f64) -> Self {
        let mut out = self;
        for (l, x) in out.0.iter_mut().enumerate() {
            *x = f(l, *x);
        }
        out
    }

    #[inline(always)]
    pub(super) fn plus(self, other: Self) -> Self {
        self.map(|l, x| x + other.0[l])
    }

    #[inline(always)]
    pub(super) fn minus(self, other: Self) -> Self {
        self.map(|l, x| x - other.0[l])
    }

    /// Multiplies each element by the corresponding factor, by the method and with the bounds of
    /// [`F50::mul_by`].
    #[inline(always)]
    pub(super) fn times(self, field: F50, factors: &Factors) -> Self {
        self.map(|l, x| field.mul_by(x, Factor::from_constants([factors.w[l], factors.ratio[l]])))
    }

    /// Multiplies each element by the corresponding element of `other`, by the method and with the
    /// bounds of [`F50::mul`].
    #[inline(always)]
    pub(super) fn mul(self, field: F50, other: Self) -> Self {
        self.map(|l, x| field.mul(x, other.0[l]))
    }

    /// Reduces each element, by the method and with the bounds of [`F50::reduce`].
    #[inline(always)]
    pub(super) fn reduce(self, field: F50) -> Self {
        self.map(|_, x| field.reduce(x))
    }
}
