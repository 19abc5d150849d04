//! Tests of numbers against machine words and GMP.

use proptest::prelude::*;
use rug::integer::Order;
use rug::ops::Pow;
use rug::{Complete, Integer};

use super::*;

fn number(text: &str) -> Number {
    text.parse().unwrap()
}

fn value(number: Number) -> Integer {
    let power = Integer::from(number.base()).pow(number.exponent());
    let c = if number.sign() == Sign::Plus { 1 } else { -1 };
    power * number.multiplier() + c
}

fn integer(limbs: &[u64]) -> Integer {
    Integer::from_digits(limbs, Order::Lsf)
}

#[test]
fn the_normal_form_is_found_and_displayed() {
    for (given, normal) in [
        ("3*2^189+1", "3*2^189+1"),
        (" 3 * 2^189 + 1\n", "3*2^189+1"),
        ("12*2^187+1", "3*2^189+1"),
        ("3*4^100-1", "3*2^200-1"),
        ("6*36^7+1", "6^15+1"),
        ("8*4^3+1", "2^9+1"),
        ("1*2^127-1", "M127"),
        ("M127", "M127"),
        ("2*8^42-1", "M127"),
        ("4294967291^2+1", "4294967291^2+1"),
        ("4294836225^3-1", "65535^6-1"),
        ("10223*2^31172165+1", "10223*2^31172165+1"),
    ] {
        let parsed = number(given);
        assert_eq!(parsed.to_string(), normal);
        assert_eq!(number(normal), parsed);
    }
    assert_eq!(number("M127").file_name(), "M127");
    assert_eq!(number("3*2^189+1").file_name(), "3_2_189+1");
}

#[test]
fn bad_input_is_described_in_one_line() {
    for (given, message) in [
        ("", "'' is not of the form k*b^n+1 or k*b^n-1, such as 3*2^189+1"),
        ("3*2^189", "'3*2^189' is not of the form k*b^n+1 or k*b^n-1, such as 3*2^189+1"),
        ("3x2^189+1", "'3x2^189+1' is not of the form k*b^n+1 or k*b^n-1, such as 3*2^189+1"),
        ("3*2^^9+1", "'3*2^^9+1' is not of the form k*b^n+1 or k*b^n-1, such as 3*2^189+1"),
        ("-3*2^9+1", "'-3*2^9+1' is not of the form k*b^n+1 or k*b^n-1, such as 3*2^189+1"),
        ("3*2^9+", "'3*2^9+' is not of the form k*b^n+1 or k*b^n-1, such as 3*2^189+1"),
        ("3*2^9+7", "'3*2^9+7': only numbers k*b^n+1 and k*b^n-1 can be tested, not +7"),
        ("0*2^9+1", "'0*2^9': k and n must be at least 1, and b at least 2"),
        ("3*1^9+1", "'3*1^9': k and n must be at least 1, and b at least 2"),
        ("3*2^0+1", "'3*2^0': k and n must be at least 1, and b at least 2"),
        ("M0", "'1*2^0': k and n must be at least 1, and b at least 2"),
        ("M1", "M1 is too small: the smallest number is 2"),
        ("9223372036854775808*3^2+1", "9223372036854775808*3^2 is too large: k is not below 2^63"),
        (
            "99999999999999999999*3^2+1",
            "99999999999999999999*3^2+1 is too large: k is not below 2^63",
        ),
        ("3*4294967296^2+1", "3*4294967296^2+1 is too large: b is not below 2^32"),
        ("2^2147483648+1", "1*2^2147483648 is too large: it has more than 2^31 bits"),
        ("3*2^2147483647+1", "3*2^2147483647 is too large: it has more than 2^31 bits"),
        ("3^2000000000+1", "1*3^2000000000 is too large: it has more than 2^31 bits"),
        ("M99999999999999999999", "M99999999999999999999 is too large: n is not below 2^31"),
        ("3 5*2^77+1", "'3 5*2^77+1' is not of the form k*b^n+1 or k*b^n-1, such as 3*2^189+1"),
        ("2^12 7-1", "'2^12 7-1' is not of the form k*b^n+1 or k*b^n-1, such as 3*2^189+1"),
    ] {
        let error = given.parse::<Number>().unwrap_err().to_string();
        assert_eq!(error, message);
        assert_eq!(error.lines().count(), 1);
    }
    assert!("M2147483647".parse::<Number>().is_ok());
}

