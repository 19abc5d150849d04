//! Tests of `warpint batch`: the sources of numbers and the destinations of results.

use std::fs;
use std::process::Command;

use crate::common::{Ran, WARPINT, command, names, warpint, with_input};

/// Runs a line of bash, in which `$W` is the program.
fn bash(dir: &std::path::Path, line: &str) -> Ran {
    let mut command = Command::new("bash");
    command.args(["-c", line]).current_dir(dir).env("W", WARPINT);
    command.env("WARPINT_CONFIG_DIR", dir.join("config"));
    crate::common::in_time(command)
}

#[test]
fn formats_are_told_by_the_content_where_names_tell_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("dec"), "12\n10\n").unwrap();
    fs::write(at("marked"), "0x12\n0x10\n").unwrap();
    fs::write(at("letters"), "none\nff\n").unwrap();
    fs::write(at("bytes"), [1, 0, 0, 0, 0xff, 0, 0, 0]).unwrap();
    assert_eq!(warpint(dir.path(), "batch add dec 0 -o a.npy").code, Some(0));
    fs::rename(at("a.npy"), at("array")).unwrap();
    for (file, format, results) in [
        ("dec", "dec", "144\n100\n"),
        ("array", "npy", "144\n100\n"),
        ("marked", "hex", "324\n256\n"),
        ("letters", "hex", "none\n65025\n"),
        ("bytes --bits 32", "raw", "1\n65025\n"),
    ] {
        let ran = warpint(dir.path(), &format!("batch sqr {file} -o r.txt"));
        let name = file.split(' ').next().unwrap();
        let says = format!("bits; {name} read as {format}) in ");
        assert!(ran.out.contains(&says), "{ran:?}");
        assert_eq!(fs::read_to_string(at("r.txt")).unwrap(), results, "{file}");
        let operand = &warpint(dir.path(), &format!("batch sqr {file} -o r.txt --json")).json()["operands"]
            [0];
        let told = (&operand["name"], &operand["format"], &operand["detected"], &operand["kind"]);
        assert_eq!(told, (&name.into(), &format.into(), &true.into(), &"file".into()));
    }
    // A format given by a name or an option is not detected.
    let ran = warpint(dir.path(), "batch sqr dec -o r.txt --format hex --json");
    assert_eq!(ran.json()["operands"][0]["detected"], false);
    assert_eq!(fs::read_to_string(at("r.txt")).unwrap(), "324\n256\n");
    let ran = with_input(dir.path(), "batch sqr - -o -", b"0x12\nff\n");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "144\nfe01\n"), "{ran:?}");
    assert!(ran.err.contains("; standard input read as hex)"), "{ran:?}");
    let ran = warpint(dir.path(), "batch sqr bytes -o r.txt");
    assert_eq!(
        ran.error(),
        "bytes: raw files do not state the width of their numbers: give --bits"
    );
    // One letter among many digits may be a misprint.
    fs::write(at("dec"), "1\n".repeat(40) + "1a\n").unwrap();
    let ran = warpint(dir.path(), "batch sqr dec -o r.txt");
    assert_eq!(
        (ran.code, ran.error()),
        (
            Some(2),
            "dec: 1 of 41 lines have a hexadecimal letter, such as line 41: give --format hex or --format dec"
        )
    );
}

