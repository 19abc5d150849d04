//! Trees on the simulator, compared with gcds by definition and with trees on the CPU.

use warpint_device::Device;
use warpint_natural::limbs::{div_rem, mul, trim};
use warpint_progress::{StopToken, Unwatched};

use super::tests::by_definition;
use super::*;

fn number(mut limbs: Vec<u64>) -> Vec<u64> {
    trim(&mut limbs);
    limbs
}

/// Random numbers from a seed, which is printed.
fn random(seed: u64) -> impl FnMut() -> u64 {
    println!("seed {seed}");
    let mut state = seed;
    move || {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        state ^ state >> 29
    }
}

#[track_caller]
fn check(trees: &DeviceTrees, moduli: &[Vec<u64>], expected: &[Common]) -> usize {
    let slices: Vec<&[u64]> = moduli.iter().map(Vec::as_slice).collect();
    let batch = Batch::new(&slices, u64::MAX, 2).unwrap().on_device(trees).unwrap();
    let found = batch.run(&Unwatched, &mut Times::default()).unwrap();
    assert!(found == expected, "{moduli:x?} in {} groups", batch.groups());
    batch.groups()
}

#[test]
fn gcds_are_those_of_the_definition() {
    let device = Device::simulator().unwrap();
    let trees = DeviceTrees::with_memory(&device, 1 << 30);
    let mut word = random(291);
    let of = |moduli: Vec<Vec<u64>>| check(&trees, &moduli, &by_definition(&moduli));
    // Small numbers, of which many share primes. Odd counts on several levels.
    for count in [1, 2, 3, 5, 6, 17] {
        of((2..2 + count).map(|n| vec![n]).collect());
    }
    of(vec![]);
    of(vec![vec![7; 3]; 5]);
    of(vec![vec![u64::MAX; 4], vec![u64::MAX; 2], vec![1, 1], vec![0, 0, 0, 1], vec![2]]);
    // Pairs, a ring, a duplicate, and a prime of all.
    let mut primes = |count: usize| -> Vec<Vec<u64>> {
        (0..count).map(|_| vec![word() | 1, word(), word() | 1 << 63]).collect()
    };
    let p = primes(14);
    let product = |a: usize, b: usize| number(mul(&p[a], &p[b]));
    let pairs = [(0, 1), (2, 3), (4, 1), (5, 6), (6, 7), (7, 5), (8, 9), (8, 9), (10, 11)];
    of(pairs.map(|(a, b)| product(a, b)).to_vec());
    of((1..12).map(|i| product(0, i)).collect());
}

#[test]
fn mixed_lengths_are_those_of_the_cpu() {
    let device = Device::simulator().unwrap();
    let trees = DeviceTrees::with_memory(&device, 1 << 30);
    let mut word = random(292);
    let mut moduli: Vec<Vec<u64>> =
        (0..100).map(|i| (0..1 + i / 12).map(|_| word() | 1).collect()).collect();
    // Shorter ones among longer ones, as cofactors of small primes are.
    for i in [60, 61, 90] {
        moduli[i].truncate(1);
    }
    let shared = word() | 1 << 40 | 1;
    for i in [5, 60, 99] {
        moduli[i] = number(mul(&moduli[i], &[shared]));
    }
    let slices: Vec<&[u64]> = moduli.iter().map(Vec::as_slice).collect();
    let cpu = Batch::new(&slices, u64::MAX, 2).unwrap();
    let expected = cpu.run(&Unwatched, &mut Times::default()).unwrap();
    assert!(expected.len() >= 3);
    // Lengths of 1, 2, 3 to 4, and 5 to 8 words are apart, but not the shorter ones among them.
    assert_eq!(check(&trees, &moduli, &expected), 5);
    // New groups against stored products.
    let (old, new) = slices.split_at(40);
    let product = Batch::new(old, u64::MAX, 2).unwrap().product(&Unwatched).unwrap();
    let batch = Batch::in_turn(new, usize::MAX, product.len(), u64::MAX, 2).unwrap();
    let batch = batch.on_device(&trees).unwrap();
    assert!(batch.groups() > 1);
    let mut products = vec![product];
    for g in 0..batch.groups() {
        let range = batch.group(g);
        let mut others = products.iter().map(|p| Ok(p.clone()));
        let mut times = Times::default();
        let outcome = batch.run_group(g, &mut others, &Unwatched, &mut times).unwrap();
        let mut expected = by_definition(&moduli[..old.len() + range.end]);
        expected.retain(|common| common.index >= old.len() + range.start);
        expected.iter_mut().for_each(|common| common.index -= old.len());
        assert!(outcome.common == expected, "group {range:?}");
        products.push(outcome.product);
    }
    let whole = slices.iter().fold(vec![1], |product, n| number(mul(&product, n)));
    assert_eq!(products.iter().fold(vec![1], |product, p| number(mul(&product, p))), whole);
}

