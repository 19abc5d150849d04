//! Tests of internal parts of a prepared modulus.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_device::Device;
use warpint_natural::limbs;

use super::fixed_base::FixedBase;
use super::products::steps;
use super::{Modulus, Reduction};
use crate::{Executor, UintBatch, Width};

fn executors() -> [Executor; 2] {
    [Executor::cpu(), Executor::on(Device::simulator().unwrap())]
}

fn batch(executor: &Executor, limbs: usize, numbers: &[u32]) -> UintBatch {
    UintBatch::from_limbs(executor, Width::of_limbs(limbs), numbers).unwrap()
}

/// Returns ⌊u/m⌋ − q, where q is the approximate quotient of u by m according to the module
/// `barrett`. m has one limb, whose highest bit is set.
fn corrections(m: u32, u: u64) -> u64 {
    let v = (u128::from(u64::MAX) / u128::from(m)) as u32;
    let h = u >> 32;
    let q = h + ((h * u64::from(v)) >> 32);
    u / u64::from(m) - q
}

/// Tests remainders that need 0, 1, 2 and 3 corrections. Moduli m near 2^31 for which (2^64 − 1)/m
/// has a large remainder need three corrections for dividends near the upper end of their range.
/// Other moduli need at most two.
#[test]
fn every_number_of_corrections() {
    let mut rng = ChaCha8Rng::seed_from_u64(81);
    let mut found = [0usize; 4];
    let mut cases = vec![];
    for i in 0..200_000 {
        let m = 1 << 31 | rng.random::<u32>() >> (1 + i % 31);
        let high = (m - 1).saturating_sub(rng.random::<u32>() >> (i % 32));
        let low = u32::MAX - (rng.random::<u32>() >> (i % 29));
        let u = u64::from(high) << 32 | u64::from(low);
        let needed = corrections(m, u) as usize;
        found[needed] += 1;
        if found[needed] <= 20 {
            cases.push((m, u));
        }
    }
    assert!(found.iter().all(|&n| n >= 20), "{found:?}");
    for executor in executors() {
        let moduli: Vec<u32> = cases.iter().map(|&(m, _)| m).collect();
        let modulus = Modulus::by(Reduction::Barrett, batch(&executor, 1, &moduli)).unwrap();
        assert_eq!(modulus.reduction(), Reduction::Barrett);
        let u: Vec<u32> = cases.iter().flat_map(|&(_, u)| [u as u32, (u >> 32) as u32]).collect();
        let found = modulus.rem(&batch(&executor, 2, &u)).unwrap().to_limbs().unwrap();
        for (&(m, u), found) in cases.iter().zip(found) {
            assert_eq!(u64::from(found), u % u64::from(m), "{u:#x} mod {m:#x}");
        }
    }
}

/// Computes x ← x + k·y, truncated to the length of x.
fn add(x: &mut [u32], k: u64, y: &[u32]) {
    let mut carry = 0;
    for (j, x) in x.iter_mut().enumerate() {
        let sum = u64::from(*x) + k * u64::from(y.get(j).copied().unwrap_or(0)) + carry;
        (*x, carry) = (sum as u32, sum >> 32);
    }
}

