use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use warpint_device::Device;
use warpint_integer::{Executor, Width};
use warpint_natural::limbs::{self, trimmed};
use warpint_natural::radix::hex::parse;
use warpint_progress::{StopToken, Unwatched, Watch};
use warpint_selftest::faults::wrappers::{DeviceFault, FaultyDevice};

use super::*;
use crate::search::Manner;

const WEAK: Request = Request {
    count: 40,
    bits: 128,
    seed: 7,
    weak_pairs: 3,
    rings: 2,
    duplicates: 2,
    close: 3,
    even: 4,
    test: Test::BailliePsw,
};

fn made(request: &Request, executor: &Executor, dir: &Path) -> (String, Value) {
    let path = dir.join("keys.txt");
    let outputs = Outputs::new(&path, true).unwrap();
    make(request, executor, &outputs, &Unwatched).unwrap();
    let planted = fs::read_to_string(outputs.planted()).unwrap();
    (fs::read_to_string(path).unwrap(), serde_json::from_str(&planted).unwrap())
}

/// The moduli with their line numbers.
fn moduli(text: &str) -> Vec<(u64, Vec<u64>)> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#'));
    let digits = |line: &str| parse(line.strip_prefix("0x").unwrap().as_bytes());
    lines.map(|(i, line)| (i, digits(line))).collect()
}

fn bits(n: &[u64]) -> usize {
    let n = trimmed(n);
    64 * n.len() - n.last().map_or(0, |top| top.leading_zeros() as usize)
}

/// Compares the planted weaknesses with what a search in the moduli finds: greatest common divisors
/// of all pairs, equal moduli, even moduli and Fermat's method.
fn check(request: &Request, text: &str, planted: &Value) {
    let moduli = moduli(text);
    assert_eq!(moduli.len() as u64, request.count);
    assert!(moduli.iter().all(|(_, n)| bits(n) == request.bits as usize));
    let mut found = BTreeSet::new();
    let mut of_pairs = vec![];
    for (i, (line, n)) in moduli.iter().enumerate() {
        for (other, m) in &moduli[..i] {
            let gcd = limbs::gcd(n, m);
            // Even moduli share the factor 2.
            if n == m {
                found.insert(("duplicate", vec![*other, *line]));
            } else if gcd != [1] && gcd != [2] {
                of_pairs.push((*other, *line));
            }
        }
        if n[0] % 2 == 0 {
            found.insert(("even", vec![*line]));
        }
        // For close primes, ⌈√n⌉² − n is a square.
        let mut root = limbs::sqrt(n);
        limbs::add_assign(&mut root, &[1]);
        let mut rest = limbs::mul(&root, &root);
        limbs::sub_assign(&mut rest, trimmed(n));
        let difference = limbs::sqrt(&rest);
        if trimmed(&limbs::mul(&difference, &difference)) == trimmed(&rest) {
            found.insert(("close-primes", vec![*line]));
        }
    }
    for &(a, b) in &of_pairs {
        let third = of_pairs.iter().filter(|&&(x, y)| (x == a || y == a) != (x == b || y == b));
        let mut lines: BTreeSet<u64> = third.flat_map(|&(x, y)| [x, y]).collect();
        let kind = if lines.is_empty() { "shared-prime" } else { "ring" };
        lines.extend([a, b]);
        found.insert((kind, lines.into_iter().collect()));
    }
    let entries = planted["planted"].as_array().unwrap();
    let lines = |entry: &Value| -> Vec<u64> {
        entry["lines"].as_array().unwrap().iter().map(|line| line.as_u64().unwrap()).collect()
    };
    let listed: BTreeSet<_> =
        entries.iter().map(|entry| (entry["kind"].as_str().unwrap(), lines(entry))).collect();
    assert_eq!(listed, found);
    assert_eq!(listed.len(), entries.len());
    let count = |kind: &str| listed.iter().filter(|(of, _)| *of == kind).count() as u64;
    for (kind, wanted) in [
        ("shared-prime", request.weak_pairs),
        ("ring", request.rings),
        ("duplicate", request.duplicates),
        ("close-primes", request.close),
        ("even", request.even),
    ] {
        assert_eq!(count(kind), wanted, "{kind}");
    }
    // The listed primes are primes that divide.
    for entry in entries {
        for prime in entry["primes"].as_array().unwrap() {
            let prime = parse(prime.as_str().unwrap().as_bytes());
            assert!(limbs::is_probable_prime(&prime));
            let divided = lines(entry).into_iter().filter(|line| {
                let (_, n) = moduli.iter().find(|(of, _)| of == line).unwrap();
                trimmed(&limbs::div_rem(n, &prime).1).is_empty()
            });
            let expected =
                if matches!(entry["kind"].as_str(), Some("shared-prime" | "ring")) { 2 } else { 1 };
            assert_eq!(divided.count(), expected, "{entry}");
        }
    }
}

