//! Tests that the results file keeps its contents and receives each result once.

use std::fs;

use proptest::prelude::*;
use warpint_gimps::{
    Appended, ErrorTally, ProofInfo, ResultLine, ResultsError, ResultsFile, Status, append_object,
    append_result, append_text, check_results_path, try_results_file, utc_now,
};

fn status() -> impl Strategy<Value = Status> {
    prop_oneof![Just(Status::Prime), Just(Status::Composite)]
}

prop_compose! {
    fn ll()(p in 2u32..1 << 31, status in status(), res64 in "[0-9A-F]{16}", n in 1usize..1 << 30) -> ResultLine {
        ResultLine::ll(p, status, res64, n)
    }
}

prop_compose! {
    fn prp()(
        p in 2u32..1 << 31, status in status(), res64 in "[0-9A-F]{16}", res2048 in "[0-9a-f]{512}",
        n in 1usize..1 << 30, gerbicz: u32, aid in proptest::option::of("[0-9A-F]{32}"),
        user in proptest::option::of("\\PC*"), computer in proptest::option::of(".*"),
        known_factors in proptest::collection::vec("[1-9][0-9]{1,30}", 0..3), shift_count: u32,
        proof in proptest::option::of((8u32..12, "[0-9a-f]{32}")),
    ) -> ResultLine {
        let proof = proof.map(|(power, md5)| ProofInfo::version_2(power, md5));
        let shift_count = Some(shift_count);
        ResultLine { aid, user, computer, known_factors, shift_count, proof, ..ResultLine::prp(p, status, res64, res2048, n, gerbicz) }
    }
}

prop_compose! {
    fn cert()(
        p in 2u32..1 << 31, squarings: u64, sha3_hash in "[0-9A-F]{64}", n in 1usize..1 << 30,
        aid in "[0-9A-F]{32}",
    ) -> ResultLine {
        ResultLine { aid: Some(aid), ..ResultLine::cert(p, squarings, sha3_hash, n) }
    }
}

prop_compose! {
    fn factor()(p in 2u32..1 << 31, factor in "[1-9][0-9]{1,30}", user in proptest::option::of(".*")) -> ResultLine {
        ResultLine { user, ..ResultLine::factor(p, factor) }
    }
}

prop_compose! {
    fn twice()(line in ll()) -> ResultLine {
        ResultLine { engines: vec!["fp64".into(), "goldilocks".into()], ..line }
    }
}

fn line() -> impl Strategy<Value = ResultLine> {
    prop_oneof![ll(), prp(), cert(), factor(), twice()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_line_is_one_line_and_parses_back(line in line()) {
        let text = serde_json::to_string(&line).unwrap();
        prop_assert!(!text.contains(['\n', '\r']));
        prop_assert!(!text.contains("null"), "absent fields are absent: {text}");
        prop_assert_eq!(serde_json::from_str::<ResultLine>(&text).unwrap(), line);
    }

    #[test]
    fn appending_keeps_every_old_byte(
        old in proptest::collection::vec(any::<u8>(), 0..200), lines in proptest::collection::vec(line(), 1..5),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("results.txt");
        fs::write(&path, &old).unwrap();
        for line in &lines {
            append_result(&path, line).unwrap();
        }
        let new = fs::read(&path).unwrap();
        prop_assert!(new.starts_with(&old));
        let torn = usize::from(old.last().is_some_and(|&b| b != b'\n'));
        let added = std::str::from_utf8(&new[old.len() + torn..]).unwrap();
        let read: Vec<ResultLine> =
            added.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        prop_assert!(added.ends_with('\n'));
        prop_assert_eq!(read, lines);
    }

    #[test]
    fn a_result_is_written_once(lines in proptest::collection::vec(line(), 1..5), pick: prop::sample::Index) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("results.txt");
        for line in &lines {
            append_result(&path, line).unwrap();
        }
        let before = fs::read(&path).unwrap();
        let mut again = lines[pick.index(lines.len())].clone();
        again.timestamp = "1999-12-31 23:59:59".into();
        prop_assert_eq!(append_result(&path, &again).unwrap(), Appended::AlreadyThere);
        prop_assert_eq!(fs::read(&path).unwrap(), before);
    }
}

