//! Tests of kernels on the simulator against arithmetic on the CPU.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_device::{Buffer, Cells, Device, DeviceError};
use warpint_natural::limbs;

use super::memory::Numbers;
use super::product::Factors;
use super::{Divide, Gpu, Karatsuba, Method, Ntt, Operand, Part, Quotients, Results, Sum};

pub(super) fn gpu() -> Gpu {
    Gpu::new(&Device::simulator().unwrap())
}

/// Returns numbers that cause long carries, followed by random numbers.
pub(super) fn numbers(rng: &mut ChaCha8Rng, count: usize, limbs: usize) -> Vec<Vec<u32>> {
    let mut numbers = vec![
        vec![u32::MAX; limbs],
        vec![0; limbs],
        [vec![1], vec![0; limbs - 1]].concat(),
        (0..limbs).map(|j| if j % 2 == 0 { u32::MAX } else { 0 }).collect(),
        [vec![0; limbs / 2], vec![u32::MAX; limbs - limbs / 2]].concat(),
        [vec![u32::MAX; limbs / 2], vec![0; limbs - limbs / 2]].concat(),
        [vec![0; limbs - 1], vec![1 << 31]].concat(),
    ];
    numbers.truncate(count);
    while numbers.len() < count {
        let runs = rng.random::<bool>();
        let mut word = || match rng.random_range(0..4) {
            0 if runs => u32::MAX,
            1 if runs => 0,
            _ => rng.random(),
        };
        numbers.push((0..limbs).map(|_| word()).collect());
    }
    numbers
}

pub(super) fn upload(gpu: &Gpu, numbers: &[Vec<u32>]) -> Buffer<u32> {
    gpu.device().upload(&numbers.concat()).unwrap()
}

pub(super) fn wide(x: &[u32]) -> Vec<u64> {
    let word = |pair: &[u32]| u64::from(pair[0]) | u64::from(*pair.get(1).unwrap_or(&0)) << 32;
    x.chunks(2).map(word).collect()
}

fn product(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut product: Vec<u32> = limbs::mul(&wide(a), &wide(b))
        .into_iter()
        .flat_map(|limb| [limb as u32, (limb >> 32) as u32])
        .collect();
    product.resize(a.len() + b.len(), 0);
    product
}

/// Returns the factors in the buffers a and b, with contiguous numbers of `a_limbs` and `b_limbs`
/// limbs.
fn factors<'a>(
    (a, a_limbs): (&'a Buffer<u32>, usize),
    (b, b_limbs): (&'a Buffer<u32>, usize),
    count: usize,
    out: &'a mut Buffer<u32>,
) -> Factors<'a> {
    let (a, b) = (Numbers::new(a.view(..), a_limbs), Numbers::new(b.view(..), b_limbs));
    Factors { a, b, count, out: out.cells(..) }
}

fn check_product(gpu: &Gpu, part: Part, a_limbs: usize, b_limbs: usize, levels: u32, count: usize) {
    let Some(shape) = Karatsuba::new(part, a_limbs, Some(b_limbs), levels) else { return };
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let (a, mut b) = (numbers(&mut rng, count, a_limbs), numbers(&mut rng, count, b_limbs));
    b.rotate_left(count / 3);
    let (first, out_limbs) = part.limbs(a_limbs, b_limbs);
    let mut out = gpu.device().alloc::<u32>(count * out_limbs).unwrap();
    let (a_data, b_data) = (upload(gpu, &a), upload(gpu, &b));
    gpu.karatsuba(&shape, factors((&a_data, a_limbs), (&b_data, b_limbs), count, &mut out))
        .unwrap();
    let found = out.download().unwrap();
    for (i, found) in found.chunks(out_limbs).enumerate() {
        let expected = &product(&a[i], &b[i])[first..first + out_limbs];
        assert_eq!(found, expected, "{shape:?}: {:x?} · {:x?}", a[i], b[i]);
    }
}

