//! The innermost loops of products, divisions and reductions: schoolbook products and squares,
//! products by one limb, limbs of quotients by short divisors, and Montgomery reductions.
//!
//! Most functions have two versions. Each uses the faster version that this processor can execute:
//!
//! | module | processors |
//! |---|---|
//! | `carry_chains` | x86-64 with BMI2 and ADX, in assembly language |
//! | `portable` | all processors |

#[cfg(target_arch = "x86_64")]
mod carry_chains;
#[cfg(target_arch = "x86_64")]
mod digits;
mod portable;
#[cfg(test)]
mod tests;

#[cfg(target_arch = "x86_64")]
use std::sync::atomic::{AtomicU8, Ordering};

#[cfg(target_arch = "x86_64")]
use carry_chains::BLOCK;
#[cfg(target_arch = "x86_64")]
pub(crate) use digits::{Digits, Remainder};
pub(crate) use portable::double_and_add_squares;

/// The largest number of limbs of an inverse for [`reduce`]. For a modulus of l limbs, the inverse
/// has the smaller of this number and l.
pub(crate) const INVERSE_LIMBS: usize = 8;

/// The smallest number of limbs of a row for which a call of an assembly kernel is faster than
/// inlined code.
#[cfg(target_arch = "x86_64")]
const ROW_FROM: usize = 4;

/// What is known of the instructions of this processor: [`USABLE`], [`UNUSABLE`], or 0 before the
/// first call of [`has_carry_chains`].
#[cfg(target_arch = "x86_64")]
static CARRY_CHAINS: AtomicU8 = AtomicU8::new(0);
#[cfg(target_arch = "x86_64")]
const USABLE: u8 = 1;
#[cfg(target_arch = "x86_64")]
const UNUSABLE: u8 = 2;

/// Returns whether this processor has BMI2 and ADX, and `WARPINT_CPU` allows them.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn has_carry_chains() -> bool {
    #[cold]
    fn find() -> bool {
        let has = warpint_arith::simd::Cpu::get().carry_chains;
        CARRY_CHAINS.store(if has { USABLE } else { UNUSABLE }, Ordering::Relaxed);
        has
    }
    match CARRY_CHAINS.load(Ordering::Relaxed) {
        0 => find(),
        known => known == USABLE,
    }
}

/// Computes out ← a·b for factors of the same length, from 2 to 8 limbs. Returns `false`, without
/// changing `out`, if a length is another, if the processor has no kernels for this, or if nothing
/// is known of the processor yet.
///
/// For short factors, function calls take as long as the product. So this function is inlined. It
/// calls nothing but the kernel: otherwise, callers would save more registers.
#[inline(always)]
pub(crate) fn mul_short(out: &mut [u64], a: &[u64], b: &[u64]) -> bool {
    let n = a.len();
    #[cfg(target_arch = "x86_64")]
    if CARRY_CHAINS.load(Ordering::Relaxed) == USABLE
        && (b.len(), out.len()) == (n, 2 * n)
        && let Some(kernel) = carry_chains::MUL.get(n.wrapping_sub(1)).filter(|_| n > 1)
    {
        // SAFETY: the processor has BMI2 and ADX. The factors have as many limbs as the kernel's
        // block, and `out` has twice as many; as a mutable borrow, it does not overlap them.
        unsafe { kernel(out.as_mut_ptr(), a.as_ptr(), n, b.as_ptr()) };
        return true;
    }
    let _ = (out, b, n);
    false
}

/// Computes out ← a² for a of 2 to 8 limbs. Otherwise as [`mul_short`]. The code for three limbs is
/// inlined: a call takes half as long as this square.
#[inline(always)]
pub(crate) fn square_short(out: &mut [u64], a: &[u64]) -> bool {
    let n = a.len();
    #[cfg(target_arch = "x86_64")]
    if CARRY_CHAINS.load(Ordering::Relaxed) == USABLE && (n, out.len()) == (3, 6) {
        // SAFETY: the processor has BMI2 and ADX. a has 3 limbs and `out` has 6; as a mutable
        // borrow, it does not overlap a.
        unsafe { carry_chains::square_3(out.as_mut_ptr(), a.as_ptr()) };
        return true;
    }
    #[cfg(target_arch = "x86_64")]
    if CARRY_CHAINS.load(Ordering::Relaxed) == USABLE
        && out.len() == 2 * n
        && let Some(kernel) = carry_chains::SQUARE.get(n.wrapping_sub(1)).filter(|_| n > 1)
    {
        // SAFETY: the processor has BMI2 and ADX. a has as many limbs as the kernel's block, and
        // `out` has twice as many; as a mutable borrow, it does not overlap a.
        unsafe { kernel(out.as_mut_ptr(), a.as_ptr()) };
        return true;
    }
    let _ = (out, n);
    false
}

