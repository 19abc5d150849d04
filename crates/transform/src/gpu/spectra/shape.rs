//! The constants with which the kernels are compiled.

use warpint_device::{Device, DeviceError, Kernel, Source, common};

use super::super::HEADERS;
use super::tables::rounds;

/// The kind of a kernel for rows: forward transforms, inverse transforms, or cyclic convolutions
/// with vectors that are given by their spectra.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    Forward,
    Inverse,
    Multiply,
}

/// The constants with which a kernel is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A kernel of kind `what` for rows, which are contiguous lines of 2^stages points. `whole` is
    /// true if a transform consists of a single row.
    Rows { what: Rows, stages: u32, whole: bool },
    /// A kernel for columns of 2^stages points, which transforms 2^inner adjacent columns per tile.
    /// A row has 2^row points.
    Columns { inverse: bool, stages: u32, row: u32, inner: u32 },
}

/// The base-2 logarithm of the smallest number of points of a tile of rows.
const LEAST_TILE: u32 = 11;

/// The bound of input elements x, in units of p/64, for the prime p: |x| ≤ BEGIN·p/64. For inverse
/// column transforms the bound is twice as large.
const BEGIN: u32 = 64;

/// Returns the base-2 logarithm of the number of points of a tile, for rows of 2^stages points.
pub(super) fn row_tile(stages: u32) -> u32 {
    stages.max(LEAST_TILE)
}

/// Returns the base-2 logarithm of the number of adjacent columns in a tile, for columns of
/// 2^stages points and rows of 2^row points.
///
/// If the shared memory of a block and the length of a row suffice, a tile contains at least 64
/// contiguous bytes of each row for columns of at most 2^11 points. For columns of 2^12 points, it
/// contains 32 contiguous bytes of each row. `shared_memory` is the number of bytes of shared
/// memory of a block.
pub(super) fn neighbours(stages: u32, row: u32, shared_memory: u32) -> u32 {
    let wanted = (stages + 3).clamp(12, 14);
    let fits = (0..=wanted).rev().find(|&log2| tile_bytes(log2) <= shared_memory).unwrap_or(0);
    fits.saturating_sub(stages).min(row)
}

fn tile_bytes(log2: u32) -> u32 {
    let points = 1u32 << log2;
    (points + points / 16) * size_of::<f64>() as u32
}

/// Returns the number b of exponent bits that index the first of two tables of powers of ω, the
/// root of unity of order 2^log2. The power with the exponent e is the product of entry e mod 2^b
/// of the first table and entry ⌊e/2^b⌋ of the second table.
pub(super) fn low_bits(log2: u32) -> u32 {
    log2.div_ceil(2)
}

impl Shape {
    fn tile(self) -> u32 {
        match self {
            Self::Rows { stages, .. } => row_tile(stages),
            Self::Columns { stages, inner, .. } => stages + inner,
        }
    }

    pub(super) fn shared_bytes(self) -> u32 {
        tile_bytes(self.tile())
    }

    pub(super) fn threads(self) -> u32 {
        1 << (self.tile() - 4)
    }

    pub(super) fn source(self) -> Source {
        let (name, text, kernel) = match self {
            Self::Rows { .. } => {
                ("f50_rows.cu", include_str!("../../../kernels/f50_rows.cu"), "f50_rows")
            }
            Self::Columns { .. } => {
                ("f50_columns.cu", include_str!("../../../kernels/f50_columns.cu"), "f50_columns")
            }
        };
        let source = Source::new(name, text, &[kernel]).headers(common::HEADERS).headers(HEADERS);
        let radices =
            |stages| rounds(stages).iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        match self {
            Self::Rows { what, stages, whole } => source
                .define("KIND", what as u32)
                .define("BEGIN", BEGIN)
                .define("CANONICAL", u32::from(whole))
                .define("LOG_OUTER", self.tile() - stages)
                .define("STAGES", stages)
                .define("LOG_INNER", 0)
                .define("RADICES", radices(stages)),
            Self::Columns { inverse, stages, row, inner } => source
                .define("INVERSE", u32::from(inverse))
                .define("BEGIN", if inverse { 2 * BEGIN } else { BEGIN })
                .define("LOG_ROW", row)
                .define("LOG_LOW", low_bits(stages + row))
                .define("LOG_OUTER", 0)
                .define("STAGES", stages)
                .define("LOG_INNER", inner)
                .define("RADICES", radices(stages)),
        }
    }

    pub(super) fn kernel(self, device: &Device) -> Result<Kernel, DeviceError> {
        let source = self.source();
        let name = source.kernels()[0];
        device.program(&source)?.kernel(name, self.shared_bytes())
    }
}

/// The number of threads of a block of the kernel that reorders spectra.
pub(super) const ORDER_THREADS: u32 = 256;

/// Returns the source of the kernel that writes spectra in natural order, for transforms of 2^log2
/// points with rows of 2^row points.
pub(super) fn order(log2: u32, row: u32) -> Source {
    let text = include_str!("../../../kernels/f50_order.cu");
    Source::new("f50_order.cu", text, &["order"])
        .headers(common::HEADERS)
        .define("LOG_POINTS", log2)
        .define("LOG_TILE", row_tile(row))
        .define("THREADS", ORDER_THREADS)
}

/// Returns the sources of all shipped kernels: for rows of several lengths, and for columns of
/// several lengths.
pub(super) fn shipped(shared_memory: u32) -> Vec<Source> {
    let mut shapes = vec![];
    for stages in [3, 8, 11, 12] {
        for what in [Rows::Forward, Rows::Inverse, Rows::Multiply] {
            shapes.push(Shape::Rows { what, stages, whole: stages < 12 });
        }
    }
    for stages in [1, 4, 8, 10, 12] {
        let inner = neighbours(stages, 12, shared_memory);
        for inverse in [false, true] {
            shapes.push(Shape::Columns { inverse, stages, row: 12, inner });
        }
    }
    shapes.into_iter().map(Shape::source).chain([order(20, 12)]).collect()
}
