//! Forged proofs, made with GMP: a last residue times an element of small order, with middles
//! chosen so that the hashes come out right.
//!
//! The claim of a proof is B = A^(2^s). If B = A^(2^s)·ε^c with ε of order e, the middle
//! A^(2^s')·ε^m, s' = ⌈s/2⌉, leads to the claim B' = A'^(2^s')·ε^c' with
//!
//! c' = c·(1 or 2) + m·(h − 2^s') mod e, 2 for odd s.
//!
//! h is a hash of the middle, so every m is an attempt that succeeds (c' = 0) with probability 1/e;
//! from there on the claim is true. Source: Boneh, Bünz, Fisch, *A survey of two verifiable delay
//! functions* (2018), where soundness requires that no such ε exists.

use rug::Integer;
use sha3::{Digest, Sha3_256};
use warpint_mersenne::proof::Proof;
use warpint_mersenne::{Exponent, Residue};

use crate::gmp::{Ring, integer, mersenne, residue};

/// An element of (Z/M_p)* with its order.
#[derive(Debug, Clone)]
pub struct SmallOrder {
    /// The element ε.
    pub element: Integer,
    /// The order e of the element.
    pub order: u32,
}

impl SmallOrder {
    /// Returns the element 1.
    #[must_use]
    pub fn one() -> Self {
        Self { element: Integer::from(1), order: 1 }
    }

    /// Returns the element −1.
    #[must_use]
    pub fn sign(p: u32) -> Self {
        Self { element: mersenne(p) - 1, order: 2 }
    }

    /// Returns the element 2, which has order p.
    #[must_use]
    pub fn two(p: u32) -> Self {
        Self { element: Integer::from(2), order: p }
    }

    /// Returns an element of prime order q modulo a prime M_p; `None` if q does not divide M_p − 1.
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

/// A proof whose last residue is x_p·ε^c.
#[derive(Debug)]
pub struct Forgery {
    /// The proof, whose equation holds.
    pub proof: Proof,
    /// The number of middles that were hashed.
    pub hashes: u64,
}

/// Forges a proof of a power for x_p·ε whose equation holds. Returns `None` if no level has a
/// middle with the right hash. For ε = 1 the proof is honest.
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

/// Returns whether A^(2^s) = B at the end of a proof. This is only the equation of Pietrzak's
/// protocol, computed by GMP.
#[must_use]
pub fn equation_holds(proof: &Proof) -> bool {
    let p = proof.exponent().get();
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

/// Returns x^(2^n) modulo the ring's M_p.
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

/// The chain of hashes of a proof: SHA3-256 of B, then of the preceding hash and a middle.
#[derive(Clone)]
struct Chain([u8; 32]);

impl Chain {
    fn new(last: &Residue) -> Self {
        Self(Sha3_256::digest(last.to_le_bytes()).into())
    }

    /// Adds a middle to the chain and returns the exponent that belongs to it.
    fn absorb(&mut self, middle: &Residue) -> u64 {
        self.0 =
            Sha3_256::new_with_prefix(self.0).chain_update(middle.to_le_bytes()).finalize().into();
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_le_bytes([a, b, c, d, e, f, g, h])
    }
}
