//! Tests of the table method against the plain method.

use proptest::prelude::*;

use super::*;
use crate::until::Until;
use crate::{Plain, Unwatched};

fn method(s: Option<u32>, d: u32, words: Option<u32>) -> TableMethod {
    let options =
        TableOptions { sieve_bits: s, table_bits: Some(d), words, walker: Walker::default() };
    TableMethod::new(options).unwrap()
}

fn verified(verifier: &mut dyn Verifier, region: &Region) -> Verified {
    verifier.verify(region, &Unwatched).unwrap().unwrap()
}

/// Verifies a region by the table method and by the plain method, and compares the results. The
/// highest values on the paths are compared only if the table method reports its highest value.
fn check(method: &mut TableMethod, region: &Region) -> Verified {
    let found = verified(method, region);
    let plain = verified(&mut Plain::default(), region);
    assert_eq!(found.numbers, plain.numbers, "{region}");
    assert_eq!(found.unresolved, plain.unresolved, "{region}");
    assert!(found.walked <= plain.walked);
    if found.highest.is_some() {
        assert_eq!(found.highest, plain.highest, "{region}");
    }
    found
}

#[test]
fn all_numbers_below_2_24_are_verified() {
    let region = Region::interval(0, 1 << 24).unwrap();
    let found = check(&mut method(None, 12, None), &region);
    // All numbers below 2^20; from there on the mandatory numbers of blocks of 14 bits.
    assert_eq!(found.walked, (1 << 20) + 960 * 734);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn intervals_are_verified(
        from in 0u128..1 << 24,
        far in prop::sample::select(vec![0u128, 1 << 40, 1 << 63, 1 << 64, (1 << 71) - (1 << 20), 1 << 100, 1 << 122]),
        length in 1u128..1 << 17,
        s in 8u32..16,
        d in 2u32..=15,
        words in prop::sample::select(vec![None, Some(1), Some(2), Some(3), Some(4)]),
    ) {
        let region = Region::interval(far + from, far + from + length).unwrap();
        check(&mut method(Some(s), d, words), &region);
    }
}

#[test]
fn the_largest_numbers_are_verified() {
    let region = Region::interval(u128::MAX - 5000, u128::MAX).unwrap();
    check(&mut method(Some(8), 12, None), &region);
}

#[test]
fn a_walk_is_its_table_steps() {
    // The sums of one block, step by step.
    let (s, d, h) = (10, 5, 1u128 << 33);
    let region = Region::interval(h << s, (h + 1) << s).unwrap();
    let found = verified(&mut method(Some(s), d, Some(3)), &region);
    let powers = powers();
    let mut expected = (0, 0);
    for residue in Residue::ROOT.grown(0, s, &powers) {
        let start = u128::from(residue.low) + (h << s);
        let step = |x, bits| (0..bits).fold(x, |x, _| crate::walk::step(x).unwrap());
        let mut x = step(start, s);
        expected.0 += 1;
        loop {
            x = step(x, d);
            expected.1 += 1;
            if x >> 30 < start >> 30 {
                break;
            }
        }
    }
    assert_eq!((found.walked, found.checksum), expected);
}

#[test]
fn few_words_overflow_and_are_finished() {
    // 2^24 needs 32 bits soon.
    let region = Region::interval(1 << 22, 3 << 22).unwrap();
    let found = check(&mut method(Some(8), 8, Some(1)), &region);
    assert!(found.highest.is_some());
    let wide = verified(&mut method(Some(8), 8, Some(2)), &region);
    assert_eq!(found.walked, wide.walked);
    assert!(found.checksum < wide.checksum);
    // Small numbers use no more words.
    assert_eq!(verified(&mut method(Some(8), 8, Some(3)), &region).checksum, wide.checksum);
}

#[test]
fn a_published_path_record_is_found() {
    // Roosendaal's list of path records (OEIS A006884 and A006885), beyond two words.
    let record = 567_839_862_631;
    let region = Region::interval(record - (1 << 23), record + (1 << 23)).unwrap();
    let highest = verified(&mut method(None, 12, None), &region).highest.unwrap();
    assert_eq!(highest.start, record);
    assert_eq!(highest.value, 100_540_173_225_585_986_235_988u128.into());
}

