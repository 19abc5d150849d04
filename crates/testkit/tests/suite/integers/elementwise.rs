//! Compares the results of comparisons, shifts, bitwise operations, products by words, and
//! conversions from and to text with GMP.

use std::cmp::Ordering;

use rug::Integer;
use warpint_integer::{Executor, UintBatch};

use super::check::{Numbers, equal, width};
use super::patterns::{self, pairs, rng};

/// Tests all operations of this module on numbers of `a` and of `b` limbs.
pub(crate) fn all(executor: &Executor, a: usize, b: usize) {
    let mut rng = rng((3000 * a + b) as u64);
    let (x, y) = pairs(&patterns::rows(a, &mut rng), &patterns::rows(b, &mut rng));
    let (a, b) = (Numbers::new(executor, a, &x), Numbers::new(executor, b, &y));
    one_number(&a);
    shifts(&a);
    two_numbers(&a, &b);
    sums_of_products(executor, &a, &b);
    text(executor, &a);
}

fn one_number(a: &Numbers) {
    let limbs = a.batch.width().limbs();
    let bits = a.batch.bits();
    let all_ones = (Integer::from(1) << bits) - 1;
    let map = |f: &dyn Fn(&Integer) -> Integer| a.gmp.iter().map(f).collect::<Vec<_>>();
    equal("-a", &a.batch.neg().unwrap(), limbs, map(&|x| Integer::from(-x).keep_bits(bits)));
    equal("not a", &a.batch.not().unwrap(), limbs, map(&|x| Integer::from(&all_ones - x)));
    let lengths: Vec<u32> = a.gmp.iter().map(Integer::significant_bits).collect();
    assert_eq!(a.batch.bit_lengths().unwrap(), lengths);
    for word in [0, 1, 2, 0x8000_0001, u32::MAX] {
        let product = a.batch.mul_u32(word).unwrap();
        equal("a * u32", &product, limbs + 1, map(&|x| Integer::from(x * word)));
    }
    for word in [0, 1, 1 << 32, u64::MAX - 1, u64::MAX] {
        let product = a.batch.mul_u64(word).unwrap();
        equal("a * u64", &product, limbs + 2, map(&|x| Integer::from(x * word)));
    }
    for new in [1, limbs.div_ceil(2), limbs, limbs + 1, 2 * limbs + 3] {
        let (resized, lost) = a.batch.resized(width(new)).unwrap();
        let kept = map(&|x| x.clone().keep_bits(32 * new as u32));
        let differs: Vec<u8> = kept.iter().zip(&a.gmp).map(|(k, x)| u8::from(k != x)).collect();
        equal("resized", &resized, new, kept);
        assert_eq!(lost.to_vec().unwrap(), differs, "lost bits");
    }
}

fn shifts(a: &Numbers) {
    let limbs = a.batch.width().limbs();
    let bits = a.batch.bits();
    for by in [0, 1, 31, 32, 33, 63, 64, bits / 2, bits - 1, bits, bits + 1, u32::MAX] {
        let left = a.gmp.iter().map(|x| {
            let kept = x.clone().keep_bits(bits.saturating_sub(by));
            kept << by.min(bits)
        });
        equal("a << n", &a.batch.shl(by).unwrap(), limbs, left);
        let right = a.gmp.iter().map(|x| Integer::from(x >> by.min(bits)));
        equal("a >> n", &a.batch.shr(by).unwrap(), limbs, right);
    }
}

fn two_numbers(a: &Numbers, b: &Numbers) {
    let limbs = a.batch.width().max(b.batch.width()).limbs();
    let zip = |f: &dyn Fn(&Integer, &Integer) -> Integer| {
        a.gmp.iter().zip(&b.gmp).map(|(x, y)| f(x, y)).collect::<Vec<_>>()
    };
    let orders: Vec<Ordering> = a.gmp.iter().zip(&b.gmp).map(|(x, y)| x.cmp(y)).collect();
    assert_eq!(a.batch.compare(&b.batch).unwrap(), orders);
    equal("min", &a.batch.min(&b.batch).unwrap(), limbs, zip(&|x, y| x.min(y).clone()));
    equal("max", &a.batch.max(&b.batch).unwrap(), limbs, zip(&|x, y| x.max(y).clone()));
    equal("and", &a.batch.and(&b.batch).unwrap(), limbs, zip(&|x, y| Integer::from(x & y)));
    equal("or", &a.batch.or(&b.batch).unwrap(), limbs, zip(&|x, y| Integer::from(x | y)));
    equal("xor", &a.batch.xor(&b.batch).unwrap(), limbs, zip(&|x, y| Integer::from(x ^ y)));
}

