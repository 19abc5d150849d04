//! Compares greatest common divisors and inverses on every path with those one by one.

use std::sync::OnceLock;

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{measured_paths, numbers, paths};
use crate::cpu::gcd::{gcd_one_by_one, inverse_one_by_one};
use crate::cpu::lanes::Path;
use crate::cpu::lanes::masks::Masks;
use crate::cpu::lanes::portable::Portable;
use crate::cpu::lanes::steps::{Batch, most_steps};
use crate::cpu::lanes::vector::{words, words_mut};
use crate::cpu::{Operand, Rows};

/// Returns a generator and prints its seed.
fn random() -> ChaCha8Rng {
    let seed = rand::random();
    println!("seed {seed}");
    ChaCha8Rng::seed_from_u64(seed)
}

/// Returns the operand with the numbers x. A single number is shared by all instances.
fn operand(x: &[u32], width: usize, count: usize) -> Operand<'_> {
    Operand::new(x, width, x.len() == width && count > 1)
}

/// Compares greatest common divisors of a and b, and inverses of a modulo b and of b modulo a, on all
/// paths with those one by one. One thread computes all groups that can be interleaved.
fn check(a: &[u32], b: &[u32], widths: [usize; 2], count: usize) {
    static POOL: OnceLock<rayon::ThreadPool> = OnceLock::new();
    let one = || rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    POOL.get_or_init(one).install(|| check_on_this_thread(a, b, widths, count));
}

fn check_on_this_thread(a: &[u32], b: &[u32], [n, m]: [usize; 2], count: usize) {
    let (x, y) = (operand(a, n, count), operand(b, m, count));
    let width = n.max(m);
    let mut want = vec![7; count * width];
    gcd_one_by_one(x, y, count, Rows::new(&mut want, width));
    for path in paths() {
        let mut g = vec![7; count * width];
        path.gcd(x, y, count, Rows::new(&mut g, width));
        for (i, (g, want)) in g.chunks(width).zip(want.chunks(width)).enumerate() {
            let (a, b) = (x.row(i), y.row(i));
            assert_eq!(g, want, "{path:?}, number {i} of {count}: gcd of {a:x?} and {b:x?}");
        }
    }
    for (a, m) in [(x, y), (y, x)] {
        let width = m.width();
        let (mut want, mut none) = (vec![7; count * width], vec![7; count]);
        inverse_one_by_one(a, m, Rows::new(&mut want, width), &mut none);
        for path in paths() {
            let (mut inverse, mut flags) = (vec![7; count * width], vec![7; count]);
            path.inverse(a, m, Rows::new(&mut inverse, width), &mut flags);
            for (i, row) in inverse.chunks(width).enumerate() {
                let (got, want) = ((row, flags[i]), (&want[i * width..][..width], none[i]));
                let (a, m) = (a.row(i), m.row(i));
                assert_eq!(got, want, "{path:?}, number {i} of {count}: 1/{a:x?} mod {m:x?}");
            }
        }
    }
}

#[test]
fn divisors_and_inverses_are_those_one_by_one() {
    let mut rng = random();
    for n in (1usize..=28).chain([31, 32, 33, 51, 52, 53, 64, 65, 104, 128]) {
        for m in [n, n, 1, n.div_ceil(2), n + 1] {
            let count = rng.random_range(1..80);
            let [of_a, of_b] = [(count, 1), (1, count), (count, count), (count, count)]
                [rng.random_range(0..4)]
            .into();
            let (a, mut b) = (numbers(&mut rng, of_a, n), numbers(&mut rng, of_b, m));
            check(&a, &b, [n, m], count);
            for b in b.chunks_mut(m) {
                b[0] |= 1;
            }
            check(&a, &b, [n, m], count);
        }
    }
}

/// Tests all counts up to a number of lanes that is more than that of six groups.
#[test]
fn divisors_and_inverses_of_every_count() {
    let mut rng = random();
    for count in 1..=49 {
        let (a, mut b) = (numbers(&mut rng, count, 3), numbers(&mut rng, count, 3));
        check(&a, &b, [3, 3], count);
        for b in b.chunks_mut(3) {
            b[0] |= 1;
        }
        check(&a, &b, [3, 3], count);
        check(&a, &a, [3, 3], count);
        check(&a, &b[..3], [3, 3], count);
        check(&a[..3], &b, [3, 3], count);
    }
}

