//! The field GF(q), q = 2^31 − 1, and its extension GF(q²) = GF(q)(i), i² = −1.
//!
//! Products by powers of 2 are rotations, because 2^31 ≡ 1. The group of GF(q²) has the order
//! q² − 1 = 2^32·3²·7·11·31·151·331, so there are transforms of 2^a·3^b·7^c·11^d points.
//!
//! Elements of GF(q) are `u32` numbers from 0 to q − 1, if a description states nothing else.

/// The modulus q = 2^31 − 1.
pub const Q: u32 = (1 << 31) - 1;

/// The order of the multiplicative group of GF(q²), 2^62 − 2^32.
pub const GROUP: u64 = Q as u64 * Q as u64 - 1;

/// A generator of the multiplicative group of GF(q²). Its power of exponent (q² − 1)/8 is
/// 2^15·(1 + i), so products by roots of unity of order 8 are rotations and sums.
pub const GENERATOR: Gauss = Gauss { re: 6, im: 3 };

/// Returns x mod q.
#[inline(always)]
#[must_use]
pub const fn reduce(x: u64) -> u32 {
    let x = (x & Q as u64) + (x >> 31 & Q as u64) + (x >> 62);
    let x = (x & Q as u64) + (x >> 31);
    if x >= Q as u64 { (x - Q as u64) as u32 } else { x as u32 }
}

/// Returns x mod q for signed x.
#[inline(always)]
#[must_use]
pub const fn reduce_signed(x: i64) -> u32 {
    // −x ≡ q − x, and |i64::MIN| = 2^63.
    let r = reduce(x.unsigned_abs());
    if x < 0 { neg(r) } else { r }
}

/// Returns a + b.
#[inline(always)]
#[must_use]
pub const fn add(a: u32, b: u32) -> u32 {
    let s = a + b;
    if s >= Q { s - Q } else { s }
}

/// Returns a − b.
#[inline(always)]
#[must_use]
pub const fn sub(a: u32, b: u32) -> u32 {
    if a >= b { a - b } else { a + Q - b }
}

/// Returns −a.
#[inline(always)]
#[must_use]
pub const fn neg(a: u32) -> u32 {
    if a == 0 { 0 } else { Q - a }
}

/// Returns a·b.
#[inline(always)]
#[must_use]
pub const fn mul(a: u32, b: u32) -> u32 {
    reduce(a as u64 * b as u64)
}

/// Returns a·2^k, for any k.
#[inline(always)]
#[must_use]
pub const fn rotate(a: u32, k: u32) -> u32 {
    let k = k % 31;
    reduce((a as u64) << k)
}

/// Returns a^e.
#[must_use]
pub const fn pow(mut a: u32, mut e: u64) -> u32 {
    let mut result = 1;
    while e > 0 {
        if e & 1 == 1 {
            result = mul(result, a);
        }
        a = mul(a, a);
        e >>= 1;
    }
    result
}

/// Returns 1/a. Returns 0 for a = 0.
#[must_use]
pub const fn inverse(a: u32) -> u32 {
    pow(a, Q as u64 - 2)
}

/// Returns the exponent r, 0 ≤ r < 31, for which (2^r)^n ≡ 2 mod q. Returns `None` if n is a
/// multiple of 31: then 2 has no n-th root that is a power of 2.
#[must_use]
pub fn root_of_two(n: u64) -> Option<u32> {
    (0..31u32).find(|&r| u64::from(r) * (n % 31) % 31 == 1)
}

/// An element re + im·i of GF(q²).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gauss {
    /// The coefficient of 1.
    pub re: u32,
    /// The coefficient of i.
    pub im: u32,
}

impl Gauss {
    /// The element 0.
    pub const ZERO: Self = Self { re: 0, im: 0 };
    /// The element 1.
    pub const ONE: Self = Self { re: 1, im: 0 };
    /// The element i.
    pub const I: Self = Self { re: 0, im: 1 };

    /// Returns the image of an integer.
    #[inline(always)]
    #[must_use]
    pub const fn of(v: i64) -> Self {
        Self { re: reduce_signed(v), im: 0 }
    }

