//! Shapes: the division of a transform into lines, tiles and threads.

use std::fmt;

use crate::engine::gpu::{self, Line, MAX_THREADS, REGISTERS, Shape as _};

/// Returns the number of points of a line that a thread holds in registers at a time: the larger of
/// the radices A and B.
fn points(line: Line) -> u32 {
    line.a.max(line.b)
}

/// Returns the divisions of a line of `length` points into radices Q·A·B that are worth trying. The
/// steps of radix A and B are computed in registers with shifts only, and A and B differ by a
/// factor of at most 2. Q is 1, 2, 4, 5, 8 or 16.
fn lines(length: u32) -> Vec<Line> {
    let (five, power) = if length.is_multiple_of(5) { (5, length / 5) } else { (1, length) };
    if !power.is_power_of_two() {
        return vec![];
    }
    let log = power.trailing_zeros();
    let outers = if five == 5 { 0..=0 } else { 0..=4 };
    let mut lines = vec![];
    for outer in outers {
        for b in 2..=5 {
            let Some(a) = log.checked_sub(outer + b).filter(|a| (1..=5).contains(a)) else {
                continue;
            };
            // The larger radix determines the registers.
            if a.abs_diff(b) <= 1 {
                lines.push(Line { q: five << outer, a: 1 << a, b: 1 << b });
            }
        }
    }
    lines.sort_by_key(|line| (line.q, points(*line), line.a));
    lines
}

/// The division of a transform's N = rows·columns words among the threads of the kernels.
///
/// Word j1·columns + j2 is in row j1 and column j2. A block of the kernels of columns processes a
/// tile of `width` adjacent columns. A block of the kernels of rows processes a tile of `lines`
/// adjacent rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::engine) struct Shape {
    /// The radices of the transform along a column, whose length is the number of rows.
    pub(super) column: Line,
    /// The radices of the transform along a row, whose length is the number of columns.
    pub(super) row: Line,
    /// The number of columns in a tile of columns.
    pub(super) width: u32,
    /// The number of rows in a tile of rows.
    pub(super) lines: u32,
    /// The number of groups of points that a thread transforms one after another in a step. The
    /// number of threads of a block follows from this number, and is at least 32 and at most 512.
    pub(super) turns: u32,
    /// The number of registers of a thread, 64 or 80: first in the kernels of columns, then in the
    /// kernels of rows. The numbers apply to lines whose radices A and B are at most 16. For larger
    /// radices a thread has 128 registers.
    pub(super) registers: [u32; 2],
}

/// A [`Shape`] whose speed was measured, in a shorter notation. `registers` applies to the kernels
/// of columns and to the kernels of rows.
struct Measured {
    column: [u32; 3],
    row: [u32; 3],
    /// The fields `width`, `lines` and `turns` of the shape.
    tile: [u32; 3],
    registers: u32,
}

impl Measured {
    fn shape(&self) -> Shape {
        let line = |[q, a, b]: [u32; 3]| Line { q, a, b };
        let [width, lines, turns] = self.tile;
        let registers = [self.registers; 2];
        Shape { column: line(self.column), row: line(self.row), width, lines, turns, registers }
    }
}

/// The fastest of the shapes that were tried on an H200 (`benches/NOTES.md`), for 16 transform
/// lengths. There is one shape for each length, in ascending order of the length.
#[rustfmt::skip]
const MEASURED: [Measured; 16] = [
    Measured { column: [4, 8, 8], row: [1, 16, 16], tile: [4, 1, 1], registers: 80 },
    Measured { column: [5, 8, 8], row: [1, 16, 16], tile: [4, 2, 1], registers: 80 },
    Measured { column: [4, 8, 8], row: [8, 8, 8], tile: [4, 2, 1], registers: 64 },
    Measured { column: [5, 4, 8], row: [4, 16, 16], tile: [4, 1, 1], registers: 80 },
    Measured { column: [4, 8, 8], row: [4, 16, 16], tile: [4, 1, 1], registers: 80 },
    Measured { column: [5, 8, 8], row: [16, 8, 8], tile: [4, 1, 1], registers: 80 },
    Measured { column: [1, 16, 16], row: [16, 16, 8], tile: [8, 1, 1], registers: 80 },
    Measured { column: [5, 8, 8], row: [16, 8, 16], tile: [4, 1, 1], registers: 64 },
    Measured { column: [4, 16, 16], row: [8, 8, 16], tile: [4, 4, 1], registers: 64 },
    Measured { column: [5, 16, 16], row: [8, 8, 16], tile: [4, 2, 1], registers: 80 },
    Measured { column: [1, 32, 32], row: [8, 16, 16], tile: [4, 2, 1], registers: 80 },
    Measured { column: [5, 16, 16], row: [16, 16, 8], tile: [4, 1, 1], registers: 80 },
    Measured { column: [4, 16, 16], row: [16, 16, 16], tile: [4, 1, 1], registers: 80 },
    Measured { column: [5, 16, 16], row: [16, 16, 16], tile: [4, 1, 1], registers: 80 },
    Measured { column: [4, 16, 16], row: [16, 32, 16], tile: [4, 1, 1], registers: 80 },
    Measured { column: [8, 16, 8], row: [16, 32, 32], tile: [4, 1, 1], registers: 80 },
];

/// The number of registers of a thread that transforms 32 points at a time.
const MOST_REGISTERS: u32 = 128;

