//! Roots and powers of the numbers of a batch.

use std::num::NonZeroU32;

use warpint_natural::division::Divider;
use warpint_natural::power::PowMod;
use warpint_natural::product::Products;
use warpint_natural::root::{Root, SquareRoot};

#[cfg(target_arch = "x86_64")]
use super::lanes::Path;
use super::rows::{Rows, for_rows};
use super::{Operand, load, rows_at_a_time, store};

/// Computes root_i ← s = ⌊√a_i⌋ and rem_i ← a_i − s².
pub(crate) fn sqrt_rem(a: Operand, count: usize, root: Rows, rem: Rows) {
    let limbs = a.width().div_ceil(2);
    let space = || {
        let half = limbs.div_ceil(2);
        (vec![0; limbs], vec![0; half], vec![0; half + 1], SquareRoot::default())
    };
    let at_a_time = rows_at_a_time(a.width());
    for_rows(count, at_a_time, [root, rem], [], space, |space, i, [root, rem]| {
        let (x, s, r, roots) = space;
        load(x, a.row(i));
        roots.sqrt_rem(s, r, x);
        store(root, s);
        store(rem, r);
        []
    });
}

/// Computes root_i ← ⌊a_i^(1/k)⌋.
pub(crate) fn root(a: Operand, k: NonZeroU32, count: usize, root: Rows) {
    let limbs = a.width().div_ceil(2);
    let space = || (vec![0; limbs], vec![0; limbs], Root::default());
    let at_a_time = rows_at_a_time(a.width()).div_ceil(16);
    for_rows(count, at_a_time, [root], [], space, |(x, r, roots), i, [root]| {
        load(x, a.row(i));
        roots.root(r, x, k);
        store(root, r);
        []
    });
}

/// The temporary memory of one core: the numbers of one instance, in limbs of 64 bits, and the
/// precomputed data of the modulus.
struct Space<T> {
    a: Vec<u64>,
    b: Vec<u64>,
    m: Vec<u64>,
    result: Vec<u64>,
    work: T,
}

impl<T: Default> Space<T> {
    /// Allocates memory for the operands and the result. If all instances have the same modulus,
    /// calls `set`, which precomputes the data of the modulus.
    fn new(a: Operand, b: Operand, m: Operand, set: impl Fn(&mut T, &[u64])) -> Self {
        let [a, b, mut modulus, result] =
            [a, b, m, m].map(|operand| vec![0; operand.width().div_ceil(2)]);
        let mut work = T::default();
        if m.broadcast {
            load(&mut modulus, m.row(0));
            set(&mut work, &modulus);
        }
        Self { a, b, m: modulus, result, work }
    }

    /// Loads the numbers of instance i. Unless all instances have the same modulus, calls `set`,
    /// which precomputes the data of the modulus.
    fn load(&mut self, [a, b, m]: [Operand; 3], i: usize, set: impl Fn(&mut T, &[u64])) {
        load(&mut self.a, a.row(i));
        load(&mut self.b, b.row(i));
        if !m.broadcast {
            load(&mut self.m, m.row(i));
            set(&mut self.work, &self.m);
        }
    }
}

/// Computes x_i ← a_i^e_i mod m_i, with as many limbs as m. Where m_i = 0, x_i is 0 and flags_i
/// is 1.
pub(crate) fn pow_mod(a: Operand, e: Operand, m: Operand, x: Rows, flags: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(path) = Path::for_powers(a.width(), m.width(), flags.len()) {
        return path.pow_mod([a, e, m], x, flags);
    }
    pow_mod_one_by_one(a, e, m, x, flags);
}

/// Computes [`pow_mod`] with one power after the other on each core.
pub(super) fn pow_mod_one_by_one(a: Operand, e: Operand, m: Operand, x: Rows, flags: &mut [u8]) {
    let space = || OneByOne::new([a, e, m]);
    // A power takes as long as many sums, so a core gets fewer at a time.
    let at_a_time = rows_at_a_time(m.width()).div_ceil(16);
    for_rows(flags.len(), at_a_time, [x], [flags], space, |space, i, [x]| {
        [space.pow([a, e, m], i, x)]
    });
}

/// Working memory for powers, one after the other.
pub(super) struct OneByOne(Space<PowMod>);

impl OneByOne {
    /// Allocates memory for bases, exponents and moduli as wide as the operands.
    pub(super) fn new([a, e, m]: [Operand; 3]) -> Self {
        Self(Space::new(a, e, m, PowMod::set))
    }

    /// Computes x ← a_i^e_i mod m_i and returns false. Sets x to 0 and returns true if m_i = 0.
    pub(super) fn pow(&mut self, operands: [Operand; 3], i: usize, x: &mut [u32]) -> bool {
        self.0.load(operands, i, PowMod::set);
        let Space { a, b: e, result, work, .. } = &mut self.0;
        work.pow(result, a, e);
        store(x, result);
        work.is_zero()
    }
}

/// Temporary memory and precomputed data for successive products modulo one number.
#[derive(Default)]
struct MulMod {
    product: Vec<u64>,
    quotient: Vec<u64>,
    products: Products,
    divider: Divider,
}

impl MulMod {
    fn set(&mut self, m: &[u64]) {
        self.divider.set(m);
    }
}

/// Computes x_i ← a_i·b_i mod m_i, with as many limbs as m. Where m_i = 0, x_i is 0 and flags_i
/// is 1.
pub(crate) fn mul_mod(a: Operand, b: Operand, m: Operand, x: Rows, flags: &mut [u8]) {
    let space = || Space::new(a, b, m, MulMod::set);
    let at_a_time = rows_at_a_time(a.width() + b.width() + m.width());
    for_rows(flags.len(), at_a_time, [x], [flags], space, |space, i, [x]| {
        space.load([a, b, m], i, MulMod::set);
        let Space { a, b, result, work: MulMod { product, quotient, products, divider }, .. } =
            space;
        product.resize(a.len() + b.len(), 0);
        quotient.resize(product.len(), 0);
        products.mul(product, a, b);
        divider.div_rem(quotient, result, product);
        store(x, result);
        [divider.is_zero()]
    });
}
