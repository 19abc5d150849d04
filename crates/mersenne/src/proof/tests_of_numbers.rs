//! Tests of proofs of k·b^n ± 1, against GMP.

use rug::Integer;
use rug::integer::{IsPrime, Order};
use sha3::{Digest, Sha3_256};

use super::*;
use crate::engine::plain::Plain;
use crate::engine::tampered::{Tampered, flipped, zero};
use crate::{EngineFamily, Number, Plan, StopToken, TestKind, Verdict};

fn subject(text: &str) -> Subject {
    let number: Number = text.parse().unwrap();
    Subject::new(TestKind::for_number(number), number).unwrap()
}

fn fermat(text: &str, base: u32) -> Subject {
    Subject::new(TestKind::Fermat { base }, text.parse().unwrap()).unwrap()
}

/// Returns Fermat's test to the base that the program chooses.
fn any_fermat(text: &str) -> Subject {
    let number: Number = text.parse().unwrap();
    Subject::new(TestKind::fermat(number), number).unwrap()
}

fn modulus(subject: Subject) -> Integer {
    Integer::from_digits(&subject.number().value(), Order::Lsf)
}

fn integer(x: &Residue) -> Integer {
    Integer::from_digits(x.limbs(), Order::Lsf)
}

fn residue(subject: Subject, x: &Integer) -> Residue {
    Residue::from_limbs(subject.number(), &x.to_digits::<u64>(Order::Lsf))
}

/// Returns the exponent of the power that the test computes, and its base.
fn power_of(subject: Subject) -> (Integer, u32) {
    let before = modulus(subject) - 1u32;
    match subject.kind() {
        TestKind::Fermat { base } => (before, base),
        TestKind::Proth { base } => (before / 2u32, base),
        TestKind::Pocklington { base, open } => (before / open, base),
        kind => panic!("{kind} has no power"),
    }
}

/// Returns x_j by its definition.
fn x(subject: Subject, j: u64) -> Integer {
    let (exponent, base) = power_of(subject);
    let above = u32::try_from(subject.whole() - j).unwrap();
    Integer::from(base).pow_mod(&(exponent >> above), &modulus(subject)).unwrap()
}

/// Returns the proof by its definition: each middle is a product of residues of the test to products of the
/// hashes, which are taken from the text of the file format.
fn by_definition(subject: Subject, power: u32) -> Proof {
    let n = modulus(subject);
    let last = residue(subject, &x(subject, subject.iterations().into()));
    let text = format!("TEST={}\nNUMBER={}\n", subject.kind().slug(), subject.number());
    let mut hash = Sha3_256::new().chain_update(text).chain_update(last.to_le_bytes()).finalize();
    let mut claim = vec![(0u64, Integer::from(1))];
    let (mut span, mut middles) = (u64::from(subject.iterations()), vec![]);
    for _ in 0..power {
        span = span.div_ceil(2);
        let mut middle = Integer::from(1);
        for (at, c) in &claim {
            middle = middle * x(subject, at + span).pow_mod(c, &n).unwrap() % &n;
        }
        let middle = residue(subject, &middle);
        hash = Sha3_256::new().chain_update(hash).chain_update(middle.to_le_bytes()).finalize();
        let h = u64::from_le_bytes(hash[..8].try_into().unwrap());
        let second = claim.iter().map(|(at, c)| (at + span, c.clone())).collect::<Vec<_>>();
        claim = claim.iter().map(|(at, c)| (*at, Integer::from(c * h))).chain(second).collect();
        middles.push(middle);
    }
    Proof::new(subject, last, middles).unwrap()
}

fn verify_by(family: &'static dyn EngineFamily, proof: &Proof) -> Result<Verification, ProofError> {
    let plan = Plan::of_family(proof.number(), family, None, Some(1)).unwrap();
    Ok(verify(plan, proof, &mut |_| {}, &StopToken::new())?.unwrap())
}

fn verified(proof: &Proof) -> Verification {
    verify_by(&Plain, proof).unwrap()
}

