//! Measures squarings modulo k·2^n ± 1 against those modulo a Mersenne number in as many words, and squarings modulo
//! given numbers k·b^n ± 1: their time and their round-off.

use std::thread;
use std::time::Instant;

use anyhow::{Context, Result};
use clap::Args;
use warpint_device::{CPU, DeviceChoice, DeviceId};
use warpint_mersenne::engine::places;
use warpint_mersenne::{
    BuildOptions, Engine, EngineError, EngineFamily, Number, Plan, RoundOff, Shift, Sign, Step,
};
use warpint_selftest::sample;

/// The number of consecutive squarings in which an engine on a device measures the round-off of each.
const WATCHED: u64 = 100;

/// The options of `numbers`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Where to compute: cpu, cuda, cuda:N
    #[arg(long, default_value = "cuda")]
    device: DeviceChoice,
    /// The transform lengths in words
    #[arg(long, value_delimiter = ',', default_values_t = [65_536, 1 << 20, 4 << 20])]
    lengths: Vec<usize>,
    /// The multipliers k
    #[arg(long, value_delimiter = ',', default_values_t = [3, 10_223, 65_535])]
    multipliers: Vec<u64>,
    /// The time of each lap, in seconds; each number has three
    #[arg(long, default_value_t = 0.2)]
    lap: f64,
    /// The number of threads on the CPU; by default all
    #[arg(long)]
    threads: Option<usize>,
    /// Time squarings modulo these numbers k*b^n+1 or k*b^n-1 instead, by each engine that takes them
    #[arg(long, value_delimiter = ',', value_name = "NUMBER")]
    numbers: Vec<Number>,
    /// Time these numbers with this engine only
    #[arg(long)]
    engine: Option<String>,
    /// Also time squarings of this many numbers at a time
    #[arg(long, value_delimiter = ',')]
    together: Vec<usize>,
    /// The variants that squarings of several numbers at a time, or of these numbers, try
    #[arg(long, value_delimiter = ',', default_values_t = [0])]
    variants: Vec<usize>,
    /// Also time these numbers in the variants with these names, at the lengths that have them
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    shapes: Vec<String>,
    /// Time nothing but these variants
    #[arg(long)]
    only_variants: bool,
    /// Square several numbers at a time in launches of their own instead of common ones
    #[arg(long)]
    apart: bool,
    /// Time nothing but squarings of several numbers at a time
    #[arg(long)]
    only_together: bool,
}

/// Prints a line for each number.
pub(crate) fn run(options: &Options) -> Result<()> {
    let families = match options.device {
        DeviceChoice::On(id) => places::families_on(id)?,
        DeviceChoice::Cpu | DeviceChoice::Auto => places::families_on_cpu(),
    };
    if !options.numbers.is_empty() {
        return each(&options.numbers, &families, options);
    }
    let family = families.into_iter().find(|family| family.name() == "fp64");
    let family = family.context("no family fp64")?;
    if !options.only_together {
        println!("| number | words | µs | µs of 2^p − 1 | ratio | margin, bits | mean error | Z |");
        println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    }
    for &length in options.lengths.iter().filter(|_| !options.only_together) {
        let mersenne = |n| Number::mersenne(n);
        let p = longest(family, length, &mersenne).context("no Mersenne number of this length")?;
        line(family, mersenne(p), mersenne(p), length, options)?;
        for &k in &options.multipliers {
            for sign in [Sign::Minus, Sign::Plus] {
                let of = |n| Number::new(k, 2, n, sign).unwrap_or(Number::mersenne(1));
                match longest(family, length, &of) {
                    Some(n) => line(family, of(n), mersenne(p), length, options)?,
                    None => eprintln!("k = {k}, {length} words: no length has a margin"),
                }
            }
        }
    }
    let DeviceChoice::On(id) = options.device else { return Ok(()) };
    if !options.together.is_empty() {
        println!("| numbers at a time | of the size of | words | variant | µs for each squaring |");
        println!("|---:|---|---:|---|---:|");
    }
    for &length in &options.lengths {
        let of = |n| Number::new(3, 2, n, Sign::Plus).unwrap_or(Number::mersenne(1));
        let n = longest(family, length, &of).context("no number of this length")?;
        for &variant in &options.variants {
            for &count in &options.together {
                match together(id, of(n), length, variant, count, options) {
                    Ok((name, each)) => {
                        println!("| {count} | {} | {length} | {name} | {each:.3} |", of(n));
                    }
                    Err(error) => eprintln!("variant {variant} of {length} words: {error:#}"),
                }
            }
        }
    }
    Ok(())
}

