//! Compiles every kernel for every architecture, without a GPU, and compares the registers and
//! spilled bytes of each kernel with its recorded budget.

mod budgets;
mod usage;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rayon::prelude::*;
use warpint_device::{Nvrtc, Source};
use warpint_mersenne::engine::{fp64_gpu, goldilocks_gpu, hybrid_gpu};

use budgets::{Budgets, Key};
use usage::{Limits, parse};

/// Each architecture, and the shared memory in bytes that is available to a block on it.
const ARCHITECTURES: [(u32, u32); 7] = [
    (75, 64 << 10),
    (80, 163 << 10),
    (86, 99 << 10),
    (89, 99 << 10),
    (90, 227 << 10),
    (100, 227 << 10),
    (120, 99 << 10),
];

/// The architectures that are checked without `--all`: the oldest, the one for which the kernels
/// are tuned, and the newest.
const FEW_ARCHITECTURES: [u32; 3] = [75, 90, 120];

/// The transform lengths of `goldilocks` that are checked without `--all`: a short length that
/// tests use, a length with a factor 5, and one for which the kernels are tuned.
const FEW_OF_GOLDILOCKS: [usize; 3] = [1 << 10, 5 << 16, 1 << 22];

/// The transform lengths of `fp64` that are checked: the shortest, one with a factor 3, and two for
/// which the kernels are tuned. They are the same with `--all`, because `fp64` has too many
/// lengths.
const FEW_OF_FP64: [usize; 4] = [256, 1536, 393_216, 4_718_592];

/// The transform lengths of `hybrid` that are checked: a short one, one for numbers k·b^n ± 1, and one of those that
/// tests of record exponents use.
const FEW_OF_HYBRID: [usize; 3] = [1 << 12, 1 << 20, 3 << 20];

/// The version of NVRTC (major, minor) for which the budgets are recorded. Other versions allocate
/// registers differently.
const COMPILER: (u32, u32) = (13, 0);

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Check every length (for fp64 one length of each kind) on every architecture; by default,
    /// check one length of each kind on three architectures
    #[arg(long)]
    all: bool,
    /// Write the measured values to the budgets
    #[arg(long)]
    update: bool,
    /// Check only these architectures, such as 90
    #[arg(long, value_name = "SM", value_delimiter = ',')]
    architectures: Vec<u32>,
    /// Check only these transform lengths, in words
    #[arg(long, value_name = "N", value_delimiter = ',')]
    lengths: Vec<usize>,
    /// Check only kernels in folders whose name contains this text
    #[arg(long, value_name = "FOLDER", default_value = "")]
    only: String,
}

impl Options {
    fn has(&self, folder: &Folder) -> bool {
        folder.budgets.contains(&self.only)
    }
}

/// A folder of kernels that share a file of budgets: the kernels of a crate, or of one engine
/// family of a crate.
struct Folder {
    /// The path of the file of budgets.
    budgets: &'static str,
    /// The names of the constants whose values distinguish budgets.
    by: &'static [&'static str],
    /// The transform lengths that are checked without `--all`; empty if the kernels have no
    /// lengths.
    few_lengths: &'static [usize],
    all_lengths: fn() -> Vec<usize>,
    sources: fn(lengths: &[usize], shared_memory: u32) -> Result<Vec<Source>>,
}

