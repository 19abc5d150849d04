//! Tests of batches on a device: moves between the CPU and devices, refused arguments, and boundary
//! cases. `warpint_selftest::batches` and comparisons with GMP test the results of operations.

use warpint_device::{Device, DeviceError};
use warpint_integer::{Executor, Flags, IntegerError, UintBatch, Width};

fn device() -> Executor {
    Executor::on(Device::simulator().unwrap())
}

fn width(bits: u32) -> Width {
    Width::new(bits).unwrap()
}

#[test]
fn there_and_back() {
    let (cpu, on) = (Executor::cpu(), device());
    assert!(!on.is_cpu() && on.device().is_some());
    assert_eq!(format!("{on:?}"), format!("{:?}", on.device().unwrap()));
    let limbs: Vec<u32> = (0..15).map(|i| 0x9e37_79b9_u32.wrapping_mul(i)).collect();
    let batch = UintBatch::from_limbs(&on, width(160), &limbs).unwrap();
    assert_eq!((batch.count(), batch.as_limbs()), (3, None));
    assert_eq!(batch.to_limbs().unwrap(), limbs);
    assert_eq!(batch.get(1).unwrap().unwrap(), limbs[5..10]);
    let copy = batch.try_clone().unwrap();
    let host = batch.to(&cpu).unwrap();
    assert_eq!(host.as_limbs(), Some(&limbs[..]));
    // Changing a copy does not change the original.
    let mut changed = copy.try_clone().unwrap();
    drop(changed.sub_assign(&copy).unwrap());
    assert_eq!(changed.to_limbs().unwrap(), [0; 15]);
    assert_eq!(copy.to_limbs().unwrap(), limbs);
    // To the same device through another executor, and to another device.
    let again = Executor::on(on.device().unwrap().clone());
    let copy = copy.to(&again).unwrap().to(&device()).unwrap();
    assert_eq!(copy.to_limbs().unwrap(), limbs);
    let texts = host.to_decimal().unwrap();
    let read = UintBatch::from_decimal(&on, width(160), texts.iter().map(String::as_str)).unwrap();
    assert_eq!(read.to_decimal().unwrap(), texts);
    assert_eq!(read.to_bytes_be().unwrap(), host.to_bytes_be().unwrap());
}

#[test]
fn zeros_are_zeros() {
    let on = device();
    // Memory that was used before.
    drop(UintBatch::from_limbs(&on, width(64), &[u32::MAX; 64]).unwrap());
    assert_eq!(UintBatch::zeros(&on, 32, width(64)).unwrap().to_limbs().unwrap(), [0; 64]);
    let flags = Flags::zeros(&on, 40).unwrap();
    assert_eq!((flags.len(), flags.any().unwrap(), flags.count().unwrap()), (40, false, 0));
}

#[test]
fn no_numbers_at_all() {
    let on = device();
    let none = UintBatch::zeros(&on, 0, width(64)).unwrap();
    let one = UintBatch::from_limbs_u64(&on, width(64), &[7]).unwrap();
    assert_eq!(none.mul(&one).unwrap().count(), 0);
    let (difference, borrows) = one.sub(&none).unwrap();
    assert!(difference.count() == 0 && borrows.is_empty() && !borrows.any().unwrap());
    let (inverses, flags) = one.mod_inv(&none).unwrap();
    assert!(inverses.count() == 0 && flags.is_empty());
    assert!(none.gcd_ext(&one).unwrap().y_negative.is_empty());
    assert!(none.square_high().unwrap().to_limbs().unwrap().is_empty());
    assert_eq!(none.neg().unwrap().shl(3).unwrap().count(), 0);
    assert_eq!(none.to_decimal().unwrap(), Vec::<String>::new());
    assert_eq!(none.compare(&one).unwrap(), []);
    assert!(none.bit_lengths().unwrap().is_empty());
    assert_eq!(none.resized(width(32)).unwrap().0.count(), 0);
    assert!(none.try_clone().unwrap().to(&Executor::cpu()).unwrap().get(0).unwrap().is_none());
}

