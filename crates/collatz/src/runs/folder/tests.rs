use super::*;
use crate::runs::unit::tests::plain_unit;

fn names(folder: &Folder) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn places_have_names_that_sort() {
    let folder = Folder::at(Path::new("d"));
    for (layout, unit, name) in [
        (Layout::new(0, 1 << 40, 32), 7, "d/below-2p40-u32-007.json"),
        (Layout::new(0, 1 << 40, 40), 0, "d/below-2p40-u40-0.json"),
        (Layout::new(5, 700, 32), 0, "d/from-5-to-700-u32-0.json"),
    ] {
        assert_eq!(folder.place(&layout.unwrap(), unit), Path::new(name));
    }
}

#[test]
fn a_unit_is_kept_once_and_nothing_else_is_left() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(&dir.path().join("a/b")).unwrap();
    let layout = Layout::new(0, 1 << 10, 8).unwrap();
    assert!(matches!(folder.find(&layout, 1).unwrap(), Found::Nothing));
    let unit = plain_unit(&layout, 1);
    folder.keep(&layout, &unit).unwrap();
    assert!(matches!(folder.find(&layout, 1).unwrap(), Found::Sound(found) if *found == unit));
    assert_eq!(names(&folder), ["below-2p10-u8-1.json"]);
    // A sound unit is not replaced by another.
    let mut again = unit.clone();
    again.seconds = 9.0;
    let error = folder.keep(&layout, &again).unwrap_err();
    assert!(error.to_string().contains("below-2p10-u8-1.json"), "{error}");
    assert!(matches!(folder.find(&layout, 1).unwrap(), Found::Sound(found) if *found == unit));
    assert_eq!(names(&folder), ["below-2p10-u8-1.json"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(folder.place(&layout, 1)).unwrap().permissions().mode();
        let plain = dir.path().join("plain");
        fs::write(&plain, "").unwrap();
        assert_eq!(mode, fs::metadata(plain).unwrap().permissions().mode());
    }
}

#[test]
fn the_size_of_units_is_told_by_their_files() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    assert_eq!(folder.unit_bits(0, 1 << 10).unwrap(), None);
    for (bits, unit) in [(9, 0), (8, 0), (8, 1)] {
        let layout = Layout::new(0, 1 << 10, bits).unwrap();
        folder.keep(&layout, &plain_unit(&layout, unit)).unwrap();
    }
    // Names that are not names of units.
    for name in ["x", "0", "1"] {
        fs::write(dir.path().join(format!("below-2p10-u200-{name}.json")), "").unwrap();
        fs::write(dir.path().join(format!("below-2p10-u10-{name}{name}.json")), "").unwrap();
    }
    assert_eq!(folder.unit_bits(0, 1 << 10).unwrap(), Some(8));
    assert_eq!(folder.unit_bits(0, 1 << 11).unwrap(), None);
    assert_eq!(folder.unit_bits(1, 1 << 10).unwrap(), None);
}

#[test]
fn what_is_no_unit_is_set_aside_under_a_free_name() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    let layout = Layout::new(0, 1 << 10, 8).unwrap();
    let place = folder.place(&layout, 1);
    let other = plain_unit(&layout, 2).to_text().unwrap();
    for text in ["", "{\"some\":\"json\"}\n", &other] {
        fs::write(&place, text).unwrap();
        assert!(matches!(folder.find(&layout, 1).unwrap(), Found::Bad(_)), "{text}");
        let aside = folder.set_aside(&layout, 1).unwrap();
        assert_eq!(fs::read_to_string(aside).unwrap(), text);
    }
    let name = "below-2p10-u8-1.json.bad";
    assert_eq!(names(&folder), [name.to_owned(), format!("{name}-2"), format!("{name}-3")]);
    fs::create_dir(&place).unwrap();
    let error = folder.find(&layout, 1).unwrap_err();
    assert!(error.to_string().contains("it is a directory, not a regular file"), "{error}");
}

