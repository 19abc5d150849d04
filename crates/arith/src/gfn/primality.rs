//! Proofs that p = r^k + 1 is prime. The proofs use the prime factors of p − 1 = r^k, which are the
//! prime factors of the 64-bit number r.

use super::{Form, Gfn};
use crate::field::Field;
use crate::primes;

impl Form {
    /// Returns whether p = r^k + 1 is prime. The answer is proven.
    ///
    /// The prime factors q of p − 1 are the prime factors of r. The number p is prime if for each q
    /// there is a number a with a^(p−1) = 1 and a^((p−1)/q) ≠ 1 mod p (Brillhart, Lehmer and
    /// Selfridge 1975, *New primality criteria and factorizations of 2^m ± 1*, theorem 1).
    ///
    /// The numbers a that are tried are the primes a = 2, 3, 5, … with Jacobi symbol (a | p) = −1.
    /// If a^((p−1)/2) ≠ −1 mod p for one of these primes a, p is composite (Solovay and Strassen
    /// 1977).
    ///
    /// Cost: several powers, each of log2(p) squarings. For a composite p, one power usually
    /// suffices.
    #[must_use]
    pub fn is_prime(&self) -> bool {
        if let [p] = self.modulus()[..] {
            return primes::is_prime(p);
        }
        match self.digits() {
            2 => Gfn::<2>::ring(*self).is_field(),
            4 => Gfn::<4>::ring(*self).is_field(),
            8 => Gfn::<8>::ring(*self).is_field(),
            16 => Gfn::<16>::ring(*self).is_field(),
            32 => Gfn::<32>::ring(*self).is_field(),
            64 => Gfn::<64>::ring(*self).is_field(),
            _ => Gfn::<128>::ring(*self).is_field(),
        }
    }

    /// Returns p mod q, where p = r^k + 1.
    fn modulo(&self, q: u64) -> u64 {
        (primes::pow_mod(self.radix(), self.digits() as u64, q) + 1) % q
    }

    /// Iterates in ascending order over the primes q with Jacobi symbol (q | p) = −1, where p =
    /// r^k + 1. If p is prime, these are the primes that are quadratic non-residues modulo p.
    pub(super) fn non_squares(self) -> impl Iterator<Item = u64> {
        primes::primes_between(2, u64::MAX).filter(move |&q| match q {
            // 2 is a square modulo 8n ± 1 (p is 1 or 5 mod 8); the others by reciprocity, as p is 1
            // mod 4.
            2 => self.modulo(8) == 5,
            _ => {
                let residue = self.modulo(q);
                residue != 0 && primes::pow_mod(residue, q / 2, q) != 1
            }
        })
    }
}

impl<const K: usize> Gfn<K> {
    /// Returns whether the modulus p is prime, by the method of [`Form::is_prime`]. Requires p >
    /// 1000, because any p with a prime factor below 1000 is taken to be composite.
    pub(super) fn is_field(&self) -> bool {
        const SMALL: u64 = 1000;
        if primes::primes_between(2, SMALL).any(|q| self.form.modulo(q) == 0) {
            return false;
        }
        let mut open = primes::prime_factors(self.r);
        let (one, minus_one) = (self.one(), self.neg(&self.one()));
        for a in self.form.non_squares() {
            // a^((p−1)/q) = b^(r/q) for b = a^(r^(k−1)).
            let b = (1..K).fold(self.from_u64(a), |power, _| self.pow_radix(&power));
            if self.pow(&b, &[self.r / 2]) != minus_one {
                return false;
            }
            open.retain(|&q| self.pow(&b, &[self.r / q]) == one);
            if open.is_empty() {
                return true;
            }
        }
        false
    }

    /// Returns a^r, where r is the radix.
    pub(super) fn pow_radix(&self, a: &[u64; K]) -> [u64; K] {
        (0..self.form.u()).fold(self.pow_odd(a), |power, _| self.square(&power))
    }

    /// Returns a^s, where s = 2^(w−u) ± 1 is the odd part of r. Cost: w − u squarings and a few
    /// other products.
    pub(super) fn pow_odd(&self, a: &[u64; K]) -> [u64; K] {
        let n = self.form.w() - self.form.u();
        let squared = |x: [u64; K], times: u32| (0..times).fold(x, |x, _| self.square(&x));
        if self.form.is_sum() {
            return self.mul(&squared(*a, n), a);
        }
        // a^(2^m − 1), where m runs through the leading bits of n.
        let (mut power, mut m) = (*a, 1);
        for bit in (0..n.ilog2()).rev() {
            power = self.mul(&squared(power, m), &power);
            m *= 2;
            if n >> bit & 1 == 1 {
                power = self.mul(&self.square(&power), a);
                m += 1;
            }
        }
        power
    }
}
