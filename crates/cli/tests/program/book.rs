//! Tests of the code blocks with the info string `console` in README.md and in the book. Their
//! commands are run, and must print the lines below them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use rayon::prelude::*;
use regex::Regex;

use crate::common::WARPINT;

/// The time limit of a command.
const PATIENCE: Duration = Duration::from_secs(60);

/// The texts of lines that match any number of lines of output.
const GAPS: [&str; 2] = ["…", "..."];

/// A command of a block, and its expected output.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    /// The number of the command's line in the page, counted from 1.
    line: usize,
    command: String,
    expected: Vec<String>,
}

/// Returns the commands of a page in order.
fn steps(page: &str) -> Result<Vec<Step>, String> {
    let mut steps = vec![];
    // The lines of a block with their numbers.
    let mut block: Option<Vec<(usize, String)>> = None;
    for (event, range) in Parser::new(page).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                if info.contains("onsole")
                    && !["console", "console,ignore"].contains(&info.as_ref())
                {
                    return Err(format!(
                        "a block is marked '{info}': give console or console,ignore"
                    ));
                }
                block = (info.as_ref() == "console").then(Vec::new);
            }
            // In a list each line comes by itself.
            Event::Text(text) => {
                let first = page[..range.start].matches('\n').count() + 1;
                let numbered = (first..).zip(text.lines().map(str::to_owned));
                block.iter_mut().for_each(|block| block.extend(numbered.clone()));
            }
            Event::End(TagEnd::CodeBlock) => read_block(block.take(), &mut steps)?,
            _ => {}
        }
    }
    Ok(steps)
}

/// Adds the commands of a block to `steps`. Returns an error if the block does not begin with a
/// command.
fn read_block(block: Option<Vec<(usize, String)>>, steps: &mut Vec<Step>) -> Result<(), String> {
    let mut begun = false;
    let mut goes_on = false;
    for (line, text) in block.unwrap_or_default() {
        let is_command = !goes_on && text.starts_with("$ ");
        match steps.last_mut() {
            _ if is_command => {
                let command = text["$ ".len()..].to_owned();
                steps.push(Step { line, command, expected: vec![] });
            }
            Some(step) if goes_on => {
                step.command.push('\n');
                step.command.push_str(text.strip_prefix("> ").unwrap_or(&text));
            }
            Some(step) if begun => step.expected.push(text.clone()),
            _ => return Err(format!("{line}: a block begins with a command behind $")),
        }
        begun = true;
        goes_on = (is_command || goes_on) && text.ends_with('\\');
    }
    Ok(())
}

