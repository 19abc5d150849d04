//! Two bases of residues, and the matrices that convert between them.

use warpint_arith::primes::{mul_mod, pow_mod, primes_between};
use warpint_device::{Buffer, Device, DeviceError};
use warpint_natural::limbs;

/// The constants of `power_residues.cu` for two bases of n primes below 2^32 each. A is the product
/// of the primes of the first base, and B the product of the primes of the second base.
#[derive(Debug)]
pub(in super::super::super) struct Bases {
    /// Five matrices, one after the other. In this order, they convert residues of the first base
    /// to residues of the second base; residues of the second base to residues of the first base;
    /// limbs to residues of the first base; limbs to residues of the second base; residues of the
    /// second base to limbs.
    pub(super) matrices: Buffer<u32>,
    /// The constants for computing with residues, in the order that `power_residues.cu` expects.
    /// Each kind of constant has a row of n words, where n is the number of primes of a base.
    pub(super) words: Buffer<u32>,
    /// The square of the product of the n primes of the first base, with 2n limbs.
    pub(super) square: Buffer<u32>,
}

/// One base: the primes modulo which residues are taken.
struct Base {
    primes: Vec<u64>,
    /// The product of the primes.
    product: Vec<u64>,
}

impl Base {
    fn new(primes: Vec<u64>) -> Self {
        let mut product = vec![1];
        for &p in &primes {
            let carry = limbs::mul_small_assign(&mut product, p);
            product.push(carry);
        }
        limbs::trim(&mut product);
        Self { primes, product }
    }

    /// Returns one number for each prime of the base: the product of all other primes of the base,
    /// reduced modulo p.
    fn parts(&self, p: u64) -> Vec<u64> {
        let mut above = vec![1; self.primes.len()];
        for i in (1..above.len()).rev() {
            above[i - 1] = mul_mod(above[i], self.primes[i], p);
        }
        let mut below = 1;
        for (part, &prime) in above.iter_mut().zip(&self.primes) {
            *part = mul_mod(*part, below, p);
            below = mul_mod(below, prime, p);
        }
        above
    }

    /// Returns one number for each prime of the base: the product of all other primes of the base,
    /// reduced modulo this prime.
    fn own_parts(&self) -> impl Iterator<Item = u64> {
        self.primes.iter().enumerate().map(|(i, &p)| self.parts(p)[i])
    }
}

fn inverse(x: u64, p: u64) -> u64 {
    pow_mod(x, p - 2, p)
}

/// Returns the n 32-bit limbs of the number with the 64-bit limbs x, the lowest first. The number
/// must be less than 2^(32·n).
fn words_of(x: &[u64], n: usize) -> Vec<u32> {
    let mut words: Vec<u32> = x.iter().flat_map(|&x| [x as u32, (x >> 32) as u32]).collect();
    words.resize(n, 0);
    words
}

/// Appends a matrix W of `rows` rows and `columns` columns to `matrices`, and fills it up to
/// `padded` rows with zeros. `shifted(j, i)` returns four words for the entry W_ji in row j and
/// column i. Word k, from 0 to 3, is W_ji·2^(8k) modulo the prime of row j. For the matrix that
/// converts to limbs, word k is limb j of x·2^(8k), where x is the number of column i.
fn append(
    matrices: &mut Vec<u32>,
    [rows, padded, columns]: [usize; 3],
    shifted: impl Fn(usize, usize) -> [u32; 4],
) {
    let begin = matrices.len();
    matrices.resize(begin + 4 * padded * columns, 0);
    let matrix = &mut matrices[begin..];
    for j in 0..rows {
        for i in 0..columns {
            let bytes = shifted(j, i).map(u32::to_le_bytes);
            for byte in 0..4 {
                let word = u32::from_le_bytes(bytes.map(|b| b[byte]));
                // The layout that `combine` of the kernel reads: quads of a group, a step, two
                // bytes, and a lane.
                let lane = j % 8 * 4 + i % 8 / 2;
                let quad = ((j / 8 * (columns / 8) + i / 8) * 2 + byte / 2) * 32 + lane;
                matrix[4 * quad + i % 2 * 2 + byte % 2] = word;
            }
        }
    }
}

