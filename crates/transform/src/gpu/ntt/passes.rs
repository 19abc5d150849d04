//! The passes of which transforms consist, and the constants with which their kernels are compiled.

use warpint_device::Source;

use crate::Order;

/// The largest number of levels of a pass, which is the base-2 logarithm of the number of points of
/// its lines; a factor 3 counts as two levels, a factor 5 as three.
const MOST_LEVELS: usize = 12;
/// The least number of levels of a pass if there are several.
const LEAST_LEVELS: usize = 5;

/// The times of passes of 5 to 12 levels over 2^24 points on an H200, in µs. A plan has the passes
/// with the smallest sum.
#[derive(Debug, Clone, Copy)]
pub struct Costs {
    /// Column passes.
    pub columns: [u32; 8],
    /// Last passes with results in bit-reversed order.
    pub reversed: [u32; 8],
    /// Last passes with results in natural order.
    pub natural: [u32; 8],
}

/// The arrangement of the lines of a pass, see `ntt_pass.cuh`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Columns,
    Rows,
    Scatter,
}

/// The constants of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    /// Q, A and B: a line has Q·A·B points.
    pub radices: [usize; 3],
    pub place: Place,
    /// Whether this is a pass of decimation in time.
    pub join: bool,
    reversed: bool,
    pub inverse: bool,
    /// Whether the pass multiplies by 1/N.
    pub scaled: bool,
    /// Whether this is the last pass, whose results are from 0 to p − 1.
    canonical: bool,
    /// The number of lines of a tile.
    pub lines: usize,
    /// The distance of the points of a line, in words.
    pub inner: usize,
    /// The product of the lengths of the lines of all passes over more distant points.
    pub outer: usize,
    /// For [`Place::Scatter`], the product of the lengths of all passes but the first and the last.
    pub middle: usize,
    pub threads: u32,
    blocks: u32,
}

impl Pass {
    /// Returns the passes of a transform of `length` points, in the order in which they run. `order`
    /// is the order of the X_k.
    pub fn sequence(
        costs: &Costs,
        length: usize,
        order: Order,
        inverse: bool,
        shared_memory: u32,
    ) -> Vec<Self> {
        let join = inverse && order == Order::BitReversed;
        let lines = lengths_of_lines(costs, length, order, shared_memory);
        let (count, first, mut outer) = (lines.len(), lines[0], 1);
        let mut passes: Vec<Self> = lines
            .into_iter()
            .enumerate()
            .map(|(i, line)| {
                let place = match (i + 1 == count, order) {
                    (false, _) => Place::Columns,
                    (true, Order::Natural) if count > 1 => Place::Scatter,
                    (true, _) => Place::Rows,
                };
                let inner = length / (outer * line);
                let pass = Self {
                    radices: radices(line),
                    place,
                    join,
                    reversed: order == Order::BitReversed,
                    inverse,
                    scaled: inverse && i == 0,
                    canonical: if join { i == 0 } else { i + 1 == count },
                    lines: 1,
                    inner,
                    outer,
                    middle: if place == Place::Scatter { outer / first } else { 1 },
                    threads: 64,
                    blocks: 1,
                };
                outer *= line;
                pass.with_tile(shared_memory)
            })
            .collect();
        if join {
            passes.reverse();
        }
        passes
    }

    /// Chooses the number of lines of a tile, and the numbers of threads and blocks.
    fn with_tile(mut self, shared_memory: u32) -> Self {
        let line = self.length();
        let widest = self.radices.into_iter().max().unwrap_or(1);
        // Shapes that were measured as fastest, where the shared memory suffices. Tiles of columns have
        // at least 32 contiguous bytes, as a rule 64.
        let least = match self.place {
            Place::Rows => 1,
            Place::Columns | Place::Scatter if line >= 1 << 10 => 4,
            Place::Columns | Place::Scatter => 8,
        };
        self.lines = ((1 << 11) / line.next_power_of_two()).max(least);
        if self.place == Place::Columns {
            self.lines = self.lines.min(self.inner);
        }
        while self.lines > 1 && self.shared_bytes() > shared_memory {
            self.lines /= 2;
        }
        let tile = self.lines * line;
        let of_thread = if tile > 1 << 12 || widest > 16 { 32 } else { 16 };
        self.threads = tile.div_ceil(of_thread).next_multiple_of(32).clamp(32, 512) as u32;
        let registers = match self.place {
            _ if widest > 16 => 128,
            Place::Rows => 80,
            Place::Columns | Place::Scatter => 96,
        };
        let of_shared = (227 << 10) / (self.shared_bytes() + 1024);
        self.blocks = (65_536 / (registers * self.threads)).min(of_shared).clamp(1, 16);
        self
    }

    /// Returns the number of points of a line.
    pub fn length(&self) -> usize {
        self.radices.iter().product()
    }

