//! Tests of forms, primality proofs and roots of unity. The submodules test the arithmetic.

mod arithmetic;
mod slides;

use super::*;
use crate::primes;

/// Returns elements with long carries or special digits, and the negatives of these elements. The
/// elements have equal digits, or digits that alternate between 0 and r − 1, or a single digit that
/// differs from the others. Four powers r^i are included, with 2·r^i and r^i − 1.
fn corners<const K: usize>(field: &Gfn<K>) -> Vec<[u64; K]> {
    let top = field.r - 1;
    let alternating =
        |first: u64| std::array::from_fn(|i| if i % 2 == 0 { first } else { top - first });
    let mut all =
        vec![field.zero(), [top; K], [1; K], [top / 2; K], alternating(top), alternating(0)];
    for i in [0, 1, K / 2, K - 1] {
        let unit = field.mul_by_radix_power(&field.one(), i as u64);
        all.extend([unit, field.add(&unit, &unit), field.sub(&unit, &field.one())]);
        let mut digits = [top; K];
        digits[i] = 0;
        all.push(digits);
        digits = [0; K];
        digits[i] = top;
        all.push(digits);
    }
    let negatives: Vec<_> = all.iter().map(|x| field.neg(x)).collect();
    all.extend(negatives);
    all.sort_unstable();
    all.dedup();
    all
}

/// Returns primes r^k + 1 that are not in [`PRIMES`]. The radices have 2 to 64 bits, and the odd
/// parts of the radices have 1 to 63 bits.
fn others() -> Vec<Form> {
    let texts = [
        "(2^2-2^1)^2+1",
        "(2^2+2^1)^2+1",
        "(2^2-2^1)^4+1",
        "(2^2+2^1)^4+1",
        "(2^2-2^1)^8+1",
        "(2^2-2^1)^16+1",
        "(2^3-2^2)^2+1",
        "(2^63-2^3)^2+1",
        "(2^64-2^2)^4+1",
        "(2^64-2^1)^8+1",
        "(2^64-2^3)^16+1",
        "(2^5-2^1)^32+1",
        "(2^14+2^5)^64+1",
        "(2^7-2^3)^128+1",
    ];
    texts.map(|text| text.parse().unwrap()).to_vec()
}

#[test]
fn forms_are_read_as_written() {
    for form in PRIMES.into_iter().chain(others()) {
        assert_eq!(form.to_string().parse(), Ok(form));
    }
    assert_eq!(" ( 2^63 + 2^34 ) ^ 8 + 1\n".parse(), Form::plus(63, 34, 8));
    for text in [
        "",
        "17",
        "(2^63+2^34)^8",
        "(2^63+2^34)^8-1",
        "2^63+2^34^8+1",
        "(2^63*2^34)^8+1",
        "(2^+63+2^34)^8+1",
        "(2^63+2^-34)^8+1",
        "(2^63+2^34)^+1",
        "(2^+2^34)^8+1",
        "(2^99999999999+2^34)^8+1",
        "(2^63+2^34)^99999999999+1",
        "(3^63+2^34)^8+1",
    ] {
        assert_eq!(text.parse::<Form>(), Err(NoForm::Text), "{text}");
    }
    let no_radix = NoForm::Radix { w: 64, u: 34, sum: true };
    assert_eq!("(2^64+2^34)^8+1".parse::<Form>(), Err(no_radix));
    assert_eq!("(2^64-2^34)^12+1".parse::<Form>(), Err(NoForm::Digits(12)));
}

#[test]
fn sizes_of_the_primes() {
    let adicities = PRIMES.map(|form| form.two_adicity());
    assert_eq!(adicities, [106, 200, 272, 576, 1792, 2560, 3584]);
    let bits = PRIMES.map(|form| form.bits());
    assert_eq!(bits, [127, 256, 505, 993, 1985, 4032, 8192]);
    assert_eq!(Form::minus(3, 2, 2).unwrap().modulus(), [17]);
    let words = PRIMES.map(|form| form.modulus().len());
    assert_eq!(words, [2, 4, 8, 16, 32, 63, 128]);
}

#[test]
fn all_are_proven_prime() {
    for form in PRIMES.into_iter().chain(others()) {
        assert!(form.is_prime(), "{form}");
    }
}

#[test]
fn proofs_agree_with_those_of_words() {
    // If p fits a word, the proof in the ring is not used; this tests it.
    fn check<const K: usize>(form: Form) {
        if let [p] = form.modulus()[..]
            && p > 1000
        {
            assert_eq!(Gfn::<K>::ring(form).is_field(), primes::is_prime(p), "{form}");
        }
    }
    let mut count = 0;
    for (w, u) in (2..32).flat_map(|w| (1..w).map(move |u| (w, u))) {
        for radix in [Form::plus, Form::minus] {
            check::<2>(radix(w, u, 2).unwrap());
            check::<4>(radix(w, u, 4).unwrap());
            check::<8>(radix(w, u, 8).unwrap());
            count += usize::from(radix(w, u, 2).unwrap().is_prime());
        }
    }
    assert!(count > 50, "{count}");
}

#[test]
fn fields_of_other_forms_are_refused() {
    let form = PRIMES[2];
    let wrong = NoField::Digits { form, digits: 4 };
    assert_eq!(Gfn::<4>::new(form).err(), Some(wrong));
    assert_eq!(wrong.to_string(), "(2^63+2^34)^8+1 has elements of 8 digits, not of 4");
    let composite = Form::plus(63, 35, 8).unwrap();
    assert_eq!(Gfn::<8>::new(composite).err(), Some(NoField::Composite(composite)));
    let error = with_field!(composite, |field| field.form()).unwrap_err();
    assert!(error.to_string().starts_with("(2^63+2^35)^8+1 is not a prime"), "{error}");
}

#[test]
fn dispatch_finds_every_field() {
    fn digits<const K: usize>(field: &Gfn<K>) -> (Form, usize) {
        (field.form(), K)
    }
    for form in PRIMES {
        assert_eq!(with_field!(form, |field| digits(&field)), Ok((form, form.digits())));
    }
}

#[track_caller]
fn check_roots<const K: usize>(field: &Gfn<K>) {
    let form = field.form();
    let (one, minus_one) = (field.one(), field.neg(&field.one()));
    assert_eq!(field.root_of_unity(0), Some(one), "{form}");
    assert_eq!(field.root_of_unity(1), Some(minus_one), "{form}");
    let longest = form.two_adicity().min(40);
    for m in 1..=longest {
        let root = field.root_of_unity(m).unwrap();
        assert!(field.from_digits(&root).is_ok());
        assert_eq!(field.square(&root), field.root_of_unity(m - 1).unwrap(), "{form}: order 2^{m}");
    }
    assert_eq!(field.root_of_unity(longest + 1), None);
    let radix = field.root_of_unity(field.log2_of_cheap_roots()).unwrap();
    assert_eq!(radix, field.mul_by_radix_power(&one, 1), "{form}");
}

#[test]
fn roots_fit_each_other_and_r() {
    for form in PRIMES.into_iter().chain(others()) {
        with_field!(form, |field| check_roots(&field)).unwrap();
    }
}
