//! One product, by the method that its size wants.

use warpint_arith::limbs::{self, Multiplier};

use super::{karatsuba, schoolbook};

/// Limbs of 64 bits of the shorter factor from which Karatsuba's method is faster.
const KARATSUBA_FROM: usize = 28;
/// The same for squares, which the schoolbook does with half the products.
const KARATSUBA_SQUARE_FROM: usize = 48;
/// Limbs from which half of a product is cut from all of it.
const HALF_FROM: usize = 64;
/// The same for squares.
const HALF_SQUARE_FROM: usize = 96;

/// Products of numbers in little-endian limbs of 64 bits, and the memory that they need.
#[derive(Debug, Default)]
pub(crate) struct Products {
    scratch: Vec<u64>,
    whole: Vec<u64>,
}

impl Products {
    /// out ← a·b, of exactly `a.len() + b.len()` limbs.
    pub(crate) fn mul(&mut self, out: &mut [u64], a: &[u64], b: &[u64]) {
        let (a, b) = if a.len() >= b.len() { (a, b) } else { (b, a) };
        if b.len() < KARATSUBA_FROM {
            limbs::mul_to(out, a, b);
        } else {
            let scratch = at_least(&mut self.scratch, karatsuba::mul_scratch(b.len()));
            karatsuba::mul(out, a, b, scratch, KARATSUBA_FROM);
        }
    }

    /// out ← a², of exactly 2·`a.len()` limbs.
    pub(crate) fn square(&mut self, out: &mut [u64], a: &[u64]) {
        if a.len() < KARATSUBA_SQUARE_FROM {
            schoolbook::square(out, a);
        } else {
            let scratch = at_least(&mut self.scratch, karatsuba::square_scratch(a.len()));
            karatsuba::square(out, a, scratch, KARATSUBA_SQUARE_FROM);
        }
    }

    /// out ← a·b mod 2^(64·l), l = `out.len()`, neither factor longer than that.
    pub(crate) fn mul_low(&mut self, out: &mut [u64], a: &[u64], b: &[u64]) {
        if a.len().min(b.len()) < HALF_FROM {
            schoolbook::mul_low(out, a, b);
        } else {
            self.cut(out, 0, a.len() + b.len(), |this, whole| this.mul(whole, a, b));
        }
    }

    /// out ← a² mod 2^(64·l), l = `out.len()` ≥ `a.len()`.
    pub(crate) fn square_low(&mut self, out: &mut [u64], a: &[u64]) {
        if a.len() < HALF_SQUARE_FROM {
            schoolbook::square_low(out, a);
        } else {
            self.cut(out, 0, 2 * a.len(), |this, whole| this.square(whole, a));
        }
    }

    /// out ← ⌊a·b/2^(64·from)⌋, of exactly `a.len() + b.len() − from` limbs.
    pub(crate) fn mul_high(&mut self, out: &mut [u64], a: &[u64], b: &[u64], from: usize) {
        let short = a.len().min(b.len()) < HALF_FROM;
        if !(short && schoolbook::mul_high(out, a, b, from, &mut self.whole)) {
            self.cut(out, from, a.len() + b.len(), |this, whole| this.mul(whole, a, b));
        }
    }

    /// out ← ⌊a²/2^(64·from)⌋, of exactly 2·`a.len()` − `from` limbs.
    pub(crate) fn square_high(&mut self, out: &mut [u64], a: &[u64], from: usize) {
        let short = a.len() < HALF_SQUARE_FROM;
        if !(short && schoolbook::square_high(out, a, from, &mut self.whole)) {
            self.cut(out, from, 2 * a.len(), |this, whole| this.square(whole, a));
        }
    }

    /// out ← limbs `from` and up of a product of `limbs` limbs, as many as `out` has.
    fn cut(
        &mut self,
        out: &mut [u64],
        from: usize,
        limbs: usize,
        product: impl FnOnce(&mut Self, &mut [u64]),
    ) {
        let mut whole = std::mem::take(&mut self.whole);
        whole.resize(limbs, 0);
        product(self, &mut whole);
        out.copy_from_slice(&whole[from..][..out.len()]);
        self.whole = whole;
    }
}

/// The first `len` limbs, whatever is in them.
fn at_least(limbs: &mut Vec<u64>, len: usize) -> &mut [u64] {
    if limbs.len() < len {
        limbs.resize(len, 0);
    }
    &mut limbs[..len]
}

/// [`Products`] for single numbers.
pub(crate) struct FastProducts;

impl Multiplier for FastProducts {
    fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let mut product = vec![0; a.len() + b.len()];
        if std::ptr::eq(a, b) {
            Products::default().square(&mut product, a);
        } else {
            Products::default().mul(&mut product, a, b);
        }
        product
    }
}
