//! Kernels in which a group of threads, called lanes, shares a number in its registers: the number
//! of limbs per lane, and the registers and shared memory of a kernel.

use std::fmt::Debug;

use warpint_device::{DeviceError, Source, common};

use super::{Shape, occupancy};

/// The distribution of a number over the lanes of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Split {
    /// The number of lanes per number.
    pub(super) lanes: usize,
    /// The number of limbs per lane.
    pub(super) limbs: usize,
    /// The number of threads per block.
    pub(super) threads: usize,
}

/// The possible numbers of lanes per number if all lanes of a number are in one warp.
pub(super) const OF_WARPS: [usize; 6] = [1, 2, 4, 8, 16, 32];

/// The possible numbers of lanes per number: up to 32 within a warp, and more if a number has a
/// whole block.
pub(super) const OF_BLOCKS: [usize; 9] = [1, 2, 4, 8, 16, 32, 128, 256, 512];

/// An upper bound on the bytes of shared memory through which the warps of a block exchange words
/// if the block has one number.
pub(super) const EXCHANGED: u32 = 512;

impl Split {
    /// Returns the splits with `lanes` lanes per number and `limbs` limbs per lane, the larger
    /// blocks first. With more than 32 lanes, a block has one number.
    pub(super) fn of_lanes(lanes: usize, limbs: usize) -> impl Iterator<Item = Self> {
        let threads = [128, 64, 32].map(|threads| if lanes > 32 { lanes } else { threads });
        threads.into_iter().map(move |threads| Self { lanes, limbs, threads })
    }

    /// Returns a split of numbers of `limbs` limbs over more lanes if `count` numbers are too few
    /// to keep a device of `multiprocessors` multiprocessors busy. Doubles the number of lanes per
    /// number until the device is busy, a number has 32 lanes, or a lane has at most 8 limbs.
    pub(super) fn spread(self, limbs: usize, count: usize, multiprocessors: u32) -> Self {
        let busy = occupancy::BUSY_THREADS * multiprocessors as usize;
        let mut split = self;
        while split.lanes < 32 && split.limbs > 8 && count.saturating_mul(split.lanes) < busy {
            split.lanes *= 2;
            split.limbs = even_share(limbs, split.lanes);
        }
        split
    }

    /// Returns the number of numbers per block.
    fn numbers(self) -> usize {
        self.threads / self.lanes
    }
}

/// Returns the number of limbs per lane if `lanes` lanes share a number of `limbs` limbs. The
/// result is even, and at least four because carries between lanes need more than two limbs.
pub(super) fn even_share(limbs: usize, lanes: usize) -> usize {
    limbs.div_ceil(lanes).next_multiple_of(2).max(4)
}

/// A kernel in which a group of lanes shares a number in its registers.
pub(super) trait InLanes: Copy + Debug {
    /// Pairs (limbs, registers) in ascending order, which give the approximate number of registers
    /// of a thread. The first pair with at least as many limbs as the thread applies. A thread with
    /// more limbs than the last pair uses 255 registers.
    const REGISTERS: [(usize, usize); 5];

    /// Returns how the kernel splits numbers among lanes.
    fn split(&self) -> Split;

    /// Returns the kernel's file with its headers and constants, except the header `lanes.cuh` and
    /// the constants of the split.
    fn file(&self) -> Source;

    /// Returns the number of words of shared memory per number.
    fn words(&self) -> usize;

    /// Returns the number of blocks for which a multiprocessor has registers, at least 1.
    fn blocks(&self) -> usize {
        let Split { limbs, threads, .. } = self.split();
        let pair = Self::REGISTERS.iter().find(|&&(most, _)| limbs <= most);
        occupancy::blocks(pair.map_or(255, |&(_, registers)| registers), threads)
    }

    /// Returns the number of warps that a multiprocessor runs at a time. `shared_memory` is the
    /// largest number of bytes of shared memory that one block may use.
    fn warps(&self, shared_memory: u32) -> usize {
        occupancy::warps(self.blocks(), self.split().threads, self.shared_bytes(), shared_memory)
    }
}

impl<S: InLanes> Shape for S {
    fn source(&self) -> Result<Source, DeviceError> {
        let Split { lanes, limbs, threads } = self.split();
        Ok(self
            .file()
            .headers(common::HEADERS)
            .header("lanes.cuh", include_str!("../../kernels/common/lanes.cuh"))
            .define("LANES", lanes)
            .define("LIMBS", limbs)
            .define("THREADS", threads)
            .define("BLOCKS", self.blocks()))
    }

    fn shared_bytes(&self) -> u32 {
        (self.split().numbers() * self.words() * size_of::<u32>()) as u32
    }

    fn threads(&self) -> u32 {
        self.split().threads as u32
    }

    fn numbers(&self) -> u32 {
        self.split().numbers() as u32
    }
}

/// Tries the numbers of lanes in `lanes` in order and, for each of them, the shapes that `of_lanes`
/// returns. Returns the first shape that has at most `most(lanes)` limbs per lane and uses at most
/// `shared_memory` bytes of shared memory per block, or `None` if no shape does.
pub(super) fn fitting<S: InLanes, I: Iterator<Item = S>>(
    lanes: &[usize],
    of_lanes: impl Fn(usize) -> I,
    most: impl Fn(usize) -> usize,
    shared_memory: u32,
) -> Option<S> {
    lanes.iter().find_map(|&lanes| {
        let fits =
            |shape: &S| shape.split().limbs <= most(lanes) && shape.shared_bytes() <= shared_memory;
        of_lanes(lanes).find(fits)
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Gcd, Inverse};
    use super::*;

    fn check<S: InLanes>(shape: impl Fn(usize) -> Option<S>, lanes: &[(usize, usize, usize)]) {
        for &(limbs, lanes, share) in lanes {
            let found = shape(limbs).map(|shape| (shape.split().lanes, shape.split().limbs));
            assert_eq!(found, Some((lanes, share)), "{limbs} limbs");
        }
        assert!(shape(65_536).is_none());
    }

    #[test]
    fn long_numbers_have_blocks() {
        const MOST: u32 = 227 << 10;
        let gcd = |limbs| Gcd::new(limbs, limbs, MOST);
        let blocks = [(4096, 128, 35), (8192, 256, 35), (16_384, 512, 35), (32_768, 512, 69)];
        check(gcd, &[&[(2048, 32, 69)], &blocks[..]].concat());
        let inverse = |limbs| Inverse::new(limbs, limbs, MOST);
        let blocks = [(2048, 128, 18), (4096, 256, 18), (8192, 512, 18), (32_768, 512, 69)];
        check(inverse, &[&[(16, 1, 18), (1024, 32, 35)], &blocks[..]].concat());
        // 2^18 bits fit into the shared memory that every device has.
        assert!(Gcd::new(8192, 8192, 48 << 10).is_some());
        assert!(Inverse::new(8192, 8192, 48 << 10).is_some());
        assert!(Inverse::new(2, 1, 48 << 10).is_none());
    }
}