/// Tests all pairs of extreme numbers: 0, small numbers, powers of two and their neighbours, all
/// ones, successive Fibonacci numbers (the longest Euclidean algorithm).
#[test]
fn divisors_and_inverses_of_extreme_numbers() {
    for n in [1usize, 2, 3, 4, 5, 13, 26, 27] {
        let mut values: Vec<Vec<u32>> = vec![];
        for low in [0, 1, 2, 3, 4, 6, u32::MAX, u32::MAX - 1] {
            let mut value = vec![0; n];
            value[0] = low;
            values.push(value);
        }
        for bit in [29, 30, 31, 51, 52, 53, 60, 63, 64, 90, 103, 104, 105, 32 * n - 2, 32 * n - 1] {
            let mut power = vec![0u32; n];
            if let Some(limb) = power.get_mut(bit / 32) {
                *limb = 1 << (bit % 32);
                let below =
                    |i: usize| if i < bit / 32 { u32::MAX } else { power[i].wrapping_sub(1) };
                let mut ones: Vec<u32> = (0..n).map(below).collect();
                ones[bit / 32 + 1..].fill(0);
                let mut above = power.clone();
                above[0] |= 1;
                values.extend([power, ones, above]);
            }
        }
        values.push(vec![u32::MAX; n]);
        let mut fibonacci = [vec![0; n], vec![0; n]];
        fibonacci[1][0] = 1;
        while fibonacci[1][n - 1] >> 30 == 0 {
            let [x, y] = &fibonacci;
            let mut carry = 0;
            let sum = x.iter().zip(y).map(|(&x, &y)| {
                carry += u64::from(x) + u64::from(y);
                let limb = carry as u32;
                carry >>= 32;
                limb
            });
            fibonacci = [y.clone(), sum.collect()];
        }
        values.extend(fibonacci);
        let count = values.len();
        let (all, mut pairs) = (values.concat(), [vec![], vec![]]);
        for value in &values {
            pairs[0].extend((0..count).flat_map(|_| value));
            pairs[1].extend(&all);
        }
        check(&pairs[0], &pairs[1], [n, n], count * count);
    }
}

/// Tests the widest operands of a batch across lanes.
#[test]
fn the_widest_divisors_and_inverses() {
    let mut rng = random();
    for n in [256, 512] {
        let (a, mut b) = (numbers(&mut rng, 9, n), numbers(&mut rng, 9, n));
        b.chunks_mut(n).for_each(|b| b[0] |= 1);
        check(&a, &b, [n, n], 9);
    }
}

/// Tests the numbers of steps of theorem 11.2, and that they suffice for all short numbers, of which
/// some need as many steps as any.
#[test]
fn steps_suffice() {
    assert_eq!([1, 6, 32, 45, 46, 64, 128].map(most_steps), [7, 22, 96, 134, 135, 187, 372]);
    let steps = |mut f: i64, mut g: i64| {
        let (mut delta, mut steps) = (1, 0);
        while g != 0 {
            let odd = g & 1;
            if delta > 0 && odd == 1 {
                (delta, f, g) = (1 - delta, g, (g - f) / 2);
            } else {
                (delta, g) = (1 + delta, (g + odd * f) / 2);
            }
            steps += 1;
        }
        steps
    };
    for bits in 1..=9usize {
        let largest =
            (1..1i64 << bits).step_by(2).flat_map(|f| (0..1 << bits).map(move |g| (f, g)));
        let needed = largest.map(|(f, g)| steps(f, g)).max().unwrap();
        assert!(needed <= most_steps(bits), "{needed} steps for {bits} bits");
    }
    assert_eq!([steps(247, 237), steps(175, 481)], [21, 25]);
}

/// Tests numbers with common divisors: random ones, and all powers of two.
#[test]
fn divisors_of_multiples() {
    let mut rng = random();
    let n = 9;
    let count = 32 * n;
    let mut multiple = |divisor: &[u32], by: usize, shift: usize| {
        let mut row = vec![0; n];
        let factor: Vec<u32> = (0..by).map(|_| rng.random()).collect();
        for (i, &x) in factor.iter().enumerate() {
            let mut carry = 0;
            for (j, &y) in divisor.iter().enumerate() {
                carry += u64::from(row[i + j]) + u64::from(x) * u64::from(y);
                row[i + j] = carry as u32;
                carry >>= 32;
            }
            row[i + divisor.len()] = carry as u32;
        }
        let limb = |i: usize| if i < n { u64::from(row[i]) } else { 0 };
        let (limbs, bits) = (shift / 32, shift % 32);
        (0..n)
            .map(|i| {
                let low = if i > limbs { limb(i - limbs - 1) } else { 0 };
                let high = if i >= limbs { limb(i - limbs) } else { 0 };
                (((high << 32 | low) << bits) >> 32) as u32
            })
            .collect::<Vec<_>>()
    };
    let (mut a, mut b) = (vec![], vec![]);
    for shift in 0..count {
        let divisor = [0x1234_5677, shift as u32 + 1, 1];
        a.extend(multiple(&divisor, 4, shift));
        b.extend(multiple(&divisor, 2, (shift * 7) % 60 + shift));
    }
    check(&a, &b, [n, n], count);
    check(&a, &a, [n, n], count);
}

