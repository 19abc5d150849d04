//! Tests of conversions from and to limbs, bytes and text: round trips, and refused input.

use proptest::prelude::*;
use warpint_integer::{Executor, IntegerError, TextProblem, UintBatch, Width};

fn width(bits: u32) -> Width {
    Width::new(bits).unwrap()
}

/// Returns a strategy for a width and the limbs of up to four numbers of that width.
fn numbers() -> impl Strategy<Value = (Width, Vec<u32>)> {
    (1usize..40, 0usize..5).prop_flat_map(|(limbs, count)| {
        let limb = prop_oneof![Just(0), Just(u32::MAX), any::<u32>()];
        let data = prop::collection::vec(limb, limbs * count);
        data.prop_map(move |data| (width(32 * limbs as u32), data))
    })
}

proptest! {
    #[test]
    fn there_and_back((width, limbs) in numbers()) {
        let cpu = Executor::cpu();
        let batch = UintBatch::from_limbs(&cpu, width, &limbs).unwrap();
        prop_assert_eq!(batch.count(), limbs.len() / width.limbs());
        prop_assert_eq!(batch.as_limbs(), Some(&limbs[..]));
        let same = |other: UintBatch| other.to_limbs().unwrap() == limbs;

        let little = batch.to_bytes_le().unwrap();
        prop_assert!(same(UintBatch::from_bytes_le(&cpu, width, &little).unwrap()));
        let big = batch.to_bytes_be().unwrap();
        prop_assert!(same(UintBatch::from_bytes_be(&cpu, width, &big).unwrap()));
        for (little, big) in little.chunks(4 * width.limbs()).zip(big.chunks(4 * width.limbs())) {
            prop_assert!(little.iter().eq(big.iter().rev()));
        }

        let hex = batch.to_hex().unwrap();
        prop_assert!(same(UintBatch::from_hex(&cpu, width, hex.iter().map(String::as_str)).unwrap()));
        let padded: Vec<_> = hex.iter().map(|x| format!("000{}", x.to_uppercase())).collect();
        let texts = padded.iter().map(String::as_str);
        prop_assert!(same(UintBatch::from_hex(&cpu, width, texts).unwrap()));
        let decimal = batch.to_decimal().unwrap();
        let texts = decimal.iter().map(String::as_str);
        prop_assert!(same(UintBatch::from_decimal(&cpu, width, texts).unwrap()));

        if width.limbs() % 2 == 0 {
            let long = batch.to_limbs_u64().unwrap();
            prop_assert!(same(UintBatch::from_limbs_u64(&cpu, width, &long).unwrap()));
        } else {
            let odd = matches!(batch.to_limbs_u64(), Err(IntegerError::OddLimbs { .. }));
            prop_assert!(odd);
        }
        let clone = batch.try_clone().unwrap();
        prop_assert!(same(clone.to(&Executor::cpu_with_threads(1).unwrap()).unwrap()));
    }

    #[cfg(feature = "num-bigint")]
    #[test]
    fn num_bigint((width, limbs) in numbers()) {
        let cpu = Executor::cpu();
        let batch = UintBatch::from_limbs(&cpu, width, &limbs).unwrap();
        let numbers = batch.to_biguints().unwrap();
        let texts: Vec<_> = numbers.iter().map(ToString::to_string).collect();
        prop_assert_eq!(texts, batch.to_decimal().unwrap());
        let back = UintBatch::from_biguints(&cpu, width, &numbers).unwrap();
        prop_assert_eq!(back.to_limbs().unwrap(), limbs);
        let wide = [num_bigint::BigUint::from(1u8) << width.bits()];
        let refused = UintBatch::from_biguints(&cpu, width, &wide);
        let is_overflow = matches!(refused, Err(IntegerError::Overflow { index: 0, .. }));
        prop_assert!(is_overflow);
    }
}

/// Returns a configuration with 10,000 cases, or with the number in the environment variable
/// `PROPTEST_CASES`.
fn cases() -> ProptestConfig {
    let given = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig::with_cases(given.unwrap_or(10_000))
}

proptest! {
    #![proptest_config(cases())]

    /// Tests that every text is either refused, or read as the number that the parsers of the
    /// standard library return.
    #[test]
    fn fuzz_text(text in prop_oneof!["[0-9]{0,11}", "[0-9a-fA-F]{0,9}", ".{0,5}"]) {
        let cpu = Executor::cpu();
        let plain = text.chars().all(|c| c.is_ascii_hexdigit());
        for radix in [10, 16] {
            let read = if radix == 10 {
                UintBatch::from_decimal(&cpu, width(32), [&text[..]])
            } else {
                UintBatch::from_hex(&cpu, width(32), [&text[..]])
            };
            match (read, u32::from_str_radix(&text, radix)) {
                (Ok(batch), Ok(number)) => prop_assert_eq!(batch.to_limbs().unwrap(), [number]),
                (Err(IntegerError::Text { index: 0, .. }), Err(_)) => {}
                // The machine's takes a sign.
                (Err(IntegerError::Text { index: 0, .. }), Ok(_)) => prop_assert!(!plain),
                (read, machine) => prop_assert!(false, "{text}: {read:?}, {machine:?}"),
            }
        }
    }
}

