//! Products on a device by convolution modulo primes of 50 bits.

use std::fmt::Write;

use warpint_arith::f50::{F50, Factor, PRIMES};
use warpint_device::{Arg, Buffer, DeviceError, Source, common};

use super::{Gpu, Operand, Part, Shape};

/// How `ntt.cu` is specialised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ntt {
    a_limbs: usize,
    /// None for a square.
    b_limbs: Option<usize>,
    part: Part,
    primes: usize,
    /// 1 or 3.
    parts: usize,
    log_part: u32,
    digit_bits: usize,
    /// Residues are in the device's memory.
    wide: bool,
}

/// Points that a thread holds.
const HOLDS: usize = 16;

/// Parts, and the logarithm of the points of each: 2^k and 3·2^k points, at most 2^13. A block's
/// shared memory and threads set the limit.
const LENGTHS: [(usize, u32); 11] =
    [(1, 8), (3, 7), (1, 9), (3, 8), (1, 10), (3, 9), (1, 11), (3, 10), (1, 12), (3, 11), (1, 13)];

/// Primes, and the bits of a digit: two of them, and 12 for the number of terms, are less than what
/// the primes have together (149.99, 199.98, 249.97, 299.97, 399.97, 549.96).
const DIGITS: [(usize, usize); 6] = [(3, 64), (4, 92), (5, 114), (6, 142), (8, 192), (11, 268)];

impl Ntt {
    /// The shortest transform modulo so many primes for factors of so many limbs (no second one
    /// for a square), on a device whose blocks have so many bytes of shared memory. `None` where
    /// there is none: for numbers of primes that are not in [`Self::primes`], and for factors of too
    /// many digits.
    ///
    /// A convolution of digits below 2^b, where the shorter factor has n of them, is at most
    /// n·(2^b − 1)² < 2^(2b)·n, and n ≤ 2^12.
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
        // Of three parts a factor has no more than two.
        let fits = |parts: usize, log: u32| {
            let most = if parts == 1 { 1 } else { 2 } << log;
            a_digits + b_digits <= parts << log && a_digits.max(b_digits) <= most
        };
        let (parts, log_part) = LENGTHS.into_iter().find(|&(parts, log)| fits(parts, log))?;
        let narrow =
            Self { a_limbs, b_limbs, part, primes, parts, log_part, digit_bits, wide: false };
        let shape = Self { wide: narrow.shared_bytes() > shared_memory, ..narrow };
        (shape.shared_bytes() <= shared_memory).then_some(shape)
    }

    /// About nanoseconds of a product on an H200, as it was measured there: a point costs more in
    /// longer transforms, where there are more primes to mix, in three parts, and with residues in
    /// global memory.
    pub(super) fn price(&self) -> f64 {
        let points = self.points() as f64;
        let log = points.log2();
        let of_point = 0.0100 + 0.0015 * (log - 8.0) + if log > 12.0 { 0.0040 } else { 0.0 };
        let mixing = 1.0 + 0.38 * (self.primes - 3) as f64;
        let parts = if self.parts == 1 { 1.0 } else { 1.25 };
        let wide = if self.wide { 1.3 } else { 1.0 };
        let square = if self.b_limbs.is_none() { 0.75 } else { 1.0 };
        points * self.primes as f64 * of_point * mixing * parts * wide * square
    }

    /// The numbers of primes that there are.
    pub fn primes() -> impl Iterator<Item = usize> {
        DIGITS.iter().map(|&(primes, _)| primes)
    }

    /// Points of a transform.
    #[must_use]
    pub fn points(&self) -> usize {
        self.parts << self.log_part
    }

    fn team(&self) -> usize {
        self.points() / HOLDS
    }

    /// Products of a block, to have about 128 threads.
    fn products(&self) -> usize {
        if self.wide { 1 } else { (128 / self.team()).max(1) }
    }

    /// Blocks of a multiprocessor: a thread has 128 of its 65,536 registers.
    fn blocks(&self) -> usize {
        (512 / self.threads_of_block()).max(1)
    }

    /// Doubles that a wide product has in the device's memory: SCRATCH of `ntt.cu`.
    fn scratch(&self) -> usize {
        let words = self.points() * self.digit_bits / 32;
        self.primes * self.places() + (words + words / 32 + 2 * self.team()).div_ceil(2)
    }

    /// Places of points in a plane.
    fn places(&self) -> usize {
        self.points() + self.points() / 16
    }

    fn threads_of_block(&self) -> usize {
        self.team() * self.products()
    }

    /// Stages of the passes. In the last one the points of a thread are neighbours, in the one
    /// before a multiple of 8 apart: then what threads do at a time is in different banks.
    fn radices(&self) -> &'static [u32] {
        match self.log_part {
            7 => &[4, 3],
            8 => &[4, 4],
            9 => &[3, 3, 3],
            10 => &[4, 3, 3],
            11 => &[4, 4, 3],
            12 => &[4, 4, 4],
            _ => &[4, 3, 3, 3],
        }
    }

    fn fields(&self) -> Result<Vec<F50>, DeviceError> {
        PRIMES.iter().take(self.primes).map(|&(p, ..)| F50::new(p).map_err(failed)).collect()
    }

    /// What `ntt.cu` wants as FIELDS, RAISED and MIXED.
    fn constants(&self) -> Result<[String; 3], DeviceError> {
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
                    let scale = if self.parts == 1 { 1 } else { 4 } << self.log_part;
                    f.factor(f.mul(inverse, f.inverse(f.from_u64(scale))))
                }
                std::cmp::Ordering::Greater => f.factor(0.0),
            });
            list(row.map(|factor| pair(factor.constants())))
        });
        Ok([
            list(fields.iter().map(|f| pair(f.constants()))),
            list(raised),
            list(mixed.collect::<Vec<_>>().into_iter()),
        ])
    }

    /// For each prime the tables of all passes, POINTS roots, then the same of their inverses.
    ///
    /// The root of block x is the power with exponent x, in log2(M) + 1 bits and reversed, of a
    /// root of unity of order 4M, M the points of a part. A pass of R stages on B blocks has the
    /// roots of their parts 2^r·β + c for r < R, c < 2^r, β < B, the last index innermost.
    fn roots(&self) -> Result<Vec<[f64; 2]>, DeviceError> {
        let bits = self.log_part + 1;
        let mut roots = Vec::with_capacity(2 * self.primes * self.points());
        for field in self.fields()? {
            let root = field.root_of_unity(bits + 1).ok_or_else(|| failed("no root"))?;
            for root in [root, field.inverse(root)] {
                let root = field.factor(root);
                let powers = std::iter::successors(Some(1.0), |&x| Some(field.mul_by(x, root)));
                let powers: Vec<Factor> = powers.take(1 << bits).map(|x| field.factor(x)).collect();
                let of_block = |x: usize| powers[x.reverse_bits() >> (usize::BITS - bits)];
                let mut blocks = self.parts;
                for stages in self.radices() {
                    for (r, c) in (0..*stages).flat_map(|r| (0..1 << r).map(move |c| (r, c))) {
                        roots.extend((0..blocks).map(|x| of_block((x << r) + c).constants()));
                    }
                    blocks <<= stages;
                }
                // There are as many roots less than points as there are parts.
                roots.extend(std::iter::repeat_n(field.factor(1.0).constants(), self.parts));
            }
        }
        Ok(roots)
    }
}

