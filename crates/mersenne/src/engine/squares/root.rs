//! The sums L(v) = Σ v_j·2^⌈pj/N⌉·s^j over the words of a residue, for a secret s.

use rayon::prelude::*;
use warpint_arith::{m31, primes};

use super::Element;
use crate::layout::WordLayout;

/// An element s of GF((2^31 − 1)²) with s^N = 2^(−p), for the exponent p and N words.
///
/// Because s^N·2^p = 1, the factors A_j = 2^⌈pj/N⌉·s^j of the words satisfy A_i·A_j = 2^c·A_(i+j),
/// where c is 1 if the fractions of the weights of words i and j wrap around and 0 otherwise, with
/// i + j taken mod N. Cyclic convolutions with the weights of the engine have the same factor 2^c.
/// So L(v) = Σ v_j·A_j maps them to products.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Root {
    layout: WordLayout,
    s: Element,
    /// 1 − 1/s.
    carried: Element,
}

/// Returns the number of elements s with s^N = 2^(−p) for N words: N itself unless 5, 13, 27, 49 or
/// another number that does not divide the order of the group divides N.
pub(crate) fn roots(length: usize) -> u64 {
    gcd(length as u64, m31::GROUP)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Root {
    /// Returns root number k mod [`roots`]. The order of roots has no meaning.
    ///
    /// # Panics
    /// Panics if the length is a multiple of 31.
    pub(crate) fn new(layout: WordLayout, k: u64) -> Self {
        let n = layout.len() as u64;
        assert!(!n.is_multiple_of(31), "a length that is a multiple of 31");
        // 2 has order 31, so 2^(p·m) with m·N ≡ −1 mod 31 is an N-th root of 2^(−p). By Fermat,
        // N^29 is the inverse of N.
        let m = 31 - primes::pow_mod(n, 29, 31);
        let count = roots(layout.len());
        let power = Element::power_of_2(u64::from(layout.exponent()) % 31 * m);
        // `count` divides the order of the group.
        let unity = m31::root_of_unity(count).unwrap_or(Element::ONE);
        let s = power.times(unity.pow(k % count));
        Self { layout, s, carried: Element::ONE.minus(s.inverse()) }
    }

    /// Draws a root by random bits of the operating system.
    pub(crate) fn draw(layout: WordLayout) -> Self {
        Self::new(layout, random())
    }

    /// Returns s.
    pub(crate) fn s(&self) -> Element {
        self.s
    }

    /// Returns the factor A_j = 2^⌈pj/N⌉·s^j of word j.
    pub(crate) fn factor(&self, j: usize) -> Element {
        Element::power_of_2(self.layout.offset(j)).times(self.s.pow(j as u64))
    }

    /// Iterates over the factors A_j, A_(j+1), … of words, up to that of the last word and then 1,
    /// the factor of word 0 as the successor of the last word.
    pub(crate) fn factors(&self, j: usize) -> impl Iterator<Item = Element> {
        let (p, n) = (u64::from(self.layout.exponent()), self.layout.len() as u64);
        // A_(j+1) = 2^b·s·A_j for a word j of b bits.
        let next = [0, 1].map(|long| Element::power_of_2(p / n + long).times(self.s));
        let (mut factor, mut excess) = (self.factor(j), self.layout.weight_numerator(j));
        (j as u64..=n).map(move |_| {
            let here = factor;
            let long = excess < p % n;
            factor = factor.times(next[usize::from(long)]);
            excess = if long { excess + n - p % n } else { excess - p % n };
            here
        })
    }

    /// Returns L(v) = Σ v_j·A_j for the digits v of a residue.
    pub(crate) fn sum(&self, digits: &[i32]) -> Element {
        const CHUNK: usize = 1 << 15;
        let sums = digits.par_chunks(CHUNK).enumerate().map(|(i, chunk)| {
            let terms = chunk.iter().zip(self.factors(i * CHUNK));
            terms.fold(Element::ZERO, |sum, (&digit, factor)| {
                sum.plus(factor.times(Element::of(digit.into())))
            })
        });
        sums.reduce(|| Element::ZERO, Element::plus)
    }

    /// Returns the image of 2·2^shift, the number that a Lucas–Lehmer step subtracts, if it is
    /// subtracted from the word that contains bit `shift`.
    pub(crate) fn two(&self, shift: u32) -> Element {
        self.two_from(self.layout.word_at_bit(shift).0, shift)
    }

    /// Returns the image of 2·2^shift if it is subtracted from word `word`.
    pub(crate) fn two_from(&self, word: usize, shift: u32) -> Element {
        Element::power_of_2(u64::from(shift) + 1).times(self.s.pow(word as u64))
    }

    /// Returns what carries with the sum `carries` add to the sum of the digits.
    pub(crate) fn carried(&self, carries: Element) -> Element {
        self.carried.times(carries)
    }

    /// Returns the sum that the digits of a square must have. `before` is the sum of the digits
    /// that were squared, and `carries` is the sum L(c), where c_j is the carry into word j.
    ///
    /// A carry c out of word j of b bits adds c to word j + 1 and subtracts 2^b·c from word j. This
    /// adds c·(A_(j+1) − 2^b·A_j) = c·A_(j+1)·(1 − 1/s) to the sum, because A_(j+1) = 2^b·s·A_j. For
    /// the last word, A_N = 2^p·s^N = 1 = A_0.
    pub(crate) fn square(&self, before: Element, carries: Element) -> Element {
        self.times(before, 1, carries)
    }

    /// Returns the sum that the digits of m times a square must have, as [`Self::square`] does.
    pub(crate) fn times(&self, before: Element, m: u32, carries: Element) -> Element {
        let square = before.times(before);
        Element::of(m.into()).times(square).plus(self.carried(carries))
    }
}

/// Returns 64 random bits of the operating system. Where it has none, returns the hash of a table
/// that the standard library seeds.
fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    getrandom::u64().unwrap_or_else(|_| RandomState::new().build_hasher().finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::carry_out;
    use proptest::prelude::*;

    /// Exponents with lengths: powers of 2, odd factors that the group has (3, 7, 9, 11), and factors
    /// that it does not have (5, 27).
    const LAYOUTS: [(u32, usize); 9] = [
        (1_279, 64),
        (2_203, 96),
        (2_281, 7 << 4),
        (3_217, 9 << 4),
        (4_253, 11 << 4),
        (4_423, 5 << 5),
        (9_689, 27 << 4),
        (44_497, 2_304),
        (86_243, 4_096),
    ];

    /// Returns the sum by its definition.
    fn slow_sum(root: &Root, digits: &[i64]) -> Element {
        let layout = &root.layout;
        let terms = digits.iter().enumerate().map(|(j, &v)| {
            let mut factor = Element::ONE;
            (0..layout.offset(j)).for_each(|_| factor = factor.plus(factor));
            (0..j).for_each(|_| factor = factor.times(root.s));
            // v mod 2^31 − 1, whose sign is that of v.
            Element::of(v).times(factor)
        });
        terms.fold(Element::ZERO, Element::plus)
    }

    /// Returns the cyclic convolution of the digits with themselves, with a factor 2 where the
    /// weights of two words wrap around, by its definition.
    fn slow_square(layout: &WordLayout, digits: &[i32]) -> Vec<i64> {
        let (n, p) = (layout.len(), u64::from(layout.exponent()));
        let mut square = vec![0i64; n];
        for (i, &x) in digits.iter().enumerate() {
            for (j, &y) in digits.iter().enumerate() {
                // The bit at which the product stands, from the word at which it is added.
                let bit = layout.offset(i) + layout.offset(j);
                let k = (i + j) % n;
                let start = layout.offset(k) + if i + j >= n { p } else { 0 };
                square[k] += (i64::from(x) * i64::from(y)) << (bit - start);
            }
        }
        square
    }

    /// Carries from word to word, twice around. Returns the digits and the carries into all words.
    fn carried(layout: &WordLayout, mut z: Vec<i64>) -> (Vec<i32>, Vec<i64>) {
        let n = layout.len();
        let mut carries = vec![0; n];
        for j in (0..n).chain(0..n) {
            let carry = carry_out(z[j], layout.bits(j));
            z[j] -= carry << layout.bits(j);
            z[(j + 1) % n] += carry;
            carries[(j + 1) % n] += carry;
        }
        (z.into_iter().map(|v| i32::try_from(v).unwrap()).collect(), carries)
    }

    fn digits(layout: &WordLayout, seed: u64) -> Vec<i32> {
        use rand::{RngExt, SeedableRng};
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
        (0..layout.len())
            .map(|j| {
                let half = 1i32 << (layout.bits(j) - 1);
                rng.random_range(-half..=half)
            })
            .collect()
    }

    #[test]
    fn roots_are_roots() {
        for (p, n) in LAYOUTS {
            let layout = WordLayout::new(p, n);
            let mut seen = std::collections::HashSet::new();
            for k in 0..roots(n).min(50) {
                let root = Root::new(layout, k);
                assert_eq!(root.s.pow(n as u64).times(Element::power_of_2(p.into())), Element::ONE);
                assert!(seen.insert(root.s.parts()));
            }
        }
        assert_eq!([64, 96, 144, 160, 432, 448].map(roots), [64, 96, 144, 32, 144, 448]);
        let layout = WordLayout::new(82_589_933, 4_608 << 10);
        assert_ne!(Root::draw(layout), Root::draw(layout));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]

        #[test]
        fn squares_satisfy_the_identity_and_changed_ones_do_not(
            which in 0..LAYOUTS.len() - 2, seed: u64, k: u64, change in 1i64..1 << 20, at: prop::sample::Index,
        ) {
            let (p, n) = LAYOUTS[which];
            let layout = WordLayout::new(p, n);
            let root = Root::new(layout, k);
            let x = digits(&layout, seed);
            let sum = root.sum(&x);
            prop_assert_eq!(sum, slow_sum(&root, &x.iter().map(|&v| v.into()).collect::<Vec<_>>()));
            let z = slow_square(&layout, &x);
            prop_assert_eq!(slow_sum(&root, &z), sum.times(sum));
            // 2·2^shift is subtracted before the carries.
            let shift = at.index(p as usize) as u32;
            let (word, bit) = layout.word_at_bit(shift);
            let mut less = z;
            less[word] -= 2 << bit;
            let (y, carries) = carried(&layout, less.clone());
            let expected = root.square(sum, slow_sum(&root, &carries)).minus(root.two(shift));
            prop_assert_eq!(root.sum(&y), expected);
            // A changed digit, a changed carry, and a word that was wrong before the carries.
            let j = at.index(n);
            let mut changed = y.clone();
            changed[j] = changed[j].wrapping_add(change as i32);
            prop_assert_ne!(root.sum(&changed), expected);
            let mut others = carries;
            others[j] += change;
            prop_assert_ne!(root.sum(&y), root.square(sum, slow_sum(&root, &others)).minus(root.two(shift)));
            less[j] += change;
            let (y, carries) = carried(&layout, less);
            let wrong = root.square(sum, slow_sum(&root, &carries)).minus(root.two(shift));
            prop_assert_ne!(root.sum(&y), wrong);
        }
    }

    #[test]
    fn long_sums_are_those_of_the_definition() {
        let layout = WordLayout::new(1_500_007, 3 << 15);
        let root = Root::new(layout, 12_345);
        let x = digits(&layout, 5);
        let (mut factor, mut sum) = (Element::ONE, Element::ZERO);
        for (j, &v) in x.iter().enumerate() {
            sum = sum.plus(Element::of(v.into()).times(factor));
            factor = factor.times(root.s).times(Element::power_of_2(layout.bits(j).into()));
        }
        assert_eq!(factor, Element::ONE);
        assert_eq!(root.sum(&x), sum);
        assert_eq!(
            root.factor(70_001),
            root.s.pow(70_001).times(Element::power_of_2(layout.offset(70_001)))
        );
    }
}
