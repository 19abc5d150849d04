//! Tests of configuration files, and of `warpint config`.

use std::fs;
use std::path::Path;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use serde_json::{Value, json};

use crate::common::{Ran, command, in_time, warpint};

#[cfg(unix)]
#[test]
fn a_link_that_leads_nowhere_is_a_mistake() {
    use std::os::unix::fs::symlink;
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("w")).unwrap();
    let link = dir.path().join("w/warpint.toml");
    for (target, says) in
        [("missing", "is a link to a missing file"), ("warpint.toml", "cannot be used")]
    {
        symlink(target, &link).unwrap();
        let ran = warpint(dir.path(), "work w");
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.error().contains(says) && ran.error().contains("w/warpint.toml"), "{ran:?}");
        let ran = warpint(dir.path(), "--no-config work w --quiet");
        assert!(!ran.err.contains("warpint.toml"), "{ran:?}");
        std::fs::remove_file(&link).unwrap();
    }
}

/// Writes the file of the work directory `w`.
fn of_directory(dir: &Path, text: &str) {
    fs::create_dir_all(dir.join("w")).unwrap();
    fs::write(dir.join("w/warpint.toml"), text).unwrap();
}

/// Writes the file of the user.
fn of_user(dir: &Path, text: &str) {
    fs::create_dir_all(dir.join("config")).unwrap();
    fs::write(dir.join("config/warpint.toml"), text).unwrap();
}

fn list(dir: &Path, lines: &str) {
    fs::create_dir_all(dir.join("w")).unwrap();
    fs::write(dir.join("w/worktodo.txt"), lines).unwrap();
}

