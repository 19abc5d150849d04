use warpint_device::{Device, Effort};

use super::super::{Choice, Gpu, ProductTimer};
use super::*;

const MEMORY: u32 = 227 << 10;

fn gpu() -> Gpu {
    Gpu::new(&Device::simulator().unwrap())
}

/// Returns the step of a method for products of two factors of `limbs` limbs, or for squares of
/// such numbers if `square` is true.
fn step(method: &str, limbs: usize, square: bool) -> Step {
    let memory = gpu().device().info().shared_memory_per_block;
    let is_it = |step: &Step| {
        step.way.method.to_string() == method
            && step.way.square == square
            && (step.first..=step.last).contains(&limbs)
    };
    steps(memory).into_iter().find(is_it).unwrap()
}

fn prices(of: &[(Step, f64)]) -> Prices {
    let mut prices = Prices::default();
    of.iter().for_each(|(step, price)| prices.insert(step, *price));
    prices
}

fn choice(prices: &Prices, limbs: usize, square: bool) -> (String, bool) {
    let gpu = gpu().with_prices(prices.clone());
    let Choice { method, measured, price } = gpu.choice(limbs, (!square).then_some(limbs)).unwrap();
    assert!(price > 0.0);
    (method.to_string(), measured)
}

fn chosen(name: &str, measured: bool) -> (String, bool) {
    (name.to_owned(), measured)
}

#[test]
fn steps_are_ways_without_gaps() {
    for memory in [MEMORY, 99 << 10, 48 << 10] {
        let steps = steps(memory);
        assert!(steps.is_sorted_by_key(|step| step.last) && steps.len() < 1000);
        let ways: std::collections::HashSet<Algorithm> =
            steps.iter().map(|step| step.way).collect();
        assert_eq!(ways.len(), steps.len(), "a way has one step");
        for step in &steps {
            let b = |limbs| (!step.way.square).then_some(limbs);
            let at = |limbs| step.way.method.way(limbs, b(limbs), memory);
            let found = Some((step.way, step.estimate));
            assert_eq!((at(step.first), at(step.last)), (found, found));
            assert!(step.first == 1 || at(step.first - 1) != found);
            assert!(step.last == 1 << 15 || at(step.last + 1) != found);
        }
    }
}

#[test]
fn ways_of_factors_of_two_widths_are_those_of_the_wider_or_of_both() {
    let way =
        |name: &str, a, b| name.parse::<Method>().unwrap().way(a, b, MEMORY).unwrap().0.to_string();
    assert_eq!(way("karatsuba2", 160, Some(160)), "mul karatsuba2 of 40 limbs");
    assert_eq!(way("karatsuba2", 160, Some(3)), "mul karatsuba2 of 40 limbs");
    assert_eq!(way("single", 13, None), "sqr single of 16 limbs");
    assert_eq!(way("ntt3", 256, Some(256)), "mul ntt3 of 256 points");
    assert_eq!(way("ntt3", 300, Some(200)), "mul ntt3 of 256 points");
}

#[test]
fn what_was_measured_beats_the_estimate() {
    let none = Prices::default();
    assert_eq!(choice(&none, 160, false), chosen("karatsuba2", false));
    let (two, three) = (step("karatsuba2", 160, false), step("karatsuba3", 160, false));
    let found = prices(&[(two, 3.0), (three, 2.9)]);
    assert_eq!(choice(&found, 160, false), chosen("karatsuba3", true));
    // The price holds for all widths of the algorithm, but not for other algorithms or for squares.
    assert_eq!(choice(&found, 145, false), chosen("karatsuba3", true));
    assert_eq!(choice(&found, 144, false).0, choice(&none, 144, false).0);
    assert_eq!(choice(&found, 160, true).0, choice(&none, 160, true).0);
    // Of two that cost the same, the first is chosen.
    let same = prices(&[(two, 3.0), (three, 3.0)]);
    assert_eq!(choice(&same, 160, false), chosen("karatsuba2", true));
    // The last price of an algorithm counts.
    let again = prices(&[(two, 3.0), (three, 2.9), (two, 2.0)]);
    assert_eq!(choice(&again, 160, false), chosen("karatsuba2", true));
}

#[test]
fn estimates_are_scaled_before_they_are_compared() {
    // On a device ten times as slow as the estimates, one measured algorithm does not make all
    // others look cheap.
    let two = step("karatsuba2", 160, false);
    let slow = prices(&[(two, 10.0 * two.estimate)]);
    assert_eq!(choice(&slow, 160, false), chosen("karatsuba2", true));
    for limbs in [8, 64, 128, 300, 1000, 30_000] {
        let before = choice(&Prices::default(), limbs, false);
        assert_eq!(choice(&slow, limbs, false), before, "{limbs}: all are as much slower");
    }
    // If only transforms are slow, Karatsuba's identity is used as far as possible.
    let (ntt, five) = (step("ntt3", 512, false), step("karatsuba5", 1000, false));
    let poor = prices(&[(two, two.estimate), (ntt, 30.0 * ntt.estimate)]);
    assert_ne!(choice(&Prices::default(), 1000, false).0, "karatsuba5");
    assert_eq!(choice(&poor, 1000, false), chosen("karatsuba5", false));
    // By the median: one odd price among three scales nothing.
    let at = |limbs, times: f64| {
        let step = step("ntt3", limbs, false);
        (step, times * step.estimate)
    };
    let odd = prices(&[at(512, 1.0), at(768, 1.0), at(1024, 100.0)]);
    assert_eq!(odd.scaled(five.way, 1.0), 1.0);
    assert_eq!(odd.scaled(step("ntt3", 2000, false).way, 7.0), 7.0);
}

