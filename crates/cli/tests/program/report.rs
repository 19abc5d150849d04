//! Tests of `warpint report` and of `warpint work --serve`.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Child;

use roxmltree::{Document, ParsingOptions};

use crate::common::{end, names, spawn, warpint};

/// Text that would be markup if it were not escaped.
const HOSTILE: &str = "<script src='https://evil.example'>alert(1)</script>\"><b>&amp;";

/// Makes a work directory with finished tests, an error, lines that are not done and damaged files.
fn sample(dir: &Path) {
    let work = dir.join("work");
    fs::create_dir(&work).unwrap();
    let list = "PRP=N/A,1,2,1277,-1\nTest=1279\n3*2^189+1\n81*10^50+1\nPminus1=1,2,1277,-1,9,9\n";
    fs::write(work.join("worktodo.txt"), format!("{list}{HOSTILE}\n")).unwrap();
    let user = "--user <b>&\"'";
    let mut args: Vec<&str> = "work work --device cpu --quiet".split(' ').collect();
    args.extend(user.split(' '));
    let ran = crate::common::command(dir, args).output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let mut log = fs::OpenOptions::new().append(true).open(work.join("warpint.log")).unwrap();
    for line in [
        "cuda:0 M82589933: begins, 82589933 iterations",
        "cuda:0 M82589933: saved iteration 1000; 1000 of 82589933 (0.00 %), 68.4 µs/it, ETA 1:34:09, \
         round-off max 0.2500 Z 50, mean 0.1000, 61 °C, 1980 MHz",
        "cuda:0 M82589933: the Gerbicz check at iteration 2000 failed: going back to iteration 1000, which is verified",
        &format!("cuda:0 {HOSTILE}: {HOSTILE}"),
    ] {
        writeln!(log, "2026-01-02 03:04:05 {line}").unwrap();
    }
    fs::write(work.join("status-7.json"), "{\"worker\":7,").unwrap();
    fs::write(work.join("bench.json"), format!(
        "{{\"cpu\":\"{}\",\"rows\":[{{\"exponent\":9689,\"engine\":\"fp64\",\"us-per-squaring\":2.5}}]}}",
        HOSTILE.replace('"', "\\\"")
    )).unwrap();
}

/// Parses a page. Checks that it has no scripts and that no attribute refers to another file.
fn checked(page: &str) -> Vec<String> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(page, options).unwrap();
    for node in document.descendants().filter(|node| node.is_element()) {
        let tag = node.tag_name().name();
        assert!(!["script", "link", "img", "iframe", "object", "a", "b"].contains(&tag), "{tag}");
        for attribute in node.attributes() {
            let name = attribute.name();
            assert!(!["src", "href", "style"].contains(&name) && !name.starts_with("on"), "{name}");
        }
    }
    document.descendants().filter_map(|node| node.text()).map(str::to_owned).collect()
}

#[test]
fn the_page_of_a_work_directory_says_all_and_trusts_no_text() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path());
    let before = names(&dir.path().join("work"));
    let ran = warpint(dir.path(), "report work -o report.html");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{ran:?}");
    assert!(ran.err.contains("warning: work/status-7.json: EOF"), "{ran:?}");
    assert_eq!(names(&dir.path().join("work")), before);
    let page = fs::read_to_string(dir.path().join("report.html")).unwrap();
    let texts = checked(&page);
    let has = |text: &str| texts.iter().any(|found| found.trim() == text);
    for text in [
        "M1277",
        "M1279",
        "3*2^189+1",
        "81*10^50+1",
        "has the factor 41",
        "prime",
        "composite",
        "076D5C08E15214ED",
        HOSTILE,
        "<b>&\"'",
        "Progress of the tests, in percent of the iterations",
        "Temperature of the devices, in °C",
        "error, recovered",
        "Time of a squaring modulo 2^p − 1",
    ] {
        assert!(has(text), "{text}: {texts:?}");
    }
    assert!(!has("probable prime"));
    assert!(page.contains("content=\"default-src &#39;none&#39;; style-src &#39;sha256-"));
    // The same page again: an earlier report is replaced.
    let again = warpint(dir.path(), "report work -o report.html");
    assert_eq!(again.code, Some(0), "{again:?}");
    let out = warpint(dir.path(), "report work -o -");
    assert!(out.out.starts_with("<!DOCTYPE html>"));
    checked(&out.out);
}

