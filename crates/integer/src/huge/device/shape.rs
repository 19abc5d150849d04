//! How a product is computed: the digits and the length of its transforms.

/// Digits and transforms of a product.
///
/// Numbers are split into digits of `bits` bits. The digits of the product before carries are a
/// convolution, computed modulo q = 2^64 − 2^32 + 1 by transforms of `points` points. It is exact
/// if every coefficient is below q: a coefficient is a sum of at most m products of two digits,
/// where m is the number of digits of the shorter number, so m·(2^bits − 1)² < q suffices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    pub(super) bits: u32,
    pub(super) points: usize,
}

/// 2^64 − 2^32 + 1.
const Q: u128 = (1 << 64) - (1 << 32) + 1;
/// The numbers of bits of a digit. Longer digits would need fewer points, but short numbers are not
/// what devices are for; with shorter digits, four of them would begin in a word.
const BITS: std::ops::RangeInclusive<u32> = 16..=26;
/// The largest number of points of a transform.
const MOST_POINTS: usize = 1 << 30;

impl Shape {
    /// Returns the shape of a product of numbers of `a` and `b` words, with as few points as
    /// possible. `None` if the numbers are too long.
    pub(super) fn of(a: usize, b: usize) -> Option<Self> {
        let of_bits = |bits: u32| {
            let digits = |words: usize| (words as u128 * 64).div_ceil(u128::from(bits));
            let least = digits(a.min(b));
            let greatest = (1 << bits) - 1;
            let is_exact = least * greatest * greatest < Q;
            let points = points(usize::try_from(digits(a) + digits(b)).ok()?)?;
            is_exact.then_some(Self { bits, points })
        };
        BITS.filter_map(of_bits).min_by_key(|shape| (shape.points, shape.bits))
    }

    /// Returns the number of digits of a number of `words` words.
    pub(super) fn digits(self, words: usize) -> usize {
        (words * 64).div_ceil(self.bits as usize)
    }
}

/// Returns the least number of points of a transform that is at least `least` and not less than
/// 2^8: 2^k, 3·2^k or 5·2^k. `None` if there is none.
fn points(least: usize) -> Option<usize> {
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
            let shape = Shape::of(words, words).unwrap();
            assert_eq!((shape.points, shape.bits <= bits), (points, true), "2^{log2}: {shape:?}");
        }
    }

    #[test]
    fn coefficients_and_products_fit() {
        for a in [1, 2, 3, 100, 1 << 12, (1 << 20) + 1, 1 << 26, (1 << 27) - 7] {
            for b in [1, 5, 1 << 16, 1 << 26] {
                let shape = Shape::of(a, b).unwrap();
                let digit = (1u128 << shape.bits) - 1;
                let shorter = shape.digits(a.min(b)) as u128;
                assert!(shorter * digit * digit < Q, "{a} and {b} words: {shape:?}");
                assert!(shape.digits(a) + shape.digits(b) <= shape.points);
                assert_eq!(shape, Shape::of(b, a).unwrap());
            }
        }
    }

    #[test]
    fn the_longest_numbers() {
        // Products of two numbers of 2^33 bits, and not of numbers of 2^34 bits.
        assert!(Shape::of(1 << 27, 1 << 27).is_some());
        assert_eq!(Shape::of(1 << 28, 1 << 28), None);
        assert_eq!(Shape::of(usize::MAX / 64, 1), None);
    }

    #[test]
    fn points_are_the_least() {
        assert_eq!(points(1), Some(1 << 8));
        assert_eq!(points((1 << 20) + 1), Some(5 << 18));
        assert_eq!(points((5 << 18) + 1), Some(3 << 19));
        assert_eq!(points((3 << 19) + 1), Some(1 << 21));
        assert_eq!(points((1 << 30) + 1), None);
    }
}
