//! Tests of `warpint batch`: errors in files, lines and requests, and the files that exist
//! afterwards.

use std::fs;
#[cfg(target_os = "linux")]
use std::process::Stdio;

#[cfg(target_os = "linux")]
use crate::common::command;
use crate::common::warpint;

#[test]
fn bad_lines_are_told_of_and_have_no_result() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("a.txt"), "1\r\n\r\n3x\r\n-4\r\n5\r\n18446744073709551616\r\n7\n8").unwrap();
    fs::write(at("b.hex"), "0x1\n1\n1\nzz\n0x\n1\n8\n8\n\n").unwrap();
    let told = "\
a.txt: line 2: no digits
a.txt: line 3: 'x' at position 1 is not a decimal digit
a.txt: line 4: '-4' is signed; batches hold unsigned integers
b.hex: line 4: 'z' at position 0 is not a hexadecimal digit
b.hex: line 5: no digits
a.txt: line 6: has 65 bits; at most 64 bits are allowed by --bits
";
    for chunk in ["", " --chunk 1", " --chunk 3"] {
        let line = format!("batch mul a.txt b.hex -o r.txt --bits 64{chunk}");
        let ran = warpint(dir.path(), &line);
        let end = "error: 5 of 8 numbers have no result: 'none' is written instead\n";
        assert_eq!((ran.code, ran.err), (Some(2), format!("{told}{end}")));
        assert!(ran.out.starts_with("r.txt: 3 results of 128 bits"), "{}", ran.out);
        assert_eq!(
            fs::read_to_string(at("r.txt")).unwrap(),
            "1\nnone\nnone\nnone\nnone\nnone\n56\n64\n"
        );
    }
    let ran = warpint(dir.path(), "batch sub a.txt b.hex -o r.bin --bits 64 --json --check 8");
    let end =
        "a.txt: line 7: a < b\nerror: 6 of 8 numbers have no result: zeros are written instead\n";
    assert_eq!((ran.code, &ran.err), (Some(2), &format!("{told}{end}")));
    assert_eq!((&ran.json()["malformed"], &ran.json()["checked"]), (&6.into(), &2.into()));
    assert_eq!(fs::read(at("r.bin")).unwrap(), [0; 64]);

    // Nothing is written, and the old file stays.
    let ran = warpint(dir.path(), "batch mul a.txt b.hex -o r.txt --bits 64 --strict");
    let end = "error: 5 of 8 numbers have no result: nothing is written\n";
    assert_eq!((ran.code, ran.out.as_str(), &ran.err), (Some(2), "", &format!("{told}{end}")));
    assert_eq!(
        fs::read_to_string(at("r.txt")).unwrap(),
        "1\nnone\nnone\nnone\nnone\nnone\n56\n64\n"
    );
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 4, "nothing else is left");
    let ran = warpint(dir.path(), "batch sqr a.txt -o new.txt --strict --json");
    assert_eq!((ran.code, &ran.json()["malformed"]), (Some(2), &3.into()), "{ran:?}");
    assert!(!at("new.txt").exists());
}

#[test]
fn results_that_there_are_none_of_are_read_back_in_their_places() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "5\n1\n7\n0\n").unwrap();
    fs::write(dir.path().join("b.txt"), "2\n2\n2\n2\n").unwrap();
    for end in ["txt", "hex"] {
        let ran = warpint(dir.path(), &format!("batch sub a.txt b.txt -o d.{end}"));
        assert_eq!(ran.code, Some(2), "{ran:?}");
        let ran = warpint(dir.path(), &format!("batch mul d.{end} b.txt -o p.txt --json"));
        assert_eq!((ran.code, &ran.json()["count"]), (Some(2), &4.into()), "{ran:?}");
        let told = [2, 4].map(|i| format!("d.{end}: line {i}: 'none' stands for no number\n"));
        assert!(ran.err.starts_with(&told.concat()), "{ran:?}");
        let products = fs::read_to_string(dir.path().join("p.txt")).unwrap();
        assert_eq!(products, "6\nnone\n10\nnone\n");
    }
    fs::write(dir.path().join("a.txt"), "none\n").unwrap();
    for (out, says) in [
        ("r.txt", "1 of 1 number has no result: 'none' is written instead"),
        ("r.bin", "1 of 1 number has no result: zeros are written instead"),
        ("r.bin --strict", "1 of 1 number has no result: nothing is written"),
    ] {
        let ran = warpint(dir.path(), &format!("batch sqr a.txt -o {out}"));
        assert_eq!(ran.err.lines().last(), Some(format!("error: {says}").as_str()), "{ran:?}");
    }
}

