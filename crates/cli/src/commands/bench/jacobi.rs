//! `warpint bench jacobi [P…]`

use std::time::{Duration, Instant};

use serde::Serialize;
use warpint::mersenne::engine::places::cpu_name;
use warpint::mersenne::{Exponent, Residue, jacobi_of_ll};

use super::cores;
use crate::args::BenchJacobiArgs;
use crate::exit::Exit;
use crate::report;
use crate::units;

/// From about a blink up to the largest Mersenne prime of 2018.
const EXPONENTS: [u64; 4] = [1_257_787, 6_972_593, 20_996_011, 82_589_933];

/// Short ones are repeated as long as this; the fastest counts.
const EACH: Duration = Duration::from_secs(1);

/// All that was measured.
#[derive(Serialize)]
struct Measured {
    cpu: String,
    threads: usize,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    exponent: u32,
    /// (x − 2 | M_p).
    symbol: i8,
    seconds: f64,
}

pub(crate) fn run(args: &BenchJacobiArgs) -> anyhow::Result<Exit> {
    let exponents = if args.exponents.is_empty() {
        EXPONENTS.into_iter().map(Exponent::new).collect::<Result<_, _>>()?
    } else {
        args.exponents.clone()
    };
    let threads = args.threads.unwrap_or_else(cores);
    let mut measured = Measured { cpu: cpu_name(), threads, rows: vec![] };
    if !args.json {
        let threads = units::count(threads as u64, "thread");
        let line = format!("{}, {threads}\n\n{:>11} {:>7}  time\n", measured.cpu, "p", "symbol");
        report::write_out(line.as_bytes())?;
    }
    for p in exponents {
        let row = measure(p.get(), threads);
        if !args.json {
            let time = units::elapsed(Duration::from_secs_f64(row.seconds));
            let line = format!("{:>11} {:>7}  {time}\n", row.exponent, row.symbol);
            report::write_out(line.as_bytes())?;
        }
        measured.rows.push(row);
    }
    if args.json {
        report::write_out((serde_json::to_string(&measured)? + "\n").as_bytes())?;
    }
    Ok(Exit::Done)
}

fn measure(p: u32, threads: usize) -> Row {
    let x = drawn(p);
    let (mut best, begin, mut symbol) = (Duration::MAX, Instant::now(), 0);
    while best == Duration::MAX || begin.elapsed() + best < EACH {
        let lap = Instant::now();
        // Nobody cancels: the symbol is always there.
        symbol = jacobi_of_ll(&x, threads, &|| false).unwrap_or(0);
        best = best.min(lap.elapsed());
    }
    Row { exponent: p, symbol, seconds: best.as_secs_f64() }
}

/// A residue as a test has it half way, the same in every run: SplitMix64
/// (Steele, Lea and Flood 2014) from p.
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
