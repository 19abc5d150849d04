//! Squares and products on the simulator against exact integers on the CPU.

use rand::{RngExt, SeedableRng};
use warpint_device::Device;

use super::limits::Limited;
use super::shape::TRIED;
use super::{HybridFastOn, HybridOn, Shape, limits};
use crate::engine::goldilocks::Goldilocks;
use crate::engine::gpu::{Arithmetic as _, Machine, Products, Shape as _};
use crate::engine::hybrid::{Hybrid, HybridFast};
use crate::engine::{BuildOptions, Engine, EngineError, EngineFamily, Step};
use crate::layout::WordLayout;
use crate::{Residue, Shift};
use warpint_natural::limbs;

/// Computes squares, a product, and squares minus 2 of a shifted residue, in a shape and by exact
/// integers, and compares the results.
fn computes_rightly<A: Limited>(device: &Device, shape: Shape, p: u32) {
    let length = 2 * shape.points();
    let layout = WordLayout::new(p, length);
    let products =
        Products::<A>::new(device, layout, shape, BuildOptions::new(1, 1).into()).unwrap();
    let mut engine = Machine::new(device, layout, 3, products).unwrap();
    let holds = |n: &usize| Goldilocks.margin(p, *n).is_ok_and(|margin| margin.bits >= 0.0);
    let exact = Goldilocks.lengths(1, 2 * length).into_iter().find(holds).unwrap();
    let mut oracle = Goldilocks.build(p, exact, BuildOptions::new(3, 1)).unwrap();
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(u64::from(p));
    let mut random = || {
        let limbs: Vec<u64> = (0..p.div_ceil(64)).map(|_| rng.random()).collect();
        Residue::from_limbs(p, &limbs)
    };
    let [x, y, z] = [random(), random(), random()];
    let shift = Shift::new(p / 3, p);
    for engine in [&mut engine as &mut dyn Engine, oracle.as_mut()] {
        engine.write(0, &x, Shift::ZERO).unwrap();
        engine.write(1, &y, Shift::ZERO).unwrap();
        engine.write(2, &z, shift).unwrap();
        engine.square(0, 3, Step::Square, Shift::ZERO).unwrap();
        engine.mul(1, 0, 1).unwrap();
        engine.square(2, 2, Step::SquareMinusTwo, shift).unwrap();
        engine.square(0, 2, Step::SquareTimes(3), Shift::ZERO).unwrap();
    }
    let shifts = [Shift::ZERO, Shift::ZERO, shift.after_squarings(2, p)];
    for (reg, shift) in shifts.into_iter().enumerate() {
        let [found, expected] =
            [&mut engine as &mut dyn Engine, oracle.as_mut()].map(|e| e.read(reg, shift));
        assert_eq!(found, expected, "{shape}, M{p}, register {reg}");
    }
    let measured = engine.health().round_off.unwrap();
    assert!(measured.max < 1.0 / 64.0, "{measured:?}");
}

#[test]
fn shapes_compute_rightly() {
    let device = Device::simulator().unwrap();
    // Shapes with `s` have the order of launches of long transforms.
    for (name, bits) in [
        ("16x16 2.2.4/2.4.2 8/8 1 128.128", 28.3),
        ("16x16 2.2.4/2.4.2 8/8 1 128.128 s", 28.3),
        ("64x32 4.4.4/4.4.2 4/4 1 128.128", 27.9),
        ("32x24 4.4.2/3.4.2 4/4 2 128.128", 27.7),
        ("32x168 2.4.4/6.7.4 2/4 1 128.128", 25.1),
        ("32x168 2.4.4/6.7.4 2/4 1 128.128 s", 25.1),
        ("16x672 2.2.4/2.21.16 4/4 1 128.128", 25.3),
        ("16x384 2.4.2/2.24.8 4/4 1 128.128", 26.5),
        ("16x704 2.4.2/22.4.8 4/4 1 128.128", 25.3),
        ("16x1232 2.2.4/11.14.8 4/4 1 128.128", 24.9),
    ] {
        let shape = Shape(name.parse().ok().unwrap());
        assert!(shape.is_sound(), "{name}");
        let p = (bits * 2.0 * shape.points() as f64) as u32 | 1;
        computes_rightly::<Hybrid>(&device, shape, p);
    }
}

#[test]
fn words_of_31_bits_compute_rightly() {
    let device = Device::simulator().unwrap();
    for name in ["16x16 2.2.4/2.4.2 8/8 1 128.128", "32x168 2.4.4/6.7.4 2/4 1 128.128"] {
        let shape = Shape(name.parse().ok().unwrap());
        let p = 62 * shape.points() as u32 - 1;
        computes_rightly::<HybridFast>(&device, shape, p);
    }
}

