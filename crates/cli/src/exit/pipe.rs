//! The end of the process after the reader of its standard output has closed the pipe.

/// Ends the process as the signal SIGPIPE would: silently, and with the code 141 in a shell. Other
/// filters end in this way too. A write to a closed pipe does not end the process by itself,
/// because Rust's runtime ignores SIGPIPE. A long test therefore continues if the reader of its
/// messages ends.
#[cfg(unix)]
pub(super) fn end() -> ! {
    use signal_hook::consts::SIGPIPE;

    let _ = signal_hook::low_level::emulate_default_handler(SIGPIPE);
    // Not reached: the system knows the signal.
    std::process::exit(128 + SIGPIPE)
}

/// Ends the process silently on a system without SIGPIPE. The exit code is the same as for any
/// other failed write to standard output.
#[cfg(not(unix))]
pub(super) fn end() -> ! {
    std::process::exit(i32::from(super::Exit::BadInput.code()))
}
