//! The stages of simple transforms on a CPU: levels of a radix, each of which may multiply points by
//! table entries before or after its sums.

use super::stage::{ROUNDED, Stage};

/// A level of a transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) struct TableLevel {
    /// The number of points that are transformed at a time: 1, 2, 4, 8 or an odd prime. A level of
    /// radix 1 only multiplies.
    pub(in crate::engine) radix: u32,
    /// The number of correctly rounded roots whose product is the factor of a point, or 0 for a
    /// level without factors.
    pub(in crate::engine) roots: u32,
    /// Whether complex products use fused multiply-adds.
    pub(in crate::engine) fused: bool,
}

/// Returns the stages of the levels, in their order.
///
/// # Panics
/// Panics if a radix is neither 1, 2, 4, 8 nor odd.
#[must_use]
pub(in crate::engine) fn table_stages(levels: &[TableLevel]) -> Vec<Stage> {
    let mut stages = vec![];
    for &TableLevel { radix, roots, fused } in levels {
        match radix {
            1 => {}
            2 => stages.push(Stage::Sums),
            4 => stages.extend([Stage::Sums; 2]),
            8 => stages.extend([
                Stage::Sums,
                Stage::Sums,
                Stage::Products { factor: ROUNDED, fused },
                Stage::Sums,
            ]),
            _ => {
                assert!(radix % 2 == 1, "a level of radix {radix}");
                stages.push(Stage::Odd { radix, factor: None, fused });
            }
        }
        if roots > 0 {
            // Each further root brings its own error, and that of a product: at most √5u.
            let factor = ROUNDED + f64::from(roots - 1) * (ROUNDED + 5f64.sqrt());
            stages.push(Stage::Products { factor, fused });
        }
    }
    stages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transform_of_radix_4_and_2() {
        // 128 points by 4·4·4·2, with factors after each level but the last.
        let level = |radix, roots| TableLevel { radix, roots, fused: true };
        let stages = table_stages(&[level(4, 1), level(4, 1), level(4, 1), level(2, 0)]);
        let sum = |of: fn(Stage) -> f64| stages.iter().map(|&s| of(s)).sum::<f64>();
        // 7 levels of sums and 3 products with 2 + √½.
        let expected = 7.0 + 3.0 * 2.7072;
        assert!((sum(Stage::mean_error) - expected).abs() < 1e-9);
        assert!((sum(Stage::largest_error) - expected).abs() < 1e-9);
    }

    #[test]
    fn products_without_fused_operations() {
        let level = TableLevel { radix: 3, roots: 2, fused: false };
        let sum: f64 = table_stages(&[level]).into_iter().map(Stage::mean_error).sum();
        // 1 for pairs, 3 for sums and products, 1/√3 for the sine; √5 + 2·√½ + √5.
        let root = 5f64.sqrt();
        assert!((sum - (4.0 + 3f64.sqrt().recip() + 2.0 * root + 1.4144)).abs() < 1e-9);
    }
}
