//! Tests the limb-by-limb kernels for batches on a device against slow, obvious implementations.
//! The kernels divide a number among lanes (threads) in several ways, depending on its width. The
//! widths to test ([`widths`]) cover all of them. The operands include numbers in which a carry
//! runs through all limbs or starts at a random limb.

pub(crate) mod oracle;

use std::cmp::Ordering;

use bytemuck::Pod;
use rand::RngExt;
use warpint_device::{Buffer, Device, DeviceError};
use warpint_integer::gpu::elementwise::{Bitwise, Extreme, Shift};
use warpint_integer::gpu::{Gpu, Operand, Results};

use crate::sample::{Random, random};
use oracle::{compare, hard, limb, negative, shifted, times};

/// A case: takes a device, a seed and widths in limbs; returns a message if it fails.
pub type Run = fn(&Device, u64, &[usize]) -> Result<(), String>;

/// The names and functions of all cases.
pub const CASES: &[(&str, Run)] = &[
    ("negations", negations),
    ("comparisons", comparisons),
    ("extremes", extremes),
    ("bit_lengths", bit_lengths),
    ("bitwise", bitwise),
    ("shifts", shifts),
    ("word_products", word_products),
];

/// Returns the widths, in limbs, that all cases try. They cover every number of lanes per number.
/// They also cover numbers of one and of several rows, where a row consists of the limbs that all
/// lanes process at once, and numbers that do and do not fit in the registers of the lanes.
#[must_use]
pub fn widths() -> Vec<usize> {
    let more = [63, 64, 65, 100, 128, 129, 130, 132, 300, 1000, 1024, 1025, 2051, 2602, 4100];
    (1..=40).chain(more).collect()
}

/// Returns the widths, in limbs, of the quick cases. They range from numbers within one lane to
/// numbers that several warps share.
#[must_use]
pub fn quick_widths() -> Vec<usize> {
    vec![1, 2, 5, 32, 33, 64, 130, 1025]
}

/// The device under test, and a random generator for the operands.
struct Bench {
    gpu: Gpu,
    rng: Random,
}

/// Numbers of `limbs` limbs each, and a copy of them on the device.
struct Batch {
    numbers: Vec<Vec<u32>>,
    limbs: usize,
    data: Buffer<u32>,
}

impl Batch {
    fn operand(&self) -> Operand<'_> {
        Operand::new(&self.data, self.limbs, false)
    }

    /// Returns the first number of the batch as an operand that is combined with every number of
    /// another batch.
    fn first(&self) -> Operand<'_> {
        Operand { broadcast: true, ..self.operand() }
    }

    fn count(&self) -> usize {
        self.numbers.len()
    }
}

impl Bench {
    fn new(device: &Device, seed: u64) -> Self {
        Self { gpu: Gpu::new(device), rng: random(seed) }
    }

    fn batch(&self, numbers: Vec<Vec<u32>>, limbs: usize) -> Result<Batch, DeviceError> {
        let data = self.gpu.device().upload(&numbers.concat())?;
        Ok(Batch { numbers, limbs, data })
    }

    /// Returns a batch of `count` numbers, in random order: numbers that are hard for carries
    /// ([`hard`]), and random numbers if more are needed.
    fn drawn(&mut self, count: usize, limbs: usize) -> Result<Batch, DeviceError> {
        let mut numbers = hard(&mut self.rng, limbs);
        while numbers.len() < count {
            numbers.push((0..limbs).map(|_| self.rng.random()).collect());
        }
        for i in 0..numbers.len() {
            let j = self.rng.random_range(0..numbers.len());
            numbers.swap(i, j);
        }
        numbers.truncate(count);
        self.batch(numbers, limbs)
    }