#[test]
fn rivals_are_wanted_until_the_cheapest_are_measured() {
    let steps = steps(MEMORY);
    let none = Prices::default();
    let wanted = none.wanted(&steps, usize::MAX);
    assert!(wanted.len() > 20 && wanted.len() < steps.len(), "{}", wanted.len());
    assert!(none.wanted(&steps, 160).len() < wanted.len());
    assert_eq!(none.wanted(&steps, 0), []);
    // Without a competitor, nothing needs measuring.
    let at_four = |step: &&Step| step.last == 4;
    assert_eq!(wanted.iter().find(at_four), None);

    // On a device unlike the estimates, measurements add steps, and the process ends.
    let truth = |step: &Step| {
        let kind = if step.way.method.is_transform() { 30.0 } else { 2.0 };
        kind * step.estimate * [0.9, 1.0, 1.1][step.way.size % 3]
    };
    let (mut prices, mut rounds) = (Prices::default(), 0);
    loop {
        let wanted = prices.wanted(&steps, usize::MAX);
        let Some(step) = wanted.first() else { break };
        assert_eq!(prices.measured(step.way), None, "nothing twice");
        prices.insert(step, truth(step));
        rounds += 1;
    }
    assert!(rounds < steps.len());
    // The fastest step is chosen everywhere, although not all were measured.
    for end in &steps {
        let here = steps.iter().filter(|step| {
            step.way.square == end.way.square && (step.first..=step.last).contains(&end.last)
        });
        let by = |price: &dyn Fn(&Step) -> f64| {
            here.clone().min_by(|a, b| price(a).total_cmp(&price(b))).unwrap().way
        };
        assert_eq!(by(&|step| prices.price(step)), by(&truth), "{} limbs", end.last);
    }
}

#[test]
fn prices_come_back_from_the_store() {
    let (dir, gpu) = (tempfile::tempdir().unwrap(), gpu());
    let (store, info) = (TuningStore::at(dir.path()), gpu.device().info());
    let stored = || Prices::stored(&store, info).unwrap();
    assert!(stored().value.measured.is_empty() && !store.path().exists());
    let (two, three) = (step("karatsuba2", 160, false), step("karatsuba3", 160, false));
    let square = step("ntt3", 256, true);
    for (step, price) in [(two, 3.0), (three, 5.0), (square, 70.0), (three, 2.5)] {
        assert_eq!(Prices::store(&store, info, &step, price).unwrap().warning, None);
    }
    let Warned { value: prices, warning } = stored();
    assert_eq!(warning, None);
    assert_eq!(prices.measured.len(), 3);
    for (step, price) in [(two, 3.0), (three, 2.5), (square, 70.0)] {
        assert!((prices.measured(step.way).unwrap() - price).abs() < 1e-9, "{}", step.way);
    }
    assert_eq!(choice(&prices, 160, false), chosen("karatsuba3", true));
    // Prices of another device or driver are not used.
    for other in [
        DeviceInfo { name: "NVIDIA T4".into(), ..info.clone() },
        DeviceInfo { driver: "590.1".into(), ..info.clone() },
    ] {
        assert!(Prices::stored(&store, &other).unwrap().value.measured.is_empty(), "{other:?}");
    }
    // Unknown algorithms and implausible prices are skipped.
    let text = std::fs::read_to_string(store.path()).unwrap();
    std::fs::write(store.path(), text.replace("of 256 points", "of 257 points")).unwrap();
    assert_eq!(stored().value.measured.len(), 2);
    std::fs::write(store.path(), text.replace("0.0025", "-1.0")).unwrap();
    assert_eq!(stored().value.measured(three.way), None);
    std::fs::write(store.path(), "{").unwrap();
    let Warned { value, warning } = stored();
    assert!(value.measured.is_empty() && warning.unwrap().contains("tuning.json.bad"));
}

#[test]
fn a_tuned_device_has_the_stored_prices() {
    let (dir, device) = (tempfile::tempdir().unwrap(), Device::simulator().unwrap());
    let store = TuningStore::at(dir.path());
    let step = step("ntt3", 256, true);
    let _ = Prices::store(&store, device.info(), &step, 70.0).unwrap();
    let Warned { value: gpu, warning } = Gpu::tuned_by(&device, &store);
    assert_eq!(warning, None);
    assert!((gpu.prices().measured(step.way).unwrap() - 70.0).abs() < 1e-9);
    assert_eq!(Gpu::new(&device).prices().measured(step.way), None);
    // A damaged file is a warning, and one that cannot be read is ignored: prices are estimated.
    std::fs::write(store.path(), "{").unwrap();
    let Warned { value: gpu, warning } = Gpu::tuned_by(&device, &store);
    assert!(warning.is_some() && gpu.prices().measured(step.way).is_none());
    std::fs::create_dir(store.path()).unwrap();
    let Warned { value: gpu, warning } = Gpu::tuned_by(&device, &store);
    assert!(warning.is_none() && gpu.prices().measured(step.way).is_none());
}

#[test]
fn products_are_timed_on_the_simulator() {
    let gpu = gpu();
    let mut timer = ProductTimer::new(&gpu, Effort::Few).unwrap();
    let some = [step("single", 4, false), step("karatsuba1", 8, true), step("ntt3", 256, false)];
    timer.compile(&some);
    for step in &some {
        assert!(timer.time(step).unwrap() > 0.0, "{}", step.way);
    }
    let too_wide = step("ntt3", 2000, false);
    timer.compile(&[too_wide]);
    let said = timer.time(&too_wide).unwrap_err().to_string();
    assert!(said.contains("do not fit in memory of 1024 words"), "{said}");
}
