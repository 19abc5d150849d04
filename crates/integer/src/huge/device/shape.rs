//! How products are computed: the digits, the length of the transforms, and the words of the result.

use std::ops::Range;

/// The digits and the transforms of a factor. Spectra of the same form can be multiplied.
///
/// Numbers are split into digits of `bits` bits. A spectrum is the transform of `points` points modulo
/// q = 2^64 − 2^32 + 1 of these digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Form {
    pub(super) bits: u32,
    pub(super) points: usize,
}

/// The shape of the products of a batch: which form the spectra have, and which words of the results
/// are computed.
///
/// Let B = 2^64. A result is P = a·b, or P = a·b + c·d for sums of two products. The coefficients of P
/// before carries are a cyclic convolution of digits of b bits, so P is known modulo B^W − 1, where
/// W = b·points/64. It is exact: a coefficient is a sum of at most t·m products of two digits, where m
/// is the number of digits of the shorter factor and t the number of products, and t·m·(2^b − 1)² <
/// q.
///
/// # The words of a window
/// Let P have s words at most, and let the window be the words `from` to `to` − 1 of P. W is chosen such
/// that W ≥ to and W ≥ s − from: what exceeds B^W then wraps to words below the window. The carry
/// out of the words below is not added. So the result is V ≡ ⌊P/B^from⌋ + e modulo B^(to − from), where
///
/// * e = 0 if from = 0;
/// * e is 0 or −1 if s ≤ W ([`Self::wraps`] is false);
/// * e is −1, 0 or 1 otherwise.
///
/// *Proof.* If a + b ≤ W, the greatest index of a coefficient, which is the number of digits of both
/// factors less 2, is below 64·W/b = points. So if s ≤ W, the sum of all coefficients with their powers is
/// P, as an integer. Let A_w ≤ 2·B − 2 be the sum of the lower half of the sum of word w and the upper half of
/// that of word w − 1, cyclically: X = Σ A_w·B^w ≡ P modulo B^W − 1. Write X = R + H·B^from with
/// R = Σ_(w < from) A_w·B^w ≤ 2·(B^from − 1); V ≡ H. Write P = p_0 + p_1·B^from + p_2·B^W with
/// p_0 < B^from, p_1 < B^(W − from) and p_2 < B^from. Then X = p_0 + p_2 + p_1·B^from + k·(B^W − 1), where
/// |k| ≤ 1: both sides are at most 2·(B^W − 1), and the right one without k is less. k = 2 would need a right
/// side of 0 without k, so P = 0, and then X = 0.
/// Thus B^from divides R − p_0 − p_2 + k, whose absolute value is less than 2·B^from, and
/// p_1 − H ≡ (R − p_0 − p_2 + k)/B^from modulo B^(W − from), which is −1, 0 or 1. If s ≤ W, then
/// X = P and k = p_2 = 0, so (R − p_0)/B^from is 0 or 1, and it is 0 if from = 0.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Shape {
    pub(super) form: Form,
    /// The largest numbers of words of the first and of the second factors.
    pub(super) factors: [usize; 2],
    pub(super) terms: usize,
    pub(super) window: Range<usize>,
    /// Whether the carry out of the highest word of W is added to the lowest one.
    pub(super) around: bool,
}

/// 2^64 − 2^32 + 1.
const Q: u128 = (1 << 64) - (1 << 32) + 1;
/// The numbers of bits of a digit. Longer digits would need fewer points, but only for short numbers;
/// with shorter digits, five of them would begin in a word.
const BITS: std::ops::RangeInclusive<u32> = 16..=26;
/// The largest number of points of a transform.
const MOST_POINTS: usize = 1 << 30;

impl Form {
    /// Returns the form of `words` words or more, with the fewest points, in which sums of `terms`
    /// products of numbers of `a` and `b` words are exact.
    fn least([a, b]: [usize; 2], terms: usize, words: usize) -> Option<Self> {
        let of_bits = |bits: u32| {
            let form = Self { bits, points: points(usize::try_from(digits(words, bits)).ok()?)? };
            form.is_exact([a, b], terms).then_some(form)
        };
        BITS.filter_map(of_bits).min_by_key(|form| (form.points, form.bits))
    }

