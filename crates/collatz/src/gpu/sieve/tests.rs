//! Tests of the kernels on the simulator, against the CPU.

use std::sync::atomic::{AtomicU32, Ordering};

use warpint_device::Device;

use super::*;
use crate::sieve::{CpuSieve, Piece, Rules, Shape, Sieve, Step, pieces};
use crate::{Region, Unwatched, Verified, Verifier};

fn blocks() -> Blocks {
    Blocks { grow: 64, last: 64, last_blocks: 1, long: 32 }
}

fn shape(look: u32, step: u32, rules: Rules) -> Shape {
    Shape { rules, look: Looking::new(look), step: Step::new(step).unwrap() }
}

/// The seed of the challenges on the device and on the CPU.
const SEED: u64 = 20_261_123;

fn on_cpu() -> CpuSieve {
    CpuSieve::default().with_nodes_of_a_challenge(EVERY)
}

/// About one challenge is drawn for every `EVERY` nodes. This gives some tens of challenges in
/// trees of some hundreds of nodes.
const EVERY: u64 = 16;

/// Returns the sieve on the simulator, with small buffers.
fn on_simulator(walker: Walker) -> GpuSieve {
    let engine = GpuSieve::new(&Device::simulator().unwrap(), walker);
    engine.with_blocks(blocks()).with_nodes(1 << 10).with_nodes_of_a_challenge(EVERY)
}

/// Verifies a region on the device, and compares the result with the CPU's result.
fn check(region: &Region, shape: Shape) -> Verified {
    let mut cpu = Sieve { shape, seed: Some(SEED), ..Sieve::new(on_cpu()) };
    let mut device =
        Sieve { shape, seed: Some(SEED), ..Sieve::new(on_simulator(Walker::default())) };
    let expected = cpu.verify(region, &Unwatched).unwrap().unwrap();
    let found = device.verify(region, &Unwatched).unwrap().unwrap();
    assert_eq!(found, expected, "{region}");
    found
}

#[test]
fn trees_are_walked_as_on_the_cpu() {
    let rules = Rules::default();
    let cases = [
        (Region::interval(1 << 20, 1 << 21).unwrap(), shape(12, 8, rules)),
        (Region::interval(3 << 69, (3 << 69) + (1 << 20)).unwrap(), shape(11, 9, rules)),
        (Region::class(36, 14, 27).unwrap(), shape(13, 10, rules)),
        (Region::class(71, 52, (1 << 51) - 1).unwrap(), shape(12, 8, rules)),
        (
            Region::interval(0, 1 << 20).unwrap(),
            shape(12, 8, Rules { preimages: false, runs: false, mod_9: false }),
        ),
    ];
    for (region, shape) in cases {
        check(&region, shape);
    }
}

/// Tests trees of large numbers and trees of many levels. Three kinds of data consist of several
/// words: the low bits, the bits above them, and the values on the paths. Each of these words
/// affects some result.
#[test]
fn far_and_deep_trees_are_walked_as_on_the_cpu() {
    let far = |bits: u32, add: u128| {
        let from = (1 << bits | add) >> 17 << 17;
        Region::interval(from, from + (1 << 17)).unwrap()
    };
    let deep =
        |bits: u32, low_bits: u32| Region::class(bits, low_bits, (1 << low_bits) - 1).unwrap();
    let cases = [
        (far(94, 0x5bd1_e995_9bd1_e995 << 20), 8),
        (far(112, 0xc2b2_ae3d_27d4_eb4f << 40), 9),
        (far(114, 0x9e37_79b9_7f4a_7c15 << 45), 10),
        (deep(82, 66), 11),
        (deep(81, 65), 12),
        (deep(74, 58), 13),
        (Region::class(80, 64, 11_795_138_530_315_862_015).unwrap(), 11),
    ];
    for (region, step) in cases {
        let shape = shape(11, step, Rules::default());
        let found = check(&region, shape);
        assert!(found.walked > 0, "{region}");
    }
}

/// Tests a tree whose root has many low bits, and whose interval begins at a large number.
#[test]
fn a_tree_with_all_its_parts_is_walked_as_on_the_cpu() {
    for (low_bits, top) in [(44, 0x3_1234_5679u128), (50, 0x1ff_ffff), (52, 1 << 21 | 12_345)] {
        let region = Region::class(low_bits + 17, low_bits, (1 << low_bits) - 1).unwrap();
        let mut tree = pieces(&region, shape(10, 9, Rules::default()), Looking::LEAST)
            .unwrap()
            .into_iter()
            .find_map(|piece| match piece {
                Piece::Tree(tree) => Some(tree),
                Piece::Plain { .. } => None,
            })
            .unwrap();
        tree.top = top << 10;
        let expected = CpuSieve::default().tree(Task::new(&tree), &Unwatched).unwrap().unwrap();
        let mut device = on_simulator(Walker::default());
        let found = device.tree(Task::new(&tree), &Unwatched).unwrap().unwrap();
        assert_eq!(found, expected, "{low_bits} {top}");
    }
}

#[test]
fn what_the_device_gives_up_is_finished() {
    let region = Region::interval(1 << 20, 1 << 21).unwrap();
    let shape = shape(12, 8, Rules::default());
    let mut cpu = Sieve { shape, seed: Some(SEED), ..Sieve::new(on_cpu()) };
    let expected = cpu.verify(&region, &Unwatched).unwrap().unwrap();
    for most in [0, 1, 14] {
        let engine = on_simulator(Walker::default()).with_most_steps(most);
        let mut device = Sieve { shape, seed: Some(SEED), ..Sieve::new(engine) };
        assert_eq!(device.verify(&region, &Unwatched).unwrap().unwrap(), expected, "{most}");
    }
}