fn check_square(gpu: &Gpu, part: Part, limbs: usize, levels: u32, count: usize) {
    let Some(shape) = Karatsuba::new(part, limbs, None, levels) else { return };
    let a = numbers(&mut ChaCha8Rng::seed_from_u64(8), count, limbs);
    let (first, out_limbs) = part.limbs(limbs, limbs);
    let mut out = gpu.device().alloc::<u32>(count * out_limbs).unwrap();
    let data = upload(gpu, &a);
    gpu.karatsuba(&shape, factors((&data, limbs), (&data, limbs), count, &mut out)).unwrap();
    let found = out.download().unwrap();
    for (a, found) in a.iter().zip(found.chunks(out_limbs)) {
        assert_eq!(found, &product(a, a)[first..first + out_limbs], "{shape:?}: {a:x?} squared");
    }
}

#[test]
fn products_in_one_thread() {
    let gpu = gpu();
    one_thread_at(&gpu, &[1, 2, 5, 17, 32]);
    check_product(&gpu, Part::Full, 32, 3, 0, 20);
    check_product(&gpu, Part::Low, 3, 9, 0, 20);
    check_product(&gpu, Part::High, 3, 9, 0, 20);
}

#[test]
#[ignore = "slow: more widths"]
fn products_of_more_widths_in_one_thread() {
    one_thread_at(&gpu(), &[3, 8]);
}

fn one_thread_at(gpu: &Gpu, widths: &[usize]) {
    for &limbs in widths {
        for part in [Part::Full, Part::Low, Part::High] {
            check_product(gpu, part, limbs, limbs, 0, 140);
            check_square(gpu, part, limbs, 0, 140);
        }
    }
}

#[test]
fn products_by_the_identity() {
    let gpu = gpu();
    identity_at(&gpu, &[(2, 1), (3, 1), (33, 1), (30, 2), (8, 3)]);
    check_product(&gpu, Part::Low, 11, 40, 1, 50);
    check_product(&gpu, Part::Low, 130, 130, 4, 5);
    check_square(&gpu, Part::Low, 40, 2, 50);
    check_product(&gpu, Part::High, 40, 40, 2, 50);
    check_product(&gpu, Part::Full, 40, 9, 2, 50);
    check_product(&gpu, Part::Full, 130, 130, 4, 5);
}

#[test]
#[ignore = "slow: more widths and more levels"]
fn more_products_by_the_identity() {
    let gpu = gpu();
    identity_at(&gpu, &[(8, 1), (64, 1), (4, 2), (128, 2), (77, 3)]);
    check_product(&gpu, Part::Low, 200, 200, 5, 3);
    check_product(&gpu, Part::Full, 200, 200, 5, 3);
}

/// Checks products and squares by Karatsuba's identity. `sizes` has pairs of a number of limbs and
/// a number of levels.
fn identity_at(gpu: &Gpu, sizes: &[(usize, u32)]) {
    for &(limbs, levels) in sizes {
        check_product(gpu, Part::Full, limbs, limbs, levels, 50);
        check_square(gpu, Part::Full, limbs, levels, 50);
        check_product(gpu, Part::Low, limbs, limbs, levels, 50);
    }
}

fn check_ntt(gpu: &Gpu, part: Part, a_limbs: usize, b_limbs: usize, primes: usize, count: usize) {
    let shared_memory = gpu.device().info().shared_memory_per_block;
    let shape = |b| Ntt::new(part, a_limbs, b, primes, shared_memory).unwrap();
    check_shape(gpu, part, a_limbs, b_limbs, count, &shape);
}

