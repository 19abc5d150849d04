//! Compares every path that this machine has with slow operations on limbs.

mod gcd;

use std::sync::atomic::Ordering;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_natural::limbs;

use super::chunks::{DEFAULT_PAST_CACHES_FROM, PAST_CACHES_FROM};
use super::fixed;
use super::portable::Portable;
use super::*;
use crate::cpu::multiply::{multiply_one_by_one, square_one_by_one};
use crate::cpu::{limbs_of, store};

const PATHS: &[Path] = &[
    Path::Portable,
    Path::PortableSmall,
    #[cfg(target_arch = "x86_64")]
    Path::Avx2,
    #[cfg(target_arch = "x86_64")]
    Path::Ifma,
];

fn paths() -> impl Iterator<Item = Path> {
    PATHS.iter().copied().filter(|path| path.exists())
}

/// Returns `count` numbers of `width` limbs. A few are extreme: all ones, zero, one, a single high
/// bit, ones above zeros, zeros above ones. About half of the others have runs of zeros and ones.
pub(super) fn numbers(rng: &mut ChaCha8Rng, count: usize, width: usize) -> Vec<u32> {
    let corner = rng.random_range(0..8);
    let number = |i: usize| {
        let runs = rng.random();
        let mut limb = |j: usize| match (i + corner) % 16 {
            0 => u32::MAX,
            1 => 0,
            2 => u32::from(j == 0),
            3 => u32::from(j + 1 == width) << 31,
            4 => {
                if j >= width / 2 {
                    u32::MAX
                } else {
                    0
                }
            }
            5 => {
                if j < width.div_ceil(2) {
                    u32::MAX
                } else {
                    0
                }
            }
            _ if runs => match rng.random_range(0..4) {
                0 => u32::MAX,
                1 => 0,
                2 => u32::MAX << rng.random_range(0..32),
                _ => u32::MAX >> rng.random_range(0..32),
            },
            _ => rng.random(),
        };
        (0..width).map(&mut limb).collect::<Vec<_>>()
    };
    (0..count).flat_map(number).collect()
}

/// Compares products, or squares if `b` is `None`, on all paths with schoolbook products.
fn check_products(a: &[u32], b: Option<&[u32]>, [n, m]: [usize; 2], count: usize) {
    let broadcast = |x: &[u32], width| x.len() == width && count > 1;
    let x = Operand::new(a, n, broadcast(a, n));
    let y = b.map(|b| Operand::new(b, m, broadcast(b, m)));
    let products: Vec<Vec<u32>> = (0..count)
        .map(|i| {
            let other = y.unwrap_or(x).row(i);
            let product = limbs::mul(&limbs_of(x.row(i)), &limbs_of(other));
            let mut out = vec![0; product.len().max(n.div_ceil(2) + m.div_ceil(2)) * 2];
            let mut wide = product;
            wide.resize(out.len() / 2, 0);
            store(&mut out, &wide);
            out
        })
        .collect();
    for part in [Part::Full, Part::Low, Part::High] {
        let (from, width) = part.limbs(n, m);
        let want: Vec<u32> =
            products.iter().flat_map(|product| product[from..][..width].to_vec()).collect();
        for path in [None].into_iter().chain(paths().map(Some)) {
            let mut out = vec![7; count * width];
            match (path, y) {
                (Some(path), _) => path.multiply(part, x, y, &mut out),
                (None, Some(y)) => multiply_one_by_one(part, x, y, &mut out),
                (None, None) => square_one_by_one(part, x, &mut out),
            }
            for (i, (got, want)) in out.chunks(width).zip(want.chunks(width)).enumerate() {
                assert_eq!(
                    got,
                    want,
                    "{path:?}, {part:?}, number {i} of {count}: {:x?} by {:x?}",
                    x.row(i),
                    y.map(|y| y.row(i)),
                );
            }
        }
    }
}

