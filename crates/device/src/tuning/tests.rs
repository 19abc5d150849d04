use std::fs;

use super::*;

fn key(subject: &str) -> TuningKey {
    TuningKey {
        device: "NVIDIA H200".into(),
        driver: "580.159.04 (CUDA 13.0)".into(),
        program: "0.1.0".into(),
        subject: subject.into(),
    }
}

fn tuning(choice: &str, microseconds: f64) -> Tuning {
    Tuning { choice: choice.into(), microseconds }
}

/// Returns the stored timing, and asserts that there is no warning.
fn get(store: &TuningStore, key: &TuningKey) -> Option<Tuning> {
    let Warned { value, warning } = store.get(key).unwrap();
    assert_eq!(warning, None);
    value
}

fn put(store: &TuningStore, key: &TuningKey, tuning: &Tuning) {
    assert_eq!(store.put(key, tuning).unwrap().warning, None);
}

fn store() -> (tempfile::TempDir, TuningStore) {
    let dir = tempfile::tempdir().unwrap();
    let store = TuningStore::at(dir.path().join("not/made/yet"));
    (dir, store)
}

#[test]
fn timings_are_kept_by_device_driver_program_and_subject() {
    let (_dir, store) = store();
    assert_eq!(get(&store, &key("a")), None);
    assert!(!store.path().exists(), "asking writes nothing");
    put(&store, &key("a"), &tuning("2048x1024", 130.5));
    put(&store, &key("b"), &tuning("512x512", 21.0));
    put(&store, &key("a"), &tuning("1024x2048", 128.0));
    assert_eq!(get(&store, &key("a")), Some(tuning("1024x2048", 128.0)));
    assert_eq!(get(&store, &key("b")), Some(tuning("512x512", 21.0)));
    for other in [
        TuningKey { device: "NVIDIA A100".into(), ..key("a") },
        TuningKey { driver: "590.1 (CUDA 13.1)".into(), ..key("a") },
        TuningKey { program: "0.2.0".into(), ..key("a") },
        key("ab"),
    ] {
        assert_eq!(get(&store, &other), None, "{other:?}");
    }
    let again = TuningStore::at(store.folder.path());
    assert_eq!(get(&again, &key("b")), Some(tuning("512x512", 21.0)));
}

#[test]
fn all_timings_of_a_device_are_found_at_once() {
    let (_dir, store) = store();
    let info = DeviceInfo::h200();
    let all = || store.all(&info).unwrap().value;
    assert!(all().is_empty() && !store.path().exists(), "asking writes nothing");
    let of_device = |subject: &str| TuningKey::new(&info, subject);
    put(&store, &of_device("a"), &tuning("x", 1.0));
    put(&store, &of_device("b"), &tuning("y", 2.0));
    put(&store, &TuningKey { device: "NVIDIA A100".into(), ..of_device("c") }, &tuning("z", 3.0));
    put(&store, &TuningKey { driver: "590.1".into(), ..of_device("d") }, &tuning("z", 3.0));
    put(&store, &TuningKey { program: "0.0.1".into(), ..of_device("e") }, &tuning("z", 3.0));
    let expected = [("a", tuning("x", 1.0)), ("b", tuning("y", 2.0))];
    assert_eq!(all(), expected.map(|(subject, tuning)| (subject.to_owned(), tuning)).into());

    // Invalid entries are left out, and of two entries the same one is found as by `get`.
    let mut content: Value = serde_json::from_slice(&fs::read(store.path()).unwrap()).unwrap();
    let entries = content[ENTRIES].as_array_mut().unwrap();
    let mut twice = entries[0].clone();
    twice["microseconds"] = json!(9.0);
    entries[1]["microseconds"] = json!(-2.0);
    entries.extend([twice, json!(5)]);
    fs::write(store.path(), content.to_string()).unwrap();
    assert_eq!(all(), [("a".to_owned(), tuning("x", 1.0))].into());
    assert_eq!(get(&store, &of_device("a")), Some(tuning("x", 1.0)));

    fs::write(store.path(), "{").unwrap();
    let Warned { value, warning } = store.all(&info).unwrap();
    assert!(value.is_empty() && warning.unwrap().contains("tuning.json.bad"));
}

#[test]
fn a_corrupt_file_is_set_aside_with_a_warning() {
    for text in ["", "{", "[]", "{\"entries\": 5}", "\u{0}\u{1}"] {
        let (_dir, store) = store();
        put(&store, &key("a"), &tuning("x", 1.0));
        for by_writing in [false, true] {
            fs::write(store.path(), text).unwrap();
            let warning = if by_writing {
                store.put(&key("a"), &tuning("y", 2.0)).unwrap().warning
            } else {
                let Warned { value, warning } = store.get(&key("a")).unwrap();
                assert_eq!(value, None);
                warning
            };
            let warning = warning.unwrap();
            assert!(warning.contains("tuning.json.bad") && warning.lines().count() == 1);
            assert_eq!(fs::read_to_string(store.folder.file(SET_ASIDE)).unwrap(), text);
            assert_eq!(get(&store, &key("a")), by_writing.then(|| tuning("y", 2.0)));
        }
    }
}

