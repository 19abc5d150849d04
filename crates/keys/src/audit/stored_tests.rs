//! Audits against stores, compared with audits of all keys at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::prelude::*;
use warpint_natural::limbs::{mul, trim};
use warpint_natural::radix::hex;
use warpint_progress::{Unwatched, Watch};

use super::*;
use crate::read::Reader;

fn list(name: &str, moduli: &[Vec<u64>]) -> KeyList {
    let lines: Vec<String> = moduli.iter().map(|n| format!("0x{}\n", hex::format(n))).collect();
    let mut none = |entry: &crate::read::BadEntry| panic!("{entry}");
    let mut reader = Reader::new(&Unwatched, &mut none);
    reader.stream(name, lines.concat().as_bytes()).unwrap();
    reader.finish()
}

fn settings(memory: u64) -> Settings {
    Settings { threads: 2, memory, device: None }
}

/// Audits a list against a store. Returns the keys, the findings and the number of known moduli.
fn audit(
    list: KeyList,
    store: &std::path::Path,
    memory: u64,
    watch: &dyn Watch,
) -> Result<(KeyList, Vec<Finding>, usize), KeysError> {
    let store = Store::open(store)?;
    let mut audit = Audit::new(list, settings(memory)).with_store(store, watch)?;
    audit.check_each(watch)?;
    audit.check_together(&mut |_| {}, watch)?;
    let known = audit.known();
    let (list, findings) = audit.finish();
    Ok((list, findings, known))
}

/// The places of the keys of a finding, and those of its partners.
type Places = (Vec<String>, Vec<String>);

/// Returns the findings of shared primes and duplicates by kind and modulus.
fn summary(list: &KeyList, findings: &[Finding]) -> BTreeMap<(Kind, Vec<u64>), Places> {
    let kinds = [Kind::SharedPrime, Kind::Duplicate];
    let places = |keys: &[usize]| {
        let mut places: Vec<String> = keys.iter().map(|&k| list.place(k).to_string()).collect();
        places.sort_unstable();
        places
    };
    let mut all = BTreeMap::new();
    for finding in findings.iter().filter(|finding| kinds.contains(&finding.kind)) {
        let modulus = list.modulus(finding.keys[0]).to_vec();
        if let Some(factor) = &finding.factor {
            let (quotient, rest) = warpint_natural::limbs::div_rem(&modulus, factor);
            assert!(rest.is_empty() && quotient != [1] && *factor != [1], "{finding:?}");
        }
        // A partner is named by its modulus: which of its keys is the first one may differ.
        let partners: Vec<String> =
            finding.shared_with.iter().map(|&k| hex::format(list.modulus(k))).collect();
        let mut partners = partners;
        partners.sort_unstable();
        let before = all.insert((finding.kind, modulus), (places(&finding.keys), partners));
        assert!(before.is_none(), "{finding:?} occurs twice");
    }
    all
}

/// Returns the summary of an audit without a store.
fn at_once(list: KeyList) -> BTreeMap<(Kind, Vec<u64>), Places> {
    let mut audit = Audit::new(list, settings(1 << 30));
    audit.check_each(&Unwatched).unwrap();
    audit.check_together(&mut |_| {}, &Unwatched).unwrap();
    let (list, findings) = audit.finish();
    summary(&list, &findings)
}

fn number(mut limbs: Vec<u64>) -> Vec<u64> {
    trim(&mut limbs);
    limbs
}

/// Moduli of two or three of few primes, with equal ones among them.
fn moduli() -> impl Strategy<Value = Vec<Vec<u64>>> {
    const PRIMES: [u64; 12] = [
        2,
        9973,
        1_000_000_007,
        998_244_353,
        4_294_967_291,
        (1 << 31) - 1,
        (1 << 50) - 27,
        (1 << 60) - 93,
        (1 << 61) - 1,
        (1 << 44) - 17,
        (1 << 56) - 5,
        (1 << 48) - 59,
    ];
    let modulus = prop::collection::vec(0..PRIMES.len(), 2..4);
    let modulus = modulus.prop_map(|some| {
        let product = |product: Vec<u64>, i: usize| number(mul(&product, &[PRIMES[i]]));
        some.into_iter().fold(vec![1], product)
    });
    prop::collection::vec(modulus, 1..14)
}

