//! A temporary folder for the checkpoints of a benchmark, in the directory where tests would write.

use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use crate::BenchError;

/// A new folder `DIR/bench-<16 hexadecimal digits>`, which is removed when the value is dropped.
pub(super) struct Scratch {
    path: PathBuf,
    /// The directory that contains the folder, if the directory was created as well. It is removed
    /// after the folder if it is then empty. `None` if the directory existed before.
    made: Option<PathBuf>,
}

impl Scratch {
    /// Creates the folder in a directory, and the directory if necessary. The folder is always new,
    /// so a benchmark never resumes from the checkpoints of another.
    pub(super) fn new(dir: &Path) -> Result<Self, BenchError> {
        let made = (!dir.exists()).then(|| dir.to_owned());
        fs::create_dir_all(dir)
            .map_err(|source| BenchError::Directory { path: dir.to_owned(), source })?;
        loop {
            // The keys of hashes are random numbers from the system.
            let path = dir.join(format!("bench-{:016x}", RandomState::new().hash_one(dir)));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path, made }),
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(BenchError::Folder { path, source }),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // If it cannot be removed, it stays in the user's own directory, under a name that shows
        // its origin.
        let _ = fs::remove_dir_all(&self.path);
        if let Some(made) = &self.made {
            // Only if it is empty.
            let _ = fs::remove_dir(made);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_folder_of_its_own_and_leaves_nothing() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("work");
        let (first, second) = (Scratch::new(&dir).unwrap(), Scratch::new(&dir).unwrap());
        assert!(first.path() != second.path() && first.path().is_dir());
        fs::write(first.path().join("checkpoint"), "x").unwrap();
        let gone = first.path().to_owned();
        drop(second);
        drop(first);
        assert!(!gone.exists() && !dir.exists());
        // A directory that existed before stays.
        drop(Scratch::new(root.path()).unwrap());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
        fs::write(&dir, "a file").unwrap();
        assert!(Scratch::new(&dir).is_err());
    }
}
