//! Division. The method depends on the lengths of the divisor and of the quotient:
//!
//! * Divisors of one or two limbs: each limb of the quotient is computed with the reciprocal of the
//!   divisor (`reciprocal`).
//! * Short divisors or short quotients: the schoolbook method, algorithm D (Knuth 1997, *The Art of
//!   Computer Programming* 2, §4.3.1). Each limb of the quotient is estimated with the reciprocal
//!   of the two top limbs of the divisor. The estimate is rarely too large, and never by more
//!   than 1.
//! * Long divisors and long quotients: recursive division (Burnikel and Ziegler 1998, *Fast
//!   Recursive Division*). A block of k limbs of the quotient is estimated by a division by the k
//!   top limbs of the divisor. The product of the estimate and the other limbs of the divisor gives
//!   the correction. The estimate is too large by at most 2. The remainder replaces the dividend.

mod reciprocal;

use std::cmp::Ordering;

use crate::kernels::sub_row;
use crate::limbs::{
    add_assign, at_least, compare, copy_to, shift_left_to, sub_assign, trim, trimmed,
};
use crate::product::{Multiplier, Products};
pub use reciprocal::OneLimb;
use reciprocal::TwoLimbs;

/// The smallest number of 64-bit limbs of the divisor for which recursive division is faster than
/// the schoolbook method. The schoolbook method is also used for quotients of fewer than half this
/// number of limbs. Measured by `cargo test --release -p warpint-natural division_crossover --
/// --ignored --nocapture` on an AMD EPYC with AVX2.
const RECURSIVE_FROM: usize = 48;

/// A divisor d, shifted so that its top bit is set, with the reciprocal of its top limbs.
#[derive(Debug, Default)]
struct Divisor {
    /// The limbs of d·2^shift, without leading zero limbs and with the top bit set. For d = 0,
    /// there are no limbs.
    limbs: Vec<u64>,
    shift: u32,
    top: Top,
}

/// The reciprocal with which each limb of a quotient is estimated. For a shifted divisor of one
/// limb, it is the reciprocal of the shifted divisor. For a longer one, it is the reciprocal of the
/// number formed by the two top limbs. The divisor 0 has no reciprocal.
#[derive(Debug, Default, Clone, Copy)]
enum Top {
    #[default]
    Zero,
    One(OneLimb),
    Two(TwoLimbs),
}

impl Divisor {
    #[inline]
    fn set(&mut self, d: &[u64]) {
        let d = trimmed(d);
        self.shift = d.last().map_or(0, |top| top.leading_zeros());
        if self.limbs.len() != d.len() {
            self.limbs.resize(d.len(), 0);
        }
        let mut below = 0;
        for (to, &limb) in self.limbs.iter_mut().zip(d) {
            // Two shifts, because a shift by 64 is not defined.
            *to = limb << self.shift | below >> 1 >> (63 - self.shift);
            below = limb;
        }
        self.top = match *self.limbs {
            [] => Top::Zero,
            [d] => Top::One(OneLimb::prepare(d)),
            [.., d0, d1] => Top::Two(TwoLimbs::new(d1, d0)),
        };
    }
}

/// Divides numbers by a stored divisor, and reuses its working memory from one division to the
/// next.
#[derive(Debug, Default)]
pub struct Divider {
    divisor: Divisor,
    dividend: Vec<u64>,
    blocks: Blocks<Products>,
}

impl Divider {
    /// Sets the divisor of all further divisions to d. d may be 0 and may have leading zero limbs.
    #[inline]
    pub fn set(&mut self, d: &[u64]) {
        self.divisor.set(d);
    }

