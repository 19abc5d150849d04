//! Copies that bypass the caches.

/// Copies `from` to `to` without loading the cache lines of `to`, and without keeping them in the
/// caches. For results that exceed the caches, this halves the traffic of writing: an ordinary
/// store first reads the line that it changes. On processors other than x86-64, this is an ordinary
/// copy.
///
/// The copy is complete when the function returns, for other threads too.
///
/// # Panics
/// Panics unless both slices have the same length.
#[inline]
pub fn copy_past_caches(to: &mut [u32], from: &[u32]) {
    assert_eq!(to.len(), from.len(), "a copy has another length");
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_mm_loadu_si128, _mm_sfence, _mm_stream_si128};
        const LINE: usize = 16;

        let head = to.as_ptr().align_offset(4 * LINE).min(to.len());
        let ((first, to), (first_from, from)) = (to.split_at_mut(head), from.split_at(head));
        first.copy_from_slice(first_from);
        let ((lines, rest), (from, last_from)) =
            (to.as_chunks_mut::<LINE>(), from.as_chunks::<LINE>());
        for (line, from) in lines.iter_mut().zip(from) {
            for part in (0..LINE).step_by(4) {
                let (line, from) = (&mut line[part..][..4], &from[part..][..4]);
                // SAFETY: every x86-64 processor has these instructions. `from` has the four words
                // that are read, and `line` those that are written. The address of `line` is a
                // multiple of 16, because `head` words precede the first line.
                unsafe {
                    let words = _mm_loadu_si128(from.as_ptr().cast());
                    _mm_stream_si128(line.as_mut_ptr().cast(), words);
                }
            }
        }
        rest.copy_from_slice(last_from);
        // SAFETY: every x86-64 processor has the instruction. Streaming stores are not ordered with
        // other stores until it has been executed.
        unsafe { _mm_sfence() };
    }
    #[cfg(not(target_arch = "x86_64"))]
    to.copy_from_slice(from);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies to every offset within a line, with lengths around multiples of a line.
    #[test]
    fn copies_are_whole_and_touch_nothing_else() {
        let from: Vec<u32> = (1..200).collect();
        for offset in 0..20 {
            for len in (0..40).chain([63, 64, 65, 160]) {
                let mut to = vec![0; 200];
                copy_past_caches(&mut to[offset..][..len], &from[..len]);
                assert_eq!(to[offset..][..len], from[..len], "{len} words at {offset}");
                let outside = to[..offset].iter().chain(&to[offset + len..]);
                assert!(outside.into_iter().all(|&x| x == 0), "{len} words at {offset}");
            }
        }
    }
}