/// All small numbers: value, bits, remainders and symbols agree with GMP.
#[test]
fn small_numbers_agree_with_gmp() {
    for b in 2u32..17 {
        for k in [1u64, 2, 3, 5, 6, 7, 15, 21, (1 << 32) - 1, (1 << 63) - 1] {
            for n in 1..80 {
                for sign in [Sign::Minus, Sign::Plus] {
                    let Ok(number) = Number::new(k, b, n, sign) else { continue };
                    let n = value(number);
                    assert_eq!(integer(&number.value()), n, "{number}");
                    let (bits, least) = (number.bits(), n.significant_bits());
                    let exact = number.base() == 2 || !number.is_even();
                    assert!(bits == least || !exact && bits == least + 1, "{number}: {bits}");
                    assert_eq!(number.is_even(), n.is_even());
                    assert_eq!(
                        number.small(),
                        n.to_u64().filter(
                            |_| (&n + 1u32).complete().to_u64().is_some() || sign == Sign::Plus
                        ),
                        "{number}"
                    );
                    for m in [1u64, 2, 3, 8, 97, u64::MAX] {
                        assert_eq!(number.modulo(m), n.mod_u64(m), "{number} mod {m}");
                    }
                    if n.is_odd() {
                        for a in 1..30u64 {
                            let symbol = Integer::from(a).jacobi(&n);
                            assert_eq!(i32::from(number.jacobi_of(a)), symbol, "({a} | {number})");
                        }
                    }
                }
            }
        }
    }
}

trait Remainder {
    fn mod_u64(&self, m: u64) -> u64;
}

impl Remainder for Integer {
    fn mod_u64(&self, m: u64) -> u64 {
        Integer::from(self % m).to_u64().unwrap()
    }
}

/// Returns the number of a seed: of any length up to some 700 bits, also b = 2 and long k.
fn any_number() -> impl Strategy<Value = Number> {
    let base = prop_oneof![Just(2u32), Just(2), 3u32..30, any::<u32>()];
    let k = prop_oneof![1u64..100, any::<u64>()];
    let sign = prop_oneof![Just(Sign::Minus), Just(Sign::Plus)];
    (k, base, 1u32..700, sign).prop_filter_map("no number", |(k, b, n, sign)| {
        let bits = 32 - b.leading_zeros();
        Number::new(k >> 1, b, n / bits + 1, sign).ok()
    })
}

/// Returns numbers at the corners of the range from 0 to N − 1, and some others.
fn corners(n: &Integer, random: &[u64]) -> Vec<Integer> {
    let ones = (Integer::ONE.clone() << (n.significant_bits() - 1)) - 1u32;
    let other = integer(random) % n;
    let all = [0, 1, 2].map(Integer::from).into_iter();
    let near = [1u32, 2].map(|j| (n - j).complete()).into_iter();
    all.chain(near).chain([ones, other]).map(|x| x.modulo(n)).collect()
}

proptest! {
    #[test]
    fn arithmetic_agrees_with_gmp(
        number in any_number(),
        random in proptest::collection::vec(any::<u64>(), 12),
        m in any::<u64>(),
    ) {
        let by = &FastProducts;
        let modulus = Modulus::new(number, by);
        let n = value(number);
        prop_assert_eq!(integer(modulus.value()), n.clone());
        let limbs = |x: &Integer| {
            let mut limbs = x.to_digits(Order::Lsf);
            limbs.resize(number.limbs(), 0);
            limbs
        };
        let corners = corners(&n, &random);
        for a in &corners {
            let times = modulus.times(by, limbs(a), m);
            prop_assert_eq!(times, limbs(&(Integer::from(a * m) % &n)));
            for b in &corners {
                let product = modulus.mul(by, &limbs(a), &limbs(b));
                prop_assert_eq!(product, limbs(&(Integer::from(a * b) % &n)), "{}·{} mod {}", a, b, number);
                let mut sum = limbs(a);
                modulus.add_assign(&mut sum, &limbs(b));
                prop_assert_eq!(sum, limbs(&(Integer::from(a + b) % &n)));
                let mut difference = limbs(a);
                modulus.sub_assign(&mut difference, &limbs(b));
                prop_assert_eq!(difference, limbs(&Integer::from(a - b).modulo(&n)));
            }
        }
        // Any length, also all ones.
        for length in [0, 1, 5, 12] {
            for x in [random[..length].to_vec(), vec![u64::MAX; 3 * length]] {
                let expected = limbs(&(integer(&x) % &n));
                prop_assert_eq!(modulus.reduce(by, x), expected);
            }
        }
    }

    #[test]
    fn long_numbers_have_their_bits(k in 1u64..1 << 62, b in 3u32.., n in 1u32..3_000) {
        let Ok(number) = Number::new(k, b, n, Sign::Plus) else { return Ok(()) };
        let bits = value(number).significant_bits();
        prop_assert!(number.bits() == bits || number.is_even() && number.bits() == bits + 1);
    }
}
