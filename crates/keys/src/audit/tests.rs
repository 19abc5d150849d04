//! Audits of lists with planted findings.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};

use warpint_natural::limbs::{mul, trim};
use warpint_natural::radix::hex;
use warpint_progress::{StopToken, Unwatched, Watch};

use super::*;
use crate::read::Reader;

/// Primes above 2^13: 2^61 − 1, 2^89 − 1, 2^107 − 1, 2^127 − 1, and five primes of 30 to 61 bits.
fn primes() -> Vec<Vec<u64>> {
    let mersenne = |p: u32| match p {
        64.. => vec![u64::MAX, u64::MAX >> (128 - p)],
        _ => vec![u64::MAX >> (64 - p)],
    };
    let mut primes: Vec<Vec<u64>> = [61, 89, 107, 127].map(mersenne).to_vec();
    let others = [1_000_000_007, 998_244_353, 4_294_967_291, (1 << 50) - 27, (1 << 60) - 93];
    primes.extend(others.map(|p| vec![p]));
    primes
}

fn product(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut product = mul(a, b);
    trim(&mut product);
    product
}

/// Returns the list that is read from lines of moduli in hexadecimal digits.
fn list(moduli: &[Vec<u64>]) -> KeyList {
    let lines: Vec<String> = moduli.iter().map(|n| format!("0x{}\n", hex::format(n))).collect();
    let mut none = |entry: &crate::read::BadEntry| panic!("{entry}");
    let mut reader = Reader::new(&Unwatched, &mut none);
    reader.stream("moduli", lines.concat().as_bytes()).unwrap();
    reader.finish()
}

fn audit(list: &KeyList) -> Vec<Finding> {
    let mut audit =
        Audit::new(list.clone(), Settings { threads: 2, memory: 1 << 30, device: None });
    audit.check_each(&Unwatched).unwrap();
    audit.check_together(&mut |_| {}, &Unwatched).unwrap();
    audit.finish().1
}

/// Returns the kinds of the findings of each key, without notices and close primes. All moduli here
/// are short.
fn kinds(list: &KeyList, findings: &[Finding]) -> Vec<BTreeSet<Kind>> {
    let mut kinds = vec![BTreeSet::new(); list.len()];
    for finding in findings {
        for &key in &finding.keys {
            if !finding.kind.is_notice() && finding.kind != Kind::ClosePrimes {
                kinds[key].insert(finding.kind);
            }
        }
    }
    kinds
}

/// Moduli of one length whose highest limbs are equal, shorter and longer ones, and equal ones.
#[test]
fn distinct_moduli_ascend() {
    let numbers: Vec<Vec<u64>> = [(9, 5, 7), (1, 5, 7), (4, 4, 7), (3, 0, 9), (2, 1, 8), (9, 5, 7)]
        .map(|(low, middle, high)| vec![2 * low + 1, middle, high])
        .into_iter()
        .chain([vec![1, u64::MAX], vec![3, 0, 0, 1], vec![3, 0, 9]])
        .collect();
    let audit = Audit::new(list(&numbers), Settings { threads: 1, memory: 1 << 20, device: None });
    let mut expected: Vec<Vec<u64>> = numbers.clone();
    let as_digits = |n: &Vec<u64>| (n.len(), n.iter().rev().copied().collect::<Vec<_>>());
    expected.sort_by_key(as_digits);
    expected.dedup();
    let found: Vec<&[u64]> = (0..audit.distinct()).map(|i| audit.modulus(i)).collect();
    assert_eq!(found, expected);
    let twice: Vec<&Vec<usize>> = audit.keys.iter().filter(|keys| keys.len() > 1).collect();
    assert_eq!(twice, [&vec![0, 5]]);
}

/// Every factor of a finding divides its modulus properly.
#[track_caller]
fn check_factors(list: &KeyList, findings: &[Finding]) {
    for finding in findings {
        let n = list.modulus(finding.keys[0]);
        if let Some(factor) = &finding.factor {
            let (quotient, rest) = warpint_natural::limbs::div_rem(n, factor);
            assert!(rest.is_empty() && quotient != [1] && *factor != [1], "{finding:?}");
        }
    }
}

#[test]
fn pairs_rings_and_duplicates_are_found_and_nothing_else() {
    let p = primes();
    let moduli = [
        product(&p[0], &p[1]), // shares p0 with the next
        product(&p[0], &p[2]),
        product(&p[3], &p[4]), // a ring of three: p3, p4, p5
        product(&p[4], &p[5]),
        product(&p[5], &p[3]),
        product(&p[6], &p[7]), // sound, twice
        product(&p[6], &p[7]),
        product(&p[8], &[(1 << 31) - 1]), // sound
    ];
    let list = list(&moduli);
    let findings = audit(&list);
    check_factors(&list, &findings);
    let shared = BTreeSet::from([Kind::SharedPrime]);
    let twice = BTreeSet::from([Kind::Duplicate]);
    let mut expected = vec![shared; 5];
    expected.extend([twice.clone(), twice, BTreeSet::new()]);
    assert_eq!(kinds(&list, &findings), expected);
    let partners = |key: usize| -> Vec<usize> {
        let of = |f: &&Finding| f.kind == Kind::SharedPrime && f.keys == [key];
        let mut keys = findings.iter().find(of).unwrap().shared_with.clone();
        keys.sort_unstable();
        keys
    };
    assert_eq!(
        [0, 1, 2, 3, 4].map(partners),
        [vec![1], vec![0], vec![3, 4], vec![2, 4], vec![2, 3]]
    );
    assert!(findings.iter().filter(|f| f.kind == Kind::SharedPrime).all(|f| f.factor.is_some()));
}