#[test]
fn squares_are_those_of_schoolbook() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    for n in (1..=68).chain([79, 80, 81, 96, 127, 128, 129, 255, 256]) {
        let count = rng.random_range(1..20);
        let a = numbers(&mut rng, count, n);
        check_products(&a, None, [n, n], count);
    }
}

#[test]
fn products_are_those_of_schoolbook() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    for n in (1usize..=68).chain([96, 127, 128, 129, 256]) {
        for m in [n, 1, n.div_ceil(2), n - n / 5, 2 * n / 3 + 1] {
            let count = rng.random_range(1..20);
            let [of_a, of_b] =
                [(count, 1), (1, count), (count, count)][rng.random_range(0..3)].into();
            let (a, b) = (numbers(&mut rng, of_a, n), numbers(&mut rng, of_b, m));
            check_products(&a, Some(&b), [n, m], count);
        }
    }
}

/// Returns whether there is code of its own for rows of n limbs, with large or small blocks.
fn is_fixed(n: usize, large: bool) -> bool {
    let short = if large { n >= 5 } else { n >= 17 || [9, 11, 13, 15].contains(&n) };
    match n {
        0..=32 => short,
        33..=48 => !large || n > 40,
        _ => [60..=64, 93..=96, 125..=128].iter().any(|widths| widths.contains(&n)),
    }
}

/// Tests that there is code for the widths of [`is_fixed`] and for no others. Code is used only where
/// there is some.
#[test]
fn fixed_widths() {
    fn check<V: fixed::Fixed>(large: bool) {
        let Some(proof) = V::proof() else { return };
        let numbers = vec![3; 8 * 140];
        let mut out = vec![0; 8 * 280];
        for n in 1..=140 {
            let a = Operand::new(&numbers, n, false);
            let done = fixed::multiply::<V>(proof, a, None, &mut out[..8 * 2 * n]);
            assert_eq!(done, if is_fixed(n, large) { 8 } else { 0 }, "{n} limbs");
        }
    }
    check::<Portable<true>>(true);
    check::<Portable<false>>(false);
}

/// Tests that no path is chosen for wider factors than its columns have room for.
#[test]
#[cfg(target_arch = "x86_64")]
fn paths_are_chosen_only_for_widths_that_fit() {
    for path in paths() {
        for width in 1..=2000usize {
            let fits = (32 * width).div_ceil(52) <= columns::MOST_LIMBS;
            let pays = path.whole_products_pay(width) || path.widths_of_products().contains(&width);
            assert!(fits || !pays, "{path:?}, {width} limbs");
        }
    }
}

/// Tests [`vector::Lanes::mad`] against its description: extreme factors, products halfway between
/// two high parts, and others.
#[test]
fn parts_of_products_of_limbs() {
    fn check<V: Lanes>(rng: &mut ChaCha8Rng) {
        let Some(proof) = V::proof() else { return };
        let last = (1u64 << V::BITS) - 1;
        let mut limbs = vec![0, 1, 2, last, last - 1, last / 2, last / 2 + 1, 3 << (V::BITS - 2)];
        limbs.extend((0..200).map(|_| rng.random_range(0..=last)));
        limbs.extend((0..V::BITS).map(|bit| 1 << bit));
        let vector = |x: u64| V::splat(proof, x);
        let factor = |x: u64| if V::SPLIT { vector(x) } else { vector(x).factor() };
        for &a in &limbs {
            for &b in &limbs {
                let (low, high) = V::mad(vector(7), vector(5), factor(a), factor(b));
                let part = |sum: V, bias: u64, start: u64| {
                    vector::words(&[sum])[0].wrapping_sub(bias).wrapping_sub(start).cast_signed()
                };
                let (low, high) = (part(low, V::LOW_BIAS, 7), part(high, V::HIGH_BIAS, 5));
                let (product, half) = (i128::from(a) * i128::from(b), 1i64 << (V::BITS - 1));
                assert_eq!(i128::from(low) + (i128::from(high) << V::BITS), product, "{a}·{b}");
                assert!((-half..2 * half).contains(&low) && high >= 0, "{a}·{b}: {low}, {high}");
                let inverse = vector(a).low_product(proof, factor(b));
                assert_eq!(digit_of(proof, inverse), product as u64 & last, "{a}·{b}, low");
            }
        }
    }
    /// Returns the limb whose factor is `factor`.
    fn digit_of<V: Lanes>(proof: V::Proof, factor: V) -> u64 {
        let one = V::splat(proof, 1);
        let one = if V::SPLIT { one } else { one.factor() };
        let (low, high) = V::mad(V::splat(proof, 0), V::splat(proof, 0), factor, one);
        let low = vector::words(&[low])[0].wrapping_sub(V::LOW_BIAS);
        let high = vector::words(&[high])[0].wrapping_sub(V::HIGH_BIAS);
        low.wrapping_add(high << V::BITS)
    }
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    check::<Portable<true>>(&mut rng);
    check::<Portable<false>>(&mut rng);
    check::<Portable<true, 30>>(&mut rng);
    #[cfg(target_arch = "x86_64")]
    {
        check::<avx2::Avx2>(&mut rng);
        check::<avx2_words::Avx2Words>(&mut rng);
        check::<ifma::Ifma>(&mut rng);
    }
}

