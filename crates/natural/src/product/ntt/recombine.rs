//! Converts residues modulo k primes to a number in base 2^b.
//!
//! A coefficient is c = v_1 + p_1·(v_2 + p_2·(v_3 + …)) with 0 ≤ v_i < p_i (Garner 1959, *The
//! residue number system*, IRE Transactions on Electronic Computers EC-8, 140–147). The *mixed
//! digits* v_i follow from the residues r_i: v_1 = r_1, and, modulo p_i,
//!
//! v_i = r_i·Π_(l<i) p_l^−1 − Σ_(j<i) v_j·Π_(j≤l<i) p_l^−1.
//!
//! In each of these products of residues, one factor is a constant. Vectors of `f64` compute the
//! mixed digits. Integer arithmetic evaluates c, which is below p_1⋯p_k, and adds the carry.

use std::sync::OnceLock;

use warpint_arith::f50::Factor;
use warpint_arith::simd::{F64s, Kernel, run};
use warpint_transform::cpu::f50::{FieldVectors, Prime, load, store};
use warpint_transform::cpu::goldilocks::{Pool, Shared};

use super::plan::whole_limbs;
use crate::limbs::add_assign;

/// The number of coefficients of a block. A block fits in the first-level cache.
const BLOCK: usize = 128;

/// The largest number of primes.
const MOST: usize = 8;

/// The approximate least number of coefficients of a *range*, which a thread converts at a time.
/// There are at most 64 ranges.
const RANGE: usize = 1 << 12;

/// 2^52. The lowest 52 bits of the bit pattern of 2^52 + x are the integer x < 2^52.
const OFFSET: f64 = 4_503_599_627_370_496.0;
const LOW_BITS: u64 = (1 << 52) - 1;

/// A carry, in limbs.
type Carry = [u64; MOST];

/// The constants of the conversion for one prime p_i.
struct Constants {
    /// Π_(l<i) p_l^−1 mod p_i, of absolute value at most p_i.
    first: f64,
    /// The factors Π_(j≤l<i) p_l^−1 mod p_i for each j < i.
    others: Vec<Factor>,
}

fn constants() -> &'static [Constants] {
    static ALL: OnceLock<Vec<Constants>> = OnceLock::new();
    ALL.get_or_init(|| {
        let of = |i: usize| {
            let field = Prime::all()[i].field();
            let mut products = vec![1.0];
            for l in (0..i).rev() {
                let p = field.from_u64(Prime::all()[l].field().modulus());
                products.push(field.mul(products[i - 1 - l], field.inverse(p)));
            }
            let others = products[1..].iter().rev().map(|&x| field.factor(x)).collect();
            Constants { first: products[i], others }
        };
        (0..Prime::all().len()).map(of).collect()
    })
}

