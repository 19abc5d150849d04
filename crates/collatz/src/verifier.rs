//! The interface of all methods of verification.

use num_bigint::BigUint;

use crate::evidence::Evidence;
use crate::{CollatzError, Region, Watch};

/// A method of verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// Follows the path of every number step by step to the first value below its start.
    Plain,
    /// Follows numbers in steps of several bits, by tables. Skips residues whose numbers provably
    /// fall below their starts (Honda 2017, §4.3 and §4.4).
    Table,
    /// Searches a tree over the low bits of numbers, and prunes whole subtrees whose numbers
    /// provably need not be followed.
    Sieve,
}

impl Method {
    /// All methods of verification.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Table, Self::Sieve];

    /// Returns the name of the method, as users see it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Table => "table",
            Self::Sieve => "sieve",
        }
    }
}

/// The highest value on the paths of several numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Highest {
    /// The value: a number on the path under n/2 and 3n + 1, as in the published lists (27 rises to
    /// 9,232).
    pub value: BigUint,
    /// The start of the path that reaches the value; the smallest start if several paths reach it.
    pub start: u128,
}

impl Highest {
    /// Returns the higher of two values. Of two equal values, returns the value with the smaller
    /// start.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        let better = other.value.cmp(&self.value).then(self.start.cmp(&other.start)).is_gt();
        if better { other } else { self }
    }

    /// Like [`Self::max`], where `None` stands for no value: returns `None` only if both are
    /// `None`.
    #[must_use]
    pub fn of(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        }
    }
}

/// The result of the verification of a region. Each number n > 1 of the region that is not in
/// `unresolved` reaches a number below n, or a number on the path of a number below n. So suppose
/// that `unresolved` is empty, and that every positive number outside the region that is below the
/// region's largest number reaches 1. Then every positive number of the region reaches 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verified {
    /// The count of numbers in the region.
    pub numbers: u128,
    /// The count of numbers that were walked: their paths were followed one by one. The method
    /// excluded all other numbers without following their paths.
    pub walked: u64,
    /// A sum over the followed paths. It depends only on the region, the method, its version and
    /// its parameters.
    pub checksum: u64,
    /// The highest value on the followed paths; `None` if the method does not report it.
    pub highest: Option<Highest>,
    /// The numbers whose paths did not fall below their starts within the limit of steps,
    /// ascending.
    pub unresolved: Vec<u128>,
    /// The evidence that the work was done: random parts of it that the host recomputed. `None` for
    /// a sum of results of several regions.
    pub evidence: Option<Evidence>,
}

impl Verified {
    /// Adds the result of another region, which has no number in common with the region of this
    /// result. Evidence is dropped.
    pub fn add(&mut self, other: Self) {
        self.evidence = None;
        self.numbers += other.numbers;
        self.walked += other.walked;
        self.checksum = self.checksum.wrapping_add(other.checksum);
        self.highest = Highest::of(self.highest.take(), other.highest);
        self.unresolved.extend(other.unresolved);
        self.unresolved.sort_unstable();
    }
}

/// A method of verification on the CPU or on a device, with its tables.
pub trait Verifier: Send {
    /// Returns the method that this verifier uses.
    fn method(&self) -> Method;

    /// Returns the version of the method. It is incremented when the definition of the method's
    /// checksum changes.
    fn version(&self) -> u32;

    /// Returns the parameters on which the method's checksum depends, as text without spaces, such
    /// as `s=auto,d=12,words=auto`.
    fn parameters(&self) -> String;

    /// Returns the name of the CPU or device that computes: `cpu`, `cuda:0`.
    fn place(&self) -> String;

    /// Returns an error if the method does not support a region.
    ///
    /// # Errors
    /// The error that [`Verifier::verify`] would return.
    fn takes(&self, _region: &Region) -> Result<(), CollatzError> {
        Ok(())
    }

    /// Verifies a region and returns the result. Returns `None` if the watch stopped the work. The
    /// result presupposes that every positive number outside the region that is smaller than the
    /// region's largest number reaches 1.
    ///
    /// # Errors
    /// The device fails, lacks memory or cannot compile a kernel; a result contradicts the host's
    /// computation; random numbers cannot be drawn; or the method does not support the region.
    fn verify(
        &mut self,
        region: &Region,
        watch: &dyn Watch,
    ) -> Result<Option<Verified>, CollatzError>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Plain;
    use crate::Unwatched;
    use crate::sieve::{CpuSieve, Sieve};
    use crate::table::{TableMethod, TableOptions};

    #[test]
    fn what_a_method_does_not_take_it_does_not_verify() {
        let sieve = || Box::new(Sieve::new(CpuSieve::default()));
        let options = |bits| TableOptions { sieve_bits: Some(bits), ..TableOptions::default() };
        let table = |bits| Box::new(TableMethod::new(options(bits)).unwrap());
        let class = |bits, low_bits| Region::class(bits, low_bits, 3).unwrap();
        let high = Region::interval(1 << 126, (1 << 126) + (1 << 16)).unwrap();
        let cases: [(Box<dyn Verifier>, Region, bool); 9] = [
            (Box::new(Plain::default()), high, true),
            (sieve(), class(127, 24), false),
            (sieve(), high, false),
            (sieve(), class(20, 4), true),
            (sieve(), class(127, 120), true),
            (table(8), class(20, 9), false),
            (table(9), class(20, 9), true),
            (table(9), class(127, 40), false),
            (table(8), high, true),
        ];
        for (mut verifier, region, takes) in cases {
            let method = verifier.method();
            assert_eq!(verifier.takes(&region).is_ok(), takes, "{method:?}, {region}");
            let verified = verifier.verify(&region, &Unwatched);
            assert_eq!(verified.is_ok(), takes, "{method:?}, {region}");
        }
    }
}
