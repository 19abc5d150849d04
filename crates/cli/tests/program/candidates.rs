//! Tests of `warpint work` on candidates: numbers k·b^n ± 1 in lists with and without headers.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Ran, command, warpint};

/// Writes `lines` to `worktodo.txt` in the folder `work`.
fn list(dir: &Path, lines: &str) {
    fs::create_dir_all(dir.join("work")).unwrap();
    fs::write(dir.join("work/worktodo.txt"), lines).unwrap();
}

fn text(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join("work").join(name)).unwrap_or_default()
}

/// Returns the lines of a file in the form of LLR, without their times.
fn llr_lines(dir: &Path, name: &str) -> Vec<String> {
    let without_time = |line: &str| line.split("  Time : ").next().unwrap_or_default().to_owned();
    text(dir, name).lines().map(without_time).collect()
}

fn objects(dir: &Path, name: &str) -> Vec<Value> {
    text(dir, name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn candidates_of_each_form_are_tested_beside_assignments() {
    let dir = tempfile::tempdir().unwrap();
    let lines = "# mine\r\n3*2^2816+1\r\n5 2 913 1\r\nTest=127\r\nABC $a*2^$b-1 // sieved\r\n3 3276\r\n\
                 5 904\r\nABC $a*$b^$c$d\r\n7 10 305 +1\r\n12 4 1103 1\r\n27 10 100 -1\r\n1000:M:1:2:258\r\n3 324\r\n\
                 5*2^7+1\r\n81*10^50+1\r\nABC $a^$b+1\r\n46 512\r\nM61";
    list(dir.path(), lines);
    let status = warpint(dir.path(), "status work");
    assert!(status.out.ends_with(": 1 assignment and 12 candidates left\n"), "{status:?}");
    let status = warpint(dir.path(), "status work --json").json();
    assert_eq!(
        (&status["lines"]["assignments"], &status["lines"]["candidates"]),
        (&1.into(), &12.into())
    );
    let ran = warpint(dir.path(), "work work --user somebody");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        text(dir.path(), "worktodo.txt"),
        "# mine\r\nABC $a*2^$b-1 // sieved\r\nABC $a*$b^$c$d\r\n1000:M:1:2:258\r\nABC $a^$b+1\r\n"
    );
    let lines = llr_lines(dir.path(), "lresults.txt");
    // The residues are from Python: its pow, and for the LLR test the sequence in its integers.
    assert_eq!(
        lines,
        [
            "3*2^2816+1 is prime! (849 decimal digits)",
            "5*2^913+1 is not prime.  Proth RES64: F529DD7CAA758898",
            "3*2^3276-1 is prime! (987 decimal digits)",
            "5*2^904-1 is not prime.  LLR Res64: 23CE268BCE23A5EB",
            "7*10^305+1 is not prime.  RES64: B573C6B6C42BBA43",
            "12*4^1103+1 is prime! (666 decimal digits)",
            "27*10^100-1 is prime! (102 decimal digits)",
            "3*2^324-1 is prime! (99 decimal digits)",
            "5*2^7+1 is prime! (3 decimal digits)",
            "81*10^50+1 has a small factor : 41 !!",
            "46^512+1 is prime! (852 decimal digits)",
            "M61 is prime! (19 decimal digits)",
        ]
    );
    let found = objects(dir.path(), "candidates.jsonl");
    let facts: Vec<_> = found
        .iter()
        .map(|r| format!("{} {} {}", r["status"], r["number"], r["worktype"]).replace('"', ""))
        .collect();
    assert_eq!(
        facts,
        [
            "P 3*2^2816+1 Proth-7",
            "C 5*2^913+1 Proth-3",
            "P 3*2^3276-1 LLR",
            "C 5*2^904-1 LLR",
            "C 7*10^305+1 Pocklington-3",
            "P 3*2^2208+1 Proth-11",
            "P 27*10^100-1 Morrison-1",
            "P 3*2^324-1 LLR",
            "P 5*2^7+1 MR",
            "F 81*10^50+1 TF",
            "P 46^512+1 Pocklington-3",
            "P null LL",
        ]
    );
    assert_eq!(found[0]["credit"]["user"], "somebody");
    assert_eq!(found[5]["credit"]["assignment"], "12*4^1103+1");
    assert_eq!(found[9]["credit"]["assignment"], "81*10^50+1");
    // The results file has Mersenne numbers only.
    let results = objects(dir.path(), "results.txt");
    let exponents: Vec<_> = results.iter().map(|r| &r["exponent"]).collect();
    assert_eq!(exponents, [127, 61]);
    assert!(ran.err.contains("12*4^1103+1 is 3*2^2208+1\n"), "{ran:?}");
    assert!(
        ran.err.contains("no work left in work/worktodo.txt: 13 assignments done; 11 tests with "),
        "{ran:?}"
    );
    assert_eq!(ran.out.lines().count(), 13);
    let log = text(dir.path(), "warpint.log");
    assert!(log.contains(" cpu 3*2^2816+1: begins, "), "{log}");
}

#[test]
fn broken_lines_are_told_of_once_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let before = "3 2 189\n3 2 189 2\n3 2 3000000000 1\nABC2 $a*2^$b+1\n3 353\n3 408\nABC $a*2^$b+1\n3 x\n\
                  3 276 1\n0 276\n";
    let after = "3*2^276+3\n9223372036854775808 276\n";
    list(dir.path(), &format!("{before}3 276\n{after}"));
    let ran = warpint(dir.path(), "work work");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(text(dir.path(), "worktodo.txt"), format!("{before}{after}"));
    assert_eq!(llr_lines(dir.path(), "lresults.txt"), ["3*2^276+1 is prime! (84 decimal digits)"]);
    for said in [
        "line 1: the line has 3 of the 4 integers k b n c, and there is no header above it; the",
        "line 2: '3*2^189+2': only numbers k*b^n+1 and k*b^n-1 can be tested, not +2; the line",
        "line 3: 3*2^3000000000 is too large: it has more than 2^31 bits; the line is kept",
        "line 4: the header ABC2 $a*2^$b+1 is not taken: of the ABC formats, only ABC itself",
        "line 8: 3 x is not an assignment",
        "line 9: the line has 3 of the 2 integers that its header ABC $a*2^$b+1 asks for; the",
        "line 10: '0*2^276': k and n must be at least 1",
        "line 12: '3*2^276+3': only numbers",
        "line 13: 9223372036854775808*2^276 is too large: k is not below 2^63",
        "no work left in work/worktodo.txt: 1 assignment done, 11 malformed",
    ] {
        assert_eq!(ran.err.matches(said).count(), 1, "{said}: {ran:?}");
    }
    assert_eq!(ran.err.matches("the line is kept").count(), 9, "{ran:?}");
    let status = warpint(dir.path(), "status work");
    assert!(status.out.ends_with(": 0 assignments left, 11 malformed\n"), "{status:?}");
}

