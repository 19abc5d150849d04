//! Tests that forged proofs are refused: proofs whose equation holds although the last residue is
//! wrong.

use rug::Integer;
use warpint_arith::primes::primes_between;
use warpint_mersenne::engine::fp64::Fp64;
use warpint_mersenne::proof::{Points, Proof, Refusal};
use warpint_mersenne::{Exponent, KnownFactors, Plan, PlanRequest, Residue, Verdict};
use warpint_selftest::faults::wrappers::Faulty;
use warpint_testkit::forger::{Forgery, SmallOrder, equation_holds, forge};
use warpint_testkit::gmp::{integer, mersenne, residue};
use warpint_testkit::tests::plan;

use super::common::{fp64, verified};

/// The exponent of the Mersenne prime that the tests use.
const PRIME: u32 = 9_689;

/// Returns the proof that [`forge`] creates. Asserts, with GMP, that its equation holds.
fn forged(p: u32, power: u32, with: &SmallOrder) -> Forgery {
    let forgery = forge(p, power, with).unwrap();
    assert!(equation_holds(&forgery.proof), "M{p}");
    forgery
}

fn found(proof: &Proof) -> Result<Verdict, Refusal> {
    verified(fp64(proof.number().exponent()), proof).finding
}

/// Returns the prime divisors of M_p below 2^20, except M_p itself. M_p may have larger prime
/// divisors.
fn small_factors(p: u32) -> Vec<u64> {
    let m = mersenne(p);
    let prime = |q: &u64| warpint_arith::primes::is_prime(*q);
    let candidates = (2 * u64::from(p) + 1..1 << 20).step_by(2 * p as usize);
    candidates.filter(|&q| m > q && m.is_divisible(&Integer::from(q))).filter(prime).collect()
}

/// Returns whether 3^(n−1) ≡ 1 mod n: whether n is a probable prime to base 3.
fn is_probable_prime(n: &Integer) -> bool {
    Integer::from(3).pow_mod(&Integer::from(n - 1), n).is_ok_and(|power| power == 1)
}

#[test]
fn honest_proofs_of_all_exponents_below_400_are_accepted() {
    for p in primes_between(5, 400) {
        let p = p as u32;
        let power = (1..=4).rev().find(|&power| Points::new(p, power).is_some()).unwrap();
        let honest = forged(p, power, &SmallOrder::one()).proof;
        let plan = Plan::new(Exponent::new(u64::from(p)).unwrap(), &PlanRequest::default());
        let plan = plan.unwrap();
        let check = |proof: &Proof, of: &Integer| {
            let prime = is_probable_prime(of);
            let expected = if prime { Verdict::ProbablePrime } else { Verdict::Composite };
            let verification = verified(plan, proof);
            assert_eq!(verification.finding, Ok(expected), "M{p}{:?}", proof.factors().texts());
            assert!(!verification.erred);
        };
        check(&honest, &mersenne(p));
        let factors = small_factors(p);
        let one_by_one = factors.iter().map(|&q| vec![q]);
        for known in one_by_one.chain((factors.len() > 1).then(|| factors.clone())) {
            let texts: Vec<String> = known.iter().map(u64::to_string).collect();
            let rest = known.iter().fold(mersenne(p), |rest, &q| rest / q);
            if rest > 1 {
                let known = KnownFactors::new(p, &texts).unwrap();
                check(&honest.clone().with_factors(known), &rest);
            }
        }
    }
}

#[test]
fn a_prime_times_an_element_of_order_3_is_refused() {
    let forgery = forged(PRIME, 8, &SmallOrder::modulo_a_prime(PRIME, 3).unwrap());
    println!("{} hashes", forgery.hashes);
    assert!(forgery.hashes < 100, "{}", forgery.hashes);
    // The engine has raised the residue to a power, which means two runs.
    let family = Faulty::counting(&Fp64);
    let verification = verified(plan(family, u64::from(PRIME)).unwrap(), &forgery.proof);
    assert_eq!(verification.finding, Err(Refusal::SmallOrder));
    assert!(!verification.erred);
    let squarings = 2 * u64::from(PRIME.div_ceil(1 << 8));
    assert!(family.products() > squarings + 2 * 8 * 2 * 63, "{}", family.products());
}

#[test]
fn a_prime_times_elements_of_other_small_orders_is_refused() {
    for q in [5, 17, 29] {
        let with = SmallOrder::modulo_a_prime(PRIME, q).unwrap();
        assert_eq!(found(&forged(PRIME, 8, &with).proof), Err(Refusal::SmallOrder), "{q}");
    }
}

