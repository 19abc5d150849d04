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
//! [`few`] keeps f or g, and a row of the matrix in one signed word: φ + 2^(k+1)·u + 2^(2k+3)·v for k
//! steps. At first φ is f mod 2^k, and (u, v) is (2^k, 0) or (0, 2^k). Every step acts on words as
//! it acts on f and g. So after j steps a word is the sum of products of an entry of the matrix of j
//! steps and a first word, divided by 2^j. As |u| + |v| ≤ 2^k, |φ| is below 2^k. Words are below
//! 2^(3k+4), and sums of two of them below 2^(3k+5) ≤ 2^59 for k ≤ 18. After k steps, (u, v) is
//! the row of the matrix of integers. As |φ| < 2^k and |u| ≤ 2^k, the parts are determined by the
//! word: φ + 2^k is from 0 to 2^(k+1) − 1, and φ + 2^k + 2^(k+1)·u is less than 2^(2k+2) in absolute
//! value.
//!
//! If [`Masks::HALVES_EXACTLY`] is false, a step halves numbers that are correct mod 2^j to numbers
//! that are correct mod 2^(j−1). Sums and differences are correct modulo the same power. After k
//! steps, words are correct mod 2^(64−k). The word plus 2^k + 2^(k+1)·2^k + 2^(2k+3)·(2^k − 1) has
//! three fields, which are not negative: φ + 2^k with k + 1 bits, u + 2^k with k + 2 bits, and
//! v + 2^k − 1 with k + 1 bits, because entries are never −2^k. These are 3k + 4 ≤ 64 − k bits for
//! k ≤ 15.

use super::masks::Masks;
use super::vector::{Kernel, unrolled};

/// Returns the largest number of steps until g = 0, for numbers |f| and |g| below 2^n. These are
/// ⌊(49n + 80)/17⌋ steps for n < 46, and ⌊(49n + 57)/17⌋ for longer numbers. As f² + 4g² is below
/// 5·2^(2n), the assumption of theorem 11.2 is true.
pub(super) const fn most_steps(n: usize) -> usize {
    (49 * n + if n < 46 { 80 } else { 57 }) / 17
}

/// The negative of the matrix of a batch of β = [`Lanes::BITS`](super::vector::Lanes::BITS) steps:
/// x and y of the combinations x·f + y·g = −2^β·f' and −2^β·g' for the numbers f' and g' after the
/// steps. The negative is used because its entries may be −2^β, but not 2^β.
pub(super) type Matrix<V> = [[V; 2]; 2];

/// The entries u, v, q and r of a matrix.
type Entries<V> = [V; 4];

/// Computes batches of steps for G groups. `minus_delta` is −δ, which is updated. `f` and `g` are the
/// lowest limbs.
pub(super) struct Batch<'a, V, const G: usize> {
    pub(super) minus_delta: &'a mut [V; G],
    pub(super) f: [V; G],
    pub(super) g: [V; G],
    /// 1 in every lane: see [`Masks::step`].
    pub(super) one: V,
}

impl<V: Masks, const G: usize> Kernel<V> for Batch<'_, V, G> {
    type Output = [Matrix<V>; G];

    #[inline(always)]
    fn run(self, proof: V::Proof) -> [Matrix<V>; G] {
        const {
            let [first, second, third] = V::PARTS;
            let most = if V::HALVES_EXACTLY { 18 } else { 15 };
            assert!(first + second + third == V::BITS, "parts of a batch");
            assert!(first <= most && second <= most && third <= most, "too long parts");
        };
        let Self { minus_delta, mut f, mut g, one } = self;
        // Before each part, at least as many bits of f and g are correct as there are steps left.
        let mut product = few(proof, V::PARTS[0], minus_delta, &mut f, &mut g, one);
        let second = few(proof, V::PARTS[1], minus_delta, &mut f, &mut g, one);
        multiply(&second, &mut product);
        if V::PARTS[2] > 0 {
            let third = few(proof, V::PARTS[2], minus_delta, &mut f, &mut g, one);
            multiply(&third, &mut product);
        }
        // A closure for `map` would not be inlined, and not be compiled for the vectors.
        let zero = V::splat(proof, 0);
        let mut matrices = [[[zero; 2]; 2]; G];
        unrolled!(j < G => {
            let [u, v, q, r] = product[j];
            matrices[j] = [[zero.sub(u), zero.sub(v)], [zero.sub(q), zero.sub(r)]];
        });
        matrices
    }
}

/// Computes k ≤ 18 steps, or k ≤ 15 if [`Masks::HALVES_EXACTLY`] is false, and returns their matrices. Divides f and g after the steps; of their bits,
/// k fewer are correct than before.
#[inline(always)]
fn few<V: Masks, const G: usize>(
    proof: V::Proof,
    k: u32,
    minus_delta: &mut [V; G],
    f: &mut [V; G],
    g: &mut [V; G],
    one: V,
) -> [Entries<V>; G] {
    let splat = |x| V::splat(proof, x);
    let (zero, lowest) = (splat(0), splat((1 << k) - 1));
    let (one_f, one_g) = (splat(1 << (2 * k + 1)), splat(1 << (3 * k + 3)));
    let (mut words_f, mut words_g) = (*f, *g);
    unrolled!(j < G => {
        words_f[j] = f[j].and(lowest).add(one_f);
        words_g[j] = g[j].and(lowest).add(one_g);
    });
    for _ in 0..k {
        unrolled!(j < G => {
            let words = [words_f[j], words_g[j], minus_delta[j]];
            [words_f[j], words_g[j], minus_delta[j]] = V::step(proof, words, one);
        });
    }
    let mut matrices = [[zero; 4]; G];
    unrolled!(j < G => {
        let [u, v] = parts(proof, k, words_f[j]);
        let [q, r] = parts(proof, k, words_g[j]);
        matrices[j] = [u, v, q, r];
        let (x, y) = (f[j], g[j]);
        f[j] = zero.add_low(proof, u, x).add_low(proof, v, y).shr(u64::from(k));
        g[j] = zero.add_low(proof, q, x).add_low(proof, r, y).shr(u64::from(k));
    });
    matrices
}

/// Returns u and v from the word φ + 2^(k+1)·u + 2^(2k+3)·v.
#[inline(always)]
fn parts<V: Masks>(proof: V::Proof, k: u32, word: V) -> [V; 2] {
    let splat = |x| V::splat(proof, x);
    let (of_u, of_v) = (u64::from(k + 1), u64::from(2 * k + 3));
    if V::HALVES_EXACTLY {
        let above = 64 - of_v;
        let word = word.add(splat(1 << k));
        let u = word.shl_each(splat(above)).shr_signed(above + of_u);
        let v = word.add(splat(1 << (of_v - 1))).shr_signed(of_v);
        return [u, v];
    }
    let (least_u, least_v) = (1 << k, (1 << k) - 1);
    let fields = word.add(splat((1 << k) + (least_u << of_u) + (least_v << of_v)));
    let u = fields.shr(of_u).and(splat((4 << k) - 1));
    let v = fields.shr(of_v).and(splat((2 << k) - 1));
    [u.sub(splat(least_u)), v.sub(splat(least_v))]
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
