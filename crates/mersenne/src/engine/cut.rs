//! The division of a transform into columns and rows, and the work of a squaring on a device.

use std::fmt;
use std::time::Duration;

use warpint_device::Rates;

/// The division of a transform of rows·columns points. The transform is computed along the columns
/// and then along the rows.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Cut {
    /// The length R of a column, which is the number of rows.
    pub rows: u32,
    /// The length C of a row, which is the number of columns.
    pub columns: u32,
    /// The radices of the successive steps of a transform along a column, in the order of the
    /// forward transform. Their product is R, and none is 1.
    pub column_radices: Vec<u32>,
    /// The radices of the successive steps of a transform along a row, in the order of the forward
    /// transform. Their product is C, and none is 1.
    pub row_radices: Vec<u32>,
}

impl Cut {
    /// Creates a cut from the radices of the steps along a column and along a row, in the order of
    /// the forward transform. The number of rows is the product of `column`, and the number of
    /// columns is the product of `row`. Radices of 1 are dropped.
    #[must_use]
    pub fn new(column: &[u32], row: &[u32]) -> Self {
        let steps = |radices: &[u32]| radices.iter().copied().filter(|&r| r > 1).collect();
        Self {
            rows: column.iter().product(),
            columns: row.iter().product(),
            column_radices: steps(column),
            row_radices: steps(row),
        }
    }

    /// Returns the number of points of the transform.
    #[must_use]
    pub fn points(&self) -> usize {
        self.rows as usize * self.columns as usize
    }
}

/// Formats the cut as `1024x2048 16.8.8/16.16.8`: rows × columns, then the radices along a column
/// and along a row.
impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list =
            |radices: &[u32]| radices.iter().map(ToString::to_string).collect::<Vec<_>>().join(".");
        let (column, row) = (list(&self.column_radices), list(&self.row_radices));
        write!(f, "{}x{} {column}/{row}", self.rows, self.columns)
    }
}

/// The work of a squaring on a device in two kernels, as counts of operations.
///
/// Two kinds of work are not counted: integer instructions for addresses, word lengths and carries,
/// and the work that a kernel repeats for the words at the ends of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Work {
    /// The size of the spectrum in bytes.
    pub spectrum_bytes: u64,
    /// The number of FP64 instructions: sums, products and fused multiply-adds.
    pub fp64_instructions: f64,
    /// The number of products mod 2^64 − 2^32 + 1.
    pub products: f64,
    /// The number of points times the number of levels, for transforms mod 2^64 − 2^32 + 1 that
    /// multiply by shifts. A step of radix r has log2(r) levels.
    pub points_levels: f64,
}

impl Work {
    /// Returns the number of bytes of memory traffic: each of the two kernels reads the spectrum
    /// once and writes it once.
    #[must_use]
    pub fn traffic_bytes(&self) -> u64 {
        4 * self.spectrum_bytes
    }

    /// Returns a lower bound for the time of a squaring: the time that its memory traffic needs.
    /// The bound is [`Work::traffic_bytes`] divided by the measured rate of copies in place. Among
    /// the measured copies, the one nearest in size to the spectrum is used. Returns `None` if no
    /// rate was measured.
    #[must_use]
    pub fn traffic_floor(&self, rates: &Rates) -> Option<Duration> {
        let rate = rates.copy_near(self.spectrum_bytes)?.in_place;
        seconds(self.traffic_bytes() as f64 / rate)
    }

    /// Returns a lower bound for the time of a squaring: the time that its arithmetic needs. The
    /// bound is the sum of three times:
    ///
    /// | count | divided by the rate of |
    /// |---|---|
    /// | FP64 instructions | fused multiply-adds |
    /// | products | products in chains |
    /// | points·levels | the fastest measured transform in registers |
    ///
    /// A term whose count is 0 needs no rate. Returns `None` if a needed rate was not measured.
    #[must_use]
    pub fn arithmetic_floor(&self, rates: &Rates) -> Option<Duration> {
        let levels = rates.transforms.iter().map(|of| of.rate.per_second).fold(0.0, f64::max);
        let time = |count: f64, rate: f64| if count == 0.0 { 0.0 } else { count / rate };
        seconds(
            time(self.fp64_instructions, rates.fp64.fp64)
                + time(self.products, rates.products.per_second)
                + time(self.points_levels, levels),
        )
    }
}

/// Converts seconds to a duration; returns `None` for negative, infinite, NaN or too large values.
fn seconds(s: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(s).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint_device::{CopyRate, Fp64Rate, InRegisters, MeasuredTransforms};

    #[test]
    fn radices_of_one_are_no_steps() {
        let cut = Cut::new(&[1, 16, 16], &[16, 1, 8]);
        assert_eq!((cut.rows, cut.columns, cut.points()), (256, 128, 1 << 15));
        assert_eq!(cut, Cut::new(&[16, 1, 16], &[1, 16, 8]));
        assert_ne!(cut, Cut::new(&[16, 1, 16], &[8, 1, 16]));
        assert_eq!(cut.to_string(), "256x128 16.16/16.8");
    }

    #[test]
    fn floors_are_counts_over_rates() {
        let in_registers =
            |per_second: f64| InRegisters { per_clock: 1.0, per_second, clock_hz: 1e9 };
        let transforms = |radix, rate| MeasuredTransforms { radix, rate: in_registers(rate) };
        let copy = |mib: u64, in_place: f64| CopyRate { bytes: mib << 20, in_place, between: 1.0 };
        let rates = Rates {
            products: in_registers(1e12),
            transforms: vec![transforms(16, 2e12), transforms(32, 4e12)],
            copies: vec![copy(32, 6e12), copy(512, 4e12)],
            kernel_period: Duration::from_micros(1),
            fp64: Fp64Rate { fp64: 30e12, fp32: 60e12 },
        };
        let work = Work { spectrum_bytes: 30_000_000, ..Work::default() };
        assert_eq!(work.traffic_bytes(), 120_000_000);
        assert_eq!(work.traffic_floor(&rates), Some(Duration::from_micros(20)));
        let larger = Work { spectrum_bytes: 300_000_000, ..Work::default() };
        assert_eq!(larger.traffic_floor(&rates), Some(Duration::from_micros(300)));
        assert_eq!(work.arithmetic_floor(&rates), Some(Duration::ZERO));
        let complex = Work { fp64_instructions: 900e6, ..work };
        assert_eq!(complex.arithmetic_floor(&rates), Some(Duration::from_micros(30)));
        let integers = Work { products: 20e6, points_levels: 40e6, ..work };
        assert_eq!(integers.arithmetic_floor(&rates), Some(Duration::from_micros(30)));
        let unknown = Rates { copies: vec![], transforms: vec![], ..rates };
        assert_eq!(integers.traffic_floor(&unknown), None);
        assert_eq!(integers.arithmetic_floor(&unknown), None);
    }
}
