//! Tests sums and differences, with their carries and borrows.

use rand::RngExt;
use warpint_integer::{Flags, Width};

use super::elementwise::oracle::limb;
use super::numbers::{Failure, Numbers, check, check_flags, width};
use crate::sample::Random;

/// Returns a + sign·b mod 2^(32·limbs), where `sign` is 1 or −1. Also returns whether there is a
/// carry or borrow out of the highest limb.
fn sum(a: &[u32], b: &[u32], sign: i64, limbs: usize) -> (Vec<u32>, bool) {
    let mut carry = 0;
    let word = |j| {
        let total = i64::from(limb(a, j)) + sign * i64::from(limb(b, j)) + carry;
        carry = total >> 32;
        total as u32
    };
    let words = (0..limbs).map(word).collect();
    (words, carry != 0)
}

/// Tests the sums and differences of a and b in both orders. Also combines a single number of one
/// batch with all numbers of the other batch.
pub(super) fn all(rng: &mut Random, a: &Numbers, b: &Numbers) -> Result<(), Failure> {
    let any = rng.random_range(0..a.count());
    for (a, b) in [
        (a, b),
        (b, a),
        (a, &b.single(any)?),
        (&a.single(any)?, b),
        // First a single number with all bits 1, then a single number on each side.
        (a, &b.single(0)?),
        (&a.single(any)?, &b.single(any)?),
    ] {
        of(a, b)?;
        if a.limbs >= b.limbs && a.count() >= b.count() {
            in_place(a, b)?;
        }
    }
    Ok(())
}

fn of(a: &Numbers, b: &Numbers) -> Result<(), Failure> {
    let (limbs, count) = (a.limbs.max(b.limbs), a.count().max(b.count()));
    let expected = |sign| move |i| sum(a.row(i), b.row(i), sign, limbs).0;
    let flags = |sign| (0..count).map(move |i| sum(a.row(i), b.row(i), sign, limbs).1);
    let (sums, carries) = a.batch.add(&b.batch)?;
    check("a + b", &sums, limbs, count, expected(1))?;
    check_flags("a + b", &carries, flags(1))?;
    let (mut into, mut borrows) = a.batch.sub(&b.batch)?;
    check("a − b", &into, limbs, count, expected(-1))?;
    check_flags("a − b", &borrows, flags(-1))?;
    check("a + b, wrapping", &a.batch.wrapping_add(&b.batch)?, limbs, count, expected(1))?;
    for more in [0, 1, 3] {
        let longer = limbs.max((limbs + more).min((Width::MAX_BITS / 32) as usize));
        let wide = a.batch.add_to_width(&b.batch, width(longer)?)?;
        let expected = |i| sum(a.row(i), b.row(i), 1, longer).0;
        check("a + b of a given width", &wide, longer, count, expected)?;
    }
    check("a − b, wrapping", &a.batch.wrapping_sub(&b.batch)?, limbs, count, expected(-1))?;
    // The destination holds other numbers before the call.
    a.batch.add_into(&b.batch, &mut into, Some(&mut borrows))?;
    check("a + b into", &into, limbs, count, expected(1))?;
    check_flags("a + b into", &borrows, flags(1))?;
    a.batch.sub_into(&b.batch, &mut into, None)?;
    check("a − b into", &into, limbs, count, expected(-1))?;
    let mut fresh = Flags::zeros(a.batch.executor(), count)?;
    a.batch.sub_into(&b.batch, &mut into, Some(&mut fresh))?;
    check_flags("a − b into", &fresh, flags(-1))
}

fn in_place(a: &Numbers, b: &Numbers) -> Result<(), Failure> {
    let flags = |sign| (0..a.count()).map(move |i| sum(a.row(i), b.row(i), sign, a.limbs).1);
    let mut x = a.batch.try_clone()?;
    let carries = x.add_assign(&b.batch)?;
    check("a += b", &x, a.limbs, a.count(), |i| sum(a.row(i), b.row(i), 1, a.limbs).0)?;
    check_flags("a += b", &carries, flags(1))?;
    let mut x = a.batch.try_clone()?;
    let borrows = x.sub_assign(&b.batch)?;
    check("a −= b", &x, a.limbs, a.count(), |i| sum(a.row(i), b.row(i), -1, a.limbs).0)?;
    check_flags("a −= b", &borrows, flags(-1))
}
