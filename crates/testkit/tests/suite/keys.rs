//! Audits of RSA keys with planted weak ones, whose primes GMP makes.

use std::collections::BTreeSet;

use rug::integer::Order;
use rug::{Complete, Integer};
use warpint_device::Device;
use warpint_keys::KeyList;
use warpint_keys::audit::{Audit, Finding, Kind, Settings};
use warpint_keys::batch_gcd::{Batch, DeviceTrees, Times};
use warpint_keys::read::{BadEntry, Reader};
use warpint_progress::Unwatched;
use warpint_selftest::faults::wrappers::{DeviceFault, FaultyDevice};

/// Draws primes of `bits` bits with the two top bits set, so that the product of two has 2·`bits`
/// bits.
struct Primes {
    state: u64,
    bits: u32,
}

impl Primes {
    fn new(bits: u32) -> Self {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let state = since.as_nanos() as u64;
        println!("seed {state}");
        Self { state, bits }
    }

    fn word(&mut self) -> u64 {
        self.state =
            self.state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        self.state ^ self.state >> 29
    }

    fn next(&mut self) -> Integer {
        let words: Vec<u64> = (0..self.bits.div_ceil(64)).map(|_| self.word()).collect();
        let mut n = Integer::from_digits(&words, Order::Lsf).keep_bits(self.bits);
        n.set_bit(self.bits - 1, true).set_bit(self.bits - 2, true);
        n.next_prime()
    }

    /// Returns a modulus of new primes.
    fn modulus(&mut self) -> Integer {
        self.next() * self.next()
    }
}

fn limbs(n: &Integer) -> Vec<u64> {
    n.to_digits(Order::Lsf)
}

fn list(moduli: &[Integer]) -> KeyList {
    // Every second one in decimal digits.
    let line = |(i, n): (usize, &Integer)| match i % 2 {
        0 => format!("{n}\n"),
        _ => format!("0x{}\n", n.to_string_radix(16)),
    };
    let text: String = moduli.iter().enumerate().map(line).collect();
    let mut none = |entry: &BadEntry| panic!("{entry}");
    let mut reader = Reader::new(&Unwatched, &mut none);
    reader.stream("moduli", text.as_bytes()).unwrap();
    reader.finish()
}

fn audit(list: &KeyList, memory: u64, device: Option<Device>) -> Vec<Finding> {
    let mut audit = Audit::new(list.clone(), Settings { threads: 2, memory, device });
    audit.check_each(&Unwatched).unwrap();
    audit.check_together(&mut |_| {}, &Unwatched).unwrap();
    audit.finish().1
}

/// Plants pairs, a ring of three, a modulus of two primes of others, duplicates, even moduli, close
/// primes and a power among sound moduli, and finds exactly these, in one group and in several.
#[test]
fn planted_keys_are_found_and_none_invented() {
    let mut primes = Primes::new(256);
    let mut moduli: Vec<Integer> = (0..300).map(|_| primes.modulus()).collect();
    let mut plant = |place: usize, n: Integer| moduli[place] = n;
    let mut expected: Vec<(usize, Kind)> = vec![];
    for (i, j) in [(0, 299), (17, 18), (40, 200), (150, 3)] {
        let p = primes.next();
        plant(i, &p * primes.next());
        plant(j, &p * primes.next());
        expected.extend([(i, Kind::SharedPrime), (j, Kind::SharedPrime)]);
    }
    let [p, q, r] = [(); 3].map(|()| primes.next());
    for (place, n) in
        [(60, (&p * &q).complete()), (61, (&q * &r).complete()), (250, (&r * &p).complete())]
    {
        plant(place, n);
        expected.push((place, Kind::SharedPrime));
    }
    let n = primes.modulus();
    plant(70, n.clone());
    plant(71, n.clone());
    plant(170, n);
    expected.extend([70, 71, 170].map(|key| (key, Kind::Duplicate)));
    for place in [80, 180] {
        plant(place, primes.modulus() * 2);
        expected.push((place, Kind::Even));
    }
    plant(90, primes.modulus() * 9973);
    expected.push((90, Kind::SmallFactor));
    let p = primes.next();
    plant(100, &p * p.clone().next_prime());
    expected.push((100, Kind::ClosePrimes));
    let p = primes.next();
    plant(110, p.square());
    expected.push((110, Kind::PerfectPower));

    let list = list(&moduli);
    let all: Vec<Vec<u64>> = moduli.iter().map(limbs).collect();
    let slices: Vec<&[u64]> = all.iter().map(Vec::as_slice).collect();
    let whole = Batch::new(&slices, u64::MAX, 2).unwrap().memory();
    expected.sort_unstable_by_key(|&(key, kind)| (key, kind));
    let device = Device::simulator().unwrap();
    for (memory, device) in [(u64::MAX, None), (whole / 3, None), (u64::MAX, Some(device))] {
        let findings = audit(&list, memory, device);
        let mut found: Vec<(usize, Kind)> = vec![];
        for finding in findings.iter().filter(|finding| !finding.kind.is_notice()) {
            found.extend(finding.keys.iter().map(|&key| (key, finding.kind)));
            let n = Integer::from_digits(list.modulus(finding.keys[0]), Order::Lsf);
            match &finding.factor {
                Some(factor) => {
                    let factor = Integer::from_digits(factor, Order::Lsf);
                    assert!(n.is_divisible(&factor) && factor > 1 && factor < n, "{finding:?}");
                }
                None => assert_eq!(finding.kind, Kind::Duplicate),
            }
        }
        found.sort_unstable_by_key(|&(key, kind)| (key, kind));
        assert_eq!(found, expected);
        let partners: BTreeSet<Vec<usize>> = findings
            .iter()
            .filter(|f| f.kind == Kind::SharedPrime)
            .map(|f| f.shared_with.clone())
            .collect();
        assert!(partners.contains(&vec![299]) && partners.contains(&vec![0]), "{partners:?}");
    }
}

