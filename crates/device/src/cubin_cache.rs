//! Compiled kernels on disk, so that a kernel is compiled once on a machine.
//!
//! An entry is a file named after the SHA-256 of all that goes into the code.
//! It is written under a name of its own and then renamed, so that processes
//! and threads may build the same entry at a time: each reads a whole file or
//! none. A cache that cannot be read or written costs time and nothing else.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};

use crate::Source;

const MAGIC: &[u8] = b"warpint cubin 1\n";
const DIGEST: usize = 32;
/// Files that a killed process left half-written are removed when so old.
const STALE: Duration = Duration::from_secs(3600);

/// What code depends on, as the name of its file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct CubinKey(String);

impl CubinKey {
    /// Of a source, the compiler's options (which hold the constants and the
    /// architecture) and the compiler.
    pub(crate) fn new(source: &Source, options: &[String], compiler: &str) -> Self {
        let mut hasher = Sha256::new();
        // Lengths keep neighbouring parts apart.
        let mut add = |part: &str| {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        };
        add(compiler);
        add(source.name());
        add(source.text());
        add(&source.header_texts().len().to_string());
        for (name, text) in source.header_texts() {
            add(name);
            add(text);
        }
        for option in options {
            add(option);
        }
        Self(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// The folder of compiled kernels; `None` where there is no place for one.
#[derive(Debug, Clone)]
pub(crate) struct CubinCache {
    folder: Option<PathBuf>,
}

impl CubinCache {
    /// In `folder`, which is made when the first entry is stored.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder }
    }

    /// The code of that key, from the disk if a whole entry is there, else
    /// from `build`, whose failure is the only one.
    pub(crate) fn get_or_build<E>(
        &self,
        key: &CubinKey,
        build: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Vec<u8>, E> {
        if let Some(code) = self.read(key) {
            return Ok(code);
        }
        let code = build()?;
        if let Some(folder) = &self.folder {
            // Without an entry the next run compiles again, which is no failure.
            let _ = store(folder, key, &code);
        }
        Ok(code)
    }

    fn read(&self, key: &CubinKey) -> Option<Vec<u8>> {
        let file = fs::read(path(self.folder.as_deref()?, key)).ok()?;
        let (digest, code) = file.strip_prefix(MAGIC)?.split_at_checked(DIGEST)?;
        (Sha256::digest(code).as_slice() == digest).then(|| code.to_vec())
    }
}

fn path(folder: &Path, key: &CubinKey) -> PathBuf {
    folder.join(format!("{}.cubin", key.0))
}

fn store(folder: &Path, key: &CubinKey, code: &[u8]) -> io::Result<()> {
    static FILES: AtomicU64 = AtomicU64::new(0);
    fs::create_dir_all(folder)?;
    remove_stale(folder);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let unfinished = folder.join(format!("{}.{}.{number}.tmp", key.0, process::id()));
    let written =
        write(&unfinished, code).and_then(|()| fs::rename(&unfinished, path(folder, key)));
    if written.is_err() {
        let _ = fs::remove_file(&unfinished);
    }
    written
}

fn write(path: &Path, code: &[u8]) -> io::Result<()> {
    // Not synced: a file cut short by a power cut fails its checksum.
    let mut file = File::create(path)?;
    file.write_all(MAGIC)?;
    file.write_all(&Sha256::digest(code))?;
    file.write_all(code)
}

fn remove_stale(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let unfinished = path.extension().is_some_and(|e| e == "tmp");
        if unfinished && age(&path).is_some_and(|age| age > STALE) {
            let _ = fs::remove_file(path);
        }
    }
}

fn age(path: &Path) -> Option<Duration> {
    SystemTime::now().duration_since(fs::metadata(path).ok()?.modified().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::sync::Barrier;

    fn source() -> Source {
        Source::new("k.cu", "text", &["k"]).header("h.cuh", "header")
    }

    fn key() -> CubinKey {
        CubinKey::new(&source(), &["--gpu-architecture=sm_90".into()], "NVRTC 13.0")
    }

    /// The code of an entry, and how often it was built for that.
    fn get(cache: &CubinCache, code: &[u8]) -> (Vec<u8>, u32) {
        let built = Cell::new(0);
        let code = cache.get_or_build(&key(), || {
            built.set(built.get() + 1);
            Ok::<_, ()>(code.to_vec())
        });
        (code.unwrap(), built.get())
    }

    fn names(folder: &Path) -> Vec<String> {
        let name = |e: io::Result<fs::DirEntry>| e.unwrap().file_name().into_string().unwrap();
        fs::read_dir(folder).unwrap().map(name).collect()
    }

    #[test]
    fn an_entry_is_built_once() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("not/made/yet");
        let cache = CubinCache::new(Some(folder.clone()));
        assert_eq!(get(&cache, b"code"), (b"code".to_vec(), 1));
        assert_eq!(get(&cache, b"other"), (b"code".to_vec(), 0));
        assert_eq!(names(&folder), [format!("{}.cubin", key().0)]);
        assert_eq!(get(&CubinCache::new(None), b"code").1, 1);
    }

    #[test]
    fn any_change_of_what_code_depends_on_is_another_entry() {
        let options = ["--gpu-architecture=sm_90".to_owned()];
        let other_options = ["--gpu-architecture=sm_80".to_owned()];
        let of = |source: &Source| CubinKey::new(source, &options, "NVRTC 13.0");
        let keys = [
            key(),
            of(&Source::new("k.cu", "text", &["k"])),
            of(&Source::new("k.cu", "texth.cuh", &["k"]).header("", "header")),
            of(&Source::new("k.cu", "text2", &["k"]).header("h.cuh", "header")),
            of(&Source::new("k.cu", "text", &["k"]).header("h.cuh", "header2")),
            of(&source().header("h2.cuh", "")),
            CubinKey::new(&source(), &other_options, "NVRTC 13.0"),
            CubinKey::new(&source(), &options, "NVRTC 13.1"),
        ];
        for (i, a) in keys.iter().enumerate() {
            assert!(keys.iter().skip(i + 1).all(|b| a != b), "{i}");
        }
        // The options hold the constants.
        let with = |n: u32| crate::nvrtc::options(&source().define("N", n), 90);
        assert_ne!(CubinKey::new(&source(), &with(1), ""), CubinKey::new(&source(), &with(2), ""));
    }

    #[test]
    fn a_failed_build_stores_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let cache = CubinCache::new(Some(dir.path().to_owned()));
        assert_eq!(cache.get_or_build(&key(), || Err("no")), Err("no"));
        assert!(names(dir.path()).is_empty());
    }

    #[test]
    fn a_flipped_byte_or_a_lost_end_is_noticed_and_rebuilt() {
        let dir = tempfile::tempdir().unwrap();
        let cache = CubinCache::new(Some(dir.path().to_owned()));
        get(&cache, b"code");
        let file = path(dir.path(), &key());
        let whole = fs::read(&file).unwrap();
        for i in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[i] ^= 0x10;
            for damaged in [&damaged[..], &whole[..i]] {
                fs::write(&file, damaged).unwrap();
                assert_eq!(get(&cache, b"code"), (b"code".to_vec(), 1), "byte {i}");
                assert_eq!(fs::read(&file).unwrap(), whole, "byte {i}");
            }
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_costs_only_time() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("file"), "").unwrap();
        let cache = CubinCache::new(Some(dir.path().join("file/cache")));
        assert_eq!(get(&cache, b"code"), (b"code".to_vec(), 1));
        assert_eq!(get(&cache, b"code"), (b"code".to_vec(), 1));
    }

