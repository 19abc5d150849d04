//! A cache of compiled kernels on disk, so that each kernel is compiled once on a machine.
//!
//! An entry is the machine code of one source. Its key is the SHA-256 of everything that determines
//! the code. The entry's file has the name `KEY.cubin`. The file consists of a header line, a
//! digest and the code. The digest is the SHA-256 of the header, the key and the code, so an entry
//! that was renamed to another key is refused.
//!
//! An entry is written to a temporary file and then renamed. Several processes and threads may
//! therefore build the same entry at once: a reader finds a complete file or none. A cache that
//! cannot be read or written costs time, but is not an error.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use sha2::{Digest, Sha256};
use warpint_files::{FileError, Folder};

use crate::{Nvrtc, Source};

const MAGIC: &[u8] = b"warpint cubin 2\n";
const DIGEST: usize = 32;
/// The size in bytes of the largest file that is read as an entry: 256 MiB.
const MOST_BYTES: u64 = 256 << 20;

/// The key of an entry: the SHA-256, in hexadecimal, of everything that determines the compiled
/// code.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct CubinKey(String);

impl CubinKey {
    /// Computes the key of a source, compiled with the given options by the given compiler.
    /// `compiler` is the text that [`identity`] returns. The options include the constants and the
    /// architecture.
    pub(crate) fn new(source: &Source, options: &[String], compiler: &str) -> Self {
        let mut hasher = Sha256::new();
        // The lengths keep adjacent parts apart.
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

/// Returns a text that distinguishes this compiler from others, for [`CubinKey::new`].
pub(crate) fn identity(compiler: &Nvrtc) -> String {
    let (major, minor) = compiler.version();
    // Different builds of one version nearly always differ in size.
    let bytes = std::fs::metadata(compiler.path()).map_or(0, |file| file.len());
    format!("NVRTC {major}.{minor}, {bytes} bytes")
}

/// A cache of compiled kernels in one folder. Without a folder, nothing is stored.
#[derive(Debug, Clone)]
pub(crate) struct CubinCache {
    folder: Option<Folder>,
}

impl CubinCache {
    /// Creates a cache in `folder`, which is created when the first entry is stored.
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self { folder: folder.map(Folder::at) }
    }

    /// Returns the machine code of a key: from the disk if a valid entry exists, otherwise from
    /// `build`, whose result is then stored. Returns an error only if `build` returns one.
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
            // Without an entry the next run compiles again. This is not an error.
            let _ = store(folder, key, &code);
        }
        Ok(code)
    }

    /// Does the same as [`Self::get_or_build`], but if another thread of this process is building the code of this
    /// key, waits for it and takes its code. If that build fails, builds the code itself.
    pub(crate) fn get_or_build_once<E>(
        &self,
        key: &CubinKey,
        build: impl FnOnce() -> Result<Vec<u8>, E>,
    ) -> Result<Vec<u8>, E> {
        let slot = slot(key);
        let mut built = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(code) = &*built {
            return Ok(code.clone());
        }
        Ok(built.insert(self.get_or_build(key, build)?).clone())
    }

    fn read(&self, key: &CubinKey) -> Option<Vec<u8>> {
        let file = self.folder.as_ref()?.read(name(key), MOST_BYTES).ok()?;
        let (found, code) = file.strip_prefix(MAGIC)?.split_at_checked(DIGEST)?;
        (digest(key, code) == found).then(|| code.to_vec())
    }
}

/// The code of a key, once it has been built.
type Slot = Mutex<Option<Vec<u8>>>;

/// The slots of the keys that threads of this process are asking for.
static ASKED: Mutex<BTreeMap<CubinKey, Weak<Slot>>> = Mutex::new(BTreeMap::new());

/// Returns the slot that all threads share which ask for a key at the same time.
fn slot(key: &CubinKey) -> Arc<Slot> {
    let mut asked = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(slot) = asked.get(key).and_then(Weak::upgrade) {
        return slot;
    }
    asked.retain(|_, slot| slot.strong_count() > 0);
    let slot = Arc::new(Mutex::new(None));
    asked.insert(key.clone(), Arc::downgrade(&slot));
    slot
}

fn name(key: &CubinKey) -> String {
    format!("{}.cubin", key.0)
}

/// Returns the SHA-256 of the header, the key and the code, in this order. The header and all keys
/// have fixed lengths, so no separators are needed.
fn digest(key: &CubinKey, code: &[u8]) -> [u8; DIGEST] {
    let hasher = Sha256::new().chain_update(MAGIC).chain_update(&key.0);
    hasher.chain_update(code).finalize().into()
}

