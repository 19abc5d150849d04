//! The transforms of a length: the default, and others whose times tuning compares.

use warpint_arith::simd::{Cpu, Level};

use super::form::{self, LONGEST_WHOLE};
use super::threshold;
use super::transform::Transform;
use super::transform::row_column::RowColumn;
use super::transform::tiled::Tiled;
use super::transform::tiled::shape::Shape;
use super::transform::whole::Whole;
use super::words::Words;
use crate::layout::FormLayout;

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

    /// Creates the transform for residues with these words. There is no [`RowColumn`] for k·2^n ± 1; the
    /// transform is [`Whole`] then.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub(super) fn build(
        self,
        words: impl Into<Words>,
        threads: usize,
    ) -> Result<Box<dyn Transform>, String> {
        let words = words.into();
        let length = words.len();
        let threads = if length < threshold::THREADS { 1 } else { threads };
        Ok(match (self, words) {
            (Self::Tiled(shape), words) => Box::new(Tiled::new(words, shape, threads)?),
            (Self::RowColumn, Words::Mersenne(layout)) => {
                Box::new(RowColumn::new(layout, RowColumn::suitable_rows(length), threads)?)
            }
            (Self::Whole | Self::RowColumn, words) => Box::new(Whole::new(words)),
        })
    }

    /// Returns the variant that computes modulo k·2^n ± 1 in place of this one, which is of the same length.
    /// It is [`Whole`] for words that are too short for [`Tiled`], and in place of [`RowColumn`] up to
    /// [`LONGEST_WHOLE`] words. Beyond, it is always [`Tiled`].
    pub(super) fn for_form(self, layout: &FormLayout) -> Self {
        let length = layout.len();
        match self {
            Self::Tiled(_) if !form::suits_tiles(layout) => Self::Whole,
            Self::Whole | Self::RowColumn if length > LONGEST_WHOLE => {
                let shape = Shape::ranked(length / 2, 1).first().copied();
                shape.map_or(Self::Whole, Self::Tiled)
            }
            Self::RowColumn => Self::Whole,
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Residue;
    use crate::layout::WordLayout;

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
