//! Measures the accuracy of the engine family `fp64` on a device at every transform length. The
//! result is the table `crates/mersenne/tables/fp64-round-off.txt`.
//!
//! The exponents at which a length is measured are chosen by their margins. The margins are
//! computed from the version of this table with which the program was built.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::{fs, thread};

use anyhow::{Context, Result, ensure};
use clap::Args;
use rand_chacha::ChaCha8Rng;
use warpint_device::device_on;
use warpint_mersenne::engine::fp64::measured::{COLUMNS, MeasuredLength};
use warpint_mersenne::engine::places;
use warpint_mersenne::{
    BuildOptions, DeviceChoice, DeviceId, Engine, EngineFamily, RoundOff, Shift, Step,
};
use warpint_selftest::sample;

/// The number of consecutive squarings in which the engine always measures the round-off. The count
/// starts again when a register is written or a sum is computed. Among later squarings, the engine
/// measures only a few.
const WATCHED: u64 = 100;

/// The number of squarings after which a new random residue is drawn.
const SQUARINGS_OF_A_RESIDUE: u64 = 500;

/// The margin, in bits, of the largest exponent at which a length is measured. The margin of each
/// smaller exponent is larger by a further `MARGIN_STEP`.
const MARGIN: f64 = 0.3;
const MARGIN_STEP: f64 = 0.5;

/// The largest number of engines that exist at the same time. An engine of 36·2^20 words needs
/// about a gigabyte on the device.
const MOST_ENGINES: usize = 8;

/// The options of `margins`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Where to compute: cuda, cuda:N, sim
    #[arg(long, default_value = "cuda", value_parser = device)]
    device: DeviceId,
    /// The transform lengths in words, such as 64K..36M; by default all of at least 64K, or all up
    /// to 1K on the simulator
    #[arg(long, value_name = "FROM..TO", value_parser = range)]
    lengths: Option<RangeInclusive<usize>>,
    /// The least number of squarings measured at each length
    #[arg(long, value_name = "K", default_value_t = 2_000,
          value_parser = clap::value_parser!(u64).range(RoundOff::LEAST_PRODUCTS..))]
    squarings: u64,
    /// The number of shapes measured for each length, beginning with the default; the worst enters
    /// the table
    #[arg(long, value_name = "K", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..))]
    shapes: u32,
    /// The number of exponents measured for each length, with margins of 0.3, 0.8, 1.3 … bits; the
    /// worst enters the table
    #[arg(long, value_name = "K", default_value_t = 2,
          value_parser = clap::value_parser!(u32).range(1..=10))]
    exponents: u32,
    /// The seed of the residues; by default random, and printed
    #[arg(long)]
    seed: Option<u64>,
    /// The path of a file for the table, which is also printed
    #[arg(long)]
    output: Option<PathBuf>,
}

fn device(text: &str) -> Result<DeviceId, String> {
    match text.parse() {
        _ if text == "sim" => Ok(DeviceId::Sim),
        Ok(DeviceChoice::On(id)) => Ok(id),
        _ => Err("none of cuda, cuda:N, sim".into()),
    }
}

/// Parses a range of lengths such as `64K..36M`, which includes both ends.
fn range(text: &str) -> Result<RangeInclusive<usize>, String> {
    let ends = text.split_once("..").and_then(|(from, to)| Some(words(from)?..=words(to)?));
    let range = ends.ok_or("not a range of lengths, as 64K..36M")?;
    if range.is_empty() { Err("the first length is above the last".into()) } else { Ok(range) }
}

/// Parses a number of words: `65536`, `64K`, `1M`.
fn words(text: &str) -> Option<usize> {
    let (digits, unit) = match text.strip_suffix('K') {
        Some(digits) => (digits, 1 << 10),
        None => text.strip_suffix('M').map_or((text, 1), |digits| (digits, 1 << 20)),
    };
    digits.parse::<usize>().ok()?.checked_mul(unit)
}

/// A measurement to be made: a length in words, a shape for it, and an exponent p.
#[derive(Debug, Clone)]
struct Case {
    length: usize,
    p: u32,
    variant: usize,
    shape: String,
}

