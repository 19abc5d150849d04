//! Tests of divisions in blocks on the simulator against divisions on the CPU, and tests of plans.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_natural::limbs;

use super::long::{longest, slice};
use super::plan::{Costs, Plan, rounded};
use crate::gpu::tests::{gpu, narrow, wide};
use crate::gpu::{Divide, Gpu, Operand, Quotients};

/// Returns random limbs, in some cases with runs of zeros and of ones.
fn drawn(rng: &mut ChaCha8Rng, limbs: usize) -> Vec<u32> {
    let runs = rng.random::<bool>();
    let mut value = 0;
    let mut word = |i: usize| {
        if !runs || rng.random_range(0..4) == 0 {
            value = match rng.random_range(0..4) {
                0 if runs => u32::MAX,
                1 if runs => 0,
                2 if runs && i.is_multiple_of(2) => 1 << rng.random_range(0..32),
                _ => rng.random(),
            };
        }
        value
    };
    (0..limbs).map(&mut word).collect()
}

/// Returns a·b + c in `limbs` limbs. Returns `None` if a·b + c does not fit.
fn product(a: &[u32], b: &[u32], c: &[u32], limbs: usize) -> Option<Vec<u32>> {
    let mut sum = limbs::mul(&wide(a), &wide(b));
    sum.resize(sum.len().max(c.len().div_ceil(2)) + 1, 0);
    limbs::add_assign(&mut sum, &wide(c));
    let words: Vec<u32> = sum.iter().flat_map(|&x| [x as u32, (x >> 32) as u32]).collect();
    let fits = words.iter().skip(limbs).all(|&word| word == 0);
    fits.then(|| narrow(&sum, limbs))
}

fn less_one(x: &[u32]) -> Vec<u32> {
    let mut less = wide(x);
    if less.iter().any(|&limb| limb != 0) {
        limbs::sub_assign(&mut less, &[1]);
    }
    narrow(&less, x.len())
}

/// Returns divisors of `limbs` limbs that are hard for guesses by their upper limbs: upper limbs
/// that are minimal or all ones, lower limbs that are all ones or 0, and numbers near powers of
/// 2^32. Also returns random divisors and 0.
fn divisors(rng: &mut ChaCha8Rng, limbs: usize, block: usize) -> Vec<Vec<u32>> {
    let ones = vec![u32::MAX; limbs];
    let top = |above: u32, from: usize, below: u32| -> Vec<u32> {
        let mut v: Vec<u32> = (0..limbs).map(|i| if i < from { below } else { above }).collect();
        v[limbs - 1] |= 1 << 31;
        v
    };
    let mut found = vec![ones.clone(), top(0, 0, 0), vec![0; limbs]];
    for from in
        [1, block / 2, limbs.saturating_sub(block), limbs.saturating_sub(block / 2), limbs - 1]
    {
        found.push(top(0, from, u32::MAX));
        found.push(top(u32::MAX, from, 0));
        let mut shifted = top(0, from, u32::MAX);
        shifted[limbs - 1] = 1;
        found.push(shifted);
    }
    let mut above = vec![0; limbs];
    above[0] = 1;
    above[limbs - 1] |= 1;
    found.push(above);
    for _ in 0..4 {
        found.push(drawn(rng, limbs));
    }
    found
}

/// Returns dividends of `limbs` limbs that are hard for the divisor v: the largest dividend,
/// dividends with the upper limbs of v, multiples of v, and dividends with the remainder v − 1.
/// Also returns random dividends and 0.
fn dividends(rng: &mut ChaCha8Rng, v: &[u32], limbs: usize) -> Vec<Vec<u32>> {
    let length = v.iter().rposition(|&limb| limb != 0).map_or(0, |i| i + 1);
    let v = &v[..length];
    let mut found =
        vec![vec![u32::MAX; limbs], vec![0; limbs], drawn(rng, limbs), drawn(rng, limbs)];
    let most = limbs.saturating_sub(length);
    for q_limbs in [most, most / 2, 1] {
        // v·B^k − 1: every guess is too large, or overflows.
        let mut power = vec![0; q_limbs.min(most)];
        power.extend_from_slice(v);
        power.resize(limbs, 0);
        found.push(less_one(&power));
        // The upper limbs of v, then all ones, or zeros.
        for fill in [0, u32::MAX] {
            let mut same = power.clone();
            let kept = limbs.min(q_limbs + length / 2);
            same[..kept].fill(fill);
            found.push(same);
        }
        found.push(power);
        for q in [vec![u32::MAX; q_limbs], drawn(rng, q_limbs.max(1)), drawn(rng, q_limbs.max(1))] {
            let exact = product(v, &q, &[], limbs);
            found.extend(exact.iter().map(|u| less_one(u)));
            found.extend(exact);
            found.extend(product(v, &q, &less_one(v), limbs));
        }
    }
    found
}

