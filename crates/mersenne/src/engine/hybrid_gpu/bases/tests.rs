//! Products modulo k·b^n ± 1 on the simulator against exact integers on the CPU.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use warpint_device::Device;

use super::bounds::means;
use super::*;
use crate::engine::EngineFamily as _;
use crate::engine::gpu::OnDevice;
use crate::engine::gpu::compared;
use crate::engine::hybrid::HybridFast;
use crate::engine::hybrid_gpu::HybridOn;
use crate::engine::plain::Plain;
use crate::{EXACT, Plan, PlanRequest, Residue, Shift};

fn has_margin<A: Limited>(number: Number, length: usize) -> bool {
    margin::<A>(number, length).is_ok_and(|margin| margin.bits >= 0.0)
}

/// Returns the number k·b^n + c with the largest n that has a margin in `length` words.
fn longest<A: Limited>(k: u64, b: u32, sign: Sign, length: usize) -> Option<Number> {
    let most = (31.0 * length as f64 / f64::from(b).log2()) as u32;
    (length as u32..most)
        .rev()
        .filter_map(|n| Number::new(k, b, n, sign).ok())
        .find(|&number| has_margin::<A>(number, length))
}

/// Compares squarings, products and sums with those of exact integers. Returns the largest distance of a quotient from
/// an integer.
fn compare<A: Limited>(
    device: &Device,
    number: Number,
    length: usize,
    rng: &mut ChaCha8Rng,
) -> f64 {
    let mut residues = compared::corners(number, rng);
    residues.push(Residue::from_limbs(number, &vec![u64::MAX; number.limbs()]));
    let family = OnDevice::<A>::new(device.clone());
    let health = compared::compare(&family, number, length, &residues, &[3, 4], 40);
    health.round_off.unwrap().max
}

/// Compares residues of the longest numbers k·b^n ± 1, and of shorter ones, for pairs (k, b) in each of the lengths.
fn residues_agree<A: Limited>(lengths: &[usize], forms: &[(u64, u32)]) {
    let device = Device::simulator().unwrap();
    let seed = rand::random();
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut kinds = std::collections::HashSet::new();
    let mut parts = std::collections::BTreeMap::new();
    for &length in lengths {
        for &(k, b) in forms {
            for sign in [Sign::Minus, Sign::Plus] {
                let Some(longest) = longest::<A>(k, b, sign, length) else { continue };
                let n = longest.exponent();
                for n in [n, n - 1, n - 2, n - n / 9] {
                    let Ok(number) = Number::new(k, b, n, sign) else { continue };
                    if !number.is_mersenne() && has_margin::<A>(number, length) {
                        let error = compare::<A>(&device, number, length, &mut rng);
                        let root = Root::new(number, length).unwrap();
                        println!("{number} in {length} words: {error:.5}, {root:?}");
                        assert!(error < 0.1, "{number} in {length} words: {error}");
                        kinds.insert((sign == Sign::Plus, root.negacyclic));
                        *parts.entry((length, root.parts)).or_insert(0) += 1;
                    }
                }
            }
        }
    }
    println!("numbers with a length and parts: {parts:?}");
    assert_eq!(kinds.len(), 4, "{kinds:?}");
    // A number has the fewest parts that it can have.
    for &length in lengths {
        let odd = (length >> length.trailing_zeros()) as u32;
        assert!(odd == 1 || parts.keys().any(|key| key.0 == length && key.1 > 1), "{parts:?}");
    }
}

#[test]
fn residues_agree_with_exact_integers() {
    let forms = [(13, 2), (1, 3), (7, 1500), (10, 1499), (1, 65_537), (1_048_575, 10), (3, 10_007)];
    residues_agree::<Hybrid>(&[1024], &forms);
}

#[test]
fn residues_of_parts_agree_with_exact_integers() {
    residues_agree::<Hybrid>(&[1536, 3584], &[(1, 2), (3, 10_007)]);
    residues_agree::<HybridFast>(&[2560], &[(1, 3), (7, 1500)]);
    residues_agree::<HybridFast>(&[4608], &[(10, 1499)]);
}

#[test]
fn residues_agree_with_exact_integers_for_statistical_margins() {
    residues_agree::<HybridFast>(
        &[1024, 2048],
        &[(13, 2), (7, 1500), (1_048_575, 10), (3, 10_007)],
    );
}

