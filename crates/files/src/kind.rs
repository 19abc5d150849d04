//! The kinds of errors that all libraries of the project distinguish.

use std::io;

use crate::FileError;

/// The kind of an error. A program uses it to choose an exit code or to decide whether to retry.
///
/// The error types of the project's libraries have a method `kind`, which returns a value of this
/// type. For an error that wraps another error, the result is usually the kind of the inner error.
/// The table describes what happens if the request is repeated.
///
/// | kind | the same request again |
/// |---|---|
/// | [`BadInput`](Self::BadInput) | fails again until the request, or an object that it names, has changed |
/// | [`Io`](Self::Io), [`Device`](Self::Device), [`Resources`](Self::Resources) | may succeed once the disk, the device or the host recovers |
/// | [`Unsound`](Self::Unsound) | may succeed; the hardware or the chosen arithmetic is in doubt |
/// | [`Finding`](Self::Finding) | finds the same, unless the hardware is at fault |
/// | [`Stopped`](Self::Stopped) | continues where it was stopped, if the work can be resumed |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is invalid, or names an object that cannot be used. Examples are a path that is
    /// missing, of the wrong kind, not permitted or in use by another process; a file in the wrong
    /// format; a device that does not exist.
    BadInput,
    /// Reading or writing failed (disk full, I/O error), or a file of the program is lost or
    /// damaged.
    Io,
    /// A device, its driver or its compiler failed, or the memory of the device is too small.
    Device,
    /// The host lacks memory, threads or another resource.
    Resources,
    /// No reliable result was obtained: checks failed, the round-off error is too large for every
    /// transform length, or data in the program's memory were corrupted.
    Unsound,
    /// The work is complete, but its outcome is one that must not occur: results contradict their
    /// operands.
    Finding,
    /// A stop was requested before the work was complete.
    Stopped,
    /// None of the other kinds: an error in code of the caller (an observer, a callback), or an
    /// internal error of the library. The error's `source`, if any, has the details.
    Other,
}

/// Returns the kind of an error of the operating system. It is [`ErrorKind::BadInput`] if the path
/// or the data is at fault, for example if the path is missing, exists already or has the wrong
/// kind, or if access is not permitted. Otherwise it is [`ErrorKind::Io`]. If the error contains a
/// [`FileError`], returns the kind of the [`FileError`].
impl From<&io::Error> for ErrorKind {
    fn from(error: &io::Error) -> Self {
        use io::ErrorKind as Kind;
        let inside = error.get_ref().and_then(|inner| inner.downcast_ref::<FileError>());
        match (inside, error.kind()) {
            (Some(inside), _) => inside.kind(),
            (
                None,
                Kind::NotFound
                | Kind::PermissionDenied
                | Kind::AlreadyExists
                | Kind::NotADirectory
                | Kind::IsADirectory
                | Kind::DirectoryNotEmpty
                | Kind::ReadOnlyFilesystem
                | Kind::InvalidFilename
                | Kind::InvalidInput
                | Kind::InvalidData,
            ) => Self::BadInput,
            // The standard library has no stable kind for a loop of links.
            #[cfg(unix)]
            _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                Self::BadInput
            }
            _ => Self::Io,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn an_error_of_the_system_is_a_matter_of_its_kind() {
        for (kind, expected) in [
            (io::ErrorKind::PermissionDenied, ErrorKind::BadInput),
            (io::ErrorKind::NotFound, ErrorKind::BadInput),
            (io::ErrorKind::StorageFull, ErrorKind::Io),
            (io::ErrorKind::Other, ErrorKind::Io),
        ] {
            assert_eq!(ErrorKind::from(&io::Error::from(kind)), expected);
            let path = "f".into();
            let wrapped = FileError::Io { action: "read", path, source: kind.into() };
            assert_eq!(wrapped.kind(), expected);
        }
    }

    #[test]
    fn an_error_of_a_file_inside_decides_for_itself() {
        let stopped = FileError::Stopped { path: "lock".into() };
        // It becomes the inner error of one that names another path.
        let outer = stopped.in_message_of(Path::new("results"));
        assert_eq!(ErrorKind::from(&outer), ErrorKind::Stopped);
        let locked = FileError::Locked { path: "lock".into() }.in_message_of(Path::new("results"));
        assert_eq!(ErrorKind::from(&locked), ErrorKind::BadInput);
    }
}