/// Checks products by the transforms that `shape` returns, and squares if both factors have the
/// same number of limbs.
fn check_shape(
    gpu: &Gpu,
    part: Part,
    a_limbs: usize,
    b_limbs: usize,
    count: usize,
    shape: &dyn Fn(Option<usize>) -> Ntt,
) {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let (mut a, mut b) = (numbers(&mut rng, count, a_limbs), numbers(&mut rng, count, b_limbs));
    b.rotate_left(count / 3);
    // All ones squared are there too; and digits whose elements are as large as they can be.
    b[0].fill(u32::MAX);
    let narrow = warpint_arith::f50::NARROW[0].0;
    let digit = (narrow << 16) + narrow / 2;
    for x in a.iter_mut().zip(b.iter_mut()).skip(1).take(1).flat_map(|(a, b)| [a, b]) {
        for (j, limb) in x.iter_mut().enumerate() {
            *limb = (digit >> (j % 2 * 32)) as u32;
        }
    }
    let product_shape = shape(Some(b_limbs));
    let (first, out_limbs) = part.limbs(a_limbs, b_limbs);
    let mut out = gpu.device().alloc::<u32>(count * out_limbs).unwrap();
    let (a_data, b_data) = (upload(gpu, &a), upload(gpu, &b));
    let (a_rows, b_rows) = ((&a_data, a_limbs), (&b_data, b_limbs));
    gpu.ntt(&product_shape, factors(a_rows, b_rows, count, &mut out)).unwrap();
    let found = out.download().unwrap();
    for (i, found) in found.chunks(out_limbs).enumerate() {
        let expected = &product(&a[i], &b[i])[first..first + out_limbs];
        assert!(found == expected, "{product_shape:?}, product {i}");
    }
    if a_limbs == b_limbs {
        let shape = shape(None);
        gpu.ntt(&shape, factors(a_rows, a_rows, count, &mut out)).unwrap();
        for (a, found) in a.iter().zip(out.download().unwrap().chunks(out_limbs)) {
            assert!(found == &product(a, a)[first..first + out_limbs], "{shape:?}, square");
        }
    }
}

#[test]
fn memory_that_is_too_short_is_refused() {
    let gpu = gpu();
    let [mut short, mut long] = [7, 8].map(|len| gpu.device().alloc::<u32>(len).unwrap());
    let [short, long] = [short.cells(..), long.cells(..)];
    let of = |data| Operand::new(data, 2, false);
    let multiply = |a, b, out: Cells<'_, u32>| gpu.multiply(Part::Low, of(a), of(b), 4, out);
    assert!(multiply(long, long, long).is_ok());
    assert!(multiply(short, long, long).is_err() && multiply(long, short, long).is_err());
    assert!(multiply(long, long, short).is_err());
    let add =
        |a, data, limbs| gpu.add(Sum::Add, of(a), of(long), 4, Results::new(data, limbs), None);
    assert!(add(long, long, 2).is_ok());
    assert!(add(short, long, 2).is_err() && add(long, short, 2).is_err());
    assert!(add(long, long, 1).is_err(), "a sum of fewer limbs");
    // Two limbs are loaded at once.
    let odd = of(long.part(1..));
    let refused = gpu.add(Sum::Add, odd, of(long), 3, Results::new(long, 2), None);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("2 limbs do not begin at a multiple of 8 bytes"), "{refused}");
}

/// Tests that numbers are refused before a launch if the memory is too short for them or if they
/// are not aligned as the kernel requires.
#[test]
fn numbers_anywhere_in_memory_are_checked() {
    let gpu = gpu();
    let data = gpu.device().upload(&[3u32; 32]).unwrap();
    let mut out = gpu.device().upload(&[5u32; 15]).unwrap();
    let refused = |work: &mut dyn FnMut() -> Result<(), DeviceError>| {
        let work = std::panic::AssertUnwindSafe(|| drop(work()));
        std::panic::catch_unwind(work).unwrap_err().downcast_ref::<String>().cloned().unwrap()
    };
    let numbers = Numbers::new(data.view(..), 8);
    let short = numbers.skip(1);
    let found = refused(&mut || gpu.multiply_views(numbers, short, 4, out.cells(..)));
    assert_eq!(found, "numbers of 24 elements, where a kernel needs 32");
    let found = refused(&mut || gpu.multiply_views(short, short, 1, out.cells(..)));
    assert_eq!(found, "products of 15 elements, where a kernel needs 16");
    let found = refused(&mut || {
        let results = Results::new(out.cells(1..), 8);
        gpu.sum_of(Sum::Add, [numbers, numbers], 1, results, None)
    });
    assert_eq!(found, "numbers of 8 limbs, 8 apart, are not aligned");
    let shape = Karatsuba::new(Part::Full, 9, Some(8), 0).unwrap();
    let found = refused(&mut || {
        let of = Factors { a: numbers, b: numbers, count: 1, out: out.cells(..) };
        gpu.karatsuba(&shape, of)
    });
    assert!(found.contains("limbs of factors"), "{found}");
    let found = refused(&mut || {
        numbers.part(4, 5);
        Ok(())
    });
    assert_eq!(found, "a number of 8 elements, where a kernel needs 9");
    assert_eq!(out.download().unwrap(), [5; 15]);
}

