//! Compares arithmetic in prime fields, and transforms over these fields, with GMP. The fields use
//! Montgomery multiplication.

use proptest::prelude::*;
use rug::Integer;
use rug::integer::{IsPrime, Order};
use warpint_arith::field::Field;
use warpint_arith::montgomery::known::{BLS12_377_BASE, BLS12_381_SCALAR, BN254_SCALAR, full};
use warpint_arith::montgomery::{PrimeField, Residue};
use warpint_transform::cpu::Transform;

fn words<const L: usize>(x: &Integer) -> [u64; L] {
    let mut words = [0; L];
    x.write_digits(&mut words, Order::Lsf);
    words
}

fn integer(words: &[u64]) -> Integer {
    Integer::from_digits(words, Order::Lsf)
}

/// The random generator SplitMix64 (Steele, Lea and Flood 2014). The field is its state.
struct Draw(u64);

impl Draw {
    fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    fn bits(&mut self, bits: u32) -> Integer {
        let words: Vec<u64> = (0..bits.div_ceil(64)).map(|_| self.word()).collect();
        integer(&words).keep_bits(bits)
    }

    fn below(&mut self, modulus: &Integer) -> Integer {
        self.bits(modulus.significant_bits() + 64).modulo(modulus)
    }
}

/// A field of L words, and its modulus as an integer of GMP.
struct Pair<const L: usize> {
    field: PrimeField<L>,
    modulus: Integer,
}

impl<const L: usize> Pair<L> {
    fn new(field: PrimeField<L>) -> Self {
        Self { field, modulus: integer(field.modulus()) }
    }

    /// Returns the field of a random prime k·2^s + 1 that has `bits` bits.
    fn drawn(bits: u32, s: u32, random: &mut Draw) -> Self {
        loop {
            let mut k = random.bits(bits - s);
            k.set_bit(bits - s - 1, true);
            let modulus = (k << s) + 1u32;
            if modulus.is_probably_prime(10) != IsPrime::No {
                return Self::new(PrimeField::new(words(&modulus)).unwrap());
            }
        }
    }

    fn element(&self, x: &Integer) -> Residue<L> {
        self.field.element(&words(&x.clone().modulo(&self.modulus))).unwrap()
    }

    fn integer(&self, x: &Residue<L>) -> Integer {
        integer(&self.field.integer(x))
    }

    fn check(&self, a: &Integer, b: &Integer) {
        let (x, y) = (self.element(a), self.element(b));
        let reduced = |x: Integer| x.modulo(&self.modulus);
        assert_eq!(self.integer(&x), reduced(a.clone()));
        assert_eq!(self.integer(&self.field.mul(&x, &y)), reduced(Integer::from(a * b)));
        assert_eq!(self.integer(&self.field.square(&x)), reduced(Integer::from(a * a)));
        assert_eq!(self.integer(&self.field.add(&x, &y)), reduced(Integer::from(a + b)));
        assert_eq!(self.integer(&self.field.sub(&x, &y)), reduced(Integer::from(a - b)));
        assert_eq!(self.integer(&self.field.neg(&x)), reduced(Integer::from(-a)));
    }

    fn check_powers(&self, a: &Integer, e: &Integer) {
        let x = self.element(a);
        let power = self.field.pow(&x, &e.to_digits(Order::Lsf));
        let expected = a.clone().pow_mod(e, &self.modulus).unwrap();
        assert_eq!(self.integer(&power), expected);
        let inverse = a.clone().invert(&self.modulus).ok();
        assert_eq!(self.field.inverse(&x).map(|x| self.integer(&x)), inverse);
    }

    /// Tests sums, differences and products of every pair of numbers, and powers and inverses of
    /// some numbers. The numbers are special values and `count` random ones.
    fn check_all(&self, count: usize, random: &mut Draw) {
        assert_ne!(self.modulus.is_probably_prime(25), IsPrime::No);
        let mut numbers: Vec<Integer> = [-2, -1, 0, 1, 2].map(Integer::from).to_vec();
        numbers.extend([1, 63, 64].map(|less| (Integer::from(1) << (64 * L as u32 - less)) - 1u32));
        numbers.push(Integer::from(&self.modulus / 2));
        let draw = |random: &mut Draw| random.below(&self.modulus);
        numbers.extend((0..count).map(|_| draw(random)));
        for a in &numbers {
            numbers.iter().for_each(|b| self.check(a, b));
        }
        for a in numbers.iter().step_by(3) {
            self.check_powers(a, &draw(random));
        }
    }

