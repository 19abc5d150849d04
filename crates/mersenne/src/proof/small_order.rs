//! Factors of small order in the last residue of a proof. The equation of the proof does not detect
//! them.
//!
//! Suppose that the residue of a test is multiplied by an element ε of order e. The equation still
//! holds if the middles are multiplied by suitable powers of ε and a hash has the right value
//! modulo e. A forger needs about e attempts to achieve this.
//!
//! Let N = M_p/d be the cofactor, where d is the product of the known factors. If N is prime, the
//! orders of the elements of (Z/N)* are the divisors of N − 1.

use warpint_arith::primes::{pow_mod, prime_factors};
use warpint_natural::limbs;

use crate::{KnownFactors, Number, Residue, Sign};

/// The upper bound on the primes in the exponent E of [`smooth_order`], apart from p. A forger who
/// uses an element of an order with a larger prime factor needs about as many hashes of p/8 bytes
/// as this bound, or more.
const BOUND: u64 = 1 << 20;

/// Returns E, the largest divisor of N − 1 whose prime factors are p and primes up to 2^20, as
/// little-endian limbs. N = M_p/d, where d is the product of the known factors.
///
/// If N is prime, an element of (Z/N)* whose order has only these prime factors becomes 1 when
/// raised to E. A prime power m divides N − 1 exactly when 2^p ≡ d + 1 mod m·d. For d = 1 and odd m
/// this is the case exactly when 2^(p−1) ≡ 1 mod m. The prime p always divides N − 1, since every
/// divisor of M_p is 1 mod p.
///
/// The size of E depends on the divisors of p − 1: some hundreds of bits, or thousands if p − 1 has
/// very many divisors (`docs/checks/proofs.md`). Cost: a power modulo each of 82,025 primes; for
/// d = 1, a power modulo a few of these primes.
pub(super) fn smooth_order(p: u32, factors: &KnownFactors) -> Vec<u64> {
    let mut order = vec![1];
    let large = (u64::from(p) > BOUND).then_some(u64::from(p));
    for q in primes_up_to_bound().into_iter().chain(large) {
        if !may_divide(p, factors, q) {
            continue;
        }
        let mut power = q;
        while divides(p, factors, power) {
            let carry = limbs::mul_small_assign(&mut order, q);
            if carry > 0 {
                order.push(carry);
            }
            let Some(next) = power.checked_mul(q) else { break };
            power = next;
        }
    }
    order
}

/// Returns E for N = k·b^n ± 1, as little-endian limbs: an odd divisor of N − 1. If N is prime, an element of
/// (Z/N)* whose order divides E becomes 1 when raised to E.
///
/// For k·b^n + 1, E has all odd prime factors of N − 1, which are those of k and b. A prime factor q of b
/// divides N − 1 very often. Then E has only q^c for the power c up to which a proof of this power
/// can be forged with fewer than 2^64 hashes: at each middle, an element of order q^j can be replaced by one
/// of order q^(j − r) with about q^r hashes (`docs/checks/proofs.md`).
///
/// For k·b^n − 1, E has the odd primes q up to 2^20 with their multiplicities, and for k = 1 the prime factors
/// of n, because b is an element of order n. If q divides N − 1 so often that a power of q above 2^63 does,
/// then E has q^c, as above, without a test of the multiplicity.
///
/// Cost: for k·b^n + 1, factoring k and b; for k·b^n − 1, a power modulo each of 82,025 primes.
pub(super) fn odd_order(number: Number, proof_power: u32) -> Vec<u64> {
    let mut order = vec![1];
    let mut times = |q: u64| {
        let carry = limbs::mul_small_assign(&mut order, q);
        if carry > 0 {
            order.push(carry);
        }
    };
    let (k, b) = (number.multiplier(), u64::from(number.base()));
    // q^⌈64/log2 q⌉ is at least 2^64.
    let forgeable = |q: u64| proof_power * (64 / q.ilog2() + 1);
    match number.sign() {
        Sign::Plus => {
            let mut factors = [prime_factors(k), prime_factors(b)].concat();
            factors.sort_unstable();
            factors.dedup();
            for q in factors.into_iter().filter(|&q| q > 2) {
                let of_power = multiplicity(b, q).saturating_mul(number.exponent());
                let all = multiplicity(k, q).saturating_add(of_power);
                let most = forgeable(q) + multiplicity(k, q);
                (0..all.min(most)).for_each(|_| times(q));
            }
        }
        Sign::Minus => {
            // b^n is 1 modulo N if k = 1.
            let n = if k == 1 { prime_factors(number.exponent().into()) } else { vec![] };
            let large = n.into_iter().filter(|&q| q > BOUND);
            for q in primes_up_to_bound().into_iter().chain(large).filter(|&q| q > 2) {
                let (mut power, mut count) = (q, 0);
                while number.modulo(power) == 1 {
                    count += 1;
                    let Some(next) = power.checked_mul(q) else {
                        count = count.max(forgeable(q));
                        break;
                    };
                    power = next;
                }
                (0..count).for_each(|_| times(q));
            }
        }
    }
    order
}

/// Returns how often q divides x > 0.
fn multiplicity(x: u64, q: u64) -> u32 {
    let (mut rest, mut count) = (x, 0);
    while rest.is_multiple_of(q) {
        (rest, count) = (rest / q, count + 1);
    }
    count
}

/// Returns false if a quick test shows that a prime q does not divide N − 1, where N = M_p/d and d
/// is the product of the known factors. If it returns true, q may or may not divide N − 1.
fn may_divide(p: u32, factors: &KnownFactors, q: u64) -> bool {
    if !factors.is_empty() || q == 2 {
        return true;
    }
    // If q divides N − 1, the order of 2 divides both p − 1 and q − 1, and exceeds log2(q).
    let order = gcd(u64::from(p) - 1, q - 1);
    order >= 64 || 1 << order > q
}

