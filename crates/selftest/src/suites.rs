//! The suites that do not test Mersenne engines: kernels, batches, Collatz methods and transforms.

use warpint_device::Device;
use warpint_integer::Executor;
use warpint_integer::gpu::Gpu;

use crate::batches::{self, elementwise};
use crate::running::{Case, Running};
use crate::{CaseReport, Depth, SEED, Summary, collatz, fields, huge, memory, transforms};

/// For each suite, the sizes of its cases on a device.
#[derive(Debug, Clone)]
pub struct DeviceSizes {
    /// The widths in limbs of [`elementwise`] operations.
    pub elementwise: Vec<usize>,
    /// The sizes of the cases of [`batches`].
    pub batches: batches::Sizes,
    /// The sizes of the cases of [`collatz`].
    pub collatz: collatz::Sizes,
    /// The sizes of the cases of [`transforms::big`].
    pub big: transforms::big::Sizes,
    /// The sizes of the cases of [`transforms::small`].
    pub small: transforms::small::Sizes,
}

impl DeviceSizes {
    /// Returns the sizes of the cases on GPUs.
    #[must_use]
    pub fn of_gpus(depth: Depth) -> Self {
        match depth {
            Depth::Quick => Self {
                elementwise: elementwise::quick_widths(),
                batches: batches::Sizes::quick(),
                collatz: collatz::Sizes::quick(),
                big: transforms::big::Sizes::quick(),
                small: transforms::small::Sizes::quick(),
            },
            Depth::Thorough => Self {
                elementwise: elementwise::widths(),
                batches: batches::Sizes::of_gpus(),
                collatz: collatz::Sizes::of_gpus(),
                big: transforms::big::Sizes::of_gpus(),
                small: transforms::small::Sizes::of_gpus(),
            },
        }
    }
}

/// Runs the cases of all suites on a device, except the suite of engines: kernels, batches, Collatz
/// methods, transforms and products of long numbers. The reports of the Collatz methods have names such as
/// `collatz@cuda:0::trees`. The other reports are named as in [`run_kernels`], [`run_batches`],
/// [`run_transforms`] and [`run_huge`].
pub fn run_device(
    gpu: &Gpu,
    depth: Depth,
    sizes: &DeviceSizes,
    filter: Option<&str>,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    let (device, executor) = (gpu.device(), Executor::from(gpu.clone()));
    let mut cases = of_kernels(device, &sizes.elementwise);
    cases.extend(of_batches(&executor, &sizes.batches));
    cases.extend(of_collatz(device, &sizes.collatz));
    cases.extend(of_transforms(device, depth, (&sizes.big, &sizes.small)));
    cases.extend(of_huge(device));
    let mut run = Running { filter, report, summary: Summary::default() };
    run.all(cases, depth.cases_at_once());
    run.summary
}

/// Runs the cases of [`fields`], [`elementwise`] and [`memory`] on a device: `field@cuda:0::products`,
/// `elementwise@cuda:0::shifts` and so on. `filter` and `report` are those of [`run`](crate::run).
pub fn run_kernels(
    device: &Device,
    widths: &[usize],
    filter: Option<&str>,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    one_by_one(of_kernels(device, widths), filter, report)
}

/// Runs the cases of [`batches`] on an executor: `batch::sums` and so on for the CPU, or
/// `batch@cuda:0::sums` and so on for a device. `filter` and `report` are those of
/// [`run`](crate::run).
pub fn run_batches(
    executor: &Executor,
    sizes: &batches::Sizes,
    filter: Option<&str>,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    one_by_one(of_batches(executor, sizes), filter, report)
}

/// Runs the cases of [`transforms::big`], [`transforms::small`] and [`transforms::prime`] on a
/// device: `transform-big@cuda:0::convolutions`, `transform-small@cuda:0::rings` and so on. With
/// [`Depth::Quick`], runs only the quick cases of [`transforms::prime`]. `filter` and `report` are
/// those of [`run`](crate::run).
pub fn run_transforms(
    device: &Device,
    depth: Depth,
    sizes: (&transforms::big::Sizes, &transforms::small::Sizes),
    filter: Option<&str>,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    one_by_one(of_transforms(device, depth, sizes), filter, report)
}

fn one_by_one(
    cases: Vec<Case<'_>>,
    filter: Option<&str>,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    let mut run = Running { filter, report, summary: Summary::default() };
    run.all(cases, 1);
    run.summary
}

