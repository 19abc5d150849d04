//! What is printed of an operation.

use std::time::Duration;

use serde::Serialize;
use warpint::integer::gpu::Choice;

use super::{Work, median};
use crate::commands::bench::optional;

/// An operation at a width.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Row {
    pub(super) operation: &'static str,
    pub(super) bits: u32,
    /// Numbers of the batch.
    count: usize,
    /// Of products on a device.
    pub(super) method: Option<String>,
    /// `measured` or `estimate`: by what price the library has chosen it.
    pub(super) chosen_by: Option<&'static str>,
    /// The median run, and the fastest and the slowest.
    pub(super) ns_per_operation: f64,
    /// Of a quotient: the time of a product of numbers as wide as the dividend, and how many times that
    /// the quotient takes.
    product_ns: Option<f64>,
    times_a_product: Option<f64>,
    ns_fastest_run: f64,
    ns_slowest_run: f64,
    /// The runs timed.
    runs: usize,
    /// Read and written for an operation.
    bytes_per_operation: u64,
    gb_per_second: f64,
    operations_per_second: f64,
    /// m² for each product of factors of m limbs of 32 bits (Raahauge, Marchioro and Løvenskjold
    /// 2025), in 10^9.
    gu32ops_per_second: Option<f64>,
    /// A copy of about as many bytes, read and written.
    copy_gb_per_second: f64,
    /// The bytes at that rate, and their part of the time.
    pub(super) floor_ns: f64,
    share_of_floor: f64,
    /// Of a device, the first run by the host's clock: it compiles the kernel, or loads it.
    compile_s: Option<f64>,
}

impl Row {
    /// `copy_rate` in bytes a second.
    pub(super) fn new(
        work: &Work,
        first: Option<Duration>,
        times: Vec<Duration>,
        copy_rate: f64,
    ) -> Self {
        // Nothing takes no time, whatever a coarse clock says.
        let each = |time: Duration| (time.as_secs_f64() * 1e9).max(1.0) / work.count as f64;
        let bytes = work.operation.bytes(work.limbs);
        let (fastest, slowest, runs) = (times.iter().min(), times.iter().max(), times.len());
        let (fastest, slowest) = (fastest.copied(), slowest.copied());
        let ns = each(median(times));
        let floor = if copy_rate > 0.0 { bytes as f64 / copy_rate * 1e9 } else { 0.0 };
        let products = (work.limbs as f64).powi(2);
        Self {
            operation: work.operation.name(),
            bits: work.bits(),
            count: work.count,
            method: work.method.map(|method| method.to_string()),
            chosen_by: None,
            ns_per_operation: ns,
            product_ns: None,
            times_a_product: None,
            ns_fastest_run: each(fastest.unwrap_or_default()),
            ns_slowest_run: each(slowest.unwrap_or_default()),
            runs,
            bytes_per_operation: bytes,
            gb_per_second: bytes as f64 / ns,
            operations_per_second: 1e9 / ns,
            gu32ops_per_second: work.operation.is_product().then_some(products / ns),
            copy_gb_per_second: copy_rate / 1e9,
            floor_ns: floor,
            share_of_floor: floor / ns,
            compile_s: first.map(|time| time.as_secs_f64()),
        }
    }

    /// Compares it with a product that takes so long.
    pub(super) fn compare(&mut self, product_ns: Option<f64>) {
        self.product_ns = product_ns;
        self.times_a_product = product_ns.map(|product| self.ns_per_operation / product);
    }

    pub(super) const HEADER: &str = "op        bits     count  method      price           \
                                     ns/op      op/s    GB/s  Gu32op/s   ÷/×  floor";

