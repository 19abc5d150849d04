//! Conversion of vectors of elements between the layouts of the host and of devices.

use bytemuck::Pod;
use warpint_arith::f50::F50;
use warpint_arith::field::Field;
use warpint_arith::gfn::Gfn;
use warpint_arith::goldilocks::{Goldilocks, Q};
use warpint_arith::montgomery::PrimeField;

/// A field whose elements have a fixed number of words on devices.
pub trait WordField: Field {
    /// The type of a word.
    type Word: Pod + PartialEq;

    /// Returns the number of words of an element.
    fn words(&self) -> usize;

    /// Appends the words of the element x to `words`.
    fn extend(&self, words: &mut Vec<Self::Word>, x: &Self::Element);

    /// Returns the element that `words` represents. Returns `None` if `words` does not represent an
    /// element.
    fn element_of(&self, words: &[Self::Word]) -> Option<Self::Element>;
}

/// The words of an element are its K digits, the lowest first.
impl<const K: usize> WordField for Gfn<K> {
    type Word = u64;

    fn words(&self) -> usize {
        K
    }

    fn extend(&self, words: &mut Vec<u64>, x: &[u64; K]) {
        words.extend(x);
    }

    fn element_of(&self, words: &[u64]) -> Option<[u64; K]> {
        self.from_digits(words).ok()
    }
}

/// The words of an element are those of the integer x that the element represents, the lowest of
/// its L words first. For the prime p of the field, 0 ≤ x < p.
impl<const L: usize> WordField for PrimeField<L> {
    type Word = u64;

    fn words(&self) -> usize {
        L
    }

    fn extend(&self, words: &mut Vec<u64>, x: &Self::Element) {
        words.extend(self.integer(x));
    }

    fn element_of(&self, words: &[u64]) -> Option<Self::Element> {
        self.element(words.try_into().ok()?)
    }
}

/// The word of an element is the integer from 0 to q − 1.
impl WordField for Goldilocks {
    type Word = u64;

    fn words(&self) -> usize {
        1
    }

    fn extend(&self, words: &mut Vec<u64>, x: &u64) {
        words.push(*x);
    }

    fn element_of(&self, words: &[u64]) -> Option<u64> {
        words.first().copied().filter(|&x| x < Q)
    }
}

/// An element has one word: the integer x that the element represents, with 0 ≤ x < p for the prime
/// p of the field. `extend` does not reduce elements, so an element passed to it must be this
/// integer.
impl WordField for F50 {
    type Word = f64;

    fn words(&self) -> usize {
        1
    }

    fn extend(&self, words: &mut Vec<f64>, x: &f64) {
        words.push(*x);
    }

    fn element_of(&self, words: &[f64]) -> Option<f64> {
        let is_element = |x: &f64| (0.0..self.modulus() as f64).contains(x) && x.fract() == 0.0;
        words.first().copied().filter(is_element)
    }
}

/// Returns the words of `count` elements in limb-major order: word d of element j is at
/// `d·count + j`.
#[must_use]
pub fn to_words<F: WordField>(field: &F, x: &[F::Element]) -> Vec<F::Word> {
    let mut words = Vec::with_capacity(x.len() * field.words());
    x.iter().for_each(|x| field.extend(&mut words, x));
    limb_major(&words, field.words())
}

/// Returns the elements represented by limb-major words. Returns `None` if some words do not
/// represent an element.
///
/// # Panics
/// If the number of words is not a multiple of the number of words of an element.
#[must_use]
pub fn from_words<F: WordField>(field: &F, words: &[F::Word]) -> Option<Vec<F::Element>> {
    let words = element_major(words, field.words());
    words.chunks(field.words()).map(|words| field.element_of(words)).collect()
}

/// Converts words from element-major to limb-major order. Word d of element j is at
/// `j·words_each + d` before, and at `d·count + j` afterwards, where `count` is the number of
/// elements.
///
/// # Panics
/// If the number of words is not a multiple of the number of words of an element.
#[must_use]
pub fn limb_major<W: Copy>(words: &[W], words_each: usize) -> Vec<W> {
    transposed(words, words.len() / words_each, words_each)
}

/// Converts words from limb-major to element-major order. Word d of element j is at `d·count + j`
/// before, and at `j·words_each + d` afterwards, where `count` is the number of elements.
///
/// # Panics
/// If the number of words is not a multiple of the number of words of an element.
#[must_use]
pub fn element_major<W: Copy>(words: &[W], words_each: usize) -> Vec<W> {
    transposed(words, words_each, words.len() / words_each)
}

fn transposed<W: Copy>(words: &[W], rows: usize, columns: usize) -> Vec<W> {
    assert_eq!(rows * columns, words.len(), "no whole elements");
    let column = |j: usize| (0..rows).map(move |i| words[i * columns + j]);
    (0..columns).flat_map(column).collect()
}