#[test]
fn what_this_version_does_not_know_is_kept() {
    let (_dir, store) = store();
    put(&store, &key("a"), &tuning("x", 1.0));
    let mut content: Value = serde_json::from_slice(&fs::read(store.path()).unwrap()).unwrap();
    content["later"] = json!({ "n": 1 });
    content[ENTRIES][0]["watts"] = json!(700);
    content[ENTRIES].as_array_mut().unwrap().push(json!("of another kind"));
    fs::write(store.path(), content.to_string()).unwrap();
    put(&store, &key("a"), &tuning("y", 2.0));
    put(&store, &key("b"), &tuning("z", 3.0));
    let kept: Value = serde_json::from_slice(&fs::read(store.path()).unwrap()).unwrap();
    assert_eq!(kept["later"], json!({ "n": 1 }));
    let all = kept[ENTRIES].as_array().unwrap();
    assert!(all.contains(&json!("of another kind")));
    assert!(all.iter().any(|e| e["watts"] == 700 && e["choice"] == "y"), "{kept}");
    assert_eq!(all.len(), 3);
}

#[test]
fn a_timing_that_makes_no_sense_is_none() {
    let (_dir, store) = store();
    put(&store, &key("a"), &tuning("x", 1.0));
    let good = fs::read_to_string(store.path()).unwrap();
    for bad in ["-1.0", "0.0", "null", "\"fast\"", "1e999"] {
        fs::write(store.path(), good.replace(": 1.0,", &format!(": {bad},"))).unwrap();
        assert_ne!(fs::read_to_string(store.path()).unwrap(), good);
        assert_eq!(store.get(&key("a")).unwrap().value, None, "{bad}");
        put_over(&store);
    }
}

/// Asserts that a new timing replaces an invalid entry with the key `a`.
fn put_over(store: &TuningStore) {
    store.put(&key("a"), &tuning("x", 1.0)).unwrap();
    assert_eq!(get(store, &key("a")), Some(tuning("x", 1.0)));
    let content: Value = serde_json::from_slice(&fs::read(store.path()).unwrap()).unwrap();
    assert_eq!(content[ENTRIES].as_array().map(Vec::len), Some(1));
}

#[test]
fn writers_at_a_time_lose_nothing() {
    let (_dir, store) = store();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for i in 0..10 {
                    put(store, &key(&format!("{writer} {i}")), &tuning("x", 1.0));
                }
            });
        }
    });
    for writer in 0..4 {
        for i in 0..10 {
            assert!(get(&store, &key(&format!("{writer} {i}"))).is_some(), "{writer} {i}");
        }
    }
}

#[test]
fn a_folder_that_cannot_be_used_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let store = TuningStore::at(dir.path().join("file/config"));
    let error = store.put(&key("a"), &tuning("x", 1.0)).unwrap_err().to_string();
    assert!(error.starts_with("cannot write the timings in "), "{error}");
    assert!(error.contains("file/config/tuning.json"), "{error}");
}

/// Tests what happens if the file of timings is replaced by what `put_there` creates. In one case a
/// timing is then read, in another case a timing is written. Asserts that both cases give the same
/// warning, and returns it with the store's folder replaced by `DIR`.
fn warned_of(put_there: impl Fn(&std::path::Path)) -> String {
    let (_dir, store) = store();
    put(&store, &key("a"), &tuning("x", 1.0));
    let mut told = vec![];
    for by_writing in [false, true] {
        fs::remove_file(store.path()).unwrap();
        put_there(&store.path());
        told.extend(if by_writing {
            store.put(&key("a"), &tuning("y", 2.0)).unwrap().warning
        } else {
            let Warned { value, warning } = store.get(&key("a")).unwrap();
            assert_eq!(value, None);
            // The file is gone.
            assert_eq!(get(&store, &key("a")), None);
            put(&store, &key("a"), &tuning("x", 1.0));
            warning
        });
    }
    assert_eq!(get(&store, &key("a")), Some(tuning("y", 2.0)));
    assert!(told.len() == 2 && told[0] == told[1] && told[0].lines().count() == 1, "{told:?}");
    told[0].replace(store.folder.path().to_str().unwrap(), "DIR")
}

#[test]
fn a_file_of_gigabytes_is_refused_at_once_and_set_aside() {
    // A sparse file: nothing of it is on the disk, but all of it would be in memory.
    let warning = warned_of(|at| fs::File::create(at).unwrap().set_len(3 << 30).unwrap());
    assert_eq!(
        warning,
        "the timings in DIR/tuning.json cannot be used: it has 3221225472 bytes; at most 16777216 \
         are read; it was renamed to DIR/tuning.json.bad; tune again"
    );
}

#[cfg(unix)]
#[test]
fn what_is_no_file_in_place_of_timings_is_set_aside_and_in_place_of_their_lock_refused() {
    use std::os::unix::fs::symlink;
    let fifo = |at: &std::path::Path| {
        assert!(std::process::Command::new("mkfifo").arg(at).status().unwrap().success());
    };
    let endless = warned_of(|at| symlink("/dev/zero", at).unwrap());
    assert_eq!(
        endless,
        "the timings in DIR/tuning.json cannot be used: it is a symbolic link, not a regular file; \
         it was renamed to DIR/tuning.json.bad; tune again"
    );
    assert!(warned_of(fifo).contains("it is a FIFO, not a regular file"));

    let (_dir, store) = store();
    fs::create_dir_all(store.folder.path()).unwrap();
    fifo(&store.folder.file(LOCK));
    let error = store.put(&key("a"), &tuning("x", 1.0)).unwrap_err().to_string();
    assert!(error.contains("tuning.lock is a FIFO, not a regular file"), "{error}");
}
