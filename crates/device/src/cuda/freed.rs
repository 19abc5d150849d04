//! Device memory that was freed and is kept for later buffers.
//!
//! The driver maps memory in `cuMemAlloc` and unmaps it in `cuMemFree`, and may unmap it only when no submitted
//! work uses it. All work of a device is submitted to one
//! stream. So a freed block can be used again at once: work that is submitted later begins after all work
//! that used the block before.

use std::collections::{BTreeMap, HashMap};

/// The blocks of memory of a device: those in use, and those that are kept.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// The size of each block in use, by its address.
    used: HashMap<u64, usize>,
    /// The addresses of kept blocks by size.
    kept: BTreeMap<usize, Vec<u64>>,
    kept_bytes: u64,
}

impl Blocks {
    /// The size for which a block is allocated: buffers of a few bytes share a size.
    pub(super) fn size(bytes: usize) -> usize {
        bytes.next_multiple_of(512)
    }

    /// Takes a kept block of at least `bytes` bytes, and at most an eighth more. `None` if there is none.
    pub(super) fn take(&mut self, bytes: usize) -> Option<u64> {
        let (&size, addresses) = self.kept.range_mut(bytes..=bytes + bytes / 8).next()?;
        let address = addresses.pop();
        if addresses.is_empty() {
            self.kept.remove(&size);
        }
        if let Some(address) = address {
            self.kept_bytes -= size as u64;
            self.used.insert(address, size);
        }
        address
    }

    /// Records a block that was allocated.
    pub(super) fn insert(&mut self, address: u64, size: usize) {
        self.used.insert(address, size);
    }

    /// Keeps a block in use for later buffers. Returns `false` if more than `most` bytes would be kept
    /// then; the block is forgotten, and the caller frees it.
    pub(super) fn keep(&mut self, address: u64, most: u64) -> bool {
        let Some(size) = self.used.remove(&address) else { return false };
        if self.kept_bytes + size as u64 > most {
            return false;
        }
        self.kept_bytes += size as u64;
        self.kept.entry(size).or_default().push(address);
        true
    }

    /// Returns the number of bytes of the kept blocks.
    pub(super) fn kept_bytes(&self) -> u64 {
        self.kept_bytes
    }

    /// Forgets all kept blocks, and returns their addresses.
    pub(super) fn drain(&mut self) -> Vec<u64> {
        self.kept_bytes = 0;
        std::mem::take(&mut self.kept).into_values().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_used_again_by_sizes_near_theirs() {
        let mut blocks = Blocks::default();
        for (address, size) in [(1, 1024), (2, 1024), (3, 8192)] {
            blocks.insert(address, size);
        }
        assert_eq!(blocks.take(512), None);
        assert!([1, 2, 3].iter().all(|&address| blocks.keep(address, 10_240)));
        assert_eq!(blocks.kept_bytes(), 10_240);
        // Twice as long, or too short.
        assert_eq!(blocks.take(512), None);
        assert_eq!(blocks.take(8193), None);
        assert_eq!(blocks.take(7424), Some(3));
        assert_eq!(blocks.take(7424), None);
        // The block is as long as before.
        assert!(blocks.keep(3, 10_240));
        assert_eq!(blocks.take(8192), Some(3));
        assert_eq!((blocks.take(1024), blocks.take(1024)), (Some(2), Some(1)));
        assert_eq!((blocks.take(1024), blocks.kept_bytes()), (None, 0));
    }

    #[test]
    fn no_more_is_kept_than_permitted() {
        let mut blocks = Blocks::default();
        for address in 1..=4 {
            blocks.insert(address, 512);
        }
        assert_eq!([1, 2, 3].map(|address| blocks.keep(address, 1024)), [true, true, false]);
        // Unknown, or freed already.
        assert!(!blocks.keep(3, u64::MAX) && !blocks.keep(9, u64::MAX));
        let mut all = blocks.drain();
        all.sort_unstable();
        assert_eq!(all, [1, 2]);
        assert_eq!((blocks.kept_bytes(), blocks.take(512)), (0, None));
        assert!(blocks.keep(4, 512));
    }

    #[test]
    fn sizes_are_multiples() {
        assert_eq!([1, 512, 513, 1 << 20].map(Blocks::size), [512, 512, 1024, 1 << 20]);
    }
}
