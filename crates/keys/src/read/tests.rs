//! Files of every format, made by OpenSSL and OpenSSH (`tests/vectors/keys`) or published, and
//! damaged files.

use std::fs;
use std::path::{Path, PathBuf};

use warpint_natural::radix::hex;
use warpint_progress::{StopToken, Unwatched};

use super::*;
use crate::KeysError;

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/keys")
}

/// The modulus of the files in `tests/vectors/keys`, as OpenSSL prints it.
fn modulus() -> Vec<u64> {
    let text = fs::read_to_string(vectors().join("modulus.txt")).unwrap();
    hex::parse(text.trim().strip_prefix("Modulus=").unwrap().as_bytes())
}

/// Reads bytes as the file `f`, and returns the keys and the messages.
fn read(bytes: &[u8]) -> (KeyList, Vec<String>) {
    let mut messages = vec![];
    let mut report = |entry: &BadEntry| messages.push(entry.to_string());
    let mut reader = Reader::new(&Unwatched, &mut report);
    reader.stream("f", bytes).unwrap();
    let list = reader.finish();
    assert_eq!(list.unreadable(), messages.len() as u64);
    (list, messages)
}

fn others(list: &KeyList) -> Vec<(&str, u64)> {
    list.others().iter().map(|(what, &count)| (what.as_str(), count)).collect()
}

#[test]
fn every_format_of_openssl_and_openssh_is_read() {
    for (name, has_exponent, position) in [
        ("certificate.pem", true, Position::Line(1)),
        ("certificate.der", true, Position::Whole),
        ("request.pem", true, Position::Line(1)),
        ("request.der", true, Position::Whole),
        ("spki.pem", true, Position::Line(1)),
        ("spki.der", true, Position::Whole),
        ("pkcs1.pem", true, Position::Line(1)),
        ("pkcs1.der", true, Position::Whole),
        ("ssh.pub", true, Position::Line(1)),
        ("ssh-certificate.pub", true, Position::Line(1)),
        ("modulus.txt", false, Position::Line(1)),
    ] {
        let mut none = |entry: &BadEntry| panic!("{entry}");
        let mut reader = Reader::new(&Unwatched, &mut none);
        reader.file(&vectors().join(name)).unwrap();
        let list = reader.finish();
        assert_eq!(list.len(), 1, "{name}");
        assert_eq!(list.modulus(0), modulus(), "{name}");
        assert_eq!(list.exponent(0), has_exponent.then_some(&[65_537][..]), "{name}");
        assert_eq!(list.place(0).position, position, "{name}");
        assert!(list.place(0).file.ends_with(name));
    }
}

#[test]
fn other_algorithms_are_counted_apart() {
    for (name, what) in [("ec.pem", "EC"), ("ed25519.pem", "Ed25519"), ("ed25519.pub", "Ed25519")] {
        let (list, messages) = read(&fs::read(vectors().join(name)).unwrap());
        assert!(list.is_empty() && messages.is_empty(), "{name}");
        assert_eq!(others(&list), [(what, 1)], "{name}");
    }
    // Kept apart from keys, and never decoded.
    let private =
        "-----BEGIN RSA PRIVATE KEY-----\nnot even Base64\n-----END RSA PRIVATE KEY-----\n";
    let (list, messages) = read(private.as_bytes());
    assert_eq!((others(&list), messages.len()), (vec![("private key", 1)], 0));
}

