//! Tests on the simulator: inverses against Euclid's algorithm, and cofactors against the cofactors
//! that the CPU computes.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_natural::limbs;

use super::{Cofactors, Inverse};
use crate::cpu::{self, Rows};
use crate::gpu::gcd::tests::{fibonacci, multiples};
use crate::gpu::tests::{gpu, narrow, numbers, upload, wide};
use crate::gpu::{Gpu, Operand, Results, Shape};

type Pair = (Vec<u32>, Vec<u32>);

fn padded(x: &[u32], limbs: usize) -> Vec<u32> {
    x.iter().copied().chain(std::iter::repeat(0)).take(limbs).collect()
}

/// Returns x + c mod 2^(32·n), where x has n limbs. c may be negative.
fn shifted(x: &[u32], c: i64) -> Vec<u32> {
    let mut carry = c;
    let limb = |&limb: &u32| {
        let sum = i64::from(limb) + carry;
        carry = sum >> 32;
        sum as u32
    };
    x.iter().map(limb).collect()
}

/// Returns every n-th of the hard pairs, where n is `every`, and three pairs in any case: (F, F'),
/// (F', F) and (F, F), where F and F' are the numbers that [`fibonacci`] returns. The hard pairs
/// combine every hard number with every hard modulus m, odd or even, and also m − 1, m and m + 1
/// with m. Further hard pairs have a common divisor.
fn pairs(a_limbs: usize, b_limbs: usize, every: usize) -> Vec<Pair> {
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    let mut moduli = numbers(&mut rng, 12, b_limbs);
    moduli.extend([1, 2, 3, 4, 6].map(|small| padded(&[small], b_limbs)));
    let odd: Vec<_> = moduli.iter().map(|m| shifted(m, i64::from(m[0] % 2 == 0))).collect();
    moduli.extend(odd);
    moduli.sort();
    moduli.dedup();
    let mut numbers = numbers(&mut rng, 14, a_limbs);
    numbers.extend([2, 3, 1 << 17].map(|small| padded(&[small], a_limbs)));
    let mut pairs: Vec<Pair> = vec![];
    for m in &moduli {
        pairs.extend(numbers.iter().map(|a| (a.clone(), m.clone())));
        let near = [-1, 0, 1].map(|c| (padded(&shifted(m, c), a_limbs), m.clone()));
        pairs.extend(near);
    }
    for i in 0..20 {
        let common = rng.random_range(0..a_limbs.min(b_limbs));
        let g: Vec<u32> = (0..common.max(1)).map(|_| rng.random()).collect();
        pairs.push(multiples(&mut rng, (&g, common), [a_limbs, b_limbs], i));
    }
    let mut kept: Vec<Pair> = pairs.into_iter().step_by(every).collect();
    let (last, before) = fibonacci(a_limbs.min(b_limbs));
    for (a, b) in [(&last, &before), (&before, &last), (&last, &last)] {
        kept.push((padded(a, a_limbs), padded(b, b_limbs)));
    }
    kept
}

