//! Benchmarks, tuning and stress tests of everything that warpint computes.
//!
//! * [`mersenne`]: squarings modulo 2^p − 1 on CPUs and devices, the cost of checks, Jacobi
//!   symbols;
//! * [`batch`]: operations on batches of integers;
//! * [`bigprime`]: transforms over big prime fields;
//! * [`ntt`]: transforms modulo 2^64 − 2^32 + 1;
//! * [`product`]: products of two long numbers;
//! * [`collatz`]: the rate of Collatz verification;
//! * [`device`]: the rates that a device reaches for products, memory and kernels;
//! * [`tune`]: the search for the fastest plan, method or table size; the result is stored for
//!   later runs;
//! * [`stress`]: squarings whose results are all checked, to test whether hardware is reliable;
//! * [`columns`]: the fields that several benchmarks have in common;
//! * [`chart`]: charts of lines, bars and dots, as SVG documents;
//! * [`library`]: libraries of other programs, with which benchmarks compare.
//!
//! Measurements are plain structs that implement `Serialize`. Their units are in the names of the
//! fields or in the docs. A benchmark of several rows first lists the rows, then measures one row
//! at a time, so that a caller can show each row as soon as it is measured. This crate prints
//! nothing, and opens only files that its docs name.

pub mod batch;
pub mod bigprime;
pub mod chart;
pub mod collatz;
pub mod columns;
pub mod device;
pub mod error;
pub mod library;
pub mod mersenne;
pub mod ntt;
pub mod product;
pub mod stress;
mod timing;
pub mod tune;
mod vectors;

use std::time::Duration;

use warpint_device::Device;
use warpint_integer::gpu::Choice;
use warpint_mersenne::{DeviceChoice, DeviceId, Exponent, PlanRequest};

pub use error::BenchError;

/// Returns the default exponents for a request whose device is already chosen: `on_gpu` for a GPU,
/// `on_cpu` for the CPU, and two small exponents for the simulator.
fn exponents_for(request: &PlanRequest, on_cpu: &[u64], on_gpu: &[u64]) -> Vec<Exponent> {
    const ON_SIMULATOR: [u64; 2] = [1_279, 9_941];
    let list = match request.device {
        DeviceChoice::On(DeviceId::Cuda(_)) => on_gpu,
        DeviceChoice::On(DeviceId::Sim) => &ON_SIMULATOR,
        DeviceChoice::Auto | DeviceChoice::Cpu => on_cpu,
    };
    list.iter().filter_map(|&p| Exponent::new(p).ok()).collect()
}

/// Returns whether a device is the simulator, on which kernels take long and times have no meaning.
fn is_simulator(device: &Device) -> bool {
    device.info().id == DeviceId::Sim.to_string()
}

/// Returns `measured` if a method was chosen by its measured time, and `estimate` if by its
/// estimated time.
fn chosen_by(choice: Choice) -> &'static str {
    if choice.measured { "measured" } else { "estimate" }
}

/// Returns the elements without repetitions, in the order of their first occurrences.
fn once_each<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(vec![], |mut kept, one| {
        if !kept.contains(&one) {
            kept.push(one);
        }
        kept
    })
}

/// Converts a time to microseconds.
fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_its_usual_exponents() {
        let devices = [
            DeviceChoice::Cpu,
            DeviceChoice::On(DeviceId::Sim),
            DeviceChoice::On(DeviceId::Cuda(0)),
        ];
        let of = |list: fn(&PlanRequest) -> Vec<Exponent>| {
            devices.map(|device| list(&PlanRequest { device, ..PlanRequest::default() }).len())
        };
        assert_eq!(of(mersenne::usual_exponents), [4, 2, 6]);
        assert_eq!(of(tune::mersenne::usual_exponents), [3, 2, 6]);
        assert_eq!(of(stress::usual_exponents), [2, 2, 4]);
        assert_eq!(mersenne::jacobi::usual_exponents().len(), 4);
    }
}
