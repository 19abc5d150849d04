//! The command `warpint bench batch`: times operations on batches of integers.

use warpint::mersenne::DeviceChoice;
use warpint_bench::BenchError;
use warpint_bench::batch::{Bench, Request, RequestError, Row, Rows};

use super::{Plot, optional, place_line, say, say_all};
use crate::args::BenchBatchArgs;
use crate::commands::batch::place::{gpu, resolved};
use crate::exit::{BadRequest, Exit};
use crate::report;
use crate::{threads, units};

pub(super) fn run(args: &BenchBatchArgs) -> anyhow::Result<Exit> {
    threads::set(args.threads)?;
    let plot = Plot::new(args.plot.as_deref())?;
    let gpu = match resolved(args.device)? {
        DeviceChoice::On(id) => Some(gpu(id)?),
        DeviceChoice::Auto | DeviceChoice::Cpu => None,
    };
    let request = Request {
        operations: args.operations.clone(),
        bits: args.bits.clone(),
        count: args.count,
        method: args.method,
        seed: args.seed,
    };
    let rows = Rows::new(&request, gpu.as_ref()).map_err(in_words)?;
    for fewer in rows.fewer() {
        let numbers = units::count(fewer.count, "number");
        report::notice(&format!(
            "warning: {numbers} of {} bits instead of {}: no more memory is free",
            fewer.bits, fewer.wanted
        ));
    }
    let mut bench = Bench::new(&request, rows, gpu).map_err(in_words)?;
    let measured = bench.measured();
    let place = place_line(&measured.machine);
    let gmp = measured.gmp.as_ref().map(|version| format!("; GMP {version}"));
    let with_gmp = gmp.is_some();
    let header = if with_gmp { GMP_HEADER } else { HEADER };
    say(args.json, &format!("{place}{}\n\n{header}", gmp.unwrap_or_default()))?;
    while let Some(row) = bench.measure_next()? {
        say(args.json, &if with_gmp { line_with_gmp(row) } else { line(row) })?;
    }
    say_all(args.json, bench.measured())?;
    plot.write(|| bench.measured().chart(args.method.is_some()))?;
    Ok(Exit::Done)
}

/// Converts an error of the benchmark into the error that the program prints. For an invalid
/// request, the new error names the option to change. If memory does not suffice, the new error
/// states how much is needed.
fn in_words(e: BenchError) -> anyhow::Error {
    let e = match e {
        BenchError::Batch(e) => e,
        BenchError::NoMemoryForOperands { bytes } => {
            return anyhow::anyhow!("no memory for operands of {}", units::memory(bytes));
        }
        e => return e.into(),
    };
    BadRequest(match e {
        RequestError::MethodOnCpu => {
            "--method needs a device: the CPU has one method for each width".into()
        }
        RequestError::NotDone { .. } => format!("{e}: use --device cpu, or fewer --bits"),
        RequestError::TooMany { count, bits, bytes, free } => {
            let (numbers, needed) = (units::count(count, "number"), units::memory(bytes));
            let free = free
                .map_or_else(String::new, |free| format!(", and {} are free", units::memory(free)));
            format!("{numbers} of {bits} bits and their results need {needed}{free}")
        }
        RequestError::Nothing | RequestError::Method { .. } => e.to_string(),
    })
    .into()
}

const HEADER: &str = "op        bits     count  method      price           \
                                 ns/op      op/s    GB/s  Gu32op/s   ÷/×  floor";

/// The header if GMP is measured, which is so on the CPU only, where operations have one method.
const GMP_HEADER: &str = "op        bits     count        ns/op      op/s    GB/s  Gu32op/s   ÷/×  floor      \
                                 GMP ns/op   ÷GMP";

fn line_with_gmp(row: &Row) -> String {
    let or_dash = |x: Option<f64>, format: fn(f64) -> String| x.map_or_else(|| "–".into(), format);
    format!(
        "{}  {}    {:>11}  {:>5}",
        what(row),
        rates(row),
        or_dash(row.gmp_ns, figures),
        or_dash(row.ratio_to_gmp, short)
    )
}

fn line(row: &Row) -> String {
    // The full name does not fit in the narrow column.
    let method = match row.operation {
        "gcd-by-division" => Some("division"),
        _ => row.method.as_deref(),
    };
    format!(
        "{}  {:<10}  {:<8}  {}",
        what(row),
        method.unwrap_or("–"),
        row.chosen_by.unwrap_or("–"),
        rates(row)
    )
}

/// Formats the operation, the width and the count of numbers.
fn what(row: &Row) -> String {
    let operation = if row.operation == "gcd-by-division" { "gcd" } else { row.operation };
    format!("{operation:<6} {:>7} {:>9}", row.bits, row.count)
}

/// Formats the times and rates of a row.
fn rates(row: &Row) -> String {
    format!(
        "{:>11}  {:>8}  {:>6.1}  {:>8}  {:>4}  {:>3.0} %",
        figures(row.ns_per_operation),
        scaled(row.operations_per_second),
        row.gb_per_second,
        optional(row.gu32ops_per_second, 1),
        row.times_a_product.map_or_else(|| "–".into(), short),
        100.0 * row.share_of_floor,
    )
}