/// The key of RFC 7517, appendix A.1, with its elliptic-curve neighbour, alone and in sets.
#[test]
fn json_web_keys_of_the_rfc() {
    let ec = r#"{"kty":"EC","crv":"P-256","x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM","kid":"1"}"#;
    let rsa = r#"{"kty":"RSA","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw","e":"AQAB","alg":"RS256","kid":"2011-04-29"}"#;
    let forms = [
        format!("{rsa}\n{ec}"),
        format!("{{\"keys\":[{rsa},{ec}]}}"),
        format!("[{rsa},{ec}]"),
        format!("\u{feff}{{\"keys\": [ {rsa} ]}} {ec}"),
    ];
    for text in &forms[..3] {
        let (list, messages) = read(text.as_bytes());
        assert!(messages.is_empty(), "{messages:?}");
        assert_eq!((list.len(), others(&list)), (1, vec![("EC", 1)]));
        assert_eq!(bits(list.modulus(0)), 2048);
        // The first and the last bytes of "0vx7…" and "…DKgw".
        assert_eq!(list.modulus(0)[31] >> 40, 0xd2_fc7b);
        assert_eq!(list.modulus(0)[0] as u16, 0xca83);
        assert_eq!(list.exponent(0), Some(&[65_537][..]));
        assert_eq!(list.place(0).to_string(), "f: key 1");
    }
    let (list, messages) = read(forms[3].as_bytes());
    assert_eq!((list.len(), others(&list), messages.len()), (1, vec![("EC", 1)], 0));
    for (text, message) in [
        (r#"{"kty":"RSA","n":"AQ"}"#, "f: key 1: not a JWK: it has no \"e\""),
        (r#"{"kty":"RSA","n":"A$","e":"AQ"}"#, "f: key 1: not a JWK: its \"n\" is not Base64url"),
        (r#"{"kty":"RSA","n":"AQ","e":"AQAB"}"#, "f: key 1: the modulus is 0 or 1"),
        (r#"{"keys":[7]}"#, "f: key 1: not a JWK: it is not an object"),
        ("{}", "f: key 1: not a JWK: it has no \"kty\""),
        ("[[{}]]", "f: key 1: not a JWK: it is not an object"),
        ("{\"kty\":7}", "f: key 1: not a JWK: it has no \"kty\""),
        (r#"{"kty":"RSA","n":["AQ"],"e":{}}"#, "f: key 1: not a JWK: it has no \"n\""),
        ("[1, 2", "f: key 3: not JSON: EOF while parsing a list"),
    ] {
        assert_eq!(read(text.as_bytes()).1.last().map(String::as_str), Some(message));
    }
    let (list, messages) = read(format!("{rsa}\n{{\"kty\"").as_bytes());
    assert_eq!((list.len(), messages.len()), (1, 1));
    assert!(messages[0].starts_with("f: key 2: not JSON: EOF"), "{messages:?}");
}

#[test]
fn lines_of_moduli() {
    let text = "# a comment\n15\n0x1F\r\n\n  ff \nModulus=0F\n0X0011\nxyz\n-5\n1\n0\n0x\n12 13\n";
    let (list, messages) = read(text.as_bytes());
    let moduli: Vec<&[u64]> = (0..list.len()).map(|i| list.modulus(i)).collect();
    assert_eq!(moduli, [&[15][..], &[31], &[255], &[15], &[17]]);
    assert_eq!(list.place(1).to_string(), "f: line 3");
    assert_eq!((0..5).map(|i| list.exponent(i)).collect::<Vec<_>>(), [None; 5]);
    let no = "is neither a modulus in decimal or hexadecimal digits nor an SSH public key";
    assert_eq!(
        messages,
        [
            format!("f: line 8: 'xyz' {no}"),
            format!("f: line 9: '-5' {no}"),
            "f: line 10: the modulus is 0 or 1".into(),
            "f: line 11: the modulus is 0 or 1".into(),
            format!("f: line 12: '0x' {no}"),
            format!("f: line 13: '12 13' {no}"),
        ]
    );
    // 2^2048 − 1 in decimal and in hexadecimal digits.
    let ones = vec![u64::MAX; 32];
    let powers = warpint_natural::radix::decimal::Powers::new(700);
    let decimal = warpint_natural::radix::decimal::format(&ones, &powers);
    let (list, _) = read(format!("{decimal}\n{}", "f".repeat(512)).as_bytes());
    assert_eq!([list.modulus(0), list.modulus(1)], [&ones[..], &ones]);
}

#[test]
fn lines_of_authorized_keys_and_known_hosts() {
    let key = fs::read_to_string(vectors().join("ssh.pub")).unwrap();
    let key = key.trim();
    let text = format!(
        "# keys\nfrom=\"*.example.org\",command=\"ssh-rsa x\" {key} me\n\
         |1|abc=|def= {key}\n@revoked [host]:2222 {key}\nhost ssh-ed25519 AAAAC3Nz x\nssh-rsa AAAA\nssh-rsa\n"
    );
    let (list, messages) = read(text.as_bytes());
    assert_eq!(list.len(), 3);
    assert!((0..3).all(|i| list.modulus(i) == modulus()));
    assert_eq!(others(&list), [("Ed25519", 1)]);
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(messages[0].starts_with("f: line 6: damaged SSH public key: "), "{messages:?}");
    // A line of another host first: `[` is not JSON.
    assert_eq!(read(format!("[host]:22 {key}\n").as_bytes()).0.len(), 1);
}

#[test]
fn several_blocks_with_text_between_them() {
    let file = |name: &str| fs::read_to_string(vectors().join(name)).unwrap();
    let garbage = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    let text = format!(
        "Certificate:\n    Data: 12\n{}{}{garbage}{}-----BEGIN PUBLIC KEY-----\n!\n-----END PUBLIC KEY-----\n-----BEGIN X-----\n",
        file("certificate.pem"),
        file("ec.pem"),
        file("spki.pem"),
    );
    let (list, messages) = read(text.as_bytes());
    assert_eq!((list.len(), others(&list)), (2, vec![("EC", 1)]));
    assert_eq!(list.place(0).to_string(), "f: line 3");
    assert!(messages[0].contains(": not a valid certificate in DER: "), "{messages:?}");
    assert!(messages[1].ends_with("the block of PUBLIC KEY is not Base64"), "{messages:?}");
    assert!(messages[2].ends_with("the block of X has no line -----END X-----"), "{messages:?}");
    // Lines of Windows, and a block in one line of Base64.
    let spki = file("spki.pem").replace('\n', "\r\n");
    assert_eq!(read(spki.as_bytes()).0.modulus(0), modulus());
    let lines: Vec<String> = file("spki.pem").lines().map(str::to_owned).collect();
    let body = lines[1..lines.len() - 1].concat();
    let one = format!("{}\n{body}\n{}", lines[0], lines[lines.len() - 1]);
    assert_eq!(read(one.as_bytes()).0.modulus(0), modulus());
}

/// Keys before, between and after blocks, at the beginning of the file and beyond the bytes that decide
/// its format.
#[test]
fn keys_beside_blocks_are_read() {
    let file = |name: &str| fs::read_to_string(vectors().join(name)).unwrap();
    let (ssh, spki) = (file("ssh.pub"), file("spki.pem"));
    let far = "0x21\n".repeat(20_000);
    for (before, count) in [("", 0), (&far[..], 20_000)] {
        let text = format!(
            "{before}{ssh}0x0f\n{spki}subject=C = DE\n{ssh}ssh-rsa AAAA x\n-----END X-----\n\n# 5\n{spki}Modulus=15\n23\n"
        );
        let (list, messages) = read(text.as_bytes());
        let moduli: Vec<&[u64]> = (count..list.len()).map(|i| list.modulus(i)).collect();
        let n = &modulus()[..];
        assert_eq!(moduli, [n, &[15], n, n, n, &[0x15], &[23]]);
        assert_eq!(list.lines_of_text(), 2);
        let line = 2 + spki.lines().count() + 3 + count;
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(messages[0].starts_with(&format!("f: line {line}: damaged SSH")), "{messages:?}");
    }
    // Words of a comment or of another line are no block.
    for text in ["# exported from -----BEGIN CERTIFICATE----- files\n", "x -----BEGIN X-----\n"] {
        let (list, messages) = read(format!("{text}0x0f\n21\n").as_bytes());
        assert_eq!((list.len(), list.lines_of_text()), (2, 0));
        assert_eq!(messages.len(), usize::from(text.starts_with('x')), "{messages:?}");
    }
    // A block of which only the mark is on its first line.
    let (list, messages) = read(format!("-----BEGIN \n{ssh}").as_bytes());
    assert_eq!((list.len(), messages.len()), (1, 1), "{messages:?}");
}

#[test]
fn truncated_files_are_reported_and_empty_files_are_empty() {
    for empty in [&b""[..], b"\n\n", b"  ", b"# nothing\n"] {
        let (list, messages) = read(empty);
        assert!(list.is_empty() && messages.is_empty() && list.files() == 1);
    }
    for name in
        ["certificate.pem", "spki.pem", "certificate.der", "spki.der", "pkcs1.der", "ssh.pub"]
    {
        let whole = fs::read(vectors().join(name)).unwrap();
        for length in (30..whole.len() - 32).step_by(7) {
            let (list, messages) = read(&whole[..length]);
            assert_eq!((list.len(), messages.len()), (0, 1), "{name}: {length}");
        }
    }
    let (_, messages) = read(&[7, 0, 1]);
    assert_eq!(messages, ["f: the file is binary, but not DER"]);
}

#[test]
fn long_lines_and_long_moduli_are_refused() {
    let text = format!("{}\n15\n{}\n21", "7".repeat(1 << 20), "f".repeat(20_000));
    let (list, messages) = read(text.as_bytes());
    assert_eq!(list.len(), 2);
    assert_eq!(
        messages,
        [
            "f: line 1: the line has more than 262144 bytes",
            "f: line 3: the modulus has 80000 bits; at most 65536 are read",
        ]
    );
}

#[test]
fn folders_are_searched_in_order_and_missing_files_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("b")).unwrap();
    for name in ["c.txt", "a.txt", "b/d.txt"] {
        fs::write(folder.path().join(name), "15\n").unwrap();
    }
    let found = files(&[folder.path().to_owned()]).unwrap();
    let names: Vec<_> = found.iter().map(|f| f.strip_prefix(folder.path()).unwrap()).collect();
    assert_eq!(names, [Path::new("a.txt"), Path::new("b/d.txt"), Path::new("c.txt")]);
    let error = files(&[folder.path().join("none")]).unwrap_err();
    assert!(matches!(error, KeysError::File(_)), "{error}");
    let mut none = |_: &BadEntry| {};
    let stop = StopToken::new();
    stop.stop();
    let mut reader = Reader::new(&stop, &mut none);
    assert!(matches!(reader.file(&found[0]), Err(KeysError::Stopped)));
}

#[test]
fn moduli_as_bytes_are_records_or_numbers_of_gmp() {
    let read = |raw: Raw, bytes: &[u8]| {
        let mut messages = vec![];
        let mut report = |entry: &BadEntry| messages.push(entry.to_string());
        let mut reader = Reader::new(&Unwatched, &mut report).raw(raw);
        reader.stream("f", bytes).unwrap();
        let list = reader.finish();
        let moduli: Vec<Vec<u64>> = (0..list.len()).map(|i| list.modulus(i).to_vec()).collect();
        (moduli, messages)
    };
    let nine = [1, 2, 3, 4, 5, 6, 7, 8, 9];
    let value = vec![0x0203_0405_0607_0809, 1];
    assert_eq!(read(Raw::Records(9), &[]), (vec![], vec![]));
    assert_eq!(read(Raw::Records(9), &nine), (vec![value.clone()], vec![]));
    // A record of zeros, one with leading zeros, and a part of one.
    let three = [&[0; 9][..], &[0, 0, 0, 0, 0, 0, 0, 1, 0], &nine[..8]].concat();
    let says = [
        "f: key 1: the modulus is 0 or 1",
        "f: key 3: the file ends inside a number of 9 bytes: check the format of the file",
    ];
    assert_eq!(read(Raw::Records(9), &three), (vec![vec![256]], says.map(String::from).to_vec()));
    // GMP 6: mpz_out_raw of 15, 0, −5 and 2^64.
    let gmp = [
        &[0, 0, 0, 1, 15][..],
        &[0, 0, 0, 0],
        &[255, 255, 255, 255, 5],
        &[0, 0, 0, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0],
    ]
    .concat();
    let says = ["f: key 2: the modulus is 0 or 1", "f: key 3: a number of the key is negative"];
    let moduli = vec![vec![15], vec![0, 1]];
    assert_eq!(read(Raw::Gmp, &gmp), (moduli, says.map(String::from).to_vec()));
    for (bytes, says) in [
        (
            &[0, 0, 1][..],
            "f: key 1: the file ends inside a number of 4 bytes: check the format of the file",
        ),
        (
            &[0, 0, 0, 2, 1],
            "f: key 1: the file ends inside a number of 2 bytes: check the format of the file",
        ),
        (
            &[0, 0, 0, 2],
            "f: key 1: the file ends inside a number of 2 bytes: check the format of the file",
        ),
        (
            &[127, 255, 255, 255],
            "f: key 1: the file ends inside a number of 2147483647 bytes: check the format of the file",
        ),
    ] {
        assert_eq!(read(Raw::Gmp, bytes), (vec![], vec![says.to_owned()]));
    }
    let long = [&[0, 0, 64, 0][..], &[1; 1 << 14], &[0, 0, 0, 1, 15]].concat();
    let says = "f: key 1: the modulus has 131072 bits; at most 65536 are read";
    assert_eq!(read(Raw::Gmp, &long), (vec![vec![15]], vec![says.to_owned()]));
}

/// Lines and blocks beyond what is decoded at a time, with unreadable ones, in their order and by any
/// number of threads.
#[test]
fn threads_keep_the_order_of_entries() {
    let digits = "f".repeat(4096);
    let line = |i: usize| match i % 1000 {
        999 => "no key\n".to_owned(),
        _ => format!("0x{i:x}{digits}\n"),
    };
    let lines: String = (1..4000).map(line).collect();
    let mut outcomes = [1, 3].map(|threads| {
        let mut messages = vec![];
        let mut report = |entry: &BadEntry| messages.push(entry.to_string());
        let mut reader = Reader::new(&Unwatched, &mut report).threads(threads);
        reader.stream("f", lines.as_bytes()).unwrap();
        let list = reader.finish();
        let keys: Vec<_> =
            (0..list.len()).map(|i| (list.modulus(i).to_vec(), list.place(i).position)).collect();
        (keys, messages)
    });
    let [(keys, messages), other] = &mut outcomes;
    assert!((&*keys, &*messages) == (&other.0, &other.1));
    assert_eq!((keys.len(), messages.len()), (3995, 4));
    assert!(messages[1].starts_with("f: line 1999: 'no key'"), "{messages:?}");
    assert!(keys.is_sorted_by_key(|(_, position)| *position));
    assert_eq!(keys[2000].1, Position::Line(2003));
}
