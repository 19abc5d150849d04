//! Powers modulo odd numbers, one power per lane. Products are those of Montgomery (1985, *Modular
//! multiplication without trial division*, Mathematics of Computation 44, 519–521). Exponents are
//! cut into fixed windows (Menezes, van Oorschot and Vanstone 1996, *Handbook of Applied
//! Cryptography*, CRC Press, algorithm 14.82).
//!
//! Let n be the number of limbs for which R = 2^(β·n) ≥ 4m, with β = [`Lanes::BITS`]. Residues
//! modulo m stay below 2m: for x, y < 2m, a Montgomery product is (x·y + q·m)/R with q < R, which
//! is less than 4m²/R + m ≤ 2m. So only the final result is compared with m.

use warpint_natural::division::Divider;

use super::columns::{
    Inverse, add_product, add_product_by, add_square, add_square_by, inverse_of, propagate, reduce,
    reduce_by,
};
use super::rows::{Group, PADDING, Words, limbs_of, load, store};
use super::vector::{Kernel, Lanes, digit, words, words_mut};
use crate::cpu::{load as to_words, store as to_row};

/// The largest width of a window in bits. Wider windows save few products, and their tables exceed
/// the cache.
const MOST_WINDOW: usize = 6;

/// Returns the number of limbs of residues modulo numbers of `width` limbs of 32 bits.
pub(super) const fn residue_limbs<V: Lanes>(width: usize) -> usize {
    limbs_of::<V>(32 * width + 2)
}

/// The operands a, e and m of the powers of one group, one row per lane. `out` has a row for each
/// lane that is used. Bases are below R.
pub(super) struct Powers<'a, 'r> {
    pub(super) a: Group<'a>,
    pub(super) e: Group<'a>,
    pub(super) m: Group<'a>,
    /// Whether the moduli are those of the previous call with the same working memory.
    pub(super) same_moduli: bool,
    pub(super) out: &'r mut [u32],
}

/// The working memory of one core.
pub(super) struct Space<V> {
    words: Words<V>,
    modulus: Modulus<V>,
    /// The current power.
    x: Vec<V>,
    /// The powers x^0, x^1 … of the base, in rows of n limbs.
    table: Vec<V>,
    /// The entry of the table that each lane's exponent selects.
    entry: Vec<V>,
    /// The columns of a product, and zeros after them.
    columns: Vec<V>,
}

/// The moduli of the lanes.
struct Modulus<V> {
    /// The moduli, as factors.
    m: Vec<V>,
    inverse: Inverse<V>,
    /// R² mod m, as factors.
    square_of_r: Vec<V>,
    divider: Divider,
    /// Memory for one number: the modulus, R², a quotient and a remainder in limbs of 64 bits.
    scalars: [Vec<u64>; 4],
    /// The rows of R² mod m.
    rows: Vec<u32>,
}

impl<V: Lanes> Space<V> {
    /// Allocates memory for bases and moduli of `a` and `m` limbs of 32 bits.
    pub(super) fn new(proof: V::Proof, a: usize, m: usize) -> Self {
        let zeros = |len: usize| vec![V::splat(proof, 0); len];
        let n = residue_limbs::<V>(m);
        let l = m.div_ceil(2);
        let square = 2 * n * V::BITS as usize / 64 + 1;
        Self {
            words: Words::new(proof, a.max(m)),
            modulus: Modulus {
                m: zeros(n),
                inverse: [V::splat(proof, 0); _],
                square_of_r: zeros(n),
                divider: Divider::default(),
                scalars: [l, square, square, l].map(|len| vec![0; len]),
                rows: vec![0; m * V::LANES],
            },
            x: zeros(n),
            table: vec![],
            entry: zeros(n),
            columns: zeros(2 * n + PADDING),
        }
    }
}