    /// Returns re + im·i for any numbers `re` and `im`, which are reduced mod q.
    #[inline(always)]
    #[must_use]
    pub const fn reduced(re: u64, im: u64) -> Self {
        Self { re: reduce(re), im: reduce(im) }
    }

    /// Returns 2^e.
    #[inline(always)]
    #[must_use]
    pub const fn power_of_2(e: u64) -> Self {
        Self { re: 1 << (e % 31), im: 0 }
    }

    /// Returns the real and the imaginary part.
    #[inline(always)]
    #[must_use]
    pub const fn parts(self) -> [u32; 2] {
        [self.re, self.im]
    }

    /// Returns the representatives of the real and the imaginary part between −2^30 and 2^30.
    #[must_use]
    pub fn balanced(self) -> [i32; 2] {
        self.parts()
            .map(|v| if v > Q / 2 { (i64::from(v) - i64::from(Q)) as i32 } else { v as i32 })
    }

    /// Returns 1/a. Returns 0 for a = 0.
    #[must_use]
    pub const fn inverse(self) -> Self {
        self.pow(GROUP - 1)
    }

    /// Returns a + b.
    #[inline(always)]
    #[must_use]
    pub const fn plus(self, b: Self) -> Self {
        Self { re: add(self.re, b.re), im: add(self.im, b.im) }
    }

    /// Returns a − b.
    #[inline(always)]
    #[must_use]
    pub const fn minus(self, b: Self) -> Self {
        Self { re: sub(self.re, b.re), im: sub(self.im, b.im) }
    }

    /// Returns a·b.
    #[inline(always)]
    #[must_use]
    pub const fn times(self, b: Self) -> Self {
        let [ar, ai, br, bi] = [self.re as u64, self.im as u64, b.re as u64, b.im as u64];
        // Each sum is below 2^63.
        Self { re: reduce(ar * br + ai * (Q as u64 - bi)), im: reduce(ar * bi + ai * br) }
    }

    /// Returns the conjugate re − im·i, which is the q-th power.
    #[inline(always)]
    #[must_use]
    pub const fn conjugate(self) -> Self {
        Self { re: self.re, im: neg(self.im) }
    }

    /// Returns a^e.
    #[must_use]
    pub const fn pow(mut self, mut e: u64) -> Self {
        let mut result = Self::ONE;
        while e > 0 {
            if e & 1 == 1 {
                result = result.times(self);
            }
            self = self.times(self);
            e >>= 1;
        }
        result
    }
}