#[test]
fn what_a_killed_process_left_is_cleared_away_and_what_a_living_one_writes_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    let layout = Layout::new(0, 1 << 10, 8).unwrap();
    let claim = folder.claim(&layout, 1).unwrap().unwrap();
    assert!(folder.claim(&layout, 1).unwrap().is_none());
    // Files of others, whatever they look like.
    let others = [
        "below-2p10-u8-2.json.ab.tmp",
        "below-2p10-u8-3.json.lock",
        "below-2p10-u8-4.json.lock",
        "notes.tmp",
        "package.json.abcdef.tmp",
        "package.json.lock",
    ];
    for name in others {
        // Empty, like locks, unless the name is that of a unit.
        let text = if name.ends_with("8-3.json.lock") { "text" } else { "" };
        fs::write(dir.path().join(name), text).unwrap();
    }
    let ours = [
        "below-2p10-u8-0.json.lock",
        "below-2p10-u8-1.json.abcdef.tmp",
        "below-2p10-u8-2.json.012XYZ.tmp",
    ];
    for name in ours {
        fs::write(dir.path().join(name), "").unwrap();
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink("notes.tmp", dir.path().join("below-2p10-u9-0.json.lock")).unwrap();
    folder.clear_away().unwrap();
    let mut left: Vec<&str> = others.to_vec();
    left.extend(cfg!(unix).then_some("below-2p10-u9-0.json.lock"));
    left.sort_unstable();
    let with = |more: &[&'static str]| {
        let mut names = [&left[..], more].concat();
        names.sort_unstable();
        names
    };
    assert_eq!(
        names(&folder),
        with(&["below-2p10-u8-1.json.abcdef.tmp", "below-2p10-u8-1.json.lock"])
    );
    drop(claim);
    folder.clear_away().unwrap();
    assert_eq!(names(&folder), left);
}

#[test]
#[cfg(unix)]
fn what_is_no_file_in_place_of_a_unit_is_refused_and_never_followed() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(&dir.path().join("units")).unwrap();
    let layout = Layout::new(0, 1 << 10, 8).unwrap();
    let unit = plain_unit(&layout, 1);
    folder.keep(&layout, &unit).unwrap();
    let (place, outside) = (folder.place(&layout, 1), dir.path().join("outside"));
    fs::rename(&place, &outside).unwrap();
    for (what, says) in [("link", "a symbolic link"), ("endless", "a symb"), ("fifo", "a FIFO")] {
        match what {
            "link" => std::os::unix::fs::symlink("../outside", &place).unwrap(),
            "endless" => std::os::unix::fs::symlink("/dev/zero", &place).unwrap(),
            _ => {
                let made = std::process::Command::new("mkfifo").arg(&place).status();
                assert!(made.unwrap().success());
            }
        }
        let error = folder.find(&layout, 1).unwrap_err().to_string();
        let found = format!("below-2p10-u8-1.json: it is {says}");
        assert!(error.starts_with("cannot read") && error.contains(&found), "{error}");
        assert!(folder.keep(&layout, &unit).is_err());
        let aside = folder.set_aside(&layout, 1).unwrap();
        fs::remove_file(aside).unwrap();
    }
    assert_eq!(fs::read_to_string(outside).unwrap(), unit.to_text().unwrap());
    // A sparse file larger than any unit.
    fs::File::create(&place).unwrap().set_len(3 << 30).unwrap();
    let error = Folder::read(&place).unwrap_err().to_string();
    assert!(error.ends_with("it has 3221225472 bytes; at most 67108864 are read"), "{error}");
}

#[test]
fn a_directory_that_vanishes_is_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(&dir.path().join("units")).unwrap();
    let layout = Layout::new(0, 1 << 10, 8).unwrap();
    let claim = folder.claim(&layout, 1).unwrap().unwrap();
    fs::remove_dir_all(folder.path()).unwrap();
    folder.keep(&layout, &plain_unit(&layout, 1)).unwrap();
    drop(claim);
    assert!(matches!(folder.find(&layout, 1).unwrap(), Found::Sound(_)));
    fs::remove_dir_all(folder.path()).unwrap();
    assert!(matches!(folder.find(&layout, 1).unwrap(), Found::Nothing));
    assert!(folder.claim(&layout, 1).unwrap().is_some());
}

#[test]
#[cfg(unix)]
fn what_is_no_lock_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let folder = Folder::open(dir.path()).unwrap();
    let layout = Layout::new(0, 1 << 10, 8).unwrap();
    let lock = dir.path().join("below-2p10-u8-1.json.lock");
    std::os::unix::fs::symlink("nothing", &lock).unwrap();
    let error = folder.claim(&layout, 1).unwrap_err();
    assert!(matches!(&error, FolderError::NoLock { path } if *path == lock), "{error}");
}

#[test]
fn what_is_no_directory_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    for result in [Folder::open(&file), Folder::existing(&file)] {
        assert!(matches!(result, Err(FolderError::NotADirectory { .. })));
    }
    assert!(Folder::open(&file.join("below")).is_err());
    assert!(Folder::existing(&dir.path().join("none")).is_err());
    assert!(!dir.path().join("none").exists());
}