/// Builds the proof from residues in files, compares it with its definition, and returns its verdict.
fn check(subject: Subject, powers: impl Iterator<Item = u32>) -> Verdict {
    let n = modulus(subject);
    let is_prime = n.is_probably_prime(25) != IsPrime::No;
    let (exponent, base) = power_of(subject);
    let mut result = Integer::from(base).pow_mod(&exponent, &n).unwrap();
    if let TestKind::Pocklington { open, .. } = subject.kind() {
        result = result.pow_mod(&open.into(), &n).unwrap();
    }
    let root = tempfile::tempdir().unwrap();
    let folder = ResidueFolder::new(root.path(), subject);
    let plan = Plan::of_family(subject.number(), &Plain, None, Some(1)).unwrap();
    let mut verdict = None;
    for power in powers {
        let points = Points::new(subject.iterations(), power).unwrap();
        points.iter().for_each(|k| folder.keep(k, &residue(subject, &x(subject, k))).unwrap());
        assert_eq!(folder.largest_complete_power(power, u64::MAX), power);
        let last = folder.load(subject.iterations().into()).unwrap();
        let stop = StopToken::new();
        let built = build_largest(plan, 1..=power, &folder, &last, &mut |_| {}, &stop);
        let Built { proof, verification } = built.unwrap().unwrap();
        assert_eq!(proof, by_definition(subject, power), "{subject}, power {power}");
        let parts = proof.residue_bytes();
        let (test, number) = (subject.kind().slug(), subject.number().to_string());
        assert_eq!(Proof::of_number(&test, &number, &parts).unwrap(), proof);
        for verification in [verification, verified(&proof)] {
            let found = verification.finding.unwrap_or_else(|e| panic!("{subject}: {e}"));
            assert!(verdict.is_none_or(|v| v == found), "{subject}");
            verdict = Some(found);
            let of_test = verification.residue.unwrap();
            assert_eq!(integer(&of_test), result, "{subject}, power {power}");
        }
        folder.remove_all().unwrap();
        assert!(!folder.dir().exists());
    }
    let verdict = verdict.unwrap();
    let right = match subject.kind() {
        _ if !is_prime => Verdict::Composite,
        TestKind::Fermat { .. } => Verdict::ProbablePrime,
        // The power of 2 in b^n must be enough for the theorem.
        TestKind::Pocklington { .. } if subject.number().base() != 12 => Verdict::ProbablePrime,
        _ => Verdict::Prime,
    };
    assert_eq!(verdict, right, "{subject}");
    verdict
}

#[test]
fn proofs_of_known_primes_of_every_power() {
    for text in ["7*2^2256+1", "3*2^2208+1", "9223372036854775807*2^2039+1"] {
        let subject = subject(text);
        let prime = modulus(subject).is_probably_prime(25) != IsPrime::No;
        let most = (1..=LARGEST_POWER)
            .rev()
            .find(|&power| Points::new(subject.iterations(), power).is_some())
            .unwrap();
        assert!(most >= 6, "{subject}: {most}");
        let verdict = check(subject, 1..=most);
        assert_eq!(verdict == Verdict::Prime, prime, "{subject}");
    }
    assert_eq!(check(subject("46^512+1"), 2..5), Verdict::ProbablePrime);
    assert_eq!(check(subject("37*10^353+1"), 1..2), Verdict::ProbablePrime);
    assert_eq!(check(subject("45*12^321+1"), 1..2), Verdict::Prime);
    assert_eq!(check(fermat("3*2^3276-1", 3), 3..5), Verdict::ProbablePrime);
    assert_eq!(check(fermat("7*2^2256+1", 5), 3..5), Verdict::ProbablePrime);
}

#[test]
fn proofs_of_numbers_of_every_form_and_of_odd_and_even_lengths() {
    for n in 1_100..1_108 {
        // Some of these are squares or have small factors; all have a proof.
        for text in [format!("5*2^{n}+1"), format!("4611686018427387905*2^{n}+1")] {
            let number: Number = text.parse().unwrap();
            if let Some(subject) = Subject::new(TestKind::for_number(number), number) {
                check(subject, 1..=3);
            }
        }
        check(any_fermat(&format!("9*2^{n}-1")), 1..=3);
        check(any_fermat(&format!("M{n}")), 2..=2);
    }
    // The Fermat number F_11, and numbers to other bases: odd, even, composite.
    check(subject("2^2048+1"), 1..=5);
    for text in ["7*10^350+1", "7*10^350-1", "2*3^700+1", "4*3^701-1", "12*35^222+1", "8*35^223-1"]
    {
        check(any_fermat(text), 1..=3);
    }
    check(subject("18*6^420+1"), 1..=3);
}

