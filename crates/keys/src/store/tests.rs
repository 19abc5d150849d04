//! Files of a store, and damaged ones.

use std::fs;

use super::*;
use crate::read::Position;

fn spot(file: &str, position: Position) -> Spot {
    Spot { file: file.into(), position }
}

fn pairs() -> Pairs {
    Pairs { moduli: vec![vec![15], vec![3, 1 << 63], vec![21]], pairs: vec![[0, 1], [2, 0]] }
}

/// Adds a file with two moduli, a further place and two pairs.
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
        shared: pairs(),
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
    let empty =
        Content { moduli: vec![], product: &[1], repeats: vec![], shared: Pairs::default() };
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
    assert_eq!(part.shared().unwrap(), pairs());
    assert!(empty.moduli().unwrap().all().is_empty());
    assert_eq!(empty.shared().unwrap(), Pairs::default());
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

/// Replaces the header and the pairs of the file of [`add`], with right digests, and reads everything.
fn changed(header: &dyn Fn(&str) -> String, pairs: Option<&str>) -> Result<Pairs, KeysError> {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(dir.path()).unwrap();
    add(&mut store);
    drop(store);
    let path = dir.path().join("part-00000001.keys");
    let sound = fs::read(&path).unwrap();
    let end = sound.iter().position(|&c| c == b'\n').unwrap();
    let line = std::str::from_utf8(&sound[..end]).unwrap();
    let mut object = line.split_once("\"part\":").unwrap().1.strip_suffix('}').unwrap().to_owned();
    let mut body = sound[end + 1..].to_vec();
    if let Some(pairs) = pairs {
        let begin = body.windows(10).rposition(|some| some == b"{\"moduli\":").unwrap();
        let old = String::from_utf8(body.split_off(begin)).unwrap();
        body.extend(pairs.bytes());
        let extent =
            |text: &str| format!("{},\"sha256\":\"{}\"", text.len(), warpint_files::sha256(text));
        assert!(object.contains(&extent(&old)));
        object = object.replace(&extent(&old), &extent(pairs));
    }
    let object = header(&object);
    let digest = warpint_files::sha256(&object);
    let line = format!("{{\"sha256\":\"{digest}\",\"part\":{object}}}\n");
    fs::write(&path, [line.as_bytes(), &body].concat()).unwrap();
    let store = Store::open(dir.path())?;
    read(&store)?;
    store.parts()[0].shared()
}

#[test]
fn other_versions_and_wrong_contents_with_right_digests_are_refused() {
    let with = |from: &'static str, to: &'static str| {
        let header = move |object: &str| {
            assert!(object.contains(from));
            object.replace(from, to)
        };
        changed(&header, None).unwrap_err()
    };
    for (version, to) in [(0, "\"version\":0"), (3, "\"version\":3")] {
        let other = with("\"version\":2", to);
        assert!(
            matches!(other, KeysError::LaterVersion { version: v, .. } if v == version),
            "{other}"
        );
    }
    for (from, to) in [
        ("\"moduli\":2", "\"moduli\":3"),
        ("\"moduli\":2", "\"moduli\":18446744073709551615"),
        ("\"bytes\":32", "\"bytes\":18446744073709551615"),
        ("\"version\":2,", "\"version\":1,"),
    ] {
        let error = with(from, to);
        assert!(matches!(error, KeysError::Damaged { .. }), "{to}: {error}");
    }
    for object in ["{\"version\":2}", "[]"] {
        let error = changed(&|_| object.into(), None).unwrap_err();
        assert!(matches!(error, KeysError::Damaged { .. }), "{object}: {error}");
    }
    let same = |object: &str| object.to_owned();
    for pairs in [
        "{\"moduli\":[\"f\"],\"pairs\":[[0,1]]}",
        "{\"moduli\":[\"f\",\"x\"],\"pairs\":[[0,1]]}",
        "{\"moduli\":[\"f\",\"15\"],\"pairs\":[[0]]}",
        "{\"moduli\":[\"f\",\"0\"],\"pairs\":[]}",
        "[[\"f\",\"15\"]]",
    ] {
        let error = changed(&same, Some(pairs)).unwrap_err();
        assert!(matches!(error, KeysError::Damaged { .. }), "{pairs}: {error}");
    }
}

/// A file of version 1 has both moduli of each pair in digits.
#[test]
fn pairs_of_version_1_are_read() {
    let first = |object: &str| object.replace("\"version\":2", "\"version\":1");
    let read =
        changed(&first, Some("[[\"f\",\"80000000000000000000000000000003\"],[\"15\",\"f\"]]"));
    let moduli = vec![vec![15], vec![3, 1 << 63], vec![0x15]];
    assert_eq!(read.unwrap(), Pairs { moduli, pairs: vec![[0, 1], [2, 0]] });
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