    /// Returns whether the divisor is 0.
    #[inline]
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.divisor.limbs.is_empty()
    }

    /// Computes q ← ⌊a/d⌋ and r ← a mod d, where d is the stored divisor. If d = 0, both q and r
    /// become zero.
    ///
    /// Let a have n limbs and d have m limbs, not counting leading zero limbs. r must have at least
    /// m limbs. If n ≥ m, q must have at least n − m + 1 limbs. If n < m, q may have any length.
    /// Limbs above the results are set to 0.
    ///
    /// The cost is O(l·m) limb products for a quotient of l limbs. For long numbers, the quotient
    /// is computed in blocks of at most m limbs. Each block costs O(M(m)·log m), where M(m) is the
    /// cost of a product of two numbers of m limbs.
    #[inline]
    pub fn div_rem(&mut self, q: &mut [u64], r: &mut [u64], a: &[u64]) {
        let Self { divisor, dividend, blocks } = self;
        divide(divisor, dividend, blocks, [q, r], a);
    }
}

/// Implements [`Divider::div_rem`]. The arguments are the fields of a [`Divider`], the outputs q
/// and r, and the dividend a.
#[inline(always)]
fn divide(
    divisor: &Divisor,
    dividend: &mut Vec<u64>,
    blocks: &mut Blocks<impl ProductsTo>,
    [q, r]: [&mut [u64]; 2],
    a: &[u64],
) {
    let (a, shift) = (trimmed(a), divisor.shift);
    match divisor.top {
        Top::Zero => {
            q.fill(0);
            r.fill(0);
        }
        Top::One(d) => {
            let (q, high) = q.split_at_mut(a.len());
            clear(high);
            let rest = by_one_limb(q, a, shift, d);
            let (low, high) = r.split_at_mut(1);
            low[0] = rest;
            clear(high);
        }
        Top::Two(_) if a.len() < divisor.limbs.len() => {
            q.fill(0);
            copy_to(r, a);
        }
        Top::Two(d) if divisor.limbs.len() == 2 => {
            let (q, high) = q.split_at_mut(a.len() - 1);
            clear(high);
            let rest = by_two_limbs(q, a, shift, d);
            let (low, high) = r.split_at_mut(2);
            (low[0], low[1]) = (rest as u64, (rest >> 64) as u64);
            clear(high);
        }
        Top::Two(top) => divide_long(divisor, top, dividend, blocks, [q, r], a),
    }
}

/// Implements [`divide`] for a divisor of at least three limbs and a dividend a that is not shorter
/// and has no leading zero limbs. It is not inlined, so that short divisions need few registers.
#[inline(never)]
fn divide_long(
    divisor: &Divisor,
    top: TwoLimbs,
    dividend: &mut Vec<u64>,
    blocks: &mut Blocks<impl ProductsTo>,
    [q, r]: [&mut [u64]; 2],
    a: &[u64],
) {
    let shift = divisor.shift;
    let d = &divisor.limbs[..];
    let u = at_least(dividend, a.len() + 1);
    shift_left_to(u, a, shift);
    // The top limb of u is below 2^shift, and below that of d. It can be omitted if it is
    // zero and the next one is also less than that of d.
    let mut limbs = u.len();
    if u[limbs - 1] == 0 && u[limbs - 2] < d[d.len() - 1] {
        limbs -= 1;
    }
    let (u, k) = (&mut u[..limbs], limbs - d.len());
    let (low, high) = q.split_at_mut(k);
    clear(high);
    blocks.divide(low, u, d, top);
    let (low, high) = r.split_at_mut(d.len());
    let mut above = 0;
    for (r, &limb) in low.iter_mut().zip(&u[..d.len()]).rev() {
        *r = limb >> shift | above << 1 << (63 - shift);
        above = limb;
    }
    clear(high);
}

/// Sets x to zero. Usually x is empty; a call of `memset` would take as long as a short division.
#[inline(always)]
fn clear(x: &mut [u64]) {
    if !x.is_empty() {
        x.fill(0);
    }
}

