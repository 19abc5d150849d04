//! Compares greatest common divisors, their cofactors, and inverses with GMP.

use rug::Integer;
use warpint_integer::{Executor, UintBatch};

use super::check::{Numbers, equal, rows_of, width};
use super::patterns::{self, drawn, pairs, rng};

/// Tests the gcd, cofactors and inverses for every pair of a special number of `a` limbs and a
/// special number of `b` limbs ([`patterns::rows`]).
pub(crate) fn patterns(executor: &Executor, a: usize, b: usize) {
    let mut rng = rng((7000 * a + b) as u64);
    let (x, y) = pairs(&patterns::rows(a, &mut rng), &patterns::rows(b, &mut rng));
    all(&Numbers::new(executor, a, &x), &Numbers::new(executor, b, &y));
}

/// Tests the gcd, cofactors and inverses of `count` pairs of numbers of random lengths, up to `a`
/// and up to `b` limbs, then of `count` such pairs with a common factor.
pub(crate) fn random(executor: &Executor, a: usize, b: usize, count: usize) {
    let mut rng = rng((6000 * a + b) as u64);
    let x = Numbers::new(executor, a, &drawn(a, a, count, &mut rng));
    let y = Numbers::new(executor, b, &drawn(b, b, count, &mut rng));
    all(&x, &y);
    let half = a.min(b).div_ceil(2);
    let common = Numbers::new(executor, half, &drawn(half, half, count, &mut rng));
    // Numbers that are too long lose their highest bits.
    let multiples = |numbers: &Numbers, limbs: usize| {
        let products = numbers.gmp.iter().zip(&common.gmp).map(|(x, c)| {
            let room = (32 * limbs as u32).saturating_sub(c.significant_bits());
            Integer::from(x.keep_bits_ref(room)) * c
        });
        Numbers::new(executor, limbs, &rows_of(limbs, products).concat())
    };
    all(&multiples(&x, a), &multiples(&y, b));
}

/// Tests the gcd, cofactors and inverses of pairs of a number of up to `a` limbs and a number of
/// `b` limbs. All pairs share the second number; then, with the numbers of each pair exchanged, the
/// first number.
pub(crate) fn broadcast(executor: &Executor, a: usize, b: usize) {
    let mut rng = rng((a + 83 * b) as u64);
    let many = Numbers::new(executor, a, &drawn(a, a, 30, &mut rng));
    for one in patterns::rows(b, &mut rng) {
        let one = Numbers::new(executor, b, &one);
        let limbs = one.batch.to_limbs().unwrap();
        let repeated = Numbers {
            batch: UintBatch::from_limbs(executor, width(b), &limbs).unwrap(),
            gmp: vec![one.gmp[0].clone(); many.gmp.len()],
        };
        all(&many, &repeated);
        all(&repeated, &many);
    }
}