#[test]
fn lengths_have_shapes_with_parts() {
    let family = HybridOn::new(Device::simulator().unwrap());
    for parts in [3, 5, 7] {
        for a in 9..=24 {
            let length = (parts as usize) << a;
            if family.lengths(length, length).is_empty() {
                continue;
            }
            let has = |shape: &Shape| shape.is_wide() && shape.has_parts(parts);
            let found = Shape::suited(length, 227 << 10, 0, has);
            println!("{length} {parts} {}", found.map_or("-".into(), |shape| shape.to_string()));
            assert!(found.is_some(), "{length} words, {parts} parts");
        }
    }
}

#[test]
fn plans_can_be_built() {
    let family = HybridOn::new(Device::simulator().unwrap());
    let mut refused = 0;
    for text in
        ["10^24185-1", "7*3^48378-1", "3*7^26867-1", "10^38015-1", "10^88703-1", "10^18823-1"]
    {
        let number: Number = text.parse().unwrap();
        for length in family.lengths(0, 1 << 15) {
            let is_safe = |margin: Result<Margin, _>| margin.is_ok_and(|margin| margin.bits >= 0.0);
            let shape = shape_for(number, length, 227 << 10, 0);
            let accepted = is_safe(family.margin_for(number, length));
            assert_eq!(
                accepted,
                has_margin::<Hybrid>(number, length) && shape.is_some(),
                "{length}"
            );
            refused += usize::from(!accepted && has_margin::<Hybrid>(number, length));
        }
    }
    assert!(refused > 3, "{refused}");
}

#[test]
fn carries_of_few_words_count() {
    // Fractions of ρ below 1/512: carries out of few words are much larger than those of others, and refused a third of
    // random residues.
    for (text, length) in [
        ("262144*522^8196-1", 4096),
        ("370727*615^8193-1", 4096),
        ("262144*558^4097+1", 2048),
        ("370727*647^4097-1", 2048),
        ("370727*637^16390-1", 8192),
    ] {
        let error = margin::<HybridFast>(text.parse().unwrap(), length).unwrap_err().to_string();
        assert!(error.contains("carries of 2^50"), "{text}: {error}");
    }
}

#[test]
fn words_with_too_large_quotients_have_no_margin() {
    // Weights of up to b in long words of a large base: half of random residues were refused.
    for (text, length) in [("30142^9369+1", 6144), ("30142^9369-1", 6144), ("30142^6246+1", 4096)] {
        let error = margin::<HybridFast>(text.parse().unwrap(), length).unwrap_err().to_string();
        assert!(error.contains("words of 2^77"), "{text}: {error}");
    }
    // The longest words that are not refused have no such quotients.
    let device = Device::simulator().unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    for sign in [Sign::Minus, Sign::Plus] {
        let number = longest::<HybridFast>(1, 30_142, sign, 4096).unwrap();
        let error = compare::<HybridFast>(&device, number, 4096, &mut rng);
        println!("{number}: {error:.5}");
    }
}

#[test]
fn digits_of_generalized_fermat_numbers_agree_with_exact_integers() {
    let device = Device::simulator().unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for length in [1024usize, 2048] {
        // The largest base whose words are below 2^30, and one for which all digits are exact.
        for b in [(1 << 30) - 1, 1_000_003] {
            let number = Number::new(1, b, length as u32, Sign::Plus).unwrap();
            let margin = margin::<Hybrid>(number, length).unwrap();
            assert!(margin.bits >= 0.0, "{number}: {margin:?}");
            let error = compare::<Hybrid>(&device, number, length, &mut rng);
            println!("{number}: {error:.5}, {margin:?}");
            assert!(error < 0.1, "{number}: {error}");
        }
    }
}

#[test]
fn numbers_of_searches_have_lengths() {
    // The margins of `hybrid-fast`, and whether `hybrid` has the length too.
    for (text, length, both) in [
        ("7*1500^1890000-1", 1 << 20, false),
        ("1500^1890000-1", 1 << 20, true),
        ("7*1499^1890000+1", 1 << 20, false),
        ("4*1021^2000000-1", 1 << 20, true),
        ("1021^2300000-1", 1 << 20, false),
        ("5003^1500000+1", 1 << 20, true),
        ("2*10007^690000-1", 1 << 19, true),
        ("919444^1048576+1", 1 << 20, true),
        ("400000001^65536+1", 1 << 16, true),
        ("1000000006^262144+1", 1 << 18, true),
    ] {
        let number: Number = text.parse().unwrap();
        let [fast, exact] =
            [margin::<HybridFast>(number, length), margin::<Hybrid>(number, length)];
        println!("{text}: {fast:?} {exact:?}");
        assert!(fast.is_ok_and(|margin| margin.bits >= 0.0 && !margin.proven), "{text}");
        assert_eq!(exact.is_ok_and(|margin| margin.bits >= 0.0), both, "{text}");
    }
}