#[test]
fn fields_are_those_of_gimps() {
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    let res2048 = "0".repeat(511) + "1";
    let mut line =
        ResultLine::prp(127, Status::Prime, "0000000000000001".into(), res2048.clone(), 8, 2);
    line.timestamp = "2026-01-02 03:04:05".into();
    let expected = r#"{"status":"P","exponent":127,"worktype":"PRP-3","res64":"0000000000000001","residue-type":1,"res2048":"RES2048","fft-length":8,"shift-count":0,"errors":{"gerbicz":2},"program":{"name":"warpint","version":"VERSION"},"timestamp":"2026-01-02 03:04:05"}"#
        .replace("RES2048", &res2048)
        .replace("VERSION", VERSION);
    assert_eq!(serde_json::to_string(&line).unwrap(), expected);

    let mut line = ResultLine::ll(67, Status::Composite, "0000000000000ABC".into(), 4);
    line.timestamp = "2026-01-02 03:04:05".into();
    let expected = r#"{"status":"C","exponent":67,"worktype":"LL","res64":"0000000000000ABC","error-code":"00000000","fft-length":4,"shift-count":0,"program":{"name":"warpint","version":"VERSION"},"timestamp":"2026-01-02 03:04:05"}"#
        .replace("VERSION", VERSION);
    assert_eq!(serde_json::to_string(&line).unwrap(), expected);
    line.engines = vec!["fp64".into(), "goldilocks".into()];
    let both = r#""engines":["fp64","goldilocks"],"fft-length""#;
    let expected = expected.replace(r#""fft-length""#, both);
    assert_eq!(serde_json::to_string(&line).unwrap(), expected);

    // The line claims only a factor: no range, and no residue.
    let mut line = ResultLine::factor(29, "233".into());
    line.timestamp = "2026-01-02 03:04:05".into();
    let expected = r#"{"status":"F","exponent":29,"worktype":"TF","factors":["233"],"program":{"name":"warpint","version":"VERSION"},"timestamp":"2026-01-02 03:04:05"}"#
        .replace("VERSION", VERSION);
    assert_eq!(serde_json::to_string(&line).unwrap(), expected);

    let mut line = ResultLine::cert(67, 9, "0".repeat(64), 4);
    line.aid = Some("FEEE9DCD59A0855711265C1165C4C693".into());
    line.timestamp = "2026-01-02 03:04:05".into();
    let expected = r#"{"exponent":67,"worktype":"Cert","sha3-hash":"HASH","squarings":9,"error-code":"00000000","fft-length":4,"shift-count":0,"program":{"name":"warpint","version":"VERSION"},"timestamp":"2026-01-02 03:04:05","aid":"FEEE9DCD59A0855711265C1165C4C693"}"#
        .replace("HASH", &"0".repeat(64))
        .replace("VERSION", VERSION);
    assert_eq!(serde_json::to_string(&line).unwrap(), expected);
}

#[test]
fn cofactors_and_proofs_are_in_the_line() {
    let mut line = ResultLine::prp(67, Status::Composite, "7".into(), "7".into(), 4, 0);
    line.residue_type = Some(5);
    line.known_factors = vec!["193707721".into()];
    line.proof = Some(ProofInfo::version_2(8, "ab".repeat(16)));
    let json = serde_json::to_value(&line).unwrap();
    assert_eq!(json["residue-type"], 5);
    assert_eq!(json["known-factors"], serde_json::json!(["193707721"]));
    assert_eq!(
        json["proof"],
        serde_json::json!({"version": 2, "power": 8, "hashsize": 64, "md5": "ab".repeat(16)})
    );
}

#[test]
fn the_time_is_of_the_form_that_servers_read() {
    let now = utc_now();
    let shape: String = now.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000-00-00 00:00:00");
    assert!(now.as_str() > "2025", "{now}");
}

#[test]
fn a_different_result_of_the_same_exponent_is_another_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("results.txt");
    let first = ResultLine::prp(67, Status::Composite, "7".into(), "7".into(), 4, 0);
    let second = ResultLine { errors: Some(ErrorTally { gerbicz: 1 }), ..first.clone() };
    assert_eq!(append_result(&path, &first).unwrap(), Appended::Written);
    assert_eq!(append_result(&path, &second).unwrap(), Appended::Written);
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 2);
}

