//! The fingerprint of the key generator of Infineon's RSALib, CVE-2017-15361 ("ROCA").

use std::sync::LazyLock;

use super::residue::Divisor;
use super::{grouped, primes_below};

/// The product of the primes up to this one divides the number M of every key length.
const LARGEST: usize = 167;
/// The generator of the subgroup.
const BASE: u64 = 65_537;

/// A prime r, the order of 65537 modulo r, and the discrete logarithms to base 65537 modulo r.
#[derive(Debug)]
struct Subgroup {
    r: u64,
    order: u64,
    logarithms: Vec<Option<u64>>,
}

impl Subgroup {
    fn new(r: u64) -> Self {
        let mut logarithms = vec![None; r as usize];
        let (mut power, mut order) = (1, 0);
        while logarithms[power as usize].is_none() {
            logarithms[power as usize] = Some(order);
            power = power * BASE % r;
            order += 1;
        }
        Self { r, order, logarithms }
    }

    /// Returns the discrete logarithm of x modulo r.
    fn logarithm(&self, x: u64) -> Option<u64> {
        self.logarithms[(x % self.r) as usize]
    }
}

/// The subgroups modulo odd primes in groups, with the product of the primes r of each group, which is
/// below 2^58.
static SUBGROUPS: LazyLock<Vec<(Divisor, Vec<Subgroup>)>> = LazyLock::new(|| {
    let subgroups = primes_below(LARGEST + 1).into_iter().skip(1).map(Subgroup::new);
    let groups = grouped(subgroups, |subgroup| subgroup.r);
    groups.into_iter().map(|(product, group)| (Divisor::new(product), group)).collect()
});

/// Returns whether n has the form of the moduli that RSALib generates.
///
/// RSALib's primes are k·M + (65537^a mod M), where M is the product of the first 39, 71, 126 or 225
/// primes, depending on the length. So n ≡ 65537^c mod M for some c (Nemec, Sys, Svenda, Klinec and
/// Matyas 2017, *The Return of Coppersmith's Attack*, ACM CCS, §2). The function tests this
/// congruence modulo the product of the first 39 primes, 2 to 167: it computes the discrete
/// logarithm of n modulo each of the primes, and combines the logarithms by the Chinese remainder
/// theorem. Of random moduli, 1 in about 2^154 passes (ibid., §2.2).
///
/// Cost: at most 4 residues modulo one limb, and one for most n.
#[must_use]
pub fn roca(n: &[u64]) -> bool {
    let Some(logarithms) = logarithms(n) else {
        return false;
    };
    // c ≡ `logarithm` modulo `order`. The order of 65537 modulo the product of the 39 primes is
    // below 2^62.
    let (mut logarithm, mut order) = (0u128, 1u128);
    logarithms.into_iter().all(|(here, modulus)| {
        let agrees = |c: &u128| c % modulus == here;
        let Some(c) = (0..modulus).map(|i| logarithm + i * order).find(agrees) else {
            return false;
        };
        (logarithm, order) = (c, order / gcd(order, modulus) * modulus);
        logarithm %= order;
        true
    })
}