#[test]
fn other_files_are_not_replaced_and_a_missing_directory_is_named() {
    let dir = tempfile::tempdir().unwrap();
    sample(dir.path());
    let results = fs::read(dir.path().join("work/results.txt")).unwrap();
    let longer = warpint(dir.path(), "report work -o -").out + "{}\n";
    fs::write(dir.path().join("work/longer.html"), &longer).unwrap();
    fs::write(dir.path().join("work/empty.html"), "").unwrap();
    for (line, says) in [
        ("report work -o work/results.txt", "work/results.txt is not the name of a page"),
        ("report work -o work/worker-0.lock", "work/worker-0.lock is not the name of a page"),
        ("report work -o work/empty.html", "work/empty.html is not a report"),
        ("report work -o work/longer.html", "work/longer.html is not a report"),
        ("report none -o r.html", "none is not a directory"),
        ("report work/results.txt -o r.html", "work/results.txt is not a directory"),
        ("report work -o none/r.html", "none/r.html"),
        ("report work -o work", "work is not the name of a page"),
    ] {
        let ran = warpint(dir.path(), line);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.error().contains(says), "{ran:?}");
    }
    assert_eq!(fs::read(dir.path().join("work/results.txt")).unwrap(), results);
    assert_eq!(fs::read_to_string(dir.path().join("work/longer.html")).unwrap(), longer);
    assert!(!dir.path().join("r.html").exists());
    fs::create_dir(dir.path().join("empty")).unwrap();
    let ran = warpint(dir.path(), "report empty -o -");
    let says = "warning: empty has neither work, finished tests nor results of benchmarks\n";
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), says));
    assert!(checked(&ran.out).iter().any(|text| text.contains("has neither lists of work")));
}

/// Returns the address that a process prints on its standard error.
fn address(child: &mut Child) -> String {
    let mut lines = BufReader::new(child.stderr.as_mut().unwrap()).lines();
    loop {
        let line = lines.next().unwrap().unwrap();
        if let Some((_, rest)) = line.split_once(" is at http://") {
            return rest.trim_end_matches('/').to_owned();
        }
    }
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_page_is_served_while_the_work_is_done() {
    for options in ["", " --together 2", " --workers 2"] {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        let line = format!("work work --device cpu --threads 1 --wait --quiet --serve 0{options}");
        let mut child = spawn(dir.path(), &line);
        let address = address(&mut child);
        assert!(address.starts_with("127.0.0.1:"), "{address}");
        let answer = get(&address, "/");
        let (head, page) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
        checked(page);
        let status = get(&address, "/status.json");
        assert!(status.ends_with("}\n") && status.contains("\"workers\":["), "{status}");
        stop(child);
        assert!(TcpStream::connect(&address).is_err(), "the server ends with the work");
    }
}

#[cfg(unix)]
fn stop(child: Child) {
    crate::common::signal(&child, "INT");
    assert!(end(child).ended_by("INT"));
}

#[cfg(not(unix))]
fn stop(mut child: Child) {
    child.kill().unwrap();
    end(child);
}

#[test]
fn a_port_in_use_is_reported_before_the_work_starts() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("work")).unwrap();
    fs::write(dir.path().join("work/worktodo.txt"), "Test=1279\n").unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    for options in ["", " --workers 2"] {
        let ran = warpint(dir.path(), &format!("work work --device cpu --serve {port}{options}"));
        assert_eq!(ran.code, Some(2), "{ran:?}");
        let said = format!("--serve: cannot listen on 127.0.0.1:{port}: ");
        assert!(ran.error().starts_with(&said), "{ran:?}");
        assert_eq!(names(&dir.path().join("work")), ["worktodo.txt"]);
    }
    let ran = warpint(dir.path(), "work work --serve example.org:80");
    assert_eq!(ran.code, Some(2), "{ran:?}");
}