const FOLDERS: [Folder; 9] = [
    Folder {
        budgets: "crates/device/kernels/budgets.toml",
        by: &["RADIX"],
        few_lengths: &[],
        all_lengths: Vec::new,
        sources: |_, _| Ok(warpint_device::own_sources()),
    },
    Folder {
        budgets: "crates/mersenne/kernels/budgets.toml",
        by: &["OUTER_RADIX", "RADIX_A", "RADIX_B", "WIDTH", "LINES", "DIGITS", "THREADS", "BLOCKS"],
        few_lengths: &FEW_OF_GOLDILOCKS,
        all_lengths: || goldilocks_gpu::all_lengths().collect(),
        sources: |lengths, shared_memory| {
            let of = |&length| goldilocks_gpu::sources(length, shared_memory);
            // The sums of registers modulo k·2^n ± 1 are in the same file as those modulo 2^p − 1.
            let sums = fp64_gpu::sources(FEW_OF_FP64[0], shared_memory).into_iter();
            let sums = sums.filter(|source| source.kernels() == ["combine_form"]);
            Ok(lengths.iter().flat_map(of).chain(sums.take(1)).collect())
        },
    },
    Folder {
        budgets: "crates/mersenne/kernels/fp64/budgets.toml",
        by: &[
            "OUTER_RADIX",
            "RADIX_A",
            "RADIX_B",
            "WIDTH",
            "CHUNK",
            "PAIRS",
            "CHECKED",
            "STEP",
            "SUMS",
            "FORM",
            "PADDED",
            "FACTORS",
            "NEGACYCLIC",
            "DIGITS",
            "GANG",
            "THREADS",
            "BLOCKS",
        ],
        few_lengths: &FEW_OF_FP64,
        all_lengths: || FEW_OF_FP64.to_vec(),
        sources: |lengths, shared_memory| {
            let of = |&length| fp64_gpu::sources(length, shared_memory);
            // The sums of registers in `words.cu` are in the folder above.
            let is_sum =
                |kernel: &&str| kernel.starts_with("combine") && *kernel != "combine_padded";
            let own = |source: &Source| !source.kernels().iter().any(is_sum);
            Ok(lengths.iter().flat_map(of).filter(own).collect())
        },
    },
    Folder {
        budgets: "crates/mersenne/kernels/hybrid/budgets.toml",
        by: &[
            "OUTER_RADIX",
            "RADIX_A",
            "RADIX_B",
            "WIDTH",
            "CHUNK",
            "PAIRS",
            "CHECKED",
            "STEP",
            "NEGACYCLIC",
            "EXACT_NEGACYCLIC",
            "DIGITS",
            "THREADS",
            "BLOCKS",
        ],
        few_lengths: &FEW_OF_HYBRID,
        all_lengths: || FEW_OF_HYBRID.to_vec(),
        sources: |lengths, shared_memory| {
            let of = |&length| hybrid_gpu::sources(length, shared_memory);
            // The sums of registers in `words.cu` are in a folder above.
            let own = |source: &Source| !source.kernels().iter().any(|k| k.starts_with("combine"));
            Ok(lengths.iter().flat_map(of).filter(own).collect())
        },
    },
    Folder {
        budgets: "crates/integer/kernels/budgets.toml",
        by: &[
            "VECTOR", "LONG", "CHUNK", "WINDOWS", "LEVELS", "LEAF", "LOW", "LOG_HEAD", "SHARE",
            "PRIMES", "WIDE", "SQUARE",
        ],
        few_lengths: &[],
        all_lengths: Vec::new,
        sources: |_, shared_memory| Ok(warpint_integer::gpu::sources(shared_memory)?),
    },
    Folder {
        budgets: "crates/integer/kernels/huge/budgets.toml",
        by: &["BITS"],
        few_lengths: &[],
        all_lengths: Vec::new,
        sources: |_, _| Ok(warpint_integer::huge::device::sources()),
    },
    Folder {
        budgets: "crates/collatz/kernels/budgets.toml",
        by: &["STEP", "LOOK", "THREADS", "BLOCKS"],
        few_lengths: &[],
        all_lengths: Vec::new,
        sources: |_, shared_memory| Ok(warpint_collatz::gpu::sources(shared_memory)),
    },
    Folder {
        budgets: "crates/transform/kernels/budgets.toml",
        by: &[
            "DIGITS",
            "WORDS",
            "LIMBS",
            "LOG_POINTS",
            "STAGES",
            "TWIDDLED",
            "TABLE",
            "INVERSE",
            "MODULAR",
            "KIND",
        ],
        few_lengths: &[],
        all_lengths: Vec::new,
        sources: |_, shared_memory| Ok(warpint_transform::gpu::sources(shared_memory)),
    },
    Folder {
        budgets: "crates/selftest/kernels/budgets.toml",
        by: &[],
        few_lengths: &[],
        all_lengths: Vec::new,
        sources: |_, _| {
            use warpint_selftest::fields::{f50, goldilocks};
            Ok(vec![goldilocks::source(), f50::source()])
        },
    },
];

/// One translation unit to compile for one architecture.
struct Task {
    folder: usize,
    source: Source,
    architecture: u32,
}