#[test]
fn other_numbers_are_refused() {
    for (text, length, reason) in [
        ("1048577*10^9000+1", 2048, "multipliers k"),
        ("10^1000+1", 64, "10000 bits"),
        ("10^20000-1", 2048, "30 bits"),
        ("2147483647^1024+1", 1024, "30 bits"),
        ("65536001^3000-1", 2048, "30 bits"),
    ] {
        let number: Number = text.parse().unwrap();
        let error = margin::<Hybrid>(number, length).unwrap_err();
        assert!(
            matches!(&error, EngineError::Unusable { reason: found, .. } if found.contains(reason)),
            "{error}"
        );
    }
    // Among four exponents in succession, there is one without a third root.
    let without =
        (10_000..10_004).filter_map(|n| Number::new(1, 10, n, Sign::Minus).ok()).find(|&number| {
            let error = margin::<Hybrid>(number, 9 << 10);
            matches!(error, Err(EngineError::Unusable { reason, .. }) if reason.contains("no root"))
        });
    assert!(without.is_some());
    // Weights of up to b make carries too large for long words of large bases.
    for (text, reason) in
        [("100*32749^1600000-1", "carries of 2^50"), ("32749^1153434-1", "words are too short")]
    {
        let error = margin::<HybridFast>(text.parse().unwrap(), 1 << 20).unwrap_err().to_string();
        assert!(error.contains(reason), "{text}: {error}");
    }
}

#[test]
fn coarse_carries_agree_with_exact_integers() {
    let device = Device::simulator().unwrap();
    let seed = rand::random();
    println!("seed {seed}");
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut kinds = std::collections::BTreeMap::new();
    for (length, b) in [(1024, 1500), (1024, 5003), (1536, 10_007), (2560, 12_000), (2048, 25_000)]
    {
        for (k, sign) in [1, 7, 99, 1001, 9_999, 99_999, 1_048_575]
            .into_iter()
            .flat_map(|k| [Sign::Minus, Sign::Plus].map(|sign| (k, sign)))
        {
            let most = (30.0 * length as f64 / f64::from(b).log2()) as u32;
            let numbers = (length as u32..most).step_by(37);
            let numbers = numbers.filter_map(|n| Number::new(k, b, n, sign).ok());
            let units =
                numbers.filter(|number| has_margin::<HybridFast>(*number, length)).filter_map(
                    |number| Some((number, bits_of_unit(&DigitLayout::new(number, length)?))),
                );
            // The number with the largest unit, if there are not yet four with this unit.
            let Some((number, t)) = units.max_by_key(|(_, t)| *t).filter(|(_, t)| *t > 0) else {
                continue;
            };
            let known = kinds.entry((t, sign == Sign::Plus)).or_insert(0);
            if *known < 2 {
                *known += 1;
                let error = compare::<HybridFast>(&device, number, length, &mut rng);
                println!("{number} in {length} words, unit 2^{t}: {error:.5}");
                assert!(error < 0.1, "{number} in {length} words: {error}");
            }
        }
    }
    println!("numbers with a unit 2^t: {kinds:?}");
    assert!(kinds.len() > 4, "{kinds:?}");
}

#[test]
fn carries_that_are_too_large_are_refused() {
    let device = Device::simulator().unwrap();
    let (length, b) = (1usize << 18, 5003u32);
    let number = Number::new(1, b, 392_000, Sign::Minus).unwrap();
    let room = margin::<Hybrid>(number, length).unwrap();
    assert!(room.bits > 1.0, "{room:?}");
    assert!(
        largest_carry(&DigitLayout::new(number, length).unwrap())
            > 1.1 * largest_taken(&DigitLayout::new(number, length).unwrap())
    );
    let family = HybridOn::new(device);
    let mut engine = family.build_for(number, length, BuildOptions::new(1, 1)).unwrap();
    let layout = DigitLayout::new(number, length).unwrap();
    let stored = StoredDigits::new(layout);
    let digits: Vec<i32> = (0..length).map(|w| (b.pow(layout.digits(w)) / 2) as i32).collect();
    let largest = Residue::from_canonical(number, stored.load(&digits));
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let random = compared::corners(number, &mut rng).pop().unwrap();
    let mut oracle = Plain.build_for(number, 1, BuildOptions::new(1, 1)).unwrap();
    // A refused product leaves no trace.
    for (x, refused) in [(&largest, true), (&random, false)] {
        for engine in [engine.as_mut(), oracle.as_mut()] {
            engine.write(0, x, Shift::ZERO).unwrap();
            engine.square(0, 1, Step::Square, Shift::ZERO).unwrap();
        }
        match engine.read(0, Shift::ZERO) {
            Ok(found) => assert!(!refused && found == oracle.read(0, Shift::ZERO).unwrap()),
            Err(error) => {
                assert!(refused && matches!(error, EngineError::RoundOff { .. }), "{error}")
            }
        }
    }
}

