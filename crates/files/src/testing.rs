//! Disks for tests, also for tests that run the whole program. [`Recorder`] records the steps of
//! writing files, and [`FullDisk`] refuses writes.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use crate::{Disk, Step};

/// A disk that executes every step and records it as a text: `write a`, `sync a`, `rename a`,
/// `link a` or `sync folder d`. Here `a` is the final name of the file, and `d` is the name of the
/// directory.
#[derive(Debug, Default)]
pub struct Recorder(Mutex<Vec<String>>);

impl Recorder {
    /// Returns and clears the recorded steps.
    #[must_use]
    pub fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Disk for Recorder {
    fn step(&self, step: Step<'_>, go: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
        let last =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let line = match step {
            Step::Write { path, .. } => format!("write {}", last(path)),
            Step::SyncFile { path } => format!("sync {}", last(path)),
            Step::Rename { to, .. } => format!("rename {}", last(to)),
            Step::Link { to, .. } => format!("link {}", last(to)),
            Step::SyncFolder { path } => format!("sync folder {}", last(path)),
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(line);
        go()
    }
}

/// A disk that refuses a given number of writes to files whose names begin with a given prefix.
/// Later writes succeed. Each refused write stores the first half of its bytes.
#[derive(Debug)]
pub struct FullDisk {
    name: String,
    left: Mutex<u64>,
    kind: io::ErrorKind,
}

impl FullDisk {
    /// Creates a disk that refuses the first `writes` writes to files whose names begin with
    /// `name`. If `name` is empty, this applies to all files.
    #[must_use]
    pub fn new(name: &str, writes: u64) -> Self {
        Self { name: name.into(), left: Mutex::new(writes), kind: io::ErrorKind::StorageFull }
    }

    /// Returns the number of writes that the disk is still to refuse.
    #[must_use]
    pub fn left(&self) -> u64 {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the disk refuses a write to the file at `path`. Decreases the number of
    /// writes that are still to be refused.
    fn refuses(&self, path: &Path) -> bool {
        let is_of = |name: &str| name.starts_with(&self.name);
        if !path.file_name().and_then(|name| name.to_str()).is_some_and(is_of) {
            return false;
        }
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let refuses = *left > 0;
        *left = left.saturating_sub(1);
        refuses
    }
}

impl Disk for FullDisk {
    fn step(&self, step: Step<'_>, go: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
        match step {
            Step::Write { path, mut file, bytes } if self.refuses(path) => {
                file.write_all(&bytes[..bytes.len() / 2])?;
                Err(self.kind.into())
            }
            _ => go(),
        }
    }
}

/// Returns the disk that the environment variable `WARPINT_TEST_DISK` requests, for tests of the
/// whole program.
///
/// The value `full:NAME:WRITES` requests that the first WRITES writes to files whose names begin
/// with NAME fail. With `denied:NAME:WRITES`, they fail because permission is denied. Several such
/// values are separated by commas.
#[cfg(feature = "testing")]
pub(crate) fn disk_of_environment() -> Option<std::sync::Arc<dyn Disk>> {
    use std::sync::{Arc, LazyLock};

    static DISK: LazyLock<Option<Arc<Several>>> = LazyLock::new(|| {
        let text = std::env::var("WARPINT_TEST_DISK").ok()?;
        let disks = text.split(',').filter_map(|part| {
            let (kind, rest) = part.split_once(':')?;
            let (name, writes) = rest.split_once(':')?;
            let mut disk = FullDisk::new(name, writes.parse().ok()?);
            if kind == "denied" {
                disk.kind = io::ErrorKind::PermissionDenied;
            }
            Some(disk)
        });
        Some(Arc::new(Several(disks.collect())))
    });
    DISK.clone().map(|disk| disk as Arc<dyn Disk>)
}

/// Several disks that refuse writes to different files. A write is executed by the first disk whose
/// `name` is a prefix of the name of the file. If there is no such disk, the write is executed by
/// the file system.
#[cfg(feature = "testing")]
#[derive(Debug)]
struct Several(Vec<FullDisk>);

#[cfg(feature = "testing")]
impl Disk for Several {
    fn step(&self, step: Step<'_>, go: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
        let Step::Write { path, .. } = step else { return go() };
        let is_for = |disk: &&FullDisk| {
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&disk.name))
        };
        match self.0.iter().find(is_for) {
            Some(disk) => disk.step(step, go),
            None => go(),
        }
    }
}