#[test]
fn the_widest_sound_line_is_the_width() {
    let dir = tempfile::tempdir().unwrap();
    let digits = |n: usize| "9".repeat(n);
    // 2^(2^20) has 315653 digits and begins with 674.
    let file = format!("x\n{}\n{}\n0{}\n8\n", digits(400_000), digits(315_653), digits(20));
    fs::write(dir.path().join("a.txt"), file).unwrap();
    let ran = warpint(dir.path(), "batch sqr a.txt -o r.txt --json");
    assert_eq!((ran.code, &ran.json()["a-bits"]), (Some(2), &96.into()), "{:?}", ran.code);
    // 400000·log2(10) = 1328771.2, 315653·log2(10) = 1048576.57.
    let told = "\
a.txt: line 1: 'x' at position 0 is not a decimal digit
a.txt: line 2: has 1328772 bits; at most 2^20 bits are allowed
a.txt: line 3: has 1048577 bits; at most 2^20 bits are allowed
";
    assert!(ran.err.starts_with(told), "{}", ran.err);
    // (10^20 − 1)² = 10^40 − 2·10^20 + 1.
    let expected = format!("none\nnone\nnone\n{}8{}1\n64\n", digits(19), "0".repeat(19));
    assert_eq!(fs::read_to_string(dir.path().join("r.txt")).unwrap(), expected);
    // Leading zeros do not count as width.
    fs::write(dir.path().join("a.txt"), format!("{}7\n3\n", "0".repeat(1 << 20))).unwrap();
    for bits in ["", " --bits 32"] {
        let ran = warpint(dir.path(), &format!("batch sqr a.txt -o r.txt --check 2{bits} --json"));
        assert_eq!((ran.code, &ran.json()["a-bits"]), (Some(0), &32.into()), "{ran:?}");
        assert_eq!(fs::read_to_string(dir.path().join("r.txt")).unwrap(), "49\n9\n");
    }
    // The widest number supported.
    fs::write(dir.path().join("a.hex"), format!("{}\n", "F".repeat(1 << 18))).unwrap();
    let ran = warpint(dir.path(), "batch add a.hex a.hex -o r.hex --check 1 --json");
    assert_eq!((ran.code, &ran.json()["a-bits"]), (Some(0), &1_048_576.into()));
    let sum = format!("1{}e\n", "f".repeat((1 << 18) - 1));
    assert!(fs::read_to_string(dir.path().join("r.hex")).unwrap() == sum);
}

