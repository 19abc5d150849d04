//! Compares arithmetic modulo a prepared [`Modulus`] with GMP. Numbers are reduced by division and
//! by reciprocals.

use proptest::prelude::RngExt;
use rug::Integer;
use warpint_integer::{Executor, IntegerError, Modulus, Reduction, UintBatch};

use super::check::{Numbers, equal, rows_of, width};
use super::patterns::{self, drawn, rng};

const BOTH: [Reduction; 2] = [Reduction::Division, Reduction::Barrett];

/// Tests special moduli of up to `limbs` limbs (small numbers, powers of 2^32 and their neighbours,
/// and others) and random moduli. Some operands are near multiples of the modulus.
pub(crate) fn corners(executor: &Executor, limbs: usize) {
    let mut rng = rng(700 + limbs as u64);
    let bits = 32 * limbs as u32;
    let mut moduli: Vec<Integer> = [1u32, 2, 3, 4].map(Integer::from).to_vec();
    for k in [1, limbs / 2, limbs - 1, limbs] {
        let power = Integer::from(1) << (32 * k as u32);
        moduli.extend([Integer::from(&power - 1u32), Integer::from(&power + 1u32), power]);
    }
    // The highest bit of a limb alone or with one more bit, and moduli of every shift.
    let top = Integer::from(1) << (bits - 1);
    moduli.extend([Integer::from(&top + 1u32), Integer::from(&top * 5u32) / 7u32 + 1u32, top]);
    let random = Numbers::new(executor, limbs, &drawn(limbs, limbs, 6, &mut rng)).gmp;
    moduli.extend(random);
    moduli.retain(|m| *m > 0 && m.significant_bits() <= bits);
    moduli.sort();
    moduli.dedup();
    let wide = patterns::rows(2 * limbs, &mut rng);
    for m in moduli {
        let mut operands: Vec<Integer> = Numbers::new(executor, 2 * limbs, &wide.concat()).gmp;
        operands.extend(near_multiples(&m, 2 * bits, &mut rng));
        for reduction in BOTH {
            let modulus = prepared(executor, limbs, std::slice::from_ref(&m), reduction);
            assert_eq!(modulus.reduction(), reduction);
            remainders(&modulus, &m, &operands);
            products(&modulus, &m, &mut rng);
            powers(&modulus, &m, &mut rng);
        }
    }
    refused(executor, limbs);
}

/// Tests batches in which each number has its own modulus. The moduli have the same or different
/// bit lengths.
pub(crate) fn one_each(executor: &Executor, limbs: usize) {
    let mut rng = rng(40 + limbs as u64);
    let (count, wide) = (7, 2 * limbs);
    let any = Numbers::new(executor, limbs, &drawn(limbs, limbs, count, &mut rng)).gmp;
    let any: Vec<Integer> = any.into_iter().map(|m| m + 1u32).collect();
    let any: Vec<Integer> =
        any.into_iter().map(|m| m.keep_bits(32 * limbs as u32) | 1u32).collect();
    for bits in [32 * limbs as u32, 32 * limbs as u32 - 7] {
        let top = Integer::from(1) << (bits - 1);
        let alike: Vec<Integer> =
            any.iter().map(|m| m.clone().keep_bits(bits - 1) | &top).collect();
        for moduli in [&alike, &any] {
            for reduction in BOTH {
                let modulus = prepared(executor, limbs, moduli, reduction);
                if reduction == Reduction::Division || std::ptr::eq(moduli, &alike) {
                    assert_eq!(modulus.reduction(), reduction);
                }
                each(&modulus, moduli, wide, &drawn(wide, wide, count, &mut rng));
                each(&modulus, moduli, wide, &vec![u32::MAX; wide * count]);
                let of = |count, rng: &mut _| {
                    Numbers::new(executor, limbs, &drawn(limbs, limbs, count, rng))
                };
                let (one, many) = (of(1, &mut rng), of(count, &mut rng));
                for (a, b) in [(&one, &one), (&one, &many), (&many, &one), (&many, &many)] {
                    let want = (0..count).map(|i| {
                        let product = &a.gmp[i % a.gmp.len()] * &b.gmp[i % b.gmp.len()];
                        Integer::from(product) % &moduli[i]
                    });
                    equal("a·b mod m_i", &modulus.mul(&a.batch, &b.batch).unwrap(), limbs, want);
                }
                let squares = moduli.iter().map(|m| Integer::from(one.gmp[0].square_ref()) % m);
                equal("a² mod m_i", &modulus.square(&one.batch).unwrap(), limbs, squares);
                // One number with all moduli.
                each(&modulus, moduli, wide, &drawn(wide, wide, 1, &mut rng));
            }
        }
    }
}