#[test]
fn fast_plans_have_words_of_up_to_31_bits() {
    let families: [&dyn EngineFamily; 2] = [
        &HybridFastOn::new(Device::simulator().unwrap()),
        &HybridOn::new(Device::simulator().unwrap()),
    ];
    assert!(families[0].is_on_request() && !families[0].is_exact());
    assert!(!families[1].is_on_request() && families[1].is_exact());
    for length in families[0].lengths(1 << 12, super::LONGEST) {
        let p = (31 * length as u32).min(*families[0].exponent_range().end()) - 1;
        let [fast, other] = families.map(|family| family.margin(p, length));
        let fast = fast.unwrap();
        assert!(fast.bits > 2.9 && !fast.proven, "{length}: {fast:?}");
        assert!(!other.is_ok_and(|margin| margin.bits >= 0.0), "{length}");
        assert!(families[0].margin(31 * length as u32 + 1, length).is_err());
    }
}

#[test]
fn norms_and_distances_have_limits() {
    let shape = |n| Shape::best(n, 227 << 10).unwrap();
    for length in [512, 1 << 12, 1 << 18, 3 << 20] {
        let layout = WordLayout::new(31 * length as u32 - 1, length);
        let limits = HybridFast::limits(&layout, &shape(length));
        let random = super::usual_norm(layout.exponent(), length);
        let any = super::bound::norm_squared(layout.exponent(), length, 1.0 / 64.0);
        assert!(limits.norm > 1.9 * random && limits.largest_distance(random) == 0.25, "{length}");
        // At short lengths all digits have proven products, at long ones not the largest.
        assert_eq!(limits.norm > any, length <= 1 << 12, "{length}");
        let proven = Hybrid::limits(&layout, &shape(length));
        assert!(proven.norm <= limits.norm && proven.largest_distance(proven.norm) == 0.5);
        assert!(proven.largest_distance(0.0) < 0.01);
    }
    let limits = limits::Limits { norm: 1.0, distance: Some(0.25) };
    assert_eq!(limits.largest_distance(f64::INFINITY), 0.25);
}

#[test]
fn plans_use_the_factors_of_usual_shapes() {
    for n in [
        5 << 15,
        7 << 15,
        1 << 18,
        5 << 17,
        7 << 17,
        5 << 18,
        3 << 19,
        5 << 20,
        3 << 20,
        77 << 16,
        21 << 18,
        3 << 22,
    ] {
        let shape = Shape::best(n, 227 << 10).unwrap();
        let (usual, exact) = (super::usual_error_factor(n), super::error_factor(&shape));
        assert!((0.85..1.0).contains(&(exact / usual)), "{n}: {shape} {exact} {usual}");
    }
    let mut worst = 0f64;
    for n in HybridOn::new(Device::simulator().unwrap()).lengths(0, 1 << 24) {
        let shape = Shape::best(n, 227 << 10).unwrap();
        let (usual, exact) = (super::usual_error_factor(n), super::error_factor(&shape));
        println!("{n}: {shape} {exact:.1} {usual:.1} {:.3}", exact / usual);
        worst = worst.max(exact / usual);
    }
    assert!(worst < 1.0, "{worst}");
}

/// Squares a spectrum that is zero except for the real part of one complex point, which is `value`.
/// Returns the result of `sync`.
fn judged<A: Limited>(value: f64) -> Result<(), EngineError> {
    let device = Device::simulator().unwrap();
    let layout = WordLayout::new(11_213, 512);
    let shape = Shape::best(layout.len(), device.info().shared_memory_per_block).unwrap();
    let mut products =
        Products::<A>::new(&device, layout, shape, BuildOptions::new(1, 1).into()).unwrap();
    let mut points = vec![0u64; A::spectrum_points(&shape)];
    points[10] = value.to_bits();
    products.spectrum.upload(&points).unwrap();
    let mut digits = device.upload(&vec![0i32; layout.len()]).unwrap();
    products.prepare(Step::Square, Shift::ZERO, true).unwrap();
    products.spectrum_to_digits(&mut digits, Step::Square).unwrap();
    products.sync()
}

#[test]
fn transforms_that_contradict_each_other_are_an_error() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e200, 1e30, 1e16, 1e9] {
        for result in [judged::<Hybrid>(value), judged::<HybridFast>(value)] {
            assert!(matches!(result, Err(EngineError::RoundOff { .. })), "{value}: {result:?}");
        }
    }
    assert_eq!([judged::<Hybrid>(0.0), judged::<HybridFast>(0.0)], [Ok(()), Ok(())]);
}

#[test]
fn exponents_of_records_have_margins() {
    for (p, n) in [
        (6_972_593, 1 << 18),
        (43_112_609, 3 << 19),
        (82_589_933, 3 << 20),
        (136_279_841, 21 << 18),
        (332_192_831, 3 << 22),
    ] {
        let bits = super::spare_bits(p, n);
        assert!((0.0..8.0).contains(&bits), "{p}: {bits}");
    }
}

