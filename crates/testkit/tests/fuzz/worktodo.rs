//! Malformed lists of assignments, to which other programs and users also write.

use std::fs;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use warpint_gimps::{Line, WorkFile};

use crate::memory::{allowed, most_used};
use crate::mutate::mutated;
use crate::{cases, cases_synced};

const PATIENCE: Duration = Duration::from_secs(60);

/// Returns valid lists of assignments as servers, other programs and users write them.
fn sound() -> Vec<Vec<u8>> {
    [
        "PRP=FEEE9DCD59A0855711265C1165C4C693,1,2,82589933,-1,76,0\n",
        "# mine\r\n\r\nTest=9689\r\nPRPDC=N/A,1,2,1277,-1,70,1.5,3,5,\"1234567,89\"\r\n",
        "[Worker #1]\nPminus1=N/A,1,2,9689,-1,1000,0\nB1=5,B2=7;DoubleCheck=44497,70,1\nno work",
        "Cert=FEEE9DCD59A0855711265C1165C4C693,1,2,9689,-1,38\n",
    ]
    .map(|text| text.as_bytes().to_vec())
    .into()
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn fuzz_lines_that_were_changed(bytes in mutated(sound())) {
        for line in bytes.split(|&b| b == b'\n') {
            let (found, most) = most_used(|| Line::parse(line));
            prop_assert!(most <= allowed(8, line.len()), "{most} bytes for {}", line.len());
            if let Line::Work(assignment) = found {
                let again = assignment.to_string();
                prop_assert_eq!(Line::parse(again.as_bytes()), Line::Work(assignment));
            }
        }
    }
}

proptest! {
    #![proptest_config(cases_synced())]

    #[test]
    fn fuzz_work_file(
        list in prop_oneof![3 => mutated(sound()), 1 => vec(any::<u8>(), 0..300)],
        added in prop_oneof![1 => mutated(sound()), 1 => vec(any::<u8>(), 0..300)],
        pick: prop::sample::Index,
    ) {
        let outer = tempfile::tempdir().unwrap();
        fs::write(outer.path().join("beside"), "untouched").unwrap();
        let dir = outer.path().join("dir");
        fs::create_dir(&dir).unwrap();
        fs::write(dir.join("worktodo.txt"), &list).unwrap();
        fs::write(dir.join("worktodo.add"), &added).unwrap();

        let mut file = WorkFile::new(&dir, PATIENCE);
        let (before, most) = most_used(|| file.read().unwrap());
        // Even a line of one byte is an allocation.
        prop_assert!(most <= allowed(80, list.len()), "{most} bytes for {}", list.len());
        prop_assert!(before.iter().zip(1..).all(|(line, number)| line.number == number));
        file.merge_added().unwrap();
        let merged = file.read().unwrap();
        prop_assert!(merged.len() >= before.len());
        if !merged.is_empty() {
            let line = &merged[pick.index(merged.len())];
            prop_assert!(file.remove_line(&line.bytes).unwrap());
            // The first equal line is removed, and every other line stays.
            let mut left = merged.clone();
            left.remove(left.iter().position(|other| other.bytes == line.bytes).unwrap());
            let found = file.read().unwrap();
            let bytes = |lines: &[warpint_gimps::NumberedLine]| -> Vec<Vec<u8>> {
                lines.iter().map(|line| line.bytes.clone()).collect()
            };
            prop_assert_eq!(bytes(&found), bytes(&left));
        }
        prop_assert_eq!(fs::read(outer.path().join("beside")).unwrap(), b"untouched");
        prop_assert_eq!(fs::read_dir(outer.path()).unwrap().count(), 2);
        prop_assert!(!dir.join("worktodo.txt.lck").exists());
    }
}