/// Tests random moduli of `limbs` limbs, with each method of reduction and with the one chosen by
/// default.
pub(crate) fn random(executor: &Executor, limbs: usize, count: usize) {
    let mut rng = rng(90 + limbs as u64);
    // Wider numbers can only be results of products.
    let wide = (2 * limbs).min(1 << 15);
    let x = drawn(wide, wide, count, &mut rng);
    for shift in [0, 13] {
        let mut row: Vec<u32> = (0..limbs).map(|_| rng.random()).collect();
        row[limbs - 1] = (row[limbs - 1] | 1 << 31) >> shift;
        let m = Numbers::new(executor, limbs, &row);
        let any = Modulus::new(m.batch.try_clone().unwrap()).unwrap();
        let forced = BOTH.map(|way| Modulus::by(way, m.batch.try_clone().unwrap()).unwrap());
        for modulus in forced.iter().chain([&any]) {
            each(modulus, &m.gmp, wide, &x);
            let a = Numbers::new(executor, limbs, &drawn(limbs, limbs, count, &mut rng));
            let squares = a.gmp.iter().map(|a| Integer::from(a.square_ref()) % &m.gmp[0]);
            equal("a² mod m", &modulus.square(&a.batch).unwrap(), limbs, squares);
            let e = Numbers::new(executor, 1, &[0x8000_0055]);
            let powers = a.gmp.iter().map(|a| a.clone().pow_mod(&e.gmp[0], &m.gmp[0]).unwrap());
            if limbs < 5000 {
                equal("a^e mod m", &modulus.pow(&a.batch, &e.batch).unwrap(), limbs, powers);
            }
        }
    }
}

/// Tests powers of fixed bases modulo numbers of `limbs` limbs. The exponents of `e_limbs` limbs
/// include 0, 1 and the largest number.
pub(crate) fn fixed_base(executor: &Executor, limbs: usize, e_limbs: usize) {
    let mut rng = rng((7 * limbs + e_limbs) as u64);
    let mut exponents = patterns::rows(e_limbs, &mut rng).concat();
    exponents.extend(drawn(e_limbs, e_limbs, 5, &mut rng));
    let exponents = Numbers::new(executor, e_limbs, &exponents);
    let mut moduli: Vec<Integer> = [1u32, 6].map(Integer::from).to_vec();
    let row: Vec<u32> = (0..limbs).map(|_| rng.random::<u32>() | 1 << 31).collect();
    moduli.extend(Numbers::new(executor, limbs, &row).gmp);
    moduli.push((Integer::from(1) << (32 * limbs as u32)) - 1u32);
    for m in moduli {
        for reduction in BOTH {
            let modulus = prepared(executor, limbs, std::slice::from_ref(&m), reduction);
            for base in [drawn(limbs, limbs, 1, &mut rng), vec![0], vec![u32::MAX; 2 * limbs]] {
                let base = Numbers::new(executor, base.len(), &base);
                let table = modulus.fixed_base(&base.batch, width(e_limbs)).unwrap();
                let of = |e: &Integer| base.gmp[0].clone().pow_mod(e, &m).unwrap();
                let found = table.pow(&exponents.batch).unwrap();
                equal("b^e mod m", &found, limbs, exponents.gmp.iter().map(of));
                // Shorter exponents, and exponents of one and zero.
                let short = Numbers::new(executor, 1, &[0, 1, u32::MAX, 77]);
                let found = table.pow(&short.batch).unwrap();
                equal("b^e mod m, e short", &found, limbs, short.gmp.iter().map(of));
                let none = UintBatch::zeros(executor, 0, width(e_limbs)).unwrap();
                assert_eq!(table.pow(&none).unwrap().count(), 0);
                let wide = UintBatch::zeros(executor, 1, width(e_limbs + 1)).unwrap();
                let refusal = table.pow(&wide).unwrap_err().to_string();
                let (is, most) = (32 * (e_limbs + 1), 32 * e_limbs);
                assert_eq!(
                    refusal,
                    format!("a power of a fixed base: {is} bits, but at most {most} are supported")
                );
            }
        }
    }
    let two = UintBatch::from_limbs(executor, width(1), &[3, 4]).unwrap();
    let modulus = Modulus::new(two.try_clone().unwrap()).unwrap();
    let refusal = modulus.fixed_base(&two, width(1)).unwrap_err();
    assert!(matches!(refusal, IntegerError::NotOne { count: 2, .. }), "{refusal}");
    let refusal = prepared(executor, 1, &[5.into()], Reduction::Barrett);
    let refusal = refusal.fixed_base(&two, width(1)).unwrap_err().to_string();
    assert_eq!(refusal, "a fixed base: 2 integers, but exactly one is needed");
}