    /// Returns the number of bytes of dynamic shared memory of a block: its tile, in the layout of
    /// `ntt_pass.cuh`.
    pub fn shared_bytes(&self) -> u32 {
        let [q, a, b] = self.radices;
        let u = self.lines * q;
        let of_rows = self.place == Place::Rows && u.is_multiple_of(16) && q < 16;
        let stride_a = u + if of_rows { q } else { 0 };
        let pad_b = match self.place {
            Place::Columns if self.lines < 16 => self.lines,
            Place::Columns => 0,
            Place::Rows | Place::Scatter => (stride_a * a + 1) % 2,
        };
        (8 * (stride_a * a + pad_b) * b) as u32
    }

    /// Adds the constants of the pass to the source of a kernel that includes `ntt_pass.cuh`.
    pub fn compiled(&self, source: Source) -> Source {
        let [q, a, b] = self.radices;
        source
            .define("OUTER_RADIX", q)
            .define("RADIX_A", a)
            .define("RADIX_B", b)
            .define("LINES", self.lines)
            .define("PLACE", self.place as u32)
            .define("JOIN", u32::from(self.join))
            .define("REVERSED", u32::from(self.reversed))
            .define("INVERSE", u32::from(self.inverse))
            .define("SCALED", u32::from(self.scaled))
            .define("CANONICAL", u32::from(self.canonical))
            .define("THREADS", self.threads)
            .define("BLOCKS", self.blocks)
    }

    /// Returns the exponents e of the factors ω^e of the tables of `ntt_pass.cuh`, ω of order
    /// Q·A·B: those of the A·B inner factors, then those of the Q·A·B outer ones.
    pub fn exponents(&self) -> impl Iterator<Item = usize> {
        let [q, a, b] = self.radices;
        let (join, m, length) = (self.join, a * b, q * a * b);
        let inner = (0..m).map(move |i| q * if join { i / b * (i % b) } else { i / a * (i % a) });
        let outer = (0..length).map(move |i| if join { i / m * (i % m) } else { i / q * (i % q) });
        inner.chain(outer).map(move |exponent| exponent % length)
    }
}

/// Returns the odd factor of a length: 1, 3 or 5, or another number for a length that no plan has.
pub(crate) fn odd_factor(length: usize) -> usize {
    length >> length.trailing_zeros()
}

/// Returns the numbers of points of the lines of all passes. Their product is `length`, and only the
/// first has an odd factor.
fn lengths_of_lines(costs: &Costs, length: usize, order: Order, shared_memory: u32) -> Vec<usize> {
    let odd = odd_factor(length);
    let (log2, of_odd) =
        ((length / odd).ilog2() as usize, odd.next_power_of_two().ilog2() as usize);
    let levels = log2 + of_odd;
    // A tile of a row, or of columns that are two words wide, with padding.
    let fits = |levels: usize| (8 << levels) + (8 << levels >> 3) <= shared_memory as usize;
    let most =
        (LEAST_LEVELS..=MOST_LEVELS).rev().find(|&levels| fits(levels)).unwrap_or(LEAST_LEVELS);
    if levels <= most {
        return vec![length];
    }
    let last = if order == Order::Natural { &costs.natural } else { &costs.reversed };
    let range = LEAST_LEVELS..=most;
    let cost = |of: &[u32; 8], levels: usize| of[levels - LEAST_LEVELS];
    let two = range
        .clone()
        .filter(|&a| range.contains(&(levels.saturating_sub(a))))
        .map(|a| (cost(&costs.columns, a) + cost(last, levels - a), vec![a, levels - a]));
    let three =
        range.clone().flat_map(|a| range.clone().map(move |b| (a, b))).filter_map(|(a, b)| {
            let c = levels.checked_sub(a + b).filter(|c| range.contains(c))?;
            Some((cost(&costs.columns, a) + cost(&costs.columns, b) + cost(last, c), vec![a, b, c]))
        });
    let fastest = two.chain(three).min_by_key(|(cost, _)| *cost);
    // With little shared memory a transform may need more passes than three; there are none longer.
    let mut of_passes = fastest.map_or_else(|| vec![levels], |(_, levels)| levels);
    of_passes[0] -= of_odd;
    let mut lengths: Vec<usize> = of_passes.into_iter().map(|levels| 1 << levels).collect();
    lengths[0] *= odd;
    lengths
}

/// Returns Q, A and B with Q·A·B = line; an odd factor is Q.
fn radices(line: usize) -> [usize; 3] {
    let odd = odd_factor(line);
    let levels = (line / odd).ilog2();
    let [q, a, b] = if levels <= 9 || odd > 1 {
        [0, levels.div_ceil(2), levels / 2]
    } else {
        [levels.div_ceil(3), (levels + 1) / 3, levels / 3]
    };
    [odd << q, 1 << a, 1 << b]
}
