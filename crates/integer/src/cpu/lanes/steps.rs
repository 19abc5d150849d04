//! Division steps (Bernstein and Yang 2019, *Fast constant-time gcd computation and modular
//! inversion*, IACR Transactions on Cryptographic Hardware and Embedded Systems 2019 (3), 340–398)
//! on the lowest bits of two numbers, one pair of numbers per lane.
//!
//! For an odd f, any g, and an integer δ, which is 1 at first, a step is
//!
//! * δ, f, g ← 1 − δ, g, (g − f)/2 if δ > 0 and g is odd;
//! * δ, f, g ← 1 + δ, f, (g + (g mod 2)·f)/2 otherwise.
//!
//! Steps preserve gcd(f, g), up to its sign. If |f| and |g| are below 2^n, g is 0 after
//! [`most_steps`]`(n)` steps (theorem 11.2 there), and f is then plus or minus the greatest common
//! divisor. Once g is 0, further steps change only δ. The steps of −f and −g are those of f and g.
//!
//! K steps depend on the K lowest bits of f and g only, and on δ. They multiply the column (f, g)
//! by a matrix ((u, v), (q, r))/2^K of integers.
//!
//! # Bounds
//! Rows of the matrix divided by 2^K are (1, 0) and (0, 1) at first. Later rows are copies of
//! others, or halves of a row, of a sum or of a difference. So |u| + |v| ≤ 2^K and |q| + |r| ≤ 2^K,
//! and a step does not increase the larger one of |f| and |g|. A halved sum or difference is a unit
//! vector, or its negative, only if the two rows are equal up to the sign, but rows are linearly
//! independent. So the only unit vectors are (1, 0) and (0, 1): entries are never −2^K.
//!
//! [`few`] keeps f and a row of the matrix in one signed word: φ + 2^(k+1)·u + 2^(2k+3)·v for k
//! steps. At first φ is f mod 2^k, and (u, v) is (2^k, 0) or (0, 2^k). Every step acts on words as
//! it acts on f and g. So after j steps a word is the sum of products of an entry of the matrix of j
//! steps and a first word, divided by 2^j. As |u| + |v| ≤ 2^k, |φ| is below 2^k. Words are below
//! 2^(3k+4), and sums of two of them below 2^(3k+5) ≤ 2^59 for k ≤ 18. After k steps, (u, v) is
//! the row of the matrix of integers. As |φ| < 2^k and |u| ≤ 2^k, the parts are determined by the
//! word: φ + 2^k is from 0 to 2^(k+1) − 1, and φ + 2^k + 2^(k+1)·u is less than 2^(2k+2) in absolute
//! value.

use super::masks::{Masks, add_low};
use super::vector::{Kernel, digit, unrolled};

/// The number of steps in a batch: as many as a limb has bits.
pub(super) const BATCH: u32 = 52;
/// The numbers of steps in the three parts of a batch, each at most 18.
const PARTS: [u32; 3] = [18, 17, 17];

/// Returns the largest number of steps until g = 0, for numbers |f| and |g| below 2^n. These are
/// ⌊(49n + 80)/17⌋ steps for n < 46, and ⌊(49n + 57)/17⌋ for longer numbers. As f² + 4g² is below
/// 5·2^(2n), the assumption of theorem 11.2 is true.
pub(super) const fn most_steps(n: usize) -> usize {
    (49 * n + if n < 46 { 80 } else { 57 }) / 17
}

/// A linear combination x·f + y·g of two numbers, per lane, with integers x and y from −2^52 to
/// 2^52 − 1. x is `f` − 2^52 in the lanes of `minus_f`, and `f` in the others. The limb `g` and
/// `minus_g` are the same for y.
#[derive(Clone, Copy)]
pub(super) struct Row<V> {
    pub(super) f: V,
    pub(super) g: V,
    pub(super) minus_f: u8,
    pub(super) minus_g: u8,
}

/// The negative of the matrix of a batch of steps: the combinations −2^52·f' and −2^52·g' for the
/// numbers f' and g' after the steps. The negative is used because its entries may be −2^52, but
/// not 2^52.
pub(super) type Matrix<V> = [Row<V>; 2];

/// The entries u, v, q and r of a matrix.
type Entries<V> = [V; 4];

/// Computes batches of steps for G groups. `minus_delta` is −δ, which is updated. `f` and `g` are the
/// lowest limbs. Several groups are faster than one, because the operations of a step depend on each
/// other.
pub(super) struct Batch<'a, V, const G: usize> {
    pub(super) minus_delta: &'a mut [V; G],
    pub(super) f: [V; G],
    pub(super) g: [V; G],
    /// 1 in every lane. The compiler replaces a test with a constant by two instructions.
    pub(super) one: V,
}

