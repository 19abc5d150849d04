//! Shapes: the division of a transform of rows·columns points into lines, tiles and threads.

use std::fmt;

use crate::engine::Cut;

/// The radices Q, A and B of a line of Q·A·B points, in the order of the forward transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::engine) struct Line {
    pub(in crate::engine) q: u32,
    pub(in crate::engine) a: u32,
    pub(in crate::engine) b: u32,
}

impl Line {
    /// Returns the number of points Q·A·B.
    pub(in crate::engine) fn len(self) -> u32 {
        self.q * self.a * self.b
    }
}

/// Formats the line as `16.8.8`: Q, A, B.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.q, self.a, self.b)
    }
}

/// The most bytes of shared memory available to the blocks of a multiprocessor, or to one block, on
/// any GPU.
pub(in crate::engine) const SHARED_MEMORY: u32 = 227 << 10;

/// The largest number of threads of a block.
pub(in crate::engine) const MAX_THREADS: u32 = 512;

/// The number of registers of a multiprocessor.
pub(in crate::engine) const REGISTERS: u32 = 1 << 16;

/// Returns the number of blocks that a multiprocessor should hold at a time: as many as fit into
/// its registers, but no more than fit into its shared memory.
pub(in crate::engine) fn resident(by_registers: u32, shared_bytes: u32) -> u32 {
    by_registers.min(SHARED_MEMORY / (shared_bytes + 1024)).clamp(1, 16)
}

/// The division of the points of a transform among the kernels' threads; `Display` writes the
/// variant's name.
///
/// Point j1·columns + j2 is in row j1 and column j2. The kernels of columns process
/// [`Shape::width`] adjacent columns at a time, the kernels of rows a few rows.
pub(in crate::engine) trait Shape:
    Copy + PartialEq + fmt::Display + Send
{
    /// Returns the transform along a column; its length is the number of rows.
    fn column(&self) -> Line;

    /// Returns the transform along a row; its length is the number of columns.
    fn row(&self) -> Line;

    /// Returns the number of columns in a tile.
    fn width(&self) -> u32;

    /// Returns the number of points of a row that are adjacent in memory.
    fn chunk(&self) -> u32;

    /// Returns the number of blocks of the kernels of rows.
    fn row_blocks(&self) -> u32;

    /// Returns the number of threads of a block of the kernels of columns.
    fn column_threads(&self) -> u32;

    /// Returns the number of threads of a block of the kernels of rows.
    fn row_threads(&self) -> u32;

    /// Returns the size in bytes of a tile of columns in shared memory, including one extra word.
    fn column_shared_bytes(&self) -> u32;

    /// Returns the size in bytes of a tile of rows in shared memory.
    fn row_shared_bytes(&self) -> u32;

    /// Returns the number of blocks of columns that a multiprocessor should hold at a time.
    fn resident_column_blocks(&self) -> u32;

    /// Returns the number of blocks of rows that a multiprocessor should hold at a time.
    fn resident_row_blocks(&self) -> u32;

    /// Iterates over all shapes for N words whose kernels can be built with `shared_memory` bytes.
    fn fitting(n: usize, shared_memory: u32) -> impl Iterator<Item = Self>;

    /// Iterates over those of [`Self::fitting`] that were the fastest on some GPU.
    fn known(n: usize, shared_memory: u32) -> impl Iterator<Item = Self>;

    /// Estimates the cost, in arbitrary units, to list promising shapes first.
    fn cost(&self) -> f64;

    /// Returns the length R of a column, which is the number of rows.
    fn rows(&self) -> u32 {
        self.column().len()
    }

    /// Returns the length C of a row, which is the number of columns.
    fn columns(&self) -> u32 {
        self.row().len()
    }

    /// Returns the number of points R·C.
    fn points(&self) -> usize {
        self.rows() as usize * self.columns() as usize
    }

    /// Returns the number of tiles into which the columns are divided.
    fn tiles(&self) -> u32 {
        self.columns() / self.width()
    }

    /// Returns whether the tiles fit into `shared_memory` bytes.
    fn fits(&self, shared_memory: u32) -> bool {
        let most = shared_memory.min(SHARED_MEMORY);
        self.column_shared_bytes() <= most && self.row_shared_bytes() <= most
    }

    /// Returns the cut: rows, columns and their radices.
    fn cut(&self) -> Cut {
        let radices = |Line { q, a, b }: Line| [q, a, b];
        Cut::new(&radices(self.column()), &radices(self.row()))
    }

    /// Formats rows × columns and the radices of both as `1024x2048 16.8.8/16.16.8`, with which the
    /// variant's name begins.
    fn lines(&self) -> String {
        format!("{}x{} {}/{}", self.rows(), self.columns(), self.column(), self.row())
    }

    /// Returns all shapes for N words that fit into `shared_memory` bytes, those known to be fast
    /// first.
    fn all(n: usize, shared_memory: u32) -> Vec<Self> {
        let known: Vec<Self> = Self::known(n, shared_memory).collect();
        let mut others: Vec<(f64, Self)> = Self::fitting(n, shared_memory)
            .filter(|shape| !known.contains(shape))
            .map(|shape| (shape.cost(), shape))
            .collect();
        others.sort_by(|(x, _), (y, _)| x.total_cmp(y));
        known.into_iter().chain(others.into_iter().map(|(_, shape)| shape)).collect()
    }

    /// Returns the first shape of [`Self::all`], usually without computing the others.
    fn best(n: usize, shared_memory: u32) -> Option<Self> {
        let known = Self::known(n, shared_memory).next();
        known.or_else(|| Self::all(n, shared_memory).into_iter().next())
    }

    /// Returns whether any shape exists.
    fn exists(n: usize, shared_memory: u32) -> bool {
        Self::fitting(n, shared_memory).next().is_some()
    }
}