/// A finding of a shared prime: the modulus, the moduli with which it shares one, and whether there is a
/// factor.
type Shared = BTreeMap<Vec<u64>, (Vec<Vec<u64>>, bool)>;

/// Returns the findings of shared primes.
fn shared(list: &KeyList, findings: &[Finding]) -> Shared {
    let of_one = |finding: &Finding| {
        let partners = finding.shared_with.iter().map(|&k| list.modulus(k).to_vec());
        let mut partners: Vec<Vec<u64>> = partners.collect();
        partners.sort_unstable();
        (list.modulus(finding.keys[0]).to_vec(), (partners, finding.factor.is_some()))
    };
    findings.iter().filter(|f| f.kind == Kind::SharedPrime).map(of_one).collect()
}

/// Returns the findings that the gcds of all pairs give: those of the moduli `given`, and of the moduli
/// `stored` that share a prime with one of these. A stored modulus is related to given ones only.
fn by_pairs(given: &BTreeSet<Vec<u64>>, stored: &BTreeSet<Vec<u64>>) -> Shared {
    let all: BTreeSet<&Vec<u64>> = given.union(stored).collect();
    let number = |n: &[u64]| crate::checks::without_small_factors(n);
    let mut euclid = warpint_natural::euclid::Euclid::default();
    let mut found = Shared::new();
    for &n in &all {
        let (mut partners, mut has_factor) = (vec![], number(n) != *n);
        for &other in all.iter().filter(|other| **other != n) {
            let gcd = euclid.gcd(&number(n), &number(other)).to_vec();
            if gcd != [1] {
                has_factor |= gcd != number(n);
                if given.contains(n) || given.contains(other) {
                    partners.push(other.clone());
                }
            }
        }
        if !partners.is_empty() {
            partners.sort_unstable();
            found.insert(n.clone(), (partners, has_factor));
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Each of several audits with a store finds what the gcds of all pairs give, and so does an audit
    /// of all keys at once. Another audit of all keys finds the same again, without new moduli.
    #[test]
    fn audits_in_turn_find_what_all_pairs_give(
        lists in prop::collection::vec(moduli(), 2..5),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut stored = BTreeSet::new();
        for (i, moduli) in lists.iter().enumerate() {
            let given: BTreeSet<Vec<u64>> = moduli.iter().cloned().collect();
            let keys = list(&format!("f{i}"), moduli);
            let (list, findings, known) =
                audit(keys, dir.path(), 1 << 30, &Unwatched).unwrap();
            summary(&list, &findings);
            prop_assert_eq!(shared(&list, &findings), by_pairs(&given, &stored));
            prop_assert_eq!(known, given.intersection(&stored).count());
            stored.extend(given);
        }
        let mut none = |entry: &crate::read::BadEntry| panic!("{entry}");
        let mut reader = Reader::new(&Unwatched, &mut none);
        for (i, moduli) in lists.iter().enumerate() {
            let lines: Vec<String> = moduli.iter().map(|n| format!("0x{}\n", hex::format(n))).collect();
            reader.stream(&format!("f{i}"), lines.concat().as_bytes()).unwrap();
        }
        let whole = reader.finish();
        let expected = at_once(whole.clone());
        let files = std::fs::read_dir(dir.path()).unwrap().count();
        let (list, findings, known) = audit(whole, dir.path(), 1 << 30, &Unwatched).unwrap();
        prop_assert_eq!(known, stored.len());
        prop_assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), files);
        prop_assert_eq!(summary(&list, &findings), expected);
        prop_assert_eq!(shared(&list, &findings), by_pairs(&stored, &BTreeSet::new()));
    }
}