/// A compiled kernel, with the resources that it uses.
struct Found {
    folder: usize,
    key: Key,
    /// The file name and the constants of the kernel's source, for messages.
    title: String,
    limits: Limits,
    /// The compilation time of the kernel's translation unit, divided by the number of kernels in
    /// the unit.
    time: Duration,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let start = Instant::now();
    let nvrtc = Nvrtc::find(None)?;
    let (major, minor) = nvrtc.version();
    ensure!(
        (major, minor) == COMPILER,
        "budgets are of NVRTC {}.{}, and {} is {major}.{minor} \
         (pip install 'nvidia-cuda-nvrtc=={}.{}.*', or set WARPINT_NVRTC)",
        COMPILER.0,
        COMPILER.1,
        nvrtc.path().display(),
        COMPILER.0,
        COMPILER.1,
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("no workspace")?;
    let mut budgets = FOLDERS
        .iter()
        .map(|folder| Budgets::read(&root.join(folder.budgets), folder.by))
        .collect::<Result<Vec<_>>>()?;

    let tasks = tasks(options)?;
    ensure!(!tasks.is_empty(), "there is no such length, architecture or folder");
    println!("{} translation units, NVRTC {major}.{minor}", tasks.len());
    let found: Vec<_> =
        tasks.par_iter().map(|task| compiled(&nvrtc, task, &budgets)).collect::<Result<_>>()?;
    let found: Vec<Found> = found.into_iter().flatten().collect();

    print!("{}", table(&found));
    println!("{:.0} s", start.elapsed().as_secs_f64());
    if options.update {
        return update(&found, &mut budgets, options);
    }
    let mut over: Vec<_> = found.iter().filter_map(|kernel| excess(kernel, &budgets)).collect();
    over.sort_unstable();
    over.dedup();
    for line in &over {
        eprintln!("{line}");
    }
    ensure!(
        over.is_empty(),
        "{} kernels take more than is written down: \
         mend them, or write it down by cargo xtask check-kernels --update",
        over.len()
    );
    Ok(())
}

/// Returns the translation units to compile for each architecture, without duplicates.
fn tasks(options: &Options) -> Result<Vec<Task>> {
    let chosen = |architecture: u32| match &options.architectures[..] {
        [] => options.all || FEW_ARCHITECTURES.contains(&architecture),
        some => some.contains(&architecture),
    };
    let lengths_of = |folder: &Folder| match &options.lengths[..] {
        [] if options.all => (folder.all_lengths)(),
        [] => folder.few_lengths.to_vec(),
        some => some.to_vec(),
    };
    let mut tasks = vec![];
    for (architecture, shared_memory) in ARCHITECTURES {
        if !chosen(architecture) {
            continue;
        }
        for (folder, of) in FOLDERS.iter().enumerate().filter(|(_, of)| options.has(of)) {
            let mut seen = std::collections::HashSet::new();
            let sources = (of.sources)(&lengths_of(of), shared_memory)?.into_iter();
            let new = sources.filter(|source| seen.insert(source.clone()));
            tasks.extend(new.map(|source| Task { folder, source, architecture }));
        }
    }
    Ok(tasks)
}

fn compiled(nvrtc: &Nvrtc, task: &Task, budgets: &[Budgets]) -> Result<Vec<Found>> {
    let begin = Instant::now();
    let Task { folder, source, architecture } = task;
    let title = source.title();
    let log =
        nvrtc.compile(source, *architecture).with_context(|| format!("for sm_{architecture}"))?.log;
    let used = parse(&log).with_context(|| format!("{title} for sm_{architecture}"))?;
    for &name in source.kernels() {
        ensure!(used.iter().any(|usage| usage.kernel == name), "{title} has no kernel `{name}`");
    }
    let constants =
        budgets.get(*folder).map(|budgets| budgets.constants(source.defines())).unwrap_or_default();
    let time = begin.elapsed() / used.len().max(1) as u32;
    let found = used.into_iter().map(|usage| {
        let (kernel, constants) = (usage.kernel, constants.clone());
        let key = Key { kernel, constants, architecture: Some(*architecture) };
        Found { folder: *folder, key, title: title.clone(), limits: usage.limits, time }
    });
    Ok(found.collect())
}

/// Returns a message if a kernel exceeds its budget or has no budget. Returns `None` otherwise.
fn excess(found: &Found, budgets: &[Budgets]) -> Option<String> {
    let budgets = budgets.get(found.folder)?;
    let Found { key, title, limits, .. } = found;
    let kernel = format!("{} in {title} for sm_{}", key.kernel, key.architecture.unwrap_or(0));
    let Some(budget) = budgets.get(key) else {
        return Some(format!(
            "{kernel}: {}; {} has no budget for it",
            told(*limits),
            budgets.path().display()
        ));
    };
    (!limits.within(budget)).then(|| {
        format!("{kernel}: {}; {} allows {}", told(*limits), budgets.path().display(), told(budget))
    })
}

fn told(limits: Limits) -> String {
    let Limits { registers, stack_bytes, spill_bytes } = limits;
    format!("{registers} registers, {stack_bytes} bytes of stack, {spill_bytes} bytes spilled")
}

fn update(found: &[Found], budgets: &mut [Budgets], options: &Options) -> Result<()> {
    let all = options.all && options.architectures.is_empty() && options.lengths.is_empty();
    for (folder, budgets) in budgets.iter_mut().enumerate() {
        if !FOLDERS.get(folder).is_some_and(|of| options.has(of)) {
            continue;
        }
        let mut measured: BTreeMap<Key, Limits> = BTreeMap::new();
        for kernel in found.iter().filter(|kernel| kernel.folder == folder) {
            let limits = measured.entry(kernel.key.clone()).or_default();
            *limits = limits.max(kernel.limits);
        }
        budgets.update(&measured, all);
        budgets.write()?;
        println!("written: {}", budgets.path().display());
    }
    Ok(())
}

/// Returns a table with one line for each kernel name: the largest values over all constants and
/// architectures.
fn table(found: &[Found]) -> String {
    #[derive(Default)]
    struct Line {
        units: usize,
        architectures: BTreeSet<u32>,
        worst: Limits,
        spilling: usize,
        time: Duration,
    }
    let mut lines: BTreeMap<&str, Line> = BTreeMap::new();
    for kernel in found {
        let line = lines.entry(&kernel.key.kernel).or_default();
        line.units += 1;
        line.architectures.extend(kernel.key.architecture);
        line.worst = line.worst.max(kernel.limits);
        line.spilling += usize::from(kernel.limits.spill_bytes > 0);
        line.time += kernel.time;
    }
    let mut text = format!(
        "{:<16} {:>8} {:>13} {:>9} {:>11} {:>9} {:>9}\n",
        "kernel", "compiled", "architectures", "registers", "stack bytes", "spilling", "CPU time"
    );
    for (kernel, line) in lines {
        text += &format!(
            "{kernel:<16} {:>8} {:>13} {:>9} {:>11} {:>9} {:>7.1} s\n",
            line.units,
            line.architectures.len(),
            line.worst.registers,
            line.worst.stack_bytes,
            line.spilling,
            line.time.as_secs_f64(),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "extern \"C\" __global__ void doubles(unsigned *x) {\n\
                        unsigned y[N];\n\
                        for (int i = 0; i < N; i++) y[i] = x[i * 32 + threadIdx.x];\n\
                        for (int i = 0; i < N; i++) x[i * 32 + threadIdx.x] = 2 * y[i];\n}\n";

    fn task(points: u32) -> Task {
        let source = Source::new("doubles.cu", TEXT, &["doubles"]).define("N", points);
        Task { folder: 0, source, architecture: 90 }
    }

    /// Compiles the kernel of the test for this number of points. Returns `None` if this machine
    /// has no compiler.
    fn found(points: u32) -> Option<Found> {
        let nvrtc = Nvrtc::find(None).ok()?;
        compiled(&nvrtc, &task(points), &[]).unwrap().pop()
    }

    fn budgets(registers: u32) -> Vec<Budgets> {
        let folder = tempfile::tempdir().unwrap();
        let mut budgets = Budgets::read(&folder.path().join("budgets.toml"), &["N"]).unwrap();
        let key = Key { kernel: "doubles".into(), constants: String::new(), architecture: None };
        let limits = Limits { registers, ..Limits::default() };
        budgets.update(&BTreeMap::from([(key, limits)]), true);
        vec![budgets]
    }

    #[test]
    fn a_kernel_over_its_budget_is_one_line() {
        let Some(kernel) = found(16) else { return };
        let registers = kernel.limits.registers;
        assert_eq!(excess(&kernel, &budgets(registers)), None);
        let line = excess(&kernel, &budgets(registers - 1)).unwrap();
        assert!(
            line.starts_with(&format!(
                "doubles in doubles.cu(N=16) for sm_90: {registers} registers"
            )),
            "{line}"
        );
        assert!(line.contains(&format!("allows {} registers", registers - 1)), "{line}");
        assert_eq!(line.lines().count(), 1);
        // All points are in registers.
        assert!(registers > found(2).unwrap().limits.registers);
    }

    #[test]
    fn a_spill_needs_to_be_written_down() {
        let limits = Limits { registers: 20, stack_bytes: 8, spill_bytes: 8 };
        let key =
            Key { kernel: "doubles".into(), constants: String::new(), architecture: Some(75) };
        let kernel =
            Found { folder: 0, key, title: "doubles.cu()".into(), limits, time: Duration::ZERO };
        let line = excess(&kernel, &budgets(20)).unwrap();
        assert!(line.contains("8 bytes spilled"), "{line}");
        let unknown = Found { key: Key { kernel: "other".into(), ..kernel.key }, ..kernel };
        assert!(excess(&unknown, &budgets(20)).unwrap().ends_with("has no budget for it"));
    }

    #[test]
    fn a_kernel_that_is_not_there_is_noticed() {
        let Ok(nvrtc) = Nvrtc::find(None) else { return };
        let source = Source::new("doubles.cu", TEXT, &["halves"]).define("N", 1);
        let task = Task { source, ..task(1) };
        let error = compiled(&nvrtc, &task, &[]).err().unwrap().to_string();
        assert_eq!(error, "doubles.cu(N=1) has no kernel `halves`");
    }
}
