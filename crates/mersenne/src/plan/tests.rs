//! Tests of the choice of a plan, with a substitute for a device.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use warpint_device::DeviceError;

use super::choose::device_or_cpu;
use super::*;
use crate::Exponent;
use crate::Profiled;
use crate::engine::fp64::Fp64;
use crate::engine::goldilocks::Goldilocks;
use crate::engine::hybrid;
use crate::engine::places::families_on_cpu;
use crate::plan::{StoredTime, StoredTimes, TimingKey};
use warpint_device::DeviceId;

/// The family `goldilocks` at a simulated place `cuda:0`, in two variants. A plan that is free to
/// choose uses it from 4K words on.
struct OnGpu {
    works: Result<(), DeviceError>,
    /// The only length for which `is_dominated` returns true; 0 means no length.
    dominated: usize,
    /// Whether it has the name `fp64` and is faster than exact families.
    outruns: bool,
    /// The number of plans whose kernels were compiled.
    compiled: AtomicUsize,
}

static SOUND: OnGpu = OnGpu::new(Ok(()), 0, false);

impl OnGpu {
    const fn new(works: Result<(), DeviceError>, dominated: usize, outruns: bool) -> Self {
        Self { works, dominated, outruns, compiled: AtomicUsize::new(0) }
    }
}

impl EngineFamily for OnGpu {
    fn name(&self) -> &'static str {
        if self.outruns { "fp64" } else { "goldilocks" }
    }

    fn place(&self) -> &str {
        "cuda:0"
    }

    fn is_exact(&self) -> bool {
        !self.outruns
    }

    fn outruns_exact_families(&self) -> bool {
        self.outruns
    }

    fn compile(&self, _: Number, _: usize, _: BuildOptions) -> Result<(), EngineError> {
        self.compiled.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn shortest_worthwhile(&self) -> usize {
        1 << 12
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        1_000..=(1 << 31) - 1
    }

    fn lengths(&self, from: usize, to: usize) -> Vec<usize> {
        Goldilocks.lengths(from, to)
    }

    fn is_dominated(&self, length: usize) -> bool {
        length == self.dominated
    }

    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError> {
        Goldilocks.margin(p, length)
    }

    fn device_bytes(&self, _: Number, length: usize, registers: usize) -> Option<u64> {
        Some((length * registers) as u64 * 8)
    }

    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        self.works.clone()?;
        Goldilocks.build(p, length, options)
    }

    fn profiled(&self) -> Option<&dyn Profiled> {
        Some(self)
    }
}

impl Profiled for OnGpu {
    fn variants(&self, _: usize) -> Vec<String> {
        vec!["4x4".into(), "8x2".into()]
    }
}

fn broken(error: DeviceError) -> &'static OnGpu {
    Box::leak(Box::new(OnGpu::new(Err(error), 0, false)))
}

fn mersenne(p: u64) -> Number {
    Exponent::new(p).unwrap().into()
}

#[derive(Default)]
struct Times(HashMap<TimingKey, StoredTime>);

impl Times {
    fn with(mut self, plan: &Plan, variant: &str, micros: u64) -> Self {
        let time = Duration::from_micros(micros);
        self.0.insert(plan.timing_key(), StoredTime { variant: variant.into(), time });
        self
    }
}

impl StoredTimes for Times {
    fn get(&self, key: &TimingKey) -> Option<StoredTime> {
        self.0.get(key).cloned()
    }
}

#[test]
fn a_plan_has_the_threads_of_its_request() {
    let threads = |number: &str, family: &'static dyn EngineFamily| {
        let number: Number = number.parse().unwrap();
        Plan::of_family(number, family, None, Some(3)).unwrap().threads()
    };
    assert_eq!(threads("M86243", &Fp64), 3);
    assert_eq!(threads("3*2^20909+1", &Fp64), 3);
    assert_eq!(threads("3*2^20909+1", &Plain), 3);
    // After the longest transform, `plain` goes on with all of them.
    let number: Number = "3*2^20909+1".parse().unwrap();
    let lengths = Fp64.lengths(1, number.exponent() as usize);
    let longest = *lengths.last().unwrap();
    let longest = Plan::of_family(number, &Fp64, Some(longest), Some(3)).unwrap();
    let plain = longest.longer().unwrap();
    assert_eq!((plain.engine(), plain.threads()), ("plain", 3));
    assert!(plain.longer().is_err());
}

