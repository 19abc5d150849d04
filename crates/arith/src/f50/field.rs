//! Implements the trait [`Field`] for [`F50`], the field Z/pZ. Here, elements are integers from 0
//! to p − 1.

use super::{F50, vector};
use crate::field::Field;

impl Field for F50 {
    type Element = f64;

    fn zero(&self) -> f64 {
        0.0
    }
    fn one(&self) -> f64 {
        1.0
    }
    fn from_u64(&self, x: u64) -> f64 {
        (x % self.modulus()) as f64
    }
    fn add(&self, a: &f64, b: &f64) -> f64 {
        let sum = a + b;
        if sum >= self.p { sum - self.p } else { sum }
    }
    fn sub(&self, a: &f64, b: &f64) -> f64 {
        let difference = a - b;
        if difference < 0.0 { difference + self.p } else { difference }
    }
    fn mul(&self, a: &f64, b: &f64) -> f64 {
        self.nonnegative(F50::mul(self, *a, *b))
    }
    fn inverse(&self, a: &f64) -> Option<f64> {
        (*a != 0.0).then(|| self.nonnegative(F50::inverse(self, *a)))
    }
    fn root_of_unity(&self, log2: u32) -> Option<f64> {
        F50::root_of_unity(self, log2).map(|root| self.nonnegative(root))
    }
    fn mul_each(&self, a: &mut [f64], b: &[f64]) {
        vector::mul_each(self, a, b);
    }
    fn scale_each(&self, a: &mut [f64], factor: &f64) {
        vector::scale_each(self, a, *factor);
    }
    fn add_each(&self, a: &mut [f64], b: &[f64]) {
        vector::add_each(self, a, b);
    }
    fn sub_each(&self, a: &mut [f64], b: &[f64]) {
        vector::sub_each(self, a, b);
    }
}
