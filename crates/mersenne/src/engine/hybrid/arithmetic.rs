//! The two arithmetics of the engine, on vectors: complex numbers in FP64, and the field GF(q²) with
//! q = 2^31 − 1.
//!
//! Code on vectors contains no closures: they would be compiled without the instructions of the
//! vectors, unless they are inlined.

use warpint_arith::m31::{self, Gauss, Q};
use warpint_arith::simd::{F64s, Level, U64s};

use crate::engine::fp64::transform::roots::Roots;

/// A vector of elements: the vectors of their real and of their imaginary parts.
pub(super) type Z<V> = [V; 2];

/// An element of a table: the bit patterns of its real and of its imaginary part, as they stand in
/// the lanes of a vector.
pub(super) type Entry = [u64; 2];

/// An arithmetic with i, conjugates and roots of unity. All methods on vectors act on each lane
/// separately.
///
/// Sums of up to 64 products and of results of [`Arithmetic::settle`] may be factors, and may be
/// settled. Longer sums must be settled in between.
pub(super) trait Arithmetic: Send + Sync + 'static {
    /// The roots of unity of one order n.
    type Roots;

    /// Prepares the roots ω_n^k. They are compatible: ω_(mn)^m = ω_n, and ω_4 = i. Cost: O(√n).
    fn roots(n: u64) -> Self::Roots;
    /// Returns ω_n^k for any k.
    fn root(roots: &Self::Roots, k: u64) -> Entry;
    /// Returns the pair (c, h), 2c = ω_n^k + ω_n^−k and 2h = ω_n^k − ω_n^−k. The part of h that is
    /// not 0, the imaginary part for complex numbers, stands for h. n is odd.
    fn cosine_and_sine(n: u64, k: u64) -> Entry;
    /// Returns x/4 for an element of a table.
    fn quarter(x: Entry) -> Entry;

    /// Returns a + b.
    fn add<V: F64s>(a: Z<V>, b: Z<V>) -> Z<V>;
    /// Returns a − b.
    fn sub<V: F64s>(a: Z<V>, b: Z<V>) -> Z<V>;
    /// Returns a + i·b.
    fn add_i<V: F64s>(a: Z<V>, b: Z<V>) -> Z<V>;
    /// Returns a − i·b.
    fn sub_i<V: F64s>(a: Z<V>, b: Z<V>) -> Z<V>;
    /// Returns the conjugate of a.
    fn conjugate<V: F64s>(instructions: V::Instructions, a: Z<V>) -> Z<V>;
    /// Returns a·w for an element w of a table.
    fn times_entry<V: F64s>(instructions: V::Instructions, a: Z<V>, w: Z<V>) -> Z<V>;
    /// Returns a·w', where w' is the conjugate of the element w of a table.
    fn times_conjugate<V: F64s>(instructions: V::Instructions, a: Z<V>, w: Z<V>) -> Z<V>;
    /// Returns a·b.
    fn times<V: F64s>(instructions: V::Instructions, a: Z<V>, b: Z<V>) -> Z<V>;
    /// Returns a, settled.
    fn settle<V: F64s>(instructions: V::Instructions, a: Z<V>) -> Z<V>;
    /// Returns a + c·t for c of [`Arithmetic::cosine_and_sine`] and t of [`Arithmetic::settle`].
    fn add_cosine<V: F64s>(instructions: V::Instructions, a: Z<V>, t: Z<V>, c: V) -> Z<V>;
    /// Returns a + h·t for h of [`Arithmetic::cosine_and_sine`] and t of [`Arithmetic::settle`].
    fn add_sine<V: F64s>(instructions: V::Instructions, a: Z<V>, t: Z<V>, h: V) -> Z<V>;
}

/// Complex numbers in FP64.
pub(super) struct Complex;

/// Returns a·b + c: with FMA, or rounded twice in portable code, where FMA may be a call of a function
/// that takes tens of nanoseconds.
#[inline(always)]
fn mul_add<V: F64s>(a: V, b: V, c: V) -> V {
    if V::LEVEL == Level::Portable { a.mul(b).add(c) } else { a.mul_add(b, c) }
}

/// Returns a·b − c, like [`mul_add`].
#[inline(always)]
fn mul_sub<V: F64s>(a: V, b: V, c: V) -> V {
    if V::LEVEL == Level::Portable { a.mul(b).sub(c) } else { a.mul_sub(b, c) }
}

impl Arithmetic for Complex {
    type Roots = Roots;

    fn roots(n: u64) -> Roots {
        Roots::new(n as usize)
    }

    fn root(roots: &Roots, k: u64) -> Entry {
        // `Roots` are powers of e^(−2πi/n).
        let root = roots.get(k);
        [root.re.to_bits(), (-root.im).to_bits()]
    }

    fn cosine_and_sine(n: u64, k: u64) -> Entry {
        Self::root(&Self::roots(n), k)
    }

    fn quarter(x: Entry) -> Entry {
        x.map(|x| (0.25 * f64::from_bits(x)).to_bits())
    }

