//! Compares transforms with the definition and with published examples.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_arith::f50::{self, F50};
use warpint_arith::gfn::PRIMES;
use warpint_arith::goldilocks::Goldilocks;
use warpint_arith::montgomery::known::BN254_SCALAR;
use warpint_arith::primes::{mul_mod, pow_mod};
use warpint_arith::with_field;

use super::*;
use crate::definition;

/// The field Z/pZ for a small p. `root` is a root of unity of order 2^`most`.
#[derive(Debug, Clone, Copy)]
struct Small {
    p: u64,
    root: u64,
    most: u32,
    /// The base-2 logarithm of the order of the roots that are declared cheap.
    cheap: u32,
}

const SEVENTEEN: Small = Small { p: 17, root: 6, most: 4, cheap: 1 };

impl Field for Small {
    type Element = u64;

    fn zero(&self) -> u64 {
        0
    }
    fn one(&self) -> u64 {
        1
    }
    fn from_u64(&self, x: u64) -> u64 {
        x % self.p
    }
    fn add(&self, a: &u64, b: &u64) -> u64 {
        (a + b) % self.p
    }
    fn sub(&self, a: &u64, b: &u64) -> u64 {
        (a + self.p - b) % self.p
    }
    fn mul(&self, a: &u64, b: &u64) -> u64 {
        mul_mod(*a, *b, self.p)
    }
    fn inverse(&self, a: &u64) -> Option<u64> {
        (*a != 0).then(|| pow_mod(*a, self.p - 2, self.p))
    }
    fn root_of_unity(&self, log2: u32) -> Option<u64> {
        (log2 <= self.most).then(|| pow_mod(self.root, 1 << (self.most - log2), self.p))
    }
    fn log2_of_cheap_roots(&self) -> u32 {
        self.cheap
    }
    fn mul_by_cheap_root(&self, a: &u64, i: u64) -> u64 {
        assert!(i < 1 << self.cheap, "exponents of cheap roots are below their order");
        mul_mod(*a, pow_mod(self.root, i << (self.most - self.cheap), self.p), self.p)
    }
}

/// Returns the field Z/65537Z, where 65537 = 2^16 + 1. 3 is a root of unity of order 2^16. The
/// roots of order 2^`cheap` are declared cheap.
fn fermat(cheap: u32) -> Small {
    Small { p: 65537, root: 3, most: 16, cheap }
}

fn elements<F: Field>(field: &F, count: usize, seed: u64) -> Vec<F::Element> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let minus_one = field.neg(&field.one());
    let mut pick = || match random.random_range(0..8) {
        0 => field.zero(),
        1 => minus_one.clone(),
        _ => {
            let high = field.square(&field.from_u64(random.random()));
            field.add(&field.mul(&high, &high), &field.from_u64(random.random()))
        }
    };
    (0..count).map(|_| pick()).collect()
}

/// Compares every output of a transform with the definition, and tests that the inverse restores
/// the input.
fn check_all<F: Field + Clone>(field: &F, log2: u32, batch: usize) {
    let plan = Transform::new(field.clone(), log2).unwrap();
    let x = elements(field, batch << log2, log2.into());
    let mut y = x.clone();
    plan.forward(&mut y).unwrap();
    let root = field.root_of_unity(log2).unwrap();
    for (x, y) in x.chunks(1 << log2).zip(y.chunks(1 << log2)) {
        assert_eq!(y, definition::transform(field, x, &root), "2^{log2} elements");
    }
    plan.inverse(&mut y).unwrap();
    assert_eq!(y, x, "2^{log2} elements and back");
}

/// Compares a few outputs of a transform with Horner's rule, and tests that the inverse restores
/// the input.
fn check_some<F: Field + Clone>(field: &F, log2: u32) {
    let plan = Transform::new(field.clone(), log2).unwrap();
    let x = elements(field, 1 << log2, log2.into());
    let mut y = x.clone();
    plan.forward(&mut y).unwrap();
    let root = field.root_of_unity(log2).unwrap();
    let n = 1u64 << log2;
    for i in [0, 1, 2, n / 4 + 1, n / 2, n - 1, 12_345 % n] {
        let point = field.pow(&root, &[i]);
        let expected = definition::evaluate(field, &x, &point);
        assert_eq!(y[i as usize], expected, "output {i} of 2^{log2}");
    }
    plan.inverse(&mut y).unwrap();
    assert!(y == x, "2^{log2} elements and back");
}