#[test]
fn only_tests_that_compute_a_power_have_proofs() {
    for text in ["3*2^3276-1", "27*10^400-1", "M127"] {
        let number: Number = text.parse().unwrap();
        assert_eq!(Subject::new(TestKind::for_number(number), number), None, "{text}");
    }
    // A test of at most 1,024 iterations leaves nothing to a proof.
    let short = subject("7*2^1004+1");
    let residue = Residue::from_u64(short.number(), 1);
    let result = Proof::new(short, residue.clone(), vec![residue]);
    assert!(matches!(result, Err(ProofError::Power { power: 1, .. })), "{result:?}");
}

#[test]
fn every_changed_part_is_refused() {
    for text in ["7*2^2256+1", "5*2^2257+1"] {
        let subject = subject(text);
        let proof = by_definition(subject, 3);
        let number = subject.number();
        let parts = proof.residue_bytes();
        // Bits of the first, an inner and the last byte of each residue.
        for part in 0..parts.len() {
            for at in [0, 1, parts[part].len() / 2, parts[part].len() - 2] {
                for bit in [0, 3, 7] {
                    let mut changed = parts.clone();
                    changed[part][at] ^= 1 << bit;
                    let changed = Proof::of_number(&subject.kind().slug(), text, &changed).unwrap();
                    assert_eq!(verified(&changed).finding, Err(Refusal::Equation));
                }
            }
        }
        // Each residue in the place of another, 0, and N − x.
        let residues: Vec<Residue> =
            [proof.last()].into_iter().chain(proof.middles()).cloned().collect();
        let with = |place: usize, x: Residue| {
            let mut residues = residues.clone();
            residues[place] = x;
            let last = residues.remove(0);
            verified(&Proof::new(subject, last, residues).unwrap()).finding
        };
        for place in 0..residues.len() {
            let refused = Err(Refusal::NotAUnit { number: place + 1 });
            assert_eq!(with(place, Residue::from_u64(number, 0)), refused);
            for other in (0..residues.len()).filter(|&other| other != place) {
                assert_eq!(with(place, residues[other].clone()), Err(Refusal::Equation));
            }
        }
        // The same residues for another test of the same number.
        let other = TestKind::Fermat { base: 3 }.slug();
        let other = Proof::of_number(&other, text, &parts).unwrap();
        assert_eq!(verified(&other).finding, Err(Refusal::Equation));
        // Parts of a wrong form.
        let slug = subject.kind().slug();
        let refused = |test: &str, number: &str, parts: &[Vec<u8>]| {
            Proof::of_number(test, number, parts).unwrap_err().to_string()
        };
        assert!(refused("llr", text, &parts).starts_with("TEST=llr and NUMBER="));
        assert!(refused(&slug, "M127", &parts).contains("do not name a test"));
        assert!(refused(&slug, text, &[]).contains("no proof of power 0"));
        assert!(refused(&slug, text, &parts[..1]).contains("no proof of power 0"));
        let mut long = parts.clone();
        long[2].push(0);
        assert!(refused(&slug, text, &long).starts_with("residue 3: a residue mod"));
        long[2] = vec![0xff; parts[2].len()];
        assert!(refused(&slug, text, &long).contains("not a canonical residue"));
    }
}

/// Multiplies the two residues of a right proof of power 1 by all combinations of powers of an element of
/// order q.
fn forgeries(subject: Subject, q: u64) -> Vec<Verification> {
    let n = modulus(subject);
    let cofactor = Integer::from(&n - 1u32) / q;
    let root = (3u32..)
        .map(|g| Integer::from(g).pow_mod(&cofactor, &n).unwrap())
        .find(|root| {
            let e = if q.is_multiple_of(2) { Integer::from(q / 2) } else { Integer::from(1) };
            root.clone().pow_mod(&e, &n).unwrap() != 1
        })
        .unwrap();
    let right = by_definition(subject, 1);
    let times = |x: &Residue, e: u64| {
        let power = root.clone().pow_mod(&e.into(), &n).unwrap();
        residue(subject, &(integer(x) * power % &n))
    };
    let mut accepted = vec![];
    for (c, m) in (1..q).flat_map(|c| (0..q).map(move |m| (c, m))) {
        let middle = times(&right.middles()[0], m);
        let proof = Proof::new(subject, times(right.last(), c), vec![middle]).unwrap();
        match verified(&proof) {
            Verification { finding: Err(Refusal::Equation), .. } => {}
            other => accepted.push(other),
        }
    }
    accepted
}