impl<V: Lanes> Modulus<V> {
    /// Sets the moduli, which must be odd. Costs one division per lane.
    #[inline(always)]
    fn set(&mut self, proof: V::Proof, moduli: &Group, words: &mut Words<V>) {
        let Self { m, inverse, square_of_r, divider, scalars, rows } = self;
        let width = moduli[0].len();
        let [modulus, square, quotient, remainder] = scalars;
        let mut lowest = V::splat(proof, 0);
        let inverses = words_mut(std::slice::from_mut(&mut lowest));
        let lanes = moduli.iter().zip(inverses).zip(rows.chunks_exact_mut(width));
        for ((row, inverse), remainder_row) in lanes {
            to_words(modulus, row);
            *inverse = inverse_of_odd(modulus[0]).wrapping_neg();
            square.fill(0);
            let bit = 2 * m.len() * V::BITS as usize;
            square[bit / 64] = 1 << (bit % 64);
            divider.set(modulus);
            divider.div_rem(quotient, remainder, square);
            to_row(remainder_row, remainder);
        }
        load(proof, moduli, width, words, m);
        *inverse = inverse_of(proof, m, digit(proof, lowest).factor());
        let mut rows = rows.chunks_exact(width);
        let squares: Group = std::array::from_fn(|_| rows.next().unwrap_or_default());
        load(proof, &squares, width, words, square_of_r);
    }
}

/// A Montgomery product: sets the upper half of `columns` to the limbs of (x·y + q·m)/R, or of
/// (x² + q·m)/R if y is `None`. Either both x and y are below 2m, or one is below R and the other
/// at most m. The result is then at most 2m.
struct Multiply<'a, V> {
    modulus: &'a Modulus<V>,
    columns: &'a mut [V],
    x: &'a [V],
    y: Option<&'a [V]>,
}

impl<V: Lanes> Kernel<V> for Multiply<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run(self, proof: V::Proof) {
        let Self { modulus, columns, x, y } = self;
        // Moduli of 224 to 414, of 512 and of 1,024 bits. A block of seven limbs does not fit in the
        // registers of AVX2.
        match x.len() {
            5 => return multiply_by::<V, 5, 5>(proof, modulus, columns, x, y),
            6 => return multiply_by::<V, 6, 3>(proof, modulus, columns, x, y),
            7 if V::SPLIT => return multiply_by::<V, 7, 7>(proof, modulus, columns, x, y),
            7 => return multiply_by::<V, 7, 3>(proof, modulus, columns, x, y),
            8 => return multiply_by::<V, 8, 4>(proof, modulus, columns, x, y),
            10 => return multiply_by::<V, 10, 5>(proof, modulus, columns, x, y),
            20 => return multiply_by::<V, 20, 5>(proof, modulus, columns, x, y),
            _ => (),
        }
        let needed = 2 * x.len();
        let columns = &mut columns[..needed];
        columns.fill(V::splat(proof, 0));
        match y {
            Some(y) => add_product::<V, false>(proof, columns, needed, x, y),
            None => add_square::<V, false>(proof, columns, needed, x),
        }
        reduce(proof, columns, &modulus.m, &modulus.inverse);
        propagate(proof, &mut columns[x.len()..]);
    }
}

/// Computes [`Multiply`] for N limbs, in blocks of B. The code is compiled for this length, so
/// columns stay in registers as far as they fit.
#[inline(always)]
fn multiply_by<V: Lanes, const N: usize, const B: usize>(
    proof: V::Proof,
    modulus: &Modulus<V>,
    out: &mut [V],
    x: &[V],
    y: Option<&[V]>,
) {
    let (x, m) = (&x[..N], &modulus.m[..N]);
    let mut columns = [[V::splat(proof, 0); N]; 2];
    let columns = columns.as_flattened_mut();
    match y {
        Some(y) => add_product_by::<V, B, false>(proof, columns, x, &y[..N]),
        None => add_square_by::<V, B, false>(proof, columns, x),
    }
    reduce_by::<V, B>(proof, columns, m, &modulus.inverse);
    propagate(proof, &mut columns[N..]);
    out[N..2 * N].copy_from_slice(&columns[N..]);
}

/// Returns m^(−1) mod 2^64 for odd m, by Newton's iteration.
pub(super) fn inverse_of_odd(m: u64) -> u64 {
    // Five bits are correct, and each step doubles their number.
    let mut x = m.wrapping_mul(3) ^ 2;
    for _ in 0..4 {
        x = x.wrapping_mul(2u64.wrapping_sub(m.wrapping_mul(x)));
    }
    x
}

/// Sets x to the factors of `limbs`.
#[inline(always)]
fn take<V: Lanes>(x: &mut [V], limbs: &[V]) {
    for (x, limb) in x.iter_mut().zip(limbs) {
        *x = limb.factor();
    }
}

