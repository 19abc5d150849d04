//! Powers modulo numbers, in a representation of numbers by their residues modulo many primes.

mod bases;

use std::sync::Arc;

use warpint_device::{Buffer, DeviceError, Source, common};

pub(in super::super) use self::bases::Bases;
use super::super::memory::Numbers;
use super::super::{Gpu, Operand, Quotients, Shape, lock};
use super::window;

/// A version of the kernel `power_residues.cu`, compiled for operands of given numbers of limbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct PowerResidues {
    x_limbs: usize,
    e_limbs: usize,
    m_limbs: usize,
    /// The number of residues of a number in each of the two bases. A residue is one word.
    words: usize,
    /// The size of a window: the number of bits of the exponent that one product uses.
    pub(super) window: usize,
    /// A warp processes 8·`groups` words of 8·`tiles` numbers at a time.
    groups: usize,
    tiles: usize,
    word_warps: usize,
    number_warps: usize,
    /// The number of blocks per multiprocessor.
    blocks: usize,
}

/// Returns how many residues in each base represent a number for a modulus of `m_limbs` limbs:
/// `m_limbs` + 1, rounded up to a multiple of 8.
fn words(m_limbs: usize) -> usize {
    (m_limbs + 1).next_multiple_of(8)
}

/// The largest number of limbs of a modulus. For longer moduli, products and remainders are faster
/// than residues.
const MAX_LIMBS: usize = 512;

/// The number of warps that a multiprocessor runs at a time. A thread uses 168 of the 65,536
/// registers of a multiprocessor.
const WARPS: usize = 12;

/// The values of `groups` and `tiles`, in this order. `tiles` is halved if the shared memory is too
/// small. The two values determine how many sums a warp computes at a time. The sums take 96
/// registers of each thread.
const SUMS: (usize, usize) = (3, 4);

impl PowerResidues {
    /// Returns the version for powers x^e mod m. `limbs` has the numbers of limbs of x, e and m, in
    /// this order. `shared_memory` is the number of bytes of shared memory per block. Returns
    /// `None` if x has more limbs than m, if m has more than 512 limbs, or if the residues do not
    /// fit in shared memory.
    pub(in super::super) fn new(limbs: [usize; 3], shared_memory: u32) -> Option<Self> {
        let (groups, tiles) = SUMS;
        let chunks = words(limbs[2]).div_ceil(8 * groups);
        // Blocks whose warps wait for each other; more warps where two blocks do not fit in shared
        // memory, and fewer numbers where not even one block does.
        let shapes = [(3, 2, tiles), (6, 2, tiles), (11, 1, tiles), (11, 1, tiles / 2)];
        let mut shapes = shapes.into_iter().filter_map(|(word_warps, number_warps, tiles)| {
            let word_warps = chunks.div_ceil(chunks.div_ceil(word_warps));
            let blocks = WARPS / (word_warps * number_warps);
            let shape = Self::with(limbs, [groups, tiles, word_warps, number_warps, blocks])?;
            // A block uses one KiB more.
            let room = (shared_memory + 1024) / (shape.shared_bytes() + 1024);
            (room as usize >= blocks.min(2))
                .then_some(Self { blocks: blocks.min(room as usize), ..shape })
        });
        shapes.next()
    }

    /// Returns a version with fewer numbers per block if `count` is small. Halves the number of
    /// numbers per block while there are at most half as many blocks as multiprocessors.
    pub(in super::super) fn spread(self, count: usize, multiprocessors: u32) -> Self {
        let mut shape = self;
        while count.div_ceil(shape.numbers() as usize) * 2 <= multiprocessors as usize {
            match (shape.number_warps, shape.tiles) {
                (2.., _) => shape.number_warps /= 2,
                (_, 2..) => shape.tiles /= 2,
                _ => break,
            }
        }
        shape
    }

    /// Like [`Self::new`], but with given values of `groups`, `tiles`, `word_warps`, `number_warps`
    /// and `blocks`.
    pub(super) fn with(
        [x_limbs, e_limbs, m_limbs]: [usize; 3],
        [groups, tiles, word_warps, number_warps, blocks]: [usize; 5],
    ) -> Option<Self> {
        let words = words(m_limbs);
        let window = window(32 * e_limbs, 2..=6);
        (x_limbs <= m_limbs && (1..=MAX_LIMBS).contains(&m_limbs)).then_some(Self {
            x_limbs,
            e_limbs,
            m_limbs,
            words,
            window,
            groups,
            tiles,
            word_warps,
            number_warps,
            blocks,
        })
    }

    /// Returns the number of rows of words of a matrix, including padding.
    fn padded(&self) -> usize {
        self.words.next_multiple_of(8 * self.groups)
    }

    /// Returns the number of words that a number takes in the device's memory: PLACES of
    /// `power_residues.cu`.
    fn places(&self) -> usize {
        2 * self.words * ((1 << self.window) + 3 + 2)
    }
}

