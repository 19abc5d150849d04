//! The interface of all methods of verification.

use num_bigint::BigUint;

use crate::evidence::Evidence;
use crate::{CollatzError, Region, Watch};

/// A method of verification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Method {
    /// Walks every number step by step.
    Plain,
    /// Walks numbers several bits at a time by tables, with residues skipped that provably descend
    /// (Honda 2017, §4.3 and §4.4).
    Table,
    /// Grows numbers from their low bits, with whole subtrees pruned.
    Sieve,
}

impl Method {
    /// All methods of verification.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Table, Self::Sieve];

    /// Returns the name of the method, for users.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Table => "table",
            Self::Sieve => "sieve",
        }
    }
}

/// The highest value of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Highest {
    /// The value: a number on the path under n/2 and 3n + 1, as in the published lists (27 rises to
    /// 9,232).
    pub value: BigUint,
    /// The start of that path; the smallest if there are several.
    pub start: u128,
}

impl Highest {
    /// Returns the higher of two values; of equal values, the one with the smaller start.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        let better = other.value.cmp(&self.value).then(self.start.cmp(&other.start)).is_gt();
        if better { other } else { self }
    }

    /// Like [`Self::max`], for values that may be unknown.
    #[must_use]
    pub fn of(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        }
    }
}

/// The result for a region: each of its numbers reaches a smaller number, or a number on the path
/// of a smaller one, except those in `unresolved`. So if all smaller numbers reach 1, these do.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verified {
    /// The count of numbers of the region.
    pub numbers: u128,
    /// The count of numbers walked one by one; the others were excluded by the method's sieves.
    pub walked: u64,
    /// A sum over the walks, which depends on the method, its version and its parameters.
    pub checksum: u64,
    /// The highest value of the walked paths, if the method reports it.
    pub highest: Option<Highest>,
    /// Numbers that did not come below their start within the walk's limit of steps, ascending.
    pub unresolved: Vec<u128>,
    /// The evidence of the work, as far as random parts of it can show; `None` for sums of several
    /// regions.
    pub evidence: Option<Evidence>,
}

impl Verified {
    /// Adds the result of a disjoint region.
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

/// A method of verification at a place, with its tables.
pub trait Verifier: Send {
    /// Returns the method that is used.
    fn method(&self) -> Method;

    /// Returns the version of the method, which is incremented when its checksum changes.
    fn version(&self) -> u32;

    /// Returns, as text without spaces, the other parameters on which the checksum depends: `d=32`.
    fn parameters(&self) -> String;

    /// Returns the name of the place: `cpu`, `cuda:0`.
    fn place(&self) -> String;

    /// Returns an error if the method does not support a region.
    ///
    /// # Errors
    /// The error that [`Verifier::verify`] would return.
    fn takes(&self, _region: &Region) -> Result<(), CollatzError> {
        Ok(())
    }

    /// Verifies a region, given all numbers that are smaller than its largest and not in it, and
    /// returns the result; `None` if the watch stopped it.
    ///
    /// # Errors
    /// The device fails, or the method does not support the region.
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
