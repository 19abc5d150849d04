//! Tests of `warpint work` with certifications, each of which has a start residue.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Ran, warpint};

const AID: &str = "FEEE9DCD59A0855711265C1165C4C693";
const OTHER: &str = "0123456789ABCDEF0123456789ABCDEF";
/// The SHA3-256 digest of the residue 3^(2^1279) mod M1279. The residue is 9, because M1279 is
/// prime. The digest was computed by Python's hashlib.
const HASH: &str = "913CB83E1B12BA56F1B436D82F41FA45BA016F37D962CBC2FEF34DADB2445D3F";

struct Site(tempfile::TempDir);

impl Site {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("w")).unwrap();
        Self(dir)
    }

    fn dir(&self) -> PathBuf {
        self.0.path().join("w")
    }

    fn start(&self) -> PathBuf {
        self.dir().join("M1279.cert")
    }

    fn begin_with(&self, value: u8) {
        let mut start = vec![0; 160];
        start[0] = value;
        fs::write(self.start(), start).unwrap();
    }

    fn work(&self, lines: &str) -> Ran {
        fs::write(self.dir().join("worktodo.txt"), lines).unwrap();
        warpint(self.0.path(), "work w")
    }

    fn left(&self) -> String {
        fs::read_to_string(self.dir().join("worktodo.txt")).unwrap()
    }

    fn results(&self) -> Vec<Value> {
        read(&self.dir().join("results.txt"))
    }
}

fn read(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

#[test]
fn a_certification_comes_first_and_takes_its_start_with_it() {
    let site = Site::new();
    site.begin_with(3);
    let ran = site.work(&format!("PRP=1,2,127,-1\nCert={AID},1,2,1279,-1,1279\nTest=61\n"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let kinds: Vec<_> = site.results().iter().map(|r| r["worktype"].clone()).collect();
    assert_eq!(kinds, ["Cert", "PRP-3", "LL"]);
    assert_eq!(site.results()[0]["sha3-hash"], HASH);
    assert_eq!((site.left().as_str(), site.start().exists()), ("", false));
}

#[test]
fn another_assignment_is_computed_anew() {
    let site = Site::new();
    let cert = |aid: &str, squarings: u32| format!("Cert={aid},1,2,1279,-1,{squarings}\n");
    let mut expected = vec![];
    for (aid, squarings, start, says) in [
        (AID, 1279, 3, ""),
        // Another assignment identifier: the same work is done once more.
        (OTHER, 1279, 3, "is that of another assignment, testing again"),
        // Another number of squarings, then another start residue.
        (OTHER, 1278, 3, ""),
        (OTHER, 1279, 4, ""),
    ] {
        site.begin_with(start);
        let ran = site.work(&cert(aid, squarings));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.err.contains(says) && ran.err.contains("M1279, Cert: engine "), "{ran:?}");
        assert!(!ran.err.contains("finished before"), "{ran:?}");
        assert!(!site.start().exists(), "{ran:?}");
        expected.push((aid, squarings));
        let found = site.results();
        let found: Vec<_> = found
            .iter()
            .map(|r| (r["aid"].as_str().unwrap(), r["squarings"].as_u64().unwrap() as u32))
            .collect();
        assert_eq!(found, expected);
    }
    let found = site.results();
    let hashes: Vec<_> = found.iter().map(|r| r["sha3-hash"].as_str().unwrap()).collect();
    assert_eq!(hashes[..2], [HASH; 2]);
    assert!(hashes[2..].iter().all(|&hash| hash != HASH) && hashes[2] != hashes[3]);

    // Without its start residue no certification is done, even if a result is stored.
    let line = cert("00000000000000000000000000000001", 1279);
    let ran = site.work(&line);
    assert_eq!((ran.code, site.left()), (Some(2), line), "{ran:?}");
    assert!(ran.err.contains("w/M1279.cert, the start residue of the certification"));
    assert_eq!(site.results().len(), 4);
}

#[test]
fn one_that_was_killed_behind_its_result_is_reported_once() {
    let site = Site::new();
    let line = format!("Cert={AID},1,2,1279,-1,1279\n");
    site.begin_with(3);
    assert_eq!(site.work(&line).code, Some(0));
    // The process was killed before the line was removed.
    site.begin_with(3);
    let ran = site.work(&line);
    assert!(ran.code == Some(0) && ran.err.contains("finished before"), "{ran:?}");
    assert_eq!((site.left().as_str(), site.start().exists()), ("", false));
    // The process was killed before the start residue was removed.
    site.begin_with(3);
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1 << 30);
    fs::File::options().write(true).open(site.start()).unwrap().set_modified(long_ago).unwrap();
    let ran = site.work("# nothing\n");
    assert!(ran.err.contains("w/M1279.cert is removed: its certification is finished"), "{ran:?}");
    assert!(!site.start().exists());
    // Two equal lines are one assignment.
    site.begin_with(3);
    let ran = site.work(&line.repeat(2));
    assert_eq!((ran.code, site.left().as_str()), (Some(0), ""), "{ran:?}");
    assert!(!site.start().exists());
    assert_eq!(site.results().len(), 1);
}
