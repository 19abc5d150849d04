//! Libraries of other programs that benchmarks load if they are installed: GMP, FFTW and FLINT.

pub use libloading::Library;

/// Loads the first of the libraries with these file names or paths for which `of` returns a value.
/// Returns `None` if there is none.
///
/// # Safety
/// The initialisers of a library run when it is loaded. Those of all libraries that may be found
/// must not touch memory of this program.
pub unsafe fn first<T>(names: &[&str], of: impl Fn(Library) -> Option<T>) -> Option<T> {
    names.iter().find_map(|name| {
        // SAFETY: the caller guarantees that the initialisers do no harm.
        let library = unsafe { Library::new(*name) }.ok()?;
        of(library)
    })
}

/// Returns the address of the function or variable `name`, which ends in a zero byte. Returns `None`
/// if the library does not have it.
///
/// # Safety
/// T must be the type that the library's header declares for the name: a pointer to a function, or
/// a pointer to a variable.
pub unsafe fn symbol<T: Copy>(library: &Library, name: &[u8]) -> Option<T> {
    // SAFETY: the caller guarantees the type.
    unsafe { library.get::<T>(name) }.ok().map(|found| *found)
}
