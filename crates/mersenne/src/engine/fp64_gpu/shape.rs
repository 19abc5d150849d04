//! Shapes: the division of a transform into lines, tiles and threads.

use std::fmt;
use std::str::FromStr;

use super::line::{largest_radix, lines};
use crate::engine::fp64::Fp64;
use crate::engine::gpu::{self, Line, MAX_THREADS, REGISTERS, Shape as _};
use crate::engine::{EngineFamily, known};

/// The division of a transform among the threads of the kernels. A transform of N words has n = N/2
/// = rows·columns complex points.
///
/// Point j1·columns + j2 is in row j1 and column j2. A block of the kernels of columns processes a
/// tile of `width` adjacent columns. A block of the kernels of rows processes a tile of `pairs`
/// pairs of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::engine) struct Shape {
    /// The radices of the transform along a column, whose length is the number of rows.
    pub(in crate::engine) column: Line,
    /// The radices of the transform along a row, whose length is the number of columns.
    pub(in crate::engine) row: Line,
    /// The number of columns in a tile of columns.
    pub(in crate::engine) width: u32,
    /// The number of points of a row that are adjacent in memory.
    pub(in crate::engine) chunk: u32,
    /// The number of pairs of rows in a tile of rows.
    pub(in crate::engine) pairs: u32,
    /// The number of registers of a thread, 96 or 128: first in the kernels of columns, then in the
    /// kernels of rows. The number determines how many blocks run on a multiprocessor at a time,
    /// and the kernels are compiled for this number of blocks. If something other than registers
    /// limits the blocks, a thread may get more registers.
    pub(in crate::engine) registers: [u32; 2],
    /// Whether stored points are marked as the first to be evicted from the second-level cache.
    /// This helps if the points nearly fill that cache.
    pub(in crate::engine) streaming: bool,
}

/// The size of a point in bytes.
const POINT: u32 = 16;

/// The number of multiprocessors of the GPU for which costs are estimated.
const MULTIPROCESSORS: u32 = 132;

impl Shape {
    /// Returns whether the kernels can be built for the shape.
    pub(in crate::engine) fn is_sound(&self) -> bool {
        let Self { column, row, width, chunk, pairs, .. } = *self;
        width <= chunk
            && 32u32.is_multiple_of(width)
            && self.columns().is_multiple_of(chunk)
            && (row.a * row.b).is_multiple_of(chunk)
            && self.tiles() >= 2
            && self.column_threads().is_multiple_of(32)
            && self.column_threads() <= MAX_THREADS
            && self.rows().is_multiple_of(2 * pairs)
            && (row.q * row.a).is_multiple_of(2)
            && largest_radix(column) <= 16
            && row.q.max(row.a) <= 28
            && row.b <= 16
    }

    /// Returns whether the choice of registers is useful: 96 registers must allow more blocks to
    /// run at a time than 128 registers.
    fn uses_registers(&self) -> bool {
        let wide = self.with_registers(128);
        (self.registers[0] == 128 || self.resident_column_blocks() > wide.resident_column_blocks())
            && (self.registers[1] == 128 || self.resident_row_blocks() > wide.resident_row_blocks())
    }

    pub(in crate::engine) fn with_registers(&self, registers: u32) -> Self {
        Self { registers: [registers; 2], ..*self }
    }

    /// Returns the number of blocks of the kernels of columns that should run on a multiprocessor
    /// at a time, if a block has `shared_bytes` bytes of shared memory.
    pub(in crate::engine) fn resident_columns(&self, shared_bytes: u32) -> u32 {
        let points = largest_radix(self.column);
        resident(points, self.registers[0], self.column_threads(), shared_bytes)
    }

    /// Returns the number of blocks of the kernels of rows that should run on a multiprocessor at a
    /// time, if a block has `shared_bytes` bytes of shared memory.
    pub(in crate::engine) fn resident_rows(&self, shared_bytes: u32) -> u32 {
        let points = largest_radix(self.row).max(2 * self.row.b);
        resident(points, self.registers[1], self.row_threads(), shared_bytes)
    }

