//! The transforms of a length: the default, and others whose times tuning compares.

use warpint_arith::simd::{Cpu, Level};

use super::threshold;
use super::transform::Transform;
use super::transform::row_column::RowColumn;
use super::transform::tiled::Tiled;
use super::transform::tiled::shape::Shape;
use super::transform::whole::Whole;
use crate::layout::WordLayout;

/// The largest number of shapes of [`Tiled`] among the variants of a length.
const MOST_SHAPES: usize = 8;

/// A transform of a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variant {
    /// [`Tiled`], with a shape.
    Tiled(Shape),
    /// [`Whole`].
    Whole,
    /// [`RowColumn`].
    RowColumn,
}

impl Variant {
    /// Returns the variants of a length in words on this processor. The default is the first. The
    /// others are the most promising shapes of [`Tiled`], and the fastest transform with the FFTs of
    /// `rustfft`.
    pub(super) fn all(length: usize) -> Vec<Self> {
        let plain = if length < threshold::ROW_COLUMN { Self::Whole } else { Self::RowColumn };
        let level = Cpu::get().level;
        // Without instructions for a·b + c, the kernels of `Tiled` are slow.
        if level < Level::Avx2 {
            return vec![plain];
        }
        let mut shapes: Vec<Self> =
            Shape::ranked(length / 2, MOST_SHAPES).into_iter().map(Self::Tiled).collect();
        let from = if level < Level::Avx512 { threshold::TILED } else { threshold::TILED_AVX512 };
        shapes.insert(if length < from { 0 } else { shapes.len().min(1) }, plain);
        shapes
    }

    /// Returns the name of a variant, such as `64·36 × 16·64`: the division of the points into rows
    /// and columns.
    pub(super) fn name(self) -> String {
        match self {
            Self::Tiled(Shape { rows: [r1, r2], columns: [c1, c2] }) => {
                format!("{r1}·{r2} × {c1}·{c2}")
            }
            Self::Whole | Self::RowColumn => "rustfft".into(),
        }
    }

    /// Creates the transform for residues of this layout.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub(super) fn build(
        self,
        layout: WordLayout,
        threads: usize,
    ) -> Result<Box<dyn Transform>, String> {
        let length = layout.len();
        let threads = if length < threshold::THREADS { 1 } else { threads };
        Ok(match self {
            Self::Tiled(shape) => Box::new(Tiled::new(layout, shape, threads)?),
            Self::Whole => Box::new(Whole::new(layout)),
            Self::RowColumn => {
                Box::new(RowColumn::new(layout, RowColumn::suitable_rows(length), threads)?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Residue;

    /// Tests that all variants of a length have different names, and compute the same square.
    #[test]
    fn variants_compute_the_same() {
        for length in [256, 12_288, 36_864, 65_536] {
            let layout = WordLayout::new(17 * length as u32 + 3, length);
            let limb = |i: u64| (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let limbs: Vec<u64> = (0..u64::from(layout.exponent()) / 64).map(limb).collect();
            let x = Residue::from_limbs(layout.exponent(), &limbs);
            let variants = Variant::all(length);
            let names: std::collections::HashSet<String> =
                variants.iter().map(|variant| variant.name()).collect();
            assert_eq!(names.len(), variants.len(), "{length} words: {names:?}");
            let mut first = None;
            for variant in variants {
                let mut transform = variant.build(layout, 2).unwrap();
                let mut square = vec![];
                transform.load(x.limbs());
                let error = transform.square_into(None, &mut square);
                assert!(error < 0.4, "{} of {length} words", variant.name());
                assert_eq!(*first.get_or_insert(square.clone()), square, "{}", variant.name());
            }
        }
    }
}