/// Computes out ← a·b by the schoolbook method.
///
/// # Panics
/// Panics unless `out` has `a.len() + b.len()` limbs.
#[inline]
pub(crate) fn mul(out: &mut [u64], a: &[u64], b: &[u64]) {
    assert_eq!(out.len(), a.len() + b.len(), "the product has the wrong length");
    let (a, b) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    #[cfg(target_arch = "x86_64")]
    if has_carry_chains() && !b.is_empty() {
        // SAFETY: `has_carry_chains` is true, so the processor has BMI2 and ADX. The swap makes a
        // at least as long as b, and b is not empty. By the assertion, `out` has as many limbs as
        // both factors together; as a mutable borrow, it does not overlap them.
        return unsafe {
            if (2..=BLOCK).contains(&b.len()) {
                carry_chains::MUL[b.len() - 1](out.as_mut_ptr(), a.as_ptr(), a.len(), b.as_ptr());
            } else {
                mul_by_blocks(out.as_mut_ptr(), a, b);
            }
        };
    }
    portable::mul(out, a, b);
}

/// Computes out ← a·b. If b has one limb, the product is a row. Otherwise b is cut into blocks of
/// at most [`BLOCK`] limbs, whose lengths differ by at most 1.
///
/// # Safety
/// The processor has BMI2 and ADX. a is at least as long as b, b has at least one limb, and the
/// address `out` is valid for `a.len() + b.len()` limbs.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
unsafe fn mul_by_blocks(out: *mut u64, a: &[u64], b: &[u64]) {
    let (n, m) = (a.len(), b.len());
    // SAFETY: the caller guarantees the instructions and n ≥ m ≥ 1. The product of a and a block of
    // w limbs of b that begins at limb k consists of limbs k to k + n + w − 1 of `out`, and k + w ≤
    // m. The blocks before it have written the limbs of `out` below k + n, which `ADD` reads.
    unsafe {
        if m == 1 {
            *out.add(n) = carry_chains::mul_row(out, a.as_ptr(), n, b[0]);
            return;
        }
        let blocks = m.div_ceil(BLOCK);
        let mut from = 0;
        for i in 0..blocks {
            let w = (m - from).div_ceil(blocks - i);
            let (out, b) = (out.add(from), b.as_ptr().add(from));
            if i == 0 {
                carry_chains::MUL[w - 1](out, a.as_ptr(), n, b);
            } else {
                carry_chains::ADD[w - 1](out, a.as_ptr(), n, b, out.add(n));
            }
            from += w;
        }
    }
}

/// Computes out ← a² by the schoolbook method. The product of two limbs at different positions is
/// computed once, then doubled.
///
/// # Panics
/// Panics unless `out` has 2·`a.len()` limbs.
#[inline]
pub(crate) fn square(out: &mut [u64], a: &[u64]) {
    assert_eq!(out.len(), 2 * a.len(), "the square has the wrong length");
    #[cfg(target_arch = "x86_64")]
    if has_carry_chains() && !a.is_empty() {
        // SAFETY: `has_carry_chains` is true, so the processor has BMI2 and ADX. a is not empty. By
        // the assertion, `out` has 2·`a.len()` limbs; as a mutable borrow, it does not overlap a.
        return unsafe {
            if a.len() <= BLOCK {
                carry_chains::SQUARE[a.len() - 1](out.as_mut_ptr(), a.as_ptr());
            } else {
                square_by_blocks(out.as_mut_ptr(), a);
            }
        };
    }
    portable::square(out, a);
}

/// Computes out ← a² by blocks of at most [`BLOCK`] limbs of a, whose lengths differ by at most 1.
///
/// # Safety
/// The processor has BMI2 and ADX. a has at least one limb, and the address `out` is valid for
/// 2·`a.len()` limbs.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
unsafe fn square_by_blocks(out: *mut u64, a: &[u64]) {
    let n = a.len();
    let blocks = n.div_ceil(BLOCK);
    let mut from = 0;
    // SAFETY: the caller guarantees the instructions and the lengths. The products of a block of w
    // limbs that begins at limb k belong to limbs 2k + 1 to k + n + w − 1 of `out`, and k + w ≤ n.
    // The blocks before it have written limbs 0 to k + n − 1 of `out`. So all limbs have been
    // written after the last block.
    unsafe {
        *out = 0;
        for i in 0..blocks {
            let w = (n - from).div_ceil(blocks - i);
            let kernels =
                if i == 0 { &carry_chains::OFF_DIAGONAL } else { &carry_chains::OFF_DIAGONAL_ADD };
            kernels[w - 1](out.add(2 * from), a.as_ptr().add(from), n - from);
            from += w;
        }
        carry_chains::double_and_add_squares(out, a.as_ptr(), n);
    }
}