#[test]
fn classes_are_verified() {
    for (bits, low_bits, residue) in
        [(22, 4, 7), (21, 0, 0), (26, 9, 255), (27, 10, 5), (12, 3, 1), (30, 13, 8191)]
    {
        let region = Region::class(bits, low_bits, residue).unwrap();
        check(&mut method(None, 11, None), &region);
        if low_bits <= 8 {
            check(&mut method(Some(8), 11, None), &region);
        }
    }
    // Residues that all provably descend.
    let region = Region::class(71, 24, 5).unwrap();
    let found = verified(&mut method(None, 11, None), &region);
    assert_eq!((found.numbers, found.unresolved.len()), (1 << 47, 0));
}

#[test]
fn a_class_is_its_part_of_an_interval() {
    // Blocks of the same bits, so that the sums add up.
    let mut method = method(Some(9), 8, Some(2));
    let mut sum = Verified::default();
    for residue in 0..8 {
        sum.add(verified(&mut method, &Region::class(23, 3, residue).unwrap()));
    }
    let whole = verified(&mut method, &Region::interval(0, 1 << 23).unwrap());
    assert_eq!(sum, Verified { evidence: None, ..whole });
}

#[test]
fn a_trap_is_found() {
    let walker = Walker::default();
    // The first mandatory number from 2^22 on that rises beyond 2^31.
    let residues = Residue::ROOT.grown(0, 8, &powers());
    let start = ((1u128 << 22)..)
        .filter(|n| residues.iter().any(|residue| u128::from(residue.low) == n % 256))
        .find(|&n| walker.descend(n).unwrap().highest > (1u64 << 32).into())
        .unwrap();
    let trap = Some(walker.descend(start).unwrap().highest >> 1u32);
    let options = TableOptions {
        sieve_bits: Some(8),
        walker: Walker { trap, ..walker },
        ..TableOptions::default()
    };
    let region = Region::interval(start - 300, start + 300).unwrap();
    let mut method = TableMethod::new(options).unwrap();
    let found = verified(&mut method, &region);
    assert!(found.unresolved.contains(&start), "{:?}", found.unresolved);
    let plain = Plain { walker: method.options.walker.clone(), ..Plain::default() };
    assert_eq!(found.unresolved, verified(&mut { plain }, &region).unresolved);
}

#[test]
fn what_is_beyond_bounds_is_refused() {
    let bad = [
        (Some(7), None, None),
        (Some(38), None, None),
        (None, Some(1), None),
        (None, Some(16), None),
        (None, None, Some(0)),
        (None, None, Some(5)),
    ];
    for (sieve_bits, table_bits, words) in bad {
        let options = TableOptions { sieve_bits, table_bits, words, walker: Walker::default() };
        assert!(matches!(TableMethod::new(options), Err(CollatzError::Parameter { .. })));
    }
    for (s, low_bits) in [(Some(12), 13), (None, 38)] {
        let region = Region::class(60, low_bits, 3).unwrap();
        let error = method(s, 12, None).verify(&region, &Unwatched).unwrap_err();
        assert!(matches!(error, CollatzError::LowBits { .. }), "{error}");
    }
}

#[test]
fn the_watch_sees_all_numbers_and_can_stop() {
    let region = Region::interval(12_345, 23_456_789).unwrap();
    let watch = Until::new(u128::MAX);
    assert!(method(None, 12, None).verify(&region, &watch).unwrap().is_some());
    assert_eq!(watch.seen(), region.numbers());
    let watch = Until::new(1 << 20);
    assert!(method(None, 12, None).verify(&region, &watch).unwrap().is_none());
}

#[test]
#[ignore = "a measurement"]
fn speed() {
    for d in 9..=15 {
        // 2^12 values h of each residue of 24 bits.
        let region = Region::interval(1 << 64, (1 << 64) + (1 << 36)).unwrap();
        let mut method = method(Some(24), d, None);
        let begun = std::time::Instant::now();
        let found = verified(&mut method, &region);
        let seconds = begun.elapsed().as_secs_f64();
        println!(
            "d = {d}: {:.3e} numbers/s, {:.3e} walked/s, {:.3} steps each",
            found.numbers as f64 / seconds,
            found.walked as f64 / seconds,
            found.checksum as f64 / found.walked as f64,
        );
    }
}