fn of_kernels<'a>(device: &'a Device, widths: &'a [usize]) -> Vec<Case<'a>> {
    let place = &device.info().id;
    let goldilocks = fields::goldilocks::CASES.iter().map(|&(case, of_field)| {
        Case::new(format!("field@{place}"), case, move || of_field(device, SEED))
    });
    let f50 = fields::f50::CASES.iter().map(|&(case, of_field)| {
        let work = move || of_field(device, SEED, fields::f50::DRAWN);
        Case::new(format!("field50@{place}"), case, work)
    });
    let m31 = fields::m31::CASES.iter().map(|&(case, of_field)| {
        Case::new(format!("field31@{place}"), case, move || of_field(device, SEED))
    });
    let elementwise = elementwise::CASES.iter().map(|&(case, of_batches)| {
        let work = move || of_batches(device, SEED, widths);
        Case::new(format!("elementwise@{place}"), case, work)
    });
    let memory = memory::CASES.iter().map(|&(case, of_memory)| {
        Case::new(format!("memory@{place}"), case, move || of_memory(device, SEED))
    });
    goldilocks.chain(f50).chain(m31).chain(elementwise).chain(memory).collect()
}

fn of_batches<'a>(executor: &'a Executor, sizes: &'a batches::Sizes) -> Vec<Case<'a>> {
    let place = executor.device().map(|device| format!("@{}", device.info().id));
    let family = format!("batch{}", place.unwrap_or_default());
    let of_devices = if executor.is_cpu() { &[] } else { batches::CASES_OF_DEVICES };
    let cases = batches::CASES.iter().chain(of_devices).map(|&(case, of_batches)| {
        Case::new(family.clone(), case, move || of_batches(executor, SEED, sizes))
    });
    cases.collect()
}

fn of_collatz<'a>(device: &'a Device, sizes: &'a collatz::Sizes) -> Vec<Case<'a>> {
    let family = format!("collatz@{}", device.info().id);
    let cases = collatz::CASES.iter().map(|&(case, of_methods)| {
        Case::new(family.clone(), case, move || of_methods(device, SEED, sizes))
    });
    cases.collect()
}

fn of_transforms<'a>(
    device: &'a Device,
    depth: Depth,
    (big, small): (&'a transforms::big::Sizes, &'a transforms::small::Sizes),
) -> Vec<Case<'a>> {
    let place = &device.info().id;
    let is_run = |case: &str| depth == Depth::Thorough || transforms::prime::QUICK.contains(&case);
    let of_big = transforms::big::CASES.iter().map(|&(case, of_big)| {
        let work = move || of_big(device, SEED, big);
        Case::new(format!("transform-big@{place}"), case, work)
    });
    let of_small = transforms::small::CASES.iter().map(|&(case, of_small)| {
        let work = move || of_small(device, SEED, small);
        Case::new(format!("transform-small@{place}"), case, work)
    });
    let of_prime = transforms::prime::CASES.iter().filter(|(case, _)| is_run(case));
    let of_prime = of_prime.map(|&(case, of_prime)| {
        Case::new(format!("transform-prime@{place}"), case, move || of_prime(device, SEED))
    });
    let of_ntt =
        [("goldilocks", transforms::ntt::GOLDILOCKS), ("f50", transforms::ntt::F50_PRIMES)];
    let of_ntt = of_ntt.into_iter().flat_map(|(field, cases)| {
        cases.iter().map(move |&(case, of_ntt)| {
            let work = move || of_ntt(device, SEED);
            Case::new(format!("transform-{field}@{place}"), case, work)
        })
    });
    of_big.chain(of_small).chain(of_prime).chain(of_ntt).collect()
}

fn of_huge(device: &Device) -> Vec<Case<'_>> {
    let family = format!("huge@{}", device.info().id);
    let of = |&(case, of_huge): &(&'static str, huge::Run)| {
        Case::new(family.clone(), case, move || of_huge(device, SEED))
    };
    huge::CASES.iter().map(of).collect()
}

/// Runs the cases of [`huge`] on a device: `huge@cuda:0::products` and so on. `filter` and `report`
/// are those of [`run`](crate::run).
pub fn run_huge(
    device: &Device,
    filter: Option<&str>,
    report: &mut dyn FnMut(&CaseReport),
) -> Summary {
    one_by_one(of_huge(device), filter, report)
}

/// Runs the cases of [`transforms::cpu`]: `transform::outputs` and so on. `filter` and `report` are
/// those of [`run`](crate::run).
pub fn run_transforms_on_cpu(filter: Option<&str>, report: &mut dyn FnMut(&CaseReport)) -> Summary {
    let cases = transforms::cpu::CASES.iter();
    let cases = cases.map(|(case, of_cpu)| Case::new("transform".into(), *case, || of_cpu(SEED)));
    one_by_one(cases.collect(), filter, report)
}