/// Two stored moduli share p. Two new moduli of three primes share p too, and each other's q.
#[test]
fn stored_moduli_that_share_a_prime_with_each_other_are_found() {
    const P: [u64; 7] = [
        (1 << 61) - 1,
        1_000_000_007,
        4_294_967_291,
        998_244_353,
        (1 << 60) - 93,
        (1 << 50) - 27,
        (1 << 44) - 17,
    ];
    let product =
        |some: &[usize]| some.iter().fold(vec![1], |product, &i| number(mul(&product, &[P[i]])));
    let old = [product(&[0, 1]), product(&[0, 2]), product(&[3, 4])];
    let new = [product(&[0, 3, 5]), product(&[0, 3, 6])];
    let dir = tempfile::tempdir().unwrap();
    audit(list("old", &old), dir.path(), 1 << 30, &Unwatched).unwrap();
    let (list, findings, _) = audit(list("new", &new), dir.path(), 1 << 30, &Unwatched).unwrap();
    let found = shared(&list, &findings);
    assert!(old.iter().chain(&new).all(|n| found.contains_key(n)), "{found:?}");
    let sets = [&new[..], &old].map(|some| some.iter().cloned().collect());
    assert_eq!(found, by_pairs(&sets[0], &sets[1]));
}

/// Many moduli with one prime: each is named with a hundred partners, and the store does not repeat the
/// digits of the partners.
#[test]
fn a_prime_of_many_moduli_takes_little_room() {
    let prime = vec![u64::MAX, u64::MAX >> 1];
    let others = (0..300u64).map(|i| {
        let limb = |j: u64| (8 * i + j + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        (0..6).map(limb).collect::<Vec<u64>>()
    });
    let moduli: Vec<Vec<u64>> = others.map(|other| number(mul(&prime, &other))).collect();
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let (_, findings, _) = audit(list("f", &moduli), dir.path(), 1 << 30, &Unwatched).unwrap();
        let shared = findings.iter().filter(|f| f.kind == Kind::SharedPrime);
        assert!({ shared }.filter(|f| f.shared_with.len() == 100).count() == 300);
    }
    let size = std::fs::metadata(dir.path().join("part-00000001.keys")).unwrap().len();
    // 100 pairs of 20 bytes, and less than 20 bytes for each of the 64 bytes of a modulus.
    assert!(size < 300 * (100 * 20 + 64 * 20), "{size} bytes");
}

/// The new modulus 3·p·q has the whole number p·q in common with a stored one, whose factor p only the
/// other stored modulus p·r reveals.
#[test]
fn a_stored_modulus_that_divides_a_new_one_has_a_factor() {
    let [p, q, r] = [(1 << 50) - 27, (1 << 60) - 93, (1 << 44) - 17];
    let pq = number(mul(&[p], &[q]));
    let old = [pq.clone(), number(mul(&[p], &[r]))];
    let new = [number(mul(&pq, &[3]))];
    let dir = tempfile::tempdir().unwrap();
    audit(list("old", &old), dir.path(), 1 << 30, &Unwatched).unwrap();
    for _ in 0..2 {
        let (list, findings, _) =
            audit(list("new", &new), dir.path(), 1 << 30, &Unwatched).unwrap();
        let found = shared(&list, &findings);
        assert_eq!(found.len(), 3);
        assert!(found.values().all(|(_, has_factor)| *has_factor), "{found:?}");
    }
}

