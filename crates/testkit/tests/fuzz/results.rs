//! Malformed results files, to which other programs and users also write.

use std::fs;

use proptest::collection::vec;
use proptest::prelude::*;
use warpint_gimps::{Appended, ResultLine, Status, append_result};

use crate::memory::{allowed, most_used};
use crate::mutate::mutated;
use crate::{cases, cases_on_disk};

fn line() -> ResultLine {
    ResultLine::ll(44_497, Status::Prime, "0000000000000000".into(), 2_560)
}

fn prp() -> ResultLine {
    let res2048 = "0123456789abcdef".repeat(32);
    ResultLine::prp(4_441, Status::Composite, "2E99406CF50FC7F1".into(), res2048, 240, 1)
}

/// Returns results files with lines of this program and of other programs.
fn sound() -> Vec<Vec<u8>> {
    let text = |line: &ResultLine| format!("{}\n", serde_json::to_string(line).unwrap());
    let (ll, prp) = (text(&line()), text(&prp()));
    let foreign = "M11213 is prime! Result by another program\n[[[[[[{\"a\":1e9}\n";
    [ll.clone(), format!("{prp}{ll}"), format!("{foreign}{prp}"), ll.trim_end().to_owned()]
        .map(String::into_bytes)
        .into()
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn fuzz_result_line_that_was_changed(bytes in mutated(sound())) {
        for piece in bytes.split(|&b| b == b'\n') {
            let (found, most) = most_used(|| serde_json::from_slice::<ResultLine>(piece));
            prop_assert!(most <= allowed(4, piece.len()), "{most} bytes for {}", piece.len());
            let Ok(found) = found else { continue };
            let again = serde_json::to_string(&found).unwrap();
            prop_assert_eq!(serde_json::from_str::<ResultLine>(&again).unwrap(), found);
        }
    }
}

proptest! {
    #![proptest_config(cases_on_disk())]

    #[test]
    fn fuzz_results_file(
        old in prop_oneof![2 => mutated(sound()), 1 => vec(any::<u8>(), 0..300)],
        deep in 0usize..3_000,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("results.txt");
        // Deeply nested brackets overflow the stack of some JSON parsers.
        let mut old = old;
        old.extend(std::iter::repeat_n(b'[', deep));
        fs::write(&path, &old).unwrap();
        let (appended, most) = most_used(|| append_result(&path, &line()).unwrap());
        prop_assert!(most <= allowed(64, old.len()), "{most} bytes for {}", old.len());
        let new = fs::read(&path).unwrap();
        prop_assert!(new.starts_with(&old), "every old byte stays");
        prop_assert!(new.len() <= old.len() + 1_024);
        let lines = |bytes: &[u8]| bytes.iter().filter(|&&b| b == b'\n').count();
        prop_assert!(lines(&new) <= lines(&old) + 2 && new.ends_with(b"\n"));
        if appended == Appended::Written {
            let last = new[..new.len() - 1].rsplit(|&b| b == b'\n').next().unwrap();
            prop_assert_eq!(serde_json::from_slice::<ResultLine>(last).unwrap().exponent, 44_497);
        }
        prop_assert_eq!(append_result(&path, &line()).unwrap(), Appended::AlreadyThere);
        prop_assert_eq!(fs::read(&path).unwrap(), new);
        prop_assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