#[test]
fn shapes_that_were_tried_come_first() {
    for (i, (n, name)) in TRIED.into_iter().enumerate() {
        let shape = Shape(name.parse().ok().unwrap());
        assert!(shape.is_sound() && shape.fits(227 << 10) && 2 * shape.points() == n, "{name}");
        assert_eq!(shape.to_string(), name);
        if TRIED[..i].iter().all(|(length, _)| *length != n) {
            assert_eq!(Shape::best(n, 227 << 10).unwrap(), shape, "{n}");
        }
    }
}

#[test]
fn blocks_of_many_threads_have_two_pairs_of_exact_rows() {
    for (name, pairs) in [
        ("512x1024 8.8.8/16.16.4 4/8 1 128.128", 2),
        ("512x512 8.8.8/16.8.4 4/4 1 128.128", 1),
        ("1024x896 8.16.8/14.8.8 4/4 1 128.128", 1),
        ("512x1280 8.8.8/10.16.8 2/4 1 80.128", 1),
        ("512x2048 8.8.8/16.16.8 4/4 1 128.128", 1),
        ("512x3072 8.8.8/12.16.16 2/4 1 128.128 s", 1),
        ("512x3072 8.8.8/16.24.8 4/4 1 80.128 s", 2),
        ("512x4928 8.8.8/22.28.8 4/4 1 80.128 s", 2),
        ("512x5376 8.8.8/16.21.16 4/4 1 80.128 s", 1),
        ("2048x3072 16.16.8/16.24.8 4/4 1 128.128", 2),
    ] {
        assert_eq!(Shape(name.parse().ok().unwrap()).exact_pairs(), pairs, "{name}");
    }
}

#[test]
fn blocks_of_exact_rows_have_all_pairs_and_fit_into_memory() {
    let lengths =
        TRIED.map(|(n, _)| n).into_iter().chain([9 << 17, 33 << 15, 11 << 18, 7 << 19, 1 << 12]);
    for (n, shared_memory) in lengths.flat_map(|n| [64, 99, 227].map(|kib| (n, kib << 10))) {
        for shape in Shape::known(n, shared_memory).chain(Shape::fitting(n, shared_memory)) {
            let (pairs, blocks) = (shape.exact_pairs(), shape.exact_row_blocks());
            assert!(
                shape.rows().is_multiple_of(2 * pairs) && blocks * pairs > shape.rows() / 2,
                "{shape}"
            );
            assert!(shape.exact_row_shared_bytes() <= shared_memory, "{shape}");
            // Results of `forward_exact_rows` follow the two spectra.
            let lines = (2 * blocks * pairs * shape.columns()) as usize;
            assert!(3 * shape.points() + lines <= Hybrid::factor_points(&shape), "{shape}");
        }
    }
}

#[test]
fn rows_of_long_transforms_compute_rightly() {
    let device = Device::simulator().unwrap();
    for (name, bits) in [
        ("16x1280 2.4.2/10.16.8 4/4 1 128.128", 25.1),
        ("16x1536 2.4.2/12.16.8 4/4 1 128.128", 25.0),
        ("16x2048 2.4.2/16.16.8 4/4 1 128.128", 25.0),
        ("16x4928 2.4.2/22.28.8 4/4 1 128.128 s", 24.5),
        ("16x3072 2.4.2/12.16.16 4/4 1 128.128 s", 24.8),
    ] {
        let shape = Shape(name.parse().ok().unwrap());
        let p = (bits * 2.0 * shape.points() as f64) as u32 | 1;
        computes_rightly::<Hybrid>(&device, shape, p);
    }
}

#[test]
fn lengths_have_shapes() {
    let family = HybridOn::new(Device::simulator().unwrap());
    let lengths = family.lengths(1, 1 << 24);
    for n in [1 << 18, 3 << 19, 3 << 20, 21 << 18, 3 << 22, 1 << 12, 5 << 12, 5 << 18, 5 << 21] {
        assert!(lengths.contains(&n), "{n} {lengths:?}");
    }
}

/// Returns residues whose digits have the largest magnitude, with several patterns of signs, so that
/// the words of squares and the carries are as large as they can be.
fn extremes(p: u32, n: usize) -> Vec<Residue> {
    let layout = WordLayout::new(p, n);
    let signs: [fn(usize) -> bool; 5] =
        [|_| true, |_| false, |j| j % 2 == 0, |j| j % 4 < 2, |j| j * j / 7 % 2 == 0];
    let digit = |j: usize, negative: bool| {
        let half = 1i32 << layout.bits(j) >> 1;
        if negative { -half } else { half - 1 }
    };
    let of = |sign: fn(usize) -> bool| {
        layout.residue(&(0..n).map(|j| digit(j, sign(j))).collect::<Vec<_>>())
    };
    signs.into_iter().map(of).collect()
}