fn prepared(
    executor: &Executor,
    limbs: usize,
    moduli: &[Integer],
    reduction: Reduction,
) -> Modulus {
    let rows = rows_of(limbs, moduli.iter().cloned()).concat();
    let m = UintBatch::from_limbs(executor, width(limbs), &rows).unwrap();
    Modulus::by(reduction, m).unwrap()
}

/// Returns numbers of at most `bits` bits that are hard to reduce modulo m by reciprocals. They are
/// multiples q·m, and these multiples plus and minus 1. The factor q is 1 to 4, m − 1, m, a random
/// number, B^n − 1, B^n or B^n + 1, where B = 2^32 and m has n limbs.
fn near_multiples(
    m: &Integer,
    bits: u32,
    rng: &mut proptest::test_runner::TestRng,
) -> Vec<Integer> {
    let whole = m.significant_bits().div_ceil(32) * 32;
    let power = Integer::from(1) << whole;
    let random: Vec<u32> = (0..whole / 32).map(|_| rng.random()).collect();
    let random = Integer::from_digits(&random, rug::integer::Order::Lsf);
    let quotients = [
        Integer::from(1),
        Integer::from(2),
        Integer::from(3),
        Integer::from(4),
        m - Integer::from(1),
        m.clone(),
        random,
        Integer::from(&power - 1u32),
        Integer::from(&power + 1u32),
        power,
    ];
    let near = quotients.iter().flat_map(|q| {
        let product = Integer::from(q * m);
        [Integer::from(&product - 1u32), Integer::from(&product + 1u32), product]
    });
    near.filter(|x| *x >= 0 && x.significant_bits() <= bits).collect()
}

fn remainders(modulus: &Modulus, m: &Integer, operands: &[Integer]) {
    let limbs = modulus.modulus().width().limbs();
    let executor = modulus.modulus().executor();
    for of in [2 * limbs, limbs, 1] {
        let fitting = operands.iter().filter(|x| x.significant_bits() as usize <= 32 * of);
        let u = Numbers::new(executor, of, &rows_of(of, fitting.cloned()).concat());
        let want = u.gmp.iter().map(|u| Integer::from(u % m));
        equal("u mod m", &modulus.rem(&u.batch).unwrap(), limbs, want);
    }
}

fn products(modulus: &Modulus, m: &Integer, rng: &mut proptest::test_runner::TestRng) {
    let limbs = modulus.modulus().width().limbs();
    let executor = modulus.modulus().executor();
    let mut a = patterns::rows(limbs, rng);
    a.extend(rows_of(limbs, [m - Integer::from(1), Integer::from(m / 2u32)]));
    let mut b = a.clone();
    b.rotate_left(1);
    let (a, b) = (a.concat(), b.concat());
    let (a, b) = (Numbers::new(executor, limbs, &a), Numbers::new(executor, limbs, &b));
    let pairs = || a.gmp.iter().zip(&b.gmp);
    let want = pairs().map(|(a, b)| Integer::from(a * b) % m);
    equal("a·b mod m", &modulus.mul(&a.batch, &b.batch).unwrap(), limbs, want);
    let want = a.gmp.iter().map(|a| Integer::from(a.square_ref()) % m);
    equal("a² mod m", &modulus.square(&a.batch).unwrap(), limbs, want);
    let short = Numbers::new(executor, 1, &[u32::MAX]);
    let want = a.gmp.iter().map(|a| Integer::from(a * &short.gmp[0]) % m);
    equal("a·one mod m", &modulus.mul(&a.batch, &short.batch).unwrap(), limbs, want);
}

