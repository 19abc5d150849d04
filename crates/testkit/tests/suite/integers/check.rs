//! Batches with a copy of their numbers for GMP, and comparisons with GMP's results.

use rug::Integer;
use rug::integer::Order;
use warpint_integer::{Executor, UintBatch, Width};

/// A batch, and its numbers as integers of GMP.
pub(crate) struct Numbers {
    pub(crate) batch: UintBatch,
    pub(crate) gmp: Vec<Integer>,
}

pub(crate) fn width(limbs: usize) -> Width {
    Width::new(32 * u32::try_from(limbs).unwrap()).unwrap()
}

impl Numbers {
    pub(crate) fn new(executor: &Executor, limbs: usize, data: &[u32]) -> Self {
        let batch = UintBatch::from_limbs(executor, width(limbs), data).unwrap();
        let gmp = data.chunks_exact(limbs).map(|row| Integer::from_digits(row, Order::Lsf));
        Self { gmp: gmp.collect(), batch }
    }
}

/// Returns each number as a row of `limbs` limbs, lowest first.
pub(crate) fn rows_of(limbs: usize, numbers: impl IntoIterator<Item = Integer>) -> Vec<Vec<u32>> {
    let row = |x: Integer| {
        let mut row = x.to_digits(Order::Lsf);
        assert!(row.len() <= limbs, "a number of more than {limbs} limbs");
        row.resize(limbs, 0);
        row
    };
    numbers.into_iter().map(row).collect()
}

/// Asserts that a batch has `limbs` limbs per number and contains the numbers `want`, in order.
/// `what` names the batch in messages.
#[track_caller]
pub(crate) fn equal(
    what: &str,
    got: &UintBatch,
    limbs: usize,
    want: impl IntoIterator<Item = Integer>,
) {
    assert_eq!(got.width().limbs(), limbs, "{what}: width");
    let data = got.to_limbs().unwrap();
    let mut rows = data.chunks_exact(limbs);
    for (i, want) in want.into_iter().enumerate() {
        let row = rows.next().unwrap_or_default();
        assert!(
            want.significant_bits() as usize <= 32 * limbs && !want.is_negative(),
            "{what}, number {i}: GMP's does not fit"
        );
        assert_eq!(Integer::from_digits(row, Order::Lsf), want, "{what}, number {i}");
    }
    assert_eq!(rows.next(), None, "{what}: more numbers than GMP has");
}
