//! Copies that bypass the caches.

/// The number of words of 32 bits in a cache line.
const LINE: usize = 16;

/// Copies `from` to the beginning of `to`, up to the last end of a cache line of `to` that `from`
/// reaches. Returns the number of words that were copied: none, if `from` does not reach the end of
/// a line. Whole lines of `to` are neither loaded nor kept in the caches. For results that
/// exceed the caches, this halves the traffic of writing: an ordinary store first reads the line
/// that it changes. On processors other than x86-64, this is an ordinary copy.
///
/// Other threads may read the copy after a call of [`finish_copies`].
///
/// # Panics
/// Panics if `from` is longer than `to`.
#[inline]
pub fn copy_lines_past_caches(to: &mut [u32], from: &[u32]) -> usize {
    let to = &mut to[..from.len()];
    let head = to.as_ptr().align_offset(4 * LINE);
    if head > to.len() {
        return 0;
    }
    let ((first, to), (first_from, from)) = (to.split_at_mut(head), from.split_at(head));
    first.copy_from_slice(first_from);
    let (lines, from) = (to.as_chunks_mut::<LINE>().0, from.as_chunks::<LINE>().0);
    let copied = head + LINE * lines.len();
    #[cfg(target_arch = "x86_64")]
    for (line, from) in lines.iter_mut().zip(from) {
        use std::arch::x86_64::{_mm_loadu_si128, _mm_stream_si128};

        for part in (0..LINE).step_by(4) {
            let (line, from) = (&mut line[part..][..4], &from[part..][..4]);
            // SAFETY: every x86-64 processor has these instructions. `from` has the four words that
            // are read, and `line` those that are written. The address of `line` is a multiple of
            // 16, because `head` words precede the first line.
            unsafe {
                let words = _mm_loadu_si128(from.as_ptr().cast());
                _mm_stream_si128(line.as_mut_ptr().cast(), words);
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    lines.copy_from_slice(from);
    copied
}

/// Completes all calls of [`copy_lines_past_caches`] by this thread. Stores after this call become
/// visible to other threads only after the copies.
#[inline]
pub fn finish_copies() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction. Streaming stores are not ordered with
    // other stores until it has been executed.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies to every offset within a line, with lengths around multiples of a line.
    #[test]
    fn whole_lines_are_copied_and_nothing_else() {
        let from: Vec<u32> = (1..200).collect();
        for offset in 0..20 {
            for len in (0..40).chain([63, 64, 65, 160]) {
                let mut to = vec![0; 200];
                let copied = copy_lines_past_caches(&mut to[offset..], &from[..len]);
                finish_copies();
                assert!(copied <= len && len - copied < LINE, "{copied} of {len} words");
                let end = to[offset..][copied..].as_ptr() as usize;
                assert!(copied == 0 || end.is_multiple_of(4 * LINE), "{copied} of {len} words");
                assert_eq!(to[offset..][..copied], from[..copied], "{len} words at {offset}");
                let outside = to[..offset].iter().chain(&to[offset + copied..]);
                assert!(outside.into_iter().all(|&x| x == 0), "{len} words at {offset}");
            }
        }
    }
}
