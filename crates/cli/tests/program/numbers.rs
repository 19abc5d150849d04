//! Tests of `warpint test`: the verdicts, their JSON objects, resumption, and invalid requests.

use std::fs;
use std::path::Path;

use crate::common::{Ran, command};

/// Runs `warpint test <args>` in a directory.
fn test(dir: &Path, args: &[&str]) -> Ran {
    command(dir, ["test"].iter().chain(args)).output().unwrap().into()
}

#[test]
fn each_verdict_has_its_status_and_its_line() {
    let dir = tempfile::tempdir().unwrap();
    for (number, status, worktype, line) in [
        ("7*2^2256+1", "P", "Proth-3", "7*2^2256+1 is prime (Proth): Proth-3, 2258 squarings, "),
        (
            "3*2^3276-1",
            "P",
            "LLR",
            "3*2^3276-1 is prime (Lucas–Lehmer–Riesel): LLR, 3274 squarings, ",
        ),
        ("M127", "P", "LL", "M127 is prime (Lucas–Lehmer): 125 squarings, "),
        (
            "46^512+1",
            "P",
            "Pocklington-3",
            "46^512+1 is prime (Pocklington): Pocklington-3, 2828 squarings, ",
        ),
        (
            "71*6^80+1",
            "P",
            "Pocklington-5",
            "71*6^80+1 is prime (Pocklington): Pocklington-5,7, 424 squarings, ",
        ),
        (
            "27*10^100-1",
            "P",
            "Morrison-1",
            "27*10^100-1 is prime (Morrison): Morrison-1, 673 squarings, ",
        ),
        ("8*10^305-1", "C", "PRP-3", "8*10^305-1 is composite: PRP-3 res64 B75988D21B2CA298, "),
        ("2^1024+1", "F", "TF", "2^1024+1 is composite: it has the factor 45592577"),
        ("2^128+1", "C", "Proth-3", "2^128+1 is composite: Proth-3 res64 "),
        ("10^100-1", "F", "TF", "10^100-1 is composite: it has the factor 3"),
        ("5*2^7+1", "P", "MR", "5*2^7+1 is prime, proven in machine words: no test is needed"),
        ("2^32+1", "F", "TF", "2^32+1 is composite: it has the factor 641"),
        ("M9", "F", "TF", "M9 is composite: it has the factor 7"),
    ] {
        let said =
            test(dir.path(), &[number, "--quiet", "--dir", "text", "--tf-limit", "50000000"]);
        assert_eq!(said.code, Some(0), "{number}: {said:?}");
        assert!(said.out.starts_with(line), "{number}: {said:?}");
        assert_eq!((said.out.lines().count(), said.err.as_str()), (1, ""), "{said:?}");
        let ran = test(dir.path(), &[number, "--quiet", "--json", "--tf-limit", "50000000"]);
        let json = ran.json();
        assert_eq!(
            (&json["status"], &json["worktype"]),
            (&status.into(), &worktype.into()),
            "{ran:?}"
        );
        if number == "71*6^80+1" {
            assert_eq!(json["bases"], serde_json::json!([5, 7]), "{ran:?}");
        }
        if number != "M127" {
            assert_eq!(json["number"], number, "{ran:?}");
        }
    }
    // The same command prints the stored result again.
    let again = test(dir.path(), &["7*2^2256+1", "--dir", "text"]);
    assert!(again.err.contains("7*2^2256+1: finished before"), "{again:?}");
    assert!(again.out.starts_with("7*2^2256+1 is prime (Proth)"), "{again:?}");
    assert!(dir.path().join("text/7_2_2256+1/proth-3-result.json").exists());
    // Only Mersenne numbers are in the results file.
    let results = fs::read_to_string(dir.path().join("text/results.txt")).unwrap();
    assert!(results.lines().all(|line| line.contains("\"exponent\":127")), "{results}");
}

