//! The result of measuring one operation on batches.

use std::time::Duration;

use serde::Serialize;

use super::{Work, median};

/// The measurement of one operation at one width.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Row {
    /// The name of the operation.
    pub operation: &'static str,
    /// The width of an operand, in bits.
    pub bits: u32,
    /// The count of numbers in the batch.
    pub count: usize,
    /// The method, for products on a device; `None` for other operations and on the CPU.
    pub method: Option<String>,
    /// Whether the library chose the method by measured times (`measured`) or by estimated times
    /// (`estimate`). `None` if the library had no choice.
    pub chosen_by: Option<&'static str>,
    /// The time of the median run, in ns per operation.
    pub ns_per_operation: f64,
    /// For a quotient: the time of a product of numbers as wide as the dividend, in ns. `None` for
    /// other operations.
    pub product_ns: Option<f64>,
    /// For a quotient: its time divided by `product_ns`. `None` for other operations.
    pub times_a_product: Option<f64>,
    /// The time of the fastest run, in ns per operation.
    pub ns_fastest_run: f64,
    /// The time of the slowest run, in ns per operation.
    pub ns_slowest_run: f64,
    /// The number of timed runs.
    pub runs: usize,
    /// The time of the median run of GMP with as many threads, in ns per operation; `None` if GMP
    /// was not measured.
    pub gmp_ns: Option<f64>,
    /// The ratio `ns_per_operation` / `gmp_ns`; `None` if GMP was not measured.
    pub ratio_to_gmp: Option<f64>,
    /// The number of bytes read and written per operation.
    pub bytes_per_operation: u64,
    /// The rate of the bytes read and written, in 10^9 bytes per second.
    pub gb_per_second: f64,
    /// The number of operations per second, from the time of the median run.
    pub operations_per_second: f64,
    /// For products: the number of products of limbs per second, in units of 10^9. A product of two
    /// factors of m 32-bit limbs counts as m² products of limbs (Raahauge, Marchioro and
    /// Løvenskjold 2025). `None` for other operations.
    pub gu32ops_per_second: Option<f64>,
    /// The rate of a copy that reads and writes about as many bytes as the batch, in 10^9 bytes
    /// read and written per second.
    pub copy_gb_per_second: f64,
    /// The time in which a copy reads and writes as many bytes as an operation, in ns.
    pub floor_ns: f64,
    /// The ratio `floor_ns` / `ns_per_operation`; 1 is the best possible.
    pub share_of_floor: f64,
    /// On a device: the time of the first run by the host's clock, in seconds. The first run also
    /// compiles or loads the kernel. `None` on the CPU.
    pub compile_s: Option<f64>,
}

impl Row {
    /// Creates a row from the time of the first run and the times of the timed runs. `copy_rate` is
    /// in bytes read and written per second.
    pub(super) fn new(
        work: &Work,
        first: Option<Duration>,
        times: Vec<Duration>,
        copy_rate: f64,
    ) -> Self {
        // A lower bound on times, in case of a coarse clock.
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
            gmp_ns: None,
            ratio_to_gmp: None,
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

    /// Records the time of GMP, and the ratio to it. `times` has the times of GMP's runs, or none if
    /// GMP was not measured.
    pub(super) fn compare_with_gmp(&mut self, times: &[Duration]) {
        if !times.is_empty() {
            let ns = median(times.to_vec()).as_secs_f64() * 1e9 / self.count as f64;
            self.gmp_ns = Some(ns);
            self.ratio_to_gmp = (ns > 0.0).then(|| self.ns_per_operation / ns);
        }
    }

    /// Records `product_ns` in the row, and the time of the row's operation divided by
    /// `product_ns`.
    pub(super) fn compare(&mut self, product_ns: Option<f64>) {
        self.product_ns = product_ns;
        self.times_a_product = product_ns.map(|product| self.ns_per_operation / product);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Listed, Operation};
    use super::*;
    use warpint_integer::gpu::Method;

    #[test]
    fn figures_are_those_of_the_median_run() {
        let method = Some(Method::Ntt(3));
        let work =
            Work { operation: Operation::Listed(Listed::Multiply), limbs: 32, count: 1000, method };
        let times = [4, 2, 3].map(Duration::from_micros).to_vec();
        let row = Row::new(&work, Some(Duration::from_secs(2)), times, 512e9);
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
        let divided = Work { operation: Operation::Listed(Listed::Divide), method: None, ..work };
        let mut row = Row::new(&divided, None, vec![Duration::from_secs(8)], 1e12);
        row.compare(Some(row.ns_per_operation / 3.5));
        assert!((row.times_a_product.unwrap() - 3.5).abs() < 1e-12);
        row.compare_with_gmp(&[]);
        assert_eq!((row.gmp_ns, row.ratio_to_gmp), (None, None));
        row.compare_with_gmp(&[2, 9, 4].map(Duration::from_secs));
        assert!((row.gmp_ns.unwrap() / 4e6 - 1.0).abs() < 1e-12);
        assert!((row.ratio_to_gmp.unwrap() - 2.0).abs() < 1e-12);
    }
}