    /// Allocates memory for `count` results of `limbs` limbs, lets `work` write them, and returns
    /// them.
    fn results(
        &self,
        count: usize,
        limbs: usize,
        work: impl FnOnce(Results<'_>) -> Result<(), DeviceError>,
    ) -> Result<Vec<u32>, DeviceError> {
        let mut data = self.gpu.device().alloc(count * limbs)?;
        work(Results::new(&mut data, limbs))?;
        data.download()
    }

    /// Allocates memory for `count` values of type `T`, lets `work` write them, and returns them.
    fn words<T: Pod>(
        &self,
        count: usize,
        work: impl FnOnce(&mut Buffer<T>) -> Result<(), DeviceError>,
    ) -> Result<Vec<T>, DeviceError> {
        let mut out = self.gpu.device().alloc(count)?;
        work(&mut out)?;
        out.download()
    }

    /// Copies the batch `of`, lets `work` write its results over the copy, and returns these
    /// results.
    fn in_place(
        &self,
        of: &Batch,
        work: impl FnOnce(Results<'_>) -> Result<(), DeviceError>,
    ) -> Result<Vec<u32>, DeviceError> {
        let mut copy = self.batch(of.numbers.clone(), of.limbs)?;
        work(Results::new(&mut copy.data, of.limbs))?;
        copy.data.download()
    }
}

/// Returns pairs (width in limbs, number of numbers). Every width occurs with enough numbers for
/// several blocks. Some widths also occur with 0, 1, 3 or 2,100 numbers.
fn shapes(widths: &[usize]) -> Vec<(usize, usize)> {
    let usual = |&limbs: &usize| (limbs, if limbs > 500 { 9 } else { 70 });
    let mut shapes: Vec<_> = widths.iter().map(usual).collect();
    let several = widths.iter().filter(|&&limbs| [1, 5, 33, 1025].contains(&limbs));
    shapes.extend(several.flat_map(|&limbs| [(limbs, 0), (limbs, 1), (limbs, 3)]));
    shapes.extend(widths.iter().filter(|&&limbs| limbs <= 2).map(|&limbs| (limbs, 2100)));
    shapes
}

/// Returns an error if result i, a number of `limbs` limbs, differs from `expected(i)` for some i.
/// `what` names the operation in the message.
fn check(
    what: &str,
    found: &[u32],
    limbs: usize,
    expected: impl Fn(usize) -> Vec<u32>,
) -> Result<(), String> {
    for (i, found) in found.chunks(limbs).enumerate() {
        let expected = expected(i);
        if found != expected {
            let j = (0..limbs).find(|&j| found[j] != expected[j]).unwrap_or(0);
            return Err(format!(
                "{what}: limb {j} of number {i} is {:#x}, not {:#x}",
                found[j], expected[j]
            ));
        }
    }
    Ok(())
}

/// Calls `case` with every pair of width and count in [`shapes`].
fn for_all(
    device: &Device,
    seed: u64,
    widths: &[usize],
    case: impl Fn(&mut Bench, usize, usize) -> Result<Result<(), String>, DeviceError>,
) -> Result<(), String> {
    let mut bench = Bench::new(device, seed);
    for (limbs, count) in shapes(widths) {
        let result = case(&mut bench, limbs, count).map_err(|e| e.to_string()).and_then(|r| r);
        result.map_err(|why| format!("{count} numbers of {limbs} limbs: {why}"))?;
    }
    Ok(())
}

/// Calls `case` with pairs of batches a and b, in both orders. There are four kinds of b: numbers
/// of the width of a, numbers of half this width, a single number of the width of a, and a single
/// number of one limb. A single number is combined with every number of a.
fn for_pairs(
    device: &Device,
    seed: u64,
    widths: &[usize],
    case: impl Fn(&Bench, &Pair) -> Result<Result<(), String>, DeviceError>,
) -> Result<(), String> {
    for_all(device, seed, widths, |bench, limbs, count| {
        for (b_limbs, broadcast) in
            [(limbs, false), (limbs.div_ceil(2), false), (limbs, true), (1, true)]
        {
            // One number for all takes memory for one number, but needs at least one.
            let a = bench.drawn(count, limbs)?;
            let mut b = bench.drawn(if broadcast { 1 } else { count }, b_limbs)?;
            // Many pairs that differ in few limbs or in none.
            if b_limbs == limbs && !broadcast {
                for (b, a) in b.numbers.iter_mut().zip(&a.numbers).step_by(2) {
                    b.clone_from(a);
                    if bench.rng.random() {
                        b[bench.rng.random_range(0..limbs)] ^= 1 << bench.rng.random_range(0..32);
                    }
                }
                b = bench.batch(b.numbers, limbs)?;
            }
            for swapped in [false, true] {
                let pair = Pair { a: &a, b: &b, broadcast, swapped };
                if let Err(why) = case(bench, &pair)? {
                    let of = if broadcast { " for all" } else { "" };
                    return Ok(Err(format!("with {b_limbs} limbs{of}, swapped: {swapped}: {why}")));
                }
            }
        }
        Ok(Ok(()))
    })
}

/// The operands of a test. If `broadcast`, b is a single number that is combined with every number
/// of a. If `swapped`, b is the first operand.
struct Pair<'a> {
    a: &'a Batch,
    b: &'a Batch,
    broadcast: bool,
    swapped: bool,
}

impl Pair<'_> {
    fn ordered<T>(&self, a: T, b: T) -> (T, T) {
        if self.swapped { (b, a) } else { (a, b) }
    }

