//! Implements the trait [`Field`] for the field Z/qZ.

use super::{add, canonical, inverse, mul, mul_pow2, neg, root_of_unity, square, sub};
use crate::field::Field;

/// The field Z/qZ, q = 2^64 − 2^32 + 1. An element is an integer from 0 to q − 1. Products by roots
/// of unity whose order divides 64 are shifts, because the root of unity of order 64 is 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Goldilocks;

impl Field for Goldilocks {
    type Element = u64;

    fn zero(&self) -> u64 {
        0
    }
    fn one(&self) -> u64 {
        1
    }
    fn from_u64(&self, x: u64) -> u64 {
        canonical(x)
    }
    fn add(&self, a: &u64, b: &u64) -> u64 {
        add(*a, *b)
    }
    fn sub(&self, a: &u64, b: &u64) -> u64 {
        sub(*a, *b)
    }
    fn neg(&self, a: &u64) -> u64 {
        neg(*a)
    }
    fn mul(&self, a: &u64, b: &u64) -> u64 {
        mul(*a, *b)
    }
    fn square(&self, a: &u64) -> u64 {
        square(*a)
    }
    fn inverse(&self, a: &u64) -> Option<u64> {
        inverse(*a)
    }
    fn root_of_unity(&self, log2: u32) -> Option<u64> {
        root_of_unity(1u64.checked_shl(log2)?)
    }
    fn log2_of_cheap_roots(&self) -> u32 {
        6
    }
    fn mul_by_cheap_root(&self, a: &u64, i: u64) -> u64 {
        mul_pow2(*a, 3 * (i % 64) as u32)
    }
}