    /// Returns whether every coefficient of a sum of `terms` products is below q.
    fn is_exact(self, [a, b]: [usize; 2], terms: usize) -> bool {
        let greatest = (1u128 << self.bits) - 1;
        digits(a.min(b), self.bits) * terms as u128 * greatest * greatest < Q
    }

    /// Returns the number of words W of the ring: products are computed modulo 2^(64·W) − 1.
    #[must_use]
    pub fn words(self) -> usize {
        self.points / 64 * self.bits as usize
    }

    /// Returns the number of points of a transform.
    #[must_use]
    pub fn points(self) -> usize {
        self.points
    }
}

impl Shape {
    /// Returns the shape of whole products of numbers of at most `a` and `b` words, with as few points
    /// as possible: all a + b words, and one more for a sum of two products (`terms` = 2). `None` if the
    /// numbers are too long.
    #[must_use]
    pub fn whole(a: usize, b: usize, terms: usize) -> Option<Self> {
        let words = a.checked_add(b)?.checked_add(terms - 1)?;
        let form = Form::least([a, b], terms, words)?;
        Some(Self { form, factors: [a, b], terms, window: 0..words, around: false })
    }

    /// Returns the shape of the words `window` of products, or of sums of two products, with as few
    /// points as possible. The window ends at word a + b at most, or at a + b + 1 for sums. `None` if the
    /// numbers are too long.
    ///
    /// # Panics
    /// If the window is empty or ends beyond the product.
    #[must_use]
    pub fn window(a: usize, b: usize, terms: usize, window: Range<usize>) -> Option<Self> {
        let words = a.checked_add(b)? + terms - 1;
        assert!(window.start < window.end && window.end <= words, "the window {window:?}");
        let least = a.max(b).max(window.end).max(words - window.start);
        let form = Form::least([a, b], terms, least)?;
        let whole = Form::least([a, b], terms, words);
        let form = whole.filter(|whole| whole.points <= form.points).unwrap_or(form);
        Some(Self { form, factors: [a, b], terms, window, around: false })
    }

    /// Returns the shape of products, or of sums of two products, modulo B^W − 1, with the least W ≥
    /// `words` and not less than a and b. The result has W words, see [`Form::words`]; it is exact, and
    /// B^W − 1 may stand for 0. Only batches of one row can be computed so. `None` if the numbers are too
    /// long.
    #[must_use]
    pub fn cyclic(a: usize, b: usize, terms: usize, words: usize) -> Option<Self> {
        let least = a.max(b).max(words).max(1);
        let form = Form::least([a, b], terms, least)?;
        let window = 0..form.words();
        Some(Self { form, factors: [a, b], terms, window, around: true })
    }

    /// Returns the same products with spectra of another form; `None` if they would not be exact, or if
    /// the form is too short. A cyclic shape has the W of the form then.
    #[must_use]
    pub fn with_form(mut self, form: Form) -> Option<Self> {
        let [a, b] = self.factors;
        let mut least = a.max(b);
        if self.around {
            self.window = 0..form.words();
        } else {
            least = least.max(self.window.end).max(self.words_of_product() - self.window.start);
        }
        let fits = form.words() >= least && form.is_exact(self.factors, self.terms);
        fits.then_some(Self { form, ..self })
    }

    /// Returns the largest number of words of a product, or of a sum of two products.
    fn words_of_product(&self) -> usize {
        self.factors[0] + self.factors[1] + self.terms - 1
    }

    /// Returns the form of the spectra.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns the number of words of a result.
    #[must_use]
    pub fn words(&self) -> usize {
        self.window.len()
    }

    /// Returns whether words of the product may wrap, so that a window can be too large by 1.
    #[must_use]
    pub fn wraps(&self) -> bool {
        self.form.words() < self.words_of_product()
    }
}

/// Returns the number of digits of a number of `words` words.
fn digits(words: usize, bits: u32) -> u128 {
    (words as u128 * 64).div_ceil(u128::from(bits))
}