/// Returns `window` bits of the number with the limbs e, from bit `from` on.
#[inline(always)]
fn bits_of(e: &[u32], from: usize, window: usize) -> usize {
    let limb = |i: usize| u64::from(e.get(i).copied().unwrap_or(0));
    let both = limb(from / 32 + 1) << 32 | limb(from / 32);
    (both >> (from % 32)) as usize & ((1 << window) - 1)
}

/// Returns the bit length of the number with the limbs e.
fn bit_length(e: &[u32]) -> usize {
    let top = e.iter().rposition(|&limb| limb != 0);
    top.map_or(0, |top| 32 * (top + 1) - e[top].leading_zeros() as usize)
}

/// Returns the width of windows, in bits, that needs the fewest products for exponents of `bits`
/// bits.
fn window(bits: usize) -> usize {
    let products = |w: usize| (1 << w) + bits.div_ceil(w);
    (1..=MOST_WINDOW).min_by_key(|&w| products(w)).unwrap_or(1)
}

/// The computation of [`Powers`], with working memory.
pub(super) struct Task<'a, 'r, V> {
    pub(super) space: &'r mut Space<V>,
    pub(super) powers: Powers<'a, 'r>,
}

impl<V: Lanes> Kernel<V> for Task<'_, '_, V> {
    type Output = ();

    /// Computes out_l ← a_l^e_l mod m_l for the lanes l. The result may be m_l instead of 0.
    #[inline(always)]
    fn run(self, proof: V::Proof) {
        let Space { words: memory, modulus, x, table, entry, columns } = self.space;
        let Powers { a, e, m, same_moduli, out } = self.powers;
        let n = x.len();
        let width = m[0].len();
        if !same_moduli {
            modulus.set(proof, &m, memory);
        }
        let modulus = &*modulus;
        // Through `enter`, a product is a function call. Otherwise its code would be inlined at
        // each use.
        let multiply = |columns: &mut [V], x: &[V], y: Option<&[V]>| {
            V::enter(proof, Multiply { modulus, columns, x, y });
        };
        let e = &e[..V::LANES];
        let bits = e.iter().map(|e| bit_length(e)).max().unwrap_or(0);
        let window = window(bits);

        // The powers 0 to 2^window − 1 of the base in Montgomery form.
        table.resize(n << window, V::splat(proof, 0));
        x.fill(V::splat(proof, 0));
        x[0] = V::splat(proof, 1).factor();
        for index in 0..1 << window {
            match index {
                0 => multiply(columns, &modulus.square_of_r, Some(x)),
                1 => {
                    load(proof, &a, a[0].len(), memory, x);
                    multiply(columns, x, Some(&modulus.square_of_r));
                }
                _ if index % 2 == 0 => {
                    multiply(columns, &table[index / 2 * n..][..n], None);
                }
                _ => {
                    let (below, base) = (&table[(index - 1) * n..][..n], &table[n..2 * n]);
                    multiply(columns, below, Some(base));
                }
            }
            take(&mut table[index * n..][..n], &columns[n..]);
        }

        let mut left = bits.next_multiple_of(window);
        select(entry, table, e, left.saturating_sub(window), window);
        x.copy_from_slice(entry);
        left = left.saturating_sub(window);
        while left > 0 {
            for _ in 0..window {
                multiply(columns, x, None);
                take(x, &columns[n..]);
            }
            left -= window;
            select(entry, table, e, left, window);
            multiply(columns, x, Some(entry));
            take(x, &columns[n..]);
        }

        // Converts x from Montgomery form: the result is (x + q·m)/R ≤ m.
        entry.fill(V::splat(proof, 0));
        entry[0] = V::splat(proof, 1).factor();
        multiply(columns, x, Some(entry));
        store(proof, &columns[n..], 0, out.chunks_exact_mut(width), width, memory);
    }
}

/// Sets lane l of `entry` to lane l of one entry of the table: the entry whose index is the
/// `window` bits of e_l from bit `from` on.
#[inline(always)]
fn select<V: Lanes>(entry: &mut [V], table: &[V], e: &[&[u32]], from: usize, window: usize) {
    let n = entry.len();
    let (entry, table) = (words_mut(entry), words(table));
    for (lane, e) in e.iter().enumerate() {
        let row = &table[bits_of(e, from, window) * n * V::LANES..][..n * V::LANES];
        let pairs = entry.chunks_exact_mut(V::LANES).zip(row.chunks_exact(V::LANES));
        for (to, from) in pairs {
            to[lane] = from[lane];
        }
    }
}
