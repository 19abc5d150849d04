//! Tests of batches: conversions, devices, and divisions of every kind.
#![cfg(test)]

mod conversions;
mod devices;
mod division;
