//! The memory of batches: of a device, and of other owners.

use std::sync::Arc;

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

/// Returns a batch of foreign limbs, and their owner.
fn foreign(limbs: Vec<u32>, width: Width) -> (UintBatch, Arc<Vec<u32>>) {
    let owner = Arc::new(limbs);
    // SAFETY: the owner of the batch keeps the vector, which is not changed.
    let batch = unsafe {
        UintBatch::from_foreign(&Executor::cpu(), width, &owner, Box::new(Arc::clone(&owner)))
    };
    (batch.unwrap(), owner)
}

#[test]
fn foreign_limbs_are_read_in_place() {
    let width = Width::new(64).unwrap();
    let (batch, owner) = foreign(vec![1, 2, u32::MAX, 4], width);
    assert_eq!(batch.as_limbs().unwrap().as_ptr(), owner.as_ptr());
    assert_eq!(batch.count(), 2);
    let own = UintBatch::from_limbs(&Executor::cpu(), width, &owner).unwrap();
    let limbs = |batch: UintBatch| batch.to_limbs().unwrap();
    assert_eq!(limbs(batch.square().unwrap()), limbs(own.square().unwrap()));
    assert_eq!(limbs(batch.mul(&own).unwrap()), limbs(own.mul(&batch).unwrap()));
    // A copy is its own, and a move to the same place keeps the owner.
    assert_ne!(batch.try_clone().unwrap().as_limbs().unwrap().as_ptr(), owner.as_ptr());
    let moved = batch.to(&Executor::cpu()).unwrap();
    assert_eq!(moved.as_limbs().unwrap().as_ptr(), owner.as_ptr());
    assert_eq!(Arc::strong_count(&owner), 2);
    drop(moved);
    assert_eq!(Arc::strong_count(&owner), 1);
    let device = Executor::on(Device::simulator().unwrap());
    let (batch, owner) = foreign(vec![5, 6], width);
    assert_eq!(batch.to(&device).unwrap().to_limbs().unwrap(), [5, 6]);
    assert_eq!(Arc::strong_count(&owner), 1);
}

#[test]
fn foreign_limbs_are_copied_before_they_are_written() {
    let width = Width::new(64).unwrap();
    let (mut batch, owner) = foreign(vec![1, 2, 3, 4], width);
    let one = UintBatch::from_limbs(&Executor::cpu(), width, &[1, 0, 1, 0]).unwrap();
    assert!(!batch.add_assign(&one).unwrap().any().unwrap());
    assert_eq!(batch.to_limbs().unwrap(), [2, 2, 4, 4]);
    assert_eq!(*owner, [1, 2, 3, 4]);
    assert_eq!(Arc::strong_count(&owner), 1);
}

#[test]
fn foreign_limbs_that_do_not_fit_are_refused() {
    let width = Width::new(64).unwrap();
    // SAFETY: the limbs are static.
    let made =
        |at: &Executor| unsafe { UintBatch::from_foreign(at, width, &[1, 2, 3], Box::new(())) };
    assert!(matches!(made(&Executor::cpu()), Err(IntegerError::Length { len: 3, .. })));
    let device = Executor::on(Device::simulator().unwrap());
    assert!(matches!(made(&device), Err(IntegerError::Places)));
}