#[test]
fn a_complete_line_that_lost_its_newline_gets_it_back() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("results.txt");
    let line = ResultLine::ll(67, Status::Composite, "7".into(), 4);
    let text = serde_json::to_string(&line).unwrap();
    fs::write(&path, &text).unwrap();
    assert_eq!(append_result(&path, &line).unwrap(), Appended::AlreadyThere);
    assert_eq!(fs::read_to_string(&path).unwrap(), text + "\n");
}

#[test]
fn errors_name_the_path_and_the_reason() {
    let dir = tempfile::tempdir().unwrap();
    let line = ResultLine::ll(67, Status::Composite, "7".into(), 4);
    let missing = dir.path().join("missing").join("results.txt");
    let message = append_result(&missing, &line).unwrap_err().to_string();
    let start = format!("cannot write the results file {}: ", missing.display());
    assert!(message.starts_with(&start) && message.len() > start.len(), "{message}");
    assert_eq!(try_results_file(&missing).unwrap_err().to_string(), message);

    let message = append_result(dir.path(), &line).unwrap_err().to_string();
    let whole = format!("the results file {} is a directory, not a file", dir.path().display());
    assert_eq!(message, whole);
    assert_eq!(check_results_path(dir.path()).unwrap_err().to_string(), whole);
    assert!(check_results_path(&missing).is_ok(), "there may be a folder by then");
}

#[test]
fn a_trial_makes_the_file_and_changes_none() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("results.txt");
    check_results_path(&path).unwrap();
    assert!(!path.exists());
    try_results_file(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"");
    fs::write(&path, "torn").unwrap();
    try_results_file(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"torn");
}

#[test]
fn lines_too_long_are_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("results.txt");
    let line = ResultLine::ll(67, Status::Composite, "7".into(), 4);
    let text = serde_json::to_string(&line).unwrap();
    let blanks = " ".repeat(1 << 16);
    // In a line that is too long: at its start, in its middle, at its end.
    for long in [format!("{text}{blanks}"), format!("{blanks}{text}{blanks}")] {
        fs::write(&path, format!("{long}\n")).unwrap();
        assert_eq!(append_result(&path, &line).unwrap(), Appended::Written);
        assert_eq!(append_result(&path, &line).unwrap(), Appended::AlreadyThere);
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{long}\n{text}\n"));
    }
    // An incomplete line is ended first.
    for length in [(1 << 16) - 1, 1 << 16, (1 << 16) + 1, 1 << 18] {
        let torn = "x".repeat(length);
        fs::write(&path, &torn).unwrap();
        assert_eq!(append_result(&path, &line).unwrap(), Appended::Written);
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{torn}\n{text}\n"));
    }
    // The longest line that is compared.
    fs::write(&path, format!("{text:<0$}\n", (1 << 16) - 1)).unwrap();
    assert_eq!(append_result(&path, &line).unwrap(), Appended::AlreadyThere);
}

#[cfg(unix)]
mod special_files {
    use super::*;

