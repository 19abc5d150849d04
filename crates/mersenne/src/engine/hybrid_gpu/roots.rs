//! The root of a number k·b^n + c in the field of q elements, q = 2^31 − 1, that the exact weights of its words need.
//!
//! The two words of point j = P·v + t, t < P, have the weights b^(D_w)·h^v, where word w begins at digit D_w. Here h^(n/P)
//! is θ = −c·σ/(k·b^n) for n points. Transforms are those over v, and products are cyclic for σ = 1, and negacyclic for σ
//! = −1. The group of the field has 2·t elements, t odd. −1 is not a square, so θ is a square for exactly one sign σ, and
//! the squares are a group of t elements.

use warpint_arith::m31::{self, GENERATOR, Q};
use warpint_arith::primes::inverse_mod;

use crate::{Number, Sign};

/// The odd number t.
const T: u64 = (Q as u64 - 1) / 2;

/// The primes that divide a number of points and t.
const COMMON: [u64; 3] = [3, 7, 11];

/// The numbers P of parts.
const PARTS: [u32; 4] = [1, 3, 5, 7];

/// The root of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Root {
    /// h.
    pub(super) h: u32,
    /// Whether exact products are negacyclic.
    pub(super) negacyclic: bool,
    /// P.
    pub(super) parts: u32,
}

impl Root {
    /// Returns the root 1 for 2^p − 1, whose weights are powers of 2.
    pub(super) fn one(parts: u32) -> Self {
        Self { h: 1, negacyclic: false, parts }
    }

    /// Returns the root for N = 2·n words with the fewest parts; `None` if there is none. If n, n/3, n/5 or n/7 is a power
    /// of 2, there is one unless q divides k or b. For one part, n = 3·2^a needs a θ that is a third power, as it is for
    /// one of three numbers. Not every length has kernels for its parts.
    pub(super) fn new(number: Number, words: usize) -> Option<Self> {
        let n = words as u64 / 2;
        let theta = inverse_of_power(number)?;
        let theta = if number.sign() == Sign::Plus { m31::neg(theta) } else { theta };
        let negacyclic = m31::pow(theta, T) != 1;
        let square = if negacyclic { m31::neg(theta) } else { theta };
        let of_parts = |parts: u32| {
            let n = n.is_multiple_of(parts.into()).then(|| n / u64::from(parts))?;
            // Transforms need roots of unity.
            m31::root_of_unity(2 * n)?;
            Some(Self { h: root_of_square(square, n)?, negacyclic, parts })
        };
        PARTS.into_iter().find_map(of_parts)
    }

    /// Returns v for word w.
    pub(super) fn power(&self, w: usize) -> u64 {
        w as u64 / 2 / u64::from(self.parts)
    }
}

/// Returns 1/(k·b^n) modulo q; `None` if q divides k or b.
fn inverse_of_power(number: Number) -> Option<u32> {
    let [k, b] = [number.multiplier(), u64::from(number.base())].map(m31::reduce);
    let power = m31::mul(k, m31::pow(b, number.exponent().into()));
    (power != 0).then(|| m31::inverse(power))
}

/// Returns an n-th root of x, which is in the group of t elements; `None` if there is none.
///
/// This group is the product of a group of t1 elements, whose prime factors divide n, and one of t2 elements, in which
/// every element has one root. In the first, at most 693 elements are tried.
fn root_of_square(x: u32, n: u64) -> Option<u32> {
    let t1: u64 = COMMON
        .into_iter()
        .filter(|p| n.is_multiple_of(*p))
        .map(|p| {
            p.pow(
                std::iter::successors(Some(T), |t| Some(t / p))
                    .take_while(|t| t.is_multiple_of(p))
                    .count() as u32,
            )
        })
        .product();
    let t2 = T / t1;
    // Exponents modulo t: e2 is 1 modulo t2 and 0 modulo t1.
    let e2 = t1 * inverse_mod(t1 % t2, t2) % T;
    let second = m31::pow(x, e2);
    let first = m31::mul(x, m31::inverse(second));
    let of_second = m31::pow(second, inverse_mod(n % t2, t2));
    // The norm of the generator of GF(q²) generates the group of q − 1 elements.
    let norm = GENERATOR.times(GENERATOR.conjugate()).re;
    let generator = m31::pow(norm, 2 * t2);
    let mut candidate = 1;
    for _ in 0..t1 {
        if m31::pow(candidate, n) == first {
            return Some(m31::mul(candidate, of_second));
        }
        candidate = m31::mul(candidate, generator);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_have_their_power() {
        let mut found = [0; 4];
        for (k, b) in [
            (1u64, 3u32),
            (7, 1500),
            (5, 1499),
            (10_223, 10),
            (1, 919_444),
            (27, 6),
            (1 << 19, 1021),
        ] {
            for n in [10_000u32, 10_001, 12_345, 3 * 4567] {
                for sign in [Sign::Minus, Sign::Plus] {
                    let number = Number::new(k, b, n, sign).unwrap();
                    // −c·σ.
                    let value = |root: Root| {
                        let minus = (sign == Sign::Plus) != root.negacyclic;
                        if minus { Q - 1 } else { 1 }
                    };
                    for words in [
                        1usize << 10,
                        1 << 20,
                        3 << 10,
                        5 << 10,
                        7 << 9,
                        9 << 10,
                        11 << 10,
                        77 << 10,
                    ] {
                        let root = Root::new(number, words);
                        assert!(root.is_some() || words >= 9 << 10, "{number}, {words}");
                        let Some(root) = root else { continue };
                        found[usize::from(root.negacyclic)] += 1;
                        found[2] += usize::from(root.parts == 1 && !words.is_power_of_two());
                        found[3] += usize::from(root.parts > 1);
                        let points = words as u64 / 2 / u64::from(root.parts);
                        let power = m31::mul(
                            m31::reduce(number.multiplier()),
                            m31::pow(m31::reduce(number.base().into()), n.into()),
                        );
                        let expected = m31::mul(value(root), m31::inverse(power));
                        assert_eq!(m31::pow(root.h, points), expected, "{number}, {words}");
                    }
                }
            }
        }
        assert!(found.iter().all(|count| *count > 10), "{found:?}");
    }

    #[test]
    fn multiples_of_q_have_no_root() {
        let number = Number::new(1, Q, 10_000, Sign::Plus).unwrap();
        assert_eq!(Root::new(number, 1024), None);
    }
}
