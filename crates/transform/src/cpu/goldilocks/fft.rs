//! In-place transforms of n = 2^k, 3·2^k or 5·2^k points, one transform in each lane.
//!
//! The forward transform X_k = Σ_j x_j·ω^(jk), by decimation in frequency, leaves the spectrum in
//! the order of [`Fft::spectrum`]. The inverse, by decimation in time and without the factor 1/n,
//! expects this order. No reordering is done.
//!
//! If 3 or 5 divides n, a transform begins with a pass of radix 3 or 5. Passes of radix 2 to 16
//! follow until blocks of at most 64 points remain. The twiddles of all these passes come from
//! tables. In a block of at most 64 points, every twiddle is a power of ω_64 = 8, so a product by a
//! twiddle is a shift.

use super::butterfly::{dft2, dft4, dft8, dft16};
use super::lanes::{Kernel, Lanes};
use super::odd::OddPass;
use warpint_arith::goldilocks as field;

/// The tables for transforms of one length n.
pub struct Fft {
    len: usize,
    /// The initial pass of radix 3 or 5; `None` if neither 3 nor 5 divides the length.
    odd: Option<OddPass>,
    passes: Vec<Pass>,
}

/// A pass of butterflies of `radix` points over all blocks of `block` points.
pub(super) struct Pass {
    radix: usize,
    block: usize,
    /// The twiddles: entry j·(radix − 1) + m − 1 is ω^(j·m) for 0 ≤ j < block/radix and 1 ≤ m <
    /// radix, where ω is the root of unity of order `block`.
    pub(super) forward: Vec<u64>,
    /// The inverses of the twiddles in `forward`.
    pub(super) inverse: Vec<u64>,
}

impl Pass {
    pub(super) fn new(radix: usize, block: usize) -> Option<Self> {
        let omega = field::root_of_unity(block as u64)?;
        let table = |omega: u64| {
            let mut table = Vec::with_capacity(block / radix * (radix - 1));
            let mut step = 1;
            for _ in 0..block / radix {
                let mut w = step;
                for _ in 1..radix {
                    table.push(w);
                    w = field::mul(w, step);
                }
                step = field::mul(step, omega);
            }
            table
        };
        let inverse = table(field::inverse(omega)?);
        Some(Self { radix, block, forward: table(omega), inverse })
    }
}

impl Fft {
    /// Computes the tables for n = 2^k, 3·2^k or 5·2^k. Returns `None` for any other n, or if k >
    /// 32.
    #[must_use]
    pub fn new(n: usize) -> Option<Self> {
        let power = n / OddPass::radix_of(n);
        if !power.is_power_of_two() {
            return None;
        }
        let mut passes = vec![];
        let mut block = power;
        while block > 64 {
            // Radix 8 until a quotient of at most 32 remains. A quotient of up to 16 takes one
            // pass; 32 takes passes of radix 4 and 8.
            let radix = match block / 64 {
                r @ (2 | 4 | 8 | 16) => r,
                32 => 4,
                _ => 8,
            };
            passes.push(Pass::new(radix, block)?);
            block /= radix;
        }
        Some(Self { len: n, odd: OddPass::new(n), passes })
    }

    /// Returns the order of the spectrum: entry i is the index k of the output X_k that the forward
    /// transform writes to position i.
    #[must_use]
    pub fn spectrum(&self) -> Vec<usize> {
        let mut radices = vec![OddPass::radix_of(self.len)];
        radices.extend(self.passes.iter().map(|pass| pass.radix));
        let shifts = self.len / radices.iter().product::<usize>();
        radices.extend(shift_radices(shifts));
        // A pass of radix r collects the k ≡ m mod r in part m, which holds their quotients in the
        // order of the following passes.
        let mut order = vec![0];
        for r in radices.into_iter().rev() {
            order = (0..r).flat_map(|m| order.iter().map(move |k| m + r * k)).collect();
        }
        order
    }

    /// Replaces the n entries of x by their forward transform, in the order of [`Fft::spectrum`].
    /// The lanes are transformed independently of each other.
    ///
    /// # Panics
    /// If `x` does not have n entries.
    pub fn forward<V: Lanes>(&self, x: &mut [V]) {
        assert!(x.len() == self.len);
        V::enter(Forward { fft: self, x });
    }

    /// Replaces the n entries of x, in the order of [`Fft::spectrum`], by n times their inverse
    /// transform. The lanes are transformed independently of each other.
    ///
    /// # Panics
    /// If `x` does not have n entries.
    pub fn inverse<V: Lanes>(&self, x: &mut [V]) {
        assert!(x.len() == self.len);
        V::enter(Inverse { fft: self, x });
    }
}