/// All short widths, the ends of the ranges with code of their own above, and some others.
fn short_widths() -> impl Iterator<Item = usize> {
    (1..=35).chain([39, 40, 42, 43, 48, 60, 64, 65, 93, 96, 125, 128])
}

/// Returns a number of rows of n limbs of 32 bits that is more than two chunks of results, and not
/// a multiple of the lanes.
fn several_chunks(n: usize) -> usize {
    2 * (crate::cpu::CHUNK_BYTES / 4 / (2 * n)) + 21
}

/// Tests short widths with all counts around the numbers of lanes, and with a shared factor. The
/// largest count has several chunks.
#[test]
fn short_products_of_every_count() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    for n in short_widths() {
        let few = if n > 24 { 8..=9 } else { 1..=9 };
        for count in few.chain([15, 16, 17, several_chunks(n)]) {
            let (a, b) = (numbers(&mut rng, count, n), numbers(&mut rng, count, n));
            check_products(&a, Some(&b), [n, n], count);
            check_products(&a, Some(&b[..n]), [n, n], count);
            check_products(&a[..n], Some(&b), [n, n], count);
            check_products(&a, Some(&a), [n, n], count);
            check_products(&a, None, [n, n], count);
        }
    }
}

/// Tests results that are written past the caches, and memory that is not aligned for limbs of 64
/// bits.
#[test]
fn products_past_the_caches() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    PAST_CACHES_FROM.store(0, Ordering::Relaxed);
    for n in short_widths().chain([70]) {
        let count = several_chunks(n);
        let (a, b) = (numbers(&mut rng, count, n), numbers(&mut rng, count, n));
        check_products(&a, Some(&b), [n, n], count);
        check_products(&a, Some(&b[..n]), [n, n], count);
        check_products(&a, None, [n, n], count);
        let m = n / 2 + 1;
        check_products(&a, Some(&b[..m * count]), [n, m], count);
        let (x, y) = (Operand::new(&a, n, false), Operand::new(&b, n, false));
        let mut want = vec![0; 2 * n * count];
        multiply_one_by_one(Part::Full, x, y, &mut want);
        let shifted: Vec<u32> = [&[7], &a[..]].concat();
        let x = Operand::new(&shifted[1..], n, false);
        for path in [None].into_iter().chain(paths().map(Some)) {
            let mut out = vec![7; 2 * n * count + 2];
            match path {
                Some(path) => path.multiply(Part::Full, x, Some(y), &mut out[1..][..want.len()]),
                None => multiply_one_by_one(Part::Full, x, y, &mut out[1..][..want.len()]),
            }
            assert_eq!(out[1..][..want.len()], want, "{path:?}, {n} limbs");
            assert_eq!([out[0], out[want.len() + 1]], [7; 2], "{path:?}, {n} limbs");
        }
    }
    PAST_CACHES_FROM.store(DEFAULT_PAST_CACHES_FROM, Ordering::Relaxed);
}

