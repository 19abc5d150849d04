//! Tests of divisions, greatest common divisors, roots and powers: widths and counts of results,
//! and refused arguments. Other tests compare the results with GMP.

use warpint_integer::{Executor, Flags, IntegerError, UintBatch, Width};

fn width(bits: u32) -> Width {
    Width::new(bits).unwrap()
}

/// Returns a batch of `count` numbers of `bits` bits, each of which is 7.
fn sevens(count: usize, bits: u32) -> UintBatch {
    let limbs = bits as usize / 32;
    let numbers = (0..count * limbs).map(|j| if j % limbs == 0 { 7 } else { 0 }).collect();
    UintBatch::from_vec(&Executor::cpu(), width(bits), numbers).unwrap()
}

#[test]
fn results_are_as_wide_as_is_said() {
    let (a, b, m) = (sevens(3, 160), sevens(3, 64), sevens(1, 96));
    let ((q, r), zeros) = a.div_rem(&b).unwrap();
    assert_eq!((q.bits(), r.bits(), zeros.len()), (160, 64, 3));
    assert_eq!((a.div(&b).unwrap().0.bits(), a.rem(&b).unwrap().0.bits()), (160, 64));
    assert_eq!(b.div_exact(&a).unwrap().0.bits(), 64);
    assert_eq!((a.gcd(&b).unwrap().bits(), b.gcd(&a).unwrap().bits()), (160, 160));
    let ext = a.gcd_ext(&b).unwrap();
    assert_eq!((ext.gcd.bits(), ext.x.bits(), ext.y.bits()), (160, 64, 160));
    assert_eq!(b.mod_inv(&a).unwrap().0.bits(), 160);
    let (root, rem) = a.sqrt_rem().unwrap();
    assert_eq!((root.bits(), rem.bits()), (96, 128));
    let (power, flags) = a.pow_mod(&b, &m).unwrap();
    assert_eq!((power.bits(), power.count(), flags.len()), (96, 3, 3));
    let (product, _) = m.mul_mod(&m, &b).unwrap();
    assert_eq!((product.bits(), product.count()), (64, 3));
}

/// Tests division and square root of a product that is wider than the largest factor.
#[test]
fn products_of_the_widest_factors() {
    let a = sevens(1, 1 << 20).not().unwrap();
    let square = a.square().unwrap();
    let (q, inexact) = square.div_exact(&a).unwrap();
    assert!(!inexact.any().unwrap());
    let same = |x: &UintBatch| x.compare(&a).unwrap() == [std::cmp::Ordering::Equal];
    assert!(same(&q));
    let (root, rem) = square.sqrt_rem().unwrap();
    assert!(same(&root));
    assert_eq!(rem.bit_lengths().unwrap(), [0]);
}

#[test]
fn no_numbers_at_all() {
    let (none, one) = (sevens(0, 64), sevens(1, 32));
    for (a, b) in [(&none, &one), (&one, &none), (&none, &none)] {
        let ((q, r), zeros) = a.div_rem(b).unwrap();
        assert_eq!((q.count(), r.count(), zeros.len()), (0, 0, 0));
        assert_eq!(a.div_exact(b).unwrap().0.count(), 0);
        assert_eq!(a.gcd(b).unwrap().count(), 0);
        assert_eq!(a.gcd_ext(b).unwrap().x.count(), 0);
        assert_eq!(a.mod_inv(b).unwrap().0.count(), 0);
        assert_eq!(a.mul_mod(&one, b).unwrap().0.count(), 0);
        assert_eq!(one.pow_mod(a, b).unwrap().0.count(), 0);
    }
    assert_eq!(none.sqrt_rem().unwrap().1.count(), 0);
}

#[test]
fn what_cannot_be_is_refused() {
    let (two, three, one) = (sevens(2, 64), sevens(3, 64), sevens(1, 64));
    let counts = |error: Option<IntegerError>| match error {
        Some(IntegerError::Counts { a, b }) => (a, b),
        other => panic!("{other:?}"),
    };
    assert_eq!(counts(two.div_rem(&three).err()), (2, 3));
    assert_eq!(counts(two.gcd(&three).err()), (2, 3));
    assert_eq!(counts(two.mod_inv(&three).err()), (2, 3));
    assert_eq!(counts(one.pow_mod(&two, &three).err()), (2, 3));
    assert_eq!(counts(two.pow_mod(&one, &three).err()), (2, 3));
    assert_eq!(counts(two.mul_mod(&three, &one).err()), (2, 3));

    let (mut q, mut r) = (sevens(2, 64), sevens(2, 32));
    let mut flags = Flags::zeros(&Executor::cpu(), 2).unwrap();
    let into = two.div_rem_into(&one, &mut q, &mut r, &mut flags);
    assert!(matches!(into, Err(IntegerError::Output { .. })));
    let mut few = Flags::zeros(&Executor::cpu(), 1).unwrap();
    let mut r = sevens(2, 64);
    let into = two.div_rem_into(&one, &mut q, &mut r, &mut few);
    assert!(matches!(into, Err(IntegerError::Counts { .. })));
    two.div_rem_into(&one, &mut q, &mut r, &mut flags).unwrap();
    assert_eq!(q.to_limbs_u64().unwrap(), [1, 1]);
    assert_eq!(r.to_limbs_u64().unwrap(), [0, 0]);
}
