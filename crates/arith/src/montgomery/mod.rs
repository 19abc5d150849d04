//! Fields Z/pZ of any odd prime p < 2^(64·L), by Montgomery multiplication (Montgomery 1985,
//! *Modular multiplication without trial division*).
//!
//! Numbers have L words of 64 bits. Let R = 2^(64·L). An element x is represented by x·R mod p. The
//! product of two elements with the representatives a and b has the representative a·b/R mod p.
//!
//! To divide by R, a multiple of p is added to a·b so that the sum is divisible by R. This multiple
//! is computed word by word, the lowest word first (Koç, Acar and Kaliski 1996, *Analyzing and
//! comparing Montgomery multiplication algorithms*, method CIOS). A product of elements takes 2L² +
//! L products of words.

pub mod known;
mod prime;
#[cfg(test)]
mod tests;
mod words;

use crate::field::Field;

/// The largest number of 64-bit words of a modulus.
pub const MAX_WORDS: usize = 64;

/// The field Z/pZ for an odd prime p < 2^(64·L), with elements in Montgomery form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PrimeField<const L: usize> {
    modulus: [u64; L],
    /// The number −1/p mod 2^64, which the reduction of products uses.
    negated_inverse: u64,
    /// R mod p with R = 2^(64·L), which represents the element 1.
    one: [u64; L],
    /// R² mod p with R = 2^(64·L). Products by this number convert integers to Montgomery form.
    square: [u64; L],
    /// The largest s such that 2^s divides p − 1.
    two_adicity: u32,
    /// A root of unity of order 2^s, where s is `two_adicity`.
    root: Residue<L>,
}

/// An element x of a [`PrimeField`], stored as x·R mod p, where R = 2^(64·L).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Residue<const L: usize>([u64; L]);

/// The reason why a [`PrimeField`] cannot be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoField {
    /// The number of words of the modulus, stored here, is not from 1 to 64.
    #[error("the modulus has {0} words: use 1 to {MAX_WORDS}")]
    Words(usize),
    /// The modulus is even, 1 or composite.
    #[error("the modulus is not an odd prime")]
    NotPrime,
    /// The number stored here was given as a quadratic non-residue, but it is a square modulo p.
    #[error("{0} is a square modulo the prime: give a quadratic non-residue, such as a generator")]
    Square(u64),
}

impl<const L: usize> PrimeField<L> {
    /// Creates the field Z/pZ, where p is given in little-endian words. Roots of unity are powers
    /// of the smallest quadratic non-residue.
    ///
    /// The primality of p is not proven. The test is that p is one of the first twelve primes 2, 3,
    /// 5, …, 37 or a strong probable prime to these twelve bases. Composite numbers that pass are
    /// extremely rare, but can be constructed.
    ///
    /// Cost: about 14 powers, each of at most 2·log2(p) products.
    ///
    /// # Errors
    /// Returns an error if p is even, 1 or found to be composite, or if L is not from 1 to 64.
    pub fn new(modulus: [u64; L]) -> Result<Self, NoField> {
        Self::create(modulus, None)
    }

    /// Creates the field Z/pZ like [`PrimeField::new`], but with roots of unity that are powers of
    /// the given quadratic non-residue, for example of a generator.
    ///
    /// The root of order 2^s is non_residue^((p − 1)/2^s), where 2^s is the largest power of two
    /// that divides p − 1.
    ///
    /// # Errors
    /// Returns the errors of [`PrimeField::new`]. Returns an error if `non_residue` is a square
    /// modulo p.
    pub fn with_non_residue(modulus: [u64; L], non_residue: u64) -> Result<Self, NoField> {
        Self::create(modulus, Some(non_residue))
    }