    fn operands(&self) -> (Operand<'_>, Operand<'_>) {
        let b = if self.broadcast { self.b.first() } else { self.b.operand() };
        self.ordered(self.a.operand(), b)
    }

    fn numbers(&self, i: usize) -> (&[u32], &[u32]) {
        let b = &self.b.numbers[if self.broadcast { 0 } else { i }];
        self.ordered(&self.a.numbers[i], b)
    }
}

fn negations(device: &Device, seed: u64, widths: &[usize]) -> Result<(), String> {
    for_all(device, seed, widths, |bench, limbs, count| {
        let a = bench.drawn(count, limbs)?;
        for out_limbs in [limbs, limbs + 1, limbs.div_ceil(2)] {
            let found =
                bench.results(count, out_limbs, |out| bench.gpu.negate(a.operand(), count, out))?;
            let expected = |i: usize| negative(&a.numbers[i], out_limbs);
            if let Err(why) = check("−a", &found, out_limbs, expected) {
                return Ok(Err(why));
            }
        }
        let found = bench.in_place(&a, |out| bench.gpu.negate(out.operand(), count, out))?;
        Ok(check("−a in place", &found, limbs, |i| negative(&a.numbers[i], limbs)))
    })
}

fn comparisons(device: &Device, seed: u64, widths: &[usize]) -> Result<(), String> {
    for_pairs(device, seed, widths, |bench, pair| {
        let count = pair.a.count();
        let (x, y) = pair.operands();
        let found = bench.words(count, |out| bench.gpu.compare(x, y, count, out))?;
        let wrong = found.iter().enumerate().find(|&(i, &sign): &(usize, &i8)| {
            let (a, b) = pair.numbers(i);
            sign != compare(a, b) as i8
        });
        Ok(wrong.map_or(Ok(()), |(i, sign)| {
            let (a, b) = pair.numbers(i);
            Err(format!("{a:x?} to {b:x?}: {sign}"))
        }))
    })
}

fn extremes(device: &Device, seed: u64, widths: &[usize]) -> Result<(), String> {
    for_pairs(device, seed, widths, |bench, pair| {
        let count = pair.a.count();
        let (x, y) = pair.operands();
        let limbs = x.limbs.max(y.limbs);
        for (extreme, first) in
            [(Extreme::Minimum, Ordering::Less), (Extreme::Maximum, Ordering::Greater)]
        {
            let expected = |i: usize| {
                let (a, b) = pair.numbers(i);
                let chosen = if compare(a, b) == first { a } else { b };
                (0..limbs).map(|j| limb(chosen, j)).collect()
            };
            let found = bench
                .results(count, limbs, |out| bench.gpu.extreme(extreme, x, y, count, out.data))?;
            let in_place = bench.in_place(pair.a, |out| {
                let (x, y) = if pair.swapped { (x, out.operand()) } else { (out.operand(), y) };
                bench.gpu.extreme(extreme, x, y, count, out.data)
            })?;
            let checked = check("min, max", &found, limbs, expected)
                .and_then(|()| check("min, max in place", &in_place, limbs, expected));
            if checked.is_err() {
                return Ok(checked);
            }
        }
        Ok(Ok(()))
    })
}

fn bit_lengths(device: &Device, seed: u64, widths: &[usize]) -> Result<(), String> {
    for_all(device, seed, widths, |bench, limbs, count| {
        let a = bench.drawn(count, limbs)?;
        let found = bench.words(count, |out| bench.gpu.bit_lengths(a.operand(), count, out))?;
        let length = |a: &[u32]| {
            let top = (0..32 * limbs).rev().find(|&k| a[k / 32] >> (k % 32) & 1 == 1);
            top.map_or(0, |k| k as u32 + 1)
        };
        Ok(check("the bit length", &found, 1, |i| vec![length(&a.numbers[i])]))
    })
}

