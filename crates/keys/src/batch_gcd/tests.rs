//! Comparisons with gcds of all pairs.

use proptest::prelude::*;
use warpint_natural::euclid::Euclid;
use warpint_natural::limbs::{div_rem, mul, trim};
use warpint_progress::{StopToken, Unwatched};

use super::*;

/// Returns gcd(n_i, Π_(j≠i) n_j) for each i: the slow, obvious way.
pub(super) fn by_definition(moduli: &[Vec<u64>]) -> Vec<Common> {
    let mut all = vec![];
    for (index, n) in moduli.iter().enumerate() {
        let mut others = vec![1];
        for (_, other) in moduli.iter().enumerate().filter(|(j, _)| *j != index) {
            others = div_rem(&mul(&others, other), n).1;
        }
        let gcd = Euclid::default().gcd(n, &others).to_vec();
        if gcd != [1] {
            all.push(Common { index, gcd });
        }
    }
    all
}

#[track_caller]
fn check(moduli: &[Vec<u64>]) {
    let slices: Vec<&[u64]> = moduli.iter().map(Vec::as_slice).collect();
    let expected = by_definition(moduli);
    let whole = Batch::new(&slices, u64::MAX, 1).unwrap();
    for threads in [1, 2, 3] {
        for share in [1, 2, 5] {
            let Ok(batch) = Batch::new(&slices, whole.memory() / share, threads) else { continue };
            let found = batch.run(&Unwatched, &mut Times::default()).unwrap();
            assert!(
                found == expected,
                "{moduli:x?} on {threads} threads, {} groups",
                batch.groups()
            );
        }
    }
}

/// Groups one after the other against all moduli before them and stored ones, and gcds with a number.
#[track_caller]
fn check_in_turn(moduli: &[Vec<u64>], stored: usize) {
    let slices: Vec<&[u64]> = moduli.iter().map(Vec::as_slice).collect();
    let (old, new) = slices.split_at(stored);
    let product = Batch::new(old, u64::MAX, 2).unwrap().product(&Unwatched).unwrap();
    let by_rule = old.iter().fold(vec![1], |product, n| number(mul(&product, n)));
    assert_eq!(product, by_rule);
    for most in [1, 7, usize::MAX] {
        let batch = Batch::in_turn(new, most, product.len(), u64::MAX, 2).unwrap();
        let mut products = vec![product.clone()];
        for g in 0..batch.groups() {
            let range = batch.group(g);
            let mut others = products.iter().map(|p| Ok(p.clone()));
            let mut times = Times::default();
            let outcome = batch.run_group(g, &mut others, &Unwatched, &mut times).unwrap();
            let before = &moduli[..stored + range.end];
            let mut expected = by_definition(before);
            expected.retain(|common| common.index >= stored + range.start);
            expected.iter_mut().for_each(|common| common.index -= stored);
            assert!(outcome.common == expected, "{moduli:x?}, {stored} stored, {range:?}");
            products.push(outcome.product);
        }
    }
    if !product.is_empty() && product != [1] {
        let with = Batch::new(new, u64::MAX, 2).unwrap().with(&product, &Unwatched).unwrap();
        let expected = new.iter().enumerate().map(|(index, n)| Common {
            index,
            gcd: Euclid::default().gcd(n, &div_rem(&product, n).1).to_vec(),
        });
        assert!(with == expected.filter(|c| c.gcd != [1]).collect::<Vec<_>>(), "{moduli:x?}");
    }
}

fn number(limbs: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut number: Vec<u64> = limbs.into_iter().collect();
    trim(&mut number);
    number
}

#[test]
fn small_numbers() {
    check(&[vec![2], vec![2]]);
    check(&[vec![3], vec![5]]);
    check(&[vec![6], vec![35], vec![10], vec![77], vec![13]]);
    // All numbers from 2 on: many share all their primes with others.
    for count in 1..60 {
        check(&(2..2 + count).map(|n| vec![n]).collect::<Vec<_>>());
    }
    // Powers of two, next to carries of whole limbs.
    let power = |k: usize| number((0..=k / 64).map(|i| u64::from(i == k / 64) << (k % 64)));
    check(&(1..200).map(power).collect::<Vec<_>>());
    check(&[vec![u64::MAX; 3], vec![u64::MAX; 2], vec![u64::MAX], vec![1, 1], vec![0, 1]]);
}

#[test]
fn a_ring_of_three_and_a_duplicate() {
    let [p, q, r, s] = [(1 << 61) - 1, 1_000_000_007, 4_294_967_291, 998_244_353u64];
    let product = |a: u64, b: u64| number(mul(&[a], &[b]));
    check(&[product(p, q), product(q, r), product(r, p)]);
    check(&[product(p, q), product(r, s), product(p, q)]);
    check(&[product(p, q), product(r, s)]);
}

#[test]
fn groups_in_turn() {
    let all: Vec<Vec<u64>> = (2..40).map(|n| vec![n]).collect();
    for stored in [0, 1, 5, 37] {
        check_in_turn(&all, stored);
    }
    let long = |i: u64| number(mul(&[i, 1 << 40, 7], &[5 * i + 1, u64::MAX]));
    check_in_turn(&(1..30).map(long).collect::<Vec<_>>(), 11);
}

#[test]
fn a_stop_is_obeyed() {
    let stop = StopToken::new();
    stop.stop();
    let moduli = [&[15u64][..], &[21]];
    let batch = Batch::new(&moduli, u64::MAX, 1).unwrap();
    assert!(matches!(batch.run(&stop, &mut Times::default()), Err(KeysError::Stopped)));
    assert_eq!(batch.run(&Unwatched, &mut Times::default()).unwrap().len(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Numbers of any lengths, built from few factors so that many share one.
    #[test]
    fn gcds_are_those_of_the_definition(
        factors in prop::collection::vec(prop::collection::vec(any::<u64>(), 1..5), 2..12),
        pairs in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 2..50),
    ) {
        let factors: Vec<Vec<u64>> = factors.into_iter().map(|mut f| {
            f[0] |= 2;
            number(f)
        }).collect();
        let moduli: Vec<Vec<u64>> = pairs.iter()
            .map(|(i, j)| number(mul(&factors[i.index(factors.len())], &factors[j.index(factors.len())])))
            .collect();
        check(&moduli);
        check_in_turn(&moduli, moduli.len() / 3);
    }
}
