//! Measures the memory that a computation uses.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which also counts the allocated bytes of each thread.
struct Counting;

thread_local! {
    /// The number of bytes that this thread has allocated and not freed since the last call of
    /// [`most_used`], and the maximum of this number.
    static USED: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn note(bytes: isize) {
    // A thread that is ending no longer has a count.
    let _ = USED.try_with(|used| {
        let (now, most) = used.get();
        used.set((now + bytes, most.max(now + bytes)));
    });
}

// SAFETY: every call is passed unchanged to the system's allocator; the counts are plain numbers of
// the thread, which are created without allocating.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size() as isize);
        // SAFETY: the caller guarantees the same conditions.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        note(-(layout.size() as isize));
        // SAFETY: the caller guarantees the same conditions.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Calls `work`. Returns the result, and the largest number of bytes that `work` had allocated at
/// one time.
pub(crate) fn most_used<T>(work: impl FnOnce() -> T) -> (T, usize) {
    USED.with(|used| used.set((0, 0)));
    let done = work();
    let most = USED.with(|used| used.get().1);
    (done, usize::try_from(most).unwrap_or(0))
}

/// Returns the largest number of bytes of memory that a function may use to read a file of `bytes`
/// bytes: `times`·`bytes` plus 64 KiB.
pub(crate) fn allowed(times: usize, bytes: usize) -> usize {
    times * bytes + (64 << 10)
}

#[test]
fn fuzz_counts_what_is_in_use_at_a_time() {
    let (_, none) = most_used(|| 3);
    assert_eq!(none, 0);
    let (_, most) = most_used(|| {
        drop(vec![0u8; 1 << 20]);
        let mut twice = vec![1u8; 1 << 20];
        twice.reserve_exact(1 << 21);
        twice
    });
    assert!(((3 << 20)..(5 << 20)).contains(&most), "{most}");
}