#[test]
fn small_primes_in_common_are_no_shared_primes() {
    let p = primes();
    let twice = |n: &[u64]| product(n, &[2]);
    let moduli = [
        twice(&p[1]),
        twice(&p[2]),
        product(&p[3], &[9973]),
        product(&p[4], &[9973 * 2]),
        vec![2 * 3 * 5 * 7],
        vec![2],
        // Shares 2^61 − 1 with the next, and is even.
        twice(&product(&p[0], &p[5])),
        product(&p[0], &p[6]),
    ];
    let list = list(&moduli);
    let findings = audit(&list);
    check_factors(&list, &findings);
    use Kind::{Even, SharedPrime, SmallFactor};
    let sets = [vec![Even], vec![Even], vec![SmallFactor], vec![Even], vec![Even], vec![Even]];
    let mut expected: Vec<BTreeSet<Kind>> = sets.map(|s| s.into_iter().collect()).to_vec();
    expected.extend([BTreeSet::from([Even, SharedPrime]), BTreeSet::from([SharedPrime])]);
    assert_eq!(kinds(&list, &findings), expected);
}

#[test]
fn a_modulus_that_divides_another_is_found() {
    let p = primes();
    let n = product(&p[0], &p[1]);
    let moduli = [n.clone(), product(&n, &p[2]), product(&n, &[2])];
    let list = list(&moduli);
    let findings = audit(&list);
    check_factors(&list, &findings);
    assert!(kinds(&list, &findings).iter().all(|kinds| kinds.contains(&Kind::SharedPrime)));
}

#[test]
fn powers_and_close_primes() {
    let p = primes();
    let square = product(&p[3], &p[3]);
    let close = product(&[(1 << 61) - 1], &[(1 << 61) + 15]);
    let list = list(&[square, close, product(&p[2], &p[7])]);
    let findings = audit(&list);
    check_factors(&list, &findings);
    let of = |key: usize| -> Vec<Kind> {
        findings.iter().filter(|f| f.keys == [key]).map(|f| f.kind).collect()
    };
    assert_eq!(of(0), [Kind::PerfectPower, Kind::Below1024Bits]);
    assert_eq!(of(1), [Kind::ClosePrimes, Kind::Below1024Bits]);
    assert_eq!(of(2), [Kind::Below1024Bits]);
}

#[test]
fn exponents_are_judged_key_by_key() {
    let line = |e: &str| {
        let n = "sXchDaQebHnPiGvyDOAT4saGEUetSyo9MKLOoWFsueri23bOdgWp4Dy1WlUzewbgBHod5pcM9H95GQRV3JDXboIRROSBigeC5yjU1hGzHHyXss8UDprecbAYxknTcQkhslANGRUZmdTOQ5qTRsLAt6BTYuyvVRdhS8exSZEy_c4gs_7svlJJQ4H9_NxsiIoLwAEk7-Q3UXERGYw_75IDrGA84-lA_-Ct4eTlXHBIY2EaV7t7LjJaynVJCpkv4LKjTTAumiGUIuQhrNhZLuF_RJLqHpM2kgWFLU7-VTdL1VbC2tejvcI2BlMkEpk1BzBZI0KQB0GaDWFLN-aEAw3vRw";
        format!("{{\"kty\":\"RSA\",\"n\":\"{n}\",\"e\":\"{e}\"}}\n")
    };
    // 65537, 1, 3, 65536.
    let text = ["AQAB", "AQ", "Aw", "AQAA"].map(line).concat();
    let mut none = |entry: &crate::read::BadEntry| panic!("{entry}");
    let mut reader = Reader::new(&Unwatched, &mut none);
    reader.stream("keys", text.as_bytes()).unwrap();
    let list = reader.finish();
    let findings = audit(&list);
    let found: Vec<_> = findings.iter().map(|f| (f.kind, f.keys.clone())).collect();
    assert_eq!(
        found,
        [
            (Kind::ExponentOne, vec![1]),
            (Kind::ExponentEven, vec![3]),
            (Kind::ExponentSmall, vec![2]),
            (Kind::Duplicate, vec![0, 1, 2, 3]),
        ]
    );
}

/// Counts the questions whether to stop, and the steps of the gcds of pairs.
#[derive(Default)]
struct Questions {
    asked: AtomicU64,
    pairs: AtomicU64,
}

impl Watch for Questions {
    fn is_stopped(&self) -> bool {
        self.asked.fetch_add(1, Ordering::Relaxed);
        false
    }

