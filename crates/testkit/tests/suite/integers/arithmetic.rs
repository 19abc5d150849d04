//! Compares sums, differences and products of batches with GMP.

use rug::Integer;
use warpint_integer::{Executor, Flags, UintBatch};

use super::check::{Numbers, equal, width};
use super::patterns::{self, pairs, rng};

/// Tests sums, products and squares of numbers of `limbs` limbs, for every pair of numbers in
/// [`patterns::rows`].
pub(crate) fn equal_widths(executor: &Executor, limbs: usize) {
    let rows = patterns::rows(limbs, &mut rng(limbs as u64));
    let (x, y) = pairs(&rows, &rows);
    let (a, b) = (Numbers::new(executor, limbs, &x), Numbers::new(executor, limbs, &y));
    sums(&a, &b);
    products(&a, &b);
    squares(&a);
    in_place(executor, &a, &b);
}

/// Tests sums and products of numbers of `a` limbs with numbers of `b` limbs, for every pair of
/// numbers in [`patterns::rows`].
pub(crate) fn two_widths(executor: &Executor, a: usize, b: usize) {
    let mut rng = rng((1000 * a + b) as u64);
    let (x, y) = pairs(&patterns::rows(a, &mut rng), &patterns::rows(b, &mut rng));
    let (a, b) = (Numbers::new(executor, a, &x), Numbers::new(executor, b, &y));
    sums(&a, &b);
    products(&a, &b);
    if a.batch.width() >= b.batch.width() {
        in_place(executor, &a, &b);
    }
}

/// Tests sums, products and squares with each number of [`patterns::rows`] in one pair only. This
/// is for widths at which all pairs would take too long, even with GMP.
pub(crate) fn a_few(executor: &Executor, a: usize, b: usize) {
    let mut rng = rng((100_000 * a + b) as u64);
    let (mut x, y) = (patterns::rows(a, &mut rng), patterns::rows(b, &mut rng).concat());
    // All ones are paired with all ones, then each pattern with another.
    x[2..].rotate_left(1);
    let (a, b) = (Numbers::new(executor, a, &x.concat()), Numbers::new(executor, b, &y));
    sums(&a, &b);
    products(&a, &b);
    squares(&a);
}

/// Tests the product of two random numbers of `limbs` limbs, and the product of two numbers whose
/// bits are all 1. Also tests the squares of the second factors.
pub(crate) fn products_once(executor: &Executor, limbs: usize) {
    let rows = patterns::rows(limbs, &mut rng(7));
    let ones = vec![u32::MAX; limbs];
    let (x, y) = ([&rows[9][..], &ones].concat(), [&rows[10][..], &ones].concat());
    let (a, b) = (Numbers::new(executor, limbs, &x), Numbers::new(executor, limbs, &y));
    products(&a, &b);
    squares(&b);
}

/// Tests sums and products in which a single number of `b` limbs is combined with every number of a
/// batch, of `a` limbs each, as the first and as the second operand.
pub(crate) fn broadcast(executor: &Executor, a: usize, b: usize) {
    let mut rng = rng((a + 77 * b) as u64);
    let many = patterns::rows(a, &mut rng).concat();
    for one in patterns::rows(b, &mut rng) {
        let single = Numbers::new(executor, b, &one);
        let many = Numbers::new(executor, a, &many);
        let repeated = Numbers {
            batch: UintBatch::from_limbs(executor, width(b), &one).unwrap(),
            gmp: vec![single.gmp[0].clone(); many.gmp.len()],
        };
        sums(&many, &repeated);
        sums(&repeated, &many);
        products(&many, &repeated);
        products(&repeated, &many);
        if a >= b {
            in_place(executor, &many, &repeated);
        }
    }
}

fn zip<'a>(
    a: &'a Numbers,
    b: &'a Numbers,
    f: impl Fn(&Integer, &Integer) -> Integer + 'a,
) -> impl Iterator<Item = Integer> + 'a {
    a.gmp.iter().zip(&b.gmp).map(move |(a, b)| f(a, b))
}

fn flags(want: impl Iterator<Item = bool>, got: &Flags) {
    let want: Vec<u8> = want.map(u8::from).collect();
    assert_eq!(got.to_vec().unwrap(), want, "flags");
    assert_eq!(got.count().unwrap(), want.iter().filter(|&&f| f == 1).count());
    assert_eq!(got.any().unwrap(), want.contains(&1));
}