fn store(folder: &Folder, key: &CubinKey, code: &[u8]) -> Result<(), FileError> {
    folder.clear_away(|name| name.ends_with(".cubin"));
    let mut entry = folder.begin(name(key))?;
    [MAGIC, &digest(key, code), code].into_iter().try_for_each(|part| entry.write(part))?;
    // Not synced to disk: a file truncated by a power failure fails its digest.
    entry.finish_unsynced()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::path::Path;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::{fs, io};

    use super::*;

    fn path(folder: &Path, key: &CubinKey) -> PathBuf {
        folder.join(name(key))
    }

    fn source() -> Source {
        Source::new("k.cu", "text", &["k"]).header("h.cuh", "header")
    }

    fn key() -> CubinKey {
        CubinKey::new(&source(), &["--gpu-architecture=sm_90".into()], "NVRTC 13.0")
    }

    /// Requests the code for the key of the tests from the cache, where a build results in `code`.
    /// Returns the code that the cache gives, and the number of builds (0 or 1).
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
        // Root can write anyway; for other users the entry stays damaged.
        let damaged = fs::write(path(dir.path(), &key()), "damaged").map(|()| get(&cache, b"code"));
        allow(0o755);
        assert_eq!(whole, (b"code".to_vec(), 0));
        assert_eq!(damaged.unwrap(), (b"code".to_vec(), 1));
    }

    #[test]
    fn a_full_disk_costs_only_time() {
        // Renaming onto a folder is the last step that can fail.
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
    fn threads_of_a_process_wait_for_each_other() {
        // Without a folder, no entry is stored.
        for folder in [Some(tempfile::tempdir().unwrap()), None] {
            let builds = AtomicU32::new(0);
            let slot = slot(&key());
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    let cache = CubinCache::new(folder.as_ref().map(|dir| dir.path().to_owned()));
                    let builds = &builds;
                    scope.spawn(move || {
                        // The first build fails, and the next thread builds.
                        let got = cache.get_or_build_once(&key(), || {
                            let first = builds.fetch_add(1, Ordering::Relaxed) == 0;
                            if first { Err("no compiler") } else { Ok(b"code".to_vec()) }
                        });
                        assert!(got == Ok(b"code".to_vec()) || got == Err("no compiler"));
                    });
                }
            });
            assert_eq!(builds.into_inner(), 2);
            drop(slot);
            assert!(ASKED.lock().unwrap().get(&key()).is_none_or(|slot| slot.upgrade().is_none()));
        }
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_foreign_files_stay() {
        let dir = tempfile::tempdir().unwrap();
        let left = format!("{}.a0Z9zz.tmp", name(&key()));
        for name in [&left, "notes.a0Z9zz.tmp"] {
            fs::write(dir.path().join(name), "half").unwrap();
        }
        get(&CubinCache::new(Some(dir.path().to_owned())), b"code");
        let mut expected = [name(&key()), "notes.a0Z9zz.tmp".into()];
        let mut found = names(dir.path());
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_entry_that_was_renamed_to_another_key_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let cache = CubinCache::new(Some(dir.path().to_owned()));
        get(&cache, b"code");
        let other = CubinKey::new(&source(), &["--gpu-architecture=sm_80".into()], "NVRTC 13.0");
        fs::rename(path(dir.path(), &key()), path(dir.path(), &other)).unwrap();
        assert_eq!(cache.read(&other), None);
        let built = cache.get_or_build(&other, || Ok::<_, ()>(b"another".to_vec()));
        assert_eq!(built.unwrap(), b"another");
        assert_eq!(cache.read(&other).unwrap(), b"another");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_in_place_of_an_entry_is_replaced_and_never_followed() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("cache");
        let cache = CubinCache::new(Some(folder.clone()));
        get(&cache, b"code");
        let (place, outside) = (path(&folder, &key()), dir.path().join("outside"));
        fs::rename(&place, &outside).unwrap();
        let sound = fs::read(&outside).unwrap();
        let fifo = |at: &Path| std::process::Command::new("mkfifo").arg(at).status().unwrap();
        for what in ["link", "endless", "fifo"] {
            match what {
                "link" => std::os::unix::fs::symlink(&outside, &place).unwrap(),
                "endless" => std::os::unix::fs::symlink("/dev/zero", &place).unwrap(),
                _ => assert!(fifo(&place).success()),
            }
            assert_eq!(get(&cache, b"other"), (b"other".to_vec(), 1), "{what}");
            assert_eq!(get(&cache, b""), (b"other".to_vec(), 0), "{what}");
            fs::remove_file(&place).unwrap();
        }
        assert_eq!(fs::read(&outside).unwrap(), sound);
    }
}
