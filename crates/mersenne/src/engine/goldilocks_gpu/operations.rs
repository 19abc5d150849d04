//! The field operations of a squaring, counted from the source text of the kernels.
//!
//! A product of two 64-bit numbers counts as 1, a product of a 32-bit and a 64-bit number as 1/2.
//! The number of levels is the sum of log2 of the radices of all steps: of columns and of rows,
//! forward and inverse. Sums and reductions are part of the levels. Carries are not counted. The
//! first tile of columns, which is computed twice, is counted once.

use crate::engine::gpu::Line;

/// Returns the number of products per word of a squaring. It is the sum of the products in the
/// transforms along columns and rows, 1 for the square, 1 for unweighting, 1/2 for weighting, and 4
/// for the twists between columns and rows. In each direction, a twist takes 1 product to compute
/// the factor and 1 to multiply by it.
pub(super) fn products_per_point(column: Line, row: Line) -> f64 {
    const SQUARE: f64 = 1.0;
    const WEIGHTS: f64 = 1.5;
    const TWISTS: f64 = 4.0;
    of_line(column) + of_line(row) + SQUARE + WEIGHTS + TWISTS
}

/// Returns the number of products per point for the forward and the inverse transform along a line
/// of Q·A·B points.
///
/// Between two steps, every point is multiplied once by a twiddle, unless the twiddle is 1 because
/// one of its indices is 0. There is one exception: before the step of radix A of the forward
/// transform, all points are multiplied, because the twiddles are read as whole lists. A step of
/// radix 5 takes eight products by constants for every five points.
fn of_line(Line { q, a, b }: Line) -> f64 {
    let others_than_first = |radix: u32| 1.0 - 1.0 / f64::from(radix);
    let inner = others_than_first(b) + others_than_first(a);
    let before_a = if q > 1 { 1.0 + others_than_first(q) } else { 0.0 };
    let fifths = if q == 5 { 2.0 * 8.0 / 5.0 } else { 0.0 };
    inner + before_a + fifths
}

/// Returns the number of levels of the transforms in both directions: 2·log2(N), where N is the
/// number of words in columns and rows of the given lines.
pub(super) fn levels(column: Line, row: Line) -> f64 {
    2.0 * (f64::from(column.len()).log2() + f64::from(row.len()).log2())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_every_step() {
        let line = |q, a, b| Line { q, a, b };
        // 15/16 for each of four inner twiddles, and 6.5 for every point.
        let two_steps = line(1, 16, 16);
        assert_eq!(products_per_point(two_steps, two_steps), 4.0 * 15.0 / 16.0 + 6.5);
        assert_eq!(levels(two_steps, two_steps), 32.0);
        // An outer step of 4: before A forward, 3/4 back.
        assert_eq!(of_line(line(4, 16, 16)), 2.0 * 15.0 / 16.0 + 1.0 + 0.75);
        assert_eq!(of_line(line(5, 8, 8)), 2.0 * 7.0 / 8.0 + 1.0 + 0.8 + 3.2);
    }
}