/// Returns ⌊a/b⌋ and a mod b, both without leading zero limbs. Long products are computed by
/// `multiplier`.
///
/// The cost is that of [`Divider::div_rem`].
///
/// # Panics
/// Panics if b is zero.
#[must_use]
pub fn div_rem_by(multiplier: &dyn Multiplier, a: &[u64], b: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let mut divisor = Divisor::default();
    divisor.set(b);
    assert!(!divisor.limbs.is_empty(), "division by zero");
    let (mut q, mut r) = (vec![0; a.len()], vec![0; divisor.limbs.len()]);
    let mut blocks = Blocks { product: vec![], products: multiplier };
    divide(&divisor, &mut vec![], &mut blocks, [&mut q, &mut r], a);
    trim(&mut q);
    trim(&mut r);
    (q, r)
}

/// Computes q ← ⌊a/x⌋ and returns a mod x, for a divisor x of one limb. q must be as long as a. `d`
/// contains x·2^shift and its reciprocal. The top bit of x·2^shift must be set.
#[inline]
fn by_one_limb(q: &mut [u64], a: &[u64], shift: u32, d: OneLimb) -> u64 {
    // Limb i of a·2^shift.
    let limb = |i: usize| a[i] << shift | if i == 0 { 0 } else { a[i - 1] >> 1 >> (63 - shift) };
    let Some(&top) = a.last() else { return 0 };
    let (mut rest, mut left) = (top >> 1 >> (63 - shift), a.len());
    if rest == 0 {
        // The first quotient is 0 or 1, because the divisor is at least 2^63.
        left -= 1;
        let (difference, less) = limb(left).overflowing_sub(d.divisor());
        q[left] = u64::from(!less);
        rest = if less { limb(left) } else { difference };
    }
    for (i, q) in q[..left].iter_mut().enumerate().rev() {
        (*q, rest) = d.div_rem(rest, limb(i));
    }
    rest >> shift
}

/// Computes q ← ⌊a/x⌋ and returns a mod x, for a divisor x of two limbs and a of at least two limbs.
/// q must have one limb less than a. `d` contains x·2^shift and its reciprocal. The top bit of
/// x·2^shift must be set.
#[inline]
fn by_two_limbs(q: &mut [u64], a: &[u64], shift: u32, d: TwoLimbs) -> u128 {
    // Limb i of a·2^shift.
    let limb = |i: usize| a[i] << shift | if i == 0 { 0 } else { a[i - 1] >> 1 >> (63 - shift) };
    let mut left = a.len() - 1;
    let above = a[left] >> 1 >> (63 - shift);
    // `above` is below 2^shift ≤ 2^63, so this number is below the divisor.
    let mut rest = u128::from(above) << 64 | u128::from(limb(left));
    if above == 0 && left > 0 {
        // The first quotient is 0 or 1, because the divisor is at least 2^127.
        left -= 1;
        let two = rest << 64 | u128::from(limb(left));
        let (difference, less) = two.overflowing_sub(d.divisor());
        q[left] = u64::from(!less);
        rest = if less { two } else { difference };
    }
    for (i, q) in q[..left].iter_mut().enumerate().rev() {
        (*q, rest) = d.div_rem(rest, limb(i));
    }
    rest >> shift
}

/// The method by which recursive division multiplies parts of the quotient by parts of the divisor.
trait ProductsTo {
    /// Computes out ← a·b, where `out` has exactly `a.len() + b.len()` limbs.
    fn mul_to(&mut self, out: &mut [u64], a: &[u64], b: &[u64]);
}

impl ProductsTo for Products {
    fn mul_to(&mut self, out: &mut [u64], a: &[u64], b: &[u64]) {
        self.mul(out, a, b);
    }
}

impl ProductsTo for &dyn Multiplier {
    fn mul_to(&mut self, out: &mut [u64], a: &[u64], b: &[u64]) {
        out.copy_from_slice(&self.mul(a, b));
    }
}