/// The forward transform of `x`, as a [`Kernel`]. Because [`Lanes::enter`] is not inlined, the long
/// code of the transform is not repeated at every call of [`Fft::forward`].
struct Forward<'a, V> {
    fft: &'a Fft,
    x: &'a mut [V],
}

impl<V: Lanes> Kernel<V> for Forward<'_, V> {
    #[inline(always)]
    fn run(self) {
        let power = self.fft.len / OddPass::radix_of(self.fft.len);
        if let Some(odd) = &self.fft.odd {
            odd.forward(self.x);
        }
        for part in self.x.chunks_exact_mut(power) {
            let mut rest = power;
            for pass in &self.fft.passes {
                for block in part.chunks_exact_mut(pass.block) {
                    match pass.radix {
                        2 => forward_2(block, &pass.forward),
                        4 => forward_4(block, &pass.forward),
                        8 => forward_8(block, &pass.forward),
                        _ => forward_16(block, &pass.forward),
                    }
                }
                rest = pass.block / pass.radix;
            }
            for block in part.chunks_exact_mut(rest) {
                forward_shifts(block);
            }
        }
    }
}

struct Inverse<'a, V> {
    fft: &'a Fft,
    x: &'a mut [V],
}

impl<V: Lanes> Kernel<V> for Inverse<'_, V> {
    #[inline(always)]
    fn run(self) {
        let Self { fft, x } = self;
        let power = fft.len / OddPass::radix_of(fft.len);
        for part in x.chunks_exact_mut(power) {
            let rest = fft.passes.last().map_or(power, |pass| pass.block / pass.radix);
            for block in part.chunks_exact_mut(rest) {
                inverse_shifts(block);
            }
            for pass in fft.passes.iter().rev() {
                for block in part.chunks_exact_mut(pass.block) {
                    match pass.radix {
                        2 => inverse_2(block, &pass.inverse),
                        4 => inverse_4(block, &pass.inverse),
                        8 => inverse_8(block, &pass.inverse),
                        _ => inverse_16(block, &pass.inverse),
                    }
                }
            }
        }
        if let Some(odd) = &fft.odd {
            odd.inverse(x);
        }
    }
}

/// Splits the n points of x into R parts of n/R consecutive points. Butterfly i of a pass uses
/// entry i of each part.
#[inline(always)]
pub(super) fn parts<V, const R: usize>(x: &mut [V]) -> [&mut [V]; R] {
    let h = x.len() / R;
    let mut rest = x;
    core::array::from_fn(|_| {
        let (part, after) = core::mem::take(&mut rest).split_at_mut(h);
        rest = after;
        part
    })
}

/// Defines the forward and inverse passes of one radix with twiddles from a table.
macro_rules! table_passes {
    ($radix:literal, $dft:ident, $forward:ident, $inverse:ident, [$($m:literal),*]) => {
        #[inline(always)]
        fn $forward<V: Lanes>(block: &mut [V], table: &[u64]) {
            let h = block.len() / $radix;
            let parts = parts::<V, $radix>(block);
            let table = &table[..h * ($radix - 1)];
            for i in 0..h {
                let x = $dft([parts[0][i], $(parts[$m][i]),*]);
                parts[0][i] = x[0];
                $(parts[$m][i] = x[$m].scale(table[i * ($radix - 1) + $m - 1]);)*
            }
        }

        #[inline(always)]
        fn $inverse<V: Lanes>(block: &mut [V], table: &[u64]) {
            let h = block.len() / $radix;
            let parts = parts::<V, $radix>(block);
            let table = &table[..h * ($radix - 1)];
            for i in 0..h {
                let x = $dft([
                    parts[0][i],
                    $(parts[$m][i].scale(table[i * ($radix - 1) + $m - 1])),*
                ]);
                parts[0][i] = x[0];
                $(parts[$m][i] = x[$radix - $m];)*
            }
        }
    };
}

table_passes!(2, dft2, forward_2, inverse_2, [1]);
table_passes!(4, dft4, forward_4, inverse_4, [1, 2, 3]);
table_passes!(8, dft8, forward_8, inverse_8, [1, 2, 3, 4, 5, 6, 7]);
table_passes!(
    16,
    dft16,
    forward_16,
    inverse_16,
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
);

/// Returns the radices of the passes of [`forward_shifts`] for a block of at most 64 points, in the
/// order of the passes.
fn shift_radices(block: usize) -> Vec<usize> {
    if block <= 8 { vec![block] } else { vec![block / 8, 8] }
}

