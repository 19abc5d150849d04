//! Tests that parsing a line of `worktodo.txt` never panics and never yields a wrong assignment.

use proptest::prelude::*;
use warpint_gimps::{Assignment, Foreign, LONGEST_LINE, Line, Malformed, Work};

const AID: &str = "FEEE9DCD59A0855711265C1165C4C693";

#[cfg(test)]
fn work(line: &str) -> Assignment {
    match Line::parse(line.as_bytes()) {
        Line::Work(assignment) => assignment,
        other => panic!("{line}: {other:?}"),
    }
}

fn prp(exponent: u32) -> Work {
    let (double_check, history, residue_type) = (false, None, None);
    Work::Prp { exponent, double_check, history, residue_type, known_factors: vec![] }
}

fn ll(exponent: u32, double_check: bool) -> Work {
    Work::Ll { exponent, double_check, tf_bits: None, pm1_done: None }
}

#[test]
fn assignments_as_servers_and_people_write_them() {
    let id = || Some(AID.to_owned());
    let plain = |work| Assignment { aid: None, work, bounds: None };
    let known = |work| Assignment { aid: id(), work, bounds: None };
    let of_types = |residue_type, factors: &[&str]| Work::Prp {
        exponent: 1277,
        double_check: true,
        history: Some((99.0, 0.0)),
        residue_type,
        known_factors: factors.iter().map(|&f| f.to_owned()).collect(),
    };
    let tested = |exponent, bits, done| Work::Ll {
        exponent,
        double_check: true,
        tf_bits: Some(bits),
        pm1_done: done,
    };
    let history = |bits, saved| Work::Prp {
        exponent: 124_647_911,
        double_check: false,
        history: Some((bits, saved)),
        residue_type: None,
        known_factors: vec![],
    };
    for (line, expected) in [
        (format!("PRP={AID},1,2,124647911,-1,77,0"), known(history(77.0, 0.0))),
        (format!("PRP={AID},1,2,124647911,-1,77.5,1.3\r\n"), known(history(77.5, 1.3))),
        ("PRP=N/A,1,2,1277,-1".into(), plain(prp(1277))),
        ("PRP=n/a,1,2,1277,-1".into(), plain(prp(1277))),
        ("PRP=0,1,2,1277,-1".into(), plain(prp(1277))),
        ("PRP=,1,2,1277,-1".into(), plain(prp(1277))),
        ("PRP=1,2,1277,-1".into(), plain(prp(1277))),
        (" prp = 1.0 , 2 , 1277 , -1 \t".into(), plain(prp(1277))),
        ("\u{feff}PRP=1,2,2147483647,-1\n".into(), plain(prp(2_147_483_647))),
        // The short form of PRPLL's help.
        ("PRP=118063003".into(), plain(prp(118_063_003))),
        (" prp = 1277 \r\n".into(), plain(prp(1277))),
        ("PRP=N/A,1277".into(), plain(prp(1277))),
        (format!("PRP={AID},118063003"), known(prp(118_063_003))),
        (format!("PRPDC={AID},1,2,1277,-1,99,0,3,1"), known(of_types(Some(1), &[]))),
        (format!("PRPDC={AID},1,2,1277,-1,99,0,3,5"), known(of_types(Some(5), &[]))),
        (
            format!("PRPDC={AID},1,2,1277,-1,99,0,3,5,\"31,127\""),
            known(of_types(Some(5), &["31", "127"])),
        ),
        (format!("PRPDC={AID},1,2,1277,-1,99,0,\"31\""), known(of_types(None, &["31"]))),
        (
            format!("DoubleCheck={},70198703,75,1", AID.to_lowercase()),
            Assignment {
                aid: Some(AID.to_lowercase()),
                ..plain(tested(70_198_703, 75.0, Some(1)))
            },
        ),
        ("DOUBLECHECK=N/A,70198703,75".into(), plain(tested(70_198_703, 75.0, None))),
        ("Test=9689".into(), plain(ll(9689, false))),
        (format!("Test={AID},2"), known(ll(2, false))),
        (
            "B1=30000,B2=600000;DoubleCheck=44497".into(),
            Assignment { bounds: Some("B1=30000,B2=600000".into()), ..plain(ll(44497, true)) },
        ),
        (
            "B2=7;Test=44497".into(),
            Assignment { bounds: Some("B2=7".into()), ..plain(ll(44497, false)) },
        ),
        (
            format!("Cert={AID},1,2,82997591,-1,162105"),
            known(Work::Cert { exponent: 82_997_591, squarings: 162_105 }),
        ),
    ] {
        let read = work(&line);
        assert_eq!(read, expected, "{line}");
        assert_eq!(work(&read.to_string()), expected, "{line} as {read}");
    }
}