#[test]
fn the_widest_products_need_some_shared_memory() {
    let possible = |bits: usize, memory: u32| {
        Method::possible(bits / 32, Some(bits / 32), memory).collect::<Vec<_>>()
    };
    assert_eq!(possible(1 << 20, 227 << 10), [Method::Ntt(11)]);
    assert_eq!(possible(1 << 20, 48 << 10), []);
    assert!(possible(1 << 15, 48 << 10).contains(&Method::Ntt(3)));
}

#[test]
fn products_by_transforms() {
    let gpu = gpu();
    for (limbs, primes) in [(1, 3), (255, 4), (456, 5)] {
        check_ntt(&gpu, Part::Full, limbs, limbs, primes, 11);
    }
    check_ntt(&gpu, Part::Low, 200, 200, 3, 9);
    check_ntt(&gpu, Part::High, 300, 300, 4, 9);
    check_ntt(&gpu, Part::Full, 5, 400, 5, 9);
    check_ntt(&gpu, Part::Full, 700, 820, 4, 3);
    check_ntt(&gpu, Part::Full, 5_800, 5_800, 4, 2);
}

#[test]
#[ignore = "slow: longer numbers"]
fn longer_products_by_transforms() {
    let gpu = gpu();
    for (limbs, primes) in [(130, 3), (368, 4)] {
        check_ntt(&gpu, Part::Full, limbs, limbs, primes, 11);
    }
    check_ntt(&gpu, Part::Full, 300, 77, 3, 9);
    check_ntt(&gpu, Part::Full, 500, 260, 3, 3);
    check_ntt(&gpu, Part::Full, 700, 900, 11, 3);
    check_ntt(&gpu, Part::Full, 16_384, 16_384, 6, 2);
}

#[test]
fn products_by_transforms_modulo_more_primes() {
    transforms_modulo_more_primes(|primes| matches!(primes, 7 | 11));
}

#[test]
#[ignore = "slow: every number of primes"]
fn products_by_transforms_modulo_each_number_of_primes() {
    transforms_modulo_more_primes(|primes| primes > 7 && primes != 11);
}

fn transforms_modulo_more_primes(are_tried: impl Fn(usize) -> bool) {
    let gpu = gpu();
    // Digits that fill all points; with the residues in shared memory or, on a device that has less
    // of it, in global memory.
    for (primes, digit_bits) in super::ntt::digits().filter(|&(primes, _)| are_tried(primes)) {
        for points in [320, 384] {
            let limbs = points / 2 * digit_bits / 32;
            for shared_memory in [227 << 10, 24 << 10] {
                let shape = |b| Ntt::new(Part::Full, limbs, b, primes, shared_memory).unwrap();
                assert_eq!(shape(None).points(), points);
                check_shape(&gpu, Part::Full, limbs, limbs, 3, &shape);
            }
        }
    }
}

/// Tests products that fill a transform of `head` + `tail` points. Some products have factors of
/// very different lengths.
fn products_by_transform(gpu: &Gpu, (head, tail): (usize, usize)) {
    // Digits of 64 bits that fill all points; and in the first factor all of the head.
    check_ntt(gpu, Part::Full, head + tail, head + tail, 3, if head < 1024 { 5 } else { 2 });
    let shorter = tail.max(1);
    check_ntt(gpu, Part::Full, 2 * (head + tail - shorter), 2 * shorter, 3, 2);
}