/// Returns the discrete logarithm of n modulo each odd prime, and the order of 65537, if n is in every
/// subgroup. The subgroup modulo 2 has one element, that of the odd numbers. Most n are not in all
/// subgroups, and are excluded by one of the least primes.
fn logarithms(n: &[u64]) -> Option<Vec<(u128, u128)>> {
    if n.first().is_none_or(|low| low % 2 == 0) {
        return None;
    }
    let mut logarithms = vec![];
    for (product, subgroups) in SUBGROUPS.iter() {
        let residue = product.residue(n);
        for subgroup in subgroups {
            let logarithm = subgroup.logarithm(residue)?;
            logarithms.push((logarithm.into(), subgroup.order.into()));
        }
    }
    Some(logarithms)
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint_natural::limbs::{add_assign, mul, trim};
    use warpint_natural::power::PowMod;
    use warpint_natural::radix::decimal::{Powers, parse};
    use warpint_natural::radix::hex;

    /// The product of the primes up to 167, and its value of Euler's function, as in the tests of
    /// roca-detect (github.com/crocs-muni/roca, `roca/tests/test_fingerprint.py`).
    #[test]
    fn the_primorial_is_that_of_the_paper() {
        let product = |numbers: &mut dyn Iterator<Item = u64>| {
            numbers.fold(vec![1], |product, r| {
                let mut product = mul(&product, &[r]);
                trim(&mut product);
                product
            })
        };
        let primes = primes_below(LARGEST + 1);
        assert_eq!(primes.len(), 39);
        let known = "962947420735983927056946215901134429196419130606213075415963491270";
        let mut expected = parse(known.as_bytes(), &Powers::new(80));
        trim(&mut expected);
        assert_eq!(product(&mut primes.iter().copied()), expected);
    }

    /// `mod03.txt` of the tests of roca-detect (github.com/crocs-muni/roca,
    /// `roca/tests/data/mod03.txt`), which both detectors there report.
    const VULNERABLE: &str = "\
        9dcd7420e420c270a68060eb8b5aa7457a9f6648f86fafed2775cc1f79ae962f1e63f1b9e51c55f9ea6fdc7332e9b005\
        8c9ff2eb1fc89855029cf6aafe21e689feb38ac9ffb12f1ce371bb5d0e9aae64161abce74b4244bf68f1edb4411f756a\
        097c8929c14740245ea355f8332d1aa36bb50c7dcb4505da8de02e4e53d38f8df06097da7524df0df93db48eac8cc4af\
        2d3a16257eb2b2adca6ba464e5974fa92550d31b1babf161e7692d00b86e3dd886ecab4abfbe1a8f8cc263ff4af55cdb\
        45f4249a5193925f5e983d762f0b6800943eb0267b08f42ed311ce1f5c86eacbc8ce4d3cb7a2fee1ef5641423a1cf411\
        4e5ecf50034a60a412523af9e6f4aa11";

    /// A number of the same tests (`fake_mods`) whose residues modulo all primes up to 167 are powers
    /// of 65537, but not with a common exponent. Only tests by single primes report it.
    const NOT_JOINT: &str = "\
        72414128973967872688332736535017614208620368242015797102796086827882754006260204061799547004983731\
        426777596445658889886861027045033760014948048067467947960318205453778973975867532910489227970143091184\
        725760290172935872752222320334100097730483600892686353719855397381316384244147860260153198611313067061\
        116317";

    #[test]
    fn published_moduli() {
        let mut n = hex::parse(VULNERABLE.as_bytes());
        trim(&mut n);
        assert!(roca(&n));
        // Any change breaks the form.
        for bit in [1, 2, 70, 500, 1023] {
            let mut other = n.clone();
            other[bit / 64] ^= 1 << (bit % 64);
            assert!(!roca(&other), "bit {bit}");
        }
        let fake = parse(NOT_JOINT.as_bytes(), &Powers::new(400));
        assert!(logarithms(&fake).is_some(), "each prime alone accepts it");
        assert!(!roca(&fake));
    }

    /// Products of numbers k·M + (65537^a mod M).
    #[test]
    fn constructed_moduli() {
        let m = primes_below(LARGEST + 1).into_iter().fold(vec![1], |m, r| {
            let mut m = mul(&m, &[r]);
            trim(&mut m);
            m
        });
        let mut pow = PowMod::default();
        pow.set(&m);
        let mut factor = |a: u64, k: u64| {
            let mut residue = vec![0; m.len()];
            pow.pow(&mut residue, &[BASE], &[a]);
            let mut p = mul(&m, &[k, k ^ 0x5555]);
            add_assign(&mut p, &residue);
            trim(&mut p);
            p
        };
        for i in 1..50u64 {
            let (p, q) = (factor(i * 12_345_678_912_345, i), factor(i.pow(7), i * i));
            let mut n = mul(&p, &q);
            trim(&mut n);
            assert!(roca(&n), "{i}");
            add_assign(&mut n, &[2]);
            assert!(!roca(&n), "{i}");
        }
    }
}
