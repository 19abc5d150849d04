//! Resource limits that the shell sets for the process (`ulimit`).

/// Ensures that a write beyond the limit on file sizes (`ulimit -f`) fails with the error EFBIG,
/// which is handled like a full disk. Without this call, the signal SIGXFSZ would end the process.
pub(crate) fn bear_the_file_size() {
    #[cfg(unix)]
    {
        // The handler does nothing. Unlike an ignored signal, it is not inherited by processes that
        // this one starts. If it cannot be installed, the limit ends the program as before.
        let heard = std::sync::Arc::<std::sync::atomic::AtomicBool>::default();
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, heard);
    }
}