/// Tests transforms of the shortest length, of the longest length, and of about an eighth of the
/// lengths in between.
#[test]
fn products_by_transforms_of_some_lengths() {
    let (gpu, lengths) = (gpu(), super::ntt::lengths().collect::<Vec<_>>());
    let some = lengths.iter().rev().step_by(8).chain(lengths.first());
    some.for_each(|&length| products_by_transform(&gpu, length));
}

#[test]
#[ignore = "slow: some lengths run in the test above"]
fn products_by_transforms_of_every_length() {
    let gpu = gpu();
    super::ntt::lengths().for_each(|length| products_by_transform(&gpu, length));
}

fn sum(sum: Sum, a: &[u32], b: &[u32], out_limbs: usize) -> (Vec<u32>, u8) {
    let limb = |x: &[u32], j: usize| i64::from(*x.get(j).unwrap_or(&0));
    let mut carry = 0;
    let words = (0..out_limbs).map(|j| {
        let total = match sum {
            Sum::Add => limb(a, j) + limb(b, j) + carry,
            Sum::Subtract => limb(a, j) - limb(b, j) + carry,
        };
        carry = total >> 32;
        total as u32
    });
    (words.collect(), carry.unsigned_abs() as u8)
}

#[test]
fn sums_and_differences() {
    let gpu = gpu();
    let short = [1_usize, 2, 3, 4, 5, 12, 32, 33, 64, 80, 100, 127, 128, 129];
    // The last two are too long for the registers of a block.
    let cases = short.into_iter().chain([512, 1000, 4096, 5000, 8193, 1 << 16]);
    for (i, limbs) in cases.enumerate() {
        let mut rng = ChaCha8Rng::seed_from_u64(9);
        let count = if limbs > 500 { 9 } else { 150 };
        let b_limbs = if i % 3 == 1 { limbs.div_ceil(2) } else { limbs };
        let (a, mut b) = (numbers(&mut rng, count, limbs), numbers(&mut rng, count, b_limbs));
        // 1 more than all ones, then 1 less than nothing.
        b.rotate_left(2);
        let (a_data, b_data) = (upload(&gpu, &a), upload(&gpu, &b));
        let a_operand = Operand::new(&a_data, limbs, false);
        let b_operand = Operand::new(&b_data, b_limbs, false);
        for kind in [Sum::Add, Sum::Subtract] {
            let mut out = gpu.device().alloc::<u32>(count * limbs).unwrap();
            let mut carries = gpu.device().alloc::<u8>(count).unwrap();
            gpu.add(
                kind,
                a_operand,
                b_operand,
                count,
                Results::new(&mut out, limbs),
                Some(&mut carries),
            )
            .unwrap();
            let (found, carries) = (out.download().unwrap(), carries.download().unwrap());
            for (j, found) in found.chunks(limbs).enumerate() {
                let expected = sum(kind, &a[j], &b[j], limbs);
                assert_eq!(
                    (found, carries[j]),
                    (&expected.0[..], expected.1),
                    "{kind:?} {limbs} {j}"
                );
            }
        }
    }
}

pub(super) fn narrow(x: &[u64], limbs: usize) -> Vec<u32> {
    let mut words: Vec<u32> = x.iter().flat_map(|&x| [x as u32, (x >> 32) as u32]).collect();
    words.resize(limbs, 0);
    words
}

/// Returns dividends that are hard for the divisor v: multiples q·v, and numbers q·v − 1.
fn near_products(rng: &mut ChaCha8Rng, v: &[u32], u_limbs: usize) -> Vec<Vec<u32>> {
    let q_limbs = u_limbs - v.len().min(u_limbs);
    let q = numbers(rng, 9, q_limbs.max(2)).into_iter().map(|mut q| {
        q.truncate(q_limbs);
        q
    });
    let products = q.flat_map(|q| {
        let mut product = limbs::mul(&wide(v), &wide(&q));
        let exact = narrow(&product, u_limbs);
        limbs::sub_assign(&mut product, &[1]);
        [exact, narrow(&product, u_limbs)]
    });
    products.collect()
}