/// Tests [`vector::Lanes::load_rows`] and [`vector::Lanes::store_rows`] against their descriptions,
/// for all lengths, and that nothing else is written.
#[test]
fn parts_of_rows_are_loaded_and_stored() {
    fn check<V: Lanes>() {
        let Some(proof) = V::proof() else { return };
        let width = 2 * V::LANES + 1;
        let numbers: Vec<u32> = (1..=(V::LANES * width) as u32).collect();
        for len in 0..width {
            let mut rows = [std::ptr::null(); vector::MOST_LANES];
            for (row, number) in rows.iter_mut().zip(numbers.chunks(width)) {
                *row = number.as_ptr();
            }
            // SAFETY: there are LANES rows of more than `len` ≤ 2·LANES words.
            let words = unsafe { V::load_rows(proof, rows, len) };
            let entry = |row: usize, j: usize| if j < len { numbers[row * width + j] } else { 0 };
            for (i, &word) in vector::words(&words[..V::LANES]).iter().enumerate() {
                let (j, row) = (i / V::LANES, i % V::LANES);
                let want = u64::from(entry(row, 2 * j)) | u64::from(entry(row, 2 * j + 1)) << 32;
                assert_eq!(word, want, "word {j} of row {row}, {len} words");
            }
            let mut stored = vec![0; numbers.len()];
            let start = stored.as_mut_ptr();
            let rows = std::array::from_fn(|l| start.wrapping_add(l * width));
            // SAFETY: the first LANES addresses are those of rows of more than `len` words.
            unsafe { V::store_rows(words, rows, len) };
            for (i, &word) in stored.iter().enumerate() {
                assert_eq!(word, entry(i / width, i % width), "word {i}, {len} words");
            }
        }
    }
    check::<portable::Portable<true>>();
    #[cfg(target_arch = "x86_64")]
    {
        check::<avx2::Avx2>();
        check::<avx2_words::Avx2Words>();
        check::<ifma::Ifma>();
    }
}

/// Tests [`columns::raw_correction`] by counting the products of each column.
#[test]
fn corrections_of_raw_columns() {
    type V = Portable<false>;
    let offset = V::OFFSET - (V::OFFSET >> V::BITS);
    for n in 1..12 {
        for m in 1..12 {
            let pairs = |k: usize| (0..n).filter(|i| (*i..i + m).contains(&k)).count() as u64;
            for k in 0..n + m {
                let low = V::LOW_BIAS.wrapping_mul(pairs(k));
                let high = V::HIGH_BIAS.wrapping_mul(if k == 0 { 0 } else { pairs(k - 1) });
                let want = offset.wrapping_sub(low).wrapping_sub(high);
                assert_eq!(columns::raw_correction::<V>(k, n, m), want, "{n} by {m}, column {k}");
            }
        }
    }
}

/// Tests [`vector::Lanes::transpose_pairs`] against its description.
#[test]
fn pairs_of_rows_are_transposed() {
    fn check<V: Lanes>() {
        let Some(proof) = V::proof() else { return };
        let half = V::LANES / 2;
        let rows: Vec<u64> = (0..(V::LANES * half) as u64).collect();
        let mut vectors = vec![V::splat(proof, 0); half];
        vector::words_mut(&mut vectors).copy_from_slice(&rows);
        V::transpose_pairs(&mut vectors);
        for (i, &word) in vector::words(&vectors).iter().enumerate() {
            let (j, lane) = (i / V::LANES, i % V::LANES);
            assert_eq!(word, rows[half * vector::PAIR_ROWS[lane] + j], "word {j}, lane {lane}");
        }
    }
    check::<portable::Portable<true>>();
    check::<portable::Portable<true, 30>>();
    #[cfg(target_arch = "x86_64")]
    {
        check::<avx2::Avx2>();
        check::<avx2_words::Avx2Words>();
        check::<ifma::Ifma>();
    }
}

