//! Tests of the engine against GMP.

use proptest::prelude::*;
use rug::Integer;
use rug::integer::Order;

use super::*;
use crate::Sign;
use crate::number::Modulus;

fn value(x: &Residue) -> Integer {
    Integer::from_digits(x.limbs(), Order::Lsf)
}

/// Returns the residue x mod N with N by GMP.
fn residue(number: Number, x: &Integer) -> Residue {
    let n = Integer::from_digits(&number.value(), Order::Lsf);
    let mut limbs = Integer::from(x).modulo(&n).to_digits(Order::Lsf);
    limbs.resize(number.limbs(), 0);
    Residue::from_canonical(number, limbs)
}

proptest! {
    #[test]
    fn every_operation_agrees_with_gmp(
        k in prop_oneof![1u64..100, 1u64..1 << 63],
        b in prop_oneof![Just(2u32), 2u32..40],
        n in 1u32..400,
        plus in any::<bool>(),
        limbs in proptest::collection::vec(any::<u64>(), 8),
        steps in 1u64..5,
        m in 1u32..=1 << 16,
    ) {
        let sign = if plus { Sign::Plus } else { Sign::Minus };
        let Ok(number) = Number::new(k, b, n, sign) else { return Ok(()) };
        let mut engine = Plain.build_for(number, 1, BuildOptions::new(3, 1)).unwrap();
        prop_assert_eq!((engine.number(), engine.exponent()), (number, number.exponent()));
        let (x, y) = (Residue::from_limbs(number, &limbs), Residue::from_limbs(number, &limbs[3..]));
        let (a, b) = (value(&x), value(&y));
        let zero = Shift::ZERO;
        engine.write(0, &x, zero).unwrap();
        engine.write(1, &y, zero).unwrap();
        for (step, of) in [
            (Step::Square, Box::new(|s: Integer| s) as Box<dyn Fn(Integer) -> Integer>),
            (Step::SquareMinusTwo, Box::new(|s| s - 2u32)),
            (Step::SquareTimes(m), Box::new(move |s| s * m)),
        ] {
            engine.copy(2, 0).unwrap();
            engine.square(2, steps, step, zero).unwrap();
            let mut expected = a.clone();
            for _ in 0..steps {
                expected = value(&residue(number, &of(Integer::from(expected.square_ref()))));
            }
            prop_assert_eq!(value(&engine.read(2, zero).unwrap()), expected);
        }
        engine.mul(2, 0, 1).unwrap();
        prop_assert_eq!(engine.read(2, zero).unwrap(), residue(number, &Integer::from(&a * &b)));
        engine.add(2, 0, 1).unwrap();
        prop_assert_eq!(engine.read(2, zero).unwrap(), residue(number, &Integer::from(&a + &b)));
        engine.sub(2, 0, 1).unwrap();
        prop_assert_eq!(engine.read(2, zero).unwrap(), residue(number, &Integer::from(&a - &b)));
        engine.mul(0, 0, 0).unwrap();
        prop_assert_eq!(engine.read(0, zero).unwrap(), residue(number, &Integer::from(a.square_ref())));
        engine.set(0, u64::MAX, zero).unwrap();
        prop_assert_eq!(engine.read(0, zero).unwrap(), residue(number, &Integer::from(u64::MAX)));
    }
}

/// Long numbers, for which divisions use a stored reciprocal and products several threads.
#[test]
fn long_numbers_on_one_thread_and_two() {
    for number in ["9*2^300000-1", "7*10^90000+1", "12345*67^50000-1"] {
        let number: Number = number.parse().unwrap();
        let n = Integer::from_digits(&number.value(), Order::Lsf);
        let ones: Vec<u64> = vec![u64::MAX; number.limbs()];
        for start in [Residue::from_limbs(number, &ones), residue(number, &Integer::from(-2))] {
            let mut expected = value(&start);
            for _ in 0..5 {
                expected.square_mut();
                expected %= &n;
            }
            for threads in [1, 2] {
                let options = BuildOptions::new(1, threads);
                let mut engine = Plain.build_for(number, 1, options).unwrap();
                engine.write(0, &start, Shift::ZERO).unwrap();
                engine.square(0, 5, Step::Square, Shift::ZERO).unwrap();
                assert!(value(&engine.read(0, Shift::ZERO).unwrap()) == expected, "{number}");
            }
        }
    }
}

#[test]
fn long_mersenne_numbers_are_refused() {
    assert!(Plain.build(100_003, 1, BuildOptions::new(1, 1)).is_err());
    assert!(Plain.build(127, 2, BuildOptions::new(1, 1)).is_err());
    assert!(Plain.takes(127u32.into()) && !Plain.takes(100_003u32.into()));
    assert!(Plain.takes("3*2^100003-1".parse().unwrap()));
}

#[test]
fn a_changed_modulus_is_known() {
    for text in ["27*2^57-1", "3*2^130+1", "22*3^70+1", "10^200+1", "7*5^2000-1"] {
        let number: Number = text.parse().unwrap();
        let by = &FastProducts;
        let mut modulus = Modulus::new(number, by);
        assert!(modulus.is_intact(by), "{text}");
        for bit in [0, 1, 40, number.value().len() * 64 - 60] {
            modulus.flip(bit, by);
            assert!(!modulus.is_intact(by), "{text}, bit {bit}");
            modulus.flip(bit, by);
            assert!(modulus.is_intact(by), "{text}, bit {bit}");
        }
    }
}