#[test]
fn a_new_key_reveals_a_stored_one() {
    let [p, q, r, s, t] =
        [(1 << 61) - 1, 1_000_000_007, 4_294_967_291, 998_244_353, (1 << 60) - 93u64];
    let product = |a: u64, b: u64| number(mul(&[a], &[b]));
    let dir = tempfile::tempdir().unwrap();
    let old = [product(p, q), product(r, s)];
    let (_, findings, _) = audit(list("old", &old), dir.path(), 1 << 30, &Unwatched).unwrap();
    assert!(
        findings
            .iter()
            .all(|finding| finding.kind.is_notice() || finding.kind == Kind::ClosePrimes)
    );
    // Shares p with a stored one, and repeats another.
    let new = [product(p, t), product(r, s)];
    let (list, findings, known) =
        audit(list("new", &new), dir.path(), 1 << 30, &Unwatched).unwrap();
    assert_eq!((known, list.len(), list.files()), (1, 2, 1));
    let found = summary(&list, &findings);
    let line = |file: &str, line: u64| format!("{file}: line {line}");
    let expected = BTreeMap::from([
        ((Kind::SharedPrime, new[0].clone()), (vec![line("new", 1)], vec![hex::format(&old[0])])),
        ((Kind::SharedPrime, old[0].clone()), (vec![line("old", 1)], vec![hex::format(&new[0])])),
        ((Kind::Duplicate, old[1].clone()), (vec![line("new", 2), line("old", 2)], vec![])),
    ]);
    assert_eq!(found, expected);
}

/// Stops after a number of questions.
struct StopAfter {
    left: AtomicU64,
}

impl Watch for StopAfter {
    fn is_stopped(&self) -> bool {
        let less = |left: u64| Some(left.saturating_sub(1));
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) == Ok(0)
    }
}

/// An audit in groups that is stopped again and again goes on where it was, and finds the same.
#[test]
fn a_stopped_audit_goes_on() {
    let mut seed = 77u64;
    let mut word = || {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        seed ^ seed >> 29 | 1
    };
    let mut all: Vec<Vec<u64>> = (0..300).map(|_| (0..8).map(|_| word()).collect()).collect();
    let prime = vec![u64::MAX, u64::MAX >> 1];
    for i in [3, 150, 299] {
        all[i] = number(mul(&prime, &(0..6).map(|_| word()).collect::<Vec<_>>()));
    }
    all[200] = all[20].clone();
    let slices: Vec<&[u64]> = all.iter().map(Vec::as_slice).collect();
    let memory = crate::batch_gcd::Batch::new(&slices, u64::MAX, 2).unwrap().memory() / 4;
    let list = list("f", &all);
    let expected = at_once(list.clone());
    let dir = tempfile::tempdir().unwrap();
    let (mut patience, mut stops, mut files) = (1, 0, vec![]);
    let found = loop {
        let watch = StopAfter { left: AtomicU64::new(patience) };
        match audit(list.clone(), dir.path(), memory, &watch) {
            Ok((list, findings, known)) => {
                assert!(known > 0, "no audit was stopped between two groups");
                break summary(&list, &findings);
            }
            Err(KeysError::Stopped) => {
                stops += 1;
                patience += 40;
                files.push(std::fs::read_dir(dir.path()).unwrap().count());
            }
            Err(error) => panic!("{error}"),
        }
    };
    assert!(stops > 3 && files.is_sorted() && files[stops - 1] > 2, "{files:?}");
    // Random numbers share primes of five digits too. How these are related may differ.
    let keys = |all: BTreeMap<(Kind, Vec<u64>), Places>| -> Vec<_> {
        all.into_iter().map(|(key, (places, _))| (key, places)).collect()
    };
    assert_eq!(keys(found), keys(expected));
}

/// The first audit that reveals a stored key as weak names all its places, as later ones do.
#[test]
fn all_places_of_a_stored_key_are_named_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let [p, q, r] = [(1 << 50) - 27, (1 << 60) - 93, (1 << 44) - 17];
    let (old, new) = (number(mul(&[p], &[q])), number(mul(&[p], &[r])));
    let run = |name: &str, moduli: &[Vec<u64>]| {
        let (list, findings, _) = audit(list(name, moduli), &store, 1 << 30, &Unwatched).unwrap();
        summary(&list, &findings)
    };
    run("january", std::slice::from_ref(&old));
    run("february", std::slice::from_ref(&old));
    let first = run("march", std::slice::from_ref(&new));
    let (places, _) = &first[&(Kind::SharedPrime, old)];
    assert_eq!(places, &["february: line 1", "january: line 1"]);
    assert_eq!(run("march", std::slice::from_ref(&new)), first);
}