    /// Compares some outputs of a transform of 2^log2 elements with values computed by Horner's
    /// rule with GMP. Tests that the inverse transform restores the input.
    fn check_transform(&self, log2: u32, random: &mut Draw) {
        let plan = Transform::new(self.field, log2).unwrap();
        let draw = |random: &mut Draw| random.below(&self.modulus);
        let x: Vec<Integer> = (0..plan.len()).map(|_| draw(random)).collect();
        let elements: Vec<_> = x.iter().map(|x| self.element(x)).collect();
        let mut y = elements.clone();
        plan.forward(&mut y).unwrap();
        let root = self.integer(&self.field.root_of_unity(log2).unwrap());
        for i in [0, 1, plan.len() / 2 + 1, plan.len() - 1] {
            let point = root.clone().pow_mod(&Integer::from(i), &self.modulus).unwrap();
            let mut sum = Integer::new();
            for x in x.iter().rev() {
                sum *= &point;
                sum += x;
                sum %= &self.modulus;
            }
            assert_eq!(self.integer(&y[i % y.len()]), sum, "output {i} of 2^{log2}");
        }
        plan.inverse(&mut y).unwrap();
        assert!(y == elements, "2^{log2} elements and back");
    }
}

#[test]
fn known_fields() {
    let random = &mut Draw(9);
    Pair::new(BN254_SCALAR.field().unwrap()).check_all(20, random);
    Pair::new(BLS12_381_SCALAR.field().unwrap()).check_all(20, random);
    Pair::new(BLS12_377_BASE.field().unwrap()).check_all(20, random);
}

#[test]
fn drawn_fields_of_many_sizes() {
    let random = &mut Draw(9);
    for bits in [33, 40, 50, 63, 64] {
        Pair::<1>::drawn(bits, 20, random).check_all(20, random);
    }
    for bits in [65, 100, 127, 128] {
        Pair::<2>::drawn(bits, 20, random).check_all(20, random);
    }
    Pair::<3>::drawn(192, 1, random).check_all(20, random);
    Pair::<4>::drawn(256, 30, random).check_all(20, random);
    Pair::<5>::drawn(290, 2, random).check_all(20, random);
    Pair::<8>::drawn(512, 100, random).check_all(10, random);
    Pair::<16>::drawn(1024, 20, random).check_all(4, random);
}

#[test]
fn fields_with_all_high_bits_set() {
    fn of<const L: usize>(count: usize) {
        Pair::new(PrimeField::new(full::<L>().unwrap()).unwrap()).check_all(count, &mut Draw(9));
    }
    of::<1>(20);
    of::<2>(20);
    of::<3>(20);
    of::<4>(20);
    of::<5>(20);
    of::<6>(20);
    of::<8>(10);
    of::<12>(10);
    of::<16>(5);
    of::<32>(2);
}

/// Tests a field of the largest size. Does not test that its modulus is prime, because this would
/// take long.
#[test]
fn a_field_of_4096_bits() {
    let pair = Pair::new(PrimeField::new(full::<64>().unwrap()).unwrap());
    let random = &mut Draw(9);
    let draw = |random: &mut Draw| random.below(&pair.modulus);
    for _ in 0..20 {
        pair.check(&draw(random), &draw(random));
    }
    pair.check_transform(5, random);
}

#[test]
fn transforms() {
    let random = &mut Draw(9);
    for log2 in [0, 1, 2, 3, 4, 7, 12] {
        Pair::new(BN254_SCALAR.field().unwrap()).check_transform(log2, random);
        Pair::new(BLS12_377_BASE.field().unwrap()).check_transform(log2, random);
    }
    Pair::new(PrimeField::new(full::<16>().unwrap()).unwrap()).check_transform(8, random);
    Pair::<3>::drawn(180, 10, random).check_transform(10, random);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn words_that_carry_far(
        a in prop::array::uniform4(prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)]),
        b in prop::array::uniform4(prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)]),
    ) {
        for field in [BN254_SCALAR.field().unwrap(), PrimeField::new(full().unwrap()).unwrap()] {
            Pair::new(field).check(&integer(&a), &integer(&b));
        }
    }
}