struct Pairs {
    u_limbs: usize,
    v_limbs: usize,
    pairs: Vec<(Vec<u32>, Vec<u32>)>,
}

impl Pairs {
    fn hard(seed: u64, u_limbs: usize, v_limbs: usize, block: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut pairs = vec![];
        for v in divisors(&mut rng, v_limbs, block) {
            let all = dividends(&mut rng, &v, u_limbs);
            pairs.extend(all.into_iter().map(|u| (u, v.clone())));
        }
        Self { u_limbs, v_limbs, pairs }
    }

    /// Returns random pairs of numbers of all lengths for one batch.
    fn mixed(seed: u64, u_limbs: usize, v_limbs: usize, count: usize) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut number = |limbs: usize| {
            let mut x = drawn(&mut rng, limbs);
            x[rng.random_range(0..=limbs)..].fill(0);
            x
        };
        let pairs = (0..count).map(|_| (number(u_limbs), number(v_limbs))).collect();
        Self { u_limbs, v_limbs, pairs }
    }

    /// Checks the results of the method `by` for all pairs, with the results requested in several
    /// combinations.
    fn check(
        &self,
        gpu: &Gpu,
        by: &dyn Fn(Operand<'_>, Operand<'_>, usize, Quotients<'_>),
        what: &str,
    ) {
        let Self { u_limbs, v_limbs, pairs } = self;
        let (u_limbs, v_limbs, count) = (*u_limbs, *v_limbs, pairs.len());
        let (u, v): (Vec<_>, Vec<_>) = pairs.iter().cloned().unzip();
        let device = gpu.device();
        let (u, v) = (device.upload(&u.concat()).unwrap(), device.upload(&v.concat()).unwrap());
        let a = Operand::new(&u, u_limbs, false);
        let b = Operand::new(&v, v_limbs, false);
        let dirty = |len: usize| device.upload(&vec![0xdead_beef_u32; len]).unwrap();
        let (mut quotients, mut remainders) = (dirty(count * u_limbs), dirty(count * v_limbs));
        let mut flags = device.upload(&vec![7_u8; count]).unwrap();
        let both = Quotients {
            quotient: Some(&mut quotients),
            remainder: Some(&mut remainders),
            flags: Some(&mut flags),
            exact: false,
        };
        by(a, b, count, both);
        let (q, r) = (quotients.download().unwrap(), remainders.download().unwrap());
        let by_zero = flags.download().unwrap();
        let mut inexact = vec![];
        for (i, (u, v)) in pairs.iter().enumerate() {
            let is_zero = v.iter().all(|&limb| limb == 0);
            assert_eq!(by_zero[i], u8::from(is_zero), "{what}: {u:x?} / {v:x?}");
            let (want_q, want_r) =
                if is_zero { (vec![], vec![]) } else { limbs::div_rem(&wide(u), &wide(v)) };
            assert_eq!(
                q[i * u_limbs..][..u_limbs],
                narrow(&want_q, u_limbs),
                "{what}: {u:x?} / {v:x?}"
            );
            assert_eq!(
                r[i * v_limbs..][..v_limbs],
                narrow(&want_r, v_limbs),
                "{what}: {u:x?} % {v:x?}"
            );
            inexact.push(u8::from(is_zero || want_r.iter().any(|&limb| limb != 0)));
        }

        let (mut other_q, mut other_r) = (dirty(count * u_limbs), dirty(count * v_limbs));
        by(a, b, count, Quotients { quotient: Some(&mut other_q), ..Quotients::default() });
        by(a, b, count, Quotients { remainder: Some(&mut other_r), ..Quotients::default() });
        assert!(other_q.download().unwrap() == q && other_r.download().unwrap() == r, "{what}");
        let (quotient, flags_again) = (Some(&mut quotients), Some(&mut flags));
        by(a, b, count, Quotients { quotient, remainder: None, flags: flags_again, exact: true });
        assert_eq!(flags.download().unwrap(), inexact, "{what}: exact");
        for (i, found) in quotients.download().unwrap().chunks(u_limbs).enumerate() {
            let want =
                q[i * u_limbs..][..u_limbs].iter().map(|&q| if inexact[i] == 0 { q } else { 0 });
            assert!(found.iter().copied().eq(want), "{what}: exact {i}");
        }
    }
}

/// Returns a function that makes plans with `levels` levels of guesses, or without guesses if
/// `levels` is `None`. Blocks have `base`·2^levels limbs, and there are as many blocks as the
/// quotients need.
fn forced(base: usize, levels: Option<u32>) -> impl Fn(usize, usize) -> Option<Plan> {
    move |divisor, quotient| {
        let block = base << levels.unwrap_or(0);
        let least = if levels.is_some() { block } else { 4 };
        let whole = divisor.next_multiple_of(4).max(least);
        Some(Plan { whole, block, blocks: quotient.div_ceil(block), guesses: levels })
    }
}

