//! Cuts a number into digits and reduces them modulo each prime.

use warpint_arith::f50::{F50, Factor};
use warpint_arith::simd::{F64s, Kernel, run};
use warpint_transform::cpu::f50::{FieldVectors, Prime, load, store};

/// The number of digits that are cut at a time. Their pieces stay in the first-level cache.
const BLOCK: usize = 256;

/// The largest number of bits of a *piece*, a part of a digit. Pieces are below 2^48 < 0.36·p for
/// each prime p.
const PIECE: usize = 48;

/// The largest number of pieces of a digit.
const PIECES: usize = 4;

/// 2^52. The bitwise OR of an integer x < 2^52 and the bit pattern of 2^52 is the bit pattern of
/// 2^52 + x.
const OFFSET: f64 = 4_503_599_627_370_496.0;
const OFFSET_BITS: u64 = OFFSET.to_bits();

/// Writes the residues of digits `first` to `first + len − 1` of `number` modulo each prime, where
/// `len` is the common length of the slices of `to`, one for each prime. `len` must be a multiple
/// of 8. Digits have `bits` bits, at most 192. Digits beyond the number are zero. Residues are up
/// to 0.9p in absolute value.
pub(super) fn residues(
    number: &[u64],
    bits: usize,
    first: usize,
    primes: &[Prime],
    to: &mut [&mut [f64]],
) {
    run(Residues { number, bits, first, primes, to });
}

struct Residues<'a, 'b> {
    number: &'a [u64],
    bits: usize,
    first: usize,
    primes: &'a [Prime],
    to: &'a mut [&'b mut [f64]],
}

impl Kernel for Residues<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<V: F64s>(self, i: V::Instructions) {
        let Self { number, bits, first, primes, to } = self;
        let len = to.first().map_or(0, |to| to.len());
        let count = bits.div_ceil(PIECE);
        let size = bits.div_ceil(count);
        let factors: Vec<[Factor; PIECES - 1]> =
            primes.iter().map(|prime| powers(prime.field(), size)).collect();
        let mut pieces = [[OFFSET; BLOCK]; PIECES];
        for at in (0..len).step_by(BLOCK) {
            let end = len.min(at + BLOCK);
            if (first + at) * bits >= 64 * number.len() {
                to.iter_mut().for_each(|to| to[at..end].fill(0.0));
                continue;
            }
            for (j, pieces) in pieces[..count].iter_mut().enumerate() {
                let from = (first + at) * bits + j * size;
                cut(number, from, bits, size.min(bits - j * size), pieces);
            }
            for ((prime, factors), to) in primes.iter().zip(&factors).zip(to.iter_mut()) {
                let f = FieldVectors::<V>::new(i, prime.field());
                let to = &mut to[at..end];
                match count {
                    1 => reduce::<V, 1>(i, f, &pieces, factors, to),
                    2 => reduce::<V, 2>(i, f, &pieces, factors, to),
                    3 => reduce::<V, 3>(i, f, &pieces, factors, to),
                    _ => reduce::<V, 4>(i, f, &pieces, factors, to),
                }
            }
        }
    }
}

/// Returns the factors 2^size, 2^(2·size), …
fn powers(field: F50, size: usize) -> [Factor; PIECES - 1] {
    let power = (1u64 << size) as f64;
    let mut x = 1.0;
    [(); PIECES - 1].map(|()| {
        x = field.mul(x, power);
        field.factor(x)
    })
}

/// Writes 2^52 + x_k for each k to `to`, where x_k consists of the `size` bits of `number` from
/// position `from` + k·`step` on. `size` is at most 48. Bits beyond the number are zero.
#[inline(always)]
fn cut(number: &[u64], from: usize, step: usize, size: usize, to: &mut [f64; BLOCK]) {
    let mask = (1 << size) - 1;
    // The bits of one x_k are in the eight bytes from the byte of its first bit on. The positions
    // for which all these bytes are in the number are at most 64·(limbs − 1) + 7.
    let last = (64 * number.len()).saturating_sub(64 - 7);
    let inside =
        if number.is_empty() || last < from { 0 } else { BLOCK.min((last - from) / step + 1) };
    let (most, rest) = to.split_at_mut(if cfg!(target_endian = "little") { inside } else { 0 });
    let start = number.as_ptr().cast::<u8>();
    let mut at = from;
    for to in most {
        // SAFETY: at ≤ `last` = 64·(limbs − 1) + 7, so ⌊at/8⌋ + 8 ≤ 8·limbs: the number has eight
        // bytes from byte ⌊at/8⌋ on.
        let bytes = unsafe { start.add(at / 8).cast::<u64>().read_unaligned() };
        *to = f64::from_bits(OFFSET_BITS | bytes >> (at % 8) & mask);
        at += step;
    }
    for to in rest {
        let (limb, shift) = (at / 64, at % 64);
        let bits = match number[limb.min(number.len())..] {
            [low, high, ..] => low >> shift | high << 1 << (63 - shift),
            [low] => low >> shift,
            [] => 0,
        };
        *to = f64::from_bits(OFFSET_BITS | bits & mask);
        at += step;
    }
}

/// Writes Σ_j x_j·2^(j·size) mod p for each digit, where x_0, …, x_(C−1) are its pieces. Each
/// product is up to (½ + 0.36/22)·p ([`warpint_arith::f50::MEDIUM`]), and x_0 is up to 0.36p. So
/// the sum of two terms is up to 0.88p. The sum of more terms is reduced.
#[inline(always)]
fn reduce<V: F64s, const C: usize>(
    i: V::Instructions,
    f: FieldVectors<V>,
    pieces: &[[f64; BLOCK]; PIECES],
    factors: &[Factor; PIECES - 1],
    to: &mut [f64],
) {
    let offset = V::splat(i, OFFSET);
    for (k, to) in to.chunks_exact_mut(V::LANES).enumerate() {
        let mut sum = load::<V>(i, &pieces[0][k * V::LANES..]).sub(offset);
        for j in 1..C {
            let piece = load::<V>(i, &pieces[j][k * V::LANES..]).sub(offset);
            sum = sum.add(f.mul_by(piece, f.factors(factors[j - 1])));
        }
        store(if C > 2 { f.reduce(sum) } else { sum }, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    #[test]
    fn residues_are_those_of_the_digits() {
        let number = Sample::new(1).number(100);
        for bits in [1, 31, 44, 48, 49, 64, 69, 94, 96, 97, 128, 143, 145, 191, 192] {
            for (first, len) in [(0, 64), (64, 320), (128, 512)] {
                let mut rows = vec![vec![1.0; len]; Prime::all().len()];
                let mut to: Vec<&mut [f64]> = rows.iter_mut().map(|row| &mut row[..]).collect();
                residues(&number, bits, first, Prime::all(), &mut to);
                for (prime, row) in Prime::all().iter().zip(&rows) {
                    let p = prime.field().modulus();
                    for (k, &x) in row.iter().enumerate() {
                        // Bit by bit, from the highest.
                        let bit = |at: usize| number.get(at / 64).map_or(0, |x| x >> (at % 64) & 1);
                        let places = (first + k) * bits..(first + k + 1) * bits;
                        let want = places.rev().fold(0, |x, at| (2 * x + bit(at)) % p);
                        assert!(x.abs() <= 0.9 * p as f64);
                        assert_eq!(prime.field().to_u64(x), want, "{bits} bits, digit {k}");
                    }
                }
            }
        }
    }
}