#[test]
fn what_is_no_work_is_known_as_such() {
    for line in ["", " ", "\t\r\n", "\u{feff}"] {
        assert_eq!(Line::parse(line.as_bytes()), Line::Blank, "{line:?}");
    }
    let not_text: &[u8] = b"# caf\xe9";
    for line in [b"# PRP=1,2,1277,-1".as_slice(), b";", b"// x", b"[Worker #1]", not_text] {
        assert_eq!(Line::parse(line), Line::Comment, "{line:?}");
    }
}

#[test]
fn work_of_other_programs_is_foreign() {
    for (line, keyword) in [
        ("Pminus1=N/A,1,2,9221683,-1,1000000,0,70", "Pminus1"),
        ("PMinus1=N/A,1,2,9221683,-1,1000000,0,70", "Pminus1"),
        ("PFactor=1,2,9221683,-1,70,1", "Pfactor"),
        ("Factor=N/A,9221683,70,71", "Factor"),
        ("ECM2=1,2,1277,-1,1000000,0,10", "ECM2"),
        ("B1=1;AdvancedTest=1277", "AdvancedTest"),
    ] {
        assert_eq!(
            Line::parse(line.as_bytes()),
            Line::Foreign(Foreign::Kind { keyword }),
            "{line}"
        );
    }
    for (line, says) in [
        ("PRP=3,2,1277,-1", "k,b,n,c = 3,2,1277,-1 is not a Mersenne number"),
        ("PRP=1,10,1277,-1", "1,10,1277,-1"),
        ("PRP=1,2,1277,+1", "1,2,1277,+1"),
        ("PRP=1.5,2,1277,-1", "1.5,2"),
        ("Cert=N/A,5,2,1277,-1,9", "5,2,1277"),
        ("PRP=1,2,1277,-1,70,0,5,1", "base 5"),
        ("PRP=1,2,1277,-1,70,0,3,4", "residue type 4"),
        ("PRP=1,2,1277,-1,70,0,3,1,\"31\"", "residue type 1 and known factors"),
    ] {
        match Line::parse(line.as_bytes()) {
            Line::Foreign(foreign) => assert!(foreign.to_string().contains(says), "{foreign}"),
            other => panic!("{line}: {other:?}"),
        }
    }
}