#[test]
fn the_weaknesses_are_those_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    let sound = Request::new(25, 192, 1);
    for request in [WEAK, Request { bits: 320, seed: 8, ..WEAK }, sound, Request::new(1, 128, 3)] {
        let (text, planted) = made(&request, &Executor::cpu(), dir.path());
        check(&request, &text, &planted);
        assert!(text.starts_with("# warpint make-keys ") && text.contains("unfit for use"));
        assert!(planted["warning"].as_str().unwrap().contains("unfit for use"));
        assert_eq!(planted["seed"], request.seed.to_string());
    }
    // Nothing but weaknesses: 6 + 6 + 4 + 3 + 4 lines.
    let all = Request { count: 23, ..WEAK };
    let (text, planted) = made(&all, &Executor::cpu(), dir.path());
    check(&all, &text, &planted);
}

#[test]
fn moduli_depend_on_the_request_alone() {
    let dir = tempfile::tempdir().unwrap();
    let expected = made(&WEAK, &Executor::cpu(), dir.path());
    let device = Executor::on(Device::simulator().unwrap());
    assert_eq!(made(&WEAK, &device, dir.path()), expected);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let again = pool.install(|| made(&WEAK, &Executor::cpu(), dir.path()));
        assert_eq!(again, expected, "{threads} threads");
    }
    let other = made(&Request { seed: 8, ..WEAK }, &Executor::cpu(), dir.path());
    let lines = |text: &str| moduli(text).into_iter().map(|(_, n)| n).collect::<BTreeSet<_>>();
    assert!(lines(&other.0).is_disjoint(&lines(&expected.0)));
}

/// Prime i of a seed is the same in every request with as many primes before it.
#[test]
fn the_first_prime_is_the_first_one_from_a_drawn_number() {
    let dir = tempfile::tempdir().unwrap();
    let (text, _) = made(&Request::new(1, 128, 5), &Executor::cpu(), dir.path());
    let first = |index: u64| {
        let mut rng = primes::stream(5, index);
        let drawn = rand::Rng::next_u64(&mut rng) | 3 << 62 | 1;
        (drawn..).step_by(2).find(|&n| limbs::is_probable_prime(&[n])).unwrap()
    };
    assert_eq!(moduli(&text)[0].1, limbs::mul(&[first(0)], &[first(1)]));
}

#[test]
fn requests_that_are_impossible_are_refused() {
    let request = Request::new(10, 128, 1);
    for (request, says) in [
        (Request { bits: 64, ..request }, "64 bits: give a multiple of 64 from 128 to 32768"),
        (Request { bits: 130, ..request }, "130 bits: give"),
        (Request { bits: 32_832, ..request }, "32832 bits: give"),
        (Request { bits: 960, test: Test::Strong, ..request }, "960 bits: the strong test is for"),
        (Request { count: 0, ..request }, "0 moduli: give a number from 1 to 1073741824"),
        (Request { count: u64::MAX, ..request }, "moduli: give"),
        (Request { weak_pairs: 4, rings: 1, ..request }, "need 11 lines, but 10 are asked for"),
        (Request { weak_pairs: u64::MAX, ..request }, "need more than 2^64 lines"),
        (Request { rings: u64::MAX / 3, weak_pairs: 9, ..request }, "need more than 2^64 lines"),
    ] {
        let error = Layout::new(&request).unwrap_err();
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(error.kind(), warpint_files::ErrorKind::BadInput);
    }
}