    /// Iterates over divisions of a transform of n words, whether or not kernels can be built for
    /// them. Shapes with streaming stores are included if `near_cache` is true: if the points
    /// nearly fill the second-level cache.
    pub(in crate::engine) fn candidates(n: usize, near_cache: bool) -> impl Iterator<Item = Self> {
        let points = if n.is_multiple_of(2) { n / 2 } else { 0 };
        let cuts = (8..=4608u32)
            .filter(move |&rows| points > 0 && points.is_multiple_of(rows as usize))
            .filter_map(move |rows| {
                let columns = u32::try_from(points / rows as usize).ok()?;
                (8..=4608).contains(&columns).then_some((rows, columns))
            });
        let pairs_of_lines = cuts.flat_map(|(rows, columns)| {
            let row = lines(columns);
            lines(rows)
                .into_iter()
                .flat_map(move |column| row.clone().into_iter().map(move |row| (column, row)))
        });
        // Wide tiles, and tiles of many rows, are useful for short lines only.
        let most = if points < 1 << 15 { 8 } else { 4 };
        let tiles = move || {
            [1u32, 2, 4, 8].into_iter().filter(move |&width| width <= most).flat_map(move |width| {
                [4u32, 8].into_iter().flat_map(move |chunk| {
                    let pairs = [1u32, 2, 4, 8].into_iter().filter(move |&pairs| pairs <= most);
                    pairs.map(move |pairs| (width, chunk, pairs))
                })
            })
        };
        let registers = [[128, 128], [128, 96], [96, 128], [96, 96]];
        let ways = move || {
            let streaming = [false, true].into_iter().filter(move |&s| !s || near_cache);
            streaming.flat_map(move |streaming| registers.map(|r| (r, streaming)))
        };
        pairs_of_lines.flat_map(move |(column, row)| {
            tiles().flat_map(move |(width, chunk, pairs)| {
                ways().map(move |(registers, streaming)| Self {
                    column,
                    row,
                    width,
                    chunk,
                    pairs,
                    registers,
                    streaming,
                })
            })
        })
    }
}

impl gpu::Shape for Shape {
    fn column(&self) -> Line {
        self.column
    }

    fn row(&self) -> Line {
        self.row
    }

    fn width(&self) -> u32 {
        self.width
    }

    fn chunk(&self) -> u32 {
        self.chunk
    }

    fn row_blocks(&self) -> u32 {
        self.rows() / 2 / self.pairs
    }

    fn column_shared_bytes(&self) -> u32 {
        shared_points(self.column, self.width, self.width) * POINT + 16
    }

    fn row_shared_bytes(&self) -> u32 {
        shared_points(self.row, 2 * self.pairs, 1) * POINT
    }

    /// Returns the number of threads of a block of the kernels of columns. In the step of radix Q,
    /// each thread transforms Q points.
    fn column_threads(&self) -> u32 {
        self.width * self.column.a * self.column.b
    }

    /// Returns the number of threads of a block of the kernels of rows: whole warps, and at most
    /// [`MAX_THREADS`]. In the step of radix B, a thread transforms two groups of B points at a
    /// time.
    fn row_threads(&self) -> u32 {
        (self.pairs * self.row.q * self.row.a).clamp(32, MAX_THREADS).next_multiple_of(32)
    }

    fn resident_column_blocks(&self) -> u32 {
        self.resident_columns(self.column_shared_bytes())
    }

    fn resident_row_blocks(&self) -> u32 {
        self.resident_rows(self.row_shared_bytes())
    }

    fn known(n: usize, shared_memory: u32) -> impl Iterator<Item = Self> {
        known::variants(Fp64.name(), n)
            .filter_map(|name| name.parse().ok())
            .filter(move |shape: &Self| 2 * shape.points() == n)
            .filter(move |shape| shape.is_sound() && shape.uses_registers())
            .filter(move |shape| shape.fits(shared_memory))
    }

    fn fitting(n: usize, shared_memory: u32) -> impl Iterator<Item = Self> {
        let near_cache = (24 << 20..64 << 20).contains(&(n / 2 * POINT as usize));
        Self::candidates(n, near_cache)
            .filter(move |shape| shape.is_sound() && shape.uses_registers())
            .filter(move |shape| shape.fits(shared_memory))
    }

