//! Distribution of results to cores. Large results are written past the caches.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use warpint_arith::simd::{Cpu, copy_lines_past_caches, finish_copies, prefetch};

use crate::cpu::CHUNK_BYTES;

/// How far ahead of their use rows are loaded into the caches, in limbs of 32 bits. These are two
/// groups of eight numbers of 1,024 bits.
const AHEAD: usize = 512;

/// The number of limbs in a cache line. [`copy_lines_past_caches`] leaves fewer limbs than that.
const LINE: usize = 16;

/// The size in bytes from which on results are written past the caches. It is a variable because
/// tests and measurements change it: 0 stands for all results.
pub(super) static PAST_CACHES_FROM: AtomicUsize = AtomicUsize::new(DEFAULT_PAST_CACHES_FROM);

/// On an AMD EPYC (Zen 4), results of 32 MiB took up to a fifth longer past the caches than by
/// ordinary stores.
pub(super) const DEFAULT_PAST_CACHES_FROM: usize = 64 << 20;

/// The width of rows, in limbs of 32 bits, from which on results are written past the caches. On an
/// AMD EPYC (Zen 4), shorter rows took up to a quarter longer past the caches than by ordinary
/// stores.
const WIDE: usize = 64;

/// Returns whether results, with rows of `width` limbs, are written past the caches. They are not if
/// [`Cpu::loads_results`] is true, because to load their memory in advance is at least as fast.
fn exceeds_caches(out: &[u32], width: usize) -> bool {
    let from = PAST_CACHES_FROM.load(Ordering::Relaxed);
    let pays = width >= WIDE && !Cpu::get().loads_results;
    from == 0 || (pays && size_of_val(out) >= from)
}

/// The size in bytes of the results that are computed between copies past the caches. The stores of a
/// copy wait in a buffer of the processor, while the next results are computed.
const PIECE_BYTES: usize = 1 << 10;

/// Calls `compute` for parts of the results, on all cores. `out` has rows of `width` limbs. Each part
/// has whole groups of `group` rows, except perhaps the last one. The arguments of `compute` are
/// temporary memory made by `space`, the index of the first row, and memory for the results, which
/// `compute` must overwrite.
pub(super) fn for_groups<S>(
    out: &mut [u32],
    width: usize,
    group: usize,
    space: impl Fn() -> S + Sync + Send,
    compute: impl Fn(&mut S, usize, &mut [u32]) + Sync + Send,
) {
    let len_of = |bytes: usize| (bytes / 4 / (group * width)).max(1) * group * width;
    let (chunk_len, piece_len) = (len_of(CHUNK_BYTES), len_of(PIECE_BYTES));
    let past_caches = exceeds_caches(out, width);
    let space = || (space(), vec![0; if past_caches { piece_len + LINE } else { 0 }]);
    let chunks = out.par_chunks_mut(chunk_len).enumerate();
    chunks.for_each_init(space, |(space, results), (chunk, mut out)| {
        let mut first = chunk * (chunk_len / width);
        if !past_caches {
            return compute(space, first, out);
        }
        // The first `kept` limbs of `results` belong to the beginning of `out`.
        let mut kept = 0;
        while kept < out.len() {
            let len = piece_len.min(out.len() - kept);
            let results = &mut results[..kept + len];
            compute(space, first, &mut results[kept..]);
            first += len / width;
            let copied = copy_lines_past_caches(out, results);
            results.copy_within(copied.., 0);
            kept = kept + len - copied;
            out = &mut out[copied..];
        }
        out.copy_from_slice(&results[..kept]);
        finish_copies();
    });
}

/// Begins to load the rows that are used after `rows`.
#[inline(always)]
pub(super) fn prefetch_after(rows: &[u32]) {
    for line in 0..rows.len().div_ceil(LINE) {
        prefetch(rows.as_ptr().wrapping_add(AHEAD + LINE * line).cast());
    }
}

/// Begins to load the memory of the results after `out`, where this pays.
#[inline(always)]
pub(super) fn prefetch_results_after(out: &[u32]) {
    if Cpu::get().loads_results {
        prefetch_after(out);
    }
}
