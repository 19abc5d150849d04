//! Products and sums of products of any length by exact convolutions, on one thread or several.
//!
//! Both factors are split into digits of b bits, which are the coefficients of two polynomials. Let
//! q = 2^64 − 2^32 + 1. The size b is chosen such that the residue mod q of each coefficient of the
//! product polynomial determines the coefficient. The polynomials are multiplied by transforms over
//! the field of q elements (Schönhage and Strassen 1971, *Schnelle Multiplikation großer Zahlen*,
//! Computing 7, 281–292; for this field, Hérault 2025, *A Practical Introduction to LucasNTT*, §2).
//! A transform has 2^k, 3·2^k or 5·2^k points, at least as many as the product has digits. Nothing
//! is rounded.

mod coefficients;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};

use coefficients::Cut;

use super::{FastProducts, Matrix2, Multiplier, Windows, ntt};
use crate::limbs::{add_assign, trimmed};
use warpint_transform::cpu::goldilocks::{Cyclic, Digits, Pool, Pools, Term, cyclic};

/// The smallest number of limbs of the shorter factor for which a transform is faster than
/// Karatsuba's method.
const TRANSFORM_FROM: usize = 192;

/// The smallest number of limbs of the shorter factor for which a product of matrices is computed
/// faster by transforms than by Karatsuba's method. It is smaller than [`TRANSFORM_FROM`] because
/// the sums of products share the transforms of their factors.
const SHARED_TRANSFORM_FROM: usize = 80;

/// The smallest number of points of a transform for which the operands of one call are distributed
/// over several threads.
const ACROSS_FROM: usize = 1 << 12;

/// The smallest number of limbs of a product for which the products of one call are distributed
/// over several threads.
const APART_FROM: usize = 1 << 10;

/// The smallest number of limbs of a product for which a single product by 50-bit primes is
/// distributed over several threads.
const TOGETHER_FROM: usize = 1 << 14;

/// The smallest number of points for which one transform is distributed over several threads.
const WITHIN_FROM: usize = 1 << 15;

/// The largest number of points of a transform. It is enough for products of up to 1.2·10^9 bits.
/// If a product is longer, its longer factor is halved.
const MOST_POINTS: usize = 1 << 26;

/// A multiplier by transforms for factors of any length, on one thread or several.
///
/// Let n be the number of limbs of a product. The method depends on n and on the CPU.
///
/// *n ≤ 2^26, and the CPU has fused multiply-adds.* [`FastProducts`] and transforms over 50-bit
/// primes compute each product, and also each product of a sum, separately. The threads are used as
/// follows:
///
/// | a call has | n | threads |
/// |---|---|---|
/// | one product, or fewer products than threads | at least 2^14, with at least 192 limbs in the shorter factor | all threads compute one product after the other |
/// | several products | at least 2^10, and below 2^14 if there are fewer products than threads | each product has one thread |
/// | other cases | | the caller's thread |
///
/// A product takes 45·n to 60·n bytes of working memory. The memory of products on all threads is
/// kept for the next product. Tables of up to 120·n bytes are shared by the whole program.
/// [`Multiplier::windows`] gives each thread products of its own if there are enough of them;
/// otherwise, all threads compute one product after the other.
///
/// *All other cases.* If a factor has fewer than 192 limbs, [`FastProducts`] computes the product.
/// Longer products, and sums of products from 80 limbs on, are computed by transforms modulo 2^64 −
/// 2^32 + 1. A product costs three transforms of about 3·n points (64·n bits in digits of about 20
/// bits). Each transform takes 24·n bytes. For every transform length used, tables of 48·n bytes
/// are kept in memory.
///
/// A product by 50-bit primes takes a fifth of the time of a product modulo 2^64 − 2^32 + 1 (the
/// last column of the test `crossovers`). To share transforms within a sum of products would save
/// less.
pub struct TransformMultiplier {
    threads: Pool,
    caller: Pool,
    count: usize,
    tables: Mutex<BTreeMap<usize, Arc<dyn Cyclic>>>,
    most_points: usize,
    /// Whether this multiplier may use transforms over 50-bit primes, which are fast on CPUs with
    /// fused multiply-adds.
    primes: bool,
    /// The working memory of products by 50-bit primes on several threads.
    space: Mutex<ntt::Space>,
}

const TIMES: Term = Term { left: 0, right: 1, minus: false };