/// Tests pairs for which Euclid's algorithm takes the most or the fewest steps: consecutive
/// Fibonacci numbers, their products by a power of two, these products with 1 added to one of them,
/// equal numbers, multiples, neighbours, powers of two, and pairs 2^j − 1, 2^k − 1.
pub(crate) fn chosen(executor: &Executor, limbs: usize) {
    let bits = 32 * limbs as u32;
    let one = Integer::from(1);
    let power = |k: u32| Integer::from(&one << k);
    // F_n < 2^(0.6943·n).
    let index = (f64::from(bits) / 0.6943) as u32;
    let mut found = vec![];
    for n in [index, index / 2, index / 3] {
        let (mut f, mut before) = (Integer::new(), Integer::new());
        rug::Assign::assign(&mut f, Integer::fibonacci(n));
        rug::Assign::assign(&mut before, Integer::fibonacci(n.saturating_sub(1)));
        let room = power(bits.saturating_sub(f.significant_bits()).saturating_sub(1) / 2);
        found.push((Integer::from(&f * &room) + 1u32, Integer::from(&before * &room)));
        found.push((Integer::from(&f * &room), Integer::from(&before * &room)));
        found.push((before, f));
    }
    let ones = power(bits) - 1u32;
    found.push((ones.clone(), ones.clone()));
    found.push((ones.clone(), Integer::from(&ones - 1u32)));
    found.push((ones.clone(), Integer::from(&ones / 3u32)));
    found.push((ones.clone(), Integer::from(&ones / 3u32) * 2u32));
    found.push((Integer::from(&ones / 5u32) * 2u32, Integer::from(&ones / 5u32) * 3u32));
    for (j, k) in [(bits - 1, bits / 2), (bits / 3, bits - 7), (bits - 1, bits - 1)] {
        found.push((power(j), power(k)));
        found.push((power(j), power(k) - 1u32));
        found.push((power(j) - 1u32, power(k) - 1u32));
        found.push((power(j) + 1u32, power(k) - 1u32));
    }
    for small in [0u32, 1, 2, 3] {
        found.push((Integer::from(small), ones.clone()));
        found.push((ones.clone(), Integer::from(small)));
        found.push((Integer::from(small), Integer::from(2)));
        found.push((Integer::from(small), Integer::new()));
    }
    let (a, b): (Vec<Integer>, Vec<Integer>) = found.into_iter().unzip();
    all(
        &Numbers::new(executor, limbs, &rows_of(limbs, a).concat()),
        &Numbers::new(executor, limbs, &rows_of(limbs, b).concat()),
    );
}

fn all(a: &Numbers, b: &Numbers) {
    let (n, m) = (a.batch.width().limbs(), b.batch.width().limbs());
    let zip = || a.gmp.iter().zip(&b.gmp);
    let gcds: Vec<Integer> = zip().map(|(a, b)| Integer::from(a.gcd_ref(b))).collect();
    equal("gcd", &a.batch.gcd(&b.batch).unwrap(), n.max(m), gcds.iter().cloned());

    let ext = a.batch.gcd_ext(&b.batch).unwrap();
    equal("gcd with cofactors", &ext.gcd, n.max(m), gcds.iter().cloned());
    // The smallest x, computed from GMP's.
    let cofactors = zip().zip(&gcds).map(|((a, b), g)| {
        if *b == 0 {
            return (Integer::from(*a != 0), Integer::new());
        }
        let (_, x, _) = a.clone().extended_gcd(b.clone(), Integer::new());
        let beta = Integer::from(b / g);
        let mut x = x.modulo(&beta);
        if Integer::from(&x * 2) > beta {
            x -= &beta;
        }
        let y = (g - Integer::from(&x * a)) / b;
        assert!(Integer::from(&x * a) + Integer::from(&y * b) == *g);
        (x, y)
    });
    let (x, y): (Vec<Integer>, Vec<Integer>) = cofactors.unzip();
    let signs = |x: &[Integer]| x.iter().map(|x| u8::from(x.is_negative())).collect::<Vec<_>>();
    equal("|x|", &ext.x, m, x.iter().map(|x| x.clone().abs()));
    equal("|y|", &ext.y, n, y.iter().map(|y| y.clone().abs()));
    assert_eq!(ext.x_negative.to_vec().unwrap(), signs(&x), "sign of x");
    assert_eq!(ext.y_negative.to_vec().unwrap(), signs(&y), "sign of y");

    let inverses: Vec<Option<Integer>> = zip()
        .map(|(a, m)| match m {
            m if *m == 0 => None,
            m if *m == 1 => Some(Integer::new()),
            m => a.clone().invert(m).ok(),
        })
        .collect();
    let (got, none) = a.batch.mod_inv(&b.batch).unwrap();
    equal("inverse", &got, m, inverses.iter().map(|x| x.clone().unwrap_or_default()));
    let want: Vec<u8> = inverses.iter().map(|x| u8::from(x.is_none())).collect();
    assert_eq!(none.to_vec().unwrap(), want, "no inverse");
}