fn check_plan(gpu: &Gpu, pairs: &Pairs, base: usize, levels: Option<u32>) {
    let what = format!("{} by {} limbs, {base} {levels:?}", pairs.u_limbs, pairs.v_limbs);
    let by = |a: Operand<'_>, b: Operand<'_>, count: usize, to: Quotients<'_>| {
        gpu.divide_in_blocks(a, b, count, to, forced(base, levels)).unwrap();
    };
    pairs.check(gpu, &by, &what);
}

#[test]
fn in_blocks_by_guesses() {
    check_guesses(&[
        (64, 32, 8, Some(2)),
        (70, 33, 4, Some(3)),
        (48, 40, 8, Some(0)),
        (24, 70, 4, Some(1)),
        (61, 26, 12, None),
    ]);
}

#[test]
#[ignore = "slow: more widths"]
fn in_more_blocks_by_guesses() {
    check_guesses(&[
        (32, 16, 8, Some(1)),
        (63, 29, 8, Some(1)),
        (50, 16, 8, Some(0)),
        (40, 40, 8, Some(1)),
        (90, 7, 8, None),
        (300, 150, 16, Some(2)),
    ]);
}

/// Checks divisions of the hard pairs. `cases` has the limbs of u and of v, the base and the
/// levels.
fn check_guesses(cases: &[(usize, usize, usize, Option<u32>)]) {
    let gpu = gpu();
    for &(u, v, base, levels) in cases {
        check_plan(
            &gpu,
            &Pairs::hard(21 + u as u64, u, v, base << levels.unwrap_or(0)),
            base,
            levels,
        );
    }
}

/// Tests numbers that several warps of a block share, with borrows that run through the limbs of
/// all warps.
#[test]
fn in_blocks_by_warps() {
    let gpu = gpu();
    let mut pairs = Pairs::hard(31, 2400, 1300, 600);
    let ones = vec![u32::MAX; 2400];
    let mut v = vec![0; 1300];
    (v[0], v[1299]) = (1, 1 << 31);
    pairs.pairs.truncate(40);
    pairs.pairs.push((ones, v));
    check_plan(&gpu, &pairs, 300, Some(1));
}

#[test]
fn of_all_lengths_in_blocks() {
    let gpu = gpu();
    for (u, v, base, levels) in [(80, 40, 8, Some(2)), (60, 60, 8, Some(1)), (130, 20, 16, None)] {
        let what = format!("{u} by {v} limbs, {base} {levels:?}");
        for seed in 0..4 {
            check_plan(&gpu, &Pairs::mixed(seed, u, v, 60), base, levels);
        }
        // One u for all v, one v for all u, and none at all.
        let Pairs { pairs, .. } = Pairs::mixed(9, u, v, 20);
        for (one_u, one_v) in [(true, false), (false, true), (true, true)] {
            let pick = |i: usize, one: bool| if one { 3 } else { i };
            let same = |i| (pairs[pick(i, one_u)].0.clone(), pairs[pick(i, one_v)].1.clone());
            let all = Pairs { u_limbs: u, v_limbs: v, pairs: (0..20).map(same).collect() };
            let by = |a: Operand<'_>, b: Operand<'_>, count: usize, to: Quotients<'_>| {
                let first = |a: &Operand<'_>| a.data.download().unwrap()[..a.limbs].to_vec();
                let (one_a, one_b) = (first(&a), first(&b));
                let (one_a, one_b) =
                    (gpu.device().upload(&one_a).unwrap(), gpu.device().upload(&one_b).unwrap());
                let a = if one_u { Operand::new(&one_a, a.limbs, true) } else { a };
                let b = if one_v { Operand::new(&one_b, b.limbs, true) } else { b };
                gpu.divide_in_blocks(a, b, count, to, forced(base, levels)).unwrap();
            };
            all.check(&gpu, &by, &what);
        }
        Pairs { u_limbs: u, v_limbs: v, pairs: vec![(vec![5; u], vec![0; v]); 3] }.check(
            &gpu,
            &|a, b, count, to| gpu.divide_in_blocks(a, b, count, to, forced(base, levels)).unwrap(),
            &what,
        );
    }
}