fn check_division(gpu: &Gpu, shape: &Divide, u_limbs: usize, v_limbs: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let mut divisors = numbers(&mut rng, 24, v_limbs);
    for (i, v) in divisors.iter_mut().enumerate().skip(8) {
        // Of all lengths, and in between powers of B with a little more or less.
        let limbs = rng.random_range(1..=v_limbs);
        v[limbs..].fill(0);
        if i % 3 == 0 {
            v[..limbs].fill(if i % 2 == 0 { 0 } else { u32::MAX });
            v[limbs - 1] = 1 << (i % 32);
            v[0] ^= 1;
        }
    }
    let mut pairs: Vec<(Vec<u32>, Vec<u32>)> = vec![];
    for v in divisors {
        for u in numbers(&mut rng, 12, u_limbs) {
            pairs.push((u, v.clone()));
        }
        pairs.extend(near_products(&mut rng, &v, u_limbs).into_iter().map(|u| (u, v.clone())));
    }
    let count = pairs.len();
    let (u, v): (Vec<_>, Vec<_>) = pairs.iter().cloned().unzip();
    let (u_data, v_data) = (upload(gpu, &u), upload(gpu, &v));
    let mut quotients = gpu.device().alloc::<u32>(count * u_limbs).unwrap();
    let mut remainders = gpu.device().alloc::<u32>(count * v_limbs).unwrap();
    let mut flags = gpu.device().alloc::<u8>(count).unwrap();
    let operand = |data, limbs| Operand::new(data, limbs, false);
    let to = Quotients {
        quotient: Some(&mut quotients),
        remainder: Some(&mut remainders),
        flags: Some(&mut flags),
        exact: false,
    };
    let (a, b) = (operand(&u_data, u_limbs), operand(&v_data, v_limbs));
    gpu.divide_by_limbs(shape, a, b, count, to).unwrap();
    let (quotient, remainder) = (quotients.download().unwrap(), remainders.download().unwrap());
    let by_zero = flags.download().unwrap();
    for (i, (u, v)) in pairs.iter().enumerate() {
        let q = &quotient[i * u_limbs..][..u_limbs];
        let r = &remainder[i * v_limbs..][..v_limbs];
        let is_zero = v.iter().all(|&limb| limb == 0);
        assert_eq!(by_zero[i], u8::from(is_zero));
        let (expected_q, expected_r) =
            if is_zero { (vec![], vec![]) } else { limbs::div_rem(&wide(u), &wide(v)) };
        assert_eq!(q, narrow(&expected_q, u_limbs), "{shape:?}: {u:x?} / {v:x?}");
        assert_eq!(r, narrow(&expected_r, v_limbs), "{shape:?}: {u:x?} mod {v:x?}");
    }
    let (quotient_again, flags_again) = (Some(&mut quotients), Some(&mut flags));
    let to =
        Quotients { quotient: quotient_again, remainder: None, flags: flags_again, exact: true };
    gpu.divide_by_limbs(shape, a, b, count, to).unwrap();
    let (exact, flags) = (quotients.download().unwrap(), flags.download().unwrap());
    for (i, r) in remainder.chunks(v_limbs).enumerate() {
        let is_exact = by_zero[i] == 0 && r.iter().all(|&limb| limb == 0);
        assert_eq!(flags[i], u8::from(!is_exact));
        for (j, q) in quotient[i * u_limbs..][..u_limbs].iter().enumerate() {
            assert_eq!(exact[i * u_limbs + j], if is_exact { *q } else { 0 });
        }
    }
}

#[test]
fn quotients_limb_by_limb() {
    let gpu = gpu();
    let shared_memory = gpu.device().info().shared_memory_per_block;
    let widths = [
        (1, 1),
        (2, 1),
        (4, 2),
        (3, 5),
        (7, 3),
        (8, 8),
        (16, 8),
        (32, 16),
        (9, 30),
        (40, 34),
        (64, 40),
        (90, 70),
        (20, 130),
        (140, 130),
        (200, 257),
    ];
    for (u, v) in widths {
        check_division(&gpu, &Divide::new(u, v, shared_memory).unwrap(), u, v);
    }
}