    fn step(&self, _: u64, _: u64, what: &dyn std::fmt::Display) {
        let is_of_pairs = what.to_string().starts_with("gcds of pairs");
        self.pairs.fetch_add(u64::from(is_of_pairs), Ordering::Relaxed);
    }
}

/// If each modulus shares both of its primes, its gcd with the product of the others is the modulus. The
/// gcds with single moduli end at the first factor, so that their number does not grow with the square of
/// the moduli.
#[test]
fn moduli_that_share_both_primes_need_few_gcds() {
    let prime = |n: &u64| (2..).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    let primes: Vec<u64> = (1 << 20..).filter(prime).take(40).collect();
    let pairs = (0..40).flat_map(|i| (0..i).map(move |j| (i, j)));
    let moduli: Vec<Vec<u64>> = pairs.map(|(i, j)| vec![primes[i] * primes[j]]).collect();
    let list = list(&moduli);
    let mut audit = Audit::new(list, Settings { threads: 2, memory: 1 << 30, device: None });
    let questions = Questions::default();
    audit.check_together(&mut |_| {}, &questions).unwrap();
    let (list, findings) = audit.finish();
    check_factors(&list, &findings);
    // Each of the 39 other products of both primes, without the modulus itself.
    assert!(findings.len() == 780 && findings.iter().all(|f| f.shared_with.len() == 76));
    assert!(findings.iter().all(|f| f.factor.is_some()));
    let (asked, pairs) = (questions.asked.into_inner(), questions.pairs.into_inner());
    assert!(asked < 780 * 779 / 4, "{asked} of {} pairs", 780 * 779);
    assert_eq!(pairs, 780);
}

#[test]
fn stops_and_limits_of_memory_are_errors() {
    let p = primes();
    let list = list(&[product(&p[0], &p[1]), product(&p[0], &p[2])]);
    let stop = StopToken::new();
    stop.stop();
    let mut small = Audit::new(list.clone(), Settings { threads: 1, memory: 10, device: None });
    assert!(matches!(small.check_each(&stop), Err(KeysError::Stopped)));
    let error = small.check_together(&mut |_| {}, &Unwatched).unwrap_err();
    assert!(matches!(error, KeysError::Memory { limit: 10, .. }), "{error}");
}

#[test]
fn an_empty_list_has_no_findings() {
    assert!(audit(&KeyList::default()).is_empty());
}

#[test]
fn secrets_are_not_shown() {
    let finding = Finding { factor: Some(vec![12_345]), ..Finding::new(Kind::Even, 0, vec![0]) };
    assert!(!format!("{finding:?}").contains("12345"));
}

#[test]
fn kinds_have_the_names_of_json() {
    for kind in Kind::ALL {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
    }
    assert!(Kind::ALL.is_sorted());
}

/// Times the audit of 10^5 moduli of 2,048 bits. The moduli are random numbers without small factors;
/// these cost as much as products of two primes. Two pairs with a common prime are planted.
///
/// `cargo test --release -p warpint-keys hundred_thousand -- --ignored --nocapture`
#[test]
#[ignore = "a measurement"]
fn hundred_thousand_keys() {
    const COUNT: usize = 100_000;
    let mut seed = 29u64;
    println!("seed {seed}");
    let mut word = || {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        seed ^ seed >> 29
    };
    let mut random = |limbs: usize| loop {
        let mut n: Vec<u64> = (0..limbs).map(|_| word()).collect();
        n[0] |= 1;
        n[limbs - 1] |= 1 << 63;
        if crate::checks::small_factor(&n).is_none() {
            return n;
        }
    };
    let mut moduli: Vec<Vec<u64>> = (0..COUNT - 4).map(|_| random(32)).collect();
    for prime in [vec![u64::MAX, u64::MAX >> 1], vec![u64::MAX >> 3]] {
        for _ in 0..2 {
            moduli.insert(moduli.len() / 2, product(&prime, &random(32 - prime.len())));
        }
    }
    let list = list(&moduli);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let begin = std::time::Instant::now();
    let time = |what: &str| println!("{what}: {:.1} s", begin.elapsed().as_secs_f64());
    let mut audit = Audit::new(list.clone(), Settings { threads, memory: 4 << 30, device: None });
    time("sorted");
    audit.check_each(&Unwatched).unwrap();
    time("checked each");
    audit.check_together(&mut |plan| println!("{plan}, {threads} threads"), &Unwatched).unwrap();
    time("all");
    let times = audit.times();
    println!("{times:?}");
    let findings = audit.finish().1;
    let shared: BTreeSet<usize> = findings
        .iter()
        .filter(|f| f.kind == Kind::SharedPrime)
        .flat_map(|f| f.keys.clone())
        .collect();
    let planted = (0..COUNT).filter(|&i| {
        [vec![u64::MAX, u64::MAX >> 1], vec![u64::MAX >> 3]]
            .iter()
            .any(|p| warpint_natural::limbs::div_rem(list.modulus(i), p).1.is_empty())
    });
    let planted: Vec<usize> = planted.collect();
    assert_eq!(planted.len(), 4);
    assert!(planted.iter().all(|key| shared.contains(key)));
}
