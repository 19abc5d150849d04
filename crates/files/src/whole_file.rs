//! Result files that the user names. Their paths are checked before long computations, and they are
//! written at the end.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::{FileError, Folder, Unfinished};

/// The path of a result file that the user named. [`WholeFile::new`] has tested that a file can be
/// created there. An existing file is replaced. If the path is a symbolic link, the target of the
/// link is replaced.
#[derive(Debug)]
pub struct WholeFile {
    /// The path as the user gave it.
    path: PathBuf,
    /// The path of the target, after following symbolic links.
    place: PathBuf,
}

impl WholeFile {
    /// Tests whether a file can be created at the path. The test leaves no file behind.
    ///
    /// # Errors
    /// Returns [`FileError::Unwritable`] if no file can be created there.
    pub fn new(path: &Path) -> Result<Self, FileError> {
        let refused = |reason: &dyn std::fmt::Display| FileError::Unwritable {
            path: path.to_owned(),
            reason: reason.to_string(),
        };
        let mut place = path.to_owned();
        // The limit of Linux; circular links are an error below.
        for _ in 0..40 {
            // A name such as /dev/stdout leads to a file that must not be replaced.
            let real = fs::canonicalize(folder_of(&place)).unwrap_or_default();
            if real.starts_with("/dev") && !real.starts_with("/dev/shm")
                || real.starts_with("/proc")
            {
                return Err(refused(&"it is a place of the system, not of files"));
            }
            let Ok(target) = fs::read_link(&place) else { break };
            place = folder_of(&place).join(target);
        }
        match fs::metadata(path) {
            Ok(found) if !found.is_file() => return Err(refused(&"it is not a file")),
            _ if place.file_name().is_none() || ends_as_folder(&place) => {
                return Err(refused(&"it names no file"));
            }
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(refused(&e)),
            Err(_) => {}
            // Replacing a file requires no permission to change it, but should.
            Ok(_) => drop(OpenOptions::new().append(true).open(path).map_err(|e| refused(&e))?),
        }
        // Beginning a file would create the directory.
        fs::metadata(folder_of(&place)).map_err(|e| refused(&e))?;
        let this = Self { path: path.to_owned(), place };
        this.begun().map_err(|e| refused(&e.in_message_of(&this.place)))?;
        Ok(this)
    }

    /// Returns the path as the user gave it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the target, after following symbolic links.
    #[must_use]
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Returns whether this path and `other` lead to the same file.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let folder = |file: &Self| fs::canonicalize(folder_of(&file.place)).ok();
        self.place.file_name() == other.place.file_name() && folder(self) == folder(other)
    }

    /// Replaces the result file by a file that contains the text. The text is written to a
    /// temporary file, which is then renamed. So readers never find an incomplete file.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn write(&self, text: &str) -> Result<(), FileError> {
        let mut file = self.begin()?;
        file.write(text.as_bytes())?;
        file.finish()
    }

    /// Creates a temporary file in the directory of the result file, which the caller writes in
    /// pieces. [`Draft::finish`] moves it to the path of the result file.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn begin(&self) -> Result<Draft, FileError> {
        let file = self.begun().map_err(|e| unwritten(&self.path, &self.place, e))?;
        if let Ok(replaced) = fs::metadata(&self.place) {
            // Users who could read the old file can read the new one. Not every file system
            // supports permissions.
            drop(file.file().set_permissions(replaced.permissions()));
        }
        Ok(Draft { file: Box::new(file), path: self.path.clone(), place: self.place.clone() })
    }

    /// Creates a temporary file like [`Self::begin`], for contents that are secret. On Unix, only
    /// the owner can read or write the file (mode 0600), from its creation on, whatever the
    /// permissions of a replaced file are.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn begin_private(&self) -> Result<Draft, FileError> {
        let (folder, name) = Folder::of(&self.place)?;
        let file = folder.begin_private(name).map_err(|e| unwritten(&self.path, &self.place, e))?;
        Ok(Draft { file: Box::new(file), path: self.path.clone(), place: self.place.clone() })
    }

    fn begun(&self) -> Result<Unfinished, FileError> {
        let (folder, name) = Folder::of(&self.place)?;
        folder.begin(name)
    }
}

/// A temporary file with the new contents of a [`WholeFile`]. [`Self::finish`] moves it to the path
/// of the result file. If the value is dropped before, the temporary file is removed.
#[derive(Debug)]
pub struct Draft {
    file: Box<Unfinished>,
    path: PathBuf,
    place: PathBuf,
}

impl Draft {
    /// Writes the next bytes of the file, without buffering.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.file.write(bytes).map_err(|e| unwritten(&self.path, &self.place, e))
    }

    /// Flushes the bytes written so far to disk. This shortens the time that [`Self::finish`] takes.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn sync(&mut self) -> Result<(), FileError> {
        self.file.sync().map_err(|e| unwritten(&self.path, &self.place, e))
    }

    /// Moves the file to the path of the result file like [`Self::finish`], but fails if a file exists
    /// there.
    ///
    /// # Errors
    /// Errors of the operating system; the kind is [`io::ErrorKind::AlreadyExists`] if a file exists.
    pub fn finish_new(self) -> Result<(), FileError> {
        self.file.finish_new().map_err(|e| unwritten(&self.path, &self.place, e))
    }

    /// Flushes the file to disk and moves it to the path of the result file. Readers never find an
    /// incomplete file.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn finish(self) -> Result<(), FileError> {
        self.file.finish().map_err(|e| unwritten(&self.path, &self.place, e))
    }
}