    #[cfg(unix)]
    #[test]
    fn a_read_only_folder_is_read_and_left_alone() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let cache = CubinCache::new(Some(dir.path().to_owned()));
        get(&cache, b"code");
        let allow = |mode| {
            fs::set_permissions(dir.path(), fs::Permissions::from_mode(mode)).unwrap();
        };
        allow(0o555);
        let whole = get(&cache, b"code");
        // Root writes all the same; for others the entry stays damaged.
        let damaged = fs::write(path(dir.path(), &key()), "damaged").map(|()| get(&cache, b"code"));
        allow(0o755);
        assert_eq!(whole, (b"code".to_vec(), 0));
        assert_eq!(damaged.unwrap(), (b"code".to_vec(), 1));
    }

    #[test]
    fn a_full_disk_costs_only_time() {
        // Renaming onto a folder fails as late as anything can.
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(path(dir.path(), &key())).unwrap();
        let cache = CubinCache::new(Some(dir.path().to_owned()));
        assert_eq!(get(&cache, b"code"), (b"code".to_vec(), 1));
        assert_eq!(names(dir.path()).len(), 1, "no half-written file stays");
    }

    #[test]
    fn threads_may_build_the_same_entry_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let code: Vec<u8> = (0..1_000_000_u32).map(|i| i as u8).collect();
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    let cache = CubinCache::new(Some(dir.path().to_owned()));
                    let got = cache.get_or_build(&key(), || {
                        barrier.wait();
                        Ok::<_, ()>(code.clone())
                    });
                    assert_eq!(got.as_ref(), Ok(&code));
                });
            }
        });
        assert_eq!(get(&CubinCache::new(Some(dir.path().to_owned())), b""), (code, 0));
        assert_eq!(names(dir.path()).len(), 1);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_later() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (dir.path().join("a.1.0.tmp"), dir.path().join("b.2.0.tmp"));
        fs::write(&new, "half").unwrap();
        let file = File::create(&old).unwrap();
        file.set_modified(SystemTime::now() - 2 * STALE).unwrap();
        get(&CubinCache::new(Some(dir.path().to_owned())), b"code");
        assert_eq!((old.exists(), new.exists()), (false, true));
    }
}