/// Tests factors whose limbs are as large as possible. Columns then reach their largest values.
#[test]
fn the_largest_products() {
    for n in short_widths().chain([104, 255, 256]) {
        let ones = vec![u32::MAX; 9 * n];
        check_products(&ones, Some(&ones), [n, n], 9);
        check_products(&ones, None, [n, n], 9);
    }
}

/// Compares powers on all paths with powers limb by limb.
fn check_powers(numbers: [&[u32]; 3], widths: [usize; 3], count: usize) {
    let operands: [Operand; 3] = std::array::from_fn(|i| {
        let (x, width) = (numbers[i], widths[i]);
        Operand::new(x, width, x.len() == width && count > 1)
    });
    let width = widths[2];
    let want: Vec<(Vec<u32>, u8)> = (0..count)
        .map(|i| {
            let [a, e, m] = operands.map(|x| limbs_of(x.row(i)));
            let power = limbs::pow_mod(&a, &e, &m);
            let is_zero = power.is_none();
            let mut power = power.unwrap_or_default();
            power.resize(width.div_ceil(2), 0);
            let mut row = vec![0; width];
            store(&mut row, &power);
            (row, u8::from(is_zero))
        })
        .collect();
    for path in paths().filter(|path| path.fits(widths[0], width)) {
        let (mut x, mut flags) = (vec![7; count * width], vec![7; count]);
        path.pow_mod(operands, Rows::new(&mut x, width), &mut flags);
        for (i, (row, flag)) in want.iter().enumerate() {
            let [a, e, m] = operands.map(|x| x.row(i));
            let got = (&x[i * width..][..width], flags[i]);
            let place = format!("{path:?}, number {i} of {count}: {a:x?}^{e:x?} mod {m:x?}");
            assert_eq!(got, (&row[..], *flag), "{place}");
        }
    }
}

#[test]
fn powers_are_those_limb_by_limb() {
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for n in (1usize..=28).chain([31, 32, 40, 41, 64, 65]) {
        for (parity, e) in [(true, n.min(6)), (true, 1), (false, n.min(3))] {
            let count = rng.random_range(1..20);
            let base = [n, n, n.div_ceil(2)][rng.random_range(0..3)];
            let widths = [base, e, n];
            let shared = rng.random_range(0..4);
            let mut operands: Vec<Vec<u32>> = (0..3)
                .map(|i| numbers(&mut rng, if i == shared { 1 } else { count }, widths[i]))
                .collect();
            if parity {
                for m in operands[2].chunks_mut(n) {
                    m[0] |= 1;
                }
            }
            let [a, e, m] = [0, 1, 2].map(|i| &operands[i][..]);
            check_powers([a, e, m], widths, count);
        }
    }
}

/// Tests moduli of all ones and just above a power of two, with the largest bases. Quotients and
/// residues then reach their largest values.
#[test]
fn powers_of_the_largest_numbers() {
    for n in [1, 2, 3, 8, 13, 16, 20, 26, 32, 52, 53] {
        let ones = vec![u32::MAX; n];
        let mut next_to_power = vec![0; n];
        next_to_power[n - 1] = 1 << 31;
        next_to_power[0] |= 1;
        let mut even = ones.clone();
        even[0] = 0;
        let moduli = [&ones[..], &next_to_power, &even].concat();
        let bases = [&ones[..], &ones, &ones].concat();
        check_powers([&bases, &[u32::MAX, u32::MAX, 5], &moduli], [n, 1, n], 3);
    }
    // The widest moduli, and one that makes the carries between columns as large as possible.
    for n in [128, 255, 256] {
        let ones = vec![u32::MAX; n];
        let mut sparse = ones.clone();
        sparse[..2].copy_from_slice(&[1, 0]);
        let moduli = [&ones[..], &sparse, &sparse].concat();
        let bases = [&ones[..], &ones, &sparse].concat();
        check_powers([&bases, &[6, 3, 5], &moduli], [n, 1, n], 3);
    }
}