#[test]
fn a_trap_is_found() {
    let trap = Walker { trap: Some(483_308_017_730u64.into()), limit: 10_000 };
    let region = Region::interval(63_700_992, 63_700_992 + (1 << 16)).unwrap();
    let shape = shape(12, 8, Rules::default());
    let mut device = Sieve { shape, walker: trap.clone(), ..Sieve::new(on_simulator(trap)) };
    let verified = device.verify(&region, &Unwatched).unwrap().unwrap();
    assert_eq!(verified.unresolved, [63_728_127]);
}

/// A fault by which the list of long numbers seems too short in the first launches.
#[derive(Debug, Default)]
struct Short(AtomicU32);

impl Strike for Short {
    fn strike(&self, memory: Memory<'_>) -> Result<(), DeviceError> {
        let Memory::Places(counters) = memory else { return Ok(()) };
        // Once for all nodes, then for half of them, and so on to fewer than 32.
        if self.0.fetch_add(1, Ordering::Relaxed) > 3 {
            return Ok(());
        }
        let mut counts = counters.download()?;
        if let Some(places) = counts.last_mut() {
            *places = 1 << 31;
        }
        counters.upload(&counts)
    }
}

#[test]
fn challenges_are_answered_in_halves_too() {
    let region = Region::interval(1 << 22, 1 << 23).unwrap();
    let shape = shape(12, 8, Rules::default());
    let cpu = CpuSieve::default().with_nodes_of_a_challenge(1);
    let mut cpu = Sieve { shape, seed: Some(SEED), ..Sieve::new(cpu) };
    let expected = cpu.verify(&region, &Unwatched).unwrap().unwrap();
    let short = Arc::new(Short::default());
    let engine = on_simulator(Walker::default()).with_nodes_of_a_challenge(1);
    let engine = engine.with_strike(short.clone());
    let mut device = Sieve { shape, seed: Some(SEED), ..Sieve::new(engine) };
    assert_eq!(device.verify(&region, &Unwatched).unwrap().unwrap(), expected);
    assert!(short.0.load(Ordering::Relaxed) == 9);
    assert_eq!(u128::from(expected.evidence.unwrap().challenges), expected.evidence.unwrap().items);
}

#[test]
fn trees_of_few_nodes_answer_challenges() {
    // All of them are in one tally.
    let mut nodes = vec![];
    for low_bits in 6..12 {
        let region = Region::class(low_bits + 16, low_bits, (1 << low_bits) - 5).unwrap();
        let shape = shape(12, 8, Rules::default());
        let cpu = CpuSieve::default().with_nodes_of_a_challenge(1);
        let mut cpu = Sieve { shape, seed: Some(SEED), ..Sieve::new(cpu) };
        let expected = cpu.verify(&region, &Unwatched).unwrap().unwrap();
        let engine = on_simulator(Walker::default()).with_nodes_of_a_challenge(1);
        let mut device = Sieve { shape, seed: Some(SEED), ..Sieve::new(engine) };
        assert_eq!(device.verify(&region, &Unwatched).unwrap().unwrap(), expected);
        nodes.push(expected.evidence.unwrap().items);
    }
    assert!(nodes.iter().any(|&n| n > 0 && n < 10), "{nodes:?}");
}

#[test]
fn memory_that_is_too_short_is_refused_before_a_launch() {
    let device = Device::simulator().unwrap();
    let kernels = Kernels::new(&device, blocks(), (8, 12, 1)).unwrap();
    let powers = device.alloc(128).unwrap();
    let nodes = device.alloc::<NodeWords>(8).unwrap();
    let mut grown = device.alloc::<NodeWords>(9).unwrap();
    let mut counters = device.upload(&[5u32, 0]).unwrap();
    let refused = |work: &mut dyn FnMut() -> Result<(), DeviceError>| {
        let work = std::panic::AssertUnwindSafe(|| drop(work()));
        std::panic::catch_unwind(work).unwrap_err().downcast_ref::<String>().cloned().unwrap()
    };
    for (most, said) in [
        (9, "nodes of 8 elements, where a kernel needs 9"),
        (5, "children of nodes of 9 elements, where a kernel needs 10"),
    ] {
        let found = refused(&mut || {
            let nodes = (nodes.view(..), grown.cells(..));
            kernels.grow(nodes, counters.cells(..), &powers, 20, [0; 3], most)
        });
        assert_eq!(found, said);
    }
    assert_eq!(counters.download().unwrap(), [5, 0]);
    let tallies = device.alloc(3).unwrap();
    let mut sums = device.upload(&[0u64; 6]).unwrap();
    let found = refused(&mut || kernels.sum(&tallies, 4, 1, sums.cells(2..)));
    assert_eq!(found, "tallies of 3 elements, where a kernel needs 4");
    let found = refused(&mut || kernels.sum(&tallies, 3, 1, sums.cells(3..)));
    assert_eq!(found, "sums of 3 elements, where a kernel needs 4");
    let (keys, mut places) = (device.alloc(2).unwrap(), device.alloc(3).unwrap());
    let found = refused(&mut || kernels.find(&nodes, &(0..8), keys.view(..), places.cells(..)));
    assert_eq!(found, "places of keys of 3 elements, where a kernel needs 4");
}