    fn create(modulus: [u64; L], non_residue: Option<u64>) -> Result<Self, NoField> {
        if !(1..=MAX_WORDS).contains(&L) {
            return Err(NoField::Words(L));
        }
        let is_one = |x: &[u64; L]| x[0] == 1 && x[1..].iter().all(|&word| word == 0);
        if modulus[0].is_multiple_of(2) || is_one(&modulus) {
            return Err(NoField::NotPrime);
        }
        let less_one = words::less(&modulus, 1);
        // R and R² by doubling, which requires 1 < p.
        let mut one = [0; L];
        one[0] = 1;
        let double = |x: [u64; L]| words::add(&x, &x, &modulus);
        one = (0..64 * L).fold(one, |x, _| double(x));
        let square = (0..64 * L).fold(one, |x, _| double(x));
        let mut field = Self {
            modulus,
            negated_inverse: words::negated_inverse(modulus[0]),
            one,
            square,
            two_adicity: words::trailing_zeros(&less_one),
            root: Residue(one),
        };
        if !prime::is_probable_prime(&field) {
            return Err(NoField::NotPrime);
        }
        let minus_one = field.neg(&field.one());
        let half = words::shifted_right(&less_one, 1);
        let is_no_square = |x: &u64| field.pow(&field.from_u64(*x), &half) == minus_one;
        let non_residue = match non_residue {
            Some(x) => Some(x).filter(is_no_square).ok_or(NoField::Square(x))?,
            // The smallest non-residue is a prime, and below some hundreds.
            None => (2..1 << 20).find(is_no_square).ok_or(NoField::NotPrime)?,
        };
        let odd = words::shifted_right(&less_one, field.two_adicity);
        field.root = field.pow(&field.from_u64(non_residue), &odd);
        Ok(field)
    }

    /// Returns the prime p.
    #[must_use]
    pub fn modulus(&self) -> &[u64; L] {
        &self.modulus
    }

    /// Returns the number of bits of the prime p.
    #[must_use]
    pub fn bits(&self) -> u32 {
        64 * L as u32 - words::leading_zeros(&self.modulus)
    }

    /// Returns the largest s such that 2^s divides p − 1. Roots of unity exist for the orders 1, 2,
    /// 4, …, 2^s.
    #[must_use]
    pub fn two_adicity(&self) -> u32 {
        self.two_adicity
    }

    /// Returns −1/p mod 2^64, a constant of the word-by-word reduction of products.
    #[must_use]
    pub fn negated_inverse(&self) -> u64 {
        self.negated_inverse
    }

    /// Returns the element that represents the integer x, given in little-endian words. Returns
    /// `None` if x ≥ p.
    #[must_use]
    pub fn element(&self, x: &[u64; L]) -> Option<Residue<L>> {
        words::is_less(x, &self.modulus).then(|| Residue(self.product(x, &self.square)))
    }

    /// Returns the integer from 0 to p − 1 that the element x represents, in little-endian words.
    #[must_use]
    pub fn integer(&self, x: &Residue<L>) -> [u64; L] {
        let mut one = [0; L];
        one[0] = 1;
        self.product(&x.0, &one)
    }

    /// Returns a·b/R mod p, where R = 2^(64·L). Requires a·b < p·R.
    fn product(&self, a: &[u64; L], b: &[u64; L]) -> [u64; L] {
        words::product(a, b, &self.modulus, self.negated_inverse)
    }
}

impl<const L: usize> Residue<L> {
    /// Returns the number that is stored for the element x, in little-endian words. The number is
    /// x·R mod p, where R = 2^(64·L).
    #[must_use]
    pub fn montgomery_form(&self) -> &[u64; L] {
        &self.0
    }
}

impl<const L: usize> Field for PrimeField<L> {
    type Element = Residue<L>;

    fn zero(&self) -> Residue<L> {
        Residue([0; L])
    }
    fn one(&self) -> Residue<L> {
        Residue(self.one)
    }
    fn from_u64(&self, x: u64) -> Residue<L> {
        // x·R²/R mod p < p also for x ≥ p, because x < R.
        let mut words = [0; L];
        words[0] = x;
        Residue(self.product(&words, &self.square))
    }
    fn add(&self, a: &Residue<L>, b: &Residue<L>) -> Residue<L> {
        Residue(words::add(&a.0, &b.0, &self.modulus))
    }
    fn sub(&self, a: &Residue<L>, b: &Residue<L>) -> Residue<L> {
        Residue(words::sub(&a.0, &b.0, &self.modulus))
    }
    fn mul(&self, a: &Residue<L>, b: &Residue<L>) -> Residue<L> {
        Residue(self.product(&a.0, &b.0))
    }
    /// Returns 1/a, computed as a^(p − 2). Returns `None` for a = 0. Cost: at most 128·L + 1
    /// products.
    fn inverse(&self, a: &Residue<L>) -> Option<Residue<L>> {
        let less_two = words::less(&self.modulus, 2);
        let inverse = self.pow(a, &less_two);
        (self.mul(&inverse, a) == self.one()).then_some(inverse)
    }
    fn root_of_unity(&self, log2: u32) -> Option<Residue<L>> {
        let squarings = self.two_adicity.checked_sub(log2)?;
        Some((0..squarings).fold(self.root, |root, _| self.square(&root)))
    }
}