/// Compares the matrices of a batch with those of steps one by one.
#[test]
fn matrices_are_those_of_single_steps() {
    fn check<V: Masks>(rng: &mut ChaCha8Rng) {
        const G: usize = 3;
        let Some(proof) = V::proof() else { return };
        for round in 0..300 {
            let mut draw = || -> [V; G] {
                std::array::from_fn(|_| {
                    let mut vector = [V::splat(proof, 0)];
                    words_mut(&mut vector).fill_with(|| match rng.random_range(0..8) {
                        0 => 0,
                        1 => 1,
                        2 => (1 << V::BITS) - 1,
                        3 => 1 << rng.random_range(0..V::BITS),
                        _ => rng.next_u64() >> (64 - V::BITS),
                    });
                    vector[0]
                })
            };
            let f = draw().map(|f| f.or(V::splat(proof, 1)));
            let g = draw();
            let mut minus_delta = [V::splat(proof, 0); G];
            for delta in words_mut(&mut minus_delta) {
                *delta = rng.random_range(-60i64..60).cast_unsigned();
            }
            let before = minus_delta;
            let batch = Batch { minus_delta: &mut minus_delta, f, g, one: V::splat(proof, 1) };
            let matrices = V::enter(proof, batch);
            for (i, (&x, &y)) in words(&f).iter().zip(words(&g)).enumerate() {
                let (group, lane) = (i / V::LANES, i % V::LANES);
                let (mut f, mut g) = (i128::from(x), i128::from(y));
                let mut delta = -words(&before)[i].cast_signed();
                let [mut of_f, mut of_g] = [[1i64, 0], [0, 1]];
                for _ in 0..V::BITS {
                    if delta > 0 && g % 2 != 0 {
                        delta = 1 - delta;
                        (f, g) = (g, (g - f) / 2);
                        let difference = [of_g[0] - of_f[0], of_g[1] - of_f[1]];
                        (of_f, of_g) = ([2 * of_g[0], 2 * of_g[1]], difference);
                    } else {
                        delta += 1;
                        let odd = g % 2 != 0;
                        g = (g + if odd { f } else { 0 }) / 2;
                        let times = i64::from(odd);
                        of_g = [of_g[0] + times * of_f[0], of_g[1] + times * of_f[1]];
                        of_f = [2 * of_f[0], 2 * of_f[1]];
                    }
                }
                assert_eq!(words(&minus_delta)[i].cast_signed(), -delta, "round {round}");
                for (row, want) in matrices[group].iter().zip([of_f, of_g]) {
                    let got = row.map(|entry| -words(&[entry])[lane].cast_signed());
                    assert_eq!(got, want, "round {round}: f = {x:#x}, g = {y:#x}");
                }
            }
        }
    }
    let mut rng = random();
    check::<Portable<true>>(&mut rng);
    check::<Portable<true, 30>>(&mut rng);
    #[cfg(target_arch = "x86_64")]
    {
        check::<crate::cpu::lanes::avx2_words::Avx2Words>(&mut rng);
        check::<crate::cpu::lanes::ifma::Ifma>(&mut rng);
    }
}

/// Prints ns per gcd and inverse, one after the other and across lanes, on one thread.
#[test]
#[ignore = "a measurement"]
fn speed_of_gcds() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(print_speed);
}

fn print_speed() {
    let paths: Vec<Path> = measured_paths().collect();
    println!("ns a number, one after the other, then by {paths:?}:");
    println!("bits of a and b, gcd(a, b), 1/a mod b, 1/b mod a");
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for (of, by) in [(1, 1), (3, 2), (2, 1), (4, 1)] {
        for bits in [32usize, 64, 128, 192, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768] {
            let (n, m) = (bits / 32, (bits / 32 * by).div_ceil(of));
            let count = ((1usize << 18) / bits).clamp(64, 1024);
            let mut draw = |width: usize| {
                let mut x: Vec<u32> = (0..width * count).map(|_| rng.random()).collect();
                x.iter_mut().step_by(width).for_each(|limb| *limb |= 1);
                x
            };
            let (a, b) = (draw(n), draw(m));
            let (x, y) = (Operand::new(&a, n, false), Operand::new(&b, m, false));
            let (mut out, mut flags) = (vec![0; n * count], vec![0; count]);
            let mut row = format!("{bits:5} {:5}", 32 * m);
            super::print_times(&paths, count, &mut row, &mut |path| {
                let out = Rows::new(&mut out, n);
                match path {
                    None => gcd_one_by_one(x, y, count, out),
                    Some(path) => path.gcd(x, y, count, out),
                }
            });
            for (a, m) in [(x, y), (y, x)] {
                super::print_times(&paths, count, &mut row, &mut |path| {
                    let out = Rows::new(&mut out[..m.width() * count], m.width());
                    match path {
                        None => inverse_one_by_one(a, m, out, &mut flags),
                        Some(path) => path.inverse(a, m, out, &mut flags),
                    }
                });
            }
            println!("{row}");
        }
    }
}