    /// Returns an estimate of the cost. Shapes are sorted by this estimate, so that promising
    /// shapes come first. The estimate is a sum; each term is a loss as a fraction of the time of a
    /// squaring.
    fn cost(&self) -> f64 {
        let kernel = |line: Line, threads: u32, resident: u32, blocks: u32| {
            // The warps of a multiprocessor at a time, and the fraction of the last wave of blocks
            // that is empty.
            let warps = f64::from(resident.min(blocks.div_ceil(MULTIPROCESSORS)) * threads) / 32.0;
            let waves = f64::from(blocks) / f64::from(MULTIPROCESSORS * resident);
            let unlike = [line.q, line.a, line.b].map(|r| (f64::from(r).log2() - 3.5).abs());
            0.03 * (16.0 - warps).max(0.0)
                + 0.3 * (waves.ceil() / waves - 1.0).min(1.0)
                + 0.02 * unlike.iter().sum::<f64>()
                + if [line.q, line.a, line.b].iter().any(|r| r % 7 == 0) { 0.02 } else { 0.0 }
        };
        let columns =
            kernel(self.column, self.column_threads(), self.resident_column_blocks(), self.tiles());
        let rows =
            kernel(self.row, self.row_threads(), self.resident_row_blocks(), self.row_blocks());
        let bytes = self.points() * POINT as usize;
        let fills_cache = (32 << 20..56 << 20).contains(&bytes);
        let odd = |so: bool, cost: f64| if so { cost } else { 0.0 };
        let skew = (f64::from(self.rows()) / f64::from(self.columns())).log2().abs();
        columns
            + rows
            + 0.15 * (skew - 1.5).max(0.0)
            // Threads without a point in the steps over a and b.
            + 0.2 * (f64::from(self.column.a.max(self.column.b)) / f64::from(self.column.q)).log2().max(0.5)
            + 0.1 * (f64::from(self.pairs * self.row.q * self.row.a) / 256.0).log2().max(0.0)
            + odd(self.width == 1, 0.3)
            + odd(self.width == 2, 0.04)
            + odd(self.width == 8, 0.04)
            + odd(self.chunk == 4 && self.width == 4, 0.01)
            + odd(self.chunk == 8 && self.width == 2, 0.04)
            + odd(self.streaming != fills_cache, 0.02)
            + odd(self.row.b > 8, 0.1 * f64::from(self.row.b.saturating_sub(8)))
            + odd(self.column.b > 8, 0.01)
            + odd(self.registers[0] == 96 && self.column.q > 12, 0.1)
            + odd(self.registers[0] == 96, 0.01)
            + odd(self.registers[1] == 96 && largest_radix(self.row) > 12, 0.03)
            + odd(!self.column_threads().is_power_of_two(), 0.02)
    }
}

/// Returns the number of blocks that should run on a multiprocessor at a time ([`gpu::resident`]).
/// A block has `threads` threads, and each thread has `points` points and `registers` registers. A
/// thread with more than 20 points has 255 registers, whatever `registers` is.
///
/// A multiprocessor has four quarters, each with its own warps and a quarter of the registers.
fn resident(points: u32, registers: u32, threads: u32, shared_bytes: u32) -> u32 {
    let registers = if points > 20 { 255 } else { registers };
    let warps = 4 * (REGISTERS / 4 / (32 * registers));
    gpu::resident(warps / threads.div_ceil(32), shared_bytes)
}

/// Returns the size of a tile of `lines` lines in shared memory, in points. The size includes the
/// padding of `Slots` in `line.cuh`; `side` is the parameter SIDE of `Slots`.
fn shared_points(line: Line, lines: u32, side: u32) -> u32 {
    let padded = |n: u32| n + (side % 8 + 8 - n % 8) % 8;
    padded(padded(lines * line.q) * line.a) * line.b
}

/// Formats the shape as `1024x2048 16.8.8/16.16.8 2/4 1 128.128`. The parts are rows × columns, the
/// radices of columns and of rows, `width` / `chunk`, `pairs`, and `registers`. A final `s` means
/// `streaming`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { width, chunk, pairs, registers: [c, r], .. } = self;
        let streaming = if self.streaming { " s" } else { "" };
        write!(f, "{} {width}/{chunk} {pairs} {c}.{r}{streaming}", self.lines())
    }
}

/// The error for a text that is not the name of a shape.
#[derive(Debug)]
pub(in crate::engine) struct NoShape;

/// Parses the name of a shape in the format that `Display` writes.
impl FromStr for Shape {
    type Err = NoShape;

