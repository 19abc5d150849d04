//! Limits that the shell sets (`ulimit`).

/// From now on a write beyond the limit of a file's size (`ulimit -f`) is an error of that write,
/// EFBIG, as a full disk is, and no longer ends the process by SIGXFSZ.
pub(crate) fn bear_the_file_size() {
    #[cfg(unix)]
    {
        // A handler that does nothing of use: unlike a signal that is ignored, it is not handed on
        // to the processes that this one starts. Where it cannot be put in place, the limit ends
        // the program as before.
        let heard = std::sync::Arc::<std::sync::atomic::AtomicBool>::default();
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, heard);
    }
}
