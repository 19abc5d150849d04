//! Jacobi symbols of residues, the check of a Lucas–Lehmer test.

use std::time::{Duration, Instant};

use serde::Serialize;
use warpint_device::cpu_name;
use warpint_mersenne::{Exponent, Residue, jacobi_of_ll};

use crate::chart::Chart;

/// The default exponents. All are exponents of Mersenne primes; the last one was the largest known
/// in 2018.
const EXPONENTS: [u64; 4] = [1_257_787, 6_972_593, 20_996_011, 82_589_933];

/// The duration for which a short computation is repeated; the fastest run counts.
const EACH: Duration = Duration::from_secs(1);

/// All measurements of a benchmark of Jacobi symbols.
#[derive(Debug, Clone, Serialize)]
pub struct Measured {
    /// The name of the processor.
    pub cpu: String,
    /// The number of threads that compute a symbol.
    pub threads: usize,
    /// One row per exponent.
    pub rows: Vec<Row>,
}

/// The measurement of one symbol.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The exponent p of M_p = 2^p − 1.
    pub exponent: u32,
    /// The computed Jacobi symbol (x − 2 | M_p), where x is the residue.
    pub symbol: i8,
    /// The time of the fastest run, in seconds. Runs are repeated for about a second; a longer run
    /// is made only once.
    pub seconds: f64,
}

/// Returns the default exponents of a benchmark of Jacobi symbols.
#[must_use]
pub fn usual_exponents() -> Vec<Exponent> {
    EXPONENTS.into_iter().filter_map(|p| Exponent::new(p).ok()).collect()
}

impl Measured {
    /// Creates a benchmark without rows. Symbols are computed on `threads` threads.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self { cpu: cpu_name(), threads, rows: vec![] }
    }

    /// Times the Jacobi symbol of a residue modulo M_p, and returns the new row. The residue is the
    /// same in every run.
    pub fn measure(&mut self, p: Exponent) -> Row {
        let row = measure(p.get(), self.threads);
        self.rows.push(row.clone());
        row
    }

    /// Draws a chart of the times against the exponent.
    #[must_use]
    pub fn chart(&self) -> Chart {
        let threads = if self.threads == 1 { "thread" } else { "threads" };
        let threads = format!("{} {threads}", self.threads);
        let place = format!("{}, {threads}", self.cpu);
        let axes = ["exponent p (bits)", "seconds per symbol"];
        let mut chart = Chart::new("Time of a Jacobi symbol modulo 2^p − 1", &place, axes);
        for &Row { exponent, seconds, .. } in &self.rows {
            let tooltip = format!("M{exponent}, {threads}: {seconds:.6} s");
            chart.mark(&threads, (exponent.into(), seconds), tooltip);
        }
        chart
    }
}

fn measure(p: u32, threads: usize) -> Row {
    let x = drawn(p);
    let (mut best, begin, mut symbol) = (Duration::MAX, Instant::now(), 0);
    while best == Duration::MAX || begin.elapsed() + best < EACH {
        let lap = Instant::now();
        // Never cancelled, so the symbol is always computed.
        symbol = jacobi_of_ll(&x, threads, &|| false).unwrap_or(0);
        best = best.min(lap.elapsed());
    }
    Row { exponent: p, symbol, seconds: best.as_secs_f64() }
}

/// Returns a pseudorandom residue modulo 2^p − 1, which resembles a residue in the middle of a
/// test. The residue consists of outputs of SplitMix64 (Steele, Lea and Flood 2014) with seed p, so
/// that every run has the same residue.
fn drawn(p: u32) -> Residue {
    let mut state = u64::from(p);
    let limbs: Vec<u64> = (0..p.div_ceil(64))
        .map(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let x = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            x ^ x >> 31
        })
        .collect();
    Residue::from_limbs(p, &limbs)
}