    fn from_str(name: &str) -> Result<Self, NoShape> {
        let numbers = |text: &str, between: char| {
            let all: Result<Vec<u32>, _> = text.split(between).map(str::parse).collect();
            all.map_err(|_| NoShape)
        };
        let line = |text: &str| match numbers(text, '.')?[..] {
            [q, a, b] => Ok(Line { q, a, b }),
            _ => Err(NoShape),
        };
        let parts: Vec<&str> = name.split(' ').collect();
        let (parts, streaming) = match parts[..] {
            [ref parts @ .., "s"] => (parts, true),
            ref parts => (parts, false),
        };
        let &[size, radices, tile, pairs, registers] = parts else { return Err(NoShape) };
        let (column, row) = radices.split_once('/').ok_or(NoShape)?;
        let [width, chunk] = numbers(tile, '/')?[..] else { return Err(NoShape) };
        let registers = numbers(registers, '.')?.try_into().map_err(|_| NoShape)?;
        let pairs = pairs.parse().map_err(|_| NoShape)?;
        let (column, row) = (line(column)?, line(row)?);
        let shape = Self { column, row, width, chunk, pairs, registers, streaming };
        // Nothing of the name was lost, and no size overflows in its product.
        let length = |[q, a, b]: [u32; 3]| q.checked_mul(a)?.checked_mul(b);
        let lines = [column, row].map(|Line { q, a, b }| length([q, a, b]));
        let sound = lines.iter().all(Option::is_some);
        let same = sound && shape.lines().split(' ').next() == Some(size);
        if same { Ok(shape) } else { Err(NoShape) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::fp64_gpu::all_lengths;
    use crate::engine::gpu::SHARED_MEMORY;

    #[test]
    fn every_length_from_64k_on_has_a_shape_but_one() {
        for n in all_lengths().filter(|&n| n >= 1 << 16) {
            assert_eq!(Shape::exists(n, SHARED_MEMORY), n != 35 << 20, "{n}");
        }
    }

    #[test]
    #[ignore = "prints a list to look through"]
    fn default_shapes() {
        for n in all_lengths() {
            let shape = Shape::all(n, SHARED_MEMORY).into_iter().next();
            println!("{n:>9} {}", shape.map_or("none".into(), |shape| shape.to_string()));
        }
    }

    #[test]
    fn known_shapes_come_first_where_they_fit() {
        for n in all_lengths().filter(|&n| n >= 1 << 16 && n != 35 << 20) {
            let name = known::variants("fp64", n).next().unwrap();
            let all = Shape::all(n, SHARED_MEMORY);
            assert_eq!(all[0].to_string(), name);
            assert_eq!(Shape::best(n, SHARED_MEMORY), Some(all[0]));
            assert!(all.iter().all(|other| 2 * other.points() == n), "{n}");
        }
        // With 48 KiB the tiles of that shape do not fit, but others do.
        let (n, small) = (1 << 22, 48 << 10);
        let known: Shape = known::variants("fp64", n).next().unwrap().parse().ok().unwrap();
        assert!(!known.fits(small));
        let best = Shape::best(n, small).unwrap();
        assert!(best.fits(small) && best == Shape::all(n, small)[0]);
    }

    #[test]
    fn names_read_back() {
        for n in [256, 3 << 10, 9 << 19] {
            for shape in Shape::all(n, SHARED_MEMORY).into_iter().step_by(7) {
                assert_eq!(shape.to_string().parse::<Shape>().ok(), Some(shape));
            }
        }
        for name in [
            "",
            "s",
            "8x16",
            "128x256 4.8.4/8.8.4 2/4 1 128",
            "129x256 4.8.4/8.8.4 2/4 1 128.128",
            "128x256 4.8.4/8.8.4 2/4 1 128.128 t",
            "128x256 4.8/8.8.4 2/4 1 128.128",
            "128x256 4.8.4/8.8.4 2/4 x 128.128",
            "128x256 4.8.4/4294967295.2.4 2/4 1 128.128",
        ] {
            assert!(name.parse::<Shape>().is_err(), "{name}");
        }
    }

    #[test]
    fn names_tell_shapes_apart() {
        let all = Shape::all(3 << 10, SHARED_MEMORY);
        let names: std::collections::HashSet<String> = all.iter().map(Shape::to_string).collect();
        assert_eq!(names.len(), all.len());
    }
}
