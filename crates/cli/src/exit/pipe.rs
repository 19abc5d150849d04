//! The end of a process whose standard output nobody reads any more.

/// Ends the process as SIGPIPE would: silently, and seen by a shell as code 141, as other filters
/// are. Rust's runtime ignores the signal, so that a long test outlives the reader of its messages.
#[cfg(unix)]
pub(super) fn end() -> ! {
    use signal_hook::consts::SIGPIPE;

    let _ = signal_hook::low_level::emulate_default_handler(SIGPIPE);
    // Not reached: the system knows the signal.
    std::process::exit(128 + SIGPIPE)
}

/// There is no such signal here: silently, as after a full standard output.
#[cfg(not(unix))]
pub(super) fn end() -> ! {
    std::process::exit(i32::from(super::Exit::BadInput.code()))
}