/// Computes out_i ← a_i·b_i for all rows of 2n limbs of `out`, where n = `limbs` is from 1 to 8.
/// Number i of a factor begins at limb i·step; the step is n, or 0 if all numbers are the same.
/// Returns `false`, without changing `out`, if the processor has no kernels for this.
///
/// # Panics
/// Panics unless `out` consists of whole rows and the factors have a number for each row.
pub(crate) fn mul_rows(out: &mut [u64], [a, b]: [Factors; 2], limbs: usize) -> bool {
    #[cfg(target_arch = "x86_64")]
    if has_carry_chains() {
        let count = out.len() / (2 * limbs);
        assert!(out.len() == 2 * limbs * count, "not whole rows");
        for (factor, step) in [a, b] {
            assert!(step == 0 || step == limbs, "rows of another length");
            let needed = if step == 0 { limbs } else { limbs * count };
            assert!(factor.len() >= needed, "too few numbers");
        }
        let (a, b) = ((a.0.as_ptr(), a.1), (b.0.as_ptr(), b.1));
        // SAFETY: `has_carry_chains` is true, so the processor has BMI2 and ADX. By the assertions,
        // the addresses are valid for the rows.
        unsafe { MUL_ROWS[limbs - 1](out.as_mut_ptr(), a, b, count) };
        return true;
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (out, a, b, limbs);
    false
}

/// The limbs of the numbers that are a factor of each row, and the distance between two numbers.
pub(crate) type Factors<'a> = (&'a [u64], usize);

/// Computes [`mul_rows`] for `count` rows. A factor is an address and a step.
#[cfg(target_arch = "x86_64")]
type MulRows = unsafe fn(*mut u64, (*const u64, usize), (*const u64, usize), count: usize);

/// The functions that compute [`mul_rows`] for 1 to 8 limbs.
#[cfg(target_arch = "x86_64")]
const MUL_ROWS: [MulRows; BLOCK] = [
    mul_rows_of::<1>,
    mul_rows_of::<2>,
    mul_rows_of::<3>,
    mul_rows_of::<4>,
    mul_rows_of::<5>,
    mul_rows_of::<6>,
    mul_rows_of::<7>,
    mul_rows_of::<8>,
];

/// Computes [`mul_rows`] for factors of W limbs. As W is a constant, the kernel becomes part of the
/// loop.
///
/// # Safety
/// The processor has BMI2 and ADX. The address `out` is valid for 2·W·`count` limbs. If `count` is
/// not 0, that of a factor is valid for W·`count` limbs if its step is W, and for W limbs if its
/// step is 0.
#[cfg(target_arch = "x86_64")]
unsafe fn mul_rows_of<const W: usize>(
    out: *mut u64,
    (a, a_step): (*const u64, usize),
    (b, b_step): (*const u64, usize),
    count: usize,
) {
    for i in 0..count {
        // SAFETY: as i < `count`, the caller guarantees the instructions and the lengths.
        unsafe {
            let (out, a, b) = (out.add(2 * W * i), a.add(a_step * i), b.add(b_step * i));
            carry_chains::MUL[W - 1](out, a, W, b);
        }
    }
}

