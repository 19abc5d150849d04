//! Elements for timing and checking transforms. Each element is computed from a seed and its index,
//! so that vectors need not be stored for a comparison.

use std::ops::Range;

use rayon::prelude::*;
use warpint_arith::field::Field;
use warpint_arith::gfn::{Form, Gfn};

use crate::vectors::{self, mixed};

/// A vector of elements of the field modulo r^k + 1, determined by a seed. An element has k digits
/// in base r. Most elements have random digits. On average, of 64 elements one has all digits equal
/// to r − 1, and one is r^k, with the highest digit r and the other digits 0. At these values, sums
/// carry or wrap around.
#[derive(Debug, Clone, Copy)]
pub(super) struct Elements {
    seed: u64,
    radix: u64,
    digits: usize,
    log2: u32,
}

impl Elements {
    pub(super) fn new(form: Form, log2: u32, seed: u64) -> Self {
        Self { seed: mixed(seed), radix: form.radix(), digits: form.digits(), log2 }
    }

    fn len(&self) -> usize {
        1 << self.log2
    }

    /// Returns digit d of element j, digit 0 being the lowest.
    fn digit(&self, j: usize, d: usize) -> u64 {
        match mixed(self.seed ^ j as u64) % 64 {
            0 => self.radix - 1,
            1 if d + 1 == self.digits => self.radix,
            1 => 0,
            _ => {
                let drawn = mixed(self.seed.wrapping_add(1) ^ (j * self.digits + d) as u64);
                // Between 0 and r − 1.
                ((u128::from(drawn) * u128::from(self.radix)) >> 64) as u64
            }
        }
    }

    /// Returns word `at` of the vector in the layout of devices: digit d of element j is at d·N +
    /// j, where N is the number of elements.
    fn word(&self, at: usize) -> u64 {
        self.digit(at % self.len(), at >> self.log2)
    }

    /// Returns the whole vector in the layout of devices: the lowest digits of all elements, then
    /// the next digits, and so on. Returns `None` if memory is too short.
    pub(super) fn words(&self) -> Option<Vec<u64>> {
        self.part(0..self.digits << self.log2)
    }

    /// Returns a range of words of the vector in the layout of devices, as for [`Self::words`].
    /// Returns `None` if memory is too short.
    pub(super) fn part(&self, words: Range<usize>) -> Option<Vec<u64>> {
        vectors::words(words, |at| self.word(at))
    }

    /// Returns the K digits of element j, lowest first.
    pub(super) fn element<const K: usize>(&self, j: usize) -> [u64; K] {
        std::array::from_fn(|d| self.digit(j, d))
    }

    /// Computes output i of the transform of this vector x by definition, on all cores: the sum of
    /// x_j·ω^(i·j) over all j. ω is the value of `root_of_unity` of the field for the length of the
    /// vector.
    pub(super) fn output<const K: usize>(&self, field: &Gfn<K>, i: usize) -> [u64; K] {
        let root = field.root_of_unity(self.log2).unwrap_or_else(|| field.one());
        vectors::output(field, self.len(), &root, |j| self.element(j), i)
    }

    /// Computes element l of the cyclic convolution of this vector x with another vector y by
    /// definition, on all cores: the sum of x_i·y_((l − i) mod N) over all i, where N is the number
    /// of elements.
    pub(super) fn convolved<const K: usize>(
        &self,
        other: &Self,
        field: &Gfn<K>,
        l: usize,
    ) -> [u64; K] {
        let n = self.len();
        (0..n)
            .into_par_iter()
            .map(|i| field.mul(&self.element(i), &other.element((n + l - i) % n)))
            .reduce(|| field.zero(), |a, b| field.add(&a, &b))
    }

    /// Returns the indices of the outputs to compare with the definition, as
    /// [`vectors::looked_at`] chooses them.
    pub(super) fn looked_at<const K: usize>(&self, field: &Gfn<K>) -> Vec<usize> {
        let factors = [self.element(2), self.element(3)];
        vectors::looked_at(field, factors, self.len(), self.len(), self.seed)
    }
}

/// Returns `count` pseudorandom integers below a modulus. `modulus` contains the words of the
/// modulus, the lowest first. Word d of integer j is at index d·count + j of the result. Returns
/// `None` if the modulus is 0 or memory is too short.
pub(super) fn integers(modulus: &[u64], count: usize) -> Option<Vec<u64>> {
    let top = modulus.iter().rposition(|&word| word > 0)?;
    let mut all = vec![];
    all.try_reserve_exact(modulus.len() * count).ok()?;
    all.resize(modulus.len() * count, 0);
    for (d, row) in all.chunks_mut(count.max(1)).enumerate().take(top + 1) {
        row.par_iter_mut().enumerate().for_each(|(j, word)| {
            *word = mixed((d * count + j) as u64);
            if d == top {
                *word %= modulus[top];
            }
        });
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint_arith::gfn::PRIMES;
    use warpint_arith::with_field;
    use warpint_transform::definition;

    fn check<const K: usize>(field: &Gfn<K>) {
        let [a, b] = [1, 2].map(|seed| Elements::new(field.form(), 4, seed));
        let all = |x: &Elements| (0..16).map(|j| x.element(j)).collect::<Vec<[u64; K]>>();
        let root = field.root_of_unity(4).unwrap();
        let transform = definition::transform(field, &all(&a), &root);
        let product = definition::convolve(field, &all(&a), &all(&b));
        for i in [0, 3, 15] {
            assert_eq!(a.output(field, i), transform[i]);
            assert_eq!(a.convolved(&b, field, i), product[i]);
        }
        let words = a.words().unwrap();
        assert_eq!(words.len(), 16 * K);
        assert!((0..16).all(|j| (0..K).all(|d| words[16 * d + j] == a.element::<K>(j)[d])));
        assert!(a.looked_at(field).iter().all(|&i| i < 16));
    }

    #[test]
    fn outputs_are_those_of_the_definition() {
        for form in &PRIMES[..5] {
            with_field!(*form, |field| check(&field)).unwrap();
        }
    }

    #[test]
    fn elements_have_their_one_form_and_corners_are_among_them() {
        let form = PRIMES[1];
        let (r, x) = (form.radix(), Elements::new(form, 12, 5));
        let all: Vec<[u64; 4]> = (0..4096).map(|j| x.element(j)).collect();
        assert!(all.contains(&[r - 1; 4]) && all.contains(&[0, 0, 0, r]));
        assert!(all.iter().all(|x| *x == [0, 0, 0, r] || x.iter().all(|&digit| digit < r)));
    }
}