/// Measures every length and prints the table. Returns an error if the round-off of a length is too
/// high to be measured.
pub(crate) fn run(options: &Options) -> Result<()> {
    let lengths = options.lengths.clone().unwrap_or(match options.device {
        DeviceId::Sim => 1..=1 << 10,
        DeviceId::Cuda(_) => 1 << 16..=usize::MAX,
    });
    let folder = options.output.as_deref().and_then(Path::parent);
    if let Some(folder) = folder.filter(|folder| *folder != Path::new("")) {
        ensure!(folder.is_dir(), "there is no folder {}", folder.display());
    }
    let seed = options.seed.unwrap_or_else(rand::random);
    let name = device_on(options.device)?.info().name.clone();
    let family = fp64_on(options.device)?;
    let cases = cases(family, &lengths, options.shapes, options.exponents);
    let place = family.place();
    if cases.is_empty() {
        let (from, to) = (lengths.start(), lengths.end());
        let reason = format!("fp64 has no length from {from} to {to} on {place}\n");
        clap::Error::raw(clap::error::ErrorKind::ValueValidation, reason).exit();
    }
    eprintln!("seed {seed}, {} cases", cases.len());
    let mut done = 0;
    let measured = measure(family, &cases, options.squarings, seed, |line| {
        done += 1;
        eprintln!("{done}/{}: {line}", cases.len());
    })?;
    let lines = worst(&measured);
    let mut table = format!(
        "# Round-off of squarings of random residues by fp64 on {name}.\n\
         # cargo xtask margins --device {} --lengths {}..{} --squarings {} --shapes {} \
         --exponents {} --seed {seed}\n# {COLUMNS}\n",
        options.device,
        lines[0].length,
        lines[lines.len() - 1].length,
        options.squarings,
        options.shapes,
        options.exponents
    );
    for line in &lines {
        table += &format!("{line}\n");
    }
    print!("{table}");
    summarise(&measured, &lines);
    if let Some(path) = &options.output {
        fs::write(path, table).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

/// Prints the least [`MeasuredLength::z`] of all lengths. If several cases of a length were
/// measured, also prints the largest ratio c/c_1 of all lengths. Here c is the coefficient
/// [`MeasuredLength::c`] of the worst case of a length, and c_1 is the coefficient of its first
/// case. `lines` contains the worst case of each length.
fn summarise(measured: &[MeasuredLength], lines: &[MeasuredLength]) {
    if let Some((z, length)) = lines
        .iter()
        .filter_map(|line| Some((line.z?, line.length)))
        .min_by(|a, b| a.0.total_cmp(&b.0))
    {
        eprintln!("least Z of these squarings: {z:.1}, at {length} words");
    }
    // The cases of a length begin with the default shape at the largest exponent.
    let apart = lines.iter().filter_map(|line| {
        let first = measured.iter().find(|first| first.length == line.length)?;
        Some((line.c / first.c, line.length))
    });
    if let Some((ratio, length)) = apart.max_by(|a, b| a.0.total_cmp(&b.0))
        && measured.len() > lines.len()
    {
        eprintln!("largest c over that of the first case: {ratio:.3}, at {length} words");
    }
}

fn fp64_on(device: DeviceId) -> Result<&'static dyn EngineFamily> {
    let families = places::families_on(device)?;
    families.into_iter().find(|family| family.name() == "fp64").context("no family fp64")
}

/// Returns the cases of every length in the range, in ascending order of the lengths. The cases of
/// one length begin with the default shape at the largest exponent.
fn cases(
    family: &dyn EngineFamily,
    lengths: &RangeInclusive<usize>,
    shapes: u32,
    exponents: u32,
) -> Vec<Case> {
    let mut cases = vec![];
    for length in family.lengths(*lengths.start(), *lengths.end()) {
        let margins = (0..exponents).map(|i| MARGIN + MARGIN_STEP * f64::from(i));
        let exponents: Vec<u32> =
            margins.filter_map(|margin| longest(family, length, margin)).collect();
        for p in exponents {
            // Round-off depends on rows, columns and radices, not on tiles and registers.
            let mut seen = BTreeSet::new();
            let variants = family.profiled().map_or(vec![], |family| family.variants(length));
            let cuts = variants.into_iter().enumerate().filter(|(_, shape)| {
                seen.insert(shape.split(' ').take(2).map(str::to_owned).collect::<Vec<_>>())
            });
            for (variant, shape) in cuts.take(shapes as usize) {
                cases.push(Case { length, p, variant, shape });
            }
        }
    }
    cases
}

/// Returns the largest odd exponent p that has at least the given margin in bits at a length.
/// Returns `None` if no p has this margin.
fn longest(family: &dyn EngineFamily, length: usize, margin: f64) -> Option<u32> {
    let good = |p: u32| family.margin(p, length).is_ok_and(|found| found.bits >= margin);
    let step = length as u32 / 4;
    let (mut low, mut high) =
        (4..=100).rev().map(|i| (i * step, (i + 1) * step)).find(|&(p, _)| good(p))?;
    while high - low > 1 {
        let middle = low.midpoint(high);
        if good(middle) { low = middle } else { high = middle }
    }
    Some(if low % 2 == 0 { low - 1 } else { low })
}

/// Measures the cases one after another. Engines are built in advance on other threads, because
/// compiling their kernels takes longer than the squarings. Passes each result to `each` as soon as
/// it is known, and returns all results in the order of the cases.
fn measure(
    family: &'static dyn EngineFamily,
    cases: &[Case],
    squarings: u64,
    seed: u64,
    mut each: impl FnMut(&MeasuredLength),
) -> Result<Vec<MeasuredLength>> {
    let next = AtomicUsize::new(0);
    // Every builder has at most one engine, and one more is being measured.
    let builders = thread::available_parallelism()?.get().min(MOST_ENGINES - 1).min(cases.len());
    thread::scope(|scope| {
        let (built, engines) = mpsc::sync_channel(0);
        for _ in 0..builders {
            let (built, next) = (built.clone(), &next);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(at) else { break };
                    let mut rng = sample::random(seed);
                    rng.set_stream(at as u64);
                    let engine = build(family, case, &mut rng);
                    // After an error the receiver is gone.
                    if built.send((at, rng, engine)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(built);
        let mut measured = BTreeMap::new();
        for (at, mut rng, engine) in engines {
            let case = &cases[at];
            let what = || format!("M{} in {} words, {}", case.p, case.length, case.shape);
            let round_off =
                engine.and_then(|mut engine| round_off(&mut *engine, squarings, &mut rng));
            let round_off = round_off.with_context(what)?;
            let line = MeasuredLength::new(case.p, case.length, case.shape.clone(), &round_off);
            each(&line);
            measured.insert(at, line);
        }
        Ok(measured.into_values().collect())
    })
}

/// Builds the engine of a case with a random residue in register 0. Squares the residue once, so
/// that all kernels are loaded.
fn build(family: &dyn EngineFamily, case: &Case, rng: &mut ChaCha8Rng) -> Result<Box<dyn Engine>> {
    let options = BuildOptions { variant: case.variant, ..BuildOptions::new(2, 1) };
    let mut engine = family.build(case.p, case.length, options)?;
    engine.write(0, &sample::residue(rng, case.p), Shift::ZERO)?;
    engine.square(0, 1, Step::Square, Shift::ZERO)?;
    Ok(engine)
}

/// Returns the round-off measured over at least `squarings` squarings of random residues.
fn round_off(engine: &mut dyn Engine, squarings: u64, rng: &mut ChaCha8Rng) -> Result<RoundOff> {
    let stretches = squarings.div_ceil(WATCHED);
    for stretch in 0..stretches {
        let done = stretch * WATCHED;
        if done > 0 && done.is_multiple_of(SQUARINGS_OF_A_RESIDUE) {
            let x = sample::residue(rng, engine.exponent());
            engine.write(0, &x, Shift::ZERO)?;
        } else {
            // A sum starts the measurement of the next squarings like writing a register, but takes no
            // host time. The sum itself is not used.
            engine.add(1, 0, 0)?;
        }
        engine.square(0, WATCHED, Step::Square, Shift::ZERO)?;
    }
    engine.finish()?;
    let round_off = engine.health().round_off.context("round-off is not measured")?;
    let (made, seen) = (1 + stretches * WATCHED, round_off.products);
    ensure!(seen == made, "{seen} of {made} squarings were measured");
    Ok(round_off)
}

/// Returns, for every length in ascending order, the least accurate measurement: the one with the
/// largest coefficient [`MeasuredLength::c`].
fn worst(measured: &[MeasuredLength]) -> Vec<MeasuredLength> {
    let mut worst: BTreeMap<usize, &MeasuredLength> = BTreeMap::new();
    for line in measured {
        let kept = worst.entry(line.length).or_insert(line);
        if line.c > kept.c {
            *kept = line;
        }
    }
    worst.into_values().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_and_lengths_as_a_user_names_them() {
        assert_eq!(device("sim"), Ok(DeviceId::Sim));
        assert_eq!(device("cuda:1"), Ok(DeviceId::Cuda(1)));
        assert_eq!(range("64K..36M"), Ok(65_536..=37_748_736));
        assert_eq!(range("256..256"), Ok(256..=256));
        for bad in ["cpu", "auto", "", "cuda:x"] {
            assert!(device(bad).is_err(), "{bad}");
        }
        for bad in ["", "64K", "64K..", "..64K", "2..1", "1..99999999999999999999", "1..K"] {
            assert!(range(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_simulator_gives_a_table_whatever_the_order_of_builders() {
        let family = fp64_on(DeviceId::Sim).unwrap();
        let cases = cases(family, &(256..=320), 2, 2);
        let lengths: BTreeSet<usize> = cases.iter().map(|case| case.length).collect();
        assert!(lengths.contains(&256) && cases.len() > lengths.len(), "{cases:?}");
        let cases = &cases[..4];
        let margin = |case: &Case| family.margin(case.p, case.length).unwrap().bits;
        assert!(cases.iter().all(|case| case.p % 2 == 1 && margin(case) >= MARGIN), "{cases:?}");

        let mut told = 0;
        let first = measure(family, cases, 100, 1, |_| told += 1).unwrap();
        assert_eq!((first.len(), told), (cases.len(), cases.len()));
        for (line, case) in first.iter().zip(cases) {
            assert_eq!((line.length, line.exponent), (case.length, case.p));
            assert_eq!((line.squarings, &line.shape), (Some(101), &case.shape));
            // Short transforms are slightly more accurate than long ones.
            assert!((0.1..0.5).contains(&line.c), "{line}");
            assert!(line.z.is_some_and(|z| z > 10.0), "{line}");
            assert!(line.to_string().parse::<MeasuredLength>().is_ok(), "{line}");
        }
        assert_eq!(first, measure(family, cases, 100, 1, |_| ()).unwrap());
        assert_ne!(first, measure(family, cases, 100, 2, |_| ()).unwrap());

        let kept = worst(&first);
        for line in &first {
            let of_length = kept.iter().find(|kept| kept.length == line.length).unwrap();
            assert!(of_length.c >= line.c);
        }
    }
}