impl Shape for PowerResidues {
    fn source(&self) -> Result<Source, DeviceError> {
        let text = include_str!("../../../../kernels/power/power_residues.cu");
        Ok(Source::new("power_residues.cu", text, &["power_residues"])
            .headers(common::HEADERS)
            .header("exponent.cuh", include_str!("../../../../kernels/power/exponent.cuh"))
            .header("quad.cuh", include_str!("../../../../kernels/common/quad.cuh"))
            .define("X_LIMBS", self.x_limbs)
            .define("E_LIMBS", self.e_limbs)
            .define("M_LIMBS", self.m_limbs)
            .define("WORDS", self.words)
            .define("WINDOW", self.window)
            .define("GROUPS", self.groups)
            .define("TILES", self.tiles)
            .define("WORD_WARPS", self.word_warps)
            .define("NUMBER_WARPS", self.number_warps)
            .define("BLOCKS", self.blocks))
    }

    fn shared_bytes(&self) -> u32 {
        let stride = if self.words % 16 == 8 { self.words } else { self.words + 8 };
        let numbers = self.numbers() as usize;
        ((2 * numbers * stride + numbers + 1) * size_of::<u32>()) as u32
    }

    fn threads(&self) -> u32 {
        (32 * self.word_warps * self.number_warps) as u32
    }

    fn numbers(&self) -> u32 {
        (8 * self.tiles * self.number_warps) as u32
    }
}

impl Gpu {
    /// Returns the constants of two bases of `words` primes each, with matrices of `padded` rows of
    /// words. Computes them on first use.
    fn bases(&self, words: usize, padded: usize) -> Result<Arc<Bases>, DeviceError> {
        let mut all = lock(&self.bases);
        if let Some(bases) = all.get(&(words, padded)) {
            return Ok(bases.clone());
        }
        let bases = Arc::new(Bases::new(&self.device, words, padded)?);
        all.insert((words, padded), bases.clone());
        Ok(bases)
    }

    /// Like [`Gpu::power`], but by residues. Returns true if the results were computed. Returns
    /// false, without results, if a prime of the first base divides a nonzero modulus.
    ///
    /// # Errors
    /// The device fails, or the kernel cannot be compiled.
    pub(super) fn power_by_residues(
        &self,
        shape: &PowerResidues,
        [x, e, m]: [Operand<'_>; 3],
        count: usize,
        out: &mut Buffer<u32>,
        is_zero: &mut Buffer<u8>,
    ) -> Result<bool, DeviceError> {
        let bases = self.bases(shape.words, shape.padded())?;
        let of_m = if m.broadcast { count.min(1) } else { count };
        let mut raised = self.device.alloc(of_m * m.limbs)?;
        let square = Operand::new(&bases.square, bases.square.len(), true);
        let to = Quotients { remainder: Some(&mut raised), ..Quotients::default() };
        self.divide(square, m, of_m, to)?;
        let raised = Operand::new(&raised, m.limbs, m.broadcast);
        let numbers = shape.numbers() as usize;
        let blocks = self.device.info().multiprocessors as usize * shape.blocks;
        let blocks = blocks.min(count.div_ceil(numbers));
        // The powers of all blocks take at most a quarter of the free memory.
        let kept = lock(&self.scratch).as_ref().map_or(0, |kept| kept.len() * size_of::<f64>());
        let free = self.device.memory()?.0 + kept as u64;
        let room = free / 16 / (blocks * numbers) as u64;
        let mut shape = *shape;
        while shape.window > 1 && shape.places() as u64 > room {
            shape.window -= 1;
        }
        let mut singular = self.device.alloc::<u32>(1)?;
        singular.clear()?;
        let limbs = m.limbs + 1;
        let mut powers = self.device.alloc(count * limbs)?;
        [x, e, m, raised].iter().for_each(|&a| Numbers::from(a).assert_holds(count));
        assert_eq!([x.limbs, e.limbs, m.limbs], [shape.x_limbs, shape.e_limbs, shape.m_limbs]);
        // Before the memory is locked, so that other threads can compile meanwhile.
        self.kernel(&shape)?;
        self.with_scratch((blocks * numbers * shape.places()).div_ceil(2), |memory| {
            let args = [
                x.data.into(),
                e.data.into(),
                m.data.into(),
                raised.data.into(),
                (&mut powers).into(),
                (&mut singular).into(),
                memory.into(),
                (&bases.matrices).into(),
                (&bases.words).into(),
                x.stride().into(),
                e.stride().into(),
                m.stride().into(),
                raised.stride().into(),
            ];
            // SAFETY: `count` operands have the shape's limbs, the bases are the shape's, each
            // power has room for one more limb, and each block has room for the powers that it
            // stores.
            unsafe { self.launch_blocks(&shape, blocks, count, &args) }
        })?;
        if singular.download()? != [0] {
            return Ok(false);
        }
        let powers = Operand::new(&powers, limbs, false);
        let to = Quotients { remainder: Some(out), flags: Some(is_zero), ..Quotients::default() };
        self.divide(powers, m, count, to)?;
        Ok(true)
    }
}
