//! Evidence against what the methods do, and what is refused.

use super::*;
use crate::sieve::{CpuSieve, Looking, Rules, Shape, Sieve, Step};
use crate::table::{TableMethod, TableOptions};
use crate::walk::Walker;
use crate::{Region, Unwatched, Verifier};

fn regions() -> Vec<Region> {
    let class = |bits, low_bits, residue| Region::class(bits, low_bits, residue).unwrap();
    let interval = |from, to| Region::interval(from, to).unwrap();
    vec![
        interval(1 << 20, 1 << 21),
        interval((5 << 68) - 12_345, (5 << 68) + (1 << 17) + 77),
        interval(0, (1 << 20) + (1 << 17)),
        class(26, 9, 255),
        class(71, 53, (1 << 52) - 1),
        class(40, 21, 4),
    ]
}

fn shapes() -> [Shape; 3] {
    let shape = |look, step, rules| Shape {
        rules,
        look: Looking::new(look),
        step: Step::new(step).unwrap(),
    };
    let rules = Rules::default();
    [
        shape(12, 12, rules),
        shape(16, 8, Rules { preimages: false, mod_9: false, ..rules }),
        shape(10, 13, Rules { runs: false, ..rules }),
    ]
}

/// What all items of a region add, and what belongs to none.
fn all(method: &dyn Verifier, region: &Region) -> (u128, Share) {
    let (name, version, parameters) =
        (method.method().name(), method.version(), method.parameters());
    let items = Items::of(name, version, &parameters, region).unwrap().unwrap();
    let mut sum = items.besides().unwrap();
    (0..items.count()).for_each(|i| sum.add(items.share(i).unwrap()));
    assert!(items.share(items.count()).is_none());
    (items.count(), sum)
}

#[test]
fn the_items_of_the_sieve_add_up_to_its_walks() {
    for region in regions() {
        for shape in shapes() {
            let mut sieve = Sieve { shape, ..Sieve::new(CpuSieve::default()) };
            let verified = sieve.verify(&region, &Unwatched).unwrap().unwrap();
            let (_, sum) = all(&sieve, &region);
            let expected = Share { walked: verified.walked, checksum: verified.checksum };
            assert_eq!(sum, expected, "{region} {shape:?}");
        }
    }
}

#[test]
fn the_items_of_the_table_method_are_its_walks() {
    for region in regions().into_iter().take(4) {
        for (s, d, words) in [(None, 12, None), (Some(8), 8, Some(2)), (Some(12), 5, Some(4))] {
            let options = TableOptions {
                sieve_bits: s,
                table_bits: Some(d),
                words,
                walker: Walker::default(),
            };
            let mut table = TableMethod::new(options).unwrap();
            let Ok(verified) = table.verify(&region, &Unwatched) else { continue };
            let verified = verified.unwrap();
            let (count, sum) = all(&table, &region);
            let expected = Share { walked: verified.walked, checksum: verified.checksum };
            assert_eq!((count, sum), (verified.walked.into(), expected), "{region} {s:?} {d}");
        }
    }
}