impl TransformMultiplier {
    /// Creates a multiplier with `threads` threads. If `threads` is 1, all work runs on the
    /// caller's thread.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self::by(threads, MOST_POINTS, ntt::is_fast())
    }

    fn by(threads: usize, most_points: usize, primes: bool) -> Self {
        Self {
            threads: Pool::new(threads),
            caller: Pool::new(1),
            count: threads,
            tables: Mutex::default(),
            most_points,
            primes,
            space: Mutex::default(),
        }
    }

    /// Creates a multiplier that does not use 50-bit primes.
    #[cfg(test)]
    pub(super) fn without_primes(threads: usize) -> Self {
        Self::by(threads, MOST_POINTS, false)
    }

    /// Returns the thread pool of this multiplier. A caller may run a whole computation on it.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        &self.threads
    }

    /// Returns whether products of at most `limbs` limbs are computed by transforms over 50-bit
    /// primes.
    fn by_primes(&self, limbs: usize) -> bool {
        self.primes && limbs <= ntt::MAX_LIMBS
    }

    /// Returns a·b, or a² if `a` and `b` are the same slice, by 50-bit primes on all threads.
    /// Returns `None` if the factors are too short for several threads or for transforms, or the
    /// product is too long.
    fn on_threads(&self, a: &[u64], b: &[u64]) -> Option<Vec<u64>> {
        let limbs = a.len() + b.len();
        let is_long = self.count > 1 && limbs >= TOGETHER_FROM && b.len() >= TRANSFORM_FROM;
        if !(is_long && self.by_primes(limbs)) {
            return None;
        }
        let mut product = vec![0; limbs];
        let second = (!std::ptr::eq(a, b)).then_some(b);
        let mut multiply = |space: &mut ntt::Space| {
            space.mul_on(&self.threads, self.count, &mut product, a, second)
        };
        // Another thread may be using the space. After a panic, the space can be used again,
        // because its contents do not matter.
        let done = match self.space.try_lock() {
            Ok(mut space) => multiply(&mut space),
            Err(TryLockError::Poisoned(space)) => multiply(&mut space.into_inner()),
            Err(TryLockError::WouldBlock) => multiply(&mut ntt::Space::default()),
        };
        done.then_some(product)
    }

    /// Returns the transform of least length with at least `points` points. Returns `None` if its
    /// length would exceed the largest number of points of this multiplier.
    fn cyclic(&self, points: usize) -> Option<Arc<dyn Cyclic>> {
        let n = length(points);
        if n > self.most_points {
            return None;
        }
        // After a panic, the map can be used again, because a table is inserted as a whole.
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = tables.get(&n) {
            return Some(Arc::clone(known));
        }
        let made: Arc<dyn Cyclic> = cyclic(n)?.into();
        tables.insert(n, Arc::clone(&made));
        Some(made)
    }

    /// Returns N sums Σ ± x·y of products of operands. Returns `None` if the factors are too long
    /// for a transform. Each sum has `left` + `right` limbs. If any of the sums has several terms,
    /// every sum has one limb more, and is in two's complement.
    ///
    /// `left` is the number of limbs of the longest left factor x of a term, and `right` is the
    /// number of limbs of the longest right factor y.
    fn sums<const N: usize>(
        &self,
        operands: &[&[u64]],
        [left, right]: [usize; 2],
        sums: [&[Term]; N],
    ) -> Option<[Vec<u64>; N]> {
        let most = |minus: bool| {
            let count = |sum: &&[Term]| sum.iter().filter(|term| term.minus == minus).count();
            sums.iter().map(count).max().unwrap_or(0) as u32
        };
        let cut = Cut::new(left.min(right), left.max(right), most(false), most(true));
        let tables = self.cyclic(cut.points)?;
        let pools = match cut.points {
            n if n >= WITHIN_FROM => Pools { across: &self.caller, within: &self.threads },
            n if n >= ACROSS_FROM => Pools { across: &self.threads, within: &self.caller },
            _ => Pools { across: &self.caller, within: &self.caller },
        };
        let digits: Vec<Digits> =
            operands.iter().map(|&limbs| Digits { limbs, bits: cut.bits }).collect();
        let limbs = left + right + usize::from(sums.iter().any(|sum| sum.len() > 1));
        tables
            .sums(pools, &digits, &sums, &|coefficients| cut.carried(coefficients, limbs))
            .try_into()
            .ok()
    }
}

/// Returns the least transform length 2^k, 3·2^k or 5·2^k that is at least `points`. The lengths
/// are at least 16, 48 and 80, because vectors of four lanes require k ≥ 4.
fn length(points: usize) -> usize {
    let power = points.max(16).next_power_of_two();
    [power / 8 * 5, power / 4 * 3].into_iter().find(|&n| n >= points.max(48)).unwrap_or(power)
}

