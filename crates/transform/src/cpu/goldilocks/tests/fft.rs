//! Compares transforms with their definition.

use super::super::fft::Fft;
use super::super::lanes::Lanes;
use warpint_arith::goldilocks as field;

/// Returns the transform X_k = Σ_j x_j·ω_n^(jk) of n = `x.len()` points by Horner's rule.
fn naive(x: &[u64]) -> Vec<u64> {
    let n = x.len() as u64;
    let omega = field::root_of_unity(n).unwrap();
    (0..n)
        .map(|k| {
            let step = field::pow(omega, k);
            // Horner's rule from the last x_j down.
            x.iter().rev().fold(0, |sum, &v| field::add(field::mul(sum, step), v))
        })
        .collect()
}

fn sample(n: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    (0..n)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            field::mul(state, state)
        })
        .collect()
}

fn lengths(max: usize) -> impl Iterator<Item = usize> {
    (0..=13).flat_map(|k| [1usize << k, 3 << k, 5 << k]).filter(move |&n| n <= max)
}

#[test]
fn agrees_with_the_definition() {
    for n in lengths(2560) {
        let fft = Fft::new(n).unwrap();
        let x = sample(n, n as u64);
        let expected = naive(&x);
        let mut y = x.clone();
        fft.forward(&mut y);
        let order = fft.spectrum();
        for (at, &k) in order.iter().enumerate() {
            assert_eq!(y[at], expected[k], "X_{k} of {n}");
        }
        let mut seen = order.clone();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..n), "the order of {n} is a permutation");
        fft.inverse(&mut y);
        let scale = field::inverse(n as u64).unwrap();
        let back: Vec<u64> = y.into_iter().map(|v| field::mul(v, scale)).collect();
        assert_eq!(back, x, "length {n}");
    }
}

#[test]
fn no_other_lengths() {
    for n in [0usize, 7, 9, 15, 18, 25, 30, 50, 11] {
        assert!(Fft::new(n).is_none(), "{n}");
    }
}

#[cfg(target_arch = "x86_64")]
#[test]
fn lanes_do_not_mix() {
    use super::super::avx2::Four;
    let Some(avx2) = Four::instructions() else { return };
    for n in lengths(8192) {
        let fft = Fft::new(n).unwrap();
        let lanes: [Vec<u64>; 4] = core::array::from_fn(|i| sample(n, (n + i) as u64));
        let mut four: Vec<Four> = (0..n)
            .map(|j| {
                let x = [lanes[0][j], lanes[1][j], lanes[2][j], lanes[3][j]];
                Four::splat(avx2, 1).mul(Four::factors(avx2, &x))
            })
            .collect();
        let check = |four: &[Four], lanes: &[Vec<u64>; 4]| {
            for (j, x) in four.iter().enumerate() {
                let mut out = [0; 4];
                x.store(&mut out);
                for (lane, v) in lanes.iter().zip(out) {
                    assert_eq!(lane[j], v, "entry {j} of {n}");
                }
            }
        };
        let mut lanes = lanes;
        fft.forward(&mut four);
        lanes.iter_mut().for_each(|x| fft.forward(x));
        check(&four, &lanes);
        fft.inverse(&mut four);
        lanes.iter_mut().for_each(|x| fft.inverse(x));
        check(&four, &lanes);
    }
}
