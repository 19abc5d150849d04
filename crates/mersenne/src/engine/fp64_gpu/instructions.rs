//! The FP64 instructions of a squaring, counted from the source text of the kernels.
//!
//! A sum, a product and a fused multiply-add count as one instruction each. Changes of sign, and
//! products by powers of two and of i, are not counted. The following is counted for every complex
//! point:
//!
//! * both transforms along a column and both along a row, including the multiplication of points by
//!   factors;
//! * the computation of factors that are themselves products: 4 for a factor that is the product of
//!   two entries of a table (`Turned` in `line.cuh`); 4 for a factor times a root of unity other
//!   than a power of i (`times_root`), once for all factors that differ only by powers of i;
//! * words: 20 per point for weights, rounding and carries;
//! * products of points: 10 per point, without the roots of unity needed for them.
//!
//! Three things are not counted: the measurement of round-off, which takes place in one squaring of
//! 32; the second computation of the first tile of columns; and the pair of rows whose members are
//! their own partners.

use std::collections::BTreeSet;

use super::line::{exponents, first_radix};
use crate::engine::gpu::Line;

/// The factors by which a transform multiplies its points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Factors {
    /// The points are not multiplied by factors.
    None,
    /// The factors are read from a table.
    Listed,
    /// Each factor is the product of two entries of a table.
    Turned,
}

/// Returns the number of instructions of a squaring per complex point. A column has the radices Q,
/// A and B, and a row has its own radices Q, A and B. The result is the sum of two terms:
///
/// 2·F(B)/B + (T(A)+F(A))/A + (T(Q)+P(Q))/Q + 20 for the column,
///
/// 2·F(Q)/Q + (T(A)+F(A))/A + (T(B)+F(B)+2·P(B)+f(B)+20·B)/(2·B) for the row.
///
/// A transform of radix r in registers has P(r) instructions without factors, F(r) with factors
/// from a table, and T(r) with factors that are products of two entries of a table. f(B) is the
/// value of [`partners_roots`].
pub(in crate::engine) fn per_point(column: Line, row: Line) -> f64 {
    use Factors::{Listed, None, Turned};
    let pair = |radix, first, second| {
        f64::from(transform(radix, first) + transform(radix, second)) / f64::from(radix)
    };
    let columns = pair(column.b, Listed, Listed)
        + pair(column.a, Turned, Listed)
        + pair(column.q, Turned, None)
        + f64::from(WORDS);
    let b = row.b;
    let middle = transform(b, Turned)
        + transform(b, Listed)
        + 2 * transform(b, None)
        + partners_roots(b)
        + PRODUCTS * b;
    let rows = pair(row.q, Listed, Listed)
        + pair(row.a, Turned, Listed)
        + f64::from(middle) / f64::from(2 * b);
    columns + rows
}

/// The number of instructions for the two words of a point. Their four weights cost 4 on average: a
/// thread takes 2 instructions for products that all its points use, 2 for its first point, and 4
/// for each other point. Unweighting and rounding cost 4, outgoing carries 4, incoming carries 6,
/// weighting 2.
const WORDS: u32 = 20;

/// The number of instructions for squaring a point and its partner: 2 for the factor, 8 for two
/// squares, 6 for a difference and its square, 4 for a product.
const PRODUCTS: u32 = 20;

/// The number of instructions for a product of two complex numbers. The count is the same if one of
/// these numbers is a root of unity.
const PRODUCT: u32 = 4;

/// Returns the number of instructions of the function `transform` in `fourier.cuh` for `radix`
/// points.
fn transform(radix: u32, factors: Factors) -> u32 {
    let mut count = match factors {
        Factors::Turned => PRODUCT * exponents(radix).len() as u32,
        Factors::None | Factors::Listed => 0,
    };
    let plain = factors == Factors::None;
    let mut nodes = 1;
    while nodes < radix {
        let length = radix / nodes;
        let p = first_radix(length);
        // The factors of a level that are products by roots of unity.
        let mut products = BTreeSet::new();
        for node in 0..nodes {
            let k = frequency_at(radix, node * length);
            if !plain {
                let roots = (1..p).map(|i| (i, rest(k * i, nodes * p)));
                products.extend(roots.filter(|&(_, rest)| rest > 0));
            }
            let h = p / 2;
            count += length / p
                * match p {
                    2 if plain && rest(k, nodes * p) == 0 => 4,
                    2 => 6,
                    _ if plain && k == 0 => 4 * h * h + 10 * h,
                    _ => 4 * h * h + 16 * h,
                };
        }
        count += PRODUCT * products.len() as u32;
        nodes *= p;
    }
    count
}

