//! The kernels on the simulator against the CPU.

use warpint_device::Device;

use super::*;
use crate::sieve::{CpuSieve, Rules, Shape, Sieve, Step};
use crate::{Region, Unwatched, Verifier};

fn blocks() -> Blocks {
    Blocks { grow: 64, last: 64, last_blocks: 1, long: 32 }
}

fn shape(look: u32, step: u32, rules: Rules) -> Shape {
    Shape { rules, look: Looking::new(look), step: Step::new(step).unwrap() }
}

/// On the simulator, with small buffers.
fn on_simulator(walker: Walker) -> GpuSieve {
    GpuSieve::new(&Device::simulator().unwrap(), walker).with_blocks(blocks()).with_nodes(1 << 10)
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
        let mut cpu = Sieve { shape, ..Sieve::new(CpuSieve::default()) };
        let mut device = Sieve { shape, ..Sieve::new(on_simulator(Walker::default())) };
        let expected = cpu.verify(&region, &Unwatched).unwrap().unwrap();
        let found = device.verify(&region, &Unwatched).unwrap().unwrap();
        assert_eq!(found, expected, "{region}");
    }
}

#[test]
fn what_the_device_gives_up_is_finished() {
    let region = Region::interval(1 << 20, 1 << 21).unwrap();
    let shape = shape(12, 8, Rules::default());
    let mut cpu = Sieve { shape, ..Sieve::new(CpuSieve::default()) };
    let expected = cpu.verify(&region, &Unwatched).unwrap().unwrap();
    for most in [0, 1, 14] {
        let engine = on_simulator(Walker::default()).with_most_steps(most);
        let mut device = Sieve { shape, ..Sieve::new(engine) };
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
