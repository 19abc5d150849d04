//! Squarings modulo 2^p − 1 with each engine, compared with a floor, which is a lower bound on
//! their time.
//!
//! * [`on_cpu`]: squarings on the CPU, compared with a bare real FFT;
//! * [`on_device`]: squarings on a device, compared with the times of their memory traffic and
//!   their arithmetic at rates measured beforehand;
//! * [`same_plan`]: squarings by complex numbers and by integers, in transforms with the same
//!   factorisation;
//! * [`checks`]: the cost of checks and checkpoints in a PRP test;
//! * [`jacobi`]: Jacobi symbols, the check of a Lucas–Lehmer test.

pub mod checks;
mod fftw;
pub mod jacobi;
pub mod on_cpu;
pub mod on_device;
pub mod same_plan;
mod scratch;

use warpint_mersenne::{Exponent, Plan, PlanError, PlanRequest, TunedTimes};

use crate::chart::{Chart, Other};
use crate::exponents_for;

/// The default exponents on the CPU. The transform of the last exponent exceeds the caches of a
/// CPU. All are exponents of Mersenne primes, as is customary in benchmarks of squarings.
const ON_CPU: [u64; 4] = [216_091, 1_257_787, 6_972_593, 20_996_011];

/// The default exponents on a GPU. All are exponents of Mersenne primes except the last, which is
/// the first prime p for which 2^p − 1 has 100,000,000 digits or more.
const ON_GPU: [u64; 6] = [6_972_593, 43_112_609, 57_885_161, 82_589_933, 136_279_841, 332_192_831];

/// Creates a chart of the times of squarings against the exponent.
fn chart_of_squarings(place: &str) -> Chart {
    let axes = ["exponent p (bits)", "µs per squaring"];
    Chart::new("Time of a squaring modulo 2^p − 1", place, axes)
}

/// Adds the time of a squaring modulo 2^p − 1 to a chart of such times.
fn mark_squaring(chart: &mut Chart, engine: &str, p: f64, us: f64) {
    chart.mark(engine, (p, us), format!("M{p:.0} by {engine}: {us:.2} µs"));
}

/// Adds the times of other programs to a chart of the times of squarings. The size of an [`Other`]
/// is the exponent, and its time is in µs.
pub fn mark_others(chart: &mut Chart, others: &[Other]) {
    for other in others {
        mark_squaring(chart, &other.name, other.size, other.time);
    }
}

/// Returns the default exponents for a request whose device is already chosen.
#[must_use]
pub fn usual_exponents(request: &PlanRequest) -> Vec<Exponent> {
    exponents_for(request, &ON_CPU, &ON_GPU)
}

/// Returns the fastest plan of the requested engine for the exponent p. If no engine is requested,
/// returns the fastest plan of every engine that supports p on the requested device or the CPU.
///
/// # Errors
/// No plan for p fits the request, or the device cannot be used.
pub fn plans(
    p: Exponent,
    request: &PlanRequest,
    times: &TunedTimes,
) -> Result<Vec<Plan>, PlanError> {
    let plan = |engine| Plan::fastest(p, &PlanRequest { engine: Some(engine), ..*request }, times);
    match request.engine {
        Some(engine) => plan(engine).map(|plan| vec![plan]),
        None => request
            .families()?
            .0
            .into_iter()
            .filter(|family| family.exponent_range().contains(&p.get()))
            .map(|family| plan(family.name()))
            .collect(),
    }
}