#[track_caller]
fn text_problem(batch: Result<UintBatch, IntegerError>) -> (usize, TextProblem) {
    match batch {
        Err(IntegerError::Text { index, problem }) => (index, problem),
        other => panic!("no problem with a text: {other:?}"),
    }
}

#[test]
fn the_first_bad_text_is_named() {
    let cpu = Executor::cpu();
    let decimal = |texts: &[&str]| {
        text_problem(UintBatch::from_decimal(&cpu, width(64), texts.iter().copied()))
    };
    let digits = "decimal";
    assert_eq!(decimal(&["1", "", "x"]), (1, TextProblem::Empty));
    let problem = TextProblem::NoDigit { character: 'é', position: 2, digits };
    assert_eq!(decimal(&["12é4", ""]), (0, problem));
    let too_wide = TextProblem::TooWide { width: width(64) };
    assert_eq!(decimal(&["18446744073709551615", "18446744073709551616"]), (1, too_wide));
    assert_eq!(decimal(&["0", &"9".repeat(100_000)]), (1, too_wide));
    let hex = text_problem(UintBatch::from_hex(&cpu, width(64), ["0ffffffffffffffff", "g"]));
    let problem = TextProblem::NoDigit { character: 'g', position: 0, digits: "hexadecimal" };
    assert_eq!(hex, (1, problem));
    let hex = text_problem(UintBatch::from_hex(&cpu, width(64), ["10000000000000000"]));
    assert_eq!(hex, (0, too_wide));
    let error = UintBatch::from_decimal(&cpu, width(64), ["5", "-7"]).unwrap_err();
    assert_eq!(error.to_string(), "integer 1: '-' at position 0 is not a decimal digit");
}

#[test]
fn what_does_not_fit_is_refused() {
    let cpu = Executor::cpu();
    let zeros = |count, bits| UintBatch::zeros(&cpu, count, width(bits)).unwrap();
    for bits in [0, 31, 33, (1 << 20) + 32, u32::MAX] {
        assert!(matches!(Width::new(bits), Err(IntegerError::Width { .. })), "{bits}");
    }
    let length = UintBatch::from_limbs(&cpu, width(96), &[0; 4]);
    assert!(matches!(length, Err(IntegerError::Length { len: 4, .. })));
    let length = UintBatch::from_limbs_u64(&cpu, width(128), &[0; 3]);
    assert!(matches!(length, Err(IntegerError::Length { len: 3, .. })));
    let odd = UintBatch::from_limbs_u64(&cpu, width(96), &[0; 3]);
    assert!(matches!(odd, Err(IntegerError::OddLimbs { .. })));
    let length = UintBatch::from_bytes_be(&cpu, width(32), &[0; 7]);
    assert!(matches!(length, Err(IntegerError::Length { len: 7, .. })));
    let memory = UintBatch::zeros(&cpu, usize::MAX / 2, width(64));
    assert!(matches!(memory, Err(IntegerError::Memory { .. })));

    let counts = zeros(2, 64).mul(&zeros(3, 64));
    assert!(matches!(counts, Err(IntegerError::Counts { a: 2, b: 3 })));
    let counts = zeros(2, 64).mul_add(&zeros(1, 64), &zeros(3, 64));
    assert!(matches!(counts, Err(IntegerError::Counts { a: 2, b: 3 })));
    let wide = zeros(2, 64).mul_add(&zeros(1, 64), &zeros(1, 160));
    assert!(matches!(wide, Err(IntegerError::TooWide { bits: 160, most: 128, .. })));
    // An operand wider than the sum's place, and more numbers than it takes.
    let output = zeros(2, 64).add_assign(&zeros(2, 96));
    assert!(matches!(output, Err(IntegerError::Output { .. })));
    let output = zeros(1, 64).add_assign(&zeros(2, 64));
    assert!(matches!(output, Err(IntegerError::Output { .. })));
    let output = zeros(2, 64).mul_into(&zeros(2, 64), &mut zeros(2, 96));
    assert!(matches!(output, Err(IntegerError::Output { .. })));

    let widest = zeros(1, 1 << 20);
    let product = widest.square().unwrap();
    assert_eq!(product.bits(), 1 << 21);
    assert!(matches!(product.mul(&zeros(1, 32)), Err(IntegerError::TooWide { .. })));
    assert!(matches!(product.mul_u32(3), Err(IntegerError::TooWide { .. })));
    assert!(product.width().of_product(width(32)).is_err());
    assert_eq!(product.add(&widest).unwrap().0.bits(), 1 << 21);
}

#[test]
fn no_numbers_at_all() {
    let cpu = Executor::cpu();
    let none = UintBatch::zeros(&cpu, 0, width(64)).unwrap();
    let one = UintBatch::from_limbs_u64(&cpu, width(64), &[7]).unwrap();
    assert_eq!(none.mul(&one).unwrap().count(), 0);
    assert_eq!(one.sub(&none).unwrap().0.count(), 0);
    assert_eq!(none.square_high().unwrap().count(), 0);
    assert_eq!(none.to_decimal().unwrap(), Vec::<String>::new());
    assert_eq!(none.compare(&one).unwrap(), []);
    assert!(none.get(0).unwrap().is_none());
    assert_eq!(one.get(0).unwrap(), Some(vec![7, 0]));
}