fn lines(dir: &Path, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(dir.join("w").join(name)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the value of a key, its place and its line, as `warpint config w --json` prints them.
fn shown(ran: &Ran, key: &str) -> Value {
    let report = ran.json();
    let of_key = report["keys"].as_array().unwrap().iter().find(|of| of["key"] == key).unwrap();
    json!([of_key["value"], of_key["place"], of_key["line"]])
}

#[test]
fn results_have_the_names_of_the_files() {
    let dir = tempfile::tempdir().unwrap();
    list(dir.path(), "Test=N/A,127\n");
    of_directory(dir.path(), "user = \"ada\"\ndevice = \"cpu\"\n");
    of_user(dir.path(), "user = \"bob\"\ncomputer = \"attic\"\n");
    let ran = warpint(dir.path(), "work w --quiet");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    list(dir.path(), "Test=N/A,521\n");
    assert_eq!(warpint(dir.path(), "work w --user eve --quiet").code, Some(0));
    list(dir.path(), "Test=N/A,607\n");
    assert_eq!(warpint(dir.path(), "--no-config work w --device cpu").code, Some(0));
    let names: Vec<_> = lines(dir.path(), "results.txt")
        .iter()
        .map(|line| json!([line["exponent"], line["user"], line["computer"]]))
        .collect();
    let expected =
        [json!([127, "ada", "attic"]), json!([521, "eve", "attic"]), json!([607, null, null])];
    assert_eq!(names, expected);
}

#[test]
fn a_test_has_the_engine_of_the_files_unless_it_is_given() {
    let dir = tempfile::tempdir().unwrap();
    of_user(dir.path(), "engine = \"goldilocks\"\ndevice = \"cpu\"\nthreads = 1\n");
    let engine = |line: &str| {
        let ran = warpint(dir.path(), &format!("{line} --no-tf --restart --json --quiet"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.json()["engine"].as_str().unwrap().to_owned()
    };
    assert_eq!(engine("prp 1279 --dir w"), "goldilocks");
    assert_eq!(engine("ll 1279 --dir w"), "goldilocks");
    assert_eq!(engine("ll 1279 --dir w --engine fp64"), "fp64");
    of_directory(dir.path(), "engine = \"hybrid\"\n");
    assert_eq!(engine("ll 1279 --dir w"), "hybrid");
    assert_eq!(engine("ll 1279 --dir other"), "goldilocks");
    assert_eq!(engine("ll 1279 --dir w --engine fp64"), "fp64");
    assert_ne!(engine("--no-config ll 1279 --dir w --device cpu"), "hybrid");
}

#[cfg(unix)]
#[test]
fn every_worker_has_the_values_of_the_first_process() {
    let dir = tempfile::tempdir().unwrap();
    let file = "user = \"ada\"\ndevice = \"cpu\"\nengine = \"goldilocks\"\nworkers = 2\ntogether = 2\n\
                checkpoint-interval = 7\nthreads = 2\n";
    let first = "Test=N/A,521\n";
    for (options, engine, files) in [
        ("", Some("goldilocks"), ["results-0.txt", "results-2.txt"]),
        // Defaults that the command line asks for come before values of the file, in workers too.
        (" --together 1 --engine auto", None, ["results-0.txt", "results-1.txt"]),
        // A worker with a number is one process.
        (" --worker 4 --together 1", Some("goldilocks"), ["results-4.txt", "results-4.txt"]),
    ] {
        let _ = fs::remove_dir_all(dir.path().join("w"));
        of_directory(dir.path(), file);
        list(dir.path(), first);
        for name in files {
            let own = name.replace("results", "worktodo");
            fs::write(dir.path().join("w").join(own), "Test=N/A,607\nTest=N/A,1279\n").unwrap();
        }
        let ran = warpint(dir.path(), &format!("work w --json{options}"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        for name in files {
            assert!(!lines(dir.path(), name).is_empty(), "{options}: {name}");
            assert!(lines(dir.path(), name).iter().all(|line| line["user"] == "ada"));
        }
        let of_all: Vec<Value> =
            ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let engines = of_all.iter().filter_map(|line| line["engine"].as_str());
        let is_right = |found: &str| engine.map_or(found != "goldilocks", |engine| found == engine);
        assert!(engines.clone().count() > 0 && engines.clone().all(is_right), "{options}: {ran:?}");
    }
}

#[test]
fn the_report_has_each_value_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "config w --json");
    assert_eq!(shown(&ran, "user"), json!([null, null, null]));
    assert_eq!(shown(&ran, "device"), json!(["auto", null, null]));
    assert_eq!(shown(&ran, "checkpoint-interval"), json!([60, null, null]));
    of_directory(dir.path(), "\nthreads = 3\ncheckpoint-interval = 0.5\n");
    of_user(dir.path(), "threads = 5\ndevice = \"all\"\n");
    let ran = warpint(dir.path(), "config w --json");
    assert_eq!(shown(&ran, "threads"), json!([3, "directory", 2]));
    assert_eq!(shown(&ran, "checkpoint-interval"), json!([0.5, "directory", 3]));
    assert_eq!(shown(&ran, "device"), json!(["all", "user", 2]));
    let files = &ran.json()["files"];
    let user = dir.path().join("config/warpint.toml");
    assert_eq!(files[0], json!({"place": "directory", "path": "w/warpint.toml", "exists": true}));
    assert_eq!(files[1], json!({"place": "user", "path": user, "exists": true}));
    let text = warpint(dir.path(), "config w").out;
    assert!(text.starts_with("w/warpint.toml: 2 keys\n"), "{text}");
    assert!(text.contains("\nthreads              3     w/warpint.toml:2\n"), "{text}");
    let ran = warpint(dir.path(), "--no-config config w --json");
    assert_eq!(
        (&ran.json()["files"], shown(&ran, "device")),
        (&json!([]), json!(["auto", null, null]))
    );
}

#[test]
fn a_mistake_ends_each_command_before_its_work() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "7\n").unwrap();
    list(dir.path(), "Test=N/A,127\n");
    let of_tests = ["work w", "work w --add Test=61", "prp 127 --dir w", "ll 127 --dir w"];
    let of_all = ["batch sqr a.txt -o r.txt", "calc fac 9 -o r.txt", "collatz verify --below 2^20"];
    for (of_file, name, commands) in [
        (of_directory as fn(&Path, &str), "w/warpint.toml", &of_tests[..]),
        (
            of_user,
            "config/warpint.toml",
            &[of_tests, ["config w", of_all[0], of_all[1], of_all[2]]].concat(),
        ),
    ] {
        of_file(dir.path(), "# settings\n  devcie = \"cpu\"\n");
        for line in commands {
            let ran = warpint(dir.path(), line);
            assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
            let says = format!("{name}:2:3: unknown key 'devcie': do you mean 'device'?");
            assert!(ran.error().contains(&says), "{line}: {ran:?}");
        }
        assert_eq!(warpint(dir.path(), "--no-config batch sqr a.txt -o r.txt -q").code, Some(0));
        fs::remove_file(dir.path().join("r.txt")).unwrap();
        fs::remove_file(dir.path().join(name)).unwrap();
    }
    assert_eq!(fs::read_to_string(dir.path().join("w/worktodo.txt")).unwrap(), "Test=N/A,127\n");
    let left = |path: &str| fs::read_dir(dir.path().join(path)).unwrap().count();
    assert_eq!((left(""), left("w")), (3, 1), "a command that ends so leaves nothing");
}

#[test]
fn commands_that_read_no_file_bear_a_mistake() {
    let dir = tempfile::tempdir().unwrap();
    of_user(dir.path(), "[");
    for line in ["devices", "status w", "completions bash", "selftest word:: --quiet", "prp --help"]
    {
        fs::create_dir_all(dir.path().join("w")).unwrap();
        let ran = warpint(dir.path(), line);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{line}: {ran:?}");
    }
}

#[test]
fn a_file_that_cannot_be_read_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w/warpint.toml");
    let says = |expected: &str| {
        let ran = in_time(command(dir.path(), ["ll", "127", "--dir", "w"]));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.error().contains(expected), "{expected}: {ran:?}");
    };
    of_directory(dir.path(), &"# too long\n".repeat(6_000));
    says("w/warpint.toml has 66000 bytes; at most 65536 are read");
    fs::write(&path, b"user = '\xff'\n").unwrap();
    says("w/warpint.toml:1:9: not text in UTF-8");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    says("w/warpint.toml is a directory, not a regular file");
    says("`warpint --no-config COMMAND`");
    fs::remove_dir(&path).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;

        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        says("w/warpint.toml is a FIFO, not a regular file");
        fs::remove_file(&path).unwrap();
        of_directory(dir.path(), "user = \"ada\"\n");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        // Not testable for a user whom permissions do not restrict.
        if fs::read(&path).is_err() {
            says("w/warpint.toml: Permission denied");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    assert_eq!(fs::read_dir(dir.path().join("w")).unwrap().count(), usize::from(cfg!(unix)));
}

#[test]
fn a_directory_that_is_missing_or_a_file_has_no_configuration() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let ran = warpint(dir.path(), "work file");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.error().starts_with("file is a file, not a directory"), "{ran:?}");
    let ran = warpint(dir.path(), "ll 127 --dir new --quiet");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
}

#[test]
fn the_example_of_the_book_has_every_key() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/configuration.md");
    let page = fs::read_to_string(page).unwrap();
    let (mut example, mut is_example) = (String::new(), false);
    for event in Parser::new(&page) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                is_example = info.as_ref() == "toml";
            }
            Event::Text(text) if is_example => example.push_str(&text),
            Event::End(TagEnd::CodeBlock) => is_example = false,
            _ => {}
        }
    }
    let dir = tempfile::tempdir().unwrap();
    of_directory(dir.path(), &example);
    let ran = warpint(dir.path(), "config w --json");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let report = ran.json();
    let keys = report["keys"].as_array().unwrap();
    assert!(keys.iter().all(|key| key["place"] == "directory"), "{report}");
    for key in keys {
        let (line, name) = (key["line"].as_u64().unwrap() as usize, key["key"].as_str().unwrap());
        assert!(example.lines().nth(line - 1).unwrap().starts_with(name), "{key}");
    }
}