/// Replaces a block of 2^k ≤ 64 points by its forward transform, in the order of [`Fft::spectrum`].
/// All products by roots are shifts.
#[inline(always)]
fn forward_shifts<V: Lanes>(x: &mut [V]) {
    match x.len() {
        2 => forward_last_2(x),
        4 => forward_last_4(x),
        8 => forward_last_8(x),
        16 => forward_first_2(x),
        32 => forward_first_4(x),
        64 => forward_first_8(x),
        _ => {}
    }
}

/// Computes the inverse of [`forward_shifts`], multiplied by the number of points, which is at most
/// 64.
#[inline(always)]
fn inverse_shifts<V: Lanes>(x: &mut [V]) {
    match x.len() {
        2 => forward_last_2(x),
        4 => inverse_last_4(x),
        8 => inverse_last_8(x),
        16 => inverse_first_2(x),
        32 => inverse_first_4(x),
        64 => inverse_first_8(x),
        _ => {}
    }
}

#[inline(always)]
fn forward_last_2<V: Lanes>(x: &mut [V]) {
    if let [a, b] = x {
        [*a, *b] = dft2([*a, *b]);
    }
}

#[inline(always)]
fn forward_last_4<V: Lanes>(x: &mut [V]) {
    if let [a, b, c, d] = x {
        [*a, *b, *c, *d] = dft4([*a, *b, *c, *d]);
    }
}

#[inline(always)]
fn inverse_last_4<V: Lanes>(x: &mut [V]) {
    if let [a, b, c, d] = x {
        [*a, *d, *c, *b] = dft4([*a, *b, *c, *d]);
    }
}

#[inline(always)]
fn forward_last_8<V: Lanes>(x: &mut [V]) {
    if let [a, b, c, d, e, f, g, h] = x {
        [*a, *b, *c, *d, *e, *f, *g, *h] = dft8([*a, *b, *c, *d, *e, *f, *g, *h]);
    }
}

#[inline(always)]
fn inverse_last_8<V: Lanes>(x: &mut [V]) {
    if let [a, b, c, d, e, f, g, h] = x {
        [*a, *h, *g, *f, *e, *d, *c, *b] = dft8([*a, *b, *c, *d, *e, *f, *g, *h]);
    }
}

/// Calls the butterflies 0 to 7 of a pass over a block of radix·8 points.
macro_rules! each_of_eight {
    ($butterfly:ident::<$lanes:ident>($x:ident)) => {
        each_of_eight!($butterfly, $lanes, $x, [0, 1, 2, 3, 4, 5, 6, 7])
    };
    ($butterfly:ident, $lanes:ident, $x:ident, [$($j:literal),*]) => {
        $($butterfly::<$lanes, $j>($x);)*
    };
}

/// Defines the forward and inverse transforms of blocks of 8·radix points. The forward transform is
/// a pass of the given radix, followed by `radix` transforms of 8 points. Output m of butterfly j
/// of the pass is multiplied by the twiddle ω^(j·m) = 2^(24·j·m/radix), where ω is the root of
/// unity of order 8·radix. The inverse transform executes the inverse steps in reverse order.
///
/// Each butterfly is a call with a constant j, so that its shifts are known at compile time.
macro_rules! shift_passes {
    ($radix:literal, $dft:ident, $forward:ident, $inverse:ident, [$($m:literal),*]) => {
        #[inline(always)]
        fn $forward<V: Lanes>(x: &mut [V]) {
            #[inline(always)]
            fn butterfly<V: Lanes, const J: usize>(x: &mut [V]) {
                let y = $dft([x[J], $(x[8 * $m + J]),*]);
                x[J] = y[0];
                $(x[8 * $m + J] = y[$m].mul_pow2((24 / $radix * J * $m) as u32);)*
            }
            let x = &mut x[..8 * $radix];
            each_of_eight!(butterfly::<V>(x));
            for eight in x.chunks_exact_mut(8) {
                forward_last_8(eight);
            }
        }

        #[inline(always)]
        fn $inverse<V: Lanes>(x: &mut [V]) {
            #[inline(always)]
            fn butterfly<V: Lanes, const J: usize>(x: &mut [V]) {
                let y = $dft([
                    x[J],
                    $(x[8 * $m + J].mul_pow2(((192 - 24 / $radix * J * $m) % 192) as u32)),*
                ]);
                x[J] = y[0];
                $(x[8 * $m + J] = y[$radix - $m];)*
            }
            let x = &mut x[..8 * $radix];
            for eight in x.chunks_exact_mut(8) {
                inverse_last_8(eight);
            }
            each_of_eight!(butterfly::<V>(x));
        }
    };
}

shift_passes!(2, dft2, forward_first_2, inverse_first_2, [1]);
shift_passes!(4, dft4, forward_first_4, inverse_first_4, [1, 2, 3]);
shift_passes!(8, dft8, forward_first_8, inverse_first_8, [1, 2, 3, 4, 5, 6, 7]);
