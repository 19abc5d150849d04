//! Batches: conversions, places, divisions of every kind.
#![cfg(test)]

mod conversions;
mod devices;
mod division;
