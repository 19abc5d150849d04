//! Forges proofs of PRP tests of M_p = 2^p − 1 with GMP. A proof consists of the last residue of
//! the test and of several other residues, its middles. The last residue of a forged proof is the
//! right one times an element of small order. The middles are chosen so that the equation of the
//! proof holds nevertheless.
//!
//! A proof for M_p claims that B = A^(2^s) mod M_p, at first with A = 3 and s = p. Each middle
//! reduces the claim to a claim B' = A'^(2^s') with s' = ⌈s/2⌉ and new values A' and B'. Suppose
//! that in fact B = A^(2^s)·ε^c, where ε has order e. Then for any m, the middle A^(2^s')·ε^m leads
//! to values with B' = A'^(2^s')·ε^c', where
//!
//! c' = f·c + m·(h − 2^s') mod e, with f = 2 for odd s and f = 1 for even s.
//!
//! Here h is a hash that depends on the middle. So every m is an attempt to obtain c' = 0, which
//! succeeds with probability 1/e. After a success, the reduced claim is true. Source: Boneh, Bünz,
//! Fisch, *A survey of two verifiable delay functions* (2018). There, soundness requires that no
//! such ε is known.

use rug::Integer;
use sha3::{Digest, Sha3_256};
use warpint_mersenne::proof::Proof;
use warpint_mersenne::{Exponent, Residue};

use crate::gmp::{Ring, integer, mersenne, residue};

/// An element of the multiplicative group modulo M_p, and its order.
#[derive(Debug, Clone)]
pub struct SmallOrder {
    /// The element, called ε in the module's documentation.
    pub element: Integer,
    /// The order of the element: the least e > 0 with ε^e ≡ 1 mod M_p.
    pub order: u32,
}

impl SmallOrder {
    /// Returns the element 1, which has order 1.
    #[must_use]
    pub fn one() -> Self {
        Self { element: Integer::from(1), order: 1 }
    }

    /// Returns the element −1 modulo M_p, which has order 2.
    #[must_use]
    pub fn sign(p: u32) -> Self {
        Self { element: mersenne(p) - 1, order: 2 }
    }

    /// Returns the element 2 modulo M_p, which has order p.
    #[must_use]
    pub fn two(p: u32) -> Self {
        Self { element: Integer::from(2), order: p }
    }

    /// Returns an element of prime order q modulo a prime M_p. Returns `None` if q does not divide
    /// M_p − 1.
    #[must_use]
    pub fn modulo_a_prime(p: u32, q: u32) -> Option<Self> {
        let m = mersenne(p);
        let exponent = Integer::from(&m - 1);
        if !exponent.is_divisible_u(q) {
            return None;
        }
        let exponent = exponent / q;
        let element = (3u32..)
            .map(|g| Integer::from(g).pow_mod(&exponent, &m).unwrap_or_default())
            .find(|power| *power != 1)?;
        Some(Self { element, order: q })
    }
}

/// A forged proof, and the effort of the forgery.
#[derive(Debug)]
pub struct Forgery {
    /// The proof. Its equation holds. Its last residue is wrong, unless the element is 1.
    pub proof: Proof,
    /// The number of middles that were hashed to find the proof.
    pub hashes: u64,
}

/// Forges a proof for M_p whose equation holds. The last residue of the proof is the right one,
/// 3^(2^p), times the element `with`; if this element is 1, the proof is honest. `power` is the
/// number of middles of the proof. Returns `None` if no middle with a suitable hash is found.
#[must_use]
pub fn forge(p: u32, power: u32, with: &SmallOrder) -> Option<Forgery> {
    let ring = Ring::new(p);
    let times = |x: &Integer, y: &Integer| ring.reduce(Integer::from(x * y));
    let (mut base, mut span) = (Integer::from(3).modulo(&mersenne(p)), p);
    let last = times(&squared(&ring, base.clone(), p), &with.element);
    let last = residue(&last, p);
    let (mut error, mut hashes) = (u64::from(with.order > 1), 0);
    let mut chain = Chain::new(&last);
    let mut middles = vec![];
    for _ in 0..power {
        let order = u64::from(with.order);
        error = if span % 2 == 1 { 2 * error % order } else { error };
        span = span.div_ceil(2);
        let right = squared(&ring, base.clone(), span);
        let two_to_span = pow_mod(2, u64::from(span), order);
        // The exponent of the error in the claim after this middle.
        let after = |m: u64, h: u64| (error + m * (h % order + order - two_to_span)) % order;
        let mut found = None;
        let mut middle = right.clone();
        for m in 0..if error == 0 { 1 } else { order } {
            let (candidate, mut next) = (residue(&middle, p), chain.clone());
            let h = next.absorb(&candidate);
            hashes += 1;
            if after(m, h) == 0 || m == 0 {
                found = Some((candidate, next, h, after(m, h)));
            }
            if after(m, h) == 0 {
                break;
            }
            middle = times(&middle, &with.element);
        }
        let (middle, next, h, left) = found?;
        (chain, error) = (next, left);
        let power = base.pow_mod(&Integer::from(h), &mersenne(p)).ok()?;
        base = times(&power, &integer(&middle));
        middles.push(middle);
    }
    let exponent = Exponent::new(u64::from(p)).ok()?;
    let proof = Proof::new(exponent, last, middles).ok()?;
    (error == 0).then_some(Forgery { proof, hashes })
}

/// Returns whether the equation of Pietrzak's protocol holds for a proof, computed with GMP. The
/// other checks of a verification are omitted.
#[must_use]
pub fn equation_holds(proof: &Proof) -> bool {
    let p = proof.number().exponent();
    let (ring, modulus) = (Ring::new(p), mersenne(p));
    let power =
        |x: &Integer, h: u64| x.clone().pow_mod(&Integer::from(h), &modulus).unwrap_or_default();
    let (mut a, mut b, mut span) = (Integer::from(3), integer(proof.last()), p);
    let mut chain = Chain::new(proof.last());
    for middle in proof.middles() {
        let h = chain.absorb(middle);
        let middle = integer(middle);
        if span % 2 == 1 {
            b.square_mut();
        }
        b = ring.reduce(power(&middle, h) * ring.reduce(b));
        a = ring.reduce(power(&a, h) * middle);
        span = span.div_ceil(2);
    }
    squared(&ring, a, span) == b
}

/// Returns x^(2^n) in the ring.
fn squared(ring: &Ring, mut x: Integer, n: u32) -> Integer {
    for _ in 0..n {
        x.square_mut();
        x = ring.reduce(x);
    }
    x
}

fn pow_mod(a: u64, e: u64, m: u64) -> u64 {
    warpint_arith::primes::pow_mod(a, e, m)
}

/// The newest hash in the chain of hashes of a proof. The first hash is the SHA3-256 of the last
/// residue. Each later hash is the SHA3-256 of the preceding hash and a middle.
#[derive(Clone)]
struct Chain([u8; 32]);

impl Chain {
    fn new(last: &Residue) -> Self {
        Self(Sha3_256::digest(last.to_le_bytes()).into())
    }

    /// Adds a middle to the chain, and returns the exponent h for it: the first 8 bytes of the new
    /// hash, little-endian.
    fn absorb(&mut self, middle: &Residue) -> u64 {
        self.0 =
            Sha3_256::new_with_prefix(self.0).chain_update(middle.to_le_bytes()).finalize().into();
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }
}