fn check_convolutions<F: Field + Clone>(field: &F, log2: u32, batch: usize) {
    let plan = Transform::new(field.clone(), log2).unwrap();
    let n = plan.len();
    let (a, b) = (elements(field, batch * n, 1), elements(field, batch * n, 2));
    let (mut cyclic, mut square) = (a.clone(), a.clone());
    plan.cyclic(&mut cyclic, &mut b.clone()).unwrap();
    plan.cyclic_square(&mut square).unwrap();
    let negacyclic = field.root_of_unity(log2 + 1).is_some().then(|| {
        let mut c = a.clone();
        plan.negacyclic(&mut c, &mut b.clone()).unwrap();
        c
    });
    for i in 0..batch {
        let (of, part) = (i * n..(i + 1) * n, |x: &[F::Element]| x[i * n..(i + 1) * n].to_vec());
        let (a, b) = (&a[of.clone()], &b[of]);
        assert_eq!(part(&cyclic), definition::convolve(field, a, b), "{n} elements");
        assert_eq!(part(&square), definition::convolve(field, a, a), "{n} elements");
        let Some(negacyclic) = &negacyclic else { continue };
        // The product of length 2N, whose upper half is subtracted.
        let zeros = vec![field.zero(); n];
        let product = definition::convolve(field, &[a, &zeros].concat(), &[b, &zeros].concat());
        let expected: Vec<_> =
            product[..n].iter().zip(&product[n..]).map(|(c, d)| field.sub(c, d)).collect();
        assert_eq!(part(negacyclic), expected, "{n} elements, modulo z^n + 1");
    }
}

/// Compares transforms with published examples over Z/17Z with ω = 2 (Chen, Covanov, Mohajerani and
/// Moreno Maza 2018, *Big prime field FFTs on the GPU*, slides of CASCON).
#[test]
fn published_examples_over_z_17() {
    let plan = Transform::of_length(SEVENTEEN, 8).unwrap();
    assert_eq!(SEVENTEEN.root_of_unity(3), Some(2));
    let transform = |mut x: [u64; 8]| {
        plan.forward(&mut x).unwrap();
        x
    };
    assert_eq!(transform([1, 2, 1, 2, 1, 2, 1, 2]), [12, 0, 0, 0, 13, 0, 0, 0]);
    let (mut a, mut b) = ([1, 2, 3, 4, 5, 6, 7, 8], [8, 7, 6, 5, 4, 3, 2, 1]);
    assert_eq!(transform(a), [2, 8, 14, 6, 13, 3, 12, 1]);
    assert_eq!(transform(b), [2, 9, 3, 11, 4, 14, 5, 16]);
    plan.cyclic(&mut a, &mut b).unwrap();
    assert_eq!(a, [6, 3, 8, 4, 8, 3, 6, 0]);
}

#[test]
fn transforms_are_those_of_the_definition() {
    for log2 in 0..=4 {
        check_all(&SEVENTEEN, log2, 3);
    }
    for cheap in [1, 2, 3, 5, 8] {
        for log2 in 0..=10 {
            check_all(&fermat(cheap), log2, if log2 < 7 { 3 } else { 1 });
        }
    }
    for log2 in 0..=9 {
        check_all(&Goldilocks, log2, 2);
        check_all(&F50::new(f50::PRIMES[0].0).unwrap(), log2, 2);
        check_all(&F50::new(f50::NARROW[2].0).unwrap(), log2, 1);
    }
}

#[test]
fn outputs_of_long_transforms_are_those_of_the_definition() {
    check_some(&fermat(5), 16);
    for log2 in [13, 16, 17] {
        check_some(&Goldilocks, log2);
        check_some(&F50::new(f50::PRIMES[1].0).unwrap(), log2);
    }
}

