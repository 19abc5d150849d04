//! Malformed files of public keys.

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use warpint_keys::audit::{Audit, Settings};
use warpint_keys::read::{Raw, Reader};
use warpint_keys::{KeyList, KeysError, Store};
use warpint_progress::Unwatched;

use crate::memory::{allowed, most_used};
use crate::mutate::mutated;
use crate::{cases, cases_on_disk};

/// The memory for buffers and powers of ten, which does not depend on the file.
const BUFFERS: usize = 1 << 20;

/// Returns the files of `tests/vectors/keys`, and files of moduli and of JSON web keys.
fn sound() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/keys");
    let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<Vec<u8>> = names.map(|path| fs::read(path).unwrap()).collect();
    files.push(b"# moduli\n15\n0x1f\nModulus=FF\n\n12345678901234567890\n".to_vec());
    let key = r#"{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJX","e":"AQAB","kid":"1"}"#;
    files.push(key.into());
    files.push(format!("{{\"keys\":[{key},{{\"kty\":\"EC\"}}]}}\n[{key}]").into_bytes());
    files
}

/// Reads a file. The number of messages must be that of the unreadable entries, and each message is
/// one line.
fn read(bytes: &[u8]) -> (KeyList, usize) {
    read_as(None, bytes)
}

/// Reads a file of moduli as bytes, or one whose content decides its format.
fn read_as(raw: Option<Raw>, bytes: &[u8]) -> (KeyList, usize) {
    let mut messages = 0;
    let mut report = |entry: &warpint_keys::read::BadEntry| {
        assert!(!entry.to_string().chars().any(char::is_control), "{entry}");
        messages += 1;
    };
    let mut reader = Reader::new(&Unwatched, &mut report);
    if let Some(raw) = raw {
        reader = reader.raw(raw);
    }
    reader.stream("f", bytes).unwrap();
    (reader.finish(), messages)
}

/// Audits keys against a store.
fn audit(store: &Path, keys: &[u8]) -> Result<(), KeysError> {
    let settings = Settings { threads: 1, memory: 1 << 28, device: None };
    let audit = Audit::new(read(keys).0, settings);
    let mut audit = audit.with_store(Store::open(store)?, &Unwatched)?;
    audit.check_together(&mut |_| {}, &Unwatched)
}

/// The keys of a store, and another one, for which all parts of the file are read.
const OLD: &[u8] = b"15\n0x48c28c60aa1\n";
const NEW: &[u8] = b"15\n0xcbba2a2dcc9\n";

const PART: &str = "part-00000001.keys";

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn fuzz_keys(
        file in prop_oneof![
            6 => mutated(sound()),
            1 => vec(any::<u8>(), 0..400),
            1 => "[\\[{]?[-A-Za-z0-9+/={}\"\\[\\]:, \n]{0,200}".prop_map(String::into_bytes),
        ],
    ) {
        let ((list, messages), most) = most_used(|| read(&file));
        prop_assert!(most <= BUFFERS + allowed(64, file.len()), "{most} bytes for {}", file.len());
        prop_assert_eq!(list.unreadable(), messages as u64);
        for i in 0..list.len() {
            let n = list.modulus(i);
            prop_assert!(n.last().is_some_and(|&top| top > 1 || n.len() > 1));
        }
    }
}

/// Long files of few bytes for each value: the memory does not grow with the number of values.
#[test]
fn fuzz_many_values_in_little_memory() {
    for value in ["1,", "[],", "{},", "\"\","] {
        let text = format!("[{}1]", value.repeat(1 << 20));
        let ((list, messages), most) = most_used(|| read(text.as_bytes()));
        assert!(list.is_empty() && messages == (1 << 20) + 1, "{value} {messages}");
        assert!(most <= 2 * BUFFERS, "{most} bytes for {value}");
    }
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn fuzz_moduli_as_bytes(
        file in vec(prop_oneof![3 => Just(0), 1 => 0..40u8, 1 => any::<u8>()], 0..600),
        record in 1..40usize,
    ) {
        for raw in [Raw::Gmp, Raw::Records(record)] {
            let ((list, messages), most) = most_used(|| read_as(Some(raw), &file));
            prop_assert!(most <= BUFFERS + allowed(64, file.len()), "{most} bytes");
            prop_assert_eq!(list.unreadable(), messages as u64);
            prop_assert!((0..list.len()).all(|i| list.modulus(i).last() != Some(&0)));
        }
    }
}

proptest! {
    #![proptest_config(cases_on_disk())]

    /// A changed file of a store is refused, and stays as it is.
    #[test]
    fn fuzz_store(
        file in {
            let dir = tempfile::tempdir().unwrap();
            audit(dir.path(), OLD).unwrap();
            mutated(vec![fs::read(dir.path().join(PART)).unwrap()])
        },
    ) {
        let dir = tempfile::tempdir().unwrap();
        audit(dir.path(), OLD).unwrap();
        let path = dir.path().join(PART);
        let is_sound = fs::read(&path).unwrap() == file;
        fs::write(&path, &file).unwrap();
        match audit(dir.path(), NEW) {
            Ok(()) => prop_assert!(is_sound),
            Err(KeysError::Damaged { .. } | KeysError::LaterVersion { .. }) => {
                prop_assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
        prop_assert_eq!(fs::read(&path).unwrap(), file);
    }
}