/// Tests the reduction of u − p = k·m + r for k from 0 to 3 and r = 0, 1 and m − 1. The numbers
/// fill one row or several rows of the kernel `reduce.cu`, where a row is one chunk of limbs per
/// lane. Borrows run through all limbs.
#[test]
fn multiples_of_a_modulus_are_taken_off() {
    let mut rng = ChaCha8Rng::seed_from_u64(84);
    for executor in executors() {
        for n in [1, 2, 3, 4, 7, 8, 31, 32, 33, 100, 128, 130, 257, 1024, 1025, 1030, 2052, 4100] {
            let mut drawn: Vec<u32> = (0..n).map(|_| rng.random()).collect();
            drawn[0] |= 1;
            drawn[n - 1] |= 1 << 31;
            let mut power = vec![0; n];
            power[n - 1] = 1 << 31;
            for m in [drawn, vec![u32::MAX; n], power] {
                let mut less = m.clone();
                less[0] = less[0].wrapping_sub(1);
                if m[0] == 0 {
                    less = [vec![u32::MAX; n - 1], vec![u32::MAX >> 1]].concat();
                }
                let one = [&[1][..], &vec![0; n - 1]].concat();
                let rests = [vec![0; n], less, one];
                let (mut u, mut p, mut expected) = (vec![], vec![], Vec::<u32>::new());
                for k in 0..4 {
                    for rest in &rests {
                        for kind in 0..3 {
                            let product: Vec<u32> =
                                (0..2 * n).map(|_| [0, u32::MAX, rng.random()][kind]).collect();
                            let mut dividend = [&product[..], &[0, 0]].concat();
                            add(&mut dividend, k, &m);
                            add(&mut dividend, 1, rest);
                            u.extend(dividend);
                            p.extend(product);
                            expected.extend(rest);
                        }
                    }
                }
                let (u, p) = (batch(&executor, 2 * n + 2, &u), batch(&executor, 2 * n, &p));
                let m = batch(&executor, n, &m);
                let mut found = UintBatch::zeros(&executor, u.count(), m.width()).unwrap();
                u.reduce_into(&p, &m, &mut found).unwrap();
                let found = found.to_limbs().unwrap();
                let wrong = (0..expected.len()).find(|&j| found[j] != expected[j]);
                assert_eq!(wrong, None, "{n} limbs, on {executor:?}: the first wrong limb");
            }
        }
    }
}

/// Tests that the steps computed for an exponent represent this exponent.
#[test]
fn steps_are_the_exponent() {
    let mut rng = ChaCha8Rng::seed_from_u64(82);
    for bits in 0..=64 {
        let any = if bits == 0 { 0 } else { rng.random::<u64>() >> (64 - bits) };
        for e in [any, any | 1, !0 >> (64 - bits.max(1)), 1 << (bits.max(1) - 1)] {
            for window in 1..=5 {
                let mut back = 0u64;
                for (i, step) in steps(&[e as u32, (e >> 32) as u32], window).iter().enumerate() {
                    assert!(i > 0 || step.squares == 0);
                    assert!(step.odd.is_none_or(|k| k < 1 << (window - 1)));
                    back <<= step.squares;
                    back += step.odd.map_or(0, |k| 2 * k as u64 + 1);
                }
                assert_eq!(back, e, "windows of {window} bits");
            }
        }
    }
}

/// Tests tables for fixed bases with windows of every size. Some sizes do not divide the 32 bits of
/// a limb, and the last window may be shorter than the others.
#[test]
fn windows_of_every_width() {
    let mut rng = ChaCha8Rng::seed_from_u64(83);
    for executor in executors() {
        let m = 0xffff_fffb_u32;
        let modulus = Modulus::by(Reduction::Division, batch(&executor, 1, &[m])).unwrap();
        let base = rng.random::<u32>();
        let exponents: Vec<u32> =
            (0..18).map(|i| if i < 2 { u32::MAX } else { rng.random() }).collect();
        for window in 1..=6 {
            let (base, width) = (batch(&executor, 1, &[base]), Width::of_limbs(2));
            let table = FixedBase::with_window(&modulus, &base, width, window).unwrap();
            let found = table.pow(&batch(&executor, 2, &exponents)).unwrap().to_limbs().unwrap();
            let base = u64::from(base.to_limbs().unwrap()[0]);
            for (e, found) in exponents.chunks(2).zip(found) {
                let e = u64::from(e[1]) << 32 | u64::from(e[0]);
                let expected = limbs::pow_mod(&[base], &[e], &[u64::from(m)]).unwrap();
                assert_eq!(u64::from(found), expected[0], "windows of {window} bits");
            }
        }
    }
}

/// Tests that [`Modulus::new`] chooses the method by the bit length of the modulus.
#[test]
fn the_width_decides() {
    for (executor, long) in
        executors().into_iter().zip([super::LONG_ON_CPU, super::LONG_ON_DEVICES])
    {
        let limbs = long as usize / 32;
        let mut m = vec![0; limbs];
        m[0] = 1;
        m[limbs - 1] = 1 << 31;
        let of = |m: &[u32]| Modulus::new(batch(&executor, limbs, m)).unwrap().reduction();
        assert_eq!(of(&m), Reduction::Barrett);
        m[limbs - 1] = 1 << 30;
        assert_eq!(of(&m), Reduction::Division);
    }
}
