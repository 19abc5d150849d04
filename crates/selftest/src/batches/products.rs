//! Tests products and squares, their lower and upper halves, and sums a·b + c.

use rand::RngExt;
use warpint_device::DeviceError;
use warpint_integer::UintBatch;
use warpint_integer::gpu::{Gpu, Method, Operand, Part};

use super::elementwise::oracle::limb;
use super::numbers::{Failure, Numbers, check, check_flags, drawn, product};
use crate::sample::Random;

/// Tests the products a·b, and b·a if the widths differ. Also tests the products of a single number
/// of one batch with all numbers of the other batch.
pub(super) fn all(rng: &mut Random, a: &Numbers, b: &Numbers) -> Result<(), Failure> {
    let any = rng.random_range(0..a.count());
    of(a, b)?;
    if a.limbs != b.limbs {
        of(b, a)?;
    }
    of(a, &b.single(any)?)?;
    of(&a.single(0)?, b)
}

fn of(a: &Numbers, b: &Numbers) -> Result<(), Failure> {
    let (wide, narrow) = (a.limbs.max(b.limbs), a.limbs.min(b.limbs));
    let count = a.count().max(b.count());
    let products: Vec<Vec<u32>> = (0..count).map(|i| product(a.row(i), b.row(i))).collect();
    let low = |i: usize| products[i][..wide].to_vec();
    let high = |i: usize| products[i][wide..].to_vec();
    let mut into = a.batch.mul(&b.batch)?;
    check("a·b", &into, wide + narrow, count, |i| products[i].clone())?;
    check("a·b, low", &a.batch.mul_low(&b.batch)?, wide, count, low)?;
    check("a·b, high", &a.batch.mul_high(&b.batch)?, narrow, count, high)?;
    // The destination holds other numbers before the call: each product times −1.
    into = into.neg()?;
    a.batch.mul_into(&b.batch, &mut into)?;
    check("a·b into", &into, wide + narrow, count, |i| products[i].clone())?;
    let zeros = |of: &UintBatch| UintBatch::zeros(of.executor(), count, of.width());
    let (wider, narrower) =
        if a.limbs > b.limbs { (&a.batch, &b.batch) } else { (&b.batch, &a.batch) };
    let (mut lows, mut highs) = (zeros(wider)?, zeros(narrower)?);
    a.batch.mul_low_into(&b.batch, &mut lows)?;
    check("a·b, low, into", &lows, wide, count, low)?;
    a.batch.mul_high_into(&b.batch, &mut highs)?;
    check("a·b, high, into", &highs, narrow, count, high)
}

/// Tests the squares of the numbers of a.
pub(super) fn squares(_: &mut Random, a: &Numbers, _: &Numbers) -> Result<(), Failure> {
    let (limbs, count) = (a.limbs, a.count());
    let squares: Vec<Vec<u32>> = (0..count).map(|i| product(a.row(i), a.row(i))).collect();
    let mut into = a.batch.square()?;
    check("a²", &into, 2 * limbs, count, |i| squares[i].clone())?;
    into = into.neg()?;
    a.batch.square_into(&mut into)?;
    check("a² into", &into, 2 * limbs, count, |i| squares[i].clone())?;
    check("a², low", &a.batch.square_low()?, limbs, count, |i| squares[i][..limbs].to_vec())?;
    check("a², high", &a.batch.square_high()?, limbs, count, |i| squares[i][limbs..].to_vec())
}

/// Tests a·b + c for three kinds of c: numbers of the width of the product, so that the sum may
/// carry; the numbers of a; and a single number for all products.
pub(super) fn with_sums(rng: &mut Random, a: &Numbers, b: &Numbers) -> Result<(), Failure> {
    let (limbs, count, executor) = (a.limbs + b.limbs, a.count(), a.batch.executor());
    let products: Vec<Vec<u32>> = (0..count).map(|i| product(a.row(i), b.row(i))).collect();
    let wide = Numbers::hard(executor, rng, limbs, count)?;
    for c in [&wide, a, &wide.single(0)?] {
        let plus = |i: usize| {
            let mut carry = 0;
            let word = |j| {
                let total = u64::from(limb(&products[i], j)) + u64::from(limb(c.row(i), j)) + carry;
                carry = total >> 32;
                total as u32
            };
            let words: Vec<u32> = (0..limbs).map(word).collect();
            (words, carry != 0)
        };
        let (sums, carries) = a.batch.mul_add(&b.batch, &c.batch)?;
        check("a·b + c", &sums, limbs, count, |i| plus(i).0)?;
        check_flags("a·b + c", &carries, (0..count).map(|i| plus(i).1))?;
    }
    Ok(())
}

/// Tests `count` products and squares of numbers of `limbs` limbs by the given method of a device.
pub(super) fn by(
    gpu: &Gpu,
    method: Method,
    rng: &mut Random,
    limbs: usize,
    count: usize,
) -> Result<(), Failure> {
    let (a, b) = (drawn(rng, limbs, count), drawn(rng, limbs, count));
    let upload = |rows: &[Vec<u32>]| gpu.device().upload(&rows.concat());
    let (x, y) = (upload(&a).map_err(failed)?, upload(&b).map_err(failed)?);
    let operand = |data| Operand::new(data, limbs, false);
    for (other, rows) in [(Some(operand(&y)), &b), (None, &a)] {
        let mut out = gpu.device().alloc(2 * limbs * count).map_err(failed)?;
        gpu.multiply_by(method, Part::Full, operand(&x), other, count, &mut out).map_err(failed)?;
        let found = out.download().map_err(failed)?;
        for (i, found) in found.chunks(2 * limbs).enumerate() {
            if found != product(&a[i], &rows[i]) {
                let of = if other.is_some() { "product" } else { "square" };
                return Err(Failure::Wrong(format!("{of} {i} is wrong")));
            }
        }
    }
    Ok(())
}

fn failed(error: DeviceError) -> Failure {
    Failure::Refused(error.into())
}