#[test]
fn existing_files_are_kept_and_a_stop_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("keys.txt");
    for existing in ["keys.txt", "keys.txt.planted.json"] {
        let existing = dir.path().join(existing);
        fs::write(&existing, "mine").unwrap();
        let error = Outputs::new(&path, false).unwrap_err();
        assert!(matches!(&error, TestKeysError::Exists { path } if *path == existing), "{error}");
        fs::remove_file(&existing).unwrap();
    }
    let outputs = Outputs::new(&path, false).unwrap();
    let stop = StopToken::new();
    stop.stop();
    let stopped = make(&WEAK, &Executor::cpu(), &outputs, &stop).unwrap_err();
    assert!(matches!(stopped, TestKeysError::Stopped));
    // A file that appears in the meantime is not replaced.
    fs::write(&path, "mine").unwrap();
    let refused = make(&WEAK, &Executor::cpu(), &outputs, &Unwatched).unwrap_err();
    assert!(matches!(refused, TestKeysError::Exists { .. }));
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn wrong_results_of_a_device_are_noticed() {
    let dir = tempfile::tempdir().unwrap();
    let outputs = Outputs::new(&dir.path().join("keys.txt"), false).unwrap();
    let simulator = Device::simulator().unwrap();
    for fault in [DeviceFault::Dead { from: 0 }, DeviceFault::Zeros { from: 0 }] {
        let faulty = FaultyDevice::new(&simulator, fault);
        let executor = Executor::on(faulty.device().clone());
        let error = make(&WEAK, &executor, &outputs, &Unwatched).unwrap_err();
        assert!(matches!(error, TestKeysError::Wrong { .. }), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}

/// The strong tests find the same primes as the Baillie–PSW test: composite numbers that pass are too
/// rare to be met.
#[test]
fn strong_tests_find_the_same_primes() {
    let dir = tempfile::tempdir().unwrap();
    let request = Request {
        count: 4,
        bits: 1024,
        weak_pairs: 1,
        rings: 0,
        duplicates: 0,
        close: 1,
        even: 0,
        ..WEAK
    };
    let (usual, planted) = made(&request, &Executor::cpu(), dir.path());
    let strong = Request { test: Test::Strong, ..request };
    let (other, of_other) = made(&strong, &Executor::cpu(), dir.path());
    assert_eq!(moduli(&usual), moduli(&other));
    assert_eq!(planted["planted"], of_other["planted"]);
    assert!(other.contains("primes by two strong tests; one modulus a line"), "{other}");
    assert_eq!((&planted["test"], &of_other["test"]), (&"baillie-psw".into(), &"strong".into()));
}

/// The limbs of all primes of a request, and the reports of the search.
fn found(
    request: &Request,
    executor: &Executor,
    manner: Manner,
    watch: &dyn Watch,
) -> Result<Vec<Vec<u32>>, TestKeysError> {
    let layout = Layout::new(request)?;
    let width = Width::new(request.bits / 2)?;
    let primes = primes::find_in(manner, &layout, request, width, executor, watch)?;
    Ok((0..layout.primes()).map(|i| primes.row(i).to_vec()).collect())
}

/// Keeps all reports, and stops the work when `stop_at` primes have been found.
struct Reports {
    stop_at: u64,
    stopped: AtomicBool,
    found: Mutex<Vec<u64>>,
}

impl Reports {
    fn new(stop_at: u64) -> Self {
        Self { stop_at, stopped: AtomicBool::new(false), found: Mutex::default() }
    }
}

impl Watch for Reports {
    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    fn step(&self, done: u64, total: u64, _: &dyn Display) {
        assert!(done <= total);
        self.stopped.fetch_or(done >= self.stop_at, Ordering::Relaxed);
        self.found.lock().unwrap().push(done);
    }
}

/// Uneven groups on the simulator and on the CPU, with batches smaller and larger than the numbers of
/// searches, find the primes that one group finds on the CPU.
#[test]
fn groups_of_searches_find_the_same_primes() {
    let strong = Request {
        count: 6,
        bits: 1024,
        rings: 0,
        duplicates: 0,
        even: 1,
        close: 2,
        weak_pairs: 0,
        ..WEAK
    };
    let strong = Request { test: Test::Strong, ..strong };
    let simulator = Executor::on(Device::simulator().unwrap());
    for request in [WEAK, strong] {
        let one = Manner { most: 64, groups: 1 };
        let expected = found(&request, &Executor::cpu(), one, &Unwatched).unwrap();
        for executor in [&simulator, &Executor::cpu()] {
            for (most, groups) in [(4, 3), (7, 2), (1, 5), (1000, 3)] {
                let reports = Reports::new(u64::MAX);
                let manner = Manner { most, groups };
                let primes = found(&request, executor, manner, &reports).unwrap();
                assert_eq!(primes, expected, "{executor:?} {most} {groups}");
                let reports = reports.found.into_inner().unwrap();
                assert!(reports.is_sorted());
                assert_eq!((reports[0], *reports.last().unwrap()), (0, expected.len() as u64));
            }
        }
    }
}

#[test]
fn a_stop_in_the_middle_stops_all_groups() {
    let request = Request::new(200, 128, 4);
    let manner = Manner { most: 16, groups: 3 };
    for executor in [Executor::cpu(), Executor::on(Device::simulator().unwrap())] {
        let reports = Reports::new(20);
        let stopped = found(&request, &executor, manner, &reports).unwrap_err();
        assert!(matches!(stopped, TestKeysError::Stopped));
        // Each group ends with the batch that it tests.
        let most = *reports.found.into_inner().unwrap().last().unwrap();
        assert!((20..=20 + 3 * 16).contains(&most), "{most}");
    }
}

/// The error of the device is reported, and not that other groups stopped because of it.
#[test]
fn wrong_results_are_noticed_by_groups() {
    let request = Request::new(200, 128, 4);
    let manner = Manner { most: 32, groups: 2 };
    let simulator = Device::simulator().unwrap();
    for from in [0, 5, 40] {
        let faulty = FaultyDevice::new(&simulator, DeviceFault::Zeros { from });
        let executor = Executor::on(faulty.device().clone());
        let reports = Reports::new(u64::MAX);
        let error = found(&request, &executor, manner, &reports).unwrap_err();
        assert!(matches!(error, TestKeysError::Wrong { .. }), "{from} {error}");
        assert!(reports.found.into_inner().unwrap().iter().all(|&found| found < 400));
    }
}
