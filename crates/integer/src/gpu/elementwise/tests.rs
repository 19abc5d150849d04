//! Tests of shapes and of refused arguments. `warpint_selftest::batches::elementwise` tests the
//! results of the kernels.

use warpint_device::Device;

use super::shape::{GroupShape, Kernel};
use super::{Results, Shift, sources};
use crate::gpu::{Gpu, Operand, Shape};

#[test]
fn every_width_has_a_kernel_that_holds_it() {
    let constants = |shape: GroupShape| {
        let source = shape.text();
        let value = |name: &str| {
            let (_, value) = source.defines().iter().find(|(n, _)| *n == name).unwrap();
            value.parse::<usize>().unwrap()
        };
        ["VECTOR", "LANES", "ROWS", "LONG", "THREADS"].map(value)
    };
    for limbs in (1..=2_100_usize).chain([1 << 16, (1 << 16) + 1, 1 << 17]) {
        for other in [limbs, limbs.div_ceil(2), limbs + 1, 1] {
            for kernel in [Kernel::Compare, Kernel::Shift] {
                let shape = GroupShape::new(kernel, &[limbs, other]);
                let [vector, lanes, rows, long, threads] = constants(shape);
                assert!(limbs % vector == 0 && other % vector == 0, "{shape:?}");
                assert!(lanes.is_power_of_two() && threads % lanes == 0, "{shape:?}");
                assert!(lanes <= 32 || (lanes == threads && long == 1), "{shape:?}");
                assert!(long == 1 || limbs.max(other) <= lanes * vector, "{shape:?}");
                assert!(kernel != Kernel::Shift || vector == 1, "{shape:?}");
                let numbers = threads / lanes * if long == 1 { 1 } else { rows };
                assert_eq!(shape.numbers() as usize, numbers, "{shape:?}");
            }
        }
    }
    assert_eq!(sources().len(), 10 * 3 * 4 + 4);
}

#[test]
fn memory_that_is_too_short_is_refused() {
    let gpu = Gpu::new(&Device::simulator().unwrap());
    let mut data = gpu.device().upload(&[1u32; 12]).unwrap();
    let mut short = gpu.device().upload(&[0u32; 11]).unwrap();
    let right = Results::new(&mut data, 4);
    let a = |limbs| Operand { limbs, ..right.operand() };
    gpu.negate(a(4), 3, right).unwrap();
    let refused = [
        gpu.negate(a(4), 4, right),
        gpu.negate(a(5), 3, Results::new(&mut short, 3)),
        gpu.negate(a(0), 3, right),
        gpu.negate(a(usize::MAX), 3, right),
        gpu.not(a(4), 3, Results::new(&mut short, 4)),
        gpu.shift(Shift::Left, 1, a(4), 3, Results::new(&mut short, 4)),
        gpu.multiply_by_word(a(3), 1, 3, Results::new(&mut short, 4)),
        gpu.bit_lengths(a(1), 12, &mut short),
        gpu.compare(a(4), a(4), 3, &mut gpu.device().alloc(2).unwrap()),
    ];
    for refusal in refused {
        let line = refusal.unwrap_err().to_string();
        assert!(line.starts_with("an operation on a batch failed: "), "{line}");
    }
    // A broadcast operand needs one number for any count, and none for count 0.
    let broadcast = Operand { broadcast: true, ..a(12) };
    gpu.compare(broadcast, a(4), 3, &mut gpu.device().alloc(3).unwrap()).unwrap();
    gpu.negate(a(4), 0, Results::new(&mut gpu.device().alloc(0).unwrap(), 4)).unwrap();
}
