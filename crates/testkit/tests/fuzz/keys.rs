//! Malformed files of public keys.

use std::fs;
use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;
use warpint_keys::KeyList;
use warpint_keys::read::Reader;
use warpint_progress::Unwatched;

use crate::cases;
use crate::memory::{allowed, most_used};
use crate::mutate::mutated;

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
    let mut messages = 0;
    let mut report = |entry: &warpint_keys::read::BadEntry| {
        assert!(!entry.to_string().chars().any(char::is_control), "{entry}");
        messages += 1;
    };
    let mut reader = Reader::new(&Unwatched, &mut report);
    reader.stream("f", bytes).unwrap();
    (reader.finish(), messages)
}

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