#[test]
fn only_the_first_bad_lines_are_shown() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "x\n".repeat(120)).unwrap();
    let ran = warpint(dir.path(), "batch sqr a.txt -o r.txt --chunk 50");
    let lines: Vec<&str> = ran.err.lines().collect();
    assert_eq!((ran.code, lines.len()), (Some(2), 22), "{ran:?}");
    assert_eq!(lines[19], "a.txt: line 20: 'x' at position 0 is not a decimal digit");
    assert_eq!(lines[20], "… and 100 more");
    assert_eq!(lines[21], "error: 120 of 120 numbers have no result: 'none' is written instead");
    assert_eq!(fs::read_to_string(dir.path().join("r.txt")).unwrap(), "none\n".repeat(120));
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("folder.txt")).unwrap();
    fs::create_dir(at("folder")).unwrap();
    fs::write(at("a.txt"), "1\n2\n").unwrap();
    fs::write(at("b.txt"), "1\n2\n3\n").unwrap();
    fs::write(at("bad.txt"), "x\n").unwrap();
    fs::write(at("mac.txt"), "1\r2\r").unwrap();
    fs::write(at("utf16.txt"), b"\xff\xfe1\0\n\0").unwrap();
    fs::write(at("numbers"), "1\n0x2\n").unwrap();
    fs::write(at("five.bin"), "12345").unwrap();
    fs::write(at("no.npy"), "12345").unwrap();
    let npy = |descr, shape: &str, data: &str| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        let header = format!("{header:118}");
        let file = [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes(), data.as_bytes()];
        fs::write(at(&format!("{}.npy", data.len())), file.concat()).unwrap();
    };
    npy("<u4", "(1, 3)", "12 bytes....");
    npy("<u4", "(1, 3)", "13 bytes.....");
    npy("<u4", "(1, 3)", "9 bytes..");
    npy("<f8", "(1, 1)", "8 bytes.");
    npy("<u4", "(0, 40000)", "");
    let before = fs::read_dir(dir.path()).unwrap().count();
    for (line, says) in [
        (
            "mul a.txt b.txt -o r.txt",
            "a.txt and b.txt: 2 numbers and 3 numbers: the counts must be equal, or one of",
        ),
        ("mul a.txt bad.txt -o r.txt", "bad.txt: line 1: 'x' at position 0 is not a decimal digit"),
        ("mul a.txt none.txt -o r.txt", "cannot read none.txt: No such file"),
        ("sqr mac.txt -o r.txt", "mac.txt: its lines end in CR alone: convert them to LF, by tr"),
        ("mul a.txt utf16.txt -o r.txt", "utf16.txt: seems to be UTF-16: convert it to UTF-8, by"),
        ("sqr folder.txt -o r.txt", "folder.txt: is a directory"),
        ("sqr folder -o r.txt", "folder: is a directory"),
        ("sqr 12.npy -o r.txt --format hex", "12.npy: is an npy file: give --format npy"),
        (
            "sqr numbers -o r.txt",
            "numbers: 1 of 2 lines have 0x, such as line 2: give --format hex or --format dec",
        ),
        ("sqr five.bin -o r.txt", "five.bin: raw files do not state the width of their numbers"),
        (
            "sqr five.bin -o r.txt --bits 32",
            "five.bin: has 5 bytes, which is not whole numbers of 32 bits",
        ),
        ("sqr a.txt -o r.txt --bits 33", "--bits: 33 bits: a width must be a multiple of 32"),
        ("sqr a.txt -o r.txt --format csv", "--format: 'csv' is none of dec, hex, npy, raw"),
        ("sqr a.txt -o r.txt --chunk 0", "--chunk: '0' is not a number from 1 up"),
        ("sqr a.txt -o none/r.txt", "cannot write none/r.txt: No such file"),
        ("sqr a.txt -o folder.txt", "cannot write folder.txt: it is a directory"),
        ("sqr a.txt -o r.txt --device gpu", "--device: 'gpu' is none of auto, cpu"),
        ("sqr a.txt -o r.txt --device cuda:63", ""),
        ("sqr no.npy -o r.npy", "no.npy: is not an npy file"),
        ("sqr 13.npy -o r.npy", "13.npy: has 13 bytes for 1 number of 96 bits"),
        ("sqr 9.npy -o r.npy", "9.npy: has 9 bytes for 1 number of 96 bits"),
        ("sqr 8.npy -o r.npy", "8.npy: holds elements '<f8': '<u4' or '<u8' are needed"),
        (
            "sqr 0.npy -o r.npy",
            "0.npy: has numbers of 40000 limbs of 32 bits; 32 to 2^20 bits are allowed",
        ),
        ("sqr 12.npy -o r.npy --bits 64", "12.npy: has numbers of 96 bits, not 64 bits"),
    ] {
        let ran = warpint(dir.path(), &format!("batch {line}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
        assert!(ran.error().starts_with(says), "{line}: {ran:?}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), before, "{line}");
    }
    for line in [
        "mul a.txt -o r.txt",
        "sqr a.txt b.txt -o r.txt",
        "sqr a.txt",
        "sqr a.txt -o r.txt --seed 3",
    ] {
        let ran = warpint(dir.path(), &format!("batch {line}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn more_at_a_time_than_memory_holds_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    // 2^43 zero bytes: more than an address space holds.
    let file = fs::File::create(dir.path().join("a.bin")).unwrap();
    file.set_len(1 << 43).unwrap();
    for chunk in [1u64 << 41, u64::MAX] {
        let line = format!("batch sqr a.bin -o r.bin --bits 32 --device cpu --chunk {chunk}");
        let ran = warpint(dir.path(), &line);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        let says = "no memory for 2199023255552 numbers at a time: give a smaller --chunk";
        assert_eq!(ran.error(), says);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing else is left");
    }
    // No more than the file has.
    fs::write(dir.path().join("a.bin"), [0; 8]).unwrap();
    let line = format!("batch sqr a.bin -o r.bin --bits 32 --device cpu --chunk {}", u64::MAX);
    assert_eq!(warpint(dir.path(), &line).code, Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn all_work_is_on_the_threads_that_were_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let number = "9".repeat(10_000);
    fs::write(dir.path().join("a.txt"), format!("{number}\n").repeat(1000)).unwrap();
    let args = "batch sqr a.txt -o r.txt --chunk 10 --check 1000 --threads 2 --device cpu";
    let mut child = command(dir.path(), args.split(' '))
        // As many as rayon starts by default.
        .env("RAYON_NUM_THREADS", "64")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut most = 0;
    while child.try_wait().unwrap().is_none() {
        let tasks = fs::read_dir(format!("/proc/{}/task", child.id()));
        most = most.max(tasks.map_or(0, Iterator::count));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(child.wait().unwrap().success());
    // Besides these two: the main thread, and the threads that wait for signals, read and write.
    assert!((4..=6).contains(&most), "{most} threads");
}

#[cfg(unix)]
#[test]
fn an_unwritable_folder_is_refused() {
    use std::os::unix::fs::PermissionsExt;

    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "1\n").unwrap();
    let folder = dir.path().join("locked");
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    // Not testable for a user whom permissions do not restrict.
    if fs::write(folder.join("probe"), "").is_ok() {
        return;
    }
    let ran = warpint(dir.path(), "batch sqr a.txt -o locked/r.txt");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.error().starts_with("cannot write locked/r.txt: Permission denied"), "{ran:?}");
}