#[test]
fn a_sign_is_refused_for_primes_and_composites() {
    for (p, power) in [(PRIME, 8), (9_697, 8), (1_009, 3)] {
        let forgery = forged(p, power, &SmallOrder::sign(p));
        // No attempts are needed, since p is odd.
        assert_eq!(forgery.hashes, u64::from(power));
        assert_eq!(found(&forgery.proof), Err(Refusal::NotASquare), "M{p}");
    }
}

#[test]
fn a_prime_times_a_power_of_two_is_refused() {
    let forgery = forged(PRIME, 8, &SmallOrder::two(PRIME));
    println!("{} hashes", forgery.hashes);
    assert!(forgery.proof.last().is(18));
    let expected = Refusal::PowerOfTwo { a: 1, negative: false };
    assert_eq!(found(&forgery.proof), Err(expected));
}

#[test]
fn a_composite_times_an_element_of_small_order_still_passes() {
    let p = 1_009;
    let honest = forged(p, 3, &SmallOrder::one()).proof;
    let forgery = forged(p, 3, &SmallOrder::two(p)).proof;
    assert_eq!(integer(forgery.last()), integer(&honest.last().times(2)));
    assert_eq!((found(&honest), found(&forgery)), (Ok(Verdict::Composite), Ok(Verdict::Composite)));
}

/// Returns the residue modulo M_p = f·n that is congruent to `of_f` mod f and to `of_n` mod n.
fn joined(p: u32, f: &Integer, of_f: &Integer, n: &Integer, of_n: &Integer) -> Residue {
    let inverse = Integer::from(f.invert_ref(n).unwrap());
    let difference = Integer::from(of_n - of_f) * inverse;
    residue(&(difference * f + of_f), p)
}

#[test]
fn a_prime_cofactor_times_an_element_of_small_order_is_refused() {
    let (p, d) = (131, Integer::from(263));
    let n = mersenne(p) / &d;
    assert!(is_probable_prime(&n));
    let known = || KnownFactors::new(p, &["263"]).unwrap();
    let below = Integer::from(&n - 1);
    let (mut refused, mut signs) = (vec![], 0);
    for q in primes_between(2, 10_000).filter(|&q| below.is_divisible_u(q as u32)) {
        let exponent = Integer::from(&below / q);
        let power = |g: u32| Integer::from(g).pow_mod(&exponent, &n).unwrap();
        let root = (2..).map(power).find(|power| *power != 1).unwrap();
        let element = integer(&joined(p, &d, &Integer::from(1), &n, &root));
        let with = SmallOrder { element, order: q as u32 };
        let Some(forgery) = forge(p, 3, &with) else { continue };
        let proof = forgery.proof.with_factors(known());
        assert!(equation_holds(&proof));
        match found(&proof) {
            Err(Refusal::SmallOrder) => refused.push(q),
            Err(Refusal::NotASquare) => signs += 1,
            other => panic!("{q}: {other:?}"),
        }
    }
    assert!(refused.len() > 1, "{refused:?} and {signs} signs");
    // 2 has order p.
    let proof = forged(p, 3, &SmallOrder::two(p)).proof.with_factors(known());
    assert_eq!(found(&proof), Err(Refusal::SmallOrder));
    let honest = forged(p, 3, &SmallOrder::one()).proof.with_factors(known());
    assert_eq!(found(&honest), Ok(Verdict::ProbablePrime));
}

#[test]
fn middles_that_have_a_factor_in_common_with_the_number_are_refused() {
    let refused = |proof: &Proof, number| {
        assert!(equation_holds(proof));
        assert_eq!(found(proof), Err(Refusal::NotAUnit { number }));
    };
    // Both sides are 0, so that any last residue satisfies the equation, for example that of a
    // prime.
    let (p, d) = (131, Integer::from(263));
    let (exponent, n) = (Exponent::new(131).unwrap(), mersenne(131) / &d);
    let nine = Residue::from_u64(p, 9);
    let middles = vec![residue(&d, p), residue(&n, p)];
    refused(&Proof::new(exponent, nine.clone(), middles).unwrap(), 2);
    // 0 modulo the cofactor only, where x_p is replaced by the value for a composite cofactor.
    let honest = forged(p, 1, &SmallOrder::one()).proof;
    let middle = joined(p, &d, &integer(&honest.middles()[0]), &n, &Integer::new());
    let last = joined(p, &d, &integer(honest.last()), &n, &Integer::from(1234));
    let proof = Proof::new(exponent, last, vec![middle]).unwrap();
    refused(&proof.with_factors(KnownFactors::new(p, &["263"]).unwrap()), 2);
}