#[test]
fn a_malformed_line_is_told_what_is_wrong() {
    let long_factor = format!("PRP=1,2,1277,-1,\"{}\"", "7".repeat(2_001));
    for (line, says) in [
        ("hello", "hello is not an assignment: it has no keyword and '='"),
        ("=1277", "'' is not a known kind of work"),
        ("PPR=1,2,1277,-1", "'PPR' is not a known kind of work: use PRP, PRPDC"),
        ("Test=", "p is missing: the form is Test="),
        ("Test=N/A", "p is missing"),
        ("Test=N/A,x", "p is 'x', not a whole number"),
        ("Test=-7", "p is '-7', not a whole number"),
        ("Test=1", "p is '1', not an exponent from 2 to 2147483647"),
        ("Test=N/A,2147483648", "'2147483648', not an exponent"),
        ("Test=18446744073709551616", "not a whole number"),
        ("Test=7,8,9,10", "unexpected field '10': the form is Test="),
        ("Test=7,8,9,", "unexpected field ''"),
        ("Test=7,1e5", "tf_bits is '1e5', not a number"),
        ("Test=7,.", "tf_bits is '.', not a number"),
        ("Test=7,70,yes", "pm1_done is 'yes'"),
        ("Test=FEEE,7", "ID is 'FEEE', not 32 hexadecimal digits or N/A"),
        ("PRP=FEEE9DCD59A0855711265C1165C4C69,1,2,7,-1", "assignment's ID is 'FEEE9"),
        ("PRP=", "k is missing: the form is PRP="),
        ("PRP=N/A", "k is missing: the form is PRP="),
        ("PRP=1", "p is '1', not an exponent from 2 to 2147483647"),
        ("PRP=1277.5", "p is '1277.5', not a whole number"),
        ("PRP=1277,77", "n is missing: the form is PRP="),
        ("PRP=1277,\"31\"", "b is missing: the form is PRP="),
        ("PRP=1,2,1277", "c is missing"),
        ("PRP=1,2,-1277,-1", "n is '-1277'"),
        ("PRP=1,2,4294967297,-1", "n is '4294967297', not an exponent"),
        ("PRP=1,2,1277,-1,70", "tests_saved is missing"),
        ("PRP=1,2,1277,-1,70,0,3", "residue_type is missing"),
        ("PRP=1,2,1277,-1,70,0,3,1,9", "unexpected field '9'"),
        ("PRP=1,2,1277,-1,\"31", "the quotation marks do not enclose"),
        ("PRP=1,2,1277,-1\"31\"", "the quotation marks do not enclose"),
        ("PRP=1,2,1277,-1,\"31\",70,0", "the quotation marks do not enclose"),
        ("PRP=1,2,1277,-1,\"\"", "a known factor is ''"),
        ("PRP=1,2,1277,-1,\"31,\"", "a known factor is ''"),
        ("PRP=1,2,1277,-1,\"031\"", "a known factor is '031', not a whole number above 1"),
        ("PRP=1,2,1277,-1,\"1\"", "a known factor is '1'"),
        ("PRP=1,2,1277,-1,\"-31\"", "a known factor is '-31'"),
        (&long_factor, "a known factor is '777777"),
        ("Cert=N/A,1,2,1277,-1", "squarings is missing"),
        ("Cert=N/A,1,2,1277,-1,0", "squarings is '0', not at least 1"),
        ("B1=3;B2=4;Test=7", "'B2' is not a known kind of work"),
        ("B2=3,B1=4;Test=7", "'B2=3,B1=4' before the ';'"),
        ("B1=x;Test=7", "'B1=x' before the ';'"),
        ("B1=7", "'B1=7' before the ';'"),
        ("Test=\u{1b}[31m7", "the line is not plain text"),
    ] {
        match Line::parse(line.as_bytes()) {
            Line::Malformed(malformed) => {
                let said = malformed.to_string();
                assert!(said.contains(says), "{line}: {said}");
                assert!(said.len() < 300 && !said.contains('\n'), "{said}");
            }
            other => panic!("{line}: {other:?}"),
        }
    }
    assert_eq!(Line::parse(b"Test=\xff"), Line::Malformed(Malformed::NotText));
    let longest = format!("PRP=1,2,1277,-1,\"7{}\"", ",7".repeat((LONGEST_LINE - 19) / 2));
    assert!(longest.len() <= LONGEST_LINE && longest.len() > LONGEST_LINE - 2);
    assert!(matches!(Line::parse(longest.as_bytes()), Line::Work(_)));
    let longer = [longest.as_bytes(), b"  ;"].concat();
    assert_eq!(Line::parse(&longer), Line::Malformed(Malformed::TooLong { bytes: longer.len() }));
}

