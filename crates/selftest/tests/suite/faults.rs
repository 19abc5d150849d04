//! Tests campaigns of flipped bits, and the suite of faults that the program contains.

use warpint_device::Device;
use warpint_mersenne::engine::{
    fp64::Fp64, goldilocks::Goldilocks, places, plain::Plain, word::Word,
};
use warpint_mersenne::{DeviceId, EngineFamily, Exponent, LlStart, TestKind};
use warpint_selftest::faults::{
    Campaign, Fate, Flip, Sizes, Tally, Target, flip_squarings, flip_squarings_on_cpu, run,
    run_on_cpu, run_on_device,
};
use warpint_selftest::{SEED, Summary};

const LL: TestKind = TestKind::Ll(LlStart::Four);

fn campaign(kind: TestKind, p: u64, target: Target, count: u64) -> Campaign {
    let exponent = Exponent::new(p).unwrap();
    let number = exponent.into();
    Campaign { family: &Fp64, kind, number, target, count, seed: SEED, threads: 2 }
}

/// Runs a campaign and returns its tally. Panics if a test failed or the judgement is negative.
fn sound(campaign: &Campaign) -> Tally {
    let mut flips = 0;
    let tally = campaign.run(&mut |_| flips += 1).unwrap();
    assert_eq!(flips, campaign.count);
    assert_eq!(tally.failed, Vec::<String>::new());
    let told = tally.found() + tally.harmless() + tally.missed();
    assert_eq!(told, campaign.count);
    campaign.judge(&tally).unwrap();
    tally
}

#[test]
fn every_flip_of_a_prp_residue_is_found() {
    // M9689 is prime: the right residue is 1.
    let tally = sound(&campaign(TestKind::Prp, 9_689, Target::Residue, 20));
    assert_eq!((tally.found(), tally.sound), (20, 8));
}

#[test]
fn flips_of_the_product_in_checks_and_in_saved_states_do_no_harm() {
    for target in [Target::Product, Target::Check, Target::Saved] {
        let tally = sound(&campaign(TestKind::Prp, 9_689, target, 10));
        assert!(tally.found() >= 5, "{target:?}: {tally:?}");
        assert_eq!(tally.missed(), 0);
        assert!(tally.harmless() == 0 || target != Target::Saved, "{tally:?}");
    }
}

#[test]
fn jacobi_checks_find_half_of_the_flips_and_nothing_else() {
    // s_4439 mod M4441 is not 0: a wrong residue differs from it.
    let campaign = campaign(LL, 4_441, Target::Residue, 200);
    let tally = sound(&campaign);
    assert_eq!((tally.found() + tally.missed(), tally.harmless()), (200, 0));
    assert!(tally.missed() > 0 && tally.sound == 8);
    assert_eq!(campaign.by_chance(), 77..=123);
}

