//! Compares the arithmetic of the fields with 128-bit integers and with division bit by bit, and
//! their roots of unity with published numbers.

use proptest::prelude::*;

use super::known::{BLS12_377_BASE, BLS12_381_SCALAR, BN254_SCALAR, full};
use super::*;
use crate::limbs::{self, oracle};
use crate::primes;

fn reduced<const L: usize>(x: &[u64], field: &PrimeField<L>) -> [u64; L] {
    let rest = oracle::rem(x, field.modulus());
    std::array::from_fn(|i| rest.get(i).copied().unwrap_or(0))
}

/// Returns 0, p − 1, p − 2, ⌊p/2⌋, all powers 2^(16i) below p, and (R − 1) mod p, where R =
/// 2^(64·L).
fn corners<const L: usize>(field: &PrimeField<L>) -> Vec<[u64; L]> {
    let p = field.modulus();
    let mut all = vec![[0; L], words::less(p, 1), words::less(p, 2), words::shifted_right(p, 1)];
    let powers = (0..64 * L as u32).step_by(16).map(|bit| {
        let mut x = [0; L];
        x[bit as usize / 64] = 1 << (bit % 64);
        x
    });
    all.extend(powers.filter(|x| words::is_less(x, p)));
    all.push(reduced(&[u64::MAX; L], field));
    all
}

fn check<const L: usize>(field: &PrimeField<L>, a: &[u64; L], b: &[u64; L]) {
    let p = field.modulus();
    let (x, y) = (field.element(a).unwrap(), field.element(b).unwrap());
    let integer = |x| field.integer(&x);
    assert_eq!(integer(x), *a);
    assert_eq!(integer(field.mul(&x, &y)), reduced(&oracle::mul(a, b), field), "{a:x?}·{b:x?}");
    let mut sum = a.to_vec();
    sum.push(0);
    limbs::add_assign(&mut sum, b);
    assert_eq!(integer(field.add(&x, &y)), reduced(&sum, field), "{a:x?} + {b:x?}");
    let mut difference = a.to_vec();
    difference.push(0);
    limbs::add_assign(&mut difference, p);
    limbs::sub_assign(&mut difference, b);
    assert_eq!(integer(field.sub(&x, &y)), reduced(&difference, field), "{a:x?} − {b:x?}");
}

fn check_field<const L: usize>(field: &PrimeField<L>, two_adicity: u32) {
    let corners = corners(field);
    for a in &corners {
        corners.iter().for_each(|b| check(field, a, b));
    }
    for a in &corners[..3] {
        let x = field.element(a).unwrap();
        match field.inverse(&x) {
            Some(inverse) => assert_eq!(field.mul(&x, &inverse), field.one()),
            None => assert_eq!(x, field.zero()),
        }
    }
    assert_eq!(field.element(field.modulus()), None);
    assert_eq!(field.two_adicity(), two_adicity);
    assert_eq!(field.root_of_unity(two_adicity + 1), None);
    assert_eq!(field.root_of_unity(0), Some(field.one()));
    assert_eq!(field.root_of_unity(1), Some(field.neg(&field.one())));
    for log2 in 1..=two_adicity {
        let root = field.root_of_unity(log2).unwrap();
        assert_eq!(Some(field.square(&root)), field.root_of_unity(log2 - 1));
    }
}

/// Parses a decimal number. Panics if the number is 2^(64·L) or more.
fn decimal<const L: usize>(digits: &str) -> [u64; L] {
    let mut x = [0; L];
    for digit in digits.bytes() {
        assert_eq!(limbs::mul_small_assign(&mut x, 10), 0);
        assert!(!limbs::add_assign(&mut x, &[u64::from(digit - b'0')]));
    }
    x
}

/// Compares moduli and roots of unity with the constants of the libraries libff
/// (`alt_bn128_Fr::root_of_unity`) and bls12_381 (`ROOT_OF_UNITY`).
#[test]
fn known_fields_have_their_published_moduli_and_roots() {
    let bn254 = BN254_SCALAR.field().unwrap();
    let p = "21888242871839275222246405745257275088548364400416034343698204186575808495617";
    assert_eq!(*bn254.modulus(), decimal(p));
    let root = "19103219067921713944291392827692070036145651957329286315305642004821462161904";
    let found = bn254.root_of_unity(28).unwrap();
    assert_eq!(bn254.integer(&found), decimal(root));
    check_field(&bn254, 28);
    assert_eq!(bn254.bits(), 254);

    let bls = BLS12_381_SCALAR.field().unwrap();
    let p = "52435875175126190479447740508185965837690552500527637822603658699938581184513";
    assert_eq!(*bls.modulus(), decimal(p));
    let root = "10238227357739495823651030575849232062558860180284477541189508159991286009131";
    assert_eq!(bls.integer(&bls.root_of_unity(32).unwrap()), decimal(root));
    check_field(&bls, 32);
    assert_eq!(bls.bits(), 255);

    let base = BLS12_377_BASE.field().unwrap();
    check_field(&base, 46);
    assert_eq!(base.bits(), 377);
}

#[test]
fn fields_of_all_sizes() {
    fn of<const L: usize>() {
        check_field(&PrimeField::new(full::<L>().unwrap()).unwrap(), 20);
    }
    of::<1>();
    of::<2>();
    of::<3>();
    of::<5>();
    of::<6>();
    of::<8>();
    for (p, two_adicity) in [(3, 1), (5, 2), (17, 4), (0xffff_ffff_0000_0001, 32)] {
        check_field(&PrimeField::new([p]).unwrap(), two_adicity);
    }
    // A modulus with more words than it needs.
    check_field(&PrimeField::new([65_537, 0, 0]).unwrap(), 16);
}

#[test]
fn moduli_that_are_not_odd_primes_have_no_field() {
    for n in 0..2000 {
        let is_odd_prime = n % 2 == 1 && primes::is_prime(n);
        assert_eq!(PrimeField::new([n]).is_ok(), is_odd_prime, "{n}");
        assert_eq!(PrimeField::new([n, 0]).is_ok(), is_odd_prime, "{n}");
    }
    for n in [2047, 1_373_653, 25_326_001, 3_215_031_751, 341_550_071_728_321, u64::MAX] {
        assert_eq!(PrimeField::new([n]), Err(NoField::NotPrime));
    }
    assert_eq!(PrimeField::<0>::new([]), Err(NoField::Words(0)));
    assert_eq!(PrimeField::new([u64::MAX; 65]), Err(NoField::Words(65)));
    // (2^61 − 1)².
    let square: [u64; 2] = oracle::mul(&[(1 << 61) - 1], &[(1 << 61) - 1]).try_into().unwrap();
    assert_eq!(PrimeField::new(square), Err(NoField::NotPrime));
    assert_eq!(PrimeField::with_non_residue([17], 4), Err(NoField::Square(4)));
    assert_eq!(PrimeField::with_non_residue([17], 17), Err(NoField::Square(17)));
}

proptest! {
    #[test]
    fn sums_and_products(a: [u64; 4], b: [u64; 4]) {
        for field in [BN254_SCALAR.field().unwrap(), PrimeField::new(full().unwrap()).unwrap()] {
            check(&field, &reduced(&a, &field), &reduced(&b, &field));
        }
    }

    #[test]
    fn products_of_one_word(a: u64, b: u64) {
        let p = full::<1>().unwrap();
        let field = PrimeField::new(p).unwrap();
        let product = field.mul(&field.from_u64(a), &field.from_u64(b));
        prop_assert_eq!(field.integer(&product), [primes::mul_mod(a, b, p[0])]);
    }
}