/// Computes squares, multiples of squares, products and squares of sums of the largest digits in a
/// shape, and compares the results with exact integers. Returns how many results the engine refused.
fn refused_extremes<A: Limited>(device: &Device, shape: Shape, p: u32) -> usize {
    let length = 2 * shape.points();
    let layout = WordLayout::new(p, length);
    let products =
        Products::<A>::new(device, layout, shape, BuildOptions::new(1, 1).into()).unwrap();
    let mut engine = Machine::new(device, layout, 3, products).unwrap();
    let mul =
        |x: &Residue, y: &Residue| Residue::from_limbs(p, &limbs::mul_mod(x.limbs(), y.limbs(), p));
    let all = extremes(p, length);
    let mut refused = 0;
    for (i, x) in all.iter().enumerate() {
        let y = &all[(i + 2) % all.len()];
        for times in [1, 3, 4] {
            engine.write(0, x, Shift::ZERO).unwrap();
            engine.write(1, y, Shift::ZERO).unwrap();
            let step = if times == 1 { Step::Square } else { Step::SquareTimes(times) };
            engine.square(0, 2, step, Shift::ZERO).unwrap();
            engine.mul(2, 0, 1).unwrap();
            engine.add(1, 2, 2).unwrap();
            engine.square(1, 1, Step::Square, Shift::ZERO).unwrap();
            let m = Residue::from_u64(p, times.into());
            let once = mul(&mul(x, x), &m);
            let twice = mul(&mul(&once, &once), &m);
            let product = mul(&twice, y);
            let two = Residue::from_u64(p, 2);
            let sum = mul(&product, &two);
            let expected = [twice, mul(&sum, &sum), product];
            for (reg, expected) in expected.iter().enumerate() {
                match engine.read(reg, Shift::ZERO) {
                    Ok(found) => {
                        assert_eq!(&found, expected, "{shape}, M{p}, pattern {i}, {reg}");
                    }
                    Err(EngineError::RoundOff { .. }) => {
                        refused += 1;
                        break;
                    }
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
    refused
}

#[test]
fn the_largest_digits_compute_rightly() {
    let device = Device::simulator().unwrap();
    for name in [
        "16x16 2.2.4/2.4.2 8/8 1 128.128",
        "32x24 4.4.2/3.4.2 4/4 2 128.128",
        "32x40 4.4.2/10.2.2 4/4 2 128.128",
    ] {
        let shape = Shape(name.parse().ok().unwrap());
        let length = 2 * shape.points();
        // With the fewest bits, carries out of one word reach the digits of two more.
        let (fewest, most) = (super::least_exponent(length) | 1, |bits| (bits * length) as u32 - 1);
        // At these lengths the bound holds for any digits, so none may be refused.
        for p in [fewest, most(20), most(29)] {
            assert_eq!(refused_extremes::<Hybrid>(&device, shape, p), 0, "M{p}");
        }
        for p in [most(31), most(31) - 2 * length as u32 / 3] {
            assert_eq!(refused_extremes::<HybridFast>(&device, shape, p), 0, "M{p}");
        }
    }
}

#[test]
fn digits_with_too_large_a_norm_are_refused() {
    let device = Device::simulator().unwrap();
    let length = 1 << 15;
    let p = 31 * length as u32 - 1;
    let layout = WordLayout::new(p, length);
    let shape = Shape::best(length, device.info().shared_memory_per_block).unwrap();
    let products =
        Products::<HybridFast>::new(&device, layout, shape, BuildOptions::new(1, 1).into())
            .unwrap();
    let mut engine = Machine::new(&device, layout, 1, products).unwrap();
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
    let random: Vec<u64> = (0..p.div_ceil(64)).map(|_| rng.random()).collect();
    let largest = extremes(p, length);
    for (x, refused) in [
        (&largest[0], true),
        // The norm is too large also where the errors are small.
        (&largest[2], true),
        // A refused product leaves no trace.
        (&Residue::from_limbs(p, &random), false),
        (&Residue::from_u64(p, 3), false),
    ] {
        engine.write(0, x, Shift::ZERO).unwrap();
        engine.square(0, 1, Step::Square, Shift::ZERO).unwrap();
        match engine.read(0, Shift::ZERO) {
            Ok(found) => {
                assert!(!refused);
                assert!(found == Residue::from_limbs(p, &limbs::mul_mod(x.limbs(), x.limbs(), p)));
            }
            Err(error) => {
                let large =
                    matches!(error, EngineError::RoundOff { measured: 0.5, limit: 0.25, .. });
                assert!(refused && large, "{error}");
            }
        }
    }
}