#[test]
fn a_campaign_is_the_same_again_whatever_the_number_of_threads() {
    let flips = |threads, seed| {
        let campaign = Campaign { threads, seed, ..campaign(LL, 1_277, Target::Residue, 12) };
        let mut flips: Vec<Flip> = vec![];
        campaign.run(&mut |flip| flips.push(flip.clone())).unwrap();
        flips.sort_by_key(|flip| flip.number);
        flips.into_iter().map(|flip| (flip.number, flip.place, flip.fate)).collect::<Vec<_>>()
    };
    let once = flips(1, 7);
    assert_eq!(once, flips(3, 7));
    assert_ne!(once, flips(1, 8));
    assert!(once.iter().any(|(.., fate)| *fate == Fate::Missed), "{once:?}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let refused = campaign(LL, 1_277, Target::Product, 1).run(&mut |_| ()).unwrap_err();
    assert!(refused.contains("residue only"), "{refused}");
}

#[test]
fn too_few_or_too_many_found_or_any_that_failed_is_told() {
    let ll = campaign(LL, 1_277, Target::Residue, 200);
    let found =
        |n: u64| Tally { sorts: [("the residue", [n, 0, 200 - n])].into(), ..Tally::default() };
    assert!(ll.judge(&found(77)).is_ok() && ll.judge(&found(123)).is_ok());
    assert!(ll.judge(&found(76)).is_err() && ll.judge(&found(124)).is_err());
    let prp = campaign(TestKind::Prp, 1_277, Target::Residue, 200);
    assert!(prp.judge(&found(200)).is_ok());
    let failed = Tally { failed: vec!["flip 3: res64 0".into()], ..found(199) };
    let said = prp.judge(&failed).unwrap_err();
    assert!(said.contains("1 of 200 flips went wrong; flip 3"), "{said}");
}

#[test]
fn the_suite_of_the_program_passes_on_word_and_keeps_to_its_filter() {
    let families: [&'static dyn EngineFamily; 2] = [&Word, &Goldilocks];
    let mut reports = vec![];
    let summary = run(&families, None, Some("word::"), &mut |r| reports.push(r.clone()));
    assert_eq!(summary, Summary { passed: reports.len(), failed: 0 }, "{reports:?}");
    assert!(reports.len() >= 8 && reports.iter().all(|r| r.family == "word"));
    let one = run(&families, None, Some("goldilocks::a_full_disk"), &mut |_| ());
    assert_eq!(one, Summary { passed: 1, failed: 0 });
    let all = run(&families, None, Some("no such fault"), &mut |_| ());
    assert_eq!(all, Summary::default());
}

#[test]
fn families_on_a_device_survive_the_faults_too() {
    survive_on_the_simulator(&[("fp64@sim::flips_of_the_product", 1), ("a_launch_that_fails", 4)]);
}

#[test]
#[ignore = "slow: all flips on all families"]
fn families_on_a_device_survive_all_flips() {
    survive_on_the_simulator(&[("flips_of", 12)]);
}

/// Runs the faults whose names contain one of the filters. `filters` has a filter and the number of
/// its faults.
fn survive_on_the_simulator(filters: &[(&str, usize)]) {
    let families = places::families_on(DeviceId::Sim).unwrap();
    for &(filter, count) in filters {
        let mut reports = vec![];
        let summary = run(&families, None, Some(filter), &mut |r| reports.push(r.clone()));
        assert_eq!(summary, Summary { passed: count, failed: 0 }, "{reports:?}");
        assert!(reports.iter().all(|r| r.family.ends_with("@sim")), "{reports:?}");
    }
}

#[test]
fn work_on_a_faulty_device_is_noticed() {
    let device = Device::simulator().unwrap();
    let mut reports = vec![];
    let summary =
        run_on_device(&device, &Sizes::of(&device), None, &mut |r| reports.push(r.clone()));
    reports.iter().for_each(|r| println!("{}::{} {:?}", r.family, r.fault, r.result));
    assert_eq!(summary, Summary { passed: 15, failed: 0 }, "{reports:?}");
    let says = |family: &str, fault: &str| {
        let of = reports.iter().find(|r| (r.family.as_str(), r.fault) == (family, fault));
        of.unwrap().result.clone().unwrap()
    };
    assert_eq!(says("batch@sim", "a_dead_device"), "11 of 11 faults noticed");
    assert_eq!(says("transform@sim", "downloads_of_zeros"), "4 of 4 faults noticed");
    assert_eq!(says("squarings@sim", "a_device_that_dies"), "2 of 2 faults noticed");
    let one =
        run_on_device(&device, &Sizes::of(&device), Some("transform@sim::a_dead"), &mut |_| ());
    assert_eq!(one, Summary { passed: 1, failed: 0 });
}

#[test]
#[ignore = "minutes: a thousand runs on the simulator"]
fn a_thousand_flips_during_checked_squarings_are_noticed_or_harmless() {
    println!("{}", flip_squarings(&Device::simulator().unwrap(), 0, 1_000).unwrap());
}

#[test]
#[ignore = "minutes: a thousand runs"]
fn a_thousand_flips_during_checked_squarings_on_the_cpu_are_noticed_or_harmless() {
    println!("{}", flip_squarings_on_cpu(0, 1_000).unwrap());
}

#[test]
fn changed_results_of_the_cpu_are_noticed() {
    let mut reports = vec![];
    let summary = run_on_cpu(None, &mut |r| reports.push(r.clone()));
    assert_eq!(summary, Summary { passed: 4, failed: 0 }, "{reports:?}");
    let says = reports.iter().map(|r| r.result.clone().unwrap()).collect::<Vec<_>>();
    println!("{says:?}");
    let counts = ["55 of 55", "11 of 11", "60 of 60"].map(|n| format!("{n} faults noticed"));
    assert_eq!(says[..3], counts);
    assert!(says[3].contains(" of 60 flips noticed"), "{says:?}");
}

/// Every family on the CPU that takes numbers k·2^n ± 1.
#[test]
fn flips_in_tests_of_other_numbers_are_found() {
    let families: [&'static dyn EngineFamily; 2] = [&Fp64, &Plain];
    for filter in ["flips_of_other_powers", "flips_in_lucas_lehmer_riesel"] {
        let mut said = vec![];
        let summary = run(&families, None, Some(filter), &mut |report| said.push(report.clone()));
        assert_eq!((summary.passed, summary.failed), (2, 0), "{said:?}");
    }
}
