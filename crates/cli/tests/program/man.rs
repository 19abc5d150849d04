//! Tests of `warpint man`.

use std::fs;

use super::common::{Ran, command, names, warpint};

#[test]
fn the_program_and_every_command_have_a_page() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "man a/pages");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(ran.out, "wrote the man pages to a/pages\n");
    let folder = dir.path().join("a/pages");
    let pages = names(&folder);
    for name in ["warpint.1", "warpint-batch.1", "warpint-batch-mul.1", "warpint-make-keys.1"] {
        assert!(pages.iter().any(|page| page == name), "{name}: {pages:?}");
    }
    // Every page that another one refers to is there.
    for page in &pages {
        let text = fs::read_to_string(folder.join(page)).unwrap().replace('\\', "");
        for word in text.split_whitespace().filter_map(|word| word.split_once("(1)")) {
            let name = format!("{}.1", word.0);
            assert!(!name.starts_with("warpint") || pages.contains(&name), "{page}: {name}");
        }
    }
    fs::write(folder.join("warpint.1"), "old").unwrap();
    assert_eq!(warpint(dir.path(), "man a/pages").code, Some(0));
    assert_ne!(fs::read_to_string(folder.join("warpint.1")).unwrap(), "old");
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let ran = warpint(dir.path(), "man file");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.error().contains("file"), "{ran:?}");
    let mut full = command(dir.path(), ["man", "pages"]);
    let ran: Ran = full.env("WARPINT_TEST_DISK", "full:warpint-batch:1").output().unwrap().into();
    assert_eq!((ran.code, ran.out.as_str()), (Some(4), ""), "{ran:?}");
    assert!(ran.error().contains("pages/warpint-batch"), "{ran:?}");
}
