//! A directory that the program owns.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::sys::{Access, Handle, Trouble};
use crate::{Disk, FileError, RealDisk, Step, Unfinished, name};

/// A directory that the program owns, given by its path. The directory need not exist.
///
/// The value holds no handle. Every operation opens the directory anew, which takes some
/// microseconds. So a directory that was removed and created again is found. [`Folder::make`],
/// [`Folder::begin`], [`Folder::replace`], [`Folder::append`], [`Folder::append_unsynced`],
/// [`Folder::try_lock`] and [`Folder::lock`] create a missing directory.
///
/// A file name given to an operation must be a single component of a path. For any other name,
/// operations that return a `Result` return an error.
#[derive(Debug, Clone)]
pub struct Folder {
    base: PathBuf,
    inner: Vec<OsString>,
    path: PathBuf,
    disk: Arc<dyn Disk>,
}

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name of the entry.
    pub name: OsString,
    /// Whether the entry is a regular file. False for a symbolic link to a file.
    pub is_file: bool,
    /// Whether the entry is a directory. False for a symbolic link to a directory.
    pub is_folder: bool,
}

impl Folder {
    /// Returns the directory at a path given by the user. Operations on the directory follow
    /// symbolic links in this path. Does not access the disk.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        let base = path.into();
        Self { path: base.clone(), base, inner: vec![], disk: default_disk() }
    }

    /// Returns the directory that contains the file at `path`, and the name of this file.
    /// Operations on the directory follow symbolic links in its path. Does not access the disk.
    ///
    /// # Errors
    /// Returns an error if the path does not end in a name.
    pub fn of(path: &Path) -> Result<(Self, &OsStr), FileError> {
        match (path.parent(), path.file_name()) {
            (Some(folder), Some(name)) => Ok((Self::at(folder), name)),
            _ => Err(no_name(path)),
        }
    }

    /// Returns the directory at a path whose last component must not be a symbolic link. Operations
    /// on the directory fail if it is a link. Links in the other components are followed. Does not
    /// access the disk.
    #[must_use]
    pub fn not_linked(path: &Path) -> Self {
        match Self::of(path) {
            Ok((outer, name)) => outer.inside(name),
            // The root of the file system, or a path that ends in `..`.
            Err(_) => Self::at(path),
        }
    }

    /// Returns the directory `name` inside this directory. Operations on the result fail if `name`
    /// is a symbolic link. Does not access the disk.
    #[must_use]
    pub fn inside(&self, name: impl AsRef<OsStr>) -> Self {
        let mut inner = self.clone();
        inner.path.push(name.as_ref());
        inner.inner.push(name.as_ref().to_owned());
        inner
    }

    /// Returns this directory with another disk, which executes the steps of writing its files.
    /// Tests use this to record steps or to make steps fail.
    #[must_use]
    pub fn with_disk(mut self, disk: Arc<dyn Disk>) -> Self {
        self.disk = disk;
        self
    }

    /// Returns the path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of the file `name` in the directory, for messages.
    #[must_use]
    pub fn file(&self, name: impl AsRef<OsStr>) -> PathBuf {
        self.path.join(name.as_ref())
    }

    /// Creates the directory and its missing parents. Returns true if the directory was missing.
    /// When the call returns, the names of the new directories are on disk.
    ///
    /// # Errors
    /// Returns [`FileError::NotAFolder`] if another object, such as a file, is in place of the
    /// directory that the user gave or of a directory named by [`Folder::inside`]. A symbolic link
    /// in place of a directory named by [`Folder::inside`] causes the same error. Also returns
    /// errors of the operating system.
    pub fn make(&self) -> Result<bool, FileError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| FileError::Io { action: "make the directory", path, source }
        };
        let missing: Vec<&Path> = self
            .base
            .ancestors()
            .filter(|path| !path.as_os_str().is_empty())
            .take_while(|path| fs::metadata(path).is_err())
            .collect();
        let mut made = !missing.is_empty();
        if made {
            fs::create_dir_all(&self.base).map_err(failed(&self.base))?;
            for path in missing.iter().rev() {
                let parent = Self { disk: Arc::clone(&self.disk), ..Self::at(parent(path)) };
                parent.sync(&parent.handle()?)?;
            }
        }
        for depth in 0..self.inner.len() {
            let outer = self.outer(depth);
            let handle = outer.handle()?;
            let name = &self.inner[depth];
            outer.check(name)?;
            made = handle.make_folder(name).map_err(failed(&outer.file(name)))?;
            if made {
                outer.sync(&handle)?;
            }
        }
        // The existing object may not be a directory.
        self.handle().map(|_| made)
    }

    /// Returns the outer directory at the given depth: the directory that the user gave, extended
    /// by the first `depth` inner names.
    fn outer(&self, depth: usize) -> Self {
        let mut outer = Self { disk: Arc::clone(&self.disk), ..Self::at(self.base.clone()) };
        for name in &self.inner[..depth] {
            outer = outer.inside(name);
        }
        outer
    }

    /// Returns the entries of the directory, in no particular order. If the directory does not
    /// exist, the result is empty.
    ///
    /// # Errors
    /// [`FileError::NotAFolder`]; errors of the operating system.
    pub fn list(&self) -> Result<Vec<Entry>, FileError> {
        let handle = match self.handle() {
            Err(error) if error.is_missing() => return Ok(vec![]),
            handle => handle?,
        };
        handle.list().map_err(|e| FileError::io("list", &self.path, e))
    }

    /// Reads a whole regular file of at most `most` bytes.
    ///
    /// # Errors
    /// [`FileError::TooLarge`] for more than `most` bytes; [`FileError::NotAFile`];
    /// [`FileError::NotAFolder`]; errors of the operating system, also for a missing file
    /// ([`FileError::is_missing`]). The size is checked before memory is allocated.
    pub fn read(&self, name: impl AsRef<OsStr>, most: u64) -> Result<Vec<u8>, FileError> {
        let name = name.as_ref();
        read_bounded(&self.open(name)?, &self.file(name), most)
    }

    /// Opens an existing regular file for reading.
    ///
    /// # Errors
    /// [`FileError::NotAFile`]; [`FileError::NotAFolder`]; errors of the operating system.
    pub fn open(&self, name: impl AsRef<OsStr>) -> Result<File, FileError> {
        self.open_as(name.as_ref(), Access::Read, "read")
    }

    /// Opens an existing regular file for reading and for changes in place. If the process is
    /// killed or the power fails, a change may be incomplete; the caller must allow for this.
    ///
    /// # Errors
    /// [`FileError::NotAFile`]; [`FileError::NotAFolder`]; errors of the operating system.
    pub fn open_to_change(&self, name: impl AsRef<OsStr>) -> Result<File, FileError> {
        self.open_as(name.as_ref(), Access::Update, "write")
    }

    /// Creates an empty file and opens it for reading and writing. No object of this name may
    /// exist.
    ///
    /// # Errors
    /// [`FileError::NotAFolder`]; errors of the operating system. The kind is
    /// [`io::ErrorKind::AlreadyExists`] if the name is taken.
    pub fn create_new(&self, name: impl AsRef<OsStr>) -> Result<File, FileError> {
        self.open_as(name.as_ref(), Access::New, "make")
    }

    pub(crate) fn open_as(
        &self,
        name: &OsStr,
        access: Access,
        action: &'static str,
    ) -> Result<File, FileError> {
        self.check(name)?;
        let opened = self.handle()?.file(name, access);
        opened.map_err(|trouble| self.trouble(action, name, trouble))
    }

    /// Returns the size of a regular file in bytes, without opening the file. Returns `None` if the
    /// name is free.
    ///
    /// # Errors
    /// [`FileError::NotAFile`]; [`FileError::NotAFolder`]; errors of the operating system.
    pub fn size(&self, name: impl AsRef<OsStr>) -> Result<Option<u64>, FileError> {
        let name = name.as_ref();
        self.check(name)?;
        match self.handle() {
            Err(error) if error.is_missing() => Ok(None),
            handle => handle?.size(name).map_err(|e| self.trouble("examine", name, e)),
        }
    }

    /// Returns whether the name is taken by any object, for example a file, a directory or a
    /// dangling link. Returns false if the directory cannot be opened.
    #[must_use]
    pub fn has(&self, name: impl AsRef<OsStr>) -> bool {
        self.handle().is_ok_and(|handle| handle.has(name.as_ref()))
    }

    /// Returns whether `name` is still a name of the open file `file`. On systems other than Unix,
    /// this cannot be determined; there, the result is whether the name is taken.
    #[must_use]
    pub fn is_at(&self, file: &File, name: impl AsRef<OsStr>) -> bool {
        self.handle().is_ok_and(|handle| handle.is_at(file, name.as_ref()))
    }

    /// Renames a file, a symbolic link or a directory. Links are not followed. A file or link with
    /// the new name is replaced. The new name is on disk only after [`Folder::sync_names`].
    ///
    /// # Errors
    /// [`FileError::NotAFolder`]; errors of the operating system.
    pub fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> Result<(), FileError> {
        let (from, to) = (from.as_ref(), to.as_ref());
        self.check(from)?;
        self.check(to)?;
        let renamed = self.handle()?.rename(from, to);
        renamed.map_err(|e| FileError::io("rename", &self.file(from), e))
    }

    /// Creates a hard link: gives the file `from` the second name `to`, which must be free. If
    /// several processes try this at the same time, exactly one succeeds.
    ///
    /// # Errors
    /// [`FileError::NotAFolder`]; errors of the operating system. The kind is
    /// [`io::ErrorKind::AlreadyExists`] if the name is taken.
    pub fn link(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> Result<(), FileError> {
        let (from, to) = (from.as_ref(), to.as_ref());
        self.check(from)?;
        self.check(to)?;
        let linked = self.handle()?.link(from, to);
        linked.map_err(|e| FileError::io("make", &self.file(to), e))
    }

    /// Removes a file or a symbolic link. The target of a link is not removed.
    ///
    /// # Errors
    /// [`FileError::NotAFolder`]; errors of the operating system. The call fails if the name
    /// belongs to a directory.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> Result<(), FileError> {
        let name = name.as_ref();
        self.check(name)?;
        self.handle()?.remove(name).map_err(|e| FileError::io("remove", &self.file(name), e))
    }

    /// Flushes the names in the directory to disk, so that renames and removals are permanent. Does
    /// nothing if the file system cannot flush a directory.
    ///
    /// # Errors
    /// [`FileError::NotAFolder`]; errors of the operating system.
    pub fn sync_names(&self) -> Result<(), FileError> {
        self.sync(&self.handle()?)
    }

    pub(crate) fn sync(&self, handle: &Handle) -> Result<(), FileError> {
        self.step(Step::SyncFolder { path: &self.path }, &self.path, &mut || handle.sync())
    }

    /// Replaces the file `name` by a file whose contents are the `parts` in order. A symbolic link
    /// of this name is replaced too. When the call returns, the contents and the name are on disk.
    ///
    /// The contents are written to a temporary file and flushed to disk. Then the temporary file is
    /// renamed to `name`. After an error, the old file is usually unchanged (see
    /// [`Unfinished::finish`]).
    ///
    /// # Errors
    /// The errors of [`Folder::begin`], [`Unfinished::write`] and [`Unfinished::finish`].
    pub fn replace(&self, name: impl AsRef<OsStr>, parts: &[&[u8]]) -> Result<(), FileError> {
        let mut unfinished = self.begin(name)?;
        parts.iter().try_for_each(|part| unfinished.write(part))?;
        unfinished.finish()
    }

    /// Creates a temporary file for the new contents of the file `name`. [`Unfinished::finish`]
    /// renames the temporary file to `name`.
    ///
    /// # Errors
    /// [`FileError::NotAFolder`]; errors of the operating system.
    pub fn begin(&self, name: impl AsRef<OsStr>) -> Result<Unfinished, FileError> {
        Unfinished::begin(self, name.as_ref(), Access::New)
    }

    /// Creates a temporary file like [`Self::begin`]. On Unix, only the owner can read or write the
    /// file (mode 0600), from its creation on.
    ///
    /// # Errors
    /// The errors of [`Self::begin`].
    pub fn begin_private(&self, name: impl AsRef<OsStr>) -> Result<Unfinished, FileError> {
        Unfinished::begin(self, name.as_ref(), Access::NewPrivate)
    }

    /// Appends bytes to a regular file in one write and flushes them to disk. The file is created
    /// if missing, and is open only during the call. After an error or a power failure, only a part
    /// of the bytes may be in the file.
    ///
    /// # Errors
    /// [`FileError::NotAFile`]; [`FileError::NotAFolder`]; errors of the operating system.
    pub fn append(&self, name: impl AsRef<OsStr>, bytes: &[u8]) -> Result<(), FileError> {
        let (file, handle) = self.append_only(name.as_ref(), bytes)?;
        let path = self.file(name.as_ref());
        self.step(Step::SyncFile { path: &path }, &path, &mut || file.sync_all())?;
        // The name may be new.
        self.sync(&handle)
    }

    /// Appends bytes like [`Folder::append`], but does not flush them to disk. A power failure may
    /// lose the bytes.
    ///
    /// # Errors
    /// The errors of [`Folder::append`].
    pub fn append_unsynced(&self, name: impl AsRef<OsStr>, bytes: &[u8]) -> Result<(), FileError> {
        self.append_only(name.as_ref(), bytes).map(drop)
    }

    fn append_only(&self, name: &OsStr, bytes: &[u8]) -> Result<(File, Handle), FileError> {
        self.check(name)?;
        let handle = self.handle_made()?;
        let opened = handle.file(name, Access::Append);
        let file = opened.map_err(|trouble| self.trouble("write", name, trouble))?;
        self.write(&file, &self.file(name), bytes)?;
        Ok((file, handle))
    }

    /// Removes temporary files that killed processes left in the directory. Files that cannot be
    /// removed are ignored.
    ///
    /// A temporary file is removed only if `is_ours` returns true for its final name. A temporary
    /// file that is being written is locked by its writer and is not removed. On a file system
    /// without locks, only temporary files that have not been modified for an hour are removed.
    pub fn clear_away(&self, is_ours: impl Fn(&str) -> bool) {
        for entry in self.list().unwrap_or_default().into_iter().filter(|entry| entry.is_file) {
            if name::of_temporary(&entry.name).is_some_and(&is_ours) {
                crate::unfinished::remove_if_left(self, &entry.name);
            }
        }
    }

    pub(crate) fn write(&self, file: &File, path: &Path, bytes: &[u8]) -> Result<(), FileError> {
        let write = &mut || io::Write::write_all(&mut &*file, bytes);
        self.step(Step::Write { path, file, bytes }, path, write)
    }

    /// Executes a step on the folder's disk. The message of an error states that `path` cannot be
    /// written.
    pub(crate) fn step(
        &self,
        step: Step<'_>,
        path: &Path,
        go: &mut dyn FnMut() -> io::Result<()>,
    ) -> Result<(), FileError> {
        self.disk.step(step, go).map_err(|e| FileError::io("write", path, e))
    }

    pub(crate) fn handle(&self) -> Result<Handle, FileError> {
        if let Some(name) = self.inner.iter().find(|name| !name::is_single(name)) {
            return Err(no_name(Path::new(name)));
        }
        Handle::open(&self.base, &self.inner).map_err(|(path, trouble)| match trouble {
            Trouble::Io(source) => FileError::Io { action: "open the directory", path, source },
            Trouble::Special(what) => FileError::NotAFolder { path, what },
        })
    }

    /// Opens the directory. A missing directory is created first.
    pub(crate) fn handle_made(&self) -> Result<Handle, FileError> {
        match self.handle() {
            Err(error) if error.is_missing() => {
                self.make()?;
                self.handle()
            }
            handle => handle,
        }
    }

    pub(crate) fn check(&self, name: &OsStr) -> Result<(), FileError> {
        if name::is_single(name) { Ok(()) } else { Err(no_name(&self.path.join(name))) }
    }

    pub(crate) fn trouble(
        &self,
        action: &'static str,
        name: &OsStr,
        trouble: Trouble,
    ) -> FileError {
        trouble_at(action, &self.file(name), trouble)
    }
}