/// Converts an error at `place` to an error whose message contains `path` instead.
fn unwritten(path: &Path, place: &Path, error: FileError) -> FileError {
    FileError::io("write", path, error.in_message_of(place))
}

/// Returns the directory part of a path. For a single name, returns `.`, the current directory.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        Some(_) => Path::new("."),
        None => path,
    }
}

/// Returns whether a path ends in a separator, so that it cannot be the path of a file.
fn ends_as_folder(path: &Path) -> bool {
    path.to_string_lossy().ends_with(std::path::is_separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<_> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_text_replaces_what_is_there_and_leaves_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("speed.svg");
        fs::write(&path, "old").unwrap();
        let file = WholeFile::new(&path).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        file.write("new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(names(dir.path()), ["speed.svg"]);
    }

    #[test]
    fn pieces_replace_what_is_there_at_the_end_or_never() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.txt");
        fs::write(&path, "old").unwrap();
        let file = WholeFile::new(&path).unwrap();
        for (finish, expected) in [(false, "old"), (true, "a new one")] {
            let mut unfinished = file.begin().unwrap();
            unfinished.write(b"a new").unwrap();
            unfinished.write(b" one").unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"old");
            if finish {
                unfinished.finish().unwrap();
            } else {
                drop(unfinished);
            }
            assert_eq!(fs::read_to_string(&path).unwrap(), expected);
            assert_eq!(names(dir.path()), ["r.txt"]);
        }
    }

    #[test]
    fn a_new_file_does_not_replace_another() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.txt");
        let file = WholeFile::new(&path).unwrap();
        let mut first = file.begin().unwrap();
        first.write(b"first").unwrap();
        first.sync().unwrap();
        let second = file.begin().unwrap();
        first.finish_new().unwrap();
        let error = second.finish_new().unwrap_err();
        assert_eq!(error.io_kind(), io::ErrorKind::AlreadyExists, "{error}");
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(names(dir.path()), ["r.txt"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_written_through() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir(at("disk")).unwrap();
        fs::write(at("disk/r.txt"), "old").unwrap();
        fs::set_permissions(at("disk/r.txt"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("disk/r.txt", at("first")).unwrap();
        symlink(at("first"), at("second")).unwrap();
        symlink("disk/new.txt", at("to-none")).unwrap();
        for (link, file) in [("second", "disk/r.txt"), ("to-none", "disk/new.txt")] {
            WholeFile::new(&at(link)).unwrap().write("new").unwrap();
            assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(at(file)).unwrap(), "new");
        }
        let mode = fs::metadata(at("disk/r.txt")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640, "as it was");
        symlink("circle", at("circle")).unwrap();
        symlink("/dev/stdout", at("out")).unwrap();
        symlink("nowhere/r.txt", at("lost")).unwrap();
        for (path, says) in [
            ("circle", "circle: Too many levels of symbolic links"),
            ("out", "out: it is a place of the system"),
            ("lost", "lost: No such file"),
        ] {
            let error = WholeFile::new(&at(path)).err().unwrap().to_string();
            assert!(error.contains(says), "{path}: {error}");
        }
        assert_eq!(names(&at("disk")), ["new.txt", "r.txt"]);
        assert_eq!(names(dir.path()).len(), 7);
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("secret");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let mut draft = WholeFile::new(&path).unwrap().begin_private().unwrap();
        let temporary = names(dir.path()).into_iter().find(|name| name != "secret").unwrap();
        assert_eq!(mode(&dir.path().join(temporary)), 0o600);
        draft.write(b"new").unwrap();
        draft.finish().unwrap();
        assert_eq!((mode(&path), fs::read_to_string(&path).unwrap()), (0o600, "new".into()));
    }

    // The paths and the messages are those of Unix.
    #[cfg(unix)]
    #[test]
    fn a_path_that_cannot_be_written_is_refused() {
        let said = WholeFile::new(Path::new("/dev/stdout")).err().unwrap().to_string();
        assert_eq!(said, "cannot write /dev/stdout: it is a place of the system, not of files");
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("folder")).unwrap();
        let kept = dir.path().join("kept");
        fs::write(&kept, "old").unwrap();
        let mut only_read = fs::metadata(&kept).unwrap().permissions();
        only_read.set_readonly(true);
        fs::set_permissions(&kept, only_read).unwrap();
        // Skipped for users that permissions do not restrict.
        if OpenOptions::new().append(true).open(&kept).is_err() {
            let error = WholeFile::new(&kept).err().unwrap().to_string();
            assert!(error.contains("kept: Permission denied"), "{error}");
        }
        for (path, says) in [
            ("folder", "folder: it is not a file"),
            ("kept/speed.svg", "kept/speed.svg: Not a directory"),
            ("nowhere/speed.svg", "nowhere/speed.svg: No such file"),
            ("..", "..: it is not a file"),
            ("none/..", "none/..: it names no file"),
        ] {
            let error = WholeFile::new(&dir.path().join(path)).err().unwrap().to_string();
            assert!(error.contains(says), "{path}: {error}");
        }
        assert_eq!(names(dir.path()), ["folder", "kept"]);
    }
}
