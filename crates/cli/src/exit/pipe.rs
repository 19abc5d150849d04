//! The end of a process whose standard output has no reader any more.

/// Ends the process as SIGPIPE would: silently, and with code 141 as seen by a shell, like other
/// filters. Rust's runtime ignores the signal, so that a long test survives the reader of its
/// messages.
#[cfg(unix)]
pub(super) fn end() -> ! {
    use signal_hook::consts::SIGPIPE;

    let _ = signal_hook::low_level::emulate_default_handler(SIGPIPE);
    // Not reached: the system knows the signal.
    std::process::exit(128 + SIGPIPE)
}

/// Ends the process silently on a system without that signal, with the code of a full standard
/// output.
#[cfg(not(unix))]
pub(super) fn end() -> ! {
    std::process::exit(i32::from(super::Exit::BadInput.code()))
}