/// Returns the number of instructions for products by roots of unity in the last step along a row,
/// whose radix is B = `b`.
///
/// Let e(x) = e^(2πix), and let w be the factor by which a thread multiplies its points. Two sets
/// of products are counted. The first gives the powers of e(−1/B)/w, the factor of the partners of
/// these points. The second gives the numbers w·e(−k/B), from which the products of points are
/// computed.
fn partners_roots(b: u32) -> u32 {
    let of_factors = exponents(b).into_iter().filter(|&e| rest(e, b) > 0).count();
    let of_products: BTreeSet<u32> = (0..b).map(|k| rest(k, b)).filter(|&r| r > 0).collect();
    PRODUCT * (of_factors + of_products.len()) as u32
}

/// Returns the frequency at index `place` of the result of a transform of n points in registers.
/// The function `frequency_at` in `fourier.cuh` returns the same frequency.
fn frequency_at(n: u32, place: u32) -> u32 {
    if n == 1 {
        return 0;
    }
    let p = first_radix(n);
    let m = n / p;
    place / m + p * frequency_at(m, place % m)
}

/// Returns the smallest r ≥ 0 for which e^(2πir/n) is e^(2πik/n) times a power of i. The result is
/// 0 if e^(2πik/n) is itself a power of i.
fn rest(k: u32, n: u32) -> u32 {
    let step = match n {
        n if n.is_multiple_of(4) => n / 4,
        n if n.is_multiple_of(2) => n / 2,
        n => n,
    };
    k % step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_have_the_counts_that_hands_find() {
        use Factors::{Listed, None, Turned};
        // Radix 2: six instructions per butterfly with a factor, four without.
        for (radix, plain, listed) in [
            (1, 0, 0),
            (2, 4, 6),
            (4, 16, 24),
            // e(1/8): two butterflies of six in the last level; with factors, one more product.
            (8, 4 * 4 * 2 + 4 + 4 + 6 + 6, 72 + 4),
            // e(1/8) in the third level; e(1/16), e(2/16), e(3/16) in the fourth.
            (16, 8 * 4 * 2 + 2 * (4 + 4 + 6 + 6) + 2 * 4 + 6 * 6, 192 + 4 + 12),
            (3, 14, 20),
            (5, 36, 48),
            (7, 66, 84),
            (11, 150, 180),
            // Two levels: three of radix 3, then butterflies with 1, e(1/6), e(2/6).
            (6, 2 * 14 + 4 + 2 * 6, 2 * 20 + 3 * 6 + 2 * 4),
        ] {
            assert_eq!(transform(radix, None), plain, "{radix}");
            assert_eq!(transform(radix, Listed), listed, "{radix}");
            let turned = listed + 4 * exponents(radix).len() as u32;
            assert_eq!(transform(radix, Turned), turned, "{radix}");
        }
        // For 8: w^4, w^2 and w, of which two are multiplied by e(1/4), e(1/8) …, and by e(−k/8).
        assert_eq!(partners_roots(8), 4 * (1 + 1));
        assert_eq!(partners_roots(16), 4 * (2 + 3));
    }

    #[test]
    fn a_squaring_has_the_sum_of_its_parts() {
        let line = |q, a, b| Line { q, a, b };
        // Without steps over a.
        let (listed8, turned8, plain8) = (76.0, 76.0 + 12.0, 52.0);
        let columns = 2.0 * listed8 / 8.0 + (turned8 + plain8) / 8.0 + 20.0;
        let middle = turned8 + listed8 + 2.0 * plain8 + 8.0 + 160.0;
        let rows = 2.0 * listed8 / 8.0 + middle / 16.0;
        assert_eq!(per_point(line(8, 1, 8), line(8, 1, 8)), columns + rows);
        // With steps over a: the same increase in both lines.
        let more = (turned8 + listed8) / 8.0;
        assert_eq!(per_point(line(8, 8, 8), line(8, 8, 8)), columns + rows + 2.0 * more);
    }
}