/// Returns the least number of points of a transform that is at least `least` and not less than
/// 2^8: 2^k, 3·2^k or 5·2^k. It is a multiple of 64. `None` if there is none.
fn points(least: usize) -> Option<usize> {
    if least > MOST_POINTS {
        return None;
    }
    let of = |odd: usize| odd * least.max(1 << 8).div_ceil(odd).next_power_of_two();
    [1, 3, 5].map(of).into_iter().min().filter(|&points| points <= MOST_POINTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_usual_products() {
        for (log2, bits, points) in
            [(24, 22, 3 << 19), (28, 20, 1 << 25), (30, 19, 1 << 27), (32, 18, 1 << 29)]
        {
            let words = 1 << (log2 - 6);
            let form = Shape::whole(words, words, 1).unwrap().form;
            assert_eq!((form.points, form.bits <= bits), (points, true), "2^{log2}: {form:?}");
        }
    }

    #[test]
    fn coefficients_and_products_fit() {
        for a in [1, 2, 3, 100, 1 << 12, (1 << 20) + 1, 1 << 26, (1 << 27) - 7] {
            for b in [1, 5, 1 << 16, 1 << 26] {
                for terms in [1, 2] {
                    let Some(shape) = Shape::whole(a, b, terms) else {
                        assert!(a + b > 1 << 27, "{a} and {b} words");
                        continue;
                    };
                    let form = shape.form;
                    let digit = (1u128 << form.bits) - 1;
                    let shorter = digits(a.min(b), form.bits);
                    let sum = shorter * digit * digit * terms as u128;
                    assert!(sum < Q, "{a} and {b} words: {shape:?}");
                    assert!(form.words() >= a + b + terms - 1 && !shape.wraps());
                    assert_eq!(form, Shape::whole(b, a, terms).unwrap().form);
                }
            }
        }
    }

    #[test]
    fn windows_have_short_transforms() {
        // The upper half of a product of 2n words by n words, and the middle one.
        for n in [1000, 1 << 14, 1 << 22] {
            let whole = Shape::whole(2 * n, n, 1).unwrap();
            let middle = Shape::window(2 * n, n, 1, n..2 * n).unwrap();
            assert!(middle.wraps() && middle.form.points < whole.form.points, "{n}");
            assert!(middle.form.words() >= 2 * n);
            let top = Shape::window(n, n, 1, n..2 * n).unwrap();
            assert_eq!(top.form.points, Shape::whole(n, n, 1).unwrap().form.points, "{n}");
        }
        let cyclic = Shape::cyclic(100, 90, 1, 101).unwrap();
        assert!(cyclic.words() >= 101 && cyclic.words() == cyclic.form.words());
    }

    #[test]
    fn shapes_with_another_form() {
        let n = 1000;
        let middle = Shape::window(2 * n, n, 1, n..2 * n).unwrap();
        let whole = Shape::whole(2 * n, n, 1).unwrap();
        let longer = middle.clone().with_form(whole.form).unwrap();
        assert!(!longer.wraps() && longer.words() == n);
        assert_eq!(whole.with_form(middle.form), None);
        let short = Shape::whole(10, 10, 1).unwrap().form;
        assert_eq!(middle.with_form(short), None);
    }

    #[test]
    fn the_longest_numbers() {
        // Products of two numbers of 2^33 bits, and not of numbers of 2^34 bits.
        assert!(Shape::whole(1 << 27, 1 << 27, 1).is_some());
        assert_eq!(Shape::whole(1 << 28, 1 << 28, 1), None);
        assert_eq!(Shape::whole(usize::MAX / 64, 1, 1), None);
        assert_eq!(Shape::whole(usize::MAX, 1, 1), None);
    }

    #[test]
    fn points_are_the_least() {
        assert_eq!(points(1), Some(1 << 8));
        assert_eq!(points((1 << 20) + 1), Some(5 << 18));
        assert_eq!(points((5 << 18) + 1), Some(3 << 19));
        assert_eq!(points((3 << 19) + 1), Some(1 << 21));
        assert_eq!(points((1 << 30) + 1), None);
        assert_eq!(points(usize::MAX), None);
    }
}