/// Divides in place, by the schoolbook method or recursively. `products` computes the products.
/// `product` is the memory for a product, and is reused.
#[derive(Debug, Default)]
struct Blocks<P> {
    product: Vec<u64>,
    products: P,
}

impl<P: ProductsTo> Blocks<P> {
    /// Computes q ← ⌊u/d⌋ mod 2^(64·k), where q has k limbs, d has m ≥ 2 limbs, and u has k + m
    /// limbs. Returns true if ⌊u/d⌋ is q + 2^(64·k), and false if it is q. The lowest m limbs of u
    /// become u mod d; the k limbs above are undefined.
    ///
    /// `top` contains the two top limbs of d and their reciprocal. Requires that the top bit of d
    /// is set, and u < 2^(64·k + 1)·d.
    fn divide(&mut self, q: &mut [u64], u: &mut [u64], d: &[u64], top: TwoLimbs) -> bool {
        let (k, m) = (q.len(), d.len());
        if 2 * k < RECURSIVE_FROM || m < RECURSIVE_FROM {
            return schoolbook(q, u, d, top);
        }
        match k.cmp(&m) {
            Ordering::Less => self.by_top(q, u, d, top),
            Ordering::Equal => self.pieces(q, u, d, top, k.div_ceil(2)),
            Ordering::Greater => self.pieces(q, u, d, top, m),
        }
    }

    /// Computes [`Self::divide`] by several divisions. Each division yields at most `piece` limbs
    /// of the quotient. The first one yields the highest limbs.
    fn pieces(
        &mut self,
        q: &mut [u64],
        u: &mut [u64],
        d: &[u64],
        top: TwoLimbs,
        piece: usize,
    ) -> bool {
        let mut beyond = false;
        let pieces = q.len().div_ceil(piece);
        for i in (0..pieces).rev() {
            let q = &mut q[i * piece..];
            let q = if i + 1 == pieces { q } else { &mut q[..piece] };
            let more = self.divide(q, &mut u[i * piece..][..q.len() + d.len()], d, top);
            debug_assert!(i + 1 == pieces || !more, "a piece of a quotient that is too long");
            beyond |= more;
        }
        beyond
    }

    /// Computes [`Self::divide`] for a quotient of k limbs and a divisor of m > k limbs. The
    /// quotient is estimated from the k top limbs of d. The product of the estimate and the other
    /// limbs of d is then subtracted from u. While the difference is negative, the quotient is
    /// decreased by 1, and d is added to the difference.
    fn by_top(&mut self, q: &mut [u64], u: &mut [u64], d: &[u64], top: TwoLimbs) -> bool {
        let (k, m) = (q.len(), d.len());
        let (low, high) = d.split_at(m - k);
        let mut beyond = self.divide(q, &mut u[m - k..], high, top);
        let product = at_least(&mut self.product, m);
        self.products.mul_to(product, q, low);
        let u = &mut u[..m];
        let mut borrows = u32::from(sub_assign(u, product));
        if beyond {
            borrows += u32::from(sub_assign(&mut u[k..], low));
        }
        while borrows > 0 {
            beyond ^= sub_assign(q, &[1]);
            borrows -= u32::from(add_assign(u, d));
        }
        beyond
    }
}

