//! Shapes: the division of a transform of rows·columns points into lines, tiles and threads.

use std::fmt;

use crate::engine::Cut;

/// A line, which is a column or a row of a transform. It has Q·A·B points, and is transformed in
/// steps of radices Q, A and B, in this order in the forward transform.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::engine) struct Line {
    pub(in crate::engine) q: u32,
    pub(in crate::engine) a: u32,
    pub(in crate::engine) b: u32,
}

impl Line {
    /// Returns the number of points of the line, Q·A·B.
    pub(in crate::engine) fn len(self) -> u32 {
        self.q * self.a * self.b
    }
}

/// Formats the line as its radices Q, A and B, such as `16.8.8`.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.q, self.a, self.b)
    }
}

/// The largest amount of shared memory, in bytes, that a block can have on any GPU. A
/// multiprocessor is assumed to have the same amount.
pub(in crate::engine) const SHARED_MEMORY: u32 = 227 << 10;

/// The largest number of threads that a shape may give to a block.
pub(in crate::engine) const MAX_THREADS: u32 = 512;

/// The number of 32-bit registers of a multiprocessor.
pub(in crate::engine) const REGISTERS: u32 = 1 << 16;

/// Returns the number of blocks that should run on a multiprocessor at a time, from 1 to 16. The
/// result is the smaller of two numbers of blocks: the number for which the registers suffice,
/// `by_registers`, and the number for which the shared memory suffices. `shared_bytes` is the
/// shared memory of a block.
pub(in crate::engine) fn resident(by_registers: u32, shared_bytes: u32) -> u32 {
    by_registers.min(SHARED_MEMORY / (shared_bytes + 1024)).clamp(1, 16)
}