fn failed(why: impl std::fmt::Display) -> DeviceError {
    DeviceError::Failed {
        what: "a transform over fields of 50-bit primes".into(),
        message: why.to_string(),
    }
}

/// `{x,y}`; digits enough to give the same numbers again.
fn pair([x, y]: [f64; 2]) -> String {
    format!("{{{x:e},{y:e}}}")
}

/// `{a,b,…}`.
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
        let b_limbs = self.b_limbs.unwrap_or(self.a_limbs);
        let (first, out_limbs) = self.part.limbs(self.a_limbs, b_limbs);
        let [fields, raised, mixed] = self.constants()?;
        let radices: Vec<_> = self.radices().iter().map(ToString::to_string).collect();
        Ok(Source::new("ntt.cu", include_str!("../../kernels/ntt.cu"), &["ntt"])
            .headers(common::HEADERS)
            .define("A_LIMBS", self.a_limbs)
            .define("B_LIMBS", b_limbs)
            .define("FIRST", first)
            .define("OUT_LIMBS", out_limbs)
            .define("SQUARE", u32::from(self.b_limbs.is_none()))
            .define("PARTS", self.parts)
            .define("LOG_PART", self.log_part)
            .define("RADICES", radices.join(","))
            .define("DIGIT_BITS", self.digit_bits)
            .define("PRIMES", self.primes)
            .define("PRODUCTS", self.products())
            .define("BLOCKS", self.blocks())
            .define("WIDE", u32::from(self.wide))
            .define("FIELDS", fields)
            .define("RAISED", raised)
            .define("MIXED", mixed))
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
    /// `out_i` = the limbs of a_i·b_i that `part` asks for, a_i² without a b. `out` may be the
    /// memory of a or b where that has as many limbs and is not broadcast.
    ///
    /// # Errors
    /// The device fails, cannot compile the kernel, or has not enough shared memory.
    pub(super) fn ntt(
        &self,
        shape: &Ntt,
        a: Operand<'_>,
        b: Option<Operand<'_>>,
        count: usize,
        out: &Buffer<u32>,
    ) -> Result<(), DeviceError> {
        let b = b.unwrap_or(a);
        let roots = self.roots((shape.primes, shape.points()), || shape.roots())?;
        let blocks = self.device().info().multiprocessors as usize * shape.blocks();
        let blocks = blocks.clamp(1, count.max(1));
        let scratch = if shape.wide { Some(self.scratch(blocks * shape.scratch())?) } else { None };
        let args = [
            a.data.into(),
            b.data.into(),
            out.into(),
            (&*roots).into(),
            scratch.as_deref().map_or(Arg::Pointer(0), Arg::from),
            a.stride().into(),
            b.stride().into(),
        ];
        if shape.wide {
            return self.launch_blocks(shape, blocks, count, &args);
        }
        self.launch(shape, count, &args)
    }
}
