//! Tests of square roots on the simulator against square roots on the CPU, and tests of plans.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_device::Buffer;
use warpint_natural::limbs;

use super::plan::Plan;
use super::{RootPlaces, SquareRoot, SquareRoots};
use crate::gpu::memory::Places;
use crate::gpu::tests::{gpu, narrow, numbers, upload, wide};
use crate::gpu::{Gpu, Operand};

/// Returns x in `limbs` limbs of 32 bits. Returns `None` if x does not fit.
fn fitting(x: &[u64], limbs: usize) -> Option<Vec<u32>> {
    let words = narrow(limbs::trimmed(x), limbs.max(2 * x.len()));
    words[limbs..].iter().all(|&word| word == 0).then(|| words[..limbs].to_vec())
}

/// Returns numbers that are hard for square roots: small numbers; the powers 2^k for the multiples
/// k of `every`, and their neighbours; and the numbers s² − 1, s², s² + s, s² + 2s and (s + 1)² for
/// several roots s. Some roots have runs of zeros or of ones. Also returns random numbers.
fn hard(seed: u64, limbs: usize, every: usize) -> Vec<Vec<u32>> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut found: Vec<Vec<u64>> = (0..=9).map(|x| vec![x]).collect();
    for bit in (0..32 * limbs).step_by(every) {
        let mut power = vec![0; bit / 64 + 1];
        power[bit / 64] = 1 << (bit % 64);
        let mut less = power.clone();
        limbs::sub_assign(&mut less, &[1]);
        let more = [&[power[0] | 1], &power[1..]].concat();
        found.extend([power, less, more]);
    }
    let half = limbs.div_ceil(2);
    let mut roots = numbers(&mut rng, 24, half);
    for (i, root) in roots.iter_mut().enumerate().skip(8) {
        // Of all lengths.
        root[rng.random_range(1..=half)..].fill(0);
        if i % 3 == 0 {
            // Digits that are all ones, or zeros, after others.
            let from = rng.random_range(0..half);
            root[..from].fill(if i % 2 == 0 { 0 } else { u32::MAX });
        }
    }
    for root in roots {
        let mut root = wide(&root);
        let mut square = limbs::mul(&root, &root);
        square.push(0);
        root.push(0);
        for addend in [&root[..], &root, &[1], &[1]] {
            found.push(square.clone());
            limbs::add_assign(&mut square, addend);
        }
        let mut square = limbs::mul(&root, &root);
        if root.iter().any(|&limb| limb != 0) {
            limbs::sub_assign(&mut square, &[1]);
            found.push(square);
        }
    }
    let mut found: Vec<Vec<u32>> = found.iter().filter_map(|x| fitting(x, limbs)).collect();
    found.extend(numbers(&mut rng, 30, limbs));
    for _ in 0..30 {
        let mut x: Vec<u32> = (0..limbs).map(|_| rng.random()).collect();
        x[rng.random_range(0..=limbs)..].fill(0);
        found.push(x);
    }
    // Long and short ones side by side.
    let count = found.len();
    (0..count).map(|i| found[i * 7919 % count].clone()).collect()
}

/// Asserts that `roots` and `rests` are the square roots and the remainders of the numbers a.
fn compare(what: &str, a: &[Vec<u32>], roots: &[u32], rests: &[u32]) {
    let half = a[0].len().div_ceil(2);
    for (i, a) in a.iter().enumerate() {
        let number = wide(a);
        let root = limbs::sqrt(&number);
        let mut rest = number.clone();
        rest.push(0);
        limbs::sub_assign(&mut rest, limbs::trimmed(&limbs::mul(&root, &root)));
        assert_eq!(roots[i * half..][..half], narrow(&root, half), "{what}: root of {a:x?}");
        let rest = narrow(limbs::trimmed(&rest), half + 1);
        assert_eq!(rests[i * (half + 1)..][..=half], rest, "{what}: left by {a:x?}");
    }
}