/// The division of a transform's points among the threads of the kernels. `Display` writes a shape
/// as the name of its variant.
///
/// Point j1·columns + j2 is in row j1 and column j2. A block of the kernels of columns processes a
/// tile of [`Shape::width`] adjacent columns. A block of the kernels of rows processes a tile of a
/// few rows.
pub(in crate::engine) trait Shape:
    Copy + PartialEq + fmt::Display + Send
{
    /// Returns the radices of the transform along a column, whose length is the number of rows.
    fn column(&self) -> Line;

    /// Returns the radices of the transform along a row, whose length is the number of columns.
    fn row(&self) -> Line;

    /// Returns the number of columns in a tile of columns.
    fn width(&self) -> u32;

    /// Returns the number of points of a row that are adjacent in memory.
    fn chunk(&self) -> u32;

    /// Returns the number of blocks of the kernels of rows.
    fn row_blocks(&self) -> u32;

    /// Returns the number of threads of a block of the kernels of columns.
    fn column_threads(&self) -> u32;

    /// Returns the number of threads of a block of the kernels of rows.
    fn row_threads(&self) -> u32;

    /// Returns the shared memory of a block of the kernels of columns, in bytes. This is the size
    /// of a tile, plus 16 bytes for the ticket of the block.
    fn column_shared_bytes(&self) -> u32;

    /// Returns the shared memory of a block of the kernels of rows, in bytes. This is the size of a
    /// tile.
    fn row_shared_bytes(&self) -> u32;

    /// Returns the number of blocks of a kernel of columns that should run on a multiprocessor at a
    /// time.
    fn resident_column_blocks(&self) -> u32;

    /// Returns the number of blocks of a kernel of rows that should run on a multiprocessor at a
    /// time.
    fn resident_row_blocks(&self) -> u32;

    /// Iterates over the shapes for n words that are worth trying. Their kernels can be built if a
    /// block can have `shared_memory` bytes of shared memory.
    fn fitting(n: usize, shared_memory: u32) -> impl Iterator<Item = Self>;

    /// Iterates over the shapes that were the fastest for n words on some GPU model. Their kernels
    /// can be built if a block can have `shared_memory` bytes of shared memory.
    fn known(n: usize, shared_memory: u32) -> impl Iterator<Item = Self>;

    /// Returns an estimate of the cost of the shape, in arbitrary units. Shapes are sorted by this
    /// estimate, so that promising shapes are listed first.
    fn cost(&self) -> f64;

    /// Returns the length R of a column, which is the number of rows.
    fn rows(&self) -> u32 {
        self.column().len()
    }

    /// Returns the length C of a row, which is the number of columns.
    fn columns(&self) -> u32 {
        self.row().len()
    }

    /// Returns the number of points of the transform, rows·columns.
    fn points(&self) -> usize {
        self.rows() as usize * self.columns() as usize
    }

    /// Returns the number of tiles into which the columns are divided.
    fn tiles(&self) -> u32 {
        self.columns() / self.width()
    }

    /// Returns whether a tile of columns and a tile of rows each fit into `shared_memory` bytes.
    fn fits(&self, shared_memory: u32) -> bool {
        let most = shared_memory.min(SHARED_MEMORY);
        self.column_shared_bytes() <= most && self.row_shared_bytes() <= most
    }

    /// Returns the division of the transform into columns and rows, with the radices of both.
    fn cut(&self) -> Cut {
        let radices = |Line { q, a, b }: Line| [q, a, b];
        Cut::new(&radices(self.column()), &radices(self.row()))
    }

    /// Returns the beginning of the variant's name, such as `1024x2048 16.8.8/16.16.8`. The parts
    /// are rows × columns, the radices along a column, and the radices along a row.
    fn lines(&self) -> String {
        format!("{}x{} {}/{}", self.rows(), self.columns(), self.column(), self.row())
    }

    /// Returns the shapes of [`Self::known`], followed by the other shapes of [`Self::fitting`].
    /// These other shapes are ordered by their estimated cost, the lowest first.
    fn all(n: usize, shared_memory: u32) -> Vec<Self> {
        let known: Vec<Self> = Self::known(n, shared_memory).collect();
        let mut others: Vec<(f64, Self)> = Self::fitting(n, shared_memory)
            .filter(|shape| !known.contains(shape))
            .map(|shape| (shape.cost(), shape))
            .collect();
        others.sort_by(|(x, _), (y, _)| x.total_cmp(y));
        known.into_iter().chain(others.into_iter().map(|(_, shape)| shape)).collect()
    }

    /// Returns the first shape of [`Self::all`], usually without computing the others. Returns
    /// `None` if there is no shape.
    fn best(n: usize, shared_memory: u32) -> Option<Self> {
        let known = Self::known(n, shared_memory).next();
        known.or_else(|| Self::all(n, shared_memory).into_iter().next())
    }

    /// Returns whether tiles have two columns or more, within which second carries pass.
    fn is_wide(&self) -> bool {
        self.width() > 1
    }

    /// Returns the first shape with wide tiles ([`Self::suited`]).
    fn wide(n: usize, shared_memory: u32, variant: usize) -> Option<Self> {
        Self::suited(n, shared_memory, variant, Self::is_wide)
    }

    /// Returns the shape with the number `variant` in [`Self::all`], if it is suitable. For variant 0, returns the first
    /// such shape.
    fn suited(
        n: usize,
        shared_memory: u32,
        variant: usize,
        is_suitable: impl Fn(&Self) -> bool,
    ) -> Option<Self> {
        if variant > 0 {
            return Self::all(n, shared_memory).into_iter().nth(variant).filter(is_suitable);
        }
        let best = Self::best(n, shared_memory).filter(&is_suitable);
        best.or_else(|| Self::all(n, shared_memory).into_iter().find(is_suitable))
    }

    /// Returns whether there is a suitable shape for n words ([`Self::suited`]).
    fn has_suited(n: usize, shared_memory: u32, is_suitable: impl Fn(&Self) -> bool) -> bool {
        let known = Self::known(n, shared_memory).any(|shape| is_suitable(&shape));
        known || Self::fitting(n, shared_memory).any(|shape| is_suitable(&shape))
    }

    /// Returns whether there is any shape for n words that fits into `shared_memory` bytes.
    fn exists(n: usize, shared_memory: u32) -> bool {
        Self::fitting(n, shared_memory).next().is_some()
    }
}