#[test]
fn little_memory_makes_groups_and_too_little_is_an_error() {
    let device = Device::simulator().unwrap();
    let mut word = random(293);
    let mut moduli: Vec<Vec<u64>> = (0..40).map(|_| (0..4).map(|_| word() | 1).collect()).collect();
    moduli[39] = number(mul(&moduli[2][..2], &[word(), word() | 1]));
    moduli[2] = number(mul(&moduli[2][..2], &[word() | 1, word() | 1]));
    let expected = by_definition(&moduli);
    assert!(expected.len() >= 2);
    let mut counts = vec![];
    for memory in [1 << 20, 1 << 15, 20_000, 16_000] {
        let trees = DeviceTrees::with_memory(&device, memory);
        assert!(trees.fits(1, 4), "{memory} bytes");
        counts.push(check(&trees, &moduli, &expected));
    }
    assert!(counts[0] == 1 && counts[3] > 2 && counts.is_sorted(), "{counts:?}");
    let slices: Vec<&[u64]> = moduli.iter().map(Vec::as_slice).collect();
    let trees = DeviceTrees::with_memory(&device, 100);
    let refused = Batch::new(&slices, u64::MAX, 2).unwrap().on_device(&trees).err().unwrap();
    assert!(matches!(refused, KeysError::DeviceMemory { limit: 100, .. }), "{refused}");
    assert!(refused.is_of_device());
}

/// A multiple of 2^61 − 1 would hide errors of derivatives from the check of the root.
#[test]
fn a_modulus_that_blinds_the_check_is_refused() {
    let device = Device::simulator().unwrap();
    let trees = DeviceTrees::with_memory(&device, 1 << 30);
    let blind = number(mul(&[(1 << 61) - 1], &[1_000_000_007]));
    let moduli = [&[15u64][..], &[21], &blind];
    let batch = Batch::new(&moduli, u64::MAX, 1).unwrap().on_device(&trees).unwrap();
    let refused = batch.run(&Unwatched, &mut Times::default()).unwrap_err();
    assert!(matches!(refused, KeysError::Blind { .. }) && refused.is_of_device(), "{refused}");
}

#[test]
fn fractions_of_roots_are_quotients() {
    let device = Device::simulator().unwrap();
    let trees = DeviceTrees::with_memory(&device, 1 << 30);
    let mut word = random(293);
    for (m, zeros) in [(1, 0), (2, 0), (2, 1), (5, 2), (40, 0), (40, 3), (300, 7)] {
        for case in 0..4 {
            let mut p: Vec<u64> = (0..m).map(|_| word()).collect();
            match case {
                0 => p.fill(u64::MAX),
                1 => p[..m - zeros - 1].fill(0),
                _ => {}
            }
            p[m - zeros..].fill(0);
            p[m - zeros - 1] |= 1;
            // Fractions, and numbers above P.
            let d: Vec<u64> = (0..m - case % 2 * zeros).map(|_| word()).collect();
            let mut dividend = vec![0; m + 1];
            dividend.extend(&d);
            let mut expected = div_rem(&dividend, &p).0;
            expected.resize(m + 1, 0);
            let x = trees.fraction(&d, &p, [1, m]).unwrap().unwrap();
            assert_eq!(x.download().unwrap(), expected, "{m} words, case {case}");
        }
    }
    let little = DeviceTrees::with_memory(&device, 1 << 12);
    assert!(little.fraction(&[1; 40], &[3; 40], [1, 40]).unwrap().is_none());
}

/// Many moduli of which both primes are shared.
#[test]
fn many_whole_moduli_are_confirmed() {
    let device = Device::simulator().unwrap();
    let trees = DeviceTrees::with_memory(&device, 1 << 30);
    let is_prime = |n: &u64| (2..).take_while(|d| d * d <= *n).all(|d| !n.is_multiple_of(d));
    let primes: Vec<u64> = (70_000..).filter(is_prime).take(900).collect();
    let rings = primes.chunks_exact(3);
    let moduli: Vec<Vec<u64>> = rings
        .flat_map(|p| [[p[0], p[1]], [p[1], p[2]], [p[2], p[0]]].map(|[a, b]| vec![a * b]))
        .collect();
    let expected: Vec<Common> =
        moduli.iter().enumerate().map(|(index, n)| Common { index, gcd: n.clone() }).collect();
    check(&trees, &moduli, &expected);
}

#[test]
fn whole_moduli_divide_the_product_of_the_others() {
    let moduli = [&[15u64][..], &[21], &[35], &[22], &[39], &[1_000_003]];
    let are = |whole: &[usize]| are_whole(&moduli, whole, u64::MAX, 1, &Unwatched).unwrap();
    assert!(are(&[]) && are(&[0, 1, 2]));
    assert!(!are(&[3]) && !are(&[0, 4]) && !are(&[0, 5]));
}

/// Groups that are about as long as a root can be fit neither in the memory nor in transforms.
#[test]
fn what_does_not_fit_is_known_before() {
    let device = Device::simulator().unwrap();
    let trees = DeviceTrees::with_memory(&device, u64::MAX);
    assert!(trees.fits(1 << 23, 32) && !trees.fits((1 << 23) + 1, 32));
    assert!(trees.fits(1, 1 << 30) && !trees.fits(usize::MAX, 1) && !trees.fits(1 << 40, 1 << 40));
    // 10^6 moduli of 2,048 bits on a card of 80 GiB.
    assert!(DeviceTrees::with_memory(&device, 64 << 30).fits(1_000_000, 32));
}

#[test]
fn a_stop_is_obeyed() {
    let device = Device::simulator().unwrap();
    let trees = DeviceTrees::with_memory(&device, 1 << 30);
    let stop = StopToken::new();
    stop.stop();
    let moduli = [&[15u64][..], &[21]];
    let batch = Batch::new(&moduli, u64::MAX, 1).unwrap().on_device(&trees).unwrap();
    let stopped = batch.run(&stop, &mut Times::default());
    assert!(matches!(stopped, Err(KeysError::Stopped)));
}
