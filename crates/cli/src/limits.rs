//! Limits that the shell sets (`ulimit`).

/// Turns a write beyond the limit on file size (`ulimit -f`) into an error of that write, EFBIG,
/// like that of a full disk, instead of a SIGXFSZ that ends the process.
pub(crate) fn bear_the_file_size() {
    #[cfg(unix)]
    {
        // The handler does nothing. Unlike an ignored signal, it is not inherited by processes that
        // this one starts. If it cannot be installed, the limit ends the program as before.
        let heard = std::sync::Arc::<std::sync::atomic::AtomicBool>::default();
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, heard);
    }
}
