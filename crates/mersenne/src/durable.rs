//! Files that survive a power cut.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Makes a file of these parts and brings it to disk.
pub(crate) fn write_synced(path: &Path, parts: &[&[u8]]) -> io::Result<()> {
    let mut file = File::create(path)?;
    parts.iter().try_for_each(|part| file.write_all(part))?;
    file.sync_all()
}

/// Makes a rename durable. Only Unix can (and must) sync a directory, and not
/// on every file system.
pub(crate) fn sync_directory(dir: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, Unsupported};
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(dir)?.sync_all() {
        Err(e) if matches!(e.kind(), InvalidInput | Unsupported) => Ok(()),
        synced => synced,
    }
}