impl Shape {
    /// Returns whether the kernels can be built for the shape.
    fn is_sound(&self) -> bool {
        self.columns() >= 2 * self.width
            && self.row.b.is_multiple_of(self.width)
            && self.rows().is_multiple_of(self.lines)
            && self.row.q != 5
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

    /// Returns the number of points of a row that are adjacent in memory. The number is the width
    /// of a tile of columns, but at least 8 points (64 bytes) if the radix B of a row is a multiple
    /// of 8.
    fn chunk(&self) -> u32 {
        if self.row.b.is_multiple_of(8) { self.width.max(8) } else { self.width }
    }

    fn row_blocks(&self) -> u32 {
        self.rows() / self.lines
    }

    fn column_shared_bytes(&self) -> u32 {
        shared_bytes(self.column, self.width) + 16
    }

    fn row_shared_bytes(&self) -> u32 {
        shared_bytes(self.row, self.lines)
    }

    fn column_threads(&self) -> u32 {
        threads(self.column, self.rows() * self.width, self.turns)
    }

    fn row_threads(&self) -> u32 {
        threads(self.row, self.columns() * self.lines, self.turns)
    }

    fn resident_column_blocks(&self) -> u32 {
        let (threads, bytes) = (self.column_threads(), self.column_shared_bytes());
        resident(self.column, self.registers[0], threads, bytes)
    }

    fn resident_row_blocks(&self) -> u32 {
        resident(self.row, self.registers[1], self.row_threads(), self.row_shared_bytes())
    }

    fn known(n: usize, shared_memory: u32) -> impl Iterator<Item = Self> {
        let measured =
            MEASURED.iter().map(Measured::shape).filter(move |shape| shape.points() == n);
        measured.filter(move |shape| shape.is_sound() && shape.fits(shared_memory))
    }

    fn fitting(n: usize, shared_memory: u32) -> impl Iterator<Item = Self> {
        let odd = if n.is_multiple_of(5) { 5 } else { 1 };
        let cuts = (3..=12).map(move |log| (odd << log, n / (odd << log)));
        let cuts = cuts
            .filter(move |(rows, columns)| rows * columns == n && (8..=1 << 14).contains(columns));
        let pairs_of_lines = cuts.flat_map(|(rows, columns)| {
            let rows_of =
                move |column| lines(columns as u32).into_iter().map(move |row| (column, row));
            lines(rows as u32).into_iter().flat_map(rows_of)
        });
        let tiles = || [1, 2].into_iter().flat_map(|turns| [4, 8].map(|width| (turns, width)));
        let choices = move || {
            tiles().flat_map(|(turns, width)| [1, 2, 4, 8].map(|lines| (turns, width, lines)))
        };
        pairs_of_lines
            .flat_map(move |(column, row)| {
                choices().flat_map(move |(turns, width, lines)| {
                    [[80, 80], [80, 64], [64, 64]].map(|registers| Self {
                        column,
                        row,
                        width,
                        lines,
                        turns,
                        registers,
                    })
                })
            })
            .filter(move |shape| shape.is_sound() && shape.fits(shared_memory))
    }

    /// Returns an estimate of the cost of the shape, in arbitrary units. Shapes are cheapest with
    /// columns of about 1,024 words (256 for less than 1M words), radices of 16, small tiles, and
    /// enough blocks of 256 threads.
    fn cost(&self) -> f64 {
        let log = |x: u32| f64::from(x).log2();
        let rows = if self.points() < 1 << 20 { 8.0 } else { 10.0 };
        let radix = |line: Line| 0.2 * (log(points(line)) - 4.0).abs() + 0.1 * log(line.q);
        let threads = |threads: u32| (log(threads) - 8.0).abs();
        let few = |blocks: u32| (8.0 - log(blocks)).max(0.0);
        0.3 * (log(self.rows()) - rows).abs()
            + radix(self.column)
            + radix(self.row)
            + 0.1 * log(self.width * self.lines)
            + 0.2 * (threads(self.column_threads()) + threads(self.row_threads()))
            + 0.3 * (few(self.tiles()) + few(self.row_blocks()))
            + if self.registers == [80, 80] { 0.0 } else { 0.05 }
    }
}

/// Returns the number of blocks that should run on a multiprocessor at a time ([`gpu::resident`]).
/// A block has `threads` threads with `registers` registers each. If the radix A or B of `line` is
/// above 16, each thread has 128 registers instead.
fn resident(line: Line, registers: u32, threads: u32, shared_bytes: u32) -> u32 {
    let registers = if points(line) > 16 { MOST_REGISTERS } else { registers };
    gpu::resident(REGISTERS / (registers * threads), shared_bytes)
}

/// Returns the size in bytes of a tile of `lines` lines in shared memory, including the padding of
/// `Slots` in `goldilocks_tile.cuh`.
fn shared_bytes(line: Line, lines: u32) -> u32 {
    let side = lines * line.q;
    let padding = if side < 16 { side } else { 4 };
    (side * line.a + padding) * line.b * 8
}

/// Returns the number of threads for a tile of `tile` points. A thread transforms `turns` groups of
/// points, one after another. The number of points of a group is the larger of the line's radices A
/// and B.
fn threads(line: Line, tile: u32, turns: u32) -> u32 {
    (tile / points(line) / turns).clamp(32, MAX_THREADS).next_multiple_of(32)
}

/// Formats the shape as `2048x2048 2.32.32/2.32.32 4x4 1 80.80`. The parts are rows × columns, the
/// radices of columns and of rows, `width` × `lines`, `turns`, and `registers`.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { width, lines, turns, registers: [c, r], .. } = self;
        write!(f, "{} {width}x{lines} {turns} {c}.{r}", gpu::Shape::lines(self))
    }
}