/// Tests powers modulo 2^k·o for all k up to 70, of even and odd bases, with long and short
/// exponents.
#[test]
fn powers_modulo_even_numbers() {
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    for k in 0..=70usize {
        let mut m = numbers(&mut rng, 8, 5);
        for m in m.chunks_mut(5) {
            m[..k / 32].fill(0);
            m[k / 32] = (m[k / 32] | 1) << (k % 32);
        }
        let mut a = numbers(&mut rng, 8, 5);
        a[20] &= !3;
        let mut e = numbers(&mut rng, 8, 3);
        e[..9].copy_from_slice(&[63, 0, 0, 64, 0, 0, 0, 0, 1]);
        check_powers([&a, &e, &m], [5, 3, 5], 8);
    }
}

/// Returns the paths of this processor that are not for tests only.
pub(super) fn measured_paths() -> impl Iterator<Item = Path> {
    paths().filter(|path| !matches!(path, Path::Portable | Path::PortableSmall))
}

/// Prints ns per product, square and power, one after the other and across lanes, on one thread.
#[test]
#[ignore = "a measurement"]
fn speed() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(print_speed);
}

fn print_speed() {
    use crate::cpu::powers::pow_mod_one_by_one;

    let paths: Vec<Path> = measured_paths().collect();
    println!("ns a number, one after the other, then by {paths:?}: products, squares, powers");
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let exact = [64usize, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192];
    let between = [288, 320, 352, 384, 480, 544, 640, 832, 960, 1120, 1792, 2560, 3584];
    for bits in exact.into_iter().chain(between) {
        let n = bits / 32;
        // Operands and results have a few hundred KiB, which fit in the second-level cache.
        let count = ((1usize << 18) / (4 * bits / 8)).next_multiple_of(8);
        let (a, b) = (numbers(&mut rng, count, n), numbers(&mut rng, count, n));
        let (x, y) = (Operand::new(&a, n, false), Operand::new(&b, n, false));
        let mut out = vec![0; 2 * n * count];
        let mut row = format!("{bits:5}");
        let mut print = |count: usize, work: &mut dyn FnMut(Option<Path>)| {
            print_times(&paths, count, &mut row, work);
        };
        print(count, &mut |path| match path {
            None => multiply_one_by_one(Part::Full, x, y, &mut out),
            Some(path) => path.multiply(Part::Full, x, Some(y), &mut out),
        });
        print(count, &mut |path| match path {
            None => square_one_by_one(Part::Full, x, &mut out),
            Some(path) => path.multiply(Part::Full, x, None, &mut out),
        });
        let count = 16;
        let mut m = b[..n * count].to_vec();
        for m in m.chunks_mut(n) {
            m[0] |= 1;
        }
        let [a, e] = [&a, &b].map(|x| Operand::new(&x[..n * count], n, false));
        let m = Operand::new(&m, n, false);
        let mut flags = vec![0; count];
        print(count, &mut |path| {
            let x = Rows::new(&mut out[..n * count], n);
            match path {
                None => pow_mod_one_by_one(a, e, m, x, &mut flags),
                Some(path) => path.pow_mod([a, e, m], x, &mut flags),
            }
        });
        println!("{row}");
    }
}

/// Appends to `row` the median times in ns that `work` takes per number, for `count` numbers one
/// after the other and by `paths`. The methods take turns.
fn print_times(paths: &[Path], count: usize, row: &mut String, work: &mut dyn FnMut(Option<Path>)) {
    let methods: Vec<_> = [None].into_iter().chain(paths.iter().map(|&p| Some(p))).collect();
    let mut times = vec![vec![]; methods.len()];
    let begin = std::time::Instant::now();
    while times[0].len() < 3 || begin.elapsed().as_millis() < 300 {
        for (times, &method) in times.iter_mut().zip(&methods) {
            let start = std::time::Instant::now();
            work(method);
            times.push(start.elapsed().as_secs_f64() * 1e9 / count as f64);
        }
    }
    for mut times in times {
        times.sort_by(f64::total_cmp);
        *row += &format!(" {:10.1}", times[times.len() / 2]);
    }
    *row += "  ";
}