/// Formats a number with four significant digits or more, in at most eleven characters: `0.01234`,
/// `1.234`, `12.34`, `12345.7`, `1234567890`, `1.2346e12`.
pub(in crate::commands) fn figures(x: f64) -> String {
    let before = if x > 0.0 { x.log10().floor() as i32 } else { 0 };
    match before {
        11.. => format!("{x:.4e}"),
        9..11 => format!("{x:.0}"),
        _ => {
            let after = (3 - before).clamp(1, 9) as usize;
            format!("{x:.after$}")
        }
    }
}

/// Formats a number below 1,000 in at most four characters: `0.98`, `12.3`, `456`.
fn short(x: f64) -> String {
    let after = if x < 9.995 { 2 } else { usize::from(x < 99.95) };
    format!("{x:.after$}")
}

/// Formats a number with a unit prefix: `12.34 G`, `5.67 M`, `8.90 k`, `1.23`.
fn scaled(x: f64) -> String {
    let (unit, name) = match x {
        x if x >= 1e9 => (1e9, " G"),
        x if x >= 1e6 => (1e6, " M"),
        x if x >= 1e3 => (1e3, " k"),
        _ => (1.0, "  "),
    };
    format!("{:.2}{name}", x / unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the row of a benchmark of `count` operations, with `ns` nanoseconds per operation.
    fn row(operation: &'static str, bits: u32, count: usize, ns: f64) -> Row {
        let products = (f64::from(bits) / 32.0).powi(2);
        let bytes = f64::from(bits) / 8.0 * if operation == "mul" { 4.0 } else { 3.0 };
        Row {
            operation,
            bits,
            count,
            method: None,
            chosen_by: None,
            ns_per_operation: ns,
            product_ns: None,
            times_a_product: None,
            ns_fastest_run: ns,
            ns_slowest_run: ns,
            runs: 3,
            gmp_ns: None,
            ratio_to_gmp: None,
            bytes_per_operation: bytes as u64,
            gb_per_second: bytes / ns,
            operations_per_second: 1e9 / ns,
            gu32ops_per_second: operation.starts_with("mul").then_some(products / ns),
            copy_gb_per_second: 512.0,
            floor_ns: bytes / 512.0,
            share_of_floor: bytes / 512.0 / ns,
            compile_s: None,
        }
    }

    #[test]
    fn figures_are_those_of_the_median_run() {
        let method = Some("ntt3".to_owned());
        let row = Row { method, chosen_by: Some("measured"), ..row("mul", 1024, 1000, 3.0) };
        let line = line(&row);
        let (what, figures) = line.split_at(48);
        assert_eq!(what, "mul       1024      1000  ntt3        measured  ");
        assert_eq!(figures, "      3.000  333.33 M   170.7     341.3     –   33 %");
    }

    #[test]
    fn columns_stand_below_their_names() {
        let each = |seconds: f64| seconds * 1e9 / f64::from(1u32 << 25);
        let method = Some("karatsuba5".to_owned());
        let long = Row { method, ..row("mullo", 262_144, 1 << 25, each(9000.0)) };
        let said = line(&long);
        assert_eq!(said.chars().count(), HEADER.chars().count(), "{said}\n{HEADER}");
        let said = line(&row("gcd-by-division", 262_144, 1 << 25, each(1.0)));
        assert!(said.starts_with("gcd     262144  33554432  division    –  "), "{said}");
        let times_a_product = Some(3.5);
        let divided = Row { times_a_product, ..row("divrem", 262_144, 1 << 25, each(8.0)) };
        let said = line(&divided);
        assert_eq!(said.chars().count(), HEADER.chars().count(), "{said}\n{HEADER}");
        assert!(said.contains(" –  3.50  "), "{said}");
        let compared = Row { gmp_ns: Some(16.0), ratio_to_gmp: Some(0.5), ..divided };
        let said = line_with_gmp(&compared);
        assert_eq!(said.chars().count(), GMP_HEADER.chars().count(), "{said}\n{GMP_HEADER}");
        assert!(said.ends_with("          16.00   0.50"), "{said}");
        assert!(GMP_HEADER.chars().count() <= 120);
        for (x, said) in [(0.984, "0.98"), (9.996, "10.0"), (99.96, "100"), (456.4, "456")] {
            assert_eq!(short(x), said);
        }
        for (x, said) in [(0.012_341, "0.01234"), (1.0, "1.000"), (12_345.67, "12345.7")] {
            assert_eq!(figures(x), said);
        }
        for (x, said) in [(1.234_567_890_1e9, "1234567890"), (1.234_56e12, "1.2346e12")] {
            assert_eq!(figures(x), said);
        }
        for power in -3..20 {
            assert!(figures(9.999_96 * 10f64.powi(power)).len() <= 11, "{power}");
        }
        for (x, said) in [(1.5e9, "1.50 G"), (2e6, "2.00 M"), (3e3, "3.00 k"), (4.0, "4.00  ")] {
            assert_eq!(scaled(x), said);
        }
    }
}
