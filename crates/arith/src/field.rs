//! The interface to the finite fields over which transforms are computed.

use std::fmt::Debug;

/// A finite field with roots of unity whose orders are powers of two.
///
/// [`Field::root_of_unity`] computes ω(m), a root of unity of order 2^m. The roots for different m
/// satisfy ω(m)² = ω(m − 1). So a transform of 2^m elements can be composed of transforms of
/// 2^(m − 1) elements.
pub trait Field: Sync {
    /// The type of an element. Every element has exactly one value of this type, so `==` compares
    /// elements.
    type Element: Clone + PartialEq + Debug + Send + Sync;

    /// Returns the element 0.
    fn zero(&self) -> Self::Element;
    /// Returns the element 1.
    fn one(&self) -> Self::Element;
    /// Returns the element x·1, which is the sum of x ones.
    #[expect(clippy::wrong_self_convention, reason = "the field makes the element")]
    fn from_u64(&self, x: u64) -> Self::Element;
    /// Returns a + b.
    fn add(&self, a: &Self::Element, b: &Self::Element) -> Self::Element;
    /// Returns a − b.
    fn sub(&self, a: &Self::Element, b: &Self::Element) -> Self::Element;
    /// Returns −a.
    fn neg(&self, a: &Self::Element) -> Self::Element {
        self.sub(&self.zero(), a)
    }
    /// Returns a·b.
    fn mul(&self, a: &Self::Element, b: &Self::Element) -> Self::Element;
    /// Returns a².
    fn square(&self, a: &Self::Element) -> Self::Element {
        self.mul(a, a)
    }
    /// Returns 1/a. Returns `None` for a = 0.
    fn inverse(&self, a: &Self::Element) -> Option<Self::Element>;

    /// Returns ω(m), a root of unity of order 2^m, for m = `log2`. Returns `None` if the field has
    /// no root of this order, or if the order exceeds a limit of the implementation.
    fn root_of_unity(&self, log2: u32) -> Option<Self::Element>;

    /// Returns an exponent m for which a product by any power of ω(m) costs no more than a sum.
    /// Here ω(m) is the root of order 2^m that [`Field::root_of_unity`] returns. The default is 1,
    /// because a product by a power of ω(1) = −1 is at most a change of sign.
    fn log2_of_cheap_roots(&self) -> u32 {
        1
    }
    /// Returns a·ω(m)^i at no more than the cost of a sum. Here m is the result of
    /// [`Field::log2_of_cheap_roots`], and ω(m) is the root of order 2^m that
    /// [`Field::root_of_unity`] returns.
    fn mul_by_cheap_root(&self, a: &Self::Element, i: u64) -> Self::Element {
        if i.is_multiple_of(2) { a.clone() } else { self.neg(a) }
    }

    /// Computes a_i ← a_i·b_i for all i below the shorter length. Fields with vector instructions
    /// override this method and the next three.
    fn mul_each(&self, a: &mut [Self::Element], b: &[Self::Element]) {
        a.iter_mut().zip(b).for_each(|(a, b)| *a = self.mul(a, b));
    }
    /// Computes a_i ← a_i·`factor` for all i.
    fn scale_each(&self, a: &mut [Self::Element], factor: &Self::Element) {
        a.iter_mut().for_each(|a| *a = self.mul(a, factor));
    }
    /// Computes a_i ← a_i + b_i for all i below the shorter length.
    fn add_each(&self, a: &mut [Self::Element], b: &[Self::Element]) {
        a.iter_mut().zip(b).for_each(|(a, b)| *a = self.add(a, b));
    }
    /// Computes a_i ← a_i − b_i for all i below the shorter length.
    fn sub_each(&self, a: &mut [Self::Element], b: &[Self::Element]) {
        a.iter_mut().zip(b).for_each(|(a, b)| *a = self.sub(a, b));
    }

    /// Returns a^e, where e is given in little-endian limbs. Cost: at most two products for each
    /// bit of these limbs.
    fn pow(&self, a: &Self::Element, e: &[u64]) -> Self::Element {
        let mut result = self.one();
        for limb in e.iter().rev() {
            for bit in (0..64).rev() {
                result = self.square(&result);
                if limb >> bit & 1 == 1 {
                    result = self.mul(&result, a);
                }
            }
        }
        result
    }
}