#[test]
#[ignore = "prints the table of docs/guides/numbers.md"]
fn table_of_bases() {
    let longest = |b: u32, has: &dyn Fn(Number) -> bool| {
        let most = 30.0 * f64::from(1 << 20) / f64::from(b).log2();
        let candidates = (0..4000).rev().map(|i| (most * f64::from(i) / 4000.0) as u32);
        let mut numbers = candidates.filter_map(|n| Number::new(1, b, n, Sign::Minus).ok());
        numbers.find(|&number| has(number)).map_or(0, Number::exponent)
    };
    for b in [3u32, 10, 509, 1021, 1500, 2039, 4093, 8191, 16_381, 32_749, 65_537, 131_101] {
        let both = [
            longest(b, &|number| has_margin::<Hybrid>(number, 1 << 20)),
            longest(b, &|number| has_margin::<HybridFast>(number, 1 << 20)),
        ];
        let bits = both.map(|n| f64::from(n) * f64::from(b).log2() / 1e6);
        println!("| {b} | {} | {:.1} | {} | {:.1} |", both[0], bits[0], both[1], bits[1]);
    }
}

#[test]
fn words_that_are_too_short_for_carries_are_refused() {
    for (text, length) in [
        ("5^65536-1", 1 << 16),
        ("5^65536+1", 1 << 16),
        ("7^65536-1", 1 << 16),
        ("5^32768+1", 1 << 15),
        ("10^65536+1", 1 << 16),
        ("3^160000-1", 1 << 16),
    ] {
        let error = margin::<Hybrid>(text.parse().unwrap(), length).unwrap_err().to_string();
        assert!(error.contains("too short for carries"), "{text}: {error}");
    }
}

