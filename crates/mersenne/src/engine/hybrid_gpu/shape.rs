//! Shapes: those of `fp64`, with tiles that hold both kinds of points.

use std::fmt;

use crate::engine::fp64_gpu::shape as fp64;
use crate::engine::gpu::{self, Line, SHARED_MEMORY, Shape as _};
use crate::engine::hybrid::Hybrid;
use crate::engine::{EngineFamily, known};

/// The size of both points in bytes: a complex number of 16 bytes, and an exact point of 8.
const POINT: u32 = 24;

/// From this number of points on, blocks of exact rows may have twice as many pairs as blocks of complex rows. For fewer
/// points, they would leave multiprocessors without work.
const MANY_POINTS: usize = 1 << 19;

/// Blocks of exact rows have twice as many pairs from this number of threads on, and from [`SHORT_ROW_THREADS`] on for rows
/// of at most [`SHORT_ROW`] points. With two pairs, blocks of 160 to 256 threads took 20 to 35 % longer for rows of 1,280 to
/// 3,072 points on an H200, because a multiprocessor then has only 5 to 8 warps (`benches/NOTES.md`).
const MANY_THREADS: u32 = 384;

/// See [`MANY_THREADS`].
const SHORT_ROW: u32 = 1024;

/// See [`MANY_THREADS`].
const SHORT_ROW_THREADS: u32 = 256;

/// Below this number of points, launches begin before the preceding launch has ended, and exact rows run
/// beside complex rows. For more points, whose blocks do not all run at the same time, this takes up to
/// 8 % longer on an H200 (`benches/NOTES.md`).
const FEW_POINTS: usize = 1 << 18;

/// The division of a transform among the threads of the kernels. A transform of N words has n = N/2
/// = rows·columns points of either kind, which are divided in the same way. The number of rows and
/// the last radix of a row are powers of 2 (`kernels/hybrid/exact_rows.cuh`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::engine) struct Shape(pub(super) fp64::Shape);

/// Transform lengths in words, each with the fastest of the shapes that were tried on an H200 (`benches/NOTES.md`):
/// modulo 2^p − 1 for 2^18, 2^20, 3·2^19, 3·2^20, 77·2^16, 21·2^18 and 3·2^22 words, modulo k·b^n ± 1 for the others. A
/// second shape of a length is the fastest one with parts.
pub(super) const TRIED: [(usize, &str); 20] = [
    (5 << 15, "256x320 4.8.8/10.8.4 2/4 1 128.128"),
    (7 << 15, "256x448 4.8.8/14.8.4 4/4 1 128.128"),
    (1 << 18, "512x256 8.8.8/8.8.4 2/4 1 128.128"),
    (5 << 16, "256x640 4.8.8/10.16.4 4/4 1 128.128"),
    (3 << 17, "256x768 4.8.8/12.16.4 4/4 1 128.128"),
    (7 << 16, "512x448 8.8.8/14.8.4 4/4 1 128.128"),
    (1 << 19, "512x512 8.8.8/8.16.4 4/4 1 128.128"),
    (5 << 17, "512x640 8.8.8/10.16.4 2/4 1 128.128"),
    (3 << 18, "512x768 8.8.8/12.16.4 2/4 1 128.128"),
    (1 << 20, "512x1024 8.8.8/16.16.4 4/8 1 128.128"),
    (5 << 18, "512x1280 8.8.8/10.16.8 2/4 1 80.128"),
    (3 << 19, "512x1536 8.8.8/12.16.8 4/4 1 80.128"),
    (7 << 18, "512x1792 8.8.8/14.16.8 2/4 1 128.128"),
    (1 << 21, "512x2048 8.8.8/16.16.8 4/4 1 128.128"),
    (5 << 19, "512x2560 8.8.8/10.16.16 2/4 1 96.128"),
    (3 << 20, "512x3072 8.8.8/16.24.8 4/4 1 80.128 s"),
    (3 << 20, "512x3072 8.8.8/12.16.16 2/4 1 128.128 s"),
    (77 << 16, "512x4928 8.8.8/22.28.8 4/4 1 80.128 s"),
    (21 << 18, "512x5376 8.8.8/16.21.16 4/4 1 80.128 s"),
    (3 << 22, "2048x3072 16.16.8/16.24.8 4/4 1 128.128"),
];

impl Shape {
    pub(super) fn is_sound(&self) -> bool {
        let Self(of) = self;
        let powers = [of.column.q, of.column.a, of.column.b, of.row.b];
        powers.iter().all(|radix| radix.is_power_of_two())
            && of.row.q.is_multiple_of(self.fewest_parts())
            && [of.row.q / self.fewest_parts(), of.row.a].iter().all(|&radix| has_roots(radix))
            && self.has_parts(self.fewest_parts())
            && of.column.a > 1
            && of.row.a > 1
            && of.is_sound()
            && fits_registers(of, self.resident_column_blocks(), self.resident_row_blocks())
    }
}

impl Shape {
    /// Returns the number of parts of exact points without which there is no transform: there is no root of unity of order
    /// 5.
    pub(super) fn fewest_parts(&self) -> u32 {
        if self.0.row.len().is_multiple_of(5) { 5 } else { 1 }
    }

    /// Returns whether rows of exact points can have this number of parts (`kernels/hybrid/exact_rows.cuh`), with a
    /// first radix of 2 or more.
    pub(super) fn has_parts(&self, parts: u32) -> bool {
        let Line { q, a, b } = self.0.row;
        let has = q.is_multiple_of(parts) && q > parts && !(a * b).is_multiple_of(parts);
        parts == 1 || has
    }

