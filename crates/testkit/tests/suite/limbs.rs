//! Compares the functions of [`limbs`], and the type [`Residue`], which uses these functions, with
//! GMP.

use std::cmp::Ordering;

use proptest::collection::vec;
use proptest::prelude::*;
use rug::Integer;
use rug::integer::Order;
use rug::ops::Pow;
use warpint_mersenne::Residue;
use warpint_natural::limbs;
use warpint_testkit::gmp::{self, mersenne};

fn integer(x: &[u64]) -> Integer {
    Integer::from_digits(x, Order::Lsf)
}

/// Returns a strategy for limbs that are random, or are one of 0, 1, 2^63 and 2^64 − 1, which cause
/// long carries.
fn limb() -> impl Strategy<Value = u64> {
    prop_oneof![any::<u64>(), Just(0), Just(u64::MAX), Just(1), Just(1 << 63)]
}

fn number(most: usize) -> impl Strategy<Value = Vec<u64>> {
    vec(limb(), 1..=most)
}

/// Returns a strategy for an exponent p < 1,500 and two residues modulo M_p.
fn residues() -> impl Strategy<Value = (u32, Residue, Residue)> {
    (2u32..1_500, number(24), number(24))
        .prop_map(|(p, x, y)| (p, Residue::from_limbs(p, &x), Residue::from_limbs(p, &y)))
}

proptest! {
    #[test]
    fn sums_and_differences(a in number(20), b in number(20)) {
        let (a, b) = if a.len() >= b.len() { (a, b) } else { (b, a) };
        let modulus = Integer::from(1) << (64 * a.len() as u32);
        let mut sum = a.clone();
        let carry = limbs::add_assign(&mut sum, &b);
        prop_assert_eq!(integer(&sum) + Integer::from(carry) * &modulus, integer(&a) + integer(&b));
        let mut difference = a.clone();
        let borrow = limbs::sub_assign(&mut difference, &b);
        prop_assert_eq!(
            integer(&difference) - Integer::from(borrow) * &modulus,
            integer(&a) - integer(&b)
        );
    }

    #[test]
    fn comparison(a in number(4), b in number(4)) {
        prop_assert_eq!(limbs::compare(&a, &b), integer(&a).cmp(&integer(&b)));
        let mut longer = a.clone();
        longer.push(0);
        prop_assert_eq!(limbs::compare(&a, &longer), Ordering::Equal);
    }

    #[test]
    fn products(a in number(40), b in number(40)) {
        let product = limbs::mul(&a, &b);
        prop_assert_eq!(product.len(), a.len() + b.len());
        prop_assert_eq!(integer(&product), integer(&a) * integer(&b));
    }

    #[test]
    fn words(a in number(20), m in limb(), d in limb().prop_filter("divisor", |&d| d > 0)) {
        let mut product = a.clone();
        let high = limbs::mul_small_assign(&mut product, m);
        product.push(high);
        prop_assert_eq!(integer(&product), integer(&a) * m);

        let mut quotient = a.clone();
        let rest = limbs::div_rem_small(&mut quotient, d);
        prop_assert_eq!(limbs::rem_small(&a, d), rest);
        prop_assert!(rest < d);
        prop_assert_eq!(integer(&quotient) * d + rest, integer(&a));
    }

    #[test]
    fn common_divisors(a in number(12), b in number(12), c in number(4)) {
        let (a, b) = (limbs::mul(&a, &c), limbs::mul(&b, &c));
        prop_assert_eq!(integer(&limbs::gcd(&a, &b)), integer(&a).gcd(&integer(&b)));
        prop_assert_eq!(integer(&limbs::gcd(&a, &[])), integer(&a));
    }

    #[test]
    fn inverses(a in number(8), m in number(8)) {
        let want = match integer(&m) {
            m if m == 0 => None,
            m if m == 1 => Some(Integer::new()),
            m => integer(&a).invert(&m).ok(),
        };
        prop_assert_eq!(limbs::inverse(&a, &m).map(|x| integer(&x)), want);
    }

    #[test]
    fn powers(a in number(5), e in number(2), m in number(5)) {
        let want = (integer(&m) != 0)
            .then(|| integer(&a).pow_mod(&integer(&e), &integer(&m)).unwrap());
        prop_assert_eq!(limbs::pow_mod(&a, &e, &m).map(|x| integer(&x)), want);
    }

    #[test]
    fn roots(a in number(5), k in 1u32..70) {
        prop_assert_eq!(integer(&limbs::root(&a, k)), integer(&a).root(k));
        let power = integer(&a[..1]).pow(k.min(6));
        for near in [power.clone() - 1u32, power.clone(), power + 1u32] {
            if near >= 0 {
                let got = limbs::root(&near.to_digits(Order::Lsf), k.min(6));
                prop_assert_eq!(integer(&got), near.root(k.min(6)));
            }
        }
    }

    #[test]
    fn square_roots(a in number(9), s in number(4)) {
        let square = limbs::mul(&s, &s);
        let (mut below, mut above) = (square.clone(), square.clone());
        above.push(0);
        limbs::add_assign(&mut above, &[1]);
        limbs::sub_assign(&mut below, &[1]);
        for x in [a, square, below, above] {
            prop_assert_eq!(integer(&limbs::sqrt(&x)), integer(&x).sqrt());
        }
    }

    #[test]
    fn reduction(p in 2u32..1_500, x in number(60)) {
        prop_assert_eq!(integer(&limbs::reduce(&x, p)), integer(&x).modulo(&mersenne(p)));
    }

    #[test]
    fn arithmetic_mod_m_p((p, x, y) in residues()) {
        let (a, b) = (gmp::integer(&x), gmp::integer(&y));
        let (x, y) = (x.limbs(), y.limbs());
        let m = mersenne(p);
        let expect = |v: Integer| v.modulo(&m);
        prop_assert_eq!(integer(&limbs::add_mod(x, y, p)), expect(Integer::from(&a + &b)));
        prop_assert_eq!(integer(&limbs::sub_mod(x, y, p)), expect(Integer::from(&a - &b)));
        prop_assert_eq!(integer(&limbs::mul_mod(x, y, p)), expect(Integer::from(&a * &b)));
    }

    #[test]
    fn rotations((p, x, _) in residues(), s in any::<u32>()) {
        let shifted = (gmp::integer(&x) << (s % p)).modulo(&mersenne(p));
        prop_assert_eq!(gmp::integer(&x.rotated_left(s)), shifted);
        prop_assert_eq!(x.rotated_left(s % p).rotated_right(s % p), x);
    }

    #[test]
    fn division_by_a_small_number((p, x, _) in residues(), d in 1u32..100) {
        let m = mersenne(p);
        let inverse = Integer::from(d).invert(&m).ok();
        let expected = inverse.map(|i| (gmp::integer(&x) * i).modulo(&m));
        prop_assert_eq!(x.divided_by(d).map(|q| gmp::integer(&q)), expected);
    }
}