#[test]
fn middles_that_are_no_units_prove_nothing() {
    // 3 divides these numbers. With the middles 3 and N/3 both sides of the equation are 0.
    for subject in [fermat("5*2^1200+1", 7), fermat("5*2^1201-1", 7)] {
        let (number, n) = (subject.number(), modulus(subject));
        assert!(n.is_divisible_u(3), "{subject}");
        let cofactor = residue(subject, &Integer::from(&n / 3u32));
        for last in [1u32, 2, 7] {
            let last = residue(subject, &Integer::from(last));
            for middles in [
                [Residue::from_u64(number, 3), cofactor.clone()],
                [cofactor.clone(), Residue::from_u64(number, 3)],
            ] {
                let proof = Proof::new(subject, last.clone(), middles.to_vec()).unwrap();
                assert_eq!(verified(&proof).finding, Err(Refusal::NotAUnit { number: 2 }));
            }
        }
    }
}

#[test]
fn residues_of_another_test_of_the_number_are_not_taken() {
    let root = tempfile::tempdir().unwrap();
    let proth = subject("7*2^2256+1");
    let subjects =
        [proth, fermat("7*2^2256+1", 3), fermat("7*2^2256+1", 5), fermat("7*2^2258+1", 3)];
    let folders = subjects.map(|subject| ResidueFolder::new(root.path(), subject));
    for folder in &folders {
        folder.keep(9, &Residue::from_u64(folder.subject().number(), 3)).unwrap();
    }
    let file = |folder: &ResidueFolder| folder.dir().join("0000000009.residue");
    for (i, folder) in folders.iter().enumerate() {
        folder.load(9).unwrap();
        let own = std::fs::read(file(folder)).unwrap();
        for other in folders.iter().enumerate().filter(|&(j, _)| i != j).map(|(_, other)| other) {
            assert_ne!(folder.dir(), other.dir());
            std::fs::copy(file(other), file(folder)).unwrap();
            assert!(matches!(folder.load(9), Err(ResidueFileError::Unsound { .. })));
        }
        std::fs::write(file(folder), own).unwrap();
    }
}

#[test]
fn elements_whose_order_is_a_power_of_two_change_nothing() {
    for text in ["7*2^2256+1", "3*2^2208+1", "5*2^1947+1"] {
        let subject = subject(text);
        assert!(modulus(subject).is_probably_prime(25) != IsPrime::No, "{text}");
        let mut forged = 0;
        for q in [2, 4, 8] {
            for verification in forgeries(subject, q) {
                assert_eq!(verification.finding, Ok(Verdict::Prime), "{text}, order {q}");
                assert!(verification.residue.unwrap().is_minus(1));
                forged += 1;
            }
        }
        assert!(forged > 0, "{text}");
    }
}

#[test]
fn primes_times_elements_of_small_odd_order_are_refused() {
    let mut forged = 0;
    for (text, q) in [("3*2^2208+1", 3), ("5*2^1947+1", 5), ("7*2^2256+1", 7)] {
        for subject in [subject(text), fermat(text, 11)] {
            for verification in forgeries(subject, q) {
                assert_eq!(verification.finding, Err(Refusal::SmallOrder), "{text}, order {q}");
                forged += 1;
            }
        }
    }
    assert!(forged > 3, "{forged}");
}