impl<V: Masks, const G: usize> Kernel<V> for Batch<'_, V, G> {
    type Output = [Matrix<V>; G];

    #[inline(always)]
    fn run(self, proof: V::Proof) -> [Matrix<V>; G] {
        const { assert!(V::BITS == BATCH && PARTS[0] + PARTS[1] + PARTS[2] == BATCH) };
        let Self { minus_delta, mut f, mut g, one } = self;
        let zero = V::splat(proof, 0);
        // After the first part, 34 bits of f and g are correct, and 17 after the second.
        let mut product = few::<V, G, { PARTS[0] }>(proof, minus_delta, &mut f, &mut g, one);
        let second = few::<V, G, { PARTS[1] }>(proof, minus_delta, &mut f, &mut g, one);
        multiply(&second, &mut product);
        let third = few::<V, G, { PARTS[2] }>(proof, minus_delta, &mut f, &mut g, one);
        multiply(&third, &mut product);
        // A closure for `map` would not be inlined, and not be compiled for the vectors.
        let unset = Row { f: zero, g: zero, minus_f: 0, minus_g: 0 };
        let mut matrices = [[unset; 2]; G];
        unrolled!(j < G => {
            let [u, v, q, r] = product[j];
            matrices[j] = [negative(proof, u, v), negative(proof, q, r)];
        });
        matrices
    }
}

/// Returns the combination with −x and −y.
#[inline(always)]
fn negative<V: Masks>(proof: V::Proof, x: V, y: V) -> Row<V> {
    let zero = V::splat(proof, 0);
    let (f, g) = (zero.sub(x), zero.sub(y));
    let (minus_f, minus_g) = (f.negative(), g.negative());
    Row { f: digit(proof, f), g: digit(proof, g), minus_f, minus_g }
}

/// Computes K ≤ 18 steps and returns their matrices. Divides f and g after the steps; of their bits,
/// K fewer are correct than before.
#[inline(always)]
fn few<V: Masks, const G: usize, const K: u32>(
    proof: V::Proof,
    minus_delta: &mut [V; G],
    f: &mut [V; G],
    g: &mut [V; G],
    one: V,
) -> [Entries<V>; G] {
    let (of_u, of_v) = (K + 1, 2 * K + 3);
    let splat = |x| V::splat(proof, x);
    let (zero, minus_one, lowest) = (splat(0), splat(u64::MAX), splat((1 << K) - 1));
    let (one_f, one_g) = (splat(1 << (of_u + K)), splat(1 << (of_v + K)));
    let (mut words_f, mut words_g) = (*f, *g);
    unrolled!(j < G => {
        words_f[j] = f[j].and(lowest).add(one_f);
        words_g[j] = g[j].and(lowest).add(one_g);
    });
    for _ in 0..K {
        unrolled!(j < G => {
            let (f, g, z) = (words_f[j], words_g[j], minus_delta[j]);
            let positive = z.negative();
            let odd = g.meets(one);
            let swap = positive & odd;
            let term = f.select(positive, zero.sub(f));
            words_f[j] = f.select(swap, g);
            words_g[j] = g.select(odd, g.add(term)).shr_signed(1);
            minus_delta[j] = z.add(minus_one).select(swap, minus_one.sub(z));
        });
    }
    let mut matrices = [[zero; 4]; G];
    unrolled!(j < G => {
        let [u, v] = parts::<V, K>(proof, words_f[j]);
        let [q, r] = parts::<V, K>(proof, words_g[j]);
        matrices[j] = [u, v, q, r];
        let (x, y) = (f[j], g[j]);
        f[j] = add_low(proof, add_low(proof, zero, u, x), v, y).shr(u64::from(K));
        g[j] = add_low(proof, add_low(proof, zero, q, x), r, y).shr(u64::from(K));
    });
    matrices
}

/// Returns u and v from the word φ + 2^(K+1)·u + 2^(2K+3)·v.
#[inline(always)]
fn parts<V: Masks, const K: u32>(proof: V::Proof, word: V) -> [V; 2] {
    let (of_u, of_v) = (u64::from(K + 1), u64::from(2 * K + 3));
    let above = 64 - of_v;
    let word = word.add(V::splat(proof, 1 << K));
    let u = word.shl_each(V::splat(proof, above)).shr_signed(above + of_u);
    let v = word.add(V::splat(proof, 1 << (of_v - 1))).shr_signed(of_v);
    [u, v]
}

/// Sets each y to the product x·y of matrices. Entries of products of matrices of j and k steps, and
/// their intermediate values, are at most 2^(j+k) in absolute value.
#[inline(always)]
fn multiply<V: Masks, const G: usize>(x: &[Entries<V>; G], y: &mut [Entries<V>; G]) {
    unrolled!(j < G => {
        let [u, v, q, r] = x[j];
        let [a, b, c, d] = y[j];
        y[j] = [
            u.mul(a).add(v.mul(c)),
            u.mul(b).add(v.mul(d)),
            q.mul(a).add(r.mul(c)),
            q.mul(b).add(r.mul(d)),
        ];
    });
}
