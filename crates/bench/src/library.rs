//! Libraries of other programs that benchmarks load if they are installed.

use libloading::Library;

/// Loads the first of the libraries with these file names for which `of` returns a value. Returns
/// `None` if there is none. The initialisers of a library run when it is loaded; those of GMP and
/// FFTW, for which this is used, do not touch memory of this program.
pub(crate) fn first<T>(names: &[&str], of: impl Fn(Library) -> Option<T>) -> Option<T> {
    names.iter().find_map(|name| {
        // SAFETY: the caller names libraries whose initialisers do no harm, as described above.
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
pub(crate) unsafe fn symbol<T: Copy>(library: &Library, name: &[u8]) -> Option<T> {
    // SAFETY: the caller guarantees the type.
    unsafe { library.get::<T>(name) }.ok().map(|found| *found)
}