/// Computes out ← Σ c_j·2^(bits·j). Row i of `rows` has 2^scale times the residues of the
/// coefficients c_j modulo p, where p is prime i of [`Prime::all`]. These numbers are up to 5.65p
/// in absolute value. All rows have the same length, a multiple of 64. Only the first `count`
/// coefficients are used; the result must fit in `out`.
pub(super) fn digits(
    pool: &Pool,
    rows: &[&[f64]],
    scale: u32,
    count: usize,
    bits: usize,
    out: &mut [u64],
) {
    let range = |from: usize, to: usize, out: &mut [u64]| {
        let rows: Vec<&[f64]> = rows.iter().map(|row| &row[from..]).collect();
        let rows = &rows[..];
        let count = to - from;
        match rows.len() {
            2 => run(Range::<2> { rows, scale, count, bits, out }),
            3 => run(Range::<3> { rows, scale, count, bits, out }),
            4 => run(Range::<4> { rows, scale, count, bits, out }),
            5 => run(Range::<5> { rows, scale, count, bits, out }),
            6 => run(Range::<6> { rows, scale, count, bits, out }),
            7 => run(Range::<7> { rows, scale, count, bits, out }),
            8 => run(Range::<8> { rows, scale, count, bits, out }),
            k => unreachable!("there is no plan with {k} primes"),
        }
    };
    // Ranges begin at multiples of 64 coefficients, hence at whole limbs.
    let ranges = (count / RANGE).clamp(1, 64);
    let start = |r: usize| if r == ranges { count } else { r * (count / ranges) / 64 * 64 };
    let end = |r: usize, limbs: usize| if r == ranges { limbs } else { start(r) / 64 * bits };
    if ranges == 1 {
        range(0, count, out);
        return;
    }
    let limbs = out.len();
    let shared = Shared::new(out);
    let carries = pool.each(ranges, |r| {
        let (from, to) = (end(r, limbs).min(limbs), end(r + 1, limbs).min(limbs));
        // SAFETY: range r has limbs `end(r)` to `end(r + 1)` − 1, and `end` does not decrease. So
        // no two ranges overlap, and none exceeds `limbs`.
        range(start(r), start(r + 1), unsafe { shared.piece(from, to - from) })
    });
    for (r, carry) in carries.iter().enumerate() {
        let from = end(r + 1, limbs).min(limbs);
        let len = carry.iter().rposition(|&x| x != 0).map_or(0, |top| top + 1);
        add_assign(&mut out[from..], &carry[..len]);
    }
}

/// The conversion of a range of coefficients by K primes. As a kernel, it returns the carry out of
/// `out` if `out` has `count`·`bits`/64 limbs. If `out` has more limbs, the carry is written to
/// them, and the kernel returns 0.
struct Range<'a, const K: usize> {
    rows: &'a [&'a [f64]],
    scale: u32,
    count: usize,
    bits: usize,
    out: &'a mut [u64],
}

/// Returns a number of limbs that is enough for a product of `primes` primes below 2^49.5.
const fn limbs_of(primes: usize) -> usize {
    (99 * primes).div_ceil(128)
}

impl<const K: usize> Kernel for Range<'_, K> {
    type Output = Carry;

    #[inline(always)]
    fn run<V: F64s>(self, i: V::Instructions) -> Carry {
        let Self { rows, scale, count, bits, out } = self;
        let primes: [&Prime; K] = std::array::from_fn(|k| &Prime::all()[k]);
        let moduli = primes.map(|prime| prime.field().modulus());
        // 2^−e = −(p − 1)/2^e mod p, as 2^e divides p − 1.
        let firsts: [Factor; K] = std::array::from_fn(|k| {
            let field = primes[k].field();
            let power = -(((moduli[k] - 1) >> scale) as f64);
            field.factor(field.mul(constants()[k].first, power))
        });
        let fields = primes.map(|prime| FieldVectors::<V>::new(i, prime.field()));
        let mut values = [[OFFSET; BLOCK]; K];
        let mut writer = Writer { out, at: 0, word: 0, filled: 0 };
        let mut carry = [0; MOST];
        for start in (0..count).step_by(BLOCK) {
            let len = BLOCK.min(count - start);
            for at in (0..len).step_by(V::LANES) {
                mixed_digits(i, rows, start + at, &fields, &firsts, &mut values, at);
            }
            #[expect(clippy::needless_range_loop, reason = "j is an index of each of the rows")]
            for j in 0..len {
                let digits: [u64; K] = std::array::from_fn(|k| values[k][j].to_bits() & LOW_BITS);
                add::<K>(&mut carry, &evaluate(&moduli, digits));
                writer.push::<K>(&mut carry, bits);
            }
        }
        writer.finish(carry)
    }
}