/// Calls `work` with the first and the second numbers of all pairs as operands. A broadcast operand
/// has only the number of the first pair.
fn with_operands(
    gpu: &Gpu,
    pairs: &[Pair],
    broadcast: [bool; 2],
    work: impl FnOnce([Operand<'_>; 2]),
) {
    let [a, b] = [|pair: &Pair| pair.0.clone(), |pair: &Pair| pair.1.clone()]
        .map(|of| pairs.iter().map(of).collect::<Vec<_>>());
    let upload = |x: &[Vec<u32>], one: bool| upload(gpu, if one { &x[..1] } else { x });
    let data = [upload(&a, broadcast[0]), upload(&b, broadcast[1])];
    let operand = |i: usize, limbs: usize| Operand::new(&data[i], limbs, broadcast[i]);
    work([operand(0, a[0].len()), operand(1, b[0].len())]);
}

fn check_inverse(gpu: &Gpu, shape: &Inverse, pairs: &[Pair], broadcast: [bool; 2]) {
    let count = pairs.len();
    with_operands(gpu, pairs, broadcast, |[a, m]| {
        let mut out = gpu.device().alloc::<u32>(count * m.limbs).unwrap();
        let mut flags = gpu.device().alloc::<u8>(count).unwrap();
        let results = Results::new(&mut out, m.limbs);
        gpu.inverse_by_steps(shape, a, m, count, results, &mut flags).unwrap();
        let (found, flags) = (out.download().unwrap(), flags.download().unwrap());
        for (i, found) in found.chunks(m.limbs).enumerate() {
            let of = |one: bool| &pairs[if one { 0 } else { i }];
            let (x, y) = (&of(broadcast[0]).0, &of(broadcast[1]).1);
            let expected = limbs::inverse(&wide(x), &wide(y));
            let is_none = u8::from(expected.is_none());
            let expected = narrow(&expected.unwrap_or_default(), m.limbs);
            assert_eq!((found, flags[i]), (&expected[..], is_none), "{shape:?}: {x:x?} mod {y:x?}");
        }
    });
}

fn check_cofactors(gpu: &Gpu, shape: &Inverse, pairs: &[Pair], broadcast: [bool; 2]) {
    let count = pairs.len();
    with_operands(gpu, pairs, broadcast, |[a, b]| {
        let device = gpu.device();
        let limbs = [a.limbs.max(b.limbs), b.limbs, a.limbs];
        let [mut gcd, mut x, mut y] =
            limbs.map(|limbs| device.alloc::<u32>(count * limbs).unwrap());
        let mut signs = [0, 1].map(|_| device.alloc::<u8>(count).unwrap());
        let [x_negative, y_negative] = &mut signs;
        let (gcd_to, x_to, y_to) = (&mut gcd, &mut x, &mut y);
        let to = Cofactors { gcd: gcd_to, x: x_to, y: y_to, x_negative, y_negative };
        gpu.gcd_ext_by_steps(shape, a, b, count, to).unwrap();
        let mut expected = limbs.map(|limbs| vec![0; count * limbs]);
        let mut expected_signs = [0, 1].map(|_| vec![0; count]);
        let (of_a, of_b) = (a.data.download().unwrap(), b.data.download().unwrap());
        let [g_rows, x_rows, y_rows] = &mut expected;
        let rows = [(g_rows, limbs[0]), (x_rows, limbs[1]), (y_rows, limbs[2])]
            .map(|(data, limbs)| Rows::new(data, limbs));
        cpu::gcd_ext(
            cpu::Operand::new(&of_a, a.limbs, a.broadcast),
            cpu::Operand::new(&of_b, b.limbs, b.broadcast),
            rows,
            expected_signs.each_mut().map(|signs| &mut signs[..]),
        );
        let found = [gcd, x, y].map(|data| data.download().unwrap());
        let found_signs = signs.map(|signs| signs.download().unwrap());
        for i in 0..count {
            for (what, limbs) in limbs.into_iter().enumerate() {
                let row = i * limbs..(i + 1) * limbs;
                let (found, expected) = (&found[what][row.clone()], &expected[what][row]);
                assert_eq!(found, expected, "{shape:?}, {what}: {:x?}", pairs[i]);
            }
            for what in 0..2 {
                let (found, expected) = (found_signs[what][i], expected_signs[what][i]);
                assert_eq!(found, expected, "{shape:?}, sign {what}: {:x?}", pairs[i]);
            }
        }
    });
}

const OWN: [bool; 2] = [false, false];

#[test]
fn inverses_by_steps() {
    inverses_of(&[(1, 1), (1, 3), (8, 8), (2, 34), (70, 70)]);
    // A wider a modulo m.
    let gpu = gpu();
    let shared_memory = gpu.device().info().shared_memory_per_block;
    for (a, m) in [(2, 1), (9, 5)] {
        let shape = Inverse::new(m, m, shared_memory).unwrap();
        check_inverse(&gpu, &shape, &pairs(a, m, 1), OWN);
    }
}

#[test]
#[ignore = "slow: more widths"]
fn inverses_of_more_widths_by_steps() {
    inverses_of(&[(2, 2), (4, 4), (5, 7), (17, 17)]);
}

fn inverses_of(widths: &[(usize, usize)]) {
    let gpu = gpu();
    let shared_memory = gpu.device().info().shared_memory_per_block;
    for &(a, m) in widths {
        let shape = Inverse::new(a, m, shared_memory).unwrap();
        check_inverse(&gpu, &shape, &pairs(a, m, if m > 20 { 5 } else { 1 }), OWN);
    }
}

#[test]
fn cofactors_by_steps() {
    cofactors_of(&[(1, 1), (1, 3), (8, 8), (34, 2), (70, 64)]);
}

#[test]
#[ignore = "slow: more widths"]
fn cofactors_of_more_widths_by_steps() {
    cofactors_of(&[(2, 2), (4, 4), (7, 5), (17, 17)]);
}

fn cofactors_of(widths: &[(usize, usize)]) {
    let gpu = gpu();
    let shared_memory = gpu.device().info().shared_memory_per_block;
    for &(a, b) in widths {
        let shape = Inverse::with_cofactors(a, b, shared_memory).unwrap();
        check_cofactors(&gpu, &shape, &pairs(a, b, if a > 20 { 5 } else { 1 }), OWN);
    }
}

/// Tests broadcast operands: one modulus for all numbers, or one number modulo all moduli.
#[test]
fn one_number_with_all() {
    let gpu = gpu();
    let shared_memory = gpu.device().info().shared_memory_per_block;
    let (inverse, cofactors) = (
        Inverse::new(2, 3, shared_memory).unwrap(),
        Inverse::with_cofactors(2, 3, shared_memory).unwrap(),
    );
    let all = pairs(2, 3, 9);
    for first in 0..all.len().min(24) {
        let mut pairs = all.clone();
        pairs.swap(0, first);
        for broadcast in [[true, false], [false, true]] {
            check_inverse(&gpu, &inverse, &pairs, broadcast);
            check_cofactors(&gpu, &cofactors, &pairs, broadcast);
        }
    }
}

/// Tests groups of more lanes than the numbers need, and groups of several warps. In one lane, 26
/// limbs are as long as d and e permit, to the bit.
#[test]
fn inverses_by_lanes_and_blocks() {
    inverses_by_lanes(&[(3, 3, 2, 1), (26, 26, 1, 5), (33, 33, 16, 5), (140, 140, 128, 31)]);
}

#[test]
#[ignore = "slow: more shapes"]
fn inverses_by_more_lanes_and_blocks() {
    inverses_by_lanes(&[(5, 5, 4, 1), (1, 20, 8, 3), (66, 66, 32, 11), (260, 260, 256, 61)]);
}

fn inverses_by_lanes(shapes: &[(usize, usize, usize, usize)]) {
    let gpu = gpu();
    for &(a, m, lanes, every) in shapes {
        let pairs = pairs(a, m, every);
        let shape = Inverse::of_lanes(a, m, false, lanes).next().unwrap();
        assert_eq!(shape.numbers() == 1, lanes > 32);
        check_inverse(&gpu, &shape, &pairs, OWN);
        let shape = Inverse { cofactors: true, ..shape };
        check_cofactors(&gpu, &shape, &pairs, OWN);
    }
}
