//! How many blocks and warps of a kernel a multiprocessor has at a time.

/// 32-bit registers of a multiprocessor.
const REGISTERS: usize = 65_536;

/// Threads of a multiprocessor that keep it busy with numbers in the registers of lanes, about.
pub(super) const BUSY_THREADS: usize = 192;

/// Blocks that a multiprocessor has registers for.
pub(super) fn blocks(registers: usize, threads: usize) -> usize {
    (REGISTERS / registers / threads).max(1)
}

/// Warps of a multiprocessor with at most so many blocks, whose shared memory a block might have all of.
pub(super) fn warps(blocks: usize, threads: usize, of_block: u32, shared_memory: u32) -> usize {
    let room = (shared_memory / of_block.max(1)) as usize;
    blocks.min(room.max(1)) * threads / 32
}
