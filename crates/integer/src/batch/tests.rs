//! The memory of batches on a device.

use warpint_device::Device;

use crate::{Executor, IntegerError, UintBatch, Width};

#[test]
fn a_batch_is_made_of_device_memory_and_shows_it() {
    let executor = Executor::on(Device::simulator().unwrap());
    let device = executor.device().unwrap();
    let width = Width::new(64).unwrap();
    let limbs = device.upload(&[1_u32, 2, 3, 4]).unwrap();
    let address = limbs.address();
    let batch = UintBatch::from_buffer(&executor, width, limbs).unwrap();
    assert_eq!((batch.count(), batch.width()), (2, width));
    assert_eq!(batch.buffer().map(|buffer| (buffer.address(), buffer.len())), Some((address, 4)));
    assert_eq!(batch.to_limbs().unwrap(), [1, 2, 3, 4]);
    assert!(UintBatch::zeros(&Executor::cpu(), 1, width).unwrap().buffer().is_none());
}

#[test]
fn device_memory_that_does_not_fit_is_refused() {
    let executor = Executor::on(Device::simulator().unwrap());
    let width = Width::new(64).unwrap();
    let limbs = || executor.device().unwrap().upload(&[1_u32, 2, 3]).unwrap();
    let made = |at: &Executor| UintBatch::from_buffer(at, width, limbs());
    assert!(matches!(made(&executor), Err(IntegerError::Length { len: 3, .. })));
    assert!(matches!(made(&Executor::cpu()), Err(IntegerError::Places)));
    let other = Executor::on(Device::simulator().unwrap());
    assert!(matches!(made(&other), Err(IntegerError::Places)));
}