fn check_lanes(gpu: &Gpu, shape: &SquareRoot, a: &[Vec<u32>]) {
    let half = shape.a_limbs.div_ceil(2);
    let data = upload(gpu, a);
    let dirty = |len: usize| gpu.device().upload(&vec![0xdead_beef_u32; len]).unwrap();
    // Each result is followed by a limb that belongs to none.
    let (mut roots, mut rests) = (dirty(a.len() * (half + 1)), dirty(a.len() * (half + 2)));
    let places = |words, limbs| Some(Places::new(words, limbs + 1).part(0, limbs));
    let of_a = Operand::new(&data, shape.a_limbs, false);
    let (root, remainder) = (places(roots.cells(..), half), places(rests.cells(..), half + 1));
    let to = RootPlaces { root, remainder };
    gpu.root_by_limbs(shape, of_a.into(), to, a.len()).unwrap();
    let rows = |found: Vec<u32>, limbs: usize| -> Vec<u32> {
        assert!(found.chunks(limbs + 1).all(|row| row[limbs] == 0xdead_beef));
        found.chunks(limbs + 1).flat_map(|row| row[..limbs].to_vec()).collect()
    };
    let (roots, rests) =
        (rows(roots.download().unwrap(), half), rows(rests.download().unwrap(), half + 1));
    compare(&format!("{shape:?}"), a, &roots, &rests);
}

#[test]
fn roots_in_one_lane() {
    in_one_lane([1, 2, 3, 4, 8, 9, 17, 31, 33, 64]);
}

#[test]
#[ignore = "slow: every width"]
fn roots_of_more_widths_in_one_lane() {
    in_one_lane((5..=24).chain([32, 47, 63]));
}

fn in_one_lane(widths: impl IntoIterator<Item = usize>) {
    let gpu = gpu();
    for limbs in widths {
        let shape = SquareRoot::of_lanes(limbs, 1).next().unwrap();
        check_lanes(&gpu, &shape, &hard(1 + limbs as u64, limbs, 1 + limbs / 12));
    }
}

#[test]
fn roots_in_lanes() {
    check_roots_in_lanes(&[(5, 2), (16, 2), (39, 4), (64, 8), (119, 16), (255, 32), (320, 16)]);
}

#[test]
#[ignore = "slow: more widths"]
fn roots_of_more_widths_in_lanes() {
    check_roots_in_lanes(&[(17, 2), (30, 2), (32, 4), (61, 8), (128, 16), (256, 32), (129, 8)]);
}

/// Checks square roots. `cases` has numbers of limbs and of lanes.
fn check_roots_in_lanes(cases: &[(usize, usize)]) {
    let gpu = gpu();
    for &(limbs, lanes) in cases {
        let shape = SquareRoot::of_lanes(limbs, lanes).last().unwrap();
        check_lanes(&gpu, &shape, &hard(100 + limbs as u64, limbs, 1 + limbs / 6));
    }
}

fn check_plan(gpu: &Gpu, plan: Option<Plan>, a: &[Vec<u32>]) {
    let (limbs, count) = (a[0].len(), a.len());
    let half = limbs.div_ceil(2);
    let data = upload(gpu, a);
    let of_a = Operand::new(&data, limbs, false);
    let dirty = |len: usize| gpu.device().upload(&vec![0xdead_beef_u32; len]).unwrap();
    let dirty_results = || (dirty(count * half), dirty(count * (half + 1)));
    let (mut roots, mut rests) = dirty_results();
    let by = |to: SquareRoots<'_>| match &plan {
        Some(plan) => gpu.root_by_halves(plan, of_a, count, to).unwrap(),
        None => gpu.square_root(of_a, count, to).unwrap(),
    };
    by(SquareRoots { root: Some(&mut roots), remainder: Some(&mut rests) });
    let (root, rest) = (roots.download().unwrap(), rests.download().unwrap());
    compare(&format!("{limbs} limbs, {plan:?}"), a, &root, &rest);
    if let Some(plan) = &plan {
        // Several slices, the last one with fewer numbers.
        let (mut roots, mut rests) = dirty_results();
        let both = SquareRoots { root: Some(&mut roots), remainder: Some(&mut rests) };
        gpu.root_in_slices(plan, of_a, count, both, count / 2 - 1).unwrap();
        assert!(roots.download().unwrap() == root && rests.download().unwrap() == rest);
    }
    let (mut roots, mut rests) = dirty_results();
    by(SquareRoots { root: Some(&mut roots), remainder: None });
    by(SquareRoots { root: None, remainder: Some(&mut rests) });
    assert!(roots.download().unwrap() == root && rests.download().unwrap() == rest);
}