#[test]
fn auto_takes_a_gpu_that_suits_and_works() {
    let gpu = DeviceId::Cuda(0);
    let choice = |p, family: &'static OnGpu, request: PlanRequest| {
        device_or_cpu(mersenne(p), gpu, Ok(vec![family]), &request)
    };
    let any = PlanRequest::default();
    assert_eq!(choice(216_091, &SOUND, any), (DeviceChoice::On(gpu), None));
    // Too small, or an engine or a length that the device does not have: the CPU, without a
    // warning.
    assert_eq!(choice(44_497, &SOUND, any), (DeviceChoice::Cpu, None));
    let fp64 = PlanRequest { engine: Some("fp64"), ..any };
    assert_eq!(choice(216_091, &SOUND, fp64), (DeviceChoice::Cpu, None));
    let length = PlanRequest { length: Some(11_520), ..any };
    assert_eq!(choice(216_091, &SOUND, length), (DeviceChoice::Cpu, None));

    let missing = DeviceError::NoCompiler("NVRTC is missing: install it".into());
    let (device, warning) = choice(216_091, broken(missing.clone()), any);
    assert_eq!(device, DeviceChoice::Cpu);
    let expected = "cuda:0 cannot be used, the CPU computes instead: NVRTC is missing: install it";
    assert_eq!(warning.as_deref(), Some(expected));
    // A device that is not suitable is not even tried.
    assert_eq!(choice(44_497, broken(missing.clone()), any), (DeviceChoice::Cpu, None));
    let (device, warning) = device_or_cpu(mersenne(216_091), gpu, Err(missing), &any);
    assert_eq!((device, warning.as_deref()), (DeviceChoice::Cpu, Some(expected)));
}