    #[inline(always)]
    fn add<V: F64s>(a: Z<V>, b: Z<V>) -> Z<V> {
        [a[0].add(b[0]), a[1].add(b[1])]
    }

    #[inline(always)]
    fn sub<V: F64s>(a: Z<V>, b: Z<V>) -> Z<V> {
        [a[0].sub(b[0]), a[1].sub(b[1])]
    }

    #[inline(always)]
    fn add_i<V: F64s>(a: Z<V>, b: Z<V>) -> Z<V> {
        [a[0].sub(b[1]), a[1].add(b[0])]
    }

    #[inline(always)]
    fn sub_i<V: F64s>(a: Z<V>, b: Z<V>) -> Z<V> {
        [a[0].add(b[1]), a[1].sub(b[0])]
    }

    #[inline(always)]
    fn conjugate<V: F64s>(_: V::Instructions, a: Z<V>) -> Z<V> {
        [a[0], a[1].neg()]
    }

    #[inline(always)]
    fn times_entry<V: F64s>(_: V::Instructions, a: Z<V>, w: Z<V>) -> Z<V> {
        [mul_sub(a[0], w[0], a[1].mul(w[1])), mul_add(a[0], w[1], a[1].mul(w[0]))]
    }

    #[inline(always)]
    fn times_conjugate<V: F64s>(_: V::Instructions, a: Z<V>, w: Z<V>) -> Z<V> {
        [mul_add(a[0], w[0], a[1].mul(w[1])), mul_sub(a[1], w[0], a[0].mul(w[1]))]
    }

    #[inline(always)]
    fn times<V: F64s>(i: V::Instructions, a: Z<V>, b: Z<V>) -> Z<V> {
        Self::times_entry(i, a, b)
    }

    #[inline(always)]
    fn settle<V: F64s>(_: V::Instructions, a: Z<V>) -> Z<V> {
        a
    }

    #[inline(always)]
    fn add_cosine<V: F64s>(_: V::Instructions, a: Z<V>, t: Z<V>, c: V) -> Z<V> {
        [mul_add(t[0], c, a[0]), mul_add(t[1], c, a[1])]
    }

    #[inline(always)]
    fn add_sine<V: F64s>(_: V::Instructions, a: Z<V>, t: Z<V>, h: V) -> Z<V> {
        [mul_add(t[1].neg(), h, a[0]), mul_add(t[0], h, a[1])]
    }
}

/// The field GF(q²). A part of an element is a signed integer congruent to it modulo q, of magnitude
/// below 2^50. Parts of products are from 0 to 2^34, parts of results of [`Arithmetic::settle`] from
/// 0 to 2^31 + 2^21, and parts of tables from 0 to q.
pub(super) struct Modular;

/// The roots of unity of order n in GF(q²), as products of two of about 2√n roots.
pub(super) struct ModularRoots {
    n: u64,
    coarse: Vec<Gauss>,
    fine: Vec<Gauss>,
}

impl ModularRoots {
    fn new(n: u64) -> Self {
        // All lengths of the engine have roots.
        let root = m31::root_of_unity(n).unwrap_or(Gauss::ONE);
        let step = n.isqrt().max(1);
        let powers = |root: Gauss, count: u64| {
            let power = |x: &Gauss| Some(x.times(root));
            std::iter::successors(Some(Gauss::ONE), power).take(count as usize).collect()
        };
        Self { n, coarse: powers(root.pow(step), n.div_ceil(step)), fine: powers(root, step) }
    }
}

/// A multiple of q above 2^50.
const BIAS: u64 = (Q as u64) << 20;

/// Returns x + q·2^20 reduced once: from 0 to 2^31 + 2^21, for signed x of magnitude below 2^50.
#[inline(always)]
pub(super) fn fold_signed<V: F64s>(i: V::Instructions, x: V) -> V::Integers {
    fold::<V>(i, x.to_bits().add(V::splat_bits(i, BIAS)))
}

/// Returns both parts of an element, reduced once.
#[inline(always)]
fn folded<V: F64s>(i: V::Instructions, a: Z<V>) -> [V::Integers; 2] {
    [fold_signed(i, a[0]), fold_signed(i, a[1])]
}

/// Returns x reduced once: (x mod 2^31) + ⌊x/2^31⌋, which is congruent to x modulo q.
#[inline(always)]
pub(super) fn fold<V: F64s>(i: V::Instructions, x: V::Integers) -> V::Integers {
    x.and(V::splat_bits(i, u64::from(Q))).add(x.shift_right::<31>())
}

/// Returns the element (ar + ai·i)·(br + bi·i). The parts of a and b are at
/// most 2^31 + 2^21. Products are below 2^63 and their sums below 2^64. The parts of the result are
/// below 2^34, or at most 2^33 if those of a and b are at most 2^31 + 2^21 and q.
#[inline(always)]
fn product<V: F64s>(i: V::Instructions, a: [V::Integers; 2], b: [V::Integers; 2]) -> Z<V> {
    let opposite = V::splat_bits(i, 2 * u64::from(Q)).sub(b[1]);
    let re = a[0].mul_low(b[0]).add(a[1].mul_low(opposite));
    let im = a[0].mul_low(b[1]).add(a[1].mul_low(b[0]));
    [V::from_bits(fold::<V>(i, re)), V::from_bits(fold::<V>(i, im))]
}