/// gcd(n_i, P/n_i) for moduli of mixed lengths, by GMP.
#[test]
fn gcds_with_the_product_of_the_others() {
    for count in [2, 3, 10, 100] {
        let mut primes = Primes::new(64);
        let mut pool: Vec<Integer> = (0..2 * count).map(|_| primes.next()).collect();
        primes.bits = 700;
        pool.extend((0..10).map(|_| primes.next()));
        let mut pick = || &pool[(primes.word() >> 33) as usize % pool.len()];
        let moduli: Vec<Integer> = (0..count).map(|_| (pick() * pick()).complete()).collect();
        let all: Vec<Vec<u64>> = moduli.iter().map(limbs).collect();
        let slices: Vec<&[u64]> = all.iter().map(Vec::as_slice).collect();
        let product: Integer = moduli.iter().product();
        let expected: Vec<(usize, Integer)> = (0..count as usize)
            .map(|i| (i, product.clone().div_exact(&moduli[i]).gcd(&moduli[i])))
            .filter(|(_, gcd)| *gcd != 1)
            .collect();
        let whole = Batch::new(&slices, u64::MAX, 2).unwrap();
        for memory in [u64::MAX, whole.memory() / 3] {
            let Ok(batch) = Batch::new(&slices, memory, 2) else { continue };
            let found = batch.run(&Unwatched, &mut Times::default()).unwrap();
            let found: Vec<_> =
                found.iter().map(|c| (c.index, Integer::from_digits(&c.gcd, Order::Lsf))).collect();
            assert_eq!(found, expected);
        }
    }
}

/// gcds on the simulator, with one bit flipped after a launch, or zeros in downloads: either the gcds
/// are right, or the device is given up.
#[test]
fn faults_of_a_device_are_noticed() {
    let mut primes = Primes::new(128);
    let mut moduli: Vec<Integer> = (0..11).map(|_| primes.modulus()).collect();
    let p = primes.next();
    for i in [2, 9] {
        moduli[i] = &p * primes.next();
    }
    let all: Vec<Vec<u64>> = moduli.iter().map(limbs).collect();
    let slices: Vec<&[u64]> = all.iter().map(Vec::as_slice).collect();
    let cpu = Batch::new(&slices, u64::MAX, 2).unwrap();
    let expected = cpu.run(&Unwatched, &mut Times::default()).unwrap();
    assert_eq!(expected.len(), 2);
    let simulator = Device::simulator().unwrap();
    let run = |fault| {
        let faulty = FaultyDevice::new(&simulator, fault);
        let trees = DeviceTrees::with_memory(faulty.device(), 1 << 30);
        let batch = Batch::new(&slices, u64::MAX, 2).unwrap().on_device(&trees).unwrap();
        let found = batch.run(&Unwatched, &mut Times::default());
        (found, [faulty.launches(), faulty.uploads()], faulty.strikes())
    };
    let (sound, [launches, uploads], _) = run(DeviceFault::Dead { from: u64::MAX });
    assert!(sound.unwrap() == expected && launches > 20);
    let mut noticed = 0;
    let mut check = |fault| {
        let (found, _, strikes) = run(fault);
        assert!(strikes > 0, "{fault:?} was not made");
        match found {
            Ok(found) => assert!(found == expected, "{fault:?} changed the gcds"),
            Err(error) => {
                assert!(error.is_of_device(), "{fault:?}: {error}");
                noticed += 1;
            }
        }
    };
    let some = (launches / 16).max(1);
    for launch in (0..launches).step_by(some as usize) {
        check(DeviceFault::FlippedMemory { launch, bit: primes.word() >> 8 });
        check(DeviceFault::Dead { from: launch });
    }
    check(DeviceFault::Zeros { from: 0 });
    // Moduli, derivatives, the numbers at the root, and tables.
    for upload in 0..uploads {
        check(DeviceFault::FlippedUpload { upload, bit: primes.word() >> 8 });
    }
    // All launches are needed, so no device that dies goes unnoticed.
    assert!(noticed >= launches / some, "{noticed} faults were noticed");

    // An audit goes on without the device, and says so.
    let faulty = FaultyDevice::new(&simulator, DeviceFault::Dead { from: 3 });
    let device = Some(faulty.device().clone());
    let settings = Settings { threads: 2, memory: 1 << 30, device };
    let mut audit = Audit::new(list(&moduli), settings);
    audit.check_together(&mut |_| {}, &Unwatched).unwrap();
    assert!(audit.failure().is_some_and(|why| why.contains("computed")), "{:?}", audit.failure());
    let mut found: Vec<usize> = audit.finish().1.into_iter().flat_map(|f| f.keys).collect();
    found.sort_unstable();
    assert_eq!(found, [2, 9]);
}