#[test]
fn roots_by_halves() {
    let gpu = gpu();
    check_halves(&gpu, &[(1, 1), (9, 1), (32, 2), (75, 2)]);
    // Blocks of several warps, with borrows that run through all of them.
    let some: Vec<_> = hard(301, 1300, 3000).into_iter().step_by(5).collect();
    check_plan(&gpu, Some(Plan::new(1300, 2)), &some);
}

#[test]
#[ignore = "slow: more widths"]
fn roots_of_more_widths_by_halves() {
    check_halves(&gpu(), &[(2, 1), (15, 2), (64, 3)]);
}

/// Checks square roots. `cases` has numbers of limbs and of levels.
fn check_halves(gpu: &Gpu, cases: &[(usize, u32)]) {
    for &(limbs, levels) in cases {
        let plan = Plan::new(limbs, levels);
        check_plan(gpu, Some(plan), &hard(200 + limbs as u64, limbs, 1 + limbs / 4));
    }
}

/// Tests the default choice of a method.
#[test]
fn roots_by_the_cheapest_way() {
    let gpu = gpu();
    for limbs in [3, 100, 300, 1025] {
        let shared_memory = gpu.device().info().shared_memory_per_block;
        let plan = gpu.root_plan(limbs, SquareRoot::new(limbs, shared_memory).as_ref());
        assert!(limbs < 1000 || plan.is_some(), "{limbs} limbs go by the kernel alone");
        let some: Vec<_> = hard(400 + limbs as u64, limbs, 99).into_iter().step_by(4).collect();
        check_plan(&gpu, None, &some);
    }
}

#[test]
fn every_width_has_a_root() {
    let gpu = gpu();
    // Up to the widest products.
    for log in 0..16 {
        for limbs in [(1_usize << log) - 1, 1 << log, (1 << log) + 1, 2 << log] {
            for shared_memory in [48 << 10, 227 << 10] {
                let shape = SquareRoot::new(limbs.max(1), shared_memory);
                assert!(shape.is_some() || limbs > 4096, "{limbs}");
            }
            let plan = gpu.root_plan(limbs.max(1), None);
            assert!(plan.is_some_and(|plan| 2 * plan.root() >= limbs), "{limbs}: {plan:?}");
        }
    }
    let shape = |limbs| {
        SquareRoot::new(limbs, 227 << 10).map(|shape| (shape.split.lanes, shape.split.limbs))
    };
    assert_eq!(
        [1, 64, 66, 2048, 4096, 4098].map(shape),
        [Some((1, 4)), Some((1, 32)), Some((2, 18)), Some((32, 32)), Some((32, 64)), None]
    );
}

#[test]
fn memory_that_is_too_short_is_refused() {
    let gpu = gpu();
    let buffer = |len| gpu.device().alloc::<u32>(len).unwrap();
    let (short, long) = (buffer(7), buffer(8));
    let of = |data: &Buffer<u32>, root: Option<usize>, remainder: Option<usize>| {
        let (mut root, mut remainder) = (root.map(buffer), remainder.map(buffer));
        let to = SquareRoots { root: root.as_mut(), remainder: remainder.as_mut() };
        gpu.square_root(Operand::new(data, 2, false), 4, to)
    };
    assert!(of(&long, Some(8), Some(8)).is_ok());
    assert!(of(&short, Some(8), None).is_err());
    assert!(of(&long, Some(3), None).is_err());
    assert!(of(&long, None, Some(7)).is_err());
}