fn sums_of_products(executor: &Executor, a: &Numbers, b: &Numbers) {
    let limbs = a.batch.width().limbs() + b.batch.width().limbs();
    // As wide as the product, so that carries may be lost. The same number is added to all.
    for added in [vec![u32::MAX; limbs], vec![u32::MAX; limbs / 2], vec![0]] {
        let c = Numbers::new(executor, added.len(), &added);
        let (sum, lost) = a.batch.mul_add(&b.batch, &c.batch).unwrap();
        let exact: Vec<Integer> =
            a.gmp.iter().zip(&b.gmp).map(|(x, y)| Integer::from(x * y) + &c.gmp[0]).collect();
        let bits = 32 * limbs as u32;
        let carries: Vec<u8> =
            exact.iter().map(|x| u8::from(x.significant_bits() > bits)).collect();
        assert_eq!(lost.to_vec().unwrap(), carries, "carries of a * b + c");
        equal("a * b + c", &sum, limbs, exact.into_iter().map(|x| x.keep_bits(bits)));
    }
    // One product, to which many numbers are added.
    let (x, y) = (&a.gmp[a.gmp.len() - 1], &b.gmp[b.gmp.len() - 1]);
    let last = |n: &Numbers| {
        let data = n.batch.get(n.gmp.len() - 1).unwrap().unwrap();
        UintBatch::from_limbs(executor, n.batch.width(), &data).unwrap()
    };
    let (sums, _) = last(a).mul_add(&last(b), &a.batch).unwrap();
    equal("x * y + c", &sums, limbs, a.gmp.iter().map(|c| Integer::from(x * y) + c));
}

/// Tests formatting and parsing of numbers in decimal and hexadecimal.
pub(crate) fn text(executor: &Executor, a: &Numbers) {
    for radix in [10, 16] {
        let want: Vec<String> = a.gmp.iter().map(|x| x.to_string_radix(radix)).collect();
        let width = a.batch.width();
        let texts = want.iter().map(String::as_str);
        let (got, read) = if radix == 10 {
            (a.batch.to_decimal(), UintBatch::from_decimal(executor, width, texts))
        } else {
            (a.batch.to_hex(), UintBatch::from_hex(executor, width, texts))
        };
        assert_eq!(got.unwrap(), want);
        assert_eq!(read.unwrap().to_limbs().unwrap(), a.batch.to_limbs().unwrap());
    }
}

/// Tests formatting and parsing of long numbers: powers of ten, powers of ten minus 1, and
/// patterns.
pub(crate) fn long_text(executor: &Executor, limbs: usize) {
    let numbers = Numbers::new(executor, limbs, &patterns::rows(limbs, &mut rng(5)).concat());
    text(executor, &numbers);
    // log10 2 > 0.301.
    let most = (32 * limbs) as u32 * 301 / 1000;
    let mut texts = vec![];
    for digits in [1, 18, 19, 20, 38, 19 * 64, 19 * 128, most - 1, most] {
        let digits = digits.min(most) as usize;
        texts.push("9".repeat(digits));
        texts.push(format!("1{}", "0".repeat(digits - 1)));
    }
    let batch =
        UintBatch::from_decimal(executor, width(limbs), texts.iter().map(String::as_str)).unwrap();
    let gmp = texts.iter().map(|text| Integer::from_str_radix(text, 10).unwrap());
    equal("from decimal", &batch, limbs, gmp);
    assert_eq!(batch.to_decimal().unwrap(), texts);
}
