//! The number of blocks and of warps of a kernel that a multiprocessor runs at a time.

/// The number of 32-bit registers of a multiprocessor.
const REGISTERS: usize = 65_536;

/// The approximate number of threads that keep a multiprocessor busy, in kernels in which several
/// threads share the limbs of a number in their registers.
pub(super) const BUSY_THREADS: usize = 192;

/// Returns the number of blocks for which a multiprocessor has registers, at least 1. A block has
/// `threads` threads of `registers` registers each.
pub(super) fn blocks(registers: usize, threads: usize) -> usize {
    (REGISTERS / registers / threads).max(1)
}

/// Returns the number of warps that a multiprocessor runs at a time if it runs at most `blocks`
/// blocks of `threads` threads. A block uses `of_block` bytes of shared memory. `shared_memory` is
/// the largest number of bytes that one block may use. The multiprocessor is assumed to have no
/// more shared memory than this.
pub(super) fn warps(blocks: usize, threads: usize, of_block: u32, shared_memory: u32) -> usize {
    let room = (shared_memory / of_block.max(1)) as usize;
    blocks.min(room.max(1)) * threads / 32
}
