//! The root of a number k·b^n + c in the field of q elements, q = 2^31 − 1, that the exact weights of its words need.
//!
//! Words w have the weights b^(D_w)·g^w, where word w begins at digit D_w, with g^N = θ = −c·σ/(k·b^n) for N words.
//! Products are cyclic for σ = 1, and negacyclic for σ = −1. The group of the field has 2·t elements, t odd. −1 is not
//! a square, so θ is a square for exactly one sign σ, and the squares are a group of t elements.

use warpint_arith::m31::{self, GENERATOR, Q};
use warpint_arith::primes::inverse_mod;

use crate::{Number, Sign};

/// The odd number t.
const T: u64 = (Q as u64 - 1) / 2;

/// The primes that divide N and t.
const COMMON: [u64; 3] = [3, 7, 11];

/// The root of the weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Root {
    /// g.
    pub(super) g: u32,
    /// Whether exact products are negacyclic.
    pub(super) negacyclic: bool,
}

impl Root {
    /// Returns the root for N words; `None` if there is none. If N is a power of 2, there is one unless q divides k or
    /// b. If N is 3 times a power of 2, θ must be a third power, as it is for one of three numbers.
    pub(super) fn new(number: Number, words: usize) -> Option<Self> {
        let n = words as u64;
        let theta = inverse_of_power(number)?;
        let theta = if number.sign() == Sign::Plus { m31::neg(theta) } else { theta };
        let negacyclic = m31::pow(theta, T) != 1;
        let square = if negacyclic { m31::neg(theta) } else { theta };
        let g = root_of_square(square, n)?;
        Some(Self { g, negacyclic })
    }
}

/// Returns 1/(k·b^n) modulo q; `None` if q divides k or b.
fn inverse_of_power(number: Number) -> Option<u32> {
    let [k, b] = [number.multiplier(), u64::from(number.base())].map(m31::reduce);
    let power = m31::mul(k, m31::pow(b, number.exponent().into()));
    (power != 0).then(|| m31::inverse(power))
}

/// Returns an N-th root of x, which is in the group of t elements; `None` if there is none.
///
/// This group is the product of a group of t1 elements, whose prime factors divide N, and one of t2 elements, in which
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
        let mut found = [0; 3];
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
                    for words in
                        [1usize << 10, 1 << 20, 3 << 10, 7 << 12, 9 << 10, 11 << 10, 77 << 10]
                    {
                        let root = Root::new(number, words);
                        assert!(root.is_some() || !words.is_power_of_two(), "{number}, {words}");
                        let Some(root) = root else { continue };
                        found[usize::from(root.negacyclic)] += 1;
                        found[2] += usize::from(!words.is_power_of_two());
                        let power = m31::mul(
                            m31::reduce(number.multiplier()),
                            m31::pow(m31::reduce(number.base().into()), n.into()),
                        );
                        let expected = m31::mul(value(root), m31::inverse(power));
                        assert_eq!(m31::pow(root.g, words as u64), expected, "{number}, {words}");
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