#[test]
fn residues_of_odd_small_order_are_recognised_to_the_power_of_the_exponent() {
    use super::small_order::odd_order;
    let order = |text: &str, power| {
        let number: Number = text.parse().unwrap();
        Integer::from_digits(&odd_order(number, power), Order::Lsf)
    };
    assert_eq!(order("3*2^2208+1", 5), 3);
    assert_eq!(order("9223372036854775807*2^100+1", 5), 9_223_372_036_854_775_807u64);
    assert_eq!(order("2^2048+1", 8), 1);
    // 3 divides N − 1 100 times, and at most 65 reductions per middle are cheap.
    assert_eq!(order("45*6^100+1", 8), Integer::from(Integer::u_pow_u(3, 102)) * 5u32);
    assert_eq!(order("7*10^3000+1", 2), Integer::from(Integer::u_pow_u(5, 66)) * 7u32);
    // 3 divides N − 1 41 times, and 3^41 is above 2^64.
    let often = order("1856213529793382809*2^1105-1", 3);
    assert!(often.is_divisible(&Integer::from(Integer::u_pow_u(3, 195))));
    // 2 has the order p modulo M_p, here a prime above 2^20.
    assert!(order("M1048583", 3).is_divisible_u(1_048_583));
    // The smooth part of N − 1, by divisions of GMP.
    for text in ["3*2^20-1", "5*2^40-1", "7*3^30-1"] {
        let number: Number = text.parse().unwrap();
        let mut left = Integer::from_digits(&number.value(), Order::Lsf) - 1u32;
        let mut expected = Integer::from(1);
        for q in 2..1u32 << 20 {
            while left.is_divisible_u(q) {
                left /= q;
                expected *= if q == 2 { 1 } else { q };
            }
        }
        assert_eq!(order(text, 3), expected, "{text}");
    }
}

#[test]
fn errors_of_the_machine_give_no_wrong_verdict() {
    for (text, verdict) in [("7*2^2256+1", Verdict::Prime), ("7*2^2258+1", Verdict::Composite)] {
        let right = by_definition(subject(text), 2);
        let result = verified(&right);
        assert_eq!(result.finding, Ok(verdict));
        for register in 0..4 {
            // One error in the first run: while the equation is computed, and in each run of the tail.
            for n in [1, 7, 100, 300, 310, 700, 1_000, 1_400, 2_000, 2_330] {
                let family = Tampered::leaked(&Plain, register, move |k| k == n, flipped);
                match verify_by(family, &right) {
                    Ok(found) => {
                        assert_eq!(found.finding, Ok(verdict), "register {register}, {n}");
                        assert_eq!(found.residue, result.residue);
                    }
                    Err(e) => assert!(matches!(e, ProofError::Unreliable { .. }), "{e}"),
                }
            }
        }
        // The second run is by the engine plain, which has no longer length.
        let zeros = Tampered::leaked(&Plain, None, |_| true, zero);
        let flips = Tampered::leaked(&Plain, None, |_| true, flipped);
        for family in [zeros, flips, Tampered::damaged(&Plain, 100)] {
            let found = verify_by(family, &right).unwrap();
            assert!(found.erred && found.engine == "plain", "{found:?}");
            assert_eq!((found.finding, found.residue), (Ok(verdict), result.residue.clone()));
        }
    }
}

/// Tries residues of the tests of a prime, times elements of order 7. Some of the proofs satisfy the equation and say
/// "composite".
#[test]
fn residues_times_elements_of_small_order_give_no_proof() {
    for subject in [subject("7*2^2256+1"), fermat("7*2^2256+1", 3)] {
        let n = modulus(subject);
        let exponent = Integer::from(&n - 1u32) / 7u32;
        let mut powers = (2u32..).map(|g| Integer::from(g).pow_mod(&exponent, &n).unwrap());
        let element = powers.find(|power| *power != 1u32).unwrap();
        let points = Points::new(subject.iterations(), 1).unwrap();
        let plan = Plan::of_family(subject.number(), &Plain, None, Some(1)).unwrap();
        let mut ambiguous = 0;
        for i in 1..49u32 {
            let root = tempfile::tempdir().unwrap();
            let folder = ResidueFolder::new(root.path(), subject);
            for (k, power) in points.iter().zip([i % 7, i / 7]) {
                let factor = element.clone().pow_mod(&power.into(), &n).unwrap();
                folder.keep(k, &residue(subject, &(x(subject, k) * factor % &n))).unwrap();
            }
            let last = folder.load(subject.iterations().into()).unwrap();
            let stop = StopToken::new();
            match build_largest(plan, 1..=1, &folder, &last, &mut |_| {}, &stop) {
                Err(ProofError::Wrong { repeated: true, .. }) => {}
                Err(ProofError::Ambiguous { .. }) => ambiguous += 1,
                other => panic!("{subject}, {i}: {other:?}"),
            }
        }
        // In Proth's test this cannot happen to a composite number, so the residues are wrong.
        let is_fermat = matches!(subject.kind(), TestKind::Fermat { .. });
        assert_eq!(ambiguous > 0, is_fermat, "{subject}: {ambiguous}");
    }
}
