//! Vectors of elements in memory: L real parts and then L imaginary parts, for vectors of L lanes.

use warpint_arith::simd::F64s;

use super::arithmetic::{Entry, Z};

/// Returns the vector of L numbers from position `at` on.
#[inline(always)]
pub(super) fn load_one<V: F64s>(i: V::Instructions, data: &[f64], at: usize) -> V {
    let numbers = &data[at..at + V::LANES];
    // SAFETY: the slice has L numbers.
    unsafe { V::load(i, numbers.as_ptr()) }
}

/// Stores a vector of L numbers from position `at` on.
#[inline(always)]
pub(super) fn store_one<V: F64s>(data: &mut [f64], at: usize, x: V) {
    let numbers = &mut data[at..at + V::LANES];
    // SAFETY: the slice has L numbers.
    unsafe { x.store(numbers.as_mut_ptr()) }
}

/// Returns the vector of elements number `index`.
#[inline(always)]
pub(super) fn load<V: F64s>(i: V::Instructions, data: &[f64], index: usize) -> Z<V> {
    let numbers = &data[2 * V::LANES * index..][..2 * V::LANES];
    // SAFETY: the slice has 2L numbers.
    unsafe { [V::load(i, numbers.as_ptr()), V::load(i, numbers.as_ptr().add(V::LANES))] }
}

/// Stores the vector of elements number `index`.
#[inline(always)]
pub(super) fn store<V: F64s>(data: &mut [f64], index: usize, x: Z<V>) {
    let numbers = &mut data[2 * V::LANES * index..][..2 * V::LANES];
    // SAFETY: the slice has 2L numbers.
    unsafe {
        x[0].store(numbers.as_mut_ptr());
        x[1].store(numbers.as_mut_ptr().add(V::LANES));
    }
}

/// Returns an element of a table in every lane.
#[inline(always)]
pub(super) fn splat<V: F64s>(i: V::Instructions, x: Entry) -> Z<V> {
    [V::splat(i, f64::from_bits(x[0])), V::splat(i, f64::from_bits(x[1]))]
}

/// The largest number of lanes of any vector.
const MOST_LANES: usize = 8;

/// Returns the largest of the numbers in the lanes, and 0.
#[inline(always)]
pub(super) fn largest_lane<V: F64s>(x: V) -> f64 {
    let mut lanes = [0.0; MOST_LANES];
    store_one(&mut lanes, 0, x);
    lanes.into_iter().fold(0.0, f64::max)
}

/// Returns the number in lane 0.
#[inline(always)]
pub(super) fn first_lane<V: F64s>(x: V) -> f64 {
    let mut lanes = [0.0; MOST_LANES];
    store_one(&mut lanes, 0, x);
    lanes[0]
}