/// Special digits leave large carries in words that are long enough for random ones.
#[test]
fn digits_that_do_not_fit_are_refused() {
    let device = Device::simulator().unwrap();
    let family = HybridOn::new(device);
    let (number, length) = ("10^32768+1".parse().unwrap(), 1usize << 15);
    assert!(has_margin::<Hybrid>(number, length));
    let stored = StoredDigits::new(DigitLayout::new(number, length).unwrap());
    let fives = Residue::from_canonical(number, stored.load(&vec![5; length]));
    let mut engine = family.build_for(number, length, BuildOptions::new(1, 1)).unwrap();
    let mut refused = 0;
    for squarings in 1..8 {
        let mut oracle = Plain.build_for(number, 1, BuildOptions::new(1, 1)).unwrap();
        for engine in [engine.as_mut(), oracle.as_mut()] {
            engine.write(0, &fives, Shift::ZERO).unwrap();
            engine.square(0, squarings, Step::Square, Shift::ZERO).unwrap();
        }
        match engine.read(0, Shift::ZERO) {
            Ok(found) => assert!(found == oracle.read(0, Shift::ZERO).unwrap(), "{squarings}"),
            Err(EngineError::RoundOff { .. }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert!((1..7).contains(&refused), "{refused}");
}

/// If the number of words divides n and k is small, fractions of words and their weights are near a few values.
#[test]
fn uneven_fractions_have_right_norms() {
    let device = Device::simulator().unwrap();
    let family = OnDevice::<HybridFast>::new(device);
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let length = 1usize << 13;
    for text in ["3*1021^16384-1", "5*1021^16384+1", "3*4093^12288-1", "2*1021^20480+1"] {
        let number: Number = text.parse().unwrap();
        let layout = DigitLayout::new(number, length).unwrap();
        let mut engine = family.build_for(number, length, BuildOptions::new(1, 1)).unwrap();
        let mut oracle = Plain.build_for(number, 1, BuildOptions::new(1, 1)).unwrap();
        let x = compared::corners(number, &mut rng).pop().unwrap();
        let [found, expected] = [engine.as_mut(), oracle.as_mut()].map(|engine| {
            engine.write(0, &x, Shift::ZERO).unwrap();
            engine.square(0, 12, Step::Square, Shift::ZERO).unwrap();
            engine.read(0, Shift::ZERO).unwrap()
        });
        assert!(found == expected, "{text}");
        // The norm of random digits.
        let stored = StoredDigits::new(layout);
        let mut digits = vec![0; length];
        stored.store(x.limbs(), &mut digits);
        let of_words = layout.weights();
        let norm: f64 = digits
            .iter()
            .enumerate()
            .map(|(w, &digit)| (of_words.get(w).to_f64() * f64::from(digit)).powi(2))
            .sum();
        let ratio = norm / usual_norm(&layout);
        assert!(ratio < largest_ratio(&layout) && ratio > 0.5, "{text}: {ratio}");
    }
}

#[test]
fn an_earlier_family_follows_the_longest_length() {
    let device = "sim".parse().unwrap();
    let engines = |text: &str, engine| {
        let request = PlanRequest { engine, device, ..PlanRequest::default() };
        let number: Number = text.parse().unwrap();
        let mut plan = Plan::new(number, &request).unwrap();
        let mut engines = vec![plan.engine()];
        while let Ok(longer) = plan.longer() {
            if engines.last() != Some(&longer.engine()) {
                engines.push(longer.engine());
            }
            plan = longer;
        }
        engines
    };
    assert_eq!(engines("7*1500^2000-1", None), ["hybrid", "fp64", "plain"]);
    // An exact engine was asked for.
    assert_eq!(engines("7*1500^2000-1", Some("hybrid")), ["hybrid", "plain"]);
    assert_eq!(engines("7*3^20000+1", Some(EXACT)), ["hybrid", "plain"]);
}

#[test]
fn means_of_weights_are_those_of_all_words() {
    let length = 1usize << 16;
    // Remainders of n modulo the number of words that are Fibonacci numbers, near 0, and near simple fractions.
    for n in [
        65_537u32, 65_600, 72_301, 76_482, 78_000, 83_247, 98_303, 98_305, 106_039, 130_000,
        131_071,
    ] {
        for (k, b) in [(1u64, 1021u32), (3, 1021), (1, 1500), (101, 499), (5, 10_007)] {
            let number = Number::new(k, b, n, Sign::Minus).unwrap();
            let layout = DigitLayout::new(number, length).unwrap();
            let log = f64::from(b).ln();
            let square = |w| (2.0 * log * f64::from(layout.fraction(w)) / 2f64.powi(32)).exp();
            let exact = (0..length).map(square).sum::<f64>() / length as f64;
            let ratio = exact / means(&layout)[0];
            // Four deviations of 4,096 samples.
            assert!((0.8..1.25).contains(&ratio), "{number}: {ratio}");
        }
    }
}

/// Compares the estimate of the deviation of carries with sums over the products of all words.
#[test]
fn deviations_of_carries_are_bounds() {
    let length = 1usize << 10;
    for (k, b, n) in [
        (1u64, 1021u32, 1500u32),
        (7, 1500, 1845),
        (101, 1499, 1996),
        (31, 1499, 2016),
        (2, 500, 2048),
        (3, 67, 3000),
        (1, 10, 5001),
    ] {
        let number = Number::new(k, b, n, Sign::Minus).unwrap();
        let layout = DigitLayout::new(number, length).unwrap();
        let of_words = layout.weights();
        let weights: Vec<f64> =
            (0..=length + 1).map(|w| of_words.get(w.min(length)).to_f64()).collect();
        let base = square_of_base(&layout).sqrt();
        // Twice the sums over pairs i < j, and the weighted word divided by K·w_(m+1), or by K for the carry into word 0.
        let deviation = |m: usize| {
            let product = |i: usize| {
                let j = (m + length - i) % length;
                (weights[i + 1] * weights[j + 1]).powi(2)
            };
            let sum: f64 = (0..length).map(product).sum();
            k as f64 * base * (2.0 * sum).sqrt() / 12.0
        };
        let carries = (0..length).map(|m| deviation(m) / weights[m + 1]).fold(0.0, f64::max);
        let largest = carries.max(deviation(length - 1));
        let ratio = deviation_of_carries(&layout) / largest;
        println!("{number}: {ratio:.2}");
        assert!((0.99..16.0).contains(&ratio), "{number}: {ratio}");
    }
}