#[test]
fn equal_lines_below_different_headers_are_different_candidates() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("work/3_2_324+1")).unwrap();
    list(dir.path(), "ABC $a*2^$b+1\n3 324\nABC $a*2^$b-1\n3 324\n");
    // The first candidate fails, because its lock is a folder: the second line goes, not the first.
    fs::create_dir(dir.path().join("work/3_2_324+1/claim")).unwrap();
    let ran = warpint(dir.path(), "work work");
    assert_ne!(ran.code, Some(0), "{ran:?}");
    assert!(ran.err.contains("work/worktodo.txt, line 2: "), "{ran:?}");
    assert_eq!(text(dir.path(), "worktodo.txt"), "ABC $a*2^$b+1\n3 324\nABC $a*2^$b-1\n");
    assert_eq!(llr_lines(dir.path(), "lresults.txt"), ["3*2^324-1 is prime! (99 decimal digits)"]);
}

#[test]
fn a_candidate_that_was_tested_before_is_recorded_once() {
    let dir = tempfile::tempdir().unwrap();
    let ran: Ran =
        command(dir.path(), ["test", "3*2^2816+1", "--dir", "work"]).output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // As after a crash between the result and the removal of its line: again and again.
    for _ in 0..3 {
        list(dir.path(), "3*2^2816+1\n81*10^50+1\n5*2^7+1\n");
        let ran = warpint(dir.path(), "work work");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.err.contains("3*2^2816+1: finished before"), "{ran:?}");
        assert_eq!(text(dir.path(), "worktodo.txt"), "");
    }
    assert_eq!(objects(dir.path(), "candidates.jsonl").len(), 3);
    assert_eq!(llr_lines(dir.path(), "lresults.txt").len(), 3);
    assert!(!dir.path().join("work/results.txt").exists());
}