fn aid() -> impl Strategy<Value = Option<String>> {
    proptest::option::of("[0-9A-Fa-f]{32}")
}

prop_compose! {
    fn any_prp()(
        exponent in 2u32..1 << 31, double_check: bool,
        history in proptest::option::of((0u32..4000, 0u32..100)),
        residue_type in proptest::option::of(prop_oneof![Just(1u8), Just(5u8)]),
        known_factors in proptest::collection::vec("[2-9][0-9]{0,60}", 0..6),
    ) -> Work {
        // Type 1 applies to M_p itself, and the type follows the history.
        let residue_type = residue_type.filter(|&t| t == 5 || known_factors.is_empty());
        let history = history
            .map(|(bits, saved)| (f64::from(bits) / 16.0, f64::from(saved) / 10.0))
            .or(residue_type.map(|_| (0.0, 0.0)));
        Work::Prp { exponent, double_check, history, residue_type, known_factors }
    }
}

prop_compose! {
    fn any_ll()(
        exponent in 2u32..1 << 31, double_check: bool,
        tf in proptest::option::of((0u32..4000, proptest::option::of(any::<u32>()))),
    ) -> Work {
        let tf_bits = tf.map(|(bits, _)| f64::from(bits) / 16.0);
        Work::Ll { exponent, double_check, tf_bits, pm1_done: tf.and_then(|(_, done)| done) }
    }
}

prop_compose! {
    fn any_cert()(exponent in 2u32..1 << 31, squarings in 1u64..) -> Work {
        Work::Cert { exponent, squarings }
    }
}

prop_compose! {
    fn assignment()(
        aid in aid(), work in prop_oneof![any_prp(), any_ll(), any_cert()],
        bounds in proptest::option::of("B1=[0-9]{1,9}(,B2=[0-9]{1,9})?|B2=[0-9]{1,9}"),
    ) -> Assignment {
        Assignment { aid, work, bounds }
    }
}

/// Returns a configuration with 10,000 cases, or the number in the environment variable
/// `PROPTEST_CASES`.
fn many() -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok());
    ProptestConfig::with_cases(asked.unwrap_or(10_000))
}

/// Checks two properties that any line must have: parsing it does not panic, and an assignment
/// parsed from it can be written as a line with the same meaning.
fn sound(bytes: &[u8]) -> Result<(), TestCaseError> {
    match Line::parse(bytes) {
        Line::Work(found) => {
            prop_assert!((2..1 << 31).contains(&found.work.exponent()));
            prop_assert_eq!(Line::parse(found.to_string().as_bytes()), Line::Work(found));
        }
        Line::Malformed(why) => prop_assert!(why.to_string().len() < 600),
        Line::Foreign(why) => prop_assert!(!why.to_string().contains('\n')),
        Line::Blank | Line::Comment => {}
    }
    Ok(())
}

proptest! {
    #![proptest_config(many())]

    #[test]
    fn fuzz_an_assignment_reads_back(assignment in assignment()) {
        prop_assert_eq!(
            Line::parse(assignment.to_string().as_bytes()),
            Line::Work(assignment)
        );
    }

    #[test]
    fn fuzz_no_bytes_do_harm(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        sound(&bytes)?;
    }

    #[test]
    fn fuzz_no_text_does_harm(text in "(PRP|Test|Cert|B1|b2=7;PRPDC)?[ =]{0,2}[-+.,0-9N/A\"a-f;= ]{0,60}") {
        sound(text.as_bytes())?;
    }

    #[test]
    fn fuzz_no_change_of_a_line_does_harm(
        assignment in assignment(), at: prop::sample::Index, byte: u8, how in 0u8..4,
    ) {
        let mut line = assignment.to_string().into_bytes();
        let at = at.index(line.len());
        match how {
            0 => line[at] = byte,
            1 => line.insert(at, byte),
            2 => drop(line.remove(at)),
            _ => line.truncate(at),
        }
        sound(&line)?;
    }
}