#[test]
fn a_device_without_room_says_how_much_is_needed() {
    let full = DeviceError::OutOfMemory {
        device: "a GPU".into(),
        requested: 1 << 20,
        free: 0,
        total: 1 << 30,
    };
    let plan = Plan::of_family(mersenne(216_091), broken(full), Some(1 << 14), Some(1)).unwrap();
    let error = plan.build(8).err().unwrap();
    assert!(matches!(error, EngineError::NoRoom { needed: 1_048_576, .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with("M216091 by goldilocks on cuda:0 in 16384 words"), "{text}");
    assert!(text.contains("needs 1 MiB: out of memory on a GPU"), "{text}");
}

#[test]
fn stored_times_decide_over_engines_lengths_and_variants() {
    let p = mersenne(216_091);
    let cpu = families_on_cpu();
    let request = PlanRequest { threads: Some(1), ..PlanRequest::default() };
    let of = |engine, length| {
        let request = PlanRequest { engine: Some(engine), length, ..request };
        Plan::default_among(p, &cpu, "cpu", &request).unwrap()
    };
    let (fp64, integers) = (of("fp64", None), of("goldilocks", None));
    let longer = fp64.longer().unwrap();
    let fastest = |times: &Times, request: &PlanRequest| {
        let plan = Plan::fastest_among(p, &cpu, "cpu", request, times).unwrap();
        (plan.engine(), plan.length())
    };
    let (default, of_longer) = (fp64.variant(), longer.variant());
    let times = Times::default().with(&fp64, &default, 50).with(&longer, &of_longer, 60);
    let times = times.with(&integers, "", 40);
    assert_eq!(fastest(&times, &request), ("goldilocks", integers.length()));
    let times = times.with(&longer, &of_longer, 30);
    assert_eq!(fastest(&times, &request), ("fp64", longer.length()));
    let only = PlanRequest { engine: Some("goldilocks"), ..request };
    assert_eq!(fastest(&times, &only).0, "goldilocks");
    // Times with other numbers of threads do not apply to this plan.
    let two = PlanRequest { threads: Some(2), ..request };
    assert_eq!(fastest(&times, &two).0, "fp64");

    let gpu: [&'static dyn EngineFamily; 1] = [&SOUND];
    let on_gpu = Plan::default_among(p, &gpu, "cuda:0", &request).unwrap();
    assert_eq!(on_gpu.variant(), "4x4");
    for (variant, taken) in [("8x2", "8x2"), ("4x4", "4x4"), ("of an older program", "4x4")] {
        let times = Times::default().with(&on_gpu, variant, 40);
        for length in [None, Some(on_gpu.length())] {
            let request = PlanRequest { length, ..request };
            let plan = Plan::fastest_among(p, &gpu, "cuda:0", &request, &times).unwrap();
            assert_eq!(plan.variant(), taken);
        }
    }
}

#[test]
fn a_stored_time_alone_does_not_displace_the_default_family() {
    let request = PlanRequest { threads: Some(1), ..PlanRequest::default() };
    // Nothing is measured for an exponent so small.
    let p = mersenne(86_243);
    let of = |engine| Plan::new(p, &PlanRequest { engine: Some(engine), ..request }).unwrap();
    let (fp64, other) = (of("fp64"), of("goldilocks"));
    let fastest = |times: &Times| Plan::fastest(p, &request, times).unwrap().engine();
    let times = Times::default().with(&other, "", 10);
    assert_eq!(fastest(&times), "fp64");
    let times = times.with(&fp64, &fp64.variant(), 20);
    assert_eq!(fastest(&times), "goldilocks");
}

#[test]
fn a_length_that_is_dominated_is_not_chosen_but_there() {
    static DOMINATED: OnGpu = OnGpu::new(Ok(()), 10 << 10, false);
    let gpu: [&'static dyn EngineFamily; 1] = [&DOMINATED];
    let p = mersenne(216_091);
    let plan = |length| {
        let request = PlanRequest { length, ..PlanRequest::default() };
        Plan::fastest_among(p, &gpu, "cuda:0", &request, &Times::default())
    };
    // Without the domination it would be 10K words, as above.
    assert_eq!(plan(None).unwrap().length(), 16 << 10);
    let asked_for = plan(Some(10 << 10)).unwrap();
    assert_eq!(asked_for.length(), 10 << 10);
    // With a shorter length available, no measurement tries it; after an error it is the next.
    let smaller = mersenne(160_001);
    let short = Plan::of_family(smaller, &DOMINATED, None, Some(1)).unwrap();
    assert_eq!(short.length(), 8 << 10);
    assert_eq!(short.longer().unwrap().length(), 10 << 10);
}

#[test]
fn an_exact_family_is_measured_only_if_it_may_be_faster() {
    let p = mersenne(216_091);
    let compiled = |family: &OnGpu| family.compiled.load(Ordering::Relaxed);
    for outruns in [true, false] {
        let first = Box::leak(Box::new(OnGpu::new(Ok(()), 0, true)));
        first.outruns = outruns;
        let first: &'static OnGpu = first;
        let exact: &'static OnGpu = Box::leak(Box::new(OnGpu::new(Ok(()), 0, false)));
        let families: [&'static dyn EngineFamily; 2] = [first, exact];
        let fastest = |request: &PlanRequest, times: &Times| {
            let plan = Plan::fastest_among(p, &families, "cuda:0", request, times).unwrap();
            plan.engine()
        };
        fastest(&PlanRequest::default(), &Times::default());
        // Both have one length near the shortest one.
        assert_eq!((compiled(first), compiled(exact)), (1, if outruns { 0 } else { 1 }));
        if outruns {
            // A stored time counts, and so does a request.
            let plan = Plan::of_family(p, exact, None, None).unwrap();
            let times = Times::default().with(&plan, "4x4", 1);
            let times = times.with(&Plan::of_family(p, first, None, None).unwrap(), "4x4", 2);
            assert_eq!(fastest(&PlanRequest::default(), &times), "goldilocks");
            let request = PlanRequest { engine: Some("goldilocks"), ..PlanRequest::default() };
            assert_eq!(fastest(&request, &Times::default()), "goldilocks");
            assert_eq!(compiled(exact), 0);
        }
    }
}

#[test]
fn if_the_default_family_fails_exact_families_are_measured() {
    let broken: &'static OnGpu = {
        let error = DeviceError::Failed { what: "rows".into(), message: "no".into() };
        Box::leak(Box::new(OnGpu::new(Err(error), 0, true)))
    };
    let exact: &'static OnGpu = Box::leak(Box::new(OnGpu::new(Ok(()), 0, false)));
    let families: [&'static dyn EngineFamily; 2] = [broken, exact];
    let request = PlanRequest::default();
    let plan =
        Plan::fastest_among(mersenne(216_091), &families, "cuda:0", &request, &Times::default());
    assert_eq!(plan.unwrap().engine(), "goldilocks");
    // Below the exponents that are measured, nothing shows that it fails.
    let plan =
        Plan::fastest_among(mersenne(44_497), &families, "cuda:0", &request, &Times::default());
    assert_eq!(plan.unwrap().engine(), "fp64");
}

#[test]
fn candidates_are_all_families_lengths_and_variants_of_a_place() {
    let p = mersenne(216_091);
    let gpu: [&'static dyn EngineFamily; 1] = [&SOUND];
    let request = PlanRequest::default();
    let plans = Plan::candidates_among(p, &gpu, "cuda:0", &request).unwrap();
    let names: Vec<_> = plans.iter().map(|plan| (plan.length(), plan.variant())).collect();
    assert_eq!(names, [(10 << 10, "4x4".to_owned()), (10 << 10, "8x2".to_owned())]);

    let plans = Plan::candidates_among(p, &families_on_cpu(), "cpu", &request).unwrap();
    let of = |engine| plans.iter().filter(|plan| plan.engine() == engine).count();
    assert_eq!((of("word"), of("goldilocks")), (0, 1));
    assert!(of("fp64") > 3, "{plans:?}");
}

#[test]
fn an_engine_that_a_place_has_not_is_answered_with_those_it_has() {
    let gpu: [&'static dyn EngineFamily; 1] = [&SOUND];
    let request = PlanRequest { engine: Some("fp64"), ..PlanRequest::default() };
    let error = Plan::default_among(mersenne(216_091), &gpu, "cuda:0", &request).unwrap_err();
    assert_eq!(error.to_string(), "cuda:0 does not have engine fp64; it has goldilocks");
}

#[test]
fn exact_means_families_with_a_proven_margin() {
    let request =
        PlanRequest { engine: Some(EXACT), device: DeviceChoice::Cpu, ..Default::default() };
    for (p, engine) in [
        (61u64, "word"),
        (521, "goldilocks"),
        (9_689, "hybrid"),
        (44_497, "hybrid"),
        (86_243, "hybrid"),
    ] {
        let p = mersenne(p);
        for plan in [Plan::new(p, &request).unwrap(), Plan::measured(p, &request).unwrap()] {
            assert_eq!(plan.engine(), engine, "{p}");
            assert!(plan.margin().proven && plan.margin().bits >= 0.0);
        }
        let candidates = Plan::candidates(p, &request).unwrap();
        assert!(candidates.iter().all(|plan| plan.margin().proven), "{p}");
        assert!(candidates.iter().any(|plan| plan.engine() == engine), "{p}");
    }
    // A length that only one exact family supports.
    let p = mersenne(44_497);
    for (length, engine) in [(2560, "goldilocks"), (3 << 10, "hybrid")] {
        let plan = Plan::new(p, &PlanRequest { length: Some(length), ..request }).unwrap();
        assert_eq!((plan.engine(), plan.length()), (engine, length));
    }
    let unknown = Plan::new(p, &PlanRequest { length: Some(17), ..request }).unwrap_err();
    assert!(matches!(unknown, PlanError::Unusable(_)), "{unknown}");
}

#[test]
fn on_a_device_the_first_exact_family_that_takes_the_length_is_used() {
    let gpu: [&'static dyn EngineFamily; 2] = [&Goldilocks, &hybrid::Hybrid];
    let request = PlanRequest { engine: Some(EXACT), ..PlanRequest::default() };
    let p = mersenne(44_497);
    for (length, engine) in
        [(None, "goldilocks"), (Some(2560), "goldilocks"), (Some(3 << 10), "hybrid")]
    {
        let request = PlanRequest { length, ..request };
        let plan = Plan::default_among(p, &gpu, "cuda:0", &request).unwrap();
        assert_eq!(plan.engine(), engine, "{length:?}");
    }
}

#[test]
fn stored_times_decide_over_exact_families() {
    let request = PlanRequest { engine: Some(EXACT), threads: Some(1), ..Default::default() };
    let p = mersenne(86_243);
    let of = |engine| Plan::new(p, &PlanRequest { engine: Some(engine), ..request }).unwrap();
    let (slow, fast, other) = (of("hybrid"), of("goldilocks"), of("fp64"));
    let stored = Times::default().with(&slow, "", 90).with(&fast, "", 80).with(&other, "", 20);
    let plan = Plan::fastest(p, &request, &stored).unwrap();
    assert_eq!(plan.engine(), "goldilocks");
}

#[test]
fn a_hybrid_length_with_a_negative_margin_is_refused() {
    let p = mersenne(57_885_161);
    let request = PlanRequest { engine: Some("hybrid"), ..Default::default() };
    let shortest = Plan::new(p, &request).unwrap().length();
    let below = hybrid::Hybrid.lengths(0, shortest - 1);
    let length = below.into_iter().rev().find(|&n| hybrid::Hybrid.margin(57_885_161, n).is_ok());
    let refused = Plan::new(p, &PlanRequest { length, ..request }).unwrap_err();
    assert!(
        matches!(refused, PlanError::TooShort { shortest: s, .. } if s == shortest),
        "{refused}"
    );
}

#[test]
#[cfg(feature = "sim")]
fn a_number_has_the_engine_with_much_fewer_words() {
    let families = crate::engine::places::families_on(DeviceId::Sim).unwrap();
    let request = PlanRequest::default();
    for (number, expected) in [
        ("999990^1024+1", "goldilocks"),
        ("10^3072+1", "fp64"),
        ("1099511627791*2^20000+1", "fp64"),
        ("7*1009^3000-1", "hybrid"),
    ] {
        let number: Number = number.parse().unwrap();
        let length = |name| {
            let family = *families.iter().find(|family| family.name() == name)?;
            Plan::of_family(number, family, None, None).ok().map(|plan| plan.length())
        };
        let plan = Plan::default_among(number, &families, "sim", &request).unwrap();
        println!("{number}: {:?} {:?}", length("fp64"), length("goldilocks"));
        assert_eq!(plan.engine(), expected, "{number}");
        assert_eq!(Some(plan.length()), length(expected), "{number}");
        let asked = PlanRequest { engine: Some("fp64"), ..request };
        let plan = Plan::default_among(number, &families, "sim", &asked).unwrap();
        assert_eq!(plan.engine(), "fp64", "{number}");
        let longer = plan.longer().unwrap();
        assert!(longer.engine() == "fp64" && longer.length() > plan.length(), "{number}");
    }
}

#[test]
#[cfg(feature = "sim")]
fn engines_on_a_device_suit_the_base() {
    let plan = |text: &str, engine| {
        let device = "sim".parse().unwrap();
        let number: Number = text.parse().unwrap();
        Plan::new(number, &PlanRequest { engine, device, ..PlanRequest::default() }).unwrap()
    };
    for (text, engine, length) in [
        ("3*2^40001+1", "fp64", 0),
        ("7*3^30000-1", "fp64", 0),
        // Two digits fill words of `hybrid`, and one a word of `fp64`.
        ("7*1500^8000-1", "hybrid", 4096),
        ("5*1021^8001+1", "hybrid", 3584),
    ] {
        let found = plan(text, None);
        println!("{text}: {} {}", found.engine(), found.length());
        assert_eq!(found.engine(), engine, "{text}");
        assert!(length == 0 || found.length() == length, "{text}: {}", found.length());
    }
    // The only lengths of `hybrid` with a margin have no kernels for this number.
    let number: Number = "3*22223^1152+1".parse().unwrap();
    let families = crate::engine::places::families_on(DeviceId::Sim).unwrap();
    for family in families {
        let plan = Plan::of_family(number, family, None, None);
        assert_eq!(family.takes(number), plan.is_ok(), "{}: {:?}", family.name(), plan.err());
    }
    // Every product is proven exact or refused.
    for text in ["3*2^40001+1", "3*2^40001-1", "10^20000+1", "5*1021^8001+1"] {
        assert!(plan(text, Some(EXACT)).family.is_exact(), "{text}");
    }
}