/// Replacements for the parts of output that differ between runs and machines.
struct Masks(Vec<(Regex, &'static str)>);

impl Masks {
    fn new() -> Self {
        let masks = [
            // Folders of absolute paths.
            (r"(?:/[\w.+-]+)+/", "DIR/"),
            (r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d:\d\d(?: UTC|Z)?)?", "DATE"),
            (r#""([\w-]*(?:second|seconds|shift-count|seed))":[^,}]+"#, "\"$1\":TIME"),
            (r"round-off max [\d.]+(?: mean [\d.]+)?(?: Z \d+)?", "ROUND-OFF"),
            (r"\b\d+ threads?\b", "THREADS"),
            (r"\bprocess \d+", "PROCESS"),
            (r"\b[\d.]+(?:e\d+)?(?:/s| (?:a|per) second)\b", "RATE"),
            (r"\b[\d.]+ [KMGT]i?B(?:/s)?", "SIZE"),
            (r"\b[\d.]+ ?%", "PERCENT"),
            (r"\b\d+:\d\d(?::\d\d)?\b", "TIME"),
            (r"\b[\d.]+ (?:ns|µs|ms|s|sec|min|h)(?:/it)?\b", "TIME"),
            // Columns are as wide as their contents.
            (r"\s+", " "),
        ];
        Self(masks.map(|(mask, by)| (Regex::new(mask).unwrap(), by)).into())
    }

    fn masked(&self, line: &str) -> String {
        let masked = |line: String, (mask, by): &(Regex, &str)| mask.replace_all(&line, *by).into();
        self.0.iter().fold(line.trim_end().to_owned(), masked)
    }
}

/// Returns whether the lines of output are as expected. A gap ([`GAPS`]) matches any number of
/// lines.
fn agree(expected: &[String], got: &[String]) -> bool {
    match expected {
        [] => got.is_empty(),
        [gap, rest @ ..] if GAPS.contains(&gap.as_str()) => {
            (0..=got.len()).any(|skipped| agree(rest, &got[skipped..]))
        }
        [line, rest @ ..] => got.first() == Some(line) && agree(rest, &got[1..]),
    }
}

/// Returns the text that a command prints on standard output and standard error.
fn output(command: &str, folder: &Path) -> String {
    let path = folder.join("output");
    let file = File::create(&path).unwrap();
    let programs = Path::new(WARPINT).parent().unwrap().as_os_str().to_owned();
    let others = std::env::var_os("PATH").unwrap();
    let mut child = Command::new("bash")
        .args(["-c", command])
        .current_dir(folder.join("page"))
        .env("PATH", [programs, others].join(":".as_ref()))
        .env("WARPINT_CONFIG_DIR", folder.join("config"))
        // Blocks show output of the CPU.
        .env("CUDA_VISIBLE_DEVICES", "")
        .env("LC_ALL", "C.UTF-8")
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            return format!("(no end within {} s)", PATIENCE.as_secs());
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned()
}

/// Runs the commands of a page and compares their output with the expected output. Returns an error
/// at the first difference, because later commands may depend on earlier ones.
fn check(name: &Path, page: &str) -> Result<(), String> {
    let steps = steps(page).map_err(|wrong| format!("{}:{wrong}", name.display()))?;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("page")).unwrap();
    let masks = Masks::new();
    for Step { line, command, expected } in steps {
        let printed = output(&command, folder.path());
        let got: Vec<_> = printed.lines().map(|line| masks.masked(line)).collect();
        let wanted: Vec<_> = expected.iter().map(|line| masks.masked(line)).collect();
        if !agree(&wanted, &got) {
            return Err(format!(
                "{}:{line}: $ {command}\n--- expected\n{}\n--- got\n{}",
                name.display(),
                expected.join("\n"),
                printed.trim_end()
            ));
        }
    }
    Ok(())
}

/// Returns README.md and all pages of the book.
fn pages(root: &Path) -> Vec<PathBuf> {
    let mut pages = vec!["README.md".into()];
    let mut folders = vec![PathBuf::from("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                pages.push(path);
            }
        }
    }
    pages
}

#[test]
fn console_blocks_show_what_their_commands_print() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // A page whose blocks are not found would pass with any contents.
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    assert!(!steps(&readme).unwrap().is_empty(), "README.md shows no command");
    let failed: Vec<String> = pages(&root)
        .into_par_iter()
        .filter_map(|name| check(&name, &fs::read_to_string(root.join(&name)).unwrap()).err())
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
fn blocks_are_read() {
    let page = "# Page\n\n```console\n$ one \\\n> two\na\n$ three\n```\n\n```\n$ no\n```\n\n```console,ignore\n\
                $ no\n```\n\n- item\n\n  ```console\n  $ four\n  …\n  ```\n";
    let step = |line, command: &str, expected: &[&str]| Step {
        line,
        command: command.to_owned(),
        expected: expected.iter().map(|&line| line.to_owned()).collect(),
    };
    let all = [step(4, "one \\\ntwo", &["a"]), step(7, "three", &[]), step(21, "four", &["…"])];
    assert_eq!(steps(page).unwrap(), all);
    let wrong = steps("```console\nwarpint\n```\n").unwrap_err();
    assert_eq!(wrong, "2: a block begins with a command behind $");
}

#[test]
fn what_varies_is_masked_and_nothing_else() {
    let masks = Masks::new();
    let same = |a: &str, b: &str| assert_eq!(masks.masked(a), masks.masked(b));
    let differ = |a: &str, b: &str| assert_ne!(masks.masked(a), masks.masked(b));
    same(
        "3 results in 100.33 ms (reading 2 s), 20/s on cpu",
        "3 results in 1 ms (reading 0.5 µs), 3/s on cpu",
    );
    differ("3 results in 100.33 ms", "4 results in 100.33 ms");
    same("98 %, 86.3 µs/it, ETA 0:00", "1.5 %, 1 ms/it, ETA 10:01:02");
    same("process 17, since 2026-11-23 12:41:47 UTC", "process 1, since 2027-01-01 00:00:00 UTC");
    same("1.48e9 a second, sieve on cpu", "3.00e7 a second, sieve on cpu");
    same("error: /tmp/a.b/page/x.txt", "error: /home/me/x.txt");
    differ("error: /tmp/x.txt", "error: /tmp/y.txt");
    same("57.3 MiB; 2 threads", "1 GiB; 16 threads");
    same(r#"{"seconds":0.5,"done":1}"#, r#"{"seconds":12,"done":1}"#);
    differ(r#"{"seconds":0.5,"done":1}"#, r#"{"seconds":0.5,"done":2}"#);
    same("a   599.61 ms  ok", "a  1.0 s  ok");
    differ("12 steps", "13 steps");
}

#[test]
fn gaps_stand_for_any_number_of_lines() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let agree = |expected: &str, got: &str| agree(&lines(expected), &lines(got));
    assert!(agree("a\n…\nd", "a\nb\nc\nd") && agree("a\n...\nd", "a\nd") && agree("…", ""));
    assert!(!agree("a\n…\nd", "a\nb") && !agree("a", "a\nb") && !agree("a\nb", "a"));
}

#[test]
fn a_page_that_is_wrong_is_shown_with_its_line() {
    let page = "text\n\n```console\n$ echo 5 >x; cat x\n5\n$ cat x; echo 6 >&2\n5\n7\n```\n";
    let failure = check(Path::new("docs/page.md"), page).unwrap_err();
    let shown = "docs/page.md:6: $ cat x; echo 6 >&2\n--- expected\n5\n7\n--- got\n5\n6";
    assert_eq!(failure, shown);
    let right = page.replace('7', "6") + "\n```console\n$ warpint --version\nwarpint 0.2.0\n```\n";
    assert_eq!(check(Path::new("docs/page.md"), &right), Ok(()));
}
