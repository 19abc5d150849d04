//! The simulator's device memory, allocated in host memory. Each allocation is exactly as long as
//! requested, is filled with a poison value, and lies between two guard zones that no kernel may
//! write.

use std::alloc::{self, Layout};
use std::collections::BTreeMap;
use std::ptr;

/// The value of every byte of a new allocation.
const POISON: u8 = 0xa5;
/// The value of every byte of guard zones.
const GUARD: u8 = 0x5a;
const GUARD_BYTES: usize = 256;
const ALIGNMENT: usize = 256;

/// An allocation with a guard zone before and after it.
#[derive(Debug)]
struct Allocation {
    start: *mut u8,
    bytes: usize,
    number: u64,
}

/// The allocations of a device. The key of an allocation is the address of its first byte, which
/// follows the first guard zone.
#[derive(Debug, Default)]
pub(super) struct Memory {
    allocations: BTreeMap<u64, Allocation>,
    made: u64,
    used: u64,
}

// SAFETY: the allocations are owned by this value alone.
unsafe impl Send for Memory {}

impl Memory {
    /// Returns the number of allocated bytes, without guard zones.
    pub(super) fn used(&self) -> u64 {
        self.used
    }

    /// Allocates `bytes` bytes, and returns their address; `None` if the host has too little
    /// memory.
    pub(super) fn alloc(&mut self, bytes: usize) -> Option<u64> {
        let layout = layout(bytes)?;
        // SAFETY: the layout's size is not 0.
        let start = unsafe { alloc::alloc(layout) };
        if start.is_null() {
            return None;
        }
        // SAFETY: all within the allocation.
        unsafe {
            ptr::write_bytes(start, GUARD, layout.size());
            ptr::write_bytes(start.add(GUARD_BYTES), POISON, bytes);
        }
        let address = start as u64 + GUARD_BYTES as u64;
        self.made += 1;
        self.used += bytes as u64;
        self.allocations.insert(address, Allocation { start, bytes, number: self.made });
        Some(address)
    }

    /// Frees the allocation that begins at this address.
    pub(super) fn free(&mut self, address: u64) {
        if let Some(allocation) = self.allocations.remove(&address) {
            self.used -= allocation.bytes as u64;
            allocation.release();
        }
    }

    /// Finds the allocation that contains all of the `bytes` bytes that begin at `address`. Returns
    /// the number of the allocation, counted from 1, and the offset of the bytes in it. Returns
    /// `None` if there is no such allocation.
    pub(super) fn place(&self, address: u64, bytes: usize) -> Option<(u64, u64)> {
        let (start, allocation) = self.allocations.range(..=address).next_back()?;
        let offset = address - start;
        let end = offset.checked_add(bytes as u64)?;
        (end <= allocation.bytes as u64).then_some((allocation.number, offset))
    }

    /// Returns the number of the allocation that begins at this address; `None` if there is none.
    pub(super) fn number(&self, address: u64) -> Option<u64> {
        Some(self.allocations.get(&address)?.number)
    }

    /// Returns a description of a write to a guard zone of some allocation. Each write is reported
    /// once. Returns `None` if there is no new write.
    pub(super) fn overrun(&mut self) -> Option<String> {
        self.allocations.values_mut().find_map(Allocation::overrun)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.allocations.values().for_each(Allocation::release);
    }
}

impl Allocation {
    /// Returns a description of a write to a guard zone of this allocation, and restores the guard
    /// zone, so that each write is reported once. Returns `None` if there was no write.
    fn overrun(&mut self) -> Option<String> {
        for (side, offset) in [("before", 0), ("past the end of", GUARD_BYTES + self.bytes)] {
            // SAFETY: guard zones are within the allocation, and only a faulty kernel, which has ended,
            // writes them.
            let guard =
                unsafe { std::slice::from_raw_parts_mut(self.start.add(offset), GUARD_BYTES) };
            if guard.iter().any(|&byte| byte != GUARD) {
                guard.fill(GUARD);
                return Some(format!(
                    "it wrote {side} a buffer of {} bytes (allocation {} of the device)",
                    self.bytes, self.number
                ));
            }
        }
        None
    }

    fn release(&self) {
        if let Some(layout) = layout(self.bytes) {
            // SAFETY: allocated with this layout, and freed once.
            unsafe { alloc::dealloc(self.start, layout) };
        }
    }
}

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(2 * GUARD_BYTES)?, ALIGNMENT).ok()
}