impl Arithmetic for Modular {
    type Roots = ModularRoots;

    fn roots(n: u64) -> ModularRoots {
        ModularRoots::new(n)
    }

    fn root(roots: &ModularRoots, k: u64) -> Entry {
        let k = k % roots.n;
        let step = roots.fine.len() as u64;
        let root = roots.coarse[(k / step) as usize].times(roots.fine[(k % step) as usize]);
        [u64::from(root.re), u64::from(root.im)]
    }

    fn cosine_and_sine(n: u64, k: u64) -> Entry {
        // n is odd, so its roots are in GF(q).
        let (half, roots) = (m31::inverse(2), Self::roots(n));
        let [x, y] = [k % n, n - k % n].map(|k| Self::root(&roots, k)[0] as u32);
        [m31::add(x, y), m31::sub(x, y)].map(|x| u64::from(m31::mul(half, x)))
    }

    fn quarter(x: Entry) -> Entry {
        x.map(|x| u64::from(m31::rotate(x as u32, 29)))
    }

    #[inline(always)]
    fn add<V: F64s>(a: Z<V>, b: Z<V>) -> Z<V> {
        [
            V::from_bits(a[0].to_bits().add(b[0].to_bits())),
            V::from_bits(a[1].to_bits().add(b[1].to_bits())),
        ]
    }

    #[inline(always)]
    fn sub<V: F64s>(a: Z<V>, b: Z<V>) -> Z<V> {
        [
            V::from_bits(a[0].to_bits().sub(b[0].to_bits())),
            V::from_bits(a[1].to_bits().sub(b[1].to_bits())),
        ]
    }

    #[inline(always)]
    fn add_i<V: F64s>(a: Z<V>, b: Z<V>) -> Z<V> {
        let [re, im] = [b[0].to_bits(), b[1].to_bits()];
        [V::from_bits(a[0].to_bits().sub(im)), V::from_bits(a[1].to_bits().add(re))]
    }

    #[inline(always)]
    fn sub_i<V: F64s>(a: Z<V>, b: Z<V>) -> Z<V> {
        let [re, im] = [b[0].to_bits(), b[1].to_bits()];
        [V::from_bits(a[0].to_bits().add(im)), V::from_bits(a[1].to_bits().sub(re))]
    }

    #[inline(always)]
    fn conjugate<V: F64s>(i: V::Instructions, a: Z<V>) -> Z<V> {
        [a[0], V::from_bits(V::splat_bits(i, 0).sub(a[1].to_bits()))]
    }

    #[inline(always)]
    fn times_entry<V: F64s>(i: V::Instructions, a: Z<V>, w: Z<V>) -> Z<V> {
        let a = folded(i, a);
        let [wr, wi] = [w[0].to_bits(), w[1].to_bits()];
        let opposite = V::splat_bits(i, u64::from(Q)).sub(wi);
        let re = a[0].mul_low(wr).add(a[1].mul_low(opposite));
        let im = a[0].mul_low(wi).add(a[1].mul_low(wr));
        [V::from_bits(fold::<V>(i, re)), V::from_bits(fold::<V>(i, im))]
    }

    #[inline(always)]
    fn times_conjugate<V: F64s>(i: V::Instructions, a: Z<V>, w: Z<V>) -> Z<V> {
        let a = folded(i, a);
        let [wr, wi] = [w[0].to_bits(), w[1].to_bits()];
        let opposite = V::splat_bits(i, u64::from(Q)).sub(wi);
        let re = a[0].mul_low(wr).add(a[1].mul_low(wi));
        let im = a[1].mul_low(wr).add(a[0].mul_low(opposite));
        [V::from_bits(fold::<V>(i, re)), V::from_bits(fold::<V>(i, im))]
    }

    #[inline(always)]
    fn times<V: F64s>(i: V::Instructions, a: Z<V>, b: Z<V>) -> Z<V> {
        product(i, folded(i, a), folded(i, b))
    }

    #[inline(always)]
    fn settle<V: F64s>(i: V::Instructions, a: Z<V>) -> Z<V> {
        let [re, im] = folded(i, a);
        [V::from_bits(re), V::from_bits(im)]
    }

    #[inline(always)]
    fn add_cosine<V: F64s>(i: V::Instructions, a: Z<V>, t: Z<V>, c: V) -> Z<V> {
        let [re, im] = [t[0].to_bits().mul_low(c.to_bits()), t[1].to_bits().mul_low(c.to_bits())];
        Self::add(a, [V::from_bits(fold::<V>(i, re)), V::from_bits(fold::<V>(i, im))])
    }

    #[inline(always)]
    fn add_sine<V: F64s>(i: V::Instructions, a: Z<V>, t: Z<V>, h: V) -> Z<V> {
        Self::add_cosine(i, a, t, h)
    }
}