#[test]
fn convolutions_are_those_of_the_definition() {
    for log2 in 0..=4 {
        check_convolutions(&SEVENTEEN, log2, 2);
    }
    for log2 in 0..=8 {
        check_convolutions(&fermat(3), log2, 2);
        check_convolutions(&Goldilocks, log2, 1);
        check_convolutions(&F50::new(f50::PRIMES[2].0).unwrap(), log2, 2);
    }
}

/// Tests transforms of several lengths, below and above 2k points, over the field of every known
/// prime r^k + 1. For k > 32, only one length below 2k is tested.
#[test]
fn transforms_over_generalized_fermat_fields() {
    for form in PRIMES {
        let log2_of_cheap = form.digits().ilog2() + 1;
        // Roots for the elements with the most digits take a second to compute.
        let lengths: &[u32] = if form.digits() > 32 { &[3] } else { &[0, 1, 2, 3, 5, 6] };
        for &log2 in lengths {
            with_field!(form, |field| check_all(&field, log2, 1)).unwrap();
        }
        let log2 = (18 - 2 * form.digits().ilog2()).max(log2_of_cheap + 1);
        with_field!(form, |field| check_some(&field, log2)).unwrap();
    }
}

#[test]
fn convolutions_over_generalized_fermat_fields() {
    for form in PRIMES.into_iter().take(4) {
        for log2 in [0, 1, 3, 4] {
            with_field!(form, |field| check_convolutions(&field, log2, 2)).unwrap();
        }
    }
}

#[test]
fn transforms_over_a_prime_field_of_254_bits() {
    let field = BN254_SCALAR.field().unwrap();
    for log2 in 0..=6 {
        check_all(&field, log2, 2);
        check_convolutions(&field, log2.min(5), 1);
    }
    check_some(&field, 12);
}

#[test]
fn what_there_is_not() {
    let none = |n| Transform::of_length(SEVENTEEN, n).unwrap_err();
    assert_eq!(none(0), NoTransform::Length(0));
    assert_eq!(none(12), NoTransform::Length(12));
    assert_eq!(none(32), NoTransform::Root(5));
    assert_eq!(Transform::new(Goldilocks, 33).unwrap_err(), NoTransform::Root(33));
    assert_eq!(Transform::new(Goldilocks, 64).unwrap_err(), NoTransform::Root(64));

    let plan = Transform::of_length(SEVENTEEN, 16).unwrap();
    let batch = WrongArgument::Batch { len: 24, n: 16 };
    assert_eq!(plan.forward(&mut [0; 24]), Err(batch));
    assert_eq!(plan.inverse(&mut [0; 24]), Err(batch));
    assert_eq!(plan.cyclic(&mut [0; 24], &mut [0; 24]), Err(batch));
    assert_eq!(plan.cyclic_square(&mut [0; 24]), Err(batch));
    assert_eq!(plan.cyclic(&mut [0; 16], &mut [0; 32]), Err(WrongArgument::Lengths(16, 32)));
    assert_eq!(plan.negacyclic(&mut [0; 16], &mut [0; 16]), Err(WrongArgument::Root(5)));
    assert_eq!(plan.forward(&mut []), Ok(()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Tests that the transform of a rotated vector is the transform of the vector times powers of
    /// ω.
    #[test]
    fn shifts_become_powers_of_the_root(log2 in 0u32..12, seed: u64, cheap in 1u32..9) {
        let field = fermat(cheap);
        let plan = Transform::new(field, log2).unwrap();
        let x = elements(&field, 1 << log2, seed);
        let mut shifted = x.clone();
        shifted.rotate_right(1);
        let mut spectrum = x;
        plan.forward(&mut spectrum).unwrap();
        plan.forward(&mut shifted).unwrap();
        let root = field.root_of_unity(log2).unwrap();
        let mut power = 1;
        for (a, b) in spectrum.iter().zip(&shifted) {
            prop_assert_eq!(field.mul(a, &power), *b);
            power = field.mul(&power, &root);
        }
    }
}