/// Tests the default choice of a method: `divide.cu` alone, blocks without and with guesses, and
/// dividends and divisors of equal length.
#[test]
fn by_the_cheapest_way() {
    let gpu = gpu();
    let by = |a: Operand<'_>, b: Operand<'_>, count: usize, to: Quotients<'_>| {
        gpu.divide(a, b, count, to).unwrap();
    };
    for (u, v, count) in [(20, 9, 30), (1000, 500, 8), (700, 1, 8), (2600, 2300, 4)] {
        let mut pairs = Pairs::hard(41, u, v, v.div_ceil(2));
        let every = pairs.pairs.len() / count;
        pairs.pairs = pairs.pairs.into_iter().step_by(every.max(1)).collect();
        pairs.check(&gpu, &by, &format!("{u} by {v} limbs"));
    }
    // Longer than registers hold, with quotients of at most one limb.
    let mut rng = ChaCha8Rng::seed_from_u64(42);
    let mut pair = || {
        let v = drawn(&mut rng, 2100);
        let mut u = drawn(&mut rng, 2100);
        u[2099] = u[2099].max(1);
        if rng.random() { (u, v) } else { (v, u) }
    };
    let pairs = (0..12).map(|_| pair()).collect();
    Pairs { u_limbs: 2100, v_limbs: 2100, pairs }.check(&gpu, &by, "equal lengths");
}

#[test]
fn every_width_has_a_way() {
    let gpu = gpu();
    let lengths = (0..15).flat_map(|log| [(1 << log) - 1, 1 << log, (1 << log) + 1, 3 << log]);
    let lengths: Vec<usize> =
        lengths.filter(|n| (1..=32_768).contains(n)).chain([32_767, 32_768]).collect();
    for shared_memory in [64 << 10, 100 << 10, 227 << 10] {
        let mut costs = Costs::with(&gpu, shared_memory);
        for &v in &lengths {
            for &u in &lengths {
                let quotient = rounded(u.saturating_sub(v), u);
                let (plan, cost) = costs.plan(rounded(v, v), quotient).unwrap();
                assert!(cost.is_finite() && plan.whole >= v, "{u} by {v}: {plan:?}");
                assert!(plan.block * plan.blocks >= u.saturating_sub(v), "{u} by {v}: {plan:?}");
                let halves = plan.guesses.unwrap_or(0);
                assert!(plan.whole % 4 == 0 && plan.block % (4 << halves) == 0, "{plan:?}");
                assert!(plan.guesses.is_none() || plan.block <= plan.whole, "{plan:?}");
            }
        }
    }
}

#[test]
fn products_are_divided_too() {
    let gpu = gpu();
    let mut costs = Costs::with(&gpu, 227 << 10);
    for (u, v) in [(65_536, 32_768), (65_536, 65_536), (65_536, 1), (65_536, 40_000)] {
        let (plan, _) = costs.plan(v, u - v).unwrap();
        assert!(plan.whole >= v && plan.block * plan.blocks >= u - v, "{u} by {v}: {plan:?}");
    }
}

/// Tests the estimated costs of divisions on an H200, in nanoseconds. Compares the costs of
/// `divide.cu` with measurements, and the costs of long divisions with ranges of times.
#[test]
fn long_divisions_cost_a_few_products() {
    let gpu = gpu();
    let mut costs = Costs::new(&gpu);
    for (limbs, least, most) in [(256, 10.0, 25.0), (2048, 350.0, 500.0), (4096, 900.0, 1300.0)] {
        let (plan, cost) = costs.plan(limbs, limbs).unwrap();
        assert!((least..most).contains(&cost), "{plan:?}: {cost}");
    }
    for (limbs, measured) in [(128, 5.0), (512, 71.8), (2048, 1125.0)] {
        let shape = Divide::new(2 * limbs, limbs, 227 << 10).unwrap();
        let cost = costs.of_kernel(&shape, limbs + 1);
        assert!((0.85..1.15).contains(&(cost / measured)), "{limbs}: {cost}");
    }
    assert!(costs.plan(4096, 0).unwrap().1 < 60.0);
}

#[test]
fn lengths_and_slices() {
    assert_eq!(longest(&[64, 100], &[0, 40], 2), (2, 1));
    assert_eq!(longest(&[64], &[33, 1, 64], 3), (2, 1));
    assert_eq!(longest(&[31, 65], &[32], 2), (1, 1));
    assert_eq!(longest(&[63], &[32], 2), (1, 0));
    assert_eq!(longest(&[5, 9], &[0], 2), (0, 0));
    assert_eq!(
        [0, 1, 33, 4096, 4097, 5000].map(|n| rounded(n, 1 << 20)),
        [0, 4, 36, 4096, 4608, 5120]
    );
    assert_eq!([33, 4097].map(|n| rounded(n, n)), [36, 4100]);
    assert_eq!(slice(100, 1 << 10, 1 << 40), 100);
    assert_eq!(slice(1 << 21, 1 << 10, 1 << 40), 1 << 20);
    assert_eq!(slice((1 << 20) + 1, 1 << 10, 1 << 40), (1 << 19) + 1);
    assert_eq!(slice(20_000, 1 << 20, 1 << 40), 10_000);
    assert_eq!(slice(20_000, 1 << 20, 1 << 33), 1000);
    assert_eq!(slice(10, 1 << 20, 1), 1);
}