fn default_disk() -> Arc<dyn Disk> {
    #[cfg(feature = "testing")]
    if let Some(disk) = crate::testing::disk_of_environment() {
        return disk;
    }
    Arc::new(RealDisk)
}

fn no_name(path: &Path) -> FileError {
    let source = io::Error::new(io::ErrorKind::InvalidInput, "it does not end in a file's name");
    FileError::Io { action: "use", path: path.to_owned(), source }
}

/// Returns the parent directory of a path. For a single name, returns the current directory.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(crate) fn trouble_at(action: &'static str, path: &Path, trouble: Trouble) -> FileError {
    match trouble {
        Trouble::Io(source) => FileError::io(action, path, source),
        Trouble::Special(what) => FileError::NotAFile { path: path.to_owned(), what },
    }
}

/// Reads an open regular file of at most `most` bytes. `path` is used in error messages only.
pub(crate) fn read_bounded(file: &File, path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    let failed = |source| FileError::io("read", path, source);
    let too_large = |bytes| FileError::TooLarge { path: path.to_owned(), bytes, most };
    let size = file.metadata().map_err(failed)?.len();
    if size > most {
        return Err(too_large(size));
    }
    let mut bytes = Vec::new();
    // The file may be growing.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > most { Err(too_large(bytes.len() as u64)) } else { Ok(bytes) }
}