#[test]
fn numbers_of_the_command_line_are_operands() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("x.txt"), "2\n3\n").unwrap();
    fs::write(at("n.txt"), "35\n77\n").unwrap();
    let max = ((1u128 << 127) - 1).to_string();
    for (line, expected) in [
        ("mul x.txt 5", "10\n15\n".to_owned()),
        ("mul 5 x.txt", "10\n15\n".into()),
        ("add x.txt 0x10001", "65539\n65540\n".into()),
        ("powm x.txt 65537 n.txt", "32\n75\n".into()),
        ("powm 3 2^20+1 1_000_007", pow_mod(3, (1 << 20) + 1, 1_000_007).to_string() + "\n"),
        ("mul 1 2^127-1", max.clone() + "\n"),
        ("add x.txt 5 --bits 64", "7\n8\n".into()),
        ("sub x.txt 0", "2\n3\n".into()),
    ] {
        let ran = warpint(dir.path(), &format!("batch {line} -o r.txt --check 2"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{line}: {ran:?}");
        assert_eq!(fs::read_to_string(at("r.txt")).unwrap(), expected, "{line}");
    }
    // Results have the format of the file, not that of the number.
    fs::write(at("x.bin"), [2, 0, 0, 0]).unwrap();
    assert_eq!(warpint(dir.path(), "batch mul 0x5 x.bin -o r --bits 32").code, Some(0));
    assert_eq!(fs::read(at("r")).unwrap(), [10, 0, 0, 0, 0, 0, 0, 0]);
    let json = warpint(dir.path(), "batch mul x.txt 5 -o r.txt --json").json();
    assert_eq!((&json["operands"][1]["kind"], &json["b-bits"]), (&"number".into(), &32.into()));
    assert_eq!(json["operands"][1]["format"], serde_json::Value::Null);
    // A file of that name takes precedence, and a message says so.
    fs::write(at("5"), "7\n").unwrap();
    let ran = warpint(dir.path(), "batch mul x.txt 5 -o r.txt");
    let says = "5 is read as a file, for there is one; for the number give 5+0\n";
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), says));
    assert_eq!(fs::read_to_string(at("r.txt")).unwrap(), "14\n21\n");
    assert_eq!(warpint(dir.path(), "batch mul x.txt 5+0 -o r.txt -q").err, "");
    assert_eq!(fs::read_to_string(at("r.txt")).unwrap(), "10\n15\n");

    let before = names(dir.path());
    for (line, says) in [
        ("mul x.txt -5", "'-5' is signed; batches hold unsigned integers"),
        ("mul x.txt +0x5", "'+0x5' is signed; batches hold unsigned integers"),
        ("mul x.txt 5-7", "there is no file '5-7', and as a number: '5-7' is below 0"),
        (
            "mul x.txt 12x",
            "there is no file '12x', and as a number: '12x' is not a number: write it",
        ),
        ("mul x.txt 2^1048576", "'2^1048576' has 1048577 bits; at most 2^20 bits are allowed"),
        ("mul x.txt 2^64 --bits 64", "2^64: has more bits than the 64 of --bits"),
        ("mul x.txt five", "cannot read five: No such file"),
    ] {
        let ran = warpint(dir.path(), &format!("batch {line} -o new.txt"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
        assert!(ran.error().starts_with(says), "{line}: {ran:?}");
        assert_eq!(names(dir.path()), before, "{line}");
    }
}

/// Returns a^e mod m, computed bit by bit.
fn pow_mod(a: u64, mut e: u64, m: u64) -> u64 {
    let (mut power, mut result) = (a % m, 1);
    while e > 0 {
        if e % 2 == 1 {
            result = result * power % m;
        }
        power = power * power % m;
        e /= 2;
    }
    result
}

#[test]
fn blanks_around_numbers_are_no_part_of_them() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("a.txt"), " 3 \r\n\t5\t\r\n7  \n 1 2\n\r\n").unwrap();
    for bits in ["", " --bits 64"] {
        let ran = warpint(dir.path(), &format!("batch sqr a.txt -o r.txt --check 4{bits}"));
        let told = "\
a.txt: line 4: ' ' at position 2 is not a decimal digit
error: 1 of 4 numbers has no result: 'none' is written instead
";
        assert_eq!((ran.code, ran.err.as_str()), (Some(2), told), "{ran:?}");
        assert_eq!(fs::read_to_string(at("r.txt")).unwrap(), "9\n25\n49\nnone\n");
    }
}

#[test]
fn limits_and_signs_are_said_with_file_line_and_value() {
    let dir = tempfile::tempdir().unwrap();
    let wide = format!("1{}\n", "0".repeat(1 << 18));
    fs::write(dir.path().join("a.hex"), format!("1\n{wide}-0xF\n+12\n")).unwrap();
    let ran = warpint(dir.path(), "batch sqr a.hex -o r.txt");
    let told = "\
a.hex: line 2: has 1048577 bits; at most 2^20 bits are allowed
a.hex: line 3: '-0xF' is signed; batches hold unsigned integers
a.hex: line 4: '+12' is signed; batches hold unsigned integers
error: 3 of 4 numbers have no result: 'none' is written instead
";
    assert_eq!((ran.code, ran.err.as_str()), (Some(2), told));
}

