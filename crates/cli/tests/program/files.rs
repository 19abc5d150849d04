//! Tests of the locations and permissions of the files that the program writes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Ran, WARPINT};

/// Returns the paths of all files and folders below a folder, with their modes.
fn below(dir: &Path) -> Vec<(PathBuf, u32)> {
    let mut found = vec![];
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        found.push((path.clone(), metadata.permissions().mode()));
        if metadata.is_dir() {
            found.extend(below(&path));
        }
    }
    found
}

/// A temporary folder that contains a home directory, a folder for temporary files, a working
/// directory and the directory that `--dir` names.
struct Places(tempfile::TempDir);

impl Places {
    fn new() -> Self {
        let places = Self(tempfile::tempdir().unwrap());
        for name in ["home", "tmp", "here"] {
            fs::create_dir(places.at(name)).unwrap();
        }
        places
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs `warpint <line> --dir DIR` in a shell with the given umask.
    fn run(&self, umask: &str, line: &str) -> Ran {
        let ran = Command::new("sh")
            .args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\""), WARPINT])
            .args(line.split(' '))
            .arg("--dir")
            .arg(self.at("dir"))
            .current_dir(self.at("here"))
            .env("HOME", self.at("home"))
            .env("TMPDIR", self.at("tmp"))
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_CACHE_HOME")
            .env_remove("WARPINT_CONFIG_DIR")
            .output()
            .unwrap();
        ran.into()
    }
}

#[test]
fn tests_make_files_in_dir_alone_and_none_that_others_may_change_or_run() {
    for (umask, file_mode) in [("022", 0o644), ("077", 0o600)] {
        let places = Places::new();
        for line in [
            "prp 4441 --no-tf --iterations 2000",
            "prp 4441 --no-tf --checkpoint-interval 0.001",
            "ll 4423 --no-tf --checkpoint-interval 0.001",
            "ll 4423 --start 10 --no-tf --iterations 1000",
        ] {
            let ran = places.run(umask, line);
            assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
        }
        // A damaged checkpoint that is set aside is still in its place.
        let checkpoint = places.at("dir").join("M4423/ll-10-0000001000.ckpt");
        fs::write(&checkpoint, "damaged").unwrap();
        let ran = places.run(umask, "ll 4423 --start 10 --no-tf --iterations 1200");
        assert_eq!(ran.code, Some(0), "{ran:?}");

        let found = below(places.0.path());
        let outside: Vec<_> = found
            .iter()
            .filter(|(path, _)| !path.starts_with(places.at("dir")))
            .map(|(path, _)| path.strip_prefix(places.0.path()).unwrap())
            .collect();
        assert_eq!(outside.len(), 3, "{outside:?}");

        let inside = below(&places.at("dir"));
        let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        let names: Vec<String> = inside.iter().map(|(path, _)| name(path)).collect();
        for expected in ["results.txt", "prp-result.json", "ll-result.json", "lock"] {
            assert!(names.contains(&expected.to_owned()), "{expected} in {names:?}");
        }
        assert!(names.iter().any(|name| name.ends_with(".bad")), "{names:?}");
        assert!(names.iter().any(|name| name.ends_with(".ckpt")), "{names:?}");
        for (path, mode) in inside.iter().filter(|(path, _)| path.is_file()) {
            // The damaged one was written by this test.
            if !name(path).ends_with(".bad") {
                assert_eq!(mode & 0o7777, file_mode, "{}", path.display());
            }
            assert_eq!(mode & 0o113, 0, "{}: {mode:o}", path.display());
        }
    }
}

#[test]
fn timings_go_into_the_configuration_folder_with_the_usual_mode() {
    let places = Places::new();
    let config = places.at("config");
    let ran = Command::new(WARPINT)
        .args(["tune", "4423", "--device", "cpu", "--threads", "1", "--variants", "1", "--json"])
        .current_dir(places.at("here"))
        .env("HOME", places.at("home"))
        .env("TMPDIR", places.at("tmp"))
        .env("WARPINT_CONFIG_DIR", &config)
        .output()
        .unwrap();
    let ran = Ran::from(ran);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let files = below(&config);
    assert!(files.iter().any(|(path, _)| path.ends_with("tuning.json")), "{files:?}");
    assert!(files.iter().all(|(_, mode)| mode & 0o113 == 0), "{files:?}");
    for name in ["home", "tmp", "here"] {
        assert_eq!(below(&places.at(name)), [], "{name}");
    }
}

#[test]
fn faults_clear_their_folders_away_and_touch_nothing_else() {
    let places = Places::new();
    let ran = Command::new(WARPINT)
        .args(["selftest", "--faults", "--device", "cpu", "fp64::a_"])
        .current_dir(places.at("here"))
        .env("HOME", places.at("home"))
        .env("TMPDIR", places.at("tmp"))
        .output()
        .unwrap();
    let ran = Ran::from(ran);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.lines().count() >= 6 && ran.out.ends_with("passed, 0 failed\n"), "{ran:?}");
    assert!(ran.out.contains("fp64::a_full_disk "), "{ran:?}");
    for name in ["home", "tmp", "here"] {
        assert_eq!(below(&places.at(name)), [], "{name}");
    }
}

#[test]
fn the_program_kills_itself_and_goes_on() {
    let places = Places::new();
    let ran = Command::new(WARPINT)
        .args(["selftest", "--faults", "--device", "cpu", "fp64::kills"])
        .env("TMPDIR", places.at("tmp"))
        .output()
        .unwrap();
    let ran = Ran::from(ran);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("kills, both residues right, one line of results each"), "{ran:?}");
    assert_eq!(below(&places.at("tmp")), []);
}