    /// Returns the number of pairs of rows of a block of the kernels of exact rows.
    pub(super) fn exact_pairs(&self) -> u32 {
        let twice = 2 * self.0.pairs;
        let many = self.points() >= MANY_POINTS && self.rows().is_multiple_of(2 * twice);
        let least = if self.columns() <= SHORT_ROW { SHORT_ROW_THREADS } else { MANY_THREADS };
        let fits = 8 * exact_points(self.0.row, 2 * twice, 1) <= SHARED_MEMORY;
        if many && fits && self.row_threads() >= least { twice } else { self.0.pairs }
    }

    /// Returns whether launches should overlap. This can be prevented by the choice `s` of a shape.
    pub(super) fn is_small(&self) -> bool {
        self.points() < FEW_POINTS && !self.0.streaming
    }

    /// Returns the number of blocks of the kernels of exact rows. The last block has the row rows/2
    /// only.
    pub(super) fn exact_row_blocks(&self) -> u32 {
        self.rows() / 2 / self.exact_pairs() + 1
    }

    /// Returns the shared memory of a block of the kernels of exact rows, in bytes.
    pub(super) fn exact_row_shared_bytes(&self) -> u32 {
        8 * exact_points(self.0.row, 2 * self.exact_pairs(), 1)
    }

    /// Returns the number of blocks of the kernels of exact rows that should run on a multiprocessor
    /// at a time.
    pub(super) fn resident_exact_row_blocks(&self) -> u32 {
        self.0.resident_rows(self.exact_row_shared_bytes())
    }
}

/// Returns the shape with 80 registers instead of 96 in the kernels of columns, if all radices of a
/// column are at most 8. Then 80 registers nearly suffice.
fn with_few_registers(of: fp64::Shape) -> fp64::Shape {
    let Line { q, a, b } = of.column;
    let registers =
        if of.registers[0] == 96 && q.max(a).max(b) <= 8 { 80 } else { of.registers[0] };
    fp64::Shape { registers: [registers, of.registers[1]], ..of }
}

/// Returns whether the choice of registers is useful for the numbers of blocks that run on a
/// multiprocessor at a time: fewer than 128 registers must allow more blocks than 128 registers.
fn fits_registers(of: &fp64::Shape, column_blocks: u32, row_blocks: u32) -> bool {
    let wide = Shape(of.with_registers(128));
    (of.registers[0] == 128 || column_blocks > wide.resident_column_blocks())
        && (of.registers[1] == 128 || row_blocks > wide.resident_row_blocks())
}

/// Returns whether the exact transform has a step of this radix: 2^a·3^b·7^c·11^d.
fn has_roots(radix: u32) -> bool {
    let mut rest = radix;
    for p in [2, 3, 7, 11] {
        while rest.is_multiple_of(p) {
            rest /= p;
        }
    }
    rest == 1
}

impl gpu::Shape for Shape {
    fn column(&self) -> Line {
        self.0.column
    }

    fn row(&self) -> Line {
        self.0.row
    }

    fn width(&self) -> u32 {
        self.0.width
    }

    fn chunk(&self) -> u32 {
        self.0.chunk
    }

    fn row_blocks(&self) -> u32 {
        self.0.row_blocks()
    }

    fn column_threads(&self) -> u32 {
        self.0.column_threads()
    }

    fn row_threads(&self) -> u32 {
        self.0.row_threads()
    }

    fn column_shared_bytes(&self) -> u32 {
        let Self(of) = self;
        of.column_shared_bytes() + 8 * exact_points(of.column, of.width, of.width)
    }

    fn row_shared_bytes(&self) -> u32 {
        self.0.row_shared_bytes()
    }

    fn resident_column_blocks(&self) -> u32 {
        self.0.resident_columns(self.column_shared_bytes())
    }

    fn resident_row_blocks(&self) -> u32 {
        self.0.resident_rows(self.row_shared_bytes())
    }

    fn fits(&self, shared_memory: u32) -> bool {
        self.0.fits(shared_memory)
            && self.column_shared_bytes() <= shared_memory.min(SHARED_MEMORY)
            && self.exact_row_shared_bytes() <= shared_memory.min(SHARED_MEMORY)
    }

    fn known(n: usize, shared_memory: u32) -> impl Iterator<Item = Self> {
        let tried = TRIED.into_iter().filter(move |(length, _)| *length == n);
        known::variants(Hybrid.name(), n)
            .chain(tried.map(|(_, name)| name))
            .filter_map(|name| name.parse().ok().map(Self))
            .filter(move |shape| 2 * shape.points() == n)
            .filter(move |shape| shape.is_sound() && shape.fits(shared_memory))
    }

    fn fitting(n: usize, shared_memory: u32) -> impl Iterator<Item = Self> {
        let near_cache = (24 << 20..64 << 20).contains(&(n / 2 * POINT as usize));
        fp64::Shape::candidates(n, near_cache)
            .map(|of| Self(with_few_registers(of)))
            .filter(move |shape| shape.is_sound() && shape.fits(shared_memory))
    }

    fn cost(&self) -> f64 {
        self.0.cost()
    }
}

/// Returns the size of a tile of exact points in shared memory, in points. The size includes the
/// padding of `Slots` in `line.cuh`; `side` is its parameter SIDE, and PHASE is 16.
fn exact_points(line: Line, lines: u32, side: u32) -> u32 {
    let padded = |n: u32, rest: u32| n + (rest % 16 + 16 - n % 16) % 16;
    let skip = if side * line.b < 16 { 16 / line.b } else { side };
    padded(padded(lines * line.q, side) * line.a, skip) * line.b
}

/// Formats the shape as that of `fp64`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