#[cfg(target_os = "linux")]
#[test]
fn pipes_and_devices_are_read_and_written() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("a.txt"), "2\n3\n").unwrap();
    let products = "20\n33\n";
    for (line, out) in [
        (
            "$W batch mul <(printf '2\\n3\\n') <(printf '10\\n11\\n') -o r.txt -q; cat r.txt",
            products,
        ),
        ("printf '10\\n11\\n' | $W batch mul a.txt /dev/stdin -o /dev/stdout", products),
        ("printf '10\\n11\\n' | $W batch mul /dev/fd/0 a.txt -o /dev/fd/1", products),
        ("printf '10\\n11\\n' > b.txt; $W batch mul a.txt - -o - < b.txt", products),
        ("$W batch mul a.txt b.txt -o /dev/stderr -q 2>&1 >/dev/null", products),
        ("$W batch mul a.txt b.txt -o >(cat > c.txt) -q; wait $!; cat c.txt", products),
        (
            "exec 3> d.txt; echo head >&3; $W batch sqr a.txt -o /dev/fd/3 -q; cat d.txt",
            "head\n4\n9\n",
        ),
        ("mkfifo p q; cat a.txt > p & $W batch sqr p -o q -q & cat q; wait", "4\n9\n"),
        ("$W batch divrem a.txt 2 -o /dev/stdout --rem r.txt -q; cat r.txt", "1\n1\n0\n1\n"),
        (
            "$W batch sqr a.txt -o /dev/null --json | grep -o '\"written-bytes\":4'",
            "\"written-bytes\":4\n",
        ),
        ("$W batch sqr /dev/null -o - -q", ""),
        ("ln -s /dev/stdout link; $W batch sqr a.txt -o link -q | cat", "4\n9\n"),
        ("$W batch sqr a.txt -o link -q > e.txt; test -L link; cat e.txt", "4\n9\n"),
    ] {
        let ran = bash(dir.path(), line);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), out), "{line}: {ran:?}");
    }
    // If results go to standard output, the report goes to standard error.
    let ran = bash(dir.path(), "$W batch sqr a.txt -o /dev/stdout --json");
    assert_eq!(ran.out, "4\n9\n");
    assert!(ran.err.starts_with("{\"operation\":\"sqr\""), "{ran:?}");
    let before = names(dir.path());
    for (line, says) in [
        ("mul p p -o r", "two operands are p, which can be read only once"),
        ("mul - /dev/stdin -o r", "two operands are standard input, which can be read only once"),
        ("mul p - -o r <> p", "two operands are standard input, which can be read only once"),
        ("sqr p -o p", "p cannot be read and written: it is a pipe"),
        ("sqr /dev/zero -o r", "/dev/zero: is a device without an end"),
        ("sqr - -o r < /dev/zero", "standard input is a device without an end"),
        ("sqr . -o r", ".: is a directory"),
        ("sqr a.txt -o .", "cannot write .: it is a directory"),
        ("sqr a.txt -o /dev/fd/77", "cannot write /dev/fd/77: "),
        ("divrem a.txt 2 -o - --rem /dev/stdout", "results and remainders cannot go to the same"),
        ("divrem a.txt 2 -o q --rem ./q", "results and remainders cannot go to the same place"),
    ] {
        let ran = bash(dir.path(), &format!("$W batch {line}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
        assert!(ran.error().starts_with(says), "{line}: {ran:?}");
        assert_eq!(names(dir.path()), before, "{line}");
    }
    let ran = bash(dir.path(), "$W batch sqr a.txt -o /dev/full");
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.error().starts_with("cannot write to /dev/full: No space"), "{ran:?}");
}

#[test]
fn quiet_says_only_what_goes_wrong() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "2\nx\n").unwrap();
    let ran = warpint(dir.path(), "batch mul a.txt 3 -o r.txt -q");
    let told = "\
a.txt: line 2: 'x' at position 0 is not a decimal digit
error: 1 of 2 numbers has no result: 'none' is written instead
";
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(2), "", told));
    let ran = warpint(dir.path(), "batch mul 2 3 -o - --quiet");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "6\n", ""));
    let ran = warpint(dir.path(), "batch mul 2 3 -o r.txt --quiet --json");
    assert_eq!(ran.json()["status"], "done");
}

#[test]
fn stages_are_reported_apart() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "2\n3\n").unwrap();
    let json = warpint(dir.path(), "batch sqr a.txt -o r.txt --json").json();
    let seconds = ["read-seconds", "compute-seconds", "write-seconds"];
    for stage in seconds {
        let (time, all) = (json[stage].as_f64().unwrap(), json["seconds"].as_f64().unwrap());
        assert!(time > 0.0 && time <= all, "{stage}: {json}");
    }
    assert_eq!((&json["read-bytes"], &json["written-bytes"]), (&4.into(), &4.into()));
    assert_eq!((&json["done"], &json["resumed-from"]), (&2.into(), &0.into()));
    let ran = warpint(dir.path(), "batch sqr a.txt -o r.txt");
    for part in
        [" (reading ", ", 4 bytes; computing ", "; writing ", ", 4 bytes; at the same time)"]
    {
        assert!(ran.out.contains(part), "{ran:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_has_gone_ends_the_program_without_a_word() {
    const SIGPIPE: i32 = 13;
    let dir = tempfile::tempdir().unwrap();
    for line in ["batch sqr 7 -o - -q", "batch divrem 7 2 -o r.txt --rem /dev/stdout -q"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = command(dir.path(), line.split(' ')).stdout(writer).output().unwrap();
        let ran = Ran::from(ended);
        assert_eq!((ran.signal, ran.err.as_str()), (Some(SIGPIPE), ""), "{line}");
    }
    assert_eq!(names(dir.path()), ["r.txt"]);
}