/// Returns ω_n, a root of unity of order n in GF(q²): the power of [`GENERATOR`] of exponent
/// (q² − 1)/n. Returns `None` if n does not divide q² − 1.
///
/// The roots are compatible: if mn divides q² − 1, the m-th power of ω_(mn) is ω_n. In particular
/// ω_4 = i and ω_8 = 2^15·(1 + i).
///
/// Let n = 2^a·m with odd m and a ≤ 31. Then the conjugate of ω_n is ω_n^c for c ≡ −1 mod 2^a and
/// c ≡ 1 mod m, because 2^31 − 1 ≡ −1 mod 2^a, and m divides q − 1.
#[must_use]
pub const fn root_of_unity(n: u64) -> Option<Gauss> {
    if n == 0 || !GROUP.is_multiple_of(n) { None } else { Some(GENERATOR.pow(GROUP / n)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values for tests: 0 to 2, and values near 2^15, 2^30 and q.
    const CORNERS: [u32; 10] =
        [0, 1, 2, 1 << 15, (1 << 30) - 1, 1 << 30, (1 << 30) + 1, Q - 2, Q - 1, 0x5555_5555];

    #[test]
    fn arithmetic_is_that_of_wide_integers() {
        let q = i128::from(Q);
        for a in CORNERS {
            for b in CORNERS {
                let [x, y] = [a, b].map(i128::from);
                assert_eq!(i128::from(add(a, b)), (x + y).rem_euclid(q));
                assert_eq!(i128::from(sub(a, b)), (x - y).rem_euclid(q));
                assert_eq!(i128::from(mul(a, b)), (x * y).rem_euclid(q));
            }
            assert_eq!(i128::from(neg(a)), (-i128::from(a)).rem_euclid(q));
            for k in [0, 1, 15, 16, 30, 31, 32, 61, 62, 1_000] {
                assert_eq!(i128::from(rotate(a, k)), (i128::from(a) << (k % 31)) % q);
            }
            if a > 0 {
                assert_eq!(mul(a, inverse(a)), 1);
            }
        }
        for x in [0, 1, u64::from(Q), u64::from(Q) + 1, 1 << 62, (1 << 63) - 1, u64::MAX] {
            assert_eq!(u64::from(reduce(x)), x % u64::from(Q), "{x}");
        }
        for x in [0, 1, -1, i64::MIN, i64::MAX, -i64::from(Q), 1 - (1 << 62)] {
            assert_eq!(i128::from(reduce_signed(x)), i128::from(x).rem_euclid(q), "{x}");
        }
    }

    #[test]
    fn products_of_the_extension_are_those_of_complex_numbers() {
        let q = i128::from(Q);
        for [a, b, c, d] in [[Q - 1; 4], [Q - 1, 0, 1, Q - 2], [1, 2, 3, 4], [Q / 2, 7, Q - 1, 9]] {
            let [w, x, y, z] = [a, b, c, d].map(i128::from);
            let found = Gauss { re: a, im: b }.times(Gauss { re: c, im: d });
            assert_eq!(i128::from(found.re), (w * y - x * z).rem_euclid(q));
            assert_eq!(i128::from(found.im), (w * z + x * y).rem_euclid(q));
        }
    }

    #[test]
    fn elements_have_representatives_and_inverses() {
        for re in CORNERS {
            for im in CORNERS {
                let a = Gauss { re, im };
                let [x, y] = a.balanced();
                assert!(x.abs() < 1 << 30 && y.abs() < 1 << 30);
                assert_eq!(Gauss::of(x.into()).plus(Gauss::of(y.into()).times(Gauss::I)), a);
                if a != Gauss::ZERO {
                    assert_eq!(a.times(a.inverse()), Gauss::ONE);
                }
            }
        }
        assert_eq!(Gauss::power_of_2(31), Gauss::ONE);
        assert_eq!(Gauss::power_of_2(40), Gauss::of(512));
        assert_eq!(Gauss::reduced(u64::from(Q) + 3, u64::MAX), Gauss { re: 3, im: 3 });
    }

    #[test]
    fn roots_have_their_order() {
        let primes = [2, 3, 7, 11, 31, 151, 331];
        for p in primes {
            assert!(GENERATOR.pow(GROUP / p) != Gauss::ONE, "{p}");
        }
        assert_eq!(GENERATOR.pow(GROUP), Gauss::ONE);
        assert_eq!(root_of_unity(4), Some(Gauss { re: 0, im: 1 }));
        assert_eq!(root_of_unity(8), Some(Gauss { re: 1 << 15, im: 1 << 15 }));
        assert_eq!(root_of_unity(5), None);
        assert_eq!(root_of_unity(0), None);
    }

    #[test]
    fn conjugates_of_roots_are_the_stated_powers() {
        for (n, c) in [(8u64, 7u64), (24, 7), (3 << 10, 2047), (21 << 4, 127), (9, 1)] {
            let (odd, even) = (n >> n.trailing_zeros(), 1u64 << n.trailing_zeros());
            assert_eq!((c % even, c % odd), (even - 1, 1 % odd), "{n}");
            let root = root_of_unity(n).unwrap();
            assert_eq!(root.conjugate(), root.pow(c), "{n}");
        }
    }

    #[test]
    fn roots_of_two() {
        for n in [1, 2, 3, 1 << 20, 3 << 20, 7 << 19, 62] {
            match root_of_two(n) {
                Some(r) => assert_eq!(pow(pow(2, u64::from(r)), n), 2),
                None => assert_eq!(n % 31, 0),
            }
        }
    }
}
