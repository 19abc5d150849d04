//! Products on a device by convolution of the digits of the factors, modulo several primes of 47 or
//! 50 bits. A convolution is computed modulo x^H − 1 by a transform of H points, the head, where H
//! is a power of two. For lengths that are no power of two, the convolution is computed modulo (x^H
//! − 1)·(x^T − w) by a transform of H + T points, where T < H and w is a root of unity. The T
//! further points are the tail.

use std::fmt::Write;

use warpint_arith::f50::{F50, Factor, NARROW, PRIMES};
use warpint_device::{Arg, DeviceError, Source, common};
use warpint_transform::gpu as transform;

use super::product::{Factors, Product};
use super::{Gpu, Part, Shape};

/// A version of the kernel `ntt.cu`, compiled for a product, a number of primes and a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ntt {
    product: Product,
    primes: usize,
    log_head: u32,
    /// 0 if the transform has no tail; otherwise the tail has 1/2^share of the points of the head.
    share: u32,
    digit_bits: usize,
    /// Whether residues are in the device's memory, because they do not fit in shared memory.
    wide: bool,
}

/// The number of points that a thread keeps in registers.
const HOLDS: usize = 16;

/// The possible lengths of transforms, the shorter ones first. A pair consists of log2 of the
/// number of points of the head, and a number r. r = 0 means that there is no tail. For r > 0 the
/// tail has 1/2^r as many points as the head. The lengths are 2^k, 5/4·2^k and 3/2·2^k
/// points. The largest length is 2^13 points, the limit of a block's shared memory and threads.
#[rustfmt::skip]
const LENGTHS: [(u32, u32); 16] = [
    (8, 0), (8, 2), (8, 1), (9, 0), (9, 2), (9, 1), (10, 0), (10, 2), (10, 1), (11, 0), (11, 2), (11, 1),
    (12, 0), (12, 2), (12, 1), (13, 0),
];

/// Returns the number of points of the head and of the tail of every length.
#[cfg(test)]
pub(super) fn lengths() -> impl Iterator<Item = (usize, usize)> {
    LENGTHS
        .into_iter()
        .map(|(log, share)| (1 << log, if share == 0 { 0 } else { 1 << log >> share }))
}

/// The supported numbers of primes, each with the number of bits of a digit. Twice the bits of a
/// digit, plus 12 for the number of terms of a convolution, are less than log2 of the product of
/// the primes (140.998, 199.98, 249.97, 299.97, 399.97, 549.96).
const DIGITS: [(usize, usize); 6] = [(3, 64), (4, 92), (5, 114), (6, 142), (8, 192), (11, 268)];

/// Returns the supported numbers of primes, each with the number of bits of a digit.
#[cfg(test)]
pub(super) fn digits() -> impl Iterator<Item = (usize, usize)> {
    DIGITS.into_iter()
}

impl Ntt {
    /// Returns the shortest transform modulo `primes` primes for factors of `a_limbs` and `b_limbs`
    /// limbs (`None` for a square) on a device with `shared_memory` bytes of shared memory per
    /// block. Returns `None` if [`Self::primes`] does not contain this number of primes, if the
    /// factors have too many digits, or if the transform does not fit in this shared memory.
    ///
    /// If a digit has b bits and the shorter factor has n ≤ 2^12 digits, an element of the
    /// convolution is at most n·(2^b − 1)² < 2^(2b)·n.
    #[must_use]
    pub fn new(
        part: Part,
        a_limbs: usize,
        b_limbs: Option<usize>,
        primes: usize,
        shared_memory: u32,
    ) -> Option<Self> {
        let &(_, digit_bits) = DIGITS.iter().find(|&&(number, _)| number == primes)?;
        let digits = |limbs: usize| (32 * limbs).div_ceil(digit_bits);
        let (a_digits, b_digits) = (digits(a_limbs), digits(b_limbs.unwrap_or(a_limbs)));
        let narrow = |(log_head, share)| Self {
            product: Product { part, a_limbs, b_limbs },
            primes,
            log_head,
            share,
            digit_bits,
            wide: false,
        };
        // A factor has at most as many digits as the head has points.
        let narrow = LENGTHS.into_iter().map(narrow).find(|shape| {
            a_digits + b_digits <= shape.points() && a_digits.max(b_digits) <= shape.head()
        })?;
        let shape = Self { wide: narrow.shared_bytes() > shared_memory, ..narrow };
        (shape.shared_bytes() <= shared_memory).then_some(shape)
    }