#[test]
fn lines_are_added_as_numbers_and_headers_are_not() {
    let dir = tempfile::tempdir().unwrap();
    list(dir.path(), "ABC $a*2^$b-1\n3 324\n");
    let add = |line: &str| -> Ran {
        command(dir.path(), ["work", "work", "--add", line]).output().unwrap().into()
    };
    for line in ["3 2 276 1", " 46^512+1"] {
        assert_eq!(add(line).code, Some(0));
    }
    for (line, says) in [
        ("ABC $a*2^$b+1", "--add: it is a header: write headers and the lines below them"),
        ("3 276", "--add: the line has 2 of the 4 integers k b n c"),
        ("3*2^276+3", "--add: '3*2^276+3': only numbers"),
    ] {
        let ran = add(line);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.error().starts_with(says), "{ran:?}");
    }
    let lines = "ABC $a*2^$b-1\n3 324\n3*2^276+1\n46^512+1\n";
    assert_eq!(text(dir.path(), "worktodo.txt"), lines);
    // The header would change the meaning of additions of integers.
    fs::write(dir.path().join("work/worktodo.add"), "5*2^7+1\n3 2 189 1\n").unwrap();
    let ran = warpint(dir.path(), "work work");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let says = "worktodo.add is left as it is: the meaning of line 2 of work/worktodo.add depends";
    assert_eq!(ran.err.matches(says).count(), 1, "{ran:?}");
    assert_eq!(text(dir.path(), "worktodo.add"), "5*2^7+1\n3 2 189 1\n");
    assert_eq!(text(dir.path(), "worktodo.txt"), "ABC $a*2^$b-1\n");
    fs::write(dir.path().join("work/worktodo.add"), "5*2^7+1\n").unwrap();
    assert_eq!(warpint(dir.path(), "work work").code, Some(0));
    assert_eq!(llr_lines(dir.path(), "lresults.txt").len(), 4);
}

#[cfg(unix)]
mod several {
    use super::*;
    use crate::common::{end, signal, started, wait_until};
    use std::process::Child;
    use std::time::Duration;

    fn start(dir: &Path, options: &str) -> Child {
        started(dir, &format!("work work --checkpoint-interval 0.05{options}"))
    }