/// Prints, for each number and each family that takes it, the time of a squaring at the length of the plan.
fn each(
    numbers: &[Number],
    families: &[&'static dyn EngineFamily],
    options: &Options,
) -> Result<()> {
    println!(
        "| number | engine | words | bits a word | µs | margin, bits | mean error | Z | kernels, µs |"
    );
    println!("|---|---|---:|---:|---:|---:|---:|---:|---|");
    for &number in numbers {
        let asked = |family: &&&dyn EngineFamily| {
            options.engine.as_ref().is_none_or(|name| name == family.name()) && family.takes(number)
        };
        for &family in families.iter().filter(asked) {
            let plan = Plan::of_family(number, family, None, options.threads)?;
            time_variants(plan.length(), family, number, options)?;
            if options.only_variants {
                continue;
            }
            let mut timer = plan.timer()?;
            timer.warm_up(200)?;
            timer.lap(200)?;
            let squarings = (options.lap / timer.mean().as_secs_f64().max(1e-9)).clamp(40.0, 1e6);
            let mut best = f64::INFINITY;
            for _ in 0..3 {
                timer.lap(squarings as u64)?;
                best = best.min(timer.extremes().0.as_secs_f64() * 1e6);
            }
            let mut engine = plan.build(1)?;
            engine.write(0, &sample::residue(&mut sample::random(1), number), Shift::ZERO)?;
            let kernels = kernels_of(engine.as_mut())?;
            let (words, bits) = (plan.length(), f64::from(number.bits()) / plan.length() as f64);
            let name = family.name();
            let margin = family.margin_for(number, words)?.bits;
            let round_off = match engine.health().round_off {
                None => "| | ".into(),
                Some(_) => {
                    let errors = errors(family, number, words)?;
                    let z = errors.z().map_or(String::new(), |z| format!("{z:.1}"));
                    format!("| {:.4} | {z} ", errors.mean)
                }
            };
            println!(
                "| {number} | {name} | {words} | {bits:.2} | {best:.2} | {margin:.2} {round_off}| {kernels} |"
            );
        }
    }
    Ok(())
}

/// Returns the times of the kernels of a squaring.
fn kernels_of(engine: &mut dyn Engine) -> Result<String> {
    let times = match engine.kernel_timer() {
        None => vec![],
        Some(kernels) => kernels.kernel_times(0, 100)?,
    };
    let times = times.iter().map(|of| format!("{} {:.1}", of.kernel, of.time.as_secs_f64() * 1e6));
    Ok(times.collect::<Vec<_>>().join(", "))
}

/// Prints a line for each variant other than the first one of a length, and for those with the given names: the
/// name, and the times of a squaring and of its kernels.
fn time_variants(
    length: usize,
    family: &'static dyn EngineFamily,
    number: Number,
    options: &Options,
) -> Result<()> {
    let names = family.profiled().map(|family| family.variants(length)).unwrap_or_default();
    let named = names.iter().enumerate().filter(|(_, name)| options.shapes.contains(name));
    let more = options.variants.iter().copied().filter(|variant| *variant > 0);
    for variant in more.chain(named.map(|(variant, _)| variant)) {
        let build = BuildOptions { variant, ..BuildOptions::new(1, 1) };
        // Not every variant suits every number.
        let Ok(mut engine) = family.build_for(number, length, build) else { continue };
        engine.set(0, 3, Shift::ZERO)?;
        squared(&mut engine, 1000)?;
        let start = Instant::now();
        squared(&mut engine, 1000)?;
        let laps = (options.lap / start.elapsed().as_secs_f64()).clamp(1.0, 1000.0) as u64;
        let start = Instant::now();
        squared(&mut engine, 1000 * laps)?;
        let each = start.elapsed().as_secs_f64() * 1e3 / laps as f64;
        let name = names.get(variant).map_or("", String::as_str);
        let (engine, kernels) = (family.name(), kernels_of(engine.as_mut())?);
        println!(
            "| {number} | {engine} | {length} | variant {variant}, {name} | {each:.2} | {kernels} |"
        );
    }
    Ok(())
}

/// Returns the name of a variant, and the time in µs that a squaring takes if `count` engines square at the same
/// time: the time of all squarings, divided by their number.
fn together(
    id: DeviceId,
    number: Number,
    length: usize,
    variant: usize,
    count: usize,
    options: &Options,
) -> Result<(String, f64)> {
    let mut engines = vec![];
    let mut name = String::new();
    for i in 0..count {
        let families = if options.apart {
            places::families_apart(id)?
        } else {
            places::families_in_gangs(id, i as u32)?
        };
        let family = families.into_iter().find(|family| family.name() == "fp64");
        let family = family.context("no family fp64")?;
        if i == 0 && variant == 0 && !options.apart {
            name = "that of gangs".into();
        } else if i == 0 {
            let variants = family.profiled().map(|family| family.variants(length));
            name = variants.unwrap_or_default().into_iter().nth(variant).unwrap_or_default();
        }
        let build = BuildOptions { variant, ..BuildOptions::new(1, 1) };
        let mut engine = family.build_for(number, length, build)?;
        engine.set(0, 3, Shift::ZERO)?;
        squared(&mut engine, 1000)?;
        engines.push(engine);
    }
    let start = Instant::now();
    squared(&mut engines[0], 1000)?;
    // The first time is that of squarings alone.
    let mean = start.elapsed().as_secs_f64() / 1e3;
    let squarings = (3.0 * options.lap / mean / count as f64).clamp(1000.0, 1e6) as u64;
    let start = Instant::now();
    thread::scope(|scope| {
        let work = |engine| squared(engine, squarings);
        let running: Vec<_> =
            engines.iter_mut().map(|engine| scope.spawn(move || work(engine))).collect();
        for thread in running {
            thread.join().map_err(|_| anyhow::anyhow!("a thread panicked"))??;
        }
        anyhow::Ok(())
    })?;
    let each = start.elapsed().as_secs_f64() * 1e6 / (squarings * count as u64) as f64;
    Ok((name, each))
}

/// Squares register 0 and waits for the result.
fn squared(engine: &mut Box<dyn Engine>, squarings: u64) -> Result<(), EngineError> {
    engine.square(0, squarings, Step::Square, Shift::ZERO)?;
    engine.finish()
}

/// Returns the largest n whose number has a margin at a length.
fn longest(family: &dyn EngineFamily, length: usize, of: &dyn Fn(u32) -> Number) -> Option<u32> {
    let good = |n: u32| family.margin_for(of(n), length).is_ok_and(|margin| margin.bits >= 0.0);
    let step = length as u32 / 4;
    let (mut low, mut high) =
        (4..=100).rev().map(|i| (i * step, (i + 1) * step)).find(|&(n, _)| good(n))?;
    while high - low > 1 {
        let middle = low.midpoint(high);
        if good(middle) { low = middle } else { high = middle }
    }
    Some(low)
}

/// Prints the line of a number. Its squarings and those of a Mersenne number are timed in turns.
fn line(
    family: &'static dyn EngineFamily,
    number: Number,
    mersenne: Number,
    length: usize,
    options: &Options,
) -> Result<()> {
    let plan = |number| Plan::of_family(number, family, Some(length), options.threads);
    let mut timers = [plan(number)?.timer()?, plan(mersenne)?.timer()?];
    let mut laps = vec![];
    for timer in &mut timers {
        timer.warm_up(200)?;
        timer.lap(200)?;
        let laps_of = options.lap / timer.mean().as_secs_f64().max(1e-9);
        laps.push(laps_of.clamp(40.0, 1e6) as u64);
    }
    let mut best = [f64::INFINITY; 2];
    for _ in 0..3 {
        for ((timer, &squarings), best) in timers.iter_mut().zip(&laps).zip(&mut best) {
            timer.lap(squarings)?;
            *best = best.min(timer.extremes().0.as_secs_f64() * 1e6);
        }
    }
    let errors = errors(family, number, length)?;
    let (mean, z) = (errors.mean, errors.z().unwrap_or(f64::NAN));
    let margin = family.margin_for(number, length)?.bits;
    let [own, other] = best;
    let ratio = own / other;
    println!(
        "| {number} | {length} | {own:.2} | {other:.2} | {ratio:.3} | {margin:.2} | {mean:.4} | {z:.1} |"
    );
    Ok(())
}

/// Returns the round-off of some hundred squarings of random residues.
fn errors(family: &dyn EngineFamily, number: Number, length: usize) -> Result<RoundOff> {
    let mut rng = sample::random(number.multiplier());
    let mut engine = family.build_for(number, length, BuildOptions::new(1, 1))?;
    for _ in 0..5 {
        engine.write(0, &sample::residue(&mut rng, number), Shift::ZERO)?;
        let squarings = if family.place() == CPU { WATCHED / 5 } else { WATCHED };
        engine.square(0, squarings, Step::Square, Shift::ZERO)?;
    }
    engine.finish()?;
    engine.health().round_off.context("round-off is not measured")
}