#[test]
fn a_number_without_its_normal_form_is_tested_in_it() {
    let dir = tempfile::tempdir().unwrap();
    let ran = test(dir.path(), &["14*4^1127+1 ".trim(), "--json"]);
    assert_eq!(ran.json()["number"], "7*2^2255+1", "{ran:?}");
    assert!(ran.err.contains("14*4^1127+1 is 7*2^2255+1"), "{ran:?}");
    // k above 2^n: the program says why nothing is proven.
    let ran = test(dir.path(), &["1125899906842597*2^40-1", "--json"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_ne!(ran.json()["status"], "P", "{ran:?}");
    let ran = test(dir.path(), &["4000000000000000006*7^20+1"]);
    assert!(ran.err.contains("k is not below 7^n"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_test_goes_on_to_the_same_result() {
    use std::process::Stdio;

    use crate::common::{end, signal, wait_until};

    // Known primes, so that no search finds a factor.
    for (number, base, status, res64) in [
        ("3*2^42665+1", None, "P", "0000000000000000"),
        ("3*2^51387-1", None, "P", "0000000000000000"),
        ("1534^4096+1", None, "P", "0000000000000001"),
        ("3*2^51387-1", Some("7"), "PRP", "0000000000000001"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let mut args = vec![number, "--json", "--checkpoint-interval", "0.05"];
        args.extend(base.into_iter().flat_map(|base| ["--base", base]));
        let mut child = command(dir.path(), ["test"].iter().chain(&args))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let folder = dir.path().join("warpint-work");
        wait_until("a checkpoint", || {
            assert!(child.try_wait().unwrap().is_none(), "{number} is too short");
            let folders = fs::read_dir(&folder).into_iter().flatten().flatten();
            let mut files = folders.flat_map(|f| fs::read_dir(f.path()).into_iter().flatten());
            files.any(|f| f.unwrap().path().extension().is_some_and(|e| e == "ckpt"))
        });
        signal(&child, "INT");
        let stopped = end(child);
        assert!(stopped.ended_by("INT"), "{stopped:?}");
        assert_eq!(stopped.json()["status"], "stopped");
        assert_eq!(stopped.json()["number"], number);
        let resumed = test(dir.path(), &args);
        assert!(resumed.err.contains("going on at iteration"), "{resumed:?}");
        let json = resumed.json();
        assert_eq!((&json["status"], &json["res64"]), (&status.into(), &res64.into()), "{number}");
        assert!(json["resumed-at"].as_u64().is_some_and(|k| k > 0), "{resumed:?}");
    }
}

#[test]
fn what_cannot_be_tested_is_refused_in_one_line() {
    let dir = tempfile::tempdir().unwrap();
    for (args, says) in [
        (&["3x2^5+1"][..], "'3x2^5+1' is not of the form k*b^n+1 or k*b^n-1"),
        (&["3*2^500+3"], "only numbers k*b^n+1 and k*b^n-1 can be tested, not +3"),
        (&["0*2^500+1"], "k and n must be at least 1"),
        (&["2^3000000000+1"], "is too large: it has more than 2^31 bits"),
        (&["9223372036854775808*3^99+1"], "is too large: k is not below 2^63"),
        (&["M127", "--base", "5"], "`warpint prp` and `warpint ll` apply"),
        (&["7*2^2256+1", "--base", "1"], "1"),
        (
            &["2^128+1", "--base", "2"],
            "base 2: each of its prime factors divides 2, so 2^128+1 would pass",
        ),
        (&["12^256+1", "--base", "18"], "base 18: each of its prime factors divides 12"),
        (
            &["7*2^2256+1", "--engine", "fp64"],
            "fp64 does not test 7*2^2256+1 here: without --engine",
        ),
        (&["M216091", "--engine", "plain"], "engine plain takes exponents from 2 to 100000"),
    ] {
        let ran = test(dir.path(), args);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{args:?}: {ran:?}");
        assert!(ran.error().contains(says), "{args:?}: {ran:?}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "a refused request leaves nothing");
}