fn bitwise(device: &Device, seed: u64, widths: &[usize]) -> Result<(), String> {
    type Of = fn(u32, u32) -> u32;
    const OPERATIONS: [(Option<Bitwise>, Of); 4] = [
        (Some(Bitwise::And), |a, b| a & b),
        (Some(Bitwise::Or), |a, b| a | b),
        (Some(Bitwise::Xor), |a, b| a ^ b),
        (None, |a, _| !a),
    ];
    for_pairs(device, seed, widths, |bench, pair| {
        let count = pair.a.count();
        let apply = |operation, x: Operand<'_>, y: Operand<'_>, out: Results<'_>| match operation {
            Some(operation) => bench.gpu.bitwise(operation, x, y, count, out),
            None => bench.gpu.not(x, count, out),
        };
        let (x, y) = pair.operands();
        for (operation, of) in OPERATIONS {
            let expected = |limbs: usize| {
                move |i: usize| {
                    let (a, b) = pair.numbers(i);
                    (0..limbs).map(|j| of(limb(a, j), limb(b, j))).collect()
                }
            };
            for limbs in [x.limbs.max(y.limbs), x.limbs + 1] {
                let found = bench.results(count, limbs, |out| apply(operation, x, y, out))?;
                if let Err(why) = check("bits", &found, limbs, expected(limbs)) {
                    return Ok(Err(format!("{operation:?}: {why}")));
                }
            }
            let limbs = pair.a.limbs;
            let found = bench.in_place(pair.a, |out| {
                let (x, y) = if pair.swapped { (x, out.operand()) } else { (out.operand(), y) };
                apply(operation, x, y, out)
            })?;
            if let Err(why) = check("bits in place", &found, limbs, expected(limbs)) {
                return Ok(Err(format!("{operation:?}: {why}")));
            }
        }
        Ok(Ok(()))
    })
}

fn shifts(device: &Device, seed: u64, widths: &[usize]) -> Result<(), String> {
    for_all(device, seed, widths, |bench, limbs, count| {
        let a = bench.drawn(count, limbs)?;
        let width = 32 * limbs as u64;
        let drawn = bench.rng.random_range(0..width);
        for bits in [0, 1, 31, 32, 33, 64, width - 1, width, width + 1, drawn, 1 << 40, u64::MAX] {
            for (shift, sign) in [(Shift::Left, 1), (Shift::Right, -1)] {
                for out_limbs in [limbs, 2 * limbs + 1, 1] {
                    let found = bench.results(count, out_limbs, |out| {
                        bench.gpu.shift(shift, bits, a.operand(), count, out)
                    })?;
                    let expected =
                        |i: usize| shifted(&a.numbers[i], sign * i128::from(bits), out_limbs);
                    if let Err(why) = check("bits moved", &found, out_limbs, expected) {
                        return Ok(Err(format!("{shift:?} by {bits}: {why}")));
                    }
                }
            }
        }
        Ok(Ok(()))
    })
}

fn word_products(device: &Device, seed: u64, widths: &[usize]) -> Result<(), String> {
    for_all(device, seed, widths, |bench, limbs, count| {
        let mut words = vec![0, 1, 2, 3, 5, 65_537, u64::MAX, u64::MAX - 1, 1 << 63];
        words.extend((0..3).map(|d| u64::from(u32::MAX) + d));
        words.extend([bench.rng.random::<u64>(), bench.rng.random::<u64>() >> 32]);
        for w in words {
            let mut a = bench.drawn(count, limbs)?;
            if let Some(digits) = u64::MAX.checked_div(w) {
                // From some limb on, the limbs are ⌊(2^64 − 1)/w⌋ repeated, and 1 more. If w
                // divides 2^64 − 1, all limbs of the product are ones, except for a carry through
                // all of them.
                for number in a.numbers.iter_mut().step_by(2) {
                    let from = bench.rng.random_range(0..limbs);
                    for (j, limb) in number[from..].iter_mut().enumerate() {
                        *limb = (digits >> (32 * (j % 2))) as u32;
                    }
                    number[from] = number[from].wrapping_add(1);
                }
                a = bench.batch(a.numbers, limbs)?;
            }
            for out_limbs in [limbs + 2, limbs + 1, limbs] {
                let found = bench.results(count, out_limbs, |out| {
                    bench.gpu.multiply_by_word(a.operand(), w, count, out)
                })?;
                let expected = |i: usize| times(&a.numbers[i], w, out_limbs);
                if let Err(why) = check("a·w", &found, out_limbs, expected) {
                    return Ok(Err(format!("w = {w:#x}: {why}")));
                }
            }
        }
        Ok(Ok(()))
    })
}
