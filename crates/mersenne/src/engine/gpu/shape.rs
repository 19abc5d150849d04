//! How a transform of rows·columns points is cut for the kernels: lines, tiles, threads.

use std::fmt;

use crate::engine::Cut;

/// Radices of a line of Q·A·B points, in the order of the forward transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::engine) struct Line {
    pub(in crate::engine) q: u32,
    pub(in crate::engine) a: u32,
    pub(in crate::engine) b: u32,
}

impl Line {
    /// The points.
    pub(in crate::engine) fn len(self) -> u32 {
        self.q * self.a * self.b
    }
}

/// `16.8.8`: Q, A, B.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.q, self.a, self.b)
    }
}

/// The most shared memory that blocks of a multiprocessor, or one block, have on any GPU.
pub(in crate::engine) const SHARED_MEMORY: u32 = 227 << 10;

/// Threads of a block.
pub(in crate::engine) const MAX_THREADS: u32 = 512;

/// Registers of a multiprocessor.
pub(in crate::engine) const REGISTERS: u32 = 1 << 16;

/// Blocks that a multiprocessor is to hold at a time: as many as its registers have room for, if
/// its shared memory has room for them too.
pub(in crate::engine) fn resident(by_registers: u32, shared_bytes: u32) -> u32 {
    by_registers.min(SHARED_MEMORY / (shared_bytes + 1024)).clamp(1, 16)
}

/// How the points of a transform are cut for the kernels; `Display` is the variant's name.
///
/// Point j1·columns + j2 stands in row j1 and column j2. The kernels of columns take
/// [`Shape::width`] adjacent columns at a time, those of rows a few rows.
pub(in crate::engine) trait Shape:
    Copy + PartialEq + fmt::Display + Send
{
    /// The transform along a column; its length is the number of rows.
    fn column(&self) -> Line;

    /// The transform along a row; its length is the number of columns.
    fn row(&self) -> Line;

    /// Columns in a tile.
    fn width(&self) -> u32;

    /// Points of a row that lie side by side in memory.
    fn chunk(&self) -> u32;

    /// The blocks of the kernels of rows.
    fn row_blocks(&self) -> u32;

    /// Threads of a block of columns.
    fn column_threads(&self) -> u32;

    /// Threads of a block of rows.
    fn row_threads(&self) -> u32;

    /// Bytes of shared memory of a tile of columns, and a word beside it.
    fn column_shared_bytes(&self) -> u32;

    /// Bytes of shared memory of a tile of rows.
    fn row_shared_bytes(&self) -> u32;

    /// Blocks of columns that a multiprocessor is to hold at a time.
    fn resident_column_blocks(&self) -> u32;

    /// Blocks of rows that a multiprocessor is to hold at a time.
    fn resident_row_blocks(&self) -> u32;

    /// Every shape for N words of which the kernels can be built for `shared_memory` bytes.
    fn fitting(n: usize, shared_memory: u32) -> impl Iterator<Item = Self>;

    /// Those of them that were the fastest on some GPU.
    fn known(n: usize, shared_memory: u32) -> impl Iterator<Item = Self>;

    /// A guess that puts likely shapes in front, in arbitrary units.
    fn cost(&self) -> f64;

    /// R, the length of a column.
    fn rows(&self) -> u32 {
        self.column().len()
    }

    /// C, the length of a row.
    fn columns(&self) -> u32 {
        self.row().len()
    }

    /// R·C.
    fn points(&self) -> usize {
        self.rows() as usize * self.columns() as usize
    }

    /// The tiles of all columns.
    fn tiles(&self) -> u32 {
        self.columns() / self.width()
    }

    /// Whether the tiles fit into `shared_memory` bytes.
    fn fits(&self, shared_memory: u32) -> bool {
        let most = shared_memory.min(SHARED_MEMORY);
        self.column_shared_bytes() <= most && self.row_shared_bytes() <= most
    }

    /// Columns, rows and their radices.
    fn cut(&self) -> Cut {
        let radices = |Line { q, a, b }: Line| [q, a, b];
        Cut::new(&radices(self.column()), &radices(self.row()))
    }

    /// `1024x2048 16.8.8/16.16.8`: rows × columns, the radices of both. Names begin with it.
    fn lines(&self) -> String {
        format!("{}x{} {}/{}", self.rows(), self.columns(), self.column(), self.row())
    }

    /// Every shape for N words that fits into `shared_memory` bytes, those known to be fast first.
    fn all(n: usize, shared_memory: u32) -> Vec<Self> {
        let known: Vec<Self> = Self::known(n, shared_memory).collect();
        let mut others: Vec<(f64, Self)> = Self::fitting(n, shared_memory)
            .filter(|shape| !known.contains(shape))
            .map(|shape| (shape.cost(), shape))
            .collect();
        others.sort_by(|(x, _), (y, _)| x.total_cmp(y));
        known.into_iter().chain(others.into_iter().map(|(_, shape)| shape)).collect()
    }

    /// The first of [`Self::all`], mostly without the others.
    fn best(n: usize, shared_memory: u32) -> Option<Self> {
        let known = Self::known(n, shared_memory).next();
        known.or_else(|| Self::all(n, shared_memory).into_iter().next())
    }

    /// Whether there is a shape.
    fn exists(n: usize, shared_memory: u32) -> bool {
        Self::fitting(n, shared_memory).next().is_some()
    }
}