#[test]
fn what_cannot_be_is_refused() {
    let on = device();
    let here = UintBatch::zeros(&on, 2, width(64)).unwrap();
    let elsewhere =
        [Executor::cpu(), device()].map(|e| UintBatch::zeros(&e, 2, width(64)).unwrap());
    for mut other in elsewhere {
        assert!(matches!(here.mul(&other), Err(IntegerError::Places)));
        assert!(matches!(other.add_assign(&here), Err(IntegerError::Places)));
        assert!(matches!(here.square_into(&mut other), Err(IntegerError::Places)));
        assert!(matches!(other.xor(&here), Err(IntegerError::Places)));
        let mut flags = Flags::zeros(other.executor(), 2).unwrap();
        let mut into = UintBatch::zeros(&on, 2, width(64)).unwrap();
        let sum = here.add_into(&here, &mut into, Some(&mut flags));
        assert!(matches!(sum, Err(IntegerError::Places)));
    }

    let count = u32::MAX as usize + 1;
    let many = UintBatch::zeros(&on, count, width(32));
    assert!(matches!(many, Err(IntegerError::TooMany { most: u32::MAX, .. })));
    assert!(matches!(Flags::zeros(&on, count), Err(IntegerError::TooMany { .. })));
    let memory = UintBatch::zeros(&on, 1 << 31, width(1 << 20));
    let Err(IntegerError::Device(DeviceError::OutOfMemory { requested, .. })) = memory else {
        panic!("{memory:?}");
    };
    assert_eq!(requested, 1 << 48);

    let widest = UintBatch::zeros(&on, 1, width(1 << 20)).unwrap();
    let ones = widest.not().unwrap();
    // (2^n − 1)² = 2^(2n) − 2^(n + 1) + 1.
    assert_eq!(ones.square_low().unwrap().bit_lengths().unwrap(), [1]);
    assert_eq!(ones.square_high().unwrap().not().unwrap().bit_lengths().unwrap(), [1]);
    assert_eq!(
        widest.not().unwrap().add_assign(&widest.not().unwrap()).unwrap().count().unwrap(),
        1
    );
    assert_eq!(widest.not().unwrap().bit_lengths().unwrap(), [1 << 20]);
}

/// Tests that roots other than the square root are refused on a device.
#[test]
fn what_devices_do_not_have_is_refused() {
    let a = UintBatch::zeros(&device(), 2, width(64)).unwrap();
    let refusals = [1, 3].map(|k| a.root(std::num::NonZeroU32::new(k).unwrap()).err());
    for refusal in refusals {
        assert!(matches!(refusal, Some(IntegerError::OnlyOnCpu { .. })), "{refusal:?}");
        assert!(refusal.unwrap().to_string().ends_with("move the batch there with UintBatch::to"));
    }
}

/// Tests carries that run through all warps of a block. The warps exchange carries through shared
/// memory.
#[test]
fn sums_over_several_warps_are_those_of_the_cpu_in_any_order_of_threads() {
    let (limbs, count) = (1030u32, 6u32);
    let a = |i: u32, j: u32| 0x9e37_79b9_u32.wrapping_mul(i * limbs + j + 1).rotate_left(j % 32);
    // a + b is all ones; 1 more in every other number makes it 2^w.
    let b = |i: u32, j: u32| {
        if j == 0 && i.is_multiple_of(2) { a(i, 0).wrapping_neg() } else { !a(i, j) }
    };
    let batch = |on: &Executor, value: &dyn Fn(u32, u32) -> u32| {
        let rows = (0..count).flat_map(|i| (0..limbs).map(move |j| (i, j)));
        let values: Vec<u32> = rows.map(|(i, j)| value(i, j)).collect();
        UintBatch::from_limbs(on, width(32 * limbs), &values).unwrap()
    };
    let done = |on: &Executor| {
        let (a, b) = (batch(on, &a), batch(on, &b));
        let results = [a.add(&b).unwrap(), a.sub(&b).unwrap()];
        results.map(|(numbers, flags)| (numbers.to_limbs().unwrap(), flags.count().unwrap()))
    };
    let expected = done(&Executor::cpu());
    assert_eq!(expected[0].1, 3);
    for device in Device::simulators() {
        assert!(done(&Executor::on(device.unwrap())) == expected, "sums differ");
    }
}