    pub(super) fn line(&self) -> String {
        // Its name is no narrow one.
        let (operation, method) = match self.operation {
            "gcd-by-division" => ("gcd", Some("division")),
            operation => (operation, self.method.as_deref()),
        };
        format!(
            "{:<6} {:>7} {:>9}  {:<10}  {:<8}  {:>11}  {:>8}  {:>6.1}  {:>8}  {:>4}  {:>3.0} %",
            operation,
            self.bits,
            self.count,
            method.unwrap_or("–"),
            self.chosen_by.unwrap_or("–"),
            figures(self.ns_per_operation),
            scaled(self.operations_per_second),
            self.gb_per_second,
            optional(self.gu32ops_per_second, 1),
            self.times_a_product.map_or_else(|| "–".into(), short),
            100.0 * self.share_of_floor,
        )
    }
}

/// By what a method was chosen.
pub(crate) fn chosen_by(choice: Choice) -> &'static str {
    if choice.measured { "measured" } else { "estimate" }
}

/// Four digits at least, eleven characters at most: `0.01234`, `1.234`, `12.34`, `12345.7`,
/// `1234567890`, `1.2346e12`.
pub(crate) fn figures(x: f64) -> String {
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

/// Four characters: `0.98`, `12.3`, `456`.
fn short(x: f64) -> String {
    let after = if x < 9.995 { 2 } else { usize::from(x < 99.95) };
    format!("{x:.after$}")
}

/// `12.34 G`, `5.67 M`, `8.90 k`, `1.23`.
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
    use crate::args::Operation;
    use warpint::integer::gpu::Method;

    #[test]
    fn figures_are_those_of_the_median_run() {
        let method = Some(Method::Ntt(3));
        let work = Work { operation: Operation::Mul, limbs: 32, count: 1000, method };
        let times = [4, 2, 3].map(Duration::from_micros).to_vec();
        let mut row = Row::new(&work, Some(Duration::from_secs(2)), times, 512e9);
        let near = |x: f64, y: f64| assert!((x / y - 1.0).abs() < 1e-12, "{x} {y}");
        near(row.ns_per_operation, 3.0);
        near(row.ns_fastest_run, 2.0);
        near(row.ns_slowest_run, 4.0);
        near(row.gb_per_second, 512.0 / 3.0);
        near(row.operations_per_second, 1e9 / 3.0);
        near(row.gu32ops_per_second.unwrap(), 1024.0 / 3.0);
        near(row.floor_ns, 1.0);
        near(row.share_of_floor, 1.0 / 3.0);
        assert_eq!((row.bits, row.runs, row.compile_s), (1024, 3, Some(2.0)));
        row.chosen_by = Some("measured");
        let line = row.line();
        let (what, figures) = line.split_at(48);
        assert_eq!(what, "mul       1024      1000  ntt3        measured  ");
        assert_eq!(figures, "      3.000  333.33 M   170.7     341.3     –   33 %");
    }

    #[test]
    fn columns_stand_below_their_names() {
        let method = Some(Method::Karatsuba(5));
        let work = Work { operation: Operation::Mullo, limbs: 8192, count: 1 << 25, method };
        let row = Row::new(&work, None, vec![Duration::from_secs(9000)], 1e12);
        let (line, header) = (row.line(), Row::HEADER);
        assert_eq!(line.chars().count(), header.chars().count(), "{line}\n{header}");
        let work = Work { operation: Operation::GcdByDivision, ..work };
        let line = Row::new(&work, None, vec![Duration::from_secs(1)], 1e12).line();
        assert!(line.starts_with("gcd     262144  33554432  division    –  "), "{line}");
        let divided = Work { operation: Operation::Divrem, method: None, ..work };
        let mut row = Row::new(&divided, None, vec![Duration::from_secs(8)], 1e12);
        row.compare(Some(row.ns_per_operation / 3.5));
        assert!((row.times_a_product.unwrap() - 3.5).abs() < 1e-12);
        let (line, header) = (row.line(), Row::HEADER);
        assert_eq!(line.chars().count(), header.chars().count(), "{line}\n{header}");
        assert!(line.contains(" –  3.50  "), "{line}");
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