fn sums(a: &Numbers, b: &Numbers) {
    let limbs = a.batch.width().max(b.batch.width()).limbs();
    let bits = 32 * limbs as u32;
    let count = a.gmp.len();
    let executor = a.batch.executor();

    let (sum, carries) = a.batch.add(&b.batch).unwrap();
    let add = |a: &Integer, b: &Integer| Integer::from(a + b);
    equal("a + b", &sum, limbs, zip(a, b, |x, y| add(x, y).keep_bits(bits)));
    flags(zip(a, b, add).map(|s| s.significant_bits() > bits), &carries);
    equal("wrapping a + b", &a.batch.wrapping_add(&b.batch).unwrap(), limbs, {
        zip(a, b, |x, y| add(x, y).keep_bits(bits))
    });

    // Exact with one limb more; a width below that of an operand changes nothing.
    let exact = a.batch.add_to_width(&b.batch, width(limbs + 1)).unwrap();
    equal("exact a + b", &exact, limbs + 1, zip(a, b, add));
    let narrow = a.batch.add_to_width(&b.batch, width(1)).unwrap();
    assert_eq!(narrow.to_limbs().unwrap(), sum.to_limbs().unwrap(), "a + b of a small width");

    let (difference, borrows) = a.batch.sub(&b.batch).unwrap();
    let sub = |a: &Integer, b: &Integer| Integer::from(a - b);
    equal("a - b", &difference, limbs, zip(a, b, |x, y| sub(x, y).keep_bits(bits)));
    flags(zip(a, b, sub).map(|d| d.is_negative()), &borrows);
    equal("wrapping a - b", &a.batch.wrapping_sub(&b.batch).unwrap(), limbs, {
        zip(a, b, |x, y| sub(x, y).keep_bits(bits))
    });

    // The destination batches and flags hold other values before the call.
    let (mut into, mut carry) = (difference, borrows);
    a.batch.add_into(&b.batch, &mut into, Some(&mut carry)).unwrap();
    assert_eq!(into.to_limbs().unwrap(), sum.to_limbs().unwrap());
    assert_eq!(carry.to_vec().unwrap(), carries.to_vec().unwrap());
    let mut borrow = Flags::zeros(executor, count).unwrap();
    a.batch.sub_into(&b.batch, &mut into, Some(&mut borrow)).unwrap();
    equal("a - b into", &into, limbs, zip(a, b, |x, y| sub(x, y).keep_bits(bits)));
    flags(zip(a, b, sub).map(|d| d.is_negative()), &borrow);
}

fn products(a: &Numbers, b: &Numbers) {
    let (x, y) = (a.batch.width().limbs(), b.batch.width().limbs());
    let (most, least) = (x.max(y), x.min(y));
    let split = 32 * most as u32;
    let mul = |a: &Integer, b: &Integer| Integer::from(a * b);
    let whole = a.batch.mul(&b.batch).unwrap();
    let gmp: Vec<Integer> = zip(a, b, mul).collect();
    equal("a * b", &whole, x + y, gmp.iter().cloned());
    let low = a.batch.mul_low(&b.batch).unwrap();
    let keep = |p: &Integer| p.clone().keep_bits(split);
    equal("a * b, low", &low, most, gmp.iter().map(keep));
    let high = a.batch.mul_high(&b.batch).unwrap();
    equal("a * b, high", &high, least, gmp.iter().map(|p| Integer::from(p >> split)));

    let mut into = whole;
    drop(into.add_assign(&one_of(a.batch.executor())).unwrap());
    a.batch.mul_into(&b.batch, &mut into).unwrap();
    equal("a * b into", &into, x + y, gmp.iter().cloned());
    let mut into = low;
    b.batch.mul_low_into(&a.batch, &mut into).unwrap();
    equal("b * a, low, into", &into, most, gmp.iter().map(keep));
    let mut into = high;
    b.batch.mul_high_into(&a.batch, &mut into).unwrap();
    equal("b * a, high, into", &into, least, gmp.iter().map(|p| Integer::from(p >> split)));
}

/// Returns a batch with the single number 1.
fn one_of(executor: &Executor) -> UintBatch {
    UintBatch::from_limbs(executor, width(1), &[1]).unwrap()
}

fn squares(a: &Numbers) {
    let limbs = a.batch.width().limbs();
    let bits = 32 * limbs as u32;
    let gmp: Vec<Integer> = a.gmp.iter().map(|x| Integer::from(x.square_ref())).collect();
    let mut whole = a.batch.square().unwrap();
    equal("a²", &whole, 2 * limbs, gmp.iter().cloned());
    a.batch.square_into(&mut whole).unwrap();
    equal("a² into", &whole, 2 * limbs, gmp.iter().cloned());
    let low = a.batch.square_low().unwrap();
    equal("a², low", &low, limbs, gmp.iter().map(|s| s.clone().keep_bits(bits)));
    let high = a.batch.square_high().unwrap();
    equal("a², high", &high, limbs, gmp.iter().map(|s| Integer::from(s >> bits)));
}

fn in_place(executor: &Executor, a: &Numbers, b: &Numbers) {
    let limbs = a.batch.width().limbs();
    let bits = 32 * limbs as u32;
    let data = a.batch.to_limbs().unwrap();
    let mut x = UintBatch::from_limbs(executor, a.batch.width(), &data).unwrap();
    let carries = x.add_assign(&b.batch).unwrap();
    equal("a += b", &x, limbs, zip(a, b, |x, y| Integer::from(x + y).keep_bits(bits)));
    flags(zip(a, b, |x, y| Integer::from(x + y)).map(|s| s.significant_bits() > bits), &carries);
    // The inverse operation: what was carried out is borrowed.
    let borrows = x.sub_assign(&b.batch).unwrap();
    assert_eq!(x.to_limbs().unwrap(), data, "a + b - b");
    assert_eq!(borrows.to_vec().unwrap(), carries.to_vec().unwrap(), "borrows");
    let borrows = x.sub_assign(&b.batch).unwrap();
    equal("a -= b", &x, limbs, zip(a, b, |x, y| Integer::from(x - y).keep_bits(bits)));
    flags(zip(a, b, |x, y| Integer::from(x - y)).map(|d| d.is_negative()), &borrows);
}