impl Bases {
    /// Computes two bases of n primes each, with `padded` rows of words per matrix. Requires n ≤
    /// 1,465, since the primes are taken from the 2,931 primes between 2^32 − 2^16 and 2^32.
    ///
    /// # Errors
    /// The device fails.
    pub(super) fn new(device: &Device, n: usize, padded: usize) -> Result<Self, DeviceError> {
        let top = 1 << 32;
        let primes: Vec<u64> = primes_between(top - (1 << 16), top).collect();
        let mut primes = primes.into_iter().rev();
        let a = Base::new(primes.by_ref().take(n).collect());
        let b = Base::new(primes.take(n).collect());
        debug_assert_eq!([a.primes.len(), b.primes.len()], [n; 2]);

        let mut words: Vec<u32> = vec![];
        let mut row = |of: &mut dyn Iterator<Item = u64>| words.extend(of.map(|x| x as u32));
        let of = |base: &Base, p: u64| limbs::rem_small(&base.product, p);
        let b_parts: Vec<u64> = b.own_parts().collect();
        let each_b = || b.primes.iter().copied().zip(b_parts.iter().copied());
        // p^(−1) mod 2^32; the start value is right in 3 bits.
        let of_word = |&p: &u64| {
            let p = p as u32;
            let next = |x: u32, _| x.wrapping_mul(2u32.wrapping_sub(p.wrapping_mul(x)));
            u64::from((0..4).fold(p, next))
        };
        let raised = |x: u64, e: u64, p: u64| mul_mod(x, pow_mod(top, e, p), p);
        row(&mut a.primes.iter().copied());
        row(&mut a.primes.iter().map(of_word));
        row(&mut a.primes.iter().map(|&p| p - of(&b, p)));
        let a_parts = a.primes.iter().zip(a.own_parts());
        row(&mut a_parts.map(|(&p, part)| p - raised(inverse(part, p), 2, p)));
        row(&mut b.primes.iter().copied());
        row(&mut b.primes.iter().map(of_word));
        row(&mut each_b().map(|(p, part)| raised(mul_mod(part, inverse(of(&a, p), p), p), 2, p)));
        row(&mut each_b().map(|(p, _)| raised(inverse(of(&a, p), p), 4, p)));
        row(&mut each_b().map(|(p, part)| inverse(part, p)));
        row(&mut words_of(&b.product, n).into_iter().map(u64::from));

        let size = [n, padded, n];
        let mut matrices = vec![];
        let shifts = |x: u64, p: u64| [0, 8, 16, 24].map(|k| ((x << k) % p) as u32);
        for (from, to) in [(&a, &b), (&b, &a)] {
            let parts: Vec<Vec<u64>> = to.primes.iter().map(|&p| from.parts(p)).collect();
            append(&mut matrices, size, |j, i| shifts(parts[j][i], to.primes[j]));
        }
        for (base, factors) in [(&a, None), (&b, Some(&b_parts))] {
            let factor =
                |j: usize, p| factors.map_or(1, |parts| raised(inverse(parts[j], p), 1, p));
            let powers: Vec<Vec<u64>> = base
                .primes
                .iter()
                .enumerate()
                .map(|(j, &p)| {
                    let next = |x: &u64| Some(mul_mod(*x, top, p));
                    std::iter::successors(Some(factor(j, p)), next).take(n).collect()
                })
                .collect();
            append(&mut matrices, size, |j, i| shifts(powers[j][i], base.primes[j]));
        }
        let parts: Vec<Vec<u32>> = b
            .primes
            .iter()
            .map(|&p| {
                let mut part = b.product.clone();
                limbs::div_rem_small(&mut part, p);
                words_of(&part, n)
            })
            .collect();
        append(&mut matrices, size, |j, i| {
            let limb = |j| u64::from(parts[i][j]);
            let both = limb(j) << 32 | if j > 0 { limb(j - 1) } else { 0 };
            [32, 24, 16, 8].map(|k| (both >> k) as u32)
        });
        // The kernel may read quads of one more step.
        matrices.resize(matrices.len() + 256, 0);
        Ok(Self {
            matrices: device.upload(&matrices)?,
            words: device.upload(&words)?,
            square: device.upload(&words_of(&limbs::mul(&a.product, &a.product), 2 * n))?,
        })
    }
}