    /// Estimates the nanoseconds of a product, fitted to measurements on an H200. A point costs
    /// more in longer transforms, with more primes, with a tail, and with residues in global
    /// memory.
    pub(super) fn price(&self) -> f64 {
        let points = self.points() as f64;
        let log = points.log2();
        let of_point = 0.0100 + 0.0011 * (log - 8.0) + if log > 12.0 { 0.0015 } else { 0.0 };
        let mixing = 1.0 + 0.38 * (self.primes - 3) as f64;
        let tail = [1.0, 1.18, 1.28][self.share as usize];
        let wide = match (self.wide, self.points()) {
            (false, _) => 1.0,
            (true, ..8192) => 1.3,
            (true, _) => 1.8,
        };
        let square = if self.product.is_square() { 0.75 } else { 1.0 };
        points * self.primes as f64 * of_point * mixing * tail * wide * square
    }

    /// Returns the supported numbers of primes.
    pub fn primes() -> impl Iterator<Item = usize> {
        DIGITS.iter().map(|&(primes, _)| primes)
    }

    fn head(&self) -> usize {
        1 << self.log_head
    }

    fn tail(&self) -> usize {
        if self.share == 0 { 0 } else { self.head() >> self.share }
    }

    /// Returns the number of points of a transform.
    #[must_use]
    pub fn points(&self) -> usize {
        self.head() + self.tail()
    }

    fn team(&self) -> usize {
        self.points() / HOLDS
    }

    /// Returns the number of products per block: enough for about 128 threads per block, and for
    /// the threads of all tails to fill whole warps.
    fn products(&self) -> usize {
        if self.wide {
            return 1;
        }
        let warp_of_tails = if self.share == 0 { 1 } else { (32 * HOLDS / self.tail()).max(1) };
        (128 / self.team() / warp_of_tails).max(1) * warp_of_tails
    }

    /// Returns the number of blocks per multiprocessor. A thread uses 128 of the 65,536 registers
    /// of a multiprocessor.
    fn blocks(&self) -> usize {
        (512 / self.threads_of_block()).max(1)
    }

    /// Returns the number of doubles of device memory that a product uses if its residues do not
    /// fit in shared memory: SCRATCH of `ntt.cu`.
    fn scratch(&self) -> usize {
        let words = self.points() * self.digit_bits / 32;
        self.primes * self.places() + (words + words / 32 + 2 * self.team()).div_ceil(2)
    }

    /// Returns the number of doubles of memory for the points of a transform modulo one prime. One
    /// double in 17 is padding.
    fn places(&self) -> usize {
        self.points() + self.points() / 16
    }

    fn threads_of_block(&self) -> usize {
        self.team() * self.products()
    }

