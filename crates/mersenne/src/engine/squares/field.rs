//! The field GF((2^31 − 1)²), as numbers a + bi with i² = −1.
//!
//! −1 is no square mod 2^31 − 1, so the numbers a + bi are a field. The order of its multiplicative
//! group is 2^62 − 2^32 = 2^32·3²·7·11·31·151·331. The element 2 has order 31.

use std::ops::{Add, Mul, Sub};

/// The prime 2^31 − 1.
pub(crate) const PRIME: u32 = (1 << 31) - 1;

/// The order of the multiplicative group.
pub(crate) const GROUP_ORDER: u64 = (1 << 62) - (1 << 32);

/// The primes that divide [`GROUP_ORDER`].
const PRIMES_OF_ORDER: [u64; 7] = [2, 3, 7, 11, 31, 151, 331];

/// An element re + im·i, with both parts below 2^31 − 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Element {
    re: u32,
    im: u32,
}

/// Returns v mod 2^31 − 1.
fn reduced(v: u64) -> u32 {
    // 2^31 ≡ 1.
    let v = (v & u64::from(PRIME)) + (v >> 31);
    let v = ((v & u64::from(PRIME)) + (v >> 31)) as u32;
    if v >= PRIME { v - PRIME } else { v }
}

impl Element {
    pub(crate) const ZERO: Self = Self { re: 0, im: 0 };
    pub(crate) const ONE: Self = Self { re: 1, im: 0 };

    /// Returns re + im·i.
    pub(crate) fn new(re: u64, im: u64) -> Self {
        Self { re: reduced(re), im: reduced(im) }
    }

    /// Returns the image of an integer.
    pub(crate) fn of(v: i64) -> Self {
        Self { re: v.rem_euclid(i64::from(PRIME)) as u32, im: 0 }
    }

    /// Returns 2^e.
    pub(crate) fn power_of_2(e: u64) -> Self {
        Self { re: 1 << (e % 31), im: 0 }
    }

    /// Returns the real and the imaginary part, both below 2^31 − 1.
    pub(crate) fn parts(self) -> [u32; 2] {
        [self.re, self.im]
    }

    /// Returns the representatives of the real and the imaginary part between −2^30 and 2^30.
    pub(crate) fn balanced(self) -> [i32; 2] {
        self.parts().map(|v| {
            (if v > PRIME / 2 { i64::from(v) - i64::from(PRIME) } else { i64::from(v) }) as i32
        })
    }

    pub(crate) fn pow(self, mut e: u64) -> Self {
        let (mut base, mut power) = (self, Self::ONE);
        while e > 0 {
            if e & 1 == 1 {
                power = power * base;
            }
            base = base * base;
            e >>= 1;
        }
        power
    }

    /// Returns the inverse; 0 for 0.
    pub(crate) fn inverse(self) -> Self {
        self.pow(GROUP_ORDER - 1)
    }

    /// Returns an element of the given multiplicative order, the same at each call.
    ///
    /// # Panics
    /// Panics if `order` does not divide [`GROUP_ORDER`].
    pub(crate) fn of_order(order: u64) -> Self {
        assert!(order > 0 && GROUP_ORDER.is_multiple_of(order), "the field has no such roots");
        let primes = PRIMES_OF_ORDER.into_iter().filter(|prime| order.is_multiple_of(*prime));
        let is_primitive = |x: &Self| primes.clone().all(|prime| x.pow(order / prime) != Self::ONE);
        // The powers of a generator are among these: one exists with imaginary part 1, by the size
        // of the field (Davenport 1937); the search ends after a few elements.
        let candidates = (1..u64::from(PRIME)).map(|re| Self::new(re, 1));
        candidates.map(|x| x.pow(GROUP_ORDER / order)).find(is_primitive).unwrap_or(Self::ONE)
    }
}

impl Add for Element {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let sum = |a, b| u64::from(a) + u64::from(b);
        Self::new(sum(self.re, other.re), sum(self.im, other.im))
    }
}

impl Sub for Element {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        let difference = |a, b: u32| u64::from(a) + u64::from(PRIME - b);
        Self::new(difference(self.re, other.re), difference(self.im, other.im))
    }
}

impl Mul for Element {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        let product = |a, b| u64::from(a) * u64::from(b);
        // At most 2·(2^31 − 1)² < 2^63.
        Self::new(
            product(self.re, other.re) + product(self.im, PRIME - other.im),
            product(self.re, other.im) + product(self.im, other.re),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn element() -> impl Strategy<Value = Element> {
        let part = || prop_oneof![Just(0), Just(1), Just(PRIME - 1), 0..PRIME];
        (part(), part()).prop_map(|(re, im)| Element { re, im })
    }

    proptest! {
        #[test]
        fn products_are_those_of_integers(a in element(), b in element()) {
            let q = i128::from(PRIME);
            let [ar, ai, br, bi] = [a.re, a.im, b.re, b.im].map(i128::from);
            let expected = [(ar * br - ai * bi).rem_euclid(q), (ar * bi + ai * br).rem_euclid(q)];
            prop_assert_eq!((a * b).parts().map(i128::from), expected);
            prop_assert_eq!(a + b - b, a);
            prop_assert_eq!(Element::of(5) * a - a - a, a + a + a);
            if a != Element::ZERO {
                prop_assert_eq!(a * a.inverse(), Element::ONE);
            }
            let [re, im] = a.balanced();
            prop_assert!(re.abs() < 1 << 30 && im.abs() < 1 << 30);
            prop_assert_eq!(Element::of(re.into()) + Element::of(im.into()) * Element::new(0, 1), a);
        }
    }

    #[test]
    fn roots_have_their_order() {
        for order in [1u64, 2, 3, 7, 9, 32, 63 << 12, 9 << 20, 1 << 32] {
            let root = Element::of_order(order);
            assert_eq!(root.pow(order), Element::ONE);
            for prime in PRIMES_OF_ORDER.into_iter().filter(|prime| order.is_multiple_of(*prime)) {
                assert_ne!(root.pow(order / prime), Element::ONE, "{order}");
            }
        }
        assert_eq!(Element::power_of_2(31), Element::ONE);
        assert_eq!(Element::power_of_2(40), Element::of(512));
    }
}
