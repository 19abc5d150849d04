//! The end of a process whose standard output nobody reads any more.

/// Ends the process as SIGPIPE would: silently, and seen by a shell as code 141, as other
/// filters are. Rust's runtime ignores the signal, so that a long test outlives the reader of its messages.
#[cfg(unix)]
pub(super) fn end() -> ! {
    // SAFETY: the signal's disposition is a process-wide setting that nothing in this program relies
    // on, and `raise` has no preconditions. The default action ends the process.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::raise(libc::SIGPIPE);
    }
    // The signal is blocked: what a shell would have seen.
    std::process::exit(128 + libc::SIGPIPE)
}

/// There is no such signal here: silently, as after a full standard output.
#[cfg(not(unix))]
pub(super) fn end() -> ! {
    std::process::exit(i32::from(super::Exit::BadInput.code()))
}