/// Returns whether m, a power of a prime, divides N − 1, where N = M_p/d and d is the product of
/// the known factors.
fn divides(p: u32, factors: &KnownFactors, m: u64) -> bool {
    let d = factors.product();
    if gcd(m, limbs::rem_small(d, m)) == 1 {
        // m and d are coprime, and d divides 2^p − 1: the condition modulo m is enough.
        return pow_mod(2, u64::from(p), m) == (limbs::rem_small(d, m) + 1) % m;
    }
    let modulus = limbs::mul(d, &[m]);
    let mut expected = d.to_vec();
    expected.push(0);
    limbs::add_assign(&mut expected, &[1]);
    limbs::pow_mod(&[2], &[u64::from(p)], &modulus)
        .is_some_and(|power| limbs::trimmed(&power) == limbs::trimmed(&expected))
}

/// Returns (a, negative) if x = ±2^a mod M_p with 0 < a < p, where `negative` tells whether the
/// sign is −. Returns `None` for any other x.
pub(super) fn power_of_two(x: &Residue) -> Option<(u32, bool)> {
    let p = x.exponent();
    let ones: u32 = x.limbs().iter().map(|limb| limb.count_ones()).sum();
    // −2^a has every bit except bit a.
    let negative = match ones {
        1 => false,
        _ if ones + 1 == p => true,
        _ => return None,
    };
    let bit = |i: u32| x.limbs()[(i / 64) as usize] >> (i % 64) & 1 == 1;
    (1..p).find(|&i| bit(i) != negative).map(|a| (a, negative))
}

fn primes_up_to_bound() -> Vec<u64> {
    let mut composite = vec![false; BOUND as usize + 1];
    let mut primes = vec![];
    for n in 2..=BOUND {
        if !composite[n as usize] {
            primes.push(n);
            (n * n..=BOUND).step_by(n as usize).for_each(|m| composite[m as usize] = true);
        }
    }
    primes
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use warpint_arith::primes::{is_prime, prime_factors, primes_between};

    use super::*;

    const NONE: &[&str] = &[];

    /// Returns the largest divisor of n whose prime factors are at most [`BOUND`] or equal to p.
    fn smooth_part(n: u64, p: u32) -> u64 {
        let small = prime_factors(n).into_iter().filter(|&q| q <= BOUND || q == u64::from(p));
        small.fold(1, |part, q| {
            let (mut n, mut part) = (n, part);
            while n.is_multiple_of(q) {
                (n, part) = (n / q, part * q);
            }
            part
        })
    }

    #[test]
    fn the_exponent_is_the_smooth_part_of_one_less() {
        for p in primes_between(3, 61) {
            let (m, p) = ((1u64 << p) - 1, p as u32);
            let known = KnownFactors::new(p, NONE).unwrap();
            assert_eq!(smooth_order(p, &known), [smooth_part(m - 1, p)], "M{p}");
            if is_prime(m) {
                continue;
            }
            for q in prime_factors(m) {
                let known = KnownFactors::new(p, &[q.to_string()]).unwrap();
                assert_eq!(smooth_order(p, &known), [smooth_part(m / q - 1, p)], "M{p}/{q}");
            }
        }
    }

    #[test]
    fn the_exponent_of_a_large_number_has_the_primes_that_divide_it_and_no_others() {
        // N − 1 of the second is divisible by 2^19·3·5.
        for p in [136_279_841u32, 117_964_801] {
            let order = smooth_order(p, &KnownFactors::new(p, NONE).unwrap());
            for q in primes_between(3, 20_000).chain([u64::from(p)]) {
                let divides = pow_mod(2, u64::from(p) - 1, q) == 1;
                assert_eq!(limbs::rem_small(&order, q) == 0, divides, "{q}");
            }
            assert_eq!(order[0] % 4, 2);
        }
    }

    #[test]
    fn bits_of_the_exponent() {
        let bits = |p| {
            let order = smooth_order(p, &KnownFactors::new(p, NONE).unwrap());
            64 * order.len() as u32 - order.last().map_or(0, |top| top.leading_zeros())
        };
        let primes = primes_between(100_000_000, 101_000_000).take(31);
        let mut all: Vec<u32> = primes.map(|p| bits(p as u32)).collect();
        all.sort_unstable();
        println!("31 primes from 10^8 on: median {}, all {all:?}", all[15]);
        assert!((50..400).contains(&all[15]) && all[30] < 3_000, "{all:?}");
        assert_eq!(bits(85_765_681), 5_954);
    }

    #[test]
    fn powers_of_two_are_known_with_their_sign() {
        for p in [5u32, 61, 64, 67, 127, 128, 131] {
            let one = Residue::from_u64(p, 1);
            let minus = |x: &Residue| {
                let zero = Residue::from_u64(p, 0);
                Residue::from_limbs(p, &limbs::sub_mod(zero.limbs(), x.limbs(), p))
            };
            assert_eq!(power_of_two(&one), None);
            assert_eq!(power_of_two(&minus(&one)), None);
            assert_eq!(power_of_two(&Residue::from_u64(p, 0)), None);
            assert_eq!(power_of_two(&Residue::from_u64(p, 11)), None);
            for a in 1..p {
                let x = one.rotated_left(a);
                assert_eq!(power_of_two(&x), Some((a, false)), "{p}");
                assert_eq!(power_of_two(&minus(&x)), Some((a, true)), "{p}");
            }
        }
    }
}