    /// Returns the number of stages of each pass of a transform. After the first pass, a transform
    /// consists of blocks of at most 512 points, one per warp.
    fn radices(&self) -> &'static [u32] {
        match self.log_head {
            8 => &[4, 4],
            9 => &[3, 2, 4],
            10 => &[3, 3, 4],
            11 => &[4, 3, 4],
            12 => &[4, 4, 4],
            _ => &[4, 3, 2, 4],
        }
    }

    /// Returns the number of bits of the primes. Three primes of 47 bits suffice for digits of 64
    /// bits, and modulo such primes sums rarely need a reduction.
    fn bits(&self) -> u32 {
        if self.primes == NARROW.len() { 47 } else { 50 }
    }

    fn fields(&self) -> Result<Vec<F50>, DeviceError> {
        let primes = if self.primes == NARROW.len() { &NARROW[..] } else { &PRIMES[..self.primes] };
        primes.iter().map(|&(p, ..)| F50::new(p).map_err(failed)).collect()
    }

    /// Returns the values of the macros FIELDS, RAISED, MIXED and JOINED of `ntt.cu`.
    fn constants(&self) -> Result<[String; 4], DeviceError> {
        let fields = self.fields()?;
        let pieces = self.digit_bits.div_ceil(64) as u64;
        let raised = fields.iter().map(|f| {
            let powers = (1..=pieces).map(|i| f.factor(f.pow(2.0, 64 * i)));
            list(powers.map(|factor| pair(factor.constants())))
        });
        let mixed = fields.iter().enumerate().map(|(k, f)| {
            // M_i mod p_k.
            let below =
                |i: usize| fields[..i].iter().fold(1.0, |m, g| f.mul(m, f.from_u64(g.modulus())));
            let inverse = f.inverse(below(k));
            let row = (0..fields.len()).map(|i| match i.cmp(&k) {
                std::cmp::Ordering::Less => f.factor(-f.mul(below(i), inverse)),
                std::cmp::Ordering::Equal => {
                    f.factor(f.mul(inverse, f.inverse(f.from_u64(1 << self.log_head))))
                }
                std::cmp::Ordering::Greater => f.factor(0.0),
            });
            list(row.map(|factor| pair(factor.constants())))
        });
        let joined = fields.iter().map(|f| {
            // w^(2^share) = −1.
            let w = f.root_of_unity(self.share + 1).ok_or_else(|| failed("no root"))?;
            let half = f.inverse(2.0);
            let powers = (0..1 << self.share).map(|i| f.mul(f.pow(w, i), half));
            let factors = std::iter::once(w).chain(powers);
            Ok(list(factors.map(|x| pair(f.factor(x).constants()))))
        });
        let joined = joined.collect::<Result<Vec<_>, DeviceError>>()?;
        Ok([
            list(fields.iter().map(|f| pair(f.constants()))),
            list(raised),
            list(mixed),
            list(joined.into_iter()),
        ])
    }

    /// Returns the roots of unity for each prime: first the tables of all passes, then the tables
    /// of all passes with the inverse roots. The tables of all passes are padded with ones to as
    /// many roots as a transform has points.
    ///
    /// A block of n points represents a polynomial modulo z^n − ρ², where ρ is the root of the
    /// block. A stage splits block x into block 2x modulo z^(n/2) − ρ, and block 2x + 1 modulo
    /// z^(n/2) + ρ. The head begins as block 0, and the tail as block 2^share.
    ///
    /// Let H be the number of points of the head. The root of block x is a power of a root of unity
    /// of order 2·H; the exponent is x with its log2 H bits reversed. The table of a pass of R
    /// stages has the roots of the blocks 2^r·β + c for r < R, c < 2^r and all blocks β at which
    /// the pass begins; β varies fastest, r slowest. In the table of the first pass, the roots of
    /// the head precede the roots of the tail.
    fn roots(&self) -> Result<Vec<[f64; 2]>, DeviceError> {
        let bits = self.log_head;
        let mut roots = Vec::with_capacity(2 * self.primes * self.points());
        for field in self.fields()? {
            let root = field.root_of_unity(bits + 1).ok_or_else(|| failed("no root"))?;
            for root in [root, field.inverse(root)] {
                let root = field.factor(root);
                let powers = std::iter::successors(Some(1.0), |&x| Some(field.mul_by(x, root)));
                let powers: Vec<Factor> = powers.take(1 << bits).map(|x| field.factor(x)).collect();
                let of_block = |x: usize| powers[x.reverse_bits() >> (usize::BITS - bits)];
                let mut add = |blocks: &[usize], stages: u32| {
                    for (r, c) in (0..stages).flat_map(|r| (0..1 << r).map(move |c| (r, c))) {
                        roots.extend(blocks.iter().map(|x| of_block((x << r) + c).constants()));
                    }
                };
                let (first, others) = self.radices().split_first().unwrap_or((&0, &[]));
                add(&[0], *first);
                if self.share > 0 {
                    add(&[1 << self.share], first - self.share);
                }
                let mut before = *first;
                for stages in others {
                    let blocks: Vec<usize> = (0..self.points() >> (bits - before)).collect();
                    add(&blocks, *stages);
                    before += stages;
                }
                // Head and tail have one root fewer than points each.
                let trees = if self.share == 0 { 1 } else { 2 };
                roots.extend(std::iter::repeat_n(field.factor(1.0).constants(), trees));
            }
        }
        Ok(roots)
    }
}