/// Computes out_i ← a_i² for all rows of 2n limbs of `out`, where n = `limbs` is from 1 to 8.
/// Returns `false`, without changing `out`, if the processor has no kernels for this.
///
/// # Panics
/// Panics unless `out` consists of whole rows and a has n limbs for each.
pub(crate) fn square_rows(out: &mut [u64], a: &[u64], limbs: usize) -> bool {
    #[cfg(target_arch = "x86_64")]
    if has_carry_chains() {
        let count = out.len() / (2 * limbs);
        assert!(out.len() == 2 * limbs * count, "not whole rows");
        assert!(a.len() >= limbs * count, "too few numbers");
        let square = carry_chains::SQUARE[limbs - 1];
        for (out, a) in out.chunks_exact_mut(2 * limbs).zip(a.chunks_exact(limbs)) {
            // SAFETY: `has_carry_chains` is true, so the processor has BMI2 and ADX. `out` has
            // twice as many limbs as a; as a mutable borrow, it does not overlap a.
            unsafe { square(out.as_mut_ptr(), a.as_ptr()) };
        }
        return true;
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (out, a, limbs);
    false
}

/// Computes x ← x + a·y mod 2^(64·n), where x and a have n limbs. Returns the limb carried out.
///
/// # Panics
/// Panics unless x and a have the same length.
#[inline]
pub(crate) fn add_row(x: &mut [u64], a: &[u64], y: u64) -> u64 {
    assert_eq!(x.len(), a.len(), "a row has the wrong length");
    #[cfg(target_arch = "x86_64")]
    if a.len() >= ROW_FROM && has_carry_chains() {
        // SAFETY: `has_carry_chains` is true, so the processor has BMI2 and ADX. By the assertion,
        // x and a have the same length, which is at least 1.
        return unsafe { carry_chains::add_row(x.as_mut_ptr(), a.as_ptr(), a.len(), y) };
    }
    portable::add_row(x, a, y)
}

/// Computes x ← x − a·y mod 2^(64·n), where x and a have n limbs. Returns the limb that must be
/// subtracted from the limb above x.
///
/// # Panics
/// Panics unless x and a have the same length.
#[inline]
pub(crate) fn sub_row(x: &mut [u64], a: &[u64], y: u64) -> u64 {
    assert_eq!(x.len(), a.len(), "a row has the wrong length");
    #[cfg(target_arch = "x86_64")]
    if a.len() >= ROW_FROM && has_carry_chains() {
        // SAFETY: as in `add_row`.
        return unsafe { carry_chains::sub_row(x.as_mut_ptr(), a.as_ptr(), a.len(), y) };
    }
    portable::sub_row(x, a, y)
}

/// Adds a multiple of m to x such that the lower half of the sum is zero. Carries are stored in
/// place of this half.
///
/// Let m have l limbs, and let R = 2^(64·l). x has 2l limbs. Let the old x be L + H·R, and the new
/// x be L' + H'·R, with L, L' < R. Then L + H·R + q·m = (H' + L')·R for some q < R. The sum H' + L'
/// may be R or more.
///
/// `inverse` is −m^(−1) mod 2^(64·w) for w = min(l, [`INVERSE_LIMBS`]).
///
/// # Panics
/// Panics unless x has 2l limbs, `inverse` has w limbs, and l > 0.
#[inline]
pub(crate) fn reduce(x: &mut [u64], m: &[u64], inverse: &[u64]) {
    assert!(!m.is_empty() && x.len() == 2 * m.len(), "a number of the wrong length is reduced");
    assert_eq!(inverse.len(), m.len().min(INVERSE_LIMBS), "the inverse has the wrong length");
    #[cfg(target_arch = "x86_64")]
    if has_carry_chains() {
        // SAFETY: `has_carry_chains` is true, so the processor has BMI2 and ADX. The assertions
        // check that m is not empty, that x has twice as many limbs, and that `inverse` has
        // min(`m.len()`, `INVERSE_LIMBS`) limbs, with `INVERSE_LIMBS` = `BLOCK`.
        return unsafe { reduce_by_blocks(x, m, inverse) };
    }
    portable::reduce(x, m, inverse[0]);
}

/// Computes [`reduce`] by blocks of at most [`BLOCK`] limbs of the lower half of x. The w limbs of
/// a block are multiplied by the inverse modulo 2^(64·w). The product of the result and m is added
/// to x.
///
/// # Safety
/// The processor has BMI2 and ADX. x has twice as many limbs as m, and m has at least one.
/// `inverse` has at least min(`m.len()`, [`BLOCK`]) limbs.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
unsafe fn reduce_by_blocks(x: &mut [u64], m: &[u64], inverse: &[u64]) {
    let l = m.len();
    let blocks = l.div_ceil(BLOCK);
    let x = x.as_mut_ptr();
    let mut from = 0;
    for i in 0..blocks {
        let w = (l - from).div_ceil(blocks - i);
        let mut q = [0; BLOCK];
        // SAFETY: the caller guarantees the instructions. As w ≤ BLOCK and from + w ≤ l, these
        // limbs exist: `from` to `from` + l − 1 of the 2l limbs of x, w limbs of `inverse`, and w
        // limbs of q.
        unsafe {
            let x = x.add(from);
            carry_chains::LOW[w - 1](q.as_mut_ptr(), x, inverse.as_ptr());
            carry_chains::ADD[w - 1](x, m.as_ptr(), l, q.as_ptr(), x);
        }
        from += w;
    }
}