/// Computes the mixed digits v_1, …, v_K of the coefficients from index `from` on, one in each
/// lane, and writes 2^52 + v_i to `values` from index `at` on.
///
/// The sum for v_i has at most 8 products up to 0.8p, so it is below 2^53.
#[inline(always)]
fn mixed_digits<V: F64s, const K: usize>(
    i: V::Instructions,
    rows: &[&[f64]],
    from: usize,
    fields: &[FieldVectors<V>; K],
    firsts: &[Factor; K],
    values: &mut [[f64; BLOCK]; K],
    at: usize,
) {
    let offset = V::splat(i, OFFSET);
    let mut v = [offset; K];
    let constants = constants();
    for k in 0..K {
        let f = &fields[k];
        let mut x = f.mul_by(load(i, &rows[k][from..]), f.factors(firsts[k]));
        for (&v, &factor) in v[..k].iter().zip(&constants[k].others[..k]) {
            x = x.sub(f.mul_by(v, f.factors(factor)));
        }
        v[k] = f.canonical(x);
        store(v[k].add(offset), &mut values[k][at..]);
    }
}

/// Returns v_1 + p_1·(v_2 + p_2·(v_3 + …)).
#[inline(always)]
fn evaluate<const K: usize>(p: &[u64; K], v: [u64; K]) -> Carry {
    let mut x = [0; MOST];
    x[0] = v[K - 1];
    for n in 1..K {
        let k = K - 1 - n;
        let mut high = v[k];
        for x in &mut x[..limbs_of(n)] {
            let product = u128::from(*x) * u128::from(p[k]) + u128::from(high);
            (*x, high) = (product as u64, (product >> 64) as u64);
        }
        if limbs_of(n + 1) > limbs_of(n) {
            x[limbs_of(n)] = high;
        }
    }
    x
}

/// Computes sum ← sum + x. The sum fits in `limbs_of(K)` limbs, because x is below p_1⋯p_K and the
/// old sum, a carry, is much smaller.
#[inline(always)]
fn add<const K: usize>(sum: &mut Carry, x: &Carry) {
    let mut carry = false;
    for (sum, &x) in sum[..limbs_of(K)].iter_mut().zip(x) {
        let (low, first) = sum.overflowing_add(x);
        let (low, second) = low.overflowing_add(u64::from(carry));
        (*sum, carry) = (low, first | second);
    }
}

/// Writes digits of the same number of bits to consecutive places.
struct Writer<'a> {
    out: &'a mut [u64],
    /// The next limb to write.
    at: usize,
    /// The lowest bits of this limb, and their number, below 64.
    word: u64,
    filled: u32,
}

impl Writer<'_> {
    /// Writes the lowest `bits` bits of `carry`, and shifts it right by as many bits.
    #[inline(always)]
    fn push<const K: usize>(&mut self, carry: &mut Carry, bits: usize) {
        let whole = whole_limbs(K);
        let rest = (bits - 64 * whole) as u32 % 64;
        for &limb in &carry[..whole] {
            self.limb(limb);
        }
        let top = carry[whole] & ((1 << rest) - 1);
        let (low, high) = (self.word | top << self.filled, top >> 1 >> (63 - self.filled));
        if let Some(out) = self.out.get_mut(self.at) {
            *out = low;
        }
        let filled = self.filled + rest;
        (self.word, self.at) = if filled >= 64 { (high, self.at + 1) } else { (low, self.at) };
        self.filled = filled % 64;
        for l in 0..limbs_of(K) {
            let limb = |l: usize| if l < limbs_of(K) { carry[l] } else { 0 };
            carry[l] = limb(l + whole) >> rest | limb(l + whole + 1) << 1 << (63 - rest);
        }
    }

    #[inline(always)]
    fn limb(&mut self, limb: u64) {
        if let Some(out) = self.out.get_mut(self.at) {
            *out = self.word | limb << self.filled;
        }
        self.word = limb >> 1 >> (63 - self.filled);
        self.at += 1;
    }

    /// Writes the carry to the remaining limbs and returns 0. If no limb remains, returns the
    /// carry.
    fn finish(mut self, carry: Carry) -> Carry {
        if self.at == self.out.len() && self.filled == 0 {
            return carry;
        }
        let mut limbs = carry.into_iter();
        while self.at < self.out.len() {
            self.limb(limbs.next().unwrap_or(0));
        }
        debug_assert!(self.word == 0 && limbs.all(|x| x == 0), "the product does not fit in `out`");
        [0; MOST]
    }
}