fn powers(modulus: &Modulus, m: &Integer, rng: &mut proptest::test_runner::TestRng) {
    let limbs = modulus.modulus().width().limbs();
    let executor = modulus.modulus().executor();
    let mut bases = patterns::rows(2 * limbs, rng);
    bases.truncate(6);
    let a = Numbers::new(executor, 2 * limbs, &bases.concat());
    for e in [vec![0], vec![1], vec![2], vec![6, 0], vec![u32::MAX, u32::MAX], vec![0, 1 << 20]] {
        let one = Numbers::new(executor, e.len(), &e);
        let want = a.gmp.iter().map(|a| a.clone().pow_mod(&one.gmp[0], m).unwrap());
        equal("a^e mod m", &modulus.pow(&a.batch, &one.batch).unwrap(), limbs, want);
    }
    let e = Numbers::new(executor, 1, &[0, 1, 2, 3, 65_537, u32::MAX]);
    let want = a.gmp.iter().zip(&e.gmp).map(|(a, e)| a.clone().pow_mod(e, m).unwrap());
    equal("a_i^e_i mod m", &modulus.pow(&a.batch, &e.batch).unwrap(), limbs, want);
}

/// Tests remainders of the operands `x`, of `wide` limbs each, and powers if the modulus has fewer
/// than 200 limbs. There is one operand for each modulus, or a single operand for all moduli, or a
/// single modulus for all operands.
fn each(modulus: &Modulus, moduli: &[Integer], wide: usize, x: &[u32]) {
    let limbs = modulus.modulus().width().limbs();
    let u = Numbers::new(modulus.modulus().executor(), wide, x);
    let count = u.gmp.len().max(moduli.len());
    let want =
        (0..count).map(|i| Integer::from(&u.gmp[i % u.gmp.len()] % &moduli[i % moduli.len()]));
    equal("u_i mod m_i", &modulus.rem(&u.batch).unwrap(), limbs, want);
    if limbs < 200 {
        let e = Numbers::new(modulus.modulus().executor(), 1, &[1_000_003]);
        let want = (0..count).map(|i| {
            let base = u.gmp[i % u.gmp.len()].clone();
            base.pow_mod(&e.gmp[0], &moduli[i % moduli.len()]).unwrap()
        });
        equal("u_i^e mod m_i", &modulus.pow(&u.batch, &e.batch).unwrap(), limbs, want);
    }
}

fn refused(executor: &Executor, limbs: usize) {
    let of = |limbs, count| UintBatch::zeros(executor, count, width(limbs)).unwrap();
    let zero = Modulus::new(of(limbs, 3)).unwrap_err();
    assert_eq!(zero.to_string(), "modulus 0 is 0");
    for reduction in BOTH {
        let modulus = prepared(executor, limbs, &[3.into(), 2.into()], reduction);
        let (is, most) = (64 * limbs + 32, 64 * limbs);
        let wide = of(2 * limbs + 1, 1);
        let (half, more) = (of(limbs, 1), of(limbs + 1, 1));
        for (what, error) in [
            ("a remainder", modulus.rem(&wide).unwrap_err()),
            ("a product", modulus.mul(&half, &more).unwrap_err()),
            ("a base of a power", modulus.pow(&wide, &half).unwrap_err()),
        ] {
            let said = format!(
                "{what} by a prepared modulus: {is} bits, but at most {most} are supported"
            );
            assert_eq!(error.to_string(), said);
        }
        assert!(matches!(modulus.square(&more), Err(IntegerError::TooWide { .. })));
        let three = of(limbs, 3);
        assert!(matches!(modulus.rem(&three), Err(IntegerError::Counts { a: 3, b: 2 })));
        assert!(matches!(modulus.pow(&half, &three), Err(IntegerError::Counts { .. })));
    }
}