fn failed(why: impl std::fmt::Display) -> DeviceError {
    DeviceError::Failed {
        what: "a transform over fields of small primes".into(),
        message: why.to_string(),
    }
}

/// Returns a pair as the text `{x,y}`, with enough digits to reproduce the numbers exactly.
fn pair([x, y]: [f64; 2]) -> String {
    format!("{{{x:e},{y:e}}}")
}

/// Returns a list as the text `{a,b,…}`.
fn list(items: impl Iterator<Item = String>) -> String {
    let mut text = String::from("{");
    for (i, item) in items.enumerate() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{}{item}", if i > 0 { "," } else { "" });
    }
    text + "}"
}

impl Shape for Ntt {
    fn source(&self) -> Result<Source, DeviceError> {
        let [fields, raised, mixed, joined] = self.constants()?;
        let radices: Vec<_> = self.radices().iter().map(ToString::to_string).collect();
        let source = Source::new("ntt.cu", include_str!("../../kernels/product/ntt.cu"), &["ntt"])
            .headers(common::HEADERS)
            .headers(transform::HEADERS);
        Ok(self
            .product
            .define(source)
            .define("LOG_HEAD", self.log_head)
            .define("SHARE", self.share)
            .define("RADICES", radices.join(","))
            .define("DIGIT_BITS", self.digit_bits)
            .define("PRIMES", self.primes)
            .define("BITS", self.bits())
            .define("PRODUCTS", self.products())
            .define("BLOCKS", self.blocks())
            .define("WIDE", u32::from(self.wide))
            .define("FIELDS", fields)
            .define("RAISED", raised)
            .define("MIXED", mixed)
            .define("JOINED", joined))
    }

    fn shared_bytes(&self) -> u32 {
        let planes = if self.wide { 1 } else { self.products() * self.primes };
        (planes * self.places() * size_of::<f64>()) as u32
    }

    fn threads(&self) -> u32 {
        self.threads_of_block() as u32
    }

    fn numbers(&self) -> u32 {
        self.products() as u32
    }
}

impl Gpu {
    /// Computes the limbs of a_i·b_i that the shape selects. The results may be written to the
    /// memory of an operand that is not broadcast and has as many limbs as a result.
    ///
    /// # Errors
    /// The device fails, the kernel cannot be compiled, or shared memory is too small.
    ///
    /// # Panics
    /// If the factors do not match the shape, a buffer has fewer than `count` numbers, or the
    /// results do not fit.
    pub(super) fn ntt(&self, shape: &Ntt, of: Factors<'_>) -> Result<(), DeviceError> {
        shape.product.assert_fits(&of);
        let Factors { a, b, count, out } = of;
        let roots = self.roots((shape.primes, shape.points()), || shape.roots())?;
        let blocks = self.device().info().multiprocessors as usize * shape.blocks();
        let blocks = blocks.clamp(1, count.max(1));
        let args = |scratch| {
            let (a_stride, b_stride) = (a.stride.into(), b.stride.into());
            let roots = (&*roots).into();
            [a.pointer(), b.pointer(), out.into(), roots, scratch, a_stride, b_stride]
        };
        if !shape.wide {
            // SAFETY: `count` factors have the shape's limbs, the roots are the shape's, and the
            // results fit.
            return unsafe { self.launch(shape, count, &args(Arg::NULL)) };
        }
        // Before the memory is locked, so that other threads can compile meanwhile.
        self.kernel(shape)?;
        self.with_scratch(blocks * shape.scratch(), |scratch| {
            // SAFETY: as above; each block has memory for its residues.
            unsafe { self.launch_blocks(shape, blocks, count, &args(scratch.into())) }
        })
    }
}