    /// Runs `call` in a separate thread and returns its result. Panics if the call takes longer
    /// than 20 seconds, because it must not block.
    fn at_once<T: Send + 'static>(call: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(call()));
        receiver.recv_timeout(std::time::Duration::from_secs(20)).unwrap()
    }

    #[test]
    fn what_can_never_be_a_results_file_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let (fifo, socket) = (dir.path().join("fifo"), dir.path().join("socket"));
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for (path, found) in [(fifo, "a FIFO"), (socket, "a socket")] {
            let errors = at_once(move || {
                let line = ResultLine::ll(67, Status::Composite, "7".into(), 4);
                [
                    append_result(&path, &line).map(drop),
                    check_results_path(&path),
                    try_results_file(&path),
                ]
            });
            for error in errors {
                let Err(ResultsError::NotAFile { what, .. }) = error else { panic!("{error:?}") };
                assert_eq!(what, found);
            }
        }
    }

    #[test]
    fn a_link_is_followed_only_where_the_user_has_named_it() {
        let dir = tempfile::tempdir().unwrap();
        let (link, target) = (dir.path().join("results.txt"), dir.path().join("elsewhere"));
        fs::write(&target, "untouched\n").unwrap();
        std::os::unix::fs::symlink("elsewhere", &link).unwrap();
        let line = ResultLine::ll(67, Status::Composite, "7".into(), 4);
        let own = ResultsFile::Own(&link);
        for refused in
            [check_results_path(own), try_results_file(own), append_result(own, &line).map(drop)]
        {
            let error = refused.unwrap_err().to_string();
            assert!(error.ends_with("results.txt is a symbolic link, not a file"), "{error}");
        }
        assert_eq!(fs::read_to_string(&target).unwrap(), "untouched\n");
        assert_eq!(append_result(&link, &line).unwrap(), Appended::Written);
        assert_eq!(append_result(&link, &line).unwrap(), Appended::AlreadyThere);
        assert_eq!(fs::read_to_string(&target).unwrap().lines().count(), 2);
        // A directory of the program that has vanished is created again.
        let own = dir.path().join("gone/results.txt");
        assert!(append_result(&own, &line).is_err());
        assert_eq!(append_result(ResultsFile::Own(&own), &line).unwrap(), Appended::Written);
        assert_eq!(fs::read_to_string(&own).unwrap().lines().count(), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn devices_are_written_to_and_not_read() {
        let line = ResultLine::ll(67, Status::Composite, "7".into(), 4);
        for path in ["/dev/null", "/dev/full"] {
            check_results_path(path).unwrap();
            try_results_file(path).unwrap();
        }
        assert_eq!(append_result("/dev/null", &line).unwrap(), Appended::Written);
        // Endless when read, full when written.
        let full = at_once(move || append_result("/dev/full", &line));
        assert!(matches!(full, Err(ResultsError::Write { .. })), "{full:?}");
    }
}

#[test]
fn objects_and_lines_of_text_are_appended_once_too() {
    let dir = tempfile::tempdir().unwrap();
    let [objects, lines] = ["objects", "lines"].map(|name| dir.path().join(name));
    let object = |time: &str| serde_json::json!({"number": "3*2^189+1", "timestamp": time});
    assert_eq!(append_object(&objects, &object("now")).unwrap(), Appended::Written);
    assert_eq!(append_object(&objects, &object("later")).unwrap(), Appended::AlreadyThere);
    let found = fs::read_to_string(&objects).unwrap();
    assert_eq!(found, "{\"number\":\"3*2^189+1\",\"timestamp\":\"now\"}\n");

    fs::write(&lines, "one\ntwo").unwrap();
    for (line, appended, text) in [
        ("one", Appended::AlreadyThere, "one\ntwo\n"),
        ("tw", Appended::Written, "one\ntwo\ntw\n"),
        ("two", Appended::AlreadyThere, "one\ntwo\ntw\n"),
    ] {
        assert_eq!(append_text(&lines, line).unwrap(), appended, "{line}");
        assert_eq!(fs::read_to_string(&lines).unwrap(), text, "{line}");
    }
    fs::write(&lines, "one\ntwo").unwrap();
    assert_eq!(append_text(&lines, "two").unwrap(), Appended::AlreadyThere);
    assert_eq!(fs::read_to_string(&lines).unwrap(), "one\ntwo\n");
}