/// Computes [`Blocks::divide`] by the schoolbook method, one limb of the quotient at a time.
fn schoolbook(q: &mut [u64], u: &mut [u64], d: &[u64], top: TwoLimbs) -> bool {
    let (k, m) = (q.len(), d.len());
    let beyond = compare(&u[k..], d) != Ordering::Less;
    if beyond {
        sub_assign(&mut u[k..], d);
    }
    let below = &d[..m - 2];
    for (i, q) in q.iter_mut().enumerate().rev() {
        let u = &mut u[i..=i + m];
        let high = u128::from(u[m]) << 64 | u128::from(u[m - 1]);
        if high == top.divisor() {
            // u > d·B − B^(m − 1) > d·(B − 1).
            *q = u64::MAX;
            sub_row(&mut u[..m], d, *q);
            continue;
        }
        let (digit, rest) = top.div_rem(high, u[m - 2]);
        let borrow = u128::from(sub_row(&mut u[..m - 2], below, digit));
        let (rest, negative) = rest.overflowing_sub(borrow);
        (u[m - 1], u[m - 2]) = ((rest >> 64) as u64, rest as u64);
        *q = digit;
        if negative {
            add_assign(&mut u[..m], d);
            *q -= 1;
        }
    }
    beyond
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::limbs;
    use crate::sample::Sample;

    /// Returns ⌊a/d⌋ in as many limbs as a, and a mod d in as many limbs as d, both computed by
    /// [`Divider::div_rem`].
    fn div_rem(divider: &mut Divider, a: &[u64], d: &[u64]) -> (Vec<u64>, Vec<u64>) {
        let (mut q, mut r) = (vec![3; a.len()], vec![3; d.len()]);
        divider.set(d);
        divider.div_rem(&mut q, &mut r, a);
        (q, r)
    }

    #[track_caller]
    fn check(divider: &mut Divider, a: &[u64], d: &[u64]) {
        let (mut q, mut r) = div_rem(divider, a, d);
        let want = limbs::div_rem(a, d);
        limbs::trim(&mut q);
        limbs::trim(&mut r);
        assert!((q, r) == want, "{a:x?} by {d:x?}");
    }

    /// Tests dividends that are multiples of the divisor, and dividends next to multiples.
    #[test]
    fn multiples_and_their_neighbours() {
        let mut divider = Divider::default();
        let mut sample = Sample::new(1);
        for round in 0..3000 {
            let (k, m) = (1 + round % 7, 1 + round / 7 % 6);
            let (q, mut d) = (sample.number(k), sample.number(m));
            d[m - 1] |= 1;
            let product = limbs::mul(&q, &d);
            check(&mut divider, &product, &d);
            let mut below = product.clone();
            if !limbs::sub_assign(&mut below, &[1]) {
                check(&mut divider, &below, &d);
            }
            let mut above = product;
            if !limbs::add_assign(&mut above, &[1]) {
                check(&mut divider, &above, &d);
            }
            // The largest dividend with this quotient, or a shorter one.
            limbs::add_assign(&mut above, &d);
            check(&mut divider, &above, &d);
        }
    }

    /// Tests divisors of one and two limbs, with and without the top bit, for dividends made of few
    /// different limbs. Among these are dividends whose first quotient limb is 0 or 1.
    #[test]
    fn short_divisors() {
        let mut divider = Divider::default();
        let words = [0, 1, (1 << 63) - 1, 1 << 63, u64::MAX - 1, u64::MAX];
        for d in words.into_iter().flat_map(|low| words.map(|high| [low, high])) {
            if d == [0, 0] {
                continue;
            }
            for n in 1..=4 {
                for code in 0..words.len().pow(n) {
                    let digit = |i: u32| words[code / words.len().pow(i) % words.len()];
                    check(&mut divider, &(0..n).map(digit).collect::<Vec<_>>(), &d);
                }
            }
        }
    }

    /// Tests limbs of quotients whose estimates are too large by one. The estimate uses only the
    /// two top limbs of the divisor. All bits of the other limbs are ones.
    #[test]
    fn guesses_that_are_too_large() {
        let mut divider = Divider::default();
        for top in [1 << 63, (1 << 63) + 1, u64::MAX, 0xc000_0000_0000_0001] {
            for second in [0, 1, u64::MAX, 1 << 63] {
                for ones in 1..5 {
                    let mut d = vec![u64::MAX; ones];
                    d.extend([second, top]);
                    for q in [1, 2, 3, 1 << 32, 1 << 63, u64::MAX - 1, u64::MAX] {
                        // q·(d + 1) − 1, and numbers next to it: the estimate is q.
                        let mut a = limbs::mul(&d, &[q]);
                        limbs::add_assign(&mut a, &[q]);
                        for less in 1..4 {
                            let mut a = a.clone();
                            limbs::sub_assign(&mut a, &[less]);
                            check(&mut divider, &a, &d);
                        }
                    }
                }
            }
        }
    }

    /// Compares recursive division with the schoolbook method. Some quotients cannot be divided
    /// into blocks of equal length.
    #[test]
    fn long_divisions() {
        let mut divider = Divider::default();
        let mut sample = Sample::new(9);
        let lengths = [1, 2, 23, 24, 47, 48, 49, 95, 96, 97, 131, 200, 257, 300];
        for k in lengths {
            for m in lengths {
                let d = sample.number(m);
                if trimmed(&d).is_empty() {
                    continue;
                }
                check(&mut divider, &sample.number(k + m), &d);
                // All bits are ones: the estimates of all pieces are too large.
                let mut ones = vec![u64::MAX; m];
                check(&mut divider, &vec![u64::MAX; k + m], &ones);
                ones[m - 1] = 1 << 63;
                let mut a = limbs::mul(&vec![u64::MAX; k], &ones);
                check(&mut divider, &a, &ones);
                limbs::sub_assign(&mut a, &[1]);
                check(&mut divider, &a, &ones);
                // Equal upper halves.
                let mut a = vec![0; k];
                a.extend(&ones);
                limbs::sub_assign(&mut a, &[1]);
                check(&mut divider, &a, &ones);
            }
        }
    }

    #[test]
    fn zero_and_short_numbers() {
        let mut divider = Divider::default();
        assert_eq!(div_rem(&mut divider, &[5, 7], &[0, 0, 0]), (vec![0, 0], vec![0, 0, 0]));
        assert_eq!(div_rem(&mut divider, &[5], &[0, 7]), (vec![0], vec![5, 0]));
        assert_eq!(div_rem(&mut divider, &[0, 0], &[3, 0]), (vec![0, 0], vec![0, 0]));
        assert_eq!(div_rem(&mut divider, &[9, 0], &[9, 0]), (vec![1, 0], vec![0, 0]));
    }

    /// Prints the times of divisions of 2n limbs by n limbs, by the schoolbook method and by
    /// recursive division.
    #[test]
    #[ignore = "a measurement"]
    fn division_crossover() {
        let mut blocks = Blocks::<Products>::default();
        println!("us for 2n limbs by n: n, schoolbook, one level of recursion at least");
        for n in [32, 40, 48, 56, 64, 80, 96, 128, 160, 192, 256, 384, 512, 1024, 4096] {
            let mut sample = Sample::new(n as u64);
            let (a, mut d) = (sample.number(2 * n), sample.number(n));
            d[n - 1] |= 1 << 63;
            let mut a = a;
            a[2 * n - 1] >>= 1;
            let top = TwoLimbs::new(d[n - 1], d[n - 2]);
            let (mut q, mut u) = (vec![0; n], a.clone());
            let mut time = |work: &mut dyn FnMut(&mut [u64], &mut [u64]) -> bool| {
                let once = |_| {
                    u.copy_from_slice(&a);
                    let start = Instant::now();
                    work(&mut q, &mut u);
                    start.elapsed().as_secs_f64() * 1e6
                };
                (0..(4_000_000 / n / n).clamp(3, 2000)).map(once).fold(f64::MAX, f64::min)
            };
            let school = time(&mut |q, u| schoolbook(q, u, &d, top));
            let halves = time(&mut |q, u| {
                let (low, high) = q.split_at_mut(n / 2);
                blocks.by_top(high, &mut u[n / 2..], &d, top);
                blocks.by_top(low, &mut u[..n / 2 + n], &d, top)
            });
            println!("{n:5} {school:9.2} {halves:9.2}");
        }
    }
}
