//! Files of a store, and damaged ones.

use std::fs;

use super::*;
use crate::read::Position;

fn spot(file: &str, position: Position) -> Spot {
    Spot { file: file.into(), position }
}

/// Adds a file with two moduli, a further place and a pair.
fn add(store: &mut Store) {
    let at = [
        spot("a", Position::Line(7)),
        spot("b", Position::Whole),
        spot("a", Position::Key(u64::MAX)),
        spot("c\n\u{1f511}", Position::Line(1)),
    ];
    let content = Content {
        moduli: vec![(&[15], at[..2].to_vec()), (&[3, 1 << 63], at[2..3].to_vec())],
        product: &[45, 1 << 63, 7],
        repeats: vec![(&[21, 9], at[3..].to_vec())],
        shared: vec![[vec![15], vec![3, 1 << 63]]],
    };
    store.add(&content).unwrap();
}

/// Reads everything.
fn read(store: &Store) -> Result<(), KeysError> {
    for part in store.parts() {
        part.moduli()?;
        part.product()?;
        part.repeats()?;
        part.shared()?;
    }
    Ok(())
}

#[test]
fn what_is_written_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new/store");
    let mut store = Store::open(&path).unwrap();
    assert_eq!((store.moduli(), store.parts().len()), (0, 0));
    add(&mut store);
    let empty = Content { moduli: vec![], product: &[1], repeats: vec![], shared: vec![] };
    store.add(&empty).unwrap();
    let busy = Store::open(&path).unwrap_err();
    assert!(busy.to_string().starts_with("another audit uses the store "), "{busy}");
    drop(store);
    let store = Store::open(&path).unwrap();
    assert_eq!(store.moduli(), 2);
    let [part, empty] = store.parts() else { panic!("two files") };
    let moduli = part.moduli().unwrap();
    assert_eq!(moduli.all(), [&[15][..], &[3, 1 << 63]]);
    assert_eq!(part.product().unwrap(), [45, 1 << 63, 7]);
    let places = part.places_of(&[1, 0]).unwrap();
    assert_eq!(places[0], [spot("a", Position::Key(u64::MAX))]);
    assert_eq!(places[1], [spot("a", Position::Line(7)), spot("b", Position::Whole)]);
    let repeats = part.repeats().unwrap();
    assert_eq!(repeats, [(vec![21, 9], vec![spot("c\n\u{1f511}", Position::Line(1))])]);
    assert_eq!(part.shared().unwrap(), [[vec![15], vec![3, 1 << 63]]]);
    assert!(empty.moduli().unwrap().all().is_empty() && empty.shared().unwrap().is_empty());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(path.join("part-00000001.keys")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

/// Every change of a byte, and every truncation, is an error that names the file.
#[test]
fn damage_is_found_wherever_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path()).unwrap();
    add(&mut store);
    drop(store);
    let path = dir.path().join("part-00000001.keys");
    let sound = fs::read(&path).unwrap();
    let check = |bytes: &[u8], what: &str| {
        fs::write(&path, bytes).unwrap();
        let error = Store::open(dir.path()).and_then(|store| read(&store)).unwrap_err();
        assert!(matches!(error, KeysError::Damaged { .. }), "{what}: {error}");
        assert!(error.to_string().contains("part-00000001.keys is damaged ("), "{what}: {error}");
    };
    for i in 0..sound.len() {
        let mut bytes = sound.clone();
        bytes[i] ^= 1 << (i % 8);
        check(&bytes, &format!("byte {i}"));
        check(&sound[..i], &format!("{i} bytes"));
    }
    check(&[&sound[..], &[0]].concat(), "one byte more");
    fs::write(&path, &sound).unwrap();
    read(&Store::open(dir.path()).unwrap()).unwrap();
}

#[test]
fn other_versions_and_wrong_contents_with_right_digests_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path()).unwrap();
    add(&mut store);
    drop(store);
    let path = dir.path().join("part-00000001.keys");
    let sound = fs::read(&path).unwrap();
    let end = sound.iter().position(|&c| c == b'\n').unwrap();
    let line = std::str::from_utf8(&sound[..end]).unwrap();
    let object = line.split_once("\"part\":").unwrap().1.strip_suffix('}').unwrap();
    let with = |object: &str| {
        let digest = warpint_files::sha256(object);
        let line = format!("{{\"sha256\":\"{digest}\",\"part\":{object}}}\n");
        fs::write(&path, [line.as_bytes(), &sound[end + 1..]].concat()).unwrap();
        Store::open(dir.path()).and_then(|store| read(&store)).unwrap_err()
    };
    let later = with(&object.replace("\"version\":1", "\"version\":2"));
    assert!(matches!(later, KeysError::LaterVersion { version: 2, .. }), "{later}");
    for wrong in [
        object.replace("\"moduli\":2", "\"moduli\":3"),
        object.replace("\"moduli\":2", "\"moduli\":18446744073709551615"),
        object.replace("\"bytes\":32", "\"bytes\":18446744073709551615"),
        "{\"version\":1}".into(),
        "[]".into(),
    ] {
        assert_ne!(wrong, object);
        let error = with(&wrong);
        assert!(matches!(error, KeysError::Damaged { .. }), "{wrong}: {error}");
    }
}

#[test]
fn temporary_files_are_removed_and_other_files_are_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let left = dir.path().join("part-00000003.keys.abc123.tmp");
    let others = ["part-1.keys", "part-0000000x.keys", "notes.txt", "notes.txt.abc123.tmp"];
    fs::write(&left, "half").unwrap();
    for name in others {
        fs::write(dir.path().join(name), "kept").unwrap();
    }
    let mut store = Store::open(dir.path()).unwrap();
    assert!(store.parts().is_empty() && !left.exists());
    add(&mut store);
    add(&mut store);
    drop(store);
    fs::remove_file(dir.path().join("part-00000001.keys")).unwrap();
    let mut store = Store::open(dir.path()).unwrap();
    assert_eq!(store.moduli(), 2);
    add(&mut store);
    assert!(dir.path().join("part-00000003.keys").exists());
    assert!(others.iter().all(|name| fs::read(dir.path().join(name)).unwrap() == b"kept"));
}