impl Multiplier for TransformMultiplier {
    fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        let limbs = a.len() + b.len();
        let (a, b) = (trimmed(a), trimmed(b));
        let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
        let mut product = if let Some(product) = self.on_threads(long, short) {
            product
        } else if short.len() < TRANSFORM_FROM || self.by_primes(limbs) {
            FastProducts.mul(long, short)
        } else if std::ptr::eq(long, short) {
            let square = Term { right: 0, ..TIMES };
            match self.sums(&[long], [long.len(), short.len()], [&[square]]) {
                Some([product]) => product,
                None => self.halved(long, short),
            }
        } else {
            match self.sums(&[long, short], [long.len(), short.len()], [&[TIMES]]) {
                Some([product]) => product,
                None => self.halved(long, short),
            }
        };
        product.resize(limbs, 0);
        product
    }

    fn working_memory(&self, a: usize, b: usize) -> u64 {
        // A longer product consists of shorter ones. Their sum takes as much memory as the result.
        let most = if self.primes { ntt::MAX_LIMBS } else { self.most_points / 2 };
        let (limbs, is_long) = ((a + b).min(most) as u64, a + b > most);
        // 60 bytes a limb for the operands and 120 for the tables, or transforms modulo 2^64 − 2^32
        // + 1 with three operands and two tables.
        limbs * 180 + if is_long { 8 * (a + b) as u64 } else { 0 }
    }

    fn windows(&self, windows: &Windows<'_>, rows: &[u64], out: &mut [u64]) {
        if !(self.primes && windows.on(&self.threads, self.count, rows, out)) {
            windows.by_products(self, rows, out);
        }
    }

    fn mul_matrices(&self, m: Matrix2, n: Matrix2) -> [[Vec<u64>; 2]; 2] {
        let longest = |m: &Matrix2| m.iter().flatten().map(|x| trimmed(x).len()).max().unwrap_or(0);
        let sizes = [longest(&m), longest(&n)];
        let entries: Vec<&[u64]> = m.iter().chain(&n).flatten().map(|x| trimmed(x)).collect();
        let term = |left, right| Term { left, right, minus: false };
        let entry = |i: usize, j: usize| [term(2 * i, 4 + j), term(2 * i + 1, 6 + j)];
        let sums = [entry(0, 0), entry(0, 1), entry(1, 0), entry(1, 1)];
        let shared =
            sizes[0].min(sizes[1]) >= SHARED_TRANSFORM_FROM && !self.by_primes(sizes[0] + sizes[1]);
        let fast = shared
            .then(|| self.sums(&entries, sizes, sums.each_ref().map(|sum| &sum[..])))
            .flatten();
        match fast {
            Some([a, b, c, d]) => [[a, b], [c, d]],
            None => ByProducts(self).mul_matrices(m, n),
        }
    }

    fn mul_adjugate(&self, m: Matrix2, x: [&[u64]; 2]) -> [Vec<u64>; 2] {
        let [x0, x1] = x.map(trimmed);
        let [m00, m01, m10, m11] = [m[0][0], m[0][1], m[1][0], m[1][1]].map(trimmed);
        let longest = |all: &[&[u64]]| all.iter().map(|x| x.len()).max().unwrap_or(0);
        let sizes = [longest(&[m00, m01, m10, m11]), longest(&[x0, x1])];
        let term = |left, right, minus| Term { left, right, minus };
        let first = [term(3, 4, false), term(1, 5, true)];
        let second = [term(0, 5, false), term(2, 4, true)];
        let shared =
            sizes[0].min(sizes[1]) >= SHARED_TRANSFORM_FROM && !self.by_primes(sizes[0] + sizes[1]);
        shared
            .then(|| self.sums(&[m00, m01, m10, m11, x0, x1], sizes, [&first, &second]))
            .flatten()
            .unwrap_or_else(|| ByProducts(self).mul_adjugate(m, x))
    }
}

impl TransformMultiplier {
    /// Returns long·short, computed from the products of the two halves of `long` with `short`.
    fn halved(&self, long: &[u64], short: &[u64]) -> Vec<u64> {
        let (low, high) = long.split_at(long.len() / 2);
        let mut product = self.mul(low, short);
        product.resize(long.len() + short.len(), 0);
        add_assign(&mut product[low.len()..], &self.mul(high, short));
        product
    }
}

/// A multiplier that computes each product of a sum separately, by the default methods of
/// [`Multiplier`]. The products do not share transforms.
struct ByProducts<'a>(&'a TransformMultiplier);

impl Multiplier for ByProducts<'_> {
    fn mul(&self, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.0.mul(a, b)
    }

    fn products(&self, pairs: &[[&[u64]; 2]]) -> Vec<Vec<u64>> {
        let longest = pairs.iter().map(|[a, b]| a.len() + b.len()).max().unwrap_or(0);
        let occupied = self.0.count <= pairs.len();
        let is_apart = longest >= APART_FROM
            && (occupied || longest < TOGETHER_FROM)
            && self.0.by_primes(longest);
        let pool = if is_apart { &self.0.threads } else { &self.0.caller };
        pool.each(pairs.len(), |i| match pairs[i] {
            [a, b] if is_apart => FastProducts.mul(a, b),
            [a, b] => self.mul(a, b),
        })
    }
}

#[cfg(test)]
mod tests;
