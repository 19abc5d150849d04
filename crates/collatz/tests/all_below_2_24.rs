//! Tests for all numbers below 2^24: every method verifies them, and their delays and the highest
//! value on their paths agree with a plain loop.

use warpint_collatz::delay::{Delays, Host};
use warpint_collatz::sieve::{CpuSieve, Sieve};
use warpint_collatz::table::{TableMethod, TableOptions};
use warpint_collatz::{Plain, Region, Unwatched, Verifier};

const END: u32 = 1 << 24;

/// Returns the pair (delay, maximum under n/2 and 3n + 1) of every number below [`END`], in
/// ascending order of the numbers. Each path is followed down to a smaller number, whose delay and
/// maximum are already known.
fn plain() -> Vec<(u16, u64)> {
    let mut known = vec![(0u16, 0u64), (0, 1)];
    for n in 2..u64::from(END) {
        let (mut x, mut delay, mut maximum) = (n, 0, n);
        while x >= n {
            if x % 2 == 1 {
                x = 3 * x + 1;
                maximum = maximum.max(x);
                x /= 2;
                delay += 2;
            } else {
                x /= 2;
                delay += 1;
            }
        }
        let (rest, above) = known[x as usize];
        known.push((delay + rest, maximum.max(above)));
    }
    known
}

#[test]
fn methods_and_delays_agree_with_the_plain_loop() {
    let plain = plain();
    let mut delays = vec![0; END as usize - 1];
    Host::default().fill(1, &mut delays).unwrap();
    for (n, &delay) in (1..).zip(&delays) {
        assert_eq!(delay, u32::from(plain[n].0), "{n}");
    }

    // The highest value of all paths is on the path of the last record, before that path falls
    // below its start.
    let (start, highest) = (1..END as usize)
        .map(|n| (n, plain[n].1))
        .max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(&a.0)))
        .unwrap();
    let region = Region::interval(0, END.into()).unwrap();
    let found = Plain::default().verify(&region, &Unwatched).unwrap().unwrap();
    let found = found.highest.map(|highest| (highest.start, highest.value));
    assert_eq!(found, Some((start as u128, highest.into())));

    let table = TableMethod::new(TableOptions::default()).unwrap();
    let methods: [Box<dyn Verifier>; 3] =
        [Box::new(Plain::default()), Box::new(Sieve::new(CpuSieve::default())), Box::new(table)];
    for mut method in methods {
        let verified = method.verify(&region, &Unwatched).unwrap().unwrap();
        let name = method.method().name();
        assert_eq!(verified.numbers, region.numbers(), "{name}");
        assert_eq!(verified.unresolved, [], "{name}");
    }
}