    #[test]
    fn a_candidate_is_seen_from_outside_and_goes_on_where_it_stopped() {
        let dir = tempfile::tempdir().unwrap();
        list(dir.path(), "ABC $a*2^$b-1\n3 51387\n");
        let child = start(dir.path(), "");
        let status = || warpint(dir.path(), "status work --json").json();
        wait_until("a checkpoint", || status()["workers"][0]["test"]["saved"].is_u64());
        let test = &status()["workers"][0]["test"];
        assert_eq!((&test["number"], &test["worktype"]), (&"3*2^51387-1".into(), &"LLR".into()));
        signal(&child, "INT");
        let ran = end(child);
        assert!(ran.ended_by("INT"), "{ran:?}");
        let said = warpint(dir.path(), "status work").out;
        assert!(said.contains(": stopped 3*2^51387-1, LLR, on cpu by "), "{said}");
        assert_eq!(text(dir.path(), "worktodo.txt"), "ABC $a*2^$b-1\n3 51387\n");
        let ran = end(start(dir.path(), ""));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.err.contains("going on at iteration"), "{ran:?}");
        assert_eq!(
            llr_lines(dir.path(), "lresults.txt"),
            ["3*2^51387-1 is prime! (15470 decimal digits)"]
        );
    }

    #[test]
    fn killed_again_and_again_it_reports_each_candidate_once() {
        let dir = tempfile::tempdir().unwrap();
        let kept = "# mine\nABC $a*2^$b+1\n";
        list(dir.path(), &format!("{kept}3 20909\n3 42665\n5 913\n3 2816\nPRP=9689\n81*10^50+1\n"));
        for delay in [100, 300, 500, 800] {
            let mut child = start(dir.path(), "");
            std::thread::sleep(Duration::from_millis(delay));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let ran = end(start(dir.path(), ""));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(text(dir.path(), "worktodo.txt"), kept);
        assert_eq!(
            llr_lines(dir.path(), "lresults.txt"),
            [
                "3*2^20909+1 is prime! (6295 decimal digits)",
                "3*2^42665+1 is prime! (12844 decimal digits)",
                "5*2^913+1 is not prime.  Proth RES64: F529DD7CAA758898",
                "3*2^2816+1 is prime! (849 decimal digits)",
                "81*10^50+1 has a small factor : 41 !!",
            ]
        );
        assert_eq!(objects(dir.path(), "candidates.jsonl").len(), 5);
        assert_eq!(objects(dir.path(), "results.txt").len(), 1);
    }

    #[test]
    fn each_candidate_is_tested_by_one_worker() {
        let dir = tempfile::tempdir().unwrap();
        // Exponents of primes 3·2^n + 1, one of them in two forms.
        let exponents = [276, 353, 408, 438, 534, 2208, 2816, 3168, 3189, 3912];
        let lines: String = exponents.iter().map(|n| format!("3 {n}\n")).collect();
        list(dir.path(), &format!("ABC $a*2^$b+1\n{lines}12*4^1103+1\n"));
        let ran = end(start(dir.path(), " --workers 3 --device cpu"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(text(dir.path(), "worktodo.txt"), "ABC $a*2^$b+1\n");
        let mut found: Vec<String> = ["lresults-0.txt", "lresults-1.txt", "lresults-2.txt"]
            .iter()
            .flat_map(|name| llr_lines(dir.path(), name))
            .map(|line| line.split(' ').next().unwrap_or_default().to_owned())
            .collect();
        found.sort();
        let mut wanted: Vec<String> = exponents.iter().map(|n| format!("3*2^{n}+1")).collect();
        wanted.push("12*4^1103+1".into());
        wanted.sort();
        assert_eq!(found, wanted);
    }
}

/// Such results are not stored, so a worker may find one again.
#[test]
fn what_needs_no_test_is_recorded_once_whichever_worker_does_it() {
    let dir = tempfile::tempdir().unwrap();
    let lines = "81*10^50+1\n5*2^7+1\n9*2^420-1\n3*2^276+1\n";
    list(dir.path(), lines);
    assert_eq!(warpint(dir.path(), "work work --worker 0").code, Some(0));
    list(dir.path(), lines);
    assert_eq!(warpint(dir.path(), "work work --worker 1").code, Some(0));
    assert_eq!(text(dir.path(), "worktodo.txt"), "");
    assert_eq!(llr_lines(dir.path(), "lresults-0.txt").len(), 4);
    assert_eq!(objects(dir.path(), "candidates-0.jsonl").len(), 4);
    assert!(!dir.path().join("work/lresults-1.txt").exists());
    assert!(!dir.path().join("work/candidates-1.jsonl").exists());
}

/// Further results would be lost, too.
#[cfg(unix)]
#[test]
fn a_result_that_cannot_be_kept_ends_the_work() {
    let dir = tempfile::tempdir().unwrap();
    let lines = "3*2^2208+1\n5*2^913+1\n3*2^2816+1\n";
    list(dir.path(), lines);
    let script =
        format!("trap '' XFSZ; ulimit -f 0; exec {} work work --quiet", crate::common::WARPINT);
    let mut shell = std::process::Command::new("sh");
    shell.env("WARPINT_CONFIG_DIR", dir.path().join("config")).current_dir(dir.path());
    let ran = Ran::from(shell.args(["-c", &script]).output().unwrap());
    assert_eq!((ran.code, ran.out.lines().count()), (Some(4), 1), "{ran:?}");
    assert!(ran.out.starts_with("3*2^2208+1 is prime (Proth)"), "{ran:?}");
    assert!(ran.err.contains("the result is printed only"), "{ran:?}");
    assert_eq!(text(dir.path(), "worktodo.txt"), lines);
    // With room, everything is done.
    assert_eq!(warpint(dir.path(), "work work --quiet").code, Some(0));
    assert_eq!(llr_lines(dir.path(), "lresults.txt").len(), 3);
}

#[test]
fn of_many_broken_lines_the_first_ones_are_told_of() {
    let dir = tempfile::tempdir().unwrap();
    let lines: String = (0..500).map(|n| format!("3 {n}\n")).collect();
    list(dir.path(), &(lines.clone() + "3*2^276+1\n"));
    let ran = warpint(dir.path(), "work work");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.err.matches("has 2 of the 4 integers").count(), 20, "{ran:?}");
    assert_eq!(ran.err.matches("480 further lines are no work for this program").count(), 1);
    assert_eq!(text(dir.path(), "worktodo.txt"), lines);
}
